"""run.py - runs the end-to-end tests, one line each: run.py BUILD [WORD...] (only tests with a WORD in their name)."""
import os
import signal
import sys
import time
import unittest
from pathlib import Path

WATCHDOG = 150  # seconds for a whole test; what a test starts has limits of its own, far below


class Stuck(AssertionError):
    """A test that took too long; an AssertionError, so that it is reported as any other failure."""


def on_alarm(*_):
    raise Stuck(f"the test has not ended after {WATCHDOG} s")


class Result(unittest.TestResult):
    """One line per test as it ends, the details of the failed ones below it."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self.bad = set()
        self.started = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()
        signal.alarm(WATCHDOG)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def say(self, verdict, test, details=""):
        print(f"{verdict:<4} {test.id()} ({time.monotonic() - self.started:.1f} s){details}", flush=True)

    def addSuccess(self, test):
        if test not in self.bad:
            self.passed += 1
            self.say("ok", test)

    def bad_end(self, test, err, part=""):
        self.bad.add(test)
        self.say("FAIL", test, part + "\n" + self._exc_info_to_string(err, test).rstrip())

    addFailure = addError = bad_end

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad_end(test, err, " " + subtest._subDescription())

    def addSkip(self, test, reason):
        self.say("skip", test, ": " + reason)


def each(suite):
    for one in suite:
        yield from each(one) if isinstance(one, unittest.TestSuite) else (one,)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    here = Path(__file__).resolve().parent
    os.environ["MPROF_BUILD"] = str(Path(sys.argv[1]).resolve())
    os.chdir(here.parents[1])
    signal.signal(signal.SIGALRM, on_alarm)
    words = sys.argv[2:]
    found = each(unittest.defaultTestLoader.discover(str(here), "test_*.py"))
    chosen = unittest.TestSuite(test for test in found if not words or any(word in test.id() for word in words))
    result = Result()
    chosen.run(result)
    print(f"{result.passed} passed, {len(result.bad)} failed")
    sys.exit(bool(result.bad) or result.passed == 0)


if __name__ == "__main__":
    main()
