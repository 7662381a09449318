/* profile_view.h - a profile added up by row: what each function (line, module) allocated itself, and with all it calls. */
#ifndef MPROF_TOOLS_PROFILE_VIEW_H
#define MPROF_TOOLS_PROFILE_VIEW_H

#include "tools/measure.h"
#include "tools/stacks.h"

#include <stddef.h>
#include <stdint.h>

struct view_row {
	const char *name; /* of the stacks' row */
	uint32_t row;
	struct estimated flat; /* of the stacks whose leaf this is */
	struct estimated cum;  /* of the stacks it is in at all, each counted once however often it recurs */
};

struct profile_view {
	struct measure measure;
	struct view_row *rows; /* one for each of the stacks' rows, in their order, until sorted */
	size_t count;
	struct estimated total; /* of the whole profile, filtered or not, by magnitude */
	struct estimated shown; /* of the stacks that the filter let through */
};

/* Add the stacks up. They must outlive the view. Ends the process when memory does. */
void profile_view_init(struct profile_view *view, const struct stacks *stacks, const struct measure *measure);

/* Drop the rows that are zero, and put the others in order: largest flat first (or largest cum, if `by_cum`), then the other, then by
 * name; by magnitude. */
void profile_view_sort(struct profile_view *view, bool by_cum);

void profile_view_free(struct profile_view *view);

/* The total of one sample type alone, by magnitude, cheaply. */
int64_t profile_view_total(const Perftools__Profiles__Profile *profile, int type);

/* The base name of the program that was profiled, "" when the profile does not say. */
const char *profile_view_program(const Perftools__Profiles__Profile *profile);

#endif
