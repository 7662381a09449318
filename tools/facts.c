/* facts.c - what a process says of its profiler. */
#include "tools/facts.h"

#include "tools/json.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

void facts_parse(struct facts *facts, const char *text)
{
	size_t lines = 1;
	char *line, *rest;

	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	*facts = (struct facts){.list = xcalloc(lines, sizeof *facts->list), .text = xstrdup(text)};
	rest = facts->text;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(line, ' ');

		if (value == NULL || value == line)
			continue;
		*value = '\0';
		facts->list[facts->count++] = (struct fact){line, value + 1};
	}
}

void facts_free(struct facts *facts)
{
	free(facts->list);
	free(facts->text);
}

const char *facts_text(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->count; i++)
		if (strcmp(facts->list[i].name, name) == 0)
			return facts->list[i].value;
	return "";
}

int64_t facts_number(const struct facts *facts, const char *name)
{
	return strtoll(facts_text(facts, name), NULL, 10);
}

/* Digits, as JSON has them: no leading zero. */
static bool is_number(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && text[n] == '\0' && (text[0] != '0' || n == 1);
}

void facts_print_json(const struct facts *facts, int process, FILE *out)
{
	fprintf(out, "{\n  \"pid\": %d", process);
	for (size_t i = 0; i < facts->count; i++) {
		fputs(",\n  ", out);
		json_print_string(facts->list[i].name, out);
		fputs(": ", out);
		if (is_number(facts->list[i].value))
			fputs(facts->list[i].value, out);
		else
			json_print_string(facts->list[i].value, out);
	}
	fputs("\n}\n", out);
}
