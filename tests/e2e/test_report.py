"""test_report.py - `mprof report`: the page in a browser shows what `mprof top` says, and does what it offers."""
from __future__ import annotations

import json
import re
import unittest
from pathlib import Path
from typing import NamedTuple

from mprof_test import BUILD, TOOL, Outcome, ProgramTest, environment, finish, pprof, sample, start
from symbolizing import message, number

LOOK = BUILD / "tests/page/look.mjs"
TYPES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")
FOUND = "var(--found)"


class Stack(NamedTuple):
    """Objects of one size from one place."""
    frames: tuple[str | bytes, ...]  # root first
    size: int
    allocated: int
    in_use: int


def profile_of(stacks: list[Stack], rate: int = 1, types: tuple[str, ...] = TYPES) -> bytes:
    """A profile of these stacks; each function is its own location, in source file NAME.c at line 7."""
    strings: dict[str | bytes, int] = {"": 0}
    functions: dict[str | bytes, int] = {}
    body = bytearray()

    def text(string: str | bytes) -> int:
        return strings.setdefault(string, len(strings))

    for one in types:
        body += message(1, number(1, text(one)) + number(2, text("bytes" if one.endswith("space") else "count")))
    body += message(3, number(1, 1) + number(2, 0x1000) + number(3, 0x7FFFFFFF) + number(5, text("/bin/prog")) + number(7, 1))
    for one in stacks:
        ids = [functions.setdefault(frame, len(functions) + 1) for frame in reversed(one.frames)]
        values = {"alloc_objects": one.allocated, "alloc_space": one.allocated * one.size,
                  "inuse_objects": one.in_use, "inuse_space": one.in_use * one.size}
        body += message(2, b"".join(number(1, each) for each in ids) + b"".join(number(2, values.get(name, 1)) for name in types) +
                        message(3, number(1, text("bytes")) + number(3, one.size)))
    for name, each in functions.items():
        body += message(4, number(1, each) + number(2, 1) + number(3, 0x1000 + each) + message(4, number(1, each) + number(2, 7)))
        file = text("source.c")
        body += message(5, number(1, each) + number(2, text(name)) + number(3, text(name)) + number(4, file) + number(5, 7))
    for string in strings:
        body += message(6, string.encode() if isinstance(string, str) else string)
    return bytes(body + number(12, rate) + message(11, number(1, strings["inuse_space"] if "inuse_space" in strings else 0) +
                                                   number(2, strings.get("bytes", 0))) + number(9, 1_600_000_000_000_000_000))


# 100 kB in use: 60 below parse, 30 below load, 10 of main itself.
SMALL = [Stack(("main", "parse", "grow"), 1024, 80, 40), Stack(("main", "parse", "copy"), 1024, 20, 20),
         Stack(("main", "load", "grow"), 1024, 30, 30), Stack(("main",), 1024, 10, 10)]

# What the steps ask of the page.
FRAMES = "[...document.querySelectorAll('g.frame')]"
WIDTHS = f"Object.fromEntries({FRAMES}.map(g => [g.getAttribute('name').split('  ')[0], Math.round(g.getAttribute('width'))]))"
MARKED = f"{FRAMES}.filter(g => g.querySelector('rect').getAttribute('fill') === '{FOUND}').map(g => g.getAttribute('name').split('  ')[0])"
ROWS = "[...document.querySelectorAll('#table tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"
TOTALS = "Object.fromEntries([...document.querySelectorAll('.type')].map(one => [one.querySelector('input').value, one.querySelector('.total').textContent]))"
FOCUS = "(document.activeElement.id || document.activeElement.name || document.activeElement.textContent)"


def text_of(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)}).textContent"


def js(expression: str) -> dict:
    return {"js": expression}


def choose(selector: str, value: str) -> dict:
    return js(f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }})(document.querySelector({json.dumps(selector)})),"
              " new Promise(done => setTimeout(done, 100))")


class ReportTest(ProgramTest):
    def write(self, name: str, data: bytes) -> Path:
        path = self.work / name
        path.write_bytes(data)
        return path

    def mprof(self, *argv: str | Path) -> Outcome:
        return finish(start([str(TOOL), *map(str, argv)], environment(), self.work))

    def report(self, *argv: str | Path) -> Path:
        out = self.work / "out.html"
        outcome = self.mprof("report", *argv, "-o", out)
        self.assertEqual((outcome.status, outcome.out), (0, b""), outcome.err)
        self.assertRegex(outcome.err.decode(), rf"\Amprof: wrote {re.escape(str(out))} \([0-9.]+[kM]B\); open it in a browser\n\Z")
        return out

    def look(self, page: Path, *steps: dict) -> list:
        """What the js steps gave. The page must have been silent, and asked for nothing but itself."""
        self.assertTrue(LOOK.exists(), f"make BUILD={BUILD} {LOOK} brings what drives the browser")
        directory = self.work / "browser"
        env = environment(HOME=str(directory), XDG_CONFIG_HOME=str(directory), XDG_CACHE_HOME=str(directory), TMPDIR=str(self.work), TZ="UTC")
        outcome = finish(start(["node", str(LOOK), str(page), str(directory / "profile")], env, self.work), json.dumps(steps).encode(), 60)
        self.assertEqual(outcome.status, 0, outcome.err.decode())
        said = json.loads(outcome.out)
        self.assertEqual((said["console"], said["requests"]), ([], []))
        return said["results"]

    def look_at(self, stacks: list[Stack], *steps: dict) -> list:
        return self.look(self.report(self.write("a.pb", profile_of(stacks))), *steps)


class FiguresTest(ReportTest):
    def top_rows(self, path: Path, kind: str) -> dict[str, tuple[str, str, str, str]]:
        """Of each function: flat, its error, cum, its error, as `mprof top` writes them; "" for no error."""
        rows = {}
        for line in self.top(path, "-n", "0", "--sample", kind).splitlines():
            if found := re.fullmatch(r" *(\S+) +(?:(±\S+|-) +)?\S+% +\S+% +(\S+) +(?:(±\S+|-) +)?\S+%  (.*)", line.replace("cum%  function", "")):
                rows[found[5]] = tuple("" if figure in (None, "-") else figure for figure in found.groups()[:4])
        return rows

    def assert_same_as_top(self, path: Path) -> None:
        steps = [step for kind in TYPES for step in (
            js(f"document.querySelector('input[value={kind}]').click()"),
            js("while (!document.querySelector('#more').hidden) document.querySelector('#more').click()"), js(ROWS))]
        results = [one for one in self.look(self.report(path), *steps, js(TOTALS)) if one is not None]
        self.assertEqual(len(results), len(TYPES) + 1)
        for kind, rows in zip(TYPES, results):
            expected = self.top_rows(path, kind)
            self.assertGreater(len(expected), 3)
            shown = {row[6]: (row[0].replace(",", ""), row[1], row[3].replace(",", ""), row[4]) for row in rows}
            self.assertEqual(set(shown), set(expected))
            for name, (flat, flat_error, cum, cum_error) in expected.items():
                # An error of nothing is not shown on the page.
                self.assertEqual(shown[name][::2], (flat, cum), (kind, name))
                for ours, theirs in ((shown[name][1], flat_error), (shown[name][3], cum_error)):
                    self.assertIn(ours, (theirs, "") if theirs == "±0%" else (theirs,), (kind, name))
            total = re.search(r"^Total: (\S+)", self.top(path, "--sample", kind), re.M)[1]
            self.assertEqual(results[-1][kind].replace(",", ""), total)

    def test_are_those_of_top(self):
        for rate in (1, 4096):
            with self.subTest(rate=rate):
                outcome = self.profiled("sqlite3", ":memory:", rate=rate, stdin=(
                    b"create table t(a,b);with recursive n(i) as (select 1 union all select i+1 from n where i<3000) "
                    b"insert into t select i,hex(i) from n;create index x on t(b);select count(*) from t;"))
                self.assertEqual((outcome.status, outcome.out), (0, b"3000\n"))
                (path,) = self.profile_paths()
                self.assert_same_as_top(path)
                path.unlink()

    def test_are_those_of_go(self):
        path = self.write("a.pb", profile_of(SMALL))
        (rows,) = self.look(self.report(path), js(ROWS))
        lines = [line.split() for line in pprof(path, "-top").splitlines()]
        expected = {line[5]: (line[0], line[3]) for line in lines if len(line) == 6 and line[0] != "flat"}
        self.assertEqual({row[6]: (row[0], row[3]) for row in rows}, expected)
        self.assertEqual(expected["grow"], ("70kB", "70kB"))

    def test_type_changes_all_of_them(self):
        before, rows, widths, after = self.look_at(
            SMALL, js(WIDTHS), {"click": "input[value=alloc_objects]"}, js(ROWS), js(WIDTHS), js(text_of("#graph g.frame")))
        self.assertEqual({row[6]: (row[0], row[3]) for row in rows},
                         {"grow": ("110", "110"), "copy": ("20", "20"), "main": ("10", "140"), "parse": ("0", "100"), "load": ("0", "30")})
        self.assertAlmostEqual(before["parse"] / before["main"], 0.6, delta=0.01)
        self.assertAlmostEqual(widths["parse"] / widths["main"], 100 / 140, delta=0.01)
        self.assertEqual(after, "prog  140, 100%")

    def test_errors_are_bars(self):
        # 512 objects of 1 kB stand for one sample at this rate: the standard error is about the value.
        (note, left, width, tip) = self.look(
            self.report(self.write("a.pb", profile_of([Stack(("main", "f"), 1024, 512, 512)], rate=524288))),
            js(text_of(".type:has(:checked) .note")), js("document.querySelector('.type:has(:checked) .whisker').style.left"),
            js("document.querySelector('.type:has(:checked) .whisker').style.width"), {"hover": "g[name^='f ']"}, js(text_of("#tip")))
        self.assertEqual(note, " bytes ±100%")
        self.assertLess(float(left.strip("%")), 1)
        self.assertGreater(float(width.strip("%")), 90)
        self.assertEqual(tip, "fsource.c:7 · progIn use512kB ±100% 100% of all512 objects ±100% 100% of all")

    def test_callers_view_starts_with_flat(self):
        (_, widths) = self.look_at(SMALL, choose("#tree", "callers"), js(WIDTHS))
        whole = widths["prog"]
        self.assertEqual(set(widths), {"prog", "grow", "copy", "main", "parse", "load"})
        self.assertAlmostEqual(widths["grow"] / whole, 0.7, delta=0.01)

    def test_header_says_how_it_was_taken(self):
        (facts, program, title, totals) = self.look(
            self.report("--title", "the parser <b>", self.write("a.pb", profile_of(SMALL, 4096))),
            js(text_of("#facts")), js(text_of("#program")), js("document.title"), js(TOTALS))
        for fact in ("Programprog", "one sample per 4kB", "9/13/2020", "Stacks4", "Profilermprof 0.1.0"):
            self.assertIn(fact, facts)
        self.assertEqual((program, title), ("the parser <b>", "the parser <b> - mprof"))
        self.assertEqual(totals, {"inuse_space": "100kB", "inuse_objects": "100", "alloc_space": "140kB", "alloc_objects": "140"})

    def test_empty_profile_is_said_to_be_empty(self):
        (empty, hidden) = self.look_at([], js(text_of("#empty")), js("document.querySelector('#report').hidden"))
        self.assertRegex(empty, "^This profile is empty")
        self.assertTrue(hidden)


class GraphTest(ReportTest):
    def test_search_finds_counts_and_marks(self):
        found, marked, rows, none, none_marked, _, regex, wrong, invalid, cleared = self.look_at(
            SMALL, {"press": "/"}, {"type": "RO"}, js(text_of("#found")), js(MARKED), js(ROWS), {"type": "z"}, js(text_of("#found")), js(MARKED),
            js("document.querySelector('#search').select()"), {"type": "^(load|copy)$"}, {"click": "#regex"}, js(text_of("#found")),
            {"click": "#search"}, {"type": "("}, js(text_of("#found")), js("document.querySelector('#search').getAttribute('aria-invalid')"),
            {"press": "Escape"}, js(MARKED))
        self.assertEqual(found, "1 function: 70kB (70.00%)")
        self.assertEqual(marked, ["grow", "grow"])
        self.assertEqual([row[6] for row in rows], ["grow"])
        self.assertEqual((none, none_marked), ("no function", []))
        self.assertEqual(regex, "2 functions: 50kB (50.00%)")
        self.assertEqual((wrong, invalid, cleared), ("not a regular expression", "true", []))

    def test_zoom_and_back(self):
        before, zoomed, reset, again, keyed, escaped = self.look_at(
            SMALL, js(WIDTHS), {"click": "g[name^='parse ']"}, js(WIDTHS), {"click": "#reset"}, js(WIDTHS),
            {"click": "g[name^='load ']"}, js(WIDTHS), {"press": "0"}, js(WIDTHS), js("document.querySelector('#reset').disabled"))
        whole = before["prog"]
        self.assertAlmostEqual(before["parse"] / whole, 0.6, delta=0.01)
        self.assertEqual((zoomed["parse"], zoomed["main"], again["load"]), (whole, whole, whole))
        self.assertNotIn("load", zoomed)
        self.assertAlmostEqual(zoomed["copy"] / whole, 1 / 3, delta=0.01)
        self.assertEqual((reset, keyed, escaped), (before, before, True))

    def test_shape_turns_the_graph(self):
        top = f"{FRAMES}.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)[0].getAttribute('name')"
        icicle, _, flame = self.look_at(SMALL, js(top), choose("#shape", "flame"), js(top))
        self.assertRegex(icicle, "^prog ")
        self.assertRegex(flame, "^(grow|copy) ")

    def test_table_sorts_and_marks(self):
        first, rows, sort, named, marked, kept, unmarked = self.look_at(
            SMALL, js(ROWS), {"click": "th:nth-child(4) button"}, js(ROWS), js("document.querySelector('th:nth-child(4)').ariaSort"),
            {"click": "th:nth-child(7) button"}, js(ROWS), {"click": "tbody tr:nth-child(2) button"}, js(MARKED), js(ROWS),
            {"click": "tbody tr:nth-child(2) button"}, js(MARKED))
        self.assertEqual([row[6] for row in first], ["grow", "copy", "main", "parse", "load"])
        self.assertEqual([row[6] for row in rows], ["main", "grow", "parse", "load", "copy"])
        self.assertEqual(sort, "descending")
        self.assertEqual([row[6] for row in named], ["copy", "grow", "load", "main", "parse"])
        self.assertEqual((marked, kept, unmarked), (["grow", "grow"], named, []))

    def test_keys_reach_everything(self):
        cursor = "document.querySelector('#cursor').getAttribute('name').split('  ')[0]"
        steps: list[dict] = []
        for _ in range(20):
            steps += [{"press": "Tab"}, js(FOCUS)]
        reached = self.look_at(SMALL, *steps)
        places = ["theme", "help-open", "type", "search", "regex", "tree", "shape", "colour", "graph", "flat", "grow"]
        self.assertEqual([place for place in reached if place in places], places)
        results = self.look_at(
            SMALL, js("document.querySelector('#graph').focus()"), {"press": "ArrowDown"}, {"press": "ArrowDown"}, js(cursor), {"press": "ArrowRight"},
            js(cursor), js("document.querySelector('#cursor').ariaLabel"), js("document.querySelector('#tip').hidden"), {"press": "ArrowLeft"}, {"press": "Enter"},
            js(WIDTHS), {"press": "ArrowUp"}, js(cursor), {"press": "Escape"}, js(WIDTHS), {"press": "?"}, js("document.querySelector('dialog').open"),
            {"press": "Escape"}, js("document.querySelector('dialog').open"))
        self.assertEqual(results[1:3], ["parse", "load"])
        self.assertEqual(results[3:5], ["load, 30kB, 30.00%", False])
        self.assertEqual(results[5]["parse"], results[7]["prog"])
        self.assertEqual((results[6], results[8], results[9]), ("main", True, False))

    def test_arrows_in_the_types_switch_them(self):
        _, chosen, rows = self.look_at(SMALL, js("document.querySelector('input:checked').focus()"), {"press": "ArrowDown"},
                                       js("document.querySelector('input:checked').value"), js(ROWS))
        self.assertEqual((chosen, rows[0][0]), ("inuse_objects", "70"))

    def test_dark_and_light(self):
        colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        light, dark, toggled, keyed = self.look_at(SMALL, js(colours), {"dark": True}, js(colours), {"click": "#theme"}, js(colours), {"press": "d"}, js(colours))
        self.assertNotEqual(light, dark)
        self.assertEqual((toggled, keyed), (light, dark))

    def test_narrow_window_does_not_scroll_sideways(self):
        long = SMALL + [Stack(("main", "a_very_long_name_of_a_function::" * 8, "x"), 100, 100, 100)]
        width, graph = self.look_at(long, {"size": [360, 740]}, js("document.documentElement.scrollWidth"), js("document.querySelector('svg').clientWidth"))
        self.assertEqual(width, 360)
        self.assertLess(graph, 360)

    def test_hostile_names_are_texts(self):
        names = ["<script>window.hacked = 1</script>", "</script><img src=x onerror='window.hacked = 1'>", "\"'`&lt;", "<!--", "x" * 10_000,
                 b"\xff\xfe bad", "${1}$&@SCRIPT@", "line\nbreak\ttab", "__proto__"]
        stacks = [Stack(("main", name), 1024, 10 + i, 10 + i) for i, name in enumerate(names)]
        rows, hacked, scripts, images, tip = self.look_at(
            stacks, js(ROWS), js("window.hacked === undefined"), js("document.scripts.length"), js("document.images.length"),
            {"hover": "g[name^='</script>']"}, js(text_of("#tip strong")))
        shown = {name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names} | {"main"}
        self.assertEqual({row[6] for row in rows}, shown)
        self.assertEqual((hacked, scripts, images, tip), (True, 2, 0, names[1]))

    def test_policy_forbids_what_is_not_the_page(self):
        page = self.report(self.write("a.pb", profile_of(SMALL)))
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.read_text())[1]
        self.assertRegex(policy, r"\Adefault-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; base-uri 'none'; form-action 'none'\Z")


class ComparisonTest(ReportTest):
    BEFORE = [Stack(("main", "grows"), 1000, 100, 100), Stack(("main", "shrinks"), 1000, 100, 100), Stack(("main", "stays"), 1000, 50, 50),
              Stack(("main", "gone"), 1000, 20, 20)]
    AFTER = [Stack(("main", "grows"), 1000, 300, 300), Stack(("main", "shrinks"), 1000, 50, 50), Stack(("main", "stays"), 1000, 50, 50),
             Stack(("main", "new"), 1000, 10, 10)]

    def compare(self, rate: int, *steps: dict) -> list:
        return self.look(self.report(self.write("a.pb", profile_of(self.BEFORE, rate)), self.write("b.pb", profile_of(self.AFTER, rate))), *steps)

    def test_shows_what_grew_and_what_shrank(self):
        fills = f"Object.fromEntries({FRAMES}.map(g => [g.getAttribute('name'), g.querySelector('rect').getAttribute('fill').match(/--(grew|shrank|same)/)?.[1]]))"
        colours, rows, legend, change, tip = self.compare(
            1, js(fills), js(ROWS), js(text_of("#legend")), js(text_of(".type:has(:checked) .change")), {"hover": "g[name=shrinks]"}, js(text_of("#tip")))
        self.assertEqual({name: colours[name] for name in ("grows", "new", "shrinks", "gone", "stays")},
                         {"grows": "grew", "new": "grew", "shrinks": "shrank", "gone": "shrank", "stays": "same"})
        figures = {row[8]: row[:4] for row in rows}
        self.assertEqual(figures["grows"], ["+195.31kB", "", "97.66kB", "292.97kB"])
        self.assertEqual(figures["gone"], ["-19.53kB", "", "19.53kB", "0"])
        self.assertRegex(legend, "shrank.*same.*noise.*grew")
        self.assertEqual(change, "+136.72kB")
        self.assertIn("before97.66kB", tip)
        self.assertIn("change-48.83kB", tip)

    def test_marks_what_is_within_noise(self):
        cells = "Object.fromEntries([...document.querySelectorAll('tbody tr')].map(row => [row.cells[8].textContent, [...row.cells].slice(0, 2).map(one => one.textContent)]))"
        noise = "[...document.querySelectorAll('tbody tr')].filter(row => row.cells[0].matches('.noise')).map(row => row.cells[8].textContent)"
        rows, marked = self.compare(10_000, js(cells), js(noise))
        # p = 0.0952; grows: sd = 1000 sqrt((100 + 300) (1 - p) / p) = 61.7 kB of 200 kB; shrinks: 37.8 of 50.
        self.assertEqual(rows["grows"], ["+195.31kB", "±31%"])
        self.assertEqual(rows["shrinks"], ["≈-48.83kB", "±76%"])
        self.assertNotIn("grows", marked)
        self.assertIn("shrinks", marked)


class LargeTest(ReportTest):
    def test_hundred_thousand_samples(self):
        stacks = [Stack(("main", f"a{i % 10}", f"b{i % 100}", f"c{i % 1000}", f"d{i % 10_000}", f"e{i}"), 64, 2, 1 + i % 7) for i in range(100_000)]
        page = self.report(self.write("a.pb", profile_of(stacks)))
        nodes, omitted, total, shown, more, found = self.look(
            page, js("JSON.parse(document.querySelector('#profile').textContent).tree.parent.length"), js(text_of("#omitted")), js(TOTALS),
            js(text_of("#shown")), js("document.querySelector('#more').click(), document.querySelectorAll('tbody tr').length"),
            {"press": "/"}, {"type": "=b7"}, js(text_of("#found")))
        self.assertLessEqual(nodes, 60_000)
        # 30,000 stay of the root, main, and 111,110 below it.
        self.assertEqual(omitted, "81,112 small frames are merged into frames called (smaller). The table and the totals are complete.")
        in_use = sum(one.in_use for one in stacks)
        self.assertEqual(total["inuse_objects"], f"{in_use:,}")
        self.assertEqual((shown, more), ("200 of 111,111 functions", 400))
        share = sum(one.in_use for one in stacks[7::100])
        self.assertEqual(found, f"1 function: {share * 64 / 1024:.2f}kB ({share / in_use * 100:.2g}%)")


class CommandTest(ReportTest):
    def refused(self, status: int, *argv: str | Path) -> str:
        outcome = self.mprof("report", *argv)
        self.assertEqual((outcome.status, outcome.out), (status, b""))
        self.assertRegex(outcome.err.decode(), r"\Amprof report: [^\n]+\n\Z")
        return outcome.err.decode()

    def test_default_name(self):
        outcome = self.mprof("report", self.write("a.pb", profile_of(SMALL)))
        self.assertEqual(outcome.status, 0)
        self.assertIn(b"report.html", outcome.err)
        self.assertRegex((self.work / "report.html").read_bytes(), rb"\A<!DOCTYPE html>")

    def test_whole_or_not_at_all(self):
        path = self.write("a.pb", profile_of(SMALL))
        old = self.write("old.html", b"old")
        self.assertIn("nothing.pb", self.refused(1, "nothing.pb", "-o", old))
        self.assertIn("no sample type 'x'", self.refused(2, "--sample", "x", path, "-o", old))
        self.assertEqual(old.read_bytes(), b"old")
        self.assertIn("cannot write /nowhere/x.html", self.refused(1, path, "-o", "/nowhere/x.html"))
        self.assertIn("cannot write /dev/full", self.refused(1, path, "-o", "/dev/full"))
        self.assertEqual({one.name for one in self.work.iterdir()}, {"a.pb", "old.html", "profiles"})

    def test_what_cannot_be_compared(self):
        one, other = self.write("a.pb", profile_of(SMALL)), self.write("b.pb", profile_of(SMALL, types=("contentions",)))
        self.assertIn("no sample type in common", self.refused(1, one, other))
        self.assertIn("one profile too many", self.refused(2, one, one, one))
        self.assertIn("no profile given", self.refused(2))

    def test_page_names_no_host_but_in_licenses(self):
        page = self.report(self.write("a.pb", profile_of(SMALL))).read_text()
        visible, licenses = page.split("</html>")
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/)[^\s\"']+", visible), [])
        self.assertIn("d3-flame-graph 5.0.0", licenses)


if __name__ == "__main__":
    unittest.main()
