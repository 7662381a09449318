/* symbols.c - the functions that a profile's locations lie in. */
#include "pprof/symbols.h"

#include "core/arena.h"
#include "core/module.h"
#include "pprof/elf_names.h"
#include "pprof/hex.h"
#include "pprof/location.h"

#include <errno.h>
#include <string.h>

bool symbols_is_allocator(const char *name)
{
	static const char *const family[] = {"malloc",	      "calloc",		"realloc", "reallocarray", "memalign",
					     "aligned_alloc", "posix_memalign", "valloc",  "pvalloc"};

	if (strncmp(name, "_Znw", 4) == 0 || strncmp(name, "_Zna", 4) == 0) /* operator new, operator new[] */
		return true;
	if (strncmp(name, "__libc_", 7) == 0) /* glibc's own names of the same functions */
		name += 7;
	for (size_t i = 0; i < sizeof(family) / sizeof(family[0]); i++)
		if (strcmp(name, family[i]) == 0)
			return true;
	return false;
}

/* Three texts in a row, in scratch memory; NULL when that is full. */
static const char *join(struct arena *scratch, const char *a, const char *b, const char *c)
{
	size_t a_size = strlen(a), b_size = strlen(b), c_size = strlen(c) + 1;
	char *text = arena_alloc(scratch, a_size + b_size + c_size, 1);

	if (!text)
		return NULL;
	memcpy(text, a, a_size);
	memcpy(text + a_size, b, b_size);
	memcpy(text + a_size + b_size, c, c_size);
	return text;
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What to call an address whose function is unknown: where it is in its file, which addr2line understands. */
static const char *placeholder(const struct module *module, uintptr_t address, struct arena *scratch)
{
	char offset[HEX_NUMBER_MAX];

	hex_number(offset, module ? address - module->bias : address);
	return join(scratch, module ? basename_of(module->path) : "[anon]", "+0x", offset);
}

static struct symbol *make_symbol(const struct module *module, const struct elf_name *found, struct arena *scratch)
{
	struct symbol *symbol = arena_alloc(scratch, sizeof(*symbol), _Alignof(struct symbol));

	if (!symbol)
		return NULL;
	symbol->name = found->name ? found->name : placeholder(module, found->address, scratch);
	symbol->allocator = found->name && symbols_is_allocator(found->name);
	return symbol->name ? symbol : NULL;
}

/* Tell the user why a module has only placeholders. */
static int add_note(struct symbols *symbols, const struct module *module, enum elf_names_result why,
		    struct arena *scratch)
{
	const char *reason = why == ELF_NAMES_MISMATCH ? " left out: the file changed since it was loaded"
						       : " left out: the file cannot be read";
	const char *note = join(scratch, "names of ", module->path, reason);

	if (!note)
		return -ENOMEM;
	symbols->notes[symbols->note_count++] = note;
	return 0;
}

/* Look up `count` locations of one module, sorted by address; names[i] belongs to at[i]. */
static int name_module(struct symbols *symbols, const struct module *module, struct location **at,
		       struct elf_name *names, size_t count, struct arena *scratch)
{
	enum elf_names_result result = module ? elf_names_find(module, names, count, scratch) : ELF_NAMES_OK;

	if (result == ELF_NAMES_NO_MEMORY)
		return -ENOMEM;
	if (result != ELF_NAMES_OK && add_note(symbols, module, result, scratch))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bool same = i > 0 && names[i].name && names[i].name == names[i - 1].name;

		at[i]->symbol = same ? at[i - 1]->symbol : make_symbol(module, &names[i], scratch);
		if (!at[i]->symbol)
			return -ENOMEM;
	}
	return 0;
}

int symbols_find(struct symbols *symbols, struct locations *locations, struct arena *scratch)
{
	size_t count = locations->count;
	struct location **sorted = locations_sorted(locations);
	struct elf_name *names = arena_alloc(scratch, count * sizeof(*names), _Alignof(struct elf_name));

	*symbols = (struct symbols){0};
	symbols->notes = arena_alloc(scratch, module_count() * sizeof(*symbols->notes), sizeof(*symbols->notes));
	if (!sorted || !names || !symbols->notes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		names[i].address = location_address(sorted[i]);

	for (size_t start = 0, end; start < count; start = end) {
		unsigned id = frame_module(sorted[start]->frame);

		for (end = start + 1; end < count && frame_module(sorted[end]->frame) == id;)
			end++;

		int error = name_module(symbols, module_get(id), &sorted[start], &names[start], end - start, scratch);

		if (error)
			return error;
	}
	return 0;
}
