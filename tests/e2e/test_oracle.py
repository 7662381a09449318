"""test_oracle.py - every captured stack, frame by frame, against libunwind's own local mode at the same point.

MPROF_LONG=1 generates the program with 5,000 functions instead of 700 and samples the others eight times as often."""
import itertools
import os
import re
import shutil
import subprocess
import sys
import unittest

from mprof_test import BUILD, ProgramTest, environment

ORACLE = BUILD / "tests" / "libmprof-oracle.so"
GENERATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle", "generate.py")
LONG = os.environ.get("MPROF_LONG") == "1"
OPTIMIZATIONS = ("-O0", "-O2", "-O3")
FRAME_POINTERS = ("-fomit-frame-pointer", "-fno-omit-frame-pointer")

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
    def counts(self, *command, rate, **more):
        """Runs a command; the sums over its processes: stacks, different, frames, guessed, agreed; and what they reported."""
        report = self.out / "report"
        report.unlink(missing_ok=True)
        env = environment(LD_PRELOAD=str(ORACLE), MPROF_ORACLE=str(report), HEAPPROF_EXIT="0",
                          HEAPPROF_RATE=str(max(1, rate // 8 if LONG else rate)), **more)
        done = subprocess.run([str(part) for part in command], env=env, cwd=self.out, capture_output=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = report.read_text()
        rows = re.findall(r"(?m)^stacks (\d+) different (\d+) frames (\d+) guessed (\d+) agreed (\d+) $", text)
        sums = [sum(map(int, column)) for column in zip(*rows)]
        if LONG:
            print(os.path.basename(str(command[0])), *command[1:2], "stacks %d different %d frames %d guessed %d agreed %d" % tuple(sums),
                  file=sys.stderr)
        return (*sums, text)

    def compare(self, *command, rate, guessed=False, **more):
        """A command's stacks must equal libunwind's in at least 99.99 % (all, for fewer than 10,000)."""
        stacks, different, frames, guesses, _, text = self.counts(*command, rate=rate, **more)
        self.assertGreater(stacks, 100)
        self.assertGreater(frames, stacks)
        self.assertLessEqual(different, stacks // 10000, text)
        if not guessed:
            self.assertEqual(guesses, 0, text)

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
                     "import json, re, decimal; [json.dumps({'a': [i] * 10}) for i in range(20000)]", rate=8192, PYTHONMALLOC="malloc")

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
        self.compare(self.out / "grow", rate=512)

    def generate(self, *args):
        source = self.out / "big.c"
        with open(source, "w") as out:
            subprocess.run([sys.executable, GENERATE, *args], check=True, stdout=out)
        return source

    def build(self, source, *flags):
        program = self.out / ("big" + "".join(flags))
        subprocess.run(["cc", "-w", *flags, "-o", program, source], check=True)
        return program

    def generated(self, optimization):
        source = self.generate("5000" if LONG else "700")
        for pointers in FRAME_POINTERS:
            with self.subTest(pointers=pointers):
                self.compare(self.build(source, optimization, pointers), rate=1)

    def test_generated_o0(self):
        self.generated("-O0")

    def test_generated_o2(self):
        self.generated("-O2")

    def test_generated_o3(self):
        self.generated("-O3")

    def test_at_each_instruction(self):
        source = self.generate("1000" if LONG else "400", "plain")
        for flags in itertools.product(OPTIMIZATIONS, FRAME_POINTERS):
            with self.subTest(flags=flags):
                self.compare(self.build(source, *flags), "step", rate=1)

    def test_the_oracle_tells_wrong_stacks(self):
        """The control: code that keeps no frame pointers cannot be walked by them, so nearly every such stack must count as different."""
        program = self.build(self.generate("200"), "-O2", "-fomit-frame-pointer")
        stacks, different, *_ = self.counts(program, rate=1, HEAPPROF_UNWIND="fp")
        self.assertGreater(stacks, 100)
        self.assertGreater(different, stacks * 9 // 10)

    def test_a_program_mapped_in_pieces(self):
        # Segments far apart: the loader then knows each by itself, the tables being in another one than the code.
        program = self.build(self.generate("200"), "-O2", "-no-pie", "-Wl,-z,max-page-size=0x200000")
        self.compare(program, rate=1)


if __name__ == "__main__":
    unittest.main()
