/* places.h - writes the locations of a profile with the mappings and functions they refer to. */
#ifndef MPROF_PPROF_PLACES_H
#define MPROF_PPROF_PLACES_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct location;
struct strings;
struct writer;

/* Write a Location for each of location[0..count), which have the ids 1..count, and before each the Mapping and the
 * Function that it is the first to need: so all ids are 1..N in file order. Mapping 1 is the main program's, needed
 * or not. `named`: function names were asked for. Returns 0 or -ENOMEM; errors of the sink stay in `writer`. */
int places_write(struct writer *writer, struct strings *strings, struct location *const *location, size_t count,
		 bool named, struct arena *scratch);

#endif
