/* symbolizer_place.h - the locations of a profile by the file they are in, and the names they have already. */
#ifndef MPROF_TOOLS_SYMBOLIZER_PLACE_H
#define MPROF_TOOLS_SYMBOLIZER_PLACE_H

#include "pprof/decode.h"
#include "tools/debug_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer_place {
	Perftools__Profiles__Location *location;
	size_t file;	  /* equal for mappings of the same file; 0 = not in a file */
	uint64_t address; /* of the location; after symbolizer_places_locate the one in the file */
	char *elf_name;	  /* of the symbol table, for a location that had no name; NULL = none. To be freed. */
};

struct symbolizer_places {
	struct symbolizer_place *places; /* sorted by file, then by address */
	size_t count;
};

/* All locations of a profile. Context, here and below: the process ends when memory does. */
struct symbolizer_places symbolizer_places_list(const Perftools__Profiles__Profile *profile);
void symbolizer_places_free(struct symbolizer_places *places);

/* Turn the addresses of one file's places into those of the file as it was linked, and sort them again. Returns how many could be, which
 * come first: a strange profile has addresses outside their mappings, or mappings of what is no code. */
size_t symbolizer_places_locate(const Perftools__Profiles__Profile *profile, const struct debug_file *file,
				struct symbolizer_place *places, size_t count);

/* Find in the symbol table of the file at `path` the names of those places that have none. */
void symbolizer_places_name(const Perftools__Profiles__Profile *profile, const char *path, const char *build_id,
			    struct symbolizer_place *places, size_t count);

/* What the function whose code it is is called. */
struct symbolizer_name {
	char *name; /* readable; "" = none */
	char *system_name;
};

/* The name that a place has in the profile, or in the symbol table. Where the profile has but a placeholder ("libfoo.so+0x1234") that is
 * taken for none when there is a better name to come. To be freed with symbolizer_name_free. */
struct symbolizer_name symbolizer_place_name(const Perftools__Profiles__Profile *profile,
					     const struct symbolizer_place *place, bool better_to_come);
void symbolizer_name_free(struct symbolizer_name *name);

/* Has the place a name in the profile that is no placeholder? */
bool symbolizer_place_is_named(const Perftools__Profiles__Profile *profile, const struct symbolizer_place *place);

#endif
