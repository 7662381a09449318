/* answer.c - what `mprof` asks of this process (core/request.h), answered. */
#include "preload/answer.h"

#include "core/sys.h"
#include "core/text.h"
#include "preload/dump.h"
#include "preload/steer.h"

#include <errno.h>

/* The asker's pipe, or a negative errno. */
static int open_pipe(int asker, unsigned fd)
{
	char path[64];
	struct text text = {.buf = path, .cap = sizeof(path)};
	int pipe;

	text_add(&text, "/proc/");
	text_add_number(&text, (uint64_t)asker);
	text_add(&text, "/fd/");
	text_add_number(&text, fd);
	pipe = sys_open_write(path);
	if (pipe >= 0 && !sys_is_pipe(pipe)) {
		sys_close(pipe);
		return -EINVAL;
	}
	return pipe;
}

int answer_say(int pipe, const char *what, const char *reason)
{
	char line[128];
	struct text text = {.buf = line, .cap = sizeof(line)};

	text_add(&text, REQUEST_ANSWER);
	text_add(&text, what);
	text_add(&text, reason);
	text_add(&text, "\n");
	return sys_write_all(pipe, line, text.n, 0);
}

static void send(int pipe, const struct request *request)
{
	if (request->kind != REQUEST_DUMP)
		steer(pipe, request);
	else if (answer_say(pipe, REQUEST_OK, "") == 0)
		dump_to_asker(pipe, request->argument == REQUEST_DUMP_RAW);
}

void answer(int asker, const struct request *request)
{
	int pipe = open_pipe(asker, request->fd);

	if (pipe < 0)
		return;
	send(pipe, request);
	sys_close(pipe);
}

void answer_busy(int asker, const struct request *request)
{
	int pipe = open_pipe(asker, request->fd);

	if (pipe < 0)
		return;
	answer_say(pipe, REQUEST_BUSY, "");
	sys_close(pipe);
}
