/* child.h - runs a program as if it had been started directly: same descriptors, signals and end. */
#ifndef MPROF_TOOLS_CHILD_H
#define MPROF_TOOLS_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* What else is done with a program that runs. */
struct child_watcher {
	void (*begin)(void *context, pid_t child); /* it waits, and becomes the program as soon as this returns */
	/* Something happened to a child: true, and its wait status, once this one has ended. Must not wait for that. */
	bool (*has_ended)(void *context, pid_t child, int *wait_status);
	void *context;
};

/* Run argv with the present environment and wait for its end. Signals sent to this process meanwhile are passed on.
 * Returns 0 and its wait status, or the negative errno with which it could not be started.
 * Context: single-threaded; restores the signal mask, but leaves SIGCHLD at its default. */
int child_run(char **argv, int *wait_status);

/* The same, watched. */
int child_run_watched(char **argv, const struct child_watcher *watcher, int *wait_status);

/* End this process the way the child ended: same exit status, or killed by the same signal (no second core file). */
void child_imitate(int wait_status) __attribute__((noreturn));

#endif
