/* progress.h - a bar on the terminal for work that takes a while. */
#ifndef MPROF_TOOLS_PROGRESS_H
#define MPROF_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	const char *what; /* "looking up lines" */
	size_t done, total;
	int64_t next_ns; /* when to show it next, on the monotonic clock */
	bool wanted, shown;
};

/* Begin; nothing is shown for half a second, and never when stderr is no terminal or `wanted` is false. */
void progress_begin(struct progress *progress, const char *what, size_t total, bool wanted);

/* So much of it more is done. Cheap. */
void progress_add(struct progress *progress, size_t n);

/* Wipe the bar away: before another line is written, and at the end. */
void progress_wipe(struct progress *progress);

#endif
