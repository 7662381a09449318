/* walk.c - fuzzes the walker: random memory as stack, random rules, random registers; nothing outside the bounds is read.
 *
 * The stack lies between two pages that cannot be touched, at a random distance from the upper one: a read outside ends the
 * process. The bounds are tighter than the pages by whatever the input says, and every read is checked against them by filling
 * what lies outside with numbers that a walk would have to show: code addresses found nowhere else. */
#include "core/walk.h"
#include "core/rules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define OUTSIDE 0x4242424242ULL /* a plausible address of code */
#define STEPS_MAX (PAGE / 8 + 2)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static unsigned char *page;

static void map_page(void)
{
	unsigned char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
		abort();
	page = pages + PAGE;
}

/* The next word of the input; 0 when it is used up. */
static uint64_t take(const unsigned char **data, size_t *size)
{
	uint64_t word = 0;
	size_t n = *size < sizeof(word) ? *size : sizeof(word);

	memcpy(&word, *data, n);
	*data += n;
	*size -= n;
	return word;
}

/* A word of the stack: often an address in it, or plausible code, so that walks get somewhere. */
static uint64_t stack_word(uint64_t random)
{
	if (random == OUTSIDE)
		return 0;
	if (random % 4 == 0)
		return (uintptr_t)page + random / 4 % PAGE;
	if (random % 4 == 1)
		return 0x400000 + random / 4 % 65536;
	return random;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	uintptr_t low, high;
	uint64_t setup = take(&data, &size);
	struct walk walk;

	if (page == NULL)
		map_page();
	low = (uintptr_t)page + setup % 256 * 8;
	high = low + 8 + (setup >> 8) % 256 * 8;
	for (uintptr_t at = (uintptr_t)page; at < (uintptr_t)page + PAGE; at += 8)
		*(uint64_t *)at = at >= low && at < high ? stack_word(take(&data, &size)) : OUTSIDE;
	walk = (struct walk){
		.pc = 0x400000,
		.sp = low + (setup >> 16) % 64 * 8,
		.bp = (setup >> 24) % 2 == 0 ? low + (setup >> 25) % PAGE : stack_word(take(&data, &size)),
		.bounds = {.low = low, .high = high},
	};
	for (int i = 0; i < STEPS_MAX; i++) {
		uint64_t packed = take(&data, &size);
		uintptr_t before = walk.sp;

		if (!walk_step(&walk, packed))
			return 0;
		if (walk.pc == OUTSIDE || walk.bp == OUTSIDE || !walk_plausible_code(walk.pc))
			abort();
		if (walk.interrupted)
			return 0; /* now on whatever stack the handler's frame names: bounds_of decides */
		if (walk.sp <= before || walk.sp > high)
			abort();
	}
	abort(); /* more steps than the stack has words: it would not end */
}
