/* module.h - the loaded objects that captured frames belong to, remembered for the life of the process. */
#ifndef MPROF_CORE_MODULE_H
#define MPROF_CORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_NONE 0U	   /* id: the address belongs to no loaded object (JIT code, a stray value) */
#define MODULE_MAX 4096U   /* ids are 1..MODULE_MAX - 1; past that frames get MODULE_NONE */
#define MODULE_SEGMENTS 4U /* executable PT_LOADs kept per module */
#define MODULE_BUILD_ID_MAX 32U

/* One executable PT_LOAD as mapped: [start, limit) with limit rounded up to a page. */
struct module_segment {
	uintptr_t start; /* load bias + p_vaddr */
	uintptr_t limit; /* start + p_memsz, rounded up to 4096 */
	uint64_t offset; /* p_offset */
};

/* Immutable once published. */
struct module {
	unsigned id;
	uintptr_t start, end;  /* whole span of the object's mappings */
	uintptr_t bias;	       /* load bias: address = bias + ELF p_vaddr/st_value */
	const char *path;      /* absolute where the loader knew it so; "[vdso]" for the vdso; never NULL */
	const char *open_path; /* what to open for its file: "/proc/self/exe" for the program, else path */
	unsigned char build_id[MODULE_BUILD_ID_MAX];
	unsigned build_id_size; /* bytes; 0 = the object has none */
	/* For want of a build ID, what tells one version of the object from another: the start of its .eh_frame, a copy. */
	const unsigned char *tables;
	unsigned tables_size;	/* bytes; 0 = it has none of these either */
	uint64_t tables_offset; /* where they are in its file */
	unsigned segment_count;
	struct module_segment segments[MODULE_SEGMENTS];
	const void *image; /* in-memory ELF image when there is no file (vdso), else NULL */
};

struct arena;

/* Remember where module records are allocated and register the main program as id 1. `self` is any address inside the
 * profiler's own object. Call once before module_of. */
void module_init(struct arena *arena, const void *self);

/* The id of the loaded object that pc is in now, registering it when it is new; MODULE_NONE when there is none.
 * Context: any thread, any signal handler; lock-free (glibc's _dl_find_object, since 2.35); no allocation but from the arena. */
unsigned module_of(uintptr_t pc);

/* The same as a record, or NULL: module_of without a further look-up. */
const struct module *module_at(uintptr_t pc);

/* The record of an id from module_of; NULL for MODULE_NONE. Valid for the life of the process. */
const struct module *module_get(unsigned id);

/* The id of the profiler's own object (its frames are left out of stacks). */
unsigned module_self(void);

/* Number of ids given out so far, plus one: valid ids are 1..module_count() - 1. */
unsigned module_count(void);

#endif
