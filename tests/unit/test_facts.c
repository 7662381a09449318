/* test_facts.c - the lines of a status, and as JSON. */
#include "tools/facts.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

Test(facts, names_and_values)
{
	struct facts facts;

	facts_parse(&facts, "version 0.1.0\nprogram /opt/my app\nrate 524288\nempty \nlost_other 3\n");
	cr_expect(eq(sz, facts.count, 5));
	cr_expect(eq(str, (char *)facts_text(&facts, "version"), "0.1.0"));
	cr_expect(eq(str, (char *)facts_text(&facts, "program"), "/opt/my app"));
	cr_expect(eq(str, (char *)facts_text(&facts, "empty"), ""));
	cr_expect(eq(str, (char *)facts_text(&facts, "rat"), ""));
	cr_expect(eq(i64, facts_number(&facts, "rate"), 524288));
	cr_expect(eq(i64, facts_number(&facts, "lost_other"), 3));
	cr_expect(eq(i64, facts_number(&facts, "nothing"), 0));
	facts_free(&facts);
}

Test(facts, lines_of_another_form_are_left_out)
{
	struct facts facts;

	facts_parse(&facts, "\nword\n value\nrate 1");
	cr_expect(eq(sz, facts.count, 1));
	cr_expect(eq(i64, facts_number(&facts, "rate"), 1));
	facts_free(&facts);
	facts_parse(&facts, "");
	cr_expect(eq(sz, facts.count, 0));
	facts_free(&facts);
}

Test(facts, json_has_numbers_and_strings)
{
	struct facts facts;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	facts_parse(&facts, "version 0.1.0\nprogram /a \"b\"\nrate 524288\nsamples 0\nodd 007\nnegative -1\n");
	facts_print_json(&facts, 1234, out);
	fclose(out);
	cr_expect(eq(str, text,
		     "{\n  \"pid\": 1234,\n  \"version\": \"0.1.0\",\n  \"program\": \"/a \\\"b\\\"\",\n"
		     "  \"rate\": 524288,\n  \"samples\": 0,\n  \"odd\": \"007\",\n  \"negative\": \"-1\"\n}\n"));
	free(text);
	facts_free(&facts);
}
