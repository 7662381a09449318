/* gzip.h - a sink that compresses what it is given into another sink, as one gzip member. */
#ifndef MPROF_PPROF_GZIP_H
#define MPROF_PPROF_GZIP_H

#include "core/sink.h"

#include <zlib.h>

struct arena;

struct gzip {
	struct sink sink; /* write here */
	struct sink *out; /* compressed bytes go here */
	z_stream stream;
	unsigned char buf[1024]; /* compressed bytes on their way out */
};

/* Start a gzip member. zlib's state (about 268 KiB) comes from `scratch`. Returns 0 or -ENOMEM.
 * Context: any thread, any signal handler. `gzip` is large: keep it in scratch memory, not on a stack. */
int gzip_init(struct gzip *gzip, struct sink *out, struct arena *scratch);

/* Write what is pending and the trailer. Returns 0 or the output sink's error. */
int gzip_finish(struct gzip *gzip);

#endif
