/* learning.c - signals that arrive while the profiler learns how to unwind, and allocate: learning MODE.
 *
 * Children that have not seen a thousand call sites go through them in two threads, under a timer. While an address is learned signals are
 * blocked; one that arrives then is delivered the moment they are not. The handler allocates exactly when it was that moment: malloc may
 * not be called on top of just any other malloc. In mode `interrupted` that must have happened; in mode `any` it may. */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

static uintptr_t profiler_start, profiler_end;
static int hits; /* atomic: the threads of a child share the signal */

static void keep(void *ptr)
{
	__asm__ volatile("" : : "r"(ptr) : "memory");
}

static void leaf(size_t size)
{
	void *ptr = malloc(size);

	keep(ptr);
	free(ptr);
}

/* Where libmprof.so is; nowhere without it. */
static int find_profiler(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (strstr(info->dlpi_name, "/libmprof") == NULL)
		return 0;
	profiler_start = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			profiler_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;
}

/* Whether the instruction before the interrupted one was the profiler's rt_sigprocmask(SIG_SETMASK, ..., 8): the kernel leaves the
 * arguments where they were. */
static int after_unblocking(const ucontext_t *context)
{
	uintptr_t next = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	return next >= profiler_start + 2 && next < profiler_end &&
	       memcmp((const char *)next - 2, "\x0F\x05", 2) == 0 &&
	       context->uc_mcontext.gregs[REG_RDI] == SIG_SETMASK && context->uc_mcontext.gregs[REG_R10] == 8;
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (!after_unblocking(context))
		return;
	for (size_t size = 1; size < 20; size++)
		leaf(size);
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

#define SITE4(n) leaf(n), leaf((n) + 1), leaf((n) + 2), leaf((n) + 3)
#define SITE16(n) SITE4(n), SITE4((n) + 4), SITE4((n) + 8), SITE4((n) + 12)
#define SITE64(n) SITE16(n), SITE16((n) + 16), SITE16((n) + 32), SITE16((n) + 48)
#define SITE256(n) SITE64(n), SITE64((n) + 64), SITE64((n) + 128), SITE64((n) + 192)

static void *learn_a_lot(void *unused)
{
	(void)unused;
	SITE256(1), SITE256(257), SITE256(513), SITE256(769);
	return NULL;
}

static int in_child(void)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_RESTART | SA_SIGINFO};
	struct itimerval often = {.it_interval.tv_usec = 100, .it_value.tv_usec = 100};
	pthread_t thread;

	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, learn_a_lot, NULL) == 0);
	learn_a_lot(NULL);
	pthread_join(thread, NULL);
	return hits > 0;
}

int main(int argc, char **argv)
{
	int interrupted = 0;

	if (argc != 2)
		return 2;
	dl_iterate_phdr(find_profiler, NULL);
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		int status;

		CHECK(child >= 0);
		if (child == 0)
			_exit(in_child());
		CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
		interrupted += WEXITSTATUS(status);
	}
	CHECK(interrupted > 0 || strcmp(argv[1], "interrupted") != 0);
	return 0;
}
