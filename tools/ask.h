/* ask.h - what the verbs that steer a live process share: PID and --timeout, and the one line that says what went wrong. */
#ifndef MPROF_TOOLS_ASK_H
#define MPROF_TOOLS_ASK_H

#include "tools/exchange.h"
#include "tools/process.h"

#include <getopt.h>
#include <stdio.h>

/* Rows for a verb's table of long options. */
#define ASK_OPTIONS \
	{"timeout", required_argument, NULL, 'T'}, \
	{ \
		"help", no_argument, NULL, 'h' \
	}

/* The line that explains it in a verb's help. */
#define ASK_HELP "  --timeout SECONDS   how long to wait for an answer (default 10)\n"

struct ask {
	const char *verb;
	void (*help)(FILE *out);
	unsigned timeout_ms;
	struct process process;
};

/* Start with .verb and .help. */
#define ASK_INIT(name) \
	{ \
		.verb = #name, .help = name##_help, .timeout_ms = 10000, .process.handle = -1 \
	}

/* Handle an option that is none of the verb's own. Here and below: returns -1 to go on, else the status to exit with. */
int ask_option(struct ask *ask, int option, char **argv);

/* Take the words after the options: PID and, if `second` is not NULL, one more, called so in messages. */
int ask_operands(struct ask *ask, int argc, char **argv, const char *second);

/* All options of a verb without ones of its own. */
int ask_options(struct ask *ask, int argc, char **argv);

/* Its whole command line. */
int ask_parse(struct ask *ask, int argc, char **argv, const char *second);

/* A positive number of seconds, with a fraction if need be, as ms. False for others. */
bool ask_parse_seconds(const char *text, unsigned *ms);

/* Get hold of ask->process, whose id is set. Returns 0, or CLI_FAILED after saying why not. */
int ask_open(struct ask *ask);

/* Ask, with ask_open at first. Returns 0 and the answer; else says why there is none, and returns a negative errno: -ESRCH when the
 * process has ended. */
int ask(struct ask *ask, enum request_kind kind, uint64_t argument, struct answer *answer);

/* Say on stderr, in one line, what is wrong with the process. Both return CLI_FAILED. */
int ask_fail(const struct ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));
int ask_refused(const struct ask *ask, const struct refusal *refusal);

void ask_close(struct ask *ask);

#endif
