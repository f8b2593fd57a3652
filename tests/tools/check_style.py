#!/usr/bin/env python3
"""Checks the house rules a compiler does not know: the length of functions and files, and that every
C++ file opens with a comment that says what it is for.

Function lengths come from universal-ctags and are skipped without it. A file over the limit of lines
passes when its opening comment says why (it must contain the word "lines").
"""

import json
import re
import shutil
import subprocess
import sys

import harness
from harness import Failure, Skip

FOLDERS = ["include", "sched", "interp", "bytecode", "jit", "stdlib", "cli", "examples", "bench",
           "tests", "cmake", "docs"]
MAX_FUNCTION_LINES = 70
MAX_TEST_LINES = 90  # a test case that tells one story may be longer
MAX_FILE_LINES = 1000
MIN_OPENING = 40  # characters of prose; a file's name alone is not a purpose


def sources():
    for folder in FOLDERS:
        for path in sorted((harness.ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".cpp", ".c") and path.is_file():
                yield path


def opening_comment(text):
    """The text of the comment the file begins with, licence tags left out."""
    lines = []
    if text.lstrip().startswith("/*"):
        lines = text.lstrip()[2:].partition("*/")[0].split("\n")
    else:
        for line in text.lstrip().split("\n"):
            if line.strip() and not line.startswith("//"):
                break
            lines.append(line[2:])
    prose = [line.strip(" *") for line in lines]
    return " ".join(line for line in prose if line and "SPDX" not in line and "Licen" not in line)


def check_file(path):
    text = path.read_text(encoding="utf-8")
    opening = opening_comment(text)
    # A source whose header says it all may point there: "See unit.h."
    points = re.search(r"\b[Ss]ee [\w/]+\.(h|hpp)\b", opening)
    if len(opening) < MIN_OPENING and not points:
        raise Failure("does not open with a paragraph that says what the file is for")
    lines = text.count("\n")
    if lines > MAX_FILE_LINES and not re.search(r"\blines\b", opening):
        raise Failure(f"{lines} lines, more than {MAX_FILE_LINES}: split it, or say in the opening "
                      "paragraph why so many lines")


def function_lengths(paths):
    """[(path, line, name, lines)] of every function ctags finds."""
    done = subprocess.run(
        ["ctags", "--output-format=json", "--fields=+ne", "--languages=C++,C", "--kinds-C++=f",
         "--kinds-C=f", "--langmap=C++:+.h", "-f", "-", "-L", "-"],
        input="\n".join(str(path.relative_to(harness.ROOT)) for path in paths), cwd=harness.ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    for line in done.stdout.split("\n"):
        if line:
            tag = json.loads(line)
            if "end" in tag:
                yield tag["path"], tag["line"], tag["name"], tag["end"] - tag["line"] + 1


def check_function_lengths(paths):
    has_universal = shutil.which("ctags") and "Universal" in subprocess.run(
        ["ctags", "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    if not has_universal:
        raise Skip("universal-ctags is not installed")
    long = [f"{path}:{line}: {name} has {lines} lines"
            for path, line, name, lines in function_lengths(paths) if lines > (MAX_TEST_LINES if str(path).startswith("tests/") else MAX_FUNCTION_LINES)]
    if long:
        raise Failure(f"at most {MAX_FUNCTION_LINES} lines a function\n" + "\n".join(long))


def main():
    paths = list(sources())
    tally = harness.Tally()
    for path in paths:
        name = str(path.relative_to(harness.ROOT))
        harness.run_one(tally, name, lambda path=path: check_file(path))
    harness.run_one(tally, "function_lengths", lambda: check_function_lengths(paths))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
