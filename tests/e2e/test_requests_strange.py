"""test_requests_strange.py - requests that are none, names that are no pipes, and askers that die or do not listen."""
import fcntl
import os
import random
import signal
import socket
import subprocess
import time
import unittest
from collections.abc import Callable

import asking
from asking import BUSY, DUMP, OK, RAW, STATUS, Asking, DumpsTest, ask, pack, queue
from decoding import Decoded
from mprof_test import TIMEOUT, finish, wait_for

CLONE = "56"  # the number of the system call
SIZES = "30000"  # samples that differ by their size: a profile of some 200 KB, several pipes full


def small_pipe() -> tuple[int, int]:
    """A pipe that takes one page."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    return reader, writer


class Garbage(DumpsTest):
    def test_is_taken_as_a_plain_signal(self):
        process = self.begin()
        reader, writer = os.pipe()
        values = [0, (1 << 64) - 1, pack(0, writer), pack(5, writer), pack(15, writer), pack(DUMP, writer) ^ 1 << 20, writer]
        for count, value in enumerate(values, 1):
            queue(process.pid, value)
            path = self.out / f"{process.pid}.{count}.pb.gz"
            wait_for(path.exists, f"a dump for {value:#x}")
            self.assertEqual(Decoded.of(path).sum("inuse_objects", "site_held"), 100)
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b"")
        os.close(reader)
        self.assert_ends(process)

    def test_arguments_that_mean_nothing(self):
        process = self.begin()
        line, profile = ask(process.pid, DUMP, RAW + 1)
        self.assertEqual(line, OK)
        self.assertEqual(Decoded(profile).sum("inuse_objects", "site_held"), 100)
        self.assertEqual(ask(process.pid, asking.RESET, (1 << 40) - 1), (OK, b""))
        self.assert_ends(process)


class NoPipe(DumpsTest):
    """Whoever may signal a process must not make it write where only that process may: nothing but pipes is written to."""

    def assert_nothing_written(self, process: subprocess.Popen, fd: int) -> None:
        for kind in (DUMP, STATUS):
            queue(process.pid, pack(kind, fd))
        self.profile(process)  # a later one has been answered, and so these are over
        wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helpers")

    def test_files(self):
        process = self.begin()
        path = self.work / "file"
        path.write_bytes(b"precious")
        os.utime(path, (1, 1))
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            fd = os.open(path, flags)
            self.assert_nothing_written(process, fd)
            os.close(fd)
        self.assertEqual((path.read_bytes(), path.stat().st_mtime), (b"precious", 1))
        self.assertEqual(self.profile_paths(), [])
        self.assert_ends(process)

    def test_devices_sockets_terminals(self):
        process = self.begin()
        ours, theirs = socket.socketpair()
        master, terminal = os.openpty()
        for fd in (os.open("/dev/null", os.O_WRONLY), theirs.fileno(), terminal, os.open("/", os.O_RDONLY), 0xFFFF):
            self.assert_nothing_written(process, fd)
        for fd, read in ((ours.fileno(), lambda: ours.recv(1)), (master, lambda: os.read(master, 1))):
            os.set_blocking(fd, False)
            self.assertRaises(BlockingIOError, read)
        self.assertEqual(self.profile_paths(), [])
        self.assert_ends(process)


class Deaf(DumpsTest):
    def ask_in_a_child(self, process: subprocess.Popen, kind: int, before_death: Callable[[int], None]) -> None:
        """A process that asks, does something with the reading end, and is gone."""
        child = os.fork()
        if child == 0:
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(TIMEOUT)
                reader, writer = small_pipe()
                queue(process.pid, pack(kind, writer))
                before_death(reader)
            finally:
                os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0, "no answer")
        self.assertIsNone(process.poll())

    def test_an_asker_that_dies(self):
        for place in (("here", ""), ("refuse", CLONE)):
            with self.subTest(place=place):
                process = self.begin(*place, SIZES)
                for kind in (DUMP, STATUS):
                    for _ in range(10):
                        self.ask_in_a_child(process, kind, lambda reader: None)
                        self.ask_in_a_child(process, kind, lambda reader: os.read(reader, 1))
                wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helpers")
                self.assert_ends(process)

    def hang_up_early(self, process: subprocess.Popen, rounds: int = 300, longest: float = 0.003) -> None:
        """Ask for the status, which takes a while to find, and close the pipe at any moment of that while."""
        delays = random.Random(1)
        for _ in range(rounds):
            reader, writer = os.pipe()
            queue(process.pid, pack(STATUS, writer))
            end = time.monotonic() + delays.uniform(0, longest)
            while time.monotonic() < end:
                pass
            os.close(reader)
            os.close(writer)
            self.assertIsNone(process.poll())

    def test_an_asker_that_hangs_up(self):
        process = self.begin("here", "", SIZES)
        self.hang_up_early(process)
        wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helpers")
        self.signal(process)  # served after all requests, whose answers would else come through pipes of the same number
        self.assert_ends(process)

    def test_an_asker_that_hangs_up_before_it_is_told_busy(self):
        process = self.begin("here", "", SIZES)
        pipes = [small_pipe() for _ in range(3)]
        for _, writer in pipes:
            queue(process.pid, pack(DUMP, writer))
        wait_for(lambda: asking.threads(process.pid) == 4, "all helpers at work")
        self.hang_up_early(process, 10000, 0.0001)
        for pipe in pipes:
            for fd in pipe:
                os.close(fd)
        wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helpers")
        self.signal(process)
        self.assert_ends(process)

    def test_an_asker_that_hangs_up_where_there_is_no_helper(self):
        # The answer is then made by the program's own thread, which the pipe's SIGPIPE must not kill.
        process = self.begin("refuse", CLONE, SIZES)
        self.hang_up_early(process)
        self.signal(process)
        self.assert_ends(process)

    def test_the_programs_own_broken_pipe_is_still_its_own(self):
        # With SIGPIPE pending in the program before the answer, it must still be so afterwards.
        process = self.begin("refuse", CLONE, SIZES, prepare=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE}))
        process.send_signal(signal.SIGPIPE)
        self.ask_in_a_child(process, DUMP, lambda reader: os.read(reader, 1))
        self.profile(process)
        pending = next(line for line in open(f"/proc/{process.pid}/status") if line.startswith("ShdPnd"))
        self.assertEqual(int(pending.split()[1], 16), 1 << signal.SIGPIPE - 1)
        self.assert_ends(process)

    def test_askers_that_do_not_read(self):
        """They are given up after 5 s; a program that ends before waits for them no longer than that."""
        process, ending = self.begin("here", "", SIZES), self.begin("here", "", SIZES)
        pipes = [small_pipe() for _ in range(4)]
        for one, (_, writer) in zip((process, process, process, ending), pipes):
            queue(one.pid, pack(DUMP, writer))
        wait_for(lambda: asking.threads(process.pid) == 4 and asking.threads(ending.pid) == 2, "all helpers at work")
        for kind in (DUMP, STATUS):
            self.assertEqual(ask(process.pid, kind), (BUSY, b""))
        process.send_signal(asking.DUMP_SIGNAL)
        self.assertEqual(finish(ending), (5, b"end\n", b""))
        wait_for(lambda: asking.threads(process.pid) == 1, f"the end of the helpers, within {TIMEOUT} s")
        found = asking.status(process.pid)
        self.assertEqual((found["lost_dumps_failed"], found["lost_dumps_skipped"]), ("3", "1"))
        for pipe in pipes:
            for fd in pipe:
                os.close(fd)
        self.signal(process)
        self.assert_ends(process)

    def test_a_pipe_that_is_full(self):
        process = self.begin()
        reader, writer = small_pipe()
        os.write(writer, b"x" * 4096)
        for kind in (DUMP, STATUS):
            queue(process.pid, pack(kind, writer))
        self.profile(process)
        wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helpers")
        os.close(writer)
        self.assertEqual(len(os.read(reader, 8192)), 4096)
        os.close(reader)
        self.assert_ends(process)

    def test_an_asker_that_reads_slowly(self):
        process = self.begin("here", "", SIZES)
        one = Asking(process.pid, DUMP)
        fcntl.fcntl(one.reader, fcntl.F_SETPIPE_SZ, 4096)
        for _ in range(20):
            time.sleep(0.02)
            one.read(TIMEOUT)
        line, profile = one.answer()
        self.assertEqual(line, OK)
        self.assertGreaterEqual(Decoded(profile).sample_count, int(SIZES))
        self.assert_ends(process)


if __name__ == "__main__":
    unittest.main()
