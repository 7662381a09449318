/* cli.h - what the verbs of the command line tool share: the shape of a verb, and how errors look. */
#ifndef MPROF_TOOLS_CLI_H
#define MPROF_TOOLS_CLI_H

#include <stdio.h>

/* Exit statuses of the tool itself; `mprof run` otherwise gives the program's own. */
#define CLI_FAILED 1 /* could not do it */
#define CLI_USAGE 2  /* was asked wrongly */
#define CLI_NOT_EXECUTABLE 126
#define CLI_NOT_FOUND 127 /* these two as the shell and env(1) use them */

/* One verb: verbs.def has the table, tools/<verb>.c the functions. */
struct verb {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the verb; gives the exit status */
	void (*help)(FILE *out);
	const char *summary;
};

#define VERB(name, summary) \
	int name##_main(int argc, char **argv); \
	void name##_help(FILE *out);
#include "tools/verbs.def"
#undef VERB

/* Say on stderr, in one line, what went wrong: "mprof VERB: MESSAGE". Gives CLI_FAILED, to be returned. */
int cli_fail(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a command line that makes no sense; the line ends with the way to the help. Gives CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_usage for what getopt_long returned as ':' or '?'; its option string starts with ":" or "+:". */
int cli_bad_option(const char *verb, int result, char **argv);

#endif
