/* once.h - tells memory that a runtime allocates once and keeps from leaks. The table is once.def. */
#ifndef MPROF_TOOLS_ONCE_H
#define MPROF_TOOLS_ONCE_H

#include "tools/stacks.h"

#include <stdint.h>

/* What is known of each row of the stacks. */
struct once {
	const struct stacks *stacks;
	uint8_t *entries;    /* in the table, from 1; 0 = none */
	uint8_t *is_runtime; /* is the row's module the C or C++ library, or the loader? */
};

/* Look all rows up. The stacks must outlive it. Ends the process when memory does. */
void once_init(struct once *once, const struct stacks *stacks);

/* Why what was allocated there is no leak, or NULL; `objects` is how many the profiler saw there. Besides the table: stacks of the runtime
 * alone, from before main or after it. */
const char *once_reason(const struct once *once, const struct stack *stack, double objects);

void once_free(struct once *once);

#endif
