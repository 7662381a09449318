/* stacks.h - the samples of profiles as stacks of rows: what every report is made of.
 *
 * A row is what a report has a line for: a function, a source line or a module, depending on how the stacks are made. Frames that look
 * the same share a row, in whatever profile they are, so that two profiles can be compared row by row. */
#ifndef MPROF_TOOLS_STACKS_H
#define MPROF_TOOLS_STACKS_H

#include "pprof/decode.h"
#include "tools/filter.h"

#include <libiberty/hashtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stacks_by { STACKS_BY_FUNCTION, STACKS_BY_LINE, STACKS_BY_MODULE };

struct stacks_row {
	char *name; /* what is shown: "ns::f", "ns::f src/f.cc:12", "libx.so"; "[libx.so]" for frames of no known function, "<unknown>" without a
			   module too. No two rows have the same. */
	char *function; /* demangled; NULL when not known, and by module */
	char *file;	/* source file; NULL when not known, and by module. By function: of the first frame met */
	char *module;	/* base name of the mapped file; NULL when not known. By function: of the first frame met */
	int64_t line;	/* of the source; 0 = not known. By function: where the function starts */
};

struct stack {
	const Perftools__Profiles__Sample *sample;
	uint32_t *rows;	  /* indices, leaf first; inlined calls are frames of their own */
	uint32_t depth;	  /* may be 0 */
	uint32_t profile; /* which of those added, from 0 */
};

/* All zero, but for `by`, is one without stacks. */
struct stacks {
	enum stacks_by by;
	struct stacks_row *rows;
	size_t row_count, row_cap;
	struct stack *list;
	size_t count;
	htab_t names; /* of the rows */
	uint32_t profile_count;
};

/* Add all samples of a profile that the filter (NULL: none) lets through. The profile must outlive the stacks. Ends the process when
 * memory does. */
void stacks_add(struct stacks *stacks, const Perftools__Profiles__Profile *profile, const struct filter *filter);

void stacks_free(struct stacks *stacks);

/* The row of a frame, counted from the root of the stack, or from its leaf. */
static inline uint32_t stacks_frame(const struct stack *stack, uint32_t level, bool from_leaf)
{
	return stack->rows[from_leaf ? level : stack->depth - 1 - level];
}

/* An order of stacks by their frames, for qsort: 0 for those that look the same, and stacks that start alike stand together. */
int stacks_compare(const struct stack *a, const struct stack *b, bool from_leaf);

/* The last component of a path. */
const char *stacks_base_name(const char *path);

#endif
