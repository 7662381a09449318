/* test_json.c - text as JSON has it. */
#include "tools/json.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static void expect(const char *text, const char *json)
{
	char *printed;
	size_t n;
	FILE *out = open_memstream(&printed, &n);

	json_print_string(text, out);
	fclose(out);
	cr_expect(eq(str, printed, (char *)json));
	free(printed);
}

Test(json, plain)
{
	expect("", "\"\"");
	expect("/usr/bin/redis-server", "\"/usr/bin/redis-server\"");
	expect("\x7f", "\"\x7f\"");
}

Test(json, escapes)
{
	expect("a\"b\\c", "\"a\\\"b\\\\c\"");
	expect("\n\t\x01\x1f", "\"\\u000a\\u0009\\u0001\\u001f\"");
}

Test(json, utf8_is_kept)
{
	expect("\xc3\xa9", "\"\xc3\xa9\"");
	expect("\xe2\x82\xac", "\"\xe2\x82\xac\"");
	expect("\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"");
	expect("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"");
}

Test(json, what_is_not_utf8_is_replaced_byte_by_byte)
{
	expect("\xff", "\"\\ufffd\"");
	expect("\x80x", "\"\\ufffdx\"");
	expect("\xc3", "\"\\ufffd\"");					/* cut short */
	expect("\xe2\x82", "\"\\ufffd\\ufffd\"");			/* the same */
	expect("\xc0\xaf", "\"\\ufffd\\ufffd\"");			/* longer than needed */
	expect("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");		/* the same */
	expect("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");		/* a surrogate */
	expect("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* past U+10FFFF */
	expect("\xe2\"\xac", "\"\\ufffd\\\"\\ufffd\"");
}
