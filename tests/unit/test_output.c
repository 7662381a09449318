/* test_output.c - HEAPPROF_OUT's patterns become the names of files. */
#include "preload/output.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

static const struct output_name name = {
	.pid = 4321, .number = 7, .program = "/usr/lib/jvm/bin/java", .seconds = 1700000000};

static const struct {
	const char *pattern, *path;
	bool numbered;
} patterns[] = {
	{"mprof.%p.%n.pb.gz", "mprof.4321.7.pb.gz", true},
	{"/var/tmp/%c-%t", "/var/tmp/java-1700000000", false},
	{"%n", "7", true},
	{"%n%n%p", "774321", true},
	{"plain", "plain", false},
	{"100%%", "100%", false},
	{"%%n", "%n", false},
	{"%%%n", "%7", true},
	{"%x%n", "%x7", true},
	{"end%", "end%", false},
	{"%", "%", false},
	{"%%%", "%%", false},
	{"%P%N", "%P%N", false},
};

Test(output, expands_patterns)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char path[64];

		cr_assert_eq(output_expand(patterns[i].pattern, &name, path, sizeof(path)), 0);
		cr_expect_str_eq(path, patterns[i].path, "%s", patterns[i].pattern);
		cr_expect_eq(output_is_numbered(patterns[i].pattern), patterns[i].numbered, "%s", patterns[i].pattern);
	}
}

Test(output, expands_extreme_values)
{
	struct output_name extreme = {
		.pid = INT_MAX, .number = UINT64_MAX, .program = "no-slash", .seconds = INT64_MAX};
	char path[80];

	cr_assert_eq(output_expand("%p.%n.%c.%t", &extreme, path, sizeof(path)), 0);
	cr_assert_str_eq(path, "2147483647.18446744073709551615.no-slash.9223372036854775807");
	extreme.program = "/ends/in/";
	cr_assert_eq(output_expand("<%c>", &extreme, path, sizeof(path)), 0);
	cr_assert_str_eq(path, "<>");
}

Test(output, refuses_what_does_not_fit)
{
	char path[16];

	cr_assert_eq(output_expand("fifteen-letters", &name, path, sizeof(path)), 0);
	cr_assert_str_eq(path, "fifteen-letters");
	cr_assert_eq(output_expand("sixteen--letters", &name, path, sizeof(path)), -ENAMETOOLONG);
	cr_assert_eq(output_expand("twelve-chars%p", &name, path, sizeof(path)), -ENAMETOOLONG);
}

Test(output, temporary_is_hidden_in_the_same_directory)
{
	char temporary[64];

	cr_assert_eq(output_temporary("/data/a.pb.gz", &name, temporary, sizeof(temporary)), 0);
	cr_assert_str_eq(temporary, "/data/.mprof.4321.7.1700000000.tmp");
	cr_assert_eq(output_temporary("a.pb.gz", &name, temporary, sizeof(temporary)), 0);
	cr_assert_str_eq(temporary, ".mprof.4321.7.1700000000.tmp");
	cr_assert_eq(output_temporary("/a.pb.gz", &name, temporary, sizeof(temporary)), 0);
	cr_assert_str_eq(temporary, "/.mprof.4321.7.1700000000.tmp");
	cr_assert_eq(output_temporary("/data/a.pb.gz", &name, temporary, 20), -ENAMETOOLONG);
}
