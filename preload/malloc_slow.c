/* malloc_slow.c - the cold half of posix_memalign, which is that of aligned_alloc with errors as POSIX has them. */
#include "preload/profiler.h"
#include "preload/sampled.h"

#include <errno.h>

COLD int sampled_posix_memalign(void **result, size_t alignment, size_t size)
{
	int saved = errno;
	void *ptr = sampled_aligned(alignment, size);

	errno = saved; /* POSIX: the error is the return value */
	if (ptr == NULL)
		return ENOMEM;
	*result = ptr;
	return 0;
}
