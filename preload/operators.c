/* operators.c - C++'s operator new and delete, exported from C under their mangled names: the hot half.
 *
 * A program may replace the basic forms, and then expects the others (arrays, nothrow, sized) to end in its own: so those step aside for
 * libstdc++'s definitions, or the program's, when operators_init has found a replacement. */
#include "preload/operators.h"

#include "core/atomic.h"
#include "preload/early.h"
#include "preload/jemalloc.h"
#include "preload/message.h"
#include "preload/profiler.h"
#include "preload/sampled.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

/* The program's own basic forms, when it has any; set at load. */
static bool replaced;
static void (*program_delete)(void *ptr);
static void (*program_delete_aligned)(void *ptr, size_t alignment);

/* The definition of an operator that would be used without us, or NULL. */
static void *next_definition(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	void *library;

	if (found != NULL)
		return found;
	/* A C program that has opened a C++ plugin: libstdc++ is there, but not in the global scope. */
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	return library == NULL ? NULL : dlsym(library, name);
}

static void *next_new(const char *name)
{
	void *found = next_definition(name);

	if (found == NULL) {
		message_line("operator new failed, and there is no libstdc++ to throw std::bad_alloc");
		abort();
	}
	return found;
}

/* The program's definition of a basic form; NULL when it uses ours. */
static void *replacement(const char *name, const void *ours)
{
	void *used = dlsym(RTLD_DEFAULT, name);

	if (used == NULL || used == ours)
		return NULL;
	replaced = true;
	return used;
}

void operators_init(void)
{
	replacement("_Znwm", (const void *)_Znwm);
	replacement("_ZnwmSt11align_val_t", (const void *)_ZnwmSt11align_val_t);
	*(void **)&program_delete = replacement("_ZdlPv", (const void *)_ZdlPv);
	*(void **)&program_delete_aligned = replacement("_ZdlPvSt11align_val_t", (const void *)_ZdlPvSt11align_val_t);
}

/* The failing cases: libstdc++'s definition runs the new-handler, tries again, and throws or returns NULL. */
COLD static void *next_plain(const char *name, size_t size)
{
	void *(*function)(size_t) = (void *(*)(size_t))next_new(name);

	return function(size);
}

COLD static void *next_nothrow(const char *name, size_t size, const void *nothrow)
{
	void *(*function)(size_t, const void *) = (void *(*)(size_t, const void *))next_definition(name);

	return function == NULL ? NULL : function(size, nothrow);
}

COLD static void *next_aligned(const char *name, size_t size, size_t alignment)
{
	void *(*function)(size_t, size_t) = (void *(*)(size_t, size_t))next_new(name);

	return function(size, alignment);
}

COLD static void *next_aligned_nothrow(const char *name, size_t size, size_t alignment, const void *nothrow)
{
	void *(*function)(size_t, size_t, const void *) =
		(void *(*)(size_t, size_t, const void *))next_definition(name);

	return function == NULL ? NULL : function(size, alignment, nothrow);
}

static inline void *plain_new(size_t size)
{
	return judge(size) == PLAIN ? je_malloc(size) : sampled_malloc(size);
}

static inline void *aligned_new(size_t size, size_t alignment)
{
	return judge(size) == PLAIN ? je_aligned_alloc(alignment, size) : sampled_aligned(alignment, size);
}

EXPORT void *_Znwm(size_t size)
{
	void *ptr = plain_new(size);

	return likely(ptr != NULL) ? ptr : next_plain("_Znwm", size);
}

EXPORT void *_Znam(size_t size)
{
	void *ptr = unlikely(replaced) ? NULL : plain_new(size);

	return likely(ptr != NULL) ? ptr : next_plain("_Znam", size);
}

EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow)
{
	void *ptr = unlikely(replaced) ? NULL : plain_new(size);

	return likely(ptr != NULL) ? ptr : next_nothrow("_ZnwmRKSt9nothrow_t", size, nothrow);
}

EXPORT void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow)
{
	void *ptr = unlikely(replaced) ? NULL : plain_new(size);

	return likely(ptr != NULL) ? ptr : next_nothrow("_ZnamRKSt9nothrow_t", size, nothrow);
}

EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t alignment)
{
	void *ptr = aligned_new(size, alignment);

	return likely(ptr != NULL) ? ptr : next_aligned("_ZnwmSt11align_val_t", size, alignment);
}

EXPORT void *_ZnamSt11align_val_t(size_t size, size_t alignment)
{
	void *ptr = unlikely(replaced) ? NULL : aligned_new(size, alignment);

	return likely(ptr != NULL) ? ptr : next_aligned("_ZnamSt11align_val_t", size, alignment);
}

EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow)
{
	void *ptr = unlikely(replaced) ? NULL : aligned_new(size, alignment);

	return likely(ptr != NULL)
		       ? ptr
		       : next_aligned_nothrow("_ZnwmSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow);
}

EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow)
{
	void *ptr = unlikely(replaced) ? NULL : aligned_new(size, alignment);

	return likely(ptr != NULL)
		       ? ptr
		       : next_aligned_nothrow("_ZnamSt11align_val_tRKSt9nothrow_t", size, alignment, nothrow);
}

static inline void plain_delete(void *ptr)
{
	if (unlikely(profiler_may_be_sampled(ptr)))
		sampled_free(ptr);
	else
		je_free(ptr);
}

static inline void sized_delete(void *ptr, size_t size, size_t alignment)
{
	if (unlikely(profiler_may_be_sampled(ptr)))
		sampled_free_sized(ptr, size, alignment);
	else
		je_sdallocx(ptr, size, JE_ALIGN(alignment));
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
	if (unlikely(program_delete != NULL))
		program_delete(ptr);
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
	if (unlikely(program_delete != NULL))
		program_delete(ptr);
	else
		sized_delete(ptr, size, 1);
}

EXPORT void _ZdaPvm(void *ptr, size_t size)
{
	_ZdlPvm(ptr, size);
}

EXPORT void _ZdaPvSt11align_val_t(void *ptr, size_t alignment)
{
	if (unlikely(program_delete_aligned != NULL))
		program_delete_aligned(ptr, alignment);
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
	if (unlikely(program_delete_aligned != NULL))
		program_delete_aligned(ptr, alignment);
	else
		sized_delete(ptr, size, alignment);
}

EXPORT void _ZdaPvmSt11align_val_t(void *ptr, size_t size, size_t alignment)
{
	_ZdlPvmSt11align_val_t(ptr, size, alignment);
}
