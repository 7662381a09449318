/* utf8.h - text as UTF-8 has it. */
#ifndef MPROF_TOOLS_UTF8_H
#define MPROF_TOOLS_UTF8_H

#include <stddef.h>

/* Bytes of the character at `text`, which ends with a NUL; 0 when it is a control character, or no UTF-8.
 * Source: RFC 3629, section 4. */
size_t utf8_length(const char *text);

#endif
