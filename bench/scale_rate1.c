/* scale_rate1.c - rate 1, one site: how much faster two threads are than one.
 *
 * Every allocation is recorded in one bucket, whose counters are what the threads could fight for. Each thread
 * allocates and frees in batches; the figure is the sum of all threads' pairs per second, the median of rounds that
 * alternate between 1 and N threads. The bar is 1.7 for 2 threads on 2 cores.
 *
 *     cc -O2 -fno-builtin -o build/scale_rate1 bench/scale_rate1.c -lpthread
 *     LD_PRELOAD=build/libmprof.so HEAPPROF_RATE=1 HEAPPROF_EXIT=0 build/scale_rate1 [THREADS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 11, BATCH = 100, BATCHES = 5000, THREADS_MAX = 64 };

static pthread_barrier_t start_line;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* The site: one call of malloc for all threads. */
static __attribute__((noinline)) void *allocate(void)
{
	return malloc(64);
}

static void *work(void *unused)
{
	void *blocks[BATCH];

	(void)unused;
	for (int i = 0; i < BATCH; i++) /* first samples of a thread are slower: they set it up */
		blocks[i] = allocate();
	for (int i = 0; i < BATCH; i++)
		free(blocks[i]);
	pthread_barrier_wait(&start_line);
	for (int batch = 0; batch < BATCHES; batch++) {
		for (int i = 0; i < BATCH; i++)
			blocks[i] = allocate();
		for (int i = 0; i < BATCH; i++)
			free(blocks[i]);
	}
	return NULL;
}

/* Pairs per second of `count` threads together. */
static double throughput(int count)
{
	pthread_t threads[THREADS_MAX];
	double begin;

	pthread_barrier_init(&start_line, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			abort();
	pthread_barrier_wait(&start_line);
	begin = now();
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start_line);
	return (double)count * BATCH * BATCHES / (now() - begin);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof *values, by_value);
	return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2;
	double one[ROUNDS], many[ROUNDS];

	if (count < 1 || count > THREADS_MAX)
		return 2;
	for (int round = 0; round < ROUNDS; round++) {
		one[round] = throughput(1);
		many[round] = throughput(count);
	}
	printf("1 thread %.2f M pairs/s, %d threads %.2f M pairs/s: %.2f times\n", median(one) / 1e6, count,
	       median(many) / 1e6, median(many) / median(one));
	return 0;
}
