/* page.c - the page of `mprof report`, with the data of a profile put into it. */
#include "tools/page.h"

#include <string.h>

__asm__(".pushsection .rodata\n"
	"page_start:\n"
	".incbin \"page.html\"\n"
	"page_end:\n"
	".popsection\n");

extern const char page_start[], page_end[];

/* Where the data belongs. */
static const char mark[] = "@PROFILE@";

/* "<" occurs in strings alone, and there it may be written as its number: the text of a script element ends at "</script". */
static void add_escaped(struct buffer *buffer, const char *json, size_t n)
{
	const char *end = json + n, *next;

	for (; (next = memchr(json, '<', (size_t)(end - json))) != NULL; json = next + 1) {
		buffer_add(buffer, json, (size_t)(next - json));
		buffer_add(buffer, "\\u003c", 6);
	}
	buffer_add(buffer, json, (size_t)(end - json));
}

void page_add(struct buffer *buffer, const char *json, size_t n)
{
	const char *place = memmem(page_start, (size_t)(page_end - page_start), mark, sizeof mark - 1);
	const char *rest = place + sizeof mark - 1;

	buffer_add(buffer, page_start, (size_t)(place - page_start));
	add_escaped(buffer, json, n);
	buffer_add(buffer, rest, (size_t)(page_end - rest));
}
