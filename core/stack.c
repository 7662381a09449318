/* stack.c - captures the calling thread's stack.
 *
 * A warm capture is a loop of look-ups of learned rules (core/rules.h) and two loads a frame: no lock, no allocation, no system call. The
 * profiler's own frames, compiled with frame pointers, are left behind by those. */
#include "core/stack.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/bounds.h"
#include "core/learn.h"
#include "core/loss.h"
#include "core/module.h"
#include "core/rules.h"
#include "core/walk.h"

#include <errno.h>

#define BUFFERS 64U /* captures under way at once */

/* The rule table's share of the arena. 256 MiB give 4 MiB: 262,144 return addresses. */
#define RULES_SHARE 64

/* A choice that a branch would often guess wrong: a conditional move. */
#define UNPREDICTABLE(condition) __builtin_expect_with_probability(!!(condition), 1, 0.5)

struct buffer {
	unsigned busy; /* atomic: 1 while a thread captures into it */
	uint64_t frames[STACK_DEPTH_MAX];
} __attribute__((aligned(64)));

static struct buffer *buffers; /* BUFFERS of them, touched lazily */
static size_t depth_max;
static bool frame_pointers_only;

int stack_init(struct arena *arena, const struct stack_options *options)
{
	struct stack stack;
	int error;

	depth_max = options->depth;
	frame_pointers_only = options->frame_pointers_only;
	bounds_init();
	buffers = arena_alloc(arena, BUFFERS * sizeof(buffers[0]), 64);
	if (buffers == NULL || rules_init(arena, arena->limit_bytes / RULES_SHARE) < 0)
		return -ENOMEM;
	error = frame_pointers_only ? 0 : learn_init(arena, options->directory);
	if (error < 0)
		frame_pointers_only = true;
	stack_capture(&stack, 0); /* the loader's and the kernel's first answers come now, not in a sample */
	stack_release(&stack);
	return error;
}

/* Take an idle buffer; BUFFERS when there is none: then that many threads are in a capture, and nobody waits for them. */
static unsigned take_buffer(unsigned hint)
{
	for (unsigned i = 0; buffers != NULL && i < BUFFERS; i++) { /* NULL: no stacks (the fallback recorder) */
		unsigned at = (hint + i) % BUFFERS;
		unsigned idle = 0;

		/* Acquire: pairs with the store_release in stack_release; the last user's reads are over. */
		if (load_relaxed(&buffers[at].busy) == 0 && cas_acquire(&buffers[at].busy, &idle, 1))
			return at;
	}
	return BUFFERS;
}

static uint64_t rule_of(uint64_t frame)
{
	uint64_t packed;

	if (frame_pointers_only || frame_module(frame) == MODULE_NONE)
		return RULE_NONE;
	packed = rules_find(frame);
	return packed != 0 ? packed : learn_rule(frame);
}

/* Leave the profiler's own frames, all of which have frame pointers: the walk starts in their caller. */
static bool leave_own_frames(struct walk *walk)
{
	const struct module *own = module_get(module_self());
	const uintptr_t *frame = (const uintptr_t *)walk->bp;

	do {
		walk->pc = frame[1];
		walk->sp = (uintptr_t)(frame + 2);
		frame = (const uintptr_t *)frame[0];
	} while (own != NULL && walk->pc - own->start < own->end - own->start);
	walk->bp = (uintptr_t)frame;
	return walk->pc != 0;
}

/* Follow callers as long as their rules are known and plain (CFA = SP or BP + offset) and all words are in the bounds known at the
 * start: what nearly all frames are. Leaves the walk at the first frame that is not, at pc 0 behind the outermost one; returns
 * the number of frames noted. All that counts for speed is the chain pc -> rule -> CFA -> pc. */
static __attribute__((noinline)) size_t walk_plain(struct walk *walk, uint64_t *frames, size_t cap)
{
	const struct rule_entry *const table = rules_table;
	const size_t mask = rules_offset_mask;
	const uintptr_t high = walk->bounds.high;
	uintptr_t pc = walk->pc, sp = walk->sp, bp = walk->bp;
	uintptr_t start = 0, size = 0; /* of the module that the frame before was in */
	uint64_t id = 0;	       /* its id in a frame word */
	size_t n = 0;

	while (n < cap) {
		if (pc - 1 - start >= size) {
			const struct module *module = module_at(pc - 1);

			if (module == NULL)
				break;
			start = module->start;
			size = module->end - start;
			id = frame_make(0, module->id);
		}
		uint64_t packed = rules_find_first(table, mask, id | (pc - 1));
		uintptr_t cfa = (UNPREDICTABLE(packed & RULE_BY_BP) ? bp : sp) + (uintptr_t)(intptr_t)rule_cfa(packed);
		const uintptr_t *saved_bp = (const uintptr_t *)(cfa + (uintptr_t)(intptr_t)rule_bp(packed));

		if ((packed & RULE_PLAIN_MASK) != RULE_PLAIN || cfa - sp - 1 >= high - sp || cfa % 8 != 0 ||
		    (uintptr_t)saved_bp < sp) {
			if ((packed & RULE_KIND_MASK) != RULE_END)
				break;
			frames[n++] = id | pc;
			pc = 0;
			break;
		}
		frames[n++] = id | pc;
		pc = *(const uintptr_t *)(cfa - 8);
		bp = UNPREDICTABLE(packed & RULE_BP_SAVED) ? *saved_bp : bp;
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->bp = bp;
	return n;
}

/* Whether a guessed return address may be one: in no loaded object (JIT code), or in a part of one that is executable. */
static bool may_be_code(uintptr_t address)
{
	const struct module *module = module_at(address);

	for (unsigned i = 0; module != NULL && i < module->segment_count; i++) {
		if (address >= module->segments[i].start && address < module->segments[i].limit)
			return true;
	}
	return module == NULL;
}

static size_t walk_stack(struct walk *walk, uint64_t *frames, size_t cap)
{
	size_t n = 0;

	for (;;) {
		uint64_t frame, packed;

		if (!walk->interrupted && !frame_pointers_only)
			n += walk_plain(walk, frames + n, cap - n);
		if (!walk_plausible_code(walk->pc))
			return n;
		if (n == cap) {
			loss_count(LOSS_truncated);
			return n;
		}
		frame = frame_make(walk_lookup_address(walk), module_of(walk_lookup_address(walk)));
		packed = rule_of(frame);
		/* Readers take one off every address: an interrupted instruction is given one more, and so is the trampoline that
		 * a signal handler returns to, which nobody called. */
		frames[n++] = frame + 1 + ((packed & RULE_KIND_MASK) == RULE_SIGNAL);
		if (!walk_step(walk, packed))
			return n;
		if ((packed & RULE_KIND_MASK) == RULE_NONE && !may_be_code(walk->pc - 1))
			return n;
	}
}

__attribute__((noinline)) void stack_capture(struct stack *stack, unsigned hint)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct walk walk = {.sp = frame, .bp = frame};

	*stack = (struct stack){.buffer = take_buffer(hint)};
	if (stack->buffer == BUFFERS)
		return;
	walk.bounds = bounds_of(frame);
	if (!leave_own_frames(&walk))
		return;
	stack->frames = buffers[stack->buffer].frames;
	stack->depth = walk_stack(&walk, buffers[stack->buffer].frames, depth_max);
}

void stack_release(struct stack *stack)
{
	if (stack->buffer < BUFFERS)
		store_release(&buffers[stack->buffer].busy, 0); /* pairs with the cas_acquire in take_buffer */
}

void stack_reset_child(void)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		store_relaxed(&buffers[i].busy, 0); /* no other thread exists */
}
