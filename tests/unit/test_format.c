/* test_format.c - numbers look as `go tool pprof` writes them; the expectations were taken from it. */
#include "tools/format.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define EXPECT(actual, expected) cr_expect(eq(str, (char *)(actual).text, expected))

Test(format, bytes_choose_their_own_unit)
{
	EXPECT(format_bytes(0), "0");
	EXPECT(format_bytes(1), "1B");
	EXPECT(format_bytes(1023), "1023B");
	EXPECT(format_bytes(1024), "1kB");
	EXPECT(format_bytes(1536), "1.50kB");
	EXPECT(format_bytes(524288), "512kB");
	EXPECT(format_bytes(829411), "809.97kB");
	EXPECT(format_bytes(64490376), "61.50MB");
	EXPECT(format_bytes(1073741824), "1GB");
	EXPECT(format_bytes(INT64_MAX), "8192PB");
	EXPECT(format_bytes(-1536), "-1.50kB");
}

Test(format, zero_has_no_unit)
{
	EXPECT(format_value(1, format_unit_of(1 << 30)), "0");
	EXPECT(format_value(-1, format_unit_of(1 << 30)), "0");
	EXPECT(format_value(0, format_unit_count()), "0");
	EXPECT(format_value(32768500002, format_unit_count()), "32768500002");
}

Test(format, column_unit_shows_its_least_figure)
{
	/* same unit, or within a factor of 100: the smaller one */
	cr_expect(eq(str, (char *)format_unit_for(4096, 900000).name, "kB"));
	cr_expect(eq(str, (char *)format_unit_for(1 << 19, 10 << 20).name, "kB"));
	/* far apart: the least shows as 0.01 or more of a larger unit */
	cr_expect(eq(str, (char *)format_unit_for(1 << 19, 1 << 30).name, "MB"));
	cr_expect(eq(str, (char *)format_unit_for(0, 10 << 20).name, "MB"));
}

Test(format, percent_is_at_least_five_wide)
{
	EXPECT(format_percent(1, 1), "  100%");
	EXPECT(format_percent(9996, 10000), "  100%");
	EXPECT(format_percent(9522, 10000), "95.22%");
	EXPECT(format_percent(196, 10000), " 1.96%");
	EXPECT(format_percent(5, 10000), " 0.05%");
	EXPECT(format_percent(62, 1000000), "0.0062%");
	EXPECT(format_percent(0, 100), "    0%");
	EXPECT(format_percent(-50, 100), "50.00%");
	EXPECT(format_percent(5, 0), "    0%");
}
