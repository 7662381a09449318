/* breakdown.c - what a profile is made of, by site or by row. */
#include "tools/breakdown.h"

#include "tools/profile_view.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_FRAMES 6 /* shown of a stack */

static int by_frames(const void *a, const void *b)
{
	const struct stack *x = *(const struct stack *const *)a, *y = *(const struct stack *const *)b;
	int order = stacks_compare(x, y, true);

	return order != 0 ? order : (x > y) - (x < y);
}

static int64_t first_sum(const struct part *part)
{
	return part->sums[0].value;
}

struct key {
	int64_t (*of)(const struct part *part);
};

static int by_key(const void *a, const void *b, void *context)
{
	const struct part *x = a, *y = b;
	const struct key *key = context;
	int64_t m = measure_magnitude(key->of(x)), n = measure_magnitude(key->of(y));

	if (m != n)
		return m < n ? 1 : -1;
	if (x->stack != y->stack)
		return x->stack > y->stack ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

void breakdown_sort(struct breakdown *breakdown, int64_t (*key)(const struct part *part))
{
	qsort_r(breakdown->parts, breakdown->count, sizeof *breakdown->parts, by_key, &(struct key){key});
}

/* Drop what is zero, and put the rest in order. */
static void finish(struct breakdown *breakdown, size_t measure_count)
{
	size_t kept = 0;

	for (size_t i = 0; i < breakdown->count; i++) {
		bool is_zero = true;

		for (size_t m = 0; m < measure_count; m++)
			is_zero &= breakdown->parts[i].sums[m].value == 0;
		if (!is_zero)
			breakdown->parts[kept++] = breakdown->parts[i];
	}
	breakdown->count = kept;
	breakdown_sort(breakdown, first_sum);
}

void breakdown_by_site(struct breakdown *breakdown, const struct stacks *stacks, const struct measure *measures,
		       size_t measure_count)
{
	const struct stack **sorted = xcalloc(stacks->count + 1, sizeof *sorted);

	*breakdown = (struct breakdown){.parts = xcalloc(stacks->count + 1, sizeof *breakdown->parts)};
	for (size_t i = 0; i < stacks->count; i++)
		sorted[i] = &stacks->list[i];
	qsort(sorted, stacks->count, sizeof *sorted, by_frames);
	for (size_t i = 0; i < stacks->count; i++) {
		if (i == 0 || stacks_compare(sorted[i], sorted[i - 1], true) != 0)
			breakdown->parts[breakdown->count++].stack = sorted[i];
		for (size_t m = 0; m < measure_count; m++) {
			struct estimated value = measure_stack(&measures[m], sorted[i]);

			measure_add(&breakdown->parts[breakdown->count - 1].sums[m], &value);
		}
	}
	free(sorted);
	finish(breakdown, measure_count);
}

void breakdown_by_row(struct breakdown *breakdown, const struct stacks *stacks, const struct measure *measures,
		      size_t measure_count, bool cumulative)
{
	*breakdown = (struct breakdown){
		.parts = xcalloc(stacks->row_count + 1, sizeof *breakdown->parts),
		.count = stacks->row_count,
	};
	for (size_t m = 0; m < measure_count; m++) {
		struct profile_view view;

		profile_view_init(&view, stacks, &measures[m]);
		for (size_t i = 0; i < view.count; i++) {
			breakdown->parts[i].row = (uint32_t)i;
			breakdown->parts[i].sums[m] = cumulative ? view.rows[i].cum : view.rows[i].flat;
		}
		profile_view_free(&view);
	}
	finish(breakdown, measure_count);
}

void breakdown_free(struct breakdown *breakdown)
{
	free(breakdown->parts);
}

char *breakdown_label(const struct stacks *stacks, const struct part *part)
{
	const struct stack *stack = part->stack;
	char *label;

	if (stack == NULL)
		return xstrdup(stacks->rows[part->row].name);
	label = xstrdup(stack->depth > 0 ? stacks->rows[stack->rows[0]].name : "<no stack>");
	for (uint32_t i = 1; i < stack->depth && i <= LABEL_FRAMES; i++)
		label = reconcat(label, label, " ← ", i < LABEL_FRAMES ? stacks->rows[stack->rows[i]].name : "…", NULL);
	return label;
}
