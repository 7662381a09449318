/* growth.c - the live bytes of each function as they change from one profile of a process to the next. */
#include "tools/growth.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct growth_row *)a)->name, ((const struct growth_row *)b)->name);
}

/* The row of a function; NULL when it is new. Rows past `known` are not sorted yet. */
static struct growth_row *find_row(const struct growth *growth, size_t known, const char *name)
{
	const struct growth_row key = {.name = (char *)(uintptr_t)name}; /* only compared */

	return known == 0 ? NULL : bsearch(&key, growth->rows, known, sizeof key, by_name);
}

static void advance(struct growth_row *row)
{
	row->previous = row->live;
	row->live = 0;
}

void growth_add(struct growth *growth, const struct profile_view *view, bool cumulative)
{
	size_t known = growth->count;
	bool first = growth->profiles++ == 0;

	for (size_t i = 0; i < known; i++)
		advance(&growth->rows[i]);
	advance(&growth->total);
	growth->rows = xrealloc(growth->rows, (known + view->count + 1) * sizeof *growth->rows);
	for (size_t i = 0; i < view->count; i++) {
		const struct view_row *seen = &view->rows[i];
		struct growth_row *row = find_row(growth, known, seen->name);

		if (row == NULL) {
			row = &growth->rows[growth->count++];
			*row = (struct growth_row){.name = xstrdup(seen->name)};
		}
		row->live = (cumulative ? seen->cum : seen->flat).value;
		if (first)
			row->previous = row->start = row->live;
	}
	growth->total.live = view->total.value;
	if (first)
		growth->total.previous = growth->total.start = view->total.value;
	if (growth->count > 0)
		qsort(growth->rows, growth->count, sizeof *growth->rows, by_name);
}

static int compare(int64_t a, int64_t b)
{
	return (a < b) - (a > b); /* the larger first */
}

static int by_live(const void *a, const void *b)
{
	const struct growth_row *x = *(const struct growth_row *const *)a, *y = *(const struct growth_row *const *)b;
	int order = compare(x->live, y->live);

	return order != 0 ? order : by_name(x, y);
}

static int by_change(const void *a, const void *b)
{
	const struct growth_row *x = *(const struct growth_row *const *)a, *y = *(const struct growth_row *const *)b;
	int order = compare(growth_since_start(x), growth_since_start(y));

	return order != 0 ? order : by_live(a, b);
}

const struct growth_row **growth_sort(const struct growth *growth, enum growth_order order, size_t *count)
{
	const struct growth_row **rows = xcalloc(growth->count + 1, sizeof *rows);

	*count = 0;
	for (size_t i = 0; i < growth->count; i++)
		if (growth->rows[i].live != 0 || growth->rows[i].start != 0)
			rows[(*count)++] = &growth->rows[i];
	qsort(rows, *count, sizeof *rows, order == GROWTH_BY_LIVE ? by_live : by_change);
	return rows;
}

void growth_free(struct growth *growth)
{
	for (size_t i = 0; i < growth->count; i++)
		free(growth->rows[i].name);
	free(growth->rows);
	*growth = (struct growth){0};
}
