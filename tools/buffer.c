/* buffer.c - bytes that grow as they arrive. */
#include "tools/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)65536) /* as much as a pipe holds */

/* Room for n more and the NUL. */
static void make_room(struct buffer *buffer, size_t n)
{
	if (buffer->cap - buffer->used > n)
		return;
	buffer->cap = 2 * buffer->cap + n + 1;
	buffer->at = xrealloc(buffer->at, buffer->cap);
}

void buffer_add(struct buffer *buffer, const void *data, size_t n)
{
	make_room(buffer, n);
	if (n > 0)
		memcpy(buffer->at + buffer->used, data, n);
	buffer->used += n;
	buffer->at[buffer->used] = '\0';
}

ssize_t buffer_read(struct buffer *buffer, int fd)
{
	ssize_t n;

	make_room(buffer, READ_BYTES);
	do
		n = read(fd, buffer->at + buffer->used, READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buffer->used += (size_t)n;
	buffer->at[buffer->used] = '\0';
	return n;
}

int buffer_read_file(struct buffer *buffer, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = buffer_read(buffer, fd);
	while (n > 0);
	close(fd);
	return (int)n;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->at);
	*buffer = (struct buffer){0};
}
