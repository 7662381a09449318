/* scale.c - how many allocations all threads together make in a second: scale THREADS PATTERN MILLISECONDS. Prints millions per second.
 *
 * `own`: each thread allocates and frees objects of its own. `larson`: threads pass what they keep on to their neighbour at each round, so
 * that most objects are freed by another thread than allocated them. Source of the second: Larson and Krishnan, "Memory Allocation for
 * Long-Running Server Applications", ISMM 1998. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, SLOTS = 1000, SIZE_MIN = 16, SIZE_MASK = 511 };

static int threads;
static int larson;
static atomic_int stop;
static pthread_barrier_t start_line, round_end;

struct worker {
	pthread_t thread;
	uint64_t count;
	uint32_t random;
} __attribute__((aligned(64)));

static struct worker workers[THREADS_MAX];
static void *slots[THREADS_MAX][SLOTS];

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Replace each object of a row once. */
static void replace(struct worker *worker, void **row)
{
	for (int i = 0; i < SLOTS; i++) {
		uint32_t number = next(&worker->random);
		void **slot = &row[number % SLOTS];

		free(*slot);
		*slot = malloc(SIZE_MIN + (number >> 16 & SIZE_MASK));
		*(volatile char *)*slot = 1;
	}
	worker->count += SLOTS;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	long row = worker - workers;

	pthread_barrier_wait(&start_line);
	for (;;) {
		for (int i = 0; i < 10; i++)
			replace(worker, slots[row]);
		if (!larson) {
			if (atomic_load(&stop))
				return NULL;
			continue;
		}
		row = (row + 1) % threads; /* all move on by one at once, so no two have one row */
		pthread_barrier_wait(&round_end);
		if (atomic_load(&stop) == 2)
			return NULL;
		if (pthread_barrier_wait(&round_end) == PTHREAD_BARRIER_SERIAL_THREAD && atomic_load(&stop) == 1)
			atomic_store(&stop, 2); /* seen by all behind the next barrier */
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	uint64_t count = 0;
	double start;
	long ms;

	if (argc != 4 || (threads = atoi(argv[1])) < 1 || threads > THREADS_MAX || (ms = atol(argv[3])) < 1) {
		fprintf(stderr, "usage: scale THREADS own|larson MILLISECONDS\n");
		return 2;
	}
	larson = strcmp(argv[2], "larson") == 0;
	pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
	pthread_barrier_init(&round_end, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		workers[i].random = (uint32_t)i * 2654435761U + 1;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	pthread_barrier_wait(&start_line);
	start = now();
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
	atomic_store(&stop, 1);
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		count += workers[i].count;
	}
	printf("%.3f\n", (double)count / (now() - start) / 1e6);
	return 0;
}
