/* sizeclass_steer.c - the requests of `mprof` that are not for a profile: the fallback recorder has nothing to steer. */
#include "preload/steer.h"

#include "preload/answer.h"

void steer(int pipe, const struct request *request)
{
	(void)request;
	answer_say(pipe, REQUEST_FAILED, "libmprof-sizeclass.so counts everything: it only answers mprof dump");
}
