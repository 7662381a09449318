/* elf_names.h - function names for addresses, from the ELF symbol tables of the modules they lie in. */
#ifndef MPROF_PPROF_ELF_NAMES_H
#define MPROF_PPROF_ELF_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct module;

/* What is known of one address; the caller fills `address`, elf_names_find the rest. */
struct elf_name {
	uintptr_t address; /* runtime address */
	const char *name;  /* mangled, NUL-terminated, in scratch memory; NULL = unknown */
	uintptr_t start;   /* runtime address where the function starts; 0 = unknown */
};

enum elf_names_result {
	ELF_NAMES_OK,	    /* the file was read (some addresses may still have no name) */
	ELF_NAMES_NO_FILE,  /* it cannot be opened, or is no ELF file of this machine */
	ELF_NAMES_MISMATCH, /* another build ID than what was loaded: names would be wrong, none are given */
	ELF_NAMES_NO_MEMORY,
};

/* Find the function each address lies in. `names` holds `count` entries of one module, sorted by address. Reads the
 * symbol table (.symtab, else that of the separate debug file /usr/lib/debug/.build-id/xx/yyyy.debug, else .dynsym,
 * which knows only what the module exports) straight through once; memory is used only for the names found. Where
 * several symbols cover an address a global one is preferred to a weak one and that to a local one.
 * Context: any thread, any signal handler: no malloc, no lock; opens and closes one descriptor at a time. */
enum elf_names_result elf_names_find(const struct module *module, struct elf_name *names, size_t count,
				     struct arena *scratch);

#endif
