"""test_dumps_calls.py - programs that wait in a system call, alone or in a second thread, while they are asked for dumps."""
import time
import unittest

from asking import DumpsTest, ask_for_profile
from mprof_test import ROOT, finish, sample, start


class Calls(DumpsTest):
    def wait_in(self, *args: str) -> bytes:
        """What tests/programs/blocking.c says of its call, with dumps asked for all the while."""
        process = start([sample("blocking"), *args], self.preloaded(1, HEAPPROF_EXIT="0"), self.work)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        for count in range(1, 11):
            self.signal(process, count)
            ask_for_profile(process.pid)
            time.sleep(0.001)
        outcome = finish(process, b"\n")
        self.assertEqual((outcome.status, outcome.err), (5, b""))
        return outcome.out

    def test_go_on(self):
        expected = {"read": 1, "write": 1, "accept": 1, "recv": 1, "futex": 0, "sem_wait": 0, "wait4": 1, "flock": 0}
        for call, result in expected.items():
            for thread in ((), ("thread",)):
                with self.subTest(call=call, thread=thread):
                    self.assertEqual(self.wait_in(call, *thread), f"{call} {result} 0\n".encode())

    def test_those_that_do_not_are_documented(self):
        limits = (ROOT / "README.md").read_text().split("\n## Limits\n")[1].split("\n- ")
        about = next(one for one in limits if one.startswith("The dump signal"))
        for word in ("`poll`", "`nanosleep`", "`SA_RESTART`"):
            self.assertIn(word, about)


if __name__ == "__main__":
    unittest.main()
