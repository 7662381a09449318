/* summary.h - what one profile holds, said in a few words. */
#ifndef MPROF_TOOLS_SUMMARY_H
#define MPROF_TOOLS_SUMMARY_H

#include "pprof/decode.h"

#include <stdint.h>

struct summary {
	const char *path; /* NULL = it is in no file */
	char program[64];
	int64_t in_use, allocated, rate; /* bytes */
	int64_t duration_ns;		 /* that the allocations cover; 0 = all since the start or reset */
	size_t stacks;
	char error[128]; /* why it cannot be read; "" when it can */
};

/* Sum up a profile that is, or will be, in the file `path` (or NULL), which the summary refers to. */
void summary_make(struct summary *summary, const char *path, const Perftools__Profiles__Profile *profile);

/* The same of a file. */
void summary_read(struct summary *summary, const char *path);

/* Say on stderr, without a newline, what is in it: "1MB in use of 2MB allocated, 3 stacks (rate 512kB)", or the error. */
void summary_say(const struct summary *summary);

/* Say it in a line of its own, with the path, and how to read it. */
void summary_report(const struct summary *summary);

/* A path as the user would type it: without the working directory it starts with. */
const char *summary_typed_path(const char *path);

#endif
