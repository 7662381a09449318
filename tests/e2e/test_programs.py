"""test_programs.py - programs that nobody here wrote do the same under mprof, and their profiles can be read."""
import os
import random
import signal
import subprocess
import unittest

from mprof_test import ROOT, ProgramTest, environment, finish, pprof, sample, start, wait_for

RATES = (None, 4096)

SQL = """
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, value REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
	INSERT INTO t SELECT i, 'name ' || (i * 7919 % 10007), i * 0.5 FROM n;
CREATE INDEX by_name ON t(name);
SELECT count(*), sum(value) FROM t;
SELECT name, count(*) AS c, max(value) FROM t GROUP BY name ORDER BY c DESC, name LIMIT 5;
DELETE FROM t WHERE id % 3 = 0;
SELECT count(*) FROM t WHERE name LIKE '%77%';
SELECT no_such_column FROM t;
"""

PYTHON = """
import json, re, sys, threading, zlib
rows = [{"id": i, "name": f"name {i * 7919 % 10007}", "tags": list(range(i % 7))} for i in range(20000)]
text = json.dumps(rows)
print(len(text), zlib.crc32(text.encode()), len(zlib.compress(text.encode())))
print(sorted(json.loads(text), key=lambda row: (row["name"], row["id"]))[0])
print(len(re.findall(r"name 77\\d+", text)))
done = []
threads = [threading.Thread(target=lambda n=n: done.append(sum(len(str(i)) for i in range(n * 10000)))) for n in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(done))
sys.stderr.write("to stderr\\n")
sys.exit(3)
"""

BASH = r"""
declare -A table
for i in {1..3000}; do table[key$((i % 500))]+="$i "; done
echo ${#table[@]} ${table[key77]}
text=$(for i in {1..20}; do (echo "subshell $i $( (echo nested) )"); done)
echo "$text" | while read -r a b c; do [[ $b == 1* ]] && echo "$a-$b-$c"; done
printf '%s\n' {a..z}{a..z} | sort -r | head -n 3
diff <(seq 1 500) <(seq 2 501) | tail -n 2
echo err >&2
exit 6
"""

GIT = r"""
set -e
export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
git init -q -b main .
for i in 1 2; do
	for j in $(seq 30); do seq $((i * j)) $((i * j + 300)) >file$j; done
	git add .
	git commit -q -m "commit $i"
done
git log --stat --format=%H%n%s | tail -n 100
git diff HEAD~1 HEAD | cksum
git gc -q
git fsck --strict
git blame file7 | tail -n 3
git checkout no-such-branch
"""

CXX = """
#include <map>
#include <string>
int main(int n, char **v) { std::map<std::string, int> m; m[v[0]] += n; return m.size(); }
"""


class Programs(ProgramTest):
    def check(self, *argv: str, stdin: bytes = b"", timeout: float = 60) -> None:
        """The same outcome at each rate; at a small one there are profiles, and every one is good."""
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assert_unchanged(*argv, rate=rate, stdin=stdin, timeout=timeout)
                for path in self.profile_paths():
                    self.assert_good_profile(path, rate or 524288)
                if rate is not None:
                    self.assertNotEqual(self.profile_paths(), [])
                self.assertEqual([path.name for path in self.out.iterdir() if not path.name.endswith(".pb.gz")], [])
                for path in self.profile_paths():
                    path.unlink()

    def test_sqlite3(self):
        self.check("sqlite3", "-batch", "data.db", stdin=SQL.encode())

    def test_python3(self):
        self.check("/usr/bin/python3", "-c", PYTHON)

    def test_gcc(self):
        self.check("gcc", "-O2", "-S", "-o", "-", f"-I{ROOT}", str(ROOT / "tests/programs/family.c"))

    def test_gcc_on_an_error(self):
        self.check("gcc", "-x", "c", "-c", "-", stdin=b"int main(void) { return no_such_name; }\n")

    def test_gxx(self):
        self.check("g++", "-std=c++17", "-x", "c++", "-O1", "-S", "-o", "-", "-", stdin=CXX.encode())

    def test_bash(self):
        self.check("bash", "-c", BASH)

    def test_sort(self):
        numbers = random.Random(1).choices(range(10**9), k=200000)
        self.check("sort", "-n", "--parallel=2", "-S", "2M", stdin="".join(f"{n}\n" for n in numbers).encode())

    def test_xz(self):
        text = random.Random(2).choices([b"alpha ", b"beta ", b"gamma ", b"delta\n"], k=100000)
        self.check("xz", "-c", "-6", "-T2", stdin=b"".join(text))
        packed = self.plain("xz", "-c", stdin=b"".join(text)).out
        self.check("xz", "-dc", stdin=packed)

    def test_git(self):
        self.check("bash", "-c", GIT)

    def test_cxx_with_exceptions_and_threads(self):
        self.check(sample("cxx_mix"))


class Redis(ProgramTest):
    """redis-server under load, on a socket in the test's directory, ended by SIGTERM."""

    COMMANDS = (b"SET a 1\nINCR a\nRPUSH list x y z\nLRANGE list 0 -1\nHSET h f v\nHGETALL h\nEVAL \"return redis.call('GET', 'a')\" 0\n"
                b"NOSUCHCOMMAND\nGET a\nDBSIZE\n")

    def serve(self, env: dict[str, str]) -> tuple[int, bytes, bytes]:
        """(exit status, stderr, what a client was told) of a server that has been through all of it."""
        socket = self.work / "socket"
        server = start(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--logfile", "log"],
                       env, self.work)
        self.addCleanup(server.kill)
        wait_for(lambda: socket.exists() or server.poll() is not None, "the server's socket")
        client = ["redis-cli", "-s", str(socket)]
        told = finish(start(client, environment(), self.work), self.COMMANDS)
        self.assertEqual((told.status, told.err), (0, b""))
        load = finish(start(["redis-benchmark", "-s", str(socket), "-q", "-n", "5000", "-c", "20", "-d", "300",
                             "-t", "set,get,lpush,lrange_100,hset,mset"], environment(), self.work), timeout=60)
        self.assertEqual((load.status, load.err), (0, b""))
        server.send_signal(signal.SIGTERM)
        end = finish(server)
        return end.status, end.err, told.out

    def test_under_load(self):
        plain = self.serve(environment())
        self.assertEqual(plain[:2], (0, b""))
        for rate in RATES:
            with self.subTest(rate=rate):
                self.assertEqual(self.serve(self.preloaded(rate)), plain)
                profile = self.assert_good_profile(self.profile_paths()[0], rate or 524288)
                self.assertGreater(sum(one.values.alloc_bytes for one in profile.samples), 1 << 20)
                self.profile_paths()[0].unlink()


class Names(ProgramTest):
    def test_functions_of_sqlite_by_name(self):
        """Debian's libsqlite3.so.0 has lost its symbol table; one made from the static archive has it."""
        archive = subprocess.run(["gcc", "-print-file-name=libsqlite3.a"], capture_output=True, text=True, check=True)
        subprocess.run(["gcc", "-shared", "-o", "libsqlite3.so.0", "-Wl,-Bsymbolic", "-Wl,-soname,libsqlite3.so.0",
                        "-Wl,--whole-archive", archive.stdout.strip(), "-Wl,--no-whole-archive", "-lm", "-lz"],
                       cwd=self.work, check=True)
        outcome = self.profiled("sqlite3", "-batch", rate=65536, stdin=SQL.encode(), LD_LIBRARY_PATH=str(self.work))
        self.assertEqual(outcome, self.plain("sqlite3", "-batch", stdin=SQL.encode()))
        (path,) = self.profile_paths()
        for text in (pprof(path, "-top", "-sample_index=alloc_space", "-nodecount=0", "-nodefraction=0"),
                     self.top(path, "--sample", "alloc_space", "-n", "0")):
            for name in ("sqlite3VdbeExec", "sqlite3_step", "pcache1Alloc"):
                self.assertRegex(text, rf"(?m) {name}$")


if __name__ == "__main__":
    unittest.main()
