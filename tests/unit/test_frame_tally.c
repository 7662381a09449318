/* test_frame_tally.c - what the frames of a profile lack. */
#include "tools/frame_tally.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__Function Function;
typedef Perftools__Profiles__Mapping Mapping;

#define FRAMES_MAX 16

enum { APP = 1, LIBC, ANON }; /* mappings */

static const char *const mapping_names[] = {"/bin/app", "/lib/libc.so.6", "[anon]"};

/* A frame, leaf first; a stack ends with one that has no name. */
struct frame {
	const char *name;
	uint64_t mapping;
	int64_t line;
};

static Profile *profile;
static Mapping mappings[3], *mapping_list[3];
static Function functions[FRAMES_MAX], *function_list[FRAMES_MAX];
static Line lines[FRAMES_MAX], *line_list[FRAMES_MAX];
static Location locations[FRAMES_MAX], *location_list[FRAMES_MAX];
static Sample samples[FRAMES_MAX], *sample_list[FRAMES_MAX];
static uint64_t ids[FRAMES_MAX];
static char *strings[FRAMES_MAX + 4];

static void make_frame(const struct frame *frame, size_t i)
{
	perftools__profiles__function__init(&functions[i]);
	functions[i].id = i + 1;
	functions[i].name = (int64_t)i + 4;
	strings[i + 4] = (char *)frame->name;
	perftools__profiles__line__init(&lines[i]);
	lines[i].function_id = i + 1;
	lines[i].line = frame->line;
	line_list[i] = &lines[i];
	perftools__profiles__location__init(&locations[i]);
	locations[i].id = ids[i] = i + 1;
	locations[i].mapping_id = frame->mapping;
	locations[i].n_line = 1;
	locations[i].line = &line_list[i];
	function_list[i] = &functions[i];
	location_list[i] = &locations[i];
}

/* A profile with one sample whose stack this is. */
static void make_profile(const struct frame *frames, size_t count)
{
	static Profile made;

	perftools__profiles__profile__init(&made);
	strings[0] = "";
	for (size_t i = 0; i < 3; i++) {
		perftools__profiles__mapping__init(&mappings[i]);
		mappings[i].id = i + 1;
		mappings[i].filename = (int64_t)i + 1;
		strings[i + 1] = (char *)mapping_names[i];
		mapping_list[i] = &mappings[i];
	}
	for (size_t i = 0; i < count; i++)
		make_frame(&frames[i], i);
	perftools__profiles__sample__init(&samples[0]);
	samples[0].n_location_id = count;
	samples[0].location_id = ids;
	sample_list[0] = &samples[0];
	made.n_string_table = count + 4;
	made.string_table = strings;
	made.n_mapping = 3;
	made.mapping = mapping_list;
	made.n_function = made.n_location = count;
	made.function = function_list;
	made.location = location_list;
	made.n_sample = 1;
	made.sample = sample_list;
	profile = &made;
}

static struct frame_tally tally_of(const struct frame *frames, size_t count)
{
	struct frame_tally tally;

	make_profile(frames, count);
	frame_tally_init(&tally, profile);
	return tally;
}

#define TALLY(...) \
	tally_of((const struct frame[]){__VA_ARGS__}, \
		 sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame))

static void expect_counts(const struct frame_counts *counts, size_t frames, size_t nameless, size_t lineless,
			  size_t cut)
{
	cr_expect(eq(sz, counts->frames, frames));
	cr_expect(eq(sz, counts->nameless, nameless));
	cr_expect(eq(sz, counts->lineless, lineless));
	cr_expect(eq(sz, counts->cut, cut));
}

Test(frame_tally, what_starts_a_stack_does_not_count)
{
	struct frame_tally tally = TALLY({"work", APP, 7}, {"main", APP, 9}, {"libc.so.6+0x271ca", LIBC, 0},
					 {"__libc_start_main@GLIBC_2.34", LIBC, 0}, {"_start", APP, 0});

	expect_counts(&tally.mappings[APP], 1, 0, 0, 0);
	expect_counts(&tally.mappings[LIBC], 0, 0, 0, 0);
	cr_expect(eq(sz, tally.frames, 1));
	frame_tally_free(&tally);
}

Test(frame_tally, nor_the_start_of_a_thread)
{
	struct frame_tally tally =
		TALLY({"work", APP, 0}, {"libc.so.6+0x8814f", LIBC, 0}, {"libc.so.6+0x10a0cb", LIBC, 0});

	expect_counts(&tally.mappings[APP], 1, 0, 1, 0);
	expect_counts(&tally.mappings[LIBC], 0, 0, 0, 0);
	cr_expect(eq(sz, tally.cut, 0));
	frame_tally_free(&tally);
}

Test(frame_tally, names_and_lines)
{
	struct frame_tally tally = TALLY({"libc.so.6+0x1", LIBC, 0}, {"app+0x1234", APP, 0}, {"operator+0x", APP, 3},
					 {"", APP, 4}, {"app+0x1100", APP, 0}, {"_start", APP, 0});

	expect_counts(&tally.mappings[LIBC], 1, 1, 1, 0);
	expect_counts(&tally.mappings[APP], 4, 3, 2, 0);
	frame_tally_free(&tally);
}

Test(frame_tally, stacks_cut_short)
{
	struct frame_tally tally = TALLY({"work", APP, 0}, {"worker", APP, 0});

	expect_counts(&tally.mappings[APP], 2, 0, 2, 1);
	cr_expect(eq(sz, tally.cut, 1));
	frame_tally_free(&tally);

	tally = TALLY({"work", APP, 0}, {"[anon]+0x7f0000", ANON, 0});
	expect_counts(&tally.mappings[ANON], 0, 0, 0, 1);
	frame_tally_free(&tally);

	tally = TALLY({FRAME_OTHER, ANON, 0});
	cr_expect(eq(sz, tally.cut, 0));
	frame_tally_free(&tally);
}
