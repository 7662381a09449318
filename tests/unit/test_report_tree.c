/* test_report_tree.c - what is kept of a call tree, and what becomes of the rest. */
#include "tools/report_tree.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MEASURES 2

/* A tree of nodes {parent, first value, second value} by number; the row of a node is its number. */
struct made {
	uint32_t parent;
	int64_t values[MEASURES];
};

static struct call_tree tree_of(const struct made *made, size_t count, struct call_tree_node *nodes,
				struct estimated *sums)
{
	for (size_t i = 0; i < count; i++) {
		nodes[i] =
			(struct call_tree_node){.row = i == 0 ? CALL_TREE_NONE : (uint32_t)i, .parent = made[i].parent};
		for (size_t m = 0; m < MEASURES; m++)
			sums[i * MEASURES + m] =
				(struct estimated){made[i].values[m], {.variance = (double)made[i].values[m]}};
	}
	return (struct call_tree){.nodes = nodes, .count = count, .sums = sums, .measure_count = MEASURES};
}

static void expect_node(const struct report_tree *small, size_t number, uint32_t row, uint32_t parent, int64_t first,
			int64_t second)
{
	const struct report_node *node = &small->nodes[number];

	cr_expect(eq(u32, node->row, row), "node %zu", number);
	cr_expect(eq(u32, node->parent, parent), "node %zu", number);
	cr_expect(eq(i64, node->sums[0].value, first), "node %zu", number);
	cr_expect(eq(i64, node->sums[1].value, second), "node %zu", number);
	cr_expect(eq(dbl, node->sums[0].error.variance, (double)first), "node %zu", number);
}

/* 4 and 5 are below 1; 6 below 4; 3 counts in the second measure alone; 7 nowhere. */
static const struct made example[] = {
	{CALL_TREE_NONE, {100, 10}},
	{0, {90, 1}},
	{0, {10, 0}},
	{0, {0, 9}},
	{1, {60, 1}},
	{1, {30, 0}},
	{4, {5, 0}},
	{1, {0, 0}},
};
#define COUNT (sizeof example / sizeof *example)

static struct report_tree keep(size_t most, struct call_tree_node *nodes, struct estimated *sums)
{
	struct call_tree tree = tree_of(example, COUNT, nodes, sums);
	struct report_tree small;

	report_tree_init(&small, &tree, most);
	return small;
}

Test(report_tree, keeps_all_that_counts_when_there_is_room)
{
	struct call_tree_node nodes[COUNT];
	struct estimated sums[COUNT * MEASURES];
	struct report_tree small = keep(100, nodes, sums);

	cr_assert(eq(sz, small.count, COUNT - 1));
	cr_expect(eq(sz, small.omitted, 0));
	for (uint32_t i = 1; i < small.count; i++)
		expect_node(&small, i, i, example[i].parent, example[i].values[0], example[i].values[1]);
	report_tree_free(&small);
}

Test(report_tree, merges_the_smallest_into_a_child_of_their_own)
{
	struct call_tree_node nodes[COUNT];
	struct estimated sums[COUNT * MEASURES];
	struct report_tree small = keep(4, nodes, sums); /* the root, 1 and 3 with 0.9, 4 with 0.6 */

	cr_assert(eq(sz, small.count, 7));
	cr_expect(eq(sz, small.omitted, 3));
	expect_node(&small, 0, CALL_TREE_NONE, CALL_TREE_NONE, 100, 10);
	expect_node(&small, 1, 1, 0, 90, 1);
	expect_node(&small, 2, 3, 0, 0, 9);
	expect_node(&small, 3, 4, 1, 60, 1);
	expect_node(&small, 4, REPORT_TREE_SMALLER, 0, 10, 0);
	expect_node(&small, 5, REPORT_TREE_SMALLER, 1, 30, 0);
	expect_node(&small, 6, REPORT_TREE_SMALLER, 3, 5, 0);
	report_tree_free(&small);
}

Test(report_tree, of_nothing_is_the_root)
{
	static const struct made empty[] = {{CALL_TREE_NONE, {0, 0}}};
	struct call_tree_node nodes[1];
	struct estimated sums[MEASURES];
	struct call_tree tree = tree_of(empty, 1, nodes, sums);
	struct report_tree small;

	report_tree_init(&small, &tree, 10);
	cr_assert(eq(sz, small.count, 1));
	expect_node(&small, 0, CALL_TREE_NONE, CALL_TREE_NONE, 0, 0);
	report_tree_free(&small);
}
