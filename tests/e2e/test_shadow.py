"""test_shadow.py - random programs over threads: what the profile says of them against a model of what they did."""
import re
import unittest
from pathlib import Path

from mprof_test import ProgramTest, sample

SEEDS = range(1, 6)


class Shadow(ProgramTest):
    """tests/programs/shadow.c says what is compared. At rate 1 nothing is left to chance: every figure is exact."""

    def run_shadow(self, mode: str, *args: str) -> re.Match:
        outcome = self.profiled(sample("shadow"), mode, *args, rate=1, HEAPPROF_EXIT="0", timeout=60)
        self.assertEqual((outcome.status, outcome.err), (0, b""), outcome.out.decode())
        found = re.fullmatch(r"(\d+) [a-z]+, (\d+) [a-z ]+\n", outcome.out.decode())
        self.assertIsNotNone(found, outcome.out)
        return found

    def test_records_are_the_model(self):
        # 40 rounds of 3 x 5000 steps; rates 1, 64K, 512K and 0, fixed and changing.
        for seed in SEEDS:
            with self.subTest(seed=seed):
                found = self.run_shadow("orderly", str(seed))
                self.assertEqual(found[1], "40")
                self.assertGreater(int(found[2]), 10_000)  # it did compare something

    def test_profiles_during_churn(self):
        found = self.run_shadow("churn", "7", str(self.work))
        self.assertEqual(found[1], "500")
        self.assertGreater(int(found[2]), 500 * 100)
        files = sorted(Path(self.work).glob("churn.*.pb.gz"))
        self.assertEqual(len(files), 10)
        for path in files:
            self.assert_good_profile(path, 1)  # in-use is between 0 and alloc in every sample


if __name__ == "__main__":
    unittest.main()
