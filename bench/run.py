"""run.py - runs the benchmarks and writes bench/RESULTS.md: run.py [SECTION...]. ROUNDS=5 in the environment gives a first look."""
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import dump
import hotpath
import memory
import programs
import rig
import scale


def printed(*argv, **env):
    return rig.run(rig.Contender("", env), argv)


def counters():
    return "## counters\n\n" + printed(rig.BUILD / "bench/counters")


def capture():
    return "## capture\n\n" + printed(rig.BUILD / "bench/capture", str(rig.ROUNDS))


def scale_rate1():
    return "## scale_rate1\n\n" + printed(rig.BUILD / "bench/scale_rate1", **rig.mprof("1", HEAPPROF_EXIT="0"))


SECTIONS = {"hotpath": hotpath.report, "scale": scale.report, "programs": programs.report, "memory": memory.report, "dump": dump.report,
            "capture": capture, "counters": counters, "scale_rate1": scale_rate1}


def version(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "missing"
    return (done.stdout or done.stderr).split("\n")[0]


def package(name):
    return version("dpkg-query", "-W", "-f", "${Version}", name)


def machine():
    cpus = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory_kib = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())[1])
    return [
        ["date", time.strftime("%Y-%m-%d")],
        ["machine", f"{len(cpus)} x {cpus[0] if cpus else platform.machine()}, {memory_kib >> 20} GiB, shared with other work"],
        ["kernel", platform.release().split("-")[0]],
        ["compiler", version("cc", "--version")],
        ["mprof", version(rig.BUILD / "mprof", "--version") + ", commit " + version("git", "-C", rig.ROOT, "rev-parse", "--short", "HEAD")],
        ["glibc", package("libc6")],
        ["jemalloc", package("libjemalloc2")],
        ["gperftools", package("libgoogle-perftools4")],
        ["heaptrack", package("heaptrack")],
        ["rounds", rig.ROUNDS],
    ]


def main(wanted):
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"run.py: no section {unknown[0]}: there are {', '.join(SECTIONS)}")
    parts = ["# Results\n", "Written by `make bench`; what the figures say is in README.md.\n", rig.table(["what", "value"], machine())]
    for name in wanted or SECTIONS:
        section = SECTIONS[name]()
        print(section, flush=True)
        parts.append(section)
        if not wanted:
            (rig.ROOT / "bench/RESULTS.md").write_text("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
