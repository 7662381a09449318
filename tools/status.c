/* status.c - `mprof status`: what the profiler in a live process has recorded, uses and lost. */
#include "core/loss.h"
#include "tools/ask.h"
#include "tools/cli.h"
#include "tools/facts.h"
#include "tools/format.h"

#include <inttypes.h>

#define NAME_WIDTH 12 /* of the left column */

void status_help(FILE *out)
{
	fputs("usage: mprof status [OPTIONS] PID\n"
	      "\n"
	      "Shows what the profiler in a running process has recorded, how much memory it\n"
	      "takes for itself, and what it lost.\n"
	      "\n"
	      "  --json              all figures as a JSON object, sizes in bytes\n" ASK_HELP "\n"
	      "Examples:\n"
	      "  mprof status 1234\n"
	      "  mprof status --json 1234 | jq .live_bytes\n",
	      out);
}

static int parse(int argc, char **argv, struct ask *asked, bool *json)
{
	static const struct option known[] = {{"json", no_argument, NULL, 'j'}, ASK_OPTIONS, {NULL, 0, NULL, 0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		int status = option == 'j' ? -1 : ask_option(asked, option, argv);

		*json = *json || option == 'j';
		if (status >= 0)
			return status;
	}
	return ask_operands(asked, argc, argv, NULL);
}

static void print_name(const char *name)
{
	printf("%-*s", NAME_WIDTH, name);
}

static void print_rate(const struct facts *facts)
{
	int64_t rate = facts_number(facts, "rate");

	print_name("rate");
	if (rate == 0)
		printf("off\n");
	else if (rate == 1)
		printf("every allocation\n");
	else
		printf("a sample per %s\n", format_bytes(rate).text);
}

/* "12.30MB in 1234 objects". */
static void print_sum(const struct facts *facts, const char *name, const char *bytes, const char *objects)
{
	print_name(name);
	printf("%s in %" PRId64 " objects", format_bytes(facts_number(facts, bytes)).text,
	       facts_number(facts, objects));
}

static void print_losses(const struct facts *facts)
{
	for (int i = 0; i < LOSS_COUNT; i++) {
		int64_t count = facts_number(facts, loss_keys[i]);

		if (count == 0)
			continue;
		print_name("lost");
		printf("%" PRId64 " %s\n", count, loss_texts[i]);
	}
}

static void print(const struct facts *facts, const struct process *process)
{
	print_name("process");
	printf("%d, %s\n", process->id, facts_text(facts, "program"));
	print_name("mprof");
	printf("%s\n", facts_text(facts, "version"));
	print_rate(facts);
	print_name("samples");
	printf("%" PRId64 ", %" PRId64 " of them live, of %" PRId64 " stacks and sizes\n",
	       facts_number(facts, "samples"), facts_number(facts, "live_samples"), facts_number(facts, "buckets"));
	print_sum(facts, "live", "live_bytes", "live_objects");
	printf(", estimated\n");
	print_sum(facts, "allocated", "alloc_bytes", "alloc_objects");
	printf(", estimated, since the start or reset\n");
	if (facts_number(facts, "peak_bytes") != 0) {
		print_name("peak");
		printf("%s live, estimated\n", format_bytes(facts_number(facts, "peak_bytes")).text);
	}
	print_name("memory");
	printf("%s of the profiler's own, of at most %s\n", format_bytes(facts_number(facts, "memory_bytes")).text,
	       format_bytes(facts_number(facts, "memory_limit_bytes")).text);
	print_name("dumps");
	printf("%" PRId64 "\n", facts_number(facts, "dumps"));
	print_losses(facts);
}

int status_main(int argc, char **argv)
{
	struct ask asked = ASK_INIT(status);
	struct answer answer;
	struct facts facts;
	bool json = false;
	int status = parse(argc, argv, &asked, &json);

	if (status >= 0)
		return status;
	status = ask_open(&asked);
	if (status == 0 && ask(&asked, REQUEST_STATUS, 0, &answer) != 0)
		status = CLI_FAILED;
	if (status == 0) {
		facts_parse(&facts, answer.body);
		if (json)
			facts_print_json(&facts, asked.process.id, stdout);
		else
			print(&facts, &asked.process);
		facts_free(&facts);
		exchange_free(&answer);
	}
	ask_close(&asked);
	return status;
}
