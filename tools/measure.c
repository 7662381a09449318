/* measure.c - one sample type of one profile. */
#include "tools/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int measure_type(const Perftools__Profiles__Profile *profile, const char *name)
{
	const char *wanted = name != NULL ? name : decode_string(profile, profile->default_sample_type);

	for (size_t i = 0; i < profile->n_sample_type; i++)
		if (strcmp(decode_string(profile, profile->sample_type[i]->type), wanted) == 0)
			return (int)i;
	return name != NULL ? -1 : (int)profile->n_sample_type - 1;
}

struct measure measure_make(const Perftools__Profiles__Profile *profile, uint32_t number, int type)
{
	return (struct measure){profile, number, type, error_model_of(profile, type)};
}

const char *measure_name(const struct measure *measure)
{
	return decode_string(measure->profile, measure->profile->sample_type[measure->type]->type);
}

const char *measure_unit(const struct measure *measure)
{
	return decode_string(measure->profile, measure->profile->sample_type[measure->type]->unit);
}

bool measure_is_bytes(const struct measure *measure)
{
	return strcmp(measure_unit(measure), "bytes") == 0;
}

static struct estimated measure_sample(const struct measure *measure, const Perftools__Profiles__Sample *sample)
{
	return (struct estimated){sample->value[measure->type],
				  error_of_sample(&measure->model, measure->profile, sample)};
}

struct estimated measure_stack(const struct measure *measure, const struct stack *stack)
{
	return stack->profile == measure->number ? measure_sample(measure, stack->sample) : (struct estimated){0};
}

/* A sum past the range is the largest value. */
static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

void measure_add(struct estimated *sum, const struct estimated *more)
{
	sum->value = add(sum->value, more->value);
	sum->error.samples += more->error.samples;
	sum->error.variance += more->error.variance;
}

static int64_t subtract(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

struct estimated measure_difference(const struct estimated *to, const struct estimated *from)
{
	return (struct estimated){subtract(to->value, from->value),
				  {to->error.samples + from->error.samples, to->error.variance + from->error.variance}};
}

struct estimated measure_without(const struct estimated *sum, const struct estimated *part)
{
	double samples = sum->error.samples - part->error.samples;
	double variance = sum->error.variance - part->error.variance;

	/* rounding may leave less than nothing */
	return (struct estimated){subtract(sum->value, part->value),
				  {samples > 0 ? samples : 0, variance > 0 ? variance : 0}};
}

double measure_standard_error(const struct estimated *estimated)
{
	return sqrt(estimated->error.variance);
}

bool measure_is_significant(const struct estimated *estimated)
{
	return fabs((double)estimated->value) > 2 * measure_standard_error(estimated);
}

struct estimated measure_total(const struct measure *measure)
{
	struct estimated total = {0};

	for (size_t i = 0; i < measure->profile->n_sample; i++) {
		struct estimated one = measure_sample(measure, measure->profile->sample[i]);

		one.value = measure_magnitude(one.value);
		measure_add(&total, &one);
	}
	return total;
}
