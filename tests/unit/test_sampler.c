/* test_sampler.c - what is sampled follows the exponential distribution, whatever the sizes, the rate and its changes.
 *
 * A count is accepted within six standard deviations: a right sampler with other seeds would fail such a test with a probability of
 * 2e-9; the whole file, of some 20 of them, with less than 1e-7 per run. With the seeds fixed here the outcome never varies. */
#include "core/sampler.h"

#include "tests/unit/race.h"

#include <math.h>
#include <stdio.h>

#define SIGMAS 6.0

/* What the allocator does with each allocation. */
static bool sample(struct sampler *sampler, uint64_t size, uint64_t rate)
{
	return !sampler_skips(sampler, size) && sampler_judge(sampler, size, rate);
}

/* Whether `hits` of `trials` is what a probability of p gives. */
static void expect_probability(uint64_t hits, uint64_t trials, double p, const char *what)
{
	double mean = (double)trials * p;
	double sigma = sqrt((double)trials * p * (1 - p));

	cr_expect(fabs((double)hits - mean) <= SIGMAS * sigma, "%s: %lu of %lu, expected %.1f +- %.1f", what,
		  (unsigned long)hits, (unsigned long)trials, mean, sigma);
}

static double sampled_probability(uint64_t size, uint64_t rate)
{
	return -expm1(-(double)size / (double)rate);
}

Test(sampler, probability_follows_size_and_rate)
{
	static const struct {
		uint64_t size, rate, trials;
	} cases[] = {
		{1, 2, 400000},		 {8, 1000, 2000000},	     {100, 1000, 400000},
		{1000, 1000, 400000},	 {5000, 1000, 400000},	     {16, 4096, 4000000},
		{4096, 524288, 2000000}, {524288, 524288, 400000},   {3 << 20, 524288, 400000},
		{300, 7, 100000},	 {1 << 20, 1 << 20, 400000}, {5 << 20, 64 << 20, 400000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sampler sampler = {0};
		uint64_t hits = 0;
		char what[64];

		sampler_seed(&sampler, i + 1);
		for (uint64_t n = 0; n < cases[i].trials; n++)
			hits += sample(&sampler, cases[i].size, cases[i].rate);
		snprintf(what, sizeof(what), "size %lu at rate %lu", (unsigned long)cases[i].size,
			 (unsigned long)cases[i].rate);
		expect_probability(hits, cases[i].trials, sampled_probability(cases[i].size, cases[i].rate), what);
	}
}

/* A small object's chance must not depend on the large ones around it. */
Test(sampler, sizes_do_not_influence_each_other)
{
	static const uint64_t sizes[] = {24, 200000, 24, 3000, 24, 0, 1 << 21};
	struct sampler sampler = {0};
	uint64_t hits = 0, trials = 0;

	sampler_seed(&sampler, 77);
	for (int round = 0; round < 1000000; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			bool sampled = sample(&sampler, sizes[i], 65536);

			hits += sampled && sizes[i] == 24;
			trials += sizes[i] == 24;
		}
	}
	expect_probability(hits, trials, sampled_probability(24, 65536), "24 bytes among others");
}

Test(sampler, zeroed_state_judges_its_first_allocation)
{
	uint64_t hits = 0;

	for (int i = 0; i < 200000; i++) {
		struct sampler sampler = {0};

		hits += sample(&sampler, 4096, 8192);
	}
	expect_probability(hits, 200000, sampled_probability(4096, 8192), "first allocation");
}

Test(sampler, gap_is_exponential)
{
	enum { DRAWS = 1000000 };
	const uint64_t rate = 524288;
	struct sampler sampler = {0};
	uint64_t beyond[4] = {0};
	double sum = 0;

	sampler_seed(&sampler, 5);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t gap = sampler_gap(&sampler, rate);

		cr_assert(gap >= 1);
		sum += (double)gap;
		for (unsigned k = 0; k < 4; k++)
			beyond[k] += gap > (k + 1) * rate;
	}
	/* Rounding up adds half a byte on average. */
	cr_expect(fabs(sum / DRAWS - 0.5 - (double)rate) <= SIGMAS * (double)rate / sqrt(DRAWS), "mean %.1f",
		  sum / DRAWS);
	for (unsigned k = 0; k < 4; k++)
		expect_probability(beyond[k], DRAWS, exp(-(double)(k + 1)), "gaps beyond a multiple of the rate");
}

/* A gap of many chunks is counted down to the byte: objects of 64 KiB see a geometric distribution. */
Test(sampler, chunks_add_up)
{
	enum { SAMPLES = 10000, OBJECT = 64 << 10 };
	const uint64_t rate = 64 << 20;
	double p = sampled_probability(OBJECT, rate);
	uint64_t median = (uint64_t)ceil(log(0.5) / log1p(-p)), run = 0, objects = 0, long_runs = 0;
	struct sampler sampler = {0};

	sampler_seed(&sampler, 6);
	for (int samples = 0; samples < SAMPLES; objects++) {
		run++;
		if (sample(&sampler, OBJECT, rate)) {
			long_runs += run > median;
			samples++;
			run = 0;
		}
		cr_assert(sampler.countdown <= SAMPLER_CHUNK_BYTES);
	}
	expect_probability(SAMPLES, objects, p, "objects of 64 KiB");
	expect_probability(long_runs, SAMPLES, pow(1 - p, (double)median), "runs beyond the median");
}

Test(sampler, chunk_boundaries_lose_no_byte)
{
	struct sampler sampler = {0}, twin;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t gap, bytes = 0;

		sampler_seed(&sampler, seed);
		sampler.rate = 0;
		sampler.countdown = 0;
		twin = sampler;
		gap = sampler_gap(&twin, 16 << 20);
		while (!sample(&sampler, 4099, 16 << 20))
			bytes += 4099;
		cr_assert(bytes < gap && gap <= bytes + 4099, "gap %lu, sampled in the 4099 bytes after %lu",
			  (unsigned long)gap, (unsigned long)bytes);
	}
}

Test(sampler, rate_one_takes_everything)
{
	static const uint64_t sizes[] = {0, 1, 16, 0, 1 << 20, UINT64_MAX, 0, UINT64_MAX - 1};
	struct sampler sampler = {0};

	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			cr_assert(sample(&sampler, sizes[i], 1), "size %lu", (unsigned long)sizes[i]);
	}
}

Test(sampler, size_zero_has_no_weight)
{
	struct sampler sampler = {0};

	for (int i = 0; i < 100000; i++)
		cr_assert(!sample(&sampler, 0, 2));
}

Test(sampler, huge_sizes_do_not_wrap)
{
	static const uint64_t rates[] = {2, 524288, (uint64_t)1 << 40, SAMPLER_RATE_MAX};
	static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, (uint64_t)1 << 62};

	for (size_t r = 0; r < 4; r++) {
		struct sampler sampler = {0};

		for (int i = 0; i < 1000; i++) {
			cr_assert(sample(&sampler, sizes[i % 4], rates[r]));
			sample(&sampler, 1, rates[r]);
			cr_assert(sampler.countdown <= SAMPLER_CHUNK_BYTES);
			cr_assert(sampler.rest_bytes < (uint64_t)1 << 62);
		}
	}
}

Test(sampler, skipping_counts_the_bytes)
{
	struct sampler sampler = {.countdown = 100};

	cr_assert(sampler_skips(&sampler, 99));
	cr_assert_eq(sampler.countdown, 1);
	cr_assert(sampler_skips(&sampler, 0));
	cr_assert(!sampler_skips(&sampler, 1));
	cr_assert(!sampler_skips(&sampler, UINT64_MAX));
	cr_assert_eq(sampler.countdown, 1);
}

/* A thread that drew a gap of terabytes sees a lower rate after a chunk at the latest. */
Test(sampler, rate_change_takes_effect_within_a_chunk)
{
	uint64_t hits = 0;

	for (uint64_t seed = 1; seed <= 1000; seed++) {
		struct sampler sampler = {0};
		uint64_t bytes = 0;

		sampler_seed(&sampler, seed);
		sample(&sampler, 16, SAMPLER_RATE_MAX);
		while (sampler_skips(&sampler, 4096))
			bytes += 4096;
		cr_assert(bytes <= SAMPLER_CHUNK_BYTES);
		cr_assert_eq(sampler_judge(&sampler, 4096, 8192), 0); /* the last one of the old gap */
		cr_assert_eq(sampler.rate, 8192);
		for (int i = 0; i < 1000; i++)
			hits += sample(&sampler, 4096, 8192);
	}
	expect_probability(hits, 1000000, sampled_probability(4096, 8192), "after the change");
}

/* What was drawn under the old rate is sampled under the old rate. */
Test(sampler, a_gap_counts_under_the_rate_it_was_drawn_under)
{
	struct sampler sampler = {0};

	sampler_seed(&sampler, 9);
	cr_assert(sample(&sampler, 16, 1));
	cr_assert_eq(sampler_judge(&sampler, 16, (uint64_t)1 << 50), 1);
	cr_assert_eq(sampler.rate, (uint64_t)1 << 50);
	cr_assert(!sample(&sampler, 16, (uint64_t)1 << 50)); /* sampled by 1 seed in 10^13 */
}

static uint64_t gaps_of[8][4];

static void draw_gaps(unsigned index)
{
	struct sampler sampler = {0};

	sampler_judge(&sampler, 0, SAMPLER_RATE_MAX);
	for (unsigned i = 0; i < 4; i++)
		gaps_of[index][i] = sampler_gap(&sampler, SAMPLER_RATE_MAX);
}

/* Two of the 32 gaps of about 2^56 are the same by chance with a probability below 1e-13. */
Test(sampler, threads_draw_different_sequences)
{
	const uint64_t *gaps = gaps_of[0];

	race(8, draw_gaps);
	for (unsigned i = 0; i < 32; i++) {
		for (unsigned j = 0; j < i; j++)
			cr_assert_neq(gaps[i], gaps[j]);
	}
}

/* As in a forked child: the same state must not repeat the parent's numbers. */
Test(sampler, new_process_seed_gives_new_numbers)
{
	struct sampler parent = {0}, child;

	sampler_judge(&parent, 0, SAMPLER_RATE_MAX);
	child = parent;
	cr_assert_eq(sampler_gap(&child, SAMPLER_RATE_MAX), sampler_gap(&parent, SAMPLER_RATE_MAX));
	sampler_seed_process();
	sampler_reset(&child);
	cr_assert_eq(child.rate, 0);
	sampler_judge(&child, 0, SAMPLER_RATE_MAX);
	cr_assert_neq(sampler_gap(&child, SAMPLER_RATE_MAX), sampler_gap(&parent, SAMPLER_RATE_MAX));
}
