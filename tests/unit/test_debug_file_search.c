/* test_debug_file_search.c - where a program, a library or its debug file may be. */
#include "tools/debug_file_search.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static char tried[2048];

static bool refuse(void *context, const char *path)
{
	(void)context;
	strcat(strcat(tried, path), "\n");
	return false;
}

static bool take(void *context, const char *path)
{
	return strcmp(path, context) == 0 || refuse(NULL, path);
}

Test(debug_file_search, the_file_itself)
{
	struct debug_file_search search = {.path = "/opt/bin/app", .build_id = "abcdef", .sysroot = ""};

	cr_expect(not(debug_file_search_binary(&search, refuse, NULL)));
	cr_expect(eq(str, tried, "/opt/bin/app\n"));
	search.binary_path = "one::two:";
	search.sysroot = "/root";
	tried[0] = '\0';
	cr_expect(not(debug_file_search_binary(&search, refuse, NULL)));
	cr_expect(eq(str, tried,
		     "one/abcdef/app\none/app\none/opt/bin/app\n"
		     "two/abcdef/app\ntwo/app\ntwo/opt/bin/app\n/root/opt/bin/app\n"));
}

Test(debug_file_search, what_was_taken_ends_it)
{
	struct debug_file_search search = {.path = "/bin/app", .build_id = "", .binary_path = "one:two", .sysroot = ""};

	cr_expect(debug_file_search_binary(&search, take, "one/bin/app"));
	cr_expect(eq(str, tried, "one/app\n"));
}

Test(debug_file_search, relative_paths)
{
	struct debug_file_search search = {.path = "app", .build_id = "", .binary_path = "one", .sysroot = ""};

	cr_expect(not(debug_file_search_binary(&search, refuse, NULL)));
	search.sysroot = "/root";
	cr_expect(not(debug_file_search_binary(&search, refuse, NULL)));
	cr_expect(eq(str, tried, "one/app\none/app\napp\none/app\none/app\n/root/app\n"));
}

Test(debug_file_search, by_build_id)
{
	struct debug_file_search search = {
		.path = "/bin/app", .build_id = "abcdef", .binary_path = "one", .sysroot = "/root"};

	cr_expect(not(debug_file_search_build_id(&search, refuse, NULL)));
	cr_expect(eq(str, tried,
		     "one/ab/cdef.debug\none/.build-id/ab/cdef.debug\n"
		     "/root/usr/lib/debug/.build-id/ab/cdef.debug\n"));
	tried[0] = '\0';
	search.build_id = "ab";
	cr_expect(not(debug_file_search_build_id(&search, refuse, NULL)));
	cr_expect(eq(str, tried, ""));
}

Test(debug_file_search, by_link)
{
	struct debug_file_search search = {
		.path = "/opt/bin/app", .build_id = "", .binary_path = "one", .sysroot = "/root"};

	cr_expect(not(debug_file_search_link(&search, "app.debug", refuse, NULL)));
	cr_expect(eq(str, tried,
		     "one/app.debug\n/root/opt/bin/app.debug\n/root/opt/bin/.debug/app.debug\n"
		     "/root/usr/lib/debug/opt/bin/app.debug\n"));
}
