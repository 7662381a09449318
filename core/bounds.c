/* bounds.c - which memory above a stack pointer surely is stack that can be read.
 *
 * A thread made by pthread_create has its control block at the top of its stack; the main thread's stack ends behind the strings the
 * kernel put there. What lies between the stack pointer and that top is checked page by page, once: pages above a stack pointer that was
 * in use stay mapped while the thread lives. Rejected: pthread_getattr_np, which reads /proc/self/maps, allocates and locks. */
#include "core/bounds.h"

#include "core/sys.h"

#include <sys/auxv.h>

#define PAGE ((uintptr_t)4096)
#define PAGES_CHECKED_MAX 4096 /* 16 MiB of stack in use when a thread is first seen; else the stack is a growing one */

/* What this thread found out. Only the thread itself and its signal handlers use it; a nested update costs a recheck at worst. */
struct known {
	uintptr_t low, high;		     /* checked: all of it can be read */
	uintptr_t foreign_low, foreign_high; /* checked: a gap at foreign_high, so this is some other stack */
};

static __thread struct known known;
static uintptr_t main_stack_end;

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(PAGE - 1);
}

void bounds_init(void)
{
	/* The file name of the program is the last thing on the main stack, but for one word. Source: Linux, fs/exec.c. */
	main_stack_end = page_of(getauxval(AT_EXECFN)) + PAGE;
}

static uintptr_t stack_end(uintptr_t sp)
{
	uintptr_t thread_pointer = (uintptr_t)__builtin_thread_pointer();

	return sp < thread_pointer ? page_of(thread_pointer) : main_stack_end;
}

/* Check the pages from `from` up to `to`; the first that cannot be read, or `to`. */
static uintptr_t first_gap(uintptr_t from, uintptr_t to)
{
	while (from < to && sys_readable(from))
		from += PAGE;
	return from;
}

/* Find out whether all of [sp, end) can be read, extending what is known already. */
static bool check(uintptr_t sp, uintptr_t end)
{
	bool extends = known.high == end && sp < known.low;
	uintptr_t to = extends ? known.low : end;
	uintptr_t gap;

	if (sp >= known.foreign_low && sp < known.foreign_high)
		return false;
	if (to - page_of(sp) > PAGES_CHECKED_MAX * PAGE)
		return false;
	gap = first_gap(page_of(sp), to);
	if (gap < to) {
		known.foreign_low = page_of(sp);
		known.foreign_high = gap;
		return false;
	}
	known.low = page_of(sp);
	known.high = end;
	return true;
}

struct bounds bounds_of(uintptr_t sp)
{
	uintptr_t end = stack_end(sp);

	if (sp < end && ((known.high == end && sp >= known.low) || check(sp, end)))
		return (struct bounds){.low = sp, .high = end};
	return (struct bounds){.low = sp, .high = page_of(sp) + PAGE, .growing = true};
}

bool bounds_extend(struct bounds *bounds, uintptr_t address)
{
	if (address - bounds->high > PAGES_CHECKED_MAX * PAGE)
		return false;
	while (address >= bounds->high) {
		if (!sys_readable(bounds->high))
			return false;
		bounds->high += PAGE;
	}
	return true;
}
