"""test_requests.py - what `mprof` asks of a running process (core/request.h), also very often.

MPROF_LONG=1 asks ten times as often."""
import math
import os
import signal
import subprocess
import time
import unittest

import asking
from asking import BUSY, DUMP, OK, RATE, RAW, RESET, Asking, DumpsTest, ask, ask_for_profile
from decoding import Decoded
from mprof_test import ROOT, finish, sample, wait_for

COUNT = 10000 if os.environ.get("MPROF_LONG") == "1" else 1000
END = (5, b"end\n", b"")


class Dump(DumpsTest):
    def test_now(self):
        process = self.begin()
        for held in (100, 200):
            profile = self.profile(process)
            self.assertEqual([profile.sum(name, "site_held") for name in profile.types], [held, held * 1000] * 2)
            self.assertEqual([profile.sum(name, "site_freed") for name in profile.types], [held, held * 2000, 0, 0])
            self.assertNotIn("rate", {label for row in profile.rows() for label in row.labels})
            self.step(process)
        self.assert_ends(process)
        self.assertEqual(self.profile_paths(), [])

    def test_as_protobuf_whatever_the_format(self):
        process = self.begin(HEAPPROF_FORMAT="text")
        self.assert_ends(process)

    def test_by_another_signal(self):
        process = self.begin(HEAPPROF_SIGNAL="USR2")
        self.assertEqual(Decoded(ask_for_profile(process.pid, number=signal.SIGUSR2)).sum("inuse_objects", "site_held"), 100)
        self.assertEqual(finish(process), END)

    def test_raw_counts(self):
        # 1000 bytes at rate 4096 and then at 512: a sample stands for 1 / (1 - e^(-1000/rate)) objects.
        process = self.begin(rate=4096)
        for rate in (512, 4096):
            for _ in range(20):
                self.step(process)
            ask(process.pid, RATE, rate)
        raw = [row for row in self.profile(process, RAW).rows() if "site_held" in row.stack]
        self.assertEqual({row.labels["rate"] for row in raw}, {512, 4096})
        for row in raw:
            self.assertEqual(row.values["inuse_space"], row.values["inuse_objects"] * 1000)
        found = sum(row.values["inuse_objects"] for row in raw)
        self.assertTrue(0 < found < 4100, found)
        scaled = sum(row.values["inuse_objects"] / -math.expm1(-1000 / row.labels["rate"]) for row in raw)
        finished = self.profile(process)
        self.assertLessEqual(abs(finished.sum("inuse_objects", "site_held") - scaled), len(raw))  # each is cut to a whole number
        self.assertNotIn("rate", {label for row in finished.rows() for label in row.labels})
        self.assertEqual(int(asking.status(process.pid)["live_samples"]), self.profile(process, RAW).sum("inuse_objects"))
        self.assertEqual(finish(process), END)


class Steering(DumpsTest):
    def test_rate(self):
        process = self.begin(rate=1)
        for rate in (0, 1, 65536, (1 << 40) - 1):
            self.assertEqual(ask(process.pid, RATE, rate), (OK, b""))
            self.assertEqual(asking.status(process.pid)["rate"], str(rate))
            self.assertEqual(self.profile(process).period, rate)
        ask(process.pid, RATE, 0)
        for _ in range(20):
            self.step(process)
        self.assertEqual(self.profile(process).sum("alloc_objects", "site_held"), 100)
        ask(process.pid, RATE, 1)
        for _ in range(20):
            self.step(process)
        # A thread may go on for 1 MiB before it notices: four rounds of 300,000 bytes.
        more = self.profile(process).sum("alloc_objects", "site_held") - 100
        self.assertTrue(1600 <= more <= 2000, more)
        self.assertEqual(finish(process), END)

    def test_switched_on_later(self):
        process = self.begin(rate=0)
        self.assertEqual((self.profile(process).sample_count, Decoded.of(self.signal(process)).sample_count), (0, 0))
        self.assertEqual(ask(process.pid, RATE, 1), (OK, b""))
        self.step(process)
        self.assertEqual(self.profile(process).sum("inuse_objects", "site_held"), 100)
        self.assert_ends(process)

    def test_reset(self):
        process = self.begin()
        self.assertEqual(ask(process.pid, RESET), (OK, b""))
        profile = self.profile(process)
        self.assertEqual([profile.sum(name, "site_held") for name in profile.types], [100, 100000] * 2)
        self.assertEqual(profile.sum("alloc_objects", "site_freed"), 0)
        found = asking.status(process.pid)
        self.assertEqual(found["alloc_bytes"], found["live_bytes"])
        self.step(process)
        profile = self.profile(process)
        self.assertEqual([profile.sum(name, "site_held") for name in profile.types], [200, 200000] * 2)
        self.assertEqual([profile.sum(name, "site_freed") for name in profile.types], [100, 200000, 0, 0])
        self.assertEqual(finish(process), END)

    def test_status(self):
        process = self.begin(HEAPPROF_MEMORY="64M")
        found = asking.status(process.pid)
        losses = {line.split("(")[1].split(",")[0] for line in (ROOT / "core/loss.def").read_text().splitlines() if line[:4] == "LOSS"}
        self.assertEqual({name for name in found if name.startswith("lost_")}, {f"lost_{name}" for name in losses})
        self.assertEqual({found[f"lost_{name}"] for name in losses}, {"0"})
        self.assertEqual((found["program"], found["rate"], found["memory_limit_bytes"]), (sample("dumps"), "1", str(64 << 20)))
        profile = self.profile(process)
        for name, value in (("alloc_objects", "alloc_objects"), ("alloc_bytes", "alloc_space"), ("live_objects", "inuse_objects"),
                            ("live_bytes", "inuse_space"), ("samples", "alloc_objects"), ("live_samples", "inuse_objects")):
            self.assertEqual(int(found[name]), profile.sum(value), name)
        self.assertEqual(int(asking.status(process.pid)["dumps"]) - int(found["dumps"]), 1)
        self.assertEqual(finish(process), END)


class Crowd(DumpsTest):
    """gperftools#1040, #426: profilers that hang when signals come fast and a thread does nothing but allocate."""

    def fixed(self, pid: int) -> tuple:
        return asking.threads(pid), asking.descriptors(pid), asking.children(pid)

    def ask_often(self, process: subprocess.Popen, count: int) -> dict[str, int]:
        """Requests a millisecond apart, whatever the answers; how many had which."""
        answers = {OK: 0, BUSY: 0}
        open_ones: list[Asking] = []
        for _ in range(count):
            open_ones.append(Asking(process.pid, DUMP))
            time.sleep(0.001)
            while open_ones and (len(open_ones) > 100 or open_ones[0].read(0)):
                line, profile = open_ones.pop(0).answer()
                answers[line] += 1
                if line == OK:
                    self.assertGreater(Decoded(profile).sum("inuse_objects", "site_held"), 0)
        for one in open_ones:
            answers[one.answer().line] += 1
        return answers

    def test_requests(self):
        process = self.begin("churn", "2")
        self.ask_often(process, 100)
        wait_for(lambda: asking.threads(process.pid) == 3, "the end of the helpers")
        before, memory = self.fixed(process.pid), asking.memory(process.pid)
        answers = self.ask_often(process, COUNT)
        self.assertEqual(sum(answers.values()), COUNT)
        self.assertGreater(answers[OK], COUNT / 10)
        wait_for(lambda: asking.threads(process.pid) == 3, "the end of the helpers")
        after = asking.memory(process.pid)
        self.assertEqual(self.fixed(process.pid), before)
        self.assertLess(after["VmSize"] - memory["VmSize"], 4 << 20)
        self.assertLess(after["VmRSS"] - memory["VmRSS"], 8 << 20)
        self.assert_ends(process)

    def plain_signals(self, pause: float) -> None:
        process = self.begin("churn", "1")
        before = self.fixed(process.pid)
        for _ in range(COUNT):
            process.send_signal(asking.DUMP_SIGNAL)
            time.sleep(pause)

        def served() -> bool:
            skipped = int(asking.status(process.pid)["lost_dumps_skipped"])
            return len(self.profile_paths()) + skipped == COUNT
        wait_for(served, f"{COUNT} dumps, written or counted as skipped: {asking.status(process.pid)}")
        wait_for(lambda: asking.threads(process.pid) == 2, "the end of the helpers")
        self.assertEqual(self.fixed(process.pid), before)
        self.assertEqual(sorted(int(path.name.split(".")[1]) for path in self.profile_paths()),
                         list(range(1, len(self.profile_paths()) + 1)))
        for path in self.profile_paths():
            self.assertEqual(Decoded.of(path).sum("inuse_objects", "site_held"), 100)
        skipped = asking.status(process.pid)["lost_dumps_skipped"]
        if skipped != "0":
            self.assertTrue(any(line.startswith(f"lost: {skipped} dumps") for line in self.profile(process).comments))
        self.assertEqual(list(self.out.glob(".*")), [])
        self.assert_ends(process)

    def test_plain_signals(self):
        self.plain_signals(0.001)

    def test_plain_signals_at_once(self):
        self.plain_signals(0)


if __name__ == "__main__":
    unittest.main()
