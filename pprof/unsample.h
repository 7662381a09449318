/* unsample.h - from raw sampled counts to estimates of what the program really allocated. */
#ifndef MPROF_PPROF_UNSAMPLE_H
#define MPROF_PPROF_UNSAMPLE_H

#include <stdint.h>

struct estimate {
	int64_t objects;
	int64_t bytes;
};

/* Scale `count` sampled objects of `bytes` bytes in all, sampled at a mean of `rate` bytes, to the expected true
 * numbers. An object of size s is sampled with probability 1 - exp(-s / rate), so each stands for the inverse of
 * that. count == 0 or bytes == 0 gives {0, 0}; rate <= 1 gives the input; products are truncated to int64.
 * Context: pure; any thread, any signal handler.
 * Source: Go, runtime/pprof, scaleHeapSample; the same arithmetic in double precision, so that values agree to the
 * unit. */
struct estimate unsample(uint64_t count, uint64_t bytes, uint64_t rate);

#endif
