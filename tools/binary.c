/* binary.c - what an ELF file holds that a heap profiler has to know. */
#include "tools/binary.h"

#include "pprof/hex.h"
#include "tools/debug_file_search.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS_ASKED 1000 /* about so many are looked up in the unwind tables */

static const struct {
	const char *name;
	const char *symbols[3]; /* one of these is there, or */
	const char *text;	/* in a stripped file, this */
	const char *library;	/* how the shared library's name starts */
} allocators[] = {
	{"jemalloc", {"mallctl", "je_mallctl", "_rjem_mallctl"}, "<jemalloc>: ", "libjemalloc"},
	{"tcmalloc", {"tc_malloc", "TCMallocInternalMalloc"}, "tcmalloc: ", "libtcmalloc"},
	{"mimalloc", {"mi_malloc"}, "mimalloc: ", "libmimalloc"},
};

#define ALLOCATOR_COUNT (sizeof allocators / sizeof *allocators)

/* UndefinedBehaviorSanitizer has no malloc. */
static const struct {
	const char *name, *symbol;
	const char *libraries[2]; /* gcc's, clang's */
} sanitizers[] = {
	{"AddressSanitizer", "__asan_init", {"libasan.", "libclang_rt.asan"}},
	{"ThreadSanitizer", "__tsan_init", {"libtsan.", "libclang_rt.tsan"}},
	{"MemorySanitizer", "__msan_init", {"libmsan.", "libclang_rt.msan"}},
	{"LeakSanitizer", "__lsan_init", {"liblsan.", "libclang_rt.lsan"}},
	{"HWAddressSanitizer", "__hwasan_init", {"libhwasan.", "libclang_rt.hwasan"}},
};

#define SANITIZER_COUNT (sizeof sanitizers / sizeof *sanitizers)

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

const char *binary_sanitizer_library(const char *path)
{
	const char *name = lbasename(path);

	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		if (starts_with(name, sanitizers[i].libraries[0]) || starts_with(name, sanitizers[i].libraries[1]))
			return sanitizers[i].name;
	return NULL;
}

const char *binary_allocator_library(const char *path)
{
	for (size_t i = 0; i < ALLOCATOR_COUNT; i++)
		if (starts_with(lbasename(path), allocators[i].library))
			return allocators[i].name;
	return NULL;
}

/* --- the names in it ---------------------------------------------------------------------------------------------- */

static void judge_sanitizer(struct binary *binary, const char *name)
{
	for (size_t i = 0; i < SANITIZER_COUNT; i++)
		if (strcmp(name, sanitizers[i].symbol) == 0)
			binary->sanitizer = sanitizers[i].name;
}

/* A name that it defines. */
static void judge_allocator(struct binary *binary, const char *name, bool dynamic)
{
	if (strcmp(name, "malloc") == 0) {
		binary->exports_malloc |= dynamic;
		if (binary->allocator == NULL)
			binary->allocator = "another";
		return;
	}
	for (size_t i = 0; i < ALLOCATOR_COUNT; i++)
		for (size_t j = 0; j < 3 && allocators[i].symbols[j] != NULL; j++)
			if (strcmp(name, allocators[i].symbols[j]) == 0)
				binary->allocator = allocators[i].name;
}

/* One look at one file. */
struct look {
	struct binary *binary;
	Elf *elf;
	GElf_Addr entry;	   /* where the program starts: in the C library's part of it */
	Elf_Data *strings;	   /* read-only data; NULL = there is none */
	size_t functions, covered; /* of those asked about, how many have an unwind rule */
};

static void judge_symbols(struct look *look, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data != NULL && header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;

		if (gelf_getsym(data, (int)i, &symbol) == NULL)
			break;
		name = elf_strptr(look->elf, header->sh_link, symbol.st_name);
		if (name == NULL)
			continue;
		judge_sanitizer(look->binary, name);
		if (symbol.st_shndx != SHN_UNDEF)
			judge_allocator(look->binary, name, header->sh_type == SHT_DYNSYM);
	}
}

/* --- unwind tables ------------------------------------------------------------------------------------------------- */

/* A function that the compiler made from the program's source: the C library's start files have no tables of their own. */
static bool is_function(const struct look *look, const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_size > 0 &&
	       symbol->st_value != look->entry;
}

static void ask_tables(struct look *look, Elf_Scn *section, const GElf_Shdr *header, Dwarf_CFI *tables)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data != NULL && header->sh_entsize > 0 ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i += count / FUNCTIONS_ASKED + 1) {
		GElf_Sym symbol;
		Dwarf_Frame *frame;

		if (gelf_getsym(data, (int)i, &symbol) == NULL || !is_function(look, &symbol))
			continue;
		look->functions++;
		if (dwarf_cfi_addrframe(tables, symbol.st_value, &frame) == 0) {
			look->covered++;
			free(frame);
		}
	}
}

/* --- the file ------------------------------------------------------------------------------------------------------ */

/* Call `each` for every section that has a name. */
typedef void section_fn(struct look *look, Elf_Scn *section, const GElf_Shdr *header, const char *name, void *context);

static void each_section(struct look *look, section_fn *each, void *context)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(look->elf, &names) != 0)
		return;
	while ((section = elf_nextscn(look->elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name =
			gelf_getshdr(section, &header) != NULL ? elf_strptr(look->elf, names, header.sh_name) : NULL;

		if (name != NULL)
			each(look, section, &header, name, context);
	}
}

static void note_section(struct look *look, Elf_Scn *section, const GElf_Shdr *header, const char *name, void *unused)
{
	struct binary *binary = look->binary;

	(void)unused;
	if (header->sh_type == SHT_SYMTAB || header->sh_type == SHT_DYNSYM)
		judge_symbols(look, section, header);
	binary->has_symbols |= header->sh_type == SHT_SYMTAB;
	if (header->sh_type == SHT_NOBITS)
		return; /* a debug file names the sections of the program, too */
	binary->has_debug_info |= strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
	binary->has_unwind_tables |= strcmp(name, ".eh_frame") == 0;
	binary->is_go |= strcmp(name, ".note.go.buildid") == 0 || strcmp(name, ".go.buildinfo") == 0;
	if (strcmp(name, ".rodata") == 0)
		look->strings = elf_rawdata(section, NULL);
}

static void ask_section(struct look *look, Elf_Scn *section, const GElf_Shdr *header, const char *name, void *tables)
{
	(void)name;
	if (header->sh_type == (look->binary->has_symbols ? SHT_SYMTAB : SHT_DYNSYM))
		ask_tables(look, section, header, tables);
}

/* Whether the tables that are there cover the program, and not only what the C library adds to every program. */
static void check_tables(struct look *look)
{
	Dwarf_CFI *tables = dwarf_getcfi_elf(look->elf);

	if (tables == NULL)
		return;
	each_section(look, ask_section, tables);
	dwarf_cfi_end(tables);
	if (look->covered < look->functions / 2 + look->functions % 2)
		look->binary->has_unwind_tables = false;
}

/* In a stripped file an allocator is known by what it says. */
static void search_strings(struct look *look)
{
	for (size_t i = 0; i < ALLOCATOR_COUNT; i++)
		if (memmem(look->strings->d_buf, look->strings->d_size, allocators[i].text,
			   strlen(allocators[i].text)) != NULL)
			look->binary->allocator = allocators[i].name;
}

static bool take_debug_file(void *context, const char *path)
{
	struct binary *binary = context;

	if (access(path, R_OK) != 0)
		return false;
	binary->debug_file = xstrdup(path);
	return true;
}

static void find_debug_file(struct look *look, const char *path)
{
	const struct debug_file_search search = {.path = path, .build_id = look->binary->build_id, .sysroot = ""};
	GElf_Word checksum;
	const char *link = dwelf_elf_gnu_debuglink(look->elf, &checksum);

	if (!debug_file_search_build_id(&search, take_debug_file, look->binary) && link != NULL)
		debug_file_search_link(&search, link, take_debug_file, look->binary);
}

static void look_at(struct look *look, const char *path)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(look->elf, &id);

	if (n > 0 && n <= BINARY_ID_MAX)
		hex_bytes(look->binary->build_id, id, (size_t)n);
	each_section(look, note_section, NULL);
	if (look->binary->has_unwind_tables)
		check_tables(look);
	if (!look->binary->has_symbols && look->strings != NULL && look->strings->d_buf != NULL)
		search_strings(look);
	find_debug_file(look, path);
}

bool binary_read(struct binary *binary, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct look look = {.binary = binary};
	GElf_Ehdr header;
	bool is_elf;

	*binary = (struct binary){0};
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	look.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf_kind(look.elf) == ELF_K_ELF && gelf_getehdr(look.elf, &header) != NULL;
	if (is_elf) {
		look.entry = header.e_entry;
		look_at(&look, path);
	}
	elf_end(look.elf);
	close(fd);
	return is_elf;
}

void binary_free(struct binary *binary)
{
	free(binary->debug_file);
}
