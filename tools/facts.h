/* facts.h - what a process says of its profiler: the lines "NAME VALUE" that answer REQUEST_STATUS. */
#ifndef MPROF_TOOLS_FACTS_H
#define MPROF_TOOLS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fact {
	const char *name, *value;
};

struct facts {
	struct fact *list; /* in the order given */
	size_t count;
	char *text; /* where names and values are */
};

/* Take the text apart; lines that are not of the form are left out. Ends the process when memory does. */
void facts_parse(struct facts *facts, const char *text);
void facts_free(struct facts *facts);

/* A value: "" when there is none of the name. */
const char *facts_text(const struct facts *facts, const char *name);

/* The same as a number: 0 when there is none. */
int64_t facts_number(const struct facts *facts, const char *name);

/* Print them all as the members of a JSON object, the process id first, numbers as such. */
void facts_print_json(const struct facts *facts, int process, FILE *out);

#endif
