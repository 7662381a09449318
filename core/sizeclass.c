/* sizeclass.c - exact counts of allocations by size class: the recorder for targets without a stack source. */
#include "core/sizeclass.h"

/* The header's inline functions, once with an address: for callers that do not inline, and other languages. */
extern inline size_t sizeclass_bytes(unsigned index);
extern inline unsigned sizeclass_of(size_t size);
extern inline unsigned sizeclass_shard_of(uintptr_t thread);
extern inline void sizeclass_count_alloc(struct sizeclass_table *table, uintptr_t thread, size_t size);
extern inline void sizeclass_count_free(struct sizeclass_table *table, uintptr_t thread, size_t size);

void sizeclass_read(const struct sizeclass_table *table, unsigned index, struct sizeclass_counts *sums)
{
	const struct sizeclass_shard *shards = table->shards[index];
	uintptr_t allocs = 0, alloc_bytes = 0, frees = 0, free_bytes = 0;

	/* Acquire: pairs with the add_release in sizeclass_count_free: the allocations of these frees, in whatever
	 * shard, are visible to the loads of the second loop. */
	for (unsigned i = 0; i < SIZECLASS_SHARDS; i++) {
		frees += load_acquire(&shards[i].counts.frees);
		free_bytes += load_acquire(&shards[i].counts.free_bytes);
	}
	for (unsigned i = 0; i < SIZECLASS_SHARDS; i++) {
		allocs += load_relaxed(&shards[i].counts.allocs); /* relaxed: after the acquires above */
		alloc_bytes += load_relaxed(&shards[i].counts.alloc_bytes);
	}
	sums->allocs = allocs;
	sums->alloc_bytes = alloc_bytes;
	sums->frees = frees;
	sums->free_bytes = free_bytes;
}
