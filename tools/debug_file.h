/* debug_file.h - the debug information of a program or library that was profiled. */
#ifndef MPROF_TOOLS_DEBUG_FILE_H
#define MPROF_TOOLS_DEBUG_FILE_H

#include "tools/debug_file_search.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum debug_file_result {
	DEBUG_FILE_OK,	    /* it was found, with debug information or without */
	DEBUG_FILE_MISSING, /* it is not there, or cannot be read */
	DEBUG_FILE_CHANGED, /* what is there is not what was profiled */
};

struct debug_file {
	struct debug_file_search search;
	int64_t time_ns; /* when the profile was written; 0 = unknown */
	char *path;	 /* where it was found: the file, or its debug file when only that is there. NULL = nowhere */
	int fd;		 /* of it, until libdwfl has it */
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf *dwarf;	   /* NULL = it has no debug information */
	Dwarf_Addr bias;   /* an address in the debug information is one in the file minus this */
	Dwarf_Addr lowest; /* of the file's code, as in the debug information */
};

/* Find the file, and its debug information: in itself, or wherever the debugging tools look (build ID, .gnu_debuglink, debuginfod), and the
 * directories of `search`. Both must have the build ID of `search`; a file without one must be older than `time_ns`, and the debug
 * file it links to have the checksum it says. debug_file_close is due in each case.
 * Context: the process ends when memory does. */
enum debug_file_result debug_file_open(struct debug_file *file, const struct debug_file_search *search,
				       int64_t time_ns);
void debug_file_close(struct debug_file *file);

/* Where the file's bytes from `offset` on are as it was linked (p_vaddr), given that the profile has them mapped somewhere. False when no
 * segment of code is there. */
bool debug_file_segment(const struct debug_file *file, uint64_t offset, Dwarf_Addr *start);

#endif
