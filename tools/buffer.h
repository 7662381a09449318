/* buffer.h - bytes that grow as they arrive: what is read from a file or pipe, or packed for one. */
#ifndef MPROF_TOOLS_BUFFER_H
#define MPROF_TOOLS_BUFFER_H

#include <stddef.h>
#include <sys/types.h>

/* All zero is an empty one. Growing it ends the process when there is no memory. */
struct buffer {
	char *at; /* followed by a NUL that does not count, once something was added */
	size_t used, cap;
};

void buffer_add(struct buffer *buffer, const void *data, size_t n);

/* Add what one read(2) brings; its result, or a negative errno. Interruptions by signals are repeated. */
ssize_t buffer_read(struct buffer *buffer, int fd);

/* Add all of a file. Returns 0 or a negative errno. */
int buffer_read_file(struct buffer *buffer, const char *path);

void buffer_free(struct buffer *buffer);

#endif
