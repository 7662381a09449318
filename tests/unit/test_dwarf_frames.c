/* test_dwarf_frames.c - the source lines and inlined calls of addresses, those of this very program. */
#include "tools/dwarf_frames.h"

#include "pprof/elf_file.h"
#include "pprof/hex.h"
#include "tools/debug_file.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

static int inner_line, outer_line;
static size_t told;

static __attribute__((noinline)) uintptr_t caller(void)
{
	return (uintptr_t)__builtin_return_address(0) - 1;
}

static inline __attribute__((always_inline)) uintptr_t inlined(void)
{
	uintptr_t address = caller();

	inner_line = __LINE__ - 2;
	return address;
}

static __attribute__((noinline)) uintptr_t outer(void)
{
	uintptr_t address = inlined();

	outer_line = __LINE__ - 2;
	return address;
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uintptr_t *)bias = info->dlpi_addr;
	return 1; /* the program is the first */
}

/* Open this program; its build ID is what the notes of its own file say. */
static void open_self(struct debug_file *file)
{
	struct debug_file_search search = {.path = "/proc/self/exe", .sysroot = ""};
	char id[2 * 64 + 1] = "";
	struct elf_file self;
	struct elf_bytes bytes;

	cr_assert(elf_file_open(&self, "/proc/self/exe"));
	bytes = elf_file_build_id(&self);
	cr_assert(bytes.size <= 64);
	hex_bytes(id, bytes.at, bytes.size);
	elf_file_close(&self);
	search.build_id = id;
	cr_assert(eq(int, debug_file_open(file, &search, 0), DEBUG_FILE_OK));
	cr_assert(file->dwarf != NULL);
}

static void found(void *context, size_t index, const struct dwarf_frame *frames, size_t count)
{
	(void)context;
	told++;
	cr_assert(eq(sz, index, 1), "the others are no code");
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(str, frames[0].function->name, "inlined"));
	cr_expect(eq(str, frames[1].function->name, "outer"));
	cr_expect(eq(int, frames[0].line, inner_line));
	cr_expect(eq(int, frames[1].line, outer_line));
	cr_expect(strstr(frames[0].file, "test_dwarf_frames.c") != NULL);
	cr_expect(strstr(frames[1].file, "test_dwarf_frames.c") != NULL);
	cr_expect(frames[0].function->line > 0 && frames[0].function->line < inner_line);
}

Test(dwarf_frames, an_inlined_call)
{
	struct debug_file file;
	Dwarf_Addr addresses[3] = {0, 0, UINT64_MAX};
	uintptr_t bias;

	open_self(&file);
	dl_iterate_phdr(first_bias, &bias);
	addresses[1] = outer() - bias - file.bias;
	dwarf_frames_find(file.dwarf, file.lowest, addresses, 3, found, NULL);
	cr_expect(eq(sz, told, 1));
	dwarf_frames_find(file.dwarf, file.lowest, addresses, 0, found, NULL);
	cr_expect(eq(sz, told, 1));
	debug_file_close(&file);
}
