/* totals.c - the live bytes of a profile beside the allocator's own figure: do they add up?
 *
 * jemalloc's figure is exact, but counts more than the program's live objects: what it keeps for itself, and the pages
 * that sampled objects start. Both are known and taken out here; what is left is the error of the sampling, and what
 * was allocated while nothing was recorded (rate 0, say). At rate 1 nothing is left: in a program of one thread the
 * sums agree to the byte. */
#include "tools/totals.h"

#include "tools/format.h"
#include "tools/profile_view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE ((uint64_t)4096)
#define SMALL_MAX ((uint64_t)14336) /* the largest class that shares its pages */
#define PAGE_HOME_RATE_MIN 131072   /* at this rate and above sampled objects start pages (preload/rate.h) */

/* What jemalloc 5.3.0 has allocated for itself in a program of one thread, in bytes: 36,512 of the process and 28,672
 * of the thread's cache, measured at rate 1. Each further thread adds 28,672; how many there were, no profile says. */
#define JEMALLOC_OWN 65184

uint64_t totals_size_class(uint64_t size)
{
	uint64_t step;

	if (size <= 8)
		return 8;
	if (size <= 128)
		return (size + 15) & ~(uint64_t)15;
	/* Four classes to a doubling. */
	step = (uint64_t)1 << (63 - __builtin_clzll(size - 1) - 2);
	return (size + step - 1) & ~(step - 1);
}

uint64_t totals_page_class(uint64_t size)
{
	return totals_size_class(size <= SMALL_MAX ? (size + PAGE - 1) & ~(PAGE - 1) : size);
}

/* The number behind "name=" in the comment, -1 when it is not there. */
static int64_t field(const char *comment, const char *name)
{
	const char *at = strstr(comment, name);

	return at != NULL ? (int64_t)strtoll(at + strlen(name), NULL, 10) : -1;
}

static const char *find_comment(const Perftools__Profiles__Profile *profile)
{
	for (size_t i = 0; i < profile->n_comment; i++)
		if (strncmp(decode_string(profile, profile->comment[i]), "totals: ", 8) == 0)
			return decode_string(profile, profile->comment[i]);
	return NULL;
}

/* What the samples say of the live objects. */
struct sums {
	double requested_variance, allocated_variance;
	double allocated; /* bytes */
	double homes;	  /* bytes: the extra room of the sampled objects */
};

static void add_sample(struct totals *totals, const Perftools__Profiles__Profile *profile,
		       const Perftools__Profiles__Sample *sample, int type, struct sums *sums)
{
	struct error error = error_of_sample(&totals->model, profile, sample);
	double size = error_object_size(&totals->model, profile, sample);
	double growth = size > 0 ? (double)totals_size_class((uint64_t)size) / size : 1;

	sums->requested_variance += error.variance;
	sums->allocated_variance += error.variance * growth * growth; /* each counts with its class, not its size */
	sums->allocated += fabs((double)sample->value[type]) * growth;
	totals->samples += error.samples;
	if (totals->model.rate >= PAGE_HOME_RATE_MIN)
		sums->homes +=
			error.samples * (double)(totals_page_class((uint64_t)size) - totals_size_class((uint64_t)size));
}

int totals_read(struct totals *totals, const Perftools__Profiles__Profile *profile)
{
	int type = measure_type(profile, "inuse_space");
	const char *comment = find_comment(profile);
	struct sums sums = {0};

	if (type < 0)
		return -ENOTSUP;
	if (comment == NULL)
		return -ENOMSG;
	*totals = (struct totals){
		.model = error_model_of(profile, type),
		.requested = field(comment, " requested_bytes="),
		.allocated = field(comment, " allocated_bytes="),
		.counted = field(comment, " jemalloc_allocated_bytes="),
	};
	for (size_t i = 0; i < profile->n_sample; i++)
		add_sample(totals, profile, profile->sample[i], type, &sums);
	if (totals->requested < 0)
		totals->requested = profile_view_total(profile, type);
	if (totals->allocated < 0)
		totals->allocated = llround(sums.allocated);
	totals->homes = llround(sums.homes);
	totals->requested_error = sqrt(sums.requested_variance);
	totals->allocated_error = sqrt(sums.allocated_variance);
	return 0;
}

int64_t totals_difference(const struct totals *totals)
{
	return totals->counted < 0 ? 0 : totals->counted - JEMALLOC_OWN - totals->allocated - totals->homes;
}

static void print_line(const char *what, int64_t bytes, double error, struct unit unit, const char *note)
{
	char bar[2 * sizeof(struct figure) + 8] = "";

	if (error > 0)
		snprintf(bar, sizeof bar, "±%s (%s)", format_value(llround(error), unit).text,
			 format_error(error, bytes).text + strlen("±"));
	printf("  %-29s %10s %s %s\n", what, format_value(bytes, unit).text, format_right(bar, 17).text, note);
}

/* "The difference is 1.5 standard errors: within the error bar" */
static void print_verdict(const struct totals *totals)
{
	double distance = fabs((double)totals_difference(totals));
	double sigmas = totals->allocated_error > 0 ? distance / totals->allocated_error : 0;

	if (totals->model.kind == ERROR_RESAMPLED)
		printf("The rate changed while the program ran: the errors shown are those of the last one.\n");
	if (totals->model.kind == ERROR_EXACT)
		printf("The profile is exact: no part of the difference is sampling error.\n");
	else if (!error_is_known(&totals->model))
		printf("The rate changed while the program ran: how large the error is, is not known.\n");
	else if (sigmas <= 2)
		printf("The difference is %.1f standard errors: within the error bar (2, 95 of 100 cases).\n", sigmas);
	else
		printf("The difference is %.1f standard errors: not within the error bar (2, 95 of 100 cases).\n",
		       sigmas);
}

void totals_print(const struct totals *totals)
{
	struct unit unit = format_unit_of(totals->counted > totals->allocated ? totals->counted : totals->allocated);
	char note[80];

	if (error_is_known(&totals->model))
		printf("Live bytes, estimated from %.0f live sample%s, one per %s:\n\n", totals->samples,
		       round(totals->samples) == 1 ? "" : "s", format_bytes((int64_t)totals->model.rate).text);
	else
		printf("Live bytes%s:\n\n",
		       totals->model.kind == ERROR_EXACT ? ", exact: every allocation was recorded" : "");
	print_line("requested by the program", totals->requested, totals->requested_error, unit,
		   "the sum of inuse_space");
	snprintf(note, sizeof note, "rounding to size classes: +%.1f%%",
		 totals->requested > 0 ? ((double)totals->allocated / (double)totals->requested - 1) * 100 : 0);
	print_line("given by the allocator for it", totals->allocated, totals->allocated_error, unit, note);
	if (totals->homes > 0)
		print_line("pages of the sampled objects", totals->homes, 0, unit, "the profiler's own cost");
	if (totals->counted < 0) {
		printf("  %-29s %10s\n\nThe allocator's own figure was not recorded: a dump by signal cannot ask for "
		       "it.\n",
		       "counted by jemalloc", "-");
		return;
	}
	print_line("jemalloc's own", JEMALLOC_OWN, 0, unit, "and 28kB for each further thread");
	print_line("counted by jemalloc", totals->counted, 0, unit, "stats.allocated less thread caches");
	print_line("difference", totals_difference(totals), 0, unit, "not explained by the lines above");
	printf("\n");
	print_verdict(totals);
}
