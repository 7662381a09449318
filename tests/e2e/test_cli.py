"""test_cli.py - the command line tool: its messages, its exit statuses, and that `mprof run` is transparent."""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("MPROF_BUILD", os.path.join(ROOT, "build"))
MPROF = os.path.join(BUILD, "mprof")
SAMPLES = os.path.join(BUILD, "tests")
TIMEOUT = 20

# A Go program whose heap has recursion, inlined calls, type parameters and figures of very different size.
GO_SOURCE = r"""
package main

import ("fmt"; "os"; "runtime"; "runtime/pprof"; "strings")

var kept [][]byte
var numbers [][]int64
var table = map[string]int{}

func recurse(n int) {
	if n == 0 {
		for i := 0; i < 200; i++ { kept = append(kept, make([]byte, 3000)) }
		return
	}
	if n%2 == 0 { kept = append(kept, make([]byte, 70000)) }
	recurse(n - 1)
}

func generic[T any](n int) []T { return make([]T, n) }

func main() {
	runtime.MemProfileRate = 4096
	recurse(20)
	kept = append(kept, make([]byte, 64<<20))
	for i := 0; i < 100; i++ {
		numbers = append(numbers, generic[int64](1000))
		_ = strings.Repeat("x", 100000)
	}
	for i := 0; i < 20000; i++ { table[fmt.Sprint("key", i)] = i }
	runtime.GC()
	file, _ := os.Create(os.Args[1])
	pprof.WriteHeapProfile(file)
	file.Close()
}
"""


class CliTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="mprof-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def mprof(self, *args, **kwargs):
        kwargs = {"cwd": self.dir, "capture_output": True, "text": True, "timeout": TIMEOUT} | kwargs
        return subprocess.run([MPROF, *args], **kwargs)

    def write(self, name, text, mode=0o755):
        path = os.path.join(self.dir, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def assert_one_line(self, text, *words):
        self.assertEqual(text.count("\n"), 1, text)
        for word in words:
            self.assertIn(word, text)


class Messages(CliTest):
    def test_help_goes_to_stdout(self):
        for args in (["--help"], ["-h"], ["help"], ["help", "run"], ["help", "top"], ["run", "--help"], ["top", "-h"]):
            done = self.mprof(*args)
            self.assertEqual((done.returncode, done.stderr), (0, ""), args)
            self.assertIn("usage: mprof", done.stdout)
            self.assertLess(max(map(len, done.stdout.splitlines())), 100)

    def test_run_help_names_every_variable(self):
        with open(os.path.join(ROOT, "core/options.def")) as file:
            names = re.findall(r"^OPTION\(\w+, (\w+)", file.read(), re.M)
        text = self.mprof("help", "run").stdout
        self.assertEqual([name for name in names if f"--{name}" not in text], [])

    def test_version_names_the_parts(self):
        lines = self.mprof("--version").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["mprof", "jemalloc", "libunwind", "zlib", "protobuf-c"])
        for line in lines:
            self.assertRegex(line, r"^\S+ \d+\.\d+\.\d+$")

    def test_usage_errors_take_one_line_and_exit_2(self):
        cases = [
            ([], "mprof --help"),
            (["zzz"], "'zzz'", "mprof --help"),
            (["tpo"], "'tpo'", "'top'"),
            (["ru"], "'ru'", "'run'"),
            ([""], "''", "mprof --help"),
            (["x" * 300], "mprof --help"),
            (["--bad"], "'--bad'", "mprof --help"),
            (["help", "rnu"], "'rnu'", "'run'"),
            (["top"], "no profile", "mprof help top"),
            (["top", "a", "b"], "'b'", "mprof help top"),
            (["top", "--bad", "a"], "'--bad'", "mprof help top"),
            (["top", "-xn", "a"], "'-x'", "mprof help top"),
            (["top", "-n", "many", "a"], "'many'", "mprof help top"),
            (["top", "-n", "-1", "a"], "'-1'", "mprof help top"),
            (["top", "a", "--sample"], "'--sample'", "mprof help top"),
            (["run"], "no program", "mprof help run"),
            (["run", "--"], "no program", "mprof help run"),
            (["run", "--rate"], "'--rate'", "mprof help run"),
            (["run", "--rate", "12q", "true"], "'12q'", "--rate", "mprof help run"),
            (["run", "--depth=0", "true"], "'0'", "--depth", "mprof help run"),
            (["run", "--signal", "KILL", "true"], "'KILL'", "--signal", "mprof help run"),
            (["run", "--help=1"], "'--help'", "mprof help run"),
        ]
        for args, *words in cases:
            with self.subTest(args=args):
                done = self.mprof(*args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assert_one_line(done.stderr, *words)

    def test_failures_take_one_line_and_exit_1(self):
        self.write("text", "no profile\n")
        self.write("empty", "")
        for name in ("missing", "text", "empty", "."):
            with self.subTest(name=name):
                done = self.mprof("top", name)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assert_one_line(done.stderr, f"cannot read {name}: ")

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = self.mprof("--help", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "standard output")


class Run(CliTest):
    def test_exit_status_is_the_programs(self):
        for status in (0, 1, 7, 255):
            self.assertEqual(self.mprof("run", "sh", "-c", f"exit {status}").returncode, status)

    def test_death_by_signal_is_the_programs(self):
        for name in ("TERM", "KILL", "SEGV", "ABRT", "USR1"):
            done = self.mprof("run", "sh", "-c", f"kill -{name} $$")
            self.assertEqual(done.returncode, -getattr(signal, "SIG" + name))
        self.assertEqual([name for name in os.listdir(self.dir) if "core" in name], [])

    def test_what_cannot_be_run(self):
        self.write("data", "not executable", 0o644)
        for command, status in (("nosuch-program", 127), ("./nosuch", 127), ("./data", 126), (".", 126)):
            done = self.mprof("run", command)
            self.assertEqual(done.returncode, status, command)
            self.assert_one_line(done.stderr, f"'{command}'")

    def test_streams_are_untouched(self):
        done = self.mprof("run", "sh", "-c", "cat; echo err >&2", input="in\0put")
        self.assertEqual(done.stdout, "in\0put")
        self.assertTrue(done.stderr.startswith("err\n"))

    def test_options_end_at_the_command(self):
        for args in (["echo", "--rate", "-x", "--"], ["--", "echo", "--rate", "-x", "--"]):
            self.assertEqual(self.mprof("run", *args).stdout, "--rate -x --\n")

    def test_environment_of_the_program(self):
        done = self.mprof("run", "--rate", "64k", "--verbose", "--depth=9", "sh", "-c",
                          "echo $LD_PRELOAD; echo $HEAPPROF_RATE $HEAPPROF_VERBOSE $HEAPPROF_DEPTH $HEAPPROF_OUT",
                          env=os.environ | {"LD_PRELOAD": "libm.so.6", "HEAPPROF_OUT": "x.%p.%n"})
        preload, variables = done.stdout.splitlines()
        self.assertEqual(preload, os.path.realpath(os.path.join(BUILD, "libmprof.so")) + ":libm.so.6")
        self.assertEqual(variables, f"64k 1 9 {os.path.realpath(self.dir)}/x.%p.%n")

    def test_signal_state_of_the_program(self):
        # nohup and friends: what was ignored or blocked before is so in the program, and nothing else.
        def prepare():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

        command = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
        plain = subprocess.run(command, capture_output=True, text=True, preexec_fn=prepare)
        self.assertEqual(self.mprof("run", *command, preexec_fn=prepare).stdout, plain.stdout)


class Signals(CliTest):
    # Counts the signal it is told to wait for, and exits with the count after a pause without another one.
    COUNTER = ("import signal, sys, time\n"
               "count = 0\n"
               "def on_signal(*_):\n"
               "    global count\n"
               "    count += 1\n"
               "signal.signal(int(sys.argv[1]), on_signal)\n"
               "print('ready', flush=True)\n"
               "deadline = time.monotonic() + 10\n"
               "while count == 0 and time.monotonic() < deadline: time.sleep(0.05)\n"
               "time.sleep(0.3)\n"
               "sys.exit(40 + count)\n")

    def test_signals_are_passed_on(self):
        for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT", "SIGQUIT", "SIGRTMIN"):
            with self.subTest(name=name):
                number = getattr(signal, name)
                program = subprocess.Popen(
                    [MPROF, "run", sys.executable, "-c", self.COUNTER, str(int(number))], cwd=self.dir,
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                self.assertEqual(program.stdout.readline(), "ready\n")
                program.send_signal(number)
                self.assertEqual(program.wait(TIMEOUT), 41)
                program.stdout.close()

    def test_a_key_of_the_terminal_arrives_once(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.dir)
            os.execv(MPROF, [MPROF, "run", sys.executable, "-c", self.COUNTER, str(int(signal.SIGINT))])
        self.assertIn(b"ready", os.read(terminal, 100))
        os.write(terminal, b"\x03")
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 41)


class Report(CliTest):
    def test_one_profile_takes_one_line(self):
        done = self.mprof("run", "--rate", "1", os.path.join(SAMPLES, "known_sites"), "exact")
        self.assert_one_line(done.stderr, " in use of ", " allocated, ", "every allocation")
        name = re.fullmatch(r"mprof: (mprof\.\d+\.\d+\.pb\.gz): .*; read it with: mprof top \1\n", done.stderr).group(1)
        self.assertEqual(self.mprof("top", name).returncode, 0)

    def test_many_profiles_take_few_lines(self):
        done = self.mprof("run", "--rate", "1", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do ls >/dev/null; done")
        count = len(os.listdir(self.dir))
        self.assertGreaterEqual(count, 9)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 8, done.stderr)
        self.assertEqual(lines[0], f"mprof: {count} profiles, the largest first:")
        self.assertEqual(lines[6], f"  and {count - 5} more")

    def test_only_new_profiles_count(self):
        self.write("p.1", "an old file")
        done = self.mprof("run", "--rate", "0", "--out", "p.%p", "true")
        self.assert_one_line(done.stderr, "no profile", "rate is 0")

    def test_patterns_reach_other_directories(self):
        os.makedirs(os.path.join(self.dir, "out"))
        done = self.mprof("run", "--rate", "1", "--out", "out/%c.%p.%n.gz", "sh", "-c", "cd /; exec ls")
        self.assertIn("mprof top out/ls.", done.stderr)

    def assert_not_profiled(self, done, reason):
        self.assert_one_line(done.stderr, "not profiled", reason)

    def test_why_there_is_no_profile(self):
        cases = [
            (["true"], "too little"),
            (["--exit=0", "true"], "HEAPPROF_EXIT"),
            (["sh", "-c", "kill -9 $$"], "SIGKILL"),
        ]
        for args, reason in cases:
            with self.subTest(args=args):
                self.assert_one_line(self.mprof("run", *args).stderr, "no profile", reason)

    def test_programs_that_cannot_be_profiled(self):
        source = self.write("static.c", "int main(void) { return 5; }\n")
        static = os.path.join(self.dir, "static")
        subprocess.run(["cc", "-static", "-o", static, source], check=True)
        script = self.write("script", f"#!{static}\n")
        for command in (static, script):
            done = self.mprof("run", command)
            self.assertEqual(done.returncode, 5)
            self.assert_not_profiled(done, "statically linked")

    @unittest.skipUnless(os.getuid() == 0, "needs root to make a setuid file")
    def test_setuid_programs_are_left_alone(self):
        os.chmod(self.dir, 0o755)
        program = os.path.join(self.dir, "program")
        shutil.copy("/bin/true", program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        done = self.mprof("run", program)
        self.assertEqual(done.returncode, 0)
        self.assert_not_profiled(done, "setuid")


@unittest.skipUnless(shutil.which("go"), "needs go tool pprof")
class Top(CliTest):
    TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")

    def go_rows(self, path, sample_type, symbolize="local"):
        text = subprocess.run(["go", "tool", "pprof", f"-symbolize={symbolize}", "-top",
                               f"-sample_index={sample_type}", path], check=True, capture_output=True, text=True, cwd=self.dir).stdout
        # Go's demangler drops what a lambda within a template captures, libiberty's does not: the one known difference of names.
        rows = {name: figures for name, figures in self.rows(text).items() if "{lambda" not in name}
        return {re.sub(r" \((partial-)?inline\)$", "", name): figures for name, figures in rows.items()}

    @staticmethod
    def rows(text):
        """{function: (flat, flat%, cum, cum%)} of a table; sum% depends on how ties are ordered."""
        rows = {}
        for line in text.splitlines():
            found = re.fullmatch(r" *(-?\d\S*)(?: +(?:-|±\S+%))? +(\S+%) +\S+% +(-?\d\S*)(?: +(?:-|±\S+%))? +(\S+%) +(.+)",
                                 line)
            if found:
                rows[found.group(5)] = found.groups()[:4]
        return rows

    def assert_same_as_go(self, path, symbolize="local"):
        for sample_type in self.TYPES:
            with self.subTest(sample_type=sample_type):
                go = self.go_rows(path, sample_type, symbolize)
                text = self.mprof("top", "--sample", sample_type, "-n", "0", path).stdout
                ours = self.rows(text)
                self.assertTrue(go or "Nothing to show" in text)
                self.assertEqual({name: ours.get(name) for name in go}, go)

    def profile(self, *command):
        done = self.mprof("run", "--out", "p.%p.gz", *command)
        return re.search(r"mprof top (\S+)", done.stderr).group(1)

    def test_same_as_go_on_a_profile_of_go(self):
        source = self.write("heap.go", GO_SOURCE)
        path = os.path.join(self.dir, "go.pb.gz")
        subprocess.run(["go", "run", source, path], check=True, cwd=self.dir)
        self.assert_same_as_go(path)

    def test_same_as_go_on_exact_profiles(self):
        self.assert_same_as_go(self.profile("--rate", "1", os.path.join(SAMPLES, "known_sites"), "exact"))

    def test_same_as_go_on_cxx_names(self):
        self.assert_same_as_go(self.profile("--rate", "1", os.path.join(SAMPLES, "cxx_mix")))

    def test_same_as_go_without_names(self):
        self.assert_same_as_go(self.profile("--rate", "1", "--symbols", "none", sys.executable, "-c", "import json"),
                               symbolize="none")

    def test_number_of_lines(self):
        path = self.profile("--rate", "1", sys.executable, "-c", "import json")
        functions = len(self.rows(self.mprof("top", "-n", "0", path).stdout))
        self.assertEqual(len(self.rows(self.mprof("top", path).stdout)), 30)
        text = self.mprof("top", path, "-n", "3").stdout
        self.assertEqual(len(self.rows(text)), 3)
        self.assertIn(f"{functions - 3} more functions", text.splitlines()[-1])

    def test_unknown_type_lists_those_there_are(self):
        path = self.profile("--rate", "1", sys.executable, "-c", "")
        done = self.mprof("top", "--sample", "cpu", path)
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "'cpu'", *self.TYPES)


if __name__ == "__main__":
    unittest.main()
