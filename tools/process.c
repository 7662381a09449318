/* process.c - a live process: may it be asked something, and is asking harmless? */
#include "tools/process.h"

#include "tools/proc_file.h"
#include "tools/target.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the checks below are about. */
struct inspection {
	struct process *process;
	struct refusal *refusal;
	char home[48]; /* "/proc/PID", or that of a living thread where the first one has ended */
	struct proc_status status;
};

/* A process lives on when its first thread ends, but what is in /proc/PID then is empty. */
static void move_to_living_thread(struct inspection *inspection)
{
	DIR *tasks = opendir(proc_file_path(inspection->home, "task"));
	struct proc_status status;
	struct dirent *entry;
	char home[sizeof inspection->home];

	while (tasks != NULL && inspection->status.state == 'Z' && (entry = readdir(tasks)) != NULL) {
		snprintf(home, sizeof home, "/proc/%d/task/%d", inspection->process->id, atoi(entry->d_name));
		if (proc_file_status(home, &status) == 0 && status.state != 'Z') {
			strcpy(inspection->home, home);
			inspection->status = status;
		}
	}
	if (tasks != NULL)
		closedir(tasks);
}

/* --- checks: each returns 0, or says what is wrong and returns a negative errno, -ESRCH for a process that is gone ----- */

static int check_existence(struct inspection *inspection)
{
	struct refusal *refusal = inspection->refusal;
	pid_t id = inspection->process->id;
	int error = proc_file_status(inspection->home, &inspection->status);

	if (error == -ESRCH || (error == -ENOENT && kill(id, 0) != 0 && errno == ESRCH))
		return refusal_set(refusal, -ESRCH, "there is no such process");
	if (error != 0)
		return refusal_set(refusal, error, "cannot read %s/status: %s", inspection->home, strerror(-error));
	if (inspection->status.process != id)
		return refusal_set(refusal, -EINVAL, "this is a thread of process %d", inspection->status.process);
	return 0;
}

static int check_life(struct inspection *inspection)
{
	if (inspection->status.state == 'Z')
		move_to_living_thread(inspection);
	if (inspection->status.state != 'Z' && inspection->status.state != 'X')
		return 0;
	return refusal_set(inspection->refusal, -ESRCH, "it has ended (a zombie, until its parent asks how)");
}

static const char *user_name(uid_t uid)
{
	static char number[16];
	const struct passwd *user = getpwuid(uid);

	snprintf(number, sizeof number, "%u", uid);
	return user != NULL ? user->pw_name : number;
}

/* Where it cannot be asked, it may still be told to. Returns -EPERM. */
static int advise(struct inspection *inspection, const char *first)
{
	if (proc_has_signal(inspection->status.caught, inspection->process->signal))
		refusal_advise(inspection->refusal, "%s, or have it write a profile to its HEAPPROF_OUT: kill -s %s %d",
			       first, proc_signal_name(inspection->process->signal), inspection->process->id);
	else
		refusal_advise(inspection->refusal, "%s", first);
	return -EPERM;
}

/* It must be allowed to open a descriptor of ours. Source: ptrace(2), "Ptrace access mode checking", PTRACE_MODE_READ_FSCREDS, which
 * /proc/PID/fd asks for (proc(5)). */
static int check_rights(struct inspection *inspection)
{
	const struct proc_status *status = &inspection->status;
	struct refusal *refusal = inspection->refusal;
	struct proc_status own = {0};
	bool may_answer = (status->effective >> CAP_SYS_PTRACE & 1) != 0;

	proc_file_status("/proc/self", &own);
	if (kill(inspection->process->id, 0) != 0 || (status->fs_uid != own.fs_uid && !may_answer)) {
		refusal_set(refusal, -EPERM, "it is run by %s, not by you", user_name(status->fs_uid));
		refusal_advise(refusal, "run mprof as the same user: sudo -u %s mprof ...", user_name(status->fs_uid));
		return -EPERM;
	}
	if (status->fs_gid != own.fs_gid && !may_answer) {
		refusal_set(refusal, -EPERM, "its group is %u and yours %u", status->fs_gid, own.fs_gid);
		return advise(inspection, "run mprof in the same one (newgrp)");
	}
	if ((own.permitted & ~status->effective) != 0 && !may_answer) {
		refusal_set(refusal, -EPERM, "it has fewer capabilities than you, so it may not answer");
		return advise(inspection, "run mprof with the same ones (setpriv)");
	}
	return 0;
}

static int check_namespace(struct inspection *inspection)
{
	if (!proc_file_other_namespace(inspection->home, "pid"))
		return 0;
	refusal_set(inspection->refusal, -EPERM, "it is in another pid namespace (a container)");
	return advise(inspection, "run mprof inside it");
}

static int check_library(struct inspection *inspection)
{
	struct refusal *refusal = inspection->refusal;
	int found = proc_file_library(inspection->home);
	static char path[PATH_MAX]; /* large */
	const char *obstacle;

	if (found > 0)
		return 0;
	if (found < 0)
		return refusal_set(refusal, found, "cannot look into it (%s/maps): %s", inspection->home,
				   strerror(-found));
	obstacle = target_obstacle(target_inspect(proc_file_path(inspection->home, "exe"), path, sizeof path));
	if (obstacle != NULL)
		return refusal_set(refusal, -EPERM, "it does not run under mprof: %s", obstacle);
	refusal_set(refusal, -EPERM, "it does not run under mprof");
	refusal_advise(refusal, "start it with: mprof run, or with libmprof.so in LD_PRELOAD");
	return -EPERM;
}

static int check_signal(struct inspection *inspection)
{
	struct refusal *refusal = inspection->refusal;
	int signal = inspection->process->signal;

	if (signal == 0) {
		refusal_set(refusal, -EPERM, "it takes no requests, since HEAPPROF_SIGNAL is none there");
		refusal_advise(refusal, "start it with another one");
		return -EPERM;
	}
	if (!proc_has_signal(inspection->status.caught, signal)) {
		refusal_set(refusal, -EPERM, "it does not catch SIG%s, which would end it", proc_signal_name(signal));
		refusal_advise(refusal, "start it with HEAPPROF_SIGNAL set to a signal that it does not use itself");
		return -EPERM;
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */

int process_check(struct process *process, struct refusal *refusal)
{
	static int (*const checks[])(struct inspection *) = {
		check_rights,
		check_namespace,
		check_library,
		check_signal,
	};
	struct inspection inspection = {.process = process, .refusal = refusal};
	int error;

	snprintf(inspection.home, sizeof inspection.home, "/proc/%d", process->id);
	error = check_existence(&inspection);
	if (error == 0)
		error = check_life(&inspection);
	if (error != 0)
		return error;
	process->signal = proc_file_signal(inspection.home);
	proc_file_program(inspection.home, process->program, sizeof process->program);
	for (size_t i = 0; i < sizeof checks / sizeof *checks && error == 0; i++)
		error = checks[i](&inspection);
	if (error == 0 && process_wait_end(process, 0))
		return refusal_set(refusal, -ESRCH, "it has ended");
	return error;
}

int process_open(struct process *process, pid_t id, struct refusal *refusal)
{
	int error;

	*process = (struct process){.id = id};
	process->handle = (int)syscall(SYS_pidfd_open, id, 0); /* before the checks, which are then about this one */
	error = process_check(process, refusal);
	if (error != 0)
		process_close(process);
	return error;
}

void process_close(struct process *process)
{
	if (process->handle >= 0)
		close(process->handle);
	process->handle = -1;
}

bool process_wait_end(const struct process *process, int64_t ms)
{
	struct pollfd end = {.fd = process->handle, .events = POLLIN};

	return poll(&end, 1, ms < INT_MAX ? (int)ms : INT_MAX) > 0 ||
	       (process->handle < 0 && kill(process->id, 0) != 0 && errno == ESRCH);
}

const char *process_barrier(const struct process *process)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d", process->id);
	if (proc_file_other_namespace(path, "user"))
		return "it is in another user namespace (a container), and not allowed to";
	/* By the way to root, what is mounted there is seen as the process sees it (proc(5)). */
	snprintf(path, sizeof path, "/proc/%d/root/proc/%d", process->id, getpid());
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return "it has no /proc to find mprof in (a chroot, a mount namespace)";
	return NULL;
}

bool process_is_profiled(pid_t id)
{
	char home[48];

	snprintf(home, sizeof home, "/proc/%d", id);
	return proc_file_library(home) > 0;
}
