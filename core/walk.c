/* walk.c - steps from frame to frame by unwind rules. */
#include "core/walk.h"

#include "core/rules.h"

#define PAGE ((uintptr_t)4096)
/* Below SP, and left alone by signals. Source: System V ABI, AMD64 supplement, 3.2.2. */
#define RED_ZONE_BYTES ((uintptr_t)128)

static bool read_word(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (!bounds_allow(&walk->bounds, address))
		return false;
	*word = *(const uintptr_t *)address;
	return true;
}

/* Callers are above: in one stack the CFA only rises, so that a walk ends. */
static bool advance(struct walk *walk, uintptr_t pc, uintptr_t cfa, uintptr_t bp)
{
	if (!walk_plausible_code(pc) || cfa <= walk->sp || cfa % 8 != 0)
		return false;
	walk->pc = pc;
	walk->sp = cfa;
	walk->bp = bp;
	walk->interrupted = false;
	return true;
}

/* One step by the frame pointer alone. */
static bool step_frame_pointer(struct walk *walk)
{
	uintptr_t bp, pc;

	if (walk->bp < walk->sp || !read_word(walk, walk->bp, &bp) || !read_word(walk, walk->bp + 8, &pc))
		return false;
	if (pc >= walk->bounds.low && pc < walk->bounds.high) /* the stack is not code: rbp is garbage */
		return false;
	return advance(walk, pc, walk->bp + 16, bp);
}

/* The same for a word that may lie just below the SP of an interrupted frame: what was popped last is still there, and at a `ret`
 * the tables find BP in it. Not past the page of SP, which is in use: behind it may be the guard page of a stack that is full. */
static bool read_saved(struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (!walk->interrupted || address >= walk->sp)
		return read_word(walk, address, word);
	if (walk->sp - address > RED_ZONE_BYTES || address / PAGE != walk->sp / PAGE || address % 8 != 0)
		return false;
	*word = *(const uintptr_t *)address;
	return true;
}

/* The caller's BP; an unreadable one is as good as lost. */
static uintptr_t caller_bp(struct walk *walk, const struct rule *rule, uintptr_t cfa, uintptr_t base)
{
	uintptr_t bp = 0;

	if (rule->bp_from == RULE_BP_SAME)
		return walk->bp;
	if (rule->bp_from == RULE_BP_AT_CFA)
		read_saved(walk, cfa + (uintptr_t)(intptr_t)rule->bp, &bp);
	else if (rule->bp_from == RULE_BP_AT_BASE)
		read_saved(walk, base + (uintptr_t)(intptr_t)rule->bp, &bp);
	return bp;
}

/* Out of a signal handler: the interrupted frame may be on another stack. */
static bool step_signal(struct walk *walk, const struct rule *rule)
{
	uintptr_t sp, pc, bp;

	if (!read_word(walk, walk->sp + (uintptr_t)(intptr_t)rule->cfa, &sp) ||
	    !read_word(walk, walk->sp + (uintptr_t)(intptr_t)rule->ip, &pc) || !walk_plausible_code(pc))
		return false;
	bp = caller_bp(walk, rule, sp, walk->sp);
	walk->pc = pc;
	walk->sp = sp;
	walk->bp = bp;
	walk->interrupted = true;
	walk->bounds = bounds_of(sp);
	return true;
}

bool walk_step(struct walk *walk, uint64_t packed)
{
	struct rule rule = rule_unpack(packed);
	uintptr_t base = walk->sp;
	uintptr_t cfa, pc;

	switch (rule.kind) {
	case RULE_NONE:
		return step_frame_pointer(walk);
	case RULE_SIGNAL:
		return step_signal(walk, &rule);
	case RULE_SP:
		cfa = walk->sp + (uintptr_t)(intptr_t)rule.cfa;
		break;
	case RULE_BP:
		base = walk->bp;
		cfa = walk->bp + (uintptr_t)(intptr_t)rule.cfa;
		break;
	case RULE_BP_DEREF:
		base = walk->bp;
		if (!read_word(walk, walk->bp + (uintptr_t)(intptr_t)rule.cfa, &cfa))
			return false;
		break;
	default:
		return false;
	}
	if (!read_word(walk, cfa - 8, &pc))
		return false;
	return advance(walk, pc, cfa, caller_bp(walk, &rule, cfa, base));
}
