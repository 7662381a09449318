/* totals.h - the heap as a whole, from three sides: what was requested, what that takes up, what jemalloc says. */
#ifndef MPROF_PRELOAD_TOTALS_H
#define MPROF_PRELOAD_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

struct quiet;
struct snapshot;
struct text;

struct totals {
	uint64_t requested_bytes; /* estimate: what the live objects were requested with (the profile's inuse_space) */
	uint64_t allocated_bytes; /* estimate: the same in jemalloc's size classes */
	/* jemalloc's stats.allocated less the free blocks in the threads' caches: all that the program holds, whether
	 * the profiler could see it or not, in size classes, and a page for each sampled object that starts one. */
	uint64_t jemalloc_bytes;
	bool jemalloc_known;
};

/* Remember which process this is. Call from the constructor and in a forked child. */
void totals_init(void);

/* Take the totals of a snapshot. jemalloc is asked only where that surely cannot deadlock, for it takes its locks: not
 * in a signal handler or below jemalloc's own functions, and not in a child whose fork handlers did not run. `quiet` tells how the thread was found.
 * Context: any thread, any signal handler. */
void totals_take(struct totals *totals, const struct snapshot *snapshot, const struct quiet *quiet);

/* The process ends: ask jemalloc now, for the helper that writes the last profile, which cannot. Context: any thread. */
void totals_ask_ahead(void);

/* The line of the profile's comments that `mprof top --totals` reads:
 * "totals: requested_bytes=R allocated_bytes=A jemalloc_allocated_bytes=J", the last left out where it is not known. */
void totals_describe(const struct totals *totals, struct text *text);

#endif
