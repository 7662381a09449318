/* symbolizer.c - source files, lines and inlined calls for the locations of a profile. */
#include "tools/symbolizer.h"

#include "tools/debug_file.h"
#include "tools/demangle.h"
#include "tools/dwarf_frames.h"
#include "tools/progress.h"
#include "tools/symbolizer_jit.h"
#include "tools/symbolizer_place.h"
#include "tools/symbolizer_table.h"

#include <libiberty/libiberty.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Profile profile_type;
typedef Perftools__Profiles__Location location_type;
typedef Perftools__Profiles__Mapping mapping_type;

/* The whole work. */
struct symbolizer {
	profile_type *profile;
	const struct symbolizer_options *options;
	struct symbolizer_result *result;
	char *sysroot;
	struct symbolizer_table table;
	struct progress progress;
};

/* The places of one file: place[0..count), sorted by address, and which of them have the same address. */
struct module {
	struct symbolizer *symbolizer;
	struct symbolizer_place *places;
	size_t count;
	Dwarf_Addr *addresses; /* distinct */
	size_t *first;	       /* by distinct address: its first place; one more at the end */
	size_t address_count;
};

bool symbolizer_needed(const profile_type *profile)
{
	for (size_t i = 0; i < profile->n_mapping; i++)
		if (profile->mapping[i]->has_line_numbers)
			return false;
	return true;
}

/* --- one location ------------------------------------------------------------------------------------------------- */

/* The index of a frame's file, as an absolute path if that can be told. */
static int64_t file_of(struct symbolizer *symbolizer, const struct dwarf_frame *frame)
{
	const char *file = frame->file != NULL ? frame->file : "";
	char *path;
	int64_t index;

	if (file[0] == '\0' || file[0] == '/' || frame->directory == NULL)
		return symbolizer_table_string(&symbolizer->table, file);
	path = concat(frame->directory, "/", file, NULL);
	index = symbolizer_table_string(&symbolizer->table, path);
	free(path);
	return index;
}

static uint64_t function_named(struct symbolizer *symbolizer, const char *name, const char *system_name,
			       const struct dwarf_frame *frame, int start_line)
{
	struct symbolizer_table *table = &symbolizer->table;

	return symbolizer_table_function(table, symbolizer_table_string(table, name),
					 symbolizer_table_string(table, system_name), file_of(symbolizer, frame),
					 start_line);
}

/* Is the symbol only a part that the compiler made of the function: "f.cold", "f.part.0", "f.constprop.0"? */
static bool is_part(const char *symbol, const struct dwarf_name *function)
{
	size_t n = function != NULL ? strlen(function->system_name) : 0;

	return n > 0 && strncmp(symbol, function->system_name, n) == 0 && symbol[n] == '.';
}

/* The function of a frame. Its file is the one its line is in, so its first line is known only when that is in the same file. */
static uint64_t function_of(struct symbolizer *symbolizer, const struct dwarf_frame *frame,
			    const struct symbolizer_name *own)
{
	const struct dwarf_name *function = frame->function;
	int start_line = 0;

	if (function != NULL && function->file != NULL && frame->file != NULL &&
	    strcmp(function->file, frame->file) == 0)
		start_line = function->line;
	if (own != NULL && own->name[0] != '\0' && !is_part(own->system_name, function))
		return function_named(symbolizer, own->name, own->system_name, frame, start_line);
	if (function != NULL)
		return function_named(symbolizer, function->name, function->system_name, frame, start_line);
	return function_named(symbolizer, "??", "??", frame, 0);
}

static void set_lines(struct symbolizer *symbolizer, struct symbolizer_place *place, const struct dwarf_frame *frames,
		      size_t count)
{
	Perftools__Profiles__Line **lines = xcalloc(count, sizeof(Perftools__Profiles__Line *));
	location_type *location = place->location;
	bool named = frames[count - 1].function != NULL;
	struct symbolizer_name own = symbolizer_place_name(symbolizer->profile, place, named);

	for (size_t i = 0; i < count; i++) {
		lines[i] = xmalloc(sizeof **lines);
		perftools__profiles__line__init(lines[i]);
		lines[i]->function_id = function_of(symbolizer, &frames[i], i + 1 == count ? &own : NULL);
		lines[i]->line = frames[i].line;
	}
	for (size_t i = 0; i < location->n_line; i++)
		perftools__profiles__line__free_unpacked(location->line[i], NULL);
	free(location->line);
	location->line = lines;
	location->n_line = count;
	symbolizer_name_free(&own);
}

/* --- one file ----------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void warn(struct symbolizer *symbolizer, const char *format, ...)
{
	va_list args;

	progress_wipe(&symbolizer->progress);
	va_start(args, format);
	fputs("mprof: warning: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	symbolizer->result->warnings++;
}

static void found(void *context, size_t index, const struct dwarf_frame *frames, size_t count)
{
	struct module *module = context;

	for (size_t i = module->first[index]; i < module->first[index + 1]; i++)
		set_lines(module->symbolizer, &module->places[i], frames, count);
	progress_add(&module->symbolizer->progress, module->first[index + 1] - module->first[index]);
}

/* The distinct addresses, as the debug information counts them. */
static void list_addresses(struct module *module, Dwarf_Addr bias)
{
	module->addresses = xcalloc(module->count, sizeof *module->addresses);
	module->first = xcalloc(module->count + 1, sizeof *module->first);
	for (size_t i = 0; i < module->count; i++) {
		Dwarf_Addr address = module->places[i].address - bias;

		if (module->address_count > 0 && module->addresses[module->address_count - 1] == address)
			continue;
		module->first[module->address_count] = i;
		module->addresses[module->address_count++] = address;
	}
	module->first[module->address_count] = module->count;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void note_lacking(struct symbolizer_result *result, const char *path)
{
	size_t used = strlen(result->lacking);

	snprintf(result->lacking + used, sizeof result->lacking - used, "%s%s", used > 0 ? ", " : "", base_name(path));
}

/* Look up what the debug information knows, and give the rest the names of the symbol table. */
static void look_up(struct symbolizer *symbolizer, struct debug_file *file, struct symbolizer_place *places,
		    size_t count)
{
	struct module module = {.symbolizer = symbolizer, .places = places, .count = count};

	symbolizer_places_name(symbolizer->profile, file->path, file->search.build_id, places, count);
	for (size_t i = 0; i < count; i++)
		if (places[i].elf_name != NULL)
			set_lines(symbolizer, &places[i], &(struct dwarf_frame){0}, 1);
	if (file->dwarf == NULL) {
		note_lacking(symbolizer->result, file->search.path);
		return;
	}
	list_addresses(&module, file->bias);
	dwarf_frames_find(file->dwarf, file->lowest, module.addresses, module.address_count, found, &module);
	free(module.addresses);
	free(module.first);
}

/* Set what the mappings of these places tell. */
static void set_flags(struct symbolizer *symbolizer, const struct symbolizer_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mapping_type *mapping = symbolizer->profile->mapping[places[i].location->mapping_id - 1];

		mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers =
			mapping->has_inline_frames = true;
	}
}

/* The places of one file, whichever of its mappings they are in. */
static void do_file(struct symbolizer *symbolizer, struct symbolizer_place *places, size_t count)
{
	const profile_type *profile = symbolizer->profile;
	const mapping_type *mapping = decode_mapping(profile, places[0].location->mapping_id);
	const struct debug_file_search search = {
		.path = decode_string(profile, mapping->filename),
		.build_id = decode_string(profile, mapping->build_id),
		.binary_path = symbolizer->options->binary_path,
		.sysroot = symbolizer->sysroot,
	};
	struct debug_file file;
	enum debug_file_result result = debug_file_open(&file, &search, profile->time_nanos);

	if (result == DEBUG_FILE_MISSING)
		warn(symbolizer, "%s is not there, its functions get no lines; say where it is with --binary-path\n",
		     search.path);
	else if (result == DEBUG_FILE_CHANGED)
		warn(symbolizer,
		     "%s is not the file that was profiled, its functions get no lines; "
		     "say where that one is with --binary-path\n",
		     search.path);
	else
		count = symbolizer_places_locate(profile, &file, places, count);
	if (result == DEBUG_FILE_OK && count > 0) {
		look_up(symbolizer, &file, places, count);
		if (file.dwarf != NULL)
			set_flags(symbolizer, places, count);
	}
	debug_file_close(&file);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static void do_files(struct symbolizer *symbolizer)
{
	struct symbolizer_places all = symbolizer_places_list(symbolizer->profile);
	size_t start = 0;

	while (start < all.count && all.places[start].file == 0)
		start++;
	symbolizer_jit(symbolizer->profile, &symbolizer->table, symbolizer->sysroot, symbolizer->options->pid,
		       all.places, start);
	symbolizer->result->addresses = all.count - start;
	progress_begin(&symbolizer->progress, "looking up lines", all.count - start, symbolizer->options->progress);
	while (start < all.count) {
		size_t end = start + 1;

		while (end < all.count && all.places[end].file == all.places[start].file)
			end++;
		do_file(symbolizer, &all.places[start], end - start);
		start = end;
	}
	progress_wipe(&symbolizer->progress);
	symbolizer_places_free(&all);
}

static size_t count_lines(const profile_type *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->n_location; i++) {
		const location_type *location = profile->location[i];
		bool any = false;

		for (size_t j = 0; j < location->n_line; j++)
			any = any || location->line[j]->line > 0;
		count += any;
	}
	return count;
}

void symbolizer_run(profile_type *profile, const struct symbolizer_options *options, struct symbolizer_result *result)
{
	struct symbolizer symbolizer = {.profile = profile, .options = options, .result = result};

	*result = (struct symbolizer_result){0};
	if (options->pid != 0)
		symbolizer.sysroot = xasprintf("/proc/%d/root", options->pid);
	else
		symbolizer.sysroot = xstrdup(options->sysroot != NULL ? options->sysroot : "");
	symbolizer_table_init(&symbolizer.table, profile);
	do_files(&symbolizer);
	symbolizer_table_finish(&symbolizer.table);
	free(symbolizer.sysroot);
	result->with_lines = count_lines(profile);
}

void symbolizer_report(const struct symbolizer_result *result)
{
	if (result->with_lines == result->addresses)
		return;
	fprintf(stderr, "mprof: %zu of %zu addresses have lines", result->with_lines, result->addresses);
	if (result->lacking[0] != '\0')
		fprintf(stderr, "; without debug information: %s", result->lacking);
	fputs("\n", stderr);
}
