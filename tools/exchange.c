/* exchange.c - asks a live process something by a signal and reads the answer from a pipe. */
#include "tools/exchange.h"

#include "core/sys.h"
#include "tools/proc_text.h"
#include "tools/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_MS 1000000
#define PAUSE_MS 20	/* until what is busy is asked again */
#define BLOCKED_MS 1000 /* how long a blocked signal may just mean that its handler runs: for another request, say */
#define SEND_TRIES 10	/* for the case that the chosen thread ends in between, again and again */
#define ANSWER_BYTES_MAX ((size_t)1 << 30) /* no profile comes near this */

/* One attempt. */
struct attempt {
	struct process *process;
	struct refusal *refusal;
	int in, out; /* the pipe; out is -1 once the answer has begun, so that its end shows */
	int64_t timeout_ms, deadline_ms;
	bool begun;
};

static int64_t now_ms(void)
{
	return sys_monotonic_ns() / NS_PER_MS;
}

/* --- the signal ------------------------------------------------------------------------------------------------- */

/* No thread that would take it. */
static int refuse_thread(const struct process *process, enum thread_fitness fitness, struct refusal *refusal)
{
	const char *name = proc_signal_name(process->signal);

	switch (fitness) {
	case THREAD_BLOCKS:
		refusal_set(refusal, -EAGAIN, "every thread of it blocks SIG%s", name);
		refusal_advise(refusal, "start it with HEAPPROF_SIGNAL set to a signal that it leaves alone");
		return -EAGAIN;
	case THREAD_STOPPED:
		refusal_set(refusal, -EAGAIN, "it is stopped, by job control or a debugger");
		refusal_advise(refusal, "let it go on: kill -s CONT %d", process->id);
		return -EPERM;
	default:
		return refusal_set(refusal, -ESRCH, "it has ended");
	}
}

static int queue_signal(const struct process *process, pid_t thread, uint64_t value)
{
	siginfo_t info;

	memset(&info, 0, sizeof info);
	info.si_signo = process->signal;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)value;
	return syscall(SYS_rt_tgsigqueueinfo, process->id, thread, process->signal, &info) == 0 ? 0 : -errno;
}

static int send_request(const struct attempt *attempt, const struct request *request)
{
	struct process *process = attempt->process;
	int error = -ESRCH;

	for (int i = 0; i < SEND_TRIES && error == -ESRCH; i++) {
		struct thread thread;

		error = process_check(process, attempt->refusal);
		if (error != 0)
			return error;
		thread = thread_choose(process->id, process->signal);
		if (thread.fitness <= THREAD_STOPPED)
			return refuse_thread(process, thread.fitness, attempt->refusal);
		error = queue_signal(process, thread.id, request_pack(request));
	}
	if (error != 0)
		refusal_set(attempt->refusal, error, "cannot send SIG%s to it: %s", proc_signal_name(process->signal),
			    strerror(-error));
	return error;
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

enum exchange_verdict exchange_judge(const char *text, size_t n, const char **reason, size_t *reason_n)
{
	static const char start[] = REQUEST_ANSWER, failed[] = REQUEST_FAILED;
	const char *end = memchr(text, '\n', n), *word = text + sizeof start - 1;
	size_t length;

	if (end == NULL || strncmp(text, start, sizeof start - 1) != 0)
		return EXCHANGE_NONSENSE;
	length = (size_t)(end - word);
	if (length == strlen(REQUEST_OK) && strncmp(word, REQUEST_OK, length) == 0)
		return EXCHANGE_OK;
	if (length == strlen(REQUEST_BUSY) && strncmp(word, REQUEST_BUSY, length) == 0)
		return EXCHANGE_BUSY;
	if (strncmp(word, failed, sizeof failed - 1) != 0)
		return EXCHANGE_NONSENSE;
	*reason = word + sizeof failed - 1;
	*reason_n = length - (sizeof failed - 1);
	return EXCHANGE_FAILED;
}

static void close_out(struct attempt *attempt)
{
	if (attempt->out >= 0)
		close(attempt->out);
	attempt->out = -1;
}

static int refuse_silence(const struct attempt *attempt)
{
	const struct process *process = attempt->process;
	const char *name = proc_signal_name(process->signal), *barrier = process_barrier(process);
	double seconds = (double)attempt->timeout_ms / 1000;

	if (thread_choose(process->id, process->signal).fitness == THREAD_STOPPED) {
		refuse_thread(process, THREAD_STOPPED, attempt->refusal);
		return -ETIMEDOUT;
	}
	if (attempt->begun) {
		refusal_set(attempt->refusal, -ETIMEDOUT, "its answer stopped short, and nothing came for %g s",
			    seconds);
		refusal_advise(attempt->refusal, "to wait longer: --timeout");
		return -ETIMEDOUT;
	}
	refusal_set(attempt->refusal, -ETIMEDOUT, "it did not answer within %g s", seconds);
	if (barrier == NULL)
		refusal_advise(attempt->refusal, "perhaps it hangs or handles SIG%s itself; to wait longer: --timeout",
			       name);
	else
		refusal_advise(attempt->refusal, "%s; have it write to its HEAPPROF_OUT: kill -s %s %d", barrier, name,
			       process->id);
	return -ETIMEDOUT;
}

/* Wait for bytes, or for the end of the process. What a process wrote before it ended is read all the same. */
static int wait_for_more(struct attempt *attempt)
{
	struct pollfd polls[] = {
		{.fd = attempt->in, .events = POLLIN},
		{.fd = attempt->out >= 0 ? attempt->process->handle : -1, .events = POLLIN},
	};
	int64_t left_ms = attempt->deadline_ms - now_ms();
	int n = poll(polls, 2, left_ms > 0 ? (int)left_ms : 0);

	if (n == 0)
		return refuse_silence(attempt);
	if (n > 0 && polls[1].revents != 0)
		close_out(attempt);
	return 0;
}

/* Read up to the end of the answer. */
static int receive(struct attempt *attempt, struct buffer *all)
{
	for (;;) {
		int error = wait_for_more(attempt);
		ssize_t n;

		if (error != 0)
			return error;
		n = buffer_read(all, attempt->in);
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return refusal_set(attempt->refusal, (int)n, "cannot read the answer: %s", strerror((int)-n));
		if (n == 0)
			return 0;
		close_out(attempt);
		attempt->begun = true;
		attempt->deadline_ms = now_ms() + attempt->timeout_ms;
		if (all->used > ANSWER_BYTES_MAX)
			return refusal_set(attempt->refusal, -EFBIG, "its answer does not end");
	}
}

/* Returns 0 for "ok", -EBUSY for "busy". */
static int understand(const struct attempt *attempt, struct answer *answer)
{
	const char *reason;
	size_t n;

	if (answer->all.used == 0 && process_wait_end(attempt->process, 0))
		return refusal_set(attempt->refusal, -ESRCH, "it ended without an answer");
	if (answer->all.used == 0)
		return refusal_set(attempt->refusal, -EPIPE, "it gave no answer");
	switch (exchange_judge(answer->all.at, answer->all.used, &reason, &n)) {
	case EXCHANGE_OK:
		answer->body = strchr(answer->all.at, '\n') + 1;
		answer->n = answer->all.used - (size_t)(answer->body - answer->all.at);
		return 0;
	case EXCHANGE_BUSY:
		return refusal_set(attempt->refusal, -EBUSY, "it is busy with other requests, and was for %g s",
				   (double)attempt->timeout_ms / 1000);
	case EXCHANGE_FAILED:
		return refusal_set(attempt->refusal, -EIO, "%.*s", (int)n, reason);
	case EXCHANGE_NONSENSE:
		break;
	}
	return refusal_set(attempt->refusal, -EPROTO,
			   "its answer makes no sense: is its libmprof.so of another version?");
}

/* After a timeout the pipe stays open until mprof ends: a late answer must not find another request's pipe under the same number. */
static void close_pipe(struct attempt *attempt, int error)
{
	if (error == -ETIMEDOUT)
		return;
	close_out(attempt);
	close(attempt->in);
}

static int ask_once(struct attempt *attempt, struct request *request, struct answer *answer)
{
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return refusal_set(attempt->refusal, -errno, "cannot make a pipe: %s", strerror(errno));
	attempt->in = ends[0];
	attempt->out = ends[1];
	attempt->begun = false;
	fcntl(attempt->in, F_SETFL, O_NONBLOCK); /* poll may wake for the end of the process alone */
	request->fd = (unsigned)attempt->out;
	answer->asked_ns = sys_monotonic_ns();
	error = request->fd <= REQUEST_FD_MAX ? send_request(attempt, request)
					      : refusal_set(attempt->refusal, -EMFILE, "mprof has too many files open");
	if (error == 0)
		error = receive(attempt, &answer->all);
	if (error == 0)
		error = understand(attempt, answer);
	close_pipe(attempt, error);
	return error;
}

/* Whether a failed attempt is worth another. */
static bool is_passing(int error, int64_t waited_ms, int64_t timeout_ms)
{
	if (error == -EAGAIN) /* every thread blocks the signal */
		return waited_ms < BLOCKED_MS && waited_ms < timeout_ms;
	return error == -EBUSY && waited_ms < timeout_ms;
}

int exchange_ask(struct process *process, enum request_kind kind, uint64_t argument, unsigned timeout_ms,
		 struct answer *answer, struct refusal *refusal)
{
	struct request request = {.kind = kind, .argument = argument};
	struct attempt attempt = {.process = process, .refusal = refusal, .timeout_ms = timeout_ms};
	int64_t start_ms = now_ms();
	int error;

	for (;;) {
		*answer = (struct answer){0};
		attempt.deadline_ms = now_ms() + timeout_ms;
		error = ask_once(&attempt, &request, answer);
		if (error == 0)
			return 0;
		exchange_free(answer);
		if (!is_passing(error, now_ms() - start_ms, timeout_ms))
			return error;
		process_wait_end(process, PAUSE_MS);
	}
}

void exchange_free(struct answer *answer)
{
	buffer_free(&answer->all);
	*answer = (struct answer){0};
}
