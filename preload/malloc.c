/* malloc.c - the exported malloc family: the hot half, one test and a tail call each.
 *
 * The cold halves are reached by tail calls only: a captured stack leaves the library by frame pointers, which these functions have not. */
#include "preload/jemalloc.h"
#include "preload/profiler.h"
#include "preload/sampled.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define PAGE ((size_t)4096)

void cfree(void *ptr);
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t alignment, size_t size);

EXPORT void *malloc(size_t size)
{
	RETURN_JUDGED(size, je_malloc(size), sampled_malloc(size));
}

EXPORT void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(count, size, &bytes)))
		return je_calloc(count, size); /* which refuses it with ENOMEM */
	RETURN_JUDGED(bytes, je_calloc(count, size), sampled_calloc(count, size));
}

static inline void *plain_realloc(void *ptr, size_t size)
{
	void *moved = je_realloc(ptr, size);

	if (unlikely(moved == NULL)) /* jemalloc leaves it out */
		errno = ENOMEM;
	return moved;
}

EXPORT void *realloc(void *ptr, size_t size)
{
	if ((unlikely(!profiler_masks(ptr)) && unlikely(profiler_suspects(ptr))) || unlikely(size == 0))
		return sampled_realloc(ptr, size);
	RETURN_JUDGED(size, plain_realloc(ptr, size), sampled_realloc(ptr, size));
}

EXPORT void *reallocarray(void *ptr, size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(__builtin_mul_overflow(count, size, &bytes))) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(ptr, bytes);
}

EXPORT void free(void *ptr)
{
	RETURN_FILTERED(ptr, je_free(ptr), sampled_free(ptr));
}

EXPORT void cfree(void *ptr)
{
	free(ptr);
}

EXPORT void free_sized(void *ptr, size_t size)
{
	RETURN_FILTERED(ptr, je_sdallocx(ptr, size, 0), sampled_free_sized(ptr, size, 1));
}

EXPORT void free_aligned_sized(void *ptr, size_t alignment, size_t size)
{
	RETURN_FILTERED(ptr, je_sdallocx(ptr, size, JE_ALIGN(alignment)), sampled_free_sized(ptr, size, alignment));
}

static bool power_of_two(size_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static inline void *aligned(size_t alignment, size_t size)
{
	RETURN_JUDGED(size, je_aligned_alloc(alignment, size), sampled_aligned(alignment, size));
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (unlikely(!power_of_two(alignment))) { /* C17 7.22.3.1: not a valid alignment: fail */
		errno = EINVAL;
		return NULL;
	}
	return aligned(alignment, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	if (likely(power_of_two(alignment)))
		return aligned(alignment, size);
	if (alignment > SIZE_MAX / 2 + 1) {
		errno = EINVAL;
		return NULL;
	}
	/* As glibc: round up. */
	return aligned(alignment == 0 ? 1 : (size_t)1 << (64 - __builtin_clzl(alignment)), size);
}

EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
	if (unlikely(!power_of_two(alignment) || alignment < sizeof(void *)))
		return EINVAL;
	RETURN_JUDGED(size, je_posix_memalign(result, alignment, size),
		      sampled_posix_memalign(result, alignment, size));
}

EXPORT void *valloc(size_t size)
{
	return aligned(PAGE, size);
}

EXPORT void *pvalloc(size_t size)
{
	size_t rounded;

	if (unlikely(__builtin_add_overflow(size, PAGE - 1, &rounded))) {
		errno = ENOMEM;
		return NULL;
	}
	rounded &= ~(PAGE - 1);
	return aligned(PAGE, rounded == 0 ? PAGE : rounded);
}

EXPORT size_t malloc_usable_size(void *ptr)
{
	RETURN_FILTERED(ptr, je_malloc_usable_size(ptr), sampled_usable_size(ptr));
}
