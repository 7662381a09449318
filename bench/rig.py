"""rig.py - what the comparisons share: the contenders, rotated rounds, medians and paired ratios, Markdown tables."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
ROUNDS = int(os.environ.get("ROUNDS", "21"))  # ROUNDS=5 for a first look

DEFAULT = "mprof 512K"
BASE = "jemalloc"  # what mprof is measured against: the allocator it embeds


@dataclass
class Contender:
    name: str
    env: dict = field(default_factory=dict)
    prefix: tuple = ()  # of the command
    needs: str = ""  # a shared library or a program that may be missing
    every: int = 1  # takes part in one round of so many: for slow ones

    def slow(self):
        return self.every > 1

    def missing(self):
        return bool(self.needs) and not (find_library(self.needs) or shutil.which(self.needs))

    def environment(self, scratch):
        """Without what the caller's own environment may say to any allocator; files of profiles go to the scratch folder."""
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith(("HEAPPROF_", "HEAPPROFILE", "TCMALLOC_", "MALLOC_", "LD_PRELOAD"))}
        return {**inherited, **{name: value.replace("%SCRATCH", str(scratch)) for name, value in self.env.items()}}

    def command(self, argv, scratch):
        return [part.replace("%SCRATCH", str(scratch)) for part in self.prefix] + [str(part) for part in argv]


def find_library(soname):
    """Whether the loader knows a library. (ctypes cannot open one that wants static thread-local storage.)"""
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    return f"\t{soname} " in cache


def preloaded(library, **env):
    return {"LD_PRELOAD": library, **env}


def mprof(rate, **env):
    return preloaded(str(BUILD / "libmprof.so"), HEAPPROF_RATE=rate, HEAPPROF_OUT="%SCRATCH/mprof.%p.%n.pb.gz", **env)


JEMALLOC = "libjemalloc.so.2"
TCMALLOC = "libtcmalloc.so.4"
CONTENDERS = [
    Contender("glibc"),
    Contender(BASE, preloaded(JEMALLOC), needs=JEMALLOC),
    Contender("jemalloc prof", preloaded(JEMALLOC, MALLOC_CONF="prof:true,lg_prof_sample:19"), needs=JEMALLOC),
    Contender("tcmalloc", preloaded(TCMALLOC), needs=TCMALLOC),
    Contender("tcmalloc sampling", preloaded(TCMALLOC, TCMALLOC_SAMPLE_PARAMETER="524288"), needs=TCMALLOC),
    Contender("HEAPPROFILE", preloaded(TCMALLOC, HEAPPROFILE="%SCRATCH/heap"), needs=TCMALLOC, every=21),
    Contender("heaptrack", prefix=("heaptrack", "--raw", "-o", "%SCRATCH/heaptrack"), needs="heaptrack", every=3),
    Contender("mprof rate 0", mprof("0")),
    Contender(DEFAULT, mprof("512K")),
    Contender("mprof 64K", mprof("64K")),
    Contender("mprof rate 1", mprof("1"), every=3),
]
# The countdown runs, and now and then to its end, but hardly anything is ever sampled.
NO_SAMPLES = Contender("mprof, no samples", mprof("1024G"))


def contenders(*names):
    """Those that this machine has, of these names or of all; a line for each that it lacks."""
    found = []
    for one in CONTENDERS:
        if names and one.name not in names:
            continue
        if one.missing():
            print(f"skipped: {one.name}: {one.needs} is not installed (scripts/install-peers.sh)", file=sys.stderr)
        else:
            found.append(one)
    return found


def run(contender, argv):
    """A command's standard output under a contender. What it profiles goes to a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="mprof-bench.") as scratch:
        done = subprocess.run(contender.command(argv, scratch), env=contender.environment(scratch), cwd=scratch, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{contender.name}: {argv[0]}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def figure(contender, argv):
    """The same for a command that prints one number. (heaptrack prints lines of its own around it.)"""
    for line in run(contender, argv).splitlines():
        try:
            return float(line)
        except ValueError:
            pass
    sys.exit(f"{contender.name}: {argv[0]}: printed no number")


def rotate(rows, measure, rounds=None):
    """{contender's name: its results, None for a round it was left out of}. Each round begins with another contender."""
    rounds = rounds or ROUNDS
    results = {row.name: [None] * rounds for row in rows}
    for number in range(rounds):
        turn = number % len(rows)
        for row in rows[turn:] + rows[:turn]:
            if number % row.every == 0:
                results[row.name][number] = measure(row)
    return results


def present(values):
    return [value for value in values if value is not None]


def median(values):
    return statistics.median(present(values))


def quartiles(values):
    values = present(values)
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def ratios(values, base):
    """Round by round, where both took part."""
    return [a / b for a, b in zip(values, base) if a is not None and b is not None]


def ratio(values, base, digits=3):
    """The median of the paired ratios, and their quartiles."""
    paired = ratios(values, base)
    if not paired:
        return "-"
    low, high = quartiles(paired)
    return f"{median(paired):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def difference(values, base, digits=2):
    """The median of the paired differences, signed."""
    paired = [a - b for a, b in zip(values, base) if a is not None and b is not None]
    return f"{median(paired):+.{digits}f}" if paired else "-"


def progress(text):
    print(text, file=sys.stderr, flush=True)


def table(head, rows):
    """A Markdown table; the first column is text, the others are figures."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
