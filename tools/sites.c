/* sites.c - allocation sites: the distinct stacks. */
#include "tools/sites.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

static int by_frames(const void *a, const void *b)
{
	const struct stack *x = *(const struct stack *const *)a, *y = *(const struct stack *const *)b;
	int order = stacks_compare(x, y, true);

	return order != 0 ? order : (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	uint64_t m = (uint64_t)llabs(x->sums[0].value), n = (uint64_t)llabs(y->sums[0].value);

	if (m != n)
		return m < n ? 1 : -1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

void sites_init(struct sites *sites, const struct stacks *stacks, const struct measure *measures, size_t measure_count)
{
	const struct stack **sorted = xcalloc(stacks->count + 1, sizeof *sorted);
	size_t kept = 0;

	*sites = (struct sites){.list = xcalloc(stacks->count + 1, sizeof *sites->list)};
	for (size_t i = 0; i < stacks->count; i++)
		sorted[i] = &stacks->list[i];
	qsort(sorted, stacks->count, sizeof *sorted, by_frames);
	for (size_t i = 0; i < stacks->count; i++) {
		if (i == 0 || stacks_compare(sorted[i], sorted[i - 1], true) != 0)
			sites->list[sites->count++].stack = sorted[i];
		for (size_t j = 0; j < measure_count; j++) {
			struct estimated value = measure_stack(&measures[j], sorted[i]);

			measure_add(&sites->list[sites->count - 1].sums[j], &value);
		}
	}
	for (size_t i = 0; i < sites->count; i++)
		if (sites->list[i].sums[0].value != 0)
			sites->list[kept++] = sites->list[i];
	sites->count = kept;
	qsort(sites->list, sites->count, sizeof *sites->list, by_size);
	free(sorted);
}

void sites_free(struct sites *sites)
{
	free(sites->list);
}

char *sites_label(const struct stacks *stacks, const struct stack *stack, unsigned frames)
{
	char *label = xstrdup(stack->depth > 0 ? stacks->rows[stack->rows[0]].name : "<no stack>");

	for (uint32_t i = 1; i < stack->depth && i <= frames; i++)
		label = reconcat(label, label, " ← ", i < frames ? stacks->rows[stack->rows[i]].name : "…", NULL);
	return label;
}
