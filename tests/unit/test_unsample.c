/* test_unsample.c - estimates agree with Go's to the unit. */
#include "pprof/unsample.h"

#include <criterion/criterion.h>

struct vector {
	uint64_t count, bytes, rate;
	int64_t objects, estimated_bytes;
};

static const struct vector golden[] = {
	{4, 4096, 524288, 2050, 2099200},
	{3, 3072, 524288, 1537, 1574400},
	{1, 524288, 524288, 1, 829411},
	{1, 8, 524288, 65536, 524292},
	{7, 168, 524288, 152920, 3670100},
	{1, 1, 524288, 524288, 524288},
	{123, 5904, 524288, 1343549, 64490376},
	{1000000, 16000000, 524288, 32768500002, 524296000040},
	{1, 1073741824, 524288, 1, 1073741824},
	{5, 500, 2, 5, 500},
	{1, 100, 1, 1, 100},
	{1, 100, 0, 1, 100},
	{0, 100, 524288, 0, 0},
	{100, 0, 524288, 0, 0},
	{100, 0, 1, 0, 0},
};

Test(unsample, golden_vectors)
{
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		struct estimate estimate = unsample(golden[i].count, golden[i].bytes, golden[i].rate);

		cr_expect_eq(estimate.objects, golden[i].objects, "vector %zu: %ld objects", i, (long)estimate.objects);
		cr_expect_eq(estimate.bytes, golden[i].estimated_bytes, "vector %zu: %ld bytes", i,
			     (long)estimate.bytes);
	}
}

Test(unsample, saturates_instead_of_overflowing)
{
	struct estimate estimate = unsample(UINT64_MAX, UINT64_MAX, 1 << 20);

	cr_assert_eq(estimate.objects, INT64_MAX);
	cr_assert_eq(estimate.bytes, INT64_MAX);
}
