/* arena.c - the profiler's own memory: bump allocation from reserved address space, never from the heap. */
#include "core/arena.h"

#include "core/atomic.h"
#include "core/sys.h"

#include <errno.h>

#define COMMIT_STEP ((size_t)1 << 20)

int arena_init(struct arena *arena, size_t limit_bytes)
{
	size_t limit = (limit_bytes + COMMIT_STEP - 1) & ~(COMMIT_STEP - 1);

	*arena = (struct arena){0};
	for (; limit >= COMMIT_STEP; limit = (limit / 2) & ~(COMMIT_STEP - 1)) {
		void *base = sys_reserve(limit);

		if (base != NULL) {
			arena->base = (uintptr_t)base;
			arena->limit_bytes = limit;
			return 0;
		}
	}
	return -ENOMEM;
}

/* Make [base, base + end) accessible. Threads may race here: committing the same pages twice is harmless. */
static bool commit(struct arena *arena, size_t end)
{
	/* Acquire: pairs with the cas_release below, so that the pages are accessible here too. */
	size_t committed = load_acquire(&arena->committed_bytes);
	size_t target = (end + COMMIT_STEP - 1) & ~(COMMIT_STEP - 1);

	if (end <= committed)
		return true;
	if (sys_commit((void *)(arena->base + committed), target - committed) < 0)
		return false;
	while (committed < target && !cas_release(&arena->committed_bytes, &committed, target)) {
	}
	return true;
}

void *arena_alloc_below(struct arena *arena, size_t bytes, size_t align, size_t limit_bytes)
{
	/* Relaxed: the offset only divides the space up; what is put there is published by its owner. */
	size_t used = load_relaxed(&arena->used_bytes);
	size_t limit = limit_bytes < arena->limit_bytes ? limit_bytes : arena->limit_bytes;
	size_t start;

	do {
		start = (used + align - 1) & ~(align - 1);
		if (start > limit || bytes > limit - start)
			return NULL;
	} while (!cas_relaxed(&arena->used_bytes, &used, start + bytes));
	return commit(arena, start + bytes) ? (void *)(arena->base + start) : NULL;
}

void *arena_alloc(struct arena *arena, size_t bytes, size_t align)
{
	return arena_alloc_below(arena, bytes, align, arena->limit_bytes);
}

size_t arena_used(const struct arena *arena)
{
	return load_relaxed(&arena->used_bytes); /* a statistic: any recent value will do */
}

void arena_destroy(struct arena *arena)
{
	if (arena->base != 0)
		sys_unmap((void *)arena->base, arena->limit_bytes);
	*arena = (struct arena){0};
}
