/* early.c - memory for allocations made before the loader has finished relocating. */
#include "preload/early.h"

#include "core/atomic.h"
#include "core/live.h"
#include "preload/profiler.h"

#include <stdint.h>

#define PAGE 4096UL
#define PAGES 64U

static char area[PAGES * PAGE] __attribute__((aligned(4096)));
static unsigned pages_used;   /* single-threaded: no thread exists before relocation is over */
static unsigned sizes[PAGES]; /* bytes asked for, by the block's first page */

/* Points to itself once relocated; the link editor leaves a relative relocation here. */
static const void *const volatile self = (const void *)&self;

/* The loader copies the initial values of thread-local storage when it has relocated everything: until then this is 0, and
 * jemalloc's thread state, which is not valid as zeros, would be overwritten later. */
static __thread volatile bool storage_ready = true;

bool early_phase(void)
{
	int64_t not_relocated = PROFILER_NOT_RELOCATED;

	if (self != (const void *)&self || !storage_ready)
		return true;
	cas_relaxed(&profiler_rate, &not_relocated, PROFILER_OFF);
	return false;
}

void *early_alloc(size_t alignment, size_t size)
{
	uintptr_t next = (uintptr_t)area + pages_used * PAGE;
	uintptr_t start = (next + alignment - 1) & ~(alignment - 1);
	uintptr_t end = (uintptr_t)area + sizeof(area);

	if (start >= end || size > end - start)
		return NULL;
	pages_used = (unsigned)((start + size + PAGE - 1 - (uintptr_t)area) / PAGE);
	if (size == 0)
		pages_used++;
	sizes[(start - (uintptr_t)area) / PAGE] = (unsigned)size;
	live_mark(start);
	return (void *)start;
}

bool early_used(void)
{
	return pages_used != 0;
}

bool early_owns(const void *ptr)
{
	return (uintptr_t)ptr - (uintptr_t)area < sizeof(area);
}

size_t early_size(const void *ptr)
{
	return sizes[((uintptr_t)ptr - (uintptr_t)area) / PAGE];
}

void *early_move(const void *old, void *ptr, size_t size)
{
	const char *from = old;
	volatile char *to = ptr; /* volatile: a loop recognized as memcpy would go through the unrelocated PLT */
	size_t n = early_size(old) < size ? early_size(old) : size;

	for (size_t i = 0; ptr != NULL && i < n; i++)
		to[i] = from[i];
	return ptr;
}
