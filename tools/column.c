/* column.c - columns of figures with their errors beside them. */
#include "tools/column.h"

#include "tools/paint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct column column_of(const struct profile_view *view)
{
	struct column column = {format_unit_count(), error_is_known(&view->measure.model)};
	int64_t flat_sum = 0, least = 0, cutoff;

	if (!measure_is_bytes(&view->measure))
		return column;
	for (size_t i = 0; i < view->count; i++)
		flat_sum += view->rows[i].flat.value;
	cutoff = measure_magnitude((int64_t)((double)flat_sum * 0.005));
	for (size_t i = 0; i < view->count; i++) {
		int64_t flat = measure_magnitude(view->rows[i].flat.value);
		int64_t cum = measure_magnitude(view->rows[i].cum.value);
		int64_t figure = flat != 0 ? flat : cum;

		if (cum >= cutoff && figure != 0 && (least == 0 || figure < least))
			least = figure;
	}
	column.unit = format_unit_for(least, view->total.value);
	return column;
}

struct column column_for(const struct measure *measure, int64_t least, int64_t largest)
{
	return (struct column){measure_is_bytes(measure) ? format_unit_for(least, largest) : format_unit_count(),
			       error_is_known(&measure->model)};
}

void column_print(const struct column *column, const struct estimated *figure, bool sign)
{
	char text[40];

	snprintf(text, sizeof text, "%s%s", sign && figure->value > 0 ? "+" : "",
		 format_value(figure->value, column->unit).text);
	printf("%10s", text);
	if (column->errors)
		printf(" %s%s%s", paint(PAINT_FAINT),
		       format_right(format_error(measure_standard_error(figure), figure->value).text, 6).text,
		       paint(PAINT_PLAIN));
}

void column_print_header(const struct column *column, const char *name)
{
	printf("%10s%s", name, column->errors ? "      ±" : "");
}

void column_print_error(bool known, const struct estimated *figure)
{
	if (known)
		printf(" %s%s%s", paint(PAINT_FAINT), format_error(measure_standard_error(figure), figure->value).text,
		       paint(PAINT_PLAIN));
}

struct figure column_figure(const struct measure *measure, int64_t value)
{
	const char *unit = measure_unit(measure);
	struct figure figure;

	if (measure_is_bytes(measure))
		return format_bytes(value);
	snprintf(figure.text, sizeof figure.text, "%lld %s", (long long)value,
		 strcmp(unit, "count") == 0 ? (value == 1 ? "object" : "objects") : unit);
	return figure;
}

void column_print_file(const Perftools__Profiles__Profile *profile, const char *path)
{
	const char *program = profile_view_program(profile);
	time_t seconds = (time_t)(profile->time_nanos / 1000000000);
	struct tm when;
	char text[64];

	printf("File: %s%s%s%s\n", *program ? program : path, *program ? " (" : "", *program ? path : "",
	       *program ? ")" : "");
	if (seconds != 0 && localtime_r(&seconds, &when) != NULL && strftime(text, sizeof text, "%F %T %Z", &when) > 0)
		printf("Time: %s\n", text);
}

void column_print_rest(size_t rest, const char *kind)
{
	if (rest > 0)
		printf("%zu more %s%s (-n 0 shows all)\n", rest, kind, rest == 1 ? "" : "s");
}

/* ", estimated from 297 samples, one per 512kB", and what else is to be said about the errors. */
static void print_origin(const struct profile_view *view)
{
	double samples = view->total.error.samples;

	switch (view->measure.model.kind) {
	case ERROR_EXACT:
		printf(", exact: every allocation was recorded\n");
		break;
	case ERROR_SAMPLED:
	case ERROR_RESAMPLED:
		printf(", estimated from %.0f sample%s, one per %s\n", samples, round(samples) == 1 ? "" : "s",
		       format_bytes(view->measure.profile->period).text);
		if (view->measure.model.kind == ERROR_RESAMPLED)
			printf("The rate changed while the program ran: the errors shown are those of the last one.\n");
		break;
	case ERROR_UNKNOWN:
		printf("\nThe rate changed while the program ran: how far off the figures may be is not known.\n");
		break;
	case ERROR_NONE:
		printf("\n");
		break;
	}
}

void column_print_total(const struct profile_view *view)
{
	size_t stacks = view->measure.profile->n_sample;

	printf("Type: %s\n", measure_name(&view->measure));
	printf("Total: %s", column_figure(&view->measure, view->total.value).text);
	column_print_error(error_is_known(&view->measure.model), &view->total);
	printf(" in %zu stack%s", stacks, stacks == 1 ? "" : "s");
	print_origin(view);
}
