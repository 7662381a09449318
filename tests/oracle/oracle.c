/* oracle.c - compares every captured stack with what libunwind's own local mode finds at the same point.
 *
 * Linked into a test-only build of the library with --wrap=stack_capture. At its exit each process adds to the file MPROF_ORACLE names:
 *
 *     stacks S different D frames F guessed G agreed A
 *     difference KIND below PATH+OFFSET ours PATH+OFFSET libunwind PATH+OFFSET
 *
 * S stacks were compared, F frames were equal, D stacks differ; the first few differences follow, a line each: ours is empty, short
 * (libunwind goes on), long, or another frame. G of the stacks have a frame without an unwind table (JIT code, V8's builtins),
 * behind which both sides guess: they are compared up to there, and A of them agree to the end.
 *
 * What has no table is for libunwind to say, not for our rules: a rule that could not be learned must not pass for a guess. */
#define UNW_LOCAL_ONLY
#include "core/atomic.h"
#include "core/module.h"
#include "core/stack.h"
#include "core/sys.h"
#include "core/text.h"

#include <fcntl.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH_MAX 512
#define SHOWN 8U /* differences */

/* A frame as libunwind sees it. */
struct expected {
	uintptr_t address; /* as our frames have it: in the reader's eyes a return address */
	bool no_table;	   /* its caller is a guess */
};

struct difference {
	const char *kind;
	uint64_t below, ours, theirs; /* frame words; 0 = there is none */
};

void __real_stack_capture(struct stack *stack, unsigned hint);
void __wrap_stack_capture(struct stack *stack, unsigned hint);

static uint64_t stacks, different, frames, guessed, agreed; /* atomic, relaxed: sums that are read when all is over */
static struct difference shown[SHOWN];
static size_t depth_limit = 128; /* HEAPPROF_DEPTH */

/* On x86-64 libunwind answers for code without a table with a procedure of one byte. Source: src/x86_64/Gget_proc_info.c. */
static bool has_no_table(unw_cursor_t *cursor)
{
	unw_proc_info_t info;

	return unw_get_proc_info(cursor, &info) < 0 || (info.end_ip == info.start_ip + 1 && info.unwind_info == NULL);
}

/* Whether this is where a signal handler returns to: mov $15, %rax; syscall. libunwind's own unw_is_signal_frame knows only after
 * the step. Source: glibc, sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c. */
static bool is_trampoline(uintptr_t ip)
{
	static const unsigned char code[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};

	return module_of(ip) != MODULE_NONE && memcmp((const void *)ip, code, sizeof(code)) == 0;
}

/* libunwind's stack, the library's own frames left out. An interrupted instruction, which is the frame after a signal trampoline, and
 * the trampoline itself have one more than libunwind gives; nothing else has. */
static size_t unwind(struct expected *expected, size_t cap)
{
	static __thread unw_context_t context;
	static __thread unw_cursor_t cursor;
	bool interrupted = false;
	size_t n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		bool trampoline;
		unw_word_t ip;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (ip == 0)
			break;
		trampoline = is_trampoline(ip);
		if (n > 0 || module_of(ip - 1) != module_self())
			expected[n++] = (struct expected){.address = ip + (interrupted || trampoline),
							  .no_table = has_no_table(&cursor)};
		interrupted = trampoline;
	} while (n < cap && unw_step(&cursor) > 0);
	return n;
}

static void note_difference(const char *kind, const struct stack *stack, const struct expected *expected, size_t n,
			    size_t at)
{
	uint64_t index = add_relaxed(&different, 1);

	if (index >= SHOWN)
		return;
	shown[index].below = at > 0 ? stack->frames[at - 1] : 0;
	shown[index].ours = at < stack->depth ? stack->frames[at] : 0;
	shown[index].theirs = at < n ? frame_make(expected[at].address, module_of(expected[at].address - 1)) : 0;
	shown[index].kind = kind;
}

/* The number of frames that are equal, from the leaf on. */
static size_t equal_frames(const struct stack *stack, const struct expected *expected, size_t n)
{
	size_t i = 0;

	while (i < stack->depth && i < n && frame_pc(stack->frames[i]) == expected[i].address)
		i++;
	return i;
}

/* The number of frames until the first guess, the one guessed from among them; n when there is none. */
static size_t certain_frames(const struct expected *expected, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (expected[i].no_table)
			return i + 1;
	}
	return n;
}

static void compare(const struct stack *stack, const struct expected *expected, size_t n)
{
	size_t equal = equal_frames(stack, expected, n);
	size_t certain = certain_frames(expected, n);
	bool guess = n > 0 && expected[certain - 1].no_table;
	bool all = equal == n && equal == stack->depth;

	add_relaxed(&stacks, 1);
	add_relaxed(&frames, equal < certain ? equal : certain);
	if (guess) {
		add_relaxed(&guessed, 1);
		add_relaxed(&agreed, all);
	}
	if (all || (guess && equal >= certain))
		return;
	note_difference(stack->depth == 0	? "empty"
			: equal == stack->depth ? "short"
			: equal == n		? "long"
						: "other",
			stack, expected, n, equal);
}

__attribute__((noinline)) void __wrap_stack_capture(struct stack *stack, unsigned hint)
{
	static __thread struct expected expected[DEPTH_MAX];
	size_t n;

	__real_stack_capture(stack, hint);
	n = unwind(expected, depth_limit); /* both are cut at the same depth */
	compare(stack, expected, n);
}

/* A forked child counts its own stacks only. */
static void forget(void)
{
	stacks = different = frames = guessed = agreed = 0;
	memset(shown, 0, sizeof(shown));
}

__attribute__((constructor)) static void prepare(void)
{
	const char *depth = getenv("HEAPPROF_DEPTH");

	if (depth != NULL)
		depth_limit = strtoul(depth, NULL, 10);
	if (depth_limit > DEPTH_MAX)
		depth_limit = DEPTH_MAX;
	pthread_atfork(NULL, NULL, forget);
	/* The cache knows an address only as such; where one is both an interrupted instruction and the return address of the call
	 * just before, which ends another function, it gives the rule of the wrong one. Source: src/dwarf/Gparser.c, rs_lookup. */
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
}

static void add_field(struct text *line, const char *name, uint64_t number)
{
	text_add(line, name);
	text_add(line, " ");
	text_add_number(line, number);
	text_add(line, " ");
}

static void add_frame(struct text *line, const char *name, uint64_t frame)
{
	const struct module *module = module_get(frame_module(frame));

	text_add(line, name);
	text_add(line, " ");
	text_add(line, module == NULL ? "?" : module->path);
	text_add(line, "+");
	text_add_number(line, frame_pc(frame) - (module == NULL ? 0 : module->bias));
	text_add(line, " ");
}

static void add_difference(struct text *line, const struct difference *difference)
{
	text_add(line, "difference ");
	text_add(line, difference->kind);
	text_add(line, " ");
	add_frame(line, "below", difference->below);
	add_frame(line, "ours", difference->ours);
	add_frame(line, "libunwind", difference->theirs);
	text_add(line, "\n");
}

/* One write, so that the lines of processes that end at the same time stay apart. */
__attribute__((destructor)) static void report(void)
{
	static char buf[16384];
	const char *path = getenv("MPROF_ORACLE");
	struct text text = {.buf = buf, .cap = sizeof(buf)};
	long fd;

	if (path == NULL || stacks == 0)
		return;
	add_field(&text, "stacks", stacks);
	add_field(&text, "different", different);
	add_field(&text, "frames", frames);
	add_field(&text, "guessed", guessed);
	add_field(&text, "agreed", agreed);
	text_add(&text, "\n");
	for (unsigned i = 0; i < SHOWN && shown[i].kind != NULL; i++)
		add_difference(&text, &shown[i]);
	fd = sys_call(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600, 0, 0);
	if (fd >= 0)
		sys_write_all((int)fd, text.buf, text.n, 0);
}
