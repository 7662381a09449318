/* keep.h - HEAPPROF_KEEP: only the newest files of this process stay. */
#ifndef MPROF_PRELOAD_KEEP_H
#define MPROF_PRELOAD_KEEP_H

#include <stdint.h>

struct arena;
struct output;

/* A file that this process wrote: what its name was made of, and what tells it from another that has taken the name. */
struct keep_file {
	uint64_t number; /* %n */
	int64_t seconds; /* %t */
	uint64_t device, inode;
};

/* Reserve room for `count` files (0 = keep all) in `arena`. Call once, from the constructor. Returns 0 or -ENOMEM (all are kept). */
int keep_init(struct arena *arena, uint64_t count);

/* A file is complete: remove the one that it takes the place of, unless something else has its name by now. `output` tells the pattern,
 * and is used to find the old name. Context: any thread, any signal handler. */
void keep_newest(const struct keep_file *file, struct output *output);

/* In a forked child: the parent's files are not its own. */
void keep_reset_child(void);

#endif
