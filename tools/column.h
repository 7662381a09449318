/* column.h - columns of figures with their errors beside them, and what stands above a table of them. */
#ifndef MPROF_TOOLS_COLUMN_H
#define MPROF_TOOLS_COLUMN_H

#include "tools/format.h"
#include "tools/measure.h"
#include "tools/profile_view.h"

#include <stdbool.h>
#include <stddef.h>

/* How the figures of one measure are written. */
struct column {
	struct unit unit;
	bool errors; /* whether there are any to show */
};

/* The unit by Go's rule: it follows from the smallest figure that matters, half a percent of the total or more. */
struct column column_of(const struct profile_view *view);

/* A column whose smallest figure that matters, and whose largest, these are. */
struct column column_for(const struct measure *measure, int64_t least, int64_t largest);

/* " 12.30MB  ±5.8%", with a sign if `sign`; nothing wider than the header's. */
void column_print(const struct column *column, const struct estimated *figure, bool sign);
void column_print_header(const struct column *column, const char *name);

/* " ±5.8%", or nothing where it is not known: after a figure on its own. */
void column_print_error(bool known, const struct estimated *figure);

/* "12.30MB", "17 objects": a figure on its own, in its own best unit. */
struct figure column_figure(const struct measure *measure, int64_t value);

/* The lines above a report: program and file, time, sample type. */
void column_print_file(const Perftools__Profiles__Profile *profile, const char *path);

/* What is not shown of a report: "12 more sites (-n 0 shows all)". Nothing when all was. */
void column_print_rest(size_t rest, const char *kind);

/* "Total: 34.21MB ±5.8% in 12 stacks, estimated from 297 samples, one per 512kB" */
void column_print_total(const struct profile_view *view);

#endif
