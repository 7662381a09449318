/* pack.h - a decoded profile made a file's contents again: packed and gzipped. */
#ifndef MPROF_TOOLS_PACK_H
#define MPROF_TOOLS_PACK_H

#include "pprof/decode.h"
#include "tools/buffer.h"

/* Append the profile to a buffer. Returns 0 or -ENOMEM. */
int pack(const Perftools__Profiles__Profile *profile, struct buffer *out);

#endif
