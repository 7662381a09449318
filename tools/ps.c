/* ps.c - `mprof ps`: the live processes that run under mprof. */
#include "tools/ask.h"
#include "tools/cli.h"
#include "tools/facts.h"
#include "tools/format.h"

#include <dirent.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS 2000 /* of each process */

/* One line of the table. */
struct row {
	pid_t id;
	char program[sizeof((struct process *)0)->program];
	struct figure rate, samples, live;		  /* "-" where the process did not answer */
	char reason[sizeof((struct refusal *)0)->reason]; /* and why not */
};

void ps_help(FILE *out)
{
	fputs("usage: mprof ps [OPTIONS]\n"
	      "\n"
	      "Lists your processes that run under mprof. One that does not answer is shown\n"
	      "with the reason.\n"
	      "\n"
	      "  --timeout SECONDS   how long to wait for an answer of each (default 2)\n"
	      "\n"
	      "  RATE     mean bytes between samples\n"
	      "  LIVE     bytes allocated and not freed yet, estimated\n"
	      "  SAMPLES  taken since the start\n",
	      out);
}

static int parse(int argc, char **argv, struct ask *asked)
{
	int status = ask_options(asked, argc, argv);

	if (status >= 0)
		return status;
	return optind == argc ? -1 : cli_usage("ps", "'%s' is too many: it lists all", argv[optind]);
}

static int by_id(const void *a, const void *b)
{
	return ((const struct row *)a)->id - ((const struct row *)b)->id; /* positive: no overflow */
}

/* The processes with libmprof.so in them, without this one. */
static struct row *find_processes(size_t *count)
{
	DIR *all = opendir("/proc");
	struct row *rows = NULL;
	struct dirent *entry;

	*count = 0;
	while (all != NULL && (entry = readdir(all)) != NULL) {
		pid_t id = atoi(entry->d_name);

		if (id <= 0 || id == getpid() || !process_is_profiled(id))
			continue;
		rows = xrealloc(rows, (*count + 1) * sizeof *rows);
		rows[(*count)++] = (struct row){.id = id};
	}
	if (all != NULL)
		closedir(all);
	if (*count > 0)
		qsort(rows, *count, sizeof *rows, by_id);
	return rows;
}

static void fill_in(struct row *row, const char *text)
{
	struct facts facts;
	int64_t rate;

	facts_parse(&facts, text);
	rate = facts_number(&facts, "rate");
	row->rate = rate == 0 ? (struct figure){"off"} : format_bytes(rate);
	row->samples = format_value(facts_number(&facts, "samples"), format_unit_count());
	row->live = format_bytes(facts_number(&facts, "live_bytes"));
	facts_free(&facts);
}

static void ask_row(struct row *row, unsigned timeout_ms)
{
	struct process process;
	struct refusal refusal;
	struct answer answer;
	int error = process_open(&process, row->id, &refusal);

	row->rate = row->samples = row->live = (struct figure){"-"};
	if (error == 0) {
		error = exchange_ask(&process, REQUEST_STATUS, 0, timeout_ms, &answer, &refusal);
		process_close(&process);
	}
	if (error == 0) {
		fill_in(row, answer.body);
		exchange_free(&answer);
	} else {
		strcpy(row->reason, refusal.reason);
	}
	strcpy(row->program, process.program);
}

static void print(const struct row *rows, size_t count)
{
	int width = (int)strlen("PROGRAM");

	for (size_t i = 0; i < count; i++)
		if ((int)strlen(rows[i].program) > width)
			width = (int)strlen(rows[i].program);
	printf("%10s  %-*s %10s %10s %10s\n", "PID", width, "PROGRAM", "RATE", "SAMPLES", "LIVE");
	for (size_t i = 0; i < count; i++)
		printf("%10d  %-*s %10s %10s %10s%s%s\n", rows[i].id, width, rows[i].program, rows[i].rate.text,
		       rows[i].samples.text, rows[i].live.text, rows[i].reason[0] != '\0' ? "  " : "", rows[i].reason);
}

int ps_main(int argc, char **argv)
{
	struct ask asked = ASK_INIT(ps);
	struct row *rows;
	size_t count;
	int status;

	asked.timeout_ms = DEFAULT_TIMEOUT_MS;
	status = parse(argc, argv, &asked);
	if (status >= 0)
		return status;
	rows = find_processes(&count);
	for (size_t i = 0; i < count; i++)
		ask_row(&rows[i], asked.timeout_ms);
	if (count > 0)
		print(rows, count);
	else
		cli_fail("ps", "no process of yours runs under mprof; start one with: mprof run");
	free(rows);
	return 0;
}
