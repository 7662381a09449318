/* profile_view.c - a profile added up by row. */
#include "tools/profile_view.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

static int compare_sizes(int64_t a, int64_t b)
{
	int64_t m = measure_magnitude(a), n = measure_magnitude(b);

	return (m < n) - (m > n); /* the larger first */
}

static int by_flat(const void *a, const void *b)
{
	const struct view_row *x = a, *y = b;
	int order = compare_sizes(x->flat.value, y->flat.value);

	if (order == 0)
		order = compare_sizes(x->cum.value, y->cum.value);
	return order != 0 ? order : strcmp(x->name, y->name);
}

static int by_cum(const void *a, const void *b)
{
	const struct view_row *x = a, *y = b;
	int order = compare_sizes(x->cum.value, y->cum.value);

	return order != 0 ? order : by_flat(a, b);
}

/* Add one stack, the `number`-th from 1, to the rows of its frames. stamp[row] is the number of the last one added to its cum. */
static void add_stack(struct profile_view *view, const struct stack *stack, size_t number, size_t *stamp)
{
	struct estimated value = measure_stack(&view->measure, stack);

	measure_add(&view->shown, &value);
	for (uint32_t i = 0; i < stack->depth; i++) {
		struct view_row *row = &view->rows[stack->rows[i]];

		if (i == 0)
			measure_add(&row->flat, &value);
		if (stamp[row->row] != number)
			measure_add(&row->cum, &value);
		stamp[row->row] = number;
	}
}

void profile_view_init(struct profile_view *view, const struct stacks *stacks, const struct measure *measure)
{
	size_t *stamp = xcalloc(stacks->row_count + 1, sizeof *stamp);

	*view = (struct profile_view){
		.measure = *measure,
		.rows = xcalloc(stacks->row_count + 1, sizeof *view->rows),
		.count = stacks->row_count,
		.total = measure_total(measure),
	};
	for (size_t i = 0; i < view->count; i++) {
		view->rows[i].name = stacks->rows[i].name;
		view->rows[i].row = (uint32_t)i;
	}
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->list[i].profile == measure->number)
			add_stack(view, &stacks->list[i], i + 1, stamp);
	free(stamp);
}

void profile_view_sort(struct profile_view *view, bool cumulative)
{
	size_t kept = 0;

	for (size_t i = 0; i < view->count; i++)
		if (view->rows[i].flat.value != 0 || view->rows[i].cum.value != 0)
			view->rows[kept++] = view->rows[i];
	view->count = kept;
	qsort(view->rows, view->count, sizeof *view->rows, cumulative ? by_cum : by_flat);
}

void profile_view_free(struct profile_view *view)
{
	free(view->rows);
}

int64_t profile_view_total(const Perftools__Profiles__Profile *profile, int type)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		total += (uint64_t)measure_magnitude(profile->sample[i]->value[type]);
	return (int64_t)total;
}

const char *profile_view_program(const Perftools__Profiles__Profile *profile)
{
	return profile->n_mapping > 0 ? stacks_base_name(decode_string(profile, profile->mapping[0]->filename)) : "";
}
