/* watch_table.c - the text that `mprof watch` shows. */
#include "tools/watch_table.h"

#include "tools/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* "+1.20MB", "-3kB", "0". */
static struct figure format_change(int64_t bytes)
{
	struct figure plain = format_bytes(bytes), out;

	if (bytes <= 0)
		return plain;
	snprintf(out.text, sizeof out.text, "+%.30s", plain.text);
	return out;
}

/* "12:34:56  redis-server (1234)  a sample per 512kB  1024 samples  profiler 1.21MB" */
static void print_profiler(const struct watch_table *table, FILE *out)
{
	int64_t rate = facts_number(table->facts, "rate");
	time_t now = time(NULL);
	struct tm when;
	char clock[16] = "";

	if (localtime_r(&now, &when) != NULL)
		strftime(clock, sizeof clock, "%T", &when);
	fprintf(out, "%s  %s (%d)  ", clock, table->program, table->process);
	if (rate > 1)
		fprintf(out, "a sample per %s", format_bytes(rate).text);
	else
		fputs(rate == 1 ? "every allocation" : "sampling is off", out);
	fprintf(out, "  %" PRId64 " samples  profiler's own %s\n", facts_number(table->facts, "samples"),
		format_bytes(facts_number(table->facts, "memory_bytes")).text);
}

static void print_total(const struct watch_table *table, FILE *out)
{
	const struct growth_row *total = &table->growth->total;
	double seconds = (double)table->watched_ns / 1e9;

	fprintf(out, "live %s in %" PRId64 " objects  %s since the last  %s in %.*f s\n\n",
		format_bytes(total->live).text, facts_number(table->facts, "live_objects"),
		format_change(growth_since_previous(total)).text, format_change(growth_since_start(total)).text,
		seconds < 10, seconds);
}

/* Names come from the program's files: nothing in them may steer a terminal. */
static void print_name(const char *name, FILE *out)
{
	for (; *name != '\0'; name++)
		fputc((unsigned char)*name < ' ' || *name == 0x7F ? '?' : *name, out);
	fputc('\n', out);
}

void watch_table_print(const struct watch_table *table, size_t rows, FILE *out)
{
	const struct growth_row **sorted;
	size_t count;

	sorted = growth_sort(table->growth, table->order, &count);
	print_profiler(table, out);
	print_total(table, out);
	fprintf(out, "%10s%c %10s %10s%c  %s\n", "LIVE", table->order == GROWTH_BY_LIVE ? '*' : ' ', "LAST +/-",
		"START +/-", table->order == GROWTH_BY_CHANGE ? '*' : ' ', "FUNCTION");
	for (size_t i = 0; i < count && i < rows; i++) {
		fprintf(out, "%10s  %10s %10s   ", format_bytes(sorted[i]->live).text,
			format_change(growth_since_previous(sorted[i])).text,
			format_change(growth_since_start(sorted[i])).text);
		print_name(sorted[i]->name, out);
	}
	free(sorted);
}
