#!/usr/bin/env python3
"""Compares bytecode dumps with the golden ones in tests/golden/bytecode/*.posset.

A file holds its source, then the line `# --- dump ---`, then what `posset dump --bytecode FILE` must
print, each line behind `# `. A line `# unit: NAME` in the source dumps only that unit. `--bless` writes
what is printed now into the files; read the change as a diff before committing it.

One more case holds that every opcode of bytecode/opcodes.def appears in some golden dump.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys

import harness
from harness import Failure, Skip

MARK = "# --- dump ---"
FOLDER = harness.ROOT / "tests" / "golden" / "bytecode"
OPCODES = harness.ROOT / "bytecode" / "opcodes.def"
# Opcodes that no source reaches: one on each line of this file, with the reason behind `#`.
UNREACHED = FOLDER / "unreached_opcodes.txt"


def split(text):
    """(source with the mark, expected dump or None)"""
    source, mark, dump = text.partition(MARK + "\n")
    if not mark:
        return (source if source.endswith("\n") else source + "\n") + MARK + "\n", None
    lines = [line[2:] if line.startswith("# ") else line.removeprefix("#")
             for line in dump.split("\n")[:-1]]
    return source + mark, "".join(line + "\n" for line in lines)


def as_comment(dump):
    lines = dump.removesuffix("\n").split("\n")
    return "".join(f"# {line}\n" if line else "#\n" for line in lines)


class Golden:
    def __init__(self, options):
        self.options = options
        self.posset = harness.posset_command(options.posset)
        self.blessed = 0

    def dump(self, path, source):
        command = [*self.posset, "dump", "--workers", "2", "--bytecode", str(path.relative_to(harness.ROOT))]
        unit = re.search(r"^# unit: (\S+)", source, re.MULTILINE)
        if unit:
            command.append(unit[1])
        finished = harness.run(command)
        problem = finished.crash()
        if problem or finished.status != 0:
            raise Failure(f"$ {shlex.join(command)}\n{problem or f'exit status {finished.status}'}\n"
                          + harness.shorten(finished.stderr, 10))
        return finished.stdout

    def check(self, path):
        source, expected = split(path.read_text(encoding="utf-8"))
        actual = self.dump(path, source)
        if actual == expected:
            return
        if self.options.bless:
            path.write_text(source + as_comment(actual), encoding="utf-8")
            self.blessed += 1
        elif expected is None:
            raise Failure("holds no dump yet: run_golden.py --bless")
        else:
            raise Failure(harness.difference(expected, actual, "dump"))


def opcode_names():
    """The first word of each row `OP(word, ...)` of the opcode table, whose macros a compiler expands."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        raise Skip("no compiler to expand the opcode table")
    source = "#define OP(Name, a, b, c, flags, meaning) @Name@\n" + OPCODES.read_text(encoding="utf-8")
    expanded = subprocess.run([compiler, "-E", "-P", "-x", "c++", "-"], input=source, text=True,
                              capture_output=True, check=True).stdout
    return re.findall(r"@\s*(\w+)\s*@", expanded)


def check_every_opcode(files):
    if not OPCODES.exists() or not files:
        raise Skip("no opcode table or no golden dumps")
    spelt = lambda word: re.sub(r"[^a-z0-9]", "", word.lower())
    seen = set()
    for path in files:
        dump = split(path.read_text(encoding="utf-8"))[1] or ""
        seen.update(spelt(word) for word in re.findall(r"[A-Za-z][\w.\-]*", dump))
    excused = set()
    if UNREACHED.exists():
        excused = {line.split("#")[0].strip() for line in UNREACHED.read_text().split("\n")}
    missing = [name for name in opcode_names() if spelt(name) not in seen and name not in excused]
    if missing:
        raise Failure("in no golden dump: " + " ".join(missing))
    stale = [name for name in excused if name and spelt(name) in seen]
    if stale:
        raise Failure(f"listed in {UNREACHED.name}, but in a dump: " + " ".join(stale))


def main():
    parser = argparse.ArgumentParser(description="Compares bytecode dumps with the golden ones.")
    harness.add_common_options(parser)
    parser.add_argument("--bless", action="store_true", help="write the dumps into the files")
    options = parser.parse_args()
    harness.limit_resources(options.sanitized)
    golden = Golden(options)
    files = sorted(FOLDER.glob("*.posset"))
    cases = [(f"bytecode/{path.stem}", lambda path=path: golden.check(path)) for path in files]
    cases = [case for case in cases if options.filter in case[0]]
    tally = harness.Tally(options.verbose)
    harness.run_cases(tally, cases, options.jobs)
    if options.filter in "bytecode/every_opcode":
        harness.run_one(tally, "bytecode/every_opcode", lambda: check_every_opcode(files))
    if golden.blessed:
        print(f"{golden.blessed} files rewritten")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
