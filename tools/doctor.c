/* doctor.c - `mprof doctor`: why a profile is empty or has no names, and the way out. */
#include "tools/doctor.h"

#include "tools/cli.h"
#include "tools/paint.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

struct doctor_options {
	bool json;
	const char *output; /* NULL = a standard stream */
	const char *color;
	char **files;
	int file_count;
	char **command; /* NULL = none */
};

void doctor_help(FILE *out)
{
	fputs("usage: mprof doctor [OPTIONS] [FILE...] [-- CMD ARGS...]\n"
	      "\n"
	      "Says why a profile is empty or has no names, and the way out. Looks at the\n"
	      "profiles FILE; at the program CMD, which it also runs under the profiler, and at\n"
	      "all that it starts; or, without either, at how mprof is installed. A line for\n"
	      "each finding:\n"
	      "\n"
	      "  ok       as it should be\n"
	      "  note     something will not be seen, or has no source lines\n"
	      "  problem  it cannot be profiled, or the profile says too little\n"
	      "\n"
	      "  --json             an array of objects instead: level, subject, code (a word\n"
	      "                     that never changes), text, advice, count\n"
	      "  -o, --output FILE  write the report there; else it goes to standard output,\n"
	      "                     with CMD to standard error: standard output is CMD's\n"
	      "  --color WHEN       always, never or auto (default)\n"
	      "\n"
	      "CMD really runs, once, and its profile is thrown away. It is traced meanwhile,\n"
	      "as by a debugger, so setuid programs have no special rights in it. The exit\n"
	      "status is 1 when there is a problem, else 0, however CMD ended.\n"
	      "\n"
	      "Examples:\n"
	      "  mprof doctor                          is mprof well installed?\n"
	      "  mprof doctor -- ./start.sh --port 80  why is there no profile of it?\n"
	      "  mprof doctor mprof.1234.1.pb.gz       why are there no names in it?\n",
	      out);
}

enum { OPTION_JSON = 0x100, OPTION_COLOR };

/* Returns -1 to go on, else the status to exit with. */
static int parse_option(struct doctor_options *options, int result, char **argv)
{
	switch (result) {
	case 'h':
		doctor_help(stdout);
		return 0;
	case 'o':
		options->output = optarg;
		return -1;
	case OPTION_JSON:
		options->json = true;
		return -1;
	case OPTION_COLOR:
		options->color = optarg;
		if (paint_choose(optarg))
			return -1;
		return cli_usage("doctor", "--color cannot be '%s' (always, never or auto)", optarg);
	default:
		return cli_bad_option("doctor", result, argv);
	}
}

static int parse(int argc, char **argv, struct doctor_options *options)
{
	static const struct option known[] = {
		{"json", no_argument, NULL, OPTION_JSON},
		{"output", required_argument, NULL, 'o'},
		{"color", required_argument, NULL, OPTION_COLOR},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int result, end = 1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		options->command = argv + end + 1;
		argv[end] = NULL; /* getopt must not look further, nor sort the files behind it */
		if (end + 1 == argc)
			return cli_usage("doctor", "no program given");
	}
	opterr = 0;
	while ((result = getopt_long(end, argv, ":o:h", known, NULL)) != -1) {
		int status = parse_option(options, result, argv);

		if (status >= 0)
			return status;
	}
	options->files = argv + optind;
	options->file_count = end - optind;
	return -1;
}

/* Returns -1 to go on, else the status to exit with. */
static int examine(const struct doctor_options *options, struct findings *findings)
{
	for (int i = 0; i < options->file_count; i++) {
		const char *file = options->files[i];
		bool is_stdin = strcmp(file, "-") == 0;

		if (!is_stdin && access(file, R_OK) != 0)
			return cli_fail("doctor", "cannot read %s: %s", file, strerror(errno));
		doctor_profile(findings, is_stdin ? "standard input" : file, file, true);
	}
	if (options->command != NULL) {
		int error;

		doctor_environment(findings);
		doctor_program(findings, options->command[0]);
		error = doctor_run(findings, options->command);
		if (error != 0)
			return cli_fail("doctor", "cannot run '%s': %s", options->command[0], strerror(-error));
	} else if (options->file_count == 0) {
		doctor_setup(findings);
	}
	return -1;
}

static int report(const struct doctor_options *options, const struct findings *findings)
{
	FILE *out = options->output != NULL ? fopen(options->output, "we") : options->command != NULL ? stderr : stdout;

	if (out == NULL)
		return cli_fail("doctor", "cannot write %s: %s", options->output, strerror(errno));
	/* What is "auto" was decided for standard output. */
	if (strcmp(options->color, "auto") == 0 && !isatty(fileno(out)))
		paint_choose("never");
	if (options->json)
		findings_print_json(findings, out);
	else
		findings_print(findings, out);
	if (options->output != NULL && fclose(out) != 0)
		return cli_fail("doctor", "cannot write %s: %s", options->output, strerror(errno));
	return findings_worst(findings, NULL) == FINDING_PROBLEM ? CLI_FAILED : 0;
}

int doctor_main(int argc, char **argv)
{
	struct doctor_options options = {.color = "auto"};
	struct findings findings = {0};
	int status;

	paint_choose(options.color);
	status = parse(argc, argv, &options);
	if (status < 0)
		status = examine(&options, &findings);
	if (status < 0)
		status = report(&options, &findings);
	findings_free(&findings);
	return status;
}
