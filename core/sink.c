/* sink.c - the sink that is a file descriptor. */
#include "core/sink.h"

#include "core/sys.h"

static int write_fd(struct sink *sink, const void *data, size_t n)
{
	struct sink_fd *out = (struct sink_fd *)sink;

	return sys_write_all(out->fd, data, n, out->patience_ms);
}

void sink_fd_init(struct sink_fd *out, int fd, int patience_ms)
{
	out->sink.write = write_fd;
	out->fd = fd;
	out->patience_ms = patience_ms;
}
