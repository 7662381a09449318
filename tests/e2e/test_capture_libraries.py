"""test_capture_libraries.py - libraries that come, go and take each other's place, among exceptions, callbacks of the loader and dumps.

MPROF_LONG=1 runs the loops for a minute, as the cases from the field do."""
import os
import subprocess
import time
import unittest

from mprof_test import DEFAULT_RATE, DUMP_SIGNAL, ProgramTest, finish, read_profile, sample, start, wait_for

LONG = os.environ.get("MPROF_LONG") == "1"

# The same code at the same places, but for what the rule of the return address is: the size of the frame, or what it is found by.
PLUGIN = """
#include <alloca.h>
#include <stdlib.h>
static void *volatile kept;
volatile size_t some = 100;
__attribute__((noinline)) void {site}(void) {{ {frame} kept = malloc({size}); free(kept); __asm__ volatile("" : : "r"(room)); }}
__attribute__((noinline)) void run(void) {{ {site}(); __asm__ volatile(""); }}
"""

FRAMES = {"small": "char room[400];", "large": "char room[800];", "alloca": "char *room = alloca(some);",
          "aligned": "char room[400] __attribute__((aligned(128)));"}

# Opens and closes all its arguments but the first in turn, COUNT times each; prints at how many places `run` was.
IN_TURN = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	void *places[16];
	int count = 0;
	for (int i = 0; i < atoi(argv[1]); i++) {
		for (int at = 2; at < argc; at++) {
			void *library = dlopen(argv[at], RTLD_NOW | RTLD_LOCAL);
			void *run = (char *)dlsym(library, "run") - (size_t)dlsym(library, "run") % 4096;
			int known = 0;
			while (known < count && places[known] != run) known++;
			if (known == count && count < 16) places[count++] = run;
			((void (*)(void))dlsym(library, "run"))();
			dlclose(library);
		}
	}
	printf("%d\\n", count);
	return 0;
}
"""

# Opens each of its arguments under one name in turn, as an update of a plugin in a running program does.
UPDATED = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
	for (int at = 1; at < argc; at++) {
		if (rename(argv[at], "./current.so") != 0) return 1;
		void *library = dlopen("./current.so", RTLD_NOW | RTLD_LOCAL);
		((void (*)(void))dlsym(library, "run"))();
		dlclose(library);
	}
	return 0;
}
"""

# Opens and closes so many copies of a library, each under a name of its own.
COPIES = """
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(int argc, char **argv) {
	for (int i = 0; i < atoi(argv[2]); i++) {
		char name[32];
		snprintf(name, sizeof(name), "./copy%d.so", i);
		int in = open(argv[1], O_RDONLY), out = open(name, O_WRONLY | O_CREAT, 0700);
		while (sendfile(out, in, NULL, 1 << 20) > 0);
		close(in);
		close(out);
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		((void (*)(void))dlsym(library, "run"))();
		dlclose(library);
		unlink(name);
	}
	return argc != 3;
}
"""

DEEP_PLUGIN = """
#include <stdlib.h>
#include <string.h>
void *its_malloc(size_t size) { return malloc(size); }
void its_free(void *ptr) { free(ptr); }
char *its_strdup(const char *text) { return strdup(text); }
"""

DEEP_HOST = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void *(*its_malloc)(size_t) = (void *(*)(size_t))dlsym(library, "its_malloc");
	void (*its_free)(void *) = (void (*)(void *))dlsym(library, "its_free");
	char *(*its_strdup)(const char *) = (char *(*)(const char *))dlsym(library, "its_strdup");
	if (strcmp(argv[2], "each its own") == 0) { its_free(its_malloc(100)); free(malloc(100)); }
	if (strcmp(argv[2], "main frees its strdup") == 0) free(its_strdup("text"));
	if (strcmp(argv[2], "it frees main's") == 0) its_free(malloc(100));
	if (strcmp(argv[2], "it frees its strdup") == 0) its_free(its_strdup("text"));
	puts("fine");
	return argc != 3;
}
"""


def handles_dumps(pid):
    with open(f"/proc/{pid}/status") as status:
        caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt:"))
    return caught >> (DUMP_SIGNAL - 1) & 1


class Libraries(ProgramTest):
    def build(self, name, source, *flags):
        built = self.work / name
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-fno-builtin", *flags, "-o", built, "-x", "c", "-"], input=source, text=True,
                       check=True)
        return str(built)

    def plugin(self, kind, size, *flags):
        source = PLUGIN.format(site="site_" + kind, frame=FRAMES[kind], size=size)
        return self.build(kind + ".so", source, "-shared", "-fPIC", *flags)

    def test_one_in_the_place_of_another(self):
        host = self.build("host", IN_TURN)
        for flags in (), ("-Wl,--build-id=none",):
            with self.subTest(flags=flags):
                plugins = {kind: self.plugin(kind, 2001 + i, *flags) for i, kind in enumerate(FRAMES)}
                outcome = self.profiled(host, "500", *plugins.values(), rate=1)
                self.assertEqual(outcome, (0, b"1\n", b""))  # all at one place
                profile = self.only_profile()
                self.profile_paths()[0].unlink()
                for i, kind in enumerate(FRAMES):
                    (one,) = [one for one in profile.samples if one.bytes == 2001 + i]
                    self.assertEqual((one.stack[:3], one.stack[-1]), (["site_" + kind, "run", "main"], "_start"))
                    self.assertEqual((len(one.stack), one.values.alloc_objects), (6, 500))
                self.assertEqual(self.profiled(host, "500", *plugins.values(), HEAPPROF_EXIT="0"), (0, b"1\n", b""))

    def test_one_under_the_name_of_another(self):
        # Neither name, place nor build ID tells the two apart. The old one's file is gone, and the new one's names are not its.
        host = self.build("updated", UPDATED)
        for flags in (), ("-Wl,--build-id=none",):
            with self.subTest(flags=flags):
                plugins = [self.plugin("small", 2001, *flags), self.plugin("large", 2002, *flags)]
                self.assertEqual(self.profiled(host, *plugins, rate=1), (0, b"", b""))
                profile = self.only_profile()
                self.profile_paths()[0].unlink()
                stacks = {one.bytes: one.stack for one in profile.samples}
                self.assertTrue(all(name.startswith("current.so+") for name in stacks[2001][:2]), stacks[2001])
                self.assertEqual(stacks[2002][:2], ["site_large", "run"])
                for size in 2001, 2002:
                    self.assertEqual((stacks[size][2], len(stacks[size])), ("main", 6))

    def test_more_libraries_than_are_remembered(self):
        host = self.build("copies", COPIES)
        plugin = self.plugin("small", 2001, "-Wl,--build-id=none")  # else the copies would be known as one
        self.assertEqual(self.profiled(host, plugin, "4200", rate=1), (0, b"", b""))
        profile = self.only_profile()
        stacks = [one.stack for one in profile.samples if one.bytes == 2001]
        whole = [stack for stack in stacks if stack[-1] == "_start"]
        cut = [stack for stack in stacks if stack[-1] != "_start"]
        self.assertGreater(len(whole), 4000)
        self.assertLessEqual(len(cut), 4200 - len(whole))
        self.assertEqual(sum(one.values.alloc_objects for one in profile.samples if one.bytes == 2001), 4200)
        self.assertIn("frames in libraries beyond the 4,095 that are remembered", "\n".join(profile.comments))

    def test_nothing_gets_stuck(self):
        plugins = [self.plugin("small", 2001), self.plugin("large", 2002)]
        seconds = 60 if LONG else 6
        argv = [sample("churn"), str(seconds), *plugins]
        process = start(argv, self.preloaded(1), self.work)
        wait_for(lambda: handles_dumps(process.pid), "the handler of the dump signal")
        while process.poll() is None:
            process.send_signal(DUMP_SIGNAL)
            time.sleep(0.2)
        self.assertEqual(finish(process), (0, b"", b""))
        paths = self.profile_paths()
        self.assertGreater(len(paths), seconds)
        for path in paths[:: len(paths) // 5]:
            profile = read_profile(path)
            for one in profile.samples:
                if one.bytes in (2001, 2002):
                    site = {2001: "site_small", 2002: "site_large"}[one.bytes]
                    self.assertEqual(one.stack[:4], [site, "run", "open_and_close", "Worker::run"])
                    self.assertEqual(one.stack[-2], "start_thread")
        self.assertLessEqual(len([path for path in self.out.iterdir() if path.name.startswith(".")]), 1)  # cut off by the end

    def test_nothing_gets_stuck_at_the_default_rate(self):
        plugins = [self.plugin("small", 2001), self.plugin("large", 2002)]
        self.assertEqual(self.profiled(sample("churn"), "2", *plugins, rate=DEFAULT_RATE), (0, b"", b""))

    def test_deep_binding(self):
        """README.md, "Limits": a library with RTLD_DEEPBIND has libc's malloc to itself; what crosses over ends in libc's own refusal."""
        plugin = self.build("deep.so", DEEP_PLUGIN, "-shared", "-fPIC")
        host = self.build("deep", DEEP_HOST)
        for rate in (1, DEFAULT_RATE):
            for what in "each its own", "main frees its strdup":
                with self.subTest(rate=rate, what=what):
                    self.assertEqual(self.profiled(host, plugin, what, rate=rate), (0, b"fine\n", b""))
            for what in "it frees main's", "it frees its strdup":
                with self.subTest(rate=rate, what=what):
                    outcome = self.profiled(host, plugin, what, rate=rate)
                    self.assertEqual((outcome.status, outcome.err), (-6, b"free(): invalid pointer\n"))


if __name__ == "__main__":
    unittest.main()
