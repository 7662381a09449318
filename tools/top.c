/* top.c - `mprof top`: which functions allocated the memory of a profile. */
#include "tools/breakdown.h"
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/measure_json.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"
#include "tools/totals.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

#define MAIN_SHARE 20 /* rows of at least a twentieth of the total stand out */

struct top {
	struct reading reading;
	bool cumulative;	   /* by cum */
	bool totals;		   /* only the totals, beside the allocator's */
	struct breakdown by_sites; /* the stacks of the rows, by site */
};

void top_help(FILE *out)
{
	fputs("usage: mprof top [OPTIONS] FILE\n"
	      "\n"
	      "Shows the functions that allocated the memory of a profile, those with the most\n"
	      "in their own code first. The figures are those of `go tool pprof -top`.\n"
	      "\n"
	      "  --cum          those first that allocated most with all that they call\n"
	      "  --sites        by allocation site: a row is a stack, innermost function first\n"
	      "  --totals       instead: does all of it add up to what the allocator counted?\n"
	      "\n"
	      "  flat  allocated by the function itself\n"
	      "  cum   by it and all that it calls\n"
	      "  sum   of this line's flat and those above\n"
	      "  %     of the total\n"
	      "\n",
	      out);
	reading_help(out, true);
	fputs("\n"
	      "Examples:\n"
	      "  mprof top mprof.1234.1.pb.gz                          who holds the memory?\n"
	      "  mprof top --lines mprof.1234.1.pb.gz                  in which source lines?\n"
	      "  mprof top --sample alloc_objects mprof.1234.1.pb.gz   who calls malloc most?\n"
	      "  mprof top --focus parse mprof.1234.1.pb.gz            and below the parser?\n"
	      "  mprof top --totals mprof.1234.1.pb.gz                 is the profile complete?\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct top *top)
{
	static const struct option known[] = {
		READING_OPTIONS READING_SAMPLE_OPTION READING_SITES_OPTION{"cum", no_argument, NULL, 'c'},
		{"totals", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1) {
		if (option == 'c')
			top->cumulative = true;
		else if (option == 't')
			top->totals = true;
		else
			status = reading_option(&top->reading, option, argv, top_help);
	}
	if (status < 0 && top->totals && top->reading.sample != NULL)
		return cli_usage("top", "--totals is about inuse_space; it goes without --sample");
	return status;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Make the sites the rows: what a stack allocated is its own, so flat is cum. Their names are to be freed. */
static void use_sites(struct top *top, struct profile_view *view)
{
	const struct stacks *stacks = &top->reading.stacks;

	breakdown_by_site(&top->by_sites, stacks, &view->measure, 1);
	view->count = top->by_sites.count;
	view->rows = xrealloc(view->rows, (view->count + 1) * sizeof *view->rows);
	for (size_t i = 0; i < view->count; i++) {
		const struct part *site = &top->by_sites.parts[i];

		view->rows[i] = (struct view_row){breakdown_label(stacks, site), 0, site->sums[0], site->sums[0]};
	}
}

static void print_row(const struct profile_view *view, const struct view_row *row, const struct column *column,
		      int64_t sum)
{
	bool large = measure_magnitude(row->flat.value) >= view->total.value / MAIN_SHARE;

	column_print(column, &row->flat, false);
	printf(" %7s %7s ", format_percent(row->flat.value, view->total.value).text,
	       format_percent(sum, view->total.value).text);
	column_print(column, &row->cum, false);
	printf(" %7s  %s%s%s\n", format_percent(row->cum.value, view->total.value).text, large ? paint(PAINT_MAIN) : "",
	       row->name, large ? paint(PAINT_PLAIN) : "");
}

static void print_rows(const struct top *top, const struct profile_view *view)
{
	struct column column = column_of(view);
	size_t shown = reading_shown(&top->reading, view->count);
	int64_t sum = 0;

	fputs(paint(PAINT_HEAD), stdout);
	column_print_header(&column, "flat");
	printf(" %7s %7s ", "flat%", "sum%");
	column_print_header(&column, "cum");
	printf(" %7s  %s%s\n", "cum%", reading_kind(&top->reading), paint(PAINT_PLAIN));
	for (size_t i = 0; i < shown; i++) {
		sum += view->rows[i].flat.value;
		print_row(view, &view->rows[i], &column, sum);
	}
	column_print_rest(view->count - shown, reading_kind(&top->reading));
}

static void print_text(const struct top *top, const struct profile_view *view)
{
	const struct reading *reading = &top->reading;

	reading_print_heading(reading);
	column_print_total(view);
	if (view->count > 0)
		print_rows(top, view);
	else if (reading->profiles[0]->n_sample == 0)
		printf("The profile is empty: nothing was sampled.\n");
	else if (view->total.value == 0)
		printf("Nothing to show: %s is zero in every stack. Other types: --sample\n",
		       measure_name(&view->measure));
	else
		printf("Nothing to show: no stack passes the filters.\n");
}

static void print_json(const struct top *top, const struct profile_view *view)
{
	printf("{\n  ");
	measure_json("profile", &view->measure, &view->total, top->reading.paths[0], stdout);
	printf(",\n  \"by\": \"%s\",\n  \"rows\": [", reading_kind(&top->reading));
	for (size_t i = 0; i < reading_shown(&top->reading, view->count); i++) {
		const struct view_row *row = &view->rows[i];

		printf("%s\n    {", i > 0 ? "," : "");
		if (top->reading.by_site)
			measure_json_part(&top->reading.stacks, &top->by_sites.parts[i], stdout);
		else
			measure_json_row(&top->reading.stacks.rows[row->row], stdout);
		printf(", ");
		measure_json_value("flat", &view->measure, &row->flat, stdout);
		printf(", ");
		measure_json_value("cum", &view->measure, &row->cum, stdout);
		printf("}");
	}
	printf("\n  ]\n}\n");
}

static int report(struct top *top, const struct measure *measure)
{
	struct profile_view view;

	profile_view_init(&view, &top->reading.stacks, measure);
	if (top->reading.by_site)
		use_sites(top, &view);
	else
		profile_view_sort(&view, top->cumulative);
	if (top->reading.json)
		print_json(top, &view);
	else
		print_text(top, &view);
	for (size_t i = 0; top->reading.by_site && i < view.count; i++)
		free((char *)(uintptr_t)view.rows[i].name); /* the labels are ours */
	breakdown_free(&top->by_sites);
	profile_view_free(&view);
	return 0;
}

/* `mprof top --totals` */
static int report_totals(const Perftools__Profiles__Profile *profile, const char *path)
{
	struct totals totals;
	int error = totals_read(&totals, profile);

	if (error == -ENOTSUP)
		return cli_fail("top", "%s holds no inuse_space, so there are no live bytes to add up", path);
	if (error < 0)
		return cli_fail("top", "%s does not say what the allocator counted (no comment \"totals: ...\")", path);
	column_print_file(profile, path);
	totals_print(&totals);
	return 0;
}

int top_main(int argc, char **argv)
{
	struct top top = {.reading = {.verb = "top", .limit = 30}};
	struct measure measure;
	int status = parse(argc, argv, &top);

	if (status < 0)
		status = reading_open(&top.reading, argc, argv, 1, 1);
	if (status < 0 && top.totals)
		status = report_totals(top.reading.profiles[0], top.reading.paths[0]);
	if (status < 0)
		status = reading_measure(&top.reading, 0, top.reading.sample, &measure);
	if (status < 0)
		status = report(&top, &measure);
	reading_close(&top.reading);
	return status;
}
