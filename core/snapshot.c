/* snapshot.c - a consistent set of buckets to read while the program goes on allocating. */
#include "core/snapshot.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/bucket.h"

#include <errno.h>

int snapshot_take(struct snapshot *snapshot, struct arena *scratch)
{
	size_t cells = bucket_head_count();
	struct bucket *const *heads = bucket_heads();

	snapshot->head_count = 0;
	snapshot->heads = arena_alloc(scratch, cells * sizeof(heads[0]), 64);
	if (snapshot->heads == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < cells; i++) {
		/* Pairs with the cas_release in bucket.c: the whole chain behind a head is complete. */
		const struct bucket *head = load_acquire(&heads[i]);

		if (head != NULL)
			snapshot->heads[snapshot->head_count++] = head;
	}
	return 0;
}

static uint64_t sum_frees(const struct bucket *bucket, const struct bucket_shard *shards)
{
	/* Acquire: pairs with the add_release in bucket_count_free: the allocations of these frees are visible to
	 * the loads that follow. */
	uint64_t sum = load_acquire(&bucket->counts.frees);

	for (unsigned i = 0; shards != NULL && i < BUCKET_SHARDS; i++)
		sum += load_acquire(&shards[i].counts.frees);
	return sum;
}

static uint64_t sum_allocs(const struct bucket *bucket)
{
	const struct bucket_shard *shards = load_acquire(&bucket->shards); /* pairs with the cas_release in spread */
	uint64_t sum = load_relaxed(&bucket->counts.allocs);		   /* relaxed: after the acquire in sum_frees */

	for (unsigned i = 0; shards != NULL && i < BUCKET_SHARDS; i++)
		sum += load_relaxed(&shards[i].counts.allocs);
	return sum;
}

static void read_bucket(const struct bucket *bucket, struct record *record)
{
	record->frames = bucket->frames;
	record->depth = bucket->depth;
	record->size = bucket->size;
	record->rate = bucket->rate;
	record->free_bytes = bucket->is_other ? load_acquire(&bucket->bytes.frees) : 0;
	record->frees = sum_frees(bucket, load_acquire(&bucket->shards));
	record->allocs = sum_allocs(bucket);
	if (bucket->is_other) {
		record->alloc_bytes = load_relaxed(&bucket->bytes.allocs); /* relaxed: after the acquire of frees */
	} else {
		record->free_bytes = record->frees * bucket->size;
		record->alloc_bytes = record->allocs * bucket->size;
	}
}

/* Whether a bucket of the same stack and size stands before this one in its chain: then it was given with that one. */
static bool has_earlier_twin(const struct bucket *chain, const struct bucket *bucket)
{
	for (; chain != bucket; chain = chain->next) {
		if (bucket_same_site(chain, bucket))
			return true;
	}
	return false;
}

bool snapshot_next(const struct snapshot *snapshot, struct snapshot_cursor *cursor, struct record *record)
{
	const struct bucket *bucket = cursor->at != NULL ? cursor->at->next : NULL;

	for (;;) {
		while (bucket != NULL && has_earlier_twin(cursor->chain, bucket))
			bucket = bucket->next;
		if (bucket != NULL)
			break;
		if (cursor->head == snapshot->head_count)
			return false;
		cursor->chain = bucket = snapshot->heads[cursor->head++];
	}
	cursor->at = cursor->twin = bucket;
	read_bucket(bucket, record);
	return true;
}

bool snapshot_twin(struct snapshot_cursor *cursor, struct record *record)
{
	const struct bucket *bucket = cursor->twin->next;

	while (bucket != NULL && !bucket_same_site(bucket, cursor->at))
		bucket = bucket->next;
	if (bucket == NULL)
		return false;
	cursor->twin = bucket;
	read_bucket(bucket, record);
	return true;
}
