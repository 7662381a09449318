/* test_sizeclass.c - the class of every size, the spread of threads over shards, exact counts from threads at work. */
#include "core/sizeclass.h"
#include "tests/unit/race.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdbool.h>

#define WORKERS 4U
#define OBJECTS_PER_WORKER 200000U
#define CROWD_OBJECTS 1000000U

/* The class by its definition: the first one that the size fits in, and the last one for what fits in none. */
static unsigned scan(size_t size)
{
	unsigned index = 0;

	while (index < SIZECLASS_COUNT - 1 && size > (size_t)16 << index)
		index++;
	return index;
}

Test(sizeclass, of_every_small_size)
{
	for (size_t size = 0; size <= 131072; size++)
		cr_assert_eq(sizeclass_of(size), scan(size), "size %zu: class %u", size, sizeclass_of(size));
}

Test(sizeclass, of_the_sizes_around_all_powers_of_two)
{
	for (unsigned bit = 0; bit < 8 * sizeof(size_t); bit++) {
		size_t power = (size_t)1 << bit;

		for (size_t size = power - 2; size != power + 3; size++)
			cr_assert_eq(sizeclass_of(size), scan(size), "size %zu: class %u", size, sizeclass_of(size));
	}
	cr_assert_eq(sizeclass_of(SIZE_MAX), SIZECLASS_COUNT - 1);
}

Test(sizeclass, bounds)
{
	cr_assert_eq(sizeclass_bytes(0), 16);
	cr_assert_eq(sizeclass_bytes(SIZECLASS_COUNT - 1), (size_t)1 << 30);
	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		cr_assert_eq(sizeclass_of(sizeclass_bytes(index)), index);
		cr_assert_eq(sizeclass_of(sizeclass_bytes(index) + 1), index + (index < SIZECLASS_COUNT - 1));
	}
}

/* How many of `count` threads, whose addresses lie `distance` apart, have a shard of their own. */
static unsigned distinct_shards(uintptr_t first, uintptr_t distance, unsigned count)
{
	uint32_t used = 0;

	for (unsigned i = 0; i < count; i++)
		used |= (uint32_t)1 << sizeclass_shard_of(first - i * distance);
	return (unsigned)__builtin_popcount(used);
}

Test(sizeclass, sixteen_threads_have_sixteen_shards)
{
	static const uintptr_t first[] = {0x7ffff7d8a740, 0x7f0000000000, 0x20008000, 0x100};
	static const uintptr_t guard[] = {0, 4096, 65536};

	_Static_assert(SIZECLASS_SHARDS == 32, "one bit each");
	for (unsigned f = 0; f < sizeof(first) / sizeof(first[0]); f++)
		for (unsigned g = 0; g < sizeof(guard) / sizeof(guard[0]); g++)
			for (uintptr_t size = g == 0 ? 64 : 65536; size <= (uintptr_t)16 << 20; size *= 2)
				cr_assert_eq(distinct_shards(first[f], size + guard[g], 16), 16,
					     "%zu + %zu bytes apart", (size_t)size, (size_t)guard[g]);
}

Test(sizeclass, a_count_is_seen_in_its_class_only)
{
	static struct sizeclass_table table;

	sizeclass_count_alloc(&table, (uintptr_t)&table, 100);
	sizeclass_count_alloc(&table, 0, 65);
	sizeclass_count_alloc(&table, 0, (size_t)3 << 30);
	sizeclass_count_free(&table, 64, 65);
	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		bool is_128 = index == 3, is_last = index == SIZECLASS_COUNT - 1;
		struct sizeclass_counts sums;

		sizeclass_read(&table, index, &sums);
		cr_expect_eq(sums.allocs, is_128 ? 2 : is_last, "class %u", index);
		cr_expect_eq(sums.alloc_bytes, is_128 ? 165 : is_last ? (size_t)3 << 30 : 0, "class %u", index);
		cr_expect_eq(sums.frees, is_128, "class %u", index);
		cr_expect_eq(sums.free_bytes, is_128 ? 65 : 0, "class %u", index);
	}
}

/* What pointers of 32 bits make of long runs: totals are modulo 2^width, what is in use stays exact. */
Test(sizeclass, in_use_is_exact_past_a_wrap)
{
	static struct sizeclass_table table;
	struct sizeclass_counts sums;

	table.shards[0][5].counts =
		(struct sizeclass_counts){UINTPTR_MAX, UINTPTR_MAX - 4, UINTPTR_MAX, UINTPTR_MAX - 4};
	for (unsigned i = 0; i < 3; i++)
		sizeclass_count_alloc(&table, i << 20, 10);
	sizeclass_count_free(&table, 0, 10);
	sizeclass_read(&table, 0, &sums);
	cr_assert_eq(sums.allocs, 2);
	cr_assert_eq(sums.allocs - sums.frees, 2);
	cr_assert_eq(sums.alloc_bytes - sums.free_bytes, 20);
}

/* --- threads at work ---------------------------------------------------------------------------------------------- */

struct worker {
	struct worker *prey; /* whose objects this one frees */
	uint32_t random;
	bool bad_snapshot;
	struct sizeclass_counts counted[SIZECLASS_COUNT]; /* what it did itself */
	size_t passed_on;				  /* atomic: objects it has allocated for whoever frees them */
	uint32_t sizes[OBJECTS_PER_WORKER];		  /* theirs */
};

static struct sizeclass_table shared, crowded;
static struct worker workers[WORKERS];

/* Small sizes often, large ones sometimes: all classes up to 1 MiB and their edges. */
static uint32_t next_size(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223; /* Numerical Recipes' generator: the high bits are good enough */
	return (*random >> 11) >> (*random >> 27 & 15);
}

/* Read all classes; true when nothing went back since `last`, which is brought up to date, and no more was freed
 * than allocated. */
static bool snapshot_grows(struct sizeclass_counts *last)
{
	bool good = true;

	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		struct sizeclass_counts now;

		sizeclass_read(&shared, index, &now);
		good = good && now.allocs >= last[index].allocs && now.alloc_bytes >= last[index].alloc_bytes &&
		       now.frees >= last[index].frees && now.free_bytes >= last[index].free_bytes &&
		       now.frees <= now.allocs && now.free_bytes <= now.alloc_bytes;
		last[index] = now;
	}
	return good;
}

/* Free the i-th object that another worker allocated, once it is there. */
static void free_from(struct worker *worker, uint32_t i)
{
	const struct worker *prey = worker->prey;
	struct sizeclass_counts *counted;

	/* Pairs with the store_release in work: as a program hands an object from thread to thread. */
	while (load_acquire(&prey->passed_on) <= i)
		sched_yield();
	sizeclass_count_free(&shared, (uintptr_t)pthread_self(), prey->sizes[i]);
	counted = &worker->counted[scan(prey->sizes[i])];
	counted->frees++;
	counted->free_bytes += prey->sizes[i];
}

static void work(unsigned number)
{
	struct worker *worker = &workers[number];
	struct sizeclass_counts last[SIZECLASS_COUNT] = {0};

	for (uint32_t i = 0; i < OBJECTS_PER_WORKER; i++) {
		uint32_t size = next_size(&worker->random);
		struct sizeclass_counts *counted = &worker->counted[scan(size)];

		sizeclass_count_alloc(&shared, (uintptr_t)pthread_self(), size);
		counted->allocs++;
		counted->alloc_bytes += size;
		worker->sizes[i] = size;
		store_release(&worker->passed_on, i + 1);
		if (i % 2 == 0) /* half of all objects stay */
			free_from(worker, i / 2);
		if (i % 512 == 0 && !snapshot_grows(last))
			worker->bad_snapshot = true;
	}
}

static void count_in_one_shard(unsigned number)
{
	(void)number;
	for (unsigned i = 0; i < CROWD_OBJECTS; i++) {
		sizeclass_count_alloc(&crowded, 0, 20);
		sizeclass_count_free(&crowded, 0, 20);
	}
}

/* More threads than shards is a normal case. */
Test(sizeclass, exact_counts_with_four_threads_in_one_shard)
{
	struct sizeclass_counts sums;

	race(WORKERS, count_in_one_shard);
	sizeclass_read(&crowded, 1, &sums);
	cr_expect_eq(sums.allocs, WORKERS * CROWD_OBJECTS);
	cr_expect_eq(sums.alloc_bytes, WORKERS * CROWD_OBJECTS * 20);
	cr_expect_eq(sums.frees, WORKERS * CROWD_OBJECTS);
	cr_expect_eq(sums.free_bytes, WORKERS * CROWD_OBJECTS * 20);
}

Test(sizeclass, exact_counts_and_monotonic_snapshots_with_four_threads)
{
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].prey = &workers[(i + 1) % WORKERS];
		workers[i].random = i;
	}
	race(WORKERS, work);
	for (unsigned i = 0; i < WORKERS; i++)
		cr_expect(!workers[i].bad_snapshot, "worker %u saw a count go back", i);
	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		struct sizeclass_counts sums, expected = {0};

		for (unsigned i = 0; i < WORKERS; i++) {
			expected.allocs += workers[i].counted[index].allocs;
			expected.alloc_bytes += workers[i].counted[index].alloc_bytes;
			expected.frees += workers[i].counted[index].frees;
			expected.free_bytes += workers[i].counted[index].free_bytes;
		}
		sizeclass_read(&shared, index, &sums);
		cr_expect_eq(sums.allocs, expected.allocs, "class %u", index);
		cr_expect_eq(sums.alloc_bytes, expected.alloc_bytes, "class %u", index);
		cr_expect_eq(sums.frees, expected.frees, "class %u", index);
		cr_expect_eq(sums.free_bytes, expected.free_bytes, "class %u", index);
	}
}
