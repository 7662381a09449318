/* paint.c - colour on a terminal. */
#include "tools/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool coloured;

/* Source for NO_COLOR: the convention of that name, which many command line programs follow. */
static bool terminal_has_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (no == NULL || *no == '\0') && term != NULL && strcmp(term, "dumb") != 0;
}

bool paint_choose(const char *when)
{
	if (strcmp(when, "always") == 0)
		coloured = true;
	else if (strcmp(when, "never") == 0)
		coloured = false;
	else if (strcmp(when, "auto") == 0)
		coloured = terminal_has_colour();
	else
		return false;
	return true;
}

const char *paint(enum paint what)
{
	/* Source: ECMA-48, SELECT GRAPHIC RENDITION. */
	static const char *const sequences[] = {
		[PAINT_PLAIN] = "\033[0m", [PAINT_HEAD] = "\033[4m",  [PAINT_FAINT] = "\033[2m",
		[PAINT_MAIN] = "\033[1m",  [PAINT_MORE] = "\033[31m", [PAINT_LESS] = "\033[32m",
	};

	return coloured ? sequences[what] : "";
}
