/* refusal.c - why something cannot be done with a process, and what to do instead. */
#include "tools/refusal.h"

#include <stdarg.h>
#include <stdio.h>

int refusal_set(struct refusal *refusal, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(refusal->reason, sizeof refusal->reason, format, args);
	va_end(args);
	refusal->way_out[0] = '\0';
	return error;
}

void refusal_advise(struct refusal *refusal, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(refusal->way_out, sizeof refusal->way_out, format, args);
	va_end(args);
}
