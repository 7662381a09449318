/* snapshot.h - a consistent set of buckets to read while the program goes on allocating. */
#ifndef MPROF_CORE_SNAPSHOT_H
#define MPROF_CORE_SNAPSHOT_H

#include "core/bucket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* One (stack, size, rate) with its raw, unscaled counts: what Go calls a MemProfileRecord. They count from the last
 * snapshot_reset: allocs are the objects that were alive then and those allocated since, frees the ones freed since, so
 * that allocs - frees is always what is in use. */
struct record {
	const uint64_t
		*frames; /* frame words (core/stack.h), leaf first; depth of them; valid for the life of the process */
	uint32_t depth;	 /* 0 = no stack ([other], or none could be captured) */
	uint64_t size;	 /* requested bytes of each object; for [other] the lower bound of its size class */
	uint64_t rate;	 /* mean bytes between samples in force when these were sampled */
	uint64_t allocs, frees;		  /* sampled objects; frees <= allocs */
	uint64_t alloc_bytes, free_bytes; /* of those objects; free_bytes <= alloc_bytes */
	struct bucket_held peak;	  /* in use when the estimate of live bytes was highest (core/peak.h) */
};

/* The set of buckets that existed at one moment. The set is frozen; counts are read when a record is. */
struct snapshot {
	const struct bucket **heads; /* chain heads as they were, in the scratch arena */
	size_t head_count;
};

/* Freeze the present set of buckets. Returns 0 or -ENOMEM (scratch full).
 * Context: any thread, any signal handler; takes no lock and stops nobody. */
int snapshot_take(struct snapshot *snapshot, struct arena *scratch);

/* Position in a snapshot; start from {0}. */
struct snapshot_cursor {
	size_t head;		    /* index of the next chain to enter */
	const struct bucket *chain; /* head of the chain being walked */
	const struct bucket *at;    /* the bucket last returned; NULL at the start */
	const struct bucket *twin;  /* the bucket snapshot_twin last returned */
};

/* Read the next (stack, size). Where several buckets share both and differ by rate, this gives the first and
 * snapshot_twin the others:
 *
 *     while (snapshot_next(&snapshot, &cursor, &record)) {
 *             do { unsample record with its own rate, add up } while (snapshot_twin(&cursor, &record));
 *     }
 *
 * Returns false at the end. Reads frees before allocs, so that in-use is never negative. */
bool snapshot_next(const struct snapshot *snapshot, struct snapshot_cursor *cursor, struct record *record);
bool snapshot_twin(struct snapshot_cursor *cursor, struct record *record);

/* Make now the moment that records count from, by keeping of each bucket how many objects have been freed. Of several
 * resets at once each bucket takes part in one or the other; records read meanwhile are as before or as after.
 * Context: as snapshot_take. */
void snapshot_reset(void);

/* What all buckets hold, never reset: sampled objects allocated so far, and how many of them have been freed.
 * Context: as snapshot_take. */
struct bucket_counts snapshot_sum(void);

#endif
