/* early.h - memory for allocations made before the loader has finished relocating. */
#ifndef MPROF_PRELOAD_EARLY_H
#define MPROF_PRELOAD_EARLY_H

#include <stdbool.h>
#include <stddef.h>

/* An IFUNC resolver, called while the loader is still relocating, may call malloc: then neither thread-local storage nor
 * jemalloc can be used. Such blocks come from a small static area, zeroed, each on a page of its own that live_near knows,
 * so that free always looks closely at them, and are never given back. */

/* Whether the loader is still at it. Once it is not, sets profiler_rate from PROFILER_NOT_RELOCATED to PROFILER_OFF. */
bool early_phase(void);

/* NULL when the area is used up. */
void *early_alloc(size_t alignment, size_t size);

/* Whether there is such a block. */
bool early_used(void);

/* Whether the pointer came from early_alloc, and the usable size of one that did. */
bool early_owns(const void *ptr);
size_t early_size(const void *ptr);

/* Copy what an early block holds to its successor `ptr` of `size` bytes, and return that (NULL stays NULL). */
void *early_move(const void *old, void *ptr, size_t size);

#endif
