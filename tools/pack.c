/* pack.c - a decoded profile made a file's contents again. */
#include "tools/pack.h"

#include "core/arena.h"
#include "core/sink.h"
#include "pprof/gzip.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>

#define SCRATCH_BYTES ((size_t)1 << 20) /* zlib's state and struct gzip */

/* A sink that fills a buffer. */
struct sink_buffer {
	struct sink sink;
	struct buffer *buffer;
};

static int write_buffer(struct sink *sink, const void *data, size_t n)
{
	buffer_add(((struct sink_buffer *)sink)->buffer, data, n);
	return 0;
}

static int gzip_all(const void *data, size_t n, struct arena *scratch, struct buffer *out)
{
	struct sink_buffer sink = {.sink.write = write_buffer, .buffer = out};
	struct gzip *gzip = arena_alloc(scratch, sizeof *gzip, _Alignof(struct gzip));
	int error = gzip != NULL ? gzip_init(gzip, &sink.sink, scratch) : -ENOMEM;

	if (error == 0)
		error = sink_write(&gzip->sink, data, n);
	return error == 0 ? gzip_finish(gzip) : error;
}

int pack(const Perftools__Profiles__Profile *profile, struct buffer *out)
{
	size_t n = perftools__profiles__profile__get_packed_size(profile);
	uint8_t *plain = xmalloc(n);
	struct arena scratch;
	int error = arena_init(&scratch, SCRATCH_BYTES);

	perftools__profiles__profile__pack(profile, plain);
	if (error == 0)
		error = gzip_all(plain, n, &scratch, out);
	arena_destroy(&scratch);
	free(plain);
	return error;
}
