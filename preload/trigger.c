/* trigger.c - what asks for a dump: the signal. */
#include "preload/trigger.h"

#include "preload/dump.h"
#include "preload/profiler.h"

#include <signal.h>
#include <stddef.h>

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	dump_to_pattern();
}

void trigger_init(void)
{
	struct sigaction action, old;

	if (profiler_options.signal == 0 || sigaction(profiler_options.signal, NULL, &old) != 0)
		return;
	if ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)
		return;
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	sigaction(profiler_options.signal, &action, NULL);
}
