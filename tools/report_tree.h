/* report_tree.h - a call tree small enough for a page: subtrees that hardly count are merged. */
#ifndef MPROF_TOOLS_REPORT_TREE_H
#define MPROF_TOOLS_REPORT_TREE_H

#include "tools/call_tree.h"

/* The row of a node that stands for several small subtrees. */
#define REPORT_TREE_SMALLER (CALL_TREE_NONE - 1)

struct report_node {
	uint32_t row;		/* CALL_TREE_NONE for the root, or REPORT_TREE_SMALLER */
	uint32_t parent;	/* an index below its own; CALL_TREE_NONE for the root */
	struct estimated *sums; /* one for each measure of the tree */
};

struct report_tree {
	struct report_node *nodes; /* the root is the first */
	size_t count;
	size_t omitted;		  /* nodes of the tree that were merged into others */
	struct estimated *merged; /* sums of the nodes that stand for others */
};

/* Keep the `most` nodes that are the largest part of the total in any measure; what is left out below a node becomes one child of it. The
 * tree must outlive the result. Ends the process when memory does. */
void report_tree_init(struct report_tree *small, const struct call_tree *tree, size_t most);

void report_tree_free(struct report_tree *small);

#endif
