/* snapshot.c - a consistent set of buckets to read while the program goes on allocating. */
#include "core/snapshot.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/bucket.h"
#include "core/peak.h"

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

/* Bytes of [other], where sizes differ. The base comes first, then frees, then allocs: none is below the one before. */
static void read_other_bytes(const struct bucket *bucket, struct record *record)
{
	/* Acquire: pairs with the store_release in snapshot_reset: the frees it stands for are visible to the next load. */
	uint64_t base = load_acquire(&bucket->bytes.base_frees);

	record->free_bytes = load_acquire(&bucket->bytes.frees) - base; /* acquire: as in bucket_sum_frees */
	record->alloc_bytes = load_relaxed(&bucket->bytes.allocs) - base;
}

static void read_bucket(const struct bucket *bucket, struct record *record)
{
	uint64_t base = load_acquire(&bucket->base_frees); /* first, and acquire: as in read_other_bytes */

	record->frames = bucket->frames;
	record->depth = bucket->depth;
	record->size = bucket->size;
	record->rate = bucket->rate;
	if (bucket->is_other)
		read_other_bytes(bucket, record);
	record->frees = bucket_sum_frees(bucket) - base;
	record->allocs = bucket_sum_allocs(bucket) - base;
	if (!bucket->is_other) {
		record->free_bytes = record->frees * bucket->size;
		record->alloc_bytes = record->allocs * bucket->size;
	}
	record->peak = peak_held(bucket);
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

static void set_base(struct bucket *bucket)
{
	/* Release: pairs with the load_acquire in read_bucket and read_other_bytes. */
	if (bucket->is_other)
		store_release(&bucket->bytes.base_frees, load_acquire(&bucket->bytes.frees));
	store_release(&bucket->base_frees, bucket_sum_frees(bucket));
}

void snapshot_reset(void)
{
	struct bucket *const *heads = bucket_heads();

	for (size_t i = 0; i < bucket_head_count(); i++) {
		/* Pairs with the cas_release in bucket.c, as in snapshot_take. */
		for (struct bucket *bucket = load_acquire(&heads[i]); bucket != NULL; bucket = bucket->next)
			set_base(bucket);
	}
}

struct bucket_counts snapshot_sum(void)
{
	struct bucket *const *heads = bucket_heads();
	struct bucket_counts sum = {0};

	for (size_t i = 0; i < bucket_head_count(); i++) {
		/* Pairs with the cas_release in bucket.c, as in snapshot_take. */
		for (const struct bucket *bucket = load_acquire(&heads[i]); bucket != NULL; bucket = bucket->next) {
			sum.frees += bucket_sum_frees(bucket); /* before the allocs: in-use is never negative */
			sum.allocs += bucket_sum_allocs(bucket);
		}
	}
	return sum;
}
