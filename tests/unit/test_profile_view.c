/* test_profile_view.c - flat and cumulative sums by function name. */
#include "tools/profile_view.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Function Function;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__Mapping Mapping;
typedef Perftools__Profiles__ValueType ValueType;

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char *strings[] = {"", "inuse_space", "bytes", "leaf", "middle", "_ZN2ns4rootEv", "/usr/lib/libx.so", "[vdso]"};

enum { TYPE = 1, UNIT, LEAF, MIDDLE, ROOT, LIBX, VDSO };

/* Functions 1..4: two of the same name. */
static void add_functions(Profile *profile)
{
	static Function function[4], *functions[COUNT(function)];
	static const int names[COUNT(function)] = {LEAF, MIDDLE, ROOT, LEAF};

	for (size_t i = 0; i < COUNT(function); i++) {
		functions[i] = &function[i];
		perftools__profiles__function__init(&function[i]);
		function[i].id = i + 1;
		function[i].name = function[i].system_name = names[i];
	}
	profile->n_function = COUNT(function);
	profile->function = functions;
}

static void add_mappings(Profile *profile)
{
	static Mapping mapping[2], *mappings[COUNT(mapping)];
	static const int names[COUNT(mapping)] = {LIBX, VDSO};

	for (size_t i = 0; i < COUNT(mapping); i++) {
		mappings[i] = &mapping[i];
		perftools__profiles__mapping__init(&mapping[i]);
		mapping[i].id = i + 1;
		mapping[i].filename = names[i];
	}
	profile->n_mapping = COUNT(mapping);
	profile->mapping = mappings;
}

/* Locations 1..4 are in the functions of the same number; in 5 leaf is inlined into middle; 6..8 have no function. */
static void add_locations(Profile *profile)
{
	static Line line[6], *lines[COUNT(line)];
	static Location location[8], *locations[COUNT(location)];
	static const uint64_t function_of_line[COUNT(line)] = {1, 2, 3, 4, 1, 2};
	static const uint64_t mapping_of[COUNT(location)] = {1, 1, 1, 1, 1, 1, 2, 0};
	static const size_t lines_of[COUNT(location)] = {1, 1, 1, 1, 2, 0, 0, 0};
	size_t next_line = 0;

	for (size_t i = 0; i < COUNT(line); i++) {
		lines[i] = &line[i];
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = function_of_line[i];
	}
	for (size_t i = 0; i < COUNT(location); i++) {
		locations[i] = &location[i];
		perftools__profiles__location__init(&location[i]);
		location[i].id = i + 1;
		location[i].mapping_id = mapping_of[i];
		location[i].n_line = lines_of[i];
		location[i].line = &lines[next_line];
		next_line += lines_of[i];
	}
	profile->n_location = COUNT(location);
	profile->location = locations;
}

/* The profile of these samples, by way of its encoded form. */
static Profile *make(Sample **samples, size_t count)
{
	ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT, *types[] = {&type};
	Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT, *decoded;
	unsigned char packed[1024];
	char error[128];

	type.type = TYPE;
	type.unit = UNIT;
	profile.n_sample_type = 1;
	profile.sample_type = types;
	profile.n_string_table = COUNT(strings);
	profile.string_table = strings;
	profile.n_sample = count;
	profile.sample = samples;
	add_functions(&profile);
	add_mappings(&profile);
	add_locations(&profile);
	cr_assert(le(sz, perftools__profiles__profile__get_packed_size(&profile), sizeof packed));
	perftools__profiles__profile__pack(&profile, packed);
	cr_assert(eq(int,
		     decode_memory(packed, perftools__profiles__profile__get_packed_size(&profile), &decoded, error,
				   sizeof error),
		     0));
	return decoded;
}

/* One sample with these location ids, leaf first. */
#define SAMPLE(variable, bytes, ...) \
	uint64_t variable##_ids[] = {__VA_ARGS__}; \
	int64_t variable##_value = bytes; \
	Sample variable = PERFTOOLS__PROFILES__SAMPLE__INIT; \
	variable.n_location_id = COUNT(variable##_ids); \
	variable.location_id = variable##_ids; \
	variable.n_value = 1; \
	variable.value = &variable##_value

/* A view and what it is made from. */
struct view_of {
	struct stacks stacks;
	struct profile_view view;
};

static void view_of(struct view_of *of, const Profile *profile)
{
	struct measure measure = measure_make(profile, 0, 0);

	of->stacks = (struct stacks){.by = STACKS_BY_FUNCTION};
	stacks_add(&of->stacks, profile, NULL);
	profile_view_init(&of->view, &of->stacks, &measure);
	profile_view_sort(&of->view, false);
}

static void view_of_free(struct view_of *of)
{
	profile_view_free(&of->view);
	stacks_free(&of->stacks);
}

static void expect_function(const struct profile_view *view, size_t i, const char *name, int64_t flat, int64_t cum)
{
	cr_assert(lt(sz, i, view->count));
	cr_expect(eq(str, (char *)(uintptr_t)view->rows[i].name, (char *)name));
	cr_expect(eq(i64, view->rows[i].flat.value, flat));
	cr_expect(eq(i64, view->rows[i].cum.value, cum));
}

Test(profile_view, names_are_merged_and_sorted)
{
	SAMPLE(a, 100, 1, 2, 3);
	SAMPLE(b, 30, 4, 3);
	SAMPLE(c, 7, 2, 3);
	Sample *samples[] = {&a, &b, &c};
	Profile *profile = make(samples, COUNT(samples));
	struct view_of view;

	view_of(&view, profile);
	cr_expect(eq(i64, view.view.total.value, 137));
	cr_expect(eq(sz, view.view.count, 3));
	expect_function(&view.view, 0, "leaf", 130, 130);
	expect_function(&view.view, 1, "middle", 7, 107);
	expect_function(&view.view, 2, "ns::root", 0, 137);
	view_of_free(&view);
	decode_free(profile);
}

Test(profile_view, recursion_counts_once)
{
	SAMPLE(a, 50, 1, 2, 1, 4, 2, 3, 3);
	Sample *samples[] = {&a};
	Profile *profile = make(samples, COUNT(samples));
	struct view_of view;

	view_of(&view, profile);
	expect_function(&view.view, 0, "leaf", 50, 50);
	expect_function(&view.view, 1, "middle", 0, 50);
	expect_function(&view.view, 2, "ns::root", 0, 50);
	view_of_free(&view);
	decode_free(profile);
}

Test(profile_view, flat_is_the_innermost_inlined_function)
{
	SAMPLE(a, 9, 5, 3);
	Sample *samples[] = {&a};
	Profile *profile = make(samples, COUNT(samples));
	struct view_of view;

	view_of(&view, profile);
	expect_function(&view.view, 0, "leaf", 9, 9);
	expect_function(&view.view, 1, "middle", 0, 9);
	view_of_free(&view);
	decode_free(profile);
}

Test(profile_view, frames_without_function_count_for_their_module)
{
	SAMPLE(a, 3, 6, 3);
	SAMPLE(b, 2, 7, 3);
	SAMPLE(c, 1, 8, 3);
	Sample *samples[] = {&a, &b, &c};
	Profile *profile = make(samples, COUNT(samples));
	struct view_of view;

	view_of(&view, profile);
	expect_function(&view.view, 0, "[libx.so]", 3, 3);
	expect_function(&view.view, 1, "[vdso]", 2, 2);
	expect_function(&view.view, 2, "<unknown>", 1, 1);
	view_of_free(&view);
	decode_free(profile);
}

Test(profile_view, differences_count_by_magnitude)
{
	SAMPLE(a, -80, 1, 3);
	SAMPLE(b, 30, 2, 3);
	Sample *samples[] = {&a, &b};
	Profile *profile = make(samples, COUNT(samples));
	struct view_of view;

	view_of(&view, profile);
	cr_expect(eq(i64, view.view.total.value, 110));
	expect_function(&view.view, 0, "leaf", -80, -80);
	expect_function(&view.view, 1, "middle", 30, 30);
	expect_function(&view.view, 2, "ns::root", 0, -50);
	view_of_free(&view);
	decode_free(profile);
}

Test(profile_view, types_are_found_by_name)
{
	Profile *profile = make(NULL, 0);

	cr_expect(eq(int, measure_type(profile, NULL), 0));
	cr_expect(eq(int, measure_type(profile, "inuse_space"), 0));
	cr_expect(eq(int, measure_type(profile, "inuse"), -1));
	cr_expect(eq(str, (char *)profile_view_program(profile), "libx.so"));
	profile->default_sample_type = LEAF; /* there is none of this name */
	cr_expect(eq(int, measure_type(profile, NULL), 0));
	decode_free(profile);
}
