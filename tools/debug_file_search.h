/* debug_file_search.h - where a program, a library or its debug file may be. */
#ifndef MPROF_TOOLS_DEBUG_FILE_SEARCH_H
#define MPROF_TOOLS_DEBUG_FILE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is looked for, and below which directories. */
struct debug_file_search {
	const char *path;	 /* as the profile has it */
	const char *build_id;	 /* lowercase hex; "" = it has none */
	const char *binary_path; /* directories by colons; NULL = none */
	const char *sysroot;	 /* "" = the root */
};

/* Judge one place; true ends the search. */
typedef bool debug_file_try(void *context, const char *path);

/* Try the places of the file itself. Of each directory of the binary path: DIR/BUILDID/name, DIR/name and DIR with the whole path; then the
 * path. Returns whether one was taken. Context, here and below: the process ends when memory does. */
bool debug_file_search_binary(const struct debug_file_search *search, debug_file_try *try, void *context);

/* The same for its debug file by build ID: xx/yyyy.debug and .build-id/xx/yyyy.debug in each directory of the binary path, then below
 * /usr/lib/debug. */
bool debug_file_search_build_id(const struct debug_file_search *search, debug_file_try *try, void *context);

/* And by the name in .gnu_debuglink: in the directories of the binary path; beside the file, in .debug beside it, and below /usr/lib/debug,
 * all under the sysroot.
 * Source: GDB manual, "Debugging Information in Separate Files". */
bool debug_file_search_link(const struct debug_file_search *search, const char *link, debug_file_try *try,
			    void *context);

/* Any other absolute path under the sysroot. */
bool debug_file_search_path(const struct debug_file_search *search, const char *path, debug_file_try *try,
			    void *context);

#endif
