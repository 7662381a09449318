/* diff.c - `mprof diff`: what changed from one profile to another.
 *
 * Rows are matched by name, so the two may come from runs at other addresses, or of other builds. The profiles count as independent: of
 * two from one run some objects are in both, and the errors shown are then larger than the real ones. */
#include "tools/breakdown.h"
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/measure_json.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE, AFTER, FILES };

struct diff {
	struct reading reading;
	bool cumulative;
	bool all; /* what may be noise, too */
	struct measure measures[FILES];
	struct breakdown rows; /* those to show, the largest change first */
	size_t noise_count;    /* of rows that are not shown */
	struct estimated totals[FILES];
};

void diff_help(FILE *out)
{
	fputs("usage: mprof diff [OPTIONS] BEFORE AFTER\n"
	      "\n"
	      "Shows what grew and what shrank from one profile to another: of one process at\n"
	      "two times, or of two runs, at whatever addresses. The largest changes come\n"
	      "first. What changed by less than two standard errors may be chance and is left\n"
	      "out.\n"
	      "\n"
	      "  --all          what may be chance, too\n"
	      "  --cum          count what a function allocated with all that it calls\n"
	      "  --sites        by allocation site: a row is a stack, innermost function first\n"
	      "\n",
	      out);
	reading_help(out, true);
	fputs("\n"
	      "Examples:\n"
	      "  mprof diff mprof.1234.1.pb.gz mprof.1234.2.pb.gz      what grew in between?\n"
	      "  mprof diff --sample alloc_space old.pb.gz new.pb.gz   what allocates more?\n"
	      "  mprof diff --lines --json old.pb.gz new.pb.gz         for a script\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct diff *diff)
{
	static const struct option known[] = {
		READING_OPTIONS READING_SAMPLE_OPTION READING_SITES_OPTION{"all", no_argument, NULL, 'a'},
		{"cum", no_argument, NULL, 'c'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1) {
		if (option == 'a')
			diff->all = true;
		else if (option == 'c')
			diff->cumulative = true;
		else
			status = reading_option(&diff->reading, option, argv, diff_help);
	}
	if (status < 0 && diff->cumulative && diff->reading.by_site)
		return cli_usage("diff", "a site is a whole stack: --cum goes without --sites");
	return status;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static struct estimated change_of(const struct part *row)
{
	return measure_difference(&row->sums[AFTER], &row->sums[BEFORE]);
}

static int64_t change_value(const struct part *row)
{
	return change_of(row).value;
}

/* Keep the rows that are to be shown, in order. */
static void choose(struct diff *diff)
{
	struct breakdown *rows = &diff->rows;
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct estimated change = change_of(&rows->parts[i]);

		if (!diff->all && change.value == 0)
			continue;
		if (diff->all || measure_is_significant(&change))
			rows->parts[kept++] = rows->parts[i];
		else
			diff->noise_count++;
	}
	rows->count = kept;
	breakdown_sort(rows, change_value);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static const char *colour_of(const struct estimated *change)
{
	return paint(change->value > 0 ? PAINT_MORE : (change->value < 0 ? PAINT_LESS : PAINT_PLAIN));
}

static bool errors_are_known(const struct diff *diff)
{
	return error_is_known(&diff->measures[BEFORE].model) || error_is_known(&diff->measures[AFTER].model);
}

static void print_heading(const struct diff *diff)
{
	static const char *const titles[] = {[BEFORE] = "Before", [AFTER] = "After"};
	struct estimated change = measure_difference(&diff->totals[AFTER], &diff->totals[BEFORE]);

	for (int i = 0; i < FILES; i++) {
		const char *program = profile_view_program(diff->reading.profiles[i]);

		printf("%s: %s%s%s, %s", titles[i], program, *program != '\0' ? " in " : "", diff->reading.paths[i],
		       column_figure(&diff->measures[i], diff->totals[i].value).text);
		column_print_error(error_is_known(&diff->measures[i].model), &diff->totals[i]);
		printf("\n");
	}
	printf("Type: %s\n", measure_name(&diff->measures[BEFORE]));
	printf("Change: %s%s%s%s", colour_of(&change), change.value > 0 ? "+" : "",
	       column_figure(&diff->measures[BEFORE], change.value).text, paint(PAINT_PLAIN));
	column_print_error(errors_are_known(diff), &change);
	printf("%s\n", measure_is_significant(&change) || change.value == 0 ? "" : ", which may be chance");
}

/* In the unit of the largest change, which is the first row's. */
static struct column choose_column(const struct diff *diff)
{
	int64_t largest = measure_magnitude(change_value(&diff->rows.parts[0]));
	struct column column = column_for(&diff->measures[AFTER], largest, largest);

	column.errors = errors_are_known(diff);
	return column;
}

static void print_rows(const struct diff *diff)
{
	size_t shown = reading_shown(&diff->reading, diff->rows.count);
	struct column column = choose_column(diff);

	fputs(paint(PAINT_HEAD), stdout);
	column_print_header(&column, "change");
	printf(" ");
	column_print_header(&column, "before");
	printf(" ");
	column_print_header(&column, "after");
	printf("  %s%s\n", reading_kind(&diff->reading), paint(PAINT_PLAIN));
	for (size_t i = 0; i < shown; i++) {
		const struct part *row = &diff->rows.parts[i];
		struct estimated change = change_of(row);
		char *label = breakdown_label(&diff->reading.stacks, row);

		fputs(colour_of(&change), stdout);
		column_print(&column, &change, true);
		printf("%s ", paint(PAINT_PLAIN));
		column_print(&column, &row->sums[BEFORE], false);
		printf(" ");
		column_print(&column, &row->sums[AFTER], false);
		printf("  %s\n", label);
		free(label);
	}
	column_print_rest(diff->rows.count - shown, reading_kind(&diff->reading));
}

static void print_text(const struct diff *diff)
{
	print_heading(diff);
	reading_print_filters(&diff->reading);
	if (diff->rows.count > 0)
		print_rows(diff);
	if (diff->noise_count > 0)
		printf("%zu %s%s changed by less than two standard errors: not shown (--all shows them)\n",
		       diff->noise_count, reading_kind(&diff->reading), diff->noise_count == 1 ? "" : "s");
	else if (diff->rows.count == 0)
		printf("Nothing changed.\n");
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void print_json_row(const struct diff *diff, const struct part *row)
{
	const struct measure *least_known =
		&diff->measures[error_is_known(&diff->measures[BEFORE].model) ? BEFORE : AFTER];
	struct estimated change = change_of(row);

	printf("{");
	measure_json_part(&diff->reading.stacks, row, stdout);
	printf(", ");
	measure_json_value("before", &diff->measures[BEFORE], &row->sums[BEFORE], stdout);
	printf(", ");
	measure_json_value("after", &diff->measures[AFTER], &row->sums[AFTER], stdout);
	printf(", ");
	measure_json_value("change", least_known, &change, stdout);
	printf(", \"significant\": %s}", measure_is_significant(&change) ? "true" : "false");
}

static void print_json(const struct diff *diff)
{
	static const char *const names[] = {[BEFORE] = "before", [AFTER] = "after"};
	size_t shown = reading_shown(&diff->reading, diff->rows.count);

	printf("{\n  ");
	for (int i = 0; i < FILES; i++) {
		measure_json(names[i], &diff->measures[i], &diff->totals[i], diff->reading.paths[i], stdout);
		printf(",\n  ");
	}
	printf("\"by\": \"%s\",\n  \"rows\": [", reading_kind(&diff->reading));
	for (size_t i = 0; i < shown; i++) {
		printf("%s\n    ", i > 0 ? "," : "");
		print_json_row(diff, &diff->rows.parts[i]);
	}
	printf("\n  ],\n  \"insignificant_rows\": %zu\n}\n", diff->noise_count);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int report(struct diff *diff)
{
	if (diff->reading.by_site)
		breakdown_by_site(&diff->rows, &diff->reading.stacks, diff->measures, FILES);
	else
		breakdown_by_row(&diff->rows, &diff->reading.stacks, diff->measures, FILES, diff->cumulative);
	choose(diff);
	for (int i = 0; i < FILES; i++)
		diff->totals[i] = measure_total(&diff->measures[i]);
	if (diff->reading.json)
		print_json(diff);
	else
		print_text(diff);
	breakdown_free(&diff->rows);
	return 0;
}

int diff_main(int argc, char **argv)
{
	struct diff diff = {.reading = {.verb = "diff", .limit = 30}};
	int status = parse(argc, argv, &diff);

	if (status < 0)
		status = reading_open(&diff.reading, argc, argv, FILES, FILES);
	for (size_t i = 0; i < FILES && status < 0; i++)
		status = reading_measure(&diff.reading, i, diff.reading.sample, &diff.measures[i]);
	if (status < 0 && strcmp(measure_unit(&diff.measures[BEFORE]), measure_unit(&diff.measures[AFTER])) != 0)
		status = cli_fail("diff", "%s counts %s and %s counts %s; choose with --sample",
				  diff.reading.paths[BEFORE], measure_name(&diff.measures[BEFORE]),
				  diff.reading.paths[AFTER], measure_name(&diff.measures[AFTER]));
	if (status < 0)
		status = report(&diff);
	reading_close(&diff.reading);
	return status;
}
