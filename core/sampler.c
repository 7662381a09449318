/* sampler.c - decides which allocations are sampled. */
#include "core/sampler.h"

#include "core/atomic.h"
#include "core/sys.h"

#include <math.h>

static uint64_t process_seed;  /* written at load and in a forked child, both single-threaded */
static uint64_t seeded_states; /* atomic: how many states took a seed */

/* Source: Sebastiano Vigna, splitmix64 (public domain, 2015): spreads a counter over 64 bits. */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* Source: David Blackman and Sebastiano Vigna, xoshiro256++ 1.0 (public domain, 2019). */
static uint64_t random_next(uint64_t s[4])
{
	uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

void sampler_seed_process(void)
{
	sys_random(&process_seed, sizeof(process_seed));
}

void sampler_seed(struct sampler *sampler, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		sampler->random[i] = splitmix(&seed);
}

void sampler_reset(struct sampler *sampler)
{
	*sampler = (struct sampler){0};
}

static bool seeded(const struct sampler *sampler)
{
	return (sampler->random[0] | sampler->random[1] | sampler->random[2] | sampler->random[3]) != 0;
}

uint64_t sampler_gap(struct sampler *sampler, uint64_t rate)
{
	/* 53 random bits as a number in (0, 1]: never 0, whose logarithm is infinite. */
	double uniform = (double)((random_next(sampler->random) >> 11) + 1) * 0x1p-53;
	double gap = ceil(-log(uniform) * (double)rate);

	return gap < 1 ? 1 : (uint64_t)gap;
}

static void set_pending(struct sampler *sampler, uint64_t bytes)
{
	sampler->countdown = bytes < SAMPLER_CHUNK_BYTES ? bytes : SAMPLER_CHUNK_BYTES;
	sampler->rest_bytes = bytes - sampler->countdown;
}

static void draw(struct sampler *sampler, uint64_t rate)
{
	if (!seeded(sampler)) {
		/* Relaxed: only the numbers' being different counts. */
		sampler_seed(sampler, process_seed + add_relaxed(&seeded_states, 1) * 0xD1342543DE82EF95);
	}
	sampler->rate = rate;
	set_pending(sampler, rate == 1 ? 0 : sampler_gap(sampler, rate));
}

uint64_t sampler_judge(struct sampler *sampler, uint64_t size, uint64_t rate)
{
	uint64_t pending, drawn_under;

	if (sampler->rate == 0)
		draw(sampler, rate);
	pending = sampler->countdown + sampler->rest_bytes;
	drawn_under = sampler->rate;
	if (size >= pending) {
		draw(sampler, rate); /* the overshoot is discarded: memoryless */
		return drawn_under;
	}
	if (drawn_under == rate)
		set_pending(sampler, pending - size);
	else
		draw(sampler, rate); /* this object has had its chance; the next one begins a new gap */
	return 0;
}
