/* absence.c - why there is no profile. */
#include "tools/absence.h"

#include "tools/format.h"

#include <string.h>
#include <sys/wait.h>

#define DEFAULT_RATE 524288

const char *absence_rate_advice(int64_t rate)
{
	if (rate == 0)
		return "turn sampling on: HEAPPROF_RATE=512K is the default, 1 records every allocation";
	if (rate > DEFAULT_RATE)
		return "sample more: HEAPPROF_RATE=512K is the default";
	if (rate > 1)
		return "record every allocation: HEAPPROF_RATE=1, which costs little when there are few";
	return "memory that it takes by mmap or from an allocator of its own is not seen";
}

void absence_explain(struct refusal *refusal, const struct options *options, int wait_status)
{
	if (options->rate == 0) {
		refusal_set(refusal, 0, "the rate is 0, which turns sampling off");
		refusal_advise(refusal, "%s", absence_rate_advice(0));
	} else if (!options->exit) {
		refusal_set(refusal, 0, "none was asked for (HEAPPROF_EXIT is 0)");
		refusal_advise(refusal, "unset HEAPPROF_EXIT, or ask while it runs: mprof dump PID");
	} else if (WIFSIGNALED(wait_status)) {
		const char *name = sigabbrev_np(WTERMSIG(wait_status));

		refusal_set(refusal, 0, "the program was killed by SIG%s before it could write one",
			    name != NULL ? name : "RT");
		refusal_advise(refusal,
			       "have profiles written while it runs: mprof dump PID, or HEAPPROF_INTERVAL=SECONDS");
	} else {
		refusal_set(refusal, 0, "the program allocated too little for a sample (rate %s), or ended by _exit",
			    format_bytes((int64_t)options->rate).text);
		refusal_advise(refusal, "%s", absence_rate_advice((int64_t)options->rate));
	}
}
