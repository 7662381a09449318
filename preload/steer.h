/* steer.h - the requests of `mprof` that are not for a profile: rate, reset, status. */
#ifndef MPROF_PRELOAD_STEER_H
#define MPROF_PRELOAD_STEER_H

#include "core/request.h"

/* Do what is asked, and answer (preload/answer.h). Context: a helper, or any thread. */
void steer(int pipe, const struct request *request);

#endif
