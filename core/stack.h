/* stack.h - a captured call stack: frame words, leaf first. */
#ifndef MPROF_CORE_STACK_H
#define MPROF_CORE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A frame is one 64-bit word: the return address in the low 48 bits (user addresses have at most 47) and in the high
 * 16 the id of the module it belonged to when captured (core/module.h; 0 = no module), so that a later dlclose
 * cannot re-attribute it and two stacks compare with one memcmp. */
#define FRAME_PC_BITS 48
#define STACK_DEPTH_MAX 1024 /* frames; the upper bound of HEAPPROF_DEPTH */

static inline uint64_t frame_make(uintptr_t pc, unsigned module)
{
	return ((uint64_t)module << FRAME_PC_BITS) | (pc & (((uint64_t)1 << FRAME_PC_BITS) - 1));
}

static inline uintptr_t frame_pc(uint64_t frame)
{
	return frame & (((uint64_t)1 << FRAME_PC_BITS) - 1);
}

static inline unsigned frame_module(uint64_t frame)
{
	return (unsigned)(frame >> FRAME_PC_BITS);
}

struct stack_options {
	size_t depth;		  /* frames to keep, at most STACK_DEPTH_MAX */
	bool frame_pointers_only; /* do without libunwind */
	const char *directory;	  /* of libmprof.so: libunwind is looked for there first; NULL = only on the system */
};

/* Make capture possible: load the unwinder privately, reserve its tables in `arena`, capture once. Call once, from the library's
 * constructor, after module_init. Returns 0; -ENOENT when there is no libunwind (frame pointers only, then); -ENOMEM (no captures).
 */
int stack_init(struct arena *arena, const struct stack_options *options);

/* A captured stack. It lives in a buffer taken from a pool, because a thread's own stack may be too small for it. */
struct stack {
	size_t depth;		/* frames; 0 when none could be had */
	const uint64_t *frames; /* frame words, leaf first, the profiler's own left out */
	unsigned buffer;	/* index in the pool, for stack_release */
};

/* Capture the calling thread's stack. `hint` is any number that differs between threads: it spreads them over the pool.
 * Context: any thread; not re-entrant in one thread (the caller holds the per-thread guard). */
void stack_capture(struct stack *stack, unsigned hint);

/* Give the buffer back; the frames are gone. */
void stack_release(struct stack *stack);

/* In a forked child, whose other threads are gone: take back the buffers they held. */
void stack_reset_child(void);

#endif
