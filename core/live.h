/* live.h - the sampled objects that are alive: a map from address to tag. */
#ifndef MPROF_CORE_LIVE_H
#define MPROF_CORE_LIVE_H

#include <stdint.h>

struct arena;

/* A tag is any non-zero number below 2^LIVE_TAG_BITS. */
#define LIVE_TAG_BITS 55

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
