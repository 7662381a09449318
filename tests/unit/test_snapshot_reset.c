/* test_snapshot_reset.c - records count from the last reset, what is in use is not changed by it, and nothing is ever negative. */
#include "core/arena.h"
#include "core/atomic.h"
#include "core/bucket.h"
#include "core/snapshot.h"
#include "tests/unit/race.h"

#include <criterion/criterion.h>

static struct arena arena, scratch;
static const uint64_t stack[] = {0x1000, 0x2000};

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 16 << 20), 0);
	cr_assert_eq(arena_init(&scratch, 64 << 20), 0);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(snapshot_reset, .init = start);

static void expect(uint64_t allocs, uint64_t frees, uint64_t alloc_bytes, uint64_t free_bytes)
{
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	cr_assert(snapshot_next(&snapshot, &cursor, &record));
	cr_expect_eq(record.allocs, allocs);
	cr_expect_eq(record.frees, frees);
	cr_expect_eq(record.alloc_bytes, alloc_bytes);
	cr_expect_eq(record.free_bytes, free_bytes);
}

Test(snapshot_reset, keeps_what_is_in_use)
{
	struct bucket *bucket = bucket_of(stack, 2, 100, 1);
	struct bucket_counts sum;

	for (int i = 0; i < 10; i++)
		bucket_count_alloc(bucket, 100, 0);
	for (int i = 0; i < 6; i++)
		bucket_count_free(bucket, 100, 0);
	expect(10, 6, 1000, 600);
	snapshot_reset();
	expect(4, 0, 400, 0);
	bucket_count_alloc(bucket, 100, 0);
	bucket_count_free(bucket, 100, 0);
	expect(5, 1, 500, 100);
	snapshot_reset();
	snapshot_reset();
	expect(4, 0, 400, 0);
	sum = snapshot_sum(); /* never reset */
	cr_expect_eq(sum.allocs, 11);
	cr_expect_eq(sum.frees, 7);
}

Test(snapshot_reset, of_shards)
{
	struct bucket *bucket = bucket_of(stack, 2, 100, 1);

	for (unsigned i = 0; i < 1000; i++)
		bucket_count_alloc(bucket, 100, i);
	for (unsigned i = 0; i < 900; i++)
		bucket_count_free(bucket, 100, i + 5);
	cr_assert_not_null(bucket->shards);
	snapshot_reset();
	expect(100, 0, 10000, 0);
	for (unsigned i = 0; i < 100; i++)
		bucket_count_free(bucket, 100, i);
	expect(100, 100, 10000, 10000);
}

Test(snapshot_reset, of_other)
{
	static uint64_t deep[512] = {1};
	struct bucket *bucket;

	for (uint64_t i = 0; (bucket = bucket_of(deep, 512, 100, 1)) != NULL && !bucket->is_other; i++)
		deep[1] = i;
	cr_assert_not_null(bucket);
	bucket = bucket_of(deep, 512, 1000, 1);
	bucket_count_alloc(bucket, 1000, 0);
	bucket_count_alloc(bucket, 1010, 0);
	bucket_count_free(bucket, 1010, 0);
	snapshot_reset();
	bucket_count_alloc(bucket, 1001, 0);

	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	while (snapshot_next(&snapshot, &cursor, &record) && record.size != bucket->size) {
	}
	cr_expect_eq(record.allocs, 2);
	cr_expect_eq(record.alloc_bytes, 2001);
	cr_expect_eq(record.frees | record.free_bytes, 0);
}

Test(snapshot_reset, of_nothing)
{
	snapshot_reset();
	cr_expect_eq(snapshot_sum().allocs, 0);
}

enum { ROUNDS = 100000 };

static struct bucket *raced;
static uint64_t wrong; /* atomic: records that were impossible */

static void count_or_reset_or_read(unsigned index)
{
	struct snapshot snapshot;
	struct record record;

	snapshot_take(&snapshot, &scratch); /* its one bucket is there already */
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct snapshot_cursor cursor = {0};

		if (index < 2) {
			bucket_count_alloc(raced, 8, index);
			bucket_count_free(raced, 8, index + i % 2);
		} else if (index == 2) {
			snapshot_next(&snapshot, &cursor, &record);
			if (record.frees > record.allocs || record.allocs > 2 * ROUNDS)
				add_relaxed(&wrong, 1);
		} else if (i % 64 == 0) {
			snapshot_reset();
		}
	}
}

/* In use is never negative, and no count goes below its base, whatever resets come in between. */
Test(snapshot_reset, while_others_count_and_read)
{
	raced = bucket_of(stack, 2, 8, 1);
	race(4, count_or_reset_or_read);
	cr_expect_eq(load_relaxed(&wrong), 0);
	snapshot_reset();
	expect(0, 0, 0, 0);
	cr_expect_eq(snapshot_sum().frees, 2 * ROUNDS);
}
