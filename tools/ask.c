/* ask.c - what the verbs that steer a live process share. */
#include "tools/ask.h"

#include "tools/cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define SECONDS_MAX 1e6

bool ask_parse_seconds(const char *text, unsigned *ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= 0.001 && seconds <= SECONDS_MAX))
		return false;
	*ms = (unsigned)lround(seconds * 1000);
	return true;
}

int ask_option(struct ask *ask, int option, char **argv)
{
	if (option == 'h') {
		ask->help(stdout);
		return 0;
	}
	if (option != 'T')
		return cli_bad_option(ask->verb, option, argv);
	if (!ask_parse_seconds(optarg, &ask->timeout_ms))
		return cli_usage(ask->verb, "--timeout needs a number of seconds, not '%s'", optarg);
	return -1;
}

static bool parse_id(const char *text, pid_t *id)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	*id = (pid_t)number;
	return errno == 0 && text[0] >= '0' && text[0] <= '9' && *end == '\0' && number >= 1 && number <= INT_MAX;
}

int ask_operands(struct ask *ask, int argc, char **argv, const char *second)
{
	int last = optind + (second != NULL);

	if (optind == argc)
		return cli_usage(ask->verb, "no process id given");
	if (!parse_id(argv[optind], &ask->process.id))
		return cli_usage(ask->verb, "'%s' is not a process id", argv[optind]);
	if (last >= argc)
		return cli_usage(ask->verb, "no %s given", second);
	if (last + 1 < argc)
		return cli_usage(ask->verb, "'%s' is too many", argv[last + 1]);
	return -1;
}

int ask_options(struct ask *ask, int argc, char **argv)
{
	static const struct option known[] = {ASK_OPTIONS, {NULL, 0, NULL, 0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		int status = ask_option(ask, option, argv);

		if (status >= 0)
			return status;
	}
	return -1;
}

int ask_parse(struct ask *ask, int argc, char **argv, const char *second)
{
	int status = ask_options(ask, argc, argv);

	return status >= 0 ? status : ask_operands(ask, argc, argv, second);
}

int ask_fail(const struct ask *ask, const char *format, ...)
{
	const char *program = ask->process.program;
	bool named = *program != '\0';
	char text[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return cli_fail(ask->verb, "process %d%s%s%s: %s", ask->process.id, named ? " (" : "", program,
			named ? ")" : "", text);
}

int ask_refused(const struct ask *ask, const struct refusal *refusal)
{
	return ask_fail(ask, "%s%s%s", refusal->reason, refusal->way_out[0] != '\0' ? "; " : "", refusal->way_out);
}

int ask_open(struct ask *ask)
{
	struct refusal refusal;

	return process_open(&ask->process, ask->process.id, &refusal) == 0 ? 0 : ask_refused(ask, &refusal);
}

int ask(struct ask *ask, enum request_kind kind, uint64_t argument, struct answer *answer)
{
	struct refusal refusal;
	int error = exchange_ask(&ask->process, kind, argument, ask->timeout_ms, answer, &refusal);

	if (error != 0)
		ask_refused(ask, &refusal);
	return error;
}

void ask_close(struct ask *ask)
{
	process_close(&ask->process);
}
