/* writer.h - packs the parts of a Profile into a sink, one at a time. */
#ifndef MPROF_PPROF_WRITER_H
#define MPROF_PPROF_WRITER_H

#include "pprof/profile.pb-c.h"

#include <stddef.h>

struct arena;
struct sink;

/* Protobuf messages concatenate: bytes that hold one sample, followed by bytes that hold one location, parse as a
 * Profile that holds both. So each part is handed over as a Profile with only that field set, and protobuf-c does the
 * rest. */
struct writer {
	ProtobufCBuffer base; /* what protobuf-c appends to */
	struct sink *out;
	unsigned char *buf; /* packed bytes on their way out */
	size_t used;	    /* bytes of it */
	int error;	    /* the first one: nothing is written after it */
};

/* Returns 0 or -ENOMEM. */
int writer_init(struct writer *writer, struct sink *out, struct arena *scratch);

/* Append one part. An error is kept in writer->error. */
void writer_put(struct writer *writer, const Perftools__Profiles__Profile *part);

/* Write what is pending. Returns 0 or the sink's first error. */
int writer_flush(struct writer *writer);

#endif
