/* bucket.h - counters of sampled objects, one bucket per (stack, size, rate). */
#ifndef MPROF_CORE_BUCKET_H
#define MPROF_CORE_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct snapshot;
struct snapshot_cursor;
struct record;

/* Immutable once published but for its atomic counters; never freed. */
struct bucket;

/* Reserve the table of chain heads in `arena`, where buckets are allocated from then on. Call once, before any other function
 * here. Returns 0 or -ENOMEM. */
int bucket_init(struct arena *arena);

/* The bucket of this (stack, size, rate), made when it is new. When the arena has no room for another one the stack is given up: the
 * result is then the [other] bucket of the size's class, and loss_other is counted. NULL only when not even that one could
 * be made (counted as loss_dropped).
 * Context: any thread, any signal handler; lock-free: a look-up walks immutable nodes, an insertion is one compare-and-swap. */
struct bucket *bucket_of(const uint64_t *frames, size_t depth, uint64_t size, uint64_t rate);

/* Count one sampled object of `size` bytes coming or going. `shard` is any number that differs between threads: it
 * spreads the counters of a hot bucket. */
void bucket_count_alloc(struct bucket *bucket, uint64_t size, unsigned shard);
void bucket_count_free(struct bucket *bucket, uint64_t size, unsigned shard);

/* Number of buckets, and of samples taken, so far in this process and its ancestors. */
uint64_t bucket_total(void);

#endif
