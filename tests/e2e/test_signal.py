"""test_signal.py - the dump signal: it writes a profile of a running program, and is never taken from a program."""
import signal
import subprocess
import unittest

from mprof_test import DUMP_SIGNAL, ProgramTest, Values, finish, read_profile, sample, start, wait_for

HELD = Values(1000, 10000000, 1000, 10000000)


class SignalTest(ProgramTest):
    def begin(self, mode: str, *args: str, prepare=None, **more: str) -> subprocess.Popen:
        """Start tests/programs/signals.c at rate 1 and wait until it is ready for signals."""
        process = start([sample("signals"), mode, *args], self.preloaded(1, **more), self.work, prepare)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def step(self, process: subprocess.Popen) -> bytes:
        """Let the program go one step on, allocating once more; what it says."""
        process.stdin.write(b"\n")
        process.stdin.flush()
        return process.stdout.readline()

    def kill(self, process: subprocess.Popen, name: str) -> None:
        subprocess.run(["bash", "-c", f"kill -s {name} {process.pid}"], check=True)

    def wait_for_profiles(self, count: int) -> None:
        wait_for(lambda: len(self.profile_paths()) >= count, f"profile {count}")


class Dump(SignalTest):
    def test_while_the_program_runs(self):
        process = self.begin("wait")
        self.kill(process, "RTMAX-4")
        self.wait_for_profiles(1)
        self.assertEqual(self.assert_good_profile(self.profile_paths()[0], 1).at("site_held"), {10000: HELD})
        self.assertEqual(self.step(process), b"seen 0\n")
        self.kill(process, "RTMAX-4")
        self.wait_for_profiles(2)
        self.assertEqual(read_profile(self.profile_paths()[1]).at("site_held"), {10000: HELD.plus(HELD)})
        self.assertEqual(finish(process), (5, b"done 0\n", b""))
        self.assertEqual(len(self.profile_paths()), 3)

    def test_many_while_the_program_allocates(self):
        process = self.begin("wait")
        for _ in range(50):
            process.send_signal(DUMP_SIGNAL)
            self.assertEqual(self.step(process), b"seen 0\n")
        self.wait_for_profiles(1)
        self.assertEqual(finish(process), (5, b"done 0\n", b""))
        self.assertEqual([path.name for path in self.out.iterdir() if not path.name.endswith(".pb.gz")], [])
        before = 0
        for path in sorted(self.profile_paths(), key=lambda path: int(path.name.split(".")[1])):
            held = read_profile(path).at("site_held")[10000]
            # Nothing is freed, so every dump holds what the one before it held.
            self.assertGreaterEqual(held.inuse_objects, before)
            self.assertEqual(held.inuse_bytes, 10000 * held.inuse_objects)
            before = held.inuse_objects
        self.assertEqual(before, 51000)

    def test_another_signal(self):
        for value, name in (("USR2", "USR2"), ("12", "USR2"), ("SIGUSR1", "USR1"), ("RTMIN+3", "RTMIN+3")):
            with self.subTest(value=value):
                process = self.begin("wait", HEAPPROF_SIGNAL=value)
                self.kill(process, name)
                self.wait_for_profiles(1)
                # Now the default one is a signal as any other: it ends the program.
                process.send_signal(DUMP_SIGNAL)
                self.assertEqual(finish(process).status, -DUMP_SIGNAL)
                self.profile_paths()[0].unlink()

    def test_none(self):
        process = self.begin("wait", HEAPPROF_SIGNAL="none")
        process.send_signal(DUMP_SIGNAL)
        self.assertEqual(finish(process).status, -DUMP_SIGNAL)
        self.assertEqual(self.profile_paths(), [])


class Owned(SignalTest):
    """Programs that have their own idea of the signal; all end well, and only the dump at the exit is written."""

    def assert_undisturbed(self, process: subprocess.Popen, seen: int) -> None:
        self.assertEqual(finish(process), (5, f"done {seen}\n".encode(), b""))
        self.assertEqual(len(self.profile_paths()), 1)

    def test_own_handler(self):
        for mode in ("own", "late"):
            with self.subTest(mode=mode):
                process = self.begin(mode)
                for count in range(1, 4):
                    process.send_signal(DUMP_SIGNAL)
                    self.assertEqual(self.step(process), f"seen {count}\n".encode())
                self.assert_undisturbed(process, 3)
                self.profile_paths()[0].unlink()

    def test_own_handler_of_another_choice(self):
        process = self.begin("own", str(int(signal.SIGUSR2)), HEAPPROF_SIGNAL="USR2")
        process.send_signal(signal.SIGUSR2)
        self.assertEqual(self.step(process), b"seen 1\n")
        self.assert_undisturbed(process, 1)

    def test_ignored(self):
        process = self.begin("wait", prepare=lambda: signal.signal(DUMP_SIGNAL, signal.SIG_IGN))
        process.send_signal(DUMP_SIGNAL)
        self.assertEqual(self.step(process), b"seen 0\n")
        self.assert_undisturbed(process, 0)

    def test_blocked(self):
        process = self.begin("wait", prepare=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {DUMP_SIGNAL}))
        process.send_signal(DUMP_SIGNAL)
        self.assertEqual(self.step(process), b"seen 0\n")
        self.assert_undisturbed(process, 0)


if __name__ == "__main__":
    unittest.main()
