/* sampler.h - decides which allocations are sampled. */
#ifndef MPROF_CORE_SAMPLER_H
#define MPROF_CORE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Sampling is a Poisson process over bytes: the gaps between sampled bytes are exponential with mean `rate`, so an
 * object of size s is sampled with probability 1 - exp(-s / rate) whatever was allocated before it. A bounded gap
 * distribution would lock its phase onto periodic allocation patterns.
 *
 * The pending gap is counted down in chunks of at most SAMPLER_CHUNK_BYTES. At the end of a chunk a thread that finds another
 * rate than the one it drew under draws again, which is exact because the exponential has no memory. A gap that ends
 * before that counts under the rate it was drawn under. So a new rate
 * reaches every running thread within one chunk, without a registry of threads. */
#define SAMPLER_CHUNK_BYTES ((uint64_t)1 << 20)

/* Highest rate; gaps then stay below 2^62. */
#define SAMPLER_RATE_MAX ((uint64_t)1 << 56)

/* One thread's state. All zero is valid: the first allocation draws a gap and is then judged like any other.
 * Only its own thread reads or writes it. */
struct sampler {
	uint64_t countdown;  /* bytes until the cold half must look; an allocation of that many or more goes there */
	uint64_t rest_bytes; /* what of the pending gap lies beyond countdown */
	uint64_t rate;	     /* the rate the gap was drawn under; 0 = none drawn yet */
	uint64_t random[4];  /* xoshiro256++ state; all zero = not seeded */
};

/* The hot half: true when the allocation is surely not sampled; its bytes are then counted. Else call sampler_judge. */
static inline bool sampler_skips(struct sampler *sampler, uint64_t size)
{
	uint64_t countdown = sampler->countdown;

	/* Unsigned, and >= before the subtraction: a size near 2^64 cannot wrap the countdown. */
	if (__builtin_expect(size >= countdown, 0))
		return false;
	sampler->countdown = countdown - size;
	return true;
}

/* The cold half: the rate under which an allocation of `size` bytes is to be sampled, or 0 when it is not. `rate` (at least 1) is
 * the one in force now; the gap that ends with this object may have been drawn under the one before. At rate 1 every
 * allocation is sampled, those of size 0 too.
 * Context: the state's own thread; async-signal-safe against other threads' states. */
uint64_t sampler_judge(struct sampler *sampler, uint64_t size, uint64_t rate);

/* Take new entropy for the states seeded from now on; call at load and in a forked child. */
void sampler_seed_process(void);

/* Forget the pending gap and the random state; the next allocation draws afresh (in a forked child, for the surviving thread). */
void sampler_reset(struct sampler *sampler);

/* Seed one state with a fixed number, for tests. */
void sampler_seed(struct sampler *sampler, uint64_t seed);

/* Number of bytes to the next sampled byte: exponential with mean `rate`, rounded up, at least 1. */
uint64_t sampler_gap(struct sampler *sampler, uint64_t rate);

#endif
