/* rules.c - unwind rules: how to get from a frame to its caller's, one word per return address.
 *
 * The table is indexed by the address itself: 16 bytes of code, 16 bytes of table. So the addresses of one page of code share one page of
 * the table, and finding the entry takes one instruction, which counts: each frame's look-up waits for the one before. Objects whose
 * addresses fall on the same place, and calls less than 16 bytes apart, move on to the next free entry. */
#include "core/rules.h"

#include "core/arena.h"

#include <errno.h>

#define PROBES_MAX 256

struct rule_entry *rules_table;
size_t rules_offset_mask;

static size_t entry_mask; /* entries - 1, a power of two less one */

static bool fits(int32_t offset, int bits)
{
	return offset % 8 == 0 && offset / 8 >= -(1 << (bits - 1)) && offset / 8 < 1 << (bits - 1);
}

bool rule_pack(const struct rule *rule, uint64_t *packed)
{
	const uint32_t ip_mask = (1U << RULE_IP_BITS) - 1;

	if (!fits(rule->cfa, 31) || !fits(rule->ip, RULE_IP_BITS) || !fits(rule->bp, RULE_BP_BITS))
		return false;
	*packed = (uint64_t)rule->kind | (uint64_t)rule->bp_from << RULE_BP_FROM_SHIFT |
		  (uint64_t)((uint32_t)(rule->ip / 8) & ip_mask) << RULE_IP_SHIFT |
		  (uint64_t)((uint32_t)(rule->bp / 8) << RULE_BP_SHIFT) |
		  (uint64_t)(uint32_t)rule->cfa << RULE_CFA_SHIFT;
	return true;
}

int rules_init(struct arena *arena, size_t bytes)
{
	size_t entries = 4096;

	while (entries * 2 * sizeof(struct rule_entry) <= bytes)
		entries *= 2;
	rules_table = arena_alloc(arena, entries * sizeof(struct rule_entry), 4096);
	if (rules_table == NULL)
		return -ENOMEM;
	entry_mask = entries - 1;
	rules_offset_mask = entry_mask * sizeof(struct rule_entry);
	return 0;
}

static size_t first_slot(uint64_t frame)
{
	return (frame & rules_offset_mask) / sizeof(struct rule_entry);
}

uint64_t rules_find(uint64_t frame)
{
	size_t slot = first_slot(frame);

	for (unsigned i = 0; i < PROBES_MAX; i++, slot++) {
		const struct rule_entry *entry = &rules_table[slot & entry_mask];
		uint64_t found = load_acquire(&entry->frame); /* pairs with the store_release in rules_add */

		if (found == frame)
			return entry->rule;
		if (found == 0)
			return 0;
	}
	return 0;
}

bool rules_add(uint64_t frame, uint64_t packed)
{
	size_t slot = first_slot(frame);

	for (unsigned i = 0; i < PROBES_MAX; i++, slot++) {
		struct rule_entry *entry = &rules_table[slot & entry_mask];

		if (load_relaxed(&entry->frame) != 0) /* relaxed: the only writer */
			continue;
		entry->rule = packed;
		store_release(&entry->frame, frame); /* pairs with the load_acquire in rules_find */
		return true;
	}
	return false;
}
