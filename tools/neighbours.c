/* neighbours.c - who calls a row of the stacks, and whom it calls. */
#include "tools/neighbours.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>

/* One side: sums by row, the last for none, and which stack was added to each of them last, counted from 1. */
struct side {
	struct estimated *sums;
	size_t *stamps;
	size_t count;
};

static struct side side_make(size_t row_count)
{
	return (struct side){xcalloc(row_count + 1, sizeof(struct estimated)), xcalloc(row_count + 1, sizeof(size_t)),
			     row_count + 1};
}

static void add(struct side *side, uint32_t row, size_t stamp, const struct estimated *value)
{
	size_t at = row == NEIGHBOURS_NONE ? side->count - 1 : row;

	if (side->stamps[at] != stamp)
		measure_add(&side->sums[at], value);
	side->stamps[at] = stamp;
}

static void add_stack(const struct stack *stack, uint32_t row, size_t stamp, const struct estimated *value,
		      struct side *callers, struct side *callees)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t caller = i + 1 < stack->depth ? stack->rows[i + 1] : NEIGHBOURS_NONE;
		uint32_t callee = i > 0 ? stack->rows[i - 1] : NEIGHBOURS_NONE;

		if (stack->rows[i] != row)
			continue;
		if (caller != row)
			add(callers, caller, stamp, value);
		if (callee != row)
			add(callees, callee, stamp, value);
	}
}

static int by_size(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;
	int64_t m = measure_magnitude(x->sum.value), n = measure_magnitude(y->sum.value);

	if (m != n)
		return m < n ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

/* What is not zero, in order. */
static struct neighbour *list(struct side *side, size_t *count)
{
	struct neighbour *neighbours = xcalloc(side->count, sizeof *neighbours);

	*count = 0;
	for (size_t i = 0; i < side->count; i++) {
		uint32_t row = i < side->count - 1 ? (uint32_t)i : NEIGHBOURS_NONE;

		if (side->sums[i].value != 0)
			neighbours[(*count)++] = (struct neighbour){row, side->sums[i]};
	}
	qsort(neighbours, *count, sizeof *neighbours, by_size);
	free(side->sums);
	free(side->stamps);
	return neighbours;
}

void neighbours_find(struct neighbours *neighbours, const struct stacks *stacks, const struct measure *measure,
		     uint32_t row)
{
	struct side callers = side_make(stacks->row_count), callees = side_make(stacks->row_count);

	for (size_t i = 0; i < stacks->count; i++) {
		struct estimated value = measure_stack(measure, &stacks->list[i]);

		if (value.value != 0)
			add_stack(&stacks->list[i], row, i + 1, &value, &callers, &callees);
	}
	neighbours->callers = list(&callers, &neighbours->caller_count);
	neighbours->callees = list(&callees, &neighbours->callee_count);
}

void neighbours_free(struct neighbours *neighbours)
{
	free(neighbours->callers);
	free(neighbours->callees);
}
