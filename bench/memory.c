/* memory.c - what a live heap of some size costs in memory: memory MIB. Prints figures, one "name value" a line.
 *
 * The heap is filled from 2,048 stacks, and then as many objects replaced, chosen at random. Three stacks of four
 * always ask for one size, as what allocates structures does, the others for any size from 16 to 1023 bytes, and a few
 * for buffers of 16 to 64 KiB, which come to a quarter of the heap. All is the same in each run. The table of what
 * lives is not on the heap. */
#include "preload/mprof.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BITS = 11, STACKS = 1 << STACK_BITS, SIZE_MIN = 16, OCTAVES = 6, BIG_MIN = 16 << 10, BIG_STEP = 1 << 10 };
enum { BYTES_PER_SLOT = 64, REPLACED = 1 };

struct object {
	void *ptr;
	size_t size;
};

static struct object *objects;
static size_t object_count, live_bytes;

static uint32_t next(void)
{
	static uint32_t state = 1;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* 16 to 1023, each octave as often as the others. */
static size_t small_size(uint32_t number)
{
	size_t base = (size_t)SIZE_MIN << number % OCTAVES;

	return base + (number >> 8) % base;
}

static size_t size_for(uint32_t stack)
{
	if (stack % 512 == 1)
		return BIG_MIN + next() % 48 * BIG_STEP;
	return small_size(stack % 4 == 0 ? next() : stack * 2654435761U >> 4);
}

/* 11 frames of two functions: the bits of a number choose the stack. */
static void *down(uint32_t number, int frames, size_t size);

static __attribute__((noinline)) void *zero(uint32_t number, int frames, size_t size)
{
	void *ptr = down(number, frames, size);

	__asm__ volatile("# zero");
	return ptr;
}

static __attribute__((noinline)) void *one(uint32_t number, int frames, size_t size)
{
	void *ptr = down(number, frames, size);

	__asm__ volatile("# one");
	return ptr;
}

static inline __attribute__((always_inline)) void *down(uint32_t number, int frames, size_t size)
{
	if (frames == 0)
		return malloc(size);
	return (number & 1) != 0 ? one(number >> 1, frames - 1, size) : zero(number >> 1, frames - 1, size);
}

static void allocate(struct object *object)
{
	uint32_t stack = next() % STACKS;

	object->size = size_for(stack);
	object->ptr = down(stack, STACK_BITS, object->size);
	if (object->ptr == NULL)
		abort();
	memset(object->ptr, 1, object->size);
	live_bytes += object->size;
}

static void release(struct object *object)
{
	free(object->ptr);
	live_bytes -= object->size;
}

static void fill(size_t bytes)
{
	size_t slots = bytes / BYTES_PER_SLOT;

	objects = mmap(NULL, slots * sizeof(*objects), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (objects == MAP_FAILED)
		abort();
	while (live_bytes < bytes && object_count < slots)
		allocate(&objects[object_count++]);
}

static void churn(void)
{
	for (size_t i = 0; i < REPLACED * object_count; i++) {
		struct object *object = &objects[next() % object_count];

		release(object);
		allocate(object);
	}
}

static void print_resident(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	unsigned long kib;

	if (file == NULL)
		abort();
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "Rss: %lu kB", &kib) == 1)
			printf("rss_bytes %lu\n", kib << 10);
		if (sscanf(line, "Pss: %lu kB", &kib) == 1)
			printf("pss_bytes %lu\n", kib << 10);
	}
	fclose(file);
}

static void print_profiler(void)
{
	struct mprof_stats stats = {.size = sizeof(stats)};

	if (mprof_stats == NULL || mprof_stats(&stats) != 0)
		return;
	printf("own_bytes %llu\n", (unsigned long long)stats.memory_bytes);
	printf("live_samples %llu\n", (unsigned long long)stats.live_objects);
	printf("buckets %llu\n", (unsigned long long)stats.buckets);
}

int main(int argc, char **argv)
{
	size_t mib = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (mib == 0) {
		fprintf(stderr, "usage: memory MIB\n");
		return 2;
	}
	fill(mib << 20);
	churn();
	print_resident();
	print_profiler();
	printf("live_bytes %zu\nlive_objects %zu\n", live_bytes, object_count);
	return 0;
}
