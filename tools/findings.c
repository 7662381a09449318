/* findings.c - what was found out about something. */
#include "tools/findings.h"

#include "tools/json.h"
#include "tools/paint.h"

#include <libiberty/libiberty.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"ok", "note", "problem"};

static char *format_text(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		xmalloc_failed(0);
	return text;
}

static struct finding *find(const struct findings *findings, const char *code, const char *subject)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->list[i].code, code) == 0 && strcmp(findings->list[i].subject, subject) == 0)
			return &findings->list[i];
	return NULL;
}

struct finding *findings_add(struct findings *findings, enum finding_level level, const char *code, const char *subject,
			     const char *format, ...)
{
	struct finding *finding = find(findings, code, subject);
	va_list args;

	if (finding != NULL) {
		if (level > finding->level)
			finding->level = level;
		return finding;
	}
	findings->list = xrealloc(findings->list, (findings->count + 1) * sizeof *findings->list);
	finding = &findings->list[findings->count++];
	*finding = (struct finding){.level = level, .code = code, .subject = xstrdup(subject), .count = 1};
	va_start(args, format);
	finding->text = format_text(format, args);
	va_end(args);
	return finding;
}

void finding_advise(struct finding *finding, const char *format, ...)
{
	va_list args;

	free(finding->advice);
	va_start(args, format);
	finding->advice = format_text(format, args);
	va_end(args);
}

bool findings_have(const struct findings *findings, const char *code)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->list[i].code, code) == 0)
			return true;
	return false;
}

enum finding_level findings_worst(const struct findings *findings, const char *subject)
{
	enum finding_level worst = FINDING_OK;

	for (size_t i = 0; i < findings->count; i++)
		if (findings->list[i].level > worst &&
		    (subject == NULL || strcmp(findings->list[i].subject, subject) == 0))
			worst = findings->list[i].level;
	return worst;
}

void findings_print(const struct findings *findings, FILE *out)
{
	static const enum paint colours[] = {PAINT_LESS, PAINT_MAIN, PAINT_MORE}; /* green, bold, red */

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		fprintf(out, "%s%-7s%s  %s: %s", paint(colours[finding->level]), level_names[finding->level],
			paint(PAINT_PLAIN), finding->subject, finding->text);
		if (finding->count > 1)
			fprintf(out, " (%u times)", finding->count);
		if (finding->advice != NULL)
			fprintf(out, "; %s", finding->advice);
		fputc('\n', out);
	}
}

static void print_member(const char *name, const char *value, FILE *out)
{
	fprintf(out, "\"%s\": ", name);
	json_print_string(value, out);
	fputs(", ", out);
}

void findings_print_json(const struct findings *findings, FILE *out)
{
	fputc('[', out);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];

		fputs(i == 0 ? "\n  {" : ",\n  {", out);
		print_member("level", level_names[finding->level], out);
		print_member("subject", finding->subject, out);
		print_member("code", finding->code, out);
		print_member("text", finding->text, out);
		print_member("advice", finding->advice != NULL ? finding->advice : "", out);
		fprintf(out, "\"count\": %u}", finding->count);
	}
	fputs("\n]\n", out);
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->list[i].subject);
		free(findings->list[i].text);
		free(findings->list[i].advice);
	}
	free(findings->list);
}
