/* symbolizer_file.h - a profile in a file, given source lines. */
#ifndef MPROF_TOOLS_SYMBOLIZER_FILE_H
#define MPROF_TOOLS_SYMBOLIZER_FILE_H

#include "tools/symbolizer.h"

#include <stddef.h>

/* Symbolize the profile in file `in` and write it to `out`, which may be the same: it is replaced at once, as a whole. On error returns a
 * negative errno and puts one line that says what is wrong, with the path, into error[0..cap); `out` is then as it was.
 * Context: as symbolizer_run. */
int symbolizer_file(const char *in, const char *out, const struct symbolizer_options *options,
		    struct symbolizer_result *result, char *error, size_t cap);

#endif
