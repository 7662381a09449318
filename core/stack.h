/* stack.h - a captured call stack: frame words, leaf first. */
#ifndef MPROF_CORE_STACK_H
#define MPROF_CORE_STACK_H

#include <stddef.h>
#include <stdint.h>

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

/* Make capture possible: load the unwinder privately and run it once. Call once, from the library's constructor, before any
 * capture. Returns 0, or a negative errno when no unwinder was found (stack_capture then yields empty stacks). */
int stack_init(void);

/* Capture the calling thread's stack into frames[0..cap), leaf first, return addresses, the profiler's own frames left out.
 * Returns the number of frames, 0 when none could be had.
 * Context: any thread; not re-entrant in one thread (the caller holds the per-thread guard). */
size_t stack_capture(uint64_t *frames, size_t cap);

/* The unwinder's name and version for the user ("libunwind 1.6.2"), or NULL when there is none. */
const char *stack_unwinder(void);

#endif
