/* test_walk.c - steps from frame to frame: what each rule does, and what is refused. */
#include "core/walk.h"

#include "core/rules.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>

#define WORDS 64

static uintptr_t stack[WORDS];

static struct walk walk_from(unsigned sp, unsigned bp)
{
	return (struct walk){
		.pc = 0x400000,
		.sp = (uintptr_t)&stack[sp],
		.bp = (uintptr_t)&stack[bp],
		.bounds = {.low = (uintptr_t)stack, .high = (uintptr_t)(stack + WORDS)},
	};
}

static bool step(struct walk *walk, struct rule rule)
{
	uint64_t packed;

	cr_assert(rule_pack(&rule, &packed));
	return walk_step(walk, packed);
}

static void expect_at(const struct walk *walk, uintptr_t pc, unsigned sp, uintptr_t bp)
{
	cr_expect_eq(walk->pc, pc);
	cr_expect_eq(walk->sp, (uintptr_t)&stack[sp]);
	cr_expect_eq(walk->bp, bp);
}

Test(walk, by_the_stack_pointer)
{
	struct walk walk = walk_from(2, 40);

	stack[9] = 0x401234;
	stack[7] = 0xB0;
	cr_assert(step(&walk, (struct rule){.kind = RULE_SP, .cfa = 64, .bp_from = RULE_BP_AT_CFA, .bp = -24}));
	expect_at(&walk, 0x401234, 10, 0xB0);
	stack[11] = 0x405678;
	cr_assert(step(&walk, (struct rule){.kind = RULE_SP, .cfa = 16, .bp = -8}));
	expect_at(&walk, 0x405678, 12, 0xB0);
}

Test(walk, by_the_frame_pointer)
{
	struct walk walk = walk_from(2, 20);

	stack[20] = (uintptr_t)&stack[30];
	stack[21] = 0x401234;
	cr_assert(step(&walk, (struct rule){.kind = RULE_BP, .cfa = 16, .bp_from = RULE_BP_AT_CFA, .bp = -16}));
	expect_at(&walk, 0x401234, 22, (uintptr_t)&stack[30]);
}

Test(walk, out_of_an_over_aligned_frame)
{
	struct walk walk = walk_from(2, 20);

	stack[19] = (uintptr_t)&stack[40]; /* [BP - 8] is the CFA */
	stack[20] = 0xB0;
	stack[39] = 0x401234;
	cr_assert(step(&walk, (struct rule){.kind = RULE_BP_DEREF, .cfa = -8, .bp_from = RULE_BP_AT_BASE, .bp = 0}));
	expect_at(&walk, 0x401234, 40, 0xB0);
}

Test(walk, out_of_a_signal_handler)
{
	struct walk walk = walk_from(2, 3);
	uintptr_t interrupted_sp = (uintptr_t)&stack[50];

	stack[22] = interrupted_sp; /* SP + 160, + 168, + 120 as on x86-64 */
	stack[23] = 0x401234;
	stack[17] = 0xB0;
	cr_assert(
		step(&walk,
		     (struct rule){.kind = RULE_SIGNAL, .cfa = 160, .ip = 168, .bp_from = RULE_BP_AT_BASE, .bp = 120}));
	expect_at(&walk, 0x401234, 50, 0xB0);
	cr_expect(walk.interrupted);
	cr_expect_eq(walk_lookup_address(&walk), 0x401234);
	cr_expect_eq(walk.bounds.low, interrupted_sp);
}

Test(walk, without_a_rule_by_a_plausible_frame_pointer)
{
	struct walk walk = walk_from(2, 20);

	stack[20] = (uintptr_t)&stack[30];
	stack[21] = 0x401234;
	cr_assert(walk_step(&walk, RULE_NONE));
	expect_at(&walk, 0x401234, 22, (uintptr_t)&stack[30]);
}

Test(walk, an_implausible_frame_pointer_ends_it)
{
	static const uintptr_t garbage[] = {0, 8, 0x123456789ABCDEF0, UINTPTR_MAX, UINTPTR_MAX - 7};
	struct walk walk = walk_from(10, 9); /* below SP */

	cr_expect(!walk_step(&walk, RULE_NONE));
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		walk.bp = garbage[i];
		cr_expect(!walk_step(&walk, RULE_NONE), "%#lx", garbage[i]);
	}
	walk.bp = (uintptr_t)&stack[20] + 4; /* misaligned */
	cr_expect(!walk_step(&walk, RULE_NONE));
	walk.bp = (uintptr_t)&stack[WORDS - 1]; /* the return address is out of bounds */
	cr_expect(!walk_step(&walk, RULE_NONE));
}

Test(walk, what_is_refused)
{
	const struct rule up = {.kind = RULE_SP, .cfa = 16, .bp = -8};
	struct walk walk = walk_from(2, 20);

	stack[3] = 4095; /* not code */
	cr_expect(!step(&walk, up));
	stack[3] = (uintptr_t)1 << 47;
	cr_expect(!step(&walk, up));
	stack[3] = 0x401234;
	cr_expect(!step(&walk, (struct rule){.kind = RULE_SP, .cfa = 0})); /* the CFA must rise */
	cr_expect(!step(&walk, (struct rule){.kind = RULE_SP, .cfa = -16}));
	cr_expect(!step(&walk, (struct rule){.kind = RULE_SP, .cfa = 8 * WORDS}));
	cr_expect(!step(&walk, (struct rule){.kind = RULE_END}));
	cr_expect(step(&walk, up));
}
