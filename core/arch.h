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

#endif
