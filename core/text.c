/* text.c - puts short texts together without stdio. */
#include "core/text.h"

#include <string.h>

void text_add_n(struct text *text, const char *string, size_t n)
{
	size_t room = text->cap - 1 - text->n;

	if (n > room) {
		n = room;
		text->full = true;
	}
	memcpy(text->buf + text->n, string, n);
	text->n += n;
	text->buf[text->n] = '\0';
}

void text_add(struct text *text, const char *string)
{
	text_add_n(text, string, strlen(string));
}

void text_add_number(struct text *text, uint64_t number)
{
	char digits[20]; /* 2^64 - 1 has 20 */
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	text_add_n(text, digits + n, sizeof(digits) - n);
}
