/* elf_names.c - function names for addresses, from the ELF symbol tables of the modules they lie in. */
#include "pprof/elf_names.h"

#include "core/arena.h"
#include "core/module.h"
#include "pprof/elf_file.h"
#include "pprof/hex.h"

#include <string.h>

/* Nothing but the addresses asked for is sorted, and no index of the symbols is built: a table of a million symbols
 * is read once from front to back, and each symbol looks for the addresses it covers. */

#define DEBUG_DIRECTORY "/usr/lib/debug/.build-id/"

#define PAGE_BYTES 4096U

/* A search for the names of one module's addresses. */
struct search {
	struct elf_name *names;
	size_t count;
	uintptr_t bias;
	struct elf_symbols symbols; /* the table being read */
	uint32_t *best; /* for each address the index of the best symbol so far; 0 (never a function) = none */
};

/* Preference by binding. */
static int rank_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 2;
	case STB_WEAK:
		return 1;
	default:
		return 0;
	}
}

static size_t leading_underscores(const char *name)
{
	return name ? strspn(name, "_") : SIZE_MAX;
}

/* Is `a` a better name than `b` for what both cover? By binding; then the nearer start, for what nests; then, of two
 * aliases, the one without underscores, which is the public one ("malloc", not "__libc_malloc"). */
static bool better(const struct search *search, const Elf64_Sym *a, const Elf64_Sym *b)
{
	if (rank_of(a) != rank_of(b))
		return rank_of(a) > rank_of(b);
	if (a->st_value != b->st_value)
		return a->st_value > b->st_value;
	return leading_underscores(elf_symbols_string(&search->symbols, a->st_name)) <
	       leading_underscores(elf_symbols_string(&search->symbols, b->st_name));
}

static bool is_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_size > 0 && symbol->st_shndx != SHN_UNDEF;
}

/* Index of the first address that is not below `start`. */
static size_t first_from(const struct search *search, uintptr_t start)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->names[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Offer a symbol to the addresses it covers. */
static void offer(struct search *search, uint32_t index)
{
	const Elf64_Sym *symbol = &search->symbols.at[index];
	uintptr_t start = search->bias + symbol->st_value;

	if (start > search->names[search->count - 1].address || symbol->st_size > UINTPTR_MAX - start)
		return;
	for (size_t i = first_from(search, start); i < search->count; i++) {
		uint32_t *best = &search->best[i];

		if (search->names[i].address - start >= symbol->st_size)
			break;
		if (!*best || better(search, symbol, &search->symbols.at[*best]))
			*best = index;
	}
}

/* Copy what was found out of the file; neighbours in one function share the copy. */
static bool keep_names(struct search *search, struct arena *scratch)
{
	for (size_t i = 0; i < search->count; i++) {
		struct elf_name *name = &search->names[i];

		if (!search->best[i])
			continue;
		if (i > 0 && search->best[i] == search->best[i - 1]) {
			name->name = name[-1].name;
			name->start = name[-1].start;
			continue;
		}

		const Elf64_Sym *symbol = &search->symbols.at[search->best[i]];
		const char *text = elf_symbols_string(&search->symbols, symbol->st_name);

		size_t length = text ? strcspn(text, "@") : 0; /* "malloc@@GLIBC_2.2.5": without the version */

		if (length == 0)
			continue;

		char *copy = arena_alloc(scratch, length + 1, 1); /* zeroed: it ends with a NUL */

		if (!copy)
			return false;
		name->name = memcpy(copy, text, length);
		name->start = search->bias + symbol->st_value;
	}
	return true;
}

/* Name the addresses from one symbol table of a file, if it has that. */
static enum elf_names_result search_table(struct search *search, const struct elf_file *file, uint32_t type,
					  struct arena *scratch)
{
	if (!elf_file_symbols(file, type, &search->symbols))
		return ELF_NAMES_NO_FILE;
	for (size_t i = 1; i < search->symbols.count && i <= UINT32_MAX; i++)
		if (is_function(&search->symbols.at[i]))
			offer(search, (uint32_t)i);
	return keep_names(search, scratch) ? ELF_NAMES_OK : ELF_NAMES_NO_MEMORY;
}

/* Is this the file that was loaded? One with neither a build ID nor unwind tables can only be believed. */
static bool same_build(const struct elf_file *file, const struct module *module)
{
	struct elf_bytes id = elf_file_build_id(file);

	if (module->build_id_size != 0)
		return id.size >= module->build_id_size && memcmp(id.at, module->build_id, module->build_id_size) == 0;
	return module->tables_size == 0 ||
	       (module->tables_offset <= file->size && module->tables_size <= file->size - module->tables_offset &&
		memcmp(file->data + module->tables_offset, module->tables, module->tables_size) == 0);
}

/* Where distributions put the symbols they strip. Source: GDB manual, "Debugging Information in Separate Files". */
static bool open_debug_file(struct elf_file *file, const struct module *module)
{
	char path[sizeof(DEBUG_DIRECTORY) + 2 * MODULE_BUILD_ID_MAX + sizeof("/.debug")];
	char *at;

	if (module->build_id_size < 2)
		return false;
	memcpy(path, DEBUG_DIRECTORY, sizeof(DEBUG_DIRECTORY));
	at = hex_bytes(path + sizeof(DEBUG_DIRECTORY) - 1, module->build_id, 1);
	*at++ = '/';
	at = hex_bytes(at, module->build_id + 1, module->build_id_size - 1);
	memcpy(at, ".debug", sizeof(".debug"));
	if (!elf_file_open(file, path))
		return false;
	if (same_build(file, module))
		return true;
	elf_file_close(file);
	return false;
}

/* The complete table of the file itself, or of its debug file, or only the names that it exports. */
static enum elf_names_result search_file(struct search *search, const struct elf_file *file,
					 const struct module *module, struct arena *scratch)
{
	enum elf_names_result result = search_table(search, file, SHT_SYMTAB, scratch);
	struct elf_file debug;

	if (result == ELF_NAMES_NO_FILE && open_debug_file(&debug, module)) {
		result = search_table(search, &debug, SHT_SYMTAB, scratch);
		elf_file_close(&debug);
	}
	if (result == ELF_NAMES_NO_FILE)
		result = search_table(search, file, SHT_DYNSYM, scratch);
	return result == ELF_NAMES_NO_FILE ? ELF_NAMES_OK
					   : result; /* a file without any symbols is still the right file */
}

/* An image in memory is mapped in whole pages; the vdso's section headers lie behind its only segment. */
static bool open_module(struct elf_file *file, const struct module *module)
{
	size_t size = module->end - (uintptr_t)module->image;

	if (module->image)
		return elf_file_image(file, module->image, (size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1));
	return elf_file_open(file, module->open_path);
}

enum elf_names_result elf_names_find(const struct module *module, struct elf_name *names, size_t count,
				     struct arena *scratch)
{
	struct search search = {.names = names, .count = count, .bias = module->bias};
	enum elf_names_result result = ELF_NAMES_MISMATCH;
	struct elf_file file;

	for (size_t i = 0; i < count; i++)
		names[i] = (struct elf_name){.address = names[i].address};
	if (count == 0)
		return ELF_NAMES_OK;
	if (!open_module(&file, module))
		return ELF_NAMES_NO_FILE;

	search.best = arena_alloc(scratch, count * sizeof(*search.best), _Alignof(uint32_t));
	if (!search.best)
		result = ELF_NAMES_NO_MEMORY;
	else if (same_build(&file, module))
		result = search_file(&search, &file, module, scratch);
	elf_file_close(&file);
	return result;
}
