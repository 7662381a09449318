/* quiet.c - keeps a thread to itself while the profiler writes: no handler runs, and writing raises no signal. */
#include "preload/quiet.h"

#include "core/sys.h"
#include "preload/profiler.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

static uint64_t bit_of(int signal)
{
	return (uint64_t)1 << (signal - 1);
}

void quiet_begin(struct quiet *quiet)
{
	quiet->saved_errno = errno;
	quiet->busy = profiler_thread.busy;
	profiler_thread.busy = 1;
	sys_block_signals(&quiet->mask);
	quiet->pending = 0;
	sys_call(SYS_rt_sigpending, (long)&quiet->pending, sizeof(quiet->pending), 0, 0, 0, 0);
}

/* Take back a signal that the kernel sent to this thread for a write of ours. */
static void take_back(const struct quiet *quiet, int signal)
{
	uint64_t set = bit_of(signal) & ~quiet->pending; /* one that was waiting before is not ours */
	struct timespec at_once = {0};

	if (set != 0)
		sys_call(SYS_rt_sigtimedwait, (long)&set, 0, (long)&at_once, sizeof(set), 0, 0);
}

void quiet_end(const struct quiet *quiet, int error)
{
	if (error == -EPIPE)
		take_back(quiet, SIGPIPE);
	else if (error == -EFBIG)
		take_back(quiet, SIGXFSZ);
	sys_unblock_signals(&quiet->mask);
	profiler_thread.busy = quiet->busy;
	errno = quiet->saved_errno;
}

bool quiet_outside_handlers(const struct quiet *quiet)
{
	stack_t stack = {.ss_flags = SS_ONSTACK};

	if (quiet->busy != 0 || quiet->mask != 0)
		return false;
	sys_call(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0);
	return (stack.ss_flags & SS_ONSTACK) == 0;
}
