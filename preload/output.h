/* output.h - the names of profile files: HEAPPROF_OUT expanded. */
#ifndef MPROF_PRELOAD_OUTPUT_H
#define MPROF_PRELOAD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pattern's %-letters stand for. */
struct output_name {
	int pid;	     /* %p */
	uint64_t number;     /* %n */
	const char *program; /* %c: its last component is used */
	int64_t seconds;     /* %t: since 1970 */
};

/* Expand `pattern` into path[0..cap): %p, %n, %c, %t, and %% for a percent sign; any other % stands for itself. Returns 0, or
 * -ENAMETOOLONG. Context: no allocation; async-signal-safe. */
int output_expand(const char *pattern, const struct output_name *name, char *path, size_t cap);

/* Whether the expansion differs from one dump to the next. */
bool output_is_numbered(const char *pattern);

/* A name for the unfinished file, hidden, in the same directory as `path`. Returns 0 or -ENAMETOOLONG. */
int output_temporary(const char *path, const struct output_name *name, char *temporary, size_t cap);

#endif
