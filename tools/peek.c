/* peek.c - `mprof peek`: the callers and callees of a function. */
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/measure_json.h"
#include "tools/neighbours.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"

#include <regex.h>
#include <stdlib.h>

struct peek {
	struct reading reading;
	const char *wanted; /* the expression */
	struct profile_view view;
	struct column column;
};

void peek_help(FILE *out)
{
	fputs("usage: mprof peek [OPTIONS] FUNC FILE\n"
	      "\n"
	      "Shows who calls the functions that match the regular expression FUNC, and whom\n"
	      "they call, with what was allocated over each of these calls. The figures are\n"
	      "those of `go tool pprof -peek`.\n"
	      "\n"
	      "Callers stand above the function, callees and what it allocated itself below\n"
	      "it; % is of what the function allocated with all that it calls.\n"
	      "\n",
	      out);
	reading_help(out, true);
	fputs("\n"
	      "Examples:\n"
	      "  mprof peek parse_request app.pb.gz     who calls it, whom does it call?\n"
	      "  mprof peek '^std::vector' app.pb.gz    who grows vectors?\n"
	      "  mprof peek --modules crypto app.pb.gz  who uses that library?\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct peek *peek, regex_t *expression)
{
	static const struct option known[] = {READING_OPTIONS READING_SAMPLE_OPTION{NULL, 0, NULL, 0}};
	int option, status = -1, error;
	char why[128];

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1)
		status = reading_option(&peek->reading, option, argv, peek_help);
	if (status >= 0)
		return status;
	if (optind == argc)
		return cli_usage("peek", "no function and no profile given");
	peek->wanted = argv[optind++];
	error = regcomp(expression, peek->wanted, REG_EXTENDED | REG_NOSUB);
	if (error == 0)
		return -1;
	regerror(error, expression, why, sizeof why);
	return cli_usage("peek", "'%s' is not a regular expression: %s", peek->wanted, why);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static void print_figures(const struct peek *peek, const struct estimated *figure, const struct estimated *whole)
{
	column_print(&peek->column, figure, false);
	printf(" %7s  ", format_percent(figure->value, whole->value).text);
}

static void print_side(const struct peek *peek, const struct neighbour *list, size_t count,
		       const struct view_row *center, const char *indent, const char *none)
{
	const struct reading *reading = &peek->reading;
	size_t shown = reading_shown(reading, count);

	for (size_t i = 0; i < shown; i++) {
		print_figures(peek, &list[i].sum, &center->cum);
		printf("%s%s\n", indent,
		       list[i].row == NEIGHBOURS_NONE ? none : reading->stacks.rows[list[i].row].name);
	}
	column_print_rest(count - shown, "row");
}

static void print_block(const struct peek *peek, const struct view_row *center)
{
	struct neighbours neighbours;

	neighbours_find(&neighbours, &peek->reading.stacks, &peek->view.measure, center->row);
	printf("\n");
	print_side(peek, neighbours.callers, neighbours.caller_count, center, "", "(no caller)");
	print_figures(peek, &center->cum, &peek->view.total);
	printf("  %s%s%s  %s(of the total)%s\n", paint(PAINT_MAIN), center->name, paint(PAINT_PLAIN),
	       paint(PAINT_FAINT), paint(PAINT_PLAIN));
	print_side(peek, neighbours.callees, neighbours.callee_count, center, "    ", "(itself)");
	neighbours_free(&neighbours);
}

static void print_text(struct peek *peek)
{
	const struct reading *reading = &peek->reading;
	size_t shown = reading_shown(reading, peek->view.count);

	reading_print_heading(reading);
	column_print_total(&peek->view);
	peek->column = column_of(&peek->view);
	fputs(paint(PAINT_HEAD), stdout);
	column_print_header(&peek->column, "cum");
	printf(" %7s  callers, %s, callees%s\n", "%", reading_kind(reading), paint(PAINT_PLAIN));
	for (size_t i = 0; i < shown; i++)
		print_block(peek, &peek->view.rows[i]);
	if (shown < peek->view.count)
		printf("\n");
	column_print_rest(peek->view.count - shown, reading_kind(reading));
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void print_json_side(const struct peek *peek, const char *name, const struct neighbour *list, size_t count)
{
	printf(", \"%s\": [", name);
	for (size_t i = 0; i < count; i++) {
		printf("%s\n      {", i > 0 ? "," : "");
		if (list[i].row == NEIGHBOURS_NONE)
			printf("\"name\": null");
		else
			measure_json_row(&peek->reading.stacks.rows[list[i].row], stdout);
		printf(", ");
		measure_json_value("cum", &peek->view.measure, &list[i].sum, stdout);
		printf("}");
	}
	printf("]");
}

static void print_json_block(const struct peek *peek, const struct view_row *center)
{
	struct neighbours neighbours;

	neighbours_find(&neighbours, &peek->reading.stacks, &peek->view.measure, center->row);
	printf("{");
	measure_json_row(&peek->reading.stacks.rows[center->row], stdout);
	printf(", ");
	measure_json_value("flat", &peek->view.measure, &center->flat, stdout);
	printf(", ");
	measure_json_value("cum", &peek->view.measure, &center->cum, stdout);
	print_json_side(peek, "callers", neighbours.callers, neighbours.caller_count);
	print_json_side(peek, "callees", neighbours.callees, neighbours.callee_count);
	printf("}");
	neighbours_free(&neighbours);
}

static void print_json(const struct peek *peek)
{
	size_t shown = reading_shown(&peek->reading, peek->view.count);

	printf("{\n  ");
	measure_json("profile", &peek->view.measure, &peek->view.total, peek->reading.paths[0], stdout);
	printf(",\n  \"by\": \"%s\",\n  \"rows\": [", reading_kind(&peek->reading));
	for (size_t i = 0; i < shown; i++) {
		printf("%s\n    ", i > 0 ? "," : "");
		print_json_block(peek, &peek->view.rows[i]);
	}
	printf("\n  ]\n}\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int report(struct peek *peek, const struct measure *measure, const regex_t *expression)
{
	struct profile_view *view = &peek->view;
	size_t kept = 0;
	int status = 0;

	profile_view_init(view, &peek->reading.stacks, measure);
	profile_view_sort(view, true);
	for (size_t i = 0; i < view->count; i++)
		if (regexec(expression, view->rows[i].name, 0, NULL, 0) == 0)
			view->rows[kept++] = view->rows[i];
	view->count = kept;
	if (kept == 0)
		status = cli_fail("peek", "no %s with %s in %s matches '%s' (`mprof top -n 0` shows all there are)",
				  reading_kind(&peek->reading), measure_name(measure), peek->reading.paths[0],
				  peek->wanted);
	else if (peek->reading.json)
		print_json(peek);
	else
		print_text(peek);
	profile_view_free(view);
	return status;
}

int peek_main(int argc, char **argv)
{
	struct peek peek = {.reading = {.verb = "peek", .limit = 10}};
	regex_t expression = {0};
	struct measure measure;
	int status = parse(argc, argv, &peek, &expression);

	if (status < 0)
		status = reading_open(&peek.reading, argc, argv, 1, 1);
	if (status < 0)
		status = reading_measure(&peek.reading, 0, peek.reading.sample, &measure);
	if (status < 0)
		status = report(&peek, &measure, &expression);
	reading_close(&peek.reading);
	regfree(&expression);
	return status;
}
