/* remedy.h - how to get the names or the source lines of a program or library. */
#ifndef MPROF_TOOLS_REMEDY_H
#define MPROF_TOOLS_REMEDY_H

#include "tools/binary.h"
#include "tools/findings.h"

/* Say what is missing of a file: "stripped" when its functions have no names, "no-debug-info" when they have no source lines, at this
 * level, with the way to get them; nothing when it has both. Subject and path may differ. Ends the process when memory does. */
void remedy_names(struct findings *findings, enum finding_level level, const char *subject, const char *path,
		  const struct binary *binary);

#endif
