/* places.c - writes the locations of a profile with the mappings and functions they refer to. */
#include "pprof/places.h"

#include "core/arena.h"
#include "core/module.h"
#include "pprof/hex.h"
#include "pprof/location.h"
#include "pprof/strings.h"
#include "pprof/symbols.h"
#include "pprof/writer.h"

#include <errno.h>

#define MAIN_MODULE 1U /* core/module.h: the main program is the first */
#define PAGE_BYTES 4096U

struct places {
	struct writer *writer;
	struct strings *strings;
	struct arena *scratch;
	bool named; /* function names were asked for */
	int error;
	uint64_t *mapping_ids; /* by module and segment; 0 = not written yet */
	uint64_t mapping_count, function_count;
	uint64_t anon_id;		  /* of the mapping for code outside all modules; 0 = not written yet */
	uintptr_t anon_start, anon_limit; /* what that one spans */
};

/* The segment of its module that a location lies in, or NULL: JIT code, a stray value, or the lost stack. */
static const struct module_segment *segment_of(const struct location *location)
{
	const struct module *module = module_get(frame_module(location->frame));
	uintptr_t address = location_address(location);

	for (unsigned i = 0; module && i < module->segment_count; i++)
		if (address >= module->segments[i].start && address < module->segments[i].limit)
			return &module->segments[i];
	return NULL;
}

static uint64_t put_mapping(struct places *places, Perftools__Profiles__Mapping *mapping)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	mapping->id = ++places->mapping_count;
	part.n_mapping = 1;
	part.mapping = &mapping;
	writer_put(places->writer, &part);
	return mapping->id;
}

static const char *build_id_text(struct places *places, const struct module *module)
{
	char *text = arena_alloc(places->scratch, 2 * (size_t)module->build_id_size + 1, 1);

	if (text)
		hex_bytes(text, module->build_id, module->build_id_size);
	else
		places->error = -ENOMEM;
	return text;
}

/* The mapping of a module's segment, written when it is new. */
static uint64_t segment_mapping(struct places *places, unsigned id, const struct module_segment *segment)
{
	const struct module *module = module_get(id);
	uint64_t *mapping_id = &places->mapping_ids[id * MODULE_SEGMENTS + (size_t)(segment - module->segments)];

	if (!*mapping_id) {
		Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;

		mapping.memory_start = segment->start;
		mapping.memory_limit = segment->limit;
		mapping.file_offset = segment->offset;
		mapping.filename = strings_index(places->strings, module->path);
		mapping.build_id = strings_index(places->strings, build_id_text(places, module));
		mapping.has_functions = places->named;
		*mapping_id = put_mapping(places, &mapping);
	}
	return *mapping_id;
}

/* The one mapping for all code outside modules. It may overlap others, which readers do not mind: they go by its id. */
static uint64_t anon_mapping(struct places *places)
{
	if (!places->anon_id) {
		Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;

		mapping.memory_start = places->anon_start;
		mapping.memory_limit = places->anon_limit;
		mapping.filename = strings_index(places->strings, "[anon]");
		mapping.has_functions = places->named;
		places->anon_id = put_mapping(places, &mapping);
	}
	return places->anon_id;
}

static uint64_t mapping_of(struct places *places, const struct location *location)
{
	const struct module_segment *segment = segment_of(location);

	if (location->frame == 0)
		return 0; /* the lost stack is nowhere */
	if (!segment)
		return anon_mapping(places);
	return segment_mapping(places, frame_module(location->frame), segment);
}

static uint64_t function_of(struct places *places, struct symbol *symbol)
{
	if (!symbol->function_id) {
		Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
		Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;

		/* The mangled name twice: readers demangle Function.name when both are the same. */
		function.id = ++places->function_count;
		function.name = strings_index(places->strings, symbol->name);
		function.system_name = function.name;
		part.n_function = 1;
		part.function = &(Perftools__Profiles__Function *){&function};
		writer_put(places->writer, &part);
		symbol->function_id = function.id;
	}
	return symbol->function_id;
}

static void put_location(struct places *places, const struct location *from)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines = &line;

	location.id = from->id;
	location.mapping_id = mapping_of(places, from);
	location.address = location_address(from);
	if (from->symbol) {
		line.function_id = function_of(places, from->symbol);
		location.n_line = 1;
		location.line = &lines;
	}
	part.n_location = 1;
	part.location = &(Perftools__Profiles__Location *){&location};
	writer_put(places->writer, &part);
}

/* Find the span of the addresses outside all modules: readers drop a mapping that does not contain its locations. */
static void measure_anon(struct places *places, struct location *const *location, size_t count)
{
	places->anon_start = UINTPTR_MAX;
	for (size_t i = 0; i < count; i++) {
		uintptr_t page = location_address(location[i]) & ~(uintptr_t)(PAGE_BYTES - 1);

		if (location[i]->frame == 0 || segment_of(location[i]))
			continue;
		if (page < places->anon_start)
			places->anon_start = page;
		if (page + PAGE_BYTES > places->anon_limit)
			places->anon_limit = page + PAGE_BYTES;
	}
}

int places_write(struct writer *writer, struct strings *strings, struct location *const *location, size_t count,
		 bool named, struct arena *scratch)
{
	struct places places = {.writer = writer, .strings = strings, .scratch = scratch, .named = named};
	const struct module *program = module_get(MAIN_MODULE);
	size_t id_count = (size_t)MODULE_MAX * MODULE_SEGMENTS;

	places.mapping_ids = arena_alloc(scratch, id_count * sizeof(uint64_t), sizeof(uint64_t));
	if (!places.mapping_ids)
		return -ENOMEM;
	measure_anon(&places, location, count);
	if (program && program->segment_count)
		segment_mapping(&places, MAIN_MODULE, &program->segments[0]);
	for (size_t i = 0; i < count; i++)
		put_location(&places, location[i]);
	return places.error;
}
