"""test_dumps.py - dumps of programs in awkward places: nothing left of what a dump needs, odd threads, filters, other roots."""
import os
import re
import resource
import subprocess
import unittest
from pathlib import Path

import asking
from asking import DUMP, STATUS, DumpsTest, ask_for_profile, pack, queue
from decoding import Decoded
from mprof_test import DUMP_SIGNAL, finish, wait_for

CLONE, CLOSE_RANGE = "56", "436"  # numbers of system calls
NOBODY = 65534

# A library whose constructor says "ready" and waits for a line, with the loader's lock held.
SLOW_LIBRARY = r"""
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
	char byte;

	free(malloc(1000));
	(void)!write(1, "ready\n", 6);
	(void)!read(0, &byte, 1);
}
"""


class PlacesTest(DumpsTest):
    def held(self, profile: Decoded) -> int:
        """Objects of site_held; told by their size, as there may be no names."""
        return sum(row.values["inuse_objects"] for row in profile.rows() if row.labels["bytes"] == 1000)

    def assert_dumps(self, process: subprocess.Popen, first: int = 1) -> None:
        """Both ways to ask work, twice."""
        for count in (first, first + 1):
            self.assertEqual(Decoded.of(self.signal(process, count)).sum("inuse_objects", "site_held"), 100)
            self.assertEqual(self.profile(process).sum("inuse_objects", "site_held"), 100)

    def assert_one_line(self, err: bytes, reason: str) -> None:
        self.assertRegex(err.decode(), rf"\Amprof: cannot write {re.escape(str(self.out))}/\S+: {reason} \(set HEAPPROF_OUT\)\n\Z")

    def assert_no_file(self) -> None:
        self.assertEqual(os.listdir(self.out), [])


class NothingLeft(PlacesTest):
    def test_no_descriptor(self):
        process = self.begin("full")
        self.assert_dumps(process)
        self.assertEqual(len(asking.descriptors(process.pid)), 32)
        self.assert_ends(process)

    def test_no_descriptor_at_the_end(self):
        process = self.begin("full", HEAPPROF_EXIT="1")
        outcome = finish(process)
        self.assertEqual(outcome[:2], (5, b"end\n"))
        if outcome.err:
            self.assert_one_line(outcome.err, "no file descriptor left")
            self.assert_no_file()
        else:
            self.assertEqual(self.held(Decoded.of(self.profile_paths()[0])), 100)

    def test_files_of_limited_size(self):
        for limit in (0, 100):
            with self.subTest(limit=limit):
                process = self.begin(prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)), HEAPPROF_EXIT="1")
                for count in (1, 2):
                    process.send_signal(DUMP_SIGNAL)
                    wait_for(lambda: asking.status(process.pid)["lost_dumps_failed"] == str(count), "a failed dump")
                self.assertEqual(self.step(process), b"done\n")
                self.assertEqual(self.held(self.profile(process)), 200)
                outcome = finish(process)
                self.assertEqual(outcome[:2], (5, b"end\n"))
                self.assert_one_line(outcome.err, "file size limit reached")
                self.assert_no_file()

    def test_streams_closed_at_the_start(self):
        process = self.begin(prepare=lambda: os.close(2), HEAPPROF_OUT="/missing/%p")
        process.send_signal(DUMP_SIGNAL)
        wait_for(lambda: asking.status(process.pid)["lost_dumps_failed"] == "1", "a failed dump")
        self.assert_ends(process)
        process = self.begin(prepare=lambda: (os.close(0), os.close(2)), HEAPPROF_EXIT="1")
        self.assertEqual(process.stdout.read(), b"end\n")
        self.assertEqual(finish(process), (5, b"", b""))
        self.assertEqual(self.held(Decoded.of(self.profile_paths()[0])), 100)

    def test_standard_error_closed_and_written_to(self):
        # Descriptor 2 is free, and lines for it are written all the time: none may end up in a profile.
        for _ in range(5):
            process = self.begin("closed", "", "3000", HEAPPROF_EXIT="1")
            self.signal(process)
            self.assertEqual(finish(process), (5, b"end\n", b""))
            for count, asked_by in ((1, "signal"), (2, "exit")):
                with self.subTest(asked_by=asked_by):
                    self.assertEqual(self.held(Decoded.of(self.out / f"{process.pid}.{count}.pb.gz")), 100)


class Threads(PlacesTest):
    def test_a_thousand(self):
        process = self.begin("crowd", "1000")
        self.assert_dumps(process)
        wait_for(lambda: asking.threads(process.pid) == 1001, "the end of the helper")
        self.assert_ends(process)

    def test_all_but_one_block_signals(self):
        process = self.begin("blocked")
        self.assert_dumps(process)
        self.assert_ends(process)

    def test_one_opens_a_library(self):
        library = self.work / "slow.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=SLOW_LIBRARY, text=True, check=True)
        process = self.begin("loading", str(library))
        self.assert_dumps(process)
        self.assertEqual(self.step(process), b"ready\n")
        self.assert_dumps(process, 3)
        self.assert_ends(process)


class Filtered(PlacesTest):
    def test_no_clone(self):
        process = self.begin("refuse", CLONE)
        self.assert_dumps(process)
        self.assertEqual(self.step(process), b"done\n")
        self.assertEqual(self.held(Decoded.of(self.signal(process, 3))), 200)
        self.assertEqual(asking.status(process.pid)["live_objects"], str(self.profile(process).sum("inuse_objects")))
        self.assertEqual(sorted(asking.descriptors(process.pid)), [0, 1, 2])
        self.assert_ends(process)

    def test_no_clone_on_the_smallest_stacks(self):
        process = self.begin("crowd-without-clone", "20")
        self.assert_dumps(process)
        self.assert_ends(process)

    def test_no_descriptors_of_its_own(self):
        # As on kernels before 5.9, where the helper shares the program's: none of its may stay.
        process = self.begin("refuse", CLOSE_RANGE)
        self.assert_dumps(process)
        wait_for(lambda: asking.threads(process.pid) == 1, "the end of the helper")
        self.assertEqual(sorted(asking.descriptors(process.pid)), [0, 1, 2])
        self.assert_ends(process)


@unittest.skipUnless(os.getuid() == 0, "only root may change its root or its user")
class Elsewhere(PlacesTest):
    def test_another_root_with_the_directory(self):
        root = self.work / "root"
        inside = Path(f"{root}{self.out}")
        inside.mkdir(parents=True)
        process = self.begin("root", str(root), HEAPPROF_EXIT="1")
        for count in (1, 2):
            process.send_signal(DUMP_SIGNAL)
            wait_for((inside / f"{process.pid}.{count}.pb.gz").exists, "a profile in the other root")
        self.assertEqual(finish(process), (5, b"end\n", b""))
        found = sorted(inside.iterdir())
        self.assertEqual(len(found), 3)
        for path in found:
            self.assertEqual(self.held(Decoded.of(path)), 100)
        self.assert_no_file()

    def test_another_root_without_it(self):
        root = self.work / "root"
        root.mkdir()
        process = self.begin("root", str(root), HEAPPROF_EXIT="1")
        process.send_signal(DUMP_SIGNAL)
        queue(process.pid, pack(STATUS, 1))  # there is no /proc: nobody can be answered
        self.assertEqual(self.step(process), b"done\n")
        outcome = finish(process)
        self.assertEqual(outcome[:2], (5, b"end\n"))
        self.assert_one_line(outcome.err, "no such directory")
        self.assert_no_file()
        self.assertEqual(os.listdir(root), [])

    def test_another_user(self):
        self.work.chmod(0o755)
        for mode in (0o777, 0o755):
            with self.subTest(mode=oct(mode)):
                self.out.chmod(mode)
                process = self.begin("user", str(NOBODY), HEAPPROF_EXIT="1")
                reader, writer = os.pipe()
                for kind in (STATUS, DUMP):
                    queue(process.pid, pack(kind, writer))  # of root: cannot be opened
                process.send_signal(DUMP_SIGNAL)
                if mode == 0o777:
                    wait_for((self.out / f"{process.pid}.1.pb.gz").exists, "a profile")
                outcome = finish(process)
                self.assertEqual(outcome[:2], (5, b"end\n"))
                os.close(writer)
                self.assertEqual(os.read(reader, 1), b"")
                os.close(reader)
                if mode == 0o777:
                    self.assertEqual([self.held(Decoded.of(path)) for path in self.profile_paths()], [100, 100])
                    for path in self.profile_paths():
                        path.unlink()
                else:
                    self.assert_one_line(outcome.err, "permission denied")
                self.assert_no_file()


class Child(PlacesTest):
    """matz/spinel#4388: a child of fork that goes on without exec."""

    def test_has_a_profile_of_its_own(self):
        process = self.begin("parent", ready=b"parent\n")
        before = self.signal(process)
        child = int(self.step(process).split()[1])
        self.assertEqual(process.stdout.readline(), b"ready\n")
        queue(child, 0)
        path = self.out / f"{child}.1.pb.gz"
        wait_for(path.exists, "the child's dump")
        for profile in (Decoded.of(path), Decoded(ask_for_profile(child))):
            self.assertEqual([profile.sum("inuse_objects", site) for site in ("site_held", "site_child")], [100, 100])
        after = self.signal(process, 2)
        for profile in (Decoded.of(before), Decoded.of(after), self.profile(process)):
            self.assertEqual([profile.sum("inuse_objects", site) for site in ("site_held", "site_child")], [100, 0])
        self.assertEqual(asking.status(child)["dumps"], "2")
        self.assertEqual(finish(process), (6, b"end\n", b""))
        self.assertEqual(len(self.profile_paths()), 3)


if __name__ == "__main__":
    unittest.main()
