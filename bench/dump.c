/* dump.c - what a dump costs, and what it does to threads that allocate: dump BUCKETS THREADS. Run with libmprof.so at rate 1, in an empty
 * folder, with HEAPPROF_OUT=mprof.%p.%n.pb.gz. Prints figures, one "name value" a line.
 *
 * The signal is sent to the process and blocked in main, so that an allocating thread gets it. A thread that is stopped by the profiler is
 * running the signal handler: that is seen as a jump of its own processor time between two allocations. A jump of the clock on the wall
 * says less, since threads take turns on the processors; it is given with what it is without a dump. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, FRAMES = 30, BLOCK = 24, QUIET_MS = 300 };

static void *volatile kept;

/* 30 frames below main, of two functions each: the bits of a number choose the stack. */
static void down(uint64_t number, int frames);

static __attribute__((noinline)) void zero(uint64_t number, int frames)
{
	down(number, frames);
	__asm__ volatile("");
}

static __attribute__((noinline)) void one(uint64_t number, int frames)
{
	down(number, frames);
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) void down(uint64_t number, int frames)
{
	if (frames == 0)
		kept = malloc(BLOCK);
	else if ((number & 1) != 0)
		one(number >> 1, frames - 1);
	else
		zero(number >> 1, frames - 1);
}

enum phase { WARM_UP, BEFORE, DURING, PHASES };

struct worker {
	pthread_t thread;
	uint64_t count[PHASES];
	double cpu_gap[PHASES], wall_gap[PHASES]; /* longest, in s */
} __attribute__((aligned(64)));

static struct worker workers[THREADS_MAX];
static atomic_int phase; /* PHASES = stop */

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

	for (int now; (now = atomic_load(&phase)) != PHASES; worker->count[now]++) {
		double cpu_now, wall_now;

		free(malloc(64));
		cpu_now = seconds(CLOCK_THREAD_CPUTIME_ID);
		wall_now = seconds(CLOCK_MONOTONIC);
		if (cpu_now - cpu > worker->cpu_gap[now])
			worker->cpu_gap[now] = cpu_now - cpu;
		if (wall_now - wall > worker->wall_gap[now])
			worker->wall_gap[now] = wall_now - wall;
		cpu = cpu_now;
		wall = wall_now;
	}
	return NULL;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Ask for a dump and wait for its file. Returns the file's size. */
static long dump(void)
{
	char path[64];
	struct stat found;

	snprintf(path, sizeof(path), "mprof.%d.1.pb.gz", (int)getpid());
	kill(getpid(), SIGRTMAX - 4);
	while (stat(path, &found) != 0)
		sleep_ms(1);
	return (long)found.st_size;
}

static void print_gaps(const char *name, size_t offset, int threads)
{
	static const char *const names[PHASES] = {"warm_up", "before", "during"};

	for (int at = BEFORE; at < PHASES; at++) {
		double longest = 0;

		for (int i = 0; i < threads; i++) {
			double gap = ((double *)((char *)&workers[i] + offset))[at];

			longest = gap > longest ? gap : longest;
		}
		printf("%s_%s_us %.1f\n", name, names[at], longest * 1e6);
	}
}

int main(int argc, char **argv)
{
	long buckets = argc == 3 ? atol(argv[1]) : 0, threads = argc == 3 ? atol(argv[2]) : 0, bytes;
	double start, before, during;
	uint64_t count[PHASES] = {0};
	sigset_t signals;

	if (buckets < 1 || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: dump BUCKETS THREADS\n");
		return 2;
	}
	for (long i = 0; i < buckets; i++)
		down((uint64_t)i, FRAMES);
	for (long i = 0; i < threads; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMAX - 4);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	sleep_ms(QUIET_MS);
	atomic_store(&phase, BEFORE);
	start = seconds(CLOCK_MONOTONIC);
	sleep_ms(QUIET_MS);
	before = seconds(CLOCK_MONOTONIC) - start;
	atomic_store(&phase, DURING);
	start = seconds(CLOCK_MONOTONIC);
	bytes = dump();
	during = seconds(CLOCK_MONOTONIC) - start;
	atomic_store(&phase, PHASES);
	for (long i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		for (int at = 0; at < PHASES; at++)
			count[at] += workers[i].count[at];
	}
	printf("seconds %.4f\nbytes %ld\n", during, bytes);
	printf("throughput %.3f\n", (double)count[DURING] / during / ((double)count[BEFORE] / before));
	print_gaps("cpu_gap", offsetof(struct worker, cpu_gap), (int)threads);
	print_gaps("wall_gap", offsetof(struct worker, wall_gap), (int)threads);
	return 0;
}
