/* unsample.c - from raw sampled counts to estimates of what the program really allocated. */
#include "pprof/unsample.h"

#include <math.h>

/* value * scale, truncated; a product past the range, which no real heap reaches, becomes the largest value. */
static int64_t scaled(uint64_t value, double scale)
{
	double product = (double)value * scale;

	return product < 0x1p63 ? (int64_t)product : INT64_MAX;
}

struct estimate unsample(uint64_t count, uint64_t bytes, uint64_t rate)
{
	double scale = 1;

	if (count == 0 || bytes == 0)
		return (struct estimate){0, 0};
	if (rate > 1) {
		/* The order of operations is Go's, to round as Go does; expm1 would be more exact and so differ. */
		double average_bytes = (double)bytes / (double)count;

		scale = 1 / (1 - exp(-average_bytes / (double)rate));
	}
	return (struct estimate){scaled(count, scale), scaled(bytes, scale)};
}
