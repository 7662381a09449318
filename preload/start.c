/* start.c - brings the profiler up before any other constructor, through forks, and down after all destructors. */
#include "core/arena.h"
#include "core/bucket.h"
#include "core/live.h"
#include "core/module.h"
#include "core/stack.h"
#include "preload/dump.h"
#include "preload/early.h"
#include "preload/message.h"
#include "preload/operators.h"
#include "preload/profiler.h"
#include "preload/trigger.h"

#include <pthread.h>
#include <sys/auxv.h>

/* Sampled objects start a page at this rate and above: below it a page each would cost more memory than it saves time. */
#define PAGE_HOME_RATE_MIN ((uint64_t)128 << 10)

/* The C++ ABI's exit handlers. Source: Itanium C++ ABI, 3.3.6.3; without a DSO handle the handler is the process's own. */
int __cxa_atexit(void (*handler)(void *), void *argument, void *dso_handle);

int64_t profiler_rate = PROFILER_NOT_RELOCATED;
uintptr_t profiler_filter_mask;
__thread struct thread profiler_thread;
struct options profiler_options;
bool profiler_sampled;

static struct arena arena;

unsigned profiler_thread_index(void)
{
	static unsigned last; /* atomic */

	if (profiler_thread.index == 0)
		profiler_thread.index = add_relaxed(&last, 1) + 1; /* relaxed: only different numbers are wanted */
	return profiler_thread.index;
}

static void after_fork_in_child(void)
{
	sampler_seed_process();
	sampler_reset(&profiler_thread.sampler);
	stack_reset_child();
	dump_reset_child();
	profiler_sampled = false;
}

static void at_exit(void *unused)
{
	(void)unused;
	if (profiler_options.exit && load_relaxed(&profiler_sampled)) { /* relaxed: a late sample is no loss */
		profiler_thread.busy = 1;
		dump_to_pattern();
		profiler_thread.busy = 0;
	}
}

/* Bring up the parts that sampling needs. False when there is no memory for them. */
static bool start_engine(void)
{
	if (arena_init(&arena, profiler_options.memory) < 0 || bucket_init(&arena) < 0)
		return false;
	live_init(&arena);
	module_init(&arena, (const void *)start_engine);
	if (stack_init(&arena, profiler_options.depth) < 0)
		message_line("libunwind.so.8 not found: profiles will have no stacks (install libunwind8)");
	return true;
}

static void start_sampling(uint64_t rate)
{
	early_phase();
	if (rate == 0 || rate >= PAGE_HOME_RATE_MIN)
		store_relaxed(&profiler_filter_mask, 4095);
	/* Release: pairs with nothing that reads it relaxed; threads do not exist yet, and later ones are created after this. */
	store_release(&profiler_rate, (int64_t)rate);
}

/* -z initfirst makes this the first constructor of the process, so that other libraries' are profiled; libc has not kept the
 * environment yet, so it comes from the arguments. */
__attribute__((constructor)) static void start(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	profiler_thread.busy = 1;
	message_init();
	options_parse(&profiler_options, getauxval(AT_SECURE) != 0 ? NULL : environment, message_raw);
	dump_init();
	operators_init();
	if (start_engine()) {
		sampler_seed_process();
		trigger_init();
		pthread_atfork(NULL, NULL, after_fork_in_child);
		__cxa_atexit(at_exit, NULL, NULL); /* registered before main's own: runs after all destructors */
		start_sampling(profiler_options.rate);
	} else {
		message_line("no memory for the profiler: the program runs without it");
	}
	profiler_thread.busy = 0;
}
