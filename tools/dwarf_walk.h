/* dwarf_walk.h - one walk through the tree of a unit: which functions and inlined copies hold the wanted addresses. */
#ifndef MPROF_TOOLS_DWARF_WALK_H
#define MPROF_TOOLS_DWARF_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, or an inlined copy of one, that holds a wanted address. */
struct dwarf_walk_node {
	Dwarf_Die die;
	uint32_t parent; /* node that a copy was inlined into; 0 = none, it is a function */
};

struct dwarf_walk {
	struct dwarf_walk_node *nodes; /* nodes[0] is not used */
	uint32_t *innermost;	       /* by wanted address: a node; 0 = in no function */

	/* What the walk itself needs. */
	uint32_t node_count, node_cap;
	Dwarf_Addr lowest;
	const Dwarf_Addr *addresses;
	const size_t *wanted;
	size_t count, missing;	  /* wanted addresses, and those that no function was found for yet */
	const unsigned char *end; /* of the unit */
	bool everywhere;
	unsigned depth;
};

/* Walk through the unit. Wanted are addresses[wanted[0..count)], which are sorted. `everywhere`: look for functions inside classes and inside
 * other functions too, not only in namespaces. The walk ends as soon as each address has its function.
 * Context: the process ends when memory does. */
void dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit, Dwarf_Addr lowest, const Dwarf_Addr *addresses,
		     const size_t *wanted, size_t count, bool everywhere);
void dwarf_walk_free(struct dwarf_walk *walk);

#endif
