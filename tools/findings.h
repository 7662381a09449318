/* findings.h - what was found out about something: collected, then printed one line each, or as JSON. */
#ifndef MPROF_TOOLS_FINDINGS_H
#define MPROF_TOOLS_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum finding_level { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };

struct finding {
	enum finding_level level;
	const char *code; /* one word for scripts, that never changes */
	char *subject;	  /* what was looked at */
	char *text;	  /* what it means */
	char *advice;	  /* what to do; NULL = nothing */
	unsigned count;	  /* how often it was met */
};

/* All zero is none. */
struct findings {
	struct finding *list; /* in the order found */
	size_t count;
};

/* Add one. When this subject has a finding of this code already that one is meant: it keeps its text, and has the worse level. Returns it, valid until the next
 * one is added. Ends the process when memory does. */
struct finding *findings_add(struct findings *findings, enum finding_level level, const char *code, const char *subject,
			     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Say what to do about it, instead of what was said before. */
void finding_advise(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is there one of this code? */
bool findings_have(const struct findings *findings, const char *code);

/* The worst of them, of one subject or (NULL) of all; FINDING_OK when there is none. */
enum finding_level findings_worst(const struct findings *findings, const char *subject);

/* Print them: a line each, with colour where paint_choose chose so; or an array of objects. */
void findings_print(const struct findings *findings, FILE *out);
void findings_print_json(const struct findings *findings, FILE *out);

void findings_free(struct findings *findings);

#endif
