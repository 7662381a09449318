/* trace.h - runs a program and notes what is executed in it and below it, and by whom (ptrace). */
#ifndef MPROF_TOOLS_TRACE_H
#define MPROF_TOOLS_TRACE_H

#include "tools/target.h"

#include <stdbool.h>
#include <stddef.h>

/* One program that was executed, from one other. */
struct trace_program {
	char *path;
	char *by;	       /* the program that executed it */
	enum target_kind kind; /* of it */
	bool dropped;	       /* `by` had the library in LD_PRELOAD, and left it out */
	unsigned count;	       /* how often */
};

/* All zero is none. */
struct trace {
	struct trace_program *programs; /* in the order first seen */
	size_t count;
	bool left; /* something that was started went on when the program had ended */
	int error; /* 0; or the negative errno with which tracing was refused: then the program ran, and there is nothing here */
};

/* Run argv as child_run does, traced. Signals, ends and stops by job control are what they are without; setuid programs run without their
 * rights, unless this process may trace them (CAP_SYS_PTRACE). What goes on after argv's end is let go. `library` is what LD_PRELOAD is
 * looked through for. Returns and Context: as child_run; ends the process when memory does. */
int trace_run(char **argv, const char *library, struct trace *trace, int *wait_status);

void trace_free(struct trace *trace);

#endif
