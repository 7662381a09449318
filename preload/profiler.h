/* profiler.h - what the hot and the cold half of the allocator share. */
#ifndef MPROF_PRELOAD_PROFILER_H
#define MPROF_PRELOAD_PROFILER_H

#include "core/arena.h"
#include "core/atomic.h"
#include "core/live.h"
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

/* A pointer whose bits under this mask are all zero may be a sampled object; others surely are not. 4095 while every sampled object that
 * is alive starts a page, 0 when any pointer may be one, all ones while there has been none. Atomic: preload/rate.c writes, every free
 * reads. */
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

/* What to do with an allocation. The first two are the same, on branches of their own: without sampling no more is executed than the load
 * and two tests. */
enum judgement {
	OFF,	   /* straight to jemalloc: nothing is sampled */
	PLAIN,	   /* straight to jemalloc: this one is not */
	COLD_HALF, /* preload/sampled.h */
};

/* Return from an allocating function by its plain or its sampled half. */
#define RETURN_JUDGED(size, plain, sampled) \
	do { \
		enum judgement judgement = judge(size); \
\
		if (unlikely(judgement == OFF)) \
			return plain; \
		if (likely(judgement == PLAIN)) \
			return plain; \
		return sampled; \
	} while (0)

/* Return from a function that is given an object, likewise. NULL takes the sampled half: jemalloc must not see it while the loader is at
 * work. */
#define RETURN_FILTERED(ptr, plain, sampled) \
	do { \
		if (likely(profiler_masks(ptr))) \
			return plain; \
		if (likely(ptr != NULL && !profiler_suspects(ptr))) \
			return plain; \
		return sampled; \
	} while (0)

#ifdef MPROF_RECORDER_SIZECLASS

/* The fallback recorder counts everything (preload/sizeclass_malloc.c): there is no hot half, and the compiler sees it. */
static inline enum judgement judge(size_t size)
{
	(void)size;
	return COLD_HALF;
}

static inline bool profiler_masks(const void *ptr)
{
	(void)ptr;
	return false;
}

static inline bool profiler_suspects(const void *ptr)
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
		return likely(rate == PROFILER_OFF) ? OFF : COLD_HALF;
	return likely(sampler_skips(&profiler_thread.sampler, size)) ? PLAIN : COLD_HALF;
}

/* Whether the mask holds a pointer back: it is no sampled object. */
static inline bool profiler_masks(const void *ptr)
{
	/* Relaxed: whoever handed the pointer over also ordered the mask in force at its allocation (preload/rate.c). */
	return ((uintptr_t)ptr & load_relaxed(&profiler_filter_mask)) != 0;
}

/* Of one that is let through: whether a sampled object lives in its page. */
static inline bool profiler_suspects(const void *ptr)
{
	return live_near((uintptr_t)ptr);
}

#endif

#endif
