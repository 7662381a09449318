/* format.c - numbers as people read them. */
#include "tools/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct unit bytes_units[] = {
	{"B", 1}, {"kB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}, {"TB", 0x1p40}, {"PB", 0x1p50},
};

struct unit format_unit_of(int64_t value)
{
	size_t best = 0;

	for (size_t i = 1; i < sizeof bytes_units / sizeof *bytes_units; i++)
		if (fabs((double)value) >= bytes_units[i].factor)
			best = i;
	return bytes_units[best];
}

struct unit format_unit_for(int64_t least, int64_t total)
{
	struct unit small = format_unit_of(least != 0 ? least : total), large = format_unit_of(total);

	/* Units differ and so do the figures, by more than a hundred: take larger units and show the least as 0.01. */
	if (small.factor != large.factor && least != 0 && least < total / 100.0)
		return format_unit_of(least * 100);
	return small;
}

struct unit format_unit_count(void)
{
	return (struct unit){"", 1};
}

struct figure format_value(int64_t value, struct unit unit)
{
	struct figure out;
	char number[28];
	size_t n = (size_t)snprintf(number, sizeof number, "%.2f", (double)value / unit.factor);

	if (n > 3 && strcmp(number + n - 3, ".00") == 0)
		number[n - 3] = '\0';
	if (strcmp(number, "0") == 0 || strcmp(number, "-0") == 0)
		return (struct figure){"0"};
	snprintf(out.text, sizeof out.text, "%s%s", number, unit.name);
	return out;
}

struct figure format_bytes(int64_t bytes)
{
	return format_value(bytes, format_unit_of(bytes));
}

struct figure format_percent(int64_t value, int64_t total)
{
	struct figure out;
	double percent = total != 0 ? fabs((double)value / (double)total) * 100 : 0;

	if (percent >= 99.95 && percent <= 100.05)
		snprintf(out.text, sizeof out.text, "  100%%");
	else if (percent >= 1)
		snprintf(out.text, sizeof out.text, "%5.2f%%", percent);
	else
		snprintf(out.text, sizeof out.text, "%5.2g%%", percent);
	return out;
}

struct figure format_error(double standard_error, int64_t value)
{
	struct figure out;
	double percent = value != 0 ? standard_error / fabs((double)value) * 100 : 0;

	if (value == 0 && standard_error == 0)
		return (struct figure){"-"};
	if (value == 0 || percent >= 999.5)
		return (struct figure){"±>999%"};
	if (percent < 0.05)
		return (struct figure){"±0%"};
	snprintf(out.text, sizeof out.text, "±%.*f%%", percent < 9.95 ? 1 : 0, percent);
	return out;
}

struct figure format_right(const char *text, int columns)
{
	struct figure out;
	int width = 0;

	for (const char *c = text; *c != '\0'; c++)
		width += ((unsigned char)*c & 0xC0) != 0x80; /* the first byte of a character */
	snprintf(out.text, sizeof out.text, "%*s%s", columns > width ? columns - width : 0, "", text);
	return out;
}
