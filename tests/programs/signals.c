/* signals.c - waits for signals while holding a known heap: signals wait|own|late [SIGNAL-NUMBER].
 *
 * Says "ready", lives until its standard input ends, then says what it saw. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void count(int number)
{
	(void)number;
	seen++;
}

static void *volatile held;

__attribute__((noinline)) static void site_held(void)
{
	for (int i = 0; i < 1000; i++)
		held = malloc(10000);
}

static void install(int number)
{
	struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};

	if (sigaction(number, &action, NULL) != 0)
		abort();
}

/* Each line read is answered, so that the other side can step the program. */
static void serve(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) != NULL) {
		site_held();
		printf("seen %d\n", (int)seen);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : SIGRTMAX - 4;

	if (strcmp(mode, "own") == 0)
		install(number);
	site_held();
	if (strcmp(mode, "late") == 0)
		install(number);
	serve();
	printf("done %d\n", (int)seen);
	return 5;
}
