/* hotpath.c - one way of using the allocator, in a loop: hotpath KIND SIZE OPERATIONS BATCHES. Prints the median of the batches' ns per
 * operation.
 *
 * Each process warms up with 5 batches. Whatever is allocated escapes: it is stored where the compiler cannot know who reads it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 5, BATCHES_MAX = 1000, KEPT_MAX = 250000, RING = 64, QUEUE = 1024 };

/* C++'s operators, under their mangled names: the program is C. */
void *_Znwm(size_t size);
void _ZdlPv(void *ptr);
void _ZdlPvm(void *ptr, size_t size);

static size_t size;
static long operations;
static void *volatile escaped;
static void *volatile kept[KEPT_MAX];
static double results[BATCHES_MAX];

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The allocations alone; what was kept is freed off the clock. */
static uint64_t keep(void)
{
	uint64_t start = now(), end;

	for (long i = 0; i < operations; i++)
		kept[i] = malloc(size);
	end = now();
	for (long i = 0; i < operations; i++)
		free(kept[i]);
	return end - start;
}

static uint64_t pair(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations; i++) {
		escaped = malloc(size);
		free(escaped);
	}
	return now() - start;
}

/* The oldest of 64 live objects is freed for each new one. */
static uint64_t ring(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations; i++) {
		free(kept[i % RING]);
		kept[i % RING] = malloc(size);
	}
	return now() - start;
}

static uint64_t zeroed(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations; i++) {
		escaped = calloc(1, size);
		free(escaped);
	}
	return now() - start;
}

/* A buffer that doubles from 16 bytes until it has `size`: one operation is one realloc. */
static uint64_t grow(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations;) {
		for (size_t bytes = 16; bytes <= size; bytes *= 2, i++)
			escaped = realloc(bytes == 16 ? NULL : escaped, bytes);
		free(escaped);
	}
	return now() - start;
}

static uint64_t new_delete(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations; i++) {
		escaped = _Znwm(size);
		_ZdlPv(escaped);
	}
	return now() - start;
}

static uint64_t new_sized_delete(void)
{
	uint64_t start = now();

	for (long i = 0; i < operations; i++) {
		escaped = _Znwm(size);
		_ZdlPvm(escaped, size);
	}
	return now() - start;
}

/* What this thread allocates another one frees. */
static struct {
	void *slots[QUEUE];
	unsigned long head __attribute__((aligned(64))); /* atomic: put so far */
	unsigned long tail __attribute__((aligned(64))); /* atomic: taken so far */
} queue;

static void *free_all(void *unused)
{
	(void)unused;
	for (unsigned long i = 0; i < (unsigned long)operations; i++) {
		while (__atomic_load_n(&queue.head, __ATOMIC_ACQUIRE) == i)
			;
		free(queue.slots[i % QUEUE]);
		__atomic_store_n(&queue.tail, i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static uint64_t cross(void)
{
	pthread_t other;
	uint64_t start;

	queue.head = queue.tail = 0;
	pthread_create(&other, NULL, free_all, NULL);
	start = now();
	for (unsigned long i = 0; i < (unsigned long)operations; i++) {
		while (i - __atomic_load_n(&queue.tail, __ATOMIC_ACQUIRE) == QUEUE)
			;
		queue.slots[i % QUEUE] = malloc(size);
		__atomic_store_n(&queue.head, i + 1, __ATOMIC_RELEASE);
	}
	pthread_join(other, NULL);
	return now() - start;
}

static const struct kind {
	const char *name;
	uint64_t (*batch)(void);
} kinds[] = {
	{"keep", keep},
	{"pair", pair},
	{"ring", ring},
	{"calloc", zeroed},
	{"grow", grow},
	{"new", new_delete},
	{"new-sized", new_sized_delete},
	{"cross", cross},
};

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const struct kind *kind = argc == 5 ? find(argv[1]) : NULL;
	int batches = argc == 5 ? atoi(argv[4]) : 0;

	if (kind == NULL || batches < 1 || batches > BATCHES_MAX || atol(argv[3]) > KEPT_MAX) {
		fprintf(stderr,
			"usage: hotpath keep|pair|ring|calloc|grow|new|new-sized|cross SIZE OPERATIONS BATCHES\n");
		return 2;
	}
	size = strtoul(argv[2], NULL, 10);
	operations = atol(argv[3]);
	for (int i = -WARM_UP; i < batches; i++) {
		uint64_t ns = kind->batch();

		if (i >= 0)
			results[i] = (double)ns / (double)operations;
	}
	qsort(results, (size_t)batches, sizeof(results[0]), by_value);
	printf("%.3f\n", results[batches / 2]);
	return 0;
}
