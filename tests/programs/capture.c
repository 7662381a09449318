/* capture.c - stacks that are hard to capture: capture MODE [ARGUMENT]. Each mode ends in silence with status 0 when all is well. */
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

static void keep(void *ptr)
{
	__asm__ volatile("" : : "r"(ptr) : "memory");
}

/* The leaf of every chain: its size tells the chains apart. */
static void leaf(size_t size)
{
	void *ptr = malloc(size);

	keep(ptr);
	free(ptr);
}

/* --- frames: one chain of each kind of frame, sizes 1001, 1002, ... ------------------------------------------------ */

static void with_alloca(size_t n)
{
	keep(alloca(n));
	leaf(1001);
}

static void with_array(size_t n)
{
	char room[n];

	keep(room);
	leaf(1002);
}

static void with_alignment(size_t n)
{
	char room[256] __attribute__((aligned(128)));

	keep(alloca(n));
	keep(room);
	leaf(1003);
}

static void with_large_frame(void)
{
	char room[300000];

	keep(room);
	leaf(1004);
}

static void on_signal(int signal)
{
	leaf(signal == SIGUSR1 ? 1005 : 1006);
}

static void interrupted(int signal, int flags)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	CHECK(sigaltstack(&alternate, NULL) == 0);
	CHECK(sigaction(signal, &action, NULL) == 0);
	raise(signal);
}

static void *in_thread(void *unused)
{
	(void)unused;
	leaf(1007);
	return NULL;
}

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	leaf(1008);
	swapcontext(&coroutine_context, &main_context);
}

static void in_coroutine(void)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(stack != MAP_FAILED);
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = 65536;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
	CHECK(munmap(stack, 65536) == 0);
}

static int compare(const void *a, const void *b)
{
	leaf(1009); /* called back from libc */
	return *(const int *)a - *(const int *)b;
}

static void frames(void)
{
	int numbers[2] = {2, 1};
	pthread_t thread;

	with_alloca(100);
	with_array(100);
	with_alignment(100);
	with_large_frame();
	interrupted(SIGUSR1, 0);
	interrupted(SIGUSR2, SA_ONSTACK);
	CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	in_coroutine();
	qsort(numbers, 2, sizeof(numbers[0]), compare);
}

/* --- descriptors: nothing of ours is behind a number the program comes to use (libunwind#291, #274) ----------------------------- */

static void deep(int depth)
{
	if (depth == 0)
		leaf(64);
	else
		deep(depth - 1);
	keep(&depth);
}

static void descriptors(void)
{
	char text[9] = {0};
	int ends[2];

	leaf(64);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	CHECK(pipe(ends) == 0);
	CHECK(write(ends[1], "ABCDEFGH", 8) == 8);
	deep(200);
	for (int i = 0; i < 100; i++)
		leaf(64);
	CHECK(read(ends[0], text, sizeof(text)) == 8);
	CHECK(strcmp(text, "ABCDEFGH") == 0);
	CHECK(open("/dev/null", O_RDONLY) == ends[1] + 1);
}

/* --- small: 16 KiB thread stacks, a small alternate stack (libunwind#935, jemalloc#2179) ------------------------------------------------ */

static void *small_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		leaf(100);
	return NULL;
}

static void small(void)
{
	size_t bytes = (size_t)sysconf(_SC_MINSIGSTKSZ) + 4096;
	stack_t alternate = {.ss_sp = malloc(bytes), .ss_size = bytes};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setstacksize(&attributes, 16384) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK(pthread_create(&thread, &attributes, small_thread, NULL) == 0);
		pthread_join(thread, NULL);
	}
	CHECK(sigaltstack(&alternate, NULL) == 0);
	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR2);
}

/* --- thunk: code without tables and with garbage in rbp calls malloc (LuaJIT#748, libunwind#581) -------------------------------------- */

static void thunk(void)
{
	/* push rbp; mov rbp, imm64; mov rax, imm64; mov edi, 64; call rax; mov rdi, rax; mov rax, imm64; call rax; pop rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0xBD, 0, 0, 0, 0,    0,  0, 0, 0, 0x48, 0xB8, 0,    0,
					     0,	   0,	 0,    0, 0, 0, 0xBF, 64, 0, 0, 0, 0xFF, 0xD0, 0x48, 0x89,
					     0xC7, 0x48, 0xB8, 0, 0, 0, 0,    0,  0, 0, 0, 0xFF, 0xD0, 0x5D, 0xC3};
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *(*allocate)(size_t) = malloc;
	void (*release)(void *) = free;
	uint64_t random = 1;

	CHECK(page != MAP_FAILED);
	memcpy(page, code, sizeof(code));
	memcpy(page + 13, &allocate, sizeof(allocate));
	memcpy(page + 33, &release, sizeof(release));
	for (int i = 0; i < 10000; i++) {
		uint64_t garbage = random * 0x9E3779B97F4A7C15;

		/* Any number; a small one; unmapped; on this stack, misaligned and aligned. */
		garbage = i % 5 == 1 ? garbage >> 60 : i % 5 == 2 ? garbage >> 17 : garbage;
		garbage = i % 5 == 3   ? (uintptr_t)&random + i % 64
			  : i % 5 == 4 ? (uintptr_t)&random + i % 512 * 8
				       : garbage;
		memcpy(page + 3, &garbage, sizeof(garbage));
		((void (*)(void))page)();
		random += 2;
	}
}

/* --- attributes: pthread_getattr_np in 100 threads (DataDog/ddprof#124) -------------------------------------------------------- */

static void *ask_attributes(void *unused)
{
	pthread_attr_t attributes;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
		pthread_attr_destroy(&attributes);
		leaf(50);
	}
	return NULL;
}

static void attributes(void)
{
	pthread_t threads[100];

	for (int i = 0; i < 100; i++)
		CHECK(pthread_create(&threads[i], NULL, ask_attributes, NULL) == 0);
	for (int i = 0; i < 100; i++)
		pthread_join(threads[i], NULL);
}

/* --- warm: two marks (getppid) around ten thousand allocations of warm stacks ---------------------------------------- */

static void ten_thousand(void)
{
	for (int i = 0; i < 10000; i++)
		deep(20);
}

static void warm(void)
{
	ten_thousand();
	getppid();
	ten_thousand();
	getppid();
}

/* --- handlers: a timer's handler allocates on top of everything, learning included ----------------------------------- */

static void on_timer(int signal)
{
	(void)signal;
	leaf(40);
}

static void handlers(void)
{
	struct itimerval often = {.it_interval.tv_usec = 200, .it_value.tv_usec = 200};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < 200000; i++)
		getppid(); /* the handler's allocations are on top of calls that do not allocate themselves */
}

/* --- forks: while threads learn what they have not seen -------------------------------------------------------------- */

#define SITE4(n) leaf(n), leaf((n) + 1), leaf((n) + 2), leaf((n) + 3)
#define SITE16(n) SITE4(n), SITE4((n) + 4), SITE4((n) + 8), SITE4((n) + 12)
#define SITE64(n) SITE16(n), SITE16((n) + 16), SITE16((n) + 32), SITE16((n) + 48)
#define SITE256(n) SITE64(n), SITE64((n) + 64), SITE64((n) + 128), SITE64((n) + 192)

static void *learn_a_lot(void *unused)
{
	(void)unused;
	SITE256(1), SITE256(257), SITE256(513), SITE256(769);
	return NULL;
}

static void forks(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, learn_a_lot, NULL) == 0);
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();
		int status;

		CHECK(child >= 0);
		if (child == 0) {
			learn_a_lot(NULL);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* --- plugins A B COUNT: two libraries opened and closed in turn, each calls back (gperftools#1159) ----------- */

static int in_callback(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	(void)data;
	leaf(30);
	return 0;
}

static void plugins(const char *a, const char *b, int count)
{
	for (int i = 0; i < count; i++) {
		void *library = dlopen(i % 2 == 0 ? a : b, RTLD_NOW | RTLD_LOCAL);
		void (*run)(void);

		CHECK(library != NULL);
		*(void **)&run = dlsym(library, "run");
		CHECK(run != NULL);
		run();
		dl_iterate_phdr(in_callback, NULL);
		CHECK(dlclose(library) == 0);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"frames", frames},	 {"descriptors", descriptors},
		     {"small", small},		 {"thunk", thunk},
		     {"attributes", attributes}, {"warm", warm},
		     {"handlers", handlers},	 {"forks", forks}};

	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			return 0;
		}
	}
	if (argc != 5 || strcmp(argv[1], "plugins") != 0)
		return 2;
	plugins(argv[2], argv[3], atoi(argv[4]));
	return 0;
}
