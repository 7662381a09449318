/* perf_map.h - names of code that a process made itself (JIT compilers), from the map it wrote for perf(1). */
#ifndef MPROF_TOOLS_PERF_MAP_H
#define MPROF_TOOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map_name {
	uint64_t address; /* in; names are sorted by it */
	char *name;	  /* out; to be freed. NULL = not in the map */
};

/* Name addresses by a map file: lines of START SIZE NAME, in hexadecimal; of two lines for one address the later one holds. Only a regular
 * file of this user or of root is believed. False when there is none.
 * Context: the process ends when memory does. Source: Linux, tools/perf/Documentation/jit-interface.txt. */
bool perf_map_read(const char *path, struct perf_map_name *names, size_t count);

#endif
