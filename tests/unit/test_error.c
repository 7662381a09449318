/* test_error.c - the standard errors that `mprof top` shows are those that repeated sampling has. */
#include "core/sampler.h"
#include "pprof/unsample.h"
#include "tools/error.h"
#include "tools/format.h"
#include "tools/measure.h"
#include "tools/totals.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__ValueType ValueType;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- profiles by hand --------------------------------------------------------------------------------------------- */

static char *strings[] = {"", "inuse_objects", "inuse_space", "bytes", "count", "space", "cpu", "nanoseconds"};

enum { OBJECTS = 1, SPACE, BYTES, NUMBER, PERIOD, CPU, NANOSECONDS };

/* A sample of `n` sampled objects of `size` bytes at `rate`, as the writer puts it; without the label when `labelled`
 * is 0. */
struct made {
	int64_t value[2];
	Label label, *labels[1];
	Sample sample;
};

static void make_sample(struct made *made, uint64_t n, uint64_t size, uint64_t rate, int labelled)
{
	struct estimate estimate = unsample(n, n * size, rate);

	made->value[0] = estimate.objects;
	made->value[1] = estimate.bytes;
	perftools__profiles__label__init(&made->label);
	made->label.key = BYTES;
	made->label.num = (int64_t)size;
	made->labels[0] = &made->label;
	perftools__profiles__sample__init(&made->sample);
	made->sample.n_value = 2;
	made->sample.value = made->value;
	made->sample.n_label = labelled ? 1 : 0;
	made->sample.label = made->labels;
}

/* inuse_objects and inuse_space, at most four samples. */
static Profile *profile_of(struct made *made, size_t count, int64_t period)
{
	static Profile profile;
	static ValueType objects, space, period_type, *types[] = {&objects, &space};
	static Sample *samples[4];

	perftools__profiles__profile__init(&profile);
	perftools__profiles__value_type__init(&objects);
	perftools__profiles__value_type__init(&space);
	perftools__profiles__value_type__init(&period_type);
	objects.type = OBJECTS;
	objects.unit = NUMBER;
	space.type = SPACE;
	space.unit = BYTES;
	period_type.type = PERIOD;
	period_type.unit = BYTES;
	for (size_t i = 0; i < count; i++)
		samples[i] = &made[i].sample;
	profile.n_string_table = COUNT(strings);
	profile.string_table = strings;
	profile.n_sample_type = 2;
	profile.sample_type = types;
	profile.period_type = &period_type;
	profile.period = period;
	profile.n_sample = count;
	profile.sample = samples;
	return &profile;
}

static void expect_near(double value, double wanted, double relative, const char *what)
{
	cr_expect(fabs(value - wanted) <= relative * fabs(wanted) + 1e-12, "%s: %g, not %g", what, value, wanted);
}

/* --- the formula -------------------------------------------------------------------------------------------------- */

Test(error, formula)
{
	/* 100 samples of 1 KiB at 512 KiB: p = 0.00195, nearly 1/sqrt(100). */
	double p = error_probability(1024, 524288), bytes = 100 * 1024 / p;
	struct error error = error_estimate(bytes, 1024, 524288, true);

	expect_near(p, 1 - exp(-1.0 / 512), 1e-9, "p");
	expect_near(error.samples, 100, 1e-9, "samples");
	expect_near(sqrt(error.variance) / bytes, sqrt((1 - p) / 100), 1e-9, "relative error");
	/* The same objects counted as objects: the same relative error. */
	error = error_estimate(bytes, 1024, 524288, false);
	expect_near(sqrt(error.variance) / (100 / p), sqrt((1 - p) / 100), 1e-9, "relative error of objects");
	/* Objects of 16 times the rate are all seen. */
	error = error_estimate(8 << 20, 8 << 20, 524288, true);
	cr_expect(lt(dbl, sqrt(error.variance), 0.001 * (8 << 20)));
	/* Nothing to say. */
	cr_expect(eq(dbl, error_estimate(1000, 10, 1, true).variance, 0));
	cr_expect(eq(dbl, error_estimate(0, 10, 524288, true).variance, 0));
	cr_expect(eq(dbl, error_estimate(1000, 0, 524288, true).variance, 0));
	/* The difference of two profiles can be negative; it errs all the same. */
	expect_near(error_estimate(-bytes, 1024, 524288, true).variance, pow(bytes, 2) * (1 - p) / 100, 1e-9, "minus");
}

/* The number of samples is found again from values that were cut to integers. */
Test(error, samples_survive_the_writer)
{
	static const uint64_t sizes[] = {1, 8, 1000, 100000, 400000, 524288, 2000000};

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (uint64_t n = 1; n <= 1000; n *= 10) {
			struct made made;
			Profile *profile;
			struct error_model model;

			make_sample(&made, n, sizes[i], 524288, 1);
			profile = profile_of(&made, 1, 524288);
			for (int type = 0; type < 2; type++) {
				model = error_model_of(profile, type);
				cr_expect(eq(int, model.kind, ERROR_SAMPLED));
				/* Cut by less than a byte, which is less than 1/rate of a sample. */
				expect_near(error_of_sample(&model, profile, &made.sample).samples, (double)n, 1e-5,
					    "n");
			}
		}
}

Test(error, without_the_label_the_average_size_counts)
{
	struct made made;
	struct error_model model;
	Profile *profile;

	make_sample(&made, 50, 1000, 524288, 0);
	profile = profile_of(&made, 1, 524288);
	model = error_model_of(profile, 1);
	cr_expect(eq(int, model.kind, ERROR_SAMPLED));
	/* The average is of values cut to integers: 26238 objects, so one part in 26,238 off at most. */
	expect_near(error_object_size(&model, profile, &made.sample), 1000, 1.0 / 26238, "size");
	expect_near(error_of_sample(&model, profile, &made.sample).samples, 50, 2.0 / 26238, "samples");
}

/* A sample of [other] has the lower bound of its size class as its label. */
Test(error, mixed_sizes_count_with_their_average)
{
	struct made made;
	struct error_model model;
	Profile *profile;

	make_sample(&made, 50, 1000, 524288, 1);
	made.label.num = 896;
	profile = profile_of(&made, 1, 524288);
	model = error_model_of(profile, 1);
	expect_near(error_object_size(&model, profile, &made.sample), 1000, 1.0 / 26238, "size");
}

static enum error_kind kind_of(struct made *made, size_t count, int64_t period)
{
	return error_model_of(profile_of(made, count, period), 1).kind;
}

Test(error, kinds_of_profiles)
{
	struct made made[2];
	Profile *profile;

	make_sample(&made[0], 7, 100, 1, 1);
	make_sample(&made[1], 3, 1000000, 1, 1);
	cr_expect(eq(int, kind_of(made, 2, 1), ERROR_EXACT));
	cr_expect(eq(int, kind_of(made, 2, 0), ERROR_EXACT));
	cr_expect(eq(int, kind_of(made, 0, 1), ERROR_EXACT));
	/* The end of a program that ran at 512K for a while: what was sampled then is not exact. */
	make_sample(&made[1], 3, 1000, 524288, 1);
	cr_expect(eq(int, kind_of(made, 2, 1), ERROR_UNKNOWN));
	cr_expect(eq(int, kind_of(made, 2, 0), ERROR_UNKNOWN));
	cr_expect(eq(int, kind_of(made + 1, 1, 524288), ERROR_SAMPLED));
	cr_expect(eq(int, kind_of(made + 1, 1, 30000), ERROR_RESAMPLED));
	cr_expect(eq(int, error_is_known(&(struct error_model){.kind = ERROR_RESAMPLED}), 1));
	cr_expect(eq(int, error_is_known(&(struct error_model){.kind = ERROR_EXACT}), 0));
	/* A CPU profile. */
	profile = profile_of(made, 2, 10000000);
	profile->sample_type[1]->type = CPU;
	profile->period_type->unit = NANOSECONDS;
	cr_expect(eq(int, error_model_of(profile, 1).kind, ERROR_NONE));
	cr_expect(
		eq(dbl, error_of_sample(&(struct error_model){.kind = ERROR_NONE}, profile, &made->sample).samples, 0));
}

/* --- the formula against the sampler ------------------------------------------------------------------------------ */

enum { EXPERIMENTS = 4000, SITES = 4, RATE = 16384 };

static const struct {
	uint64_t size, objects;
} sites[SITES] = {{64, 40000}, {1000, 4000}, {16384, 300}, {60000, 100}};

struct moments {
	double sum, squares, variances; /* of the estimates; of the variances reported with them */
};

static void moments_add(struct moments *moments, double value, double variance)
{
	moments->sum += value;
	moments->squares += value * value;
	moments->variances += variance;
}

/* One program: all sites interleaved; sampled[i] objects of site i were taken. */
static void sample_sites(struct sampler *sampler, uint64_t *sampled)
{
	for (uint64_t round = 0; round < 100; round++)
		for (int i = 0; i < SITES; i++)
			for (uint64_t j = 0; j < sites[i].objects / 100; j++)
				if (!sampler_skips(sampler, sites[i].size) &&
				    sampler_judge(sampler, sites[i].size, RATE))
					sampled[i]++;
}

/* The k experiments' mean lies within `limit` standard errors of the truth, and their spread is what was reported.
 *
 * The empirical variance of k independent, nearly normal estimates has relative standard error sqrt(2/(k-1)) = 2.24 %;
 * a kurtosis in excess of 3 by e adds e/(2k) under the root (binomial: |e| < 1/(n p q) <= 1/60, not visible). The
 * reported variances are averaged over the experiments; one has relative error of about 1/sqrt(n) <= 10 %, their mean
 * 0.2 %. Together 2.25 %, at 5.9 sigma 13.3 %. False alarm: 2 checks of (4 sites + the total) x 2 units = 20 at 5.9
 * sigma, 20 x 3.6e-9 = 7e-8 <= 1e-6. The seed is fixed. */
static void expect_spread(const struct moments *moments, double truth, const char *what, int site)
{
	double mean = moments->sum / EXPERIMENTS;
	double spread = (moments->squares - mean * moments->sum) / (EXPERIMENTS - 1);
	double reported = moments->variances / EXPERIMENTS;

	cr_expect(fabs(mean - truth) < 5.9 * sqrt(reported / EXPERIMENTS) + 1, "%s of site %d: mean %.1f, truth %.1f",
		  what, site, mean, truth);
	cr_expect(fabs(spread / reported - 1) < 0.133, "%s of site %d: sigma %.1f, reported %.1f", what, site,
		  sqrt(spread), sqrt(reported));
}

Test(error, reported_error_is_the_empirical_spread)
{
	struct sampler sampler = {0};
	struct moments objects[SITES + 1] = {0}, bytes[SITES + 1] = {0};
	double all_objects = 0, all_bytes = 0;

	sampler_seed(&sampler, 20240607);
	for (int k = 0; k < EXPERIMENTS; k++) {
		uint64_t sampled[SITES] = {0};
		double object_sum = 0, byte_sum = 0, object_variance = 0, byte_variance = 0;

		sample_sites(&sampler, sampled);
		for (int i = 0; i < SITES; i++) {
			double size = (double)sites[i].size, p = error_probability(size, RATE);
			double estimate =
				(double)sampled[i] * size / p; /* not cut: 300 cut numbers would show in the mean */
			struct error of_objects = error_estimate(estimate, size, RATE, false);
			struct error of_bytes = error_estimate(estimate, size, RATE, true);

			moments_add(&objects[i], estimate / size, of_objects.variance);
			moments_add(&bytes[i], estimate, of_bytes.variance);
			object_sum += estimate / size;
			byte_sum += estimate;
			object_variance += of_objects.variance;
			byte_variance += of_bytes.variance;
		}
		moments_add(&objects[SITES], object_sum, object_variance);
		moments_add(&bytes[SITES], byte_sum, byte_variance);
	}
	for (int i = 0; i < SITES; i++) {
		all_objects += (double)sites[i].objects;
		all_bytes += (double)(sites[i].objects * sites[i].size);
		expect_spread(&objects[i], (double)sites[i].objects, "objects", i);
		expect_spread(&bytes[i], (double)(sites[i].objects * sites[i].size), "bytes", i);
	}
	expect_spread(&objects[SITES], all_objects, "objects", -1);
	expect_spread(&bytes[SITES], all_bytes, "bytes", -1);
}

/* --- in the table ------------------------------------------------------------------------------------------------- */

#define EXPECT(expression, wanted) cr_expect(eq(str, (char *)(expression).text, (char *)(wanted)))

Test(error, sums_add_variances)
{
	struct made made[2];
	struct measure measure;
	struct estimated total;

	make_sample(&made[0], 100, 1000, 524288, 1);
	make_sample(&made[1], 25, 2000000, 524288, 1);
	measure = measure_make(profile_of(made, 2, 524288), 0, 1);
	total = measure_total(&measure);
	expect_near(total.error.samples, 125, 1e-5, "samples");
	expect_near(total.error.variance,
		    error_estimate((double)made[0].value[1], 1000, 524288, true).variance +
			    error_estimate((double)made[1].value[1], 2000000, 524288, true).variance,
		    1e-12, "variance");
}

Test(error, figures)
{
	EXPECT(format_error(58, 1000), "±5.8%");
	EXPECT(format_error(99.4, 1000), "±9.9%");
	EXPECT(format_error(99.6, 1000), "±10%");
	EXPECT(format_error(1000, -1000), "±100%");
	EXPECT(format_error(1e9, 1000), "±>999%");
	EXPECT(format_error(0.4, 1000), "±0%");
	EXPECT(format_error(0, 1000), "±0%");
	EXPECT(format_error(0, 0), "-");
	EXPECT(format_right("±5.8%", 6), " ±5.8%");
	EXPECT(format_right("±>999%", 6), "±>999%");
	EXPECT(format_right("abc", 2), "abc");
}

/* --- totals ------------------------------------------------------------------------------------------------------- */

/* Values of jemalloc's nallocx, with 4 KiB pages and 16-byte quanta; the second column with MALLOCX_ALIGN(4096). */
Test(totals, size_classes_are_jemallocs)
{
	static const uint64_t known[][3] = {
		{1, 8, 4096},
		{8, 8, 4096},
		{9, 16, 4096},
		{100, 112, 4096},
		{128, 128, 4096},
		{129, 160, 4096},
		{160, 160, 4096},
		{161, 192, 4096},
		{257, 320, 4096},
		{1025, 1280, 4096},
		{4096, 4096, 4096},
		{4097, 5120, 8192},
		{8193, 10240, 12288},
		{12289, 14336, 16384},
		{14336, 14336, 16384},
		{14337, 16384, 16384},
		{16385, 20480, 20480},
		{100000, 114688, 114688},
		{1048577, 1310720, 1310720},
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		cr_expect(eq(u64, totals_size_class(known[i][0]), known[i][1]));
		cr_expect(eq(u64, totals_page_class(known[i][0]), known[i][2]));
	}
}

Test(totals, read_from_comment_and_samples)
{
	static char *with_comment[COUNT(strings) + 1];
	struct made made;
	struct totals totals;
	Profile *profile;

	make_sample(&made, 100, 100, 524288, 1);
	profile = profile_of(&made, 1, 524288);
	cr_expect(eq(int, totals_read(&totals, profile), -ENOMSG));
	memcpy(with_comment, strings, sizeof strings);
	with_comment[COUNT(strings)] =
		"totals: requested_bytes=52429000 allocated_bytes=58720480 jemalloc_allocated_bytes=60000000";
	profile->n_string_table = COUNT(with_comment);
	profile->string_table = with_comment;
	profile->n_comment = 1;
	profile->comment = &(int64_t){COUNT(strings)};
	cr_expect(eq(int, totals_read(&totals, profile), 0));
	cr_expect(eq(i64, totals.requested, 52429000));
	cr_expect(eq(i64, totals.allocated, 58720480));
	cr_expect(eq(i64, totals.counted, 60000000));
	/* 100 objects of 100 bytes: 112 each in their class, 4096 with a page of their own. */
	cr_expect(eq(i64, totals.homes, 100 * (4096 - 112)));
	cr_expect(eq(i64, totals_difference(&totals), 60000000 - 65184 - 58720480 - 100 * (4096 - 112)));
	expect_near(totals.requested_error / 52429000, 0.1, 0.001, "requested");
	expect_near(totals.allocated_error, totals.requested_error * 1.12, 1e-9, "allocated");
	/* A figure may be missing: the allocator's then cannot be compared, what it gave is worked out. */
	with_comment[COUNT(strings)] = "totals: requested_bytes=52429000";
	cr_expect(eq(int, totals_read(&totals, profile), 0));
	cr_expect(eq(i64, totals.counted, -1));
	cr_expect(eq(i64, totals_difference(&totals), 0));
	expect_near((double)totals.allocated, 52433800 * 1.12, 0.001, "allocated");
}
