/* operators_slow.c - C++'s operator new and delete: the cold half, and what is left to libstdc++ or to the program. */
#include "preload/operators_slow.h"

#include "preload/message.h"
#include "preload/operators.h"
#include "preload/profiler.h"
#include "preload/sampled.h"

#include <dlfcn.h>
#include <stdlib.h>

bool operators_replaced;
void (*operators_program_delete)(void *ptr);
void (*operators_program_delete_aligned)(void *ptr, size_t alignment);

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
	operators_replaced = true;
	return used;
}

void operators_init(void)
{
	replacement("_Znwm", (const void *)_Znwm);
	replacement("_ZnwmSt11align_val_t", (const void *)_ZnwmSt11align_val_t);
	*(void **)&operators_program_delete = replacement("_ZdlPv", (const void *)_ZdlPv);
	*(void **)&operators_program_delete_aligned =
		replacement("_ZdlPvSt11align_val_t", (const void *)_ZdlPvSt11align_val_t);
}

/* The failing cases: libstdc++'s definition runs the new-handler, tries again, and throws or returns NULL. */
COLD void *operators_next_plain(const char *name, size_t size)
{
	void *(*function)(size_t) = (void *(*)(size_t))next_new(name);

	return function(size);
}

COLD void *operators_next_nothrow(const char *name, size_t size, const void *nothrow)
{
	void *(*function)(size_t, const void *) = (void *(*)(size_t, const void *))next_definition(name);

	return function == NULL ? NULL : function(size, nothrow);
}

COLD void *operators_next_aligned(const char *name, size_t size, size_t alignment)
{
	void *(*function)(size_t, size_t) = (void *(*)(size_t, size_t))next_new(name);

	return function(size, alignment);
}

COLD void *operators_next_aligned_nothrow(const char *name, size_t size, size_t alignment, const void *nothrow)
{
	void *(*function)(size_t, size_t, const void *) =
		(void *(*)(size_t, size_t, const void *))next_definition(name);

	return function == NULL ? NULL : function(size, alignment, nothrow);
}

/* The cold half of each: sampled, and then as above when that failed. */
COLD void *operators_new_slow(const char *name, size_t size)
{
	void *ptr = sampled_malloc(size);

	return likely(ptr != NULL) ? ptr : operators_next_plain(name, size);
}

COLD void *operators_new_nothrow_slow(const char *name, size_t size, const void *nothrow)
{
	void *ptr = sampled_malloc(size);

	return likely(ptr != NULL) ? ptr : operators_next_nothrow(name, size, nothrow);
}

COLD void *operators_new_aligned_slow(const char *name, size_t size, size_t alignment)
{
	void *ptr = sampled_aligned(alignment, size);

	return likely(ptr != NULL) ? ptr : operators_next_aligned(name, size, alignment);
}

COLD void *operators_new_aligned_nothrow_slow(const char *name, size_t size, size_t alignment, const void *nothrow)
{
	void *ptr = sampled_aligned(alignment, size);

	return likely(ptr != NULL) ? ptr : operators_next_aligned_nothrow(name, size, alignment, nothrow);
}
