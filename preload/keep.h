/* keep.h - HEAPPROF_KEEP: only the newest files of this process stay. */
#ifndef MPROF_PRELOAD_KEEP_H
#define MPROF_PRELOAD_KEEP_H

#include <stdint.h>

struct arena;
struct output;

/* Reserve room for `count` files (0 = keep all) in `arena`. Call once, from the constructor. Returns 0 or -ENOMEM (all are kept). */
int keep_init(struct arena *arena, uint64_t count);

/* A file is complete: remove the one that it takes the place of, unless something else has its name by now. The buffer of the temporary name
 * is used. Context: any thread, any signal handler. */
void keep_newest(struct output *output);

/* In a forked child: the parent's files are not its own. */
void keep_reset_child(void);

#endif
