/* report_data.c - profiles as the data of a page. */
#include "tools/report_data.h"

#include "tools/call_tree.h"
#include "tools/cli.h"
#include "tools/json.h"
#include "tools/profile_view.h"
#include "tools/report_tree.h"

#include <inttypes.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

/* Of the tree, at most this many nodes and as many that stand for others. */
#define NODES_MAX 30000

/* Everything by type: measures[t] is of the profile shown, base_measures[t] of the one it is compared with. */
struct data {
	const struct reading *reading;
	const Perftools__Profiles__Profile *shown, *base; /* base: NULL when one is shown alone */
	size_t type_count;
	struct measure *measures; /* those of `shown`, then those of `base` */
	size_t measure_count;
	size_t first_type; /* shown first */
	FILE *out;
};

/* --- the parts of an object ---------------------------------------------------------------------------------------- */

static void put_text(const struct data *data, const char *name, const char *text)
{
	fprintf(data->out, "\"%s\":", name);
	if (text != NULL)
		json_print_string(text, data->out);
	else
		fputs("null", data->out);
}

static void put_error(const struct data *data, size_t measure, const struct estimated *value)
{
	const struct error_model *model = &data->measures[measure].model;

	if (error_is_known(model))
		fprintf(data->out, "%.6g", measure_standard_error(value));
	else
		fputs(model->kind == ERROR_EXACT ? "0" : "null", data->out);
}

/* --- files and types ------------------------------------------------------------------------------------------------ */

static void put_file(const struct data *data, size_t number)
{
	const Perftools__Profiles__Profile *profile = data->reading->profiles[number];
	enum error_kind kind = data->measures[number == data->reading->count - 1 ? 0 : data->type_count].model.kind;

	fputs(number > 0 ? ",{" : "{", data->out);
	put_text(data, "path", data->reading->paths[number]);
	fprintf(data->out, ",\"time\":%" PRId64 ",\"duration_ns\":%" PRId64 ",\"rate\":%" PRId64 ",\"rate_changed\":%s",
		profile->time_nanos / 1000000, profile->duration_nanos, profile->period,
		kind == ERROR_RESAMPLED || kind == ERROR_UNKNOWN ? "true" : "false");
	fprintf(data->out, ",\"samples\":%zu,\"comments\":[", profile->n_sample);
	for (size_t i = 0; i < profile->n_comment; i++) {
		fputs(i > 0 ? "," : "", data->out);
		json_print_string(decode_string(profile, profile->comment[i]), data->out);
	}
	fputs("]}", data->out);
}

static void put_total(const struct data *data, const char *prefix, size_t measure)
{
	struct estimated total = measure_total(&data->measures[measure]);

	fprintf(data->out, ",\"%stotal\":%" PRId64 ",\"%serror\":", prefix, total.value, prefix);
	put_error(data, measure, &total);
}

static void put_types(const struct data *data)
{
	fputs(",\"types\":[", data->out);
	for (size_t i = 0; i < data->type_count; i++) {
		fputs(i > 0 ? ",{" : "{", data->out);
		put_text(data, "name", measure_name(&data->measures[i]));
		fputc(',', data->out);
		put_text(data, "unit", measure_unit(&data->measures[i]));
		put_total(data, "", i);
		if (data->base != NULL)
			put_total(data, "base_", data->type_count + i);
		fputc('}', data->out);
	}
	fprintf(data->out, "],\"default\":%zu", data->first_type);
}

/* --- functions and rows --------------------------------------------------------------------------------------------- */

static void put_functions(const struct data *data)
{
	const struct stacks *stacks = &data->reading->stacks;

	fputs(",\"functions\":[", data->out);
	for (size_t i = 0; i < stacks->row_count; i++) {
		const struct stacks_row *row = &stacks->rows[i];

		fputs(i > 0 ? ",\n{" : "\n{", data->out);
		put_text(data, "name", row->name);
		fputc(',', data->out);
		put_text(data, "file", row->file);
		fprintf(data->out, ",\"line\":%" PRId64 ",", row->line);
		put_text(data, "module", row->module);
		fputc('}', data->out);
	}
	fputc(']', data->out);
}

enum figure_kind { FLAT, CUM };

static const struct estimated *figure_of(const struct profile_view *view, size_t row, enum figure_kind kind)
{
	return kind == FLAT ? &view->rows[row].flat : &view->rows[row].cum;
}

/* `"PREFIXflat":[...],"PREFIXflat_error":[...]`, one element for each type. */
static void put_figures(const struct data *data, const struct profile_view *views, size_t first, const char *prefix,
			size_t row, enum figure_kind kind)
{
	const char *name = kind == FLAT ? "flat" : "cum";

	fprintf(data->out, ",\"%s%s\":[", prefix, name);
	for (size_t i = first; i < first + data->type_count; i++)
		fprintf(data->out, "%s%" PRId64, i > first ? "," : "", figure_of(&views[i], row, kind)->value);
	fprintf(data->out, "],\"%s%s_error\":[", prefix, name);
	for (size_t i = first; i < first + data->type_count; i++) {
		fputs(i > first ? "," : "", data->out);
		put_error(data, i, figure_of(&views[i], row, kind));
	}
	fputc(']', data->out);
}

static bool row_is_zero(const struct data *data, const struct profile_view *views, size_t row)
{
	for (size_t i = 0; i < data->measure_count; i++)
		if (views[i].rows[row].flat.value != 0 || views[i].rows[row].cum.value != 0)
			return false;
	return true;
}

static void put_rows(const struct data *data)
{
	struct profile_view *views = xcalloc(data->measure_count, sizeof *views);
	bool first = true;

	for (size_t i = 0; i < data->measure_count; i++)
		profile_view_init(&views[i], &data->reading->stacks, &data->measures[i]);
	fputs(",\"rows\":[", data->out);
	for (size_t row = 0; row < data->reading->stacks.row_count; row++) {
		if (row_is_zero(data, views, row))
			continue;
		fprintf(data->out, "%s\n{\"f\":%zu", first ? "" : ",", row);
		first = false;
		for (enum figure_kind kind = FLAT; kind <= CUM; kind++) {
			put_figures(data, views, 0, "", row, kind);
			if (data->base != NULL)
				put_figures(data, views, data->type_count, "base_", row, kind);
		}
		fputc('}', data->out);
	}
	fputc(']', data->out);
	for (size_t i = 0; i < data->measure_count; i++)
		profile_view_free(&views[i]);
	free(views);
}

/* --- the tree ------------------------------------------------------------------------------------------------------- */

/* `"NAME":[[...],...]`: the values or the errors of every node, for each type from measure `first` on. */
static void put_sums(const struct data *data, const struct report_tree *tree, const char *name, size_t first,
		     bool errors)
{
	fprintf(data->out, ",\n\"%s\":[", name);
	for (size_t measure = first; measure < first + data->type_count; measure++) {
		fputs(measure > first ? ",\n[" : "\n[", data->out);
		for (size_t i = 0; i < tree->count; i++) {
			fputs(i > 0 ? "," : "", data->out);
			if (errors)
				put_error(data, measure, &tree->nodes[i].sums[measure]);
			else
				fprintf(data->out, "%" PRId64, tree->nodes[i].sums[measure].value);
		}
		fputc(']', data->out);
	}
	fputc(']', data->out);
}

/* -1 and -2 for the rows that are no functions. */
static long long function_number(uint32_t row)
{
	return row == CALL_TREE_NONE ? -1 : row == REPORT_TREE_SMALLER ? -2 : (long long)row;
}

static void put_tree(const struct data *data)
{
	struct call_tree whole;
	struct report_tree tree;

	call_tree_init(&whole, &data->reading->stacks, data->measures, data->measure_count, false);
	report_tree_init(&tree, &whole, NODES_MAX);
	fputs(",\"tree\":{\"parent\":[-1", data->out);
	for (size_t i = 1; i < tree.count; i++)
		fprintf(data->out, ",%u", tree.nodes[i].parent);
	fputs("],\n\"function\":[-1", data->out);
	for (size_t i = 1; i < tree.count; i++)
		fprintf(data->out, ",%lld", function_number(tree.nodes[i].row));
	fputc(']', data->out);
	put_sums(data, &tree, "value", 0, false);
	put_sums(data, &tree, "error", 0, true);
	if (data->base != NULL) {
		put_sums(data, &tree, "base", data->type_count, false);
		put_sums(data, &tree, "base_error", data->type_count, true);
	}
	fprintf(data->out, "},\"omitted\":{\"nodes\":%zu}", tree.omitted);
	report_tree_free(&tree);
	call_tree_free(&whole);
}

/* --- all of it ------------------------------------------------------------------------------------------------------ */

/* Find the types that all profiles have. */
static void find_types(struct data *data)
{
	size_t count = data->shown->n_sample_type;

	data->measures = xcalloc(count * 2, sizeof *data->measures);
	for (size_t i = 0; i < count; i++) {
		const char *name = decode_string(data->shown, data->shown->sample_type[i]->type);

		if (data->base == NULL || measure_type(data->base, name) >= 0)
			data->measures[data->type_count++] =
				measure_make(data->shown, (uint32_t)data->reading->count - 1, (int)i);
	}
	data->measure_count = data->type_count * data->reading->count;
	for (size_t i = 0; i < data->type_count && data->base != NULL; i++)
		data->measures[data->type_count + i] =
			measure_make(data->base, 0, measure_type(data->base, measure_name(&data->measures[i])));
}

/* Returns -1, or the status to exit with after a message. */
static int choose_first(struct data *data)
{
	const struct reading *reading = data->reading;
	struct measure wanted;
	int status = -1;

	for (size_t i = reading->count; i-- > 0 && status < 0;)
		status = reading_measure(reading, i, reading->sample, &wanted); /* last, that of the first file */
	if (status >= 0)
		return status;
	if (data->type_count == 0)
		return cli_fail(reading->verb, "%s and %s have no sample type in common", reading->paths[0],
				reading->paths[1]);
	data->first_type = data->type_count - 1;
	for (size_t i = 0; i < data->type_count; i++)
		if (strcmp(measure_name(&data->measures[i]), measure_name(&wanted)) == 0)
			data->first_type = i;
	return -1;
}

int report_data(const struct reading *reading, const char *title, FILE *out)
{
	struct data data = {.reading = reading, .shown = reading->profiles[reading->count - 1], .out = out};
	char *filters = filter_describe(&reading->filter);
	int status;

	if (reading->count > 1)
		data.base = reading->profiles[0];
	find_types(&data);
	status = choose_first(&data);
	if (status < 0) {
		fputs("{\"version\":\"" MPROF_VERSION "\",", out);
		put_text(&data, "title", title);
		fputc(',', out);
		put_text(&data, "program", profile_view_program(data.shown));
		fputc(',', out);
		put_text(&data, "filters", filters);
		fputs(",\"files\":[", out);
		for (size_t i = 0; i < reading->count; i++)
			put_file(&data, i);
		fputc(']', out);
		put_types(&data);
		put_functions(&data);
		put_rows(&data);
		put_tree(&data);
		fputs("}\n", out);
	}
	free(filters);
	free(data.measures);
	return status;
}
