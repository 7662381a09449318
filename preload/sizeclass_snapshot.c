/* sizeclass_snapshot.c - the size classes as a snapshot: each is a record with a stack of one pseudo-frame. */
#include "core/module.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "preload/sizeclass_malloc.h"

/* The frame of a class belongs to no module, and its address, which is the return address - 1, is the bound of the
 * class. */
static const uint64_t *frame_of(unsigned index)
{
	static uint64_t frames[SIZECLASS_COUNT]; /* atomic: dumps at the same time store the same values */

	store_relaxed(&frames[index], frame_make(sizeclass_bytes(index) + 1, MODULE_NONE));
	return &frames[index];
}

/* The set of classes never changes, so there is nothing to freeze. */
int snapshot_take(struct snapshot *snapshot, struct arena *scratch)
{
	(void)scratch;
	*snapshot = (struct snapshot){.head_count = SIZECLASS_COUNT};
	return 0;
}

bool snapshot_next(const struct snapshot *snapshot, struct snapshot_cursor *cursor, struct record *record)
{
	struct sizeclass_counts sums;
	unsigned index = (unsigned)cursor->head;

	if (cursor->head == snapshot->head_count)
		return false;
	cursor->head++;
	sizeclass_read(&sizeclass_malloc_table, index, &sums);
	*record = (struct record){
		.frames = frame_of(index),
		.depth = 1,
		.size = sizeclass_bytes(index),
		.rate = 1,
		.allocs = sums.allocs,
		.frees = sums.frees,
		.alloc_bytes = sums.alloc_bytes,
		.free_bytes = sums.free_bytes,
	};
	return true;
}

bool snapshot_twin(struct snapshot_cursor *cursor, struct record *record)
{
	(void)cursor;
	(void)record;
	return false; /* one rate, so no twins */
}
