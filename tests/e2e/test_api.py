"""test_api.py - preload/mprof.h: a program talks to its profiler, changes the rate, and works without it just the same."""
from __future__ import annotations

import math
import re
import subprocess
import sys
import unittest
from pathlib import Path

from mprof_test import LIBRARY, ProgramTest, Values, finish, pprof, read_profile, sample, start

TOTALS = re.compile(r"totals: requested_bytes=(\d+) allocated_bytes=(\d+)(?: jemalloc_allocated_bytes=(\d+))?")


def by_addresses(raw: str) -> dict[tuple, Values]:
    """The samples of `pprof -raw` by their addresses, leaf first, and block size."""
    locations = raw.split("\nLocations\n")[1].split("\nMappings\n")[0]
    addresses = {int(one[1]): int(one[2], 16) for one in re.finditer(r"(?m)^ *(\d+): 0x([0-9a-f]+)", locations)}
    sums: dict[tuple, Values] = {}
    pattern = r"(?m)^((?: +\d+){4}): ?((?:\d+ ?)*)\n +bytes:\[(\d+)\]"
    for values, stack, size in re.findall(pattern, raw):
        key = (*(addresses[int(one)] for one in stack.split()), int(size))
        sums[key] = sums.get(key, Values(0, 0, 0, 0)).plus(Values(*map(int, values.split())))
    return sums


class ApiTest(ProgramTest):
    def api(self, mode: str, *args: str | Path, rate: int = 1, timeout: float = 60, **more: str) -> bytes:
        """Run tests/programs/api.c, which checks most things itself; what it says."""
        outcome = self.profiled(sample("api"), mode, *map(str, args), rate=rate, timeout=timeout, HEAPPROF_EXIT="0", **more)
        self.assertEqual((outcome.status, outcome.err), (0, b""), outcome.out)
        return outcome.out


class Presence(ApiTest):
    def test_absent_symbols_are_null(self):
        self.assertEqual(self.plain(sample("api"), "absent"), (0, b"", b""))

    def test_example(self):
        self.assertEqual(self.plain(sample("api_example")), (0, b"not running under mprof\n", b""))
        path = self.out / "example.pb.gz"
        outcome = self.profiled(sample("api_example"), str(path), HEAPPROF_EXIT="0")
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        self.assertRegex(outcome.out.decode(), r"^\d+ samples, \d+ alive, \d+ stacks\n3145728 sampled bytes from 0x")
        self.assertEqual(read_profile(path).at("watched_work"), {3145728: Values(1, 3145728, 1, 3145728)})


class Records(ApiTest):
    def test_records_are_what_a_dump_of_the_same_moment_holds(self):
        path = self.out / "profile.pb.gz"
        records: dict[tuple, Values] = {}
        for line in self.api("records", path).decode().splitlines():
            allocs, alloc_bytes, inuse, inuse_bytes, rate, *stack = line.split()
            self.assertEqual(rate, "1")
            if alloc_bytes == "0":  # malloc(0); a profile leaves it out
                continue
            key = (*(int(one, 16) - 1 for one in stack), int(alloc_bytes) // int(allocs))
            self.assertNotIn(key, records)
            records[key] = Values(int(allocs), int(alloc_bytes), int(inuse), int(inuse_bytes))
        self.assertGreaterEqual(len(records), 3)
        self.assertEqual(by_addresses(pprof(path, "-raw")), records)

    def test_reset(self):
        before, after = self.out / "before.pb.gz", self.out / "after.pb.gz"
        self.api("reset", before, after)
        at = read_profile(before)
        self.assertEqual((at.at("site_kept"), at.at("site_freed")),
                         ({1001: Values(4, 4004, 3, 3003)}, {1001: Values(6, 6006, 0, 0)}))
        at = read_profile(after)
        self.assertEqual((at.at("site_kept"), at.at("site_freed")),
                         ({1001: Values(3, 3003, 2, 2002)}, {1003: Values(5, 5015, 0, 0)}))

    def test_statistics(self):
        self.api("stats")


class Rate(ApiTest):
    def test_off_on_off_on(self):
        path = self.out / "profile.pb.gz"
        self.api("rates", path, rate=0)
        profile = read_profile(path)
        self.assertEqual(profile.period, 0)
        self.assertEqual(profile.at("site_kept"), {1003: Values(30, 30090, 0, 0)})
        self.assertEqual(profile.at("site_freed")[1007], Values(1000, 1007000, 0, 0))

    def test_each_stretch_is_scaled_by_its_own_rate(self):
        # 200 MB kept at 512 KiB, then 200 MB freed at 32 KiB: a stretch is right within 6 sigma, 2e-9 each. The second may
        # miss up to 1 MiB, what the thread allocates until it notices.
        path = self.out / "profile.pb.gz"
        self.api("stretches", path, rate=524288)
        profile = read_profile(path)
        self.assertEqual(profile.period, 32768)
        for site, rate, missed in ("site_kept", 524288, 0), ("site_freed", 32768, 1 << 20):
            p = -math.expm1(-10000 / rate)
            sigma = math.sqrt(20000 * (1 - p) / p)
            values = profile.at(site)[10000]
            self.assertLess(abs(values.alloc_objects - 20000), 6 * sigma + missed / 10000 + 1)
            inuse = values[:2] if site == "site_kept" else (0, 0)
            self.assertEqual(values[2:], inuse)

    def test_no_death_goes_unseen_while_the_rate_jumps(self):
        # Four threads free each other's blocks while the rate crosses, a thousand times and more, the line between sampled
        # objects that start a page and others: were the filter ever too strict, objects that are gone would be left over.
        self.assertEqual(self.api("churn", "20", rate=524288, timeout=100), b"left 0\n")

    def test_filter_mask_rises_only_when_it_may(self):
        symbols = subprocess.run(["nm", LIBRARY], capture_output=True, text=True, check=True).stdout
        offset = int(re.search(r"(?m)^([0-9a-f]+) \w profiler_filter_mask$", symbols)[1], 16)
        process = start([sample("api"), "homes"], self.preloaded(524288, HEAPPROF_EXIT="0"), self.work)
        self.addCleanup(process.kill)
        seen = []
        for _ in range(7):
            name = process.stdout.readline().decode().strip()
            maps = Path(f"/proc/{process.pid}/maps").read_text()
            base = int(re.search(rf"(?m)^([0-9a-f]+)-.* 00000000 .*{re.escape(str(LIBRARY))}$", maps)[1], 16)
            with open(f"/proc/{process.pid}/mem", "rb") as memory:
                memory.seek(base + offset)
                seen.append((name, int.from_bytes(memory.read(8), "little")))
            process.stdin.write(b"\n")
            process.stdin.flush()
        self.assertEqual(finish(process).status, 0)
        self.assertEqual(seen, [("start", 4095), ("low", 0), ("high, not yet", 0), ("high, one left", 0), ("high", 4095),
                                ("low again", 0), ("off", 4095)])


class Dump(ApiTest):
    def test_to_a_descriptor(self):
        path = self.out / "profile.pb.gz"
        path.write_bytes(self.api("fd"))
        self.assertEqual(self.assert_good_profile(path, 1).at("site_kept"), {1001: Values(5, 5005, 5, 5005)})

    def test_errors_are_codes_and_cost_nothing(self):
        self.api("errors", self.out)
        self.assertEqual([path.name for path in self.out.iterdir()], ["100%p"])

    def test_from_signal_handlers(self):
        path = self.out / "profile.pb.gz"
        self.api("handler", path)
        comments = read_profile(path).comments
        self.assertTrue(any(TOTALS.fullmatch(line) for line in comments), comments)
        self.assertNotIn("jemalloc_allocated_bytes", "\n".join(comments))  # its locks may be held: it is not asked

    def test_from_several_threads(self):
        self.api("threads", self.out)
        self.assertEqual([path.name for path in self.out.iterdir()], ["shared.pb.gz"])
        read_profile(self.out / "shared.pb.gz")


class Text(ApiTest):
    TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")

    def total(self, path: Path, sample_type: str) -> int:
        """What pprof makes of a whole profile, to the unit, which -top's header is not."""
        raw = by_addresses(pprof(path, "-raw"))
        return sum(values[self.TYPES.index(sample_type)] for values in raw.values())

    def both(self, mode: str, rate: int) -> tuple[Path, Path]:
        """The same program's profile in both formats."""
        paths = self.out / f"{mode}.pb.gz", self.out / f"{mode}.txt"
        for path, kind in zip(paths, ("pprof", "text")):
            self.api(mode, path, rate=rate, HEAPPROF_FORMAT=kind)
        return paths

    def test_text_and_protobuf_show_the_same_values(self):
        # rate 1; rate 1 then 2, 2^56 and 0 in one run: several rates, so the text is unsampled already
        for mode, rate in ("records", 1), ("rates", 0):
            with self.subTest(mode=mode):
                pprof_path, text_path = self.both(mode, rate)
                raw = pprof(text_path, "-raw")
                self.assertTrue(raw.startswith("PeriodType: space bytes\nPeriod: 1\n"), raw[:80])
                ours, theirs = by_addresses(pprof(pprof_path, "-raw")), by_addresses(raw)
                # Another run has other addresses, and one that is off by a sample at rate 2.
                self.assertEqual(sorted(ours.values()), sorted(theirs.values()))
                for sample_type in self.TYPES:
                    self.assertEqual(self.total(pprof_path, sample_type), self.total(text_path, sample_type))
                    top = [pprof(path, "-top", "-unit=B", f"-sample_index={sample_type}") for path in (pprof_path, text_path)]
                    self.assertEqual(*(re.search(r"of (\S+) total", one)[1] for one in top))

    def test_one_sampled_profile_is_raw_and_scaled_by_the_reader(self):
        # Sampled runs differ: so the text's own lines are scaled here, as readers of it must, and pprof must show just that.
        path = self.out / "sampled.txt"
        outcome = self.profiled(sample("known_sites"), "big", rate=65536, HEAPPROF_FORMAT="text", HEAPPROF_OUT=str(path))
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        text = path.read_text()
        self.assertRegex(text, r"^heap profile: \d+: \d+ \[\d+: \d+\] @ heap/131072\n# mprof ")
        self.assertIn("\nMAPPED_LIBRARIES:\n", text)
        expected = [0, 0]
        for objects, size in re.findall(r"(?m)^\d+: \d+ \[(\d+): (\d+)\] @ 0x", text):
            scale = 1 / (1 - math.exp(-(int(size) / int(objects)) / 65536))
            expected[0] += int(int(objects) * scale)
            expected[1] += int(int(size) * scale)
        self.assertGreater(expected[1], 1 << 30)
        self.assertEqual([self.total(path, "alloc_objects"), self.total(path, "alloc_space")], expected)

    def test_default_name_ends_in_txt(self):
        env = self.preloaded(1, HEAPPROF_FORMAT="text")
        del env["HEAPPROF_OUT"]
        self.assertEqual(finish(start([sample("tiny")], env, self.out)), self.plain(sample("tiny")))
        self.assertEqual([re.sub(r"\d+", "N", path.name) for path in self.out.iterdir()], ["mprof.N.N.txt"])


class Totals(ApiTest):
    def totals(self, path: Path) -> tuple[int, int, int]:
        found = [TOTALS.fullmatch(line) for line in read_profile(path).comments]
        return tuple(int(number) for one in found if one for number in one.groups())

    def test_of_a_real_program(self):
        # Python holds 60,000 blocks of 1000 bytes, 1024 in jemalloc's class, and what else it holds. The estimate's standard
        # error is at most sqrt(bytes x rate), reached by small blocks; 6 of it fail once in 5e8 runs.
        path = self.out / "profile.pb.gz"
        code = f"import ctypes; x = [bytes(967) for i in range(60000)]; ctypes.CDLL(None).mprof_dump({str(path).encode()!r})"
        for rate in 1, 65536, 524288:
            with self.subTest(rate=rate):
                outcome = self.profiled(sys.executable, "-c", code, rate=rate, timeout=60, PYTHONMALLOC="malloc", HEAPPROF_EXIT="0")
                self.assertEqual((outcome.status, outcome.err), (0, b""))
                requested, allocated, jemalloc = self.totals(path)
                self.assertGreater(jemalloc, 60 << 20)
                self.assertLess(requested, allocated)
                # 1 %: blocks from before the profiler's start, and its pages for sampled objects (4096 in 524288).
                sigma = 0 if rate == 1 else math.sqrt(jemalloc * rate)
                self.assertLess(abs(jemalloc - allocated), 6 * sigma + 0.01 * jemalloc)


if __name__ == "__main__":
    unittest.main()
