/* known_sites.c - allocations whose profile is known in advance: known_sites exact|threads|big. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline)) void

/* --- exact: several sites, several sizes, some freed -------------------------------------------------------------- */

/* What stays alive is kept here, so that no block is a leak the compiler could drop. */
static void *kept[64];
static int kept_count;

static void keep(void *p)
{
	kept[kept_count++] = p;
}

SITE site_partly_freed(void)
{
	for (int i = 0; i < 4; i++) {
		void *p = malloc(1024);
		if (i == 0)
			free(p);
		else
			keep(p);
	}
}

SITE site_kept(void)
{
	keep(malloc(524288));
}

SITE site_freed(void)
{
	free(malloc(524288));
}

SITE site_calloc(void)
{
	for (int i = 0; i < 5; i++)
		keep(calloc(7, 123));
}

SITE site_aligned(void)
{
	void *p = NULL;

	if (posix_memalign(&p, 256, 1000) == 0)
		keep(p);
}

SITE site_empty(void)
{
	for (int i = 0; i < 3; i++)
		keep(malloc(0));
}

/* One call instruction, so one stack; three sizes. */
SITE site_sizes(void)
{
	static const size_t sizes[] = {24, 48, 24, 24, 4000, 48};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		keep(malloc(sizes[i]));
}

static void exact(void)
{
	site_partly_freed();
	site_kept();
	site_freed();
	site_calloc();
	site_aligned();
	site_empty();
	site_sizes();
}

/* --- threads: the same stack and size from eight of them ---------------------------------------------------------- */

enum { THREADS = 8, PER_THREAD = 2000 };

SITE site_shared(void **blocks)
{
	for (int i = 0; i < PER_THREAD; i++)
		blocks[i] = malloc(64);
}

static void *thread_main(void *blocks)
{
	site_shared(blocks);
	for (int i = 0; i < PER_THREAD; i += 2)
		free(((void **)blocks)[i]);
	return NULL;
}

static void threads(void)
{
	static void *blocks[THREADS][PER_THREAD];
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], NULL, thread_main, blocks[i]) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

/* --- big: 2 GiB from ten sites of equal bytes, interleaved; all freed --------------------------------------------- */

#define BIG_SITES(X) \
	X(0, 64) \
	X(1, 256) X(2, 1000) X(3, 1024) X(4, 4096) X(5, 10000) X(6, 16384) X(7, 65536) X(8, 200000) X(9, 1048576)

#define DEFINE_BIG(n, size) \
	static SITE big_##n(void) \
	{ \
		free(malloc(size)); \
	}
BIG_SITES(DEFINE_BIG)

static void big(void)
{
#define DESCRIBE_BIG(n, size) {size, big_##n},
	static const struct {
		size_t size;
		void (*allocate)(void);
	} sites[] = {BIG_SITES(DESCRIBE_BIG)};
	enum { ROUNDS = 512 };
	const size_t site_bytes = ((size_t)1 << 31) / 10;
	size_t done[10] = {0}, count[10];

	for (int s = 0; s < 10; s++) {
		count[s] = site_bytes / sites[s].size;
		printf("big_%d %zu %zu\n", s, sites[s].size, count[s]);
	}
	for (size_t round = 1; round <= ROUNDS; round++)
		for (int s = 0; s < 10; s++)
			for (; done[s] < count[s] * round / ROUNDS; done[s]++)
				sites[s].allocate();
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "exact") == 0)
		exact();
	else if (strcmp(mode, "threads") == 0)
		threads();
	else if (strcmp(mode, "big") == 0)
		big();
	else
		return 2;
	return 0;
}
