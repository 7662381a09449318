/* peak.c - heaps whose highest moment is known: peak one|late|threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline)) void

/* --- one thread: everything exact ------------------------------------------------------------------------------------- */

enum { BLOCKS_MAX = 4096 };

static void *blocks[BLOCKS_MAX];

static void keep(int from, int count, size_t size)
{
	for (int i = from; i < from + count; i++)
		blocks[i] = malloc(size);
}

static void drop(int from, int count)
{
	for (int i = from; i < from + count; i++)
		free(blocks[i]);
}

SITE site_base(void)
{
	keep(0, 10, 1000);
}

SITE site_before(void)
{
	keep(100, 8, 3000);
}

SITE site_bulge(int from, int count)
{
	keep(from, count, 5000);
}

SITE site_moved(size_t size)
{
	blocks[500] = realloc(blocks[500], size);
}

SITE site_late(void)
{
	keep(600, 5, 2000);
}

/* Three maxima, each above the last; then less and less. At the highest: base 10, bulge 25, moved 1 of 7000. */
static void one(void)
{
	site_base();
	site_before();
	drop(100, 8);
	site_moved(4000);
	site_bulge(200, 20); /* the first */
	drop(200, 20);
	site_bulge(200, 22); /* the second */
	drop(210, 12);
	site_bulge(210, 15);
	site_moved(7000); /* the third */
	site_moved(100);
	drop(200, 25);
	site_late();
	site_bulge(300, 15); /* none */
	drop(300, 15);
	drop(0, 4);
}

/* The highest moment is the end. */
static void late(void)
{
	site_bulge(200, 20);
	drop(200, 20);
	site_base();
	site_bulge(300, 30);
}

/* --- four threads with a random walk each, and a common model ----------------------------------------------------------- */

enum { THREADS = 4, STEPS = 200000, SLOTS = 1000, SIZE_MAX_STEP = 4000 };

static uint64_t live, highest;

static void model_add(uint64_t bytes)
{
	uint64_t now = __atomic_add_fetch(&live, bytes, __ATOMIC_SEQ_CST), old = highest;

	while (now > old && !__atomic_compare_exchange_n(&highest, &old, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static void *walk(void *seed)
{
	uint64_t random = (uintptr_t)seed;
	void **slots = calloc(SLOTS, sizeof *slots);
	size_t sizes[SLOTS] = {0};

	model_add(SLOTS * sizeof *slots);
	for (int i = 0; i < STEPS; i++) {
		int slot;

		random = random * 6364136223846793005 + 1442695040888963407;
		slot = (int)(random >> 33) % SLOTS;
		/* Grows until half-way, then shrinks. */
		if (slots[slot] == NULL && (random >> 20) % STEPS > (uint64_t)i) {
			sizes[slot] = (random >> 40) % SIZE_MAX_STEP + 1;
			slots[slot] = malloc(sizes[slot]);
			model_add(sizes[slot]);
		} else if (slots[slot] != NULL) {
			free(slots[slot]);
			slots[slot] = NULL;
			__atomic_sub_fetch(&live, sizes[slot], __ATOMIC_SEQ_CST);
		}
	}
	return NULL;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, walk, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)highest);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "one") == 0)
		one();
	else if (strcmp(mode, "late") == 0)
		late();
	else if (strcmp(mode, "threads") == 0)
		in_threads();
	else
		return 2;
	return 0;
}
