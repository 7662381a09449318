/* jemalloc.h - the embedded jemalloc's functions, under the names the Makefile gives them (preload/jemalloc.syms). */
#ifndef MPROF_PRELOAD_JEMALLOC_H
#define MPROF_PRELOAD_JEMALLOC_H

#include <stddef.h>

/* Meaning as in jemalloc(3). JE_ALIGN and JE_ZERO are its MALLOCX_ALIGN and MALLOCX_ZERO. */
void *je_malloc(size_t size);
void *je_calloc(size_t count, size_t size);
void *je_realloc(void *ptr, size_t size);
int je_posix_memalign(void **result, size_t alignment, size_t size);
void *je_aligned_alloc(size_t alignment, size_t size);
void je_free(void *ptr);
size_t je_malloc_usable_size(void *ptr);
void *je_mallocx(size_t size, int flags);
void je_sdallocx(void *ptr, size_t size, int flags);
size_t je_nallocx(size_t size, int flags);
int je_mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size);

#define JE_ALIGN(alignment) (__builtin_ctzl(alignment))
#define JE_ZERO 0x40

#endif
