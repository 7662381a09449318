/* sink.h - where produced bytes go: the writer of a format never knows about files. */
#ifndef MPROF_CORE_SINK_H
#define MPROF_CORE_SINK_H

#include <stddef.h>

struct sink {
	/* Take all n bytes. Returns 0 or a negative errno; after an error the producer stops. */
	int (*write)(struct sink *sink, const void *data, size_t n);
};

static inline int sink_write(struct sink *sink, const void *data, size_t n)
{
	return sink->write(sink, data, n);
}

/* A sink that writes to a file descriptor it does not own. */
struct sink_fd {
	struct sink sink;
	int fd;
	int patience_ms; /* how long to wait for a reader when the descriptor does not block and is full */
};

void sink_fd_init(struct sink_fd *out, int fd, int patience_ms);

#endif
