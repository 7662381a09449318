/* thread.h - which thread of a process a signal disturbs least. */
#ifndef MPROF_TOOLS_THREAD_H
#define MPROF_TOOLS_THREAD_H

#include <sys/types.h>

/* How well a thread takes a signal whose handler was installed with SA_RESTART, from not at all upwards. */
enum thread_fitness {
	THREAD_GONE,	  /* it has ended, or the process does not catch the signal: sending it may kill */
	THREAD_BLOCKS,	  /* it has the signal blocked */
	THREAD_STOPPED,	  /* by job control or a debugger: it would run the handler only after that */
	THREAD_WAITS,	  /* it cannot be interrupted at the moment */
	THREAD_DISTURBED, /* its system call will fail with EINTR, which few programs expect */
	THREAD_UNKNOWN,	  /* blocked in something that may be either kind */
	THREAD_RESTARTED, /* its system call will be restarted */
	THREAD_RUNS,	  /* not in a system call */
};

/* Judge by the texts of /proc/PID/task/TID/status and syscall ("" when that cannot be read). */
enum thread_fitness thread_judge(const char *status, const char *syscall, int signo);

struct thread {
	pid_t id; /* 0 = none was found */
	enum thread_fitness fitness;
};

/* The fittest thread of a process; of several the first. */
struct thread thread_choose(pid_t process, int signo);

#endif
