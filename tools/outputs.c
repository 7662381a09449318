/* outputs.c - the profiles that a run left behind. */
#include "tools/outputs.h"

#include "tools/format.h"
#include "tools/profile_view.h"

#include <glob.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTED_MAX 5 /* files described one by one; a build under `mprof run` leaves hundreds */

/* What one profile says of itself. */
struct summary {
	const char *path;
	char program[64];
	int64_t in_use, allocated, rate; /* bytes */
	size_t stacks;
	char error[128]; /* why it cannot be read; "" when it can */
};

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

static void summarize(struct summary *summary, const char *path)
{
	Perftools__Profiles__Profile *profile;
	int in_use, allocated;

	*summary = (struct summary){.path = path};
	if (decode_file(path, &profile, summary->error, sizeof summary->error) != 0)
		return;
	in_use = profile_view_type(profile, "inuse_space");
	allocated = profile_view_type(profile, "alloc_space");
	if (in_use >= 0 && allocated >= 0) {
		summary->in_use = profile_view_total(profile, in_use);
		summary->allocated = profile_view_total(profile, allocated);
	} else {
		snprintf(summary->error, sizeof summary->error, "not a heap profile");
	}
	summary->rate = profile->period;
	summary->stacks = profile->n_sample;
	snprintf(summary->program, sizeof summary->program, "%s", profile_view_program(profile));
	decode_free(profile);
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

/* The path as the user would type it: without the working directory it starts with. */
static const char *typed_path(const char *path)
{
	static char here[PATH_MAX];
	size_t n;

	if (here[0] == '\0' && getcwd(here, sizeof here) == NULL)
		return path;
	n = strlen(here);
	return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static void say_contents(const struct summary *summary)
{
	if (summary->error[0] != '\0') {
		fprintf(stderr, "cannot be read: %s", summary->error);
		return;
	}
	fprintf(stderr, "%s in use of %s allocated, %zu stack%s", format_bytes(summary->in_use).text,
		format_bytes(summary->allocated).text, summary->stacks, summary->stacks == 1 ? "" : "s");
	if (summary->rate > 1)
		fprintf(stderr, " (rate %s)", format_bytes(summary->rate).text);
	else
		fprintf(stderr, " (every allocation)");
}

/* Several files: one line each for the largest, with the program, since children may be others. */
static void say_many(const struct summary *summaries, size_t count)
{
	size_t listed = count <= LISTED_MAX + 1 ? count : LISTED_MAX; /* "1 more" would take the line it saves */

	fprintf(stderr, "mprof: %zu profiles, the largest first:\n", count);
	for (size_t i = 0; i < listed; i++) {
		fprintf(stderr, "  %s  ", typed_path(summaries[i].path));
		if (summaries[i].program[0] != '\0')
			fprintf(stderr, "%s: ", summaries[i].program);
		say_contents(&summaries[i]);
		fputc('\n', stderr);
	}
	if (listed < count)
		fprintf(stderr, "  and %zu more\n", count - listed);
	fprintf(stderr, "mprof: read one with: mprof top %s\n", typed_path(summaries[0].path));
}

void outputs_report(const struct outputs *outputs)
{
	struct summary *summaries = xcalloc(outputs->count, sizeof *summaries);

	for (size_t i = 0; i < outputs->count; i++)
		summarize(&summaries[i], outputs->files[i].path);
	qsort(summaries, outputs->count, sizeof *summaries, largest_first);
	if (outputs->count > 1) {
		say_many(summaries, outputs->count);
	} else if (outputs->count == 1) {
		const char *path = typed_path(summaries[0].path);

		fprintf(stderr, "mprof: %s: ", path);
		say_contents(&summaries[0]);
		if (summaries[0].error[0] == '\0')
			fprintf(stderr, "; read it with: mprof top %s", path);
		fputc('\n', stderr);
	}
	free(summaries);
}
