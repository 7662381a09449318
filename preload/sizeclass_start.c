/* sizeclass_start.c - brings the fallback recorder up, through forks, and down: what start.c is to the sampling one. */
#include "core/arena.h"
#include "core/module.h"
#include "preload/dump.h"
#include "preload/early.h"
#include "preload/helper.h"
#include "preload/message.h"
#include "preload/operators_slow.h"
#include "preload/profiler.h"
#include "preload/sizeclass_malloc.h"
#include "preload/trigger.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The C++ ABI's exit handlers. Source: Itanium C++ ABI, 3.3.6.3; without a DSO handle the handler is the process's
 * own. */
int __cxa_atexit(void (*handler)(void *), void *argument, void *dso_handle);

int64_t profiler_rate = PROFILER_NOT_RELOCATED;
__thread struct thread profiler_thread;
struct options profiler_options;

static struct arena arena;	   /* the modules' */
static uintptr_t inherited_allocs; /* counted before the last fork that led to this process */

static uintptr_t total_allocs(void)
{
	uintptr_t total = 0;

	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		struct sizeclass_counts sums;

		sizeclass_read(&sizeclass_malloc_table, index, &sums);
		total += sums.allocs;
	}
	return total;
}

static void after_fork_in_child(void)
{
	helper_reset_child();
	dump_reset_child();
	trigger_reset_child();
	inherited_allocs = total_allocs();
}

static void at_exit(void *unused)
{
	(void)unused;
	helper_wait();
	if (profiler_options.exit && total_allocs() != inherited_allocs)
		trigger_exit();
}

/* Counting began with the first allocation, before this. */
__attribute__((constructor)) static void start(void)
{
	early_phase();
	message_init();
	options_parse(&profiler_options, getauxval(AT_SECURE) != 0 ? NULL : environ, message_raw);
	profiler_options.symbols = true; /* the classes' names are the only ones there are, and cost nothing */
	dump_init();
	operators_init();
	if (arena_init(&arena, profiler_options.memory) == 0) /* else profiles do without the program's name */
		module_init(&arena, (const void *)start);
	helper_init();
	trigger_init();
	pthread_atfork(NULL, NULL, after_fork_in_child);
	__cxa_atexit(at_exit, NULL, NULL); /* registered before main's own: runs after all destructors */
	store_relaxed(&profiler_rate, 1);  /* relaxed: no other thread exists; dumps show it as the period */
}
