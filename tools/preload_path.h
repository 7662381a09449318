/* preload_path.h - where libmprof.so is, and LD_PRELOAD with it. */
#ifndef MPROF_TOOLS_PRELOAD_PATH_H
#define MPROF_TOOLS_PRELOAD_PATH_H

#include "tools/refusal.h"

/* Find libmprof.so: beside the tool in a build tree, in ../lib when installed. Returns its path, to be freed; NULL, and the refusal says
 * why, when it is in neither place, or where LD_PRELOAD cannot name it. */
char *preload_path_find(struct refusal *refusal);

/* Put the library first in this process's LD_PRELOAD. Context: changes environ. */
void preload_path_set(const char *library);

#endif
