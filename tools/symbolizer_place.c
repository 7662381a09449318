/* symbolizer_place.c - the locations of a profile by the file they are in, and the names they have already. */
#include "tools/symbolizer_place.h"

#include "core/arena.h"
#include "core/module.h"
#include "pprof/elf_names.h"
#include "tools/demangle.h"

#include <libiberty/libiberty.h>
#include <stdlib.h>
#include <string.h>

/* What finding names needs for each address, and for the text of its name, which is cut where there is no room. */
#define SCRATCH_BYTES_EACH 4096U

/* --- files -------------------------------------------------------------------------------------------------------- */

/* A mapping to be sorted by the file behind it. */
struct candidate {
	const char *path, *build_id;
	size_t id;
};

static int by_file(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order != 0 ? order : strcmp(x->build_id, y->build_id);
}

/* Names in brackets and the like stand for memory that is in no file. */
static bool is_file(const char *path)
{
	return path[0] != '\0' && path[0] != '[' && strncmp(path, "//", 2) != 0;
}

/* The number of its file for each mapping id. To be freed. */
static size_t *number_files(const Perftools__Profiles__Profile *profile)
{
	size_t *numbers = xcalloc(profile->n_mapping + 1, sizeof *numbers), last = 0;
	struct candidate *all = xcalloc(profile->n_mapping + 1, sizeof *all);

	for (size_t i = 0; i < profile->n_mapping; i++) {
		const Perftools__Profiles__Mapping *mapping = profile->mapping[i];

		all[i] = (struct candidate){decode_string(profile, mapping->filename),
					    decode_string(profile, mapping->build_id), i + 1};
	}
	qsort(all, profile->n_mapping, sizeof *all, by_file);
	for (size_t i = 0; i < profile->n_mapping; i++) {
		if (!is_file(all[i].path))
			continue;
		if (i == 0 || by_file(&all[i - 1], &all[i]) != 0 || last == 0)
			last++;
		numbers[all[i].id] = last;
	}
	free(all);
	return numbers;
}

static int by_address(const void *a, const void *b)
{
	const struct symbolizer_place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

struct symbolizer_places symbolizer_places_list(const Perftools__Profiles__Profile *profile)
{
	size_t *numbers = number_files(profile), n = profile->n_location;
	struct symbolizer_places all = {xcalloc(n + 1, sizeof *all.places), n};

	for (size_t i = 0; i < n; i++) {
		Perftools__Profiles__Location *location = profile->location[i];

		all.places[i] = (struct symbolizer_place){
			.location = location,
			.file = numbers[location->mapping_id],
			.address = location->address,
		};
	}
	qsort(all.places, n, sizeof *all.places, by_address);
	free(numbers);
	return all;
}

void symbolizer_places_free(struct symbolizer_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->places[i].elf_name);
	free(places->places);
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

/* What is known of the mapping that was asked for last: neighbours are in the same. */
struct segment {
	uint64_t mapping_id;
	bool found;
	Dwarf_Addr start;
};

static bool locate(const Perftools__Profiles__Profile *profile, const struct debug_file *file, struct segment *segment,
		   struct symbolizer_place *place)
{
	uint64_t id = place->location->mapping_id, address = place->location->address;
	const Perftools__Profiles__Mapping *mapping = decode_mapping(profile, id);

	if (address < mapping->memory_start || address >= mapping->memory_limit)
		return false;
	if (segment->mapping_id != id) {
		segment->mapping_id = id;
		segment->found = debug_file_segment(file, mapping->file_offset, &segment->start);
	}
	place->address = segment->start + (address - mapping->memory_start);
	return segment->found;
}

size_t symbolizer_places_locate(const Perftools__Profiles__Profile *profile, const struct debug_file *file,
				struct symbolizer_place *places, size_t count)
{
	struct segment segment = {0};
	size_t good = 0;

	for (size_t i = 0; i < count; i++) {
		struct symbolizer_place place = places[i];

		if (!locate(profile, file, &segment, &places[i]))
			continue;
		place = places[i];
		places[i] = places[good];
		places[good++] = place;
	}
	qsort(places, good, sizeof *places, by_address);
	return good;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* The function whose code it is; NULL when the profile has none. */
static const Perftools__Profiles__Function *function_of(const Perftools__Profiles__Profile *profile,
							const struct symbolizer_place *place)
{
	const Perftools__Profiles__Location *location = place->location;

	return location->n_line > 0 ? decode_function(profile, location->line[location->n_line - 1]->function_id)
				    : NULL;
}

static const char *system_name_of(const Perftools__Profiles__Profile *profile, const struct symbolizer_place *place)
{
	const Perftools__Profiles__Function *function = function_of(profile, place);

	if (function == NULL)
		return "";
	return decode_string(profile, function->system_name != 0 ? function->system_name : function->name);
}

/* "libfoo.so+0x1234" (pprof/symbols.h) */
static bool is_placeholder(const char *name)
{
	const char *plus = strrchr(name, '+');

	return plus != NULL && strncmp(plus, "+0x", 3) == 0 && plus[3] != '\0' &&
	       plus[3 + strspn(plus + 3, "0123456789abcdef")] == '\0';
}

bool symbolizer_place_is_named(const Perftools__Profiles__Profile *profile, const struct symbolizer_place *place)
{
	const char *name = system_name_of(profile, place);

	return name[0] != '\0' && strcmp(name, "??") != 0 && !is_placeholder(name);
}

struct symbolizer_name symbolizer_place_name(const Perftools__Profiles__Profile *profile,
					     const struct symbolizer_place *place, bool better_to_come)
{
	const Perftools__Profiles__Function *function = function_of(profile, place);
	const char *system_name = system_name_of(profile, place), *name;

	if (place->elf_name != NULL)
		return (struct symbolizer_name){demangle(place->elf_name), xstrdup(place->elf_name)};
	if (function == NULL || (better_to_come && !symbolizer_place_is_named(profile, place)))
		return (struct symbolizer_name){xstrdup(""), xstrdup("")};
	name = decode_string(profile, function->name);
	/* A name that differs from the system name was made readable by whoever wrote it. */
	if (name[0] != '\0' && strcmp(name, system_name) != 0)
		return (struct symbolizer_name){xstrdup(name), xstrdup(system_name)};
	return (struct symbolizer_name){demangle(system_name), xstrdup(system_name)};
}

void symbolizer_name_free(struct symbolizer_name *name)
{
	free(name->name);
	free(name->system_name);
}

static unsigned digit_value(char digit)
{
	return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a' + 10);
}

/* The module as pprof/elf_names.h takes it, loaded where it was linked to. */
static struct module unloaded_module(const char *path, const char *build_id)
{
	struct module module = {.path = path, .open_path = path};

	while (build_id[0] != '\0' && build_id[1] != '\0' && module.build_id_size < sizeof module.build_id) {
		module.build_id[module.build_id_size++] =
			(unsigned char)(digit_value(build_id[0]) << 4 | digit_value(build_id[1]));
		build_id += 2;
	}
	return module;
}

void symbolizer_places_name(const Perftools__Profiles__Profile *profile, const char *path, const char *build_id,
			    struct symbolizer_place *places, size_t count)
{
	struct module module = unloaded_module(path, build_id);
	struct elf_name *names = xcalloc(count + 1, sizeof *names);
	size_t *place = xcalloc(count + 1, sizeof *place), n = 0;
	struct arena scratch;

	for (size_t i = 0; i < count; i++) {
		if (symbolizer_place_is_named(profile, &places[i]))
			continue;
		place[n] = i;
		names[n++].address = places[i].address;
	}
	if (n > 0 && arena_init(&scratch, n * SCRATCH_BYTES_EACH) == 0) {
		elf_names_find(&module, names, n, &scratch);
		for (size_t i = 0; i < n; i++)
			places[place[i]].elf_name = names[i].name != NULL ? xstrdup(names[i].name) : NULL;
		arena_destroy(&scratch);
	}
	free(names);
	free(place);
}
