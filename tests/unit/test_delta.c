/* test_delta.c - what was allocated between two profiles of raw counts. */
#include "tools/delta.h"

#include "pprof/unsample.h"
#include "tools/buffer.h"
#include "tools/pack.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__ValueType ValueType;
typedef Perftools__Profiles__Label Label;

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SAMPLES_MAX 8
#define SECOND_NS 1000000000

static char *strings[] = {"",		"alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_objects",
			  "peak_space", "bytes",	 "rate"};

enum { BYTES = 7, RATE = 8 };

/* One (stack, size, rate) with its raw counts. */
struct counts {
	uint64_t stack[2]; /* addresses, leaf first */
	int64_t size, rate;
	int64_t values[6]; /* alloc objects and bytes, in use, peak */
};

static void add_types(Profile *profile, size_t count)
{
	static ValueType type[6], *types[COUNT(type)];

	for (size_t i = 0; i < count; i++) {
		perftools__profiles__value_type__init(&type[i]);
		type[i].type = (int64_t)i + 1;
		types[i] = &type[i];
	}
	profile->n_sample_type = count;
	profile->sample_type = types;
}

/* Two to each sample; ids[0..2 * count) are given to them. */
static void add_locations(Profile *profile, const struct counts *counts, size_t count, const uint64_t *ids)
{
	static Location location[2 * SAMPLES_MAX], *locations[COUNT(location)];

	for (size_t i = 0; i < 2 * count; i++) {
		perftools__profiles__location__init(&location[i]);
		location[i].id = ids[i];
		location[i].address = counts[i / 2].stack[i % 2];
		locations[i] = &location[i];
	}
	profile->n_location = 2 * count;
	profile->location = locations;
}

static Label *make_label(Label *label, int64_t key, int64_t number)
{
	perftools__profiles__label__init(label);
	label->key = key;
	label->num = number;
	return label;
}

static void add_samples(Profile *profile, const struct counts *counts, size_t count, uint64_t *ids)
{
	static Sample sample[SAMPLES_MAX], *samples[COUNT(sample)];
	static Label label[2 * SAMPLES_MAX], *labels[COUNT(label)];

	for (size_t i = 0; i < count; i++) {
		perftools__profiles__sample__init(&sample[i]);
		sample[i].n_location_id = 2;
		sample[i].location_id = &ids[2 * i];
		sample[i].n_value = profile->n_sample_type;
		sample[i].value = (int64_t *)(uintptr_t)counts[i].values; /* only read */
		sample[i].n_label = counts[i].rate >= 0 ? 2 : 1;
		sample[i].label = &labels[2 * i];
		labels[2 * i] = make_label(&label[2 * i], BYTES, counts[i].size);
		labels[2 * i + 1] = make_label(&label[2 * i + 1], RATE, counts[i].rate);
		samples[i] = &sample[i];
	}
	profile->n_sample = count;
	profile->sample = samples;
}

/* The profile of these counts with so many sample types, by way of its encoded form. Location ids are given from the last address on when
 * `backward`: no two profiles need to have the same. */
static Profile *make(const struct counts *counts, size_t count, size_t types, bool backward)
{
	static unsigned char packed[4096];
	static uint64_t ids[2 * SAMPLES_MAX];
	Profile profile = PERFTOOLS__PROFILES__PROFILE__INIT, *decoded;
	char error[128];
	size_t n;

	cr_assert(le(sz, count, SAMPLES_MAX));
	for (size_t i = 0; i < 2 * count; i++)
		ids[i] = backward ? 2 * count - i : i + 1;
	profile.n_string_table = COUNT(strings);
	profile.string_table = strings;
	profile.time_nanos = backward ? 2 : 1;
	add_types(&profile, types);
	add_locations(&profile, counts, count, ids);
	add_samples(&profile, counts, count, ids);
	n = perftools__profiles__profile__get_packed_size(&profile);
	cr_assert(le(sz, n, sizeof packed));
	perftools__profiles__profile__pack(&profile, packed);
	cr_assert(eq(int, decode_memory(packed, n, &decoded, error, sizeof error), 0), "%s", error);
	return decoded;
}

/* The difference of two lists of counts; NULL when there is none. */
static Profile *difference(const struct counts *before, size_t n, const struct counts *after, size_t m, size_t types,
			   int *error)
{
	Profile *first = make(before, n, types, false), *second = make(after, m, types, true);

	*error = delta_make(first, second, SECOND_NS);
	decode_free(first);
	if (*error == 0)
		return second;
	decode_free(second);
	return NULL;
}

static void expect_sample(const Profile *profile, size_t i, uint64_t leaf, int64_t size, struct estimate allocated,
			  struct estimate in_use)
{
	const Sample *sample;

	cr_assert(lt(sz, i, profile->n_sample));
	sample = profile->sample[i];
	cr_expect(eq(u64, decode_location(profile, sample->location_id[0])->address, leaf));
	cr_expect(eq(i64, sample->value[0], allocated.objects));
	cr_expect(eq(i64, sample->value[1], allocated.bytes));
	cr_expect(eq(i64, sample->value[2], in_use.objects));
	cr_expect(eq(i64, sample->value[3], in_use.bytes));
	cr_assert(eq(sz, sample->n_label, 1), "the rate is gone");
	cr_expect(eq(str, (char *)decode_string(profile, sample->label[0]->key), "bytes"));
	cr_expect(eq(i64, sample->label[0]->num, size));
}

Test(delta, allocations_are_subtracted_before_they_are_unsampled)
{
	static const struct counts before[] = {{{10, 1}, 1024, 524288, {4, 4096, 3, 3072}}};
	static const struct counts after[] = {{{10, 1}, 1024, 524288, {7, 7168, 2, 2048}}};
	int error;
	Profile *profile = difference(before, 1, after, 1, 4, &error);

	cr_assert(eq(int, error, 0));
	cr_expect(eq(sz, profile->n_sample, 1));
	expect_sample(profile, 0, 10, 1024, (struct estimate){1537, 1574400}, unsample(2, 2048, 524288));
	cr_expect(eq(i64, profile->duration_nanos, SECOND_NS));
	cr_expect(eq(i64, profile->time_nanos, 2), "the second's");
	decode_free(profile);
}

Test(delta, stacks_are_matched_by_addresses_and_sizes)
{
	static const struct counts before[] = {
		{{10, 1}, 16, 1, {1, 16, 1, 16}},
		{{10, 2}, 16, 1, {2, 32, 2, 32}},
		{{10, 1}, 32, 1, {4, 128, 4, 128}},
	};
	static const struct counts after[] = {
		{{10, 1}, 32, 1, {9, 288, 4, 128}},
		{{20, 1}, 16, 1, {6, 96, 6, 96}}, /* a new one */
		{{10, 2}, 16, 1, {5, 80, 2, 32}},
		{{10, 1}, 16, 1, {8, 128, 1, 16}},
	};
	int error;
	Profile *profile = difference(before, 3, after, 4, 4, &error);

	cr_assert(eq(int, error, 0));
	cr_expect(eq(sz, profile->n_sample, 4));
	expect_sample(profile, 0, 10, 32, (struct estimate){5, 160}, (struct estimate){4, 128});
	expect_sample(profile, 1, 20, 16, (struct estimate){6, 96}, (struct estimate){6, 96});
	expect_sample(profile, 2, 10, 16, (struct estimate){3, 48}, (struct estimate){2, 32});
	expect_sample(profile, 3, 10, 16, (struct estimate){7, 112}, (struct estimate){1, 16});
	decode_free(profile);
}

Test(delta, rates_are_told_apart_and_then_added_up)
{
	static const struct counts before[] = {
		{{10, 1}, 1024, 524288, {4, 4096, 4, 4096}},
		{{10, 1}, 1024, 4096, {10, 10240, 0, 0}},
	};
	static const struct counts after[] = {
		{{10, 1}, 1024, 4096, {15, 15360, 5, 5120}},
		{{10, 1}, 1024, 524288, {5, 5120, 4, 4096}},
		{{10, 1}, 1024, 1, {3, 3072, 2, 2048}},
	};
	struct estimate fine = unsample(5, 5120, 4096), coarse = unsample(1, 1024, 524288),
			kept = unsample(4, 4096, 524288);
	int error;
	Profile *profile = difference(before, 2, after, 3, 4, &error);

	cr_assert(eq(int, error, 0));
	cr_expect(eq(sz, profile->n_sample, 1));
	expect_sample(profile, 0, 10, 1024,
		      (struct estimate){fine.objects + coarse.objects + 3, fine.bytes + coarse.bytes + 3072},
		      (struct estimate){fine.objects + kept.objects + 2, fine.bytes + kept.bytes + 2048});
	decode_free(profile);
}

Test(delta, what_is_zero_is_dropped)
{
	static const struct counts before[] = {
		{{10, 1}, 16, 1, {3, 48, 0, 0}},
		{{20, 1}, 16, 1, {3, 48, 3, 48}},
	};
	static const struct counts after[] = {
		{{10, 1}, 16, 1, {3, 48, 0, 0}},  /* nothing happened */
		{{20, 1}, 16, 1, {3, 48, 2, 32}}, /* only a free */
	};
	int error;
	Profile *profile = difference(before, 2, after, 2, 4, &error);

	cr_assert(eq(int, error, 0));
	cr_expect(eq(sz, profile->n_sample, 1));
	expect_sample(profile, 0, 20, 16, (struct estimate){0, 0}, (struct estimate){2, 32});
	decode_free(profile);
}

Test(delta, the_same_stack_twice_in_a_profile_is_one)
{
	static const struct counts before[] = {
		{{10, 1}, 16, 1, {1, 16, 1, 16}},
		{{30, 1}, 16, 1, {1, 16, 1, 16}},
		{{10, 1}, 16, 1, {2, 32, 0, 0}},
	};
	static const struct counts after[] = {
		{{10, 1}, 16, 1, {2, 32, 1, 16}},
		{{10, 1}, 16, 1, {4, 64, 1, 16}},
		{{30, 1}, 16, 1, {1, 16, 1, 16}},
	};
	int error;
	Profile *profile = difference(before, 3, after, 3, 4, &error);

	cr_assert(eq(int, error, 0));
	cr_expect(eq(sz, profile->n_sample, 2));
	expect_sample(profile, 0, 10, 16, (struct estimate){3, 48}, (struct estimate){2, 32});
	expect_sample(profile, 1, 30, 16, (struct estimate){0, 0}, (struct estimate){1, 16});
	decode_free(profile);
}

Test(delta, peaks_are_the_seconds)
{
	static const struct counts before[] = {{{10, 1}, 1024, 4096, {4, 4096, 3, 3072, 4, 4096}}};
	static const struct counts after[] = {{{10, 1}, 1024, 4096, {4, 4096, 0, 0, 3, 3072}}};
	struct estimate peak = unsample(3, 3072, 4096);
	int error;
	Profile *profile = difference(before, 1, after, 1, 6, &error);

	cr_assert(eq(int, error, 0));
	expect_sample(profile, 0, 10, 1024, (struct estimate){0, 0}, (struct estimate){0, 0});
	cr_expect(eq(i64, profile->sample[0]->value[4], peak.objects));
	cr_expect(eq(i64, profile->sample[0]->value[5], peak.bytes));
	decode_free(profile);
}

Test(delta, counts_that_went_down_are_refused)
{
	static const struct counts before[] = {
		{{10, 1}, 16, 1, {3, 48, 1, 16}},
		{{20, 1}, 16, 1, {3, 48, 3, 48}},
	};
	static const struct counts less[] = {
		{{10, 1}, 16, 1, {2, 32, 1, 16}},
		{{20, 1}, 16, 1, {9, 144, 3, 48}},
	};
	int error;

	difference(before, 2, less, 2, 4, &error);
	cr_expect(eq(int, error, -ERANGE));
	difference(before, 2, before, 1, 4, &error);
	cr_expect(eq(int, error, -ERANGE), "one is not there any more");
	difference(before, 2, NULL, 0, 4, &error);
	cr_expect(eq(int, error, -ERANGE));
}

Test(delta, only_raw_counts_are_taken)
{
	static const struct counts raw[] = {{{10, 1}, 16, 1, {1, 16, 1, 16}}};
	static const struct counts finished[] = {{{10, 1}, 16, -1, {1, 16, 1, 16}}}; /* no rate */
	static const struct counts negative[] = {{{10, 1}, 16, 1, {1, 16, -1, 16}}};
	int error;

	difference(finished, 1, raw, 1, 4, &error);
	cr_expect(eq(int, error, -EBADMSG));
	difference(raw, 1, finished, 1, 4, &error);
	cr_expect(eq(int, error, -EBADMSG));
	difference(raw, 1, negative, 1, 4, &error);
	cr_expect(eq(int, error, -EBADMSG));
	difference(raw, 1, raw, 1, 1, &error);
	cr_expect(eq(int, error, -EBADMSG), "no alloc_space");
}

Test(delta, the_result_can_be_packed_and_read)
{
	static const struct counts before[] = {{{10, 1}, 16, 1, {1, 16, 1, 16}}};
	static const struct counts after[] = {
		{{10, 1}, 16, 1, {1, 16, 0, 0}},
		{{20, 1}, 16, 1, {6, 96, 6, 96}},
	};
	struct buffer packed = {0};
	char text[128];
	int error;
	Profile *profile = difference(before, 1, after, 2, 4, &error), *read;

	cr_assert(eq(int, error, 0));
	cr_assert(eq(int, pack(profile, &packed), 0));
	decode_free(profile);
	cr_expect(eq(int, memcmp(packed.at, "\x1f\x8b", 2), 0), "gzipped");
	cr_assert(eq(int, decode_memory(packed.at, packed.used, &read, text, sizeof text), 0), "%s", text);
	cr_expect(eq(sz, read->n_sample, 1));
	expect_sample(read, 0, 20, 16, (struct estimate){6, 96}, (struct estimate){6, 96});
	cr_expect(eq(i64, read->duration_nanos, SECOND_NS));
	decode_free(read);
	buffer_free(&packed);
}
