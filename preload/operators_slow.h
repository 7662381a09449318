/* operators_slow.h - C++'s operator new and delete: the cold half, and what is left to libstdc++ or to the program. */
#ifndef MPROF_PRELOAD_OPERATORS_SLOW_H
#define MPROF_PRELOAD_OPERATORS_SLOW_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program has a basic form of its own, and its deletes, or NULL. Set at load. */
extern __attribute__((visibility("hidden"))) bool operators_replaced;
extern __attribute__((visibility("hidden"))) void (*operators_program_delete)(void *ptr);
extern __attribute__((visibility("hidden"))) void (*operators_program_delete_aligned)(void *ptr, size_t alignment);

/* Find out. Call once, from the constructor. */
void operators_init(void);

/* Call the definition of operator `name` that would be used without ours: libstdc++'s runs the new-handler, tries again, and throws
 * std::bad_alloc or, of the nothrow forms, returns NULL. */
void *operators_next_plain(const char *name, size_t size);
void *operators_next_nothrow(const char *name, size_t size, const void *nothrow);
void *operators_next_aligned(const char *name, size_t size, size_t alignment);
void *operators_next_aligned_nothrow(const char *name, size_t size, size_t alignment, const void *nothrow);

/* Operator `name` for an allocation that is to be judged. Context: any thread. */
void *operators_new_slow(const char *name, size_t size);
void *operators_new_nothrow_slow(const char *name, size_t size, const void *nothrow);
void *operators_new_aligned_slow(const char *name, size_t size, size_t alignment);
void *operators_new_aligned_nothrow_slow(const char *name, size_t size, size_t alignment, const void *nothrow);

#endif
