"""test_environment.py - the HEAPPROF_* variables: bad ones cost one line and nothing else; when there is no file."""
import os
import re
import unittest

from mprof_test import LIBRARY, ROOT, Outcome, ProgramTest, finish, pprof, sample, start

# What no variable of a kind can mean. An empty value and 5000 bytes are bad for every kind.
BAD = {
    "bytes": ["x", "-1", "1.5", "1Q", "4K4", "99999999999999999999", " 1", "0x10"],
    "count": ["x", "-1", "1.5", "99999999999999999999"],
    "flag": ["x", "2", "-1", "yes", "00"],
    "signal": ["x", "0", "-1", "65", "KILL", "STOP", "RTMAX-99", "RTMAX-", "99999999999999999999"],
    "choice": ["x", "ELF", "FP", "elf ", "0"],
    "text": [],
}
# Good numbers out of the range that the table gives.
OUT_OF_RANGE = {"DEPTH": ["0", "1025"], "MEMORY": ["0", "4K"]}

TINY = Outcome(7, b"out\n", b"err\n")


def options() -> list[tuple[str, str]]:
    """(kind, NAME) of each line of core/options.def."""
    return re.findall(r"^OPTION\((\w+), \w+, (\w+),", (ROOT / "core/options.def").read_text(), re.M)


class BadValues(ProgramTest):
    def assert_warned(self, variables: dict[str, str]) -> None:
        """One line for each variable, naming it, and the program as ever."""
        outcome = self.profiled(sample("tiny"), **variables)
        self.assertEqual((outcome.status, outcome.out), (TINY.status, TINY.out))
        lines = outcome.err.decode().splitlines()
        self.assertEqual(lines.pop(), "err")
        self.assertEqual(sorted(re.search(r"HEAPPROF_\w*", line)[0] for line in lines), sorted(variables), lines)

    def test_each_alone(self):
        found = options()
        self.assertGreaterEqual(len(found), 8)
        for kind, name in found:
            for value in ["", "a" * 5000, "9" * 5000, *BAD[re.sub(r"^choice_.*", "choice", kind)], *OUT_OF_RANGE.get(name, [])]:
                with self.subTest(name=name, value=value[:30]):
                    self.assert_warned({f"HEAPPROF_{name}": value})

    def test_all_at_once(self):
        for value in ("", "a" * 5000):
            self.assert_warned({f"HEAPPROF_{name}": value for _, name in options()})

    def test_the_line_says_what_is_used_instead(self):
        outcome = self.profiled(sample("tiny"), HEAPPROF_RATE="fast")
        self.assertRegex(outcome.err.decode(), r"\A.*HEAPPROF_RATE.*fast.*524288.*\nerr\n\Z")

    def test_unknown_names(self):
        for name in ("HEAPPROF_FOO", "HEAPPROF_", "HEAPPROF_RATES", "HEAPPROF_rate"):
            with self.subTest(name=name):
                self.assert_warned({name: "1"})

    def test_bytes_that_are_no_text(self):
        env = self.preloaded()
        env["HEAPPROF_RATE"] = "\udcff\x1b[2J\n1"  # not UTF-8, a terminal's escape, a line break
        outcome = finish(start([sample("tiny")], env, self.work))
        self.assertEqual((outcome.status, outcome.out), (TINY.status, TINY.out))
        self.assertEqual(outcome.err.count(b"\n"), 2)
        self.assertNotIn(b"\x1b", outcome.err)

    def test_the_default_is_used(self):
        outcome = self.profiled(sample("known_sites"), "big", HEAPPROF_RATE="often")
        self.assertEqual(outcome.status, 0)
        self.assertEqual(self.only_profile().period, 524288)


class GoodValues(ProgramTest):
    def test_rates(self):
        for text, period in (("1", 1), ("64k", 65536), ("64K", 65536), ("2M", 2097152), ("1G", 1 << 30), ("100000", 100000)):
            with self.subTest(rate=text):
                self.assertEqual(self.profiled(sample("forks"), "executed", rate=text).err, b"")
                for path in self.profile_paths():
                    self.assertEqual(self.assert_good_profile(path, period).period, period)
                    path.unlink()

    def test_names_of_files(self):
        program = sample("known_sites")
        for pattern, expected in (("%c-%p-%n", r"known_sites-\d+-\d+"), ("one.pb.gz", r"one\.pb\.gz"),
                                  ("%t.%p", r"[\d.TZ_-]+\.\d+")):
            with self.subTest(pattern=pattern):
                outcome = self.profiled(program, "exact", rate=1, HEAPPROF_OUT=str(self.out / pattern))
                self.assertEqual((outcome.status, outcome.err), (0, b""))
                names = os.listdir(self.out)
                self.assertEqual(len(names), 1)
                self.assertRegex(names[0], rf"\A{expected}\Z")
                self.assertEqual(os.stat(self.out / names[0]).st_mode & 0o777, 0o600)
                os.unlink(self.out / names[0])

    def test_the_default_name_in_the_start_directory(self):
        env = self.preloaded(1)
        del env["HEAPPROF_OUT"]
        self.assertEqual(finish(start(["bash", "-c", "cd /; echo $$"], env, self.work)).status, 0)
        names = [name for name in os.listdir(self.work) if name.startswith("mprof.")]
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"\Amprof\.\d+\.1\.pb\.gz\Z")
        env["HEAPPROF_OUT"] = "kept/%c.gz"
        (self.work / "kept").mkdir()
        self.assertEqual(finish(start([sample("forks"), "executed"], env, self.work)).status, 0)
        self.assertEqual(os.listdir(self.work / "kept"), ["forks.gz"])

    def test_no_dump_at_exit(self):
        self.assertEqual(self.profiled(sample("tiny"), rate=1, HEAPPROF_EXIT="0"), TINY)
        self.assertEqual(self.profile_paths(), [])

    def test_a_line_per_dump_when_verbose(self):
        outcome = self.profiled(sample("tiny"), rate=1, HEAPPROF_VERBOSE="1")
        self.assertEqual((outcome.status, outcome.out), (TINY.status, TINY.out))
        lines = outcome.err.decode().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertIn(self.profile_paths()[0].name, lines[1])

    def test_depth(self):
        self.assertEqual(self.profiled(sample("known_sites"), "exact", rate=1, HEAPPROF_DEPTH="2").status, 0)
        profile = self.only_profile()
        self.assertEqual(max(len(one.locations) for one in profile.samples), 2)
        self.assertEqual(profile.at("site_kept")[524288].alloc_objects, 1)

    def test_without_symbols(self):
        self.assertEqual(self.profiled(sample("known_sites"), "exact", rate=1, HEAPPROF_SYMBOLS="none").status, 0)
        # Readers that can do without our names may still find the program's own; ours does not look for them.
        self.assertNotIn("site_", self.top(self.profile_paths()[0], "-n", "0"))
        self.assertNotIn("site_", pprof(self.profile_paths()[0], "-symbolize=none", "-raw"))

    def test_little_memory(self):
        # 1 MiB does not hold all stacks of this program at rate 1; it runs on, and what it lost is kept in the totals.
        outcome = self.profiled(sample("cxx_mix"), rate=1, HEAPPROF_MEMORY="1M")
        self.assertEqual((outcome.status, outcome.err), (3, b""))
        for path in self.profile_paths():
            self.assert_good_profile(path, 1)


class NoFile(ProgramTest):
    def test_rate_0(self):
        for program in ("cxx_mix", "forks"):
            args = ["executed"] if program == "forks" else []
            self.assertEqual(self.profiled(sample(program), *args, rate=0).err, b"")
        self.assertEqual(os.listdir(self.out), [])

    def test_tiny_program(self):
        # Far less than a sample's worth: a few KB at 1 TiB are sampled once in 1e8 runs.
        self.assertEqual(self.profiled(sample("tiny"), rate="1024G"), TINY)
        self.assertEqual(os.listdir(self.out), [])

    def test_no_place_to_write(self):
        (self.work / "file").touch()
        places = [self.work / "missing", self.work / "file", "/proc", "/dev/null"]
        if os.getuid() != 0:
            (self.work / "sealed").mkdir(mode=0o555)
            places.append(self.work / "sealed")
        for place in places:
            with self.subTest(place=str(place)):
                outcome = self.profiled(sample("tiny"), rate=1, HEAPPROF_OUT=f"{place}/%p.%n.pb.gz")
                self.assertEqual((outcome.status, outcome.out), (TINY.status, TINY.out))
                lines = outcome.err.decode().splitlines()
                self.assertEqual(len(lines), 2, lines)
                self.assertEqual(lines[0], "err")
                self.assertIn("mprof", lines[1])

    def test_symbolic_links_are_not_followed(self):
        os.symlink(self.work / "elsewhere", self.out / "link")
        self.assertEqual(self.profiled(sample("tiny"), rate=1, HEAPPROF_OUT=str(self.out / "link")).status, 7)
        self.assertFalse((self.work / "elsewhere").exists())


class Empty(ProgramTest):
    def test_env_i(self):
        """No PATH, no HOME, nothing but the preload."""
        self.assertEqual(finish(start([sample("tiny")], {"LD_PRELOAD": str(LIBRARY)}, self.work)), TINY)
        env = {"LD_PRELOAD": str(LIBRARY), "HEAPPROF_RATE": "1"}
        self.assertEqual(finish(start([sample("tiny")], env, self.out)), TINY)
        self.assertEqual(len(self.profile_paths()), 1)


if __name__ == "__main__":
    unittest.main()
