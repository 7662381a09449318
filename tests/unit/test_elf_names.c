/* test_elf_names.c - names are found as nm would give them; corrupt and foreign files are survived. */
#include "pprof/elf_names.h"

#include "core/arena.h"
#include "core/module.h"
#include "pprof/elf_file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

static struct arena arena, scratch;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 16 << 20), 0);
	cr_assert_eq(arena_init(&scratch, 64 << 20), 0);
	module_init(&arena, start);
}

TestSuite(elf_names, .init = start);

__attribute__((noinline)) static int first_function(int x)
{
	__asm__ volatile("");
	return x * 3 + 1;
}

__attribute__((noinline)) int elf_names_second_function(int x);
int elf_names_second_function(int x)
{
	__asm__ volatile("");
	return x * 5 + 2;
}

static int compare_names(const void *a, const void *b)
{
	uintptr_t left = ((const struct elf_name *)a)->address, right = ((const struct elf_name *)b)->address;

	return (left > right) - (left < right);
}

Test(elf_names, own_functions)
{
	const struct module *module = module_get(module_of((uintptr_t)first_function));
	struct elf_name names[] = {
		{.address = (uintptr_t)first_function},
		{.address = (uintptr_t)first_function + 1},
		{.address = (uintptr_t)elf_names_second_function},
		{.address = module->bias + 1, .name = "not cleared"}, /* the ELF header is no function */
	};

	qsort(names, 4, sizeof(names[0]), compare_names);
	cr_assert_eq(elf_names_find(module, names, 4, &scratch), ELF_NAMES_OK);
	cr_assert_null(names[0].name);
	for (size_t i = 1; i < 4; i++) {
		bool first = names[i].address <= (uintptr_t)first_function + 1 &&
			     names[i].address >= (uintptr_t)first_function;

		cr_expect_str_eq(names[i].name, first ? "first_function" : "elf_names_second_function");
		cr_expect_eq(names[i].start, first ? (uintptr_t)first_function : (uintptr_t)elf_names_second_function);
	}
}

Test(elf_names, vdso_has_no_file)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		cr_skip("no vdso here");

	unsigned id = module_of(vdso + 0x800);
	const struct module *module = module_get(id);

	cr_assert_not_null(module);
	cr_assert_eq((uintptr_t)module->image, vdso);

	static struct elf_name names[0x600];

	for (size_t i = 0; i < 0x600; i++)
		names[i] = (struct elf_name){.address = vdso + 2 * i + 0x200};

	size_t found = 0;

	cr_assert_eq(elf_names_find(module, names, 0x600, &scratch), ELF_NAMES_OK);
	for (size_t i = 0; i < 0x600; i++)
		found += names[i].name && strstr(names[i].name, "vdso") != NULL;
	cr_assert_gt(found, 0);
}

Test(elf_names, other_build_id_gives_no_names)
{
	struct module module = *module_get(module_of((uintptr_t)first_function));
	struct elf_name name = {.address = (uintptr_t)first_function};

	cr_assert_gt(module.build_id_size, 0);
	module.build_id[0] ^= 1;
	cr_assert_eq(elf_names_find(&module, &name, 1, &scratch), ELF_NAMES_MISMATCH);
	cr_assert_null(name.name);
}

Test(elf_names, no_file)
{
	struct module module = *module_get(module_of((uintptr_t)first_function));
	static const char *const paths[] = {"/nonexistent", "/tmp", "/dev/null", "/etc/passwd", "/proc/self/maps"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct elf_name name = {.address = (uintptr_t)first_function};

		module.open_path = paths[i];
		cr_expect_eq(elf_names_find(&module, &name, 1, &scratch), ELF_NAMES_NO_FILE, "%s", paths[i]);
	}
}

/* --- a file made by hand ---------------------------------------------------------------------------------------- */

enum { SYMBOL_COUNT = 8 };

/* The smallest file with a build ID and a symbol table. */
static struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[SYMBOL_COUNT];
	struct {
		Elf64_Nhdr header;
		char owner[4];
		unsigned char id[20];
	} note;
	char strings[64];
} __attribute__((aligned(4096))) image; /* a page, as images in memory are mapped in pages */

#define IMAGE_BYTES (offsetof(struct image, strings) + sizeof(image.strings))

#define FUNCTION(bind, offset, start, size) \
	(Elf64_Sym) \
	{ \
		.st_info = ELF64_ST_INFO(bind, STT_FUNC), .st_name = (offset), .st_shndx = 1, .st_value = (start), \
		.st_size = (size) \
	}

static void make_image(void)
{
	static const char strings[64] =
		"\0local\0weak\0global\0__alias\0alias@@V2\0inner\0outer"; /* 1 7 12 19 27 37 43 */
	struct elf_file self;

	memset(&image, 0, sizeof(image));
	cr_assert(elf_file_open(&self, "/proc/self/exe"));
	memcpy(&image.header, self.data, sizeof(image.header)); /* the class, byte order and machine of this one */
	elf_file_close(&self);
	image.header.e_phoff = offsetof(struct image, segment);
	image.header.e_phnum = 1;
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shnum = 3;
	image.segment = (Elf64_Phdr){.p_type = PT_NOTE,
				     .p_offset = offsetof(struct image, note),
				     .p_filesz = sizeof(image.note),
				     .p_align = 4};
	image.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					 .sh_offset = offsetof(struct image, symbols),
					 .sh_size = sizeof(image.symbols),
					 .sh_entsize = sizeof(Elf64_Sym),
					 .sh_link = 2};
	image.sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings), .sh_size = sizeof(image.strings)};
	image.symbols[1] = FUNCTION(STB_LOCAL, 1, 0x100, 0x10);
	image.symbols[2] = FUNCTION(STB_GLOBAL, 12, 0x100, 0x10);
	image.symbols[3] = FUNCTION(STB_WEAK, 7, 0x100, 0x20);
	image.symbols[4] = FUNCTION(STB_GLOBAL, 19, 0x200, 0x10);
	image.symbols[5] = FUNCTION(STB_GLOBAL, 27, 0x200, 0x10);
	image.symbols[6] = FUNCTION(STB_LOCAL, 43, 0x300, 0x100);
	image.symbols[7] = FUNCTION(STB_LOCAL, 37, 0x340, 0x10);
	image.note.header = (Elf64_Nhdr){.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
	memcpy(image.note.owner, "GNU", 4);
	memset(image.note.id, 0xab, sizeof(image.note.id));
	memcpy(image.strings, strings, sizeof(strings));
}

/* A module whose file is the image in memory. */
static struct module image_module(void)
{
	struct module module = {.bias = 0x10000, .path = "[test]", .image = &image, .build_id_size = 20};

	module.end = (uintptr_t)&image + IMAGE_BYTES;
	memset(module.build_id, 0xab, 20);
	return module;
}

Test(elf_names, preferences)
{
	static const struct {
		uintptr_t address;
		const char *name;
		uintptr_t start;
	} expected[] = {
		{0xff, NULL, 0},	 {0x100, "global", 0x100}, {0x10f, "global", 0x100}, {0x110, "weak", 0x100},
		{0x11f, "weak", 0x100},	 {0x120, NULL, 0},	   {0x20f, "alias", 0x200},  {0x33f, "outer", 0x300},
		{0x340, "inner", 0x340}, {0x350, "outer", 0x300},  {0x3ff, "outer", 0x300},  {0x400, NULL, 0},
	};
	enum { COUNT = sizeof(expected) / sizeof(expected[0]) };
	struct elf_name names[COUNT];
	struct module module;

	make_image();
	module = image_module();
	for (size_t i = 0; i < COUNT; i++)
		names[i].address = module.bias + expected[i].address;
	cr_assert_eq(elf_names_find(&module, names, COUNT, &scratch), ELF_NAMES_OK);
	for (size_t i = 0; i < COUNT; i++) {
		cr_expect_eq(names[i].start, expected[i].name ? module.bias + expected[i].start : 0, "entry %zu", i);
		if (expected[i].name)
			cr_expect_str_eq(names[i].name, expected[i].name);
		else
			cr_expect_null(names[i].name, "entry %zu is %s", i, names[i].name);
	}
}

/* Set every byte of the file to the values that break offsets and sizes best. */
Test(elf_names, hostile_files)
{
	static const unsigned char values[] = {0, 1, 8, 0x7f, 0x80, 0xff};
	struct module module;
	size_t survived = 0;

	make_image();
	module = image_module();
	for (size_t i = 0; i < IMAGE_BYTES * sizeof(values); i++) {
		unsigned char *byte = (unsigned char *)&image + i / sizeof(values), saved = *byte;
		struct elf_name names[] = {{.address = module.bias + 0x105}, {.address = module.bias + 0x345}};

		*byte = values[i % sizeof(values)];
		survived += elf_names_find(&module, names, 2, &scratch) <= ELF_NAMES_MISMATCH;
		*byte = saved;
	}
	cr_assert_eq(survived, IMAGE_BYTES * sizeof(values));
}

Test(elf_names, cut_anywhere)
{
	make_image();
	for (size_t n = 0; n <= IMAGE_BYTES; n++) {
		void *copy = malloc(n); /* so that AddressSanitizer sees a step past the end */
		struct elf_symbols symbols;
		struct elf_file file;

		memcpy(copy, &image, n);
		if (elf_file_image(&file, copy, n)) {
			bool whole = elf_file_symbols(&file, SHT_SYMTAB, &symbols);

			cr_assert_eq(whole, n == IMAGE_BYTES);
			cr_assert_eq(elf_file_build_id(&file).size, n >= offsetof(struct image, strings) ? 20 : 0);
		} else {
			cr_assert_lt(n, sizeof(image.header));
		}
		free(copy);
	}
}

Test(elf_names, no_memory)
{
	struct module module;
	struct elf_name name;

	make_image();
	module = image_module();
	name.address = module.bias + 0x100;
	while (arena_alloc(&scratch, 1, 1)) {
	}
	cr_assert_eq(elf_names_find(&module, &name, 1, &scratch), ELF_NAMES_NO_MEMORY);
}
