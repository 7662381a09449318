/* test_decode.c - valid profiles are read and renumbered, everything else is refused with one line. */
#include "pprof/decode.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

typedef Perftools__Profiles__Profile Profile;

/* A small profile whose ids are neither dense nor sorted; each test breaks one thing in it. */
static char *strings[] = {"", "space", "bytes", "main", "/bin/app", "note"};
static Perftools__Profiles__ValueType type;
static Perftools__Profiles__Mapping mapping;
static Perftools__Profiles__Function function;
static Perftools__Profiles__Line line;
static Perftools__Profiles__Location locations[2];
static Perftools__Profiles__Label label;
static Perftools__Profiles__Sample sample;
static Profile profile;
static uint64_t stack[] = {900, 20};
static int64_t values[] = {42}, comments[] = {5};

static Perftools__Profiles__ValueType *types_at[] = {&type};
static Perftools__Profiles__Mapping *mappings_at[] = {&mapping};
static Perftools__Profiles__Function *functions_at[] = {&function};
static Perftools__Profiles__Line *lines_at[] = {&line};
static Perftools__Profiles__Location *locations_at[] = {&locations[0], &locations[1]};
static Perftools__Profiles__Label *labels_at[] = {&label};
static Perftools__Profiles__Sample *samples_at[] = {&sample};

static unsigned char packed[4096], compressed[4096];
static size_t packed_size, compressed_size;
static Profile *decoded;
static char error[200];

static void build(void)
{
	type = (Perftools__Profiles__ValueType)PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	type.type = 1;
	type.unit = 2;
	mapping = (Perftools__Profiles__Mapping)PERFTOOLS__PROFILES__MAPPING__INIT;
	mapping.id = 77;
	mapping.filename = 4;
	function = (Perftools__Profiles__Function)PERFTOOLS__PROFILES__FUNCTION__INIT;
	function.id = UINT64_MAX;
	function.name = 3;
	line = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
	line.function_id = UINT64_MAX;
	for (size_t i = 0; i < 2; i++) {
		locations[i] = (Perftools__Profiles__Location)PERFTOOLS__PROFILES__LOCATION__INIT;
		locations[i].id = stack[i];
		locations[i].address = 0x1000 + i;
	}
	locations[0].mapping_id = 77;
	locations[0].n_line = 1;
	locations[0].line = lines_at;
	label = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
	label.key = 2;
	label.num = 16;
	sample = (Perftools__Profiles__Sample)PERFTOOLS__PROFILES__SAMPLE__INIT;
	sample.n_location_id = 2;
	sample.location_id = stack;
	sample.n_value = 1;
	sample.value = values;
	sample.n_label = 1;
	sample.label = labels_at;
	profile = (Profile)PERFTOOLS__PROFILES__PROFILE__INIT;
	profile.n_sample_type = profile.n_mapping = profile.n_function = profile.n_sample = profile.n_comment = 1;
	profile.sample_type = types_at;
	profile.mapping = mappings_at;
	profile.function = functions_at;
	profile.n_location = 2;
	profile.location = locations_at;
	profile.sample = samples_at;
	profile.comment = comments;
	profile.n_string_table = 6;
	profile.string_table = strings;
}

static void pack(void)
{
	packed_size = perftools__profiles__profile__pack(&profile, packed);

	z_stream stream = {.next_in = packed, .avail_in = (uInt)packed_size};

	cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_out = compressed;
	stream.avail_out = sizeof(compressed);
	cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	compressed_size = stream.total_out;
	deflateEnd(&stream);
}

static void expect_decoded(void)
{
	cr_assert_eq(decoded->n_location, 2);
	cr_assert_eq(decoded->sample[0]->location_id[0], 1);
	cr_assert_eq(decoded->sample[0]->location_id[1], 2);

	const Perftools__Profiles__Location *leaf = decode_location(decoded, 1);

	cr_assert_eq(leaf->address, 0x1000);
	cr_assert_str_eq(decode_string(decoded, decode_mapping(decoded, leaf->mapping_id)->filename), "/bin/app");
	cr_assert_str_eq(decode_string(decoded, decode_function(decoded, leaf->line[0]->function_id)->name), "main");
	cr_assert_null(decode_mapping(decoded, decode_location(decoded, 2)->mapping_id));
	cr_assert_str_eq(decode_string(decoded, 0), "");
	decode_free(decoded);
}

static void expect_refused(const void *data, size_t n, const char *line_expected)
{
	memset(error, 'x', sizeof(error));
	cr_assert_eq(decode_memory(data, n, &decoded, error, sizeof(error)), -EBADMSG);
	cr_assert_str_eq(error, line_expected);
}

/* Pack the broken profile and expect this line. */
static void expect_invalid(const char *line_expected)
{
	pack();
	expect_refused(packed, packed_size, line_expected);
	build();
}

TestSuite(decode, .init = build);

Test(decode, plain_and_gzipped)
{
	pack();
	cr_assert_eq(decode_memory(packed, packed_size, &decoded, error, sizeof(error)), 0, "%s", error);
	expect_decoded();
	cr_assert_eq(decode_memory(compressed, compressed_size, &decoded, error, sizeof(error)), 0, "%s", error);
	expect_decoded();
}

Test(decode, file)
{
	char path[] = "/tmp/mprof-test-decode-XXXXXX";
	int fd = mkstemp(path);

	pack();
	cr_assert_eq(write(fd, compressed, compressed_size), (ssize_t)compressed_size);
	close(fd);
	cr_assert_eq(decode_file(path, &decoded, error, sizeof(error)), 0, "%s", error);
	expect_decoded();
	unlink(path);
	cr_assert_eq(decode_file(path, &decoded, error, sizeof(error)), -ENOENT);
	cr_assert_str_eq(error, "No such file or directory");
	cr_assert_eq(decode_file("/tmp", &decoded, error, sizeof(error)), -EISDIR);
}

Test(decode, bad_references)
{
	line.function_id = 5;
	expect_invalid("not a valid profile: function 5 is referred to but not there");
	line.function_id = 0;
	expect_invalid("not a valid profile: function 0 is referred to but not there");
	locations[1].mapping_id = 1;
	expect_invalid("not a valid profile: mapping 1 is referred to but not there");
	profile.n_location = 1;
	expect_invalid("not a valid profile: location 20 is referred to but not there");
	locations[1].id = locations[0].id;
	expect_invalid("not a valid profile: two locations have id 900");
	mapping.id = 0;
	expect_invalid("not a valid profile: a mapping has id 0");
	sample.n_value = 0;
	expect_invalid("not a valid profile: a sample has 0 values for 1 sample types");
}

Test(decode, bad_string_indices)
{
	int64_t *const indices[] = {
		&type.type,
		&type.unit,
		&mapping.filename,
		&mapping.build_id,
		&function.name,
		&function.filename,
		&label.key,
		&label.num_unit,
		&label.str,
		&profile.drop_frames,
		&profile.keep_frames,
		&profile.default_sample_type,
		&function.system_name,
		&comments[0],
	};

	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		*indices[i] = i % 2 ? 6 : -1;
		expect_invalid("not a valid profile: a string index is outside the string table");
		comments[0] = 5;
	}
	profile.n_string_table = 0;
	expect_invalid("not a profile: its string table does not start with \"\"");
}

Test(decode, not_a_profile)
{
	expect_refused("", 0, "not a profile: the file is empty");
	expect_refused("hello, world", 12, "not a profile: the protobuf encoding is broken");
	expect_refused("\x1f\x8b", 2, "the compressed data ends too early");
	expect_refused("\x1f\x8bgarbage garbage", 17, "the compressed data is broken");
	pack();
	compressed[compressed_size++] = 0;
	expect_refused(compressed, compressed_size, "there is something after the compressed data");
}

/* Cut anywhere, a gzipped profile is refused for being short; a plain one may happen to be valid, but must not crash. */
Test(decode, truncated_anywhere)
{
	pack();
	for (size_t n = 2; n < compressed_size; n++)
		expect_refused(compressed, n, "the compressed data ends too early");
	for (size_t n = 1; n < packed_size; n++)
		if (decode_memory(packed, n, &decoded, error, sizeof(error)) == 0)
			decode_free(decoded);
}

/* Each single changed byte is survived (the sanitizers watch), with an error line or a profile that is consistent. */
Test(decode, every_byte_changed)
{
	size_t refused = 0;

	pack();
	for (size_t i = 0; i < packed_size * 255; i++) {
		unsigned char *byte = &packed[i / 255], saved = *byte;

		*byte ^= (unsigned char)(i % 255 + 1);
		if (decode_memory(packed, packed_size, &decoded, error, sizeof(error)) == 0) {
			for (size_t k = 0; k < decoded->n_sample; k++)
				for (size_t j = 0; j < decoded->sample[k]->n_location_id; j++)
					cr_assert_not_null(
						decode_location(decoded, decoded->sample[k]->location_id[j]));
			decode_free(decoded);
		} else {
			refused++;
			cr_assert_null(strchr(error, '\n'));
		}
		*byte = saved;
	}
	cr_assert_gt(refused, packed_size * 255 / 2);
}

Test(decode, error_line_is_cut_to_its_buffer)
{
	char small[8];

	cr_assert_eq(decode_memory("", 0, &decoded, small, sizeof(small)), -EBADMSG);
	cr_assert_str_eq(small, "not a p");
}
