#!/usr/bin/env python3
"""Runs examples/*.posset and bench/programs/*.posset as tests.

An example is tested when its opening comment has a line `# test: ARGS` (the arguments it is run
with, may be empty) or when examples/expected/NAME.txt exists, which is then what it must print. A line
`# options: ...` stands before the file on the command line. `{data}` in either is the folder of real
data files (POSSET_DATA, or shared/data beside the checkout); without that folder the example is
skipped. `# stdin: TEXT` lines are its standard input.

A program of bench/programs is run with the small size of the peers' folder (shared/peers beside the
checkout) and must print what they print; it is skipped without that folder.
"""

import argparse
import re
import shlex
import sys

import harness
from harness import Failure, Skip

EXAMPLES = harness.ROOT / "examples"
PROGRAMS = harness.ROOT / "bench" / "programs"
MODES = {"tier0": ["--tier", "0"], "forced1": ["--force-tier", "1"], "default": []}


def header(path):
    """The lines of the opening comment."""
    lines = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line)
    return lines


def directive(lines, name):
    """What stands behind `# NAME:` on each line that has it."""
    found = [re.match(rf"# ?{name}:(?: (.*)|$)", line) for line in lines]
    return [match[1] or "" for match in found if match]


class Runner:
    def __init__(self, options):
        self.posset = harness.posset_command(options.posset)
        self.data, self.peers = harness.data_folder(), harness.peers_folder()

    def run(self, options, path, arguments, stdin, expected, timeout):
        shown = str(path.relative_to(harness.ROOT))
        command = [*self.posset, "run", "--stats", *options, shown, *arguments]
        finished = harness.run(command, stdin, timeout)
        problems = [finished.crash()] if finished.crash() else []
        if finished.status != 0 and not problems:
            problems.append(f"exit status {finished.status}")
        if expected is not None and finished.stdout != expected:
            problems.append(harness.difference(expected, finished.stdout))
        if expected is None and not finished.stdout:
            problems.append("printed nothing")
        if finished.status == 0 and finished.stats().get("live_objects") != "0":
            problems.append(f"live objects at the end: {finished.stats().get('live_objects')}")
        if problems:
            told = "\n".join(line for line in finished.stderr.split("\n")
                             if not line.startswith("stats: "))
            raise Failure("\n".join([f"$ {shlex.join(command)}", *problems,
                                     harness.shorten(told, 15)]).rstrip())

    def example(self, path, mode):
        lines = header(path)
        expected_file = EXAMPLES / "expected" / f"{path.stem}.txt"
        tests, options = directive(lines, "test"), directive(lines, "options")
        if not tests and not expected_file.exists():
            raise Skip("an example without `# test:` line or expected output")
        needs_data = any("{data}" in text for text in tests + options)
        if (needs_data or "shared/data" in path.read_text(encoding="utf-8")) and self.data is None:
            raise Skip("needs the folder shared/data")
        fill = lambda texts: [part.replace("{data}", str(self.data))
                              for text in texts for part in shlex.split(text)]
        expected = expected_file.read_text(encoding="utf-8") if expected_file.exists() else None
        stdin = "".join(line + "\n" for line in directive(lines, "stdin")).encode()
        self.run(MODES[mode] + fill(options), path, fill(tests[:1]), stdin, expected, 60)

    def program(self, path, mode):
        folder = self.peers / path.stem if self.peers else None
        if not folder or not folder.is_dir():
            raise Skip("needs the folder shared/peers")
        size = folder / "n.small"
        arguments = [size.read_text().strip()] if size.exists() else []
        answers = [folder / "expected.small.txt", folder / "expected.txt"]
        expected = next(file for file in answers if file.exists()).read_text(encoding="utf-8")
        self.run(MODES[mode], path, arguments, b"", expected, 120)


def main():
    parser = argparse.ArgumentParser(description="Runs the examples and the benchmark programs.")
    harness.add_common_options(parser)
    parser.add_argument("--modes", default=" ".join(MODES), help=f"of {', '.join(MODES)}")
    options = parser.parse_args()
    harness.limit_resources(options.sanitized)
    runner = Runner(options)
    cases = []
    for function, folder in ((runner.example, EXAMPLES), (runner.program, PROGRAMS)):
        for path in sorted(folder.glob("*.posset")):
            for mode in options.modes.replace(",", " ").split():
                name = f"{mode}/{path.relative_to(harness.ROOT)}"
                cases.append((name, lambda f=function, p=path, m=mode: f(p, m)))
    tally = harness.Tally(options.verbose)
    harness.run_cases(tally, [case for case in cases if options.filter in case[0]], options.jobs)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
