/* outputs.h - the profiles that a run left behind: which files are new, and what each holds. */
#ifndef MPROF_TOOLS_OUTPUTS_H
#define MPROF_TOOLS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* One file whose name fits the pattern. */
struct output {
	char *path;
	struct stat st; /* tells a file written again from one that was there before */
};

struct outputs {
	struct output *files; /* in order of path */
	size_t count;
};

/* Does `path` come from this HEAPPROF_OUT pattern? %p, %n and %t stand for digits, %c for any name. */
bool outputs_match(const char *pattern, const char *path);

/* List the files that fit the pattern now. Ends the process when memory does. */
void outputs_list(struct outputs *outputs, const char *pattern);
void outputs_free(struct outputs *outputs);

/* Forget the files that are in `before` and have not been written since. */
void outputs_keep_new(struct outputs *outputs, const struct outputs *before);

/* Give the profiles source lines, in place. One that cannot be read or written stays as it is. */
void outputs_symbolize(const struct outputs *outputs);

/* Read the profiles and say on stderr where they are and what they hold, the largest first. */
void outputs_report(const struct outputs *outputs);

#endif
