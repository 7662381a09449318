/* call_tree.h - stacks merged into a call tree. */
#ifndef MPROF_TOOLS_CALL_TREE_H
#define MPROF_TOOLS_CALL_TREE_H

#include "tools/measure.h"
#include "tools/stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_TREE_NONE UINT32_MAX

struct call_tree_node {
	uint32_t row;				    /* CALL_TREE_NONE for the root, which stands for all stacks */
	uint32_t parent, first_child, next_sibling; /* CALL_TREE_NONE = there is none */
};

/* Nodes and, for each, its sums in several measures. */
struct call_tree {
	struct call_tree_node *nodes; /* the root is the first; parents precede their children */
	size_t count, cap;
	struct estimated *sums; /* of node n in measure m: sums[n * measure_count + m], with all below it */
	size_t measure_count;
};

/* Make the tree of all stacks: callers above callees, or inverted, from the leaves to their callers. Ends the process when memory does. */
void call_tree_init(struct call_tree *tree, const struct stacks *stacks, const struct measure *measures,
		    size_t measure_count, bool inverted);

static inline const struct estimated *call_tree_sum(const struct call_tree *tree, uint32_t node, size_t measure)
{
	return &tree->sums[node * tree->measure_count + measure];
}

/* Put the children of every node in order: the largest first, by magnitude in this measure. */
void call_tree_sort(struct call_tree *tree, size_t measure);

void call_tree_free(struct call_tree *tree);

#endif
