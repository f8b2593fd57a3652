#!/usr/bin/env python3
"""What hosts may write and what does not compile, with a clear text: the cases of tests/compile, each compiled by
itself against include/ (the syntax only). A file holds its cases behind `#if CASE == N`, each with a line

    // CASE N: what it is; rejects: TEXT

TEXT is in the compiler's errors then; without `rejects` the case compiles. Nothing else may be wrong: CASE 0, which
has none of them, compiles too.
"""

import argparse
import functools
import os
import re
import sys

import harness
from harness import Failure

CASES = harness.ROOT / "tests" / "compile"
CASE = re.compile(r"// CASE (\d+): (.*?)(?:; rejects: (.*))?$", re.MULTILINE)


def compile_case(compiler, path, number, rejects):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{harness.ROOT / 'include'}",
               f"-DCASE={number}", path]
    finished = harness.run(command, timeout=120)
    errors = "\n".join(line for line in finished.stderr.split("\n") if "error:" in line)
    if rejects is None and finished.status != 0:
        raise Failure("does not compile:\n" + harness.shorten(errors))
    if rejects is not None and finished.status == 0:
        raise Failure("compiles, although it must not: " + rejects)
    if rejects is not None and rejects not in errors:
        raise Failure(f"no error says: {rejects}\n" + harness.shorten(errors))


def cases(compiler):
    for path in sorted(CASES.glob("*.cpp")):
        yield f"{path.stem}/0 nothing", functools.partial(compile_case, compiler, path, 0, None)
        for number, what, rejects in CASE.findall(path.read_text()):
            yield f"{path.stem}/{number} {what}", functools.partial(compile_case, compiler, path, number, rejects or None)


def main():
    parser = argparse.ArgumentParser(description="Compiles the cases of tests/compile.")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbose", action="store_true", help="name what passed, too")
    options = parser.parse_args()
    tally = harness.Tally(options.verbose)
    harness.run_cases(tally, [case for case in cases(options.compiler) if options.filter in case[0]], options.jobs)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
