"""test_doctor.py - `mprof doctor`: what it says of installations, programs and profiles that are good, and of each kind that is not."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest
from pathlib import Path

from mprof_test import LIBRARY, TOOL, ProgramTest, environment, finish, start, wait_for

PROGRAM = r"""
#include <stdlib.h>
#include <string.h>
static void *kept[100];
__attribute__((noinline)) static void work(int i) { kept[i] = malloc(200000); memset(kept[i], 1, 200000); }
int main(void) { for (int i = 0; i < 100; i++) work(i); return 5; }
"""

OWN = r"""
#include <stddef.h>
static char memory[1 << 26];
static size_t used;
void *malloc(size_t n) { void *p = memory + used; used += (n + 15) & ~(size_t)15; return p; }
void free(void *p) { (void)p; }
int main(void) { return malloc(9) == NULL; }
"""

STOPPED = r"""
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void end(int signo) { _exit(signo); }
int main(void) { signal(SIGUSR1, end); if (write(1, "ready\n", 6) == 6) for (;;) pause(); }
"""

THREADS = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *idle(void *unused) { return unused; }
static void *become(void *path) { execl(path, path, NULL); return NULL; }
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 500; i++) { pthread_create(&thread, NULL, idle, NULL); pthread_join(thread, NULL); }
	pthread_create(&thread, NULL, become, argv[argc - 1]);
	pthread_join(thread, NULL);
	return 1;
}
"""


def found_by_gcc(name: str) -> str:
    """The path of a library."""
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


class DoctorTest(ProgramTest):
    def compile(self, name: str, *options: str, source: str = PROGRAM) -> Path:
        path = self.work / name
        subprocess.run(["gcc", "-x", "c", "-o", path, "-", "-x", "none", *options], input=source.encode(), check=True)
        return path

    def doctor(self, *args: str, **more: str) -> tuple[int, list[dict]]:
        """Its exit status and its findings; on stderr there is nothing else."""
        report = self.work / "report.json"
        done = subprocess.run([TOOL, "doctor", "--json", "-o", report, *args], cwd=self.work, env=environment(**more),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.returncode, json.loads(report.read_text())

    def levels(self, findings: list[dict]) -> dict[str, str]:
        return {one["code"]: one["level"] for one in findings}

    def assert_problem(self, code: str, *args: str, **more: str) -> dict:
        """It has a problem of this code, which it says what to do about, and exits with 1. Returns that finding."""
        status, findings = self.doctor(*args, **more)
        self.assertEqual(status, 1, findings)
        (found,) = [one for one in findings if one["code"] == code]
        self.assertEqual(found["level"], "problem")
        self.assertNotEqual(found["advice"], "")
        return found

    def assert_fine(self, *args: str, **more: str) -> dict[str, str]:
        """It has no problem, and exits with 0. Returns the levels by code."""
        status, findings = self.doctor(*args, **more)
        self.assertEqual(status, 0, findings)
        return self.levels(findings)


class Setup(DoctorTest):
    def test_all_is_well(self):
        self.assertEqual(self.assert_fine(), {"library": "ok", "unwinder": "ok", "environment": "ok"})

    def test_library_that_is_not_there(self):
        shutil.copy(TOOL, self.work)
        done = subprocess.run([self.work / "mprof", "doctor"], env=environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"(?m)^problem +libmprof.so: .* neither beside this tool")

    def test_library_that_does_not_load(self):
        shutil.copy(TOOL, self.work)
        (self.work / "libmprof.so").write_bytes(b"no library")
        done = subprocess.run([self.work / "mprof", "doctor"], env=environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"(?m)^problem +\S+/libmprof.so: does not work: .*cannot be preloaded.*; install it again")

    def test_variables(self):
        self.assertEqual(self.assert_problem("variable", HEAPPROF_RTE="1")["subject"], "HEAPPROF_RTE")
        self.assertIn("'12q'", self.assert_problem("variable", HEAPPROF_RATE="12q")["text"])
        self.assertEqual(self.assert_problem("rate", HEAPPROF_RATE="0")["subject"], "HEAPPROF_RATE")
        self.assertEqual(self.assert_problem("directory", HEAPPROF_OUT="/no/such/%p")["subject"], "/no/such")

    def test_another_allocator_in_ld_preload(self):
        library = found_by_gcc("libjemalloc.so")
        for preload, text in ((library, "unused under mprof run"), (f"{LIBRARY}:{library}", "libmprof.so comes first")):
            status, findings = self.doctor(LD_PRELOAD=preload)
            (found,) = [one for one in findings if one["code"] == "preload"]
            self.assertEqual((status, found["level"], found["subject"]), (0, "note", library))
            self.assertIn(text, found["text"])


class Program(DoctorTest):
    def test_good(self):
        program = self.compile("program", "-g")
        self.assertEqual(self.assert_fine("--", str(program)), {"program": "ok", "profiled": "ok"})
        self.assertEqual([path.name for path in self.work.iterdir() if path.suffix == ".gz"], [])

    def test_report_is_on_stderr_and_streams_are_the_programs(self):
        done = subprocess.run([TOOL, "doctor", "--", "sh", "-c", "cat; echo out"], input="in\n", capture_output=True, text=True,
                              env=environment(HEAPPROF_RATE="100G"), timeout=60)
        self.assertEqual(done.stdout, "in\nout\n")
        self.assertRegex(done.stderr, r"(?m)^problem  sh: no profile: ")

    def test_static(self):
        self.assertEqual(self.assert_problem("static", "--", str(self.compile("program", "-static")))["subject"], "program")

    def test_static_behind_others(self):
        self.compile("program", "-static")
        self.assert_problem("static", "--", "sh", "-c", "./program; true")

    @unittest.skipUnless(os.getuid() == 0, "needs root to make a setuid file")
    def test_setuid(self):
        self.work.chmod(0o755)
        program = self.compile("program", "-g")
        for owner, argv in ((65534, [program]), (0, ["setpriv", "--reuid=65534", "--clear-groups", program])):
            os.chown(program, owner, owner)
            program.chmod(0o4755)
            with self.subTest(owner=owner):
                self.assertEqual(self.assert_problem("privileged", "--", *map(str, argv))["subject"], "program")

    def test_sanitizers(self):
        for option, name in (("address", "AddressSanitizer"), ("thread", "ThreadSanitizer"), ("leak", "LeakSanitizer")):
            with self.subTest(option):
                program = self.compile(option, f"-fsanitize={option}")
                done = subprocess.run([TOOL, "doctor", "--", program], env=environment(), capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"(?m)^problem  \S*{option}: built with {name}, .*; profile a build without")

    def test_allocators(self):
        archive = found_by_gcc("libjemalloc_pic.a")
        for options in ((), ("-s",)):
            program = self.compile("program", archive, "-lstdc++", "-lm", *options)
            self.assertIn("(jemalloc)", self.assert_problem("allocator", "--", str(program))["text"])
        program = self.compile("program", source=OWN)
        self.assertIn("(another)", self.assert_problem("allocator", "--", str(program))["text"])
        program = self.compile("program", "-g", "-Wl,--no-as-needed", "-ljemalloc")
        self.assertEqual(self.assert_fine("--", str(program))["allocator-library"], "note")

    def test_stripped(self):
        program = self.compile("program", "-s")
        found = self.assert_problem("stripped", "--", str(program))
        self.assertEqual((found["subject"], "do not strip" in found["advice"]), ("program", True))

    def test_package(self):
        """What a distribution has stripped it has the names of elsewhere."""
        _, findings = self.doctor("--", "ls", "-d", "/", DEBUGINFOD_URLS="")
        (found,) = [one for one in findings if one["code"] == "stripped"]
        self.assertIn("install coreutils-dbgsym, or set DEBUGINFOD_URLS", found["advice"])

    def test_no_debug_information(self):
        self.assertEqual(self.assert_fine("--", str(self.compile("program"))), {"no-debug-info": "note", "profiled": "ok"})

    def test_no_unwind_tables(self):
        program = self.compile("program", "-g", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer")
        self.assertIn("-fasynchronous-unwind-tables", self.assert_problem("cut-stacks", "--", str(program))["advice"])

    def test_python(self):
        args = ("--", "/usr/bin/python3", "-c", "x = [bytes(100) for i in range(100000)]")
        (found,) = [one for one in self.doctor(*args)[1] if one["code"] == "runtime"]
        self.assertEqual((found["level"], found["advice"]), ("note", "set PYTHONMALLOC=malloc"))
        self.assertNotIn("runtime", self.levels(self.doctor(*args, PYTHONMALLOC="malloc")[1]))

    def test_empty(self):
        program = self.compile("program", "-g")
        self.assertIn("512K", self.assert_problem("no-profile", "--", str(program), HEAPPROF_RATE="100G")["advice"])
        self.assertIn("HEAPPROF_EXIT", self.assert_problem("no-profile", "--", str(program), HEAPPROF_EXIT="0")["text"])
        program = self.compile("program", "-g", source="int main(void) { return 0; }\n")
        self.assertIn("HEAPPROF_RATE=1", self.assert_problem("no-profile", "--", str(program))["advice"])
        self.assertIn("SIGKILL", self.assert_problem("no-profile", "--", "sh", "-c", "kill -9 $$")["text"])

    def test_usage(self):
        for args, word in ((["--"], "no program"), (["--bad"], "'--bad'"), (["--color", "red"], "'red'"), (["-o"], "'-o'")):
            done = subprocess.run([TOOL, "doctor", *args], env=environment(), capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn(word, done.stderr)

    def test_colour(self):
        args = [TOOL, "doctor", "--color", "always"]
        self.assertIn(b"\033[", subprocess.run(args, env=environment(), capture_output=True, timeout=60).stdout)
        self.assertNotIn(b"\033[", subprocess.run(args[:2], env=environment(), capture_output=True, timeout=60).stdout)

    def test_what_cannot_be_run(self):
        for args, word in ((["--", "./missing"], "cannot run './missing'"), (["missing"], "cannot read missing")):
            done = subprocess.run([TOOL, "doctor", *args], cwd=self.work, env=environment(), capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))
            self.assertIn(word, done.stderr)


class Traced(DoctorTest):
    def setUp(self):
        super().setUp()
        self.compile("program", "-g")

    def test_ld_preload_dropped(self):
        script = self.work / "script"
        script.write_text("#!/bin/sh\nunset LD_PRELOAD\nexec ./program\n")
        script.chmod(0o755)
        for argv, by in ((["env", "-i", "./program"], "/env"), (["env", "-u", "LD_PRELOAD", "./program"], "/env"),
                         (["sh", "-c", "env -i /bin/sh -c ./program; true"], "/env"), (["./script"], "sh")):
            with self.subTest(argv):
                found = self.assert_problem("dropped", "--", *argv)
                self.assertRegex(found["text"], rf"{by} dropped LD_PRELOAD")

    def test_a_build(self):
        self.compile("static", "-static")
        (self.work / "Makefile").write_text("all: a b c d\na b c d:\n\t@./program || true\n\t@env -i ./program || ./static || true\n")
        status, findings = self.doctor("--", "make", "-j2")
        self.assertEqual(status, 1)
        counts = {one["code"]: (one["subject"], one["count"]) for one in findings if one["level"] == "problem"}
        self.assertEqual(counts, {"dropped": ("program", 4), "static": ("static", 4)})
        self.assertEqual(self.levels(findings)["profiled"], "ok")

    def test_threads_and_their_exec(self):
        self.compile("threads", "-pthread", "-g", source=THREADS)
        self.assertEqual(self.assert_fine("--", "./threads", "./program"), {"program": "ok", "profiled": "ok"})

    def test_what_stays_behind_goes_on(self):
        status, findings = self.doctor("--", "sh", "-c", "(sleep 0.5; touch done) >/dev/null 2>&1 & ./program")
        self.assertEqual((status, self.levels(findings)["background"]), (0, "note"))
        wait_for((self.work / "done").exists, "the background process")

    def test_signals(self):
        self.compile("stopped", "-g", source=STOPPED)
        process = start([str(TOOL), "doctor", "--", "./stopped"], environment(), self.work)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

        def state():
            return re.search(r"^State:\s+(\S)", Path(f"/proc/{child}/status").read_text(), re.M)[1]

        os.kill(int(child), signal.SIGSTOP)
        wait_for(lambda: state() in "tT", "the stop")
        os.kill(int(child), signal.SIGCONT)
        wait_for(lambda: state() == "S", "its end")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(finish(process).status, 1)  # it ended by _exit, without a profile

    @unittest.skipUnless(shutil.which("strace"), "needs a tracer, of which there can be but one")
    def test_without_ptrace(self):
        report = self.work / "report.json"
        done = subprocess.run(["strace", "-f", "-o", "/dev/null", TOOL, "doctor", "--json", "-o", report, "--", "./program"], cwd=self.work,
                              env=environment(), timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.levels(json.loads(report.read_text())), {"program": "ok", "untraced": "note", "profiled": "ok"})


class Profile(DoctorTest):
    def profile(self, *options: str, rate: int = 4096, **more: str) -> str:
        """The profile of a program compiled with these options."""
        self.program = self.compile("program", *options)
        self.profiled(str(self.program), rate=rate, **more)
        (path,) = self.profile_paths()
        return str(path)

    def test_good(self):
        self.assertEqual(self.assert_fine(self.profile("-g")), {"no-lines": "note", "profile": "ok"})

    def test_no_debug_information(self):
        self.assertEqual(self.assert_fine(self.profile()), {"no-debug-info": "note", "profile": "ok"})

    def test_stripped(self):
        self.assertEqual(self.assert_problem("stripped", self.profile("-s"))["subject"], "program")

    def test_no_names(self):
        self.assertIn("mprof symbolize", self.assert_problem("unnamed", self.profile(HEAPPROF_SYMBOLS="none"))["advice"])

    def test_deleted_and_changed(self):
        path = self.profile(HEAPPROF_SYMBOLS="none")
        self.compile("program", "-O2", source="int main(void) { return 0; }\n")
        self.assertIn("with the build of ID", self.assert_problem("file-changed", path)["advice"])
        self.program.unlink()
        self.assert_problem("file-missing", path)

    def test_lost(self):
        path = self.profile("-g", HEAPPROF_DEPTH="1")
        self.assertEqual(self.assert_problem("cut-stacks", path)["advice"], "raise HEAPPROF_DEPTH")
        self.assertEqual(self.levels(self.doctor(path)[1])["lost_truncated"], "note")

    def test_empty(self):
        program = self.compile("stopped", source=STOPPED)
        process = start([str(program)], self.preloaded("100G"), self.work)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        path = self.out / "empty"
        subprocess.run([TOOL, "dump", "-o", path, str(process.pid)], check=True, stderr=subprocess.DEVNULL)
        process.kill()
        finish(process)
        self.assertIn("100GB", self.assert_problem("empty", str(path))["text"])

    def test_no_profile(self):
        program = self.compile("program")
        self.assertIn(f"mprof doctor -- {program}", self.assert_problem("unreadable", str(program))["advice"])


if __name__ == "__main__":
    unittest.main()
