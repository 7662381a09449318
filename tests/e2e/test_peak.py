"""test_peak.py - HEAPPROF_PEAK: what was alive when most was, beside what is alive now."""
import math
import unittest

from asking import DumpsTest
from decoding import Decoded
from mprof_test import SAMPLE_TYPES, pprof, sample

TYPES = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_objects", "peak_space"]


class PeakTest(DumpsTest):
    def run_peak(self, mode: str, rate: int | str = 1, **more: str) -> tuple[bytes, Decoded]:
        outcome = self.profiled(sample("peak"), mode, rate=rate, **({"HEAPPROF_PEAK": "1"} | more))
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        self.path = self.profile_paths()[0]
        return outcome.out, Decoded.of(self.path)

    def at(self, profile: Decoded, site: str) -> tuple[int, ...]:
        return tuple(profile.sum(name, site) for name in TYPES)


class OneThread(PeakTest):
    def test_after_the_peak(self):
        _, profile = self.run_peak("one")
        self.assertEqual(profile.types, TYPES)
        self.assertEqual(profile.default_type, "inuse_space")
        expected = {
            "site_base": (10, 10000, 6, 6000, 10, 10000),
            "site_before": (8, 24000, 0, 0, 0, 0),
            "site_bulge": (72, 360000, 0, 0, 25, 125000),
            "site_moved": (3, 11100, 1, 100, 1, 7000),
            "site_late": (5, 10000, 5, 10000, 0, 0),
        }
        self.assertEqual({site: self.at(profile, site) for site in expected}, expected)
        self.assertEqual(profile.sum("peak_space", "main"), 142000)

    def test_at_the_peak(self):
        _, profile = self.run_peak("late")
        for row in profile.rows():
            self.assertEqual((row.values["peak_objects"], row.values["peak_space"]),
                             (row.values["inuse_objects"], row.values["inuse_space"]))
        self.assertEqual(self.at(profile, "site_bulge"), (50, 250000, 30, 150000, 30, 150000))

    def test_estimates(self):
        # 1000 objects of 5000 bytes make the peak 25 times over: at rate 4096 a profile's figure is what was sampled, scaled.
        _, profile = self.run_peak("one", 4096)
        for site, size in (("site_base", 1000), ("site_bulge", 5000)):
            p = -math.expm1(-size / 4096)
            rows = [row.values["peak_objects"] for row in profile.rows() if site in row.stack]
            for found in rows:
                self.assertLess(abs(found - round(found * p) / p), 1.01)

    def test_as_text(self):
        # Go's older form has no place for it.
        outcome = self.profiled(sample("peak"), "one", rate=1, HEAPPROF_PEAK="1", HEAPPROF_FORMAT="text",
                                HEAPPROF_OUT=str(self.out / "text"))
        self.assertEqual(outcome, (0, b"", b""))
        self.assertTrue((self.out / "text").read_text().startswith("heap profile: "))


class Readers(PeakTest):
    def test_go_pprof(self):
        self.run_peak("one")
        usual = pprof(self.path, "-top", "-unit=B")
        self.assertIn("Type: inuse_space\n", usual)
        self.assertNotIn("site_bulge", usual)
        peak = pprof(self.path, "-top", "-unit=B", "-sample_index=peak_space")
        self.assertIn("Type: peak_space\n", peak)
        self.assertRegex(peak, r" 125000B .* site_bulge\n")
        self.assertIn("Type: peak_objects\n", pprof(self.path, "-top", "-sample_index=peak_objects"))

    def test_mprof_top(self):
        self.run_peak("one")
        self.assertNotIn("site_bulge", self.top(self.path))
        self.assertIn("site_bulge", self.top(self.path, "--sample", "peak_space"))

    def test_without_the_option_there_are_four_types(self):
        for more in ({"HEAPPROF_PEAK": "0"}, {"HEAPPROF_GROWTH": "1G", "HEAPPROF_PEAK": "0"}):
            self.run_peak("one", **more)
            self.assert_good_profile(self.path, 1)
            self.assertEqual(Decoded.of(self.path).types, [name.split("/")[0] for name in SAMPLE_TYPES])
            self.path.unlink()


class Threads(PeakTest):
    def test_against_a_model(self):
        for _ in range(3):
            out, profile = self.run_peak("threads")
            model, found = int(out), profile.sum("peak_space", "walk")
            self.assertGreater(model, 2 * profile.sum("inuse_space", "walk"))
            self.assertLess(abs(found - model) / model, 0.01)
            for row in profile.rows():
                self.assertTrue(0 <= row.values["peak_objects"] <= row.values["alloc_objects"], row)
            self.path.unlink()


if __name__ == "__main__":
    unittest.main()
