/* sizeclass_malloc.h - the fallback recorder: counts every allocation and free by size class, without stacks. */
#ifndef MPROF_PRELOAD_SIZECLASS_MALLOC_H
#define MPROF_PRELOAD_SIZECLASS_MALLOC_H

#include "core/sizeclass.h"

/* `make RECORDER=sizeclass` links the sizeclass_* files of this folder in place of the ones that sample. Each
 * implements an interface that exists: sizeclass_malloc.c preload/sampled.h, sizeclass_snapshot.c core/snapshot.h,
 * sizeclass_symbols.c pprof/symbols.h; and sizeclass_start.c does what start.c does. All else is shared, and never
 * asks which recorder it serves.
 *
 * What is counted, exactly:
 * - An object is a block that the malloc family handed out. realloc is a free and an allocation, in place or not; a
 *   failed call is nothing. Blocks handed out before the loader was done (preload/early.h) are not counted, nor is
 *   their end.
 * - Its bytes are what malloc_usable_size says of it: all that a free still knows. They are the same at both ends
 *   of a life, so what is in use is exact too, and never more than was allocated. jemalloc rounds a request up by
 *   less than 16 bytes up to 128 bytes, and by less than 25 % above; since all powers of two are sizes it has, the
 *   class is that of the requested size, except where an alignment was asked for that made the block larger.
 * - A profile says 1 as its rate: every allocation. HEAPPROF_RATE, _DEPTH, _UNWIND and _SYMBOLS change nothing. */
extern struct sizeclass_table sizeclass_malloc_table;

#endif
