/* cli.c - one-line error messages. */
#include "tools/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

/* stderr is line-buffered (main.c), so the parts go out as one line. */
static void say(const char *verb, const char *format, va_list args, const char *tail)
{
	fprintf(stderr, "mprof %s: ", verb);
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s%s\n", tail, *tail ? verb : "");
}

int cli_fail(const char *verb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(verb, format, args, "");
	va_end(args);
	return CLI_FAILED;
}

int cli_usage(const char *verb, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(verb, format, args, "; see: mprof help ");
	va_end(args);
	return CLI_USAGE;
}

int cli_bad_option(const char *verb, int result, char **argv)
{
	const char *word = argv[optind - 1];

	if (result == ':')
		return cli_usage(verb, "option '%s' needs a value", word);
	if (strncmp(word, "--", 2) == 0 && strchr(word, '=') != NULL && optopt != 0)
		return cli_usage(verb, "option '%.*s' takes no value", (int)strcspn(word, "="), word);
	/* A short option may stand anywhere in its word, and getopt may be past it already. */
	if (optopt != 0 && optopt < 128)
		return cli_usage(verb, "unknown option '-%c'", optopt);
	return cli_usage(verb, "unknown option '%s'", word);
}
