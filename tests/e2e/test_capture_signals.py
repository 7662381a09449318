"""test_capture_signals.py - stacks that begin in the middle of something: between two instructions, in learning, in an exception."""
import unittest

from mprof_test import DEFAULT_RATE, ProgramTest, sample

MAIN = 4  # frames from _start to main; what is between them has names only where libc's debug symbols are installed

# Where a signal's stack may end early, because the tables find the caller by registers that are not followed: the loader's resolver
# keeps its frame in rbx, the first and last instructions of an over-aligned function have it in r10, and longjmp has it in its buffer.
RESOLVER = ("_dl_runtime_resolve", "ld-linux")


def complete(stack):
    return len(stack) >= MAIN and stack[-MAIN] == "main" and stack[-1] == "_start"


class Interrupted(ProgramTest):
    def stepped(self, mode, **more):
        """The chains captured in a handler that ran after each instruction, with their numbers: what is behind the handler, leaf first."""
        outcome = self.profiled(sample("stepped"), mode, rate=1, **more)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        profile = self.only_profile()
        self.profile_paths()[0].unlink()
        found = [(one.stack, one.values.alloc_objects) for one in profile.samples if one.bytes == 4001]
        self.assertEqual(sum(count for _, count in found), int(outcome.out))
        self.assertGreater(int(outcome.out), 100)
        for stack, _ in found:
            self.assertEqual(stack[0], "on_trap")
        return [(stack[2:], count) for stack, count in found]  # [1] is the trampoline the handler returns to

    def assert_complete(self, mode, functions, allowed=0):
        """All chains lead to _start, but for so many; they go through all of the functions."""
        found = self.stepped(mode, LD_BIND_NOW="1")
        cut = [(stack, count) for stack, count in found if not complete(stack)]
        self.assertLessEqual(sum(count for _, count in cut), allowed, cut)
        self.assertLessEqual(functions, {name for stack, _ in found for name in stack})
        return [stack for stack, _ in found if complete(stack)], {tuple(stack) for stack, _ in cut}

    def test_every_instruction_of_every_kind_of_frame(self):
        names = {"with_alloca", "with_array", "with_alignment", "with_large_frame", "with_arguments"}
        whole, cut = self.assert_complete("frames", names, allowed=8)
        self.assertLessEqual(cut, {("with_alignment",)})
        for stack in whole:
            if set(stack) & names:
                self.assertEqual(stack[-MAIN - 1], "frames", stack)

    def test_every_instruction_in_libc(self):
        _, cut = self.assert_complete("libc", {"qsort_r", "compare", "libc"}, allowed=20)  # of 3,500
        self.assertLessEqual(cut, {("__longjmp",)})

    def test_every_instruction_in_the_vdso(self):
        whole, _ = self.assert_complete("vdso", {"__vdso_clock_gettime"})
        (chain,) = {tuple(stack[1:]) for stack in whole if stack[0] == "__vdso_clock_gettime"}
        self.assertEqual(chain[:-MAIN], ("clock_gettime", "vdso"))

    def test_every_instruction_through_the_plt(self):
        self.assert_complete("plt", {"plt", "getppid"})

    def test_every_instruction_of_the_resolver(self):
        # Calls bound lazily: a stack ends in the resolver or is complete.
        found = self.stepped("plt")
        cut = [stack for stack, _ in found if not complete(stack)]
        self.assertTrue(cut)
        for stack in cut:
            self.assertTrue(stack[-1].startswith(RESOLVER), stack)

    def test_nothing_is_made_up(self):
        # Where the tables say that rbp does not lead to the caller it is not tried, though it may point into the stack.
        for mode in "frames", "libc", "vdso", "plt":
            with self.subTest(mode=mode):
                for stack, _ in self.stepped(mode):
                    self.assertFalse([name for name in stack if "[anon]" in name], stack)

    def test_at_the_default_rate(self):
        for mode in "frames", "libc", "vdso", "plt":
            with self.subTest(mode=mode):
                outcome = self.profiled(sample("stepped"), mode)
                self.assertEqual((outcome.status, outcome.err), (0, b""))
                self.assertGreater(int(outcome.out), 100)

    def test_learning_interrupted(self):
        self.assertEqual(self.plain(sample("learning"), "any"), (0, b"", b""))
        self.assertEqual(self.profiled(sample("learning"), "interrupted", rate=1), (0, b"", b""))
        self.assertEqual(self.profiled(sample("learning"), "any", rate=DEFAULT_RATE), (0, b"", b""))


class InFlight(ProgramTest):
    def test_exceptions_under_way(self):
        self.assertEqual(self.plain(sample("in_flight")), (0, b"", b""))
        self.assertEqual(self.profiled(sample("in_flight"), HEAPPROF_EXIT="0"), (0, b"", b""))
        profile = self.exact_profile("in_flight")
        chains = {}
        for one in profile.samples:
            self.assertTrue(complete(one.stack), one)
            if one.bytes in range(3001, 3008):
                self.assertEqual(one.values.alloc_objects, 1)
                names = [name for name in one.stack[:-MAIN] if not name.startswith("libstdc++")]
                chains.setdefault(one.bytes, []).append(names)
        # In the order of the program's text. Of the two destructors that run while the stack is unwound, each runs in the frame of the
        # function that is being left, all inner ones being gone.
        above = ["again", "nesting", "catcher"]
        self.assertEqual({size: sorted(stacks) for size, stacks in chains.items()}, {
            3001: sorted([["leaf", "Loud::~Loud", "thrower", "between", *above], ["leaf", "Loud::~Loud", "between", *above]]),
            3002: [["leaf", "Heavy::Heavy", "thrower", "between", *above]],
            3003: [["leaf", "Heavy::Heavy", "catcher"]],
            3004: [["leaf", "Heavy::~Heavy", "catcher"]] * 2,  # the handler's copy, and the exception itself
            3005: [["leaf", *above]],
            3006: [["leaf", "Nested::~Nested", "nesting", "catcher"]],
            3007: [["leaf", "catcher"]],
        })


if __name__ == "__main__":
    unittest.main()
