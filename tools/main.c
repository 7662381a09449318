/* main.c - the command line tool: finds the verb and runs it. */
#include "tools/cli.h"

#include <errno.h>
#include <google/protobuf-c/protobuf-c.h>
#include <jemalloc/jemalloc.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const struct verb verbs[] = {
#define VERB(name, summary) {#name, name##_main, name##_help, summary},
#include "tools/verbs.def"
#undef VERB
};

#define VERB_COUNT (sizeof verbs / sizeof *verbs)

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's edit distance; words too long for the row count as infinitely far. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[32], width = strlen(b);

	if (width >= sizeof row / sizeof *row)
		return SIZE_MAX;
	for (size_t j = 0; j <= width; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[width];
}

/* The verb that was probably meant: at most two slips of the finger away, and not all of it slips. */
static const struct verb *guess_verb(const char *name)
{
	const struct verb *best = NULL;
	size_t best_distance = 3;

	for (size_t i = 0; i < VERB_COUNT; i++) {
		size_t distance = edit_distance(verbs[i].name, name);

		if (strncmp(verbs[i].name, name, strlen(name)) == 0)
			distance = 0;
		if (distance < best_distance && distance < strlen(verbs[i].name)) {
			best = &verbs[i];
			best_distance = distance;
		}
	}
	return best;
}

static int unknown_verb(const char *name)
{
	const struct verb *guess = *name != '\0' ? guess_verb(name) : NULL;

	if (guess != NULL)
		fprintf(stderr, "mprof: unknown verb '%s'; did you mean '%s'?\n", name, guess->name);
	else
		fprintf(stderr, "mprof: unknown verb '%s'; see: mprof --help\n", name);
	return CLI_USAGE;
}

static void print_help(void)
{
	printf("mprof - a sampled heap profiler for native Linux programs\n"
	       "\n"
	       "usage: mprof VERB [OPTIONS] ...\n"
	       "\n");
	for (size_t i = 0; i < VERB_COUNT; i++)
		printf("  %-10s %s\n", verbs[i].name, verbs[i].summary);
	printf("  %-10s %s\n"
	       "\n"
	       "  --version  the versions of mprof and of the libraries in it\n"
	       "\n"
	       "A first profile:\n"
	       "  mprof run ./app       writes mprof.PID.N.pb.gz when the program ends\n"
	       "  mprof top --lines mprof.PID.N.pb.gz\n"
	       "Of a program that goes on running:\n"
	       "  mprof ps; mprof dump PID\n"
	       "No profile, or no names:\n"
	       "  mprof doctor -- ./app\n",
	       "help VERB", "what a verb does, its options and examples");
}

static void print_version(void)
{
	/* "5.3.0-0-g54eaed1..." as built from git: the release is what matters. */
	printf("mprof %s\n", MPROF_VERSION);
	printf("jemalloc %.*s\n", (int)strcspn(JEMALLOC_VERSION, "-"), JEMALLOC_VERSION);
	printf("libunwind %d.%d.%d\n", UNW_VERSION_MAJOR, UNW_VERSION_MINOR, UNW_VERSION_EXTRA + 0);
	printf("zlib %s\n", zlibVersion());
	printf("protobuf-c %s\n", protobuf_c_version());
}

static int help(const char *name)
{
	const struct verb *verb;

	if (name == NULL) {
		print_help();
		return 0;
	}
	verb = find_verb(name);
	if (verb == NULL)
		return unknown_verb(name);
	verb->help(stdout);
	return 0;
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct verb *verb;

	if (name == NULL) {
		fprintf(stderr, "mprof: what to do? see: mprof --help\n");
		return CLI_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return help(NULL);
	if (strcmp(name, "help") == 0)
		return help(argc > 2 ? argv[2] : NULL);
	if (strcmp(name, "--version") == 0) {
		print_version();
		return 0;
	}
	if (name[0] == '-') {
		fprintf(stderr, "mprof: unknown option '%s'; see: mprof --help\n", name);
		return CLI_USAGE;
	}
	verb = find_verb(name);
	return verb != NULL ? verb->run(argc - 1, argv + 1) : unknown_verb(name);
}

int main(int argc, char **argv)
{
	int status;

	/* One write per message: it must not be torn apart by what the program writes to the same terminal. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	status = dispatch(argc, argv);
	/* A report that a full disk cut short is a failure too. */
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
		fprintf(stderr, "mprof: cannot write to standard output: %s\n", strerror(errno));
		return CLI_FAILED;
	}
	return status;
}
