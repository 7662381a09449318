"""test_dumps_files.py - where the files of dumps go, what becomes of them when there is no room, and HEAPPROF_KEEP."""
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import asking
from asking import DumpsTest
from decoding import Decoded
from mprof_test import DUMP_SIGNAL, finish, wait_for

SIZES = "30000"  # samples that differ by their size: a profile of some 200 KB
ROOM = 64 << 10


def mounted(place: Path, *options: str) -> bool:
    """A tmpfs there, where this is allowed."""
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    return bool(shutil.which("mount")) and subprocess.run(command, capture_output=True).returncode == 0


class FilesTest(DumpsTest):
    def mount(self, *options: str) -> Path:
        place = self.work / "mounted"
        if not mounted(place, *options):
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(place)])
        return place

    def fail_twice(self, process: subprocess.Popen) -> None:
        """Two dumps that cannot be written; the program goes on."""
        for count in (1, 2):
            process.send_signal(DUMP_SIGNAL)
            wait_for(lambda: asking.status(process.pid)["lost_dumps_failed"] == str(count), "a failed dump")
            self.assertEqual(self.step(process), b"done\n")

    def assert_one_line(self, process: subprocess.Popen, reason: str, place: Path | str = "") -> None:
        outcome = finish(process)
        self.assertEqual(outcome[:2], (5, b"end\n"))
        self.assertRegex(outcome.err.decode(), rf"\Amprof: cannot write {re.escape(str(place))}\S*: {reason} \(set HEAPPROF_OUT\)\n\Z")


class Relative(FilesTest):
    """jemalloc#1164: a program that changes its directory, and profiles all over the place."""

    def test_in_the_start_directory(self):
        (self.work / "elsewhere" / "profiles").mkdir(parents=True)
        process = self.begin("directory", "elsewhere", HEAPPROF_OUT="profiles/%p.%n.pb.gz", HEAPPROF_EXIT="1")
        self.signal(process)
        self.signal(process, 2)
        self.assert_ends(process)
        self.assertEqual([Decoded.of(path).sum("inuse_objects", "site_held") for path in self.profile_paths()], [100] * 3)
        self.assertEqual(os.listdir(self.work / "elsewhere" / "profiles"), [])

    def test_a_start_directory_that_is_gone(self):
        (self.work / "elsewhere").mkdir()
        begun = self.work / "begun"
        begun.mkdir()
        process = self.begin("directory", str(self.work / "elsewhere"), HEAPPROF_OUT="%p.%n.pb.gz", HEAPPROF_EXIT="1",
                             prepare=lambda: os.chdir(begun))
        begun.rmdir()
        self.fail_twice(process)
        self.assert_one_line(process, "no such directory", begun)
        self.assertEqual(os.listdir(self.work / "elsewhere"), [])

    def assert_deep(self, length: int) -> None:
        """Begin in a directory whose name has about that length, and go elsewhere."""
        top, elsewhere = self.work / f"deep-{length}", self.work / f"elsewhere-{length}"
        elsewhere.mkdir()

        def dive() -> None:
            os.mkdir(top)
            os.chdir(top)
            for _ in range(length // 201):
                os.mkdir("d" * 200)
                os.chdir("d" * 200)
        process = self.begin("directory", str(elsewhere), HEAPPROF_OUT="%n.pb.gz", HEAPPROF_EXIT="1", prepare=dive)
        outcome = finish(process)
        self.assertEqual(outcome[:2], (5, b"end\n"))
        found = [name for _, _, names in os.walk(top) for name in names]
        self.assertEqual(os.listdir(elsewhere), [])
        if found:
            self.assertEqual((found, outcome.err), (["1.pb.gz"], b""))
        else:
            self.assertRegex(outcome.err.decode(), r"\Amprof: .*too long.*\n\Z")

    def test_a_start_directory_with_a_long_name(self):
        for length in (1700, 2100, 3000, 4800):
            with self.subTest(length=length):
                self.assert_deep(length)


class NoRoom(FilesTest):
    def test_a_small_file_system(self):
        """memray#116: a full tmpfs, where other profilers leave half a file, or die of SIGBUS."""
        place = self.mount(f"size={ROOM}")
        process = self.begin("here", "", SIZES, HEAPPROF_OUT=f"{place}/%p.%n.pb.gz", HEAPPROF_EXIT="1")
        self.fail_twice(process)
        self.assertEqual(os.listdir(place), [])
        self.assertGreaterEqual(self.profile(process).sample_count, int(SIZES))
        self.assert_one_line(process, "no space left on the device", place)
        self.assertEqual(os.listdir(place), [])

    def test_room_again(self):
        place = self.mount(f"size={ROOM}")
        (place / "other").write_bytes(b"x" * ROOM)
        process = self.begin(HEAPPROF_OUT=f"{place}/%p.%n.pb.gz", HEAPPROF_EXIT="1")
        self.fail_twice(process)
        (place / "other").unlink()
        process.send_signal(DUMP_SIGNAL)
        wait_for(lambda: os.listdir(place), "a profile")
        self.assert_one_line(process, "no space left on the device", place)
        for path in place.iterdir():
            profile = Decoded.of(path)
            self.assertEqual(profile.sum("inuse_objects", "site_held"), 300)
            self.assertTrue(any(line.startswith("lost: 2 dumps that failed") for line in profile.comments))

    def test_a_file_system_that_is_only_read(self):
        place = self.mount("ro")
        process = self.begin(HEAPPROF_OUT=f"{place}/%p.%n.pb.gz", HEAPPROF_EXIT="1")
        self.fail_twice(process)
        self.assert_one_line(process, "read-only file system", place)

    def test_different_errors_have_a_line_each(self):
        place = self.work / "there"
        process = self.begin(HEAPPROF_OUT=f"{place}/%p.%n.pb.gz")
        self.fail_twice(process)
        place.write_bytes(b"")
        for _ in range(2):
            process.send_signal(DUMP_SIGNAL)
        wait_for(lambda: asking.status(process.pid)["lost_dumps_failed"] != "2", "a failed dump")
        outcome = finish(process)
        self.assertEqual((outcome.status, outcome.err.count(b"\n")), (5, 2), outcome.err)


class Keep(FilesTest):
    def numbers(self) -> list[int]:
        return sorted(int(path.name.split(".")[-3]) for path in self.profile_paths())

    def dumps(self, process: subprocess.Popen, first: int, last: int) -> None:
        for count in range(first, last + 1):
            self.signal(process, count)
            wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helper")

    def test_the_newest_three(self):
        process = self.begin(HEAPPROF_KEEP="3", HEAPPROF_EXIT="1")
        self.dumps(process, 1, 2)
        self.assertEqual(self.numbers(), [1, 2])
        self.dumps(process, 3, 10)
        self.assertEqual(self.numbers(), [8, 9, 10])
        self.assert_ends(process)
        self.assertEqual(self.numbers(), [9, 10, 11])

    def test_a_file_that_somebody_else_put_there(self):
        process = self.begin(HEAPPROF_KEEP="3")
        self.dumps(process, 1, 3)
        (self.work / "other").write_bytes(b"precious")
        os.rename(self.work / "other", self.out / f"{process.pid}.2.pb.gz")  # another inode, as long as both are there
        (self.out / f"{process.pid}.3.pb.gz").unlink()
        self.dumps(process, 4, 8)
        self.assertEqual(self.numbers(), [2, 6, 7, 8])
        self.assertEqual((self.out / f"{process.pid}.2.pb.gz").read_bytes(), b"precious")
        self.assertEqual(asking.status(process.pid)["lost_dumps_failed"], "0")
        self.assert_ends(process)

    def test_a_child_leaves_its_parents_files(self):
        pattern = str(self.out / "shared.%n.pb.gz")
        process = self.begin("parent", ready=b"parent\n", HEAPPROF_KEEP="3", HEAPPROF_OUT=pattern)

        def ask(pid: int, count: int) -> None:
            os.kill(pid, DUMP_SIGNAL)
            wait_for((self.out / f"shared.{count}.pb.gz").exists, f"file {count}")
            wait_for(lambda: asking.threads(pid) == 1, "the end of the helper")
        for count in range(1, 5):
            ask(process.pid, count)
        child = int(self.step(process).split()[1])
        process.stdout.readline()
        ask(child, 1)  # free again
        for count in range(5, 9):
            ask(child, count)
        self.assertEqual(self.numbers(), [2, 3, 4, 6, 7, 8])
        ask(process.pid, 5)
        self.assertEqual(self.numbers(), [3, 4, 5, 6, 7, 8])
        self.assertEqual(finish(process), (6, b"end\n", b""))

    def test_bad_numbers(self):
        for name, value in (("KEEP", "10001"), ("INTERVAL", "1000000001")):
            process = self.begin(**{f"HEAPPROF_{name}": value})
            outcome = finish(process)
            self.assertEqual((outcome.status, outcome.err.count(b"\n")), (5, 1))
            self.assertIn(f"HEAPPROF_{name}".encode(), outcome.err)


if __name__ == "__main__":
    unittest.main()
