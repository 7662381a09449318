/* bounds.h - which memory above a stack pointer surely is stack that can be read. */
#ifndef MPROF_CORE_BOUNDS_H
#define MPROF_CORE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* Words in [low, high) may be read. Where the end of the stack is not known (coroutines, alternate signal stacks) high is
 * the end of the page that low is in, and every further page is checked, with a system call, before it is read. */
struct bounds {
	uintptr_t low, high;
	bool growing; /* high may be moved up page by page */
};

/* The bounds above a stack pointer of the calling thread. A page of a thread's own stack is checked once in the thread's life, so
 * this makes no system call when warm.
 * Context: any thread, any signal handler (a nested call may redo the check); lock-free. */
struct bounds bounds_of(uintptr_t sp);

/* Move high up until the word at `address` lies below it. False when that is not stack. */
bool bounds_extend(struct bounds *bounds, uintptr_t address);

/* Whether the word at `address` may be read, extending the bounds when they grow. */
static inline bool bounds_allow(struct bounds *bounds, uintptr_t address)
{
	if (address % 8 != 0 || address < bounds->low)
		return false;
	return address <= bounds->high - 8 || (bounds->growing && bounds_extend(bounds, address));
}

/* Remember the main thread's stack end. Call once. */
void bounds_init(void);

#endif
