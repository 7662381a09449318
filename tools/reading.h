/* reading.h - what the verbs that read profiles share: their options, opening the files, and the stacks they are about. */
#ifndef MPROF_TOOLS_READING_H
#define MPROF_TOOLS_READING_H

#include "pprof/decode.h"
#include "tools/filter.h"
#include "tools/measure.h"
#include "tools/stacks.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define READING_FILES_MAX 2

struct reading {
	const char *verb;
	const char *sample; /* --sample: name of the sample type; NULL = the profile's own default */
	enum stacks_by by;  /* --lines, --modules */
	bool by_site;	    /* --sites: a row of the report is a stack */
	struct filter filter;
	size_t limit; /* -n: rows to show; 0 = all */
	bool json;
	bool symbolize; /* look source lines up when a profile has none; --lines sets it */
	const char *paths[READING_FILES_MAX];
	Perftools__Profiles__Profile *profiles[READING_FILES_MAX];
	size_t count;	      /* of files */
	struct stacks stacks; /* of all of them */
};

/* The long options every such verb takes, for its table, and the short ones, to go behind ":" and its own; then what only some take. */
#define READING_OPTIONS \
	{"lines", no_argument, NULL, READING_LINES}, {"modules", no_argument, NULL, READING_MODULES}, \
		{"focus", required_argument, NULL, READING_FOCUS}, \
		{"ignore", required_argument, NULL, READING_IGNORE}, {"show", required_argument, NULL, READING_SHOW}, \
		{"hide", required_argument, NULL, READING_HIDE}, {"json", no_argument, NULL, READING_JSON}, \
		{"color", required_argument, NULL, READING_COLOR}, {"help", no_argument, NULL, 'h'},
#define READING_SAMPLE_OPTION {"sample", required_argument, NULL, READING_SAMPLE},
#define READING_SITES_OPTION {"sites", no_argument, NULL, READING_SITES},
#define READING_SHORT "hn:"

enum {
	READING_SAMPLE = 0x100,
	READING_SITES,
	READING_LINES,
	READING_MODULES,
	READING_FOCUS,
	READING_IGNORE,
	READING_SHOW,
	READING_HIDE,
	READING_JSON,
	READING_COLOR,
};

/* Their part of a help text; `sample`: does the verb take --sample? */
void reading_help(FILE *out, bool sample);

/* Take what getopt_long returned. Gives -1 when that was one of these options and is done with; else the status to exit with: 0 for --help
 * (the help was printed by `help`), CLI_USAGE after a message. */
int reading_option(struct reading *reading, int option, char **argv, void (*help)(FILE *));

/* Read the `least` to `most` files that are named from optind on, and make the stacks of them. Gives -1, or the status to exit with after a
 * message; reading_close is due in both cases. */
int reading_open(struct reading *reading, int argc, char **argv, size_t least, size_t most);

/* What stands above a report of one file: the program, the file, the time, the filters. And of the filters alone. */
void reading_print_heading(const struct reading *reading);
void reading_print_filters(const struct reading *reading);

/* What a row of the report is: "function", "line", "module" or "site". */
const char *reading_kind(const struct reading *reading);

/* How many of so many rows to show. */
size_t reading_shown(const struct reading *reading, size_t count);

/* The sample type asked for, of file `number`. -1, or the status to exit with after a message when there is none of this name. */
int reading_measure(const struct reading *reading, size_t number, const char *sample, struct measure *measure);

void reading_close(struct reading *reading);

/* A number on the command line: digits only. False when it is none. */
bool reading_number(const char *text, size_t *number);

#endif
