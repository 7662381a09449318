/* heapsampling.c - the allocations of Go's heap sampling conformance test: heapsampling interleaved|small.
 *
 * After test/heapsampling.go of the Go distribution: every site allocates once a round, and each is a function of its
 * own here. */
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50000 };

/* The last block of each site stays a while, so that the next one of its size cannot take its place at once. */
#define DEFINE_SITE(name, size) \
	static __attribute__((noinline)) void name(void) \
	{ \
		static void *last; \
\
		free(last); \
		last = malloc(size); \
	}

DEFINE_SITE(interleaved_17408, 17408)
DEFINE_SITE(interleaved_1024, 1024)
DEFINE_SITE(interleaved_18432, 18432)
DEFINE_SITE(interleaved_512, 512)
DEFINE_SITE(interleaved_16384, 16384)
DEFINE_SITE(interleaved_256, 256)

DEFINE_SITE(small_1024, 1024)
DEFINE_SITE(small_512, 512)
DEFINE_SITE(small_256, 256)

static void interleaved(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		interleaved_17408();
		interleaved_1024();
		interleaved_18432();
		interleaved_512();
		interleaved_16384();
		interleaved_256();
	}
}

static void small(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		small_1024();
		small_512();
		small_256();
	}
}

int main(int argc, char **argv)
{
	const char *part = argc == 2 ? argv[1] : "";

	if (strcmp(part, "interleaved") == 0)
		interleaved();
	else if (strcmp(part, "small") == 0)
		small();
	else
		return 2;
	return 0;
}
