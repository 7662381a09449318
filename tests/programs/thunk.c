/* thunk.c - code that the program made itself calls malloc, and a perf map names it; says "ready" and waits for a line. x86-64 and aarch64. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls its second argument with its first, from a frame of its own. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0xff, 0xd6,	  /* call *%rsi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x00, 0x91, /* mov x29, sp */
	0x20, 0x00, 0x3f, 0xd6, /* blr x1 */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

typedef void *thunk(size_t, void *(*)(size_t));

int main(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	thunk *call;
	FILE *map;
	void *kept;

	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof code);
	__builtin___clear_cache((char *)page, (char *)page + sizeof code);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
		return 1;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (map == NULL)
		return 1;
	fprintf(map, "%lx %zx jit:calls_malloc\n", (unsigned long)(uintptr_t)page, sizeof code);
	fclose(map);
	memcpy(&call, &page, sizeof call);
	kept = call(100, malloc);
	puts("ready");
	fflush(stdout);
	getchar();
	free(kept);
	return 0;
}
