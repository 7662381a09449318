/* peak.h - the estimate of live bytes as it changes, and what every bucket held when it was highest. */
#ifndef MPROF_CORE_PEAK_H
#define MPROF_CORE_PEAK_H

#include "core/bucket.h"

#include <stdbool.h>
#include <stdint.h>

/* A new maximum makes no copy of the buckets: it only begins a new epoch. A bucket that changes for the first time in an epoch keeps what it
 * held before, which is what it held at the maximum; one that has not changed since still holds it. So a maximum costs nothing, and a
 * sample a comparison and now and then two stores.
 *
 * With several threads a change that is under way at the moment of a maximum may be counted or not: each thread can make the kept figures of
 * one bucket wrong by one object. */

/* Whether the estimate is followed at all; set once at load, before the first sample. */
extern bool peak_followed;

/* Call before bucket_count_alloc or bucket_count_free changes a bucket, where peak_followed. */
void peak_before_change(struct bucket *bucket);

/* An object sampled at `rate` came (call after its bucket was changed) or went: what it stands for is added or taken away.
 * Context, here and above: any thread, any signal handler; lock-free. */
void peak_add(uint64_t size, uint64_t rate);
void peak_subtract(uint64_t size, uint64_t rate);

/* The estimate of live bytes now; 0 when it is not followed. */
uint64_t peak_live(void);

/* The highest estimate so far, bytes; 0 when it is not followed. */
uint64_t peak_highest(void);

/* What a bucket held at that moment. Context: as snapshot_next (core/snapshot.h). */
struct bucket_held peak_held(const struct bucket *bucket);

#endif
