/* arch.h - what depends on the processor: one file per architecture (core/arch_<arch>.c), chosen by the Makefile. */
#ifndef MPROF_CORE_ARCH_H
#define MPROF_CORE_ARCH_H

#include <stdint.h>

/* libunwind's generic library for this architecture, and what its functions' names start with. */
extern const char arch_unwinder_library[];
extern const char arch_unwinder_prefix[];

/* libunwind's number of the frame pointer register. */
extern const int arch_frame_pointer;

/* Call function(argument) on another stack, whose highest address (16-byte aligned) is given, and come back.
 * Context: signals must be blocked meanwhile. */
void arch_call_on_stack(void (*function)(void *argument), void *argument, uintptr_t stack_top);

/* Start a thread that calls function(argument) and exits: clone(2) with these flags, the stack's highest address (16-byte aligned), a
 * thread pointer (CLONE_SETTLS) and the word to clear at the end (CLONE_CHILD_CLEARTID). Returns its id or a negative errno. */
long arch_clone(unsigned long flags, uintptr_t stack_top, void *thread_pointer, uint32_t *child_tid,
		void (*function)(void *argument), void *argument);

/* Bytes of the calling thread's control block, at its thread pointer, that compiled code reads. */
#define ARCH_CONTROL_BLOCK_BYTES 64

/* Make the block at `thread_pointer` usable as such: a copy of the calling thread's, but with its own address in it. */
void arch_init_control_block(void *thread_pointer);

#endif
