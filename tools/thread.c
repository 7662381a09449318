/* thread.c - which thread of a process a signal disturbs least. */
#include "tools/thread.h"

#include "tools/buffer.h"
#include "tools/proc_text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* Calls that wait, and go on waiting after the handler. Those on files and sockets are disturbed after all when the socket has a timeout;
 * that cannot be seen from here. Source, for both tables:
 * signal(7), "Interruption of system calls and library functions by signal handlers"; io_uring_enter(2). */
static const long restarted_calls[] = {
	SYS_read,     SYS_readv,	   SYS_pread64,	     SYS_preadv,   SYS_preadv2,	  SYS_write,
	SYS_writev,   SYS_pwrite64,	   SYS_pwritev,	     SYS_pwritev2, SYS_ioctl,	  SYS_openat,
	SYS_wait4,    SYS_waitid,	   SYS_accept,	     SYS_accept4,  SYS_connect,	  SYS_recvfrom,
	SYS_recvmmsg, SYS_recvmsg,	   SYS_sendto,	     SYS_sendmsg,  SYS_sendmmsg,  SYS_flock,
	SYS_fcntl,    SYS_mq_timedreceive, SYS_mq_timedsend, SYS_futex,	   SYS_getrandom,
#ifdef SYS_open
	SYS_open,
#endif
};

/* Calls that fail with EINTR whatever SA_RESTART says. */
static const long disturbed_calls[] = {
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_epoll_pwait,     SYS_epoll_pwait2,
	SYS_ppoll,	   SYS_pselect6,	SYS_msgrcv,	     SYS_msgsnd,
	SYS_semop,	   SYS_semtimedop,	SYS_clock_nanosleep, SYS_nanosleep,
	SYS_io_getevents,  SYS_io_pgetevents,	SYS_io_uring_enter,
#ifdef SYS_poll /* the older calls, which newer architectures do not have */
	SYS_poll,	   SYS_select,		SYS_epoll_wait,	     SYS_pause,
#endif
};

static bool is_among(long number, const long *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static enum thread_fitness judge_call(const char *syscall)
{
	long number;

	if (!proc_parse_syscall(syscall, &number))
		return THREAD_UNKNOWN;
	if (number == PROC_IN_NO_CALL)
		return THREAD_RUNS;
	if (is_among(number, restarted_calls, sizeof restarted_calls / sizeof *restarted_calls))
		return THREAD_RESTARTED;
	if (is_among(number, disturbed_calls, sizeof disturbed_calls / sizeof *disturbed_calls))
		return THREAD_DISTURBED;
	return THREAD_UNKNOWN;
}

enum thread_fitness thread_judge(const char *status, const char *syscall, int signo)
{
	struct proc_status parsed;

	if (!proc_parse_status(status, &parsed) || !proc_has_signal(parsed.caught, signo))
		return THREAD_GONE;
	switch (parsed.state) {
	case 'Z':
	case 'X':
		return THREAD_GONE;
	case 'T':
	case 't':
		return proc_has_signal(parsed.blocked, signo) ? THREAD_BLOCKS : THREAD_STOPPED;
	default:
		break;
	}
	if (proc_has_signal(parsed.blocked, signo))
		return THREAD_BLOCKS;
	if (parsed.state == 'D')
		return THREAD_WAITS;
	return parsed.state == 'R' ? THREAD_RUNS : judge_call(syscall);
}

static enum thread_fitness judge_thread(pid_t process, pid_t thread, int signo)
{
	struct buffer status = {0}, syscall = {0};
	enum thread_fitness fitness = THREAD_GONE;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", process, thread);
	if (buffer_read_file(&status, path) == 0) {
		snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", process, thread);
		/* Refused to all but debuggers on some systems. */
		fitness = thread_judge(status.at, buffer_read_file(&syscall, path) == 0 ? syscall.at : "", signo);
	}
	buffer_free(&status);
	buffer_free(&syscall);
	return fitness;
}

struct thread thread_choose(pid_t process, int signo)
{
	struct thread best = {0};
	struct dirent *entry;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", process);
	tasks = opendir(path);
	while (tasks != NULL && best.fitness < THREAD_RUNS && (entry = readdir(tasks)) != NULL) {
		struct thread thread = {.id = atoi(entry->d_name)};

		if (thread.id <= 0)
			continue;
		thread.fitness = judge_thread(process, thread.id, signo);
		if (best.id == 0 || thread.fitness > best.fitness)
			best = thread;
	}
	if (tasks != NULL)
		closedir(tasks);
	return best;
}
