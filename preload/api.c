/* api.c - what a program can ask of the profiler it runs under: preload/mprof.h. */
#include "preload/mprof.h"

#include "core/arena.h"
#include "core/bucket.h"
#include "core/loss.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "preload/dump.h"
#include "preload/profiler.h"
#include "preload/rate.h"

#include <errno.h>
#include <string.h>

/* What mprof_stats had in the first release: a caller with less has no valid struct. */
#define STATS_SIZE_MIN (offsetof(struct mprof_stats, lost_modules) + sizeof(uint64_t))

static void copy_record(struct mprof_record *to, const struct record *from)
{
	to->alloc_objects = from->allocs;
	to->free_objects = from->frees;
	to->alloc_bytes = from->alloc_bytes;
	to->free_bytes = from->free_bytes;
	to->rate = from->rate;
	to->depth = from->depth < MPROF_STACK_MAX ? from->depth : MPROF_STACK_MAX;
	for (size_t i = 0; i < to->depth; i++)
		to->stack[i] = frame_pc(from->frames[i]);
}

/* Copy as many records as there is room for. Returns how many there are. */
static size_t copy_records(const struct snapshot *snapshot, struct mprof_record *records, size_t capacity, bool all)
{
	struct snapshot_cursor cursor = {0};
	struct record record;
	size_t count = 0;

	while (snapshot_next(snapshot, &cursor, &record)) {
		do {
			if (record.allocs == (all ? 0 : record.frees))
				continue;
			if (count < capacity)
				copy_record(&records[count], &record);
			count++;
		} while (snapshot_twin(&cursor, &record));
	}
	return count;
}

long mprof_records(struct mprof_record *records, size_t capacity, int include_freed)
{
	struct snapshot snapshot;
	struct arena scratch;
	long result = -ENOMEM;

	if (arena_init(&scratch, profiler_options.memory) == 0 && snapshot_take(&snapshot, &scratch) == 0)
		result = (long)copy_records(&snapshot, records, capacity, include_freed != 0);
	arena_destroy(&scratch);
	return result;
}

uint64_t mprof_rate(void)
{
	return rate_get();
}

int mprof_set_rate(uint64_t rate)
{
	return rate_set(rate);
}

int mprof_dump(const char *path)
{
	return dump_to_path(path);
}

int mprof_dump_fd(int fd)
{
	return dump_to_fd(fd);
}

int mprof_reset(void)
{
	snapshot_reset();
	return 0;
}

static uint64_t lost(enum loss cause)
{
	return load_relaxed(&loss_counts[cause]); /* a statistic */
}

int mprof_stats(struct mprof_stats *stats)
{
	struct bucket_counts sum;
	struct mprof_stats now;

	if (stats->size < STATS_SIZE_MIN)
		return -EINVAL;
	sum = snapshot_sum();
	now = (struct mprof_stats){
		.size = stats->size < sizeof(now) ? stats->size : sizeof(now),
		.rate = rate_get(),
		.samples = sum.allocs,
		.buckets = bucket_total(),
		.live_objects = sum.allocs - sum.frees,
		.memory_bytes = arena_used(&profiler_arena),
		.memory_limit_bytes = profiler_arena.limit_bytes,
		.lost_other = lost(LOSS_other),
		.lost_untracked = lost(LOSS_untracked),
		.lost_dropped = lost(LOSS_dropped),
		.lost_no_stack = lost(LOSS_no_stack),
		.lost_truncated = lost(LOSS_truncated),
		.lost_reentered = lost(LOSS_reentered),
		.lost_dumps_failed = lost(LOSS_dumps_failed),
		.lost_dumps_skipped = lost(LOSS_dumps_skipped),
		.lost_modules = lost(LOSS_modules),
	};
	memcpy(stats, &now, now.size);
	return 0;
}
