/* measure_json.h - estimates and what they are of, as JSON: parts of the objects that reports print with --json. */
#ifndef MPROF_TOOLS_MEASURE_JSON_H
#define MPROF_TOOLS_MEASURE_JSON_H

#include "tools/breakdown.h"
#include "tools/measure.h"

#include <stdio.h>

/* `"NAME": {...}`: which file, program and sample type, at what rate, and the total. */
void measure_json(const char *name, const struct measure *measure, const struct estimated *total, const char *path,
		  FILE *out);

/* `"NAME": V, "NAME_error": E`, the standard error; null where it is not known, 0 where values are exact. */
void measure_json_value(const char *name, const struct measure *measure, const struct estimated *value, FILE *out);

/* `"name": "...", "function": ..., "file": ..., "line": ..., "module": ...` of a row; null for what is not known. */
void measure_json_row(const struct stacks_row *row, FILE *out);

/* `"stack": [{...}, ...]`, the rows of a site, leaf first; of a row what measure_json_row prints. */
void measure_json_part(const struct stacks *stacks, const struct part *part, FILE *out);

#endif
