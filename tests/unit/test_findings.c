/* test_findings.c - what was found out: collected once each, and printed. */
#include "tools/findings.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static void expect_printed(const struct findings *findings, void (*print)(const struct findings *, FILE *),
			   const char *text)
{
	char *printed;
	size_t n;
	FILE *out = open_memstream(&printed, &n);

	print(findings, out);
	fclose(out);
	cr_expect(eq(str, printed, (char *)text));
	free(printed);
}

static void add_three(struct findings *findings)
{
	findings_add(findings, FINDING_OK, "program", "app", "can be profiled");
	finding_advise(findings_add(findings, FINDING_PROBLEM, "dropped", "b\"in", "%d%% lost", 5), "do %s", "this");
	findings_add(findings, FINDING_NOTE, "program", "lib", "a note")->count = 3;
}

Test(findings, a_line_each)
{
	struct findings findings = {0};

	add_three(&findings);
	expect_printed(&findings, findings_print,
		       "ok       app: can be profiled\n"
		       "problem  b\"in: 5% lost; do this\n"
		       "note     lib: a note (3 times)\n");
	findings_free(&findings);
}

Test(findings, json)
{
	struct findings findings = {0};

	expect_printed(&findings, findings_print_json, "[\n]\n");
	add_three(&findings);
	expect_printed(&findings, findings_print_json,
		       "[\n"
		       "  {\"level\": \"ok\", \"subject\": \"app\", \"code\": \"program\", \"text\": \"can be "
		       "profiled\", \"advice\": \"\", "
		       "\"count\": 1},\n"
		       "  {\"level\": \"problem\", \"subject\": \"b\\\"in\", \"code\": \"dropped\", \"text\": \"5% "
		       "lost\", \"advice\": "
		       "\"do this\", \"count\": 1},\n"
		       "  {\"level\": \"note\", \"subject\": \"lib\", \"code\": \"program\", \"text\": \"a note\", "
		       "\"advice\": \"\", "
		       "\"count\": 3}\n"
		       "]\n");
	findings_free(&findings);
}

Test(findings, same_code_of_same_subject_is_one)
{
	struct findings findings = {0};

	findings_add(&findings, FINDING_NOTE, "stripped", "app", "first");
	findings_add(&findings, FINDING_PROBLEM, "stripped", "app", "second");
	findings_add(&findings, FINDING_OK, "stripped", "app", "third");
	expect_printed(&findings, findings_print, "problem  app: first\n");
	findings_free(&findings);
}

Test(findings, advice_is_replaced)
{
	struct findings findings = {0};
	struct finding *finding = findings_add(&findings, FINDING_NOTE, "a", "app", "text");

	finding_advise(finding, "one");
	finding_advise(finding, "two");
	expect_printed(&findings, findings_print, "note     app: text; two\n");
	findings_free(&findings);
}

Test(findings, the_worst)
{
	struct findings findings = {0};

	cr_expect(eq(int, findings_worst(&findings, NULL), FINDING_OK));
	add_three(&findings);
	cr_expect(eq(int, findings_worst(&findings, NULL), FINDING_PROBLEM));
	cr_expect(eq(int, findings_worst(&findings, "lib"), FINDING_NOTE));
	cr_expect(eq(int, findings_worst(&findings, "app"), FINDING_OK));
	cr_expect(eq(int, findings_worst(&findings, "other"), FINDING_OK));
	cr_expect(findings_have(&findings, "dropped"));
	cr_expect(not(findings_have(&findings, "static")));
	findings_free(&findings);
}
