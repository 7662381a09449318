/* helper.h - a short-lived thread of the profiler's own, so that the program's threads go on while it writes. */
#ifndef MPROF_PRELOAD_HELPER_H
#define MPROF_PRELOAD_HELPER_H

#include "core/request.h"

/* What a helper is to do; copied when it starts. */
struct task {
	void (*work)(const struct task *task);
	int asker;		/* process that waits for an answer */
	struct request request; /* and what it asked */
};

/* Keep stacks ready. Call once, from the constructor. */
void helper_init(void);

/* Have a thread do the task: made by a bare clone, with all signals blocked, on a stack and thread-local storage of its own, known neither
 * to libc nor to the program, gone when it is done. It has a table of descriptors of its own, where 0, 1 and 2 are the program's: a fork
 * inherits none of those it opens, and it can open some when the program has none left.
 * Returns 0; -EBUSY when as many as can be are at work; another negative errno when there can be none (no memory for their stacks; clone
 * refused, as a seccomp filter may): then do the task in place.
 * Context: any thread, any signal handler. The caller goes on at once. */
int helper_start(const struct task *task);

/* Wait until no helper is at work, but 10 s at most. Context: not in a helper. */
void helper_wait(void);

/* In a forked child: those of the parent are not there. */
void helper_reset_child(void);

#endif
