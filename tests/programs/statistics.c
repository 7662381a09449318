/* statistics.c - reports from the field about figures that were wrong: statistics mixed|live|pairs|rates|stacks. */
#include "preload/mprof.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SITE static __attribute__((noinline)) void

static void must(int ok)
{
	if (!ok)
		abort();
}

/* --- mixed: golang/go#12620, large objects interleaved with small ones -------------------------------------------- */

#define DEFINE_MIXED(size) \
	SITE mixed_##size(void) \
	{ \
		free(malloc(size)); \
	}
DEFINE_MIXED(262144)
DEFINE_MIXED(1024)
DEFINE_MIXED(512)
DEFINE_MIXED(256)
DEFINE_MIXED(16)

static void mixed(void)
{
	for (int i = 0; i < 100000; i++) {
		mixed_262144();
		mixed_1024();
		mixed_512();
		mixed_256();
		mixed_16();
	}
}

/* --- live: jemalloc#1897, one site with very small and very large objects, all alive ------------------------------ */

static void *kept[1100000];
static size_t kept_count;

SITE live_site(size_t size)
{
	kept[kept_count++] = malloc(size);
}

static void live(void)
{
	for (int i = 0; i < 1000000; i++) {
		live_site(16);
		if (i % 10000 == 0)
			live_site((size_t)1 << 20);
	}
}

/* --- pairs: gperftools#1303, 3,000,000,000 allocations of one site, which do not fit into 32 bits ----------------- */

enum { PAIR_THREADS = 2, PAIR_BATCH = 1000000, PAIR_BATCHES = 1500, PAIR_SECONDS = 40 };

static long pairs_done; /* batches, of all threads */

SITE pairs_site(void)
{
	for (long i = 0; i < PAIR_BATCH; i++)
		free(malloc(16));
}

/* On a machine that is busy with other things the time is up first. */
static void *pairs_thread(void *deadline)
{
	for (int batch = 0; batch < PAIR_BATCHES && time(NULL) < *(time_t *)deadline; batch++) {
		pairs_site();
		__atomic_fetch_add(&pairs_done, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void pairs(void)
{
	time_t deadline = time(NULL) + PAIR_SECONDS;
	pthread_t threads[PAIR_THREADS];

	for (int i = 0; i < PAIR_THREADS; i++)
		must(pthread_create(&threads[i], NULL, pairs_thread, &deadline) == 0);
	for (int i = 0; i < PAIR_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", pairs_done * PAIR_BATCH);
}

/* --- rates: go-profiler-notes#11, the rate changes while the program runs ----------------------------------------- */

enum { RATES_OBJECTS = 200000, RATES_SIZE = 1000 };

static void *held[RATES_OBJECTS];

/* Kept until after the change: sampled under one rate, freed under another. */
SITE rates_before(int i)
{
	held[i] = malloc(RATES_SIZE);
}

SITE rates_after(void)
{
	free(malloc(RATES_SIZE));
}

SITE rates_both(void)
{
	free(malloc(RATES_SIZE));
}

SITE rates_off(void)
{
	free(malloc(RATES_SIZE));
}

/* One thread throughout: it is running when the rate changes. */
static void rates(void)
{
	must(mprof_set_rate != NULL && mprof_rate != NULL && mprof_rate() == 524288);
	for (int i = 0; i < RATES_OBJECTS; i++) {
		rates_before(i);
		rates_both();
	}
	must(mprof_set_rate(0) == 0 && mprof_rate() == 0);
	for (int i = 0; i < RATES_OBJECTS; i++)
		rates_off();
	must(mprof_set_rate(32768) == 0 && mprof_rate() == 32768);
	for (int i = 0; i < RATES_OBJECTS; i++) {
		rates_after();
		rates_both();
		free(held[i]);
	}
}

/* --- stacks: golang/go#69590, 2^20 different stacks --------------------------------------------------------------- */

enum { STACKS_DEPTH = 20 };

SITE stacks_site(unsigned path)
{
	kept[path] = malloc(24 + 8 * (path % 3));
}

/* Each bit of the path is taken on the way down: which of two calls was made is seen in the return address. */
SITE descend(unsigned path, int depth)
{
	if (depth == STACKS_DEPTH)
		stacks_site(path);
	else if (path >> depth & 1)
		descend(path, depth + 1);
	else
		descend(path, depth + 1);
}

/* The highest this process's memory has been, in kB. */
static long peak_kb(void)
{
	char line[128];
	long peak = -1;
	FILE *status = fopen("/proc/self/status", "r");

	must(status != NULL);
	while (fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	fclose(status);
	return peak;
}

/* Half of the blocks die. */
static void stacks(void)
{
	for (unsigned path = 0; path < 1U << STACKS_DEPTH; path++)
		descend(path, 0);
	for (unsigned path = 0; path < 1U << STACKS_DEPTH; path += 2)
		free(kept[path]);
	printf("%ld\n", peak_kb());
}

/* ------------------------------------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"mixed", mixed}, {"live", live}, {"pairs", pairs}, {"rates", rates}, {"stacks", stacks}};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc == 2 && strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			return 0;
		}
	return 2;
}
