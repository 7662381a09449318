/* unattended.c - heaps that grow, shrink, go on or run out, for dumps that nobody asks for: unattended WHAT [ARGUMENT].
 *
 * time MS          allocates for that long, then does nothing for as long
 * steps            says "ready"; for each line "+" keeps 1 MiB more, for "-" frees all; says "done" after each
 * big, small       runs out of memory by one allocation too large, or by many of 1000 bytes; says how many it got; goes on
 * threads          likewise small, in four threads at once
 * abort            likewise big, but gives up at once
 * child MS         forks after half of that time; both allocate for the whole of it
 * room SAMPLES     has as many samples and 320 MiB of address space left; says "ready"; for each line takes 100 MiB; says "done"
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) void
#define MIB ((size_t)1 << 20)

enum { STATUS = 5, KEPT_MAX = 1 << 18, SMALL = 1000, THREADS = 4 };

static void *volatile sink;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- time ------------------------------------------------------------------------------------------------------------- */

SITE site_busy(long ms)
{
	for (long end = now_ms() + ms; now_ms() < end; usleep(1000))
		free(malloc(SMALL));
}

static void allocate_and_rest(long ms)
{
	site_busy(ms);
	usleep((useconds_t)ms * 1000);
}

static void allocate_and_fork(long ms)
{
	pid_t child;

	site_busy(ms / 2);
	child = fork();
	site_busy(ms);
	if (child == 0)
		exit(STATUS);
	printf("%d\n", (int)child);
	must(wait(NULL) == child, "wait");
}

/* --- steps ------------------------------------------------------------------------------------------------------------ */

static void *kept[KEPT_MAX];
static int kept_count;

SITE site_grow(void)
{
	kept[kept_count++] = malloc(MIB);
}

static void shrink(void)
{
	while (kept_count > 0)
		free(kept[--kept_count]);
}

static void follow_steps(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) != NULL) {
		if (line[0] == '+')
			site_grow();
		else
			shrink();
		puts("done");
		fflush(stdout);
	}
}

/* --- out of memory ---------------------------------------------------------------------------------------------------- */

/* Let the process have that much more address space. */
static void limit(size_t more)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit most;

	must(file != NULL && fscanf(file, "%lu", &pages) == 1, "statm");
	fclose(file);
	most.rlim_cur = pages * 4096 + more;
	most.rlim_max = RLIM_INFINITY;
	must(setrlimit(RLIMIT_AS, &most) == 0, "setrlimit");
}

static void unlimit(void)
{
	struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};

	must(setrlimit(RLIMIT_AS, &most) == 0, "setrlimit");
}

SITE site_small(void **blocks, int *count, int max)
{
	while (*count < max && (blocks[*count] = malloc(SMALL)) != NULL)
		++*count;
	must(*count < max && errno == ENOMEM, "running out of memory");
}

static void go_on(void)
{
	while (kept_count > 0)
		free(kept[--kept_count]);
	for (int i = 0; i < 1000; i++)
		free(malloc(SMALL));
	unlimit();
	sink = malloc(200 * MIB);
	must(sink != NULL, "memory after the limit was raised");
}

static void take_room(long samples)
{
	char line[64];

	for (long i = 1; i <= samples; i++)
		free(malloc((size_t)i));
	limit(320 * MIB);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) != NULL) {
		sink = malloc(100 * MIB);
		must(sink != NULL, "100 of 320 MiB");
		puts("done");
		fflush(stdout);
	}
}

static void run_out_at_once(void)
{
	for (int i = 0; i < 10; i++)
		site_grow();
	limit(32 * MIB);
	for (int i = 0; i < 3; i++) {
		sink = malloc(1024 * MIB);
		must(sink == NULL && errno == ENOMEM, "running out of memory");
	}
	go_on();
}

static void give_up(void)
{
	for (int i = 0; i < 10; i++)
		site_grow();
	limit(32 * MIB);
	sink = malloc(1024 * MIB);
	if (sink == NULL)
		abort();
}

static void run_out(void)
{
	limit(64 * MIB);
	for (int i = 0; i < 3; i++)
		site_small(kept, &kept_count, KEPT_MAX);
	printf("%d\n", kept_count);
	go_on();
}

static pthread_barrier_t limited; /* until then a thread could use up its blocks rather than the memory */

static void *run_out_in_a_thread(void *argument)
{
	void **blocks = argument;
	int count = 0;

	free(malloc(SMALL)); /* jemalloc 5.3 crashes when memory ends where it makes a thread's arena */
	pthread_barrier_wait(&limited);
	site_small(blocks, &count, KEPT_MAX / THREADS);
	while (count > 0)
		free(blocks[--count]);
	return NULL;
}

static void run_out_in_threads(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&limited, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&threads[i], NULL, run_out_in_a_thread, kept + KEPT_MAX / THREADS * i) == 0,
		     "pthread_create");
	limit(64 * MIB);
	pthread_barrier_wait(&limited);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	go_on();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long argument = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(what, "time") == 0)
		allocate_and_rest(argument);
	else if (strcmp(what, "child") == 0)
		allocate_and_fork(argument);
	else if (strcmp(what, "steps") == 0)
		follow_steps();
	else if (strcmp(what, "room") == 0)
		take_room(argument);
	else if (strcmp(what, "big") == 0)
		run_out_at_once();
	else if (strcmp(what, "abort") == 0)
		give_up();
	else if (strcmp(what, "small") == 0)
		run_out();
	else if (strcmp(what, "threads") == 0)
		run_out_in_threads();
	else
		return 2;
	return STATUS;
}
