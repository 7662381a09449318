/* sizeclass.h - exact counts of allocations by size class: the recorder for targets without a stack source. */
#ifndef MPROF_CORE_SIZECLASS_H
#define MPROF_CORE_SIZECLASS_H

#include "core/atomic.h"

#include <stddef.h>
#include <stdint.h>

/* Freestanding: no libc, no global state, no thread-local storage, and one source for every architecture, from a
 * microcontroller (one thread, 32-bit atomics) over WebAssembly to a server.
 *
 * Class i holds the sizes above 2^(i+3) and up to 2^(i+4) bytes; the first also what is smaller, the last also what
 * is larger. So a class is named by its upper bound, and an allocator that rounds up to size classes of its own,
 * with all powers of two among them, never moves a block to another class: it may be counted by its requested or
 * its usable size. */
#define SIZECLASS_COUNT 27U
#define SIZECLASS_MIN_LOG2 4U /* the first class is 16 bytes, the last 1 GiB */

/* Threads count in different shards, so that they do not fight for one cache line; a read adds the shards up. */
#define SIZECLASS_SHARDS_LOG2 5U
#define SIZECLASS_SHARDS (1U << SIZECLASS_SHARDS_LOG2)
#define SIZECLASS_SHARD_BYTES 128 /* two lines: processors fetch them in pairs */

/* Each only grows, modulo 2^32 where pointers have 32 bits: wider counters would need a lock there. What is in use,
 * allocs - frees, is exact even so, in objects as in bytes, because it fits the address space. Any thread adds, any
 * thread reads. */
struct sizeclass_counts {
	uintptr_t allocs;      /* atomic: objects allocated */
	uintptr_t alloc_bytes; /* atomic: of those, the sum of the sizes */
	uintptr_t frees;       /* atomic: of those objects, the ones freed */
	uintptr_t free_bytes;  /* atomic: and the sum of their sizes */
};

struct sizeclass_shard {
	struct sizeclass_counts counts;
} __attribute__((aligned(SIZECLASS_SHARD_BYTES)));

/* 108 KiB. All zero is valid and means that nothing was counted; the caller owns the memory. */
struct sizeclass_table {
	struct sizeclass_shard shards[SIZECLASS_COUNT][SIZECLASS_SHARDS];
};

_Static_assert(sizeof(struct sizeclass_shard) == SIZECLASS_SHARD_BYTES, "a shard has its lines for itself");
_Static_assert(sizeof(size_t) == sizeof(unsigned long) && sizeof(size_t) >= 4, "what the bit scan takes");

/* Largest size that a class is meant for. */
inline size_t sizeclass_bytes(unsigned index)
{
	return (size_t)1 << (index + SIZECLASS_MIN_LOG2);
}

/* The class of a size, below SIZECLASS_COUNT. */
inline unsigned sizeclass_of(size_t size)
{
	/* Of size - 1 the highest bit tells the class; 0 has no predecessor, and small sizes all have the first
	 * class. */
	size_t last = (size - (size != 0)) | (((size_t)1 << SIZECLASS_MIN_LOG2) - 1);
	unsigned bit = (unsigned)(8 * sizeof(size_t) - 1) - (unsigned)__builtin_clzl(last);
	unsigned index = bit + 1 - SIZECLASS_MIN_LOG2;

	return index < SIZECLASS_COUNT ? index : SIZECLASS_COUNT - 1;
}

/* The shard of a thread, below SIZECLASS_SHARDS. `thread` is any address that is the thread's own: of its control
 * block, its stack or a thread-local variable. */
inline unsigned sizeclass_shard_of(uintptr_t thread)
{
	/* Such addresses lie at equal distances, as stacks do: a power of two, often with a guard page more.
	 * Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) maps equal distances to equal distances; with this
	 * multiplier, found by search, no two of 16 successive threads share a shard for any distance of 2^n bytes
	 * (64 B to 16 MiB), nor of 2^n + 4 KiB or + 64 KiB (from 64 KiB on). With the usual one, 2^32 / golden
	 * ratio, two of 4 do for glibc's 8 MiB + 4 KiB. */
	return (uint32_t)(thread >> 6) * (uint32_t)0xB4B08D41 >> (32 - SIZECLASS_SHARDS_LOG2);
}

/* Count one object of `size` bytes coming or going in the thread that calls. A free must give a size of the class
 * that the allocation was counted in, and the same size if bytes in use are to be exact.
 * Context: any thread, any signal or interrupt handler; never waits. */
inline void sizeclass_count_alloc(struct sizeclass_table *table, uintptr_t thread, size_t size)
{
	struct sizeclass_counts *counts = &table->shards[sizeclass_of(size)][sizeclass_shard_of(thread)].counts;

	/* Relaxed: whoever hands the object to the thread that will free it orders these before the free. */
	add_relaxed(&counts->allocs, 1);
	add_relaxed(&counts->alloc_bytes, size);
}

inline void sizeclass_count_free(struct sizeclass_table *table, uintptr_t thread, size_t size)
{
	struct sizeclass_counts *counts = &table->shards[sizeclass_of(size)][sizeclass_shard_of(thread)].counts;

	/* Pair with the load_acquire in sizeclass_read: who sees a free sees its allocation. */
	add_release(&counts->frees, 1);
	add_release(&counts->free_bytes, size);
}

/* Add up the shards of a class. While threads count, the sums hold everything that happened before the call and
 * some of what happens during it; each sum is never lower than in an earlier call, and frees never exceed allocs.
 * Context: any thread, any signal or interrupt handler; stops nobody. */
void sizeclass_read(const struct sizeclass_table *table, unsigned index, struct sizeclass_counts *sums);

#endif
