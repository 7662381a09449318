/* screen.h - a terminal's whole screen with text on it that is replaced as it changes, and single keys (ncurses). */
#ifndef MPROF_TOOLS_SCREEN_H
#define MPROF_TOOLS_SCREEN_H

#include <stdbool.h>

enum screen_event {
	SCREEN_TIME,	/* nothing came up */
	SCREEN_READY,	/* the descriptor waited for is readable */
	SCREEN_QUIT,	/* q, or the terminal is gone */
	SCREEN_LEFT,	/* the arrow */
	SCREEN_RIGHT,	/* the arrow */
	SCREEN_RESIZED, /* by the user: show again */
	SCREEN_KEY,	/* another key: its character was left in *key */
};

/* Take the screen. False when standard input and output are not a terminal that can do this. */
bool screen_open(void);
void screen_close(void);

/* Lines of it. */
int screen_height(void);

/* Show text instead of what was there, cut at the edges, with one line in reverse. */
void screen_show(const char *text, int reversed);

/* Wait for a key, for `fd` (-1: none) to become readable, or for so many ms. */
enum screen_event screen_wait(int fd, int ms, char *key);

#endif
