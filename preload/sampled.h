/* sampled.h - the cold half of the allocator: allocations to be judged, objects that may be sampled. */
#ifndef MPROF_PRELOAD_SAMPLED_H
#define MPROF_PRELOAD_SAMPLED_H

#include <stddef.h>

/* Each does what its libc namesake does, errno included, judging and recording on the way. They may be called for any allocation and
 * any pointer, sampled or not, and from the very first instruction of the process.
 * Context: any thread. */
void *sampled_malloc(size_t size);
void *sampled_calloc(size_t count, size_t size);      /* the product must not overflow */
void *sampled_aligned(size_t alignment, size_t size); /* alignment: a power of two */
int sampled_posix_memalign(void **result, size_t alignment, size_t size);
void *sampled_realloc(void *ptr, size_t size);
void sampled_free(void *ptr);
void sampled_free_sized(void *ptr, size_t size, size_t alignment); /* alignment 1 = none asked for */
size_t sampled_usable_size(void *ptr);

#endif
