/* peak.c - the estimate of live bytes as it changes, and what every bucket held when it was highest. */
#include "core/peak.h"

#include "core/atomic.h"

#include <math.h>

bool peak_followed;

static uint64_t live;	 /* atomic: estimate, bytes */
static uint64_t highest; /* atomic: its maximum; only grows */
static uint64_t epoch;	 /* atomic: number of maxima so far */

/* Bytes one sampled object stands for, on average: it was sampled with probability 1 - exp(-size / rate). Source: pprof/unsample.c, which
 * does it for a whole bucket. Always the same for the same object, so that nothing is left when it is gone. */
static uint64_t weight(uint64_t size, uint64_t rate)
{
	if (rate <= 1 || size == 0)
		return size;
	return (uint64_t)((double)size / -expm1(-(double)size / (double)rate));
}

void peak_before_change(struct bucket *bucket)
{
	uint64_t now = load_acquire(&epoch); /* pairs with the add_release in peak_add */
	if (load_relaxed(&bucket->peak.epoch) == now)
		return;
	/* Relaxed: peak.h says what two threads here at once may do to each other. */
	struct bucket_held held = bucket_hold(bucket);
	store_relaxed(&bucket->peak.held.objects, held.objects);
	store_relaxed(&bucket->peak.held.bytes, held.bytes);
	store_release(&bucket->peak.epoch, now); /* pairs with the load_acquire in peak_held */
}

void peak_add(uint64_t size, uint64_t rate)
{
	uint64_t bytes = weight(size, rate);
	uint64_t after = add_relaxed(&live, bytes) + bytes; /* relaxed: only the sum counts */
	uint64_t before = load_relaxed(&highest);

	while (after > before) {
		if (cas_relaxed(&highest, &before, after)) {
			add_release(&epoch, 1); /* pairs with the load_acquire in peak_before_change */
			break;
		}
	}
}

void peak_subtract(uint64_t size, uint64_t rate)
{
	add_relaxed(&live, -weight(size, rate)); /* relaxed: as in peak_add */
}

uint64_t peak_live(void)
{
	return load_relaxed(&live);
}

uint64_t peak_highest(void)
{
	return load_relaxed(&highest);
}

struct bucket_held peak_held(const struct bucket *bucket)
{
	uint64_t kept = load_acquire(&bucket->peak.epoch); /* pairs with the store_release in peak_before_change */

	if (kept != load_acquire(&epoch))
		return bucket_hold(bucket);
	return (struct bucket_held){load_relaxed(&bucket->peak.held.objects), load_relaxed(&bucket->peak.held.bytes)};
}
