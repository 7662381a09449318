/* json.c - text as JSON has it. */
#include "tools/json.h"

#include "tools/utf8.h"

#include <stddef.h>

void json_print_string(const char *text, FILE *out)
{
	fputc('"', out);
	while (*text != '\0') {
		size_t n = utf8_length(text);

		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (n > 0)
			fwrite(text, 1, n, out);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned)*text);
		else
			fputs("\\ufffd", out);
		text += n > 0 ? n : 1;
	}
	fputc('"', out);
}
