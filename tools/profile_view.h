/* profile_view.h - a profile added up by function: what `mprof top` shows. */
#ifndef MPROF_TOOLS_PROFILE_VIEW_H
#define MPROF_TOOLS_PROFILE_VIEW_H

#include "pprof/decode.h"
#include "tools/error.h"

#include <stddef.h>
#include <stdint.h>

/* Everything the profile says of one name. Functions of the same name are one, in whatever module or file they are. */
struct view_function {
	char *name;   /* demangled; "[module]" for frames without a function, "<unknown>" without a module too */
	int64_t flat; /* of the samples whose leaf this is */
	int64_t cum;  /* of the samples it is in at all, each counted once however often it recurs */
	struct error flat_error, cum_error;
};

struct profile_view {
	struct view_function *functions; /* largest flat first, then largest cum, then by name; no all-zero ones */
	size_t count;
	int64_t total; /* sum of every sample's magnitude, also of samples without frames */
	struct error total_error;
	struct error_model model; /* what the errors rest on */
};

/* The index of the sample type of this name ("inuse_space"); for NULL of the one the profile says is its default, else the last one, as other
 * readers do. -1 when there is none. */
int profile_view_type(const Perftools__Profiles__Profile *profile, const char *name);

/* Add up the values of one sample type. Ends the process when memory does. */
void profile_view_init(struct profile_view *view, const Perftools__Profiles__Profile *profile, int type);
void profile_view_free(struct profile_view *view);

/* The total of one sample type alone, cheaply. */
int64_t profile_view_total(const Perftools__Profiles__Profile *profile, int type);

/* The base name of the program that was profiled, "" when the profile does not say. */
const char *profile_view_program(const Perftools__Profiles__Profile *profile);

#endif
