/* sites.h - allocation sites: the distinct stacks, whatever size of objects was allocated there. */
#ifndef MPROF_TOOLS_SITES_H
#define MPROF_TOOLS_SITES_H

#include "tools/measure.h"
#include "tools/stacks.h"

#include <stddef.h>

#define SITES_MEASURES_MAX 4

struct site {
	const struct stack *stack;		   /* one of those that are this site: they have the same rows */
	struct estimated sums[SITES_MEASURES_MAX]; /* one for each measure */
};

struct sites {
	struct site *list; /* largest first by the first measure, in magnitude; no site is zero in it */
	size_t count;
};

/* Add up the stacks that look the same, in up to SITES_MEASURES_MAX measures. Ends the process when memory does. */
void sites_init(struct sites *sites, const struct stacks *stacks, const struct measure *measures, size_t measure_count);

void sites_free(struct sites *sites);

/* "leaf ← caller ← its caller ← …", at most so many frames. To be freed. */
char *sites_label(const struct stacks *stacks, const struct stack *stack, unsigned frames);

#endif
