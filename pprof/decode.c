/* decode.c - a pprof profile read back from a file, for the tools. Uses malloc: never part of libmprof.so. */
#include "pprof/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Nothing a profiler writes comes near this; it bounds what a small hostile file can make of itself. */
#define MAX_BYTES ((size_t)1 << 30)

/* Where the one line that says what is wrong goes. */
struct problem {
	char *text;
	size_t cap;
};

__attribute__((format(printf, 3, 4))) static int fail(const struct problem *problem, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, problem->cap, format, args);
	va_end(args);
	return code;
}

/* --- references ------------------------------------------------------------------------------------------------- */

/* The ids of one kind of object, as the writer chose them, and where the objects are. */
struct id_entry {
	uint64_t id;
	uint64_t position; /* in file order, from 1: the new id */
};

struct id_map {
	const char *kind;	  /* "location", ... */
	struct id_entry *entries; /* sorted by id */
	size_t count;
};

static int compare_entries(const void *a, const void *b)
{
	uint64_t left = ((const struct id_entry *)a)->id, right = ((const struct id_entry *)b)->id;

	return (left > right) - (left < right);
}

/* Sort a map whose ids are filled in and refuse ids that are 0 or not unique. */
static int finish_map(struct id_map *map, const struct problem *problem)
{
	qsort(map->entries, map->count, sizeof(*map->entries), compare_entries);
	for (size_t i = 0; i < map->count; i++) {
		if (map->entries[i].id == 0)
			return fail(problem, -EBADMSG, "not a valid profile: a %s has id 0", map->kind);
		if (i > 0 && map->entries[i].id == map->entries[i - 1].id)
			return fail(problem, -EBADMSG, "not a valid profile: two %ss have id %" PRIu64, map->kind,
				    map->entries[i].id);
	}
	return 0;
}

/* Replace an id of the writer's by the new one. */
static int renumber(const struct id_map *map, uint64_t *id, const struct problem *problem)
{
	const struct id_entry key = {.id = *id};
	const struct id_entry *found = bsearch(&key, map->entries, map->count, sizeof(key), compare_entries);

	if (!found)
		return fail(problem, -EBADMSG, "not a valid profile: %s %" PRIu64 " is referred to but not there",
			    map->kind, *id);
	*id = found->position;
	return 0;
}

/* Make a map of an array of messages that have an id, and give them their new ids. A macro, as the types differ. */
#define MAP_IDS(map, name, objects, object_count) \
	do { \
		(map)->kind = (name); \
		(map)->count = (object_count); \
		(map)->entries = calloc((object_count) + 1, sizeof(*(map)->entries)); \
		for (size_t i = 0; (map)->entries && i < (object_count); i++) { \
			(map)->entries[i] = (struct id_entry){(objects)[i]->id, i + 1}; \
			(objects)[i]->id = i + 1; \
		} \
	} while (0)

struct id_maps {
	struct id_map locations, functions, mappings;
};

static int make_maps(struct id_maps *maps, Perftools__Profiles__Profile *profile, const struct problem *problem)
{
	MAP_IDS(&maps->locations, "location", profile->location, profile->n_location);
	MAP_IDS(&maps->functions, "function", profile->function, profile->n_function);
	MAP_IDS(&maps->mappings, "mapping", profile->mapping, profile->n_mapping);
	if (!maps->locations.entries || !maps->functions.entries || !maps->mappings.entries)
		return fail(problem, -ENOMEM, "not enough memory for this profile");

	int error = finish_map(&maps->locations, problem);

	if (!error)
		error = finish_map(&maps->functions, problem);
	return error ? error : finish_map(&maps->mappings, problem);
}

static int renumber_sample(const struct id_maps *maps, const Perftools__Profiles__Sample *sample, size_t value_count,
			   const struct problem *problem)
{
	int error = 0;

	if (sample->n_value != value_count)
		return fail(problem, -EBADMSG, "not a valid profile: a sample has %zu values for %zu sample types",
			    sample->n_value, value_count);
	for (size_t i = 0; i < sample->n_location_id && !error; i++)
		error = renumber(&maps->locations, &sample->location_id[i], problem);
	return error;
}

static int renumber_location(const struct id_maps *maps, Perftools__Profiles__Location *location,
			     const struct problem *problem)
{
	int error = location->mapping_id ? renumber(&maps->mappings, &location->mapping_id, problem) : 0;

	for (size_t i = 0; i < location->n_line && !error; i++)
		error = renumber(&maps->functions, &location->line[i]->function_id, problem);
	return error;
}

static int renumber_all(Perftools__Profiles__Profile *profile, const struct problem *problem)
{
	struct id_maps maps = {0};
	int error = make_maps(&maps, profile, problem);

	for (size_t i = 0; i < profile->n_sample && !error; i++)
		error = renumber_sample(&maps, profile->sample[i], profile->n_sample_type, problem);
	for (size_t i = 0; i < profile->n_location && !error; i++)
		error = renumber_location(&maps, profile->location[i], problem);
	free(maps.locations.entries);
	free(maps.functions.entries);
	free(maps.mappings.entries);
	return error;
}

/* --- strings ---------------------------------------------------------------------------------------------------- */

static bool is_string(const Perftools__Profiles__Profile *profile, int64_t index)
{
	return index >= 0 && (uint64_t)index < profile->n_string_table;
}

static bool sample_strings_ok(const Perftools__Profiles__Profile *profile, const Perftools__Profiles__Sample *sample)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		const Perftools__Profiles__Label *label = sample->label[i];

		if (!is_string(profile, label->key) || !is_string(profile, label->str) ||
		    !is_string(profile, label->num_unit))
			return false;
	}
	return true;
}

/* Does every string index refer to a string? */
static bool strings_ok(const Perftools__Profiles__Profile *p)
{
	bool ok = is_string(p, p->drop_frames) && is_string(p, p->keep_frames) && is_string(p, p->default_sample_type);

	if (p->period_type)
		ok = ok && is_string(p, p->period_type->type) && is_string(p, p->period_type->unit);
	for (size_t i = 0; i < p->n_sample_type && ok; i++)
		ok = is_string(p, p->sample_type[i]->type) && is_string(p, p->sample_type[i]->unit);
	for (size_t i = 0; i < p->n_comment && ok; i++)
		ok = is_string(p, p->comment[i]);
	for (size_t i = 0; i < p->n_mapping && ok; i++)
		ok = is_string(p, p->mapping[i]->filename) && is_string(p, p->mapping[i]->build_id);
	for (size_t i = 0; i < p->n_function && ok; i++)
		ok = is_string(p, p->function[i]->name) && is_string(p, p->function[i]->system_name) &&
		     is_string(p, p->function[i]->filename);
	for (size_t i = 0; i < p->n_sample && ok; i++)
		ok = sample_strings_ok(p, p->sample[i]);
	return ok;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static int unpack(const void *data, size_t n, Perftools__Profiles__Profile **result, const struct problem *problem)
{
	Perftools__Profiles__Profile *profile = perftools__profiles__profile__unpack(NULL, n, data);
	int error;

	if (!profile)
		return fail(problem, -EBADMSG, "not a profile: the protobuf encoding is broken");
	if (profile->n_string_table == 0 || profile->string_table[0][0] != '\0')
		error = fail(problem, -EBADMSG, "not a profile: its string table does not start with \"\"");
	else if (!strings_ok(profile))
		error = fail(problem, -EBADMSG, "not a valid profile: a string index is outside the string table");
	else
		error = renumber_all(profile, problem);
	if (error)
		decode_free(profile);
	else
		*result = profile;
	return error;
}

/* A buffer that grows by doubling, up to MAX_BYTES. */
struct growing {
	unsigned char *at;
	size_t used, cap;
};

static int make_room(struct growing *buf, const struct problem *problem)
{
	size_t cap = buf->cap ? buf->cap * 2 : (size_t)1 << 16;

	if (buf->used < buf->cap)
		return 0;
	if (cap > MAX_BYTES)
		return fail(problem, -EFBIG, "too large for a profile: more than %zu MiB", MAX_BYTES >> 20);

	unsigned char *larger = realloc(buf->at, cap);

	if (!larger)
		return fail(problem, -ENOMEM, "not enough memory for this profile");
	buf->at = larger;
	buf->cap = cap;
	return 0;
}

static int inflate_into(struct growing *plain, z_stream *stream, const struct problem *problem)
{
	int status = Z_OK;

	while (status != Z_STREAM_END) {
		int error = make_room(plain, problem);

		if (error)
			return error;
		stream->next_out = plain->at + plain->used;
		stream->avail_out = (uInt)(plain->cap - plain->used);
		status = inflate(stream, Z_NO_FLUSH);
		plain->used = plain->cap - stream->avail_out;
		if (status == Z_BUF_ERROR)
			return fail(problem, -EBADMSG, "the compressed data ends too early");
		if (status != Z_OK && status != Z_STREAM_END)
			return fail(problem, -EBADMSG, "the compressed data is broken");
	}
	return stream->avail_in ? fail(problem, -EBADMSG, "there is something after the compressed data") : 0;
}

static int unpack_gzip(const void *data, size_t n, Perftools__Profiles__Profile **profile,
		       const struct problem *problem)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)n}; /* zlib reads it only */
	struct growing plain = {0};

	if (n > MAX_BYTES)
		return fail(problem, -EFBIG, "too large for a profile: more than %zu MiB", MAX_BYTES >> 20);
	if (inflateInit2(&stream, 15 + 16) != Z_OK) /* any window; gzip (zlib.h) */
		return fail(problem, -ENOMEM, "not enough memory for this profile");

	int error = inflate_into(&plain, &stream, problem);

	inflateEnd(&stream);
	if (!error)
		error = unpack(plain.at, plain.used, profile, problem);
	free(plain.at);
	return error;
}

int decode_memory(const void *data, size_t n, Perftools__Profiles__Profile **profile, char *error, size_t error_cap)
{
	const struct problem problem = {error, error_cap};
	const unsigned char *bytes = data;

	if (n == 0)
		return fail(&problem, -EBADMSG, "not a profile: the file is empty");
	if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) /* RFC 1952 */
		return unpack_gzip(data, n, profile, &problem);
	return unpack(data, n, profile, &problem);
}

/* Read all there is; not by size, so that a pipe will do. */
static int read_all(int fd, struct growing *file, const struct problem *problem)
{
	for (;;) {
		int error = make_room(file, problem);

		if (error)
			return error;

		ssize_t got = read(fd, file->at + file->used, file->cap - file->used);

		if (got < 0)
			return fail(problem, -errno, "%s", strerror(errno));
		if (got == 0)
			return 0;
		file->used += (size_t)got;
	}
}

int decode_file(const char *path, Perftools__Profiles__Profile **profile, char *error, size_t error_cap)
{
	const struct problem problem = {error, error_cap};
	struct growing file = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(&problem, -errno, "%s", strerror(errno));

	int status = read_all(fd, &file, &problem);

	close(fd);
	if (!status)
		status = decode_memory(file.at, file.used, profile, error, error_cap);
	free(file.at);
	return status;
}

void decode_free(Perftools__Profiles__Profile *profile)
{
	if (profile)
		perftools__profiles__profile__free_unpacked(profile, NULL);
}

const char *decode_string(const Perftools__Profiles__Profile *profile, int64_t index)
{
	return profile->string_table[index];
}

const Perftools__Profiles__Location *decode_location(const Perftools__Profiles__Profile *profile, uint64_t id)
{
	return profile->location[id - 1];
}

const Perftools__Profiles__Function *decode_function(const Perftools__Profiles__Profile *profile, uint64_t id)
{
	return profile->function[id - 1];
}

const Perftools__Profiles__Mapping *decode_mapping(const Perftools__Profiles__Profile *profile, uint64_t id)
{
	return id ? profile->mapping[id - 1] : NULL;
}
