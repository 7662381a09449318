/* stacks.c - the samples of profiles as stacks of rows.
 *
 * A profile says the same frame many times but the same location once: rows are found once per location, and a stack is then put together
 * from lists of numbers. */
#include "tools/stacks.h"

#include "tools/demangle.h"
#include "tools/summary.h"

#include <libiberty/libiberty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Function Function;
typedef Perftools__Profiles__Mapping Mapping;

/* What a location comes to. */
struct frames {
	uint32_t *rows;
	uint32_t count;
	bool focused, ignored;
};

/* One profile on its way in. */
struct addition {
	struct stacks *stacks;
	const Profile *profile;
	const struct filter *filter;
	char **functions;      /* names by id */
	struct frames *frames; /* by location id */
};

const char *stacks_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The table holds copies of the names, each followed by the row's number. */
struct named {
	uint32_t row;
	char name[];
};

static hashval_t hash_named(const void *entry)
{
	return htab_hash_string(((const struct named *)entry)->name);
}

static int equals_name(const void *entry, const void *name)
{
	return strcmp(((const struct named *)entry)->name, name) == 0;
}

static char *copy(const char *text)
{
	return text != NULL && *text != '\0' ? xstrdup(text) : NULL;
}

/* The number of the row of this name, which is made when there is none yet. */
static uint32_t row_of(struct stacks *stacks, const struct stacks_row *row)
{
	void **slot = htab_find_slot_with_hash(stacks->names, row->name, htab_hash_string(row->name), INSERT);
	struct named *named = *slot;

	if (named != NULL)
		return named->row;
	named = xmalloc(sizeof *named + strlen(row->name) + 1);
	strcpy(named->name, row->name);
	named->row = (uint32_t)stacks->row_count;
	*slot = named;
	if (stacks->row_count == stacks->row_cap) {
		stacks->row_cap = stacks->row_cap * 2 + 64;
		stacks->rows = xrealloc(stacks->rows, stacks->row_cap * sizeof *stacks->rows);
	}
	stacks->rows[stacks->row_count++] = (struct stacks_row){xstrdup(row->name), copy(row->function),
								copy(row->file), copy(row->module), row->line};
	return named->row;
}

/* "[libx.so]", but "[vdso]" as it is. */
static char *in_brackets(const char *module)
{
	if (module == NULL)
		return xstrdup("<unknown>");
	return *module == '[' ? xstrdup(module) : concat("[", module, "]", NULL);
}

static char *line_name(const struct stacks_row *row)
{
	char number[32];

	if (row->file == NULL || row->line == 0)
		return xstrdup(row->function);
	snprintf(number, sizeof number, ":%lld", (long long)row->line);
	return concat(row->function, " ", summary_typed_path(row->file), number, NULL);
}

/* Name a row by what is known of it. */
static char *row_name(enum stacks_by by, const struct stacks_row *row)
{
	if (by == STACKS_BY_MODULE)
		return xstrdup(row->module != NULL ? row->module : "<unknown>");
	if (row->function == NULL)
		return in_brackets(row->module);
	return by == STACKS_BY_LINE ? line_name(row) : xstrdup(row->function);
}

/* --- locations ---------------------------------------------------------------------------------------------------- */

/* A name that differs from the system name was demangled by whoever wrote the profile. NULL for none. */
static char *function_name(const Profile *profile, const Function *function)
{
	const char *name = decode_string(profile, function->name);
	const char *system_name = decode_string(profile, function->system_name);

	if (*name != '\0' && *system_name != '\0' && strcmp(name, system_name) != 0)
		return xstrdup(name);
	if (*name == '\0' && *system_name == '\0')
		return NULL;
	return demangle(*name != '\0' ? name : system_name);
}

static char *known(const char *text)
{
	return *text != '\0' ? (char *)(uintptr_t)text : NULL; /* a row's fields are read only until it is copied */
}

/* What is known of line `i` of a location, the innermost inlined call first; of a location without lines i = 0 is the module. */
static struct stacks_row describe(const struct addition *addition, const Location *location, size_t i)
{
	const Mapping *mapping = decode_mapping(addition->profile, location->mapping_id);
	struct stacks_row row = {0};

	if (mapping != NULL)
		row.module = known(stacks_base_name(decode_string(addition->profile, mapping->filename)));
	if (i < location->n_line) {
		const Function *function = decode_function(addition->profile, location->line[i]->function_id);

		row.function = addition->functions[function->id];
		row.file = known(decode_string(addition->profile, function->filename));
		row.line = addition->stacks->by == STACKS_BY_LINE ? location->line[i]->line : function->start_line;
	}
	return row;
}

/* Is the frame one of those that are shown? */
static bool is_shown(const struct filter *filter, const struct stacks_row *row, const char *module)
{
	return (filter->text[FILTER_SHOW] == NULL ||
		filter_matches(filter, FILTER_SHOW, row->function, row->file, module)) &&
	       !filter_matches(filter, FILTER_HIDE, row->function, row->file, module);
}

static void add_location(const struct addition *addition, const Location *location)
{
	const Mapping *mapping = decode_mapping(addition->profile, location->mapping_id);
	const char *module = mapping != NULL ? decode_string(addition->profile, mapping->filename) : NULL;
	size_t count = location->n_line > 0 ? location->n_line : 1;
	struct frames *frames = &addition->frames[location->id];

	frames->rows = xmalloc(count * sizeof *frames->rows);
	for (size_t i = 0; i < count; i++) {
		struct stacks_row row = describe(addition, location, i);

		frames->focused |= filter_matches(addition->filter, FILTER_FOCUS, row.function, row.file, module);
		frames->ignored |= filter_matches(addition->filter, FILTER_IGNORE, row.function, row.file, module);
		if (!is_shown(addition->filter, &row, module))
			continue;
		row.name = row_name(addition->stacks->by, &row);
		if (addition->stacks->by == STACKS_BY_MODULE)
			row.function = row.file = NULL;
		frames->rows[frames->count++] = row_of(addition->stacks, &row);
		free(row.name);
	}
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

/* Do --focus and --ignore let it through, and how many frames has it then? */
static bool is_wanted(const struct addition *addition, const Sample *sample, size_t *depth)
{
	bool focused = addition->filter->text[FILTER_FOCUS] == NULL, ignored = false;

	*depth = 0;
	for (size_t i = 0; i < sample->n_location_id; i++) {
		const struct frames *frames = &addition->frames[sample->location_id[i]];

		focused |= frames->focused;
		ignored |= frames->ignored;
		*depth += frames->count;
	}
	/* a stack of which nothing is shown is none; one that never had frames is in the totals */
	return focused && !ignored && (*depth > 0 || sample->n_location_id == 0);
}

static void add_sample(const struct addition *addition, const Sample *sample)
{
	struct stacks *stacks = addition->stacks;
	struct stack *stack = &stacks->list[stacks->count];
	size_t depth;

	if (!is_wanted(addition, sample, &depth))
		return;
	*stack = (struct stack){
		.sample = sample, .rows = xmalloc((depth + 1) * sizeof *stack->rows), .profile = stacks->profile_count};
	for (size_t i = 0; i < sample->n_location_id; i++) {
		const struct frames *frames = &addition->frames[sample->location_id[i]];

		for (uint32_t j = 0; j < frames->count; j++) {
			/* a module that calls itself is one frame */
			if (stacks->by == STACKS_BY_MODULE && stack->depth > 0 &&
			    stack->rows[stack->depth - 1] == frames->rows[j])
				continue;
			stack->rows[stack->depth++] = frames->rows[j];
		}
	}
	stacks->count++;
}

void stacks_add(struct stacks *stacks, const Profile *profile, const struct filter *filter)
{
	static const struct filter none;
	struct addition addition = {stacks, profile, filter != NULL ? filter : &none, NULL, NULL};

	if (stacks->names == NULL)
		stacks->names = htab_create(1024, hash_named, equals_name, free);
	addition.functions = xcalloc(profile->n_function + 1, sizeof *addition.functions);
	addition.frames = xcalloc(profile->n_location + 1, sizeof *addition.frames);
	for (size_t id = 1; id <= profile->n_function; id++)
		addition.functions[id] = function_name(profile, decode_function(profile, id));
	for (size_t id = 1; id <= profile->n_location; id++)
		add_location(&addition, decode_location(profile, id));
	stacks->list = xrealloc(stacks->list, (stacks->count + profile->n_sample + 1) * sizeof *stacks->list);
	for (size_t i = 0; i < profile->n_sample; i++)
		add_sample(&addition, profile->sample[i]);
	stacks->profile_count++;
	for (size_t id = 1; id <= profile->n_function; id++)
		free(addition.functions[id]);
	for (size_t id = 1; id <= profile->n_location; id++)
		free(addition.frames[id].rows);
	free(addition.functions);
	free(addition.frames);
}

int stacks_compare(const struct stack *a, const struct stack *b, bool from_leaf)
{
	uint32_t depth = a->depth < b->depth ? a->depth : b->depth;

	for (uint32_t i = 0; i < depth; i++) {
		uint32_t x = stacks_frame(a, i, from_leaf), y = stacks_frame(b, i, from_leaf);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a->depth > b->depth) - (a->depth < b->depth);
}

void stacks_free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->row_count; i++) {
		free(stacks->rows[i].name);
		free(stacks->rows[i].function);
		free(stacks->rows[i].file);
		free(stacks->rows[i].module);
	}
	for (size_t i = 0; i < stacks->count; i++)
		free(stacks->list[i].rows);
	free(stacks->rows);
	free(stacks->list);
	if (stacks->names != NULL)
		htab_delete(stacks->names);
	*stacks = (struct stacks){.by = stacks->by};
}
