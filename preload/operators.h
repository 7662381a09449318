/* operators.h - C++'s operator new and delete under their mangled names. */
#ifndef MPROF_PRELOAD_OPERATORS_H
#define MPROF_PRELOAD_OPERATORS_H

#include <stddef.h>

/* Names: Itanium C++ ABI, 5.1 "External Names": nw/na = new/new[], dl/da = delete/delete[], m = size_t. */
void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t size, size_t alignment);
void *_ZnamSt11align_val_t(size_t size, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void *nothrow);
void _ZdlPv(void *ptr);
void _ZdaPv(void *ptr);
void _ZdlPvm(void *ptr, size_t size);
void _ZdaPvm(void *ptr, size_t size);
void _ZdlPvRKSt9nothrow_t(void *ptr, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *ptr, const void *nothrow);
void _ZdlPvSt11align_val_t(void *ptr, size_t alignment);
void _ZdaPvSt11align_val_t(void *ptr, size_t alignment);
void _ZdlPvmSt11align_val_t(void *ptr, size_t size, size_t alignment);
void _ZdaPvmSt11align_val_t(void *ptr, size_t size, size_t alignment);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t alignment, const void *nothrow);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *ptr, size_t alignment, const void *nothrow);

#endif
