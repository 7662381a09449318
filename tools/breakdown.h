/* breakdown.h - what a profile is made of, by site or by row, in several measures at once: before and after, allocated and in use. */
#ifndef MPROF_TOOLS_BREAKDOWN_H
#define MPROF_TOOLS_BREAKDOWN_H

#include "tools/measure.h"
#include "tools/stacks.h"

#include <stddef.h>
#include <stdint.h>

#define BREAKDOWN_MEASURES_MAX 4

/* A site is a distinct stack, whatever size of objects was allocated there. */
struct part {
	const struct stack *stack; /* of a site: one of those that are it, as they have the same rows; NULL = a row */
	uint32_t row;
	struct estimated sums[BREAKDOWN_MEASURES_MAX]; /* one for each measure */
};

struct breakdown {
	struct part *parts; /* largest first by the first measure, in magnitude; none is zero in every measure */
	size_t count;
};

/* Add the stacks up, in up to BREAKDOWN_MEASURES_MAX measures: by site; or by row, where a stack counts for its leaf, or if `cumulative` for
 * every row it has. Ends the process when memory does. */
void breakdown_by_site(struct breakdown *breakdown, const struct stacks *stacks, const struct measure *measures,
		       size_t measure_count);
void breakdown_by_row(struct breakdown *breakdown, const struct stacks *stacks, const struct measure *measures,
		      size_t measure_count, bool cumulative);

/* Put the parts in another order: the largest key first, by magnitude. */
void breakdown_sort(struct breakdown *breakdown, int64_t (*key)(const struct part *part));

void breakdown_free(struct breakdown *breakdown);

/* The name of the row, or "leaf ← caller ← its caller ← …" of a site. To be freed. */
char *breakdown_label(const struct stacks *stacks, const struct part *part);

#endif
