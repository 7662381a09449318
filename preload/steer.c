/* steer.c - the requests of `mprof` that are not for a profile: rate, reset, status. */
#include "preload/steer.h"

#include "core/arena.h"
#include "core/bucket.h"
#include "core/loss.h"
#include "core/module.h"
#include "core/peak.h"
#include "core/snapshot.h"
#include "core/sys.h"
#include "core/text.h"
#include "pprof/unsample.h"
#include "preload/answer.h"
#include "preload/dump.h"
#include "preload/output.h"
#include "preload/profiler.h"
#include "preload/rate.h"

#include <errno.h>
#include <string.h>

#define STATUS_MAX 4096
#define PATH_SHOWN_MAX 2000

static void add_line(struct text *text, const char *name, uint64_t value)
{
	text_add(text, name);
	text_add(text, " ");
	text_add_number(text, value);
	text_add(text, "\n");
}

static void add_text_line(struct text *text, const char *name, const char *value)
{
	text_add(text, name);
	text_add(text, " ");
	text_add_n(text, value, strnlen(value, PATH_SHOWN_MAX));
	text_add(text, "\n");
}

/* All samples, and what they stand for. */
static void add_sums(struct text *text, struct arena *scratch)
{
	struct snapshot snapshot;
	struct snapshot_cursor cursor = {0};
	struct record record;
	struct estimate live = {0}, allocated = {0};

	if (snapshot_take(&snapshot, scratch) < 0)
		return;
	while (snapshot_next(&snapshot, &cursor, &record)) {
		do {
			struct estimate all = unsample(record.allocs, record.alloc_bytes, record.rate);
			struct estimate in_use = unsample(record.allocs - record.frees,
							  record.alloc_bytes - record.free_bytes, record.rate);

			allocated.objects += all.objects;
			allocated.bytes += all.bytes;
			live.objects += in_use.objects;
			live.bytes += in_use.bytes;
		} while (snapshot_twin(&cursor, &record));
	}
	add_line(text, "live_objects", (uint64_t)live.objects);
	add_line(text, "live_bytes", (uint64_t)live.bytes);
	add_line(text, "alloc_objects", (uint64_t)allocated.objects);
	add_line(text, "alloc_bytes", (uint64_t)allocated.bytes);
}

static int send_status(int pipe, struct arena *scratch)
{
	const struct module *program = module_get(1);
	struct bucket_counts sum = snapshot_sum();
	struct text text = {.cap = STATUS_MAX};

	text.buf = arena_alloc(scratch, text.cap, 1);
	if (text.buf == NULL)
		return answer_say(pipe, REQUEST_FAILED, output_reason(-ENOMEM));
	add_text_line(&text, "version", MPROF_VERSION);
	add_text_line(&text, "program", program == NULL ? "" : program->path);
	add_line(&text, "rate", rate_get());
	add_line(&text, "samples", sum.allocs);
	add_line(&text, "buckets", bucket_total());
	add_line(&text, "live_samples", sum.allocs - sum.frees);
	add_sums(&text, scratch);
	add_line(&text, "memory_bytes", arena_used(&profiler_arena));
	add_line(&text, "memory_limit_bytes", profiler_arena.limit_bytes);
	add_line(&text, "dumps", dump_count());
	add_line(&text, "peak_bytes", peak_highest());
	for (int i = 0; i < LOSS_COUNT; i++)
		add_line(&text, loss_keys[i], load_relaxed(&loss_counts[i])); /* a statistic */
	if (answer_say(pipe, REQUEST_OK, "") < 0)
		return -EPIPE;
	return sys_write_all(pipe, text.buf, text.n, 0);
}

static void status(int pipe)
{
	struct arena scratch;

	if (arena_init(&scratch, profiler_options.memory) == 0)
		send_status(pipe, &scratch);
	else
		answer_say(pipe, REQUEST_FAILED, output_reason(-ENOMEM));
	arena_destroy(&scratch);
}

void steer(int pipe, const struct request *request)
{
	switch (request->kind) {
	case REQUEST_RATE:
		if (rate_set(request->argument) < 0)
			answer_say(pipe, REQUEST_FAILED, "the profiler did not start");
		else
			answer_say(pipe, REQUEST_OK, "");
		break;
	case REQUEST_RESET:
		snapshot_reset();
		answer_say(pipe, REQUEST_OK, "");
		break;
	default:
		status(pipe);
	}
}
