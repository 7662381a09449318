/* error.c - standard errors: how far an estimate of a sampled heap profile may be from the truth. */
#include "tools/error.h"

#include <math.h>
#include <string.h>

double error_probability(double size, double rate)
{
	return rate <= 1 ? 1 : -expm1(-size / rate);
}

struct error error_estimate(double bytes, double size, double rate, bool in_bytes)
{
	double p = error_probability(size, rate),
	       samples = fabs(bytes) * p / size; /* a difference errs as a sum does */
	double weight = (in_bytes ? size : 1) / p;

	if (size <= 0)
		return (struct error){0};
	return (struct error){.samples = samples, .variance = samples * (1 - p) * weight * weight};
}

static const char *type_name(const Perftools__Profiles__Profile *profile, int type)
{
	return decode_string(profile, profile->sample_type[type]->type);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The type that differs from `type` in its last word alone: inuse_space for inuse_objects and the reverse. */
static int counterpart(const Perftools__Profiles__Profile *profile, int type, const char *word, const char *other_word)
{
	const char *name = type_name(profile, type);
	size_t stem = strlen(name) - strlen(word);

	for (int i = 0; i < (int)profile->n_sample_type; i++)
		if (strncmp(type_name(profile, i), name, stem) == 0 &&
		    strcmp(type_name(profile, i) + stem, other_word) == 0)
			return i;
	return -1;
}

static int64_t bytes_label(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Sample *sample)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (strcmp(decode_string(profile, sample->label[i]->key), "bytes") == 0)
			return sample->label[i]->num;
	return 0;
}

/* The sample that stands for all lost stacks holds objects of several sizes, and the lower bound of their size class as
 * its label. */
static bool is_other(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Sample *sample)
{
	const Perftools__Profiles__Location *location;

	if (sample->n_location_id != 1)
		return false;
	location = decode_location(profile, sample->location_id[0]);
	return location->n_line == 1 &&
	       strcmp(decode_string(profile, decode_function(profile, location->line[0]->function_id)->name),
		      "[other]") == 0;
}

static double value_of(const Perftools__Profiles__Sample *sample, int type)
{
	return type >= 0 ? fabs((double)sample->value[type]) : 0;
}

/* The label fits when bytes / size is the number of objects, which is cut to an integer. */
static bool label_fits(double label, double bytes, double objects)
{
	return label > 0 && (objects == 0 || (bytes / label > objects - 0.01 && bytes / label < objects + 1.01));
}

double error_object_size(const struct error_model *model, const Perftools__Profiles__Profile *profile,
			 const Perftools__Profiles__Sample *sample)
{
	double label = (double)bytes_label(profile, sample);
	double bytes = value_of(sample, model->space), objects = value_of(sample, model->objects);

	if (model->space < 0 || (label_fits(label, bytes, objects) && !is_other(profile, sample)))
		return label;
	return objects > 0 ? bytes / objects : 0;
}

struct error error_of_sample(const struct error_model *model, const Perftools__Profiles__Profile *profile,
			     const Perftools__Profiles__Sample *sample)
{
	double size;

	if (!error_is_known(model))
		return (struct error){0};
	size = error_object_size(model, profile, sample);
	return error_estimate(model->space >= 0 ? value_of(sample, model->space)
						: size * value_of(sample, model->objects),
			      size, model->rate, model->in_bytes);
}

/* Whether a sample can have been taken at the model's rate: the number of sampled objects behind it must come out
 * whole. */
static bool fits_rate(const struct error_model *model, const Perftools__Profiles__Profile *profile,
		      const Perftools__Profiles__Sample *sample)
{
	double bytes = value_of(sample, model->space), objects = value_of(sample, model->objects);
	double size = (double)bytes_label(profile, sample), samples, slack;

	if (!label_fits(size, bytes, objects) || model->objects < 0 || is_other(profile, sample))
		return true; /* nothing can be said */
	if (model->rate <= 1)
		return bytes == objects * size;
	samples = bytes * error_probability(size, model->rate) / size;
	slack = 0.01 + samples * 1e-9; /* values are cut to whole bytes, 1/rate of a sample each */
	return model->rate < 1000 || fabs(samples - round(samples)) < slack;
}

static bool one_rate(const struct error_model *model, const Perftools__Profiles__Profile *profile)
{
	for (size_t i = 0; model->space >= 0 && i < profile->n_sample; i++)
		if (!fits_rate(model, profile, profile->sample[i]))
			return false;
	return true;
}

struct error_model error_model_of(const Perftools__Profiles__Profile *profile, int type)
{
	struct error_model model = {.rate = (double)profile->period, .space = -1, .objects = -1};
	const char *unit = profile->period_type != NULL ? decode_string(profile, profile->period_type->unit) : "";

	if (ends_with(type_name(profile, type), "space")) {
		model.in_bytes = true;
		model.space = type;
		model.objects = counterpart(profile, type, "space", "objects");
	} else if (ends_with(type_name(profile, type), "objects")) {
		model.objects = type;
		model.space = counterpart(profile, type, "objects", "space");
	} else {
		return model;
	}
	if (strcmp(unit, "bytes") != 0)
		return model;
	if (profile->period <= 1)
		model.kind = one_rate(&model, profile) ? ERROR_EXACT : ERROR_UNKNOWN;
	else
		model.kind = one_rate(&model, profile) ? ERROR_SAMPLED : ERROR_RESAMPLED;
	return model;
}
