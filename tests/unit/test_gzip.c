/* test_gzip.c - what goes into the compressing sink comes out of zlib's inflate, as one gzip member. */
#include "core/arena.h"
#include "pprof/gzip.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* A sink into memory that can be made to fail. */
struct memory_sink {
	struct sink sink;
	unsigned char data[1 << 20];
	size_t used;
	int writes_left; /* then -ENOSPC */
};

static int memory_write(struct sink *sink, const void *data, size_t n)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	if (memory->writes_left-- <= 0)
		return -ENOSPC;
	cr_assert_leq(n, sizeof(memory->data) - memory->used);
	memcpy(memory->data + memory->used, data, n);
	memory->used += n;
	return 0;
}

static struct memory_sink out;
static struct arena scratch;
static struct gzip gzip;
static unsigned char input[300000], output[300000];

static void start(int writes)
{
	out = (struct memory_sink){.sink.write = memory_write, .writes_left = writes};
	cr_assert_eq(arena_init(&scratch, 1 << 20), 0);
	cr_assert_eq(gzip_init(&gzip, &out.sink, &scratch), 0);
}

/* Half of it compresses well, half not at all. */
static void fill_input(void)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < sizeof(input); i++) {
		x = x * 1664525 + 1013904223;
		input[i] = i < sizeof(input) / 2 ? (unsigned char)(i / 1000) : (unsigned char)(x >> 24);
	}
}

static void expect_output(size_t n)
{
	z_stream stream = {.next_in = out.data, .avail_in = (uInt)out.used};

	cr_assert_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_out = output;
	stream.avail_out = sizeof(output);
	cr_assert_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	cr_assert_eq(stream.total_out, n);
	cr_assert_eq(stream.avail_in, 0, "bytes after the member");
	cr_assert_eq(memcmp(input, output, n), 0);
	inflateEnd(&stream);
}

Test(gzip, round_trip_in_uneven_pieces)
{
	size_t at = 0;

	start(1 << 20);
	fill_input();
	for (size_t piece = 1; at < sizeof(input); piece = piece * 3 % 70001) {
		size_t n = piece < sizeof(input) - at ? piece : sizeof(input) - at;

		cr_assert_eq(sink_write(&gzip.sink, input + at, n), 0);
		at += n;
	}
	cr_assert_eq(gzip_finish(&gzip), 0);
	expect_output(sizeof(input));
}

Test(gzip, nothing_written_is_a_valid_member)
{
	start(1 << 20);
	cr_assert_eq(gzip_finish(&gzip), 0);
	expect_output(0);
}

Test(gzip, header_is_the_same_every_time)
{
	static const unsigned char magic[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0}; /* deflate, no name, time 0 */

	start(1 << 20);
	cr_assert_eq(gzip_finish(&gzip), 0);
	cr_assert_eq(memcmp(out.data, magic, sizeof(magic)), 0);
}

Test(gzip, error_of_the_sink_is_returned)
{
	int writes, error = -ENOSPC;

	fill_input();
	for (writes = 0; error; writes++) {
		start(writes);
		error = sink_write(&gzip.sink, input, sizeof(input));
		if (!error)
			error = gzip_finish(&gzip);
		cr_assert(error == 0 || error == -ENOSPC);
		arena_destroy(&scratch);
	}
	cr_assert_gt(writes, 100, "150 KB of noise need that many kilobytes");
	expect_output(sizeof(input));
}

Test(gzip, no_memory)
{
	cr_assert_eq(arena_init(&scratch, 1 << 20), 0);
	while (arena_alloc(&scratch, 64 << 10, 16)) {
	}
	cr_assert_eq(gzip_init(&gzip, &out.sink, &scratch), -ENOMEM);
}
