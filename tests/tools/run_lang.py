#!/usr/bin/env python3
"""Runs the language scripts, tests/lang/**/*.posset, in every tier.

What a script must do stands in its comments, beside the line that does it:

    # expect: TEXT               one line of standard output; nothing after the colon: an empty line
    # expect error: TEXT         a diagnostic before the run, exit status 3
    # expect runtime error: TEXT an uncaught error, exit status 1
    # expect limit: TEXT         a limit exceeded, exit status 4
    # expect warning: TEXT       a warning; the exit status is not affected
    # expect exit: N             another exit status
    # expect stderr: TEXT        a part of standard error; {file} stands for the script's path
    # expect stat: NAME OP N     of the --stats lines; OP is one of == <= >= < >

An expected diagnostic must have its comment's line; `@LINE:COL`, `@COL` or `@FILE:LINE:COL` right
before the colon (`# expect error@3:15: not defined`) says the position exactly, where FILE is the
end of the path a diagnostic of an imported module names. TEXT is a part of the message, case ignored.
Standard output must be the expected lines and nothing else.

On lines of their own:

    # stdin: TEXT        a line of standard input        # skip: REASON
    # args: A B          the script's arguments          # known failure: REASON   must fail
    # options: --x 1     before the file; {dir}: its folder
    # modes: tier0 ...   only these                      # nondeterministic: REASON   do not compare modes
    # not sanitized: REASON   left out with --sanitized

Each script runs in the modes of MODES. In each, `stats: live_objects 0` must appear (nothing leaked),
and all modes must agree on output, status, diagnostics and traces. Modes that force native tiers
are left out for a build without them (`-DPOSSET_JIT=OFF`) when `--no-native` says so: one that has lost
them unasked must fail. Files below a folder `modules`, or whose name starts with `_`, are imported and
not run. `--self-test` proves that this runner notices what it is there to notice.
"""

import argparse
import concurrent.futures
import operator
import re
import shlex
import sys
import tempfile
import zlib
from pathlib import Path

import harness
from harness import Failure

MODES = {
    "tier0": ["--tier", "0"],
    "forced1": ["--force-tier", "1", "--workers", "1"],
    "tier1": ["--tier", "1"],
    "forced2": ["--force-tier", "2"],
    "forced3": ["--force-tier", "3"],
    "kept": ["--force-tier", "3"],
    "hot": ["--thresholds", "1,2,4"],
    # Guards of native code fail at random, by seed; with loops that are code of their own, and without.
    # Everything that can be stolen is, nearly: slices are short under exit stress.
    "stolen0": ["--tier", "0", "--workers", "8", "--quantum", "1", "--exit-stress", "3"],
    "stolen1": ["--force-tier", "1", "--workers", "2", "--quantum", "1", "--exit-stress", "3"],
    "stolen3": ["--thresholds", "1,2,4", "--native-passes", "quick", "--workers", "3", "--quantum", "1", "--exit-stress", "3"],
    "exits1": ["--thresholds", "2,2,4", "--native-passes", "quick", "--exit-stress", "1"],
    "exits2": ["--force-tier", "1", "--thresholds", "1,1000000,3", "--native-passes", "light", "--exit-stress", "2"],
    "default": [],
}
# Modes that force what seldom happens. With --share K/N each of them runs every Nth script only, another K others.
STRESS = ("hot", "stolen0", "stolen1", "stolen3", "exits1", "exits2")
# What the first of these leaves in the code cache, the second runs.
CACHING = ("forced3", "kept")
EXPECTATION = re.compile(
    r"#\s*expect(?P<kind> error| runtime error| limit| warning| exit| stderr| stat|)"
    r"(?:@(?:(?P<file>[^\s:]+):)??(?:(?P<line>\d+):)?(?P<column>\d+))?:(?: (?P<text>.*)|$)")
DIRECTIVE = re.compile(
    r"^\s*#\s*(?P<name>stdin|args|options|modes|skip|not sanitized|known failure|nondeterministic):(?: (?P<text>.*)|$)")
MISSPELT = re.compile(r"#\s*expect(?:ed|s|ing)?(?:[\s@-][^:]{0,24})?:")
STATUS = {"error": 3, "runtime error": 1, "limit": 4}
OPERATORS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge, "<": operator.lt,
             ">": operator.gt}


def is_in_share(mode, shown, share):
    """Whether a script runs in that mode; `share`: K/N, or empty."""
    if not share or mode not in STRESS:
        return True
    number, of = map(int, share.split("/"))
    return zlib.crc32(f"{mode}/{shown}".encode()) % of == number % of


def is_native(mode):
    """Whether a mode insists on native code; the others do with bytecode what a build without it cannot compile."""
    return MODES[mode][:2] in (["--force-tier", "2"], ["--force-tier", "3"])


class Script:
    """One file with its expectations."""

    def __init__(self, path, shown):
        self.path, self.shown = path, shown
        self.output, self.diagnostics, self.stderr, self.stat_rules = [], [], [], []
        self.stdin, self.args, self.options = [], [], []
        self.modes, self.skip, self.known_failure, self.nondeterministic = None, None, None, None
        self.not_sanitized = None
        self.exits = set()
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.split("\n"), 1):
            self._read_line(number, line.removesuffix("\r"))
        if not self.exits:
            self.exits = {0}

    def _read_line(self, number, line):
        match = EXPECTATION.search(line)
        if match:
            self._expect(number, match)
            return
        match = DIRECTIVE.match(line)
        if match:
            self._direct(match["name"], match["text"] or "")
        elif MISSPELT.search(line):
            raise Failure(f"line {number}: not an expectation this runner knows: {line.strip()}")

    def _expect(self, number, match):
        kind, text = match["kind"].strip(), match["text"] or ""
        if kind == "":
            self.output.append(text)
        elif kind == "stderr":
            self.stderr.append(text)
        elif kind == "stat":
            name, symbol, value = text.split()
            self.stat_rules.append((name, OPERATORS[symbol], symbol, float(value)))
        elif kind == "exit":
            self.exits.add(int(text))
        else:
            line = int(match["line"]) if match["line"] else number
            column = int(match["column"]) if match["column"] else None
            self.diagnostics.append((kind, match["file"], line, column, text.strip()))
            if kind in STATUS:
                self.exits.add(STATUS[kind])

    def _direct(self, name, text):
        folder = str(Path(self.shown).parent)
        if name == "stdin":
            self.stdin.append(text)
        elif name == "args":
            self.args += [part.replace("{dir}", folder) for part in shlex.split(text)]
        elif name == "options":
            self.options += [part.replace("{dir}", folder) for part in shlex.split(text)]
        elif name == "modes":
            self.modes = text.replace(",", " ").split()
            unknown = set(self.modes) - set(MODES)
            if unknown:
                raise Failure(f"unknown mode {', '.join(sorted(unknown))}; there are {', '.join(MODES)}")
        else:
            setattr(self, name.replace(" ", "_"), text or "no reason given")

    def command(self, posset, mode, cache):
        kept = ["--cache", cache] if mode in CACHING else []
        return [*posset, "run", "--stats", *MODES[mode], *kept, *self.options, self.shown, *self.args]

    def input(self):
        return "".join(line + "\n" for line in self.stdin).encode("utf-8", "surrogateescape")


def match_diagnostics(script, finished, problems):
    """Every expected diagnostic is there, at its place."""
    for kind, file, line, column, text in script.diagnostics:
        severity = "warning" if kind == "warning" else "error"
        where = f"{line}:{column}" if column is not None else f"line {line}"
        for found in finished.diagnostics(severity):
            same_file = found[0].endswith(file) if file else found[0] == script.shown
            if (same_file and found[1] == line and column in (None, found[2])
                    and text.lower() in found[4].lower()):
                break
        else:
            problems.append(f"no {severity} at {file + ':' if file else ''}{where} saying: {text}")


def match_stats(script, finished, problems):
    stats = finished.stats()
    live = stats.get("live_objects")
    # A source that does not parse may end before there is anything to count.
    if live is None and finished.status != 3:
        problems.append("no line `stats: live_objects 0` on standard error")
    elif live not in (None, "0"):
        problems.append(f"leak: {live} live objects at the end")
    for name, compare, symbol, value in script.stat_rules:
        try:
            actual = float(stats[name])
        except KeyError:
            problems.append(f"no statistic named {name}")
        except ValueError:
            problems.append(f"statistic {name} is not a number: {stats[name]}")
        else:
            if not compare(actual, value):
                problems.append(f"statistic {name} is {actual:g}, expected {symbol} {value:g}")


def problems_of(script, finished):
    """What is wrong with a run, as a list of texts."""
    crash = finished.crash()
    problems = [crash] if crash else []
    expected = "".join(line + "\n" for line in script.output)
    if finished.stdout not in (expected, expected.removesuffix("\n")):
        problems.append(harness.difference(expected, finished.stdout))
    if not crash and {finished.status} != script.exits:
        wanted = " and ".join(str(status) for status in sorted(script.exits))
        problems.append(f"exit status {finished.status}, expected {wanted}")
    match_diagnostics(script, finished, problems)
    for text in script.stderr:
        if text.replace("{file}", script.shown) not in finished.stderr:
            problems.append(f"standard error does not contain: {text}")
    if not crash:
        match_stats(script, finished, problems)
    if problems:
        shown = "\n".join(line for line in finished.stderr.split("\n")
                          if not line.startswith("stats: "))
        if shown.strip():
            problems.append("standard error:\n" + harness.indent(harness.shorten(shown.rstrip(), 25)))
    return problems


def outcome(finished):
    """What must be the same in every mode."""
    told = [line for line in finished.stderr.split("\n")
            if harness.TRACE_LINE.match(line)
            or (harness.DIAGNOSTIC.match(line) and ": error: " in line)]
    return finished.stdout, finished.status, "\n".join(told)


def disagreement(first_mode, first, mode, other):
    if first[1] != other[1]:
        return f"exit status {first[1]} in {first_mode}, {other[1]} in {mode}"
    for index, what in ((0, "standard output"), (2, "errors")):
        text = harness.difference(first[index], other[index], what)
        if text:
            text = text.replace(f"expected {what}", f"{what} in {first_mode}", 1)
            return text.replace(f"actual {what}", f"{what} in {mode}", 1)
    return ""


class LangRunner:
    """Runs scripts and reports them as mode/path."""

    def __init__(self, options, tally):
        self.options, self.tally = options, tally
        self.posset = harness.posset_command(options.posset)
        self.modes = options.modes.replace(",", " ").split()
        if options.no_native:
            self.modes = [mode for mode in self.modes if not is_native(mode)]

    def wanted(self, shown, mode):
        return self.options.filter in f"{mode}/{shown}"

    def run_script(self, path, shown):
        try:
            script = Script(path, shown)
        except (Failure, ValueError, KeyError) as error:
            self.tally.add_failure(f"read/{shown}", error)
            return
        modes = [mode for mode in self.modes
                 if mode in (script.modes or MODES) and self.wanted(shown, mode)
                 and is_in_share(mode, shown, self.options.share)]
        skip = script.skip or (self.options.sanitized and script.not_sanitized)
        if skip:
            for mode in modes:
                self.tally.add_skip(f"{mode}/{shown}", skip)
            return
        runs = self._runs(script, modes)
        problems = {mode: problems_of(script, run) for mode, run in runs.items()}
        differs = "" if script.nondeterministic else self._compare(runs)
        if script.known_failure:
            self._report_known_failure(script, problems, differs)
        else:
            self._report(script, runs, problems, differs)

    def _runs(self, script, modes):
        with tempfile.TemporaryDirectory(prefix="posset-kept-") as cache:
            def run(mode):
                return harness.run(script.command(self.posset, mode, cache), script.input(), self.options.timeout)
            maker, user = CACHING
            if user in modes and maker not in modes:
                run(maker)
            return {mode: run(mode) for mode in modes}

    def _compare(self, runs):
        modes = list(runs)
        for mode in modes[1:]:
            text = disagreement(modes[0], outcome(runs[modes[0]]), mode, outcome(runs[mode]))
            if text:
                return text
        return ""

    def _report(self, script, runs, problems, differs):
        told = {}  # a failure that is the same in several modes is shown once
        for mode, list_of_problems in problems.items():
            name = f"{mode}/{script.shown}"
            text = "\n".join(list_of_problems)
            if not text:
                self.tally.add_pass(name)
                continue
            key = text if text not in told else None
            again = f"$ {shlex.join(runs[mode].command)}\n"
            self.tally.add_failure(name, again + text if key else f"as in {told[text]}")
            told.setdefault(text, mode)
        if len(runs) > 1 and not script.nondeterministic:
            if differs:
                self.tally.add_failure(f"agree/{script.shown}", differs)
            else:
                self.tally.add_pass(f"agree/{script.shown}")

    def _report_known_failure(self, script, problems, differs):
        fails = differs or any(problems.values())
        for mode in problems:
            if fails:
                self.tally.add_pass(f"{mode}/{script.shown}")
            else:
                self.tally.add_failure(f"{mode}/{script.shown}",
                                       f"passes, but is noted as a known failure: {script.known_failure}")


def find_scripts(folder):
    for path in sorted(folder.rglob("*.posset")):
        inner = path.relative_to(folder).parts
        if "modules" not in inner[:-1] and not path.name.startswith("_"):
            yield path


def parse_options(arguments=None):
    """Of the command line, or of those arguments: other runners begin with the defaults."""
    parser = argparse.ArgumentParser(description="Runs tests/lang in every tier.")
    harness.add_common_options(parser)
    parser.add_argument("--modes", default=" ".join(MODES), help=f"of {', '.join(MODES)}")
    parser.add_argument("--no-native", action="store_true", help="the command is built without native tiers")
    parser.add_argument("--share", default="", metavar="K/N",
                        help=f"of the modes {', '.join(STRESS)} every Nth script only; K: which")
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds for one run")
    parser.add_argument("--folder", default="tests/lang")
    parser.add_argument("--self-test", action="store_true", help="test this runner instead")
    return parser.parse_args(arguments)


def main():
    options = parse_options()
    if options.self_test:
        import self_test
        return self_test.main()
    harness.limit_resources(options.sanitized)
    tally = harness.Tally(options.verbose)
    runner = LangRunner(options, tally)
    folder = (harness.ROOT / options.folder).absolute()
    cases = []
    for path in find_scripts(folder):
        inside = path.is_relative_to(harness.ROOT)
        shown = str(path.relative_to(harness.ROOT)) if inside else str(path)
        if any(runner.wanted(shown, mode) for mode in runner.modes + ["agree"]):
            cases.append((path, shown))
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for future in [pool.submit(runner.run_script, *case) for case in cases]:
            future.result()
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
