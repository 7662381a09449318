"""mprof_test.py - what the end-to-end tests share: running programs with and without mprof, and reading their profiles."""
from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MPROF_BUILD", ROOT / "build")).resolve()
LIBRARY = BUILD / "libmprof.so"
TOOL = BUILD / "mprof"

DEFAULT_RATE = 524288
DUMP_SIGNAL = signal.SIGRTMAX - 4
TIMEOUT = 20  # seconds until a program counts as stuck
SAMPLE_TYPES = ("alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes")


def sample(name: str) -> str:
    """The path of one of tests/programs."""
    return str(BUILD / "tests" / name)


def environment(**more: str) -> dict[str, str]:
    """Ours, without anything that would already concern mprof, and in the C locale."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEAPPROF_", "LD_PRELOAD"))}
    return kept | {"LC_ALL": "C"} | more


class Outcome(NamedTuple):
    """How a program ended: its status (negative: killed by that signal) and what it wrote."""
    status: int
    out: bytes
    err: bytes


def start(argv: list[str], env: dict[str, str], cwd: Path, prepare: Callable[[], None] | None = None) -> subprocess.Popen:
    """Start a program in a session of its own, with pipes for its three streams."""
    return subprocess.Popen(argv, env=env, cwd=cwd, preexec_fn=prepare, start_new_session=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen, stdin: bytes = b"", timeout: float = TIMEOUT) -> Outcome:
    """Wait for the end of a started program; a stuck one is killed with all that it started, and is a failure."""
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"stuck for {timeout} s: {process.args}\n{out!r}\n{err!r}") from None
    return Outcome(process.returncode, out, err)


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds; how long that takes is not judged, only that it comes to pass."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {TIMEOUT} s in vain: {what}")
        time.sleep(0.01)


# --- profiles as `go tool pprof -raw` shows them ------------------------------------------------------------------


class Values(NamedTuple):
    """The four values of a sample."""
    alloc_objects: int
    alloc_bytes: int
    inuse_objects: int
    inuse_bytes: int

    def plus(self, other: Values) -> Values:
        return Values(*(a + b for a, b in zip(self, other)))


@dataclass
class Sample:
    values: Values
    stack: list[str]  # function names, leaf first
    locations: tuple[int, ...]
    bytes: int | None = None  # the label


@dataclass
class Profile:
    period: int = 0
    period_type: str = ""
    types: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    mappings: list[str] = field(default_factory=list)

    def at(self, site: str) -> dict[int | None, Values]:
        """What was allocated by this function itself: the sums of the four values by block size."""
        sums: dict[int | None, Values] = {}
        for one in self.samples:
            if one.stack and one.stack[0] == site:
                sums[one.bytes] = sums.get(one.bytes, Values(0, 0, 0, 0)).plus(one.values)
        return sums

    def below(self, function: str) -> Values:
        """The sum over all stacks that this function is in."""
        return functools.reduce(Values.plus, (s.values for s in self.samples if function in s.stack), Values(0, 0, 0, 0))

    def functions(self) -> set[str]:
        return {function for one in self.samples for function in one.stack}


def parse_raw(text: str) -> Profile:
    profile = Profile()
    section = ""
    names: dict[int, list[str]] = {}
    location = 0
    for line in text.splitlines():
        if line in ("Samples:", "Locations", "Mappings"):
            section = line
        elif section == "":
            key, _, value = line.partition(": ")
            if key == "PeriodType":
                profile.period_type = value
            elif key == "Period":
                profile.period = int(value)
            elif key == "Comment":
                profile.comments.append(value)
        elif section == "Samples:":
            if found := re.fullmatch(r"((?: +-?\d+)+): ?((?:\d+ ?)*)", line):
                profile.samples.append(Sample(Values(*map(int, found[1].split())), [], tuple(map(int, found[2].split()))))
            elif found := re.fullmatch(r" +bytes:\[(\d+)\]", line):
                profile.samples[-1].bytes = int(found[1])
            elif not profile.samples:
                profile.types = line.split()
        elif section == "Locations":
            if found := re.match(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(?:\[F\] )?(.*)", line):
                location, line = int(found[1]), found[2]
                names[location] = []
            if found := re.match(r" *(.*) \S*:\d+:\d+ s=\d+", line):
                names[location].append(found[1])
        else:
            profile.mappings.append(line)
    for one in profile.samples:
        one.stack = [name for at in one.locations for name in names[at]]
    return profile


@functools.cache
def go_pprof() -> list[str]:
    """`go tool pprof`, by the path of the program behind it where Go tells it (then building it is not part of a test)."""
    if not shutil.which("go"):
        raise AssertionError("there is no Go toolchain, and so no `go tool pprof` (scripts/install-deps.sh brings one)")
    done = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True, text=True, env=environment())
    path = done.stdout.strip()
    return [path] if done.returncode == 0 and os.access(path, os.X_OK) else ["go", "tool", "pprof"]


def pprof(path: Path, *options: str) -> str:
    """The output of `go tool pprof OPTIONS path`; an error is a failure of the test, and so is a complaint on stderr."""
    done = subprocess.run([*go_pprof(), *options, str(path)], capture_output=True, text=True, env=environment(),
                          timeout=120)
    if done.returncode != 0 or done.stderr.strip():
        raise AssertionError(f"go tool pprof {options} {path}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def read_profile(path: Path) -> Profile:
    return parse_raw(pprof(path, "-raw"))


# --- the test case ------------------------------------------------------------------------------------------------


class ProgramTest(unittest.TestCase):
    """A test with a fresh directory: `work` is where programs run, `out` is where their profiles go."""

    def setUp(self) -> None:
        self.work = Path(tempfile.mkdtemp(prefix="mprof-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.out = self.work / "profiles"
        self.out.mkdir()

    def preloaded(self, rate: int | str | None = None, **more: str) -> dict[str, str]:
        """An environment with mprof in it, at this rate (None: at its default)."""
        chosen = {"LD_PRELOAD": str(LIBRARY), "HEAPPROF_OUT": str(self.out / "%p.%n.pb.gz")}
        if rate is not None:
            chosen["HEAPPROF_RATE"] = str(rate)
        return environment(**(chosen | more))

    def plain(self, *argv: str, stdin: bytes = b"", cwd: Path | None = None, timeout: float = TIMEOUT) -> Outcome:
        """Run without mprof."""
        return finish(start(list(argv), environment(), cwd or self.work), stdin, timeout)

    def profiled(self, *argv: str, rate: int | str | None = None, stdin: bytes = b"", cwd: Path | None = None,
                 timeout: float = TIMEOUT, prepare: Callable[[], None] | None = None, **more: str) -> Outcome:
        """Run with mprof."""
        return finish(start(list(argv), self.preloaded(rate, **more), cwd or self.work, prepare), stdin, timeout)

    def profile_paths(self) -> list[Path]:
        return sorted(self.out.glob("*.pb.gz"))

    def only_profile(self) -> Profile:
        """The profile of a run that must have written exactly one."""
        paths = self.profile_paths()
        self.assertEqual(len(paths), 1, [path.name for path in paths])
        return read_profile(paths[0])

    def exact_profile(self, program: str, *args: str) -> Profile:
        """Run one of tests/programs at rate 1; it must succeed in silence."""
        outcome = self.profiled(sample(program), *args, rate=1)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        return self.only_profile()

    def assert_unchanged(self, *argv: str, rate: int | str | None = None, stdin: bytes = b"", timeout: float = TIMEOUT) -> None:
        """The program does the same with mprof as without; each run has an empty directory of its own."""
        outcomes = []
        for env in (environment(), self.preloaded(rate)):
            directory = self.work / "run"
            directory.mkdir()
            outcomes.append(finish(start(list(argv), env, directory), stdin, timeout))
            shutil.rmtree(directory)
        self.assertEqual(outcomes[0], outcomes[1])

    def assert_good_profile(self, path: Path, rate: int) -> Profile:
        """Both readers take it, and it is what Go's heap profiles are."""
        profile = read_profile(path)
        self.assertEqual(profile.types, list(SAMPLE_TYPES))  # no [dflt] mark: readers then take the last one
        self.assertEqual((profile.period_type, profile.period), ("space bytes", rate))
        for one in profile.samples:
            self.assertIsNotNone(one.bytes)
            self.assertTrue(0 <= one.values.inuse_objects <= one.values.alloc_objects, one)
            self.assertTrue(0 <= one.values.inuse_bytes <= one.values.alloc_bytes, one)
            self.assertGreater(one.values.alloc_objects + one.values.alloc_bytes, 0, one)
        self.assertIn("Type: inuse_space\n", pprof(path, "-top"))
        self.top(path)
        return profile

    def top(self, path: Path, *options: str) -> str:
        """The output of `mprof top`: our own decoder."""
        done = subprocess.run([TOOL, "top", *options, path], capture_output=True, text=True, env=environment(), timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout
