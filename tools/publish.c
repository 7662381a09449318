/* publish.c - files that appear whole or not at all. */
#include "tools/publish.h"

#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_MAX 1000000

/* A hidden name in the same directory. To be freed. */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int directory = slash != NULL ? (int)(slash - path) + 1 : 0;
	char *name = xmalloc((size_t)directory + 48);

	sprintf(name, "%.*s.mprof.%d.%lld.tmp", directory, path, getpid(), (long long)sys_monotonic_ns());
	return name;
}

/* Write the whole file under its temporary name. */
static int write_temporary(const char *temporary, const void *data, size_t n)
{
	int fd = sys_create(temporary), error, close_error;

	if (fd < 0)
		return fd;
	error = sys_write_all(fd, data, n, 0);
	close_error = sys_close(fd); /* some file systems say only now that there is no space */
	if (error == 0)
		error = close_error;
	if (error != 0)
		sys_unlink(temporary);
	return error;
}

/* The file that a symbolic link points to, which stays one; a link that points to nothing is replaced. To be freed. */
static char *real_name(const char *path)
{
	char *name = realpath(path, NULL);

	return name != NULL ? name : xstrdup(path);
}

static int write_in_place(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), error;

	if (fd < 0)
		return -errno;
	error = sys_write_all(fd, data, n, INT_MAX);
	close(fd);
	return error;
}

static int replace_file(const char *path, const void *data, size_t n)
{
	char *name = real_name(path), *temporary = temporary_name(name);
	uint64_t mask;
	int error;

	sys_block_signals(&mask);
	error = write_temporary(temporary, data, n);
	if (error == 0) {
		error = sys_rename(temporary, name, true);
		if (error != 0)
			sys_unlink(temporary);
	}
	sys_unblock_signals(&mask);
	free(temporary);
	free(name);
	return error;
}

int publish(const char *path, const void *data, size_t n)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_in_place(path, data, n);
	return replace_file(path, data, n);
}

/* Give the file the first free name. Looking first spares file systems that cannot refuse to replace. */
static int take_number(const char *temporary, int id, char *path, size_t cap)
{
	struct stat st;
	int error = -EEXIST;

	for (int i = 1; i <= NUMBER_MAX && error == -EEXIST; i++) {
		snprintf(path, cap, "mprof.%d.%d.pb.gz", id, i);
		if (lstat(path, &st) != 0)
			error = sys_rename(temporary, path, false);
	}
	return error;
}

int publish_numbered(int id, const void *data, size_t n, char *path, size_t cap)
{
	char *temporary = temporary_name("");
	uint64_t mask;
	int error;

	snprintf(path, cap, "mprof.%d.N.pb.gz", id); /* for messages */
	sys_block_signals(&mask);
	error = write_temporary(temporary, data, n);
	if (error == 0) {
		error = take_number(temporary, id, path, cap);
		if (error != 0)
			sys_unlink(temporary);
	}
	sys_unblock_signals(&mask);
	free(temporary);
	return error;
}
