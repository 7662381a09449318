/* call_tree.c - stacks merged into a call tree.
 *
 * The stacks are sorted by their frames first: then each one shares with the one before it a path from the root, and only what follows is
 * new. No look-up is needed, and a node with ten thousand children costs no more than one with two. */
#include "tools/call_tree.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

static int by_frames(const void *a, const void *b)
{
	return stacks_compare(*(const struct stack *const *)a, *(const struct stack *const *)b, false);
}

static int by_frames_inverted(const void *a, const void *b)
{
	return stacks_compare(*(const struct stack *const *)a, *(const struct stack *const *)b, true);
}

/* Make room for as many nodes more as a stack may need. */
static void reserve(struct call_tree *tree, size_t more)
{
	if (tree->count + more <= tree->cap)
		return;
	tree->cap = (tree->count + more) * 2;
	tree->nodes = xrealloc(tree->nodes, tree->cap * sizeof *tree->nodes);
	tree->sums = xrealloc(tree->sums, tree->cap * tree->measure_count * sizeof *tree->sums);
}

static uint32_t add_node(struct call_tree *tree, uint32_t row, uint32_t parent)
{
	uint32_t node = (uint32_t)tree->count++;

	tree->nodes[node] = (struct call_tree_node){row, parent, CALL_TREE_NONE, CALL_TREE_NONE};
	memset(&tree->sums[node * tree->measure_count], 0, tree->measure_count * sizeof *tree->sums);
	if (parent != CALL_TREE_NONE) {
		tree->nodes[node].next_sibling = tree->nodes[parent].first_child;
		tree->nodes[parent].first_child = node;
	}
	return node;
}

/* Add a stack's values where it ends; they move up in the end. */
static void add_stack(struct call_tree *tree, const struct stack *stack, const struct measure *measures, uint32_t end)
{
	for (size_t i = 0; i < tree->measure_count; i++) {
		struct estimated value = measure_stack(&measures[i], stack);

		measure_add(&tree->sums[end * tree->measure_count + i], &value);
	}
}

static void move_up(struct call_tree *tree)
{
	for (size_t node = tree->count - 1; node > 0; node--)
		for (size_t i = 0; i < tree->measure_count; i++)
			measure_add(&tree->sums[tree->nodes[node].parent * tree->measure_count + i],
				    &tree->sums[node * tree->measure_count + i]);
}

void call_tree_init(struct call_tree *tree, const struct stacks *stacks, const struct measure *measures,
		    size_t measure_count, bool inverted)
{
	const struct stack **sorted = xcalloc(stacks->count + 1, sizeof *sorted);
	uint32_t *path = NULL; /* path[i]: the node at level i of the stack before; the root is not in it */
	uint32_t path_cap = 0, path_depth = 0;

	*tree = (struct call_tree){.measure_count = measure_count};
	reserve(tree, 1);
	add_node(tree, CALL_TREE_NONE, CALL_TREE_NONE);
	for (size_t i = 0; i < stacks->count; i++)
		sorted[i] = &stacks->list[i];
	qsort(sorted, stacks->count, sizeof *sorted, inverted ? by_frames_inverted : by_frames);
	for (size_t i = 0; i < stacks->count; i++) {
		const struct stack *stack = sorted[i];
		uint32_t level = 0;

		if (stack->depth > path_cap) {
			path_cap = stack->depth * 2;
			path = xrealloc(path, path_cap * sizeof *path);
		}
		reserve(tree, stack->depth);
		while (level < stack->depth && level < path_depth &&
		       tree->nodes[path[level]].row == stacks_frame(stack, level, inverted))
			level++;
		for (; level < stack->depth; level++)
			path[level] =
				add_node(tree, stacks_frame(stack, level, inverted), level > 0 ? path[level - 1] : 0);
		path_depth = stack->depth;
		add_stack(tree, stack, measures, path_depth > 0 ? path[path_depth - 1] : 0);
	}
	move_up(tree);
	free(path);
	free(sorted);
}

/* --- order -------------------------------------------------------------------------------------------------------- */

struct child {
	int64_t size;
	uint32_t node;
};

static int by_size(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static void sort_children(struct call_tree *tree, uint32_t parent, size_t measure, struct child *children)
{
	size_t count = 0;

	for (uint32_t node = tree->nodes[parent].first_child; node != CALL_TREE_NONE;
	     node = tree->nodes[node].next_sibling) {
		int64_t value = call_tree_sum(tree, node, measure)->value;

		children[count++] = (struct child){measure_magnitude(value), node};
	}
	qsort(children, count, sizeof *children, by_size);
	for (size_t i = 0; i < count; i++) {
		uint32_t *link =
			i == 0 ? &tree->nodes[parent].first_child : &tree->nodes[children[i - 1].node].next_sibling;

		*link = children[i].node;
		tree->nodes[children[i].node].next_sibling = CALL_TREE_NONE;
	}
}

void call_tree_sort(struct call_tree *tree, size_t measure)
{
	struct child *children = xcalloc(tree->count, sizeof *children);

	for (uint32_t node = 0; node < tree->count; node++)
		sort_children(tree, node, measure, children);
	free(children);
}

void call_tree_free(struct call_tree *tree)
{
	free(tree->nodes);
	free(tree->sums);
}
