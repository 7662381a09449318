/* test_exchange.c - the first line of an answer. */
#include "tools/exchange.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum exchange_verdict judge(const char *text)
{
	const char *reason;
	size_t n;

	return exchange_judge(text, strlen(text), &reason, &n);
}

Test(exchange, verdicts)
{
	cr_expect(eq(int, judge("mprof 1 ok\n"), EXCHANGE_OK));
	cr_expect(eq(int, judge("mprof 1 ok\nrate 5\n"), EXCHANGE_OK));
	cr_expect(eq(int, judge("mprof 1 busy\n"), EXCHANGE_BUSY));
	cr_expect(eq(int, judge("mprof 1 failed: \n"), EXCHANGE_FAILED));
}

Test(exchange, nonsense)
{
	static const char *const texts[] = {
		"",
		"\n",
		"mprof 1 ok",
		"mprof 1 okay\n",
		"mprof 1 o\n",
		"mprof 1 \n",
		"mprof 2 ok\n",
		"mprof 1 OK\n",
		"ok\n",
		"\x1f\x8b\n",
		"mprof 1 failed\n",
		"mprof 1 busy now\n",
		"mprof 1 ok\r\n",
		"\nmprof 1 ok\n",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cr_expect(eq(int, judge(texts[i]), EXCHANGE_NONSENSE), "'%s'", texts[i]);
}

Test(exchange, the_reason_of_a_failure)
{
	static const char text[] = "mprof 1 failed: no memory\nrest";
	const char *reason;
	size_t n;

	cr_expect(eq(int, exchange_judge(text, sizeof text - 1, &reason, &n), EXCHANGE_FAILED));
	cr_expect(eq(sz, n, strlen("no memory")));
	cr_expect(eq(int, strncmp(reason, "no memory", n), 0));
}

Test(exchange, a_process_without_the_library_is_not_sent_a_signal)
{
	struct process process;
	struct refusal refusal;
	pid_t child = fork();
	int status;

	if (child == 0) {
		pause();
		_exit(0);
	}
	process = (struct process){.id = child, .handle = -1};
	cr_expect(eq(int, process_open(&process, child, &refusal), -EPERM));
	cr_expect(eq(str, refusal.reason, "it does not run under mprof"));
	cr_expect(ne(str, refusal.way_out, ""));
	kill(child, SIGKILL);
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_expect(eq(int, WTERMSIG(status), SIGKILL), "nothing else killed it");
	cr_expect(eq(int, process_open(&process, child, &refusal), -ESRCH));
}
