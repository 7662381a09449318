/* main.c - runs the tests of core/ under ThreadSanitizer, each in a process of its own. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tsan_test *tests;
static unsigned failures; /* of the test this process runs */

void tsan_register(struct tsan_test *test)
{
	test->next = tests;
	tests = test;
}

void tsan_fail(const char *file, int line, const char *condition, const char *format, ...)
{
	va_list list;

	fprintf(stderr, "%s:%d: %s:", file, line, condition);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	failures++;
}

static void run_in_child(const struct tsan_test *test)
{
	for (const struct tsan_test *suite = tests; suite != NULL; suite = suite->next) {
		if (suite->name == NULL && suite->init != NULL && strcmp(suite->suite, test->suite) == 0)
			suite->init();
	}
	if (test->init != NULL)
		test->init();
	test->run();
	exit(failures != 0); /* exit, not _exit: ThreadSanitizer then turns its reports into a status */
}

static bool passes(const struct tsan_test *test)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		run_in_child(test);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		printf("[FAIL] %s::%s: wait status %#x\n", test->suite, test->name, (unsigned)status);
		return false;
	}
	return true;
}

int main(void)
{
	unsigned passing = 0, tested = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (const struct tsan_test *test = tests; test != NULL; test = test->next) {
		if (test->name == NULL)
			continue;
		tested++;
		passing += passes(test);
	}
	printf("[====] Synthesis: Tested: %u | Passing: %u | Failing: %u | Crashing: 0\n", tested, passing,
	       tested - passing);
	return passing != tested || tested == 0;
}
