/* walk.h - steps from frame to frame by unwind rules. */
#ifndef MPROF_CORE_WALK_H
#define MPROF_CORE_WALK_H

#include "core/bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a walk is: the registers of one frame. */
struct walk {
	uintptr_t pc, sp, bp;
	bool interrupted; /* pc is the very instruction a signal interrupted, not a return address */
	struct bounds bounds;
};

/* Go to the caller by a packed rule (core/rules.h). False when that is not possible: the outermost frame, or words that are not in
 * the bounds. RULE_NONE takes one frame-pointer step if everything about it is plausible.
 * Never reads outside walk->bounds. Context: pure but for those reads, and bounds_of after a signal frame. */
bool walk_step(struct walk *walk, uint64_t packed);

/* Addresses below the minimum are never code: the first page is not mapped, and small numbers are what garbage is made of. */
#define WALK_CODE_MIN ((uintptr_t)4096)
#define WALK_CODE_LIMIT ((uintptr_t)1 << 47)

static inline bool walk_plausible_code(uintptr_t address)
{
	return address >= WALK_CODE_MIN && address < WALK_CODE_LIMIT;
}

/* The address to look a frame's rule and names up by: inside the call instruction, or the interrupted one. */
static inline uintptr_t walk_lookup_address(const struct walk *walk)
{
	return walk->interrupted ? walk->pc : walk->pc - 1;
}

#endif
