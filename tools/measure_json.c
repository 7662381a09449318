/* measure_json.c - estimates and what they are of, as JSON. */
#include "tools/measure_json.h"

#include "tools/json.h"
#include "tools/profile_view.h"

#include <inttypes.h>

void measure_json_value(const char *name, const struct measure *measure, const struct estimated *value, FILE *out)
{
	fprintf(out, "\"%s\": %" PRId64 ", \"%s_error\": ", name, value->value, name);
	if (error_is_known(&measure->model))
		fprintf(out, "%.6g", measure_standard_error(value));
	else
		fputs(measure->model.kind == ERROR_EXACT ? "0" : "null", out);
}

static void print_text(const char *name, const char *text, FILE *out)
{
	fprintf(out, "\"%s\": ", name);
	if (text != NULL)
		json_print_string(text, out);
	else
		fputs("null", out);
}

void measure_json(const char *name, const struct measure *measure, const struct estimated *total, const char *path,
		  FILE *out)
{
	fprintf(out, "\"%s\": {", name);
	print_text("file", path, out);
	fputs(", ", out);
	print_text("program", profile_view_program(measure->profile), out);
	fprintf(out, ", \"time_ns\": %" PRId64 ", \"rate\": %" PRId64 ", ", measure->profile->time_nanos,
		measure->profile->period);
	print_text("type", measure_name(measure), out);
	fputs(", ", out);
	print_text("unit", measure_unit(measure), out);
	fputs(", ", out);
	measure_json_value("total", measure, total, out);
	fputc('}', out);
}

void measure_json_row(const struct stacks_row *row, FILE *out)
{
	print_text("name", row->name, out);
	fputs(", ", out);
	print_text("function", row->function, out);
	fputs(", ", out);
	print_text("file", row->file, out);
	fprintf(out, ", \"line\": %" PRId64 ", ", row->line);
	print_text("module", row->module, out);
}

void measure_json_part(const struct stacks *stacks, const struct part *part, FILE *out)
{
	const struct stack *stack = part->stack;

	if (stack == NULL) {
		measure_json_row(&stacks->rows[part->row], out);
		return;
	}
	fputs("\"stack\": [", out);
	for (uint32_t i = 0; i < stack->depth; i++) {
		fputs(i > 0 ? ", {" : "{", out);
		measure_json_row(&stacks->rows[stack->rows[i]], out);
		fputc('}', out);
	}
	fputc(']', out);
}
