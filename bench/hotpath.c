/* hotpath.c - one way of using the allocator, in a loop: hotpath KIND SIZE OPERATIONS BATCHES. Prints the median of the batches' ns per
 * operation.
 *
 * Each process warms up with 5 batches. Whatever is allocated escapes: it is stored where the compiler cannot know who reads it. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 5, BATCHES_MAX = 1000, KEPT_MAX = 250000, RING = 64, BUFFER = 1000, BUFFERS = 8 };

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

/* What this thread allocates another one frees, a buffer at a time. */
static struct buffer {
	void *volatile slots[BUFFER];
	sem_t empty, full;
} buffers[BUFFERS];

static void *free_all(void *unused)
{
	(void)unused;
	for (long i = 0; i < operations; i += BUFFER) {
		struct buffer *buffer = &buffers[i / BUFFER % BUFFERS];

		sem_wait(&buffer->full);
		for (int at = 0; at < BUFFER; at++)
			free(buffer->slots[at]);
		sem_post(&buffer->empty);
	}
	return NULL;
}

static uint64_t cross(void)
{
	pthread_t other;
	uint64_t start;

	for (int i = 0; i < BUFFERS; i++) {
		sem_init(&buffers[i].empty, 0, 1);
		sem_init(&buffers[i].full, 0, 0);
	}
	pthread_create(&other, NULL, free_all, NULL);
	start = now();
	for (long i = 0; i < operations; i += BUFFER) {
		struct buffer *buffer = &buffers[i / BUFFER % BUFFERS];

		sem_wait(&buffer->empty);
		for (int at = 0; at < BUFFER; at++)
			buffer->slots[at] = malloc(size);
		sem_post(&buffer->full);
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
