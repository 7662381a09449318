/* early.c - memory for allocations made before the loader has relocated this library. */
#include "preload/early.h"

#include "core/atomic.h"
#include "preload/profiler.h"

#include <stdint.h>

#define PAGE 4096UL
#define PAGES 64U

static char area[PAGES * PAGE] __attribute__((aligned(4096)));
static unsigned pages_used;   /* single-threaded: no thread exists before relocation is over */
static unsigned sizes[PAGES]; /* bytes asked for, by the block's first page */

/* Points to itself once relocated; the link editor leaves a relative relocation here. */
static const void *const volatile self = (const void *)&self;

bool early_phase(void)
{
	int64_t not_relocated = PROFILER_NOT_RELOCATED;

	if (self != (const void *)&self)
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
	return (void *)start;
}

bool early_owns(const void *ptr)
{
	return (uintptr_t)ptr - (uintptr_t)area < sizeof(area);
}

size_t early_size(const void *ptr)
{
	return sizes[((uintptr_t)ptr - (uintptr_t)area) / PAGE];
}
