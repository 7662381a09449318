/* test_encode.c - a snapshot comes out as the profile that Go would write. */
#include "pprof/encode.h"

#include "core/arena.h"
#include "core/bucket.h"
#include "core/module.h"
#include "core/peak.h"
#include "core/sink.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "pprof/decode.h"
#include "pprof/symbols.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define RATE 524288

typedef Perftools__Profiles__Profile Profile;

struct memory_sink {
	struct sink sink;
	unsigned char data[1 << 20];
	size_t used;
	int error; /* to return; 0 = none */
};

static int memory_write(struct sink *sink, const void *data, size_t n)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	if (memory->error)
		return memory->error;
	cr_assert_leq(n, sizeof(memory->data) - memory->used);
	memcpy(memory->data + memory->used, data, n);
	memory->used += n;
	return 0;
}

static struct arena arena, scratch;
static struct memory_sink out = {.sink.write = memory_write};
static struct snapshot snapshot;
static struct encode_input input = {.snapshot = &snapshot, .period = RATE, .time_nanos = 123456789, .symbols = true};

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 << 20), 0);
	cr_assert_eq(arena_init(&scratch, 64 << 20), 0);
	module_init(&arena, start);
	cr_assert_eq(bucket_init(&arena), 0);
}

TestSuite(encode, .init = start);

/* Places in the code to build stacks from. The last has the name of an operator new[]. */
#define PLACE(name) \
	int name(int x); \
	__attribute__((noinline)) int name(int x) \
	{ \
		__asm__ volatile(""); \
		return x + __COUNTER__; \
	}
PLACE(encode_leaf)
PLACE(encode_middle)
PLACE(encode_root)
PLACE(_ZnamEncodeTest)

static uint64_t frame_in(int (*function)(int))
{
	return frame_make((uintptr_t)function + 2, module_of((uintptr_t)function)); /* pc - 1 is inside */
}

static void count(const uint64_t *frames, size_t depth, uint64_t size, uint64_t rate, unsigned allocs, unsigned frees)
{
	struct bucket *bucket = bucket_of(frames, depth, size, rate);

	cr_assert_not_null(bucket);
	for (unsigned i = 0; i < allocs; i++)
		bucket_count_alloc(bucket, size, 0);
	for (unsigned i = 0; i < frees; i++)
		bucket_count_free(bucket, size, 0);
}

static Profile *encode(void)
{
	Profile *profile;
	char error[200] = "";

	out.used = 0;
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	cr_assert_eq(encode_profile(&input, &scratch, &out.sink), 0);
	cr_assert_eq(decode_memory(out.data, out.used, &profile, error, sizeof(error)), 0, "%s", error);
	return profile;
}

static const Perftools__Profiles__Sample *sample_of_size(const Profile *profile, int64_t size)
{
	for (size_t i = 0; i < profile->n_sample; i++)
		if (profile->sample[i]->label[0]->num == size)
			return profile->sample[i];
	return NULL;
}

static void expect_values(const Profile *profile, int64_t size, int64_t alloc_objects, int64_t alloc_space,
			  int64_t inuse_objects, int64_t inuse_space)
{
	const Perftools__Profiles__Sample *sample = sample_of_size(profile, size);

	cr_assert_not_null(sample, "no sample of %ld bytes", (long)size);
	cr_expect_eq(sample->value[0], alloc_objects);
	cr_expect_eq(sample->value[1], alloc_space);
	cr_expect_eq(sample->value[2], inuse_objects);
	cr_expect_eq(sample->value[3], inuse_space);
}

static const char *function_name(const Profile *profile, uint64_t location_id)
{
	const Perftools__Profiles__Location *location = decode_location(profile, location_id);

	cr_assert_eq(location->n_line, 1);
	return decode_string(profile, decode_function(profile, location->line[0]->function_id)->name);
}

/* The function names of a stack, leaf first, as "a b c". */
static const char *stack_text(const Profile *profile, const Perftools__Profiles__Sample *sample)
{
	static char text[1024];

	text[0] = '\0';
	for (size_t i = 0; i < sample->n_location_id; i++) {
		if (i > 0)
			strcat(text, " ");
		strcat(text, function_name(profile, sample->location_id[i]));
	}
	return text;
}

Test(encode, known_values)
{
	const uint64_t a[] = {frame_in(encode_leaf), frame_in(encode_root)}, b[] = {frame_in(encode_middle)},
		       c[] = {frame_in(encode_root)};

	count(a, 2, 1024, RATE, 4, 1);
	count(b, 1, 524288, RATE, 1, 0);
	count(c, 1, 524288, RATE, 1, 1);

	Profile *profile = encode();

	cr_assert_eq(profile->n_sample, 3);
	expect_values(profile, 1024, 2050, 2099200, 1537, 1574400);
	for (size_t i = 0; i < 3; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];
		bool freed = strcmp(stack_text(profile, sample), "encode_root") == 0;

		if (sample->label[0]->num == 1024)
			continue;
		cr_expect_eq(sample->label[0]->num, 524288);
		cr_expect_eq(sample->value[0], 1);
		cr_expect_eq(sample->value[1], 829411);
		cr_expect_eq(sample->value[2], freed ? 0 : 1);
		cr_expect_eq(sample->value[3], freed ? 0 : 829411);
	}
	decode_free(profile);
}

Test(encode, header)
{
	static const char *const types[] = {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"};
	static const char *const comments[] = {"first line", "second line"};
	Profile *profile;

	input.comments = comments;
	input.comment_count = 2;
	profile = encode();
	cr_assert_eq(profile->n_sample, 0);
	cr_assert_eq(profile->n_sample_type, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(decode_string(profile, profile->sample_type[i]->type), types[i]);
		cr_expect_str_eq(decode_string(profile, profile->sample_type[i]->unit), i % 2 ? "bytes" : "count");
	}
	cr_expect_str_eq(decode_string(profile, profile->period_type->type), "space");
	cr_expect_str_eq(decode_string(profile, profile->period_type->unit), "bytes");
	cr_expect_eq(profile->period, RATE);
	cr_expect_eq(profile->time_nanos, 123456789);
	cr_expect_eq(profile->default_sample_type | profile->drop_frames | profile->duration_nanos, 0);
	cr_assert_eq(profile->n_comment, 2);
	cr_expect_str_eq(decode_string(profile, profile->comment[1]), "second line");
	cr_assert_eq(profile->n_mapping, 1, "the main program's is always there");
	decode_free(profile);
}

Test(encode, twins_are_added_up_each_by_its_own_rate)
{
	const uint64_t stack[] = {frame_in(encode_leaf)};
	Profile *profile;

	count(stack, 1, 1024, RATE, 4, 1);
	count(stack, 1, 1024, 1, 10, 10);
	profile = encode();
	cr_assert_eq(profile->n_sample, 1);
	expect_values(profile, 1024, 2050 + 10, 2099200 + 10240, 1537, 1574400);
	decode_free(profile);
}

Test(encode, raw_counts_keep_twins_apart)
{
	const uint64_t stack[] = {frame_in(encode_leaf)};
	Profile *profile;

	count(stack, 1, 1024, RATE, 4, 1);
	count(stack, 1, 1024, 8192, 10, 10);
	input.raw = true;
	profile = encode();
	cr_assert_eq(profile->n_sample, 2);
	for (size_t i = 0; i < 2; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];
		bool first;

		cr_assert_eq(sample->n_label, 2);
		cr_expect_str_eq(decode_string(profile, sample->label[1]->key), "rate");
		first = sample->label[1]->num == RATE;
		cr_expect(first || sample->label[1]->num == 8192);
		cr_expect_eq(sample->value[0], first ? 4 : 10);
		cr_expect_eq(sample->value[1], first ? 4096 : 10240);
		cr_expect_eq(sample->value[2], first ? 3 : 0);
		cr_expect_eq(sample->value[3], first ? 3072 : 0);
	}
	decode_free(profile);
}

Test(encode, the_peak_is_two_more_types)
{
	const uint64_t stack[] = {frame_in(encode_leaf)};
	struct bucket *bucket = bucket_of(stack, 1, 1024, 1);
	Profile *profile;

	peak_followed = true;
	for (int i = 0; i < 5; i++) {
		bucket_count_alloc(bucket, 1024, 0);
		peak_add(1024, 1);
	}
	for (int i = 0; i < 3; i++) {
		peak_before_change(bucket);
		peak_subtract(1024, 1);
		bucket_count_free(bucket, 1024, 0);
	}
	input.peak = true;
	profile = encode();
	cr_assert_eq(profile->n_sample_type, 6);
	cr_expect_str_eq(decode_string(profile, profile->sample_type[4]->type), "peak_objects");
	cr_expect_str_eq(decode_string(profile, profile->sample_type[5]->type), "peak_space");
	cr_expect_str_eq(decode_string(profile, profile->default_sample_type), "inuse_space");
	cr_assert_eq(profile->n_sample, 1);
	expect_values(profile, 1024, 5, 5120, 2, 2048);
	cr_expect_eq(profile->sample[0]->value[4], 5);
	cr_expect_eq(profile->sample[0]->value[5], 5120);
	decode_free(profile);
}

Test(encode, samples_without_values_are_left_out)
{
	const uint64_t stack[] = {frame_in(encode_leaf)};
	Profile *profile;

	count(stack, 1, 64, RATE, 0, 0);
	count(stack, 1, 0, 1, 3, 0); /* malloc(0) */
	profile = encode();
	cr_assert_eq(profile->n_sample, 0);
	cr_assert_eq(profile->n_location, 0);
	decode_free(profile);
}

Test(encode, allocator_frames_are_cut_at_the_leaf_only)
{
	const uint64_t wrapped[] = {frame_in(_ZnamEncodeTest), frame_in(_ZnamEncodeTest), frame_in(encode_leaf),
				    frame_in(_ZnamEncodeTest), frame_in(encode_root)};
	Profile *profile;

	count(wrapped, 5, 100, 1, 1, 0);
	count(wrapped, 2, 200, 1, 1, 0); /* nothing would remain */
	profile = encode();
	cr_expect_str_eq(stack_text(profile, sample_of_size(profile, 100)), "encode_leaf _ZnamEncodeTest encode_root");
	cr_expect_str_eq(stack_text(profile, sample_of_size(profile, 200)), "_ZnamEncodeTest _ZnamEncodeTest");
	decode_free(profile);
}

Test(encode, allocator_names)
{
	cr_expect(symbols_is_allocator("malloc"));
	cr_expect(symbols_is_allocator("__libc_memalign"));
	cr_expect(symbols_is_allocator("pvalloc"));
	cr_expect(symbols_is_allocator("_Znwm"));
	cr_expect(symbols_is_allocator("_ZnamRKSt9nothrow_t"));
	cr_expect_not(symbols_is_allocator("xmalloc"));
	cr_expect_not(symbols_is_allocator("malloc_usable_size"));
	cr_expect_not(symbols_is_allocator("_ZN3new3fooEv"));
}

Test(encode, ids_addresses_and_mappings)
{
	const uint64_t stack[] = {frame_in(encode_leaf), frame_in(encode_middle),
				  frame_make((uintptr_t)strtok + 5, module_of((uintptr_t)strtok)),
				  frame_in(encode_root)};
	const struct module *program = module_get(1);
	Profile *profile;

	count(stack, 4, 100, 1, 1, 0);
	profile = encode();
	cr_assert_eq(profile->n_location, 4);
	for (size_t i = 0; i < 4; i++) {
		const Perftools__Profiles__Location *location = profile->location[i];
		const Perftools__Profiles__Mapping *mapping = decode_mapping(profile, location->mapping_id);

		cr_expect_eq(profile->sample[0]->location_id[i], i + 1, "in order of first appearance");
		cr_expect_eq(location->address, frame_pc(stack[i]) - 1);
		cr_expect(location->address >= mapping->memory_start && location->address < mapping->memory_limit);
		cr_expect(mapping->has_functions);
	}
	cr_expect_str_eq(decode_string(profile, profile->mapping[0]->filename), program->path);
	cr_expect_eq(profile->mapping[0]->memory_start, program->segments[0].start);
	cr_expect_eq(profile->mapping[0]->file_offset, program->segments[0].offset);
	cr_expect_eq(strlen(decode_string(profile, profile->mapping[0]->build_id)), 2 * program->build_id_size);
	cr_expect_eq(profile->n_function, 4);
	cr_expect_eq(profile->function[0]->name, profile->function[0]->system_name);
	decode_free(profile);
}

Test(encode, addresses_in_one_function_share_it)
{
	const uint64_t stack[] = {frame_in(encode_leaf), frame_in(encode_leaf) + 1};
	Profile *profile;

	count(stack, 2, 100, 1, 1, 0);
	profile = encode();
	cr_expect_eq(profile->n_location, 2);
	cr_expect_eq(profile->n_function, 1);
	decode_free(profile);
}

Test(encode, code_outside_modules)
{
	const uint64_t stack[] = {frame_make(0x7000001235, 0), frame_in(encode_leaf), frame_make(0x7000200000, 0)};
	Profile *profile;

	count(stack, 3, 100, 1, 1, 0);
	profile = encode();
	cr_expect_str_eq(stack_text(profile, profile->sample[0]),
			 "[anon]+0x7000001234 encode_leaf [anon]+0x70001fffff");

	const Perftools__Profiles__Mapping *mapping = decode_mapping(profile, profile->location[0]->mapping_id);

	cr_expect_str_eq(decode_string(profile, mapping->filename), "[anon]");
	cr_expect_eq(mapping->memory_start, 0x7000001000);
	cr_expect_eq(mapping->memory_limit, 0x7000200000);
	decode_free(profile);
}

Test(encode, lost_stacks)
{
	Profile *profile;

	count(NULL, 0, 64, 1, 1, 0);
	profile = encode();
	cr_assert_eq(profile->n_sample, 1);
	cr_expect_str_eq(stack_text(profile, profile->sample[0]), "[other]");
	cr_expect_eq(profile->location[0]->mapping_id, 0);
	decode_free(profile);
}

Test(encode, without_symbols)
{
	const uint64_t stack[] = {frame_in(encode_leaf), frame_in(encode_root)};
	Profile *profile;

	input.symbols = false;
	count(stack, 2, 100, 1, 1, 0);
	profile = encode();
	cr_assert_eq(profile->n_location, 2);
	cr_expect_eq(profile->n_function, 0);
	cr_expect_eq(profile->location[0]->n_line, 0);
	cr_expect_not(profile->mapping[0]->has_functions);
	decode_free(profile);
}

/* Ten thousand addresses make every table grow several times. */
Test(encode, many_addresses)
{
	enum { DEPTH = 100, STACKS = 100 };
	uint64_t stack[DEPTH];
	Profile *profile;

	for (unsigned i = 0; i < STACKS; i++) {
		for (unsigned j = 0; j < DEPTH; j++)
			stack[j] = frame_make(0x7000000001 + (i * DEPTH + j) * 16, 0);
		count(stack, DEPTH, 1000 + i, 1, 1, 0);
	}
	profile = encode();
	cr_assert_eq(profile->n_location, DEPTH * STACKS);
	for (unsigned i = 0; i < STACKS; i++) {
		const Perftools__Profiles__Sample *sample = sample_of_size(profile, 1000 + i);

		cr_assert_eq(sample->n_location_id, DEPTH);
		for (unsigned j = 0; j < DEPTH; j++)
			cr_assert_eq(decode_location(profile, sample->location_id[j])->address,
				     0x7000000000 + (i * DEPTH + j) * 16);
	}
	decode_free(profile);
}

Test(encode, errors_of_the_sink_and_of_memory)
{
	const uint64_t stack[] = {frame_in(encode_leaf), frame_in(encode_root)};
	struct arena small;
	int error = -ENOMEM;

	count(stack, 2, 100, 1, 1, 0);
	cr_assert_eq(snapshot_take(&snapshot, &scratch), 0);
	out.error = -ENOSPC;
	cr_assert_eq(encode_profile(&input, &scratch, &out.sink), -ENOSPC);
	out.error = 0;
	for (size_t room = 0; error; room += 4096) { /* every allocation fails once */
		cr_assert_eq(arena_init(&small, 1 << 20), 0);
		cr_assert_not_null(arena_alloc(&small, (1 << 20) - room, 1));
		error = encode_profile(&input, &small, &out.sink);
		cr_assert(error == 0 || error == -ENOMEM);
		arena_destroy(&small);
	}
}
