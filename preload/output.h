/* output.h - profile files: their names, and that they appear only when complete. */
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

/* Expand `pattern` into path[0..cap): %p, %n, %c, %t, and %% for a percent sign; any other % stands for itself. Returns
 * 0, or -ENAMETOOLONG. Context: no allocation; async-signal-safe. */
int output_expand(const char *pattern, const struct output_name *name, char *path, size_t cap);

/* Whether the expansion differs from one dump to the next. */
bool output_is_numbered(const char *pattern);

/* A name for the unfinished file, hidden, in the same directory as `path`. Returns 0 or -ENAMETOOLONG. */
int output_temporary(const char *path, const struct output_name *name, char *temporary, size_t cap);

#define OUTPUT_PATH_MAX 4096

/* A file being written. Large: keep it in scratch memory, not on a stack. */
struct output {
	const char *pattern;	    /* what `path` is made from; NULL = `path` was given as it is */
	struct output_name name;    /* for the pattern, and to make the temporary name differ from every other */
	uint64_t *numbers;	    /* atomic: the last number given to a dump */
	uint64_t device, inode;	    /* of the file; set by output_finish */
	char path[OUTPUT_PATH_MAX]; /* "" until known */
	char temporary[OUTPUT_PATH_MAX];
};

/* Create the file under its temporary name, in the directory it will be in, with mode 0600. The caller has set pattern
 * (or path), name and numbers. Returns a descriptor to write to, or a negative errno. Context, here and below: any
 * thread, any signal handler; no memory, no lock. */
int output_create(struct output *output);

/* Close the file and give it its name, replacing what has that name; or, after an `error` in writing it, remove it. A
 * pattern with %n replaces nothing but takes the next number. Returns the first error of all, or 0. */
int output_finish(struct output *output, int fd, int error);

/* What an errno value (negative) means for a file; NULL for one that files hardly have. */
const char *output_reason(int error);

#endif
