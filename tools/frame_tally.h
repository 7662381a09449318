/* frame_tally.h - what the frames of a profile lack, mapping by mapping: names, source lines, the rest of the stack. */
#ifndef MPROF_TOOLS_FRAME_TALLY_H
#define MPROF_TOOLS_FRAME_TALLY_H

#include "pprof/decode.h"

#include <stddef.h>

#define FRAME_OTHER "[other]" /* as pprof/encode.c calls samples whose stacks had no room */

struct frame_counts {
	size_t frames;	 /* in all samples, without those at the root that start every stack (main, _start, ...) */
	size_t nameless; /* with a placeholder for a name, or none */
	size_t lineless;
	size_t cut; /* stacks whose outermost frame is here, though nothing starts here */
};

struct frame_tally {
	struct frame_counts *mappings; /* by id; [0] = frames of no mapping */
	size_t frames, cut;	       /* in all of them */
};

/* Count. Whether a stack is whole cannot be told where its outermost frame has no name, but for code that is in no file: it is taken to be
 * whole. Ends the process when memory does. */
void frame_tally_init(struct frame_tally *tally, const Perftools__Profiles__Profile *profile);
void frame_tally_free(struct frame_tally *tally);

/* The name of the function a frame is of, that of the outermost if others are inlined; "" = none. */
const char *frame_function(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Location *location);

#endif
