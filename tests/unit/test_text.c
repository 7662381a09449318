/* test_text.c - texts are put together, cut at the buffer's end, and always terminated. */
#include "core/text.h"

#include <criterion/criterion.h>
#include <string.h>

Test(text, adds_strings_and_numbers)
{
	char buf[64];
	struct text text = {.buf = buf, .cap = sizeof(buf)};

	text_add(&text, "pid ");
	text_add_number(&text, 0);
	text_add_n(&text, ", of many", 4);
	text_add(&text, "");
	text_add_number(&text, 1234567890);
	cr_assert_str_eq(buf, "pid 0, of1234567890");
	cr_assert_eq(text.n, strlen(buf));
	cr_assert(!text.full);
}

Test(text, largest_number)
{
	char buf[21];
	struct text text = {.buf = buf, .cap = sizeof(buf)};

	text_add_number(&text, UINT64_MAX);
	cr_assert_str_eq(buf, "18446744073709551615");
	cr_assert(!text.full);
}

Test(text, cuts_at_every_capacity)
{
	static const char whole[] = "abcdefghij";

	for (size_t cap = 1; cap <= sizeof(whole) + 1; cap++) {
		char buf[16];
		struct text text = {.buf = buf, .cap = cap};
		size_t fits = cap - 1 < 10 ? cap - 1 : 10;

		memset(buf, '#', sizeof(buf));
		text_add(&text, "abc");
		text_add(&text, "defghij");
		cr_assert_eq(text.n, fits);
		cr_assert_eq(strncmp(buf, whole, fits), 0);
		cr_assert_eq(buf[fits], '\0');
		cr_assert_eq(text.full, cap < sizeof(whole));
		cr_assert_eq(buf[cap], '#', "wrote past a capacity of %zu", cap);
	}
}

Test(text, stays_full)
{
	char buf[4];
	struct text text = {.buf = buf, .cap = sizeof(buf)};

	text_add_number(&text, 12345);
	text_add(&text, "");
	text_add_n(&text, "x", 1);
	cr_assert_str_eq(buf, "123");
	cr_assert(text.full);
}
