/* stack.c - captures the calling thread's stack with libunwind.
 *
 * libunwind is opened privately (RTLD_LOCAL), so that the _Unwind_* names it exports never pre-empt libgcc's in the program. */
#include "core/stack.h"

#include "core/arena.h"
#include "core/atomic.h"
#include "core/loss.h"
#include "core/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#define BUFFERS 64U	 /* captures under way at once */
#define OWN_FRAMES_MAX 8 /* room for the profiler's own frames, which are then left out */

_Static_assert(sizeof(void *) == sizeof(uint64_t), "return addresses are captured into frame words in place");

struct buffer {
	unsigned busy; /* atomic: 1 while a thread captures into it */
	uint64_t frames[STACK_DEPTH_MAX + OWN_FRAMES_MAX];
} __attribute__((aligned(64)));

static int (*backtrace_fn)(void **buffer, int size);
static struct buffer *buffers; /* BUFFERS of them, touched lazily */
static size_t depth_max;

int stack_init(struct arena *arena, size_t depth)
{
	struct stack stack;
	void *library;

	depth_max = depth;
	buffers = arena_alloc(arena, BUFFERS * sizeof(buffers[0]), 64);
	if (buffers == NULL)
		return -ENOMEM;
	library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return -ENOENT;
	*(void **)&backtrace_fn = dlsym(library, "unw_backtrace");
	if (backtrace_fn == NULL)
		return -ENOENT;
	stack_capture(&stack, 0); /* its lazy initialization happens here, not in a sample */
	stack_release(&stack);
	return 0;
}

const char *stack_unwinder(void)
{
	return backtrace_fn == NULL ? NULL : "libunwind";
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

/* Turn return addresses into frame words in place; addresses next to each other usually share a module. */
static void resolve_modules(uint64_t *frames, size_t n)
{
	const struct module *module = NULL;
	unsigned id = MODULE_NONE;

	for (size_t i = 0; i < n; i++) {
		uintptr_t pc = frames[i];

		if (module == NULL || pc - 1 < module->start || pc - 1 >= module->end) {
			id = module_of(pc - 1);
			module = module_get(id);
		}
		frames[i] = frame_make(pc, id);
	}
}

void stack_capture(struct stack *stack, unsigned hint)
{
	uint64_t *frames;
	int n;

	*stack = (struct stack){.buffer = take_buffer(hint)};
	if (stack->buffer == BUFFERS || backtrace_fn == NULL)
		return;
	frames = buffers[stack->buffer].frames;
	n = backtrace_fn((void **)frames, (int)(depth_max + OWN_FRAMES_MAX));
	if (n <= 0)
		return;
	resolve_modules(frames, (size_t)n);
	while (n > 0 && frame_module(frames[0]) == module_self() && module_self() != MODULE_NONE) {
		frames++;
		n--;
	}
	if ((size_t)n > depth_max) {
		n = (int)depth_max;
		loss_count(LOSS_truncated);
	}
	stack->frames = frames;
	stack->depth = (size_t)n;
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
