/* test_legacy.c - a snapshot comes out as the text that Go writes and pprof reads. */
#include "pprof/legacy.h"

#include "core/arena.h"
#include "core/bucket.h"
#include "core/sink.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "pprof/encode.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RATE 524288

struct memory_sink {
	struct sink sink;
	char data[1 << 20];
	size_t used;
	int error; /* to return; 0 = none */
};

static int memory_write(struct sink *sink, const void *data, size_t n)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	if (memory->error)
		return memory->error;
	cr_assert_lt(n, sizeof(memory->data) - memory->used);
	memcpy(memory->data + memory->used, data, n);
	memory->used += n;
	memory->data[memory->used] = '\0';
	return 0;
}

static struct arena arena, scratch;
static struct memory_sink out = {.sink.write = memory_write};
static struct snapshot snapshot;
static struct encode_input input = {.snapshot = &snapshot, .period = RATE};

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 << 20), 0);
	cr_assert_eq(arena_init(&scratch, 64 << 20), 0);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(legacy, .init = start);

static void count(uintptr_t pc, uint64_t size, uint64_t rate, unsigned allocs, unsigned frees)
{
	const uint64_t stack[] = {frame_make(pc, 7), frame_make(0x7fffdeadbeef, 4095)};
	struct bucket *bucket = bucket_of(stack, pc == 0 ? 0 : 2, size, rate);

	cr_assert_not_null(bucket);
	for (unsigned i = 0; i < allocs; i++)
		bucket_count_alloc(bucket, size, 0);
	for (unsigned i = 0; i < frees; i++)
		bucket_count_free(bucket, size, 0);
}

static const char *text(void)
{
	out.used = 0;
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	cr_assert_eq(legacy_profile(&input, &scratch, &out.sink), 0);
	return out.data;
}

/* Whether a whole line of the text is this one. */
static bool has_line(const char *all, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = all; (at = strstr(at, line)) != NULL; at++) {
		if ((at == all || at[-1] == '\n') && at[n] == '\n')
			return true;
	}
	return false;
}

#define STARTS(all, with) (strncmp((all), (with), sizeof(with) - 1) == 0)
#define EXPECT_LINE(line) cr_expect(has_line(out.data, line), "no line \"%s\" in\n%.600s", line, out.data)

Test(legacy, known_values_are_raw_under_twice_the_rate)
{
	static const char *const comments[] = {"mprof 1.2", "lost: nothing"};

	input.comments = comments;
	input.comment_count = 2;
	count(0x1001, 1024, RATE, 4, 1);
	count(0x2001, 524288, RATE, 1, 0);
	count(0x3001, 524288, RATE, 1, 1);
	cr_assert(
		STARTS(text(), "heap profile: 4: 527360 [6: 1052672] @ heap/1048576\n# mprof 1.2\n# lost: nothing\n"));
	EXPECT_LINE("3: 3072 [4: 4096] @ 0x1001 0x7fffdeadbeef");
	EXPECT_LINE("1: 524288 [1: 524288] @ 0x2001 0x7fffdeadbeef");
	EXPECT_LINE("0: 0 [1: 524288] @ 0x3001 0x7fffdeadbeef");
}

Test(legacy, maps_follow)
{
	char line[512], *maps;
	FILE *file;

	count(0x1001, 1024, 1, 1, 0);
	maps = strstr(text(), "\n\nMAPPED_LIBRARIES:\n");
	cr_assert_not_null(maps);
	file = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, " r-xp ") != NULL) /* the others may have grown since */
			cr_expect(has_line(maps, line), "%s", line);
	}
	fclose(file);
}

Test(legacy, of_nothing_there_is_a_header)
{
	cr_expect(STARTS(text(), "heap profile: 0: 0 [0: 0] @ heap/1048576\n\nMAPPED_LIBRARIES:\n"));
	input.period = 0;
	cr_expect(STARTS(text(), "heap profile: 0: 0 [0: 0] @ heap/0\n"));
}

/* The rate in force now is not the one the samples were taken under. */
Test(legacy, the_header_has_the_rate_of_the_samples)
{
	input.period = 0;
	count(0x1001, 1024, RATE, 1, 0);
	cr_expect(STARTS(text(), "heap profile: 1: 1024 [1: 1024] @ heap/1048576\n"));
}

Test(legacy, of_several_rates_everything_is_unsampled)
{
	count(0x1001, 1024, RATE, 4, 1);
	count(0x1001, 1024, 1, 10, 10);
	count(0x2001, 100, 1, 1, 0);
	cr_expect(STARTS(text(), "heap profile: 1538: 1574500 [2061: 2109540] @ heap/2\n# sampled at several"),
		  "%.100s", out.data);
	EXPECT_LINE("1537: 1574400 [2060: 2109440] @ 0x1001 0x7fffdeadbeef");
	EXPECT_LINE("1: 100 [1: 100] @ 0x2001 0x7fffdeadbeef");
}

/* A twin that a reset has left empty is no second rate. */
Test(legacy, empty_records_do_not_count)
{
	count(0x1001, 1024, 1, 5, 5);
	snapshot_reset();
	count(0x1001, 1024, RATE, 4, 1);
	cr_expect(STARTS(text(), "heap profile: 3: 3072 [4: 4096] @ heap/1048576\n"), "%.100s", out.data);
	EXPECT_LINE("3: 3072 [4: 4096] @ 0x1001 0x7fffdeadbeef");
}

Test(legacy, a_lost_stack_is_one_frame)
{
	count(0, 64, 1, 1, 0);
	text();
	EXPECT_LINE("1: 64 [1: 64] @ 0x1");
}

/* Deep stacks and many lines go through the buffer many times. */
Test(legacy, long_lines)
{
	static uint64_t stack[STACK_DEPTH_MAX];
	char *line, *end;

	for (unsigned i = 0; i < STACK_DEPTH_MAX; i++)
		stack[i] = frame_make(0x7f0000000000 + i, 1);
	for (unsigned i = 0; i < 20; i++)
		bucket_count_alloc(bucket_of(stack, STACK_DEPTH_MAX, 100 + i, 1), 100 + i, 0);
	text();
	for (unsigned i = 0; i < 20; i++) {
		char first[64];

		snprintf(first, sizeof(first), "\n1: %u [1: %u] @ 0x7f0000000000 0x7f0000000001 ", 100 + i, 100 + i);
		line = strstr(out.data, first);
		cr_assert_not_null(line, "%s", first);
		end = strchr(line + 1, '\n');
		cr_expect(strncmp(end - 15, " 0x7f00000003ff", 15) == 0);
	}
}

Test(legacy, errors_of_the_sink_and_of_memory)
{
	struct arena small;

	count(0x1001, 1024, 1, 1, 0);
	text();
	out.error = -ENOSPC;
	cr_expect_eq(legacy_profile(&input, &scratch, &out.sink), -ENOSPC);
	cr_assert_eq(arena_init(&small, 1 << 20), 0);
	cr_assert_not_null(arena_alloc(&small, (1 << 20) - 4096, 1));
	cr_expect_eq(legacy_profile(&input, &small, &out.sink), -ENOMEM);
}
