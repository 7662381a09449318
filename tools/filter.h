/* filter.h - which stacks and frames a report is about: --focus, --ignore, --show, --hide, as `go tool pprof` takes them. */
#ifndef MPROF_TOOLS_FILTER_H
#define MPROF_TOOLS_FILTER_H

#include "pprof/decode.h"

#include <regex.h>
#include <stdbool.h>

enum filter_kind {
	FILTER_FOCUS,  /* only stacks that have a matching frame */
	FILTER_IGNORE, /* no stacks that have one */
	FILTER_SHOW,   /* of these stacks only matching frames */
	FILTER_HIDE,   /* and of these no matching ones */
	FILTER_KINDS,
};

/* All zero is one that lets everything through. */
struct filter {
	regex_t expression[FILTER_KINDS];
	const char *text[FILTER_KINDS]; /* what was compiled; NULL = not set */
};

/* Set one expression (POSIX extended; it may match anywhere in the text), which must outlive the filter. False when it is not valid: error[0..cap) says why. */
bool filter_set(struct filter *filter, enum filter_kind kind, const char *expression, char *error, size_t cap);

/* "--focus parse --hide ^std::", to be freed; NULL when nothing is set. Ends the process when memory does. */
char *filter_describe(const struct filter *filter);

void filter_free(struct filter *filter);

/* Does the expression of this kind match? It is compared with function names, source files and modules: any of the three will do. False
 * where none was set. NULL texts match nothing. */
bool filter_matches(const struct filter *filter, enum filter_kind kind, const char *function, const char *file,
		    const char *module);

#endif
