/* blocking.c - waits in one system call, and says how that ended: blocking CALL [thread].
 *
 * "ready" is said before the call, "CALL RESULT ERRNO" after it. What is waited for comes to pass when standard input has a line: then a
 * child process brings it about. With "thread" a second thread waits, and the first one takes no signals. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	int word;
	volatile int locked;
	sem_t semaphore;
} * shared;

static int sockets[2], pipes[2], listener;
static pid_t child;
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};

/* --- each call, and what ends it -------------------------------------------------------------------------------------- */

static long call_read(void)
{
	char byte;

	return read(pipes[0], &byte, 1);
}

static void end_read(void)
{
	(void)!write(pipes[1], "x", 1);
}

/* The pipe is full; one that takes a part of what is written would end the call early, as any signal does. */
static long call_write(void)
{
	return write(pipes[1], "x", 1);
}

static void end_write(void)
{
	static char many[1 << 16];

	(void)!read(pipes[0], many, sizeof many);
}

static void fill_pipe(void)
{
	static char many[1 << 16];

	fcntl(pipes[1], F_SETFL, O_NONBLOCK);
	while (write(pipes[1], many, sizeof many) > 0)
		;
	fcntl(pipes[1], F_SETFL, 0);
}

static long call_accept(void)
{
	return accept(listener, NULL, NULL) >= 0;
}

static void end_accept(void)
{
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static long call_recv(void)
{
	char byte;

	return recv(sockets[0], &byte, 1, 0);
}

static void end_recv(void)
{
	send(sockets[1], "x", 1, 0);
}

static long call_futex(void)
{
	return syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void end_futex(void)
{
	shared->word = 1;
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static long call_sem_wait(void)
{
	return sem_wait(&shared->semaphore);
}

static void end_sem_wait(void)
{
	sem_post(&shared->semaphore);
}

static long call_wait4(void)
{
	int status;

	return wait4(child, &status, 0, NULL) == child && status == 0;
}

static void end_nothing(void)
{
}

/* The child has the lock before "ready". */
static long call_flock(void)
{
	return flock(open("lock", O_RDWR), LOCK_EX);
}

static const struct call {
	const char *name;
	long (*begin)(void);
	void (*end)(void);
} calls[] = {{"read", call_read, end_read},	  {"write", call_write, end_write},
	     {"accept", call_accept, end_accept}, {"recv", call_recv, end_recv},
	     {"futex", call_futex, end_futex},	  {"sem_wait", call_sem_wait, end_sem_wait},
	     {"wait4", call_wait4, end_nothing},  {"flock", call_flock, end_nothing}};

/* ---------------------------------------------------------------------------------------------------------------------- */

static void prepare(void)
{
	unlink(address.sun_path);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&shared->semaphore, 1, 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || pipe(pipes) != 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0)
		abort();
}

static void be_the_child(const struct call *call)
{
	char byte;

	flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX);
	shared->locked = 1;
	puts("ready");
	fflush(stdout);
	(void)!read(0, &byte, 1);
	call->end();
	_exit(0);
}

static void *wait_for_it(void *argument)
{
	const struct call *call = argument;
	long result;

	errno = 0;
	result = call->begin();
	printf("%s %ld %d\n", call->name, result, errno);
	return NULL;
}

static void in_a_thread(const struct call *call)
{
	sigset_t all;
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_it, (void *)call);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof calls / sizeof *calls; i++) {
		if (strcmp(argv[1], calls[i].name) != 0)
			continue;
		prepare();
		if (calls[i].begin == call_write)
			fill_pipe();
		child = fork();
		if (child == 0)
			be_the_child(&calls[i]);
		while (!shared->locked)
			usleep(1000);
		if (argc > 2)
			in_a_thread(&calls[i]);
		else
			wait_for_it((void *)&calls[i]);
		return 5;
	}
	return 2;
}
