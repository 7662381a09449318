/* binary.h - what an ELF file holds that a heap profiler has to know. */
#ifndef MPROF_TOOLS_BINARY_H
#define MPROF_TOOLS_BINARY_H

#include <stdbool.h>

#define BINARY_ID_MAX 64 /* bytes of a build ID; SHA-1 has 20 */

struct binary {
	bool has_symbols;	/* .symtab */
	bool has_debug_info;	/* .debug_info */
	bool has_unwind_tables; /* .eh_frame covers most of its functions */
	bool is_go;
	bool exports_malloc; /* it defines malloc for everybody */
	const char *
		allocator; /* the one inside it, "jemalloc"; "another" for a malloc that is none of the known ones; NULL = none */
	const char *
		sanitizer; /* the one with a malloc of its own that it is built with, "AddressSanitizer"; NULL = none */
	char build_id[2 * BINARY_ID_MAX + 1]; /* lowercase hex; "" = it has none */
	char *debug_file;		      /* on this machine, for this build; NULL = there is none */
};

/* Look at a file. False when it cannot be read or is no ELF file; else binary_free is due. Ends the process when memory does. */
bool binary_read(struct binary *binary, const char *path);
void binary_free(struct binary *binary);

/* The sanitizer or the allocator whose shared library this is, by the file's name; NULL when it is neither. */
const char *binary_sanitizer_library(const char *path);
const char *binary_allocator_library(const char *path);

#endif
