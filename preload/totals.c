/* totals.c - the heap as a whole, from three sides: what was requested, what that takes up, what jemalloc says. */
#include "preload/totals.h"

#include "core/module.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "core/sys.h"
#include "core/text.h"
#include "pprof/unsample.h"
#include "preload/jemalloc.h"
#include "preload/quiet.h"

#include <stddef.h>

static int known_pid; /* of the process whose fork handlers have run */

/* What jemalloc said to totals_ask_ahead. */
static bool asked_ahead;
static uint64_t bytes_ahead;

void totals_init(void)
{
	known_pid = sys_getpid();
}

/* What jemalloc gives for a request of that size; the alignment it was asked with is not known any more. */
static uint64_t usable_bytes(uint64_t size)
{
	uint64_t usable = je_nallocx(size == 0 ? 1 : size, 0);

	return usable == 0 ? size : usable; /* 0: more than it can give */
}

static void add_record(struct totals *totals, const struct record *record)
{
	uint64_t objects = record->allocs - record->frees;
	uint64_t bytes = record->alloc_bytes - record->free_bytes;
	uint64_t estimate = (uint64_t)unsample(objects, bytes, record->rate).bytes;

	totals->requested_bytes += estimate;
	if (bytes == 0)
		return;
	/* By the mean size, as sizes differ in [other]; and from the bytes, which truncation hurts less than the
	 * objects. */
	totals->allocated_bytes +=
		(uint64_t)((double)estimate * ((double)usable_bytes(bytes / objects) * (double)objects) /
			   (double)bytes);
}

static bool read_statistic(const char *name, size_t *value)
{
	size_t size = sizeof(*value);

	return je_mallctl(name, value, &size, NULL, 0) == 0;
}

/* What the program holds of jemalloc. Its statistics count a block that a thread keeps for reuse as allocated. */
static bool ask_jemalloc(uint64_t *bytes)
{
	uint64_t epoch = 1;
	size_t allocated, cached;

	/* 4096 = all arenas. Writing the epoch makes jemalloc bring the figures up to date. */
	if (je_mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch)) != 0 ||
	    !read_statistic("stats.allocated", &allocated) ||
	    !read_statistic("stats.arenas.4096.tcache_bytes", &cached))
		return false;
	*bytes = cached < allocated ? allocated - cached : 0;
	return true;
}

/* Whether this thread is in jemalloc, interrupted by a signal in whose handler we are. */
static bool inside_jemalloc(void)
{
	struct stack stack;
	bool found = false;

	stack_capture(&stack, 0);
	for (size_t i = 0; i < stack.depth; i++)
		found |= frame_module(stack.frames[i]) == module_self();
	stack_release(&stack);
	return found;
}

static bool may_ask(const struct quiet *quiet)
{
	return quiet_outside_handlers(quiet) && sys_getpid() == known_pid && !inside_jemalloc();
}

void totals_ask_ahead(void)
{
	struct quiet quiet;

	quiet_begin(&quiet);
	if (may_ask(&quiet))
		asked_ahead = ask_jemalloc(&bytes_ahead);
	quiet_end(&quiet, 0);
}

void totals_take(struct totals *totals, const struct snapshot *snapshot, const struct quiet *quiet)
{
	struct snapshot_cursor cursor = {0};
	struct record record;

	*totals = (struct totals){0};
	if (may_ask(quiet)) {
		totals->jemalloc_known = ask_jemalloc(&totals->jemalloc_bytes);
	} else if (asked_ahead) {
		totals->jemalloc_known = true;
		totals->jemalloc_bytes = bytes_ahead;
	}
	while (snapshot_next(snapshot, &cursor, &record)) {
		do {
			add_record(totals, &record);
		} while (snapshot_twin(&cursor, &record));
	}
}

void totals_describe(const struct totals *totals, struct text *text)
{
	text_add(text, "totals: requested_bytes=");
	text_add_number(text, totals->requested_bytes);
	text_add(text, " allocated_bytes=");
	text_add_number(text, totals->allocated_bytes);
	if (totals->jemalloc_known) {
		text_add(text, " jemalloc_allocated_bytes=");
		text_add_number(text, totals->jemalloc_bytes);
	}
}
