/* decode.h - a pprof profile read back from a file, for the tools. Uses malloc: never part of libmprof.so. */
#ifndef MPROF_PPROF_DECODE_H
#define MPROF_PPROF_DECODE_H

#include "pprof/profile.pb-c.h"

#include <stddef.h>

/* Read a profile, gzipped or plain, and check it: every id and string index it holds refers to something that is
 * there. Ids of locations, functions and mappings are renumbered to 1..N in file order, whatever the writer used.
 * `*profile` is then freed with decode_free. On error returns a negative errno (-EBADMSG: not a valid profile) and
 * puts one line (no newline, without the path) that says what is wrong into error[0..error_cap).
 * Context: one thread; uses malloc and files. */
int decode_file(const char *path, Perftools__Profiles__Profile **profile, char *error, size_t error_cap);

/* The same from memory. */
int decode_memory(const void *data, size_t n, Perftools__Profiles__Profile **profile, char *error, size_t error_cap);

void decode_free(Perftools__Profiles__Profile *profile);

/* A string of the profile; "" for index 0. */
const char *decode_string(const Perftools__Profiles__Profile *profile, int64_t index);

/* Look-ups by id (checked at decode time, so never NULL for an id found in the profile; mapping 0 gives NULL). */
const Perftools__Profiles__Location *decode_location(const Perftools__Profiles__Profile *profile, uint64_t id);
const Perftools__Profiles__Function *decode_function(const Perftools__Profiles__Profile *profile, uint64_t id);
const Perftools__Profiles__Mapping *decode_mapping(const Perftools__Profiles__Profile *profile, uint64_t id);

#endif
