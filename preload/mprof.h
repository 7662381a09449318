/* mprof.h - lets a program talk to the heap profiler it may be running under.
 *
 * Nothing needs linking: every function is a weak symbol, NULL when the program runs without libmprof.so. A program can
 * ship with calls like
 *
 *     if (mprof_dump != NULL)
 *             mprof_dump("/tmp/heap.pb.gz");
 *
 * C and C++. Unless said otherwise a function may be called from any thread and from a signal handler, takes no lock,
 * allocates nothing from the heap, and leaves errno alone: errors are negative errno values. */
#ifndef MPROF_PRELOAD_MPROF_H
#define MPROF_PRELOAD_MPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPROF_WEAK __attribute__((weak, visibility("default")))

/* Addresses that a record has room for; deeper stacks are cut at the root end. */
#define MPROF_STACK_MAX 128

/* One (stack, size, rate) with its raw counts, as in Go's runtime.MemProfileRecord: nothing is scaled. To estimate what
 * was really allocated, multiply counts and bytes by 1 / (1 - exp(-(bytes / objects) / rate)); at rate 1 they are
 * exact. */
struct mprof_record {
	uint64_t alloc_objects, free_objects; /* sampled objects; free_objects <= alloc_objects */
	uint64_t alloc_bytes, free_bytes;     /* as requested by the program */
	uint64_t rate;			      /* mean bytes between samples when these were taken */
	size_t depth;			      /* addresses in stack; 0 = no stack could be kept */
	uintptr_t stack[MPROF_STACK_MAX];     /* return addresses, leaf first */
};

/* The profile as an array: Go's runtime.MemProfile. Fills records[0..capacity) with what it has room for and returns
 * how many records there are, which may be more than capacity (call again with more room; new ones can appear
 * meanwhile). With include_freed 0, records of which nothing is in use are left out. records may be NULL when capacity
 * is 0. Counts go from the last mprof_reset. Returns -ENOMEM when the profiler has no memory for the snapshot. */
MPROF_WEAK long mprof_records(struct mprof_record *records, size_t capacity, int include_freed);

/* Mean bytes between samples now; 0 = off. */
MPROF_WEAK uint64_t mprof_rate(void);

/* Set it: 0 stops sampling at once, 1 records every allocation. A running thread takes a new rate over within 1 MiB of
 * its allocations; objects sampled before stay tracked, and profiles scale each object with the rate it was sampled
 * under. Returns 0, -EINVAL for a rate above 2^56, or -ENOMEM when the profiler could not start. */
MPROF_WEAK int mprof_set_rate(uint64_t rate);

/* Write the profile of this moment to a new file (an existing one is replaced once the new one is complete), or to an
 * open descriptor, which stays open; it should block, or -EAGAIN may leave half a profile in it. In the format
 * HEAPPROF_FORMAT says. Outside signal handlers jemalloc is asked for its own total as well, which takes its locks for
 * a moment. Returns 0 or a negative errno; no message is printed, and no SIGPIPE or SIGXFSZ raised. */
MPROF_WEAK int mprof_dump(const char *path);
MPROF_WEAK int mprof_dump_fd(int fd);

/* Start the counts of what has been allocated afresh: from now on profiles and records count what is alive at this
 * moment and what is allocated later, and frees from here. What was allocated and freed before is forgotten. In-use
 * values are not changed by it, and stay the difference: in use = allocated - freed. (Counts of allocations since the
 * reset alone would not have that property, and readers that compute it would see negative numbers.) To see only what
 * happened between two moments subtract profiles instead: `go tool pprof -base`. Returns 0. */
MPROF_WEAK int mprof_reset(void);

/* Figures about the profiler itself. The caller sets `size` to sizeof(struct mprof_stats); later versions append
 * fields. On return it is the number of bytes filled. */
struct mprof_stats {
	size_t size;
	uint64_t rate;	       /* mean bytes between samples */
	uint64_t samples;      /* taken so far; no reset changes this */
	uint64_t buckets;      /* distinct (stack, size, rate) */
	uint64_t live_objects; /* sampled objects not freed */
	uint64_t memory_bytes; /* of the profiler's own, used */
	uint64_t memory_limit_bytes;
	/* What was lost, by cause (core/loss.def): */
	uint64_t lost_other;	 /* stacks given up for lack of memory */
	uint64_t lost_untracked; /* objects whose death cannot be seen */
	uint64_t lost_dropped;	 /* samples dropped */
	uint64_t lost_no_stack;	 /* samples without a stack */
	uint64_t lost_truncated; /* stacks cut */
	uint64_t lost_reentered; /* allocations not judged */
	uint64_t lost_dumps_failed;
	uint64_t lost_dumps_skipped; /* dumps asked for while others were being written */
	uint64_t lost_modules;	     /* frames in libraries beyond the 4,095 that are remembered */
};

/* Returns 0, or -EINVAL when size is smaller than that of this version's first release. */
MPROF_WEAK int mprof_stats(struct mprof_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
