/* guest.c - shows everything of a process that a well-behaved guest leaves alone: guest state|errno|errno-locked. */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void allocate_a_lot(void)
{
	for (int i = 0; i < 20000; i++)
		free(malloc(1000));
}

/* --- state: descriptors, signals, threads -------------------------------------------------------------------------- */

static void show_directory(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(directory)) != NULL)
		count += entry->d_name[0] != '.';
	printf("%s holds %d\n", path, count);
	closedir(directory);
}

static void show_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		char name[64], target[256];
		ssize_t n;

		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		n = readlink(name, target, sizeof target - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		/* A pipe's or socket's number differs from run to run. */
		target[strcspn(target, "[")] = '\0';
		printf("fd %d %s\n", fd, target);
	}
}

/* Bare system calls: libc hides the two signals that it uses itself. */
static void show_signals(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	for (int number = 1; number <= 64; number++) {
		uintptr_t action[4] = {0}; /* the handler, then flags, restorer and mask */

		syscall(SYS_rt_sigaction, number, NULL, action, sizeof mask);
		printf("signal %d %s %s\n", number,
		       action[0] == (uintptr_t)SIG_DFL	 ? "default"
		       : action[0] == (uintptr_t)SIG_IGN ? "ignored"
							 : "handled",
		       mask >> (number - 1) & 1 ? "blocked" : "open");
	}
}

static void show_state(void)
{
	show_descriptors();
	show_signals();
	show_directory("/proc/self/task");
}

/* --- errno ---------------------------------------------------------------------------------------------------------- */

static int failures;

static void kept(const char *what)
{
	if (errno == 4242)
		return;
	fprintf(stderr, "%s changed errno to %d\n", what, errno);
	failures++;
	errno = 4242;
}

#define KEEPS(call) \
	do { \
		errno = 4242; \
		call; \
		kept(#call); \
	} while (0)

static void errno_of_all(void)
{
	static const size_t sizes[] = {1, 100, 5000, 100000, 3000000, 20000000};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i];
		void *p = NULL, *blocks[64];

		KEEPS(p = malloc(size));
		KEEPS(p = realloc(p, size * 2));
		KEEPS(p = realloc(p, size / 2 + 1));
		KEEPS(p = reallocarray(p, 3, size));
		KEEPS(malloc_usable_size(p));
		KEEPS(free(p));
		KEEPS(p = calloc(2, size));
		KEEPS(free(p));
		KEEPS(posix_memalign(&p, 128, size));
		KEEPS(free(p));
		KEEPS(p = aligned_alloc(64, size));
		KEEPS(p = realloc(p, 0));
		KEEPS(p = memalign(8192, size));
		KEEPS(free(p));
		KEEPS(p = valloc(size));
		KEEPS(free(p));
		KEEPS(free(NULL));
		for (int b = 0; b < 64; b++)
			KEEPS(blocks[b] = malloc(size));
		for (int b = 0; b < 64; b++)
			KEEPS(free(blocks[b]));
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "state") == 0) {
		show_state();
		allocate_a_lot();
		show_state();
		return 0;
	}
	if (strcmp(mode, "errno") == 0) {
		errno_of_all();
		return failures != 0;
	}
	/* With all memory locked, giving pages back fails inside the allocator: nobody may see that. */
	if (strcmp(mode, "errno-locked") == 0) {
		void *blocks[64];

		if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
			return 77;
		for (int b = 0; b < 64; b++)
			KEEPS(blocks[b] = malloc(1 << 20));
		for (int b = 0; b < 64; b++)
			KEEPS(free(blocks[b]));
		return failures != 0;
	}
	return 2;
}
