/* capture.c - what one stack capture costs, beside libunwind, glibc and bare frame pointers.
 *
 * usage: capture [ROUNDS]. Prints a Markdown table: medians of the rounds, in ns, the contenders in turn in each round. */
#define UNW_LOCAL_ONLY
#include "core/arena.h"
#include "core/learn.h"
#include "core/module.h"
#include "core/rules.h"
#include "core/stack.h"
#include "core/sys.h"

#include <execinfo.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 20000
#define ROUNDS_MAX 101
#define FRAMES_MAX 512

enum contender { MPROF, UNW_BACKTRACE, UNW_STEP, GLIBC, FRAME_POINTERS, CONTENDERS };

static const char *const names[CONTENDERS] = {"mprof, warm", "unw_backtrace", "unw_step", "glibc backtrace",
					      "frame pointers"};
static const int depths[] = {10, 34, 96, 256};
#define DEPTHS (sizeof(depths) / sizeof(depths[0]))

static double results[DEPTHS][CONTENDERS][ROUNDS_MAX];
static void *addresses[FRAMES_MAX];

static size_t capture_mprof(void)
{
	struct stack stack;
	size_t depth;

	stack_capture(&stack, 1);
	depth = stack.depth;
	stack_release(&stack);
	return depth;
}

static size_t capture_unw_step(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	size_t n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_word_t ip;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		addresses[n++] = (void *)ip;
	} while (n < FRAMES_MAX && unw_step(&cursor) > 0);
	return n;
}

static size_t capture_frame_pointers(void)
{
	void *const *frame = __builtin_frame_address(0);
	size_t n = 0;

	while (n < FRAMES_MAX && frame[0] > (void *)frame) {
		addresses[n++] = frame[1];
		frame = frame[0];
	}
	return n;
}

static size_t capture(enum contender contender)
{
	switch (contender) {
	case MPROF:
		return capture_mprof();
	case UNW_BACKTRACE:
		return (size_t)unw_backtrace(addresses, FRAMES_MAX);
	case UNW_STEP:
		return capture_unw_step();
	case GLIBC:
		return (size_t)backtrace(addresses, FRAMES_MAX);
	default:
		return capture_frame_pointers();
	}
}

static double measure(enum contender contender)
{
	int calls = contender == MPROF || contender == FRAME_POINTERS ? CALLS : CALLS / 10;
	size_t frames = 0;
	int64_t start;

	for (int i = 0; i < 10; i++)
		capture(contender);
	start = sys_monotonic_ns();
	for (int i = 0; i < calls; i++)
		frames += capture(contender);
	if (frames == 0)
		abort();
	return (double)(sys_monotonic_ns() - start) / calls;
}

/* Two alternating functions, so that frames differ. */
static __attribute__((noinline)) double descend_b(int levels, enum contender contender);

static __attribute__((noinline)) double descend_a(int levels, enum contender contender)
{
	double result = levels <= 0 ? measure(contender) : descend_b(levels - 1, contender);

	__asm__ volatile("" ::: "memory");
	return result;
}

static double descend_b(int levels, enum contender contender)
{
	double result = levels <= 0 ? measure(contender) : descend_a(levels - 1, contender);

	__asm__ volatile("" ::: "memory");
	return result;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(values[0]), compare);
	return values[n / 2];
}

/* Frames above descend_a(0): measured, not assumed. */
static int frames_outside(void)
{
	return (int)capture(MPROF);
}

static double learning_ns(void)
{
	int64_t start = sys_monotonic_ns();
	int n = 0;

	/* Addresses nobody asked for yet: every fourth byte of a large function's neighbourhood, all in this program. */
	for (uintptr_t pc = (uintptr_t)measure; n < 256; pc += 4, n++)
		learn_rule(frame_make(pc, module_of(pc)));
	return (double)(sys_monotonic_ns() - start) / n;
}

int main(int argc, char **argv)
{
	struct stack_options options = {.depth = FRAMES_MAX};
	struct arena arena;
	int rounds = argc > 1 ? atoi(argv[1]) : 21;
	int outside;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "capture: ROUNDS must be 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	arena_init(&arena, (size_t)256 << 20);
	module_init(&arena, NULL);
	if (stack_init(&arena, &options) < 0)
		return 1;
	outside = frames_outside() + 1;
	for (int round = 0; round < rounds; round++) {
		for (size_t d = 0; d < DEPTHS; d++) {
			for (int c = 0; c < CONTENDERS; c++) {
				enum contender contender = (enum contender)((c + round) % CONTENDERS);

				results[d][contender][round] = descend_a(depths[d] - outside, contender);
			}
		}
	}
	printf("| contender |");
	for (size_t d = 0; d < DEPTHS; d++)
		printf(" %d frames |", depths[d]);
	printf("\n| --- |");
	for (size_t d = 0; d < DEPTHS; d++)
		printf(" ---: |");
	for (int c = 0; c < CONTENDERS; c++) {
		printf("\n| %s |", names[c]);
		for (size_t d = 0; d < DEPTHS; d++)
			printf(" %.0f |", median(results[d][c], rounds));
	}
	printf("\n\nlearning one address: %.0f ns\n", learning_ns());
	return 0;
}
