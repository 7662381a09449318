/* profiler.h - what the hot and the cold half of the allocator share. */
#ifndef MPROF_PRELOAD_PROFILER_H
#define MPROF_PRELOAD_PROFILER_H

#include "core/arena.h"
#include "core/atomic.h"
#include "core/options.h"
#include "core/sampler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden"))) /* on a declaration: addressed directly, not through a table */
#define COLD __attribute__((cold, noinline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define PROFILER_OFF 0		    /* no sampling */
#define PROFILER_NOT_RELOCATED (-1) /* the loader is not done: thread-local storage cannot be used (preload/early.h) */

/* Mean bytes between samples, or one of the above. Atomic: preload/rate.c writes, every allocation reads. */
extern HIDDEN int64_t profiler_rate;

/* A pointer whose bits under this mask are all zero may be a sampled object; others surely are not. 4095 while every sampled
 * object that is alive starts a page, 0 when any pointer may be one. Atomic: preload/rate.c writes, every free reads. */
extern HIDDEN uintptr_t profiler_filter_mask;

/* One thread's state. All zero is valid. Only its own thread, and signal handlers that interrupt it, use it. */
struct thread {
	struct sampler sampler;
	unsigned busy;	/* 1 while the profiler works for this thread: its own allocations are not judged */
	unsigned index; /* differs between threads, from 1 (0 = not given yet): spreads counters and buffers */
};
_Static_assert(sizeof(struct thread) == 64, "one cache line of the program's thread-local storage");

extern HIDDEN __thread struct thread profiler_thread;

/* The parsed environment; written once at load. */
extern struct options profiler_options;

/* The profiler's own memory: buckets, live objects, modules, what the unwinder learnt. */
extern struct arena profiler_arena;

/* Whether a sample was taken in this process, not counting a parent's before fork. Atomic. */
extern bool profiler_sampled;

/* Number this thread: the value of profiler_thread.index, never 0. */
unsigned profiler_thread_index(void);

/* What to do with an allocation. */
enum judgement {
	PLAIN,	   /* straight to jemalloc */
	COLD_HALF, /* preload/sampled.h */
};

#ifdef MPROF_RECORDER_SIZECLASS

/* The fallback recorder counts everything (preload/sizeclass_malloc.c): there is no hot half, and the compiler sees it. */
static inline enum judgement judge(size_t size)
{
	(void)size;
	return COLD_HALF;
}

static inline bool profiler_may_be_sampled(const void *ptr)
{
	(void)ptr;
	return true;
}

#else

/* The hot half of every allocating function. */
static inline enum judgement judge(size_t size)
{
	/* Relaxed: a thread that still sees the old rate for a while is as good as one that allocated earlier. */
	int64_t rate = load_relaxed(&profiler_rate);

	if (unlikely(rate <= 0))
		return rate == PROFILER_OFF ? PLAIN : COLD_HALF;
	return likely(sampler_skips(&profiler_thread.sampler, size)) ? PLAIN : COLD_HALF;
}

/* Whether a free, realloc or malloc_usable_size of this pointer has to take the cold half. */
static inline bool profiler_may_be_sampled(const void *ptr)
{
	/* Relaxed: whoever handed the pointer over also ordered the mask in force at its allocation (preload/rate.c). */
	return ((uintptr_t)ptr & load_relaxed(&profiler_filter_mask)) == 0;
}

#endif

#endif
