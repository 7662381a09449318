"""test_live.py - the verbs for running processes: what they say and change, and whom they refuse to ask."""
import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest
from pathlib import Path

from mprof_test import BUILD, DUMP_SIGNAL, ProgramTest, Values, environment, finish, read_profile, sample, start, wait_for

MPROF = str(BUILD / "mprof")
NOBODY = 65534
KEPT, FREED = Values(100, 100000, 100, 100000), Values(1000, 500000, 0, 0)


class LiveTest(ProgramTest):
    def begin(self, rate: int = 1, **more: str) -> subprocess.Popen:
        process = start([sample("grows")], self.preloaded(rate, HEAPPROF_EXIT="0", **more), self.work)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.read(1), b"r")
        return process

    def step(self, process: subprocess.Popen, count: int = 1) -> None:
        for _ in range(count):
            process.stdin.write(b"\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.read(1), b"r")

    def mprof(self, *args: object, status: int = 0, **more: object) -> tuple[str, str]:
        done = subprocess.run([MPROF, *map(str, args)], cwd=self.work, env=environment(), capture_output=True, text=True, timeout=60, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def assert_refused(self, reason: str, *args: object) -> None:
        out, err = self.mprof(*args, status=1)
        self.assertEqual(out, "")
        self.assertRegex(err, rf"\Amprof \w+: .*{reason}.*\n\Z")

    def assert_goes_on(self, process: subprocess.Popen) -> None:
        self.step(process)
        self.assertEqual(finish(process), (5, b"", b""))


class Verbs(LiveTest):
    def test_dump(self):
        process = self.begin()
        self.step(process, 3)
        out, err = self.mprof("dump", process.pid, "-o", "now.pb.gz")
        self.assertEqual(out, "")
        self.assertRegex(err, r"\Amprof: now.pb.gz: .* in use of .* allocated.*\n\Z")
        profile = read_profile(self.work / "now.pb.gz")
        self.assertEqual(profile.at("site_kept"), {1000: Values(300, 300000, 300, 300000)})
        self.assertEqual(profile.at("site_freed"), {500: Values(3000, 1500000, 0, 0)})
        self.assert_goes_on(process)

    def test_names_that_are_free(self):
        process = self.begin()
        for number in 1, 2:
            self.mprof("dump", process.pid)
            self.assertTrue((self.work / f"mprof.{process.pid}.{number}.pb.gz").exists())
        self.assertEqual(len(list(self.work.glob("*mprof*"))), 2)

    def test_delta(self):
        process = self.begin()
        self.step(process, 5)
        asking = subprocess.Popen([MPROF, "dump", "--delta", "1", "-o", "delta.pb.gz", str(process.pid)], cwd=self.work, env=environment(),
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        self.step(process, 2)
        self.assertEqual(asking.wait(20), 0)
        profile = read_profile(self.work / "delta.pb.gz")
        self.assertEqual(profile.at("site_kept"), {1000: Values(200, 200000, 700, 700000)})
        self.assertEqual(profile.at("site_freed"), {500: Values(2000, 1000000, 0, 0)})

    def test_delta_is_unsampled_after_subtracting(self):
        process = self.begin(4096)
        self.mprof("dump", "--delta", "0.2", "-o", "none.pb.gz", process.pid)
        self.assertEqual(sum(one.values.alloc_objects for one in read_profile(self.work / "none.pb.gz").samples), 0)

    def test_status(self):
        process = self.begin()
        self.step(process)
        figures = json.loads(self.mprof("status", "--json", process.pid)[0])
        self.assertEqual((figures["rate"], figures["pid"], figures["program"]), (1, process.pid, sample("grows")))
        self.assertGreaterEqual(figures["live_bytes"], 100000)
        self.assertGreaterEqual(figures["alloc_objects"], 1100)
        self.assertRegex(self.mprof("status", process.pid)[0], rf"(?m)^process +{process.pid}, {sample('grows')}$")

    def test_rate_and_reset(self):
        process = self.begin()
        self.step(process)
        self.assertRegex(self.mprof("rate", process.pid, "0")[0], r"^rate .* -> ")
        self.step(process)
        self.mprof("rate", process.pid, "1")
        self.mprof("reset", process.pid)
        self.step(process, 20)  # a changed rate is seen within 1 MiB
        self.mprof("dump", process.pid, "-o", "now.pb.gz")
        kept = read_profile(self.work / "now.pb.gz").at("site_kept")[1000]
        self.assertEqual(kept.inuse_objects, kept.alloc_objects)  # what was alive at the reset counts as allocated
        self.assertGreaterEqual(kept.inuse_objects, 100 + 1700)
        self.assertLessEqual(kept.inuse_objects, 100 + 2000)

    def test_ps(self):
        process = self.begin(65536)
        self.assertRegex(self.mprof("ps")[0], rf"(?m)^ +{process.pid}  grows +64kB ")

    def test_watch_without_a_terminal(self):
        process = self.begin()
        self.step(process)
        out, _ = self.mprof("watch", "--count", "2", "--interval", "0.2", process.pid)
        self.assertEqual(len(re.findall(r"(?m)^ +[0-9.]+kB .*site_kept$", out)), 2)

    def test_the_process_ends_while_watched(self):
        process = self.begin()
        watching = subprocess.Popen([MPROF, "watch", "--interval", "0.1", str(process.pid)], env=environment(), text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        watching.stdout.readline()
        finish(process)
        _, err = watching.communicate(timeout=20)
        self.assertEqual(watching.returncode, 0)
        self.assertIn("it has ended", err)


class Peak(LiveTest):
    def test_top_shows_it_when_asked(self):
        process = self.begin(HEAPPROF_PEAK="1")
        self.step(process, 2)
        self.mprof("dump", process.pid, "-o", "now.pb.gz")
        self.assertIn("Type: inuse_space", self.mprof("top", "now.pb.gz")[0])
        self.assertRegex(self.mprof("top", "--sample", "peak_space", "now.pb.gz")[0], r"(?m)^ +195.31kB .* site_kept$")


class Refused(LiveTest):
    def test_no_such_process(self):
        self.assert_refused("there is no such process", "dump", 2 ** 22 - 1)

    def test_not_preloaded(self):
        process = subprocess.Popen(["sleep", "60"], env=environment())
        self.addCleanup(process.kill)
        for verb in ("dump", process.pid), ("status", process.pid), ("rate", process.pid, "1"), ("reset", process.pid), ("watch", process.pid):
            self.assert_refused("libmprof.so", *verb)
        self.assertIsNone(process.poll())

    def test_the_signal_is_not_taken(self):
        process = self.begin(HEAPPROF_SIGNAL="none")
        self.assert_refused("HEAPPROF_SIGNAL", "dump", process.pid)
        self.assert_goes_on(process)

    def test_the_signal_is_ignored(self):
        process = start([sample("grows")], self.preloaded(1), self.work, lambda: signal.signal(DUMP_SIGNAL, signal.SIG_IGN))
        self.addCleanup(process.kill)
        process.stdout.read(1)
        self.assert_refused("SIGRTMAX-4|RTMAX-4", "dump", process.pid)
        self.assert_goes_on(process)

    def test_the_signal_is_blocked(self):
        process = start([sample("grows")], self.preloaded(1), self.work, lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {DUMP_SIGNAL}))
        self.addCleanup(process.kill)
        process.stdout.read(1)
        self.assert_refused("blocks", "dump", process.pid)
        self.assert_goes_on(process)

    def test_another_signal_of_its_own(self):
        process = self.begin(HEAPPROF_SIGNAL="USR2")
        self.step(process)
        self.mprof("dump", process.pid, "-o", "now.pb.gz")
        self.assertEqual(read_profile(self.work / "now.pb.gz").at("site_kept"), {1000: KEPT})

    def test_right_after_exec(self):
        """bnoordhuis/node-heapdump#13: asked while it starts, a process is refused or answers, and lives."""
        for _ in range(20):
            process = start([sample("grows")], self.preloaded(1, HEAPPROF_EXIT="0"), self.work)
            subprocess.run([MPROF, "status", str(process.pid)], env=environment(), capture_output=True, timeout=20)
            self.assertEqual(finish(process).status, 5)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_of_another_user(self):
        process = self.begin()
        done = subprocess.run([MPROF, "dump", str(process.pid)], env=environment(), capture_output=True, text=True, timeout=20, user=NOBODY,
                              group=NOBODY, extra_groups=[])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assert_goes_on(process)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_in_another_pid_namespace(self):
        # async-profiler#147
        process = subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", sample("grows")], env=self.preloaded(1, HEAPPROF_EXIT="0"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.work)
        self.addCleanup(process.kill)
        if process.stdout.read(1) != b"r":
            self.skipTest("no namespaces here")
        inner = int(subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True).stdout)
        self.assert_refused("namespace", "dump", inner)
        os.kill(inner, DUMP_SIGNAL)
        wait_for(self.profile_paths, "the file")
        process.stdin.close()
        self.assertEqual(process.wait(20), 5)

    def test_no_answer(self):
        process = self.begin()
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: "State:\tT" in Path(f"/proc/{process.pid}/status").read_text(), "the stop")
        self.assert_refused("stopped", "dump", "--timeout", "1", process.pid)
        process.send_signal(signal.SIGCONT)
        self.assert_goes_on(process)

    def test_usage(self):
        for args in (("dump",), ("dump", "x"), ("rate", "1"), ("rate", "1", "many"), ("watch", "1", "2"), ("status", "--nope", "1")):
            out, err = self.mprof(*args, status=2)
            self.assertEqual((out, err.count("\n")), ("", 1), err)

    def test_a_file_that_cannot_be_written(self):
        process = self.begin()
        self.assert_refused("No such file or directory", "dump", process.pid, "-o", "missing/now.pb.gz")
        done = subprocess.run([MPROF, "dump", str(process.pid), "-o", "small.pb.gz"], cwd=self.work, env=environment(), capture_output=True,
                              text=True, timeout=20, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertEqual(list(self.work.glob("*.pb.gz")) + list(self.work.glob(".*")), [])


if __name__ == "__main__":
    unittest.main()
