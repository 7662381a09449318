/* filter.c - which stacks and frames a report is about. */
#include "tools/filter.h"

bool filter_set(struct filter *filter, enum filter_kind kind, const char *expression, char *error, size_t cap)
{
	regex_t *compiled = &filter->expression[kind];
	int status;

	if (filter->set[kind])
		regfree(compiled);
	status = regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB);
	filter->set[kind] = status == 0;
	if (status != 0)
		regerror(status, compiled, error, cap);
	return status == 0;
}

void filter_free(struct filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		if (filter->set[kind])
			regfree(&filter->expression[kind]);
	*filter = (struct filter){0};
}

bool filter_matches(const struct filter *filter, enum filter_kind kind, const char *function, const char *file,
		    const char *module)
{
	const char *const texts[] = {function, file, module};

	for (size_t i = 0; filter->set[kind] && i < sizeof texts / sizeof *texts; i++)
		if (texts[i] != NULL && regexec(&filter->expression[kind], texts[i], 0, NULL, 0) == 0)
			return true;
	return false;
}
