/* counters.c - what counting costs: one counter for all threads, one for each, the shards of core/sizeclass. */
#include "core/sizeclass.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The three differ in where the counts of a thread lie, and do the same with them: an object comes and goes, which
 * is two atomic additions each time. All sizes are of one class, the worst case. A way's cost is the processor time
 * of its workers per object come or gone: other programs on the machine lengthen the wait for a processor, but not
 * that. Each round measures all ways, in rotated order, so that the ratios compare neighbours in time. Workers only
 * get in each other's way when they run at the same time: so each is bound to a processor, and has real-time
 * priority where the system grants it. */
#define WORKERS_MAX 4U
#define ROUNDS 31U
#define PAIRS 300000U /* objects that come and go, per worker and round */
#define BAR 1.15      /* sharded/private at 4 workers */

enum way { SHARED, PRIVATE, SHARDED, WAY_COUNT };

struct worker {
	pthread_t thread;
	void (*count)(struct worker *worker);
	struct sizeclass_shard own[SIZECLASS_COUNT];
	double ns; /* processor time spent counting */
};

static struct sizeclass_shard one[SIZECLASS_COUNT];
static struct sizeclass_table table;
static struct worker workers[WORKERS_MAX];
static pthread_barrier_t start;
static __thread char marker; /* its address is the thread's own */

static inline size_t nth_size(unsigned i)
{
	return 33 + i % 32; /* class 64 B */
}

static inline void count_pair(struct sizeclass_shard *shards, size_t size)
{
	struct sizeclass_counts *counts = &shards[sizeclass_of(size)].counts;

	add_relaxed(&counts->allocs, 1);
	add_relaxed(&counts->alloc_bytes, size);
	add_release(&counts->frees, 1);
	add_release(&counts->free_bytes, size);
}

static void count_shared(struct worker *worker)
{
	(void)worker;
	for (unsigned i = 0; i < PAIRS; i++)
		count_pair(one, nth_size(i));
}

static void count_private(struct worker *worker)
{
	for (unsigned i = 0; i < PAIRS; i++)
		count_pair(worker->own, nth_size(i));
}

static void count_sharded(struct worker *worker)
{
	(void)worker;
	for (unsigned i = 0; i < PAIRS; i++) {
		sizeclass_count_alloc(&table, (uintptr_t)&marker, nth_size(i));
		sizeclass_count_free(&table, (uintptr_t)&marker, nth_size(i));
	}
}

static double thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	double begin;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET((size_t)(worker - workers) % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	pthread_barrier_wait(&start);
	begin = thread_ns();
	worker->count(worker);
	worker->ns = thread_ns() - begin;
	return NULL;
}

/* What all three ways have counted so far, over all classes. */
static void add_up(struct sizeclass_counts sums[WAY_COUNT])
{
	for (enum way way = SHARED; way < WAY_COUNT; way++)
		sums[way] = (struct sizeclass_counts){0};
	for (unsigned index = 0; index < SIZECLASS_COUNT; index++) {
		struct sizeclass_counts part[WAY_COUNT] = {[SHARED] = one[index].counts};

		for (unsigned i = 0; i < WORKERS_MAX; i++) {
			const struct sizeclass_counts *own = &workers[i].own[index].counts;

			part[PRIVATE].allocs += own->allocs;
			part[PRIVATE].alloc_bytes += own->alloc_bytes;
			part[PRIVATE].frees += own->frees;
			part[PRIVATE].free_bytes += own->free_bytes;
		}
		sizeclass_read(&table, index, &part[SHARDED]);
		for (enum way way = SHARED; way < WAY_COUNT; way++) {
			sums[way].allocs += part[way].allocs;
			sums[way].alloc_bytes += part[way].alloc_bytes;
			sums[way].frees += part[way].frees;
			sums[way].free_bytes += part[way].free_bytes;
		}
	}
}

/* Whether each way has counted exactly what `runs` workers, one after the other or at once, have done. */
static bool verify(unsigned long runs)
{
	struct sizeclass_counts sums[WAY_COUNT];
	unsigned long objects = runs * PAIRS, bytes = 0;

	for (unsigned i = 0; i < PAIRS; i++)
		bytes += nth_size(i);
	bytes *= runs;
	add_up(sums);
	for (enum way way = SHARED; way < WAY_COUNT; way++)
		if (sums[way].allocs != objects || sums[way].frees != objects || sums[way].alloc_bytes != bytes ||
		    sums[way].free_bytes != bytes)
			return false;
	return true;
}

/* Let `count` workers count at once, in one way; returns ns of processor time per object come or gone. */
static double measure(enum way way, unsigned count)
{
	static void (*const ways[WAY_COUNT])(struct worker *) = {count_shared, count_private, count_sharded};
	double ns = 0;

	pthread_barrier_init(&start, NULL, count);
	for (unsigned i = 0; i < count; i++) {
		workers[i].count = ways[way];
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) {
			fputs("counters: no thread\n", stderr);
			exit(2);
		}
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		ns += workers[i].ns;
	}
	pthread_barrier_destroy(&start);
	return ns / (2.0 * PAIRS * count);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Measure and print one line of the table; returns sharded/private. */
static double compare_ways(unsigned count)
{
	double ns[WAY_COUNT][ROUNDS], shared_ratio[ROUNDS], sharded_ratio[ROUNDS], result;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < WAY_COUNT; i++) {
			enum way way = (enum way)((round + i) % WAY_COUNT);

			ns[way][round] = measure(way, count);
		}
		shared_ratio[round] = ns[SHARED][round] / ns[PRIVATE][round];
		sharded_ratio[round] = ns[SHARDED][round] / ns[PRIVATE][round];
	}
	result = median(sharded_ratio);
	printf("| %u | %.1f | %.1f | %.1f | %.2f | %.2f (%.2f to %.2f) |\n", count, median(ns[SHARED]),
	       median(ns[PRIVATE]), median(ns[SHARDED]), median(shared_ratio), result, sharded_ratio[ROUNDS / 4],
	       sharded_ratio[ROUNDS * 3 / 4]);
	return result;
}

int main(void)
{
	const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
	bool realtime = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0; /* threads inherit it */
	double ratio;

	printf("ns of processor time per object counted (2 additions); %ld processors, median of %u rounds, %s:\n\n",
	       sysconf(_SC_NPROCESSORS_ONLN), ROUNDS,
	       realtime ? "real-time priority" : "NO real-time priority: contention shows on an idle machine only");
	puts("| workers | shared | private | sharded | shared/private | sharded/private (quartiles) |\n"
	     "| --- | --- | --- | --- | --- | --- |");
	compare_ways(1);
	ratio = compare_ways(WORKERS_MAX);
	if (!verify(ROUNDS * (1 + WORKERS_MAX))) {
		puts("\nWRONG COUNTS");
		return 1;
	}
	printf("\nall counts exact; sharded/private at %u workers %s %.2f\n", WORKERS_MAX,
	       ratio <= BAR ? "within" : "ABOVE", BAR);
	return 0;
}
