/* output.c - the names of profile files: HEAPPROF_OUT expanded. */
#include "preload/output.h"

#include "core/text.h"

#include <errno.h>
#include <string.h>

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

int output_expand(const char *pattern, const struct output_name *name, char *path, size_t cap)
{
	struct text text = {.buf = path, .cap = cap};

	for (const char *at = pattern; *at != '\0'; at++) {
		bool letter = true;

		if (*at != '%') {
			text_add_n(&text, at, 1);
			continue;
		}
		switch (at[1]) {
		case 'p':
			text_add_number(&text, (uint64_t)name->pid);
			break;
		case 'n':
			text_add_number(&text, name->number);
			break;
		case 'c':
			text_add(&text, last_component(name->program));
			break;
		case 't':
			text_add_number(&text, (uint64_t)name->seconds);
			break;
		case '%':
			text_add(&text, "%");
			break;
		default:
			text_add(&text, "%");
			letter = false;
		}
		at += letter;
	}
	return text.full ? -ENAMETOOLONG : 0;
}

bool output_is_numbered(const char *pattern)
{
	for (const char *at = strchr(pattern, '%'); at != NULL && at[1] != '\0'; at = strchr(at + 2, '%')) {
		if (at[1] == 'n')
			return true;
	}
	return false;
}

int output_temporary(const char *path, const struct output_name *name, char *temporary, size_t cap)
{
	struct text text = {.buf = temporary, .cap = cap};

	text_add_n(&text, path, (size_t)(last_component(path) - path));
	text_add(&text, ".mprof.");
	text_add_number(&text, (uint64_t)name->pid);
	text_add(&text, ".");
	text_add_number(&text, name->number);
	text_add(&text, ".");
	text_add_number(&text, (uint64_t)name->seconds);
	text_add(&text, ".tmp");
	return text.full ? -ENAMETOOLONG : 0;
}
