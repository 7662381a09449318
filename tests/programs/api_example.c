/* api_example.c - how a program talks to the profiler it may be running under; it needs no library of mprof's to be built or run. */
#include "preload/mprof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a server would answer on a page about its memory: the five stacks that hold the most. */
static void show_biggest(void)
{
	long capacity = mprof_records(NULL, 0, 0) + 100; /* room for some that come up meanwhile */
	struct mprof_record *records = calloc((size_t)capacity, sizeof(*records));
	long count = records == NULL ? 0 : mprof_records(records, (size_t)capacity, 0);

	if (count > capacity)
		count = capacity;
	for (int shown = 0; shown < 5; shown++) {
		struct mprof_record *biggest = NULL;

		for (long i = 0; i < count; i++) {
			if (biggest == NULL ||
			    records[i].alloc_bytes - records[i].free_bytes > biggest->alloc_bytes - biggest->free_bytes)
				biggest = &records[i];
		}
		if (biggest == NULL || biggest->alloc_bytes == biggest->free_bytes)
			break;
		printf("%" PRIu64 " sampled bytes from 0x%" PRIxPTR "\n", biggest->alloc_bytes - biggest->free_bytes,
		       biggest->depth > 0 ? biggest->stack[0] : 0);
		biggest->free_bytes = biggest->alloc_bytes;
	}
	free(records);
}

static void show_statistics(void)
{
	struct mprof_stats stats = {.size = sizeof(stats)};

	if (mprof_stats(&stats) == 0)
		printf("%" PRIu64 " samples, %" PRIu64 " alive, %" PRIu64 " stacks\n", stats.samples,
		       stats.live_objects, stats.buckets);
}

/* Look closely at one piece of work, then go on as before. */
static char *watched_work(void)
{
	uint64_t rate = mprof_rate();
	char *result;

	mprof_set_rate(1);
	result = malloc(3 << 20);
	mprof_set_rate(rate);
	return result;
}

int main(int argc, char **argv)
{
	char *block;
	int error;

	if (mprof_dump == NULL) {
		puts("not running under mprof");
		return 0;
	}
	block = watched_work();
	show_statistics();
	show_biggest();
	error = mprof_dump(argc > 1 ? argv[1] : "/tmp/api_example.pb.gz");
	if (error < 0)
		printf("no profile: %s\n", strerror(-error));
	free(block);
	return 0;
}
