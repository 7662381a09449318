/* request.h - how `mprof` asks a running process for something: what the signal carries, and how the process answers. */
#ifndef MPROF_CORE_REQUEST_H
#define MPROF_CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The process is sent the signal HEAPPROF_SIGNAL names with si_code SI_QUEUE, the asking process in si_pid, and a request, packed as below,
 * in si_value. It opens /proc/<si_pid>/fd/<fd>, which must be the writing end of a pipe, and writes its answer there: a line,
 *
 *     mprof 1 ok
 *     mprof 1 busy               it is answering others; nothing was done
 *     mprof 1 failed: REASON     nothing was done
 *
 * then, after "ok", what was asked for, up to the end of the file:
 *
 *     REQUEST_DUMP      the profile, gzipped, as it would be in a file (pprof's form whatever HEAPPROF_FORMAT says)
 *     REQUEST_RATE      nothing; `argument` is the new rate
 *     REQUEST_RESET     nothing; allocations are counted from zero again, what is in use stays
 *     REQUEST_STATUS    lines "NAME VALUE", the names of mprof_stats and of losses; VALUE runs to the end of the line
 *
 * A signal of any other kind asks for a dump to HEAPPROF_OUT, and nobody is told. */
#define REQUEST_ANSWER "mprof 1 "
#define REQUEST_OK "ok"
#define REQUEST_BUSY "busy"
#define REQUEST_FAILED "failed: "

enum request_kind { REQUEST_DUMP = 1, REQUEST_RATE, REQUEST_RESET, REQUEST_STATUS };

/* Arguments of REQUEST_DUMP. */
#define REQUEST_DUMP_FINISHED 0 /* the usual profile */
#define REQUEST_DUMP_RAW 1 /* counts as they are, not unsampled; each sample with its rate in a numeric label "rate" */

#define REQUEST_FD_MAX 0xFFFFU
#define REQUEST_ARGUMENT_MAX (((uint64_t)1 << 40) - 1)

struct request {
	enum request_kind kind;
	unsigned fd;	   /* of the asking process */
	uint64_t argument; /* at most REQUEST_ARGUMENT_MAX */
};

#define REQUEST_MAGIC 0xDU

static inline uint64_t request_pack(const struct request *request)
{
	return request->argument << 24 | (uint64_t)REQUEST_MAGIC << 20 | (uint64_t)request->kind << 16 | request->fd;
}

/* False when the value is no request. */
static inline bool request_unpack(uint64_t value, struct request *request)
{
	unsigned kind = value >> 16 & 0xF;

	request->kind = (enum request_kind)kind;
	request->fd = value & REQUEST_FD_MAX;
	request->argument = value >> 24;
	return (value >> 20 & 0xF) == REQUEST_MAGIC && kind >= REQUEST_DUMP && kind <= REQUEST_STATUS;
}

#endif
