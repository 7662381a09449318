/* exits.c - ends by exit(7) while sixteen threads allocate: exits WHERE. WHERE is what calls it, or what else happens then. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 16, STATUS = 7 };

static void *volatile sink;

/* Small and large ones: the latter take the allocator's locks each time. */
static void allocate_forever(void)
{
	void *blocks[32] = {NULL};

	for (unsigned i = 0;; i++) {
		free(blocks[i % 32]);
		blocks[i % 32] = malloc(i % 7 == 0 ? 100000 : i * 37 % 4000);
		if (i % 512 == 0)
			usleep(100); /* or the thread that ends the program hardly gets a processor */
	}
}

static void *run(void *unused)
{
	allocate_forever();
	return unused;
}

static void *call_exit(void *unused)
{
	exit(STATUS);
	return unused;
}

static void on_alarm(int signal)
{
	(void)signal;
	exit(STATUS);
}

/* A timer's signal ends the program in the middle of malloc or free, of blocks that take the allocator's locks. With SA_NODEFER nothing but
 * the stack tells that this is a handler. */
static void exit_in_a_handler(int flags)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
	struct itimerval soon = {.it_value = {.tv_usec = 2000}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (size_t size = 50000;; size = (size * 3) % 1000000 + 50000)
		free(malloc(size));
}

static void at_exit(void)
{
	for (size_t size = 1; size < 2000000; size = size * 2 + 1) {
		sink = malloc(size);
		free(malloc(size));
	}
	raise(SIGRTMAX - 4);
}

int main(int argc, char **argv)
{
	const char *where = argc == 2 ? argv[1] : "";
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return 99;
	usleep(2000);
	if (strcmp(where, "handler") == 0)
		exit_in_a_handler(0);
	if (strcmp(where, "nested-handler") == 0)
		exit_in_a_handler(SA_NODEFER);
	if (strcmp(where, "atexit") == 0)
		atexit(at_exit);
	if (strcmp(where, "thread") == 0) {
		pthread_create(&thread, NULL, call_exit, NULL);
		pthread_join(thread, NULL);
	}
	if (strcmp(where, "signal") == 0)
		raise(SIGRTMAX - 4);
	return STATUS;
}
