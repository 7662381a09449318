/* dwarf_names.h - what functions are called and where they are declared, from their debug information. */
#ifndef MPROF_TOOLS_DWARF_NAMES_H
#define MPROF_TOOLS_DWARF_NAMES_H

#include <elfutils/libdw.h>

struct dwarf_names;

/* One function: all its inlined copies and its own code share it. */
struct dwarf_name {
	char *name; /* readable: demangled, or qualified by what encloses it: "ns::f", "(anonymous namespace)::f" */
	const char *system_name; /* for the linker (mangled); the plain name where there is none */
	const char *file;	 /* declared in; NULL = unknown */
	int line;		 /* declared at; 0 = unknown */
};

/* The names of one file's functions, kept as they are asked for. They last, like what libdw gives, until dwarf_names_free; the Dwarf must last
 * longer. Context, here and below: the process ends when memory does. */
struct dwarf_names *dwarf_names_new(void);
void dwarf_names_free(struct dwarf_names *names);

/* The function that a DW_TAG_subprogram or DW_TAG_inlined_subroutine is of; NULL when it has no name.
 * Source: DWARF 5, 3.3.8 "Inlinable and Inlined Subroutines". */
const struct dwarf_name *dwarf_names_of(struct dwarf_names *names, Dwarf_Die *function);

#endif
