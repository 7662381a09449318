/* helper.c - a short-lived thread of the profiler's own, so that the program's threads go on while it writes.
 *
 * Its thread-local storage is a copy in shape of the constructor's thread: the same distances from the thread pointer, for the profiler's
 * own variables, jemalloc's and errno; all zero. That is a valid state of ours, and of jemalloc's enough for je_nallocx, the only
 * function of it that a helper calls. */
#include "preload/helper.h"

#include "core/arch.h"
#include "core/atomic.h"
#include "core/sys.h"
#include "preload/profiler.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>

#define PAGE ((size_t)4096)
#define STACK_BYTES ((size_t)128 << 10)
#define CONTROL_BYTES PAGE /* of the thread's control block, of which all but the start stays zero */
#define HELPERS 3	   /* a status is answered while a dump is written and another one sent */
#define WAIT_NS ((int64_t)10000000000)
#define FIRST_OWN_FD 3

#define CLONE_FLAGS \
	(CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_CLEARTID)

static struct helper {
	/* Atomic: the process it works for, from its start on; the kernel clears it when the thread is gone. The process, because a child made
	 * without libc's fork has its parent's word but not its helper. */
	uint32_t busy;
	uintptr_t stack_top;
	void *thread_pointer; /* NULL = no memory for it */
	struct task task;
} helpers[HELPERS];

/* Lowest address of this thread's storage for our object. */
static int find_storage(struct dl_phdr_info *info, size_t size, void *lowest)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    (uintptr_t)find_storage - (info->dlpi_addr + header->p_vaddr) < header->p_memsz) {
			*(uintptr_t *)lowest = (uintptr_t)info->dlpi_tls_data;
			return 1;
		}
	}
	return 0;
}

/* Bytes of thread-local storage below the thread pointer that a helper may touch. */
static size_t storage_bytes(void)
{
	uintptr_t pointer = (uintptr_t)__builtin_thread_pointer();
	uintptr_t lowest = pointer;

	dl_iterate_phdr(find_storage, &lowest);
	if ((uintptr_t)&errno < lowest)
		lowest = (uintptr_t)&errno;
	return (pointer - lowest + PAGE - 1) & ~(PAGE - 1);
}

/* From low to high: a page that cannot be touched, the stack, the storage, the control block. */
void helper_init(void)
{
	size_t storage = storage_bytes();

	for (int i = 0; i < HELPERS; i++) {
		char *memory = sys_reserve(PAGE + STACK_BYTES + storage + CONTROL_BYTES);

		if (memory == NULL || sys_commit(memory + PAGE, STACK_BYTES + storage + CONTROL_BYTES) < 0)
			return;
		helpers[i].stack_top = (uintptr_t)memory + PAGE + STACK_BYTES;
		helpers[i].thread_pointer = memory + PAGE + STACK_BYTES + storage;
		arch_init_control_block(helpers[i].thread_pointer);
	}
}

static void run(void *argument)
{
	struct helper *helper = argument;

	profiler_thread.busy = 1;
	sys_leave_descriptors(FIRST_OWN_FD); /* where the kernel is older than 5.9 it shares the program's */
	helper->task.work(&helper->task);
}

/* A helper that is free, claimed; NULL when there is none. */
static struct helper *claim(void)
{
	uint32_t self = (uint32_t)sys_getpid();

	for (int i = 0; i < HELPERS; i++) {
		uint32_t other = load_relaxed(&helpers[i].busy);

		/* Acquire: pairs with the kernel's store at the thread's end. */
		if (helpers[i].thread_pointer != NULL && other != self && cas_acquire(&helpers[i].busy, &other, self))
			return &helpers[i];
	}
	return NULL;
}

int helper_start(const struct task *task)
{
	struct helper *helper;
	uint64_t mask;
	long result;

	if (helpers[0].thread_pointer == NULL)
		return -ENOMEM;
	sys_block_signals(&mask); /* the new thread inherits that */
	helper = claim();
	result = -EBUSY;
	if (helper != NULL) {
		helper->task = *task;
		result = arch_clone(CLONE_FLAGS, helper->stack_top, helper->thread_pointer, &helper->busy, run, helper);
		if (result < 0)
			store_relaxed(&helper->busy, 0); /* relaxed: nothing was done */
	}
	sys_unblock_signals(&mask);
	return result < 0 ? (int)result : 0;
}

void helper_wait(void)
{
	int64_t end = sys_monotonic_ns() + WAIT_NS;
	uint32_t self = (uint32_t)sys_getpid();

	for (int i = 0; i < HELPERS; i++) {
		/* Relaxed: what a helper did is not looked at. */
		while (load_relaxed(&helpers[i].busy) == self && sys_monotonic_ns() < end)
			sys_wait(&helpers[i].busy, self, end - sys_monotonic_ns());
	}
}

void helper_reset_child(void)
{
	for (int i = 0; i < HELPERS; i++)
		store_relaxed(&helpers[i].busy, 0); /* single-threaded */
}
