/* watch.c - `mprof watch`: which functions hold the memory of a live process, and what grows. */
#include "core/sys.h"
#include "tools/ask.h"
#include "tools/cli.h"
#include "tools/facts.h"
#include "tools/growth.h"
#include "tools/screen.h"
#include "tools/watch_table.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_MS 1000000
#define PLAIN_ROWS 10

struct watch {
	struct ask asked;
	unsigned interval_ms;
	size_t rows;  /* functions to show at most; 0 = as many as fit */
	size_t count; /* tables to show; 0 = no end */
	bool cumulative;
	enum growth_order order;
	struct growth growth;
	struct facts facts;
	int64_t start_ns, refreshed_ns; /* when the first and the last profile were asked for */
};

void watch_help(FILE *out)
{
	fputs("usage: mprof watch [OPTIONS] PID\n"
	      "\n"
	      "Shows again and again which functions hold the memory of a running process\n"
	      "(their live bytes, estimated) and what changed since the time before and since\n"
	      "the start of watching.\n"
	      "\n"
	      "  -n ROWS             functions to show (default: what fits on the screen; 10\n"
	      "                      elsewhere)\n"
	      "  --interval SECONDS  time between two looks (default 1)\n"
	      "  --count N           end after N tables (default: never)\n"
	      "  --growth            sort by what was gained since the start, not by live\n"
	      "                      bytes\n"
	      "  --cum               count for a function also what those it called allocated\n" ASK_HELP "\n"
	      "On a terminal: l or the left arrow sorts by live bytes, g or the right arrow by\n"
	      "growth, q quits. Elsewhere the tables are written one after the other.\n"
	      "\n"
	      "Examples:\n"
	      "  mprof watch 1234\n"
	      "  mprof watch --growth --interval 60 --count 10 1234 >leak.txt\n",
	      out);
}

static int parse_number(const char *option, const char *text, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (errno == 0 && *end == '\0' && text[0] >= '1' && text[0] <= '9')
		return -1;
	return cli_usage("watch", "%s needs a number from 1 on, not '%s'", option, text);
}

/* Returns -1 to go on, else the status to exit with. */
static int set_option(struct watch *watch, int option, char **argv)
{
	switch (option) {
	case 'n':
		return parse_number("-n", optarg, &watch->rows);
	case 'c':
		return parse_number("--count", optarg, &watch->count);
	case 'g':
		watch->order = GROWTH_BY_CHANGE;
		return -1;
	case 'u':
		watch->cumulative = true;
		return -1;
	case 'i':
		if (ask_parse_seconds(optarg, &watch->interval_ms))
			return -1;
		return cli_usage("watch", "--interval needs a number of seconds, not '%s'", optarg);
	default:
		return ask_option(&watch->asked, option, argv);
	}
}

static int parse(int argc, char **argv, struct watch *watch)
{
	static const struct option known[] = {{"interval", required_argument, NULL, 'i'},
					      {"count", required_argument, NULL, 'c'},
					      {"growth", no_argument, NULL, 'g'},
					      {"cum", no_argument, NULL, 'u'},
					      ASK_OPTIONS,
					      {NULL, 0, NULL, 0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hn:", known, NULL)) != -1) {
		int status = set_option(watch, option, argv);

		if (status >= 0)
			return status;
	}
	return ask_operands(&watch->asked, argc, argv, NULL);
}

/* --- one look --------------------------------------------------------------------------------------------------- */

static int ask_for(struct watch *watch, enum request_kind kind, struct answer *answer, struct refusal *refusal)
{
	return exchange_ask(&watch->asked.process, kind, 0, watch->asked.timeout_ms, answer, refusal);
}

static int refresh_facts(struct watch *watch, struct refusal *refusal)
{
	struct answer answer;
	int error = ask_for(watch, REQUEST_STATUS, &answer, refusal);

	if (error != 0)
		return error;
	facts_free(&watch->facts);
	facts_parse(&watch->facts, answer.body);
	exchange_free(&answer);
	return 0;
}

static int add_profile(struct watch *watch, const struct answer *answer, struct refusal *refusal)
{
	Perftools__Profiles__Profile *profile;
	struct stacks stacks = {.by = STACKS_BY_FUNCTION};
	struct profile_view view;
	struct measure measure;
	char text[128];
	int error = decode_memory(answer->body, answer->n, &profile, text, sizeof text), type;

	if (error != 0)
		return refusal_set(refusal, error, "what it sent cannot be used: %s", text);
	type = measure_type(profile, "inuse_space");
	if (type >= 0) {
		measure = measure_make(profile, 0, type);
		stacks_add(&stacks, profile, NULL);
		profile_view_init(&view, &stacks, &measure);
		growth_add(&watch->growth, &view, watch->cumulative);
		profile_view_free(&view);
		stacks_free(&stacks);
	} else {
		error = refusal_set(refusal, -EBADMSG, "what it sent is not a heap profile");
	}
	decode_free(profile);
	return error;
}

/* Returns 0, or a negative errno and why. */
static int look(struct watch *watch, struct refusal *refusal)
{
	struct answer answer;
	int error = refresh_facts(watch, refusal);

	if (error == 0)
		error = ask_for(watch, REQUEST_DUMP, &answer, refusal);
	if (error != 0)
		return error;
	error = add_profile(watch, &answer, refusal);
	watch->refreshed_ns = answer.asked_ns;
	if (watch->start_ns == 0)
		watch->start_ns = answer.asked_ns;
	exchange_free(&answer);
	return error;
}

/* --- showing it ------------------------------------------------------------------------------------------------- */

static void print(const struct watch *watch, size_t rows, FILE *out)
{
	const struct watch_table table = {
		.program = watch->asked.process.program,
		.process = watch->asked.process.id,
		.facts = &watch->facts,
		.growth = &watch->growth,
		.order = watch->order,
		.watched_ns = watch->refreshed_ns - watch->start_ns,
	};

	watch_table_print(&table, rows, out);
}

static void show_on_screen(const struct watch *watch)
{
	size_t rows = watch->rows, n;
	char *text = NULL;
	FILE *out;

	if (rows == 0)
		rows = (size_t)screen_height(); /* more than fit: the screen cuts them off */
	out = open_memstream(&text, &n);
	if (out == NULL)
		return;
	print(watch, rows, out);
	fclose(out);
	screen_show(text, WATCH_TABLE_HEADER);
	free(text);
}

/* Until it is time for the next look. Returns false when the user has seen enough. */
static bool heed_keys(struct watch *watch)
{
	int64_t due_ns = watch->refreshed_ns + (int64_t)watch->interval_ms * NS_PER_MS, left_ns;

	while ((left_ns = due_ns - sys_monotonic_ns()) > 0) {
		char key = '\0';
		enum screen_event event =
			screen_wait(watch->asked.process.handle, (int)(left_ns / NS_PER_MS) + 1, &key);

		if (event == SCREEN_QUIT)
			return false;
		if (event == SCREEN_READY)
			return true;
		if (event == SCREEN_LEFT || key == 'l')
			watch->order = GROWTH_BY_LIVE;
		if (event == SCREEN_RIGHT || key == 'g')
			watch->order = GROWTH_BY_CHANGE;
		if (event != SCREEN_TIME)
			show_on_screen(watch);
	}
	return true;
}

static int watch_on_screen(struct watch *watch, struct refusal *refusal)
{
	size_t shown = 0;
	int error = 0;

	do
		show_on_screen(watch);
	while (++shown != watch->count && heed_keys(watch) && (error = look(watch, refusal)) == 0);
	return error;
}

static int watch_in_text(struct watch *watch, struct refusal *refusal)
{
	size_t shown = 0;

	for (;;) {
		int64_t left_ns;
		int error;

		print(watch, watch->rows != 0 ? watch->rows : PLAIN_ROWS, stdout);
		if (fflush(stdout) != 0 || ++shown == watch->count)
			return 0; /* main.c says what is wrong with standard output */
		left_ns = watch->refreshed_ns + (int64_t)watch->interval_ms * NS_PER_MS - sys_monotonic_ns();
		process_wait_end(&watch->asked.process, left_ns > 0 ? left_ns / NS_PER_MS : 0);
		error = look(watch, refusal);
		if (error != 0)
			return error;
		fputc('\n', stdout);
	}
}

static int watch(struct watch *watch)
{
	struct refusal refusal;
	int error = look(watch, &refusal);

	if (error != 0)
		return ask_refused(&watch->asked, &refusal);
	if (screen_open()) {
		error = watch_on_screen(watch, &refusal);
		screen_close();
	} else {
		error = watch_in_text(watch, &refusal);
	}
	if (error == 0)
		return 0;
	if (!process_wait_end(&watch->asked.process, 0))
		return ask_refused(&watch->asked, &refusal);
	ask_fail(&watch->asked, "it has ended");
	return 0;
}

int watch_main(int argc, char **argv)
{
	struct watch watched = {.asked = ASK_INIT(watch), .interval_ms = 1000};
	int status = parse(argc, argv, &watched);

	if (status >= 0)
		return status;
	status = ask_open(&watched.asked);
	if (status == 0)
		status = watch(&watched);
	growth_free(&watched.growth);
	facts_free(&watched.facts);
	ask_close(&watched.asked);
	return status;
}
