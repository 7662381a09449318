/* location.h - the distinct addresses of a snapshot, each to become one Location. */
#ifndef MPROF_PPROF_LOCATION_H
#define MPROF_PPROF_LOCATION_H

#include "core/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct symbol;

struct location {
	uint64_t frame;	       /* frame word (core/stack.h); 0 = the lost stack */
	struct symbol *symbol; /* the function it lies in (pprof/symbols.h); NULL = not asked for */
	uint64_t id;	       /* Location.id; 0 = in no sample so far */
};

/* A set of locations keyed by frame word. First it is filled, then read: locations move while it grows. */
struct locations {
	struct arena *scratch;
	struct location *slots; /* hash table, open addressing; frame 0 = free */
	size_t slot_count;	/* a power of two, more than half of it free */
	size_t count;
	struct location other; /* what stands for stacks that were lost; not counted */
};

/* Returns 0 or -ENOMEM. */
int locations_init(struct locations *locations, struct arena *scratch);

/* Put a frame in, if it is not there yet. Returns 0 or -ENOMEM. */
int locations_add(struct locations *locations, uint64_t frame);

/* The location of a frame that was put in; for frame 0 the lost stack's. */
struct location *locations_find(struct locations *locations, uint64_t frame);

/* All `count` locations sorted by frame word, that is by module and then by address; NULL when the scratch arena is
 * full. */
struct location **locations_sorted(struct locations *locations);

/* An address inside the call instruction. A frame holds the return address, which may already belong to the next
 * line, or, when the call never returns, to the next function. */
static inline uintptr_t location_address(const struct location *location)
{
	uintptr_t pc = frame_pc(location->frame);

	return pc ? pc - 1 : 0;
}

#endif
