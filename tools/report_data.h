/* report_data.h - profiles as the data of the page that `mprof report` writes: one JSON object, which tools/page/ reads. */
#ifndef MPROF_TOOLS_REPORT_DATA_H
#define MPROF_TOOLS_REPORT_DATA_H

#include "tools/reading.h"

#include <stdio.h>

/* Write it of one profile, or of two that are compared: then the values are those of the second, and `base` those of the first. Numbers are
 * arrays with one element for each sample type that all of them have. Standard errors are null where they are not known, 0 where values
 * are exact.
 *
 *   {"version", "title" (may be NULL here, null there), "program", "filters" (options, or null),
 *    "files": [{"path", "time" (ms), "duration_ns", "rate", "rate_changed", "samples", "comments": [text]}],
 *    "types": [{"name", "unit", "total", "error", "base_total", "base_error"}], "default": the type to show first,
 *    "functions": [{"name", "file", "line", "module"}],
 *    "rows": [{"f": function, "flat": [], "flat_error": [], "cum": [], "cum_error": [], and "base_..." of all these}],
 *    "tree": {"parent": [], "function": [], "value": [[node] by type], "error": , "base": , "base_error": },
 *    "omitted": {"nodes": how many are merged into those of the function -2}}
 *
 * Node 0 is the root, its function -1; parents come before children. What starts with "base" is there when two are compared.
 * Returns -1, or the status to exit with after a message: a type asked for that is not there, or none that both have. */
int report_data(const struct reading *reading, const char *title, FILE *out);

#endif
