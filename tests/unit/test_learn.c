/* test_learn.c - rules that libunwind is asked for. */
#include "core/learn.h"

#include "core/arena.h"
#include "core/module.h"
#include "core/rules.h"
#include "core/stack.h"
#include "tests/unit/race.h"

#include <alloca.h>
#include <criterion/criterion.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static struct arena arena;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 64 << 20), 0);
	module_init(&arena, NULL);
	cr_assert_eq(rules_init(&arena, 1 << 20), 0);
	cr_assert_eq(learn_init(&arena, NULL), 0);
}

TestSuite(learn, .init = start);

static struct rule rule_at(uintptr_t address)
{
	return rule_unpack(learn_rule(frame_make(address, module_of(address))));
}

/* Functions whose tables are known because they are written here. Source of the meaning: DWARF 5, 6.4. */
__asm__(".text\n"
	".type by_sp, @function\n"
	"by_sp: .cfi_startproc\n"
	"	.cfi_def_cfa_offset 64\n"
	"	.cfi_offset rbp, -24\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size by_sp, . - by_sp\n"
	".type by_bp, @function\n"
	"by_bp: .cfi_startproc\n"
	"	.cfi_def_cfa rbp, 16\n"
	"	.cfi_offset rbp, -16\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size by_bp, . - by_bp\n"
	".type outermost, @function\n"
	"outermost: .cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size outermost, . - outermost\n"
	".type by_bx, @function\n"
	"by_bx: .cfi_startproc\n"
	"	.cfi_def_cfa rbx, 16\n"
	"	nop\n"
	"	.cfi_endproc\n"
	".size by_bx, . - by_bx\n");
void by_sp(void);
void by_bp(void);
void outermost(void);
void by_bx(void);

Test(learn, by_the_stack_pointer)
{
	struct rule rule = rule_at((uintptr_t)by_sp);

	cr_expect_eq(rule.kind, RULE_SP);
	cr_expect_eq(rule.cfa, 64);
	cr_expect_eq(rule.bp_from, RULE_BP_AT_CFA);
	cr_expect_eq(rule.bp, -24);
}

Test(learn, by_the_frame_pointer)
{
	struct rule rule = rule_at((uintptr_t)by_bp);

	cr_expect_eq(rule.kind, RULE_BP);
	cr_expect_eq(rule.cfa, 16);
	cr_expect_eq(rule.bp_from, RULE_BP_AT_CFA);
	cr_expect_eq(rule.bp, -16);
}

Test(learn, the_outermost_frame)
{
	cr_expect_eq(rule_at((uintptr_t)outermost).kind, RULE_END);
	cr_expect_eq(rule_at(getauxval(AT_ENTRY)).kind, RULE_END, "_start");
}

Test(learn, another_register_ends_a_stack)
{
	cr_expect_eq(rule_at((uintptr_t)by_bx).kind, RULE_END);
}

__attribute__((noinline)) static uintptr_t over_aligned(size_t n)
{
	char room[64] __attribute__((aligned(64)));
	char *more = alloca(n);

	__asm__ volatile("" : : "r"(room), "r"(more) : "memory");
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)); /* keeps a frame */
}

/* Somewhere in its body the CFA of an over-aligned function is read from memory. */
Test(learn, an_over_aligned_frame)
{
	bool found = false;

	over_aligned(100);
	for (uintptr_t at = (uintptr_t)over_aligned; at < (uintptr_t)over_aligned + 200 && !found; at++)
		found = rule_at(at).kind == RULE_BP_DEREF || rule_at(at).kind == RULE_BP;
	cr_expect(found);
}

Test(learn, no_table_no_rule)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_expect_eq(rule_at((uintptr_t)page + 100).kind, RULE_NONE);
}

Test(learn, what_was_learned_is_in_the_table)
{
	uint64_t frame = frame_make((uintptr_t)by_sp, module_of((uintptr_t)by_sp));
	uint64_t packed = learn_rule(frame);

	cr_expect_eq(rules_find(frame), packed);
	cr_expect_eq(learn_rule(frame), packed);
}

#define RACERS 4

static uint64_t learned[RACERS];

static void learn_all(unsigned racer)
{
	for (uintptr_t at = 0; at < 400; at++)
		learned[racer] = learned[racer] * 31 + learn_rule(frame_make((uintptr_t)rule_at + at, 1));
}

Test(learn, threads_that_ask_at_once_get_the_same)
{
	race(RACERS, learn_all);
	for (unsigned i = 1; i < RACERS; i++)
		cr_expect_eq(learned[i], learned[0]);
}
