/* growth.h - the live bytes of each function as they change from one profile of a process to the next. */
#ifndef MPROF_TOOLS_GROWTH_H
#define MPROF_TOOLS_GROWTH_H

#include "tools/profile_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct growth_row {
	char *name;
	int64_t live;	  /* bytes; 0 when the last profile does not have it */
	int64_t previous; /* in the profile before */
	int64_t start;	  /* in the first one */
};

/* All zero is one that has seen no profile. */
struct growth {
	struct growth_row *rows; /* every function ever seen, by name */
	size_t count;
	struct growth_row total; /* of all of them; `name` is not used */
	size_t profiles;	 /* added so far */
};

enum growth_order { GROWTH_BY_LIVE, GROWTH_BY_CHANGE };

static inline int64_t growth_since_previous(const struct growth_row *row)
{
	return row->live - row->previous;
}

static inline int64_t growth_since_start(const struct growth_row *row)
{
	return row->live - row->start;
}

/* Add the next profile: of its functions what they allocated themselves, or with `cumulative` also what they called did. Ends the
 * process when memory does. */
void growth_add(struct growth *growth, const struct profile_view *view, bool cumulative);

/* The rows that have something live or had at the start, the most first: live bytes, or those gained since the start. The array is to be
 * freed; the rows belong to `growth`. */
const struct growth_row **growth_sort(const struct growth *growth, enum growth_order order, size_t *count);

void growth_free(struct growth *growth);

#endif
