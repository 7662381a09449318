/* test_stack.c - captured stacks hold the callers, in order, as the compiler and glibc's backtrace see them. */
#include "core/stack.h"

#include "core/arena.h"
#include "core/loss.h"
#include "core/module.h"
#include "tests/unit/race.h"

#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define ORACLE_MAX 200

static struct arena arena;

/* The program counts as not the profiler, so that the frames of these tests stay in. */
static void start_with(const struct stack_options *options)
{
	void *unused;

	cr_assert_eq(arena_init(&arena, 16 << 20), 0);
	module_init(&arena, NULL);
	cr_assert_eq(stack_init(&arena, options), 0);
	backtrace(&unused, 1); /* which loads libgcc, and allocates for that: not in a handler later */
}

static void start(void)
{
	start_with(&(struct stack_options){.depth = 128});
}

TestSuite(stack, .init = start);

/* What a chain of calls left behind, leaf first. */
struct chain {
	struct stack stack;
	void *callers[3];	  /* return addresses of leaf, middle and outer */
	void *oracle[ORACLE_MAX]; /* glibc's view from leaf */
	int oracle_depth;
};

NOINLINE static void leaf(struct chain *chain)
{
	chain->callers[0] = __builtin_return_address(0);
	chain->oracle_depth = backtrace(chain->oracle, ORACLE_MAX);
	stack_capture(&chain->stack, 0);
	__asm__ volatile("" ::: "memory"); /* no tail calls here */
}

NOINLINE static void middle(struct chain *chain)
{
	chain->callers[1] = __builtin_return_address(0);
	leaf(chain);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void outer(struct chain *chain)
{
	chain->callers[2] = __builtin_return_address(0);
	middle(chain);
	__asm__ volatile("" ::: "memory");
}

/* Index of the frame with that return address; depth when there is none. */
static size_t find_frame(const struct stack *stack, const void *address)
{
	size_t i = 0;

	while (i < stack->depth && frame_pc(stack->frames[i]) != (uintptr_t)address)
		i++;
	return i;
}

static bool has_chain(const struct chain *chain)
{
	size_t at = find_frame(&chain->stack, chain->callers[0]);

	if (at + 2 >= chain->stack.depth)
		return false;
	return frame_pc(chain->stack.frames[at + 1]) == (uintptr_t)chain->callers[1] &&
	       frame_pc(chain->stack.frames[at + 2]) == (uintptr_t)chain->callers[2];
}

Test(stack, frame_words)
{
	uint64_t frame = frame_make(0x7FFFFFFFFFFF, MODULE_MAX - 1);

	cr_assert_eq(frame_pc(frame), 0x7FFFFFFFFFFF);
	cr_assert_eq(frame_module(frame), MODULE_MAX - 1);
	cr_assert_eq(frame_make(0x1234, MODULE_NONE), 0x1234);
	cr_assert_eq(frame_module(frame_make(UINTPTR_MAX, 3)), 3);
}

Test(stack, holds_its_callers_in_order)
{
	struct chain chain;

	outer(&chain);
	cr_assert(has_chain(&chain));
	cr_assert(find_frame(&chain.stack, chain.callers[0]) <= 3, "few frames below the one that asked");
	stack_release(&chain.stack);
}

Test(stack, agrees_with_backtrace)
{
	struct chain chain;
	size_t at;
	int from = 0;

	outer(&chain);
	while (from < chain.oracle_depth && chain.oracle[from] != chain.callers[0])
		from++;
	at = find_frame(&chain.stack, chain.callers[0]);
	cr_assert(from < chain.oracle_depth && at < chain.stack.depth);
	cr_assert_eq(chain.stack.depth - at, (size_t)(chain.oracle_depth - from));
	for (; from < chain.oracle_depth; from++, at++)
		cr_expect_eq(frame_pc(chain.stack.frames[at]), (uintptr_t)chain.oracle[from], "frame %zu", at);
	stack_release(&chain.stack);
}

Test(stack, frames_know_their_module)
{
	struct chain chain;

	outer(&chain);
	for (size_t i = 0; i < chain.stack.depth; i++) {
		uint64_t frame = chain.stack.frames[i];

		cr_expect_eq(frame_module(frame), module_of(frame_pc(frame) - 1), "frame %zu", i);
	}
	cr_assert_eq(frame_module(chain.stack.frames[find_frame(&chain.stack, chain.callers[0])]), 1);
	stack_release(&chain.stack);
}

Test(stack, profilers_own_frames_are_left_out)
{
	struct chain chain;

	module_init(&arena, (const void *)start);
	outer(&chain);
	cr_assert(chain.stack.depth > 0);
	cr_assert_neq(frame_module(chain.stack.frames[0]), module_self());
	cr_assert_eq(find_frame(&chain.stack, chain.callers[0]), chain.stack.depth);
	stack_release(&chain.stack);
}

NOINLINE static void recurse(unsigned levels, struct chain *chain)
{
	if (levels == 0)
		outer(chain);
	else
		recurse(levels - 1, chain);
	__asm__ volatile("" ::: "memory");
}

Test(stack, deep_stack_keeps_its_leaves)
{
	struct chain chain;

	recurse(20, &chain);
	cr_assert(has_chain(&chain));
	cr_assert(chain.stack.depth > 23 && chain.stack.depth <= 128);
	cr_assert_eq(loss_counts[LOSS_truncated], 0);
	stack_release(&chain.stack);
	recurse(500, &chain);
	cr_assert(has_chain(&chain));
	cr_assert_eq(chain.stack.depth, 128);
	cr_assert_eq(loss_counts[LOSS_truncated], 1);
	stack_release(&chain.stack);
}

static void expect_depth(size_t depth)
{
	struct chain chain;

	start_with(&(struct stack_options){.depth = depth});
	recurse(2000, &chain);
	cr_assert_eq(chain.stack.depth, depth);
	stack_release(&chain.stack);
}

Test(stack_depth, least)
{
	expect_depth(1);
}

Test(stack_depth, odd)
{
	expect_depth(77);
}

Test(stack_depth, most)
{
	expect_depth(STACK_DEPTH_MAX);
}

/* These tests are compiled with frame pointers, as everything in the Makefile is. */
Test(stack_frame_pointers, are_enough_for_code_that_has_them)
{
	struct chain chain;

	start_with(&(struct stack_options){.depth = 128, .frame_pointers_only = true});
	recurse(20, &chain);
	cr_assert(has_chain(&chain));
	cr_assert(chain.stack.depth > 23);
	stack_release(&chain.stack);
}

/* More captures at once than there are buffers: nobody waits, the rest have no frames, and none is lost for good. */
Test(stack, pool_runs_out_and_recovers)
{
	enum { MANY = 1000 };
	static struct stack held[MANY];
	size_t with_frames = 0, again = 0;

	for (size_t i = 0; i < MANY; i++) {
		stack_capture(&held[i], (unsigned)i);
		with_frames += held[i].depth > 0;
	}
	cr_assert(with_frames >= 16 && with_frames < MANY);
	for (size_t i = 0; i < MANY; i++)
		stack_release(&held[i]);
	for (size_t i = 0; i < MANY; i++) {
		stack_capture(&held[i], 7);
		again += held[i].depth > 0;
	}
	cr_assert_eq(again, with_frames);
	stack_reset_child(); /* the threads that held them are gone */
	stack_capture(&held[0], 7);
	cr_assert(held[0].depth > 0);
}

static struct chain handler_chain;
static void *interrupted; /* return address of the function that raised the signal */

static void on_signal(int signal)
{
	(void)signal;
	outer(&handler_chain);
	__asm__ volatile(
		"" ::
			: "memory"); /* not a jump: the trampoline would be the caller, which is noted one higher */
}

NOINLINE static void raise_here(void)
{
	interrupted = __builtin_return_address(0);
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

Test(stack, reaches_through_a_signal_frame)
{
	struct sigaction action = {.sa_handler = on_signal};

	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	raise_here();
	cr_assert(has_chain(&handler_chain));
	cr_assert(find_frame(&handler_chain.stack, interrupted) < handler_chain.stack.depth);
	stack_release(&handler_chain.stack);
}

#ifdef __x86_64__

/* A function that is interrupted at its very first instruction: the address before it belongs to another function. */
__asm__(".text\n"
	"	.skip 16, 0xCC\n"
	"	.type trap_at_start, @function\n"
	"trap_at_start:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size trap_at_start, . - trap_at_start\n");
void trap_at_start(void);

static void skip_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	outer(&handler_chain);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

NOINLINE static void call_trap(void)
{
	interrupted = __builtin_return_address(0);
	trap_at_start();
	__asm__ volatile("" ::: "memory");
}

Test(stack, function_interrupted_at_its_start)
{
	struct sigaction action = {.sa_sigaction = skip_trap, .sa_flags = SA_SIGINFO};
	const struct stack *stack = &handler_chain.stack;
	size_t caller;

	cr_assert_eq(sigaction(SIGILL, &action, NULL), 0);
	call_trap();
	caller = find_frame(stack, interrupted);
	cr_assert(caller >= 2 && caller < stack->depth);
	/* trap_at_start, call_trap, and this function. Readers take one off each address. */
	cr_assert_eq(frame_pc(stack->frames[caller - 2]), (uintptr_t)trap_at_start + 1);
	cr_assert(frame_pc(stack->frames[caller - 1]) - (uintptr_t)call_trap < 64);
	stack_release(&handler_chain.stack);
}

#endif

#define RACERS 8
#define CAPTURES 2000

static unsigned bad[RACERS];

static void capture_often(unsigned index)
{
	for (unsigned i = 0; i < CAPTURES; i++) {
		struct chain chain;

		recurse(index + i % 5, &chain);
		bad[index] += !has_chain(&chain);
		stack_release(&chain.stack);
	}
}

Test(stack, threads_capture_at_once)
{
	race(RACERS, capture_often);
	for (unsigned index = 0; index < RACERS; index++)
		cr_assert_eq(bad[index], 0, "%u of %u captures in thread %u", bad[index], CAPTURES, index);
}
