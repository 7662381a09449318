/* quiet.h - keeps a thread to itself while the profiler writes: no handler runs, and writing raises no signal. */
#ifndef MPROF_PRELOAD_QUIET_H
#define MPROF_PRELOAD_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* How the thread was found; on the stack of the caller. */
struct quiet {
	unsigned busy;	  /* profiler_thread.busy */
	uint64_t mask;	  /* blocked signals, bit n - 1 = signal n */
	uint64_t pending; /* of them, waiting */
	int saved_errno;
};

/* Block every signal, and judge no allocation of this thread, until quiet_end, which also puts errno back.
 * Context: any thread, any signal handler; nests. */
void quiet_begin(struct quiet *quiet);

/* `error`: how the writing ended. After -EPIPE and -EFBIG the signal that came with it is taken back, so that a reader
 * that is gone or a file size limit costs the program nothing. */
void quiet_end(const struct quiet *quiet, int error);

/* Whether the thread surely was not in a signal handler, nor in the profiler's cold half: it then holds no lock of
 * jemalloc. Surely: no signal was blocked, as its own is in a handler, and it was not on a stack for handlers. A
 * handler with SA_NODEFER on the ordinary stack is taken for none; if it interrupted malloc, exit() may hang in malloc
 * there anyway. */
bool quiet_outside_handlers(const struct quiet *quiet);

#endif
