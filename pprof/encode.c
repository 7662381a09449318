/* encode.c - a snapshot written as a pprof heap profile (uncompressed protobuf), streaming. */
#include "pprof/encode.h"

#include "core/arena.h"
#include "core/snapshot.h"
#include "core/stack.h"
#include "pprof/location.h"
#include "pprof/places.h"
#include "pprof/strings.h"
#include "pprof/symbols.h"
#include "pprof/unsample.h"
#include "pprof/writer.h"

#include <errno.h>
#include <string.h>

/* The snapshot is walked twice: first for the distinct addresses, whose names decide where a stack's leaf is cut,
 * then for the samples. No sample is kept. What samples refer to is written after them, and the string table, which
 * grows to the end, last; readers take the fields of a Profile in any order. */

enum { ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, PEAK_OBJECTS, PEAK_SPACE, VALUES_MAX };

struct encoder {
	const struct encode_input *input;
	struct arena *scratch;
	struct writer writer;
	struct strings strings;
	struct symbols symbols;
	struct locations locations;
	struct symbol lost;	 /* the function of the lost stacks */
	struct location **by_id; /* by_id[i] has the id i + 1 */
	size_t id_count;
	uint64_t *stack;   /* location ids of the sample being written; STACK_DEPTH_MAX */
	int64_t bytes_key; /* the string "bytes" */
	int64_t rate_key;  /* the string "rate", where counts are raw */
	size_t value_count;
};

static Perftools__Profiles__ValueType value_type(struct strings *strings, const char *type, const char *unit)
{
	Perftools__Profiles__ValueType value = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;

	value.type = strings_index(strings, type);
	value.unit = strings_index(strings, unit);
	return value;
}

/* What all samples have in common. */
static void put_header(struct encoder *encoder)
{
	static const char *const names[VALUES_MAX][2] = {
		[ALLOC_OBJECTS] = {"alloc_objects", "count"}, [ALLOC_SPACE] = {"alloc_space", "bytes"},
		[INUSE_OBJECTS] = {"inuse_objects", "count"}, [INUSE_SPACE] = {"inuse_space", "bytes"},
		[PEAK_OBJECTS] = {"peak_objects", "count"},   [PEAK_SPACE] = {"peak_space", "bytes"},
	};
	struct strings *strings = &encoder->strings;
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType types[VALUES_MAX], *type_list[VALUES_MAX];
	Perftools__Profiles__ValueType period = value_type(strings, "space", "bytes");

	for (size_t i = 0; i < encoder->value_count; i++) {
		types[i] = value_type(strings, names[i][0], names[i][1]);
		type_list[i] = &types[i];
	}
	part.n_sample_type = encoder->value_count;
	part.sample_type = type_list;
	if (encoder->input->peak) /* else readers take the last one, which is the same */
		part.default_sample_type = strings_index(strings, names[INUSE_SPACE][0]);
	part.period_type = &period;
	part.period = (int64_t)encoder->input->period;
	part.time_nanos = encoder->input->time_nanos;
	writer_put(&encoder->writer, &part);
}

/* Find all distinct addresses and, if wanted, their names. */
static int collect_locations(struct encoder *encoder)
{
	struct locations *locations = &encoder->locations;
	struct snapshot_cursor cursor = {0};
	struct record record;

	while (snapshot_next(encoder->input->snapshot, &cursor, &record)) {
		for (uint32_t i = 0; i < record.depth; i++)
			if (locations_add(locations, record.frames[i]))
				return -ENOMEM;
	}
	encoder->by_id = arena_alloc(encoder->scratch, (locations->count + 1) * sizeof(*encoder->by_id),
				     sizeof(*encoder->by_id));
	if (!encoder->by_id)
		return -ENOMEM;
	return encoder->input->symbols ? symbols_find(&encoder->symbols, locations, encoder->scratch) : 0;
}

/* Add what a record stands for, by the rate it was sampled at, or its raw counts. */
static void add_values(const struct encoder *encoder, const struct record *record, int64_t *values)
{
	uint64_t rate = encoder->input->raw ? 1 : record->rate;
	struct estimate allocated = unsample(record->allocs, record->alloc_bytes, rate);
	struct estimate in_use =
		unsample(record->allocs - record->frees, record->alloc_bytes - record->free_bytes, rate);
	struct estimate peak = unsample(record->peak.objects, record->peak.bytes, rate);

	values[ALLOC_OBJECTS] += allocated.objects;
	values[ALLOC_SPACE] += allocated.bytes;
	values[INUSE_OBJECTS] += in_use.objects;
	values[INUSE_SPACE] += in_use.bytes;
	values[PEAK_OBJECTS] += peak.objects;
	values[PEAK_SPACE] += peak.bytes;
}

static uint64_t location_id(struct encoder *encoder, uint64_t frame)
{
	struct location *location = locations_find(&encoder->locations, frame);

	if (!location->id) {
		encoder->by_id[encoder->id_count++] = location;
		location->id = encoder->id_count;
	}
	return location->id;
}

/* Number of frames at the leaf that belong to the allocator; none when that is all there is. */
static size_t allocator_frames(struct encoder *encoder, const struct record *record)
{
	for (size_t i = 0; i < record->depth; i++) {
		const struct symbol *symbol = locations_find(&encoder->locations, record->frames[i])->symbol;

		if (!symbol || !symbol->allocator)
			return i;
	}
	return 0;
}

/* The location ids of a record's stack into encoder->stack; returns how many. */
static size_t translate_stack(struct encoder *encoder, const struct record *record)
{
	size_t depth = 0;

	if (record->depth == 0)
		encoder->stack[depth++] = location_id(encoder, 0);
	for (size_t i = allocator_frames(encoder, record); i < record->depth && depth < STACK_DEPTH_MAX; i++)
		encoder->stack[depth++] = location_id(encoder, record->frames[i]);
	return depth;
}

static Perftools__Profiles__Label number_label(int64_t key, uint64_t number)
{
	Perftools__Profiles__Label label = PERFTOOLS__PROFILES__LABEL__INIT;

	label.key = key;
	label.num = (int64_t)number;
	return label;
}

static void put_sample(struct encoder *encoder, const struct record *record, int64_t *values)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Label bytes = number_label(encoder->bytes_key, record->size);
	Perftools__Profiles__Label rate = number_label(encoder->rate_key, record->rate);

	for (size_t i = 0; i < encoder->value_count; i++)
		if (values[i] != 0)
			sample.n_value = encoder->value_count;
	if (sample.n_value == 0)
		return;
	sample.n_location_id = translate_stack(encoder, record);
	sample.location_id = encoder->stack;
	sample.value = values;
	sample.n_label = encoder->input->raw ? 2 : 1;
	sample.label = (Perftools__Profiles__Label *[]){&bytes, &rate};
	part.n_sample = 1;
	part.sample = &(Perftools__Profiles__Sample *){&sample};
	writer_put(&encoder->writer, &part);
}

/* A sample for each (stack, size): buckets that differ by rate are added up, but for raw counts, where they cannot be. */
static void put_samples(struct encoder *encoder)
{
	struct snapshot_cursor cursor = {0};
	struct record record;

	while (!encoder->writer.error && snapshot_next(encoder->input->snapshot, &cursor, &record)) {
		struct record twin = record;
		int64_t values[VALUES_MAX] = {0};

		do {
			add_values(encoder, &twin, values);
			if (encoder->input->raw) {
				put_sample(encoder, &twin, values);
				memset(values, 0, sizeof(values));
			}
		} while (snapshot_twin(&cursor, &twin));
		put_sample(encoder, &record, values);
	}
}

static void put_comment(struct encoder *encoder, const char *text)
{
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	part.n_comment = 1;
	part.comment = &(int64_t){strings_index(&encoder->strings, text)};
	writer_put(&encoder->writer, &part);
}

static void put_strings(struct encoder *encoder)
{
	for (const struct string *string = encoder->strings.first; string; string = string->next) {
		Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

		part.n_string_table = 1;
		part.string_table = &(char *){(char *)(uintptr_t)string->text}; /* protobuf-c reads it only */
		writer_put(&encoder->writer, &part);
	}
}

/* In scratch memory, to spare the stack; NULL when that is full. */
static struct encoder *encoder_new(const struct encode_input *input, struct arena *scratch, struct sink *out)
{
	struct encoder *encoder = arena_alloc(scratch, sizeof(*encoder), _Alignof(struct encoder));

	if (!encoder)
		return NULL;
	encoder->input = input;
	encoder->scratch = scratch;
	encoder->stack = arena_alloc(scratch, STACK_DEPTH_MAX * sizeof(uint64_t), sizeof(uint64_t));
	if (!encoder->stack || writer_init(&encoder->writer, out, scratch) ||
	    strings_init(&encoder->strings, scratch) || locations_init(&encoder->locations, scratch))
		return NULL;
	encoder->lost.name = "[other]";
	encoder->locations.other.symbol = &encoder->lost; /* even without names: nobody could find this one later */
	encoder->bytes_key = strings_index(&encoder->strings, "bytes");
	encoder->rate_key = input->raw ? strings_index(&encoder->strings, "rate") : 0;
	encoder->value_count = input->peak ? VALUES_MAX : PEAK_OBJECTS;
	return encoder;
}

int encode_profile(const struct encode_input *input, struct arena *scratch, struct sink *out)
{
	struct encoder *encoder = encoder_new(input, scratch, out);
	int error = encoder ? collect_locations(encoder) : -ENOMEM;

	if (error)
		return error;
	put_header(encoder);
	put_samples(encoder);
	error = places_write(&encoder->writer, &encoder->strings, encoder->by_id, encoder->id_count, input->symbols,
			     scratch);
	if (error)
		return error;
	for (size_t i = 0; i < input->comment_count; i++)
		put_comment(encoder, input->comments[i]);
	for (size_t i = 0; i < encoder->symbols.note_count; i++)
		put_comment(encoder, encoder->symbols.notes[i]);
	put_strings(encoder);
	error = writer_flush(&encoder->writer);
	return error ? error : encoder->strings.error;
}
