/* symbolize.c - `mprof symbolize`: a profile with source lines and inlined calls. */
#include "tools/cli.h"
#include "tools/symbolizer_file.h"

#include <errno.h>
#include <getopt.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct symbolize_options {
	const char *file, *output;
	char *binary_path; /* all that were given, by colons */
	struct symbolizer_options symbolizer;
};

void symbolize_help(FILE *out)
{
	fputs("usage: mprof symbolize [OPTIONS] FILE\n"
	      "\n"
	      "Adds to a profile what debug information says of its addresses: source files,\n"
	      "lines, and the calls that the compiler inlined. Programs and libraries are\n"
	      "looked for where they were when the profile was written; debug information in\n"
	      "them, where distributions put it (/usr/lib/debug), and on the servers in\n"
	      "DEBUGINFOD_URLS. Nothing is taken from a file that has changed since. FILE is\n"
	      "replaced.\n"
	      "\n"
	      "  -o OUT             write to OUT instead\n"
	      "  --binary-path DIR  look for files in DIR first, may be repeated:\n"
	      "                     DIR/BUILDID/name, DIR/name, DIR/full/path,\n"
	      "                     DIR/xx/yyyy.debug (xxyyyy: the build ID)\n"
	      "  --sysroot DIR      the paths in the profile are below DIR\n"
	      "  --pid PID          they are those that process PID sees, which may be in a\n"
	      "                     container; code that it made itself is named by its\n"
	      "                     /tmp/perf-PID.map\n"
	      "\n"
	      "Examples:\n"
	      "  mprof symbolize mprof.1234.1.pb.gz      then: go tool pprof -list FUNCTION ...\n"
	      "  mprof symbolize --binary-path build/debug -o lines.pb.gz mprof.1234.1.pb.gz\n",
	      out);
}

static void add_directory(struct symbolize_options *options, const char *directory)
{
	char *longer =
		options->binary_path == NULL ? xstrdup(directory) : concat(options->binary_path, ":", directory, NULL);

	free(options->binary_path);
	options->binary_path = longer;
}

static int parse_pid(const char *text, int *pid)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number == 0 || number > INT_MAX)
		return cli_usage("symbolize", "--pid needs a process ID, not '%s'", text);
	*pid = (int)number;
	return -1;
}

static int check(const struct symbolize_options *options, int argc, char **argv)
{
	int pid = options->symbolizer.pid;
	char root[32];

	if (optind == argc)
		return cli_usage("symbolize", "no profile given");
	if (optind + 1 < argc)
		return cli_usage("symbolize", "one profile at a time: '%s' is too many", argv[optind + 1]);
	if (pid != 0 && options->symbolizer.sysroot != NULL)
		return cli_usage("symbolize", "--pid and --sysroot both say where the files are; give one");
	snprintf(root, sizeof root, "/proc/%d/root/", pid);
	if (pid != 0 && access(root, X_OK) != 0)
		return cli_fail("symbolize", "cannot look into process %d: %s", pid, xstrerror(errno));
	return -1;
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct symbolize_options *options)
{
	static const struct option known[] = {
		{"binary-path", required_argument, NULL, 'b'},
		{"sysroot", required_argument, NULL, 's'},
		{"pid", required_argument, NULL, 'p'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":ho:", known, NULL)) != -1) {
		if (option == 'h') {
			symbolize_help(stdout);
			return 0;
		} else if (option == 'o') {
			options->output = optarg;
		} else if (option == 'b') {
			add_directory(options, optarg);
		} else if (option == 's') {
			options->symbolizer.sysroot = optarg;
		} else if (option == 'p') {
			status = parse_pid(optarg, &options->symbolizer.pid);
		} else {
			return cli_bad_option("symbolize", option, argv);
		}
	}
	if (status < 0)
		status = check(options, argc, argv);
	options->file = argv[optind];
	options->symbolizer.binary_path = options->binary_path;
	return status;
}

int symbolize_main(int argc, char **argv)
{
	struct symbolize_options options = {.symbolizer.progress = true};
	struct symbolizer_result result;
	char error[512];
	int status = parse(argc, argv, &options);

	if (status >= 0)
		goto out;
	if (options.output == NULL)
		options.output = options.file;
	status = 0;
	if (symbolizer_file(options.file, options.output, &options.symbolizer, &result, error, sizeof error) != 0)
		status = cli_fail("symbolize", "%s", error);
	else
		symbolizer_report(&result);
out:
	free(options.binary_path);
	return status;
}
