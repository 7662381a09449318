/* reading.c - what the verbs that read profiles share. */
#include "tools/reading.h"

#include "tools/cli.h"
#include "tools/column.h"
#include "tools/paint.h"
#include "tools/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void reading_help(FILE *out, bool sample)
{
	fputs("Options of all reports:\n", out);
	if (sample)
		fputs("  --sample TYPE  what to count: inuse_space (bytes allocated and not freed yet,\n"
		      "                 the default), inuse_objects, alloc_space (bytes allocated\n"
		      "                 since the program started), alloc_objects, and with\n"
		      "                 HEAPPROF_PEAK=1 peak_space, peak_objects\n",
		      out);
	fputs("  --lines        by source line instead of function; looks them up when FILE\n"
	      "                 has none\n"
	      "  --modules      by program and shared library\n"
	      "  --focus RE     only stacks with a frame whose function, source file or module\n"
	      "                 matches the regular expression\n"
	      "  --ignore RE    no stacks with such a frame\n"
	      "  --show RE      of the stacks only such frames\n"
	      "  --hide RE      of the stacks no such frames\n"
	      "  -n N           show at most N, 0 for all\n"
	      "  --json         for scripts: raw values, standard errors as values too\n"
	      "  --color WHEN   auto (default), always or never\n"
	      "\n"
	      "  ±              standard error of the figure before it: the truth is within\n"
	      "                 one of it in 68 of 100 cases, within two in 95. None where\n"
	      "                 every allocation was recorded (rate 1)\n",
	      out);
}

bool reading_number(const char *text, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return errno == 0 && *end == '\0' && text[0] >= '0' && text[0] <= '9';
}

static int set_filter(struct reading *reading, enum filter_kind kind)
{
	char error[128];

	if (filter_set(&reading->filter, kind, optarg, error, sizeof error))
		return -1;
	return cli_usage(reading->verb, "'%s' is not a regular expression: %s", optarg, error);
}

int reading_option(struct reading *reading, int option, char **argv, void (*help)(FILE *))
{
	switch (option) {
	case 'h':
		help(stdout);
		return 0;
	case 'n':
		if (!reading_number(optarg, &reading->limit))
			return cli_usage(reading->verb, "-n needs a number, not '%s'", optarg);
		return -1;
	case READING_SAMPLE:
		reading->sample = optarg;
		return -1;
	case READING_SITES:
		reading->by_site = true;
		return -1;
	case READING_LINES:
		reading->by = STACKS_BY_LINE;
		reading->symbolize = true;
		return -1;
	case READING_MODULES:
		reading->by = STACKS_BY_MODULE;
		return -1;
	case READING_FOCUS:
	case READING_IGNORE:
	case READING_SHOW:
	case READING_HIDE:
		return set_filter(reading, (enum filter_kind)(option - READING_FOCUS));
	case READING_JSON:
		reading->json = true;
		return -1;
	case READING_COLOR:
		if (!paint_choose(optarg))
			return cli_usage(reading->verb, "--color needs auto, always or never, not '%s'", optarg);
		return -1;
	default:
		return cli_bad_option(reading->verb, option, argv);
	}
}

static int open_one(struct reading *reading, const char *path)
{
	Perftools__Profiles__Profile *profile;
	struct symbolizer_result symbolized;
	char error[256];

	if (decode_file(path, &profile, error, sizeof error) != 0)
		return cli_fail(reading->verb, "cannot read %s: %s", path, error);
	reading->paths[reading->count] = path;
	reading->profiles[reading->count++] = profile;
	if (profile->n_sample_type == 0)
		return cli_fail(reading->verb, "%s has no sample types", path);
	if (reading->symbolize && symbolizer_needed(profile))
		symbolizer_run(profile, &(struct symbolizer_options){.progress = true}, &symbolized);
	stacks_add(&reading->stacks, profile, &reading->filter);
	return -1;
}

int reading_open(struct reading *reading, int argc, char **argv, size_t least, size_t most)
{
	size_t given = (size_t)(argc - optind);
	int status = -1;

	if (given < least)
		return cli_usage(reading->verb, given == 0 ? "no profile given" : "a second profile is needed");
	if (given > most)
		return cli_usage(reading->verb, "'%s' is one profile too many", argv[optind + (int)most]);
	reading->stacks.by = reading->by;
	for (size_t i = 0; i < given && status < 0; i++)
		status = open_one(reading, argv[optind + (int)i]);
	return status;
}

void reading_print_filters(const struct reading *reading)
{
	char *filters = filter_describe(&reading->filter);

	if (filters != NULL)
		printf("Filters: %s\n", filters);
	free(filters);
}

void reading_print_heading(const struct reading *reading)
{
	column_print_file(reading->profiles[0], reading->paths[0]);
	reading_print_filters(reading);
}

const char *reading_kind(const struct reading *reading)
{
	static const char *const kinds[] = {
		[STACKS_BY_FUNCTION] = "function", [STACKS_BY_LINE] = "line", [STACKS_BY_MODULE] = "module"};

	return reading->by_site ? "site" : kinds[reading->by];
}

size_t reading_shown(const struct reading *reading, size_t count)
{
	return reading->limit == 0 || reading->limit > count ? count : reading->limit;
}

/* "no sample type 'x' in FILE, which has: a, b and c" */
static int unknown_type(const struct reading *reading, size_t number, const char *sample)
{
	const Perftools__Profiles__Profile *profile = reading->profiles[number];
	char names[512] = "";

	for (size_t i = 0; i < profile->n_sample_type; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
			 decode_string(profile, profile->sample_type[i]->type));
	}
	return cli_usage(reading->verb, "no sample type '%s' in %s, which has: %s", sample, reading->paths[number],
			 names);
}

int reading_measure(const struct reading *reading, size_t number, const char *sample, struct measure *measure)
{
	int type = measure_type(reading->profiles[number], sample);

	if (type < 0)
		return unknown_type(reading, number, sample);
	*measure = measure_make(reading->profiles[number], (uint32_t)number, type);
	return -1;
}

void reading_close(struct reading *reading)
{
	stacks_free(&reading->stacks);
	for (size_t i = 0; i < reading->count; i++)
		decode_free(reading->profiles[i]);
	filter_free(&reading->filter);
}
