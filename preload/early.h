/* early.h - memory for allocations made before the loader has relocated this library. */
#ifndef MPROF_PRELOAD_EARLY_H
#define MPROF_PRELOAD_EARLY_H

#include <stdbool.h>
#include <stddef.h>

/* Another library's IFUNC resolver, or a preloaded one's, may call malloc while the loader has not got to relocate ours: then neither
 * thread-local storage nor jemalloc can be used. Such blocks come from a small static area, zeroed, each on a page of its
 * own so that free always looks closely at them, and are never given back. */

/* Whether this library is still not relocated. Once it is, sets profiler_rate from PROFILER_NOT_RELOCATED to PROFILER_OFF. */
bool early_phase(void);

/* NULL when the area is used up. */
void *early_alloc(size_t alignment, size_t size);

/* Whether the pointer came from early_alloc, and the usable size of one that did. */
bool early_owns(const void *ptr);
size_t early_size(const void *ptr);

#endif
