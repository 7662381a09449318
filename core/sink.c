/* sink.c - the sink that is a file descriptor. */
#include "core/sink.h"

#include "core/sys.h"

static int write_fd(struct sink *sink, const void *data, size_t n)
{
	struct sink_fd *out = (struct sink_fd *)sink;

	return sys_write_all(out->fd, data, n);
}

void sink_fd_init(struct sink_fd *out, int fd)
{
	out->sink.write = write_fd;
	out->fd = fd;
}
