/* test_snapshot.c - a snapshot gives a frozen set of buckets, twins together, and counts that are never negative. */
#include "core/snapshot.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/bucket.h"
#include "tests/unit/race.h"

#include <errno.h>

#define MIB ((size_t)1 << 20)

static struct arena arena, scratch;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 * MIB), 0);
	cr_assert_eq(arena_init(&scratch, 1024 * MIB), 0);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(snapshot, .init = start);

static struct bucket *count(uint64_t frame, uint64_t size, uint64_t rate)
{
	struct bucket *bucket = bucket_of(&frame, 1, size, rate);

	bucket_count_alloc(bucket, size, 0);
	return bucket;
}

/* Number of sites in a snapshot, and of records with their twins. */
static void walk(const struct snapshot *snapshot, unsigned *sites, unsigned *records)
{
	struct snapshot_cursor cursor = {0};
	struct record record;

	*sites = *records = 0;
	while (snapshot_next(snapshot, &cursor, &record)) {
		++*sites;
		do {
			++*records;
		} while (snapshot_twin(&cursor, &record));
	}
}

Test(snapshot, of_nothing)
{
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	cr_assert(!snapshot_next(&snapshot, &cursor, &record));
	cr_assert(!snapshot_next(&snapshot, &cursor, &record));
}

Test(snapshot, record_says_all)
{
	const uint64_t frames[] = {11, 22, 33};
	struct bucket *bucket = bucket_of(frames, 3, 40, 512);
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	for (int i = 0; i < 5; i++)
		bucket_count_alloc(bucket, 40, 0);
	for (int i = 0; i < 2; i++)
		bucket_count_free(bucket, 40, 0);
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	cr_assert(snapshot_next(&snapshot, &cursor, &record));
	cr_assert_eq(record.depth, 3);
	cr_assert(record.frames[0] == 11 && record.frames[1] == 22 && record.frames[2] == 33);
	cr_assert_eq(record.size, 40);
	cr_assert_eq(record.rate, 512);
	cr_assert(record.allocs == 5 && record.alloc_bytes == 200);
	cr_assert(record.frees == 2 && record.free_bytes == 80);
	cr_assert(!snapshot_twin(&cursor, &record));
	cr_assert(!snapshot_next(&snapshot, &cursor, &record));
}

/* Sites with 1 to 4 rates each, made in an order that keeps the rates of a site apart. */
Test(snapshot, twins_come_together)
{
	enum { SITES = 3000 };
	static unsigned rates_seen[SITES];
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	for (uint64_t rate = 1; rate <= 4; rate++) {
		for (uint64_t site = 0; site < SITES; site++) {
			if (site % 4 + 1 >= rate)
				count(site, 16, rate);
		}
	}
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	while (snapshot_next(&snapshot, &cursor, &record)) {
		uint64_t site = record.frames[0];

		cr_assert(site < SITES);
		cr_assert_eq(rates_seen[site], 0, "site %lu was given before", (unsigned long)site);
		do {
			cr_assert_eq(record.frames[0], site);
			cr_assert_eq(rates_seen[site] & 1U << record.rate, 0);
			rates_seen[site] |= 1U << record.rate;
		} while (snapshot_twin(&cursor, &record));
	}
	for (unsigned site = 0; site < SITES; site++)
		cr_assert_eq(rates_seen[site], (2U << (site % 4 + 1)) - 2, "rates %x of site %u", rates_seen[site],
			     site);
}

Test(snapshot, set_is_frozen_and_counts_are_not)
{
	struct bucket *bucket = count(1, 16, 512);
	struct snapshot before, after;
	struct snapshot_cursor cursor = {0};
	unsigned sites, records;
	struct record record;

	cr_assert_eq(snapshot_take(&before, &scratch), 0);
	for (uint64_t frame = 2; frame < 200000; frame++) /* some land in the same chain */
		count(frame, 16, 512);
	count(1, 16, 513);
	bucket_count_alloc(bucket, 16, 0);
	walk(&before, &sites, &records);
	cr_assert(sites == 1 && records == 1);
	cr_assert(snapshot_next(&before, &cursor, &record));
	cr_assert_eq(record.allocs, 2);
	cr_assert_eq(snapshot_take(&after, &scratch), 0);
	walk(&after, &sites, &records);
	cr_assert(sites == 199999 && records == 200000);
}

Test(snapshot, needs_scratch_for_the_heads)
{
	struct arena small;
	struct snapshot snapshot;

	cr_assert_eq(arena_init(&small, MIB), 0);
	cr_assert_not_null(arena_alloc(&small, MIB / 2 + 1, 1));
	cr_assert_eq(bucket_head_count() * sizeof(void *), MIB / 2);
	cr_assert_eq(snapshot_take(&snapshot, &small), -ENOMEM);
}

#define RACERS 4 /* of which the first takes the snapshots */
#define ROUNDS 200
#define SITES 32

static bool done; /* atomic */
static unsigned violations, snapshots_failed;
static uint64_t records_read;
static uint64_t objects_of[RACERS];

static void check_snapshots(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct snapshot snapshot;
		struct snapshot_cursor cursor = {0};
		struct record record;

		snapshots_failed += snapshot_take(&snapshot, &scratch) != 0;
		while (snapshot_next(&snapshot, &cursor, &record)) {
			do {
				violations += record.frees > record.allocs || record.free_bytes > record.alloc_bytes;
				records_read++;
			} while (snapshot_twin(&cursor, &record));
		}
	}
}

/* Objects that live for one turn: in-use is 0 or 1 per thread, so every wrong order of reading shows. */
static void churn(unsigned index)
{
	if (index == 0) {
		check_snapshots();
		store_relaxed(&done, true);
		return;
	}
	do {
		for (uint64_t i = 0; i < SITES; i++) {
			uint64_t size = i * 3 + 1;
			struct bucket *bucket = bucket_of(&i, 1, size, 1 + i % 2);
			uint64_t object_size = bucket_object_size(bucket, bucket_detail(bucket, size));

			bucket_count_alloc(bucket, object_size, index);
			bucket_count_free(bucket, object_size, index + 1);
			objects_of[index]++;
		}
	} while (!load_relaxed(&done));
}

static void expect_sound_churn(void)
{
	uint64_t allocs = 0;
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;

	race(RACERS, churn);
	cr_assert_eq(snapshots_failed, 0);
	cr_assert_eq(violations, 0, "%u of %lu records", violations, (unsigned long)records_read);
	cr_assert(records_read > ROUNDS);
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	while (snapshot_next(&snapshot, &cursor, &record)) {
		do {
			cr_assert_eq(record.frees, record.allocs);
			cr_assert_eq(record.free_bytes, record.alloc_bytes);
			allocs += record.allocs;
		} while (snapshot_twin(&cursor, &record));
	}
	cr_assert_eq(allocs, objects_of[1] + objects_of[2] + objects_of[3]);
}

Test(snapshot, in_use_is_never_negative)
{
	expect_sound_churn();
}

/* The same with all the samples in [other], whose bytes are counted apart. */
Test(snapshot, in_use_of_other_is_never_negative)
{
	while (arena_alloc_below(&arena, 64, 64, arena.limit_bytes / 4 * 3) != NULL) {
	}
	expect_sound_churn();
	cr_assert(bucket_of(&(uint64_t){0}, 1, 1, 1)->is_other);
}
