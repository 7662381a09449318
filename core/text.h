/* text.h - puts short texts together without stdio. */
#ifndef MPROF_CORE_TEXT_H
#define MPROF_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text being built in a buffer of the caller's. Always NUL-terminated once something was added. */
struct text {
	char *buf;
	size_t cap; /* bytes of buf, at least 1 */
	size_t n;   /* bytes used, without the NUL */
	bool full;  /* something did not fit and was cut */
};

/* Add a string, a part of one, or a decimal number.
 * Context: no allocation, no locale; async-signal-safe. */
void text_add(struct text *text, const char *string);
void text_add_n(struct text *text, const char *string, size_t n);
void text_add_number(struct text *text, uint64_t number);

#endif
