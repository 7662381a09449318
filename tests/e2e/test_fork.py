"""test_fork.py - programs that make processes: each has its own profile, and none gets stuck."""
import unittest

from mprof_test import ProgramTest, Values, read_profile, sample

MIB = 1 << 20


def kept(count: int) -> dict[int, Values]:
    return {MIB: Values(count, count * MIB, count, count * MIB)}


class Fork(ProgramTest):
    def keep(self, rate: int | None) -> dict[str, str]:
        """Run the parent of four; {pid: who}."""
        outcome = self.profiled(sample("forks"), "keep", rate=rate)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        pids = [line.split() for line in outcome.out.decode().splitlines()]
        return {pid: "parent" if who == "parent" else f"child_{i}" for i, (who, pid) in enumerate(pids)}

    def test_own_sites_only_in_the_childs_file(self):
        processes = self.keep(rate=1)
        self.assertEqual(len(processes), 5)
        self.assertEqual({path.name.split(".")[0] for path in self.profile_paths()}, set(processes))
        self.assertEqual(len(self.profile_paths()), 5)
        for path in self.profile_paths():
            who = processes[path.name.split(".")[0]]
            profile = read_profile(path)
            # All allocate in keep_mib; the function above it tells whose it is.
            sums = {name: profile.below(f"site_{name}").inuse_objects for name in ("child_0", "child_1", "child_2", "child_3")}
            self.assertEqual(sums, {name: 50 if name == who else 0 for name in sums}, who)
            if who == "parent":
                self.assertEqual(profile.below("site_parent"), kept(100)[MIB])

    def test_at_the_default_rate(self):
        # 50 blocks of 1 MiB: none is sampled with exp(-2)^50.
        processes = self.keep(rate=None)
        self.assertEqual({path.name.split(".")[0] for path in self.profile_paths()}, set(processes))

    def test_while_threads_allocate(self):
        outcome = self.profiled(sample("forks"), "many", rate=4096, timeout=60)
        self.assertEqual(outcome, (0, b"many\n", b""))
        paths = self.profile_paths()
        self.assertEqual(len(paths), 41)
        self.assertEqual([path.name for path in self.out.iterdir() if path not in paths], [])
        whole = [read_profile(path).below("site_child_0") for path in paths]
        # 1 MiB at rate 4096 is sampled for certain (exp(-256)); one of these files is the parent's.
        self.assertEqual(sorted(one.inuse_objects for one in whole), [0] + 40 * [50])


class Spawn(ProgramTest):
    def test_every_way_from_threads(self):
        for rate in (1, None):
            with self.subTest(rate=rate):
                self.assertEqual(self.profiled(sample("forks"), "spawn", rate=rate, timeout=60), (0, b"spawned\n", b""))

    def test_exec(self):
        outcome = self.profiled(sample("forks"), "exec", rate=1)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        profile = self.only_profile()
        self.assertEqual(outcome.out.decode().split()[1], self.profile_paths()[0].name.split(".")[0])
        self.assertEqual(profile.below("site_after_exec"), kept(20)[MIB])
        self.assertNotIn("site_before_exec", profile.functions())


if __name__ == "__main__":
    unittest.main()
