"""test_oracle.py - every captured stack, frame by frame, against libunwind's own local mode at the same point.

MPROF_LONG=1 generates the program with 5,000 functions instead of 1,000 and samples the others eight times as often."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from mprof_test import BUILD, ProgramTest

ORACLE = BUILD / "tests" / "libmprof-oracle.so"
GENERATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle", "generate.py")
LONG = os.environ.get("MPROF_LONG") == "1"

CXX = """
#include <map>
#include <memory>
#include <regex>
#include <string>
int main() { std::map<std::string, std::unique_ptr<std::string>> m; return std::regex_match("a", std::regex("[a-z]")) && m.empty(); }
"""

RUST = """
use std::collections::BTreeMap;
fn grow(depth: u32, map: &mut BTreeMap<String, Vec<u64>>) {
    for i in 0..50u64 { map.entry(format!("{}-{}", depth, i)).or_insert_with(Vec::new).extend(0..i); }
    if depth > 0 { grow(depth - 1, map); }
}
fn main() {
    let mut map = BTreeMap::new();
    grow(40, &mut map);
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| { let mut m = BTreeMap::new(); grow(10, &mut m); m.len() })).collect();
    let total: usize = threads.into_iter().map(|t| t.join().unwrap()).sum();
    assert!(std::panic::catch_unwind(|| { let v: Vec<u8> = Vec::new(); v[total] }).is_err());
}
"""


class Oracle(ProgramTest):
    def compare(self, *command, rate, guessed=False):
        """Runs a command; its processes' stacks must equal libunwind's in at least 99.99 % (all, for fewer than 10,000)."""
        report = self.out / "report"
        env = dict(os.environ, LD_PRELOAD=str(ORACLE), MPROF_ORACLE=str(report), HEAPPROF_EXIT="0",
                   HEAPPROF_RATE=str(max(1, rate // 8 if LONG else rate)))
        done = subprocess.run([str(part) for part in command], env=env, cwd=self.out, capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = report.read_text().splitlines()
        rows = [[int(n) for n in re.match(r"stacks (\d+) different (\d+) frames (\d+) guessed (\d+) first", line).groups()]
                for line in lines]
        stacks, different, frames, guesses = map(sum, zip(*rows))
        self.assertGreater(stacks, 100)
        self.assertGreater(frames, stacks)
        self.assertLessEqual(different, stacks // 10000, lines)
        if not guessed:
            self.assertEqual(guesses, 0)
        if LONG:
            print(f"{command[0]}: {stacks} stacks, {frames} frames, {different} different, {guesses} guessed", file=sys.stderr)

    def write(self, name, text):
        path = self.out / name
        path.write_text(text)
        return path

    def test_cc1plus(self):
        source = self.write("big.cc", CXX)
        preprocessed = self.out / "big.ii"
        subprocess.run(["g++", "-E", "-o", preprocessed, source], check=True)
        compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True, capture_output=True, text=True).stdout.strip()
        self.compare(compiler, "-quiet", "-O1", "-fpreprocessed", preprocessed, "-o", os.devnull, rate=32768)

    def test_sqlite(self):
        self.compare("sqlite3", ":memory:", "create table t(a, b); insert into t select value, hex(randomblob(20)) from "
                     "generate_series(1, 20000); create index i on t(b); select count(*) from t;", rate=1024)

    def test_python(self):
        self.compare(os.path.realpath(sys.executable), "-c",
                     "import json, re, decimal; [json.dumps({'a': [i] * 10}) for i in range(20000)]", rate=4096)

    def test_cxx(self):
        self.compare("sh", "-c", f"{BUILD}/tests/cxx_mix > /dev/null; true", rate=2048)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_node(self):
        self.compare("node", "-e", "let x = []; for (let i = 0; i < 100000; i++) x.push({a: [i], b: 'x' + i})", rate=8192,
                     guessed=True)

    @unittest.skipUnless(shutil.which("rustc"), "needs rustc")
    def test_rust(self):
        source = self.write("grow.rs", RUST)
        subprocess.run(["rustc", "-O", "-o", self.out / "grow", source], check=True, capture_output=True, cwd=self.out)
        self.compare(self.out / "grow", rate=1)

    def test_generated(self):
        source = self.out / "big.c"
        with open(source, "w") as out:
            subprocess.run([sys.executable, GENERATE, "5000" if LONG else "1000"], check=True, stdout=out)
        for optimization in ("-O0", "-O2", "-O3"):
            for pointers in ("-fomit-frame-pointer", "-fno-omit-frame-pointer"):
                with self.subTest(flags=(optimization, pointers)):
                    program = self.out / f"big{optimization}{pointers}"
                    subprocess.run(["cc", "-w", optimization, pointers, "-o", program, source], check=True)
                    self.compare(program, rate=1)

    def test_a_program_mapped_in_pieces(self):
        # Segments far apart: the loader then knows each by itself, the tables being in another one than the code.
        source = self.out / "big.c"
        with open(source, "w") as out:
            subprocess.run([sys.executable, GENERATE, "200"], check=True, stdout=out)
        program = self.out / "pieces"
        subprocess.run(["cc", "-w", "-O2", "-no-pie", "-Wl,-z,max-page-size=0x200000", "-o", program, source], check=True)
        self.compare(program, rate=1)


if __name__ == "__main__":
    unittest.main()
