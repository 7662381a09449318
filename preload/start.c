/* start.c - brings the profiler up at load, through forks, and down after all destructors. */
#include "core/arena.h"
#include "core/bucket.h"
#include "core/learn.h"
#include "core/live.h"
#include "core/module.h"
#include "core/stack.h"
#include "preload/dump.h"
#include "preload/early.h"
#include "preload/helper.h"
#include "preload/keep.h"
#include "preload/message.h"
#include "preload/operators_slow.h"
#include "preload/profiler.h"
#include "preload/rate.h"
#include "preload/totals.h"
#include "preload/trigger.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The C++ ABI's exit handlers. Source: Itanium C++ ABI, 3.3.6.3; without a DSO handle the handler is the process's own. */
int __cxa_atexit(void (*handler)(void *), void *argument, void *dso_handle);

__thread struct thread profiler_thread;
struct options profiler_options;
bool profiler_sampled;
struct arena profiler_arena;

unsigned profiler_thread_index(void)
{
	static unsigned last; /* atomic */

	if (profiler_thread.index == 0)
		profiler_thread.index = add_relaxed(&last, 1) + 1; /* relaxed: only different numbers are wanted */
	return profiler_thread.index;
}

/* Signal handlers of the forking thread must not come to need the lock that is held from here to the end of the fork. */
static void before_fork(void)
{
	profiler_thread.busy++;
	learn_before_fork();
}

static void after_fork_in_parent(void)
{
	learn_after_fork();
	profiler_thread.busy--;
}

static void after_fork_in_child(void)
{
	learn_after_fork();
	profiler_thread.busy--;
	sampler_seed_process();
	sampler_reset(&profiler_thread.sampler);
	stack_reset_child();
	rate_reset_child();
	totals_init();
	helper_reset_child();
	dump_reset_child();
	trigger_reset_child();
	profiler_sampled = false;
}

static void at_exit(void *unused)
{
	(void)unused;
	helper_wait(); /* the end of the process would cut off what it writes */
	if (profiler_options.exit && load_relaxed(&profiler_sampled)) /* relaxed: a late sample is no loss */
		trigger_exit();
}

/* Where libmprof.so was loaded from; NULL when that has no directory or is too long. */
static const char *own_directory(char *buf, size_t cap)
{
	struct dl_find_object object;
	const char *path, *slash;
	size_t length;

	if (_dl_find_object((void *)own_directory, &object) != 0)
		return NULL;
	path = object.dlfo_link_map->l_name;
	slash = strrchr(path, '/');
	length = slash == NULL ? cap : (size_t)(slash - path);
	if (length >= cap)
		return NULL;
	memcpy(buf, path, length);
	buf[length] = '\0';
	return buf;
}

/* Bring up the parts that sampling needs. False when there is no memory for them. */
static bool start_engine(void)
{
	char directory[1024];
	struct stack_options stack = {
		.depth = profiler_options.depth,
		.frame_pointers_only = !profiler_options.unwind,
		.directory = own_directory(directory, sizeof(directory)),
	};
	int error;

	if (arena_init(&profiler_arena, profiler_options.memory) < 0 || bucket_init(&profiler_arena) < 0)
		return false;
	live_init(&profiler_arena);
	module_init(&profiler_arena, (const void *)start_engine);
	error = stack_init(&profiler_arena, &stack);
	if (error == -ENOENT)
		message_line("libunwind-x86_64.so.8 not found: stacks follow frame pointers only (install libunwind8)");
	return error != -ENOMEM;
}

/* Allocations before this are plain ones. Rejected: -z initfirst, which would have the constructors of other libraries profiled too, but
 * also has our dlopen run libc's constructor too soon: main then has no environment. */
__attribute__((constructor)) static void start(void)
{
	early_phase(); /* the loader is done: allocations below are plain ones */
	profiler_thread.busy = 1;
	message_init();
	options_parse(&profiler_options, getauxval(AT_SECURE) != 0 ? NULL : environ, message_raw);
	dump_init();
	operators_init();
	if (start_engine()) {
		sampler_seed_process();
		totals_init();
		keep_init(&profiler_arena, profiler_options.keep); /* without room all are kept */
		helper_init();
		trigger_init();
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
		__cxa_atexit(at_exit, NULL, NULL); /* registered before main's own: runs after all destructors */
		rate_start(profiler_options.rate);
	} else {
		message_line("no memory for the profiler: the program runs without it");
	}
	profiler_thread.busy = 0;
}
