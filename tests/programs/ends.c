/* ends.c - becomes something else, at a word, while a long dump may be under way: ends HOW SAMPLES.
 *
 * Says "ready" when it holds that many different samples, waits for a line, and then ends, or goes on, in the way named. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS = 7, NOBODY = 65534 };

static void *volatile sink;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void wait_for_line(void)
{
	char line[64];

	(void)!fgets(line, sizeof line, stdin);
}

static void site_sizes(int count)
{
	for (int i = 1; i <= count; i++)
		free(malloc((size_t)i));
}

static void site_after(void)
{
	sink = malloc(1000);
}

static void go_on(void)
{
	site_after();
	say("after");
	wait_for_line();
	exit(STATUS);
}

static void *call_exit(void *unused)
{
	exit(STATUS);
	return unused;
}

static void exit_in_a_thread(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, call_exit, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

static void exit_at_once(void)
{
	_exit(STATUS);
}

static void end_main_thread(void)
{
	pthread_exit(NULL);
}

static void execute(void)
{
	execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
}

static void change_user(void)
{
	must(setuid(NOBODY) == 0, "setuid");
	go_on();
}

/* The child says who it is and waits for a line; then the parent does. */
static void go_on_with(pid_t child)
{
	int status;

	must(child >= 0, "fork");
	if (child == 0) {
		site_after();
		printf("child %d\n", (int)getpid());
		fflush(stdout);
		wait_for_line();
		exit(3);
	}
	must(waitpid(child, &status, 0) == child && status == 3 << 8, "the child's exit status");
	go_on();
}

static void make_child(void)
{
	go_on_with(fork());
}

/* Past libc: nobody's fork handlers run. */
static void make_child_silently(void)
{
	go_on_with((pid_t)syscall(SYS_fork));
}

/* The child, which lives in the parent's memory, is asked for a dump and is another program before that is written. */
static void borrow_memory(void)
{
	int status;
	pid_t child = vfork();

	if (child == 0) {
		kill(getpid(), SIGRTMAX - 4);
		execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(99);
	}
	must(waitpid(child, &status, 0) == child && status == 4 << 8, "the child's exit status");
	go_on();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*go)(void);
	} ways[] = {{"exit", NULL},	      {"exit-thread", exit_in_a_thread},
		    {"_exit", exit_at_once},  {"thread", end_main_thread},
		    {"exec", execute},	      {"setuid", change_user},
		    {"fork", make_child},     {"silent-fork", make_child_silently},
		    {"vfork", borrow_memory}, {"on", go_on}};

	for (size_t i = 0; argc == 3 && i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		site_sizes(atoi(argv[2]));
		say("ready");
		wait_for_line();
		if (ways[i].go != NULL)
			ways[i].go();
		return STATUS;
	}
	return 2;
}
