/* trigger.h - what asks for dumps: the signal, time, growth, the end of memory. */
#ifndef MPROF_PRELOAD_TRIGGER_H
#define MPROF_PRELOAD_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether trigger_sampled has anything to look at. Set once, in the constructor. */
extern bool trigger_watches;

/* Begin to watch what the options name. Installs the dump signal's handler, unless the program was started with that signal handled or
 * ignored, or HEAPPROF_SIGNAL is none. Call once, from the constructor. */
void trigger_init(void);

/* A sample was taken, after which the estimate of live bytes is `live_bytes` (0 = not followed): dump if HEAPPROF_INTERVAL or HEAPPROF_GROWTH
 * says so. Context, here and below: any thread, any signal handler; the dump is made by a helper (preload/helper.h). */
void trigger_sampled(uint64_t live_bytes);

/* An allocation failed, or jemalloc was refused memory: if HEAPPROF_OOM says so and this is the first time, dump, and wait until it is written:
 * the program may end now, or free what the profile is to show. */
void trigger_out_of_memory(void);

/* The process ends: dump to HEAPPROF_OUT, and wait until it is written. */
void trigger_exit(void);

/* In a forked child: its intervals and its growth begin now. */
void trigger_reset_child(void);

#endif
