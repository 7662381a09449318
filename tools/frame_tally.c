/* frame_tally.c - what the frames of a profile lack. */
#include "tools/frame_tally.h"

#include <libiberty/libiberty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Mapping Mapping;

const char *frame_function(const Profile *profile, const Location *location)
{
	const Perftools__Profiles__Line *outermost = location->n_line > 0 ? location->line[location->n_line - 1] : NULL;

	if (outermost == NULL || outermost->function_id == 0)
		return "";
	return decode_string(profile, decode_function(profile, outermost->function_id)->name);
}

/* libmprof.so calls a function that it has no name for "libfoo.so+0x1234". */
static bool is_nameless(const char *name)
{
	const char *plus = strrchr(name, '+'), *digits;

	if (*name == '\0')
		return true;
	if (plus == NULL || strncmp(plus, "+0x", 3) != 0)
		return false;
	digits = plus + 3;
	return *digits != '\0' && digits[strspn(digits, "0123456789abcdef")] == '\0';
}

/* Where threads and programs start: a stack that reaches one of these is whole. */
static bool is_start(const char *name)
{
	static const char *const starts[] = {"_start",	       "main",	       "__libc_start_main",
					     "clone",	       "clone3",       "__clone",
					     "__clone3",       "start_thread", "_dl_start",
					     "_dl_start_user", "_dl_init",     "__libc_start_call_main"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0 && strchr("@", name[strlen(starts[i])]) != NULL)
			return true;
	return false;
}

/* Does it belong to what the C library does before it calls the program's code? Its local functions have no names without its debug file. */
static bool is_before_program(const Profile *profile, const Location *location)
{
	const char *name = frame_function(profile, location);
	const Mapping *mapping = decode_mapping(profile, location->mapping_id);
	const char *path = mapping != NULL ? decode_string(profile, mapping->filename) : "";

	return is_start(name) || (is_nameless(name) && strncmp(lbasename(path), "libc.so", 7) == 0);
}

static void tally_frame(struct frame_tally *tally, const Profile *profile, const Location *location)
{
	struct frame_counts *counts = &tally->mappings[location->mapping_id];

	tally->frames++;
	counts->frames++;
	counts->nameless += is_nameless(frame_function(profile, location));
	counts->lineless += location->n_line == 0 || location->line[0]->line == 0;
}

/* Without names it cannot be told whether a stack is whole, but for code that is in no file: nothing starts there. */
static void tally_end(struct frame_tally *tally, const Profile *profile, const Location *outermost)
{
	const char *name = frame_function(profile, outermost);
	const Mapping *mapping = decode_mapping(profile, outermost->mapping_id);
	bool in_file = mapping != NULL && decode_string(profile, mapping->filename)[0] != '[';

	if (is_start(name) || strcmp(name, FRAME_OTHER) == 0 || (is_nameless(name) && in_file))
		return;
	tally->cut++;
	tally->mappings[outermost->mapping_id].cut++;
}

static void tally_sample(struct frame_tally *tally, const Profile *profile, const Sample *sample)
{
	size_t n = sample->n_location_id;

	if (n == 0)
		return;
	tally_end(tally, profile, decode_location(profile, sample->location_id[n - 1]));
	if (is_nameless(frame_function(profile, decode_location(profile, sample->location_id[n - 1]))))
		n--; /* _start, as far as can be told */
	while (n > 0 && is_before_program(profile, decode_location(profile, sample->location_id[n - 1])))
		n--;
	for (size_t i = 0; i < n; i++)
		tally_frame(tally, profile, decode_location(profile, sample->location_id[i]));
}

void frame_tally_init(struct frame_tally *tally, const Profile *profile)
{
	*tally = (struct frame_tally){.mappings = xcalloc(profile->n_mapping + 1, sizeof *tally->mappings)};
	for (size_t i = 0; i < profile->n_sample; i++)
		tally_sample(tally, profile, profile->sample[i]);
}

void frame_tally_free(struct frame_tally *tally)
{
	free(tally->mappings);
}
