/* test_progress.c - a bar on the terminal. */
#include "tools/progress.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ours; /* the other end of what stderr is */
static char said[4096];

/* Make stderr a terminal, or a pipe. */
static void begin(bool terminal)
{
	int ends[2];

	if (terminal) {
		ours = posix_openpt(O_RDWR | O_NOCTTY);
		cr_assert(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
		ends[1] = open(ptsname(ours), O_RDWR | O_NOCTTY);
	} else {
		cr_assert(eq(int, pipe(ends), 0));
		ours = ends[0];
	}
	fcntl(ours, F_SETFL, O_NONBLOCK);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
}

/* What has come since. */
static const char *output(void)
{
	ssize_t n = read(ours, said, sizeof said - 1);

	said[n > 0 ? n : 0] = '\0';
	return said;
}

/* As if the time to show it had come. */
static void hurry(struct progress *progress)
{
	progress->next_ns = 0;
	progress_add(progress, 5);
}

Test(progress, nothing_while_it_is_short)
{
	struct progress progress;

	begin(true);
	progress_begin(&progress, "working", 10, true);
	progress_add(&progress, 5);
	progress_wipe(&progress);
	cr_expect(eq(str, (char *)output(), ""));
}

Test(progress, shown_and_wiped)
{
	struct progress progress;

	begin(true);
	progress_begin(&progress, "working", 10, true);
	hurry(&progress);
	cr_expect(eq(str, (char *)output(), "\rworking [###############               ] 5 of 10"));
	progress_add(&progress, 1);
	cr_expect(eq(str, (char *)output(), ""), "not that often");
	progress_wipe(&progress);
	progress_wipe(&progress);
	cr_expect(eq(str, (char *)output(), "\r\033[K"));
}

Test(progress, only_when_wanted_and_on_a_terminal)
{
	struct progress progress;

	begin(true);
	progress_begin(&progress, "working", 10, false);
	hurry(&progress);
	cr_expect(eq(str, (char *)output(), ""));
	begin(false);
	progress_begin(&progress, "working", 10, true);
	hurry(&progress);
	cr_expect(eq(str, (char *)output(), ""));
}
