/* dumps.c - a program with known sites that is asked for dumps in places where making one is hard: dumps PLACE [ARGUMENT [SIZES]].
 *
 * Says "ready" when it is there, answers each line of its standard input after allocating once more, and ends with 5 when that ends. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) void

enum { ROUND = 100, FEW_DESCRIPTORS = 32, NO_SUCH_PLACE = 2, CANNOT = 77 };

static void *volatile sink;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static void start_thread(void *(*run)(void *), const pthread_attr_t *attributes, void *argument)
{
	pthread_t thread;

	must(pthread_create(&thread, attributes, run, argument) == 0, "pthread_create");
}

/* --- the sites ------------------------------------------------------------------------------------------------------ */

SITE site_held(void)
{
	for (int i = 0; i < ROUND; i++)
		sink = malloc(1000);
}

SITE site_freed(void)
{
	for (int i = 0; i < ROUND; i++)
		free(malloc(2000));
}

SITE site_child(void)
{
	for (int i = 0; i < ROUND; i++)
		sink = malloc(3000);
}

/* As many samples as that, all different, and so a long dump. */
SITE site_sizes(int count)
{
	for (int i = 1; i <= count; i++)
		free(malloc((size_t)i));
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void serve(void)
{
	char line[64];

	while (fgets(line, sizeof line, stdin) != NULL) {
		site_held();
		site_freed();
		say("done");
	}
}

/* --- the places ----------------------------------------------------------------------------------------------------- */

static void nothing(const char *unused)
{
	(void)unused;
}

static void block_all_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void *allocate_forever(void *unused)
{
	for (unsigned i = 0;; i++) {
		void *p = malloc(i % 4 * 1000), *q = malloc(i % 5 * 10);

		p = realloc(p, i % 3 * 700 + 1);
		free(q);
		free(p);
	}
	return unused;
}

/* Threads that only allocate; main has no signals. */
static void churn(const char *count)
{
	for (int i = atoi(count); i > 0; i--)
		start_thread(allocate_forever, NULL, NULL);
	block_all_signals();
}

static void *wait_forever(void *blocked)
{
	if (blocked != NULL)
		block_all_signals();
	for (;;)
		pause();
	return NULL;
}

/* Of six threads one takes signals. */
static void blocked(const char *unused)
{
	static char yes;

	for (int i = 0; i < 4; i++)
		start_thread(wait_forever, NULL, &yes);
	churn("1");
	(void)unused;
}

static void *small(void *started)
{
	sink = malloc(64);
	__atomic_add_fetch((int *)started, 1, __ATOMIC_SEQ_CST);
	return wait_forever(NULL);
}

/* Many threads with the smallest stacks there are. */
static void crowd(const char *count)
{
	static int started;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int i = 0; i < atoi(count); i++)
		start_thread(small, &attributes, &started);
	while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) != atoi(count))
		usleep(1000);
	block_all_signals();
}

static void no_descriptor_left(const char *unused)
{
	struct rlimit few = {FEW_DESCRIPTORS, FEW_DESCRIPTORS};

	must(setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	(void)unused;
}

static void other_root(const char *directory)
{
	must(chroot(directory) == 0 && chdir("/") == 0, "chroot");
}

static void other_directory(const char *directory)
{
	must(chdir(directory) == 0, "chdir");
}

static void other_user(const char *user)
{
	must(setgid((gid_t)atoi(user)) == 0 && setuid((uid_t)atoi(user)) == 0, "setuid");
}

/* A filter under which this system call fails with EPERM. */
static void refuse(const char *call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(call), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(CANNOT);
}

/* Threads are still made: by clone3. */
static void crowd_without_clone(const char *count)
{
	refuse("56");
	crowd(count);
}

/* On the first line: a child without exec, which serves from then on. */
static void parent(const char *unused)
{
	char line[64];
	int status;
	pid_t child;

	say("parent");
	must(fgets(line, sizeof line, stdin) != NULL, "fgets");
	child = fork();
	must(child >= 0, "fork");
	if (child != 0) {
		must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5, "the child's exit status");
		exit(6);
	}
	site_child();
	printf("child %d\n", (int)getpid());
	fflush(stdout);
	(void)unused;
}

static void *open_library(void *path)
{
	must(dlopen(path, RTLD_NOW) != NULL, "dlopen");
	return NULL;
}

/* Opens a library whose constructor says "ready" and takes the first line. */
static void loading(const char *path)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, open_library, (void *)path) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

static void *write_to_stderr(void *unused)
{
	for (;;)
		(void)!write(2, "a line for whoever has this descriptor\n", 39);
	return unused;
}

/* Standard error is closed, and a thread goes on writing to it. */
static void closed(const char *unused)
{
	close(2);
	start_thread(write_to_stderr, NULL, NULL);
	(void)unused;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*go)(const char *argument);
	} places[] = {{"here", nothing},
		      {"churn", churn},
		      {"blocked", blocked},
		      {"crowd", crowd},
		      {"crowd-without-clone", crowd_without_clone},
		      {"full", no_descriptor_left},
		      {"root", other_root},
		      {"directory", other_directory},
		      {"user", other_user},
		      {"refuse", refuse},
		      {"parent", parent},
		      {"loading", loading},
		      {"closed", closed}};
	const char *place = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";

	site_held();
	site_freed();
	site_sizes(argc > 3 ? atoi(argv[3]) : 0);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (strcmp(place, places[i].name) != 0)
			continue;
		places[i].go(argument);
		say("ready");
		serve();
		puts("end");
		return 5;
	}
	return NO_SUCH_PLACE;
}
