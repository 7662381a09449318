/* writer.c - packs the parts of a Profile into a sink, one at a time. */
#include "pprof/writer.h"

#include "core/arena.h"
#include "core/sink.h"

#include <errno.h>
#include <string.h>

/* protobuf-c appends field by field, a few bytes each; the sink (zlib, or a system call) wants more at once. */
#define WRITER_BUF_BYTES 16384

int writer_flush(struct writer *writer)
{
	if (!writer->error && writer->used)
		writer->error = sink_write(writer->out, writer->buf, writer->used);
	writer->used = 0;
	return writer->error;
}

static void append(ProtobufCBuffer *base, size_t n, const uint8_t *data)
{
	struct writer *writer = (struct writer *)base; /* its first member */

	if (n > WRITER_BUF_BYTES - writer->used)
		writer_flush(writer);
	if (n > WRITER_BUF_BYTES) {
		if (!writer->error)
			writer->error = sink_write(writer->out, data, n);
		return;
	}
	memcpy(writer->buf + writer->used, data, n);
	writer->used += n;
}

int writer_init(struct writer *writer, struct sink *out, struct arena *scratch)
{
	*writer = (struct writer){.base.append = append, .out = out};
	writer->buf = arena_alloc(scratch, WRITER_BUF_BYTES, 16);
	return writer->buf ? 0 : -ENOMEM;
}

void writer_put(struct writer *writer, const Perftools__Profiles__Profile *part)
{
	if (!writer->error)
		perftools__profiles__profile__pack_to_buffer(part, &writer->base);
}
