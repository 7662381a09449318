/* test_sampler_statistics.c - sampling is a Poisson process over bytes: distributed, independent and unbiased.
 *
 * Every bound here is derived, and every seed fixed but in the test that is about fresh entropy. Each test states how
 * often a right sampler would fail it under a random seed: at most FALSE_ALARM. A bound of z sigma is for m comparisons
 * at once; z is then the quantile at which m of them together stay below FALSE_ALARM (Bonferroni), 4.9 for one and 5.4
 * for thirteen. */
#include "core/sampler.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FALSE_ALARM 1e-6
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* How many standard deviations one of m normal variables exceeds, either way, with probability FALSE_ALARM. */
static double sigma_limit(double m)
{
	double low = 0, high = 40;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (m * erfc(middle / sqrt(2)) > FALSE_ALARM)
			low = middle;
		else
			high = middle;
	}
	return high;
}

Test(sampler_statistics, limits_are_the_normal_quantiles)
{
	cr_expect(fabs(sigma_limit(1) - 4.8916) < 0.0001);
	cr_expect(fabs(sigma_limit(1000) - 6.1094) < 0.0001);
}

/* The hot and the cold half one after the other, as in malloc. */
static bool is_sampled(struct sampler *sampler, uint64_t size, uint64_t rate)
{
	return !sampler_skips(sampler, size) && sampler_judge(sampler, size, rate);
}

/* --- (1) the distribution ----------------------------------------------------------------------------------------- */

enum { GAPS = 200000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Kolmogorov-Smirnov: the largest distance between the distribution of n values and a geometric one, P(X <= k) = 1 -
 * exp(-k step). A gap is an exponential variable rounded up, and that is geometric exactly; both functions step at
 * whole numbers only. */
static double distance_to_geometric(uint64_t *values, size_t n, double step)
{
	double distance = 0;

	qsort(values, n, sizeof *values, by_value);
	for (size_t i = 0; i < n; i++) {
		double at = -expm1(-(double)values[i] * step), before = -expm1(-((double)values[i] - 1) * step);

		/* The empirical function is (i + 1)/n from the last of equal values on, and i/n up to the first. */
		if (i + 1 == n || values[i + 1] != values[i])
			distance = fmax(distance, fabs((double)(i + 1) / (double)n - at));
		if (i == 0 || values[i - 1] != values[i])
			distance = fmax(distance, fabs((double)i / (double)n - before));
	}
	return distance;
}

/* Dvoretzky, Kiefer and Wolfowitz with Massart's constant: P(D > d) <= 2 exp(-2 n d^2), for every n and every
 * distribution, also a discrete one. Solved for d with alpha = FALSE_ALARM / tests. For 200,000 values and eleven
 * tests: 0.0065. */
static double distance_limit(size_t n, double tests)
{
	return sqrt(log(2 * tests / FALSE_ALARM) / (2.0 * (double)n));
}

/* The mean of n geometric variables with p = 1 - exp(-step) is normal with 1/p and sqrt((1-p)/n)/p. */
static double sigmas_off_mean(const uint64_t *values, size_t n, double step)
{
	double sum = 0, p = -expm1(-step);

	for (size_t i = 0; i < n; i++)
		sum += (double)values[i];
	return (sum / (double)n - 1 / p) / (sqrt((1 - p) / (double)n) / p);
}

static const uint64_t rates[] = {2, 100, 16384, 524288, 3 << 20, (uint64_t)1 << 40, SAMPLER_RATE_MAX};

static uint64_t values[GAPS];

static void expect_geometric(double step, double tests, const char *what, uint64_t rate)
{
	double off = sigmas_off_mean(values, GAPS, step), distance = distance_to_geometric(values, GAPS, step);

	cr_expect(fabs(off) < sigma_limit(tests), "%s, rate %lu: the mean is %.2f sigma off", what, rate, off);
	cr_expect(distance < distance_limit(GAPS, tests), "%s, rate %lu: D = %.5f, limit %.5f", what, rate, distance,
		  distance_limit(GAPS, tests));
}

Test(sampler_statistics, gaps_are_exponential)
{
	struct sampler sampler = {0};

	sampler_seed(&sampler, 1);
	for (size_t r = 0; r < COUNT(rates); r++) {
		for (size_t i = 0; i < GAPS; i++)
			values[i] = sampler_gap(&sampler, rates[r]);
		expect_geometric(1 / (double)rates[r], 2 * COUNT(rates), "gaps", rates[r]);
	}
}

/* The same seen from outside: how many objects of one size it takes to the next sampled one. This goes through the
 * chunks (rates above SAMPLER_CHUNK_BYTES) and through what is left of a gap when an object is not sampled. */
Test(sampler_statistics, objects_between_samples_are_geometric)
{
	static const uint64_t cases[][2] = {{16, 100},	      {512, 4096},	   {100000, 524288},
					    {70000, 3 << 20}, {2 << 20, 10 << 20}, {1, 2}};

	for (size_t c = 0; c < COUNT(cases); c++) {
		uint64_t size = cases[c][0], rate = cases[c][1];
		struct sampler sampler = {0};

		sampler_seed(&sampler, 20 + c);
		for (size_t i = 0; i < GAPS; i++)
			for (values[i] = 1; !is_sampled(&sampler, size, rate); values[i]++) {
			}
		expect_geometric((double)size / (double)rate, 2 * COUNT(cases), "objects", rate);
	}
}

/* The controls: the tests above see a uniform gap of the same mean, and a mean that is 2 % off. */
Test(sampler_statistics, other_distributions_are_seen)
{
	struct sampler sampler = {0};

	sampler_seed(&sampler, 3);
	for (size_t i = 0; i < GAPS; i++)
		values[i] = 1 + sampler_gap(&sampler, 1 << 20) % 32768;
	cr_expect(fabs(sigmas_off_mean(values, GAPS, 1.0 / 16384)) < sigma_limit(1));
	cr_expect(distance_to_geometric(values, GAPS, 1.0 / 16384) > 10 * distance_limit(GAPS, 1));
	for (size_t i = 0; i < GAPS; i++)
		values[i] = sampler_gap(&sampler, 16384 * 102 / 100);
	cr_expect(fabs(sigmas_off_mean(values, GAPS, 1.0 / 16384)) > sigma_limit(1));
	cr_expect(distance_to_geometric(values, GAPS, 1.0 / 16384) > distance_limit(GAPS, 1));
}

/* --- (2) independence --------------------------------------------------------------------------------------------- */

enum { STREAMS = 8, STREAM_LENGTH = 50000, LAG_MAX = 4 };

/* Gaps as numbers that are uniform over (0, 1). */
struct stream {
	double at[STREAM_LENGTH];
};

static void fill(struct stream *stream, struct sampler *sampler)
{
	is_sampled(sampler, 1, 16384); /* seeds a state of zeros, as the first allocation of a thread does */
	for (int i = 0; i < STREAM_LENGTH; i++)
		stream->at[i] = exp(-(double)sampler_gap(sampler, (uint64_t)1 << 40) * 0x1p-40);
}

/* Correlation of a[i] with b[i + lag], in standard deviations: for independent streams r sqrt(n) is a standard normal
 * variable. The mean and the variance of a uniform variable are known: 1/2 and 1/12. */
static double sigmas_of_correlation(const struct stream *a, const struct stream *b, int lag)
{
	double sum = 0;
	int n = STREAM_LENGTH - lag;

	for (int i = 0; i < n; i++)
		sum += (a->at[i] - 0.5) * (b->at[i + lag] - 0.5);
	return sum * 12 / sqrt(n);
}

/* Every pair of streams, each with itself too, at lags up to LAG_MAX both ways. */
static void expect_independent(const struct stream *streams, int count, const char *what)
{
	double limit = sigma_limit((double)(count * count * (LAG_MAX + 1)));

	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			for (int lag = 0; lag <= LAG_MAX; lag++) {
				double off =
					a == b && lag == 0 ? 0 : sigmas_of_correlation(&streams[a], &streams[b], lag);

				cr_expect(fabs(off) < limit, "%s: streams %d and %d correlate at lag %d: %.1f sigma",
					  what, a, b, lag, off);
			}
}

static struct stream streams[STREAMS];

static void *fill_on_thread(void *stream)
{
	struct sampler sampler = {0};

	fill(stream, &sampler);
	return NULL;
}

/* States of zeros take numbers in sequence from the process's seed, which nobody has set here: that is fixed but for
 * the order of the threads, and no order matters. */
Test(sampler_statistics, threads_are_independent)
{
	pthread_t threads[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		cr_assert(pthread_create(&threads[i], NULL, fill_on_thread, &streams[i]) == 0);
	for (int i = 0; i < STREAMS; i++)
		pthread_join(threads[i], NULL);
	expect_independent(streams, STREAMS, "threads");
}

/* In a child: go on with the parent's state, after what the fork handler does to it if `handled`. */
static void fill_in_child(struct stream *stream, struct sampler sampler, bool handled)
{
	size_t done = 0;
	int ends[2];
	pid_t child;

	cr_assert(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		if (handled) {
			sampler_seed_process();
			sampler_reset(&sampler);
		}
		fill(stream, &sampler);
		for (ssize_t n = 1; done < sizeof *stream && n > 0; done += (size_t)n)
			n = write(ends[1], (char *)stream + done, sizeof *stream - done);
		_exit(0);
	}
	close(ends[1]);
	for (ssize_t n = 1; done < sizeof *stream && n > 0; done += n > 0 ? (size_t)n : 0)
		n = read(ends[0], (char *)stream + done, sizeof *stream - done);
	close(ends[0]);
	cr_assert(waitpid(child, NULL, 0) == child && done == sizeof *stream);
}

Test(sampler_statistics, forked_children_are_independent)
{
	struct sampler parent = {0};

	fill(&streams[0], &parent);
	for (int i = 1; i < STREAMS; i++)
		fill_in_child(&streams[i], parent, true);
	fill(&streams[0], &parent);
	expect_independent(streams, STREAMS, "children");
	/* The control: without the handler a child repeats what its parent does. */
	fill_in_child(&streams[1], parent, false);
	fill(&streams[0], &parent);
	cr_expect(sigmas_of_correlation(&streams[0], &streams[1], 0) > 0.9 * sqrt(STREAM_LENGTH));
}

/* --- (3) periodic patterns ---------------------------------------------------------------------------------------- */

/* A pattern of allocations that a program repeats. The first three are those of Go's own tests and of golang/go#12620;
 * then patterns whose period is the rate itself, a simple fraction and a multiple of it, where a bounded gap locks its
 * phase; then a rare large object among small ones. */
static const struct pattern {
	const char *name;
	uint64_t rate;
	uint64_t sizes[8]; /* ends with 0 */
} patterns[] = {
	{"Go, interleaved", 16384, {17408, 1024, 18432, 512, 16384, 256}},
	{"Go, small", 16384, {1024, 512, 256}},
	{"go#12620", 8192, {262144, 1024, 512, 256, 16}},
	{"period = rate", 8192, {4096, 2048, 1024, 512, 512}},
	{"period = 3/2 rate", 8192, {64, 6080, 64, 6080}},
	{"period = 2 rate", 4096, {4096, 32, 32, 4032}},
	{"period = rate/2, through chunks", 2 << 20, {1 << 19, 1 << 18, 1 << 17, 1 << 17}},
	{"a large one among small ones", 65536, {48, 96, 1 << 20, 24, 4096}},
};

/* Each pattern goes on until 400,000 samples have been taken. The bound for all sites together is 5.6 sigma of 400,000
 * samples: less than 4 sigma of the 200,000 that are asked for. */
enum { PATTERN_SAMPLES = 400000 };

typedef bool judge_function(void *state, uint64_t size, uint64_t rate);

static bool judge_by_sampler(void *state, uint64_t size, uint64_t rate)
{
	return is_sampled(state, size, rate);
}

/* The control: gaps uniform between 1 and twice the rate, which have the right mean too, and the same random numbers.
 */
struct bounded {
	struct sampler random;
	uint64_t pending;
};

static bool judge_bounded(void *state, uint64_t size, uint64_t rate)
{
	struct bounded *bounded = state;

	if (bounded->pending == 0)
		bounded->pending = 1 + sampler_gap(&bounded->random, (uint64_t)1 << 40) % (2 * rate);
	if (size < bounded->pending) {
		bounded->pending -= size;
		return false;
	}
	bounded->pending = 0;
	return true;
}

/* The largest deviation of a site's number of samples from its expectation, in standard deviations: of n objects, each
 * sampled with p and independently, n p with variance n p (1 - p). (That the run ends at a number of samples instead of
 * rounds shifts each by less than one object.) */
static double worst_site(const struct pattern *pattern, judge_function *judge, void *state)
{
	uint64_t sampled[8] = {0}, rounds = 0, total = 0;
	double worst = 0;

	for (; total < PATTERN_SAMPLES; rounds++)
		for (int i = 0; pattern->sizes[i] != 0; i++)
			if (judge(state, pattern->sizes[i], pattern->rate)) {
				sampled[i]++;
				total++;
			}
	for (int i = 0; pattern->sizes[i] != 0; i++) {
		double p = -expm1(-(double)pattern->sizes[i] / (double)pattern->rate);
		double variance = (double)rounds * p * (1 - p);

		/* Where misses are not to be expected in all the run, one miss counts as one sigma. */
		worst = fmax(worst, fabs((double)sampled[i] - (double)rounds * p) / sqrt(fmax(variance, 1)));
	}
	return worst;
}

static double all_sites(void)
{
	double sites = 0;

	for (size_t i = 0; i < COUNT(patterns); i++)
		for (int j = 0; patterns[i].sizes[j] != 0; j++)
			sites++;
	return sites;
}

Test(sampler_statistics, no_phase_locking)
{
	double limit = sigma_limit(all_sites());

	cr_expect(limit / sqrt(PATTERN_SAMPLES) < 4 / sqrt(200000));
	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct sampler sampler = {0};
		double worst;

		sampler_seed(&sampler, 100 + i);
		worst = worst_site(&patterns[i], judge_by_sampler, &sampler);
		cr_expect(worst < limit, "%s: a site is %.1f sigma off (limit %.1f)", patterns[i].name, worst, limit);
	}
}

/* The control: the test above can fail. With bounded gaps all patterns do but one, by 11 to 103 sigma. The one is "Go,
 * small", whose period is a ninth of the rate: 4 sigma. */
Test(sampler_statistics, bounded_gaps_lock_their_phase)
{
	double limit = sigma_limit(all_sites()), largest = 0;
	size_t failures = 0;

	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct bounded bounded = {0};
		double worst;

		sampler_seed(&bounded.random, 100 + i);
		worst = worst_site(&patterns[i], judge_bounded, &bounded);
		largest = fmax(largest, worst);
		failures += worst > limit;
	}
	cr_expect(failures >= COUNT(patterns) - 1, "only %zu patterns fail", failures);
	cr_expect(largest > 10 * limit, "the worst is %.1f sigma", largest);
}

/* --- (4) large objects -------------------------------------------------------------------------------------------- */

/* Sizes as multiples of the rate. From 1 up an object would always be sampled if the gap were not drawn afresh after
 * each. */
Test(sampler_statistics, large_objects_are_not_always_sampled)
{
	static const double multiples[] = {0.25, 0.5, 1, 1.5, 2, 3, 5, 8};
	static const uint64_t object_rates[] = {1000, 524288, 4 << 20};
	double limit = sigma_limit(COUNT(multiples) * COUNT(object_rates));
	enum { OBJECTS = 400000 };

	for (size_t r = 0; r < COUNT(object_rates); r++)
		for (size_t m = 0; m < COUNT(multiples); m++) {
			uint64_t size = (uint64_t)(multiples[m] * (double)object_rates[r]);
			double p = -expm1(-(double)size / (double)object_rates[r]), off;
			struct sampler sampler = {0};
			int sampled = 0;

			sampler_seed(&sampler, 1000 * r + m);
			for (int i = 0; i < OBJECTS; i++)
				sampled += is_sampled(&sampler, size, object_rates[r]);
			off = (sampled - OBJECTS * p) / sqrt(OBJECTS * p * (1 - p));
			cr_expect(fabs(off) < limit, "%.2f times rate %lu: %d of %d, %.1f sigma", multiples[m],
				  object_rates[r], sampled, OBJECTS, off);
			cr_expect(sampled < OBJECTS, "%.2f times rate %lu: always sampled", multiples[m],
				  object_rates[r]);
		}
}

/* --- changes of the rate ------------------------------------------------------------------------------------------ */

/* The rate changes every 8 objects, far more often than gaps end; each sampled object counts as the inverse of its chance under
 * the rate it was sampled under. The sum is unbiased only if no gap that was drawn is thrown away with its end. The spread is
 * Horvitz and Thompson's: (1 - p) / p^2 for each sampled object. */
Test(sampler_statistics, changes_of_rate_lose_nothing)
{
	enum { OBJECTS = 4000000, SIZE = 4096, PERIOD = 8 };
	const uint64_t old_and_new[2] = {65536, 16384};
	struct sampler sampler = {0};
	double estimate = 0, variance = 0, off;

	sampler_seed(&sampler, 7);
	for (int i = 0; i < OBJECTS; i++) {
		uint64_t now = old_and_new[i / PERIOD % 2];
		uint64_t under = sampler_skips(&sampler, SIZE) ? 0 : sampler_judge(&sampler, SIZE, now);
		double p = -expm1(-(double)SIZE / (double)under);

		if (under == 0)
			continue;
		cr_assert(under == old_and_new[0] || under == old_and_new[1]);
		estimate += 1 / p;
		variance += (1 - p) / (p * p);
	}
	off = (estimate - OBJECTS) / sqrt(variance);
	cr_expect(fabs(off) < sigma_limit(1), "%.0f of %d, %.1f sigma", estimate, OBJECTS, off);
}
