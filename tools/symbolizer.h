/* symbolizer.h - source files, lines and inlined calls for the locations of a profile, from debug information (elfutils' libdw). */
#ifndef MPROF_TOOLS_SYMBOLIZER_H
#define MPROF_TOOLS_SYMBOLIZER_H

#include "pprof/decode.h"

#include <stdbool.h>
#include <stddef.h>

struct symbolizer_options {
	const char *
		binary_path; /* directories to look for programs, libraries and debug files in, by colons; NULL = none */
	const char *sysroot; /* where the paths of the profile begin; NULL = "/" */
	int pid;	     /* the process that was profiled: its root directory and its perf map; 0 = not given */
	bool progress;	     /* show a bar on stderr when it is a terminal and this takes long */
};

struct symbolizer_result {
	size_t addresses;  /* that lie in files */
	size_t with_lines; /* that have a source line now */
	size_t warnings; /* files that are not there, or not those that were profiled; each was told in one line on stderr */
	char lacking[256]; /* base names of the modules without debug information, with commas; as many as fit */
};

/* Does no mapping of the profile have line numbers yet? */
bool symbolizer_needed(const Perftools__Profiles__Profile *profile);

/* Give the locations of the profile what debug information says of them, in place: of each address the inlined functions, innermost first,
 * and the function they were inlined into, with files and lines. Names that the profile has for functions of the symbol table stay. An
 * address that nothing is known of, or whose file is not the one profiled, keeps what it has. Code without a file gets the names of the
 * process's perf map. A second time changes nothing.
 * Files are judged by build ID; without one a file must be older than the profile.
 * Context: one thread; opens one module at a time. Ends the process when memory does. */
void symbolizer_run(Perftools__Profiles__Profile *profile, const struct symbolizer_options *options,
		    struct symbolizer_result *result);

/* Say on stderr in one line how many addresses have lines and which modules have no debug information; nothing when all have. */
void symbolizer_report(const struct symbolizer_result *result);

#endif
