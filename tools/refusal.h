/* refusal.h - why something cannot be done with a process, and what to do instead: the two halves of one line. */
#ifndef MPROF_TOOLS_REFUSAL_H
#define MPROF_TOOLS_REFUSAL_H

struct refusal {
	char reason[256];
	char way_out[256]; /* "" = there is none */
};

/* Set the reason, and no way out. Returns `error`. */
int refusal_set(struct refusal *refusal, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Add the way out. */
void refusal_advise(struct refusal *refusal, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
