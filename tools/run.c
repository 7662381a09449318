/* run.c - `mprof run`: runs a program with libmprof.so preloaded and says where its profiles are. */
#include "core/options.h"
#include "tools/absence.h"
#include "tools/child.h"
#include "tools/cli.h"
#include "tools/outputs.h"
#include "tools/preload_path.h"
#include "tools/target.h"

#include <errno.h>
#include <getopt.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "HEAPPROF_"
#define HELP_INDENT 20 /* columns of the options in the help; their meaning is to the right */
#define HELP_WIDTH 59

/* Every variable of options.def is also an option: HEAPPROF_RATE is --rate. */
struct variable {
	const char *option, *name, *kind, *value, *meaning; /* value: the default */
};

static const struct variable variables[] = {
#define OPTION(kind, field, name, text, meaning) {#field, PREFIX #name, #kind, text, meaning},
#include "core/options.def"
#undef OPTION
};

#define VARIABLE_COUNT (sizeof variables / sizeof *variables)

static bool is_flag(const struct variable *variable)
{
	return strcmp(variable->kind, "flag") == 0;
}

/* What stands for the value in the help. */
static const char *placeholder(const char *kind)
{
	static const char *const shown[][2] = {
		{"bytes", " BYTES"}, {"count", " N"}, {"signal", " SIGNAL"}, {"text", " PATTERN"}, {"flag", "[=0|1]"},
	};

	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		if (strcmp(shown[i][0], kind) == 0)
			return shown[i][1];
	return " CHOICE";
}

/* Print the text of the help's right column, broken between words. */
static void print_wrapped(FILE *out, const char *text)
{
	while (strlen(text) > HELP_WIDTH) {
		size_t n = HELP_WIDTH;

		while (n > 0 && text[n] != ' ')
			n--;
		if (n == 0)
			break;
		fprintf(out, "%.*s\n%*s", (int)n, text, HELP_INDENT, "");
		text += n + 1;
	}
	fprintf(out, "%s\n", text);
}

void run_help(FILE *out)
{
	fputs("usage: mprof run [OPTIONS] [--] CMD [ARGS...]\n"
	      "\n"
	      "Runs CMD with the heap profiler in it, and in all that it starts. When CMD\n"
	      "ends, says which profiles were written, adds source lines to them, and exits as\n"
	      "CMD did.\n"
	      "\n"
	      "  --no-symbolize    leave the profiles as they were written\n"
	      "\n"
	      "Options, each the same as the environment variable HEAPPROF_NAME:\n",
	      out);
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		const struct variable *variable = &variables[i];
		int n = fprintf(out, "  --%s%s", variable->option, placeholder(variable->kind));
		char *meaning = concat(variable->meaning, " (default ", variable->value, ")", NULL);

		fprintf(out, "%*s", HELP_INDENT - n, "");
		print_wrapped(out, meaning);
		free(meaning);
	}
	fputs("\n"
	      "Examples:\n"
	      "  mprof run ./server --port 80\n"
	      "  mprof run --rate 1 --out /tmp/%c.%p.%n.pb.gz make\n",
	      out);
}

static bool warned;

static void note_warning(const char *line, size_t n)
{
	(void)line;
	(void)n;
	warned = true;
}

/* Ask the library's own parser, so that the two never disagree. */
static bool is_valid(const char *name, const char *value)
{
	static struct options ignored; /* large */
	char *setting = concat(name, "=", value, NULL);
	char *environment[] = {setting, NULL};

	warned = false;
	options_parse(&ignored, environment, note_warning);
	free(setting);
	return !warned;
}

static int set_variable(const struct variable *variable, const char *value)
{
	if (value == NULL)
		value = "1";
	if (!is_valid(variable->name, value))
		return cli_usage("run", "--%s cannot be '%s' (%s)", variable->option, value, variable->meaning);
	setenv(variable->name, value, 1);
	return -1;
}

/* Options up to the program's name go into the environment. Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, bool *symbolizes)
{
	struct option known[VARIABLE_COUNT + 3] = {0};
	int result;

	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		known[i].name = variables[i].option;
		known[i].has_arg = is_flag(&variables[i]) ? optional_argument : required_argument;
		known[i].val = 256 + (int)i; /* past every character */
	}
	known[VARIABLE_COUNT] = (struct option){"help", no_argument, NULL, 'h'};
	known[VARIABLE_COUNT + 1] = (struct option){"no-symbolize", no_argument, NULL, 's'};
	opterr = 0;
	while ((result = getopt_long(argc, argv, "+:h", known, NULL)) != -1) {
		int status;

		if (result == 'h') {
			run_help(stdout);
			return 0;
		}
		if (result == 's') {
			*symbolizes = false;
			continue;
		}
		status = result < 256 ? cli_bad_option("run", result, argv)
				      : set_variable(&variables[result - 256], optarg);
		if (status >= 0)
			return status;
	}
	return optind < argc ? -1 : cli_usage("run", "no program given");
}

/* Returns -1, or the status to exit with. */
static int preload_library(void)
{
	struct refusal refusal;
	char *library = preload_path_find(&refusal);

	if (library == NULL)
		return cli_fail("run", "%s", refusal.reason);
	preload_path_set(library);
	free(library);
	return -1;
}

/* The options as the program will see them. A relative pattern is made absolute here, so that children which start in
 * other directories write to the same place; below a directory whose own name holds a % it has to stay relative. */
static const struct options *settle_options(void)
{
	static struct options options; /* large */
	const char *given = getenv(PREFIX "OUT");
	char *here = getcwd(NULL, 0);
	bool refused;

	options_parse(&options, environ, note_warning);
	refused = given != NULL && strcmp(given, options.out) != 0; /* left as it is, for the library to warn of */
	if (!refused && options.out[0] != '/' && here != NULL && strchr(here, '%') == NULL) {
		char *absolute = concat(here, "/", options.out, NULL);

		if (strlen(absolute) < sizeof options.out) {
			strcpy(options.out, absolute);
			setenv(PREFIX "OUT", absolute, 1);
		}
		free(absolute);
	}
	free(here);
	return &options;
}

/* No profile: say the likeliest reason. */
static void explain_absence(const struct options *options, const char *program, enum target_kind kind, int wait_status)
{
	const char *obstacle = target_obstacle(kind);
	struct refusal refusal;

	if (obstacle != NULL) {
		fprintf(stderr, "mprof: not profiled: %s: %s\n", program, obstacle);
		return;
	}
	absence_explain(&refusal, options, wait_status);
	fprintf(stderr, "mprof: no profile: %s\n", refusal.reason);
}

static int cannot_start(const char *command, int error)
{
	cli_fail("run", "cannot run '%s': %s", command, strerror(-error));
	return error == -ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

/* Returns 0 and how the program ended, or the negative errno with which it could not be started. */
static int run_and_report(char **command, const struct options *options, bool symbolizes, int *wait_status)
{
	static char program[PATH_MAX]; /* large */
	enum target_kind kind = target_inspect(command[0], program, sizeof program);
	struct outputs before, after;
	int error;

	outputs_list(&before, options->out);
	error = child_run(command, wait_status);
	if (error == 0) {
		outputs_list(&after, options->out);
		outputs_keep_new(&after, &before);
		if (after.count > 0)
			outputs_report(&after);
		else
			explain_absence(options, program, kind, *wait_status);
		/* last, so that who does not want to wait for it loses nothing */
		if (symbolizes && options->format == OPTIONS_FORMAT_PPROF)
			outputs_symbolize(&after);
		outputs_free(&after);
	}
	outputs_free(&before);
	return error;
}

int run_main(int argc, char **argv)
{
	bool symbolizes = true;
	int status = parse(argc, argv, &symbolizes), wait_status, error;
	char **command;

	if (status < 0)
		status = preload_library();
	if (status >= 0)
		return status;
	command = argv + optind;
	error = run_and_report(command, settle_options(), symbolizes, &wait_status);
	if (error != 0)
		return cannot_start(command[0], error);
	child_imitate(wait_status);
}
