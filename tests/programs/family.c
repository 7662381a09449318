/* family.c - what every function of the malloc family promises: results, errno, alignment, overflow, zero sizes.
 *
 * Prints the usable sizes it saw, which are not to depend on sampling; one line on stderr per broken promise. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
/* Sizes pass through here: the compiler would warn of (or fold) calls that must fail. */
static volatile size_t opaque;

static void check(int ok, const char *what, int line)
{
	if (ok)
		return;
	failures++;
	fprintf(stderr, "family.c:%d: not so: %s\n", line, what);
}

#define CHECK(condition) check(condition, #condition, __LINE__)

/* The call must fail: NULL, and errno is what it has to be. */
#define CHECK_FAILS(call, expected) \
	do { \
		errno = 0; \
		CHECK((call) == NULL); \
		CHECK(errno == (expected)); \
	} while (0)

static size_t hide(size_t n)
{
	opaque = n;
	return opaque;
}

static int aligned(const void *p, size_t alignment)
{
	return ((uintptr_t)p & (alignment - 1)) == 0;
}

static int all_bytes(const unsigned char *p, size_t n, unsigned char value)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != value)
			return 0;
	return 1;
}

static void zero_sizes(void)
{
	void *a = malloc(0), *b = malloc(0), *c;

	CHECK(a != NULL && b != NULL && a != b);
	free(a);
	free(b);
	CHECK((a = calloc(0, 8)) != NULL);
	free(a);
	CHECK((a = calloc(8, 0)) != NULL);
	free(a);
	CHECK((a = realloc(NULL, 0)) != NULL);
	free(a);
	CHECK(realloc(malloc(10), 0) == NULL);
	CHECK(reallocarray(malloc(10), 0, 10) == NULL);
	CHECK((c = memalign(64, 0)) != NULL && aligned(c, 64));
	free(c);
	free(NULL);
}

static void impossible_sizes(void)
{
	static const size_t huge[] = {(size_t)-1, (size_t)-12, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX, SIZE_MAX - 4096};
	void *untouched = &failures, *p;

	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		size_t n = hide(huge[i]);

		CHECK_FAILS(malloc(n), ENOMEM);
		CHECK_FAILS(calloc(n, 1), ENOMEM);
		CHECK_FAILS(calloc(1, n), ENOMEM);
		CHECK_FAILS(realloc(NULL, n), ENOMEM);
		CHECK_FAILS(reallocarray(NULL, n, 1), ENOMEM);
		CHECK_FAILS(memalign(64, n), ENOMEM);
		CHECK_FAILS(aligned_alloc(64, n), ENOMEM);
		CHECK_FAILS(valloc(n), ENOMEM);
		CHECK_FAILS(pvalloc(n), ENOMEM);
		p = untouched;
		errno = 4242;
		CHECK(posix_memalign(&p, 64, n) == ENOMEM && p == untouched && errno == 4242);

		p = malloc(100);
		memset(p, 'k', 100);
		CHECK_FAILS(realloc(p, n), ENOMEM);
		CHECK_FAILS(reallocarray(p, n, 1), ENOMEM);
		CHECK(all_bytes(p, 100, 'k'));
		free(p);
	}
}

static void overflows(void)
{
	size_t half = hide(SIZE_MAX / 2 + 1), root = hide((size_t)1 << 33);
	/* volatile: a failed reallocarray leaves the block alone, which the compiler does not know. */
	void *volatile p = malloc(10);

	memset(p, 'k', 10);
	CHECK_FAILS(calloc(half, 2), ENOMEM);
	CHECK_FAILS(calloc(3, half), ENOMEM);
	CHECK_FAILS(calloc(root, root), ENOMEM);
	CHECK_FAILS(reallocarray(NULL, half, 2), ENOMEM);
	CHECK_FAILS(reallocarray(p, root, root), ENOMEM);
	CHECK(all_bytes(p, 10, 'k'));
	free(p);
}

static void alignments(void)
{
	void *p;

	for (size_t alignment = 1; alignment <= 65536; alignment *= 2)
		for (size_t size = 1; size <= 100000; size = size * 3 + 1) {
			CHECK((p = memalign(alignment, size)) != NULL && aligned(p, alignment));
			memset(p, 1, size);
			free(p);
			CHECK((p = aligned_alloc(alignment, size)) != NULL && aligned(p, alignment));
			memset(p, 2, size);
			free(p);
			if (alignment < sizeof(void *))
				continue;
			CHECK(posix_memalign(&p, alignment, size) == 0 && aligned(p, alignment));
			memset(p, 3, size);
			free(p);
		}
	for (size_t size = 16; size <= 100000; size = size * 3 / 2) {
		CHECK((p = malloc(size)) != NULL && aligned(p, 16));
		free(p);
	}
	for (size_t size = 1; size <= 10000; size *= 10) {
		CHECK((p = valloc(size)) != NULL && aligned(p, 4096));
		free(p);
		CHECK((p = pvalloc(size)) != NULL && aligned(p, 4096));
		CHECK(malloc_usable_size(p) >= (size + 4095) / 4096 * 4096);
		free(p);
	}
}

static void bad_alignments(void)
{
	static const size_t bad[] = {0, 3, 24, 4095, SIZE_MAX};
	void *untouched = &failures, *p = untouched;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		size_t alignment = hide(bad[i]);

		errno = 4242;
		CHECK(posix_memalign(&p, alignment, 100) == EINVAL && p == untouched && errno == 4242);
		CHECK_FAILS(aligned_alloc(alignment, 100), EINVAL);
	}
	errno = 4242;
	CHECK(posix_memalign(&p, sizeof(void *) / 2, 100) == EINVAL && p == untouched && errno == 4242);
}

static void contents(void)
{
	unsigned char *p;

	for (size_t size = 1; size <= 3000000; size = size * 5 + 3) {
		p = malloc(size);
		memset(p, 0xff, size);
		free(p);
		CHECK((p = calloc(1, size)) != NULL && all_bytes(p, size, 0));
		memset(p, 'a', size);
		CHECK((p = realloc(p, size * 3)) != NULL && all_bytes(p, size, 'a'));
		memset(p, 'b', size * 3);
		CHECK((p = reallocarray(p, size, 2)) != NULL && all_bytes(p, size * 2, 'b'));
		CHECK((p = realloc(p, size)) != NULL && all_bytes(p, size, 'b'));
		free(p);
	}
	/* A block that must stay where its alignment was lost is still a good block. */
	CHECK(posix_memalign((void **)&p, 4096, 5000) == 0);
	memset(p, 'c', 5000);
	CHECK((p = realloc(p, 50000)) != NULL && all_bytes(p, 5000, 'c'));
	free(p);
}

/* Each block is filled to its last usable byte while its neighbours live. */
static void usable_sizes(void)
{
	enum { BLOCKS = 400 };
	static unsigned char *blocks[BLOCKS];
	static size_t usable[BLOCKS];

	CHECK(malloc_usable_size(NULL) == 0);
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = (size_t)i * (size_t)i / 3;

		blocks[i] = malloc(size);
		usable[i] = malloc_usable_size(blocks[i]);
		CHECK(usable[i] >= size);
		memset(blocks[i], i & 0xff, usable[i]);
		printf("%zu %zu\n", size, usable[i]);
	}
	for (int i = 0; i < BLOCKS; i++) {
		CHECK(all_bytes(blocks[i], usable[i], (unsigned char)i));
		free(blocks[i]);
	}
}

/* Newer than glibc 2.36 or older than its headers: looked up, not linked. */
static void sized_frees(void)
{
	void (*cfree_fn)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");
	void (*free_sized_fn)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
	void (*free_aligned_sized_fn)(void *, size_t, size_t) =
		(void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");

	CHECK(cfree_fn != NULL && free_sized_fn != NULL && free_aligned_sized_fn != NULL);
	if (failures)
		return;
	cfree_fn(NULL);
	free_sized_fn(NULL, 5);
	free_aligned_sized_fn(NULL, 64, 5);
	for (size_t size = 0; size <= 1000000; size = size * 4 + 5) {
		cfree_fn(malloc(size));
		free_sized_fn(malloc(size), size);
		free_sized_fn(calloc(1, size), size);
		free_aligned_sized_fn(aligned_alloc(64, size), 64, size);
		free_aligned_sized_fn(aligned_alloc(65536, size), 65536, size);
	}
}

int main(void)
{
	zero_sizes();
	impossible_sizes();
	overflows();
	alignments();
	bad_alignments();
	contents();
	usable_sizes();
	sized_frees();
	return failures != 0;
}
