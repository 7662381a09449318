/* delta.h - what a process allocated between two profiles of raw counts. */
#ifndef MPROF_TOOLS_DELTA_H
#define MPROF_TOOLS_DELTA_H

#include "pprof/decode.h"

#include <stdint.h>

/* Make of two profiles that answered REQUEST_DUMP_RAW, one after the other, the usual one: `second` becomes it, `first` is used up and
 * only to be freed. What was allocated is the difference of the raw counts, and all other values are the second's; then all are
 * unsampled, each by the rate it was sampled at. (The difference of unsampled values would be that of two estimates that were rounded
 * one by one, and wrong where the rate changed in between.) Samples are matched by the addresses of their stacks, their object size and
 * their rate; those of the result that differ by rate only are added up, and those left without any value are dropped.
 *
 * Returns 0; -EBADMSG when one is not of raw counts, or -ERANGE when a count went down, as after a reset: both are then useless. */
int delta_make(Perftools__Profiles__Profile *first, Perftools__Profiles__Profile *second, int64_t duration_ns);

#endif
