/* legacy.c - a snapshot written as text, the form of Go's heap profile at debug=1.
 *
 * One header has one rate. Rescaling a few counts from their own rate to another and rounding them to integers again
 * could be wrong by half; writing estimates under rate 1, which readers take as they are, is wrong by less than one
 * object. So that is done as soon as there are two rates. */
#include "pprof/legacy.h"

#include "core/arena.h"
#include "core/sink.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "core/sys.h"
#include "core/text.h"
#include "pprof/encode.h"
#include "pprof/hex.h"
#include "pprof/unsample.h"

#include <errno.h>
#include <string.h>

#define BUF_BYTES 32768
#define PIECE_MAX 256 /* bytes put together at a time, but for stacks, comments and maps */

/* Text on its way out. */
struct lines {
	struct sink *out;
	char *buf; /* BUF_BYTES */
	size_t used;
	int error; /* the first one: nothing is written after it */
};

static void flush(struct lines *lines)
{
	if (lines->error == 0 && lines->used > 0)
		lines->error = sink_write(lines->out, lines->buf, lines->used);
	lines->used = 0;
}

static void put(struct lines *lines, const char *string)
{
	size_t n = strlen(string);

	if (n > BUF_BYTES - lines->used)
		flush(lines);
	if (n > BUF_BYTES) {
		if (lines->error == 0)
			lines->error = sink_write(lines->out, string, n);
		return;
	}
	memcpy(lines->buf + lines->used, string, n);
	lines->used += n;
}

/* The four values of a line, or of the header. */
struct values {
	uint64_t alloc_objects, alloc_bytes, inuse_objects, inuse_bytes;
};

static struct values raw_values(const struct record *record)
{
	return (struct values){
		.alloc_objects = record->allocs,
		.alloc_bytes = record->alloc_bytes,
		.inuse_objects = record->allocs - record->frees,
		.inuse_bytes = record->alloc_bytes - record->free_bytes,
	};
}

/* What a reader would make of them. */
static struct values unsampled(const struct values *raw, uint64_t rate)
{
	struct estimate allocated = unsample(raw->alloc_objects, raw->alloc_bytes, rate);
	struct estimate in_use = unsample(raw->inuse_objects, raw->inuse_bytes, rate);

	return (struct values){
		.alloc_objects = (uint64_t)allocated.objects,
		.alloc_bytes = (uint64_t)allocated.bytes,
		.inuse_objects = (uint64_t)in_use.objects,
		.inuse_bytes = (uint64_t)in_use.bytes,
	};
}

static void add(struct values *sum, const struct values *values)
{
	sum->alloc_objects += values->alloc_objects;
	sum->alloc_bytes += values->alloc_bytes;
	sum->inuse_objects += values->inuse_objects;
	sum->inuse_bytes += values->inuse_bytes;
}

/* What the whole profile has in common. */
struct summary {
	uint64_t rate; /* of all samples; 0 = there are none yet */
	bool mixed;    /* they differ: everything is written unsampled */
	struct values raw, estimated;
};

static void summarize(struct summary *summary, const struct snapshot *snapshot)
{
	struct snapshot_cursor cursor = {0};
	struct record record;

	while (snapshot_next(snapshot, &cursor, &record)) {
		do {
			struct values raw = raw_values(&record), estimated = unsampled(&raw, record.rate);

			if (record.allocs == 0)
				continue;
			summary->mixed = summary->mixed || (summary->rate != 0 && summary->rate != record.rate);
			summary->rate = record.rate;
			add(&summary->raw, &raw);
			add(&summary->estimated, &estimated);
		} while (snapshot_twin(&cursor, &record));
	}
}

/* "inuse objects: bytes [alloc objects: bytes] @ " */
static void put_values(struct lines *lines, const struct values *values)
{
	char piece[PIECE_MAX];
	struct text text = {.buf = piece, .cap = sizeof(piece)};

	text_add_number(&text, values->inuse_objects);
	text_add(&text, ": ");
	text_add_number(&text, values->inuse_bytes);
	text_add(&text, " [");
	text_add_number(&text, values->alloc_objects);
	text_add(&text, ": ");
	text_add_number(&text, values->alloc_bytes);
	text_add(&text, "] @");
	put(lines, piece);
}

/* The number after "heap/" is twice the rate: gperftools, whose form this was, had it so. */
static void put_header(struct lines *lines, const struct summary *summary, uint64_t rate)
{
	char piece[PIECE_MAX];
	struct text text = {.buf = piece, .cap = sizeof(piece)};

	put(lines, "heap profile: ");
	put_values(lines, summary->mixed ? &summary->estimated : &summary->raw);
	text_add(&text, " heap/");
	text_add_number(&text, 2 * rate);
	text_add(&text, "\n");
	put(lines, piece);
	if (summary->mixed)
		put(lines, "# sampled at several rates; the values are estimates, unsampled already\n");
}

/* Return addresses, as readers expect: they subtract 1 themselves. A lost stack is one frame at 0. */
static void put_stack(struct lines *lines, const struct record *record)
{
	char piece[4 + HEX_NUMBER_MAX] = " 0x";

	for (uint32_t i = 0; i < record->depth; i++) {
		hex_number(piece + 3, frame_pc(record->frames[i]));
		put(lines, piece);
	}
	put(lines, record->depth == 0 ? " 0x1\n" : "\n");
}

/* A line for a record and its twins. One of another rate that was still empty when the rates were looked at is younger
 * than this profile: left out. */
static void put_record(struct lines *lines, const struct summary *summary, struct snapshot_cursor *cursor,
		       const struct record *first)
{
	struct record record = *first;
	struct values sum = {0};

	do {
		struct values values = raw_values(&record);

		if (summary->mixed)
			values = unsampled(&values, record.rate);
		else if (record.rate != summary->rate)
			continue;
		add(&sum, &values);
	} while (snapshot_twin(cursor, &record));
	if ((sum.alloc_objects | sum.alloc_bytes) == 0)
		return;
	put_values(lines, &sum);
	put_stack(lines, first);
}

static void put_records(struct lines *lines, const struct summary *summary, const struct snapshot *snapshot)
{
	struct snapshot_cursor cursor = {0};
	struct record record;

	while (lines->error == 0 && snapshot_next(snapshot, &cursor, &record))
		put_record(lines, summary, &cursor, &record);
}

/* Readers take a profile without the mappings, too. */
static void put_maps(struct lines *lines)
{
	int fd = sys_open_read("/proc/self/maps");
	long n;

	put(lines, "\nMAPPED_LIBRARIES:\n");
	flush(lines);
	if (fd < 0)
		return;
	while (lines->error == 0 && (n = sys_read(fd, lines->buf, BUF_BYTES)) > 0) {
		lines->used = (size_t)n;
		flush(lines);
	}
	sys_close(fd);
}

int legacy_profile(const struct encode_input *input, struct arena *scratch, struct sink *out)
{
	struct lines lines = {.out = out, .buf = arena_alloc(scratch, BUF_BYTES, 16)};
	struct summary summary = {0};

	if (!lines.buf)
		return -ENOMEM;
	summarize(&summary, input->snapshot);
	if (summary.rate == 0)
		summary.rate = input->period;
	put_header(&lines, &summary, summary.mixed ? 1 : summary.rate);
	for (size_t i = 0; i < input->comment_count; i++) {
		put(&lines, "# ");
		put(&lines, input->comments[i]);
		put(&lines, "\n");
	}
	put_records(&lines, &summary, input->snapshot);
	put_maps(&lines);
	flush(&lines);
	return lines.error;
}
