/* test_utf8.c - text as UTF-8 has it. */
#include "tools/utf8.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(utf8, characters)
{
	cr_expect(eq(sz, utf8_length("a"), 1));
	cr_expect(eq(sz, utf8_length("\xC3\xA9"), 2));
	cr_expect(eq(sz, utf8_length("\xE2\x82\xAC."), 3));
	cr_expect(eq(sz, utf8_length("\xF0\x9F\x98\x80"), 4));
}

Test(utf8, what_is_none)
{
	static const char *const none[] = {
		"",
		"\n",
		"\x1B[0m",
		"\xA9",
		"\xC3",
		"\xC3(",
		"\xC0\x80",
		"\xE0\x80\x80",
		"\xED\xA0\x80",
		"\xE2\x82",
		"\xF4\x90\x80\x80",
		"\xFF",
	};

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		cr_expect(eq(sz, utf8_length(none[i]), 0), "%zu", i);
}
