/* test_perf_map.c - names of code that a process made itself. */
#include "tools/perf_map.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct perf_map_name names[6];

/* Read a map of this text for these addresses. */
static bool read_map(const char *text)
{
	static const uint64_t addresses[] = {0, 0x1000, 0x10FF, 0x1100, 0x2000, UINT64_MAX};
	char path[] = "/tmp/mprof-perf-map-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	bool read;

	for (size_t i = 0; i < 6; i++)
		names[i] = (struct perf_map_name){.address = addresses[i]};
	fputs(text, file);
	fclose(file);
	read = perf_map_read(path, names, 6);
	unlink(path);
	return read;
}

static void free_names(void)
{
	for (size_t i = 0; i < 6; i++)
		free(names[i].name);
}

Test(perf_map, first_and_last_address_of_a_function)
{
	cr_assert(read_map("1000 100 f\n2000 1 a name, with spaces\n"));
	cr_expect(names[0].name == NULL);
	cr_expect(eq(str, names[1].name, "f"));
	cr_expect(eq(str, names[2].name, "f"));
	cr_expect(names[3].name == NULL);
	cr_expect(eq(str, names[4].name, "a name, with spaces"));
	free_names();
}

Test(perf_map, the_later_line_holds)
{
	cr_assert(read_map("1000 100 old\n10f0 20 new"));
	cr_expect(eq(str, names[1].name, "old"));
	cr_expect(eq(str, names[2].name, "new"));
	cr_expect(eq(str, names[3].name, "new"));
	free_names();
}

Test(perf_map, lines_that_are_none)
{
	cr_assert(read_map("\n1000\n1000 100\n1000 100 \nx 1 f\n1000 x f\n11111111111111111 ffff f\n"));
	for (size_t i = 0; i < 6; i++)
		cr_expect(names[i].name == NULL, "%zu", i);
	free_names();
}

Test(perf_map, the_end_of_the_address_space)
{
	cr_assert(read_map("ffffffffffffffff 1 last\n0 ffffffffffffffff all\n"));
	cr_expect(eq(str, names[0].name, "all"));
	cr_expect(eq(str, names[5].name, "last"));
	free_names();
}

Test(perf_map, what_is_no_file)
{
	cr_expect(not(perf_map_read("/tmp", names, 0)));
	cr_expect(not(perf_map_read("/dev/zero", names, 0)));
	cr_expect(not(perf_map_read("/proc/self/exe", names, 0)), "a link");
	cr_expect(not(perf_map_read("/tmp/mprof-there-is-none", names, 0)));
}
