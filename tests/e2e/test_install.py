"""test_install.py - what `make install` brings: a tool that works from there, manual pages that tell everything, bash completion."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from mprof_test import BUILD, ROOT, TIMEOUT, TOOL, environment, finish, start, wait_for

UNWINDER = f"libunwind-{os.uname().machine}.so.8"
FILES = {"bin/mprof": 0o755, "lib/libmprof.so": 0o755, f"lib/{UNWINDER}": 0o644, "include/mprof.h": 0o644,
         "share/man/man1/mprof.1": 0o644, "share/man/man7/libmprof.7": 0o644, "share/bash-completion/completions/mprof": 0o644}


def output(*argv: object, cwd: Path = ROOT, **env: str) -> str:
    """What a command prints; it must succeed and say nothing on stderr."""
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, cwd=cwd, env=environment(**env), timeout=120)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{argv}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def defined(path: str, pattern: str) -> list[str]:
    """What the pattern's group is in a source file; it must be there."""
    found = re.findall(pattern, (ROOT / path).read_text(), re.M)
    assert found, path
    return found


def verbs() -> list[str]:
    return defined("tools/verbs.def", r"^VERB\((\w+),")


def options(verb: str) -> set[str]:
    """The options in the left column of `mprof help VERB`."""
    terms = re.findall(r"(?m)^ +(-.*?)(?:  .*)?$", output(TOOL, "help", verb))
    return {option for term in terms for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", term)}


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="mprof-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.usr = cls.root / "usr"
        # Make's own variables would have it take part in a `make` that runs this test.
        output("env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "-u", "MFLAGS",
               "make", "install", f"BUILD={BUILD}", f"DESTDIR={cls.root}", "PREFIX=/usr")
        cls.tool = cls.usr / "bin/mprof"

    def test_files(self):
        installed = {str(path.relative_to(self.usr)): path for path in self.usr.rglob("*") if not path.is_dir()}
        self.assertEqual({name: path.lstat().st_mode for name, path in installed.items()},
                         {name: 0o100000 | mode for name, mode in FILES.items()})

    def test_runs_from_there(self):
        """The library and its libunwind are those beside each other, and the profile is one."""
        profile = self.root / "cat.pb.gz"
        done = finish(start([str(self.tool), "run", "--rate", "1", "--out", str(profile), "cat", "/proc/self/maps"],
                            environment(), self.root))
        self.assertEqual(done.status, 0, done.err)
        mapped = {line.split()[-1] for line in done.out.decode().splitlines()}
        ours = {path for path in mapped if re.search(r"/(libmprof|libunwind-\w+)\.so", path)}
        self.assertEqual(ours, {str(self.usr / "lib" / name) for name in ("libmprof.so", UNWINDER)})
        self.assertRegex(output(self.tool, "top", profile), r"(?m)^ .*100")

    # --- the manual ---------------------------------------------------------------------------------------------

    def page(self, name: str) -> str:
        """A page as groff sets it, without a warning, in plain characters and without hyphenation."""
        path = self.usr / f"share/man/man{name[-1]}" / name
        return output("groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rHY=0", "-rLL=200n", path)

    def test_every_verb_and_option(self):
        text = self.page("mprof.1")
        sections = dict(re.findall(r"(?ms)^   (\w+)\n(.*?)(?=^   \w+\n|^[A-Z])", text))
        self.assertEqual(list(sections), verbs())
        for verb, section in sections.items():
            self.assertIn(f"mprof {verb}", section)
            shown = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", section))
            self.assertLessEqual(options(verb), shown, verb)

    def test_sections(self):
        for name, wanted in (("mprof.1", "VERBS|EXIT STATUS|ENVIRONMENT|FILES|EXAMPLES"),
                             ("libmprof.7", "ENVIRONMENT|SIGNALS|FILES|PROFILES|PROGRAM INTERFACE|LIMITS|SECURITY")):
            heads = re.findall(r"(?m)^[A-Z].*$", self.page(name))[1:]
            self.assertEqual(heads, ["NAME", "SYNOPSIS", "DESCRIPTION", *wanted.split("|"), "SEE ALSO"])

    def test_every_variable_loss_and_function(self):
        text = self.page("libmprof.7")
        for name in defined("core/options.def", r"^OPTION\(\w+, \w+, (\w+),"):
            self.assertRegex(text, rf"(?m)^ +HEAPPROF_{name} \(default .+\)\n +\w")
            self.assertRegex(self.page("mprof.1"), rf"(?m)^ +HEAPPROF_{name}$")
        for name in defined("core/loss.def", r"^LOSS\((\w+),"):
            self.assertRegex(text, rf"(?m)^ +{name}\b")
        for name in defined("preload/mprof.h", r"^MPROF_WEAK .*?\b(mprof_\w+)\("):
            self.assertRegex(text, rf"(?m)^       \w+ {name}\(.*\);$")

    def test_lint(self):
        """Only what is plainly wrong: the date of an unreleased version is no date."""
        if not shutil.which("mandoc"):
            self.skipTest("there is no mandoc")
        for page in self.usr.glob("share/man/man?/*"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True, timeout=TIMEOUT)
            self.assertEqual([line for line in done.stdout.splitlines() if "cannot parse date" not in line], [])

    def test_reproducible(self):
        """The same sources give the same pages, with the date that the packager gives."""
        copy = self.root / "again"
        copy.mkdir()
        (copy / "mprof").symlink_to(TOOL)
        output("scripts/man.sh", copy)
        for name in ("mprof.1", "libmprof.7"):
            self.assertEqual((copy / "man" / name).read_bytes(), (BUILD / "man" / name).read_bytes())
        output("scripts/man.sh", copy, SOURCE_DATE_EPOCH="86400")
        self.assertRegex((copy / "man/mprof.1").read_text(), r'\A\.TH MPROF 1 "1970-01-02" "mprof \d+\.\d+\.\d+"')
        shutil.rmtree(copy)

    # --- completion ---------------------------------------------------------------------------------------------

    def complete(self, *words: str, tool: str | None = None, before: str = "") -> list[str]:
        """What bash would offer for the last word; it must be silent."""
        script = (f'{before}\nsource "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mprof\n'
                  'for word in "${COMPREPLY[@]}"; do printf "%s\\n" "$word"; done')
        return output("bash", "--norc", "-c", script, self.usr / "share/bash-completion/completions/mprof",
                      tool or self.tool, *words, cwd=self.directory()).splitlines()

    def directory(self) -> Path:
        """One with files of some kinds."""
        place = self.root / "files"
        (place / "sub").mkdir(parents=True, exist_ok=True)
        for name in ("heap.pb.gz", "two words.pb.gz", "raw.pb", "old.txt", "main.c"):
            (place / name).touch()
        return place

    def test_completes_verbs(self):
        self.assertEqual(set(self.complete("")) - {"help", "--help", "--version"}, set(verbs()))
        self.assertEqual(self.complete("wat"), ["watch"])
        self.assertEqual(self.complete("help", "wat"), ["watch"])

    def test_completes_options(self):
        for verb in verbs():
            self.assertEqual(set(self.complete(verb, "-")), options(verb) | {"--help"}, verb)
        self.assertEqual(self.complete("run", "--rate", "1", "--ou"), ["--out"])
        self.assertEqual(self.complete("run", "--exit", "=", "0", "--ou"), ["--out"])

    def test_completes_values(self):
        types = {f"{kind}_{unit}" for kind in ("alloc", "inuse") for unit in ("objects", "space")}
        self.assertLessEqual(types, set(self.complete("top", "--sample", "")))
        self.assertEqual(self.complete("top", "--sample", "=", "alloc_s"), ["alloc_space"])
        self.assertEqual(self.complete("run", "--rate", ""), [])

    def test_completes_files(self):
        profiles = {"heap.pb.gz", "two words.pb.gz", "raw.pb", "old.txt", "sub"}
        self.assertEqual(set(self.complete("top", "")), profiles)
        self.assertEqual(self.complete("top", "two"), ["two words.pb.gz"])
        self.assertEqual(set(self.complete("dump", "-o", "")), profiles | {"main.c"})

    def test_completes_processes(self):
        process = start(["sleep", "60"], environment(LD_PRELOAD=str(self.usr / "lib/libmprof.so")), self.root)
        self.addCleanup(finish, process)
        self.addCleanup(process.kill)
        wait_for(lambda: str(process.pid) in self.complete("dump", ""), "the process is offered")
        self.assertIn(str(process.pid), self.complete("rate", "--timeout", "1", str(process.pid)[:-1]))
        self.assertEqual(self.complete("rate", str(process.pid), ""), [])

    def test_completes_the_command_of_run(self):
        self.assertIn("cat", self.complete("run", "ca"))
        self.assertIn("cat", self.complete("run", "--rate", "1", "--", "ca"))
        self.assertEqual(self.complete("run", "cat", "main"), ["main.c"])
        self.assertEqual(self.complete("run", "cat", "--ou"), [])
        # bash-completion's own function does it where there is one.
        offset = "_command_offset() { COMPREPLY=(\"$1\"); }"
        self.assertEqual(self.complete("run", "--rate", "1", "--peak", "cat", "--ou", before=offset), ["5"])
        self.assertEqual(self.complete("run", "--", "cat", "", before=offset), ["3"])

    def test_is_silent_without_mprof(self):
        for tool in ("/nonexistent/mprof", "mprof-that-is-not-there", "/bin/false", "/bin/true"):
            self.assertEqual(self.complete("", tool=tool), ["--help"])
            self.assertEqual(self.complete("top", "", tool=tool), [])
