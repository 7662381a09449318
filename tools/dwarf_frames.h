/* dwarf_frames.h - the source lines and inlined calls of many addresses of one file, from its debug information. */
#ifndef MPROF_TOOLS_DWARF_FRAMES_H
#define MPROF_TOOLS_DWARF_FRAMES_H

#include "tools/dwarf_names.h"

#include <elfutils/libdw.h>
#include <stddef.h>

/* One function at an address, and the line it is at. */
struct dwarf_frame {
	const struct dwarf_name *function; /* NULL = unknown */
	const char *directory;		   /* what `file` is relative to, if it is; NULL = unknown */
	const char *file;		   /* that the line is in; NULL = unknown */
	int line;			   /* 0 = unknown, or code that stands for no line */
};

/* Told of each address that something is known of: frames[0] is the innermost inlined function, frames[count - 1] the one whose code it is.
 * What they point to lasts until dwarf_frames_find returns. */
typedef void dwarf_frames_found(void *context, size_t index, const struct dwarf_frame *frames, size_t count);

/* Look up `count` addresses, which are distinct and sorted. Each unit of the debug information that has any is read once, the others not
 * beyond their first entry; nothing depends on an index (.debug_aranges), which many compilers leave out. `lowest` is the lowest address
 * that can have code: what linkers leave of dropped functions lies below, at 0 or 1.
 * Context: the process ends when memory does. */
void dwarf_frames_find(Dwarf *dwarf, Dwarf_Addr lowest, const Dwarf_Addr *addresses, size_t count,
		       dwarf_frames_found *found, void *context);

#endif
