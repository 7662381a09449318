/* trigger.c - what asks for dumps: the signal, time, growth, the end of memory. */
#include "preload/trigger.h"

#include "core/loss.h"
#include "core/peak.h"
#include "core/request.h"
#include "core/sys.h"
#include "preload/answer.h"
#include "preload/dump.h"
#include "preload/helper.h"
#include "preload/profiler.h"
#include "preload/quiet.h"
#include "preload/totals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#define NS_PER_S 1000000000

bool trigger_watches;

static int64_t next_due;	/* atomic: monotonic ns of the next dump by HEAPPROF_INTERVAL */
static uint64_t grown_bytes;	/* atomic: the estimate at the last dump by HEAPPROF_GROWTH; only grows */
static bool out_of_memory_once; /* atomic: the dump by HEAPPROF_OOM has been asked for */
/* Atomic: the process that is writing a dump to HEAPPROF_OUT, or 0: one at a time, so that they are in order. The process, because a child made
 * without libc's fork has its parent's word but not its helper. */
static int dumping;

static void write_dump(const struct task *task)
{
	(void)task;
	dump_to_pattern();
	store_release(&dumping, 0); /* pairs with the cas_acquire in begin_dump: the next one begins after this one */
}

static void write_answer(const struct task *task)
{
	answer(task->asker, &task->request);
}

/* Whether none is being written, and this one may be. */
static bool begin_dump(void)
{
	int self = sys_getpid(), other = load_relaxed(&dumping);

	return other != self && cas_acquire(&dumping, &other, self); /* pairs with the store_release in write_dump */
}

/* Have a helper dump to HEAPPROF_OUT; where there can be none this thread does. */
static void ask_for_dump(void)
{
	struct task task = {.work = write_dump};
	int error;

	if (!begin_dump()) {
		loss_count(LOSS_dumps_skipped);
		return;
	}
	error = helper_start(&task);
	if (error == -EBUSY) {
		loss_count(LOSS_dumps_skipped);
		store_relaxed(&dumping, 0); /* relaxed: nothing was done */
	} else if (error < 0) {
		write_dump(&task);
	}
}

void trigger_exit(void)
{
	struct task task = {.work = write_dump};

	totals_ask_ahead();
	/* A helper even now: the program's other threads may close descriptors, and open others in their place. */
	if (helper_start(&task) < 0)
		dump_to_pattern();
	helper_wait();
}

static void ask_for_answer(int asker, const struct request *request)
{
	struct task task = {.work = write_answer, .asker = asker, .request = *request};
	int error = helper_start(&task);
	struct quiet quiet;

	if (error == 0)
		return;
	quiet_begin(&quiet);
	if (error == -EBUSY)
		answer_busy(asker, request);
	else
		answer(asker, request);
	quiet_end(&quiet, -EPIPE); /* if the asker has hung up, that is no news for the program */
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	struct request request;
	int saved = errno;

	(void)signal;
	(void)context;
	if (info->si_code == SI_QUEUE && request_unpack((uintptr_t)info->si_value.sival_ptr, &request))
		ask_for_answer(info->si_pid, &request);
	else
		ask_for_dump();
	errno = saved;
}

static void install_handler(void)
{
	struct sigaction action, old;

	if (profiler_options.signal == 0 || sigaction(profiler_options.signal, NULL, &old) != 0)
		return;
	if ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)
		return;
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	sigaction(profiler_options.signal, &action, NULL);
}

static int64_t interval_ns(void)
{
	return (int64_t)profiler_options.interval * NS_PER_S;
}

void trigger_init(void)
{
	peak_followed = profiler_options.peak || profiler_options.growth != 0;
	trigger_watches = profiler_options.interval != 0 || profiler_options.growth != 0;
	next_due = sys_monotonic_ns() + interval_ns();
	if (profiler_options.oom)
		dump_keep_spare();
	install_handler();
}

static bool interval_is_over(void)
{
	int64_t now, due;

	if (profiler_options.interval == 0)
		return false;
	now = sys_monotonic_ns();
	due = load_relaxed(&next_due); /* relaxed, here and below: of all threads one gets the exchange */
	return now >= due && cas_relaxed(&next_due, &due, now + interval_ns());
}

static bool has_grown(uint64_t live_bytes)
{
	uint64_t last = load_relaxed(&grown_bytes);

	return profiler_options.growth != 0 && live_bytes >= last && live_bytes - last >= profiler_options.growth &&
	       cas_relaxed(&grown_bytes, &last, live_bytes);
}

void trigger_sampled(uint64_t live_bytes)
{
	bool due = interval_is_over();

	if (has_grown(live_bytes) || due)
		ask_for_dump();
}

void trigger_out_of_memory(void)
{
	unsigned busy = profiler_thread.busy;

	if (!profiler_options.oom || exchange_relaxed(&out_of_memory_once, true))
		return;
	profiler_thread.busy = 1; /* jemalloc may hold its locks: a dump made in place must not ask it anything */
	ask_for_dump();
	helper_wait();
	profiler_thread.busy = busy;
}

void trigger_reset_child(void)
{
	next_due = sys_monotonic_ns() + interval_ns(); /* single-threaded */
	out_of_memory_once = false;
	dumping = 0;
}
