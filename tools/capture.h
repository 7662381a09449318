/* capture.h - runs a program out of sight and gives what it wrote. */
#ifndef MPROF_TOOLS_CAPTURE_H
#define MPROF_TOOLS_CAPTURE_H

#include "tools/buffer.h"

/* Run argv with the present environment, but for `settings` (NULL-terminated, may be NULL): NAME=VALUE, or NAME alone for a variable to
 * leave out. `stream` (1 or 2) is added to the buffer, the other two are /dev/null. Returns its wait status, or a negative errno. */
int capture_run(char *const argv[], char *const settings[], int stream, struct buffer *text);

#endif
