/* proc_file.c - what the files in /proc/PID say. */
#include "tools/proc_file.h"

#include "tools/buffer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *proc_file_path(const char *home, const char *name)
{
	static char path[96];

	snprintf(path, sizeof path, "%s/%s", home, name);
	return path;
}

static bool read_link(const char *path, char *target, size_t cap)
{
	ssize_t n = readlink(path, target, cap - 1);

	target[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool proc_file_other_namespace(const char *home, const char *kind)
{
	char own[64], its[64], name[16];

	snprintf(name, sizeof name, "ns/%s", kind);
	return read_link(proc_file_path("/proc/self", name), own, sizeof own) &&
	       read_link(proc_file_path(home, name), its, sizeof its) && strcmp(own, its) != 0;
}

int proc_file_status(const char *home, struct proc_status *status)
{
	struct buffer text = {0};
	int error = buffer_read_file(&text, proc_file_path(home, "status"));

	if (error == 0 && !proc_parse_status(text.at, status))
		error = -EBADMSG;
	buffer_free(&text);
	return error;
}

int proc_file_library(const char *home)
{
	struct buffer text = {0};
	int error = buffer_read_file(&text, proc_file_path(home, "maps"));
	int result = error == 0 ? proc_maps_library(text.at) : error;

	buffer_free(&text);
	return result;
}

void proc_file_program(const char *home, char *program, size_t cap)
{
	static char path[PATH_MAX]; /* large */
	static const char deleted[] = " (deleted)";
	char *name, *end;

	program[0] = '\0';
	if (!read_link(proc_file_path(home, "exe"), path, sizeof path))
		return;
	name = strrchr(path, '/');
	name = name != NULL ? name + 1 : path;
	end = strstr(name, deleted);
	if (end != NULL && end[sizeof deleted - 1] == '\0')
		*end = '\0';
	snprintf(program, cap, "%s", name);
}

int proc_file_signal(const char *home)
{
	struct buffer text = {0};
	int signal = 0;

	if (buffer_read_file(&text, proc_file_path(home, "environ")) == 0)
		signal = proc_environ_signal(text.at, text.used);
	buffer_free(&text);
	return signal;
}
