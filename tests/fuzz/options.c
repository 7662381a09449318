/* options.c - fuzzes the HEAPPROF_* variables: any environment gives valid options, and whole lines of warning. */
#include "core/options.h"

#include "core/stack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_line(const char *line, size_t n)
{
	if (n < 8 || memcmp(line, "mprof: ", 7) != 0 || line[n - 1] != '\n' || memchr(line, '\n', n - 1) != NULL)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct options options;
	char *text = malloc(size + 2), *environment[64];
	size_t count = 0;

	/* The input is a list of NUL-terminated variables. */
	memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	for (char *at = text; *at != '\0' && count < 63; at += strlen(at) + 1)
		environment[count++] = at;
	environment[count] = NULL;
	options_parse(&options, environment, check_line);
	if (options.depth < 1 || options.depth > STACK_DEPTH_MAX || options.memory < (1 << 20) ||
	    options.out[0] == '\0')
		abort();
	free(text);
	return 0;
}
