/* answer.h - what `mprof` asks of this process (core/request.h), answered. */
#ifndef MPROF_PRELOAD_ANSWER_H
#define MPROF_PRELOAD_ANSWER_H

#include "core/request.h"

/* Do what process `asker` wants and answer through its pipe. A pipe that cannot be opened is not answered, nor a name that is no pipe.
 * Context: best in a helper (preload/helper.h): it may take as long as a dump does, and waits for the reader. */
void answer(int asker, const struct request *request);

/* Tell it that there is nobody to do so. Context: any thread, any signal handler. */
void answer_busy(int asker, const struct request *request);

/* Write the answer's first line, `what` and `reason` of core/request.h. Returns 0 or a negative errno. */
int answer_say(int pipe, const char *what, const char *reason);

#endif
