/* proc_text.h - what the texts below /proc/PID say, as far as it matters for asking that process something. */
#ifndef MPROF_TOOLS_PROC_TEXT_H
#define MPROF_TOOLS_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/status, and that of one thread. */
struct proc_status {
	char state;		       /* R, S, D, T, t, Z, ... */
	pid_t process;		       /* the thread's process */
	uid_t fs_uid;		       /* whose files it may open */
	gid_t fs_gid;		       /* and whose group's */
	uint64_t caught, blocked;      /* signals; see proc_has_signal */
	uint64_t effective, permitted; /* capabilities; bit n is capability n */
};

/* False when the text lacks something. Source, here and below: proc(5). */
bool proc_parse_status(const char *text, struct proc_status *status);

static inline bool proc_has_signal(uint64_t signals, int signo)
{
	return signo >= 1 && signo <= 64 && (signals >> (signo - 1) & 1) != 0;
}

/* Whether /proc/PID/maps shows libmprof.so, or a variant of it such as libmprof-sizeclass.so. */
bool proc_maps_library(const char *text);

/* The signal that libmprof.so takes requests by, from /proc/PID/environ: n bytes of NUL-terminated settings, and one NUL
 * after them. 0 = none. */
int proc_environ_signal(const char *text, size_t n);

#define PROC_IN_NO_CALL (-1) /* running, or blocked in a page fault */

/* The number of the system call a thread is in, from /proc/PID/task/TID/syscall. False when that cannot be told. */
bool proc_parse_syscall(const char *text, long *number);

/* A signal's name as kill(1) takes it: "USR2", "RTMAX-4". Valid until the next call. */
const char *proc_signal_name(int signo);

#endif
