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
	for (unsigned i = 0; i < BUFFERS; i++) {
		unsigned at = (hint + i) % BUFFERS;
		unsigned idle = 0;

		/* Acquire: pairs with the store_release in stack_release; the last user's reads are over. */
		if (load_relaxed(&buffers[at].busy) == 0 && cas_acquire(&buffers[at].busy, &idle, 1))
			return at;
	}
	return BUFFERS;
}

/* The module that an address lies in, asked for once per run of frames in the same one. */
struct run {
	const struct module *module;
	unsigned id;
};

static unsigned run_module(struct run *run, uintptr_t address)
{
	if (run->module == NULL || address - run->module->start >= run->module->end - run->module->start) {
		run->id = module_of(address);
		run->module = module_get(run->id);
	}
	return run->id;
}

static uint64_t rule_of(uint64_t frame)
{
	uint64_t packed;

	if (frame_pointers_only || frame_module(frame) == MODULE_NONE)
		return RULE_NONE;
	packed = rules_find(frame);
	return packed != 0 ? packed : learn_rule(frame);
}

/* Leave the profiler's own frames: the walk starts in the caller of this function's caller. */
static bool leave_own_frames(struct walk *walk)
{
	const struct module *own = module_get(module_self());

	do {
		if (!walk_step_frame_pointer(walk))
			return false;
	} while (own != NULL && walk->pc - own->start < own->end - own->start);
	return true;
}

/* Follow callers as long as they are in one module, their rules are known and plain (CFA = SP or BP + offset), and all words are in the
 * bounds known at the start: what nearly all frames are. Leaves the walk at the first frame that is not; returns the number of frames
 * noted. All that counts for speed is the chain pc -> rule -> CFA -> pc. */
static __attribute__((noinline)) size_t walk_plain(struct walk *walk, const struct run *run, uint64_t *frames,
						   size_t cap)
{
	const uintptr_t start = run->module->start, size = run->module->end - start;
	const uint64_t id = frame_make(0, run->id);
	const uintptr_t high = walk->bounds.high;
	uintptr_t pc = walk->pc, sp = walk->sp, bp = walk->bp;
	size_t n = 0;

	while (n < cap && pc - 1 - start < size) {
		uint64_t packed = rules_find_first(id | (pc - 1));
		uintptr_t cfa =
			((packed & RULE_KIND_MASK) == RULE_SP ? sp : bp) + (uintptr_t)(intptr_t)rule_cfa(packed);
		uintptr_t bp_address = cfa + (uintptr_t)(intptr_t)rule_bp(packed);
		unsigned bp_from = (unsigned)packed >> RULE_BP_FROM_SHIFT & 3;

		if ((packed & RULE_KIND_MASK) < RULE_SP || bp_from > RULE_BP_AT_CFA)
			break;
		if (cfa <= sp || cfa > high || cfa % 8 != 0 || bp_address < walk->bounds.low || bp_address > high - 8)
			break;
		frames[n++] = id | pc;
		pc = *(const uintptr_t *)(cfa - 8);
		if (bp_from == RULE_BP_AT_CFA)
			bp = *(const uintptr_t *)bp_address;
		sp = cfa;
	}
	walk->pc = pc;
	walk->sp = sp;
	walk->bp = bp;
	return n;
}

static size_t walk_stack(struct walk *walk, uint64_t *frames, size_t cap)
{
	struct run run = {0};
	size_t n = 0;

	for (;;) {
		uintptr_t address = walk_lookup_address(walk);
		unsigned id = run_module(&run, address);

		if (id != MODULE_NONE && !walk->interrupted && !frame_pointers_only) {
			size_t plain = walk_plain(walk, &run, frames + n, cap - n);

			n += plain;
			if (!walk_plausible_code(walk->pc))
				return n;
			address = walk->pc - 1;
			id = run_module(&run, address);
		}
		if (n == cap) {
			loss_count(LOSS_truncated);
			return n;
		}
		/* Readers take one off every address but the leaf's: an interrupted instruction is given one more. */
		frames[n++] = frame_make(address + 1, id);
		if (!walk_step(walk, rule_of(frame_make(address, id))))
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
