/* rate.c - `mprof rate`: sets the sampling rate of a live process. */
#include "core/options.h"
#include "core/sampler.h"
#include "tools/ask.h"
#include "tools/cli.h"
#include "tools/facts.h"
#include "tools/format.h"

#define RATE_MAX (REQUEST_ARGUMENT_MAX < SAMPLER_RATE_MAX ? REQUEST_ARGUMENT_MAX : SAMPLER_RATE_MAX)

void rate_help(FILE *out)
{
	fputs("usage: mprof rate [OPTIONS] PID N\n"
	      "\n"
	      "Sets the mean number of bytes between samples in a running process, and says\n"
	      "what it was and is. N takes the suffixes K, M and G; 1 records every\n"
	      "allocation, 0 none. A thread takes it over within 1 MiB of its allocations.\n"
	      "Samples taken before keep their weight.\n"
	      "\n" ASK_HELP "\n"
	      "Examples:\n"
	      "  mprof rate 1234 64K    look closer\n"
	      "  mprof rate 1234 0      stop sampling; what is known stays\n",
	      out);
}

static int parse(int argc, char **argv, struct ask *asked, uint64_t *rate)
{
	int status = ask_parse(asked, argc, argv, "rate");

	if (status < 0 && (!options_parse_bytes(argv[optind + 1], rate) || *rate > RATE_MAX))
		return cli_usage("rate", "'%s' is not a rate: a number of bytes up to 1023G", argv[optind + 1]);
	return status;
}

static struct figure rate_text(uint64_t rate)
{
	return rate == 0 ? (struct figure){"off"} : format_bytes((int64_t)rate);
}

/* The rate in force. Returns 0, or a negative errno after saying why. */
static int ask_rate(struct ask *asked, uint64_t *rate)
{
	struct answer answer;
	struct facts facts;
	int error = ask(asked, REQUEST_STATUS, 0, &answer);

	if (error != 0)
		return error;
	facts_parse(&facts, answer.body);
	*rate = (uint64_t)facts_number(&facts, "rate");
	facts_free(&facts);
	exchange_free(&answer);
	return 0;
}

int rate_main(int argc, char **argv)
{
	struct ask asked = ASK_INIT(rate);
	struct answer answer;
	uint64_t wanted, before, after;
	int status = parse(argc, argv, &asked, &wanted);

	if (status >= 0)
		return status;
	if (ask_open(&asked) != 0)
		return CLI_FAILED;
	status = CLI_FAILED;
	if (ask_rate(&asked, &before) == 0 && ask(&asked, REQUEST_RATE, wanted, &answer) == 0) {
		exchange_free(&answer);
		if (ask_rate(&asked, &after) == 0) {
			printf("rate %s -> %s\n", rate_text(before).text, rate_text(after).text);
			status = 0;
		}
	}
	ask_close(&asked);
	return status;
}
