/* keep.c - HEAPPROF_KEEP: only the newest files of this process stay. */
#include "preload/keep.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/sys.h"
#include "preload/output.h"

#include <errno.h>
#include <stddef.h>

/* A file that this process wrote: what its name was made of, and what tells it from another that has taken the name. */
struct file {
	uint64_t number; /* %n */
	int64_t seconds; /* %t */
	uint64_t device, inode;
};

/* A place in the ring. */
struct place {
	unsigned busy;	  /* atomic: 1 while a dump looks at it */
	struct file file; /* device and inode 0 = none yet */
};

static struct place *ring;
static uint64_t ring_count;
static uint64_t turn; /* atomic: files so far */

int keep_init(struct arena *arena, uint64_t count)
{
	if (count == 0)
		return 0;
	ring = arena_alloc(arena, count * sizeof(*ring), sizeof(uint64_t));
	if (ring == NULL)
		return -ENOMEM;
	ring_count = count;
	return 0;
}

/* Remove the file if it is still what this process wrote. */
static void remove_old(const struct file *old, struct output *output)
{
	struct output_name name = output->name;
	uint64_t device, inode;

	if (old->device == 0 && old->inode == 0)
		return;
	name.number = old->number;
	name.seconds = old->seconds;
	/* The temporary name has served: its buffer is free. */
	if (output_expand(output->pattern, &name, output->temporary, sizeof(output->temporary)) == 0 &&
	    sys_path_identity(output->temporary, &device, &inode) == 0 && device == old->device && inode == old->inode)
		sys_unlink(output->temporary);
}

void keep_newest(struct output *output)
{
	struct place *place;
	unsigned idle = 0;

	if (ring_count == 0 || !output_is_numbered(output->pattern))
		return;
	place = &ring[add_relaxed(&turn, 1) % ring_count]; /* relaxed: only different places are wanted */
	/* A whole round came between: this file is given up to whoever is still there, and stays. */
	if (!cas_acquire(&place->busy, &idle, 1))
		return;
	remove_old(&place->file, output);
	place->file = (struct file){
		.number = output->name.number,
		.seconds = output->name.seconds,
		.device = output->device,
		.inode = output->inode,
	};
	store_release(&place->busy, 0); /* pairs with the cas_acquire above */
}

void keep_reset_child(void)
{
	for (uint64_t i = 0; i < ring_count; i++)
		ring[i] = (struct place){0}; /* single-threaded */
	turn = 0;
}
