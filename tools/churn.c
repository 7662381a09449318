/* churn.c - `mprof churn`: what was allocated only to be freed again.
 *
 * What was freed is what was allocated less what is in use. Both come from the same sampled objects, and an estimate's variance is a sum
 * over its objects (error.h), so the variance of the freed ones is the difference too. */
#include "tools/breakdown.h"
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/measure_json.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"

#include <stdlib.h>

enum { ALLOCATED, IN_USE, ALLOCATED_OBJECTS, IN_USE_OBJECTS, MEASURES };

struct churn {
	struct reading reading;
	struct measure measures[MEASURES];
	struct breakdown rows; /* most freed first */
};

void churn_help(FILE *out)
{
	fputs("usage: mprof churn [OPTIONS] FILE\n"
	      "\n"
	      "Shows which allocation sites allocated much and kept little: what could be\n"
	      "reused, put on the stack, or reserved at once. The sites with the most bytes\n"
	      "freed again come first; a site is a stack, innermost function first.\n"
	      "\n"
	      "  --functions    a row is a function (with --lines a line, with --modules a\n"
	      "                 module)\n"
	      "\n"
	      "  freed    allocated and freed again\n"
	      "  in use   allocated and not freed yet\n"
	      "  kept     in use, in percent of allocated\n"
	      "  objects  how many were freed again\n"
	      "  size     mean size of one of these\n"
	      "\n",
	      out);
	reading_help(out, false);
	fputs("\n"
	      "Examples:\n"
	      "  mprof churn mprof.1234.1.pb.gz              where is memory used for a moment?\n"
	      "  mprof churn --functions --lines app.pb.gz   in which source lines?\n"
	      "  mprof dump --delta 10 PID -o ten.pb.gz &&\n"
	      "    mprof churn ten.pb.gz                     in these ten seconds\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct churn *churn)
{
	static const struct option known[] = {
		READING_OPTIONS READING_SITES_OPTION{"functions", no_argument, NULL, 'f'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1) {
		if (option == 'f')
			churn->reading.by_site = false;
		else
			status = reading_option(&churn->reading, option, argv, churn_help);
	}
	return status;
}

/* Returns -1, or the status to exit with. */
static int find_measures(struct churn *churn)
{
	static const char *const names[] = {[ALLOCATED] = "alloc_space",
					    [IN_USE] = "inuse_space",
					    [ALLOCATED_OBJECTS] = "alloc_objects",
					    [IN_USE_OBJECTS] = "inuse_objects"};

	for (int i = 0; i < MEASURES; i++) {
		int type = measure_type(churn->reading.profiles[0], names[i]);

		if (type < 0)
			return cli_fail("churn", "%s holds no %s: it does not say what was freed",
					churn->reading.paths[0], names[i]);
		churn->measures[i] = measure_make(churn->reading.profiles[0], 0, type);
	}
	return -1;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static struct estimated freed_bytes(const struct part *row)
{
	return measure_without(&row->sums[ALLOCATED], &row->sums[IN_USE]);
}

static struct estimated freed_objects(const struct part *row)
{
	return measure_without(&row->sums[ALLOCATED_OBJECTS], &row->sums[IN_USE_OBJECTS]);
}

static int64_t freed_value(const struct part *row)
{
	return freed_bytes(row).value;
}

/* Drop what kept all it allocated, and put the rest in order. */
static void choose(struct breakdown *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (freed_bytes(&rows->parts[i]).value > 0)
			rows->parts[kept++] = rows->parts[i];
	rows->count = kept;
	breakdown_sort(rows, freed_value);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static void print_row(const struct churn *churn, const struct part *row, const struct column *column)
{
	struct estimated bytes = freed_bytes(row), objects = freed_objects(row);
	char *label = breakdown_label(&churn->reading.stacks, row);

	column_print(column, &bytes, false);
	printf(" ");
	column_print(column, &row->sums[ALLOCATED], false);
	printf(" ");
	column_print(column, &row->sums[IN_USE], false);
	printf(" %7s %10lld %9s  %s\n", format_percent(row->sums[IN_USE].value, row->sums[ALLOCATED].value).text,
	       (long long)objects.value, objects.value > 0 ? format_bytes(bytes.value / objects.value).text : "-",
	       label);
	free(label);
}

static void print_rows(const struct churn *churn, const struct profile_view *view)
{
	struct column column = column_of(view);
	size_t shown = reading_shown(&churn->reading, churn->rows.count);

	fputs(paint(PAINT_HEAD), stdout);
	column_print_header(&column, "freed");
	printf(" ");
	column_print_header(&column, "allocated");
	printf(" ");
	column_print_header(&column, "in use");
	printf(" %7s %10s %9s  %s%s\n", "kept", "objects", "size", reading_kind(&churn->reading), paint(PAINT_PLAIN));
	for (size_t i = 0; i < shown; i++)
		print_row(churn, &churn->rows.parts[i], &column);
	column_print_rest(churn->rows.count - shown, reading_kind(&churn->reading));
}

static void print_text(const struct churn *churn)
{
	struct profile_view view;

	profile_view_init(&view, &churn->reading.stacks, &churn->measures[ALLOCATED]);
	reading_print_heading(&churn->reading);
	column_print_total(&view);
	if (churn->rows.count > 0)
		print_rows(churn, &view);
	else
		printf("Nothing was freed.\n");
	profile_view_free(&view);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void print_json_row(const struct churn *churn, const struct part *row)
{
	struct estimated bytes = freed_bytes(row), objects = freed_objects(row);

	printf("{");
	measure_json_part(&churn->reading.stacks, row, stdout);
	printf(", ");
	measure_json_value("freed", &churn->measures[ALLOCATED], &bytes, stdout);
	printf(", ");
	measure_json_value("allocated", &churn->measures[ALLOCATED], &row->sums[ALLOCATED], stdout);
	printf(", ");
	measure_json_value("in_use", &churn->measures[IN_USE], &row->sums[IN_USE], stdout);
	printf(", ");
	measure_json_value("freed_objects", &churn->measures[ALLOCATED_OBJECTS], &objects, stdout);
	printf("}");
}

static void print_json(const struct churn *churn)
{
	struct estimated total = measure_total(&churn->measures[ALLOCATED]);
	size_t shown = reading_shown(&churn->reading, churn->rows.count);

	printf("{\n  ");
	measure_json("profile", &churn->measures[ALLOCATED], &total, churn->reading.paths[0], stdout);
	printf(",\n  \"by\": \"%s\",\n  \"rows\": [", reading_kind(&churn->reading));
	for (size_t i = 0; i < shown; i++) {
		printf("%s\n    ", i > 0 ? "," : "");
		print_json_row(churn, &churn->rows.parts[i]);
	}
	printf("\n  ]\n}\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int report(struct churn *churn)
{
	if (churn->reading.by_site)
		breakdown_by_site(&churn->rows, &churn->reading.stacks, churn->measures, MEASURES);
	else
		breakdown_by_row(&churn->rows, &churn->reading.stacks, churn->measures, MEASURES, false);
	choose(&churn->rows);
	if (churn->reading.json)
		print_json(churn);
	else
		print_text(churn);
	breakdown_free(&churn->rows);
	return 0;
}

int churn_main(int argc, char **argv)
{
	struct churn churn = {.reading = {.verb = "churn", .limit = 20, .by_site = true}};
	int status = parse(argc, argv, &churn);

	if (status < 0)
		status = reading_open(&churn.reading, argc, argv, 1, 1);
	if (status < 0)
		status = find_measures(&churn);
	if (status < 0)
		status = report(&churn);
	reading_close(&churn.reading);
	return status;
}
