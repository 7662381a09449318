/* absence.h - why a program that ran under the profiler has left no profile, or an empty one. */
#ifndef MPROF_TOOLS_ABSENCE_H
#define MPROF_TOOLS_ABSENCE_H

#include "core/options.h"
#include "tools/refusal.h"

#include <stdint.h>

/* The likeliest reason why a program into which the library could be loaded wrote no profile, and the way out. The options are those it
 * saw, the wait status says how it ended. */
void absence_explain(struct refusal *refusal, const struct options *options, int wait_status);

/* What to do when there is no sample at this rate (bytes; 0 = off). */
const char *absence_rate_advice(int64_t rate);

#endif
