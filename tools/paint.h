/* paint.h - colour on a terminal. */
#ifndef MPROF_TOOLS_PAINT_H
#define MPROF_TOOLS_PAINT_H

#include <stdbool.h>

enum paint {
	PAINT_PLAIN, /* ends each of the others */
	PAINT_HEAD,  /* the line above a table */
	PAINT_FAINT, /* error bars and other small print */
	PAINT_MAIN,  /* what matters most */
	PAINT_MORE,  /* it grew */
	PAINT_LESS,  /* it shrank */
};

/* Decide for this process: "always", "never", or "auto", which it is until then: when standard output is a terminal that is not "dumb" and
 * NO_COLOR is not set or empty. False for another word. */
bool paint_choose(const char *when);

/* The escape sequence, or "" without colour. */
const char *paint(enum paint what);

#endif
