/* profile_view.c - a profile added up by function. */
#include "tools/profile_view.h"

#include "tools/demangle.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

/* A row is one name. Ids are 1..N after decoding, so arrays map them to rows: by_function[0] is not used, by_mapping[0]
 * stands for addresses outside every mapping. */
struct rows {
	struct view_function *function; /* one per row */
	size_t *stamp;			/* per row: number of the last sample that was added to its cum */
	size_t count;
	size_t *by_function, *by_mapping;
};

/* The name of a function or mapping, and which slot of by_function or by_mapping waits for its row. */
struct candidate {
	char *name;
	size_t *slot;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int by_candidate_name(const void *a, const void *b)
{
	return strcmp(((const struct candidate *)a)->name, ((const struct candidate *)b)->name);
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static int by_size(const void *a, const void *b)
{
	const struct view_function *x = a, *y = b;

	if (magnitude(x->flat) != magnitude(y->flat))
		return magnitude(x->flat) < magnitude(y->flat) ? 1 : -1;
	if (magnitude(x->cum) != magnitude(y->cum))
		return magnitude(x->cum) < magnitude(y->cum) ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* A name that differs from the system name was demangled by whoever wrote the profile. */
static char *function_name(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Function *function)
{
	const char *name = decode_string(profile, function->name);
	const char *system_name = decode_string(profile, function->system_name);

	if (*name != '\0' && *system_name != '\0' && strcmp(name, system_name) != 0)
		return xstrdup(name);
	return demangle(*name != '\0' ? name : system_name);
}

static char *mapping_name(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Mapping *mapping)
{
	const char *file = mapping != NULL ? base_name(decode_string(profile, mapping->filename)) : "";

	if (*file == '\0')
		return xstrdup("<unknown>");
	if (*file == '[') /* "[vdso]" is in brackets already */
		return xstrdup(file);
	return concat("[", file, "]", NULL);
}

/* Give every name one row. Sorting brings equal names together, which is all the hashing this needs. */
static void rows_init(struct rows *rows, const Perftools__Profiles__Profile *profile)
{
	size_t functions = profile->n_function, mappings = profile->n_mapping, n = functions + mappings + 1;
	struct candidate *all = xcalloc(n, sizeof *all), *next = all;

	rows->by_function = xcalloc(functions + 1, sizeof *rows->by_function);
	rows->by_mapping = xcalloc(mappings + 1, sizeof *rows->by_mapping);
	rows->function = xcalloc(n, sizeof *rows->function);
	rows->stamp = xcalloc(n, sizeof *rows->stamp);
	rows->count = 0;
	for (size_t id = 1; id <= functions; id++)
		*next++ = (struct candidate){function_name(profile, decode_function(profile, id)),
					     &rows->by_function[id]};
	for (size_t id = 0; id <= mappings; id++)
		*next++ = (struct candidate){mapping_name(profile, decode_mapping(profile, id)), &rows->by_mapping[id]};
	qsort(all, n, sizeof *all, by_candidate_name);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(all[i].name, rows->function[rows->count - 1].name) != 0)
			rows->function[rows->count++].name = all[i].name;
		else
			free(all[i].name);
		*all[i].slot = rows->count - 1;
	}
	free(all);
}

/* The row of line `i` of a location, counted from the innermost inlined call; without lines the mapping's. */
static size_t row_of(const struct rows *rows, const Perftools__Profiles__Profile *profile,
		     const Perftools__Profiles__Location *location, size_t i)
{
	const Perftools__Profiles__Function *function = NULL;

	if (location->n_line > 0)
		function = decode_function(profile, location->line[i]->function_id);
	if (function == NULL || (function->name == 0 && function->system_name == 0))
		return rows->by_mapping[location->mapping_id];
	return rows->by_function[function->id];
}

static void add_error(struct error *sum, struct error error)
{
	sum->samples += error.samples;
	sum->variance += error.variance; /* samples are independent */
}

/* Add one sample, the `number`-th from 1, to the rows of its frames. */
static void rows_add(struct rows *rows, const Perftools__Profiles__Profile *profile,
		     const Perftools__Profiles__Sample *sample, int64_t value, struct error error, size_t number)
{
	for (size_t i = 0; i < sample->n_location_id; i++) {
		const Perftools__Profiles__Location *location = decode_location(profile, sample->location_id[i]);
		size_t lines = location->n_line > 0 ? location->n_line : 1;

		for (size_t j = 0; j < lines; j++) {
			size_t row = row_of(rows, profile, location, j);
			struct view_function *function = &rows->function[row];

			if (i == 0 && j == 0) {
				function->flat += value;
				add_error(&function->flat_error, error);
			}
			if (rows->stamp[row] != number) {
				function->cum += value;
				add_error(&function->cum_error, error);
			}
			rows->stamp[row] = number;
		}
	}
}

/* Move the rows that say something into the view, and drop the others. */
static void rows_finish(struct rows *rows, struct profile_view *view)
{
	view->functions = rows->function;
	view->count = 0;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->function[i].flat != 0 || rows->function[i].cum != 0)
			view->functions[view->count++] = rows->function[i];
		else
			free(rows->function[i].name);
	}
	qsort(view->functions, view->count, sizeof *view->functions, by_size);
	free(rows->stamp);
	free(rows->by_function);
	free(rows->by_mapping);
}

void profile_view_init(struct profile_view *view, const Perftools__Profiles__Profile *profile, int type)
{
	struct rows rows;

	*view = (struct profile_view){.model = error_model_of(profile, type)};
	rows_init(&rows, profile);
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];
		struct error error = error_of_sample(&view->model, profile, sample);

		rows_add(&rows, profile, sample, sample->value[type], error, i + 1);
		add_error(&view->total_error, error);
	}
	rows_finish(&rows, view);
	view->total = profile_view_total(profile, type);
}

void profile_view_free(struct profile_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		free(view->functions[i].name);
	free(view->functions);
}

int profile_view_type(const Perftools__Profiles__Profile *profile, const char *name)
{
	const char *wanted = name != NULL ? name : decode_string(profile, profile->default_sample_type);

	for (size_t i = 0; i < profile->n_sample_type; i++)
		if (strcmp(decode_string(profile, profile->sample_type[i]->type), wanted) == 0)
			return (int)i;
	return name != NULL ? -1 : (int)profile->n_sample_type - 1;
}

int64_t profile_view_total(const Perftools__Profiles__Profile *profile, int type)
{
	int64_t total = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		total += magnitude(profile->sample[i]->value[type]);
	return total;
}

const char *profile_view_program(const Perftools__Profiles__Profile *profile)
{
	return profile->n_mapping > 0 ? base_name(decode_string(profile, profile->mapping[0]->filename)) : "";
}
