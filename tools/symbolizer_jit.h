/* symbolizer_jit.h - names for the locations of a profile that are in no file, from the process's perf map. */
#ifndef MPROF_TOOLS_SYMBOLIZER_JIT_H
#define MPROF_TOOLS_SYMBOLIZER_JIT_H

#include "pprof/decode.h"
#include "tools/symbolizer_place.h"
#include "tools/symbolizer_table.h"

#include <stddef.h>

/* Name those of the places, which are sorted by address, that have no name yet. The map is /tmp/perf-PID.map below `sysroot`; PID is that of the
 * process as it sees itself: of process `pid` if that is not 0, else what the profile says in a comment "process: pid=PID".
 * Context: the process ends when memory does. */
void symbolizer_jit(Perftools__Profiles__Profile *profile, struct symbolizer_table *table, const char *sysroot, int pid,
		    struct symbolizer_place *places, size_t count);

#endif
