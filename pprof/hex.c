/* hex.c - lowercase hexadecimal, without stdio. */
#include "pprof/hex.h"

static const char digits[] = "0123456789abcdef";

char *hex_bytes(char *out, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
	return out;
}

void hex_number(char *out, uint64_t number)
{
	unsigned digit_count = 1;

	while (digit_count < 16 && number >> (4 * digit_count))
		digit_count++;
	for (unsigned i = digit_count; i-- > 0;)
		*out++ = digits[number >> (4 * i) & 15];
	*out = '\0';
}
