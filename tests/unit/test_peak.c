/* test_peak.c - every bucket keeps what it held when the estimate of live bytes was highest. */
#include "core/peak.h"

#include "core/arena.h"
#include "pprof/unsample.h"

#include <criterion/criterion.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define SITES 20

static struct arena arena;
static struct bucket *sites[SITES];

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 * MIB), 0);
	cr_assert_eq(bucket_init(&arena), 0);
	peak_followed = true;
	for (uint64_t i = 0; i < SITES; i++)
		sites[i] = bucket_of(&i, 1, 100 + i, 1);
}

TestSuite(peak, .init = start);

/* What preload/sampled.c does. */
static void come(struct bucket *bucket)
{
	peak_before_change(bucket);
	bucket_count_alloc(bucket, bucket->size, 0);
	peak_add(bucket->size, bucket->rate);
}

static void go(struct bucket *bucket)
{
	peak_before_change(bucket);
	peak_subtract(bucket->size, bucket->rate);
	bucket_count_free(bucket, bucket->size, 0);
}

Test(peak, nothing_yet)
{
	cr_assert_eq(peak_highest(), 0);
	cr_assert_eq(peak_held(sites[0]).objects, 0);
}

Test(peak, what_goes_after_the_maximum_is_kept)
{
	come(sites[0]);
	come(sites[0]);
	come(sites[1]);
	go(sites[0]);
	go(sites[1]);
	come(sites[2]);
	cr_assert_eq(peak_highest(), 2 * sites[0]->size + sites[1]->size);
	cr_assert_eq(peak_live(), sites[0]->size + sites[2]->size);
	cr_assert_eq(peak_held(sites[0]).objects, 2);
	cr_assert_eq(peak_held(sites[0]).bytes, 2 * sites[0]->size);
	cr_assert_eq(peak_held(sites[1]).objects, 1);
	cr_assert_eq(peak_held(sites[2]).objects, 0);
}

Test(peak, a_maximum_that_is_only_reached_again_is_not_a_new_one)
{
	come(sites[3]);
	go(sites[3]);
	come(sites[3]);
	go(sites[3]);
	cr_assert_eq(peak_held(sites[3]).objects, 1);
	cr_assert_eq(peak_highest(), sites[3]->size);
}

Test(peak, agrees_with_a_model)
{
	uint64_t held[SITES] = {0}, at_maximum[SITES] = {0}, bytes = 0, maximum = 0;
	uint64_t random = 1;

	for (int step = 0; step < 200000; step++) {
		struct bucket *bucket;
		size_t i;

		random = random * 6364136223846793005 + 1442695040888963407;
		i = (random >> 33) % SITES;
		bucket = sites[i];
		/* Up on the whole for a while, then down, and again. */
		if (held[i] == 0 || (random >> 60) < (step / 20000 % 2 == 0 ? 10U : 5U)) {
			come(bucket);
			held[i]++;
			bytes += bucket->size;
		} else {
			go(bucket);
			held[i]--;
			bytes -= bucket->size;
		}
		if (bytes > maximum) {
			maximum = bytes;
			memcpy(at_maximum, held, sizeof(held));
		}
		if (step % 97 != 0)
			continue;
		cr_assert_eq(peak_highest(), maximum);
		for (i = 0; i < SITES; i++)
			cr_assert_eq(peak_held(sites[i]).objects, at_maximum[i], "site %zu at step %d", i, step);
	}
}

Test(peak, the_estimate_is_that_of_profiles)
{
	static const uint64_t sizes[] = {1, 16, 100, 524288, 10000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t before = peak_live();

		peak_add(sizes[i], 524288);
		/* Equal but for the last digit: expm1 here, 1 - exp as Go there. */
		cr_assert_float_eq((double)(peak_live() - before), (double)unsample(1, sizes[i], 524288).bytes, 2);
		peak_subtract(sizes[i], 524288);
		cr_assert_eq(peak_live(), before);
	}
}

Test(peak, objects_whose_stacks_were_given_up)
{
	struct bucket other = {.size = 96, .rate = 1, .is_other = 1};

	peak_before_change(&other);
	bucket_count_alloc(&other, 100, 0);
	peak_add(100, 1);
	peak_before_change(&other);
	peak_subtract(100, 1);
	bucket_count_free(&other, 100, 0);
	cr_assert_eq(peak_held(&other).objects, 1);
	cr_assert_eq(peak_held(&other).bytes, 100);
}
