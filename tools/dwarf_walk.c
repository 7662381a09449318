/* dwarf_walk.c - one walk through the tree of a unit.
 *
 * DIEs lie one behind the other, children behind their parent. dwarf_siblingof reads all children of a DIE to find where they end, unless
 * the compiler left a shortcut (DW_AT_sibling; gcc does, clang and rustc do not). So that a tree is not read again at each level, the end
 * of what was walked is passed upwards: the next sibling is there. */
#include "tools/dwarf_walk.h"

#include <dwarf.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>

#define DEPTH_MAX 256 /* of nested blocks; a broken file may have any */

/* Position among the wanted addresses of the first from `start` on. */
static size_t first_from(const struct dwarf_walk *walk, Dwarf_Addr start)
{
	size_t low = 0, high = walk->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->addresses[walk->wanted[middle]] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What the ranges of a DIE say. */
enum coverage { NO_RANGES, NOT_WANTED, WANTED };

/* Do they hold a wanted address? If there is a node, claim all that they hold for it. */
static enum coverage cover(struct dwarf_walk *walk, Dwarf_Die *die, uint32_t node)
{
	enum coverage coverage = NO_RANGES;
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		if (coverage == NO_RANGES)
			coverage = NOT_WANTED;
		if (start < walk->lowest)
			continue;
		for (size_t i = first_from(walk, start); i < walk->count && walk->addresses[walk->wanted[i]] < end;
		     i++) {
			coverage = WANTED;
			if (node == 0)
				break;
			walk->missing -= walk->innermost[i] == 0;
			walk->innermost[i] = node;
		}
	}
	return coverage;
}

static uint32_t new_node(struct dwarf_walk *walk, const Dwarf_Die *die, uint32_t parent)
{
	if (walk->node_count == walk->node_cap) {
		walk->node_cap *= 2;
		walk->nodes = xrealloc(walk->nodes, walk->node_cap * sizeof *walk->nodes);
	}
	walk->nodes[walk->node_count] = (struct dwarf_walk_node){*die, parent};
	return walk->node_count++;
}

static const unsigned char *walk_children(struct dwarf_walk *walk, Dwarf_Die *parent, uint32_t node);

/* A function or inlined copy: its children matter when it holds a wanted address. */
static const unsigned char *visit_function(struct dwarf_walk *walk, Dwarf_Die *die, uint32_t parent)
{
	uint32_t node = new_node(walk, die, parent);

	if (cover(walk, die, node) == WANTED)
		return walk_children(walk, die, node);
	walk->node_count--;
	return walk->everywhere ? walk_children(walk, die, 0) : NULL;
}

/* One DIE, in the function `node` (0: in none). Returns where its children end, NULL when they were not walked. */
static const unsigned char *visit(struct dwarf_walk *walk, Dwarf_Die *die, uint32_t node)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		return visit_function(walk, die, 0);
	case DW_TAG_inlined_subroutine:
		return visit_function(walk, die, node);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (!walk->everywhere && cover(walk, die, 0) == NOT_WANTED)
			return NULL;
		return walk_children(walk, die, node);
	case DW_TAG_namespace:
	case DW_TAG_module:
		return walk_children(walk, die, 0);
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return walk->everywhere ? walk_children(walk, die, 0) : NULL;
	default:
		return NULL;
	}
}

/* Go to the next sibling, given where the children end, if that is known. Returns 0; 1 when this was the last one, and where the list of
 * them ends (NULL: not known); -1 when the file is broken. */
static int next_sibling(const struct dwarf_walk *walk, Dwarf_Die *die, const unsigned char *children_end,
			const unsigned char **end)
{
	Dwarf_Die next;
	int status;

	*end = NULL;
	if (children_end == NULL) {
		next.addr = NULL;
		status = dwarf_siblingof(die, &next);
		/* At the end libdw leaves the place of the terminating zero. */
		if (status == 1 && next.addr != NULL)
			*end = (const unsigned char *)next.addr + 1;
		if (status == 0 && (unsigned char *)next.addr <= (unsigned char *)die->addr)
			return -1; /* no circles */
		*die = next;
		return status;
	}
	if (children_end >= walk->end)
		return -1;
	if (*children_end == 0) {
		*end = children_end + 1;
		return 1;
	}
	*die = (Dwarf_Die){.addr = (void *)(uintptr_t)children_end, .cu = die->cu};
	return 0;
}

/* Returns where the children end; NULL when that is not known: there are none, or not all were needed. */
static const unsigned char *walk_children(struct dwarf_walk *walk, Dwarf_Die *parent, uint32_t node)
{
	const unsigned char *end = NULL;
	Dwarf_Die child;
	int status;

	if (walk->depth == DEPTH_MAX || dwarf_child(parent, &child) != 0)
		return NULL;
	walk->depth++;
	do {
		const unsigned char *children_end = visit(walk, &child, node);

		status = next_sibling(walk, &child, children_end, &end);
	} while (status == 0 && (node != 0 || walk->missing > 0));
	walk->depth--;
	return status == 1 ? end : NULL;
}

/* Where the unit of this DIE ends in memory; NULL when the file is broken. */
static const unsigned char *unit_end(Dwarf_Die *unit)
{
	Dwarf_Off at = dwarf_dieoffset(unit), start = at - dwarf_cuoffset(unit), next;

	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), start, &next, NULL, NULL, NULL, NULL, NULL, NULL, NULL) != 0)
		return NULL;
	return (const unsigned char *)unit->addr + (next - at);
}

void dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit, Dwarf_Addr lowest, const Dwarf_Addr *addresses,
		     const size_t *wanted, size_t count, bool everywhere)
{
	*walk = (struct dwarf_walk){
		.nodes = xcalloc(64, sizeof *walk->nodes),
		.innermost = xcalloc(count, sizeof *walk->innermost),
		.node_count = 1,
		.node_cap = 64,
		.lowest = lowest,
		.addresses = addresses,
		.wanted = wanted,
		.count = count,
		.missing = count,
		.end = unit_end(unit),
		.everywhere = everywhere,
	};
	if (walk->end != NULL)
		walk_children(walk, unit, 0);
}

void dwarf_walk_free(struct dwarf_walk *walk)
{
	free(walk->nodes);
	free(walk->innermost);
}
