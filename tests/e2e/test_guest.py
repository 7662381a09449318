"""test_guest.py - what a guest leaves alone: errno, descriptors, signals, threads, and what malloc & Co. promise."""
import subprocess
import unittest

from mprof_test import DUMP_SIGNAL, ProgramTest, environment, finish, sample, start

RATES = (0, 1, 4096, None)

# A library that allocates whenever it can: as a constructor, as a destructor, and in exit handlers.
LATE_LIBRARY = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *early;

static void say(const char *text) { (void)!write(1, text, strlen(text)); }

static void churn(void)
{
	for (size_t size = 1; size < 2000000; size = size * 2 + 1) {
		char *p = malloc(size), *q = calloc(3, size);
		p = realloc(p, size * 3);
		memset(p, 1, size * 3);
		free(q);
		free(p);
	}
}

static void at_exit(void) { churn(); say("exit handler\n"); }

__attribute__((constructor)) static void begin(void)
{
	early = malloc(1000);
	churn();
	atexit(at_exit);
	say("constructor\n");
}

__attribute__((destructor)) static void end(void) { churn(); free(early); say("destructor\n"); }

void *library_block(size_t size) { return malloc(size); }
void library_free(void *p) { free(p); }
"""

PLUGIN_HOST = r"""
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int round = 0; round < 3; round++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void *(*block)(size_t) = (void *(*)(size_t))dlsym(library, "library_block");
		void (*release)(void *) = (void (*)(void *))dlsym(library, "library_free");
		char *theirs = block(100000), *ours = malloc(100000);
		memset(theirs, 1, 100000);
		release(ours);
		dlclose(library);
		free(theirs);
	}
	(void)!write(1, "main\n", 5);
	return argc == 2 ? 4 : 1;
}
"""


class Process(ProgramTest):
    def test_descriptors_signals_and_threads(self):
        plain = self.plain(sample("guest"), "state").out.decode()
        self.assertIn(f"signal {DUMP_SIGNAL} default open\n", plain)
        for rate in RATES:
            with self.subTest(rate=rate):
                outcome = self.profiled(sample("guest"), "state", rate=rate)
                self.assertEqual((outcome.status, outcome.err), (0, b""))
                shown = outcome.out.decode().replace(f"signal {DUMP_SIGNAL} handled", f"signal {DUMP_SIGNAL} default")
                self.assertEqual(shown, plain)

    def test_nothing_is_handled_without_a_dump_signal(self):
        plain = self.plain(sample("guest"), "state")
        self.assertEqual(self.profiled(sample("guest"), "state", rate=1, HEAPPROF_SIGNAL="none"), plain)

    def test_errno_is_kept(self):
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assertEqual(self.profiled(sample("guest"), "errno", rate=rate), (0, b"", b""))

    def test_errno_is_kept_with_all_memory_locked(self):
        for rate in RATES:
            with self.subTest(rate=rate):
                outcome = self.profiled(sample("guest"), "errno-locked", rate=rate)
                if outcome.status == 77:
                    self.skipTest("memory cannot be locked here")
                self.assertEqual(outcome, (0, b"", b""))


class Family(ProgramTest):
    def test_every_promise(self):
        shown = []
        for rate in RATES:
            with self.subTest(rate=rate):
                outcome = self.profiled(sample("family"), rate=rate)
                self.assertEqual((outcome.status, outcome.err.decode()), (0, ""))
                shown.append(outcome.out)
        # malloc_usable_size is the same whether a block is sampled or not.
        self.assertEqual(len(set(shown)), 1)

    def test_impossible_sizes_leave_no_trace(self):
        self.assertEqual(self.profiled(sample("family"), rate=1).status, 0)
        profile = self.only_profile()
        self.assertIn("contents", profile.functions())
        self.assertEqual({size for size in profile.at("impossible_sizes")}, {100})
        self.assertEqual({size for size in profile.at("overflows")}, {10})

    def test_operators_of_cxx(self):
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assertEqual(self.profiled(sample("operators"), rate=rate), (0, b"operators\n", b""))


class Libraries(ProgramTest):
    def setUp(self):
        super().setUp()
        self.library = self.compile("late.so", LATE_LIBRARY, "-shared", "-fPIC")

    def compile(self, name: str, text: str, *flags: str) -> str:
        path = str(self.work / name)
        subprocess.run(["cc", "-O1", "-fno-builtin", "-o", path, "-x", "c", "-", "-x", "none", *flags], input=text, text=True, check=True)
        return path

    def test_before_main_and_after_it(self):
        linked = self.compile("linked", "int main(void) { return 9; }", "-Wl,--no-as-needed", self.library)
        plain = self.plain(linked)
        self.assertEqual((plain.status, sorted(plain.out.split())), (9, [b"constructor", b"destructor", b"exit", b"handler"]))
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assertEqual(self.profiled(linked, rate=rate), plain)

    def test_beside_another_preload_in_both_orders(self):
        plain = finish(start([sample("tiny")], environment(LD_PRELOAD=self.library), self.work))
        self.assertEqual(sorted(plain.out.split(b"\n")), [b"", b"constructor", b"destructor", b"exit handler", b"out"])
        for rate in RATES:
            ours = self.preloaded(rate)["LD_PRELOAD"]
            for order in (f"{ours}:{self.library}", f"{self.library}:{ours}"):
                with self.subTest(rate=rate, order=order):
                    self.assertEqual(self.profiled(sample("tiny"), rate=rate, LD_PRELOAD=order), plain)

    def test_opened_and_closed(self):
        host = self.compile("host", PLUGIN_HOST)
        plain = self.plain(host, self.library)
        self.assertEqual((plain.status, plain.out.count(b"destructor\n")), (4, 3))
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assertEqual(self.profiled(host, self.library, rate=rate), plain)

    def test_closed_libraries_keep_their_names(self):
        host = self.compile("host", PLUGIN_HOST)
        self.assertEqual(self.profiled(host, self.library, rate=1).status, 4)
        self.assertEqual(self.only_profile().at("library_block")[100000].alloc_objects, 3)


if __name__ == "__main__":
    unittest.main()
