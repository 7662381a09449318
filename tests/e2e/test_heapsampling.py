"""test_heapsampling.py - Go's own conformance test of heap sampling (test/heapsampling.go), for native programs."""
import unittest

from mprof_test import ProgramTest, sample

RATE = 16384
ROUNDS = 50_000
EXPERIMENTS = 3


class Heapsampling(ProgramTest):
    """Every site allocates once in each of 50,000 rounds; its objects and bytes, and the bytes of all, must be within 10 %.

    Up to three experiments are made, each a process of its own with seeds of its own, and a figure fails only when every
    experiment misses it on the same side. That is Go's rule.

    False alarms: n objects of s bytes are sampled with p = 1 - exp(-s/RATE), and the estimate has the relative sigma
    sqrt((1-p)/(n p)): 3.56 % for 256 B, so that 10 % is 2.81 sigma (2.5e-3 on either side); 2.51 % for 512 B, 3.99 sigma
    (3.3e-5); 1.76 % for 1024 B, 5.7 sigma. Objects and bytes of a site are the same draw. Three misses on the same
    side: 2 sites of 256 B x 2 sides x (2.5e-3)^3 = 6e-8, the others below 1e-12. The sum of all is far tighter.
    """

    def experiment(self, part: str, sizes: list[int]) -> dict[str, float]:
        """Run one; each figure as its ratio to the truth."""
        outcome = self.profiled(sample("heapsampling"), part, rate=RATE)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        profile = self.only_profile()
        self.profile_paths()[0].unlink()
        ratios = {}
        total = 0
        for size in sizes:
            values = profile.at(f"{part}_{size}")
            self.assertEqual(list(values), [size])
            ratios[f"{size}: objects"] = values[size].alloc_objects / ROUNDS
            ratios[f"{size}: bytes"] = values[size].alloc_bytes / (ROUNDS * size)
            total += values[size].alloc_bytes
        ratios["total: bytes"] = total / (ROUNDS * sum(sizes))
        return ratios

    def assert_conforms(self, part: str, sizes: list[int]) -> None:
        done: list[dict[str, float]] = []
        for _ in range(EXPERIMENTS):
            done.append(self.experiment(part, sizes))
            ratios = {what: [one[what] for one in done] for what in done[0]}
            wrong = {what: seen for what, seen in ratios.items() if min(seen) > 1.1 or max(seen) < 0.9}
            if not wrong:
                return
        self.fail(f"every experiment misses on the same side: {wrong}")

    def test_interleaved(self):
        self.assert_conforms("interleaved", [17408, 1024, 18432, 512, 16384, 256])

    def test_small(self):
        self.assert_conforms("small", [1024, 512, 256])


if __name__ == "__main__":
    unittest.main()
