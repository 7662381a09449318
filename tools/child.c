/* child.c - runs a program as if it had been started directly.
 *
 * No signal handlers: everything is blocked and taken one by one with sigwaitinfo. The child gets the mask and the
 * dispositions that mprof was started with, and what was ignored (nohup) stays ignored by both. */
#include "tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Faults are our own, and stopping this process is how a shell suspends a job: these keep their usual effect. */
static const int kept_signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
				   SIGABRT, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU};

static void block_signals(sigset_t *taken, sigset_t *saved)
{
	sigfillset(taken);
	for (size_t i = 0; i < sizeof kept_signals / sizeof *kept_signals; i++)
		sigdelset(taken, kept_signals[i]);
	sigprocmask(SIG_BLOCK, taken, saved);
}

/* Wait until the other side has closed the pipe. Returns the errno that it may have sent first, else 0. */
static int wait_for_end(int pipe)
{
	int error = 0;
	ssize_t n;

	do
		n = read(pipe, &error, sizeof error);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof error ? error : 0;
}

/* In the child: become the program when the gate opens, or report through the pipe why not. */
static void become(char **argv, const sigset_t *mask, const struct sigaction *on_child, int gate, int error_pipe)
{
	int error;

	wait_for_end(gate);
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	_exit(write(error_pipe, &error, sizeof error) == sizeof error ? 0 : 1);
}

/* What the terminal sends goes to the whole foreground group: the child has it already. */
static bool sent_to_us_alone(const siginfo_t *info)
{
	return info->si_code != SI_KERNEL;
}

static int wait_and_forward(pid_t child, const sigset_t *taken, const struct child_watcher *watcher)
{
	int status;

	while (!watcher->has_ended(watcher->context, child, &status)) {
		siginfo_t info;

		if (sigwaitinfo(taken, &info) > 0 && info.si_signo != SIGCHLD && sent_to_us_alone(&info))
			kill(child, info.si_signo);
	}
	return status;
}

/* Both pipes close by themselves: the gate's in the child when it opens, the error's when exec succeeds. */
static int open_pipes(int gate[2], int error_pipe[2])
{
	int error;

	if (pipe2(gate, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(error_pipe, O_CLOEXEC) == 0)
		return 0;
	error = -errno;
	close(gate[0]);
	close(gate[1]);
	return error;
}

int child_run_watched(char **argv, const struct child_watcher *watcher, int *wait_status)
{
	struct sigaction on_child, usual = {.sa_handler = SIG_DFL};
	sigset_t taken, mask;
	int gate[2], error_pipe[2], error = open_pipes(gate, error_pipe);
	pid_t child;

	if (error != 0)
		return error;
	/* Had we been started with SIGCHLD ignored, there would be nothing to wait for. */
	sigaction(SIGCHLD, &usual, &on_child);
	block_signals(&taken, &mask);
	child = fork();
	error = -errno;
	if (child == 0) {
		close(gate[1]);
		become(argv, &mask, &on_child, gate[0], error_pipe[1]);
	}
	close(gate[0]);
	close(error_pipe[1]);
	if (child > 0)
		watcher->begin(watcher->context, child);
	close(gate[1]);
	if (child > 0)
		error = -wait_for_end(error_pipe[0]);
	close(error_pipe[0]);
	if (child > 0 && error == 0)
		*wait_status = wait_and_forward(child, &taken, watcher);
	else if (child > 0)
		waitpid(child, NULL, 0);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return error;
}

static void begin(void *context, pid_t child)
{
	(void)context;
	(void)child;
}

static bool has_ended(void *context, pid_t child, int *wait_status)
{
	(void)context;
	return waitpid(child, wait_status, WNOHANG) == child;
}

int child_run(char **argv, int *wait_status)
{
	static const struct child_watcher plain = {begin, has_ended, NULL};

	return child_run_watched(argv, &plain, wait_status);
}

void child_imitate(int wait_status)
{
	if (WIFSIGNALED(wait_status)) {
		int signo = WTERMSIG(wait_status);
		struct rlimit no_core = {0, 0};
		sigset_t only;

		setrlimit(RLIMIT_CORE, &no_core);
		signal(signo, SIG_DFL);
		sigemptyset(&only);
		sigaddset(&only, signo);
		sigprocmask(SIG_UNBLOCK, &only, NULL);
		raise(signo);
		exit(128 + signo);
	}
	exit(WEXITSTATUS(wait_status));
}
