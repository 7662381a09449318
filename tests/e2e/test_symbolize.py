"""test_symbolize.py - `mprof symbolize`: lines and inlined calls against llvm-symbolizer, and which files are believed.

The oracle compares every frame: function, file and line. Differences that are none, and are taken out before counting:

- Aliases. Where several symbols stand for one piece of code (malloc, __libc_malloc; C1 and C2 constructors; functions that the linker folded
  into one) each tool takes one of them; equal is what has the same address in the symbol table.
- Parts of functions. llvm-symbolizer takes "f.cold", "f.part.0" from the symbol table where it has one; mprof says "f", as DWARF does.
- Versions: "f@GLIBCXX_3.4" of the symbol table is f.
- Code without lines (crt1.o, libraries built without -g): llvm-symbolizer then names the file of the nearest STT_FILE symbol. Only that mprof
  has no line there either is compared.
- Names without linkage name: mprof's system name is then what DWARF has, as llvm-symbolizer prints; the readable one is tested by itself."""
from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from decoding import COMMENT, Decoded
from mprof_test import BUILD, LIBRARY, ROOT, TOOL, ProgramTest, environment, finish, pprof, sample, start
from symbolizing import Frame, Mapping, Symbolized, build_id, code_addresses, llvm_frames, make_profile, mapping_of

CXX = ROOT / "tests/programs/inlined.cc"
RUST = ROOT / "tests/programs/inlined.rs"
RUSTC = shutil.which("rustc") or shutil.which("rustc", path=os.path.expanduser("~/.cargo/bin"))
BIAS = 0x7F1234560000
FUTURE_NS = 1 << 62


def run(*argv: str | Path, cwd: Path | None = None) -> None:
    """A tool of the tests; that it fails is a failure."""
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"{argv}: {done.stderr}")


def marked(source: Path, mark: str) -> dict[str, int]:
    """The lines behind which the source says "SITE name" or "CALL name", by name."""
    lines = enumerate(source.read_text().splitlines(), 1)
    return {found[1]: number for number, line in lines if (found := re.search(rf"// {mark} (\w+)", line))}


class SymbolizeTest(ProgramTest):
    def compile(self, *flags: str, compiler: str = "g++", name: str = "app") -> Path:
        """inlined.cc, optimized."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        run(compiler, "-std=c++17", "-O2", "-g", "-Wl,--build-id", *flags, "-o", path, CXX, cwd=path.parent)
        return path

    def profile_of(self, path: Path, count: int = 300, recorded: str | None = None, named: bool = True, time_ns: int = FUTURE_NS,
                   seed: int = 1, **changed: object) -> Path:
        """A profile with addresses of this file, as of one that was loaded from the path `recorded`."""
        mapping = mapping_of(path, code_addresses(path, count, seed), recorded, BIAS)
        if named:
            mapping.names = {address: "kept" for address in mapping.addresses}
        for key, value in changed.items():
            setattr(mapping, key, value)
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([mapping], time_ns))
        return profile

    def symbolize(self, profile: Path, *options: str | Path) -> tuple[Symbolized, list[str]]:
        """What comes out, and the lines on stderr."""
        out = self.work / "out.pb.gz"
        outcome = finish(start([str(TOOL), "symbolize", *map(str, options), "-o", str(out), str(profile)],
                               environment(DEBUGINFOD_URLS=""), self.work))
        self.assertEqual((outcome.status, outcome.out), (0, b""), outcome.err)
        return Symbolized(out), outcome.err.decode().splitlines()

    def assert_lines(self, path: Path, profile: Path, *options: str | Path) -> None:
        """The lines of inlined.cc are found, without a warning."""
        result, said = self.symbolize(profile, *options)
        self.assertEqual([line for line in said if "warning" in line], [])
        self.assertGreater(sum(any(frame.file == str(CXX) for frame in frames) for frames in result.frames.values()), 50, path)

    def assert_kept(self, profile: Path, *warnings: str) -> None:
        """Nothing is taken from a file; these warnings say why, one each."""
        result, said = self.symbolize(profile)
        self.assertEqual({tuple(frames) for frames in result.frames.values()}, {(Frame("kept", "", 0),)})
        said = [line for line in said if "warning" in line]
        self.assertEqual(len(said), len(warnings), said)
        for line, expected in zip(said, warnings):
            self.assertIn(expected, line)


# --- the oracle ---------------------------------------------------------------------------------------------------


def symbol_addresses(path: Path) -> dict[str, set[str]]:
    """Where the symbols of a file, and of its debug file, are, without versions."""
    name = build_id(path)
    debug = Path(f"/usr/lib/debug/.build-id/{name[:2]}/{name[2:]}.debug")
    found: dict[str, set[str]] = {}
    for argv in (["nm", path], ["nm", "-D", path], ["nm", debug]):
        for line in subprocess.run(argv, capture_output=True, text=True).stdout.splitlines():
            if len(parts := line.split()) == 3:
                found.setdefault(parts[2].partition("@")[0], set()).add(parts[0])
    return found


def without_part(name: str) -> str:
    return re.sub(r"(\.(cold|part|isra|constprop|llvm)\b|@).*", "", name)


class Oracle(SymbolizeTest):
    def difference(self, symbols: dict[str, set[str]], got: list[Frame], expected: list[Frame]) -> str:
        if not any(frame.line for frame in expected):
            return "" if not any(frame.line for frame in got) else "a line that is not there"
        if [(one.file, one.line) for one in got] != [(one.file, one.line) for one in expected]:
            return "lines"
        if [one.function for one in got[:-1]] != [one.function for one in expected[:-1]]:
            return "inlined functions"
        ours, theirs = without_part(got[-1].function), without_part(expected[-1].function)
        same = ours == theirs or symbols.get(ours, set()) & symbols.get(theirs, set())
        return "" if same or (theirs == "" and ours == "??") or (theirs == "" and ours in symbols) else "function"

    def assert_agrees(self, path: Path, count: int) -> None:
        vaddrs = code_addresses(path, count, seed=7)
        result, _ = self.symbolize(self.profile_of(path, count, named=False, seed=7))
        symbols = symbol_addresses(path)
        expected = llvm_frames(path, vaddrs)
        self.assertEqual(len(expected), len(vaddrs))
        self.assertGreater(sum(any(frame.line for frame in frames) for frames in expected), count / 20, "the oracle knows little")
        differences = []
        for vaddr, theirs in zip(vaddrs, expected):
            if why := self.difference(symbols, result.frames[vaddr + BIAS], theirs):
                differences.append(f"{path} 0x{vaddr:x}: {why}\n  {result.frames[vaddr + BIAS]}\n  {theirs}")
        self.assertLessEqual(len(differences), count * 0.005, "\n".join(differences[:5]))

    def test_ourselves(self):
        self.assert_agrees(TOOL, 1000)
        self.assert_agrees(LIBRARY, 1000)

    def test_libc_with_a_separate_debug_file(self):
        self.assert_agrees(next(Path(path) for path in ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6")
                                if os.path.exists(path)), 1500)

    def test_libstdcxx(self):
        found = sorted(Path("/usr/lib").glob("*-linux-gnu/debug/libstdc++.so.6.*[0-9]"))
        self.assertTrue(found, "libstdc++6-12-dbg is not installed")
        self.assert_agrees(found[0], 1500)

    def test_cxx_by_each_compiler_and_version_of_dwarf(self):
        for compiler in ("g++", "clang++"):
            for version in ("-gdwarf-4", "-gdwarf-5"):
                with self.subTest(compiler=compiler, version=version):
                    self.assert_agrees(self.compile(version, compiler=compiler, name=f"{compiler}{version}/app"), 1000)

    def test_split_dwarf(self):
        for compiler, version in (("g++", "-gdwarf-5"), ("g++", "-gdwarf-4"), ("clang++", "-gdwarf-5"), ("clang++", "-gdwarf-4")):
            with self.subTest(compiler=compiler, version=version):
                path = self.compile(version, "-gsplit-dwarf", compiler=compiler, name=f"{compiler}{version}/app")
                self.assertTrue(list(path.parent.glob("*.dwo")))
                self.assert_agrees(path, 1000)

    def test_at_link_time_optimized_and_garbage_collected(self):
        self.assert_agrees(self.compile("-flto"), 1000)
        self.assert_agrees(self.compile("-ffunction-sections", "-Wl,--gc-sections"), 1000)

    def test_rust(self):
        if RUSTC is None:
            self.skipTest("there is no rustc")
        for options in (["-O"], []):
            path = self.work / "app"
            run(RUSTC, "-g", *options, "-o", path, RUST, cwd=self.work)
            self.assert_agrees(path, 1500)


# --- real profiles ------------------------------------------------------------------------------------------------


class Sites(SymbolizeTest):
    def recorded(self, path: Path, *args: str) -> Path:
        """Its profile at rate 1, not symbolized."""
        outcome = self.profiled(str(path), *args, rate=1)
        self.assertEqual((outcome.status, outcome.err), (0, b""))
        (profile,) = self.profile_paths()
        return profile.rename(self.work / "recorded.pb.gz")

    def assert_sites(self, path: Path, source: Path) -> None:
        result, _ = self.symbolize(self.recorded(path))
        sites, calls = marked(source, "SITE"), marked(source, "CALL")
        self.assertGreaterEqual(len(sites), 2)
        for name, line in sites.items():
            found = [[frame for frame in frames if frame.file == str(source)] for frames in result.frames.values()]
            found = [frames for frames in found if frames and frames[0].line == line]
            self.assertTrue(found, f"{path}: line {line} of {name} is nowhere")
            # Optimized, so the call was inlined: caller and callee are at one address.
            while (call := calls.get(name)) is not None:
                self.assertEqual({frames[1].line for frames in found if len(frames) > 1}, {call}, name)
                found = [frames[1:] for frames in found]
                name = {"hidden": "local_to_file", "local_to_file": "twice"}.get(name, "")

    def test_cxx(self):
        for compiler in ("g++", "clang++"):
            with self.subTest(compiler=compiler):
                self.assert_sites(self.compile(compiler=compiler), CXX)

    def test_rust(self):
        if RUSTC is None:
            self.skipTest("there is no rustc")
        run(RUSTC, "-g", "-O", "-o", self.work / "app", RUST, cwd=self.work)
        self.assert_sites(self.work / "app", RUST)

    def test_go_tool_pprof_shows_the_source(self):
        """Also that a second time changes nothing, and what flags and names there are."""
        profile = self.recorded(self.compile(), "1000")
        done = self.plain(str(TOOL), "symbolize", str(profile))
        self.assertEqual((done.status, done.out), (0, b""))
        once = profile.read_bytes()
        calls, sites = marked(CXX, "CALL"), marked(CXX, "SITE")
        # Flat and cum by line: 1000 longs, 100 more, and 1000 bytes twice.
        listing = pprof(profile, "-sample_index=alloc_space", "-list=plain_c")
        self.assertRegex(listing, rf" \. +7.81kB +{calls['box']}:.*longs")
        self.assertRegex(listing, rf" \. +800B +{calls['grow']}:.*grow<100>")
        self.assertRegex(listing, rf" \. +1.95kB +{calls['twice']}:.*twice")
        self.assertRegex(pprof(profile, "-sample_index=alloc_space", "-list=shapes::box::box"), rf" 7.81kB +7.81kB +{sites['box']}:.*new T")
        self.assertIn("(inline)", pprof(profile, "-sample_index=alloc_space", "-peek=plain_c"))
        self.assertIn("plain_c", pprof(profile, "-sample_index=alloc_space", "-top", "-cum"))
        result, _ = self.symbolize(profile)
        self.assertEqual(result.flags[str(self.work / "app")], {"functions", "filenames", "line_numbers", "inline_frames"})
        self.assertEqual(gzip.decompress((self.work / "out.pb.gz").read_bytes()), gzip.decompress(once))
        self.assertIn("shapes::(anonymous namespace)::hidden", result.readable.values())
        self.assertIn("shapes::local_to_file", result.readable.values())
        self.assertIn("with_lambda::{lambda}::operator()", result.readable.values())
        self.assertIn("with_lambda::local::make", result.readable.values())
        self.assertEqual(result.readable["_ZN6shapes3boxIlE4growILi100EEEPlv"], "shapes::box::grow")
        source = CXX.read_text().splitlines()
        start_line = result.start_lines["plain_c", str(CXX)]
        self.assertIn("plain_c", source[start_line - 1])

    def test_a_profile_says_whose_it_is(self):
        app = self.compile()
        process = start([str(app)], self.preloaded(1), self.work)
        self.assertEqual(finish(process).status, 0)
        (profile,) = self.profile_paths()
        self.assertIn(f"process: pid={process.pid}", Decoded.of(profile).comments)


# --- which files are believed -------------------------------------------------------------------------------------


class Files(SymbolizeTest):
    def test_another_build_gives_no_lines(self):
        profile = self.profile_of(self.compile())
        self.compile("-Wl,--build-id=0x0123456789abcdef")
        self.assert_kept(profile, f"{self.work}/app is not the file that was profiled")

    def test_a_deleted_file(self):
        app = self.compile()
        profile = self.profile_of(app)
        app.unlink()
        self.assert_kept(profile, f"{app} is not there")

    def test_not_a_regular_file(self):
        app = self.compile()
        profile = self.profile_of(app)
        app.unlink()
        os.mkfifo(app)
        self.assert_kept(profile, f"{app} is not there")

    def test_one_warning_for_a_file_of_several_mappings(self):
        app = self.compile()
        first = mapping_of(app, code_addresses(app, 10))
        second = mapping_of(app, code_addresses(app, 10), bias=BIAS + (1 << 32))
        for one in (first, second):
            one.names = {address: "kept" for address in one.addresses}
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([first, second], FUTURE_NS))
        app.unlink()
        self.assert_kept(profile, f"{app} is not there")

    def test_without_a_build_id_the_file_must_be_older(self):
        app = self.compile("-Wl,--build-id=none")
        now = time.time_ns()
        os.utime(app, ns=(now, now))
        self.assert_lines(app, self.profile_of(app, time_ns=now + 1))
        self.assert_kept(self.profile_of(app, time_ns=now - 1), "is not the file that was profiled")

    def test_a_build_id_where_the_profile_has_none(self):
        app = self.compile()
        self.assert_kept(self.profile_of(app, build_id=""), "is not the file that was profiled")

    def test_no_debug_information(self):
        app = self.compile("-g0")
        result, said = self.symbolize(self.profile_of(app))
        self.assertEqual(said, ["mprof: 0 of 300 addresses have lines; without debug information: app"])
        self.assertEqual(result.flags[str(app)], {"functions"})

    def test_names_of_the_symbol_table_where_the_profile_has_none(self):
        app = self.compile("-g0")
        result, _ = self.symbolize(self.profile_of(app, named=False))
        self.assertIn([Frame("plain_c", "", 0)], result.frames.values())
        mapping = mapping_of(app, code_addresses(app, 300), bias=BIAS)
        mapping.names = {address: f"app+0x{address - BIAS:x}" for address in mapping.addresses}
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([mapping], FUTURE_NS))
        self.assertIn([Frame("plain_c", "", 0)], self.symbolize(profile)[0].frames.values())

    def test_binary_path(self):
        app = self.compile()
        profile = self.profile_of(app, recorded="/nowhere/bin/app")
        name = build_id(app)
        for form in (f"{name}/app", f"{name[:2]}/{name[2:]}.debug", f".build-id/{name[:2]}/{name[2:]}.debug", "app",
                     "nowhere/bin/app"):
            with self.subTest(form=form):
                place = self.work / "elsewhere" / form
                place.parent.mkdir(parents=True)
                shutil.copy(app, place)
                self.assert_lines(place, profile, "--binary-path", self.work / "elsewhere")
                self.assert_lines(place, profile, "--binary-path", f"/tmp/none:{self.work}/elsewhere")
                self.assert_lines(place, profile, "--binary-path", "/tmp/none", "--binary-path", self.work / "elsewhere")
                shutil.rmtree(self.work / "elsewhere")
        self.assert_kept(profile, "/nowhere/bin/app is not there")

    def test_binary_path_goes_by_the_build_id_too(self):
        app = self.compile()
        profile = self.profile_of(app, recorded="/nowhere/app")
        (self.work / "elsewhere").mkdir()
        self.compile("-Wl,--build-id=0xffff", name="elsewhere/app")
        result, said = self.symbolize(profile, "--binary-path", self.work / "elsewhere")
        self.assertIn("/nowhere/app is not there", said[0])
        self.assertEqual({tuple(frames) for frames in result.frames.values()}, {(Frame("kept", "", 0),)})

    def test_sysroot(self):
        app = self.compile()
        profile = self.profile_of(app, recorded="/opt/bin/app")
        root = self.work / "root"
        (root / "opt/bin").mkdir(parents=True)
        shutil.copy(app, root / "opt/bin/app")
        self.assert_lines(app, profile, "--sysroot", root)
        # Stripped, and its debug file below the root; without .gnu_debuglink it is found by its build ID alone.
        name = build_id(app)
        debug = self.work / "app.debug"
        run("objcopy", "--only-keep-debug", app, debug)
        for place in (f"usr/lib/debug/.build-id/{name[:2]}/{name[2:]}.debug", "usr/lib/debug/opt/bin/app.debug", "opt/bin/.debug/app.debug"):
            with self.subTest(place=place):
                link = [f"--add-gnu-debuglink={debug}"] if place.endswith("app.debug") else []
                run("objcopy", "--strip-all", *link, app, root / "opt/bin/app")
                (root / place).parent.mkdir(parents=True)
                shutil.copy(debug, root / place)
                self.assert_lines(app, profile, "--sysroot", root)
                (root / place).unlink()

    def test_debuglink(self):
        """With a build ID, and by the checksum without one."""
        for flags in (["-Wl,--build-id"], ["-Wl,--build-id=none"]):
            for place in ("app.debug", ".debug/app.debug"):
                with self.subTest(flags=flags, place=place):
                    app = self.compile(*flags)
                    debug = self.work / place
                    debug.parent.mkdir(exist_ok=True)
                    run("objcopy", "--only-keep-debug", app, debug)
                    run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", app)
                    profile = self.profile_of(app)
                    self.assert_lines(app, profile)
                    debug.write_bytes(debug.read_bytes() + b"x")
                    if "-Wl,--build-id=none" in flags:
                        self.assertEqual(self.symbolize(profile)[1],
                                         ["mprof: 0 of 300 addresses have lines; without debug information: app"])
                    debug.unlink()

    def test_linked_to_other_addresses_than_offsets(self):
        app = self.compile("-no-pie", "-Wl,-Ttext-segment=0x20000000")
        mapping = mapping_of(app, code_addresses(app, 300), bias=0)
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([mapping], FUTURE_NS))
        self.assert_lines(app, profile)

    def test_mappings_of_whole_pages(self):
        """As profilers have them that go by /proc/PID/maps, also when a part of the segment was mapped anew."""
        mapping = mapping_of(TOOL, code_addresses(TOOL, 1000), bias=BIAS)
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([mapping], FUTURE_NS))
        whole, _ = self.symbolize(profile)
        mapping.start += 8192
        mapping.offset += 8192
        mapping.addresses = [address for address in mapping.addresses if address >= mapping.start]
        profile.write_bytes(make_profile([mapping], FUTURE_NS))
        part, _ = self.symbolize(profile)
        self.assertGreater(sum(frame.line > 0 for frames in part.frames.values() for frame in frames), 100)
        self.assertEqual(part.frames, {address: whole.frames[address] for address in mapping.addresses})


# --- perf maps ----------------------------------------------------------------------------------------------------


class PerfMaps(SymbolizeTest):
    def jit_profile(self, pid: int) -> Path:
        mapping = Mapping("[anon]", "", 0x1000, 0x9000, 0, [0x1000, 0x10FF, 0x1100, 0x2000, 0x3000],
                          {0x1000: "[anon]+0x1000", 0x10FF: "[anon]+0x10ff", 0x1100: "[anon]+0x1100", 0x3000: "known"})
        profile = self.work / "in.pb.gz"
        profile.write_bytes(make_profile([mapping], FUTURE_NS, [f"process: pid={pid}"]))
        return profile

    def names(self, profile: Path, *options: str | Path) -> list[str]:
        result, said = self.symbolize(profile, *options)
        self.assertEqual(said, [])
        return [frames[0].function if frames else "" for frames in result.frames.values()]

    MAP = "1000 100 old\n1000 100 LazyCompile:*f a file.js:1\nnonsense\n2000 1 g\n3000 10 other\nffffffffffffffff 1 x\n1100\n"
    KEPT = ["[anon]+0x1000", "[anon]+0x10ff", "[anon]+0x1100", "", "known"]

    def test_by_the_comment_below_a_sysroot(self):
        (self.work / "root/tmp").mkdir(parents=True)
        (self.work / "root/tmp/perf-77.map").write_text(self.MAP)
        js = "LazyCompile:*f a file.js:1"
        self.assertEqual(self.names(self.jit_profile(77), "--sysroot", self.work / "root"),
                         [js, js, "[anon]+0x1100", "g", "known"])
        self.assertEqual(self.names(self.jit_profile(78), "--sysroot", self.work / "root"), self.KEPT)

    def test_only_regular_files_of_ours_are_believed(self):
        (self.work / "root/tmp").mkdir(parents=True)
        place = self.work / "root/tmp/perf-77.map"
        (self.work / "real").write_text(self.MAP)
        place.symlink_to(self.work / "real")
        self.assertEqual(self.names(self.jit_profile(77), "--sysroot", self.work / "root"), self.KEPT)
        place.unlink()
        os.mkfifo(place)
        self.assertEqual(self.names(self.jit_profile(77), "--sysroot", self.work / "root"), self.KEPT)
        place.unlink()
        place.write_text(self.MAP)
        if os.geteuid() == 0:
            os.chown(place, 1234, 1234)
            self.assertEqual(self.names(self.jit_profile(77), "--sysroot", self.work / "root"), self.KEPT)

    def test_of_a_living_process(self):
        """A thunk of its own that calls malloc; by the PID that the profile says, and by --pid."""
        process = start([sample("thunk")], self.preloaded(1), self.work)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.addCleanup(Path(f"/tmp/perf-{process.pid}.map").unlink, missing_ok=True)
        profile = self.work / "live.pb.gz"
        run(TOOL, "dump", "-o", profile, str(process.pid))
        for options in ([], ["--pid", str(process.pid)]):
            result, _ = self.symbolize(profile, *options)
            self.assertIn([Frame("jit:calls_malloc", "", 0)], result.frames.values())
        finish(process, b"\n")


# --- strange input ------------------------------------------------------------------------------------------------


class Strange(SymbolizeTest):
    def survive(self, profile: Path, *options: str | Path) -> None:
        """Whatever it makes of it, it ends by itself, with a profile."""
        outcome = finish(start([str(TOOL), "symbolize", *map(str, options), "-o", str(self.work / "out.pb.gz"), str(profile)],
                               environment(), self.work))
        self.assertEqual(outcome.status, 0, outcome.err)
        Decoded.of(self.work / "out.pb.gz")

    def test_garbage_instead_of_the_file(self):
        app = self.compile("-Wl,--build-id=none")
        profile = self.profile_of(app)
        for content in (b"", b"\x7fELF", b"garbage" * 100, app.read_bytes()[:64], b"\x7fELF\2\1\1" + bytes(200)):
            app.write_bytes(content)
            self.survive(profile)

    def test_truncated_anywhere(self):
        app = self.compile()
        profile = self.profile_of(app)
        whole = app.read_bytes()
        chance = random.Random(3)
        for _ in range(40):
            app.write_bytes(whole[:chance.randrange(len(whole))])
            self.survive(profile)

    def test_debug_information_overwritten(self):
        """The build ID is right, and sections of debug information hold anything."""
        chance = random.Random(4)
        app = self.compile()
        profile = self.profile_of(app)
        whole = app.read_bytes()
        text = subprocess.run(["readelf", "-SW", app], capture_output=True, text=True, check=True).stdout
        sections = [(int(offset, 16), int(size, 16)) for offset, size in re.findall(r"\.debug_\w+ +PROGBITS +\w+ (\w+) (\w+)", text)]
        self.assertGreaterEqual(len(sections), 6)
        for _ in range(60):
            broken = bytearray(whole)
            for offset, size in chance.sample(sections, 2):
                for _ in range(chance.choice((1, 10, 1000))):
                    broken[offset + chance.randrange(size)] = chance.randrange(256)
            app.write_bytes(broken)
            self.survive(profile)

    def test_absurd_mappings(self):
        app = self.compile()
        addresses = [0, 1, 0x1234, (1 << 63), (1 << 64) - 1]
        for start_, limit, offset in ((0, (1 << 64) - 1, 0), ((1 << 64) - 1, 0, 0), (0, (1 << 64) - 1, (1 << 64) - 1), (5, 5, 5),
                                      (0, 1 << 63, 0x1000), (1 << 63, (1 << 64) - 1, 0x1000)):
            mapping = Mapping(str(app), build_id(app), start_, limit, offset, addresses)
            profile = self.work / "in.pb.gz"
            profile.write_bytes(make_profile([mapping], FUTURE_NS))
            self.survive(profile)
        mapping = Mapping("../" * 50 + "\n\x01", "../../x", 0, 1 << 63, 0, addresses)
        profile.write_bytes(make_profile([mapping, Mapping("", "", 0, 10, 0, addresses)], FUTURE_NS))
        self.survive(profile, "--sysroot", self.work, "--binary-path", "::/:")

    def test_wrong_requests(self):
        profile = self.profile_of(self.compile())
        for argv, status, message in (
                ([], 2, "no profile given; see: mprof help symbolize"),
                (["a", "b"], 2, "one profile at a time: 'b' is too many; see: mprof help symbolize"),
                (["--pid", "x", "a"], 2, "--pid needs a process ID, not 'x'; see: mprof help symbolize"),
                (["--pid", "1", "--sysroot", "/", "a"], 2,
                 "--pid and --sysroot both say where the files are; give one; see: mprof help symbolize"),
                (["--pid", "4194305", "a"], 1, "cannot look into process 4194305: No such file or directory"),
                (["--what", "a"], 2, "unknown option '--what'; see: mprof help symbolize"),
                (["none"], 1, "cannot read none: No such file or directory"),
                (["-o", "no/dir", str(profile)], 1, "cannot write no/dir: No such file or directory")):
            outcome = self.plain(str(TOOL), "symbolize", *argv)
            lines = [line for line in outcome.err.decode().splitlines() if " of 300 addresses" not in line]
            self.assertEqual((outcome.status, outcome.out, lines), (status, b"", [f"mprof symbolize: {message}"]))


if __name__ == "__main__":
    unittest.main()
