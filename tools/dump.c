/* dump.c - `mprof dump`: the profile of a live process, of all that it allocated or of what it allocates in a time span. */
#include "core/sys.h"
#include "tools/ask.h"
#include "tools/cli.h"
#include "tools/delta.h"
#include "tools/pack.h"
#include "tools/publish.h"
#include "tools/summary.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct dump_options {
	const char *file;  /* NULL = the first free mprof.PID.N.pb.gz, "-" = standard output */
	unsigned delta_ms; /* 0 = no difference */
};

void dump_help(FILE *out)
{
	fputs("usage: mprof dump [OPTIONS] PID\n"
	      "\n"
	      "Writes the heap profile of a running process, which goes on meanwhile. It must\n"
	      "run under mprof: see mprof ps.\n"
	      "\n"
	      "  -o FILE             where to (default: the first free mprof.PID.N.pb.gz); -\n"
	      "                      is standard output\n"
	      "  --delta SECONDS     what is allocated within so many seconds from now,\n"
	      "                      instead of all since the start; what is in use stays what\n"
	      "                      it is at their end\n" ASK_HELP "\n"
	      "Examples:\n"
	      "  mprof dump 1234                               a file mprof.1234.N.pb.gz here\n"
	      "  mprof dump --delta 10 -o busy.pb.gz 1234      then: mprof churn busy.pb.gz\n"
	      "  mprof dump -o - 1234 | go tool pprof -top -   no file at all\n",
	      out);
}

static int parse(int argc, char **argv, struct ask *asked, struct dump_options *options)
{
	static const struct option known[] = {{"delta", required_argument, NULL, 'd'},
					      {"output", required_argument, NULL, 'o'},
					      ASK_OPTIONS,
					      {NULL, 0, NULL, 0}};
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":ho:", known, NULL)) != -1) {
		if (option == 'o') {
			options->file = optarg;
		} else if (option == 'd') {
			if (!ask_parse_seconds(optarg, &options->delta_ms))
				return cli_usage("dump", "--delta needs a number of seconds, not '%s'", optarg);
		} else {
			status = ask_option(asked, option, argv);
			if (status >= 0)
				return status;
		}
	}
	status = ask_operands(asked, argc, argv, NULL);
	if (status < 0 && options->file != NULL && strcmp(options->file, "-") == 0 && isatty(STDOUT_FILENO))
		return cli_usage("dump", "a profile is no text for a terminal; name a file with -o");
	return status;
}

/* Get the process's profile, decoded, and what it sent. Returns 0, or CLI_FAILED after saying why not. */
static int fetch(struct ask *asked, uint64_t how, struct answer *answer, Perftools__Profiles__Profile **profile)
{
	char error[128];

	if (ask(asked, REQUEST_DUMP, how, answer) != 0)
		return CLI_FAILED;
	if (decode_memory(answer->body, answer->n, profile, error, sizeof error) == 0)
		return 0;
	exchange_free(answer);
	return ask_fail(asked, "what it sent cannot be used: %s", error);
}

/* Write the profile, packed in n bytes of `data`, and say what is in it. */
static int deliver(const struct ask *asked, const struct dump_options *options, const void *data, size_t n,
		   const Perftools__Profiles__Profile *profile)
{
	char numbered[64];
	const char *path = options->file;
	struct summary summary;
	int error;

	summary_make(&summary, path, profile);
	if (summary.error[0] != '\0')
		return ask_fail(asked, "what it sent is %s", summary.error);
	if (path == NULL) {
		error = publish_numbered(asked->process.id, data, n, numbered, sizeof numbered);
		summary.path = numbered;
	} else if (strcmp(path, "-") == 0) {
		error = sys_write_all(STDOUT_FILENO, data, n, INT_MAX);
		summary.path = NULL;
	} else {
		error = publish(path, data, n);
	}
	if (error != 0)
		return cli_fail("dump", "cannot write %s: %s",
				summary.path != NULL ? summary.path : "to standard output", strerror(-error));
	summary_report(&summary);
	return 0;
}

static int dump_all(struct ask *asked, const struct dump_options *options)
{
	Perftools__Profiles__Profile *profile;
	struct answer answer;
	int status = fetch(asked, REQUEST_DUMP_FINISHED, &answer, &profile);

	if (status != 0)
		return status;
	status = deliver(asked, options, answer.body, answer.n, profile);
	decode_free(profile);
	exchange_free(&answer);
	return status;
}

/* The raw profile alone, and when it was asked for. */
static int fetch_raw(struct ask *asked, Perftools__Profiles__Profile **profile, int64_t *asked_ns)
{
	struct answer answer;
	int status = fetch(asked, REQUEST_DUMP_RAW, &answer, profile);

	if (status != 0)
		return status;
	*asked_ns = answer.asked_ns;
	exchange_free(&answer);
	return 0;
}

static int deliver_difference(const struct ask *asked, const struct dump_options *options,
			      Perftools__Profiles__Profile *first, Perftools__Profiles__Profile *second,
			      int64_t span_ns)
{
	struct buffer packed = {0};
	int error = delta_make(first, second, span_ns), status;

	if (error == -ERANGE)
		return ask_fail(asked, "its counts went down meanwhile: has somebody reset them?");
	if (error != 0)
		return ask_fail(asked, "what it sent are no raw counts: is its libmprof.so of another version?");
	if (pack(second, &packed) == 0)
		status = deliver(asked, options, packed.at, packed.used, second);
	else
		status = cli_fail("dump", "not enough memory for this profile");
	buffer_free(&packed);
	return status;
}

static int dump_delta(struct ask *asked, const struct dump_options *options)
{
	Perftools__Profiles__Profile *first, *second;
	int64_t start_ns, end_ns;
	int status = fetch_raw(asked, &first, &start_ns);

	if (status != 0)
		return status;
	/* Ctrl-C ends mprof here, as usual: nothing has been written yet. */
	if (process_wait_end(&asked->process, options->delta_ms)) {
		status = ask_fail(asked, "it ended before the %g s were over", options->delta_ms / 1000.0);
	} else {
		status = fetch_raw(asked, &second, &end_ns);
		if (status == 0) {
			status = deliver_difference(asked, options, first, second, end_ns - start_ns);
			decode_free(second);
		}
	}
	decode_free(first);
	return status;
}

int dump_main(int argc, char **argv)
{
	struct ask asked = ASK_INIT(dump);
	struct dump_options options = {0};
	int status = parse(argc, argv, &asked, &options);

	if (status >= 0)
		return status;
	signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write, told as any other */
	status = ask_open(&asked);
	if (status == 0)
		status = options.delta_ms == 0 ? dump_all(&asked, &options) : dump_delta(&asked, &options);
	ask_close(&asked);
	return status;
}
