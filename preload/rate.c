/* rate.c - the sampling rate while the program runs, and where sampled objects may live because of it.
 *
 * free tells an object that was not sampled by `ptr & profiler_filter_mask` != 0. The mask is either 4095, which is
 * right while every sampled object that is alive starts a page, or 0, and then every free looks the pointer up. At
 * rates of RATE_PAGE_MIN and above sampled objects start a page, whatever the mask. At lower rates they may live
 * anywhere, each with leave (rate_begin_anywhere), which is given only while the mask is 0. `begun` and `ended` count
 * them.
 *
 *   Falling (to a low rate):   F1 mask = 0            F2 allowed = true
 *   Rising (to any other):     R1 allowed = false     R2 sum of ended, then of begun; if equal, R3 mask = 4095
 *   Allocating anywhere:       A1 begun += 1          A2 if allowed: go on; else ended += 1, and take a page
 *   Freeing:                   D1 load the mask       D2 look up, remove, ended += 1
 *
 * Claim: when an object x that lives anywhere is freed, D1 finds 0. Transitions are made by one thread at a time
 * (settle). A2 of x read the true of some F2, and so comes after its F1. Whatever stores 4095 after that F1 is a rise R
 * whose R1 comes after that F2, which A2 therefore did not see: in the one order of all sequentially consistent
 * operations A1 < A2 < R1 < R2, so R2 counts x as begun. Since ended is summed first, and whatever ended had begun,
 * equal sums mean that nothing is alive anywhere: so R3 is reached only if R2 counts x as ended too. Then D2 of x, and
 * D1 before it, happened before R3 (released at D2, acquired at R2): D1 cannot have found R3's 4095. Nor an older one
 * than F1's 0, because F1 -> F2 -> A2 -> the program hands x over -> D1.
 *
 * A rise that has to wait for objects is made when the last of them dies. One missed by a race is only a slower free
 * until the next rate_set. Rejected: counting in the buckets, which would need no counters here, but a walk over all
 * buckets for each try. */
#include "preload/rate.h"

#include "core/atomic.h"
#include "core/sampler.h"
#include "preload/early.h"
#include "preload/profiler.h"

#include <errno.h>

#define PAGE_MASK ((uintptr_t)4095)
#define NO_OBJECT_MASK UINTPTR_MAX
#define SHARDS 16U /* as the counters of a hot bucket: at rate 1 every allocation comes here */

int64_t profiler_rate = PROFILER_NOT_RELOCATED;
uintptr_t profiler_filter_mask;

/* Objects anywhere; each only grows. */
static struct shard {
	uint64_t begun, ended; /* atomic */
} __attribute__((aligned(64))) shards[SHARDS];

static bool allowed;	  /* atomic: leave is given; true only while the mask is 0 */
static bool started;	  /* set once in the constructor */
static uint64_t requests; /* atomic: calls of settle not yet served; whoever made it 1 serves them all */
static unsigned server;	  /* atomic: that thread's index; read in a forked child */

/* Whether objects may live anywhere at this rate. */
static bool is_low(int64_t rate)
{
	return rate > 0 && (uint64_t)rate < RATE_PAGE_MIN;
}

static bool none_anywhere(void)
{
	uint64_t begun = 0, ended = 0;

	for (unsigned i = 0; i < SHARDS; i++)
		ended += load_seq_cst(&shards[i].ended); /* acquires too: pairs with the add in rate_end_anywhere */
	for (unsigned i = 0; i < SHARDS; i++)
		begun += load_seq_cst(&shards[i].begun); /* R2 and A1 of the proof */
	return begun == ended;
}

/* Make mask and leave what the rate asks for, as far as living objects allow it. By one thread at a time. */
static void adapt(void)
{
	if (is_low(load_relaxed(&profiler_rate))) { /* relaxed: settle has acquired it */
		store_relaxed(&profiler_filter_mask, 0);
		store_seq_cst(&allowed, true); /* releases too: pairs with the load in rate_begin_anywhere */
		return;
	}
	store_seq_cst(&allowed, false); /* R1 and A2 of the proof */
	if (none_anywhere())
		store_relaxed(&profiler_filter_mask,
			      PAGE_MASK); /* relaxed: a free that still sees 0 looks closer, no more */
}

/* Adapt, or leave it to the thread (or the interrupted code of this one) that is at it already: it will look again. */
static void settle(void)
{
	/* Acquire and release both: the last server's stores are visible here, and our caller's rate to whoever
	 * serves. */
	uint64_t seen = add_seq_cst(&requests, 1) + 1;

	if (seen != 1)
		return;
	store_relaxed(&server, profiler_thread_index()); /* relaxed: a child has its parent's memory as it was */
	do {
		adapt();
	} while (!cas_release(&requests, &seen, 0));
}

int rate_set(uint64_t rate)
{
	if (rate > SAMPLER_RATE_MAX)
		return -EINVAL;
	if (!started)
		return -ENOMEM;
	if (rate != 0)
		cas_relaxed(&profiler_filter_mask, &(uintptr_t){NO_OBJECT_MASK}, PAGE_MASK);
	/* Release: pairs with the acquire in rate_get; who samples has seen that mask, and passes it on with the object. */
	store_release(&profiler_rate, (int64_t)rate);
	settle();
	return 0;
}

void rate_start(uint64_t rate)
{
	started = true;
	if (rate == 0 && !early_used()) /* single-threaded */
		store_relaxed(&profiler_filter_mask, NO_OBJECT_MASK);
	else
		rate_set(rate);
}

uint64_t rate_get(void)
{
	int64_t rate = load_acquire(&profiler_rate); /* pairs with the store in rate_set */

	return rate > 0 ? (uint64_t)rate : 0;
}

bool rate_begin_anywhere(uint64_t rate, unsigned shard)
{
	if (rate >= RATE_PAGE_MIN)
		return false;
	add_seq_cst(&shards[shard % SHARDS].begun, 1); /* A1 and R2 of the proof */
	if (load_seq_cst(&allowed))		       /* A2 and R1; acquires too: pairs with the store in adapt */
		return true;
	rate_end_anywhere(shard);
	return false;
}

void rate_end_anywhere(unsigned shard)
{
	add_seq_cst(&shards[shard % SHARDS].ended, 1); /* releases too: pairs with the load in none_anywhere */
	/* The mask relaxed: nothing depends on a rise being noticed at once. */
	if (!load_seq_cst(&allowed) && load_relaxed(&profiler_filter_mask) == 0 && none_anywhere())
		settle();
}

void rate_reset_child(void)
{
	/* Single-threaded. If fork was called by a handler that interrupted this thread's own adapt, that will go on.
	 * Objects that other threads were just allocating count forever: then the mask never rises, which is safe. */
	if (load_relaxed(&requests) != 0 && load_relaxed(&server) == profiler_thread_index())
		return;
	store_relaxed(&requests, 0);
	settle();
}
