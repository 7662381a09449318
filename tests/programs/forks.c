/* forks.c - programs that make processes: forks keep|many|spawn|exec. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) void
#define MIB ((size_t)1 << 20)

extern char **environ;

static void *volatile sink;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static void keep_mib(int count)
{
	while (count-- > 0)
		sink = malloc(MIB);
}

/* --- keep: the parent keeps 100 MiB, four children 50 MiB each ------------------------------------------------------ */

SITE site_parent(void)
{
	keep_mib(100);
}

SITE site_child_0(void)
{
	keep_mib(50);
}

SITE site_child_1(void)
{
	keep_mib(50);
}

SITE site_child_2(void)
{
	keep_mib(50);
}

SITE site_child_3(void)
{
	keep_mib(50);
}

static void keep(void)
{
	static void (*const sites[])(void) = {site_child_0, site_child_1, site_child_2, site_child_3};

	site_parent();
	for (int i = 0; i < 4; i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		must(child >= 0, "fork");
		if (child == 0) {
			sites[i]();
			exit(0);
		}
		printf("child %d\n", (int)child);
	}
	for (int i = 0, status; i < 4; i++)
		must(wait(&status) > 0 && status == 0, "wait");
	printf("parent %d\n", (int)getpid());
}

/* --- many: forks while eight threads allocate; each child allocates and exits ---------------------------------------- */

enum { FORKS = 40 };

static volatile int stop;

static void *allocate_until_stopped(void *unused)
{
	void *blocks[64] = {NULL};

	for (unsigned i = 0; !stop; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = malloc(i * 37 % 64 * 64);
	}
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
	return unused;
}

static void many(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		must(pthread_create(&threads[i], NULL, allocate_until_stopped, NULL) == 0, "pthread_create");
	for (int i = 0; i < FORKS; i++) {
		int status;
		pid_t child = fork();

		must(child >= 0, "fork");
		if (child == 0) {
			site_child_0();
			exit(3);
		}
		must(waitpid(child, &status, 0) == child, "waitpid");
		must(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child's exit status");
	}
	stop = 1;
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	puts("many");
}

/* --- spawn: every way to start a program, from threads ---------------------------------------------------------------- */

static void by_vfork(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(99);
	}
	must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4, "vfork");
}

static void by_posix_spawn(void)
{
	static char *const arguments[] = {"sh", "-c", "exit 5", NULL};
	int status;
	pid_t child;

	must(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0, "posix_spawn");
	must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "posix_spawn's child");
}

static void by_popen(void)
{
	char line[32];
	FILE *from = popen("echo hello", "r");

	must(from != NULL && fgets(line, sizeof line, from) != NULL && strcmp(line, "hello\n") == 0, "popen");
	must(pclose(from) == 0, "pclose");
}

static void by_system(void)
{
	must(WEXITSTATUS(system("exit 6")) == 6, "system");
}

static void *spawn_all(void *unused)
{
	for (int i = 0; i < 20; i++) {
		free(malloc(100000));
		by_vfork();
		by_posix_spawn();
		by_popen();
		by_system();
	}
	return unused;
}

static void spawn(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		must(pthread_create(&threads[i], NULL, spawn_all, NULL) == 0, "pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("spawned");
}

/* --- exec: the process becomes another program ------------------------------------------------------------------------ */

SITE site_before_exec(void)
{
	keep_mib(10);
}

SITE site_after_exec(void)
{
	keep_mib(20);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "keep") == 0) {
		keep();
	} else if (strcmp(mode, "many") == 0) {
		many();
	} else if (strcmp(mode, "spawn") == 0) {
		spawn();
	} else if (strcmp(mode, "exec") == 0) {
		site_before_exec();
		execl("/proc/self/exe", argv[0], "executed", (char *)NULL);
		must(0, "exec");
	} else if (strcmp(mode, "executed") == 0) {
		site_after_exec();
		printf("executed %d\n", (int)getpid());
	} else {
		return 2;
	}
	return 0;
}
