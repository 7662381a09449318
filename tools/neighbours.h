/* neighbours.h - who calls a row of the stacks, and whom it calls, and what passes over each of these edges. */
#ifndef MPROF_TOOLS_NEIGHBOURS_H
#define MPROF_TOOLS_NEIGHBOURS_H

#include "tools/measure.h"
#include "tools/stacks.h"

#include <stddef.h>
#include <stdint.h>

#define NEIGHBOURS_NONE UINT32_MAX

struct neighbour {
	uint32_t row; /* NEIGHBOURS_NONE: of stacks that start, or end, in the row itself */
	struct estimated sum;
};

/* Largest first, by magnitude. A stack counts once for an edge, however often it takes it; calls to itself are no edge, as in `go tool pprof
 * -peek`. */
struct neighbours {
	struct neighbour *callers, *callees;
	size_t caller_count, callee_count;
};

/* Ends the process when memory does. */
void neighbours_find(struct neighbours *neighbours, const struct stacks *stacks, const struct measure *measure,
		     uint32_t row);

void neighbours_free(struct neighbours *neighbours);

#endif
