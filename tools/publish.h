/* publish.h - files that appear whole or not at all, for their owner alone (mode 0600). */
#ifndef MPROF_TOOLS_PUBLISH_H
#define MPROF_TOOLS_PUBLISH_H

#include <stddef.h>

/* Write n bytes to the file `path`, replacing one that is there; what is not a regular file (a device, a FIFO) is written to in place.
 * Returns 0 or a negative errno, after which the old file is as it was.
 * Context, here and below: signals wait meanwhile, so that none leaves a half-written temporary file. */
int publish(const char *path, const void *data, size_t n);

/* Write to the first of mprof.ID.1.pb.gz, mprof.ID.2.pb.gz, ... in the working directory that does not exist; its name is left in
 * path[0..cap), and that pattern when there is none. Returns as above. */
int publish_numbered(int id, const void *data, size_t n, char *path, size_t cap);

#endif
