/* operators.c - C++'s operator new and delete, exported from C under their mangled names: the hot half.
 *
 * A program may replace the basic forms, and then expects the others (arrays, nothrow, sized) to end in its own: so those step aside for
 * libstdc++'s definitions, or the program's, when operators_init has found a replacement. The cold
 * halves are reached by tail calls only, as in preload/malloc.c. */
#include "preload/operators.h"

#include "preload/jemalloc.h"
#include "preload/operators_slow.h"
#include "preload/profiler.h"
#include "preload/sampled.h"

static inline void *plain_new(const char *name, size_t size)
{
	void *ptr = je_malloc(size);

	return likely(ptr != NULL) ? ptr : operators_next_plain(name, size);
}

static inline void *plain_nothrow(const char *name, size_t size, const void *nothrow)
{
	void *ptr = je_malloc(size);

	return likely(ptr != NULL) ? ptr : operators_next_nothrow(name, size, nothrow);
}

static inline void *plain_aligned(const char *name, size_t size, size_t alignment)
{
	void *ptr = je_aligned_alloc(alignment, size);

	return likely(ptr != NULL) ? ptr : operators_next_aligned(name, size, alignment);
}

static inline void *plain_aligned_nothrow(const char *name, size_t size, size_t alignment, const void *nothrow)
{
	void *ptr = je_aligned_alloc(alignment, size);

	return likely(ptr != NULL) ? ptr : operators_next_aligned_nothrow(name, size, alignment, nothrow);
}

EXPORT void *_Znwm(size_t size)
{
	RETURN_JUDGED(size, plain_new("_Znwm", size), operators_new_slow("_Znwm", size));
}

EXPORT void *_Znam(size_t size)
{
	if (unlikely(operators_replaced))
		return operators_next_plain("_Znam", size);
	RETURN_JUDGED(size, plain_new("_Znam", size), operators_new_slow("_Znam", size));
}

EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow)
{
	if (unlikely(operators_replaced))
		return operators_next_nothrow("_ZnwmRKSt9nothrow_t", size, nothrow);
	RETURN_JUDGED(size, plain_nothrow("_ZnwmRKSt9nothrow_t", size, nothrow),
		      operators_new_nothrow_slow("_ZnwmRKSt9nothrow_t", size, nothrow));
}

EXPORT void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow)
{
	if (unlikely(operators_replaced))
		return operators_next_nothrow("_ZnamRKSt9nothrow_t", size, nothrow);
	RETURN_JUDGED(size, plain_nothrow("_ZnamRKSt9nothrow_t", size, nothrow),
		      operators_new_nothrow_slow("_ZnamRKSt9nothrow_t", size, nothrow));
}

EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t alignment)
{
	RETURN_JUDGED(size, plain_aligned("_ZnwmSt11align_val_t", size, alignment),
		      operators_new_aligned_slow("_ZnwmSt11align_val_t", size, alignment));
}

EXPORT void *_ZnamSt11align_val_t(size_t size, size_t alignment)
{
	if (unlikely(operators_replaced))
		return operators_next_aligned("_ZnamSt11align_val_t", size, alignment);
	RETURN_JUDGED(size, plain_aligned("_ZnamSt11align_val_t", size, alignment),
		      operators_new_aligned_slow("_ZnamSt11align_val_t", size, alignment));
}

EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow)
{
	if (unlikely(operators_replaced))
		return operators_next_aligned_nothrow("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow);
	RETURN_JUDGED(
		size, plain_aligned_nothrow("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow),
		operators_new_aligned_nothrow_slow("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow));
}

EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow)
{
	if (unlikely(operators_replaced))
		return operators_next_aligned_nothrow("_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow);
	RETURN_JUDGED(
		size, plain_aligned_nothrow("_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow),
		operators_new_aligned_nothrow_slow("_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow));
}

static inline void plain_delete(void *ptr)
{
	RETURN_FILTERED(ptr, je_free(ptr), sampled_free(ptr));
}

static inline void sized_delete(void *ptr, size_t size, size_t alignment)
{
	RETURN_FILTERED(ptr, je_sdallocx(ptr, size, JE_ALIGN(alignment)), sampled_free_sized(ptr, size, alignment));
}

EXPORT void _ZdlPv(void *ptr)
{
	plain_delete(ptr);
}

EXPORT void _ZdlPvSt11align_val_t(void *ptr, size_t alignment)
{
	(void)alignment;
	plain_delete(ptr);
}

EXPORT void _ZdaPv(void *ptr)
{
	if (unlikely(operators_program_delete != NULL))
		operators_program_delete(ptr);
	else
		plain_delete(ptr);
}

EXPORT void _ZdlPvRKSt9nothrow_t(void *ptr, const void *nothrow)
{
	(void)nothrow;
	_ZdaPv(ptr);
}

EXPORT void _ZdaPvRKSt9nothrow_t(void *ptr, const void *nothrow)
{
	(void)nothrow;
	_ZdaPv(ptr);
}

EXPORT void _ZdlPvm(void *ptr, size_t size)
{
	if (unlikely(operators_program_delete != NULL))
		operators_program_delete(ptr);
	else
		sized_delete(ptr, size, 1);
}

EXPORT void _ZdaPvm(void *ptr, size_t size)
{
	_ZdlPvm(ptr, size);
}

EXPORT void _ZdaPvSt11align_val_t(void *ptr, size_t alignment)
{
	if (unlikely(operators_program_delete_aligned != NULL))
		operators_program_delete_aligned(ptr, alignment);
	else
		plain_delete(ptr);
}

EXPORT void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t alignment, const void *nothrow)
{
	(void)nothrow;
	_ZdaPvSt11align_val_t(ptr, alignment);
}

EXPORT void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t alignment, const void *nothrow)
{
	(void)nothrow;
	_ZdaPvSt11align_val_t(ptr, alignment);
}

EXPORT void _ZdlPvmSt11align_val_t(void *ptr, size_t size, size_t alignment)
{
	if (unlikely(operators_program_delete_aligned != NULL))
		operators_program_delete_aligned(ptr, alignment);
	else
		sized_delete(ptr, size, alignment);
}

EXPORT void _ZdaPvmSt11align_val_t(void *ptr, size_t size, size_t alignment)
{
	_ZdlPvmSt11align_val_t(ptr, size, alignment);
}
