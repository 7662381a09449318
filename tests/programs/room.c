/* room.c - how much of the stack an allocation takes, by painting it before: room. Prints bytes for the first of a call
 * site, and for a later one. The thread's stack has 16 KiB, as small as glibc allows. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_BYTES ((size_t)16 << 10)
#define GAP 512 /* bytes below the measuring frame that are not painted: memset's own frame */
#define PAINT 0xA5

static unsigned char *stack;

static void keep(void *ptr)
{
	__asm__ volatile("" : : "r"(ptr) : "memory");
}

static void allocate(void)
{
	void *ptr = malloc(5001);

	keep(ptr);
	free(ptr);
}

static void from_elsewhere(void)
{
	allocate();
	keep(NULL);
}

/* Bytes below this frame that the call has written to. */
static size_t taken_by(void (*call)(void))
{
	unsigned char *here = __builtin_frame_address(0);
	unsigned char *at = stack;

	memset(stack, PAINT, (size_t)(here - stack) - GAP);
	call();
	while (*at == PAINT)
		at++;
	return (size_t)(here - at);
}

static void *measure(void *unused)
{
	size_t first, warm;

	(void)unused;
	free(malloc(100)); /* jemalloc's first allocation of a thread sets its cache up, deep in the stack */
	taken_by(allocate);
	first = taken_by(from_elsewhere);
	warm = taken_by(from_elsewhere);
	printf("%zu %zu\n", first, warm);
	return NULL;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK_BYTES);
	if (pthread_create(&thread, &attributes, measure, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
