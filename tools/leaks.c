/* leaks.c - `mprof leaks`: what was not freed, where it was allocated, and whether that is too much. */
#include "core/options.h"
#include "tools/breakdown.h"
#include "tools/cli.h"
#include "tools/column.h"
#include "tools/format.h"
#include "tools/measure_json.h"
#include "tools/once.h"
#include "tools/paint.h"
#include "tools/profile_view.h"
#include "tools/reading.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_TOO_MUCH 3 /* --fail-above: the one status that means it */

enum { BYTES, OBJECTS, MEASURES };

struct leaks {
	struct reading reading;
	bool all; /* once-only memory too */
	bool fails;
	uint64_t fail_above; /* bytes */
	struct measure measures[MEASURES];
	struct breakdown sites; /* the leaks, then what is left out */
	size_t leak_count;
	const char **reasons; /* each for which something is left out, once */
	size_t reason_count;
	struct estimated leaked[MEASURES], left_out[MEASURES];
};

void leaks_help(FILE *out)
{
	fputs("usage: mprof leaks [OPTIONS] FILE\n"
	      "\n"
	      "Shows what had not been freed when the profile was written, the largest first,\n"
	      "with the whole stack of each allocation, by source line. Ask a profile that was\n"
	      "written when the program ended; `mprof run --rate 1` records every object.\n"
	      "\n"
	      "Memory that runtimes allocate once and keep, such as the buffer of stdout, is\n"
	      "left out.\n"
	      "\n"
	      "  --all          that memory too\n"
	      "  --fail-above SIZE\n"
	      "                 exit with status 3 if more than this was not freed (0, 64K,\n"
	      "                 10M): for tests\n"
	      "\n",
	      out);
	reading_help(out, false);
	fputs("\n"
	      "Examples:\n"
	      "  mprof leaks mprof.1234.1.pb.gz                    where does it leak?\n"
	      "  mprof run --rate 1 --out leak.pb.gz ./tests &&\n"
	      "    mprof leaks --fail-above 0 leak.pb.gz           does it leak at all?\n"
	      "  mprof leaks --ignore '^cache_' app.pb.gz          all but what is cached\n",
	      out);
}

/* Returns -1 to go on, else the status to exit with. */
static int parse(int argc, char **argv, struct leaks *leaks)
{
	static const struct option known[] = {
		READING_OPTIONS{"all", no_argument, NULL, 'a'},
		{"fail-above", required_argument, NULL, 'f'},
		{NULL, 0, NULL, 0},
	};
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, ":" READING_SHORT, known, NULL)) != -1) {
		if (option == 'a') {
			leaks->all = true;
		} else if (option == 'f') {
			leaks->fails = true;
			if (!options_parse_bytes(optarg, &leaks->fail_above))
				return cli_usage("leaks", "--fail-above needs a size such as 64K, not '%s'", optarg);
		} else {
			status = reading_option(&leaks->reading, option, argv, leaks_help);
		}
	}
	return status;
}

/* --- what leaked -------------------------------------------------------------------------------------------------- */

/* The live bytes and objects of the profile. Returns -1, or the status to exit with. */
static int find_measures(struct leaks *leaks)
{
	static const char *const names[] = {[BYTES] = "inuse_space", [OBJECTS] = "inuse_objects"};
	const Perftools__Profiles__Profile *profile = leaks->reading.profiles[0];

	for (int i = 0; i < MEASURES; i++) {
		int type = measure_type(profile, names[i]);

		if (type < 0)
			return cli_fail("leaks", "%s holds no %s: it does not say what was freed",
					leaks->reading.paths[0], names[i]);
		leaks->measures[i] = measure_make(profile, 0, type);
	}
	return -1;
}

/* How many objects of the site the profiler saw. */
static double objects_seen(const struct leaks *leaks, const struct part *site)
{
	bool is_sampled = error_is_known(&leaks->measures[OBJECTS].model);

	return is_sampled ? site->sums[OBJECTS].error.samples : (double)site->sums[OBJECTS].value;
}

static void note_reason(struct leaks *leaks, const char *reason)
{
	for (size_t i = 0; i < leaks->reason_count; i++)
		if (strcmp(leaks->reasons[i], reason) == 0)
			return;
	leaks->reasons[leaks->reason_count++] = reason;
}

/* Put the sites that are leaks first, and add both kinds up. */
static void divide(struct leaks *leaks)
{
	size_t count = leaks->sites.count, left_out = 0;
	struct part *rest = xcalloc(count + 1, sizeof *rest);
	struct once once;

	leaks->reasons = xcalloc(count + 1, sizeof *leaks->reasons);
	once_init(&once, &leaks->reading.stacks);
	for (size_t i = 0; i < count; i++) {
		const struct part *site = &leaks->sites.parts[i];
		const char *reason = leaks->all ? NULL : once_reason(&once, site->stack, objects_seen(leaks, site));
		struct estimated *sums = reason != NULL ? leaks->left_out : leaks->leaked;

		for (int m = 0; m < MEASURES; m++)
			measure_add(&sums[m], &site->sums[m]);
		if (reason != NULL) {
			note_reason(leaks, reason);
			rest[left_out++] = *site;
		} else {
			leaks->sites.parts[leaks->leak_count++] = *site;
		}
	}
	memcpy(&leaks->sites.parts[leaks->leak_count], rest, left_out * sizeof *rest);
	once_free(&once);
	free(rest);
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* "12.30MB ±5.8% in 24 objects ±5.8% of 524.8kB" */
static void print_amount(const struct leaks *leaks, const struct estimated *sums)
{
	printf("%s%s%s", paint(PAINT_MAIN), format_bytes(sums[BYTES].value).text, paint(PAINT_PLAIN));
	column_print_error(error_is_known(&leaks->measures[BYTES].model), &sums[BYTES]);
	printf(" in %s", column_figure(&leaks->measures[OBJECTS], sums[OBJECTS].value).text);
	if (sums[OBJECTS].value > 0)
		printf(" of %s%s", sums[OBJECTS].value > 1 ? "about " : "",
		       format_bytes(sums[BYTES].value / sums[OBJECTS].value).text);
}

static void print_stack(const struct stacks *stacks, const struct stack *stack)
{
	if (stack->depth == 0)
		printf("    <no stack>\n");
	for (uint32_t i = 0; i < stack->depth; i++)
		printf("    %s\n", stacks->rows[stack->rows[i]].name);
}

static void print_sites(const struct leaks *leaks)
{
	size_t shown = reading_shown(&leaks->reading, leaks->leak_count);

	for (size_t i = 0; i < shown; i++) {
		const struct part *site = &leaks->sites.parts[i];

		printf("%s  ", format_percent(site->sums[BYTES].value, leaks->leaked[BYTES].value).text);
		print_amount(leaks, site->sums);
		printf("\n");
		print_stack(&leaks->reading.stacks, site->stack);
		printf("\n");
	}
	column_print_rest(leaks->leak_count - shown, "site");
}

static void print_left_out(const struct leaks *leaks)
{
	size_t count = leaks->sites.count - leaks->leak_count;

	if (count == 0)
		return;
	printf("Left out: %s in %zu site%s of memory that runtimes allocate once and keep (--all shows it):\n",
	       format_bytes(leaks->left_out[BYTES].value).text, count, count == 1 ? "" : "s");
	for (size_t i = 0; i < leaks->reason_count; i++)
		printf("  %s\n", leaks->reasons[i]);
}

static void print_text(const struct leaks *leaks)
{
	struct profile_view view;

	profile_view_init(&view, &leaks->reading.stacks, &leaks->measures[BYTES]);
	reading_print_heading(&leaks->reading);
	column_print_total(&view);
	profile_view_free(&view);
	if (leaks->leak_count == 0) {
		printf("Nothing leaked%s.\n", leaks->sites.count > 0 ? "" : ": nothing was in use");
	} else {
		printf("Not freed: ");
		print_amount(leaks, leaks->leaked);
		printf(", from %zu site%s\n\n", leaks->leak_count, leaks->leak_count == 1 ? "" : "s");
		print_sites(leaks);
	}
	print_left_out(leaks);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void print_json_sums(const struct leaks *leaks, const struct estimated *sums)
{
	measure_json_value("bytes", &leaks->measures[BYTES], &sums[BYTES], stdout);
	printf(", ");
	measure_json_value("objects", &leaks->measures[OBJECTS], &sums[OBJECTS], stdout);
}

static void print_json(const struct leaks *leaks)
{
	const struct estimated total = measure_total(&leaks->measures[BYTES]);
	size_t shown = reading_shown(&leaks->reading, leaks->leak_count);

	printf("{\n  ");
	measure_json("profile", &leaks->measures[BYTES], &total, leaks->reading.paths[0], stdout);
	printf(",\n  \"leaked\": {");
	print_json_sums(leaks, leaks->leaked);
	printf(", \"sites\": %zu},\n  \"left_out\": {", leaks->leak_count);
	print_json_sums(leaks, leaks->left_out);
	printf(", \"sites\": %zu},\n  \"sites\": [", leaks->sites.count - leaks->leak_count);
	for (size_t i = 0; i < shown; i++) {
		printf("%s\n    {", i > 0 ? "," : "");
		print_json_sums(leaks, leaks->sites.parts[i].sums);
		printf(", ");
		measure_json_part(&leaks->reading.stacks, &leaks->sites.parts[i], stdout);
		printf("}");
	}
	printf("\n  ]\n}\n");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static int report(struct leaks *leaks)
{
	int64_t leaked;

	breakdown_by_site(&leaks->sites, &leaks->reading.stacks, leaks->measures, MEASURES);
	divide(leaks);
	leaked = leaks->leaked[BYTES].value;
	if (leaks->reading.json)
		print_json(leaks);
	else
		print_text(leaks);
	breakdown_free(&leaks->sites);
	free(leaks->reasons);
	if (!leaks->fails || leaked <= 0 || (uint64_t)leaked <= leaks->fail_above)
		return 0;
	fflush(stdout);
	fprintf(stderr, "mprof leaks: %s was not freed, more than %s\n", format_bytes(leaked).text,
		format_bytes((int64_t)leaks->fail_above).text);
	return STATUS_TOO_MUCH;
}

int leaks_main(int argc, char **argv)
{
	struct leaks leaks = {
		.reading = {.verb = "leaks", .limit = 20, .by = STACKS_BY_LINE, .by_site = true, .symbolize = true}};
	int status = parse(argc, argv, &leaks);

	if (status < 0)
		status = reading_open(&leaks.reading, argc, argv, 1, 1);
	if (status < 0)
		status = find_measures(&leaks);
	if (status < 0)
		status = report(&leaks);
	reading_close(&leaks.reading);
	return status;
}
