/* test_proc_text.c - what the texts below /proc/PID say. */
#include "tools/proc_text.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>

static const char status_text[] = "Name:\tState: R\n"
				  "Umask:\t0022\n"
				  "State:\tS (sleeping)\n"
				  "Tgid:\t4711\n"
				  "Pid:\t4712\n"
				  "Uid:\t1000\t1001\t1002\t1003\n"
				  "Gid:\t100\t101\t102\t103\n"
				  "SigPnd:\t0000000000000000\n"
				  "SigBlk:\t0000000000010000\n"
				  "SigIgn:\t0000000000001000\n"
				  "SigCgt:\t0800000180000002\n"
				  "CapPrm:\t000001ffffffffff\n"
				  "CapEff:\t0000000000080000\n";

Test(proc_text, status)
{
	struct proc_status status;

	cr_assert(proc_parse_status(status_text, &status));
	cr_expect(eq(chr, status.state, 'S'));
	cr_expect(eq(int, status.process, 4711));
	cr_expect(eq(uint, status.fs_uid, 1003));
	cr_expect(eq(uint, status.fs_gid, 103));
	cr_expect(eq(u64, status.blocked, 0x10000));
	cr_expect(eq(u64, status.permitted, 0x1ffffffffff));
	cr_expect(eq(u64, status.effective, 0x80000));
}

Test(proc_text, signals_are_counted_from_one)
{
	struct proc_status status;

	cr_assert(proc_parse_status(status_text, &status));
	cr_expect(proc_has_signal(status.caught, SIGINT));
	cr_expect(proc_has_signal(status.caught, 32));
	cr_expect(proc_has_signal(status.caught, SIGRTMAX - 4));
	cr_expect(not(proc_has_signal(status.caught, SIGHUP)));
	cr_expect(not(proc_has_signal(status.caught, SIGRTMAX - 3)));
	cr_expect(proc_has_signal(UINT64_C(1) << 63, 64));
	cr_expect(not(proc_has_signal(UINT64_MAX, 0)));
	cr_expect(not(proc_has_signal(UINT64_MAX, 65)));
}

Test(proc_text, a_status_that_lacks_something_is_refused)
{
	char text[sizeof status_text];
	struct proc_status status;

	cr_expect(not(proc_parse_status("", &status)));
	cr_expect(not(proc_parse_status("Name:\tx", &status)));
	for (size_t n = 0; n < sizeof status_text - 20; n++) {
		memcpy(text, status_text, n);
		text[n] = '\0';
		cr_expect(not(proc_parse_status(text, &status)), "%zu bytes", n);
	}
}

Test(proc_text, library_in_maps)
{
	static const char *const with[] = {
		"7f00-7f01 r-xp 00000000 08:01 1 /usr/local/lib/libmprof.so",
		"00-01 rw-p 00 00:00 0\n7f00-7f01 r--p 00000000 08:01 1      /x y/libmprof.so\n02-03 rw-p 00 00:00 0 "
		"[heap]\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof-sizeclass.so\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof.so.0\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof.so (deleted)\n",
	};
	static const char *const without[] = {
		"",
		"\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /usr/lib/libc.so.6\n7f01-7f02 rw-p 00 00:00 0\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /libmprof.so/libc.so.6\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof.sock\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof\n.so 1-2 /x\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/xlibmprof.so\n",
		"7f00-7f01 r-xp 00000000 08:01 1 /b/libmprof.s",
	};

	for (size_t i = 0; i < sizeof with / sizeof *with; i++)
		cr_expect(proc_maps_library(with[i]), "%s", with[i]);
	for (size_t i = 0; i < sizeof without / sizeof *without; i++)
		cr_expect(not(proc_maps_library(without[i])), "%s", without[i]);
}

Test(proc_text, signal_from_the_environment)
{
	static const char named[] = "A=b\0HEAPPROF_SIGNAL=USR2\0HEAPPROF_RATE=1";
	static const char none[] = "HEAPPROF_SIGNAL=none";
	static const char bad[] = "\0\0HEAPPROF_SIGNAL=KILL\0";
	static const char twice[] = "XHEAPPROF_SIGNAL=USR1\0HEAPPROF_SIGNAL=12\0HEAPPROF_SIGNAL=RTMIN+1";

	cr_expect(eq(int, proc_environ_signal(named, sizeof named), SIGUSR2));
	cr_expect(eq(int, proc_environ_signal(none, sizeof none), 0));
	cr_expect(eq(int, proc_environ_signal(bad, sizeof bad), 60));
	cr_expect(eq(int, proc_environ_signal(twice, sizeof twice), 35), "the last one, as the library takes it");
	cr_expect(eq(int, proc_environ_signal("", 0), 60));
}

Test(proc_text, system_call)
{
	long number = 7;

	cr_assert(proc_parse_syscall("running\n", &number));
	cr_expect(eq(long, number, PROC_IN_NO_CALL));
	cr_assert(proc_parse_syscall("-1 0x7ffe 0x7f00\n", &number));
	cr_expect(eq(long, number, PROC_IN_NO_CALL));
	cr_assert(proc_parse_syscall("230 0x0 0x0 0x1 0x2 0x3 0x4 0x7ffe 0x7f00\n", &number));
	cr_expect(eq(long, number, 230));
	cr_expect(not(proc_parse_syscall("", &number)));
}

Test(proc_text, signal_names)
{
	cr_expect(eq(str, (char *)proc_signal_name(SIGUSR2), "USR2"));
	cr_expect(eq(str, (char *)proc_signal_name(60), "RTMAX-4"));
}
