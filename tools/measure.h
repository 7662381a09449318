/* measure.h - one sample type of one profile: what a stack counts for, and how far that may be off. */
#ifndef MPROF_TOOLS_MEASURE_H
#define MPROF_TOOLS_MEASURE_H

#include "tools/error.h"
#include "tools/stacks.h"

#include <stdbool.h>
#include <stdint.h>

struct measure {
	const Perftools__Profiles__Profile *profile;
	uint32_t number; /* of the profile among those of the stacks */
	int type;	 /* index of the sample type */
	struct error_model model;
};

/* |value|; the largest there is for the one that has no positive counterpart. */
static inline int64_t measure_magnitude(int64_t value)
{
	return value >= 0 ? value : (value == INT64_MIN ? INT64_MAX : -value);
}

/* A value with the error it has. */
struct estimated {
	int64_t value;
	struct error error;
};

/* The index of the sample type of this name ("inuse_space"); for NULL of the one the profile says is its default, else the last one, as
 * other readers do. -1 when there is none. */
int measure_type(const Perftools__Profiles__Profile *profile, const char *name);

struct measure measure_make(const Perftools__Profiles__Profile *profile, uint32_t number, int type);

/* "inuse_space", "bytes". */
const char *measure_name(const struct measure *measure);
const char *measure_unit(const struct measure *measure);
bool measure_is_bytes(const struct measure *measure);

/* What the stack counts for; nothing when it is of another profile. */
struct estimated measure_stack(const struct measure *measure, const struct stack *stack);

/* Add one to another; the errors of different samples are independent. */
void measure_add(struct estimated *sum, const struct estimated *more);

/* The difference of estimates from different profiles, or of independent ones: their errors add up. */
struct estimated measure_difference(const struct estimated *to, const struct estimated *from);

/* A sum without one of those added to it. */
struct estimated measure_without(const struct estimated *sum, const struct estimated *part);

/* The standard error, and whether the value is further from zero than twice that: then chance is hardly the reason. */
double measure_standard_error(const struct estimated *estimated);
bool measure_is_significant(const struct estimated *estimated);

/* The sum of every sample's magnitude, whether a filter lets it through or not: what percentages are of. */
struct estimated measure_total(const struct measure *measure);

#endif
