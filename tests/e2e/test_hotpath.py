"""test_hotpath.py - the hot halves as compiled: what an allocation or a free that is not sampled executes, pinned.

The library is disassembled, and every path followed from each exported function into jemalloc or to its return. hotpath.golden has
a line for each way past the profiler:

  enabled      profiler_rate is above 0, and the countdown does not run out
  off          profiler_rate is 0
  held back    profiler_filter_mask says that the pointer is no sampled object
  let through  live_counts says so

Not followed is what goes to a cold half. Left out is what does not do the work: refusals (they ask neither the rate nor the mask, or
do not reach jemalloc), deletes that are the program's own, and what comes after a NULL from jemalloc. Where several paths are left,
the line is the longest one's: memalign's that rounds the alignment up.
"""
from __future__ import annotations

import difflib
import functools
import itertools
import platform
import re
import subprocess
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mprof_test import BUILD, LIBRARY, environment

GOLDEN = Path(__file__).with_name("hotpath.golden")
COLD = re.compile(r"sampled_|operators_next_|\w+_slow\b")
PREFIXES = {"lock", "bnd", "notrack", "rep", "repz", "repnz", "data16", "cs", "ds"}
READERS = re.compile(r"(cmp|test|bt|i?mul|i?div|nop|push|call)[bwlq]?|lea|j\w+|prefetch\w+")  # leave their last operand as it is
ZERO_TAKES = {"je", "jle", "jge", "jbe", "jae", "jns"}  # after the test of a value that is 0
KINDS = {"profiler_filter_mask": ("held back", "let through"), "profiler_rate": ("enabled", "off")}  # not 0, 0


# --- what objdump prints --------------------------------------------------------------------------------------------


class Instruction(NamedTuple):
    text: str
    op: str  # without prefixes
    symbol: str  # the function it calls or jumps into, or the variable it is about
    target: int | None  # of a jump that names an address
    below: int  # address of the next instruction

    @property
    def conditional(self) -> bool:
        return self.op[0] == "j" and self.op != "jmp"

    @property
    def thread_local(self) -> bool:
        return "%fs:" in self.text

    @property
    def stores(self) -> bool:
        last = re.search(r"[^, ]*(\([^)]*\))?$", self.text)[0]
        return ("(" in last or "%fs:" in last) and "(%rsp" not in last and not READERS.fullmatch(self.op)

    @property
    def atomic(self) -> bool:
        return self.text.startswith("lock") or self.op == "mfence" or self.op == "xchg" and self.stores


class Code:
    """A disassembly by `objdump -d --no-show-raw-insn`: functions' names by address, and instructions."""

    def __init__(self, text: str) -> None:
        self.functions = {int(address, 16): name for address, name in re.findall(r"(?m)^([0-9a-f]+) <(.*)>:$", text)}
        self.lines = {int(address, 16): line for address, line in re.findall(r"(?m)^ *([0-9a-f]+):\t(.*)$", text)}
        self.below = dict(itertools.pairwise(self.lines))

    def instruction(self, at: int) -> Instruction:
        text = re.sub(r" *(#.*|<.*>)?$", "", self.lines[at])
        op = next((word for word in text.split() if word not in PREFIXES), text)
        symbol = re.search(r"<([^>+]+)", self.lines[at])
        target = re.search(r"\bj\w+ +([0-9a-f]+)$", text)
        return Instruction(text, re.sub("^(call|jmp|ret)q$", r"\1", op), symbol[1] if symbol else "",
                           int(target[1], 16) if target else None, self.below.get(at, 0))


def output(*argv: str | Path) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, env=environment()).stdout


@functools.cache
def disassembled(library: Path) -> Code:
    return Code(output("objdump", "-d", "--no-show-raw-insn", library))


def exported(library: Path) -> dict[str, int]:
    """The malloc family's addresses by name, and then the operators'."""
    names = re.findall(r"(?m)^([0-9a-f]+) \w (?!mprof_)(\w+)", output("nm", "-D", "--defined-only", library))
    return {name: int(address, 16) for address, name in sorted(names, key=lambda one: (one[1].startswith("_Z"), one[1]))}


def compiler(library: Path) -> str:
    """What compiled preload/malloc.c, as far as golden figures depend on it: the debugging information says it."""
    units = output("objdump", "--dwarf=info", "--dwarf-depth=1", library)
    producer = re.search(r"DW_AT_producer.*: GNU C\d* (\d+)\.(.*)\n.*\n.*DW_AT_name.*preload/malloc\.c\n", units)
    return " ".join(["gcc", producer[1], *re.findall(r" (-(?:O|march=|fstack-|fcf-)\S*)", producer[2])]) if producer else "unknown"


# --- paths ----------------------------------------------------------------------------------------------------------

Steps = list[tuple[Instruction, bool]]  # each instruction, and whether it jumps


def ways(code: Code, at: int, before: Steps) -> Iterator[Steps]:
    """All ways from an address to a return, to jemalloc, or to where only the running program knows; none into a cold half."""
    steps = list(before)
    while not (name := code.functions.get(at, "")).startswith("je_"):
        one = code.instruction(at)
        if COLD.match(name) or one.op == "call" and COLD.match(one.symbol):
            return
        if any(one == earlier for earlier, _ in steps):
            raise AssertionError(f"a loop at {at:#x}: {one.text}")
        if one.conditional:
            yield from ways(code, one.target, [*steps, (one, True)])
        jumps = one.op == "jmp"
        steps.append((one, jumps))
        if one.op == "ret" or jumps and one.target is None:
            break
        at = one.target if jumps else one.below
    yield steps


def was_zero(steps: Steps) -> dict[str, bool]:
    """What a path takes the variables for, and what jemalloc gave it: a conditional jump is about what the last test is about."""
    found: dict[str, bool] = {}
    holds: dict[str, str] = {}  # what is in a register
    tested = ""
    for one, jumps in steps:
        if one.conditional:
            found.setdefault(tested, jumps == (one.op in ZERO_TAKES))
        elif one.op.startswith(("test", "cmp")):
            tested = next((holds[name] for name in re.findall(r"%\w+", one.text) if name in holds), one.symbol)
        elif one.op == "call":
            holds = {"%rax": "jemalloc"} if one.symbol.startswith("je_") else {}
        elif written := re.search(r"%\w+$", one.text):
            copied = re.fullmatch(r"mov +(%\w+),%\w+", one.text)
            holds[written[0]] = holds.get(copied[1], "") if copied else one.symbol
    return found


class HotPath(NamedTuple):
    kind: str
    steps: Steps

    def calls(self) -> list[str]:
        """The functions called, and the one jumped into."""
        last = self.steps[-1][0]
        return [one.symbol for one, _ in self.steps if one.op == "call" or one == last and one.op != "ret"]

    def count(self, what: str) -> int:
        return sum(getattr(one, what) for one, _ in self.steps)

    def line(self, name: str) -> str:
        calls = sum(one.op == "call" for one, _ in self.steps)
        jumps = sum(jumps for _, jumps in self.steps)  # tail jumps too
        return (f"{name:<35} {self.kind:<20} {len(self.steps):>2} instructions {self.count('conditional'):>2} branches {jumps:>2} jumps "
                f"{calls:>2} calls {self.count('thread_local'):>2} tls {self.count('atomic'):>2} atomics {self.count('stores'):>2} stores")


def hot_paths(code: Code, at: int) -> list[HotPath]:
    """The paths past the profiler from an exported function's address, the longest first."""
    found = []
    for steps in ways(code, at, []):
        zero = was_zero(steps)
        kind = ", ".join(KINDS[name][zero[name]] for name in KINDS if name in zero)
        path = HotPath(kind, steps)
        if kind and not zero.get("jemalloc") and any(name.startswith("je_") for name in path.calls()):
            found.append(path)
    return sorted(found, key=lambda one: -len(one.steps))


def golden(library: Path) -> str:
    lines = [compiler(library)]
    for name, address in exported(library).items():
        longest = {path.kind: path for path in reversed(hot_paths(disassembled(library), address))}
        lines += [path.line(name) for _, path in sorted(longest.items())]
    return "\n".join(lines) + "\n"


# --- what holds for any compiler --------------------------------------------------------------------------------------


def wanted_kinds(name: str) -> set[str]:
    if name.startswith("realloc"):
        return {", ".join(kinds) for kinds in itertools.product(*KINDS.values())}
    return set(KINDS["profiler_filter_mask" if re.match("_Zd|c?free|malloc_usable", name) else "profiler_rate"])


def faults(name: str, found: list[HotPath]) -> list[str]:
    """What is wrong with the paths of a function, a line each."""
    wrong = []
    if (kinds := {path.kind for path in found}) != wanted_kinds(name):
        wrong.append(f"{name}: its paths are {sorted(kinds)}")
    for path in found:
        direct = [one for one in path.calls() if re.fullmatch(r"je_\w+", one)]
        if len(direct) != 1 or len(path.calls()) != 1:
            wrong.append(f"{name}, {path.kind}: calls {path.calls()}")
        if path.count("atomic"):
            wrong.append(f"{name}, {path.kind}: has an atomic operation")
        if path.kind.endswith("off") and path.count("thread_local"):
            wrong.append(f"{name}, {path.kind}: looks at thread-local storage")
    return wrong


@unittest.skipUnless(platform.machine() == "x86_64", "reads x86-64 code only")
class Library(unittest.TestCase):
    def test_unsampled_paths_are_direct(self):
        if re.fullmatch("gcc((?! -O[23]).)*", compiler(LIBRARY)):
            self.skipTest(f"the library is of {compiler(LIBRARY)}: without inlining or tail calls")
        code, functions = disassembled(LIBRARY), exported(LIBRARY)
        self.assertIn("malloc", functions)
        if wrong := [fault for name, at in functions.items() for fault in faults(name, hot_paths(code, at))]:
            self.fail("\n".join(["", *wrong]))

    def test_unsampled_paths_are_the_golden_ones(self):
        wanted = GOLDEN.read_text()
        noted, found = wanted.partition("\n")[0], compiler(LIBRARY)
        if noted != found:
            self.skipTest(f"{GOLDEN.name} is of {noted}, the library of {found}")
        if difference := [*difflib.unified_diff(wanted.splitlines(), golden(LIBRARY).splitlines(), GOLDEN.name, "found", "", "", 0, "")]:
            self.fail("\n".join(["", *difference, f"If that is meant: python3 tests/e2e/test_hotpath.py --renew {BUILD}"]))


# --- what must be found -------------------------------------------------------------------------------------------------

# As malloc should not be: at rate 0 it counts, in memory of its own, its thread's and on the stack, and calls jemalloc through the PLT.
BAD = """
0000000000001000 <malloc>:
    1000:\tmov    0x1ff9(%rip),%rax        # 3000 <profiler_rate>
    1007:\ttest   %rax,%rax
    100a:\tjle    1020 <malloc+0x20>
    100c:\tmov    0x1ffd(%rip),%rdx        # 3010 <_GLOBAL_OFFSET_TABLE_+0x10>
    1013:\tsub    %rdi,%fs:(%rdx)
    1017:\tjb     1050 <malloc+0x50>
    1019:\tjmp    2000 <je_malloc>
    101e:\txchg   %ax,%ax
    1020:\tjne    1050 <malloc+0x50>
    1022:\tlock incq 0x1fd6(%rip)        # 3020 <total>
    102a:\tcmpq   $0x0,%fs:0x10
    1033:\tmov    %rdi,0x8(%rsp)
    1038:\tcall   1060 <count>
    103d:\tjmp    1070 <je_malloc@plt>
    1050:\tjmp    2010 <sampled_malloc>

0000000000001070 <je_malloc@plt>:
    1070:\tjmp    *0x1f92(%rip)        # 3030 <_GLOBAL_OFFSET_TABLE_+0x30>

0000000000002000 <je_malloc>:
    2000:\tret

0000000000002010 <sampled_malloc>:
    2010:\tret
"""


class Control(unittest.TestCase):
    def bad(self, *change: str) -> list[HotPath]:
        return hot_paths(Code(BAD.replace(*change)), 0x1000)

    def test_counts(self):
        self.assertEqual([" ".join(path.line("malloc").split()) for path in self.bad("", "")], [
            "malloc off 9 instructions 2 branches 2 jumps 1 calls 1 tls 1 atomics 1 stores",
            "malloc enabled 7 instructions 2 branches 1 jumps 0 calls 1 tls 0 atomics 1 stores"])

    def test_faults(self):
        self.assertEqual(faults("malloc", self.bad("", "")), [
            "malloc, off: calls ['count', 'je_malloc@plt']", "malloc, off: has an atomic operation",
            "malloc, off: looks at thread-local storage"])

    def test_a_path_that_is_not_there(self):
        self.assertEqual(faults("malloc", self.bad("1060 <count>", "2010 <sampled_malloc>")), ["malloc: its paths are ['enabled']"])

    def test_atomics(self):
        for text in ("lock xadd %rax,(%rdx)", "xchg   %rax,(%rdx)", "xchg   %rax,%fs:0x10", "mfence"):
            self.assertEqual([path.count("atomic") for path in self.bad("sub    %rdi,%fs:(%rdx)", text)], [1, 1])

    def test_a_loop(self):
        self.assertRaisesRegex(AssertionError, "a loop at 0x1013", self.bad, "2000 <je_malloc>\n", "1013 <malloc+0x13>\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--renew"] and len(sys.argv) == 3:
        GOLDEN.write_text(golden(Path(sys.argv[2]) / "libmprof.so"))
    else:
        unittest.main()
