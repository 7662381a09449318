/* symbols.h - the functions that a profile's locations lie in. */
#ifndef MPROF_PPROF_SYMBOLS_H
#define MPROF_PPROF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct locations;

/* One function; locations in the same one share it. */
struct symbol {
	const char *name;     /* mangled; where unknown a placeholder, "libfoo.so+0x1234" */
	uint64_t function_id; /* Function.id; 0 = not written yet */
	bool allocator;	      /* malloc's family or operator new: no reader wants to see it at the leaf */
};

struct symbols {
	const char **notes; /* lines for the user: which modules' names are left out and why */
	size_t note_count;
};

/* Give each location its symbol. Opens the files of all modules, one after the other. Returns 0 or -ENOMEM. */
int symbols_find(struct symbols *symbols, struct locations *locations, struct arena *scratch);

/* Is this (mangled) name one of malloc's family or an operator new? */
bool symbols_is_allocator(const char *name);

#endif
