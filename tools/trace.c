/* trace.c - runs a program and notes what is executed in it and below it.
 *
 * Every process and thread is seized (PTRACE_SEIZE) and stops when it begins, at each exec, and for each signal; nothing else stops it. What
 * a process is before an exec is looked up when it begins, as it may have been forked by something that was not seen to be executed.
 * Source: ptrace(2). */
#include "tools/trace.h"

#include "tools/buffer.h"
#include "tools/child.h"

#include <elf.h>
#include <errno.h>
#include <libiberty/hashtab.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS \
	(PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)

/* A process or thread. */
struct task {
	pid_t id;
	char *program;
	bool has_library; /* its LD_PRELOAD does */
};

struct tracer {
	struct trace *trace;
	const char *library;
	htab_t tasks;
};

static hashval_t hash_task(const void *task)
{
	return (hashval_t)((const struct task *)task)->id * 0x9E3779B1U;
}

static int equal_tasks(const void *a, const void *b)
{
	return ((const struct task *)a)->id == ((const struct task *)b)->id;
}

static void free_task(void *task)
{
	free(((struct task *)task)->program);
	free(task);
}

/* The task of this id; with `add` a new one when there is none, whose program is then NULL. */
static struct task *find_task(struct tracer *tracer, pid_t id, bool add)
{
	struct task key = {.id = id}, *task;
	void **slot = htab_find_slot(tracer->tasks, &key, add ? INSERT : NO_INSERT);

	if (slot == NULL || *slot != HTAB_EMPTY_ENTRY)
		return slot == NULL ? NULL : *slot;
	task = xcalloc(1, sizeof *task);
	task->id = id;
	*slot = task;
	return task;
}

static void forget_task(struct tracer *tracer, pid_t id)
{
	struct task key = {.id = id};

	htab_remove_elt(tracer->tasks, &key);
}

/* --- what a task is ---------------------------------------------------------------------------------------------- */

static char *read_program(pid_t id)
{
	static char path[PATH_MAX]; /* large */
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/exe", id);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return xstrdup(n > 0 ? path : "a program");
}

/* A file of /proc/PID, to be freed with buffer_free; empty when it cannot be read. */
static struct buffer read_proc(pid_t id, const char *name)
{
	struct buffer buffer = {0};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", id, name);
	buffer_read_file(&buffer, path);
	return buffer;
}

/* Is `library` one of the list's elements? */
static bool names_library(const char *list, const char *library)
{
	size_t n = strlen(library);

	for (const char *at = list; (at = strstr(at, library)) != NULL; at += n)
		if ((at == list || strchr(": ", at[-1]) != NULL) && strchr(": ", at[n]) != NULL)
			return true;
	return false;
}

static bool read_has_library(pid_t id, const char *library)
{
	struct buffer text = read_proc(id, "environ");
	bool found = false;

	for (size_t at = 0; at < text.used && !found; at += strlen(text.at + at) + 1)
		if (strncmp(text.at + at, "LD_PRELOAD=", 11) == 0)
			found = names_library(text.at + at + 11, library);
	buffer_free(&text);
	return found;
}

/* Does the loader take no LD_PRELOAD, as the program has more rights than who started it? */
static bool read_is_secure(pid_t id)
{
	struct buffer text = read_proc(id, "auxv");
	bool secure = false;
	ElfW(auxv_t) entry;

	for (size_t at = 0; at + sizeof entry <= text.used && !secure; at += sizeof entry) {
		memcpy(&entry, text.at + at, sizeof entry);
		secure = entry.a_type == AT_SECURE && entry.a_un.a_val != 0;
	}
	buffer_free(&text);
	return secure;
}

static enum target_kind kind_of(pid_t id, const char *program)
{
	static char path[PATH_MAX]; /* large */
	enum target_kind kind = target_inspect(program, path, sizeof path);

	return kind == TARGET_DYNAMIC && read_is_secure(id) ? TARGET_PRIVILEGED : kind;
}

static void note_program(struct trace *trace, pid_t id, const char *program, const char *by, bool dropped)
{
	struct trace_program *one = trace->programs;

	while (one < trace->programs + trace->count &&
	       (strcmp(one->path, program) != 0 || strcmp(one->by, by) != 0 || one->dropped != dropped))
		one++;
	if (one == trace->programs + trace->count) {
		trace->programs = xrealloc(trace->programs, (trace->count + 1) * sizeof *trace->programs);
		one = &trace->programs[trace->count++];
		*one = (struct trace_program){xstrdup(program), xstrdup(by), kind_of(id, program), dropped, 0};
	}
	one->count++;
}

/* --- what happens to it -------------------------------------------------------------------------------------------- */

/* It stopped for the first time: it was forked, or cloned. */
static void begin_task(struct tracer *tracer, struct task *task)
{
	task->program = read_program(task->id);
	task->has_library = read_has_library(task->id, tracer->library);
}

/* It has executed another program. A thread that does so takes the place of its process, which is `task`. */
static void note_exec(struct tracer *tracer, struct task *task)
{
	char *program = read_program(task->id);
	bool has_library = read_has_library(task->id, tracer->library);
	unsigned long thread;

	if (ptrace(PTRACE_GETEVENTMSG, task->id, NULL, &thread) == 0 && (pid_t)thread != task->id)
		forget_task(tracer, (pid_t)thread);
	note_program(tracer->trace, task->id, program, task->program, task->has_library && !has_library);
	free(task->program);
	task->program = program;
	task->has_library = has_library;
}

static bool is_stop_signal(int signo)
{
	return signo == SIGSTOP || signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

/* Let it go on after a stop, with the signal that it stopped for. When a stop signal has stopped its process, it remains so. */
static void resume(pid_t id, int wait_status)
{
	int event = wait_status >> 16, signo = WSTOPSIG(wait_status);

	if (event == PTRACE_EVENT_STOP && is_stop_signal(signo))
		ptrace(PTRACE_LISTEN, id, NULL, NULL);
	else
		ptrace(PTRACE_CONT, id, NULL, (void *)(uintptr_t)(event == 0 ? signo : 0));
}

static void handle_stop(struct tracer *tracer, pid_t id, int wait_status)
{
	struct task *task = find_task(tracer, id, true);

	if (task->program == NULL)
		begin_task(tracer, task);
	if (wait_status >> 16 == PTRACE_EVENT_EXEC)
		note_exec(tracer, task);
	resume(id, wait_status);
}

static int interrupt_task(void **slot, void *unused)
{
	(void)unused;
	ptrace(PTRACE_INTERRUPT, ((struct task *)*slot)->id, NULL, NULL);
	return 1;
}

/* Stop tracing what is left. What is forked meanwhile begins with a stop, and is let go then. */
static void let_go(struct tracer *tracer)
{
	int status;
	pid_t id;

	tracer->trace->left = htab_elements(tracer->tasks) > 0;
	htab_traverse(tracer->tasks, interrupt_task, NULL);
	while ((id = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, id, NULL, (void *)(uintptr_t)(status >> 16 == 0 ? WSTOPSIG(status) : 0));
}

static void begin(void *context, pid_t child)
{
	struct tracer *tracer = context;
	struct task *task = find_task(tracer, child, true);

	task->program = xstrdup("mprof");
	task->has_library = true;
	if (ptrace(PTRACE_SEIZE, child, NULL, (void *)(uintptr_t)OPTIONS) != 0)
		tracer->trace->error = -errno;
}

static bool has_ended(void *context, pid_t child, int *wait_status)
{
	struct tracer *tracer = context;
	int status;
	pid_t id;

	while ((id = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			handle_stop(tracer, id, status);
			continue;
		}
		forget_task(tracer, id);
		if (id == child) {
			*wait_status = status;
			let_go(tracer);
			return true;
		}
	}
	return false;
}

int trace_run(char **argv, const char *library, struct trace *trace, int *wait_status)
{
	struct tracer tracer = {trace, library, htab_create(64, hash_task, equal_tasks, free_task)};
	struct child_watcher watcher = {begin, has_ended, &tracer};
	int error = child_run_watched(argv, &watcher, wait_status);

	htab_delete(tracer.tasks);
	return error;
}

void trace_free(struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		free(trace->programs[i].path);
		free(trace->programs[i].by);
	}
	free(trace->programs);
}
