"""programs.py - whole programs on fixed inputs: what each contender makes of their time and memory."""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import rig

# Whole programs take long. With the usual number this is 11, in which slow contenders take part four times or once.
ROUNDS = rig.ROUNDS // 2 + 1


# --- running ---------------------------------------------------------------------------------------------------------


@dataclass
class Usage:
    wall: float  # s
    cpu: float  # s, user and system, of the process and the children that it waited for
    peak: float  # MiB, of the largest of these processes


def timed(row, argv, drive=None, **env):
    """Runs a program under a contender. A server is asked by drive(scratch), whose result is then the time that counts."""
    with tempfile.TemporaryDirectory(prefix="mprof-bench.") as scratch, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(row.command(argv, scratch), env={**row.environment(scratch), **env}, cwd=scratch, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            driven = drive(scratch) if drive else None
            _, status, used = os.wait4(process.pid, 0)
            wall = driven or time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{row.name}: {argv[0]}: exit status {process.returncode}\n{errors.read().decode(errors='replace')}")
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


# --- the programs: each makes its input in a folder and returns what runs it once under a contender --------------------


CXX_SOURCE = """
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <unordered_map>
#include <variant>

template <int N> struct tag { int value = N; bool operator<(const tag &other) const { return value < other.value; } };

template <int N> std::size_t use(const std::string &text)
{
    std::map<tag<N>, std::string> words{{{}, text}};
    std::vector<std::function<bool(tag<N>)>> tests{[](tag<N> each) { return each.value > 1; }};
    std::variant<tag<N>, std::string> either = text;
    std::sort(words.begin()->second.begin(), words.begin()->second.end());
    return words.size() + tests.front()({}) + either.index() + std::regex_replace(text, std::regex("a+"), "b").size();
}

std::size_t all(const std::string &text) { return use<1>(text); }
"""


def cc1plus(folder):
    source, preprocessed = folder / "source.cc", folder / "source.ii"
    source.write_text(CXX_SOURCE)
    subprocess.run(["g++", "-std=c++17", "-E", "-o", preprocessed, source], check=True)
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
    argv = [compiler, "-std=c++17", "-fpreprocessed", "-O1", "-quiet", preprocessed, "-o", "source.s"]
    return lambda row: timed(row, argv)


SQL = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price REAL);
WITH RECURSIVE number(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM number WHERE i < 100000)
    INSERT INTO item SELECT i, printf('item %d of all', i * 7919 % 100000), 'kind ' || i * 31 % 1000, i * 0.5 FROM number;
CREATE INDEX item_by_name ON item (name);
CREATE INDEX item_by_kind ON item (kind, price);
SELECT kind, count(*), sum(price), group_concat(substr(name, 1, 8)) FROM item GROUP BY kind ORDER BY 3 DESC LIMIT 10;
SELECT count(*) FROM item AS a JOIN item AS b ON b.name = replace(a.name, '1', '2') WHERE a.price > b.price;
SELECT sum(length(text)) FROM (SELECT DISTINCT upper(name) || hex(kind) AS text FROM item);
DELETE FROM item WHERE id % 3 = 0;
"""


def sqlite(_folder):
    return lambda row: timed(row, ["sqlite3", "-batch", ":memory:", SQL])


PYTHON = """
import json
total = 0
for turn in range(2):
    rows = [{"id": i, "name": f"row {i}", "tags": [f"tag {i % k}" for k in range(3, 8)], "price": i / 7} for i in range(20000)]
    rows = json.loads(json.dumps(rows))
    by_tag = {}
    for row in rows:
        for tag in row["tags"]:
            by_tag.setdefault(tag, []).append(row["name"].upper())
    text = " ".join(sorted(" ".join(names) for names in by_tag.values()))
    total += len({word + "-" + str(i % 100) for i, word in enumerate(text.split())})
print(total)
"""


def python(_folder):
    argv = [sys.executable, "-S", "-c", PYTHON]
    return lambda row: timed(row, argv, PYTHONMALLOC="malloc", PYTHONHASHSEED="0")


REDIS = ["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "", "--appendonly", "no"]
REDIS_CLIENT = ["redis-benchmark", "-s", "redis.sock", "-n", "50000", "-r", "100000", "-d", "100", "-P", "16",
                "-t", "set,get,lpush,lrange_100", "-q"]


def connect(path):
    """Waits until the server listens."""
    for _ in range(1000):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except OSError:
            connection.close()
            time.sleep(0.01)
    sys.exit("redis-server does not listen")


def drive_redis(scratch):
    with connect(f"{scratch}/redis.sock") as connection:
        start = time.monotonic()
        subprocess.run(REDIS_CLIENT, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        wall = time.monotonic() - start
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
    return wall


def redis(_folder):
    return lambda row: timed(row, REDIS, drive_redis)


COMMITS, FILES, LINES = 400, 40, 400
GIT_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
# What `git repack -adf` runs. That starts it as a child, which heaptrack would not see, and changes the repository.
GIT_PACK = ["pack-objects", "--all", "--no-reuse-delta", "--delta-base-offset", "--threads=1", "-q", "pack"]


def git_data(text):
    return b"data %d\n%s\n" % (len(text), text)


def git_history():
    """A stream for git fast-import: each commit changes some lines of some files."""
    pick = random.Random(1)
    files = [[f"line {pick.getrandbits(128):x} of file {i}" for _ in range(LINES)] for i in range(FILES)]
    for commit in range(COMMITS):
        yield b"commit refs/heads/main\ncommitter a <a@b> %d +0000\n" % (1700000000 + commit) + git_data(b"commit %d" % commit)
        for i in range(FILES) if commit == 0 else pick.sample(range(FILES), 5):
            for at in pick.sample(range(LINES), 8):
                files[i][at] = f"line {pick.getrandbits(128):x} of commit {commit}"
            yield b"M 644 inline file%d.txt\n" % i + git_data("\n".join(files[i]).encode())


def git(folder):
    env = {**os.environ, **GIT_ENV}
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", "--bare", repository], env=env, check=True)
    with subprocess.Popen(["git", "-C", repository, "fast-import", "--quiet"], env=env, stdin=subprocess.PIPE) as importer:
        for part in git_history():
            importer.stdin.write(part)
    if importer.returncode != 0:
        sys.exit(f"git fast-import: exit status {importer.returncode}")
    return lambda row: timed(row, ["git", f"--git-dir={repository}", *GIT_PACK], **GIT_ENV)


def strings(folder):
    program = folder / "strings"
    subprocess.run(["g++", "-O2", "-o", program, Path(__file__).with_name("strings.cc")], check=True)
    return lambda row: timed(row, [program])


SQLITE = "SQLite"
PROGRAMS = [
    ("cc1plus", "g++ -O1 of a preprocessed source with many standard headers", ("g++",), cc1plus),
    (SQLITE, "100,000 rows in memory, indexes, queries", ("sqlite3",), sqlite),
    ("Python", "JSON, dictionaries and strings, PYTHONMALLOC=malloc", (), python),
    ("Redis", "50,000 each of set, get, lpush and lrange_100; wall time is the client's, CPU and memory are the server's. The server is "
     "linked with jemalloc, which is then glibc's and heaptrack's allocator here", ("redis-server", "redis-benchmark"), redis),
    ("git", f"pack-objects, one thread, {COMMITS} commits", ("git",), git),
    ("strings", "std::map of std::string (strings.cc)", ("g++",), strings),
]


# --- reporting -------------------------------------------------------------------------------------------------------


def column(results, name, what):
    return [getattr(usage, what) if usage else None for usage in results.get(name, [])]


def versus(results, what, over, under):
    return rig.ratio(column(results, over, what), column(results, under, what))


def section(title, about, results):
    rows = [[name, f"{rig.median(column(results, name, 'wall')):.2f}", versus(results, "wall", name, rig.BASE),
             f"{rig.median(column(results, name, 'cpu')):.2f}", versus(results, "cpu", name, rig.BASE),
             f"{rig.median(column(results, name, 'peak')):.1f}"] for name in results]
    return "\n".join([f"### {title}", "", f"{about}.", "",
                      rig.table(["contender", "wall, s", "wall / jemalloc", "CPU, s", "CPU / jemalloc", "peak, MiB"], rows)])


def bars(results_of):
    pairs = [("512K / jemalloc, CPU: <= 1.01", "cpu", rig.DEFAULT, rig.BASE),
             ("512K / jemalloc, wall: <= 1.01", "wall", rig.DEFAULT, rig.BASE),
             ("jemalloc prof / 512K, wall: > 1", "wall", "jemalloc prof", rig.DEFAULT),
             ("HEAPPROFILE / 512K, wall: > 1", "wall", "HEAPPROFILE", rig.DEFAULT),
             ("heaptrack / 512K, wall: > 1", "wall", "heaptrack", rig.DEFAULT)]
    rows = [[title] + [versus(results, *pair) for _, *pair in pairs] for title, results in results_of.items()]
    return rig.table(["bars"] + [title for title, *_ in pairs], rows)


def rate1_bars(results):
    return rig.table(["bars: SQLite, every allocation recorded", "measured", "wanted"], [
        ["heaptrack / rate 1, wall", versus(results, "wall", "heaptrack", "mprof rate 1"), ">= 4"],
        ["rate 1 / heaptrack, peak memory", versus(results, "peak", "mprof rate 1", "heaptrack"), "<= 1"]])


def measure_all(folder):
    """{title: its section}, {title: {contender: its usages}}"""
    sections, results_of = [], {}
    rows = rig.contenders()
    for title, about, needs, prepare in PROGRAMS:
        lacking = [program for program in needs if not shutil.which(program)]
        if lacking:
            rig.progress(f"skipped: {title}: {lacking[0]} is not installed (scripts/install-peers.sh)")
            continue
        results_of[title] = rig.rotate(rows, prepare(folder), ROUNDS)
        sections.append(section(title, about, results_of[title]))
        rig.progress(f"programs: {title}")
    return sections, results_of


def report():
    with tempfile.TemporaryDirectory(prefix="mprof-bench.") as folder:
        sections, results_of = measure_all(Path(folder))
    introduction = (f"{ROUNDS} rounds, slow contenders in some of them. Medians; ratios are paired by round (quartiles). Peak is "
                    "the resident memory of the largest process, at least the 18 MiB of this script. heaptrack only records (--raw): its "
                    "interpreter, which otherwise runs beside the program and takes another processor and 140 MiB, is left out.")
    return "\n".join(["## programs", "", introduction, "", *sections, "### Bars", "", bars(results_of),
                      rate1_bars(results_of.get(SQLITE, {}))])


if __name__ == "__main__":
    print(report())
