/* report_tree.c - a call tree small enough for a page. */
#include "tools/report_tree.h"

#include <libiberty/libiberty.h>
#include <math.h>
#include <stdlib.h>

struct weighed {
	double weight; /* the largest part of the total that the node, or one below it, is in any measure */
	uint32_t node;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* No node outweighs its parent, and parents come first: so the heaviest nodes are a tree. */
static struct weighed *weigh(const struct call_tree *tree)
{
	struct weighed *weighed = xcalloc(tree->count, sizeof *weighed);

	for (uint32_t node = (uint32_t)tree->count; node-- > 0;) {
		double *weight = &weighed[node].weight;

		weighed[node].node = node;
		for (size_t i = 0; i < tree->measure_count; i++) {
			double total = fabs((double)call_tree_sum(tree, 0, i)->value);

			*weight = fmax(*weight, fabs((double)call_tree_sum(tree, node, i)->value) / fmax(total, 1));
		}
		if (node > 0 && *weight > weighed[tree->nodes[node].parent].weight)
			weighed[tree->nodes[node].parent].weight = *weight;
	}
	qsort(weighed, tree->count, sizeof *weighed, by_weight);
	return weighed;
}

/* Give the nodes that stay their numbers in the small tree, in the same order; 0 for the others. Those that are zero in every measure are
 * not missed. */
static uint32_t *choose(struct report_tree *small, const struct call_tree *tree, size_t most)
{
	struct weighed *weighed = weigh(tree);
	uint32_t *number = xcalloc(tree->count, sizeof *number);

	for (size_t i = 0; i < tree->count && weighed[i].weight > 0; i++) {
		if (i < most)
			number[weighed[i].node] = 1;
		else
			small->omitted++;
	}
	small->count = 1;
	for (uint32_t node = 1; node < tree->count; node++)
		if (number[node] != 0)
			number[node] = (uint32_t)small->count++;
	number[0] = 0;
	free(weighed);
	return number;
}

static void copy_kept(struct report_tree *small, const struct call_tree *tree, const uint32_t *number)
{
	for (uint32_t node = 0; node < tree->count; node++) {
		uint32_t parent = tree->nodes[node].parent;

		if (node == 0 || number[node] != 0)
			small->nodes[number[node]] =
				(struct report_node){tree->nodes[node].row, node == 0 ? CALL_TREE_NONE : number[parent],
						     &tree->sums[node * tree->measure_count]};
	}
}

/* Add up what is left out below each node that stays: the children that do not, with all below them. */
static void merge_others(struct report_tree *small, const struct call_tree *tree, const uint32_t *number)
{
	uint32_t *merged = xcalloc(small->count, sizeof *merged); /* by parent; 0 = nothing is left out there */

	small->merged = xcalloc(small->count * tree->measure_count, sizeof *small->merged);
	for (uint32_t node = 1; node < tree->count && small->omitted > 0; node++) {
		uint32_t above = tree->nodes[node].parent, parent = number[above];

		if (number[node] != 0 || (above != 0 && parent == 0))
			continue;
		if (merged[parent] == 0) {
			merged[parent] = (uint32_t)small->count++;
			small->nodes[merged[parent]] = (struct report_node){
				REPORT_TREE_SMALLER, parent, &small->merged[parent * tree->measure_count]};
		}
		for (size_t i = 0; i < tree->measure_count; i++)
			measure_add(&small->merged[parent * tree->measure_count + i], call_tree_sum(tree, node, i));
	}
	free(merged);
}

void report_tree_init(struct report_tree *small, const struct call_tree *tree, size_t most)
{
	uint32_t *number;

	*small = (struct report_tree){0};
	number = choose(small, tree, most);
	small->nodes = xcalloc(small->count * 2, sizeof *small->nodes); /* each may get a child for the others */
	copy_kept(small, tree, number);
	merge_others(small, tree, number);
	free(number);
}

void report_tree_free(struct report_tree *small)
{
	free(small->nodes);
	free(small->merged);
}
