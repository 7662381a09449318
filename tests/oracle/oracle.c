/* oracle.c - compares every captured stack with what libunwind's own local mode finds at the same point.
 *
 * Linked into a test-only build of the library with --wrap=stack_capture. Each process appends one line to the file MPROF_ORACLE names:
 *
 *     stacks S different D frames F guessed G first PATH+OFFSET PATH+OFFSET PATH+OFFSET
 *
 * S stacks were compared, F frames in all. G of the stacks have a frame without an unwind table (JIT code, V8's builtins), behind
 * which both sides guess: they are compared up to there. D differ. `first` is the first difference: the frame below it, ours,
 * libunwind's. */
#define UNW_LOCAL_ONLY
#include "core/atomic.h"
#include "core/module.h"
#include "core/rules.h"
#include "core/stack.h"
#include "core/sys.h"
#include "core/text.h"

#include <fcntl.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH_MAX 512

void __real_stack_capture(struct stack *stack, unsigned hint);
void __wrap_stack_capture(struct stack *stack, unsigned hint);

static uint64_t stacks, different, frames, guessed; /* atomic */
static uint64_t first[3];			    /* frame words: below, ours, libunwind's */

/* libunwind's return addresses, the library's own left out. */
static size_t unwind(uintptr_t *addresses, size_t cap)
{
	static __thread unw_context_t context;
	static __thread unw_cursor_t cursor;
	size_t n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_word_t ip;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (ip == 0)
			break;
		if (n > 0 || module_of(ip - 1) != module_self())
			addresses[n++] = ip;
	} while (n < cap && unw_step(&cursor) > 0);
	return n;
}

static void note_difference(const struct stack *stack, const uintptr_t *addresses, size_t n, size_t at)
{
	if (add_relaxed(&different, 1) != 0)
		return;
	first[0] = at > 0 ? stack->frames[at - 1] : 0;
	first[1] = at < stack->depth ? stack->frames[at] : 0;
	first[2] = at < n ? frame_make(addresses[at], module_of(addresses[at])) : 0;
}

/* Whether the way from this frame to its caller is a guess for want of a table. */
static bool is_guess(uint64_t frame)
{
	uint64_t packed = rules_find(frame - 1);

	return frame_module(frame) == MODULE_NONE || (packed & RULE_KIND_MASK) == RULE_NONE;
}

static void compare(const struct stack *stack, const uintptr_t *addresses, size_t n)
{
	size_t i = 0;

	add_relaxed(&stacks, 1);
	for (; i < stack->depth && i < n; i++) {
		uintptr_t ours = frame_pc(stack->frames[i]);

		/* An interrupted instruction and a signal trampoline are noted one higher, as readers take one off. */
		if (ours != addresses[i] && ours != addresses[i] + 1)
			break;
		add_relaxed(&frames, 1);
		if (is_guess(stack->frames[i])) {
			add_relaxed(&guessed, 1);
			return;
		}
	}
	if (i < stack->depth || i < n)
		note_difference(stack, addresses, n, i);
}

__attribute__((noinline)) void __wrap_stack_capture(struct stack *stack, unsigned hint)
{
	static __thread uintptr_t addresses[DEPTH_MAX];
	size_t n;

	__real_stack_capture(stack, hint);
	if (stack->depth == 0)
		return;
	n = unwind(addresses, stack->depth + 1 < DEPTH_MAX ? stack->depth + 1 : DEPTH_MAX);
	if (n > stack->depth && stack->depth == 128)
		n = stack->depth; /* ours is cut at HEAPPROF_DEPTH */
	compare(stack, addresses, n);
}

static void add_field(struct text *line, const char *name, uint64_t number)
{
	text_add(line, name);
	text_add(line, " ");
	text_add_number(line, number);
	text_add(line, " ");
}

static void add_frame(struct text *line, uint64_t frame)
{
	const struct module *module = module_get(frame_module(frame));

	text_add(line, module == NULL ? "?" : module->path);
	text_add(line, "+");
	text_add_number(line, frame_pc(frame) - (module == NULL ? 0 : module->bias));
	text_add(line, " ");
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("MPROF_ORACLE");
	char buf[1536];
	struct text line = {.buf = buf, .cap = sizeof(buf)};
	long fd;

	if (path == NULL || stacks == 0)
		return;
	add_field(&line, "stacks", stacks);
	add_field(&line, "different", different);
	add_field(&line, "frames", frames);
	add_field(&line, "guessed", guessed);
	text_add(&line, "first ");
	for (int i = 0; different != 0 && i < 3; i++)
		add_frame(&line, first[i]);
	text_add(&line, "\n");
	fd = sys_call(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600, 0, 0);
	if (fd >= 0)
		sys_write_all((int)fd, line.buf, line.n);
}
