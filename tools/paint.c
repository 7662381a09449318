/* paint.c - colour on a terminal. */
#include "tools/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } choice;

/* Source for NO_COLOR: the convention of that name, which many command line programs follow. */
static bool terminal_has_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no == NULL || *no == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

bool paint_choose(const char *when)
{
	static const char *const choices[] = {[AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never"};

	for (int i = AUTO; i <= NEVER; i++) {
		if (strcmp(when, choices[i]) != 0)
			continue;
		choice = i;
		return true;
	}
	return false;
}

const char *paint(enum paint what)
{
	/* Source: ECMA-48, SELECT GRAPHIC RENDITION. */
	static const char *const sequences[] = {
		[PAINT_PLAIN] = "\033[0m", [PAINT_HEAD] = "\033[4m",  [PAINT_FAINT] = "\033[2m",
		[PAINT_MAIN] = "\033[1m",  [PAINT_MORE] = "\033[31m", [PAINT_LESS] = "\033[32m",
	};

	if (choice == AUTO)
		choice = terminal_has_colour() ? ALWAYS : NEVER;
	return choice == ALWAYS ? sequences[what] : "";
}
