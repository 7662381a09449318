/* watch_table.h - the text that `mprof watch` shows, on a screen or in a file. */
#ifndef MPROF_TOOLS_WATCH_TABLE_H
#define MPROF_TOOLS_WATCH_TABLE_H

#include "tools/facts.h"
#include "tools/growth.h"

#define WATCH_TABLE_HEADER 3 /* the line with the names of the columns, counted from 0; what is above it are totals */

struct watch_table {
	const char *program;
	int process;
	const struct facts *facts;   /* the last status */
	const struct growth *growth; /* with the last profile */
	enum growth_order order;
	int64_t watched_ns; /* since the first profile */
};

/* Print the table with at most so many rows of functions. */
void watch_table_print(const struct watch_table *table, size_t rows, FILE *out);

#endif
