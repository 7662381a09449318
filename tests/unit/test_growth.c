/* test_growth.c - live bytes of functions from one profile to the next. */
#include "tools/growth.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

/* A function: its name, flat and cumulative bytes. */
#define OF(function, its_flat, its_cum) \
	{ \
		.name = function, .flat = {.value = its_flat}, .cum = {.value = its_cum } \
	}

/* Add a profile of these functions. */
static void add(struct growth *growth, bool cumulative, struct view_row *rows, size_t count)
{
	struct profile_view view = {.rows = rows, .count = count};

	for (size_t i = 0; i < count; i++)
		view.total.value += rows[i].flat.value;
	growth_add(growth, &view, cumulative);
}

#define ADD(growth, ...) \
	add(growth, false, (struct view_row[]){__VA_ARGS__}, \
	    sizeof((struct view_row[]){__VA_ARGS__}) / sizeof(struct view_row))

static void expect_row(const struct growth_row *row, const char *name, int64_t live, int64_t since_previous,
		       int64_t since_start)
{
	cr_expect(eq(str, row->name, (char *)name));
	cr_expect(eq(i64, row->live, live));
	cr_expect(eq(i64, growth_since_previous(row), since_previous));
	cr_expect(eq(i64, growth_since_start(row), since_start));
}

Test(growth, of_the_first_profile_is_none)
{
	struct growth growth = {0};
	const struct growth_row **rows;
	size_t count;

	ADD(&growth, OF("b", 10, 10), OF("a", 30, 30), OF("main", 0, 40));
	rows = growth_sort(&growth, GROWTH_BY_CHANGE, &count);
	cr_assert(eq(sz, count, 2), "main has nothing of its own");
	expect_row(rows[0], "a", 30, 0, 0);
	expect_row(rows[1], "b", 10, 0, 0);
	cr_expect(eq(i64, growth.total.live, 40));
	cr_expect(eq(i64, growth_since_start(&growth.total), 0));
	free(rows);
	growth_free(&growth);
}

Test(growth, functions_come_and_go)
{
	struct growth growth = {0};
	const struct growth_row **rows;
	size_t count;

	ADD(&growth, OF("gone", 50, 50), OF("stays", 100, 100));
	ADD(&growth, OF("stays", 130, 130), OF("comes", 70, 70));
	ADD(&growth, OF("comes", 60, 60), OF("stays", 150, 150), OF("new", 5, 5));
	rows = growth_sort(&growth, GROWTH_BY_LIVE, &count);
	cr_assert(eq(sz, count, 4));
	expect_row(rows[0], "stays", 150, 20, 50);
	expect_row(rows[1], "comes", 60, -10, 60);
	expect_row(rows[2], "new", 5, 5, 5);
	expect_row(rows[3], "gone", 0, 0, -50);
	free(rows);
	rows = growth_sort(&growth, GROWTH_BY_CHANGE, &count);
	cr_assert(eq(sz, count, 4));
	expect_row(rows[0], "comes", 60, -10, 60);
	expect_row(rows[1], "stays", 150, 20, 50);
	expect_row(rows[2], "new", 5, 5, 5);
	expect_row(rows[3], "gone", 0, 0, -50);
	cr_expect(eq(i64, growth.total.live, 215));
	cr_expect(eq(i64, growth_since_previous(&growth.total), 15));
	cr_expect(eq(i64, growth_since_start(&growth.total), 65));
	free(rows);
	growth_free(&growth);
}

Test(growth, what_came_and_went_is_not_shown)
{
	struct growth growth = {0};
	size_t count;

	growth_add(&growth, &(struct profile_view){0}, false);
	ADD(&growth, OF("short", 9, 9));
	growth_add(&growth, &(struct profile_view){0}, false);
	free(growth_sort(&growth, GROWTH_BY_LIVE, &count));
	cr_expect(eq(sz, count, 0));
	growth_free(&growth);
}

Test(growth, cumulative)
{
	struct view_row functions[] = {OF("leaf", 7, 7), OF("main", 0, 7)};
	struct growth growth = {0};
	const struct growth_row **rows;
	size_t count;

	add(&growth, true, functions, 2);
	rows = growth_sort(&growth, GROWTH_BY_LIVE, &count);
	cr_assert(eq(sz, count, 2));
	expect_row(rows[0], "leaf", 7, 0, 0);
	expect_row(rows[1], "main", 7, 0, 0);
	free(rows);
	growth_free(&growth);
}
