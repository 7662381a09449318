/* lifetime.c - blocks that change their size, their owner or their thread; each site is a function of its own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SITE __attribute__((noinline)) void
#define KEEP(p) (kept[kept_count++] = (p))

static void *kept[64];
static int kept_count;
/* Sizes pass through here where a constant would make the compiler warn that the call must fail. */
static volatile size_t huge = PTRDIFF_MAX / 2;

static void must(int ok)
{
	if (!ok)
		abort();
}

/* realloc of nothing, calloc and reallocarray are one allocation each. */
SITE site_realloc_null(void)
{
	for (int i = 0; i < 10; i++)
		KEEP(realloc(NULL, 123));
}

SITE site_calloc(void)
{
	for (int i = 0; i < 10; i++)
		KEEP(calloc(7, 123));
}

SITE site_reallocarray_null(void)
{
	for (int i = 0; i < 10; i++)
		KEEP(reallocarray(NULL, 7, 123));
}

/* 8 -> 16 -> nothing. */
SITE site_realloc_freed(void)
{
	void *p = malloc(8);

	p = realloc(p, 16);
	free(p);
}

/* 16, 32, ... 1 MiB; the last one stays. */
SITE site_grow(void)
{
	void *p = NULL;

	for (size_t size = 16; size <= (size_t)1 << 20; size *= 2) {
		p = realloc(p, size);
		must(p != NULL);
	}
	KEEP(p);
}

/* 1 MiB, ... 32, 16; the last one stays. */
SITE site_shrink(void)
{
	void *p = NULL;

	for (size_t size = (size_t)1 << 20; size >= 16; size /= 2) {
		p = realloc(p, size);
		must(p != NULL);
	}
	KEEP(p);
}

/* In place, as a rule: the same size class. Still a death and a birth. */
SITE site_in_place(void)
{
	void *p = malloc(1001);

	KEEP(realloc(p, 1002));
}

/* The failed call leaves the block alive and records nothing. */
SITE site_failed(void)
{
	void *p = malloc(77);

	must(realloc(p, huge) == NULL);
	KEEP(p);
}

/* realloc(p, 0) frees, as glibc's does. */
SITE site_to_zero(void)
{
	void *p = malloc(55);

	must(realloc(p, 0) == NULL);
}

/* What cannot be had is not recorded. */
SITE site_impossible(void)
{
	void *p = NULL;

	must(malloc(huge) == NULL);
	must(calloc(huge, 4) == NULL);
	must(reallocarray(NULL, huge, 4) == NULL);
	must(posix_memalign(&p, 64, huge) != 0);
	KEEP(malloc(33));
}

SITE site_handed_over(void)
{
	for (int i = 0; i < 20; i++)
		KEEP(malloc(200));
}

static void *free_half(void *blocks)
{
	for (int i = 0; i < 20; i += 2)
		free(((void **)blocks)[i]);
	return NULL;
}

SITE site_grown_elsewhere(void)
{
	KEEP(malloc(300));
}

SITE site_other_thread_grows(void)
{
	kept[kept_count - 1] = realloc(kept[kept_count - 1], 3000);
}

static void *grow_last(void *unused)
{
	(void)unused;
	site_other_thread_grows();
	return NULL;
}

static void on_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, run, argument) == 0);
	pthread_join(thread, NULL);
}

int main(void)
{
	int first;

	site_realloc_null();
	site_calloc();
	site_reallocarray_null();
	site_realloc_freed();
	site_grow();
	site_shrink();
	site_in_place();
	site_failed();
	site_to_zero();
	site_impossible();
	first = kept_count;
	site_handed_over();
	on_thread(free_half, kept + first);
	site_grown_elsewhere();
	on_thread(grow_last, NULL);
	return 0;
}
