/* json.h - text as JSON has it. */
#ifndef MPROF_TOOLS_JSON_H
#define MPROF_TOOLS_JSON_H

#include <stdio.h>

/* A string in its quotes; bytes that are not UTF-8 become U+FFFD. Source: RFC 8259, section 7. */
void json_print_string(const char *text, FILE *out);

#endif
