/* arena.h - the profiler's own memory: bump allocation from reserved address space, never from the heap. */
#ifndef MPROF_CORE_ARENA_H
#define MPROF_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An arena reserves its whole ceiling as untouchable address space and commits it in steps as it fills, so that a small
 * use costs little even under mlockall or strict overcommit. Memory is handed out zeroed and is never given back
 * singly; a scratch arena is destroyed as a whole. */
struct arena {
	uintptr_t base;		/* start of the reservation; 0 = not initialized */
	size_t limit_bytes;	/* ceiling; fixed at arena_init */
	size_t used_bytes;	/* atomic: bump offset */
	size_t committed_bytes; /* atomic: [base, base + committed) is known to be accessible */
};

/* Reserve an arena of at most limit_bytes; halves it down to 1 MiB where the system refuses that much.
 * Returns 0 or -ENOMEM (then every arena_alloc fails). */
int arena_init(struct arena *arena, size_t limit_bytes);

/* Zeroed memory, aligned to `align` (a power of two, at most 4096); NULL when the arena is full.
 * Context: any thread, any signal handler; lock-free; a system call only when a commit step is crossed. */
void *arena_alloc(struct arena *arena, size_t bytes, size_t align);

/* Like arena_alloc, but refuses to grow the use past limit_bytes: keeps a reserve for more important uses. */
void *arena_alloc_below(struct arena *arena, size_t bytes, size_t align, size_t limit_bytes);

/* Bytes handed out so far, at most limit_bytes. */
size_t arena_used(const struct arena *arena);

/* Give a scratch arena back. No other thread may use it any more. */
void arena_destroy(struct arena *arena);

#endif
