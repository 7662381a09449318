/* totals.h - the live bytes of a profile beside the allocator's own figure: do they add up? */
#ifndef MPROF_TOOLS_TOTALS_H
#define MPROF_TOOLS_TOTALS_H

#include "pprof/decode.h"
#include "tools/error.h"

#include <stdint.h>

/* From the comment `totals: requested_bytes=R allocated_bytes=A jemalloc_allocated_bytes=J`, written with the profile,
 * and from its samples. A figure the comment does not give is -1. */
struct totals {
	struct error_model model;
	double samples;		/* live sampled objects */
	int64_t requested;	/* estimate: what the program asked for */
	double requested_error; /* its standard error */
	int64_t allocated;	/* estimate: the size classes those objects fill */
	double allocated_error;
	int64_t homes;	 /* what sampled objects that start pages take beyond their size classes; exact */
	int64_t counted; /* by jemalloc: stats.allocated less the free blocks in threads' caches; exact */
};

/* Returns 0, -ENOTSUP (no inuse_space in the profile) or -ENOMSG (no such comment). */
int totals_read(struct totals *totals, const Perftools__Profiles__Profile *profile);

/* What jemalloc counted and the estimate does not explain; 0 when jemalloc's figure is missing. */
int64_t totals_difference(const struct totals *totals);

void totals_print(const struct totals *totals);

/* The size class of an object: bytes it occupies in jemalloc 5 with 4 KiB pages and 16-byte quanta.
 * Source: jemalloc(3), "Size classes". */
uint64_t totals_size_class(uint64_t size);

/* The same for an object that starts a page. */
uint64_t totals_page_class(uint64_t size);

#endif
