/* filter.c - which stacks and frames a report is about. */
#include "tools/filter.h"

#include <libiberty/libiberty.h>
#include <stddef.h>

bool filter_set(struct filter *filter, enum filter_kind kind, const char *expression, char *error, size_t cap)
{
	regex_t *compiled = &filter->expression[kind];
	int status;

	if (filter->text[kind] != NULL)
		regfree(compiled);
	status = regcomp(compiled, expression, REG_EXTENDED | REG_NOSUB);
	filter->text[kind] = status == 0 ? expression : NULL;
	if (status != 0)
		regerror(status, compiled, error, cap);
	return status == 0;
}

char *filter_describe(const struct filter *filter)
{
	static const char *const options[] = {
		[FILTER_FOCUS] = "--focus ",
		[FILTER_IGNORE] = "--ignore ",
		[FILTER_SHOW] = "--show ",
		[FILTER_HIDE] = "--hide ",
	};
	char *all = NULL;

	for (int kind = 0; kind < FILTER_KINDS; kind++) {
		if (filter->text[kind] != NULL && all == NULL)
			all = concat(options[kind], filter->text[kind], NULL);
		else if (filter->text[kind] != NULL)
			all = reconcat(all, all, " ", options[kind], filter->text[kind], NULL);
	}
	return all;
}

void filter_free(struct filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		if (filter->text[kind] != NULL)
			regfree(&filter->expression[kind]);
	*filter = (struct filter){0};
}

bool filter_matches(const struct filter *filter, enum filter_kind kind, const char *function, const char *file,
		    const char *module)
{
	const char *const texts[] = {function, file, module};

	for (size_t i = 0; filter->text[kind] != NULL && i < sizeof texts / sizeof *texts; i++)
		if (texts[i] != NULL && regexec(&filter->expression[kind], texts[i], 0, NULL, 0) == 0)
			return true;
	return false;
}
