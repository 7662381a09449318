/* symbolizer_table.c - strings and functions added to a decoded profile, each once. */
#include "tools/symbolizer_table.h"

#include "tools/utf8.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Function function;

/* An entry of the table of strings. The texts themselves do not move when the profile's array does. */
struct entry {
	const char *text;
	int64_t index;
};

static hashval_t hash_entry(const void *entry)
{
	return htab_hash_string(((const struct entry *)entry)->text);
}

static int equal_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->text, ((const struct entry *)b)->text) == 0;
}

static hashval_t hash_function(const void *key)
{
	const function *f = key;

	return iterative_hash_object(f->name, iterative_hash_object(f->system_name, (hashval_t)f->filename));
}

static int equal_functions(const void *a, const void *b)
{
	const function *x = a, *y = b;

	return x->name == y->name && x->system_name == y->system_name && x->filename == y->filename;
}

static void enter_string(struct symbolizer_table *table, int64_t index)
{
	const struct entry entry = {table->profile->string_table[index], index};
	void **slot = htab_find_slot(table->strings, &entry, INSERT);

	if (*slot == NULL)
		*slot = xmemdup(&entry, sizeof entry, sizeof entry);
}

/* The first of several equal functions stays the one. */
static void enter_function(struct symbolizer_table *table, function *f)
{
	void **slot = htab_find_slot(table->functions, f, INSERT);

	if (*slot == NULL)
		*slot = f;
}

void symbolizer_table_init(struct symbolizer_table *table, Perftools__Profiles__Profile *profile)
{
	*table = (struct symbolizer_table){
		.profile = profile,
		.strings = htab_create(profile->n_string_table + 1, hash_entry, equal_entries, free),
		.functions = htab_create(profile->n_function + 1, hash_function, equal_functions, NULL),
		.string_cap = profile->n_string_table,
		.function_cap = profile->n_function,
	};
	for (size_t i = 0; i < profile->n_string_table; i++)
		enter_string(table, (int64_t)i);
	for (size_t i = 0; i < profile->n_function; i++)
		enter_function(table, profile->function[i]);
}

/* A copy that readers take, as strings of a profile must be UTF-8: other bytes, and control characters, become question marks. */
static char *clean_copy(const char *text)
{
	char *copy = xstrdup(text);

	for (char *at = copy; *at != '\0';) {
		size_t n = utf8_length(at);

		if (n == 0)
			*at = '?';
		at += n > 0 ? n : 1;
	}
	return copy;
}

/* The index of a string that is clean. */
static int64_t string_index(struct symbolizer_table *table, const char *text)
{
	Perftools__Profiles__Profile *profile = table->profile;
	const struct entry key = {.text = text};
	const struct entry *found = htab_find(table->strings, &key);

	if (found != NULL)
		return found->index;
	if (profile->n_string_table == table->string_cap) {
		table->string_cap = 2 * table->string_cap + 16;
		profile->string_table =
			xrealloc(profile->string_table, table->string_cap * sizeof *profile->string_table);
	}
	profile->string_table[profile->n_string_table] = xstrdup(text);
	enter_string(table, (int64_t)profile->n_string_table);
	return (int64_t)profile->n_string_table++;
}

int64_t symbolizer_table_string(struct symbolizer_table *table, const char *text)
{
	char *clean = clean_copy(text);
	int64_t index = string_index(table, clean);

	free(clean);
	return index;
}

uint64_t symbolizer_table_function(struct symbolizer_table *table, int64_t name, int64_t system_name, int64_t file,
				   int64_t start_line)
{
	Perftools__Profiles__Profile *profile = table->profile;
	function made = PERFTOOLS__PROFILES__FUNCTION__INIT, *f;

	made.name = name;
	made.system_name = system_name;
	made.filename = file;
	made.start_line = start_line;
	made.id = profile->n_function + 1;
	f = htab_find(table->functions, &made);
	if (f != NULL)
		return f->id;
	if (profile->n_function == table->function_cap) {
		table->function_cap = 2 * table->function_cap + 16;
		profile->function = xrealloc(profile->function, table->function_cap * sizeof(function *));
	}
	f = xmemdup(&made, sizeof made, sizeof made);
	profile->function[profile->n_function++] = f;
	enter_function(table, f);
	return f->id;
}

/* Give the functions that are referred to their new ids: renumbered[old id]. Returns how many they are. */
static size_t renumber(Perftools__Profiles__Profile *profile, uint64_t *renumbered)
{
	size_t used = 0;

	for (size_t i = 0; i < profile->n_location; i++) {
		for (size_t j = 0; j < profile->location[i]->n_line; j++) {
			uint64_t *id = &profile->location[i]->line[j]->function_id;

			if (renumbered[*id] == 0)
				renumbered[*id] = ++used;
			*id = renumbered[*id];
		}
	}
	return used;
}

void symbolizer_table_finish(struct symbolizer_table *table)
{
	Perftools__Profiles__Profile *profile = table->profile;
	uint64_t *renumbered = xcalloc(profile->n_function + 1, sizeof *renumbered);
	function **kept = xcalloc(profile->n_function + 1, sizeof *kept);
	size_t used = renumber(profile, renumbered);

	htab_delete(table->strings);
	htab_delete(table->functions);
	for (size_t i = 0; i < profile->n_function; i++) {
		function *f = profile->function[i];

		if (renumbered[f->id] == 0) {
			perftools__profiles__function__free_unpacked(f, NULL);
			continue;
		}
		f->id = renumbered[f->id];
		kept[f->id - 1] = f;
	}
	free(renumbered);
	free(profile->function);
	profile->function = kept;
	profile->n_function = used;
}
