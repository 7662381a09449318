/* bucket.h - counters of sampled objects, one bucket per (stack, size, rate). */
#ifndef MPROF_CORE_BUCKET_H
#define MPROF_CORE_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define BUCKET_SHARDS 16U     /* counters of a hot bucket, a cache line each */
#define BUCKET_DETAIL_BITS 16 /* what bucket_detail needs */
#define BUCKET_ID_BITS 30     /* ids are below 2^30: buckets are 64-byte aligned in an arena of at most 64 GiB */

/* Each only grows; in-use is allocs - frees. Threads add, dumps read. */
struct bucket_counts {
	uint64_t allocs; /* atomic: sampled objects allocated */
	uint64_t frees;	 /* atomic: of those, freed */
};

/* What is in use of a bucket. */
struct bucket_held {
	uint64_t objects, bytes;
};

/* The same for a hot bucket, where threads would fight for one cache line. */
struct bucket_shard {
	struct bucket_counts counts;
} __attribute__((aligned(64)));

/* Immutable once published but for the atomic counters and `shards`; never freed. */
struct bucket {
	struct bucket *next;	     /* older bucket of the same chain, or NULL */
	struct bucket_shard *shards; /* atomic: BUCKET_SHARDS of them once the bucket is hot, else NULL */
	uint64_t size;		     /* requested bytes of each object; of [other]: lower bound of the size class */
	uint64_t rate;		     /* mean bytes between samples they were taken under */
	uint32_t hash;		     /* of (stack, size), not of the rate: twins share a chain */
	uint16_t depth;		     /* frames below; 0 = no stack */
	uint16_t is_other;	     /* 1 = [other]: objects of one size class whose stacks were given up */
	struct bucket_counts counts;
	uint64_t base_frees; /* atomic: frees at the last reset (core/snapshot.h); resets write, dumps read */
	struct {
		uint64_t epoch; /* atomic: of which maximum it is what follows (core/peak.h) */
		struct bucket_held held;
	} peak;
	union {
		uint64_t frames[1]; /* depth frame words, leaf first */
		struct {
			/* atomic; [other] only, where sizes differ: bytes of the objects counted */
			uint64_t allocs, frees, base_frees;
		} bytes;
	};
};

/* Reserve the table of chain heads in `arena`, where buckets are allocated from then on. Call once, before any other function
 * here. Returns 0 or -ENOMEM. */
int bucket_init(struct arena *arena);

/* The bucket of this (stack, size, rate), made when it is new. When the arena has no room for another one the stack is given up: the
 * result is then the [other] bucket of the size's class, and LOSS_other is counted. NULL only when not even that one could
 * be made (counted as LOSS_dropped).
 * Context: any thread, any signal handler; lock-free: a look-up walks immutable nodes, an insertion is one compare-and-swap. */
struct bucket *bucket_of(const uint64_t *frames, size_t depth, uint64_t size, uint64_t rate);

/* What must be remembered of an object besides its bucket to know its size again: 0 but for [other], where it is the place in the size
 * class. bucket_object_size gives the size back, exact up to 256 KiB and to 18 significant bits above. */
uint64_t bucket_detail(const struct bucket *bucket, uint64_t size);
uint64_t bucket_object_size(const struct bucket *bucket, uint64_t detail);

/* Count one sampled object of `size` bytes (as bucket_object_size gives it) coming or going. `shard` is any number that
 * differs between threads: it spreads the counters of a hot bucket. */
void bucket_count_alloc(struct bucket *bucket, uint64_t size, unsigned shard);
void bucket_count_free(struct bucket *bucket, uint64_t size, unsigned shard);

/* Sums over all shards. Frees come first: who sees them sees their allocations, so that the difference is never negative. */
uint64_t bucket_sum_frees(const struct bucket *bucket);
uint64_t bucket_sum_allocs(const struct bucket *bucket);

/* What is in use of it now. */
struct bucket_held bucket_hold(const struct bucket *bucket);

/* A bucket as a number from 1 to 2^BUCKET_ID_BITS - 1, and back. */
uint64_t bucket_id(const struct bucket *bucket);
struct bucket *bucket_from_id(uint64_t id);

/* Number of buckets made so far. */
uint64_t bucket_total(void);

/* The table of chain heads, for snapshots: bucket_head_count() cells, each read with load_acquire. */
size_t bucket_head_count(void);
struct bucket *const *bucket_heads(void);

/* Whether two buckets have the same stack and size (they may differ by rate). */
bool bucket_same_site(const struct bucket *a, const struct bucket *b);

#endif
