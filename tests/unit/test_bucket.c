/* test_bucket.c - one bucket per (stack, size, rate), exact counts from many threads, and totals kept when memory is out. */
#include "core/bucket.h"

#include "core/arena.h"
#include "core/loss.h"
#include "core/snapshot.h"
#include "tests/unit/race.h"

#include <string.h>

#define MIB ((size_t)1 << 20)
#define EXACT_SIZE_MAX ((uint64_t)256 << 10) /* bucket_object_size is exact up to here */

static struct arena arena, scratch;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 * MIB), 0);
	cr_assert_eq(arena_init(&scratch, 64 * MIB), 0);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(bucket, .init = start);

/* The sums of all buckets, as a dump sees them. */
static struct record totals(void)
{
	struct record sum = {0}, record;
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};

	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	while (snapshot_next(&snapshot, &cursor, &record)) {
		do {
			sum.allocs += record.allocs;
			sum.frees += record.frees;
			sum.alloc_bytes += record.alloc_bytes;
			sum.free_bytes += record.free_bytes;
		} while (snapshot_twin(&cursor, &record));
	}
	return sum;
}

Test(bucket, same_key_same_bucket)
{
	uint64_t frames[] = {0x1000, 0x2000, 0x3000};
	struct bucket *bucket = bucket_of(frames, 3, 64, 512);
	const uint64_t copy[] = {0x1000, 0x2000, 0x3000};

	cr_assert_not_null(bucket);
	frames[1] = 0; /* the caller's buffer is the caller's */
	cr_assert_eq(bucket_of(copy, 3, 64, 512), bucket);
	cr_assert_eq(bucket->depth, 3);
	cr_assert_eq(bucket->size, 64);
	cr_assert_eq(bucket->rate, 512);
	cr_assert_eq(memcmp(bucket->frames, copy, sizeof(copy)), 0);
	cr_assert_eq(bucket_total(), 1);
}

Test(bucket, every_part_of_the_key_counts)
{
	static const struct {
		uint64_t frames[4];
		size_t depth;
		uint64_t size, rate;
	} keys[] = {
		{{1, 2, 3}, 3, 64, 512}, {{1, 2, 3}, 3, 65, 512},    {{1, 2, 3}, 3, 64, 513},
		{{1, 2, 4}, 3, 64, 512}, {{2, 1, 3}, 3, 64, 512},    {{1, 2, 3}, 2, 64, 512},
		{{1, 2, 3}, 1, 64, 512}, {{1, 2, 3, 0}, 4, 64, 512}, {{0}, 0, 64, 512},
		{{0}, 1, 64, 512},	 {{0}, 0, 0, 512},	     {{0}, 0, UINT64_MAX, 1},
		{{0, 0}, 2, 64, 512},	 {{UINT64_MAX}, 1, 64, 512},
	};
	enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
	const struct bucket *buckets[KEYS];

	for (size_t i = 0; i < KEYS; i++) {
		buckets[i] = bucket_of(keys[i].frames, keys[i].depth, keys[i].size, keys[i].rate);
		for (size_t j = 0; j < i; j++)
			cr_assert_neq(buckets[i], buckets[j], "keys %zu and %zu", i, j);
	}
	for (size_t i = 0; i < KEYS; i++)
		cr_assert_eq(bucket_of(keys[i].frames, keys[i].depth, keys[i].size, keys[i].rate), buckets[i]);
	cr_assert_eq(bucket_total(), KEYS);
	cr_assert(bucket_same_site(buckets[0], buckets[2]));
	cr_assert(!bucket_same_site(buckets[0], buckets[1]));
	cr_assert(!bucket_same_site(buckets[0], buckets[3]));
	cr_assert(!bucket_same_site(buckets[0], buckets[5]));
}

Test(bucket, empty_stack_needs_no_frames)
{
	struct bucket *bucket = bucket_of(NULL, 0, 32, 512);

	cr_assert_not_null(bucket);
	cr_assert_eq(bucket->depth, 0);
	cr_assert_eq(bucket->is_other, 0);
	cr_assert_eq(bucket_of(NULL, 0, 32, 512), bucket);
}

Test(bucket, ids_lead_back)
{
	for (uint64_t i = 0; i < 10000; i++) {
		struct bucket *bucket = bucket_of(&i, 1, i % 7, 512);
		uint64_t id = bucket_id(bucket);

		cr_assert(id >= 1 && id < (uint64_t)1 << BUCKET_ID_BITS);
		cr_assert_eq(bucket_from_id(id), bucket);
		cr_assert_eq(bucket_detail(bucket, i % 7), 0);
		cr_assert_eq(bucket_object_size(bucket, 0), i % 7);
	}
}

#define KEYS 1000
#define KEY_RACERS 8

static struct bucket *seen[KEY_RACERS][KEYS];

static void insert_all_keys(unsigned index)
{
	for (unsigned i = 0; i < KEYS; i++) {
		/* Every second thread comes from the other end; 7 frames share all but one word. */
		uint64_t key = index % 2 == 0 ? i : KEYS - 1 - i;
		uint64_t frames[7] = {1, 2, 3, key, 5, 6, 7};
		struct bucket *bucket = bucket_of(frames, 7, 48, 4096);

		seen[index][key] = bucket;
		bucket_count_alloc(bucket, 48, index);
	}
}

Test(bucket, racing_inserters_agree)
{
	race(KEY_RACERS, insert_all_keys);
	cr_assert_eq(bucket_total(), KEYS);
	for (unsigned key = 0; key < KEYS; key++) {
		cr_assert_not_null(seen[0][key]);
		cr_assert_eq(seen[0][key]->frames[3], key);
		cr_assert_eq(seen[0][key]->counts.allocs, KEY_RACERS);
		for (unsigned index = 1; index < KEY_RACERS; index++)
			cr_assert_eq(seen[index][key], seen[0][key]);
	}
	cr_assert_eq(totals().allocs, KEYS * KEY_RACERS);
}

#define HOT_RACERS 4
#define HOT_ALLOCS 100000

static struct bucket *hot;

static void count_in_hot_bucket(unsigned index)
{
	for (unsigned i = 0; i < HOT_ALLOCS; i++) {
		bucket_count_alloc(hot, 100, index);
		if (i % 3 == 0)
			bucket_count_free(hot, 100, index + i); /* any thread may free */
	}
}

Test(bucket, hot_bucket_counts_exactly)
{
	uint64_t frame = 0x1234;
	struct record sum;

	hot = bucket_of(&frame, 1, 100, 1);
	cr_assert_null(hot->shards);
	race(HOT_RACERS, count_in_hot_bucket);
	cr_assert_not_null(hot->shards);
	sum = totals();
	cr_assert_eq(sum.allocs, HOT_RACERS * HOT_ALLOCS);
	cr_assert_eq(sum.frees, HOT_RACERS * ((HOT_ALLOCS + 2) / 3));
	cr_assert_eq(sum.alloc_bytes, 100 * sum.allocs);
	cr_assert_eq(sum.free_bytes, 100 * sum.frees);
}

/* An object as preload/sampled.c remembers it. */
struct object {
	struct bucket *bucket;
	uint64_t size, detail;
};

static struct object sample_object(uint64_t stack, uint64_t size, uint64_t rate)
{
	struct object object = {.bucket = bucket_of(&stack, 1, size, rate), .size = size};

	cr_assert_not_null(object.bucket);
	object.detail = bucket_detail(object.bucket, size);
	cr_assert(object.detail < (uint64_t)1 << BUCKET_DETAIL_BITS);
	bucket_count_alloc(object.bucket, bucket_object_size(object.bucket, object.detail), (unsigned)stack);
	return object;
}

static void free_object(const struct object *object)
{
	bucket_count_free(object->bucket, bucket_object_size(object->bucket, object->detail), 1);
}

static void start_tiny(void)
{
	cr_assert_eq(arena_init(&arena, MIB), 0);
	cr_assert_eq(arena_init(&scratch, 64 * MIB), 0);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(bucket_other, .init = start_tiny);

Test(bucket_other, totals_stay_exact)
{
	enum { OBJECTS = 50000 };
	static struct object objects[OBJECTS];
	struct record expected = {0}, sum;
	uint64_t random = 42, others = 0;

	for (unsigned i = 0; i < OBJECTS; i++) {
		/* All magnitudes from 0 to 256 KiB. */
		uint64_t size = (race_random(&random) % (EXACT_SIZE_MAX + 1)) >> (race_random(&random) % 19);

		objects[i] = sample_object(i, size, i % 2 == 0 ? 1 : 524288);
		others += objects[i].bucket->is_other;
		expected.allocs++;
		expected.alloc_bytes += size;
		cr_assert_eq(bucket_object_size(objects[i].bucket, objects[i].detail), size);
	}
	for (unsigned i = 0; i < OBJECTS; i += 2) {
		free_object(&objects[i]);
		expected.frees++;
		expected.free_bytes += objects[i].size;
	}
	cr_assert(others > OBJECTS / 2 && others < OBJECTS);
	cr_assert_eq(loss_counts[LOSS_other], others);
	cr_assert_eq(loss_counts[LOSS_dropped], 0);
	sum = totals();
	cr_assert_eq(sum.allocs, expected.allocs);
	cr_assert_eq(sum.frees, expected.frees);
	cr_assert_eq(sum.alloc_bytes, expected.alloc_bytes);
	cr_assert_eq(sum.free_bytes, expected.free_bytes);
}

/* Make buckets with a stack until there is no room for another one. */
static void fill(void)
{
	for (uint64_t stack = 1; !bucket_of(&stack, 1, 8, 1)->is_other; stack++) {
	}
}

Test(bucket_other, known_stacks_keep_their_bucket)
{
	uint64_t frame = 1;
	struct bucket *bucket = bucket_of(&frame, 1, 8, 1);

	fill();
	cr_assert_eq(bucket_of(&frame, 1, 8, 1), bucket);
	cr_assert_eq(bucket->is_other, 0);
}

Test(bucket_other, sizes_are_remembered)
{
	uint64_t stack = UINT64_MAX;

	fill();
	for (uint64_t size = 0; size <= EXACT_SIZE_MAX; size += size < 5000 ? 1 : 61) {
		struct bucket *bucket = bucket_of(&stack, 1, size, 1);

		cr_assert_eq(bucket->is_other, 1);
		cr_assert(bucket->size <= size);
		cr_assert_eq(bucket_object_size(bucket, bucket_detail(bucket, size)), size);
	}
	for (unsigned bit = 19; bit < 64; bit++) {
		uint64_t sizes[] = {(uint64_t)1 << bit, ((uint64_t)1 << bit) - 1,
				    (uint64_t)0xABCDEF9876543211 >> (63 - bit)};

		for (size_t i = 0; i < 3; i++) {
			struct bucket *bucket = bucket_of(&stack, 1, sizes[i], 1);
			uint64_t detail = bucket_detail(bucket, sizes[i]);
			uint64_t size = bucket_object_size(bucket, detail);

			cr_assert(detail < (uint64_t)1 << BUCKET_DETAIL_BITS);
			cr_assert(size <= sizes[i] && sizes[i] - size < sizes[i] >> 17, "%lx became %lx",
				  (unsigned long)sizes[i], (unsigned long)size);
		}
	}
}

Test(bucket_other, rates_are_kept_apart)
{
	uint64_t stack = UINT64_MAX;
	const struct bucket *a, *b;

	fill();
	a = bucket_of(&stack, 1, 8, 1);
	b = bucket_of(&stack, 1, 8, 2);
	cr_assert(a->is_other && b->is_other && a != b);
	cr_assert(bucket_same_site(a, b));
}

Test(bucket_other, drops_only_when_nothing_is_left)
{
	uint64_t stack = UINT64_MAX;

	fill();
	while (arena_alloc(&arena, 64, 64) != NULL) {
	}
	cr_assert_not_null(bucket_of(&stack, 1, 8, 1)); /* fill has made the [other] bucket of this class */
	cr_assert_null(bucket_of(&stack, 1, 1 << 30, 1));
	cr_assert_eq(loss_counts[LOSS_dropped], 1);
}
