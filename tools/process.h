/* process.h - a live process: may it be asked something, and is asking harmless? */
#ifndef MPROF_TOOLS_PROCESS_H
#define MPROF_TOOLS_PROCESS_H

#include "tools/refusal.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t id;
	int handle; /* pidfd: readable (poll) once the process has ended, whoever has the id by then; -1 where there are none */
	int signal;	  /* that it takes requests by */
	char program[64]; /* base name of its executable; "" when that cannot be told */
};

/* Look at a process and get hold of it. Returns 0, to be closed with process_close; else a negative errno, -ESRCH when there is no such
 * process, and the refusal says why. */
int process_open(struct process *process, pid_t id, struct refusal *refusal);
void process_close(struct process *process);

/* Whether it may be sent its signal now: it is still there, has libmprof.so in it, and catches the signal, which would kill it otherwise.
 * Returns as process_open, which has checked this too; to be asked again right before each signal, since a process may have executed
 * another program. */
int process_check(struct process *process, struct refusal *refusal);

/* Wait until the process ends, for at most so many ms. Returns whether it has ended. */
bool process_wait_end(const struct process *process, int64_t ms);

/* After it was asked and did not answer: what may keep it from opening our end of the pipe, to follow "because"; NULL when nothing is known. */
const char *process_barrier(const struct process *process);

/* Whether libmprof.so is in a process; false too for processes that one may not look into. */
bool process_is_profiled(pid_t id);

#endif
