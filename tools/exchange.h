/* exchange.h - asks a live process something by a signal and reads the answer from a pipe (core/request.h). */
#ifndef MPROF_TOOLS_EXCHANGE_H
#define MPROF_TOOLS_EXCHANGE_H

#include "core/request.h"
#include "tools/buffer.h"
#include "tools/process.h"

#include <stddef.h>
#include <stdint.h>

/* What followed the line "mprof 1 ok". */
struct answer {
	const char *body; /* n bytes and a NUL; in `all` */
	size_t n;
	int64_t asked_ns; /* when the request that it answers was sent; monotonic */
	struct buffer all;
};

/* Ask, as often as the process says that it is busy. `timeout_ms` is the longest silence: until the answer begins, and within it.
 * Returns 0 and the answer, to be freed; else there is none and the refusal says why: -ESRCH the process has ended, -ETIMEDOUT, or
 * another negative errno.
 * Context: single-threaded; the thread that takes the signal is chosen so as to disturb the process least. */
int exchange_ask(struct process *process, enum request_kind kind, uint64_t argument, unsigned timeout_ms,
		 struct answer *answer, struct refusal *refusal);

void exchange_free(struct answer *answer);

/* What the first line of an answer says. The body begins after its newline. */
enum exchange_verdict { EXCHANGE_OK, EXCHANGE_BUSY, EXCHANGE_FAILED, EXCHANGE_NONSENSE };

/* `reason` then points to what follows "failed: ", of *n bytes. */
enum exchange_verdict exchange_judge(const char *text, size_t n, const char **reason, size_t *reason_n);

#endif
