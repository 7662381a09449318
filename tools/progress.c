/* progress.c - a bar on the terminal for work that takes a while. */
#include "tools/progress.h"

#include "core/sys.h"

#include <stdio.h>
#include <unistd.h>

#define PATIENCE_NS 500000000 /* before it appears */
#define INTERVAL_NS 100000000 /* between two looks of it */
#define WIDTH 30

void progress_begin(struct progress *progress, const char *what, size_t total, bool wanted)
{
	*progress = (struct progress){
		.what = what,
		.total = total,
		.next_ns = sys_monotonic_ns() + PATIENCE_NS,
		.wanted = wanted && isatty(STDERR_FILENO),
	};
}

static void show(struct progress *progress)
{
	static const char bar[] = "##############################", gap[] = "                              ";
	int filled = progress->total > 0 ? (int)(progress->done * WIDTH / progress->total) : 0;

	fprintf(stderr, "\r%s [%.*s%.*s] %zu of %zu", progress->what, filled, bar, WIDTH - filled, gap, progress->done,
		progress->total);
	fflush(stderr);
	progress->shown = true;
}

void progress_add(struct progress *progress, size_t n)
{
	int64_t now;

	progress->done += n;
	if (!progress->wanted)
		return;
	now = sys_monotonic_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + INTERVAL_NS;
	show(progress);
}

void progress_wipe(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
