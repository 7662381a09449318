"""test_dumps_ends.py - programs that fork, end or become another while a dump is written: a final name is a whole file's.

MPROF_LONG=1 makes ten times as many rounds."""
import os
import random
import signal
import subprocess
import time
import unittest

import asking
from asking import DUMP, Asking, DumpsTest, ask_for_profile
from decoding import Decoded
from mprof_test import DUMP_SIGNAL, finish, sample, start, wait_for

SCALE = 10 if os.environ.get("MPROF_LONG") == "1" else 1
MANY = 60000  # samples: a dump of some 0.2 s


class EndsTest(DumpsTest):
    def begin_ends(self, how: str, samples: int = MANY, **more: str) -> subprocess.Popen:
        process = start([sample("ends"), how, str(samples)], self.preloaded(1, **more), self.work)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def ask_and_wait(self, process: subprocess.Popen) -> None:
        """Ask for a dump, and wait until it is being written."""
        process.send_signal(DUMP_SIGNAL)
        deadline = time.monotonic() + 20
        while not list(self.out.iterdir()):
            self.assertLess(time.monotonic(), deadline)

    def whole(self) -> list[int]:
        """The number of samples of each file that has a final name; all must be whole."""
        return [Decoded.of(path).sample_count for path in sorted(self.profile_paths())]

    def unfinished(self) -> list[str]:
        return [path.name for path in self.out.glob(".*")]


class DuringADump(EndsTest):
    def test_exit_waits_for_it(self):
        for how in ("exit", "exit-thread"):
            with self.subTest(how=how):
                process = self.begin_ends(how)
                self.ask_and_wait(process)
                self.assertEqual(finish(process, b"\n"), (7, b"", b""))
                found = self.whole()
                self.assertEqual((len(found), self.unfinished()), (2, []))
                self.assertGreaterEqual(min(found), MANY)
                for path in self.profile_paths():
                    path.unlink()

    def test_exit_waits_for_a_request(self):
        process = self.begin_ends("exit", HEAPPROF_EXIT="0")
        asked = Asking(process.pid, DUMP)
        asked.read(20)
        process.stdin.write(b"\n")
        process.stdin.flush()
        self.assertGreaterEqual(Decoded(asked.answer().rest).sample_count, MANY)
        self.assertEqual(finish(process), (7, b"", b""))

    def test_ends_that_do_not_wait(self):
        for how, status in (("_exit", 7), ("exec", 7), ("on", -signal.SIGTERM)):
            with self.subTest(how=how):
                process = self.begin_ends(how)
                self.ask_and_wait(process)
                if status < 0:
                    process.terminate()
                self.assertEqual(finish(process, b"\n" if status >= 0 else b"")[::2], (status, b""))
                self.whole()
                for path in self.out.iterdir():
                    path.unlink()

    def test_the_main_thread_ends(self):
        process = self.begin_ends("thread", HEAPPROF_EXIT="0")
        self.ask_and_wait(process)
        self.assertEqual(finish(process, b"\n"), (0, b"", b""))
        self.whole()

    @unittest.skipUnless(os.getuid() == 0, "only root may change its user")
    def test_another_user(self):
        self.work.chmod(0o755)
        self.out.chmod(0o777)
        process = self.begin_ends("setuid")
        self.ask_and_wait(process)
        self.assertEqual(self.step(process), b"after\n")
        wait_for(lambda: self.profile_paths(), "the dump begun before")
        self.signal(process, 2)
        self.assertEqual(finish(process, b"\n"), (7, b"", b""))
        self.assertEqual([count >= MANY for count in self.whole()], [True] * 3)

    def test_fork(self):
        process = self.begin_ends("fork")
        before = asking.descriptors(process.pid)
        asked = Asking(process.pid, DUMP)
        self.ask_and_wait(process)
        child = int(self.step(process).split()[1])
        self.assertEqual(asking.descriptors(child), before)
        self.assertEqual(asking.threads(child), 1)
        self.assertGreaterEqual(Decoded(asked.answer().rest).sample_count, MANY)  # nobody else keeps the pipe open
        self.assertIn("site_after", Decoded(ask_for_profile(child)).strings)
        wait_for(lambda: self.profile_paths(), "the parent's dump")
        self.assertEqual(self.step(process), b"after\n")
        self.assertEqual(finish(process, b"\n"), (7, b"", b""))
        self.assertEqual({path.name for path in self.profile_paths()},
                         {f"{process.pid}.1.pb.gz", f"{process.pid}.2.pb.gz", f"{child}.1.pb.gz"})
        self.assertEqual([count >= MANY for count in self.whole()], [True] * 3)
        self.assertEqual(self.unfinished(), [])

    def test_fork_without_libc(self):
        """The child's fork handlers have not run: it must not wait for a helper that only its parent has."""
        process = self.begin_ends("silent-fork", HEAPPROF_EXIT="0")
        self.ask_and_wait(process)
        child = int(self.step(process).split()[1])
        self.assertIn("site_after", Decoded(ask_for_profile(child)).strings)
        os.kill(child, DUMP_SIGNAL)
        wait_for(lambda: list(self.out.glob(f"{child}.*.pb.gz")), "the child's dump")
        self.assertEqual(self.step(process), b"after\n")
        self.assertEqual(finish(process, b"\n"), (7, b"", b""))
        self.whole()

    def test_vfork_and_exec(self):
        """The signal hits a child that has the parent's memory; the parent must still be able to dump afterwards."""
        process = self.begin_ends("vfork", HEAPPROF_EXIT="0")
        self.assertEqual(self.step(process), b"after\n")
        skipped = int(asking.status(process.pid)["lost_dumps_skipped"])
        process.send_signal(DUMP_SIGNAL)
        wait_for(lambda: list(self.out.glob(f"{process.pid}.*")) or
                 int(asking.status(process.pid)["lost_dumps_skipped"]) > skipped, "a dump, written or skipped")
        self.assertEqual(asking.status(process.pid)["lost_dumps_skipped"], str(skipped))
        self.assertEqual(finish(process, b"\n"), (7, b"", b""))
        self.whole()


class Killed(EndsTest):
    def test_files_are_whole_and_names_unique(self):
        """pkg/profile#57: profiles cut off by the end of the process."""
        delays = random.Random(1)
        names: set[str] = set()
        for _ in range(100 * SCALE):
            process = self.begin_ends("on", 1000)
            end = time.monotonic() + delays.uniform(0, 0.02)
            while time.monotonic() < end:
                process.send_signal(DUMP_SIGNAL)
                time.sleep(0.001)
            process.kill()
            self.assertEqual(finish(process).status, -signal.SIGKILL)
            for path in self.profile_paths():
                self.assertGreaterEqual(Decoded.of(path).sample_count, 1000)
                self.assertNotIn(path.name, names)
                names.add(path.name)
            for path in self.out.iterdir():
                path.unlink()
        self.assertGreater(len(names), 100 * SCALE)

    def test_processes_that_share_a_pattern(self):
        """golang/go#43132: two writers, one name."""
        processes = [self.begin_ends("on", 500, HEAPPROF_OUT=str(self.out / "%n.pb.gz")) for _ in range(4)]
        for _ in range(10):
            for process in processes:
                process.send_signal(DUMP_SIGNAL)
            for process in processes:
                wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helper")
        written = sum(10 - int(asking.status(process.pid)["lost_dumps_skipped"]) for process in processes)
        for process in processes:
            self.assertEqual(finish(process, b"\n"), (7, b"after\n", b""))
        self.assertEqual(len(self.whole()), written + 4)
        self.assertGreaterEqual(min(self.whole()), 500)


class Exit(DumpsTest):
    """jemalloc#144, gperftools#379: exit() while sixteen threads allocate."""

    def rounds(self, where: str, least: int) -> None:
        for i in range(25 * SCALE):
            outcome = self.profiled(sample("exits"), where, rate=(1, 524288)[i % 2])
            self.assertEqual(outcome, (7, b"", b""))
            if i % 2 == 0:
                self.assertGreaterEqual(len(self.profile_paths()), least)
            for path in self.out.iterdir():
                Decoded.of(path)
                path.unlink()

    def test_in_main(self):
        self.rounds("main", 1)

    def test_in_a_thread(self):
        self.rounds("thread", 1)

    def test_in_a_handler(self):
        self.rounds("handler", 1)

    def test_in_a_handler_that_does_not_block_its_signal(self):
        self.rounds("nested-handler", 1)

    def test_with_an_exit_handler_that_allocates_and_asks_for_a_dump(self):
        self.rounds("atexit", 2)

    def test_just_after_a_dump_was_asked_for(self):
        self.rounds("signal", 2)


if __name__ == "__main__":
    unittest.main()
