/* capture.c - runs a program out of sight. */
#include "tools/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *const argv[], char *const settings[], int stream, int out)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		dup2(fd == stream ? out : nothing, fd);
	for (; settings != NULL && *settings != NULL; settings++)
		putenv(*settings); /* without a '=' it removes */
	execvp(argv[0], argv);
	_exit(127);
}

int capture_run(char *const argv[], char *const settings[], int stream, struct buffer *text)
{
	int ends[2], status, error;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	child = fork();
	error = -errno;
	if (child == 0)
		become(argv, settings, stream, ends[1]);
	close(ends[1]);
	while (child > 0 && buffer_read(text, ends[0]) > 0)
		;
	close(ends[0]);
	if (child < 0)
		return error;
	return waitpid(child, &status, 0) == child ? status : -errno;
}
