/* sizeclass_malloc.c - the half of the allocator that counts: all allocations and frees pass through here. */
#include "preload/sizeclass_malloc.h"

#include "preload/early.h"
#include "preload/jemalloc.h"
#include "preload/profiler.h"
#include "preload/sampled.h"

#include <errno.h>

struct sizeclass_table sizeclass_malloc_table;

/* This thread's address, for its shard. */
static inline uintptr_t thread_address(void)
{
	return (uintptr_t)&profiler_thread;
}

/* Count a block that jemalloc has made, or has failed to make. */
static inline void *counted(void *ptr)
{
	if (likely(ptr != NULL))
		sizeclass_count_alloc(&sizeclass_malloc_table, thread_address(), je_malloc_usable_size(ptr));
	return ptr;
}

static inline void count_free(size_t usable_size)
{
	sizeclass_count_free(&sizeclass_malloc_table, thread_address(), usable_size);
}

/* Whether the library is not relocated yet, so that the block must come from preload/early.h. */
static inline bool is_early(void)
{
	/* Relaxed: no thread exists before the value has changed for good. */
	return unlikely(load_relaxed(&profiler_rate) == PROFILER_NOT_RELOCATED) && early_phase();
}

void *sampled_malloc(size_t size)
{
	return is_early() ? early_alloc(1, size) : counted(je_malloc(size));
}

void *sampled_calloc(size_t count, size_t size)
{
	return is_early() ? early_alloc(1, count * size) : counted(je_calloc(count, size));
}

void *sampled_aligned(size_t alignment, size_t size)
{
	return is_early() ? early_alloc(alignment, size) : counted(je_aligned_alloc(alignment, size));
}

void *sampled_realloc(void *old, size_t size)
{
	size_t old_usable;
	void *ptr;

	if (old == NULL)
		return sampled_malloc(size);
	if (size == 0) { /* as glibc */
		sampled_free(old);
		return NULL;
	}
	if (unlikely(early_owns(old)))
		return early_move(old, sampled_malloc(size), size);
	old_usable = je_malloc_usable_size(old);
	ptr = je_realloc(old, size);
	if (unlikely(ptr == NULL)) { /* the old block lives on */
		errno = ENOMEM;	     /* je_realloc does not say so */
		return NULL;
	}
	count_free(old_usable);
	return counted(ptr);
}

void sampled_free(void *ptr)
{
	if (ptr == NULL || unlikely(early_owns(ptr)))
		return;
	count_free(je_malloc_usable_size(ptr));
	je_free(ptr);
}

void sampled_free_sized(void *ptr, size_t size, size_t alignment)
{
	if (ptr == NULL || unlikely(early_owns(ptr)))
		return;
	count_free(je_nallocx(size == 0 ? 1 : size, JE_ALIGN(alignment)));
	je_sdallocx(ptr, size, JE_ALIGN(alignment));
}

size_t sampled_usable_size(void *ptr)
{
	if (ptr == NULL)
		return 0;
	return unlikely(early_owns(ptr)) ? early_size(ptr) : je_malloc_usable_size(ptr);
}
