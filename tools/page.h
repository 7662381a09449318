/* page.h - the page of `mprof report`, made from tools/page/ at build time, with the data of a profile put into it. */
#ifndef MPROF_TOOLS_PAGE_H
#define MPROF_TOOLS_PAGE_H

#include "tools/buffer.h"

#include <stddef.h>

/* Add the whole HTML file to the buffer. `json` holds n bytes of one JSON value; nothing in it can end the element that it is in. */
void page_add(struct buffer *buffer, const char *json, size_t n);

#endif
