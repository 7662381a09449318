/* utf8.c - text as UTF-8 has it. */
#include "tools/utf8.h"

size_t utf8_length(const char *text)
{
	static const struct {
		unsigned char first, last;	   /* of the first byte */
		unsigned char second, second_last; /* of the one after it; more are 80..BF */
		unsigned char length;
	} forms[] = {
		{0x20, 0x7F, 0, 0, 1},	     {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
		{0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
		{0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
	};
	const unsigned char *byte = (const unsigned char *)text;
	size_t form = 0, n = 2;

	while (form < sizeof forms / sizeof *forms && !(byte[0] >= forms[form].first && byte[0] <= forms[form].last))
		form++;
	if (form == sizeof forms / sizeof *forms)
		return 0;
	if (forms[form].length == 1)
		return 1;
	if (byte[1] < forms[form].second || byte[1] > forms[form].second_last)
		return 0;
	while (n < forms[form].length && (byte[n] & 0xC0) == 0x80)
		n++;
	return n == forms[form].length ? n : 0;
}
