/* live.h - the sampled objects that are alive: a map from address to tag. */
#ifndef MPROF_CORE_LIVE_H
#define MPROF_CORE_LIVE_H

#include "core/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* A tag is any non-zero number below 2^LIVE_TAG_BITS. */
#define LIVE_TAG_BITS 55

#define LIVE_PAGE_BITS 12 /* pages of 4,096 bytes */

/* Live objects by page, page numbers taken modulo LIVE_NEAR: pages 256 MiB apart share a number. Atomic: live_insert adds, live_remove
 * takes away, live_near reads. 32 bits cannot run over: an object in the map takes at least 9 bytes of the arena. */
#define LIVE_NEAR (1U << 16)
extern __attribute__((visibility("hidden"))) uint32_t live_counts[LIVE_NEAR];

/* False when surely no object in the address's page is in the map: one load, for the hot half of free.
 * Context: as live_insert. */
static inline bool live_near(uintptr_t address)
{
	/* Relaxed: whoever frees an object got it from the program, which ordered that itself. */
	return load_relaxed(&live_counts[(address >> LIVE_PAGE_BITS) % LIVE_NEAR]) != 0;
}

/* Let live_near be true for an address that is not in the map, for ever. */
void live_mark(uintptr_t address);

/* Where the map's memory comes from. Call once, before any other function here. */
void live_init(struct arena *arena);

/* Remember that the object at `address` (a multiple of 8) is alive. The address must not be in the map.
 * Returns 0, or -ENOMEM when the arena is full or the address is above 2^47.
 * Context: any thread, any signal handler; lock-free. Different addresses never wait for each other. */
int live_insert(uintptr_t address, uint64_t tag);

/* Forget the object and return its tag; 0 when it is not in the map. Of two threads that race for one address, one gets the tag.
 * Context: as live_insert. */
uint64_t live_remove(uintptr_t address);

/* Its tag, or 0. The object must not be freed meanwhile. Context: as live_insert. */
uint64_t live_find(uintptr_t address);

#endif
