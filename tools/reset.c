/* reset.c - `mprof reset`: counts the allocations of a live process from zero again. */
#include "tools/ask.h"
#include "tools/cli.h"

void reset_help(FILE *out)
{
	fputs("usage: mprof reset [OPTIONS] PID\n"
	      "\n"
	      "Has a process count its allocations from zero again. What it has in use stays,\n"
	      "and stays in its profiles. Its dumps from then on show what was allocated\n"
	      "since, besides that.\n"
	      "\n" ASK_HELP "\n"
	      "Example:\n"
	      "  mprof reset 1234; sleep 60; mprof dump 1234\n",
	      out);
}

int reset_main(int argc, char **argv)
{
	struct ask asked = ASK_INIT(reset);
	struct answer answer;
	int status = ask_parse(&asked, argc, argv, NULL);

	if (status >= 0)
		return status;
	status = ask_open(&asked);
	if (status == 0 && ask(&asked, REQUEST_RESET, 0, &answer) != 0)
		status = CLI_FAILED;
	else if (status == 0)
		exchange_free(&answer);
	ask_close(&asked);
	return status;
}
