/* hex.h - lowercase hexadecimal, without stdio. */
#ifndef MPROF_PPROF_HEX_H
#define MPROF_PPROF_HEX_H

#include <stddef.h>
#include <stdint.h>

#define HEX_NUMBER_MAX 17 /* room for a 64-bit number and its NUL */

/* Two digits a byte and a NUL: 2 * n + 1 bytes at `out`. Returns the NUL's place. */
char *hex_bytes(char *out, const unsigned char *bytes, size_t n);

/* A number without leading zeros, NUL-terminated, into HEX_NUMBER_MAX bytes. */
void hex_number(char *out, uint64_t number);

#endif
