/* rules.h - unwind rules: how to get from a frame to its caller's, one word per return address. */
#ifndef MPROF_CORE_RULES_H
#define MPROF_CORE_RULES_H

#include "core/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* The canonical frame address (CFA) is the value the stack pointer has in the caller. Source: DWARF 5, 6.4. */
enum rule_kind {
	RULE_ABSENT,   /* not in the table */
	RULE_NONE,     /* the unwind tables say nothing usable about this address */
	RULE_END,      /* the outermost frame */
	RULE_SIGNAL,   /* CFA = [SP + cfa], IP at [SP + ip]: the frame that a signal interrupted */
	RULE_BP_DEREF, /* CFA = [BP + cfa], IP at [CFA - 8]: functions that over-align their frame */
	RULE_SP = 6,   /* CFA = SP + cfa, IP at [CFA - 8] */
	RULE_BP = 7,   /* CFA = BP + cfa, IP at [CFA - 8] */
};

enum rule_bp {
	RULE_BP_SAME,	 /* the caller's BP is still there */
	RULE_BP_AT_CFA,	 /* at [CFA + bp] */
	RULE_BP_AT_BASE, /* at [the register CFA is found by + bp] */
	RULE_BP_LOST,	 /* cannot be had */
};

/* A rule, unpacked. Offsets are multiples of 8. */
struct rule {
	enum rule_kind kind;
	enum rule_bp bp_from;
	int32_t cfa;
	int32_t ip; /* RULE_SIGNAL only; |ip| < 2^15 */
	int32_t bp; /* |bp| < 2^16 */
};

/* Packed: kind in bits 0-2, bp_from in 3-4, ip / 8 in 5-17, bp / 8 in 18-31, cfa in 32-63: the parts a warm walk needs take one
 * instruction each. */
#define RULE_KIND_MASK 7U
#define RULE_BP_FROM_SHIFT 3
#define RULE_IP_SHIFT 5
#define RULE_BP_SHIFT 18
#define RULE_CFA_SHIFT 32
#define RULE_IP_BITS (RULE_BP_SHIFT - RULE_IP_SHIFT)
#define RULE_BP_BITS (RULE_CFA_SHIFT - RULE_BP_SHIFT)

/* A plain rule: RULE_SP or RULE_BP, with a BP that is the same or at [CFA + bp], bp <= -8. One mask tells, and two bits
 * choose. Where the caller's BP is not saved, bp is -8, so that the word can be read all the same. */
#define RULE_PLAIN_MASK 0x16U
#define RULE_PLAIN 0x06U
#define RULE_BY_BP 0x01U
#define RULE_BP_SAVED 0x08U
_Static_assert((RULE_SP & RULE_PLAIN_MASK) == RULE_PLAIN && (RULE_BP & RULE_PLAIN_MASK) == RULE_PLAIN &&
		       (RULE_BP_DEREF & RULE_PLAIN_MASK) != RULE_PLAIN &&
		       (RULE_SIGNAL & RULE_PLAIN_MASK) != RULE_PLAIN && (RULE_BP & RULE_BY_BP) != 0 &&
		       (RULE_SP & RULE_BY_BP) == 0 && RULE_BP_SAVED == RULE_BP_AT_CFA << RULE_BP_FROM_SHIFT,
	       "the masks say what they are for");

/* Into one word, never 0, and back. False when an offset does not fit. */
bool rule_pack(const struct rule *rule, uint64_t *packed);

static inline int32_t rule_cfa(uint64_t packed)
{
	return (int32_t)(packed >> RULE_CFA_SHIFT);
}

static inline int32_t rule_bp(uint64_t packed)
{
	return ((int32_t)(uint32_t)packed >> RULE_BP_SHIFT) * 8;
}

static inline struct rule rule_unpack(uint64_t packed)
{
	return (struct rule){
		.kind = (enum rule_kind)(packed & RULE_KIND_MASK),
		.bp_from = (enum rule_bp)((packed >> RULE_BP_FROM_SHIFT) & 3),
		.cfa = rule_cfa(packed),
		.ip = ((int32_t)((uint32_t)packed << RULE_BP_BITS) >> (RULE_BP_BITS + RULE_IP_SHIFT)) * 8,
		.bp = rule_bp(packed),
	};
}

/* Reserve the table: at most `bytes` of `arena`, touched lazily. Call once. Returns 0 or -ENOMEM. */
int rules_init(struct arena *arena, size_t bytes);

/* An entry of the table. One writer at a time fills `rule`, then publishes `frame`; a reader that sees the frame sees the rule. */
struct rule_entry {
	uint64_t frame; /* atomic; 0 = free */
	uint64_t rule;
};

extern struct rule_entry *rules_table;
extern size_t rules_offset_mask; /* for offsets in bytes */

/* The packed rule of a frame word (core/stack.h) whose address is the one to look up: the return address less one, or an
 * interrupted instruction. 0 when it is not known yet.
 * Context: any thread, any signal handler; lock-free. */
uint64_t rules_find(uint64_t frame);

/* The same when the entry is where it is first looked for, else 0; `table` and `mask` are the two above. */
static inline uint64_t rules_find_first(const struct rule_entry *table, size_t mask, uint64_t frame)
{
	const struct rule_entry *entry = (const struct rule_entry *)((const char *)table + (frame & mask));

	/* Pairs with the store_release in rules_add: the rule is there. */
	return __builtin_expect(load_acquire(&entry->frame) == frame, 1) ? entry->rule : 0;
}

/* Publish a rule. False when the table is full around there: the rule has then to be learned anew each time.
 * Context: one thread at a time (the learner holds its lock). */
bool rules_add(uint64_t frame, uint64_t packed);

#endif
