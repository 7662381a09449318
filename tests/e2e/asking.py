"""asking.py - a client of core/request.h, written from its text; what can be seen of a process from outside; tests of dumps.c."""
from __future__ import annotations

import ctypes
import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from decoding import Decoded
from mprof_test import DUMP_SIGNAL, TIMEOUT, ProgramTest, finish, sample, start, wait_for

DUMP, RATE, RESET, STATUS = 1, 2, 3, 4
RAW = 1  # argument of DUMP
MAGIC = 0xD
OK = "mprof 1 ok"
BUSY = "mprof 1 busy"

LIBC = ctypes.CDLL(None, use_errno=True)


def pack(kind: int, fd: int, argument: int = 0) -> int:
    return argument << 24 | MAGIC << 20 | kind << 16 | fd


def queue(pid: int, value: int, number: int = DUMP_SIGNAL) -> None:
    """sigqueue: Python has none."""
    if LIBC.sigqueue(pid, int(number), ctypes.c_uint64(value)) != 0:
        raise OSError(ctypes.get_errno(), "sigqueue")


class Answer(NamedTuple):
    line: str
    rest: bytes


class Asking:
    """One request under way. The writing end stays open until the first bytes show that the process has opened it too."""

    def __init__(self, pid: int, kind: int, argument: int = 0, number: int = DUMP_SIGNAL) -> None:
        self.reader, self.writer = os.pipe()
        self.data = b""
        queue(pid, pack(kind, self.writer, argument), number)

    def close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
        self.writer = -1

    def close(self) -> None:
        self.close_writer()
        os.close(self.reader)

    def read(self, timeout: float) -> bool | None:
        """Read what is there; True at the end of the answer, None when nothing comes in time."""
        if not select.select([self.reader], [], [], timeout)[0]:
            return None
        more = os.read(self.reader, 1 << 16)
        self.data += more
        self.close_writer()
        return more == b""

    def answer(self) -> Answer:
        """Wait for all of the answer."""
        while (end := self.read(TIMEOUT)) is not True:
            if end is None:
                self.close()
                raise AssertionError(f"no answer for {TIMEOUT} s after {self.data[:100]!r}")
        self.close()
        line, _, rest = self.data.partition(b"\n")
        return Answer(line.decode(), rest)


def ask(pid: int, kind: int, argument: int = 0, number: int = DUMP_SIGNAL) -> Answer:
    return Asking(pid, kind, argument, number).answer()


def ask_for_profile(pid: int, argument: int = 0, number: int = DUMP_SIGNAL) -> bytes:
    line, profile = ask(pid, DUMP, argument, number)
    if line != OK:
        raise AssertionError(line)
    return profile


def status(pid: int) -> dict[str, str]:
    line, text = ask(pid, STATUS)
    if line != OK:
        raise AssertionError(line)
    return dict(one.split(" ", 1) for one in text.decode().splitlines())


# --- a process from outside ---------------------------------------------------------------------------------------


def descriptors(pid: int) -> dict[int, str]:
    """What each descriptor of a process is."""
    folder = Path(f"/proc/{pid}/fd")
    return {int(name): os.readlink(folder / name) for name in os.listdir(folder)}


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


def children(pid: int) -> list[str]:
    """Children not waited for, dead or alive."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]


def memory(pid: int) -> dict[str, int]:
    """VmSize, VmRSS and the like, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Vm")}


# --- tests/programs/dumps.c ---------------------------------------------------------------------------------------


class DumpsTest(ProgramTest):
    def begin(self, place: str = "here", *args: str, rate: int = 1, prepare: Callable[[], None] | None = None,
              ready: bytes = b"ready\n", **more: str) -> subprocess.Popen:
        """Start tests/programs/dumps.c and wait until it is in that place. It writes no profile at its exit unless told to."""
        env = self.preloaded(rate, **({"HEAPPROF_EXIT": "0"} | more))
        process = start([sample("dumps"), place, *args], env, self.work, prepare)
        self.addCleanup(process.kill)
        if (said := process.stdout.readline()) != ready:
            if process.wait() == 77:
                self.skipTest("this system does not let a program get there")
            self.fail((said, process.stderr.read()))
        return process

    def step(self, process: subprocess.Popen) -> bytes:
        """Give the program a line, for which it allocates once more; what it says."""
        process.stdin.write(b"\n")
        process.stdin.flush()
        return process.stdout.readline()

    def signal(self, process: subprocess.Popen, count: int = 1) -> Path:
        """Ask for a dump by the plain signal; the file, which is the process's `count`th."""
        process.send_signal(DUMP_SIGNAL)
        path = self.out / f"{process.pid}.{count}.pb.gz"
        wait_for(path.exists, path.name)
        return path

    def profile(self, process: subprocess.Popen, argument: int = 0) -> Decoded:
        """Ask for one by a request."""
        return Decoded(ask_for_profile(process.pid, argument))

    def assert_ends(self, process: subprocess.Popen, err: bytes = b"") -> None:
        """It has come to no harm: it answers, and ends as it would without mprof."""
        self.assertGreaterEqual(self.profile(process).sum("inuse_objects", "site_held"), 100)
        self.assertEqual(finish(process), (5, b"end\n", err))
