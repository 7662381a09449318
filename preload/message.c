/* message.c - single lines for the user on standard error. */
#include "preload/message.h"

#include "core/sys.h"
#include "core/text.h"

#include <stdbool.h>
#include <stdint.h>

#define STDERR 2

static uint64_t device, inode; /* of standard error at load */
static bool known;

void message_init(void)
{
	known = sys_file_identity(STDERR, &device, &inode) == 0;
}

void message_raw(const char *line, size_t n)
{
	uint64_t device_now, inode_now;

	if (known && sys_file_identity(STDERR, &device_now, &inode_now) == 0 && device_now == device &&
	    inode_now == inode)
		sys_write_all(STDERR, line, n, 0);
}

void message_line(const char *line)
{
	char buf[1024];
	struct text text = {.buf = buf, .cap = sizeof(buf) - 1}; /* room for the newline of a line that is cut */

	text_add(&text, "mprof: ");
	text_add(&text, line);
	buf[text.n++] = '\n';
	message_raw(buf, text.n);
}
