/* format.h - numbers as people read them, exactly as `go tool pprof` writes them. */
#ifndef MPROF_TOOLS_FORMAT_H
#define MPROF_TOOLS_FORMAT_H

#include <stdint.h>

/* A formatted number, by value, so that several fit into one printf: format_bytes(n).text. */
struct figure {
	char text[32];
};

/* The unit a column of figures is shown in. */
struct unit {
	const char *name; /* "B", "kB", "MB", ...; "" = a plain count */
	double factor;
};

/* The largest binary unit in which `value` is at least 1 ("B" for less). */
struct unit format_unit_of(int64_t value);

/* The unit for a column whose smallest non-zero figure is `least` and whose total is `total`: small enough to show 0.01
 * of it, so that figures of one column compare at a glance.
 * Source: google/pprof, internal/report, selectOutputUnit. */
struct unit format_unit_for(int64_t least, int64_t total);

/* A plain number, for what is not bytes. */
struct unit format_unit_count(void);

/* "12.30MB", "512kB", "0". Source: google/pprof, internal/measurement, ScaledLabel. */
struct figure format_value(int64_t value, struct unit unit);

/* format_value in the value's own best unit. */
struct figure format_bytes(int64_t bytes);

/* Five characters and a percent sign: "12.34%", " 0.05%", "  100%"; the sign of the value does not show.
 * Source: google/pprof, internal/measurement, Percentage. */
struct figure format_percent(int64_t value, int64_t total);

/* The standard error of a value, in percent of it: "±5.8%", "±23%", "±0%". "-" for nothing: a value of 0 without an
 * error. Never wider than six columns, but one byte longer than wide: pad with format_right. */
struct figure format_error(double standard_error, int64_t value);

/* A text of UTF-8 set to the right in a column; printf counts bytes. */
struct figure format_right(const char *text, int columns);

#endif
