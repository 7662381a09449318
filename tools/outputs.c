/* outputs.c - the profiles that a run left behind. */
#include "tools/outputs.h"

#include "tools/summary.h"
#include "tools/symbolizer_file.h"

#include <glob.h>
#include <libiberty/libiberty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED_MAX 5 /* files described one by one; a build under `mprof run` leaves hundreds */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool outputs_match(const char *pattern, const char *path)
{
	if (*pattern == '\0')
		return *path == '\0';
	if (pattern[0] != '%' || strchr("pntc", pattern[1]) == NULL || pattern[1] == '\0')
		return *pattern == *path && outputs_match(pattern + 1, path + 1);
	for (size_t n = 0; path[n] != '\0' && path[n] != '/'; n++) {
		if (pattern[1] != 'c' && !is_digit(path[n]))
			return false;
		if (outputs_match(pattern + 2, path + n + 1))
			return true;
	}
	return false;
}

/* The pattern in the shell's terms, wider than meant: outputs_match then looks closely. */
static char *glob_pattern(const char *pattern)
{
	char *text = xmalloc(2 * strlen(pattern) + 1), *out = text;

	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '%' && pattern[1] != '\0' && strchr("pntc", pattern[1]) != NULL) {
			*out++ = '*';
			pattern++;
			continue;
		}
		if (strchr("*?[\\", *pattern) != NULL)
			*out++ = '\\';
		*out++ = *pattern;
	}
	*out = '\0';
	return text;
}

void outputs_list(struct outputs *outputs, const char *pattern)
{
	char *wide = glob_pattern(pattern);
	glob_t found = {0};

	*outputs = (struct outputs){0};
	if (glob(wide, 0, NULL, &found) == 0) {
		outputs->files = xcalloc(found.gl_pathc, sizeof *outputs->files);
		for (size_t i = 0; i < found.gl_pathc; i++) {
			struct output *file = &outputs->files[outputs->count];

			if (outputs_match(pattern, found.gl_pathv[i]) && stat(found.gl_pathv[i], &file->st) == 0 &&
			    S_ISREG(file->st.st_mode)) {
				file->path = xstrdup(found.gl_pathv[i]);
				outputs->count++;
			}
		}
	}
	globfree(&found);
	free(wide);
}

void outputs_free(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++)
		free(outputs->files[i].path);
	free(outputs->files);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct output *)a)->path, ((const struct output *)b)->path);
}

static bool is_unchanged(const struct output *now, const struct outputs *before)
{
	const struct output *then =
		before->count == 0 ? NULL : bsearch(now, before->files, before->count, sizeof *before->files, by_path);

	return then != NULL && then->st.st_ino == now->st.st_ino && then->st.st_dev == now->st.st_dev &&
	       then->st.st_mtim.tv_sec == now->st.st_mtim.tv_sec && then->st.st_mtim.tv_nsec == now->st.st_mtim.tv_nsec;
}

void outputs_keep_new(struct outputs *outputs, const struct outputs *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < outputs->count; i++) {
		if (is_unchanged(&outputs->files[i], before))
			free(outputs->files[i].path);
		else
			outputs->files[kept++] = outputs->files[i];
	}
	outputs->count = kept;
}

void outputs_symbolize(const struct outputs *outputs)
{
	const struct symbolizer_options options = {.progress = true};
	struct symbolizer_result result;
	char error[512];

	for (size_t i = 0; i < outputs->count; i++)
		symbolizer_file(outputs->files[i].path, outputs->files[i].path, &options, &result, error, sizeof error);
}

static int largest_first(const void *a, const void *b)
{
	const struct summary *x = a, *y = b;

	if (x->in_use != y->in_use)
		return x->in_use < y->in_use ? 1 : -1;
	if (x->allocated != y->allocated)
		return x->allocated < y->allocated ? 1 : -1;
	return strcmp(x->path, y->path);
}

/* Several files: one line each for the largest, with the program, since children may be others. */
static void say_many(const struct summary *summaries, size_t count)
{
	size_t listed = count <= LISTED_MAX + 1 ? count : LISTED_MAX; /* "1 more" would take the line it saves */

	fprintf(stderr, "mprof: %zu profiles, the largest first:\n", count);
	for (size_t i = 0; i < listed; i++) {
		fprintf(stderr, "  %s  ", summary_typed_path(summaries[i].path));
		if (summaries[i].program[0] != '\0')
			fprintf(stderr, "%s: ", summaries[i].program);
		summary_say(&summaries[i]);
		fputc('\n', stderr);
	}
	if (listed < count)
		fprintf(stderr, "  and %zu more\n", count - listed);
	fprintf(stderr, "mprof: read one with: mprof top %s\n", summary_typed_path(summaries[0].path));
}

void outputs_report(const struct outputs *outputs)
{
	struct summary *summaries = xcalloc(outputs->count, sizeof *summaries);

	for (size_t i = 0; i < outputs->count; i++)
		summary_read(&summaries[i], outputs->files[i].path);
	qsort(summaries, outputs->count, sizeof *summaries, largest_first);
	if (outputs->count > 1)
		say_many(summaries, outputs->count);
	else if (outputs->count == 1)
		summary_report(&summaries[0]);
	free(summaries);
}
