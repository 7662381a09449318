/* rate.h - the sampling rate while the program runs, and where sampled objects may live because of it. */
#ifndef MPROF_PRELOAD_RATE_H
#define MPROF_PRELOAD_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Objects sampled at this rate and above always start a page: below it a page each would cost more memory than it saves
 * time. */
#define RATE_PAGE_MIN ((uint64_t)128 << 10)

/* Begin sampling. Call once, from the constructor, when the engine is up and early_phase() is over. */
void rate_start(uint64_t rate);

/* Change the rate: 0 = off, else mean bytes between samples. Returns 0, -EINVAL above SAMPLER_RATE_MAX, or -ENOMEM when
 * the engine did not come up.
 * Context: any thread, any signal handler; lock-free. */
int rate_set(uint64_t rate);

/* The rate now; 0 = off, or not started. */
uint64_t rate_get(void);

/* Ask leave to put an object sampled at `rate` anywhere, not only at the start of a page. True: it counts as one until
 * rate_end_anywhere, to be called when it is dead or when nothing came of it. False: it must start a page. `shard` is
 * any number that differs between threads.
 * Context: any thread, any signal handler; lock-free. */
bool rate_begin_anywhere(uint64_t rate, unsigned shard);
void rate_end_anywhere(unsigned shard);

/* In a forked child: finish what a thread that is gone was doing here. */
void rate_reset_child(void);

#endif
