/* test_bounds.c - which memory above a stack pointer is stack that can be read. */
#include "core/bounds.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096UL

static uintptr_t here(void)
{
	return (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
}

/* Every word must be readable: a wild bound crashes the test. */
static void read_all(struct bounds bounds)
{
	for (uintptr_t at = bounds.low; at < bounds.high; at += 8)
		(void)*(volatile uintptr_t *)at;
}

Test(bounds, of_the_main_thread, .init = bounds_init)
{
	struct bounds bounds = bounds_of(here());

	cr_assert(!bounds.growing);
	cr_assert(bounds.low <= here() && here() < bounds.high);
	cr_assert((uintptr_t)getenv("PATH") < bounds.high, "the environment lies above the frames");
	read_all(bounds);
}

static void *in_thread(void *result)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;
	struct bounds bounds = bounds_of(here());

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &bytes);
	pthread_attr_destroy(&attributes);
	cr_assert(!bounds.growing);
	cr_assert(bounds.high <= (uintptr_t)low + bytes);
	cr_assert(bounds.high + 2 * PAGE >= (uintptr_t)low + bytes, "only the thread's control block is left out");
	read_all(bounds);
	return result;
}

Test(bounds, of_a_thread, .init = bounds_init)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, in_thread, NULL), 0);
	pthread_join(thread, NULL);
}

/* A stack that nobody knows of, five pages, with nothing above it. */
Test(bounds, of_a_foreign_stack_grow_page_by_page, .init = bounds_init)
{
	char *pages = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t start = (uintptr_t)pages, sp = start + PAGE + 64;
	struct bounds bounds;

	cr_assert_eq(mprotect(pages + 5 * PAGE, PAGE, PROT_NONE), 0);
	bounds = bounds_of(sp);
	cr_assert(bounds.growing);
	cr_assert_eq(bounds.low, sp);
	cr_assert_eq(bounds.high, start + 2 * PAGE);
	cr_assert(bounds_allow(&bounds, start + 2 * PAGE - 8));
	cr_assert_eq(bounds.high, start + 2 * PAGE);
	cr_assert(bounds_allow(&bounds, start + 4 * PAGE));
	cr_assert_eq(bounds.high, start + 5 * PAGE);
	cr_assert(!bounds_allow(&bounds, start + 5 * PAGE));
	cr_assert_eq(bounds.high, start + 5 * PAGE);
	read_all(bounds);
}

Test(bounds, what_is_not_allowed, .init = bounds_init)
{
	struct bounds bounds = bounds_of(here());

	cr_expect(!bounds_allow(&bounds, bounds.low - 8));
	cr_expect(!bounds_allow(&bounds, bounds.low + 4));
	cr_expect(!bounds_allow(&bounds, bounds.high));
	cr_expect(!bounds_allow(&bounds, UINTPTR_MAX - 7));
	cr_expect(!bounds_allow(&bounds, 0));
	cr_expect(bounds_allow(&bounds, bounds.high - 8));
}
