/* symbolizer_table.h - strings and functions added to a decoded profile, each once. */
#ifndef MPROF_TOOLS_SYMBOLIZER_TABLE_H
#define MPROF_TOOLS_SYMBOLIZER_TABLE_H

#include "pprof/decode.h"

#include <libiberty/hashtab.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer_table {
	Perftools__Profiles__Profile *profile;
	htab_t strings, functions;
	size_t string_cap, function_cap; /* room in the profile's arrays */
};

/* What is added is the profile's, and freed with it. Context, here and below: the process ends when memory does. */
void symbolizer_table_init(struct symbolizer_table *table, Perftools__Profiles__Profile *profile);

/* The index of a string in the profile. What is no UTF-8 in it, and control characters, become question marks. */
int64_t symbolizer_table_string(struct symbolizer_table *table, const char *text);

/* The id of the function with these name, system name and file (string indexes); a new one gets this first line. */
uint64_t symbolizer_table_function(struct symbolizer_table *table, int64_t name, int64_t system_name, int64_t file,
				   int64_t start_line);

/* Drop the functions that no location refers to any more, and give the others the ids 1..N in the order in which locations refer to them. */
void symbolizer_table_finish(struct symbolizer_table *table);

#endif
