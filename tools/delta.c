/* delta.c - what a process allocated between two profiles of raw counts.
 *
 * Both profiles are lists of entries, sorted so that the same (stack, size, rate) stand beside each other; a merge then subtracts one from
 * the other. Values are changed in place and left in one of the samples that belong together, the others become zero; what is all zero is
 * dropped in the end. */
#include "tools/delta.h"

#include "pprof/unsample.h"
#include "tools/measure.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;

struct entry {
	const Profile *profile;
	Sample *sample;
	int64_t size, rate; /* of its objects, from the labels */
	size_t position;    /* in the profile */
};

struct entries {
	struct entry *list;
	size_t count;
};

/* Sample types that count the same, in objects and in bytes. */
static const char *const pairs[][2] = {
	{"alloc_objects", "alloc_space"},
	{"inuse_objects", "inuse_space"},
	{"peak_objects", "peak_space"}, /* only with HEAPPROF_PEAK */
};

#define PAIR_COUNT (sizeof pairs / sizeof *pairs)

/* --- labels and types ------------------------------------------------------------------------------------------- */

/* Take a numeric label out of a sample. False when there is none. */
static bool find_label(const Profile *profile, const Sample *sample, const char *key, int64_t *number)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		if (strcmp(decode_string(profile, sample->label[i]->key), key) == 0) {
			*number = sample->label[i]->num;
			return true;
		}
	}
	return false;
}

static void drop_label(const Profile *profile, Sample *sample, const char *key)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->n_label; i++) {
		if (strcmp(decode_string(profile, sample->label[i]->key), key) == 0)
			perftools__profiles__label__free_unpacked(sample->label[i], NULL);
		else
			sample->label[kept++] = sample->label[i];
	}
	sample->n_label = kept;
}

static bool same_types(const Profile *a, const Profile *b)
{
	if (a->n_sample_type != b->n_sample_type)
		return false;
	for (size_t i = 0; i < a->n_sample_type; i++)
		if (strcmp(decode_string(a, a->sample_type[i]->type), decode_string(b, b->sample_type[i]->type)) != 0)
			return false;
	return true;
}

/* --- entries ---------------------------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By stack and size. */
static int compare_sites(const struct entry *a, const struct entry *b)
{
	int order = compare_numbers(a->sample->n_location_id, b->sample->n_location_id);

	for (size_t i = 0; i < a->sample->n_location_id && order == 0; i++)
		order = compare_numbers(decode_location(a->profile, a->sample->location_id[i])->address,
					decode_location(b->profile, b->sample->location_id[i])->address);
	return order != 0 ? order : compare_numbers((uint64_t)a->size, (uint64_t)b->size);
}

/* By stack, size and rate. */
static int compare_keys(const struct entry *a, const struct entry *b)
{
	int order = compare_sites(a, b);

	return order != 0 ? order : compare_numbers((uint64_t)a->rate, (uint64_t)b->rate);
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_keys(x, y);

	return order != 0 ? order : compare_numbers(x->position, y->position);
}

static int entries_init(struct entries *entries, const Profile *profile)
{
	*entries = (struct entries){xcalloc(profile->n_sample + 1, sizeof *entries->list), profile->n_sample};
	for (size_t i = 0; i < profile->n_sample; i++) {
		struct entry *entry = &entries->list[i];

		*entry = (struct entry){.profile = profile, .sample = profile->sample[i], .position = i};
		if (!find_label(profile, entry->sample, "bytes", &entry->size) ||
		    !find_label(profile, entry->sample, "rate", &entry->rate) || entry->rate < 0)
			return -EBADMSG;
		for (size_t j = 0; j < entry->sample->n_value; j++)
			if (entry->sample->value[j] < 0)
				return -EBADMSG;
	}
	qsort(entries->list, entries->count, sizeof *entries->list, by_key);
	return 0;
}

/* Move the values of one sample to another. All are positive; a sum past the range becomes the largest value. */
static void move_values(const Sample *to, const Sample *from)
{
	for (size_t i = 0; i < to->n_value; i++) {
		if (__builtin_add_overflow(to->value[i], from->value[i], &to->value[i]))
			to->value[i] = INT64_MAX;
		from->value[i] = 0;
	}
}

/* Collect what belongs together in the sample that comes first in the profile. */
static void add_up(const struct entries *entries, int (*compare)(const struct entry *, const struct entry *))
{
	struct entry *sum = NULL;

	for (size_t i = 0; i < entries->count; i++) {
		struct entry *entry = &entries->list[i];

		if (sum == NULL || compare(sum, entry) != 0) {
			sum = entry;
		} else if (entry->position < sum->position) {
			move_values(entry->sample, sum->sample);
			sum = entry;
		} else {
			move_values(sum->sample, entry->sample);
		}
	}
}

/* --- the difference --------------------------------------------------------------------------------------------- */

/* The allocations counted at one key, in each profile; what is not there counts nothing. */
static int subtract_sample(const Sample *first, const Sample *second, const int types[2])
{
	for (int i = 0; i < 2; i++) {
		int64_t before = first->value[types[i]], after = second != NULL ? second->value[types[i]] : 0;

		if (after < before)
			return -ERANGE;
		if (second != NULL)
			second->value[types[i]] = after - before;
	}
	return 0;
}

/* Both are sorted, and no key is in one of them twice with a value. */
static int subtract(const struct entries *first, const struct entries *second, const int types[2])
{
	size_t at = 0;
	int error = 0;

	for (size_t i = 0; i < first->count && error == 0; i++) {
		const struct entry *entry = &first->list[i];
		const Sample *match = NULL;

		while (at < second->count && compare_keys(&second->list[at], entry) < 0)
			at++;
		if (at < second->count && compare_keys(&second->list[at], entry) == 0)
			match = second->list[at].sample;
		error = subtract_sample(entry->sample, match, types);
	}
	return error;
}

static void unsample_all(const struct entries *entries, const Profile *profile)
{
	for (size_t i = 0; i < PAIR_COUNT; i++) {
		int objects = measure_type(profile, pairs[i][0]), bytes = measure_type(profile, pairs[i][1]);

		for (size_t j = 0; objects >= 0 && bytes >= 0 && j < entries->count; j++) {
			int64_t *value = entries->list[j].sample->value;
			struct estimate estimate = unsample((uint64_t)value[objects], (uint64_t)value[bytes],
							    (uint64_t)entries->list[j].rate);

			value[objects] = estimate.objects;
			value[bytes] = estimate.bytes;
		}
	}
}

static bool is_zero(const Sample *sample)
{
	for (size_t i = 0; i < sample->n_value; i++)
		if (sample->value[i] != 0)
			return false;
	return true;
}

static void finish_samples(Profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->n_sample; i++) {
		Sample *sample = profile->sample[i];

		drop_label(profile, sample, "rate");
		if (is_zero(sample))
			perftools__profiles__sample__free_unpacked(sample, NULL);
		else
			profile->sample[kept++] = sample;
	}
	profile->n_sample = kept;
}

int delta_make(Profile *first, Profile *second, int64_t duration_ns)
{
	const int allocated[] = {measure_type(second, pairs[0][0]), measure_type(second, pairs[0][1])};
	struct entries before = {0}, after = {0};
	int error = -EBADMSG;

	if (allocated[0] < 0 || allocated[1] < 0 || !same_types(first, second))
		goto out;
	error = entries_init(&before, first);
	if (error == 0)
		error = entries_init(&after, second);
	if (error != 0)
		goto out;
	add_up(&before,
	       compare_keys); /* frames are cut off when written, so different stacks may have become the same */
	add_up(&after, compare_keys);
	error = subtract(&before, &after, allocated);
	if (error != 0)
		goto out;
	unsample_all(&after, second);
	add_up(&after, compare_sites);
	finish_samples(second);
	second->duration_nanos = duration_ns;
out:
	free(before.list);
	free(after.list);
	return error;
}
