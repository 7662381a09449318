/* test_thread.c - which thread of a process a signal disturbs least. */
#include "tools/thread.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNAL 60

/* Judge a thread in this state, with the signal caught and perhaps blocked, in this system call. */
static enum thread_fitness judge(char state, bool caught, bool blocked, const char *syscall)
{
	unsigned long long bit = 1ULL << (SIGNAL - 1);
	char status[512];

	snprintf(status, sizeof status,
		 "State:\t%c (what)\nTgid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
		 "SigBlk:\t%016llx\nSigCgt:\t%016llx\nCapPrm:\t0\nCapEff:\t0\n",
		 state, blocked ? bit : 0, caught ? bit : ~bit);
	return thread_judge(status, syscall, SIGNAL);
}

static enum thread_fitness judge_call(long number)
{
	char text[64];

	snprintf(text, sizeof text, "%ld 0x1 0x2 0x0 0x0 0x0 0x0 0x7ffc 0x7f00\n", number);
	return judge('S', true, false, text);
}

Test(thread, by_state)
{
	cr_expect(eq(int, judge('R', true, false, "running\n"), THREAD_RUNS));
	cr_expect(eq(int, judge('R', true, false, ""), THREAD_RUNS));
	cr_expect(eq(int, judge('S', true, false, "-1 0x1 0x2\n"), THREAD_RUNS));
	cr_expect(eq(int, judge('S', true, false, ""), THREAD_UNKNOWN));
	cr_expect(eq(int, judge('D', true, false, ""), THREAD_WAITS));
	cr_expect(eq(int, judge('T', true, false, ""), THREAD_STOPPED));
	cr_expect(eq(int, judge('t', true, false, "running\n"), THREAD_STOPPED));
	cr_expect(eq(int, judge('Z', true, false, ""), THREAD_GONE));
	cr_expect(eq(int, judge('X', true, false, ""), THREAD_GONE));
	cr_expect(eq(int, thread_judge("", "running\n", SIGNAL), THREAD_GONE));
}

Test(thread, one_that_blocks_the_signal_is_not_taken)
{
	for (const char *state = "RSDTt"; *state != '\0'; state++)
		cr_expect(eq(int, judge(*state, true, true, "running\n"), THREAD_BLOCKS), "%c", *state);
}

Test(thread, a_signal_that_is_not_caught_would_kill)
{
	for (const char *state = "RSDTtZ"; *state != '\0'; state++)
		cr_expect(eq(int, judge(*state, false, false, "running\n"), THREAD_GONE), "%c", *state);
}

Test(thread, by_system_call)
{
	static const long restarted[] = {SYS_read,    SYS_write, SYS_recvfrom, SYS_recvmsg,
					 SYS_accept4, SYS_futex, SYS_wait4,    SYS_flock};
	static const long disturbed[] = {
		SYS_ppoll,	     SYS_pselect6,     SYS_epoll_pwait, SYS_nanosleep,	   SYS_semop, SYS_msgrcv,
		SYS_clock_nanosleep, SYS_io_getevents, SYS_epoll_wait,	SYS_rt_sigsuspend, SYS_pause};

	for (size_t i = 0; i < sizeof restarted / sizeof *restarted; i++)
		cr_expect(eq(int, judge_call(restarted[i]), THREAD_RESTARTED), "call %ld", restarted[i]);
	for (size_t i = 0; i < sizeof disturbed / sizeof *disturbed; i++)
		cr_expect(eq(int, judge_call(disturbed[i]), THREAD_DISTURBED), "call %ld", disturbed[i]);
	cr_expect(eq(int, judge_call(SYS_rt_sigreturn), THREAD_UNKNOWN));
}

Test(thread, the_order_of_preference)
{
	cr_expect(gt(int, judge('R', true, false, ""), judge_call(SYS_read)));
	cr_expect(gt(int, judge_call(SYS_read), judge('S', true, false, "")));
	cr_expect(gt(int, judge('S', true, false, ""), judge_call(SYS_ppoll)));
	cr_expect(gt(int, judge_call(SYS_ppoll), judge('D', true, false, "")));
	cr_expect(gt(int, THREAD_WAITS, THREAD_STOPPED));
	cr_expect(gt(int, THREAD_STOPPED, THREAD_BLOCKS));
	cr_expect(gt(int, THREAD_BLOCKS, THREAD_GONE));
}

static void ignore(int signal)
{
	(void)signal;
}

Test(thread, of_a_real_process)
{
	struct thread thread;

	cr_expect(eq(int, thread_choose(getpid(), SIGUSR2).fitness, THREAD_GONE), "nobody catches it");
	signal(SIGUSR2, ignore);
	thread = thread_choose(getpid(), SIGUSR2);
	cr_expect(eq(int, thread.id, gettid()));
	cr_expect(eq(int, thread.fitness, THREAD_RUNS));
	cr_expect(eq(int, thread_choose(INT32_MAX, SIGUSR2).id, 0));
}
