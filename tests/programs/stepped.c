/* stepped.c - a signal after every single instruction, whose handler allocates: stepped MODE. Prints the number of signals.
 *
 * The processor's trap flag raises SIGTRAP after each instruction. So the stacks captured in the handler begin in every place an
 * interrupt can hit: prologues, epilogues, PLT stubs, the vdso, the string functions of libc. None of the code that is stepped through
 * allocates itself. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* In assembly, with unwind tables, so that these few instructions have a stack that can be followed too. */
void trap_on(void);
void trap_off(void);
__asm__(".text\n"
	".type trap_on, @function\n"
	"trap_on:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	orq $0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size trap_on, . - trap_on\n"
	".type trap_off, @function\n"
	"trap_off:\n"
	"	.cfi_startproc\n"
	"	pushfq\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	andq $~0x100, (%rsp)\n"
	"	popfq\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size trap_off, . - trap_off\n");

static unsigned long traps;

static void keep(void *ptr)
{
	__asm__ volatile("" : : "r"(ptr) : "memory");
}

static void on_trap(int signal)
{
	void *ptr = malloc(4001);

	(void)signal;
	traps++;
	keep(ptr);
	free(ptr);
}

/* --- what is stepped through ---------------------------------------------------------------------------------------- */

static void with_alloca(size_t n)
{
	keep(alloca(n));
}

static void with_array(size_t n)
{
	char room[n];

	keep(room);
}

static void with_alignment(size_t n)
{
	char room[256] __attribute__((aligned(128)));

	keep(alloca(n));
	keep(room);
}

static void with_large_frame(void)
{
	char room[300000];

	keep(room);
}

static int with_arguments(int count, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, count);
	while (count-- > 0)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void frames(void)
{
	with_alloca(100);
	with_array(100);
	with_alignment(100);
	with_large_frame();
	with_arguments(7, 1, 2, 3, 4, 5, 6, 7);
}

static void libc(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int numbers[5] = {5, 2, 4, 1, 3};
	char text[100], copy[100];
	jmp_buf here;

	snprintf(text, sizeof(text), "%d %s %5.2f", 42, "forty-two", 42.0);
	memset(copy, 0, sizeof(copy));
	memcpy(copy, text, strlen(text));
	keep(strstr(copy, "two"));
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (setjmp(here) == 0)
		longjmp(here, 1);
}

static void vdso(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_REALTIME, &now);
	time(NULL);
}

/* The first call of a function goes through the loader's resolver, the second one through the PLT stub alone. */
static void plt(void)
{
	keep(strpbrk("plt", "l"));
	keep(strpbrk("plt", "l"));
	getppid();
	getppid();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"frames", frames}, {"libc", libc}, {"vdso", vdso}, {"plt", plt}};
	struct sigaction action = {.sa_handler = on_trap};

	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		free(malloc(1)); /* binds both: the handler must not find the loader half-way through that */
		sigaction(SIGTRAP, &action, NULL);
		trap_on();
		modes[i].run();
		trap_off();
		printf("%lu\n", traps);
		return 0;
	}
	return 2;
}
