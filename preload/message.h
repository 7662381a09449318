/* message.h - single lines for the user on standard error. */
#ifndef MPROF_PRELOAD_MESSAGE_H
#define MPROF_PRELOAD_MESSAGE_H

#include <stddef.h>

/* Remember what standard error is now: later lines are written only while descriptor 2 still is that, so that a program which
 * closes it and opens a file of its own never finds our lines in there. Call once, from the constructor. */
void message_init(void);

/* Write "mprof: <line>\n".
 * Context: any thread, any signal handler; one write(2). */
void message_line(const char *line);

/* Write a line that is complete already, newline included. */
void message_raw(const char *line, size_t n);

#endif
