/* summary.c - what one profile holds, said in a few words. */
#include "tools/summary.h"

#include "tools/format.h"
#include "tools/profile_view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void summary_make(struct summary *summary, const char *path, const Perftools__Profiles__Profile *profile)
{
	int in_use = measure_type(profile, "inuse_space"), allocated = measure_type(profile, "alloc_space");

	*summary = (struct summary){.path = path,
				    .rate = profile->period,
				    .duration_ns = profile->duration_nanos,
				    .stacks = profile->n_sample};
	if (in_use >= 0 && allocated >= 0) {
		summary->in_use = profile_view_total(profile, in_use);
		summary->allocated = profile_view_total(profile, allocated);
	} else {
		snprintf(summary->error, sizeof summary->error, "not a heap profile");
	}
	snprintf(summary->program, sizeof summary->program, "%s", profile_view_program(profile));
}

void summary_read(struct summary *summary, const char *path)
{
	Perftools__Profiles__Profile *profile;

	*summary = (struct summary){.path = path};
	if (decode_file(path, &profile, summary->error, sizeof summary->error) != 0)
		return;
	summary_make(summary, path, profile);
	decode_free(profile);
}

void summary_say(const struct summary *summary)
{
	if (summary->error[0] != '\0') {
		fprintf(stderr, "cannot be read: %s", summary->error);
		return;
	}
	fprintf(stderr, "%s in use", format_bytes(summary->in_use).text);
	if (summary->duration_ns != 0)
		fprintf(stderr, ", %s allocated in %.3g s", format_bytes(summary->allocated).text,
			(double)summary->duration_ns / 1e9);
	else
		fprintf(stderr, " of %s allocated", format_bytes(summary->allocated).text);
	fprintf(stderr, ", %zu stack%s", summary->stacks, summary->stacks == 1 ? "" : "s");
	if (summary->rate > 1)
		fprintf(stderr, " (rate %s)", format_bytes(summary->rate).text);
	else
		fprintf(stderr, summary->rate == 1 ? " (every allocation)" : " (sampling is off)");
}

void summary_report(const struct summary *summary)
{
	const char *path = summary->path != NULL ? summary_typed_path(summary->path) : NULL;

	fprintf(stderr, "mprof: %s%s", path != NULL ? path : "", path != NULL ? ": " : "");
	summary_say(summary);
	if (path != NULL && summary->error[0] == '\0')
		fprintf(stderr, "; read it with: mprof top %s", path);
	fputc('\n', stderr);
}

const char *summary_typed_path(const char *path)
{
	static char here[PATH_MAX];
	size_t n;

	if (here[0] == '\0' && getcwd(here, sizeof here) == NULL)
		return path;
	n = strlen(here);
	return strncmp(path, here, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}
