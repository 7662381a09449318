/* test_rules.c - unwind rules: packing, and the table. */
#include "core/rules.h"

#include "core/arena.h"
#include "core/stack.h"

#include <criterion/criterion.h>

static struct arena arena;

static void start(void)
{
	cr_assert_eq(arena_init(&arena, 8 << 20), 0);
	cr_assert_eq(rules_init(&arena, 1 << 20), 0);
}

TestSuite(rules, .init = start);

static void expect_round_trip(struct rule rule)
{
	uint64_t packed;
	struct rule back;

	cr_assert(rule_pack(&rule, &packed));
	cr_assert_neq(packed, 0);
	back = rule_unpack(packed);
	cr_expect_eq(back.kind, rule.kind);
	cr_expect_eq(back.bp_from, rule.bp_from);
	cr_expect_eq(back.cfa, rule.cfa);
	cr_expect_eq(back.ip, rule.ip);
	cr_expect_eq(back.bp, rule.bp);
}

Test(rules, round_trip)
{
	static const enum rule_kind kinds[] = {RULE_NONE, RULE_END, RULE_SIGNAL, RULE_BP_DEREF, RULE_SP, RULE_BP};
	static const int32_t cfas[] = {8, -8, 0, 1 << 28, -(1 << 28)};
	static const int32_t ips[] = {0, -8, 168, 32760, -32768};
	static const int32_t bps[] = {0, -8, 120, 65528, -65536};

	for (size_t k = 0; k < 6; k++) {
		for (int from = RULE_BP_SAME; from <= RULE_BP_LOST; from++) {
			for (int i = 0; i < 5; i++)
				expect_round_trip((struct rule){.kind = kinds[k],
								.bp_from = (enum rule_bp)from,
								.cfa = cfas[i],
								.ip = ips[i],
								.bp = bps[(i + from) % 5]});
		}
	}
}

Test(rules, what_does_not_fit_is_refused)
{
	static const struct rule rules[] = {
		{.kind = RULE_SP, .cfa = 12},	{.kind = RULE_SIGNAL, .ip = 32768}, {.kind = RULE_SIGNAL, .ip = -32776},
		{.kind = RULE_SP, .bp = 65536}, {.kind = RULE_SP, .bp = -65544},
	};
	uint64_t packed;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		cr_expect(!rule_pack(&rules[i], &packed), "rule %zu", i);
}

Test(rules, plain_ones_are_told_by_a_mask)
{
	for (int kind = RULE_NONE; kind <= RULE_BP; kind++) {
		for (int from = RULE_BP_SAME; from <= RULE_BP_LOST; from++) {
			struct rule rule = {.kind = (enum rule_kind)kind, .bp_from = (enum rule_bp)from, .bp = -8};
			bool plain = (kind == RULE_SP || kind == RULE_BP) && from <= RULE_BP_AT_CFA;
			uint64_t packed;

			cr_assert(rule_pack(&rule, &packed));
			cr_expect_eq((packed & RULE_PLAIN_MASK) == RULE_PLAIN, plain, "kind %d, bp %d", kind, from);
		}
	}
}

Test(rules, found_again)
{
	/* Addresses next to each other, and of two modules at the same place, share first places in the table. */
	for (uintptr_t i = 0; i < 100; i++) {
		cr_assert(rules_add(frame_make(0x400000 + i, 1), 1000 + i));
		cr_assert(rules_add(frame_make(0x400000 + i, 2), 2000 + i));
	}
	for (uintptr_t i = 0; i < 100; i++) {
		cr_expect_eq(rules_find(frame_make(0x400000 + i, 1)), 1000 + i);
		cr_expect_eq(rules_find(frame_make(0x400000 + i, 2)), 2000 + i);
	}
	cr_expect_eq(rules_find(frame_make(0x400000, 3)), 0);
	cr_expect_eq(rules_find(frame_make(0x400000 + 100, 1)), 0);
}

Test(rules, a_full_table_refuses)
{
	size_t entries = (1 << 20) / sizeof(struct rule_entry), added = 0;

	for (uintptr_t i = 0; i < 2 * entries; i++)
		added += rules_add(frame_make(0x400000 + i * 16, 1), 7);
	cr_expect_eq(added, entries);
	cr_expect_eq(rules_find(frame_make(0x400000, 1)), 7);
	cr_expect_eq(rules_find(frame_make(0x400000 + (2 * entries - 1) * 16, 1)), 0);
}
