#!/usr/bin/env python3
"""Holds the house plan: reads every #include, fails on an upward arrow or a cycle, draws the picture.

The table below is the dependency table of the house plan. A layer is a folder, or a sub-folder where
the plan has inner layers; a file belongs to the longest layer that its path begins with. Includes are
resolved as the compiler does: beside the including file, then from the root of the project, then from
include/. What resolves to nothing in the project is a system or third-party header, which has a
table of its own for the few that are confined to one folder.

Without --check, docs/layers.svg is rewritten.
"""

import argparse
import re
import sys
from pathlib import Path

import harness

INNER = ["interp/syntax", "interp/value", "interp/runtime", "interp/walk", "interp/api"]
SHARED_BY_TIERS = INNER[:3]
SCHED = ["sched", "sched/base"]
EVERYTHING = ["include", *SCHED, *INNER, "bytecode", "jit", "stdlib", "cli"]

# layer: what it may include besides itself
MAY_INCLUDE = {
    "include": [],
    "sched/base": [],
    "sched": ["sched/base"],
    "interp/syntax": ["include", *SCHED],
    "interp/value": ["include", *SCHED],
    "interp/runtime": ["include", *SCHED, *INNER[:2]],
    "interp/walk": ["include", *SCHED, *INNER[:3]],
    "interp/api": ["include", *SCHED, *INNER[:4]],
    "bytecode": ["include", "sched/base", *SHARED_BY_TIERS],
    "jit": ["include", "sched/base", *SHARED_BY_TIERS, "bytecode"],
    "stdlib": ["include"],
    "cli": ["include"],
    "examples": ["include"],
    "bench": ["include"],
    "bench/embed": ["include", "bench", "tests/unit"],  # the calls that tests interrupt
    "bench/micro": [*EVERYTHING, "bench"],
    "bench/scaling": SCHED,
    "docs": ["include", *SCHED, *INNER, "bytecode"],
    "tests/unit": EVERYTHING,
    "tests/fuzz": EVERYTHING + ["tests/unit"],
    "tests": EVERYTHING,
}
# Wiring the runtime together is for one place in the standard library.
ATTACH, COMPOSITION_ROOT = "include/posset/attach.h", "stdlib/default_runtime.cpp"
# third-party header (a regular expression at its beginning): the only layers that may see it
CONFINED = {
    r"llvm": ["jit"],
    r"(oneapi/)?tbb": ["sched", "bench"],
    r"boost/": ["sched", "sched/base"],
    r"CLI/": ["cli"],
    r"histedit\.h": ["cli"],
    r"simdjson\.h": ["stdlib"],
    r"re2/": ["stdlib"],
    r"doctest/": ["tests", "tests/unit"],
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".c", ".def", ".inc"}
C_HEADERS = re.compile(r"(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|"
                       r"setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|"
                       r"string|tgmath|threads|time|uchar|wchar|wctype)\.h")


def layer_of(path):
    """The longest layer `path` begins with, or None."""
    inside = [layer for layer in MAY_INCLUDE if path.startswith(layer + "/")]
    return max(inside, key=len, default=None)


def strip_comments(text):
    """Blanks comments, keeping line numbers; an #include in one does not count."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0]) if match[0].startswith("/") else match[0]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.DOTALL)


class Project:
    """The files below a root and what includes what."""

    def __init__(self, root):
        self.root = root
        self.problems = []
        self.arrows = {}  # file: [(line, included file)]
        self.files = set()
        for top in sorted({layer.split("/")[0] for layer in MAY_INCLUDE}):
            for path in sorted((root / top).rglob("*")):
                if path.suffix in SUFFIXES and path.is_file():
                    self.files.add(path.relative_to(root).as_posix())
        for file in sorted(self.files):
            self._read(file)

    def _read(self, file):
        text = strip_comments((self.root / file).read_text(encoding="utf-8", errors="replace"))
        self.arrows[file] = []
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            target = self._resolve(file, match[1] or match[2], quoted=match[1] is not None)
            if (match[1] or "").startswith("include/"):
                shorter = match[1].removeprefix("include/")
                self.problems.append(f"{file}:{line}: write <{shorter}> for \"{match[1]}\"")
            if target in self.files:
                self.arrows[file].append((line, target))
            elif match[1] is not None and not self._generated(match[1]):
                self.problems.append(f"{file}:{line}: no file \"{match[1]}\" in the project")
            else:
                self._check_foreign(file, line, match[1] or match[2])

    def _generated(self, name):
        # A third-party header in quotes; ours always begin with a folder of the house.
        return name.split("/")[0] not in {layer.split("/")[0] for layer in MAY_INCLUDE} \
            and "/" in name

    def _resolve(self, file, name, quoted):
        candidates = [Path("include") / name]
        if quoted:
            candidates = [Path(file).parent / name, Path(name)] + candidates
        for candidate in candidates:
            parts = []
            for part in candidate.parts:  # a/../b, without asking the file system
                if part == ".." and parts:
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            if "/".join(parts) in self.files:
                return "/".join(parts)
        return None

    def _check_foreign(self, file, line, name):
        layer = layer_of(file)
        for pattern, layers in CONFINED.items():
            if re.match(pattern, name) and layer not in layers + ["bench/micro", "tests/unit"]:
                self.problems.append(f"{file}:{line}: <{name}> is for {', '.join(layers)} only")
        standard = C_HEADERS.fullmatch(name) or re.fullmatch(r"[a-z0-9_]+", name)
        if layer == "include" and not standard:
            self.problems.append(f"{file}:{line}: a public header includes <{name}>, which is not "
                                 "of the standard library")

    def check_layers(self):
        for file, arrows in self.arrows.items():
            layer = layer_of(file)
            if layer is None and arrows:
                self.problems.append(f"{file}: belongs to no layer of the house plan")
                continue
            for line, target in arrows:
                self._check_arrow(file, line, layer, target)

    def _check_arrow(self, file, line, layer, target):
        other = layer_of(target)
        if other != layer and other not in MAY_INCLUDE[layer]:
            allowed = ", ".join(MAY_INCLUDE[layer]) or "nothing else"
            self.problems.append(f"{file}:{line}: {layer} may not include {target} (it may include: "
                                 f"{allowed})")
        if target == ATTACH and layer in ("stdlib", "cli") and file != COMPOSITION_ROOT:
            self.problems.append(f"{file}:{line}: {target} is for {COMPOSITION_ROOT} only")

    def check_cycles(self):
        """Depth-first over files; each cycle is reported once, at the arrow that closes it."""
        done, path = set(), []

        def visit(file):
            if file in done:
                return
            if file in path:
                cycle = path[path.index(file):] + [file]
                self.problems.append("include cycle: " + " -> ".join(cycle))
                return
            path.append(file)
            for _, target in self.arrows[file]:
                visit(target)
            path.pop()
            done.add(file)

        for file in sorted(self.files):
            visit(file)

    def layer_arrows(self):
        """{(layer, layer)} really in use, tests left out."""
        found = set()
        for file, arrows in self.arrows.items():
            for _, target in arrows:
                pair = (layer_of(file), layer_of(target))
                if None not in pair and pair[0] != pair[1]:
                    found.add(pair)
        return found


# The picture: rows from the top down, each a list of (layer, caption).
ROWS = [
    [("cli", "REPL and script runner"), ("examples", "one feature each"), ("bench", "benchmarks")],
    [("stdlib", "the language's modules; default_runtime.cpp wires the tiers together")],
    [("jit", "tiers 2 and 3: native code, a plugin")],
    [("bytecode", "tier 1: opcodes, compiler, verifier, VM")],
    [("interp/api", "implements include/posset")],
    [("interp/walk", "tier 0: the tree walker")],
    [("interp/runtime", "operators, calls, tasks, tier.h, policy")],
    [("interp/syntax", "source, lexer, parser, tree"), ("interp/value", "values, heap, counts")],
    [("sched", "five systems, no language in them"), ("sched/base", "clock, rng, assertions")],
    [("include", "the public API: include/posset")],
]
COLOURS = {"include": "#e8e4f4", "sched": "#e3eef9", "interp": "#e6f3e6", "bytecode": "#fdf1dc",
           "jit": "#fbe5e1", "stdlib": "#f0f0e4"}


def draw(project):
    """docs/layers.svg as text. Depends on nothing but the tables and which folders use which."""
    used = project.layer_arrows()
    width, box_height, row_height, left = 880, 46, 58, 20
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{row_height * len(ROWS) + 62}"'
             ' font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{left}" y="26" font-size="15" font-weight="bold">Who includes whom: '
             'a box includes only boxes below it</text>']
    for number, row in enumerate(ROWS):
        y = 42 + number * row_height
        box_width = (width - 2 * left - 12 * (len(row) - 1)) / len(row)
        for position, (layer, caption) in enumerate(row):
            x = left + position * (box_width + 12)
            lines += draw_box(layer, caption, x, y, box_width, box_height, used)
    return "\n".join(lines + ["</svg>", ""])


def draw_box(layer, caption, x, y, width, height, used):
    colour = COLOURS.get(layer.split("/")[0], "#f2f2f2")
    below = sorted(other for one, other in used if one == layer)
    names = {"include": "posset"}
    includes = "includes " + " ".join(names.get(name, name.removeprefix("interp/")) for name in below)
    yield f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{height}" rx="5" fill="{colour}" ' \
          'stroke="#777"/>'
    yield f'<text x="{x + 10:.0f}" y="{y + 19}"><tspan font-weight="bold">{layer}</tspan>' \
          f'<tspan fill="#333">  {caption}</tspan></text>'
    if below:
        yield f'<text x="{x + 10:.0f}" y="{y + 37}" font-size="11" fill="#666">{includes}</text>'


def main():
    parser = argparse.ArgumentParser(description="Checks every #include against the house plan.")
    parser.add_argument("--check", action="store_true", help="do not write docs/layers.svg")
    parser.add_argument("--root", type=Path, default=harness.ROOT)
    options = parser.parse_args()
    project = Project(options.root)
    project.check_layers()
    project.check_cycles()
    for problem in sorted(project.problems):
        print(problem)
    picture = options.root / "docs" / "layers.svg"
    drawn = draw(project)
    if not options.check:
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(drawn, encoding="utf-8")
    elif not picture.exists() or picture.read_text(encoding="utf-8") != drawn:
        print("docs/layers.svg is out of date: ./dev layers redraws it")
    clean = len(project.files) - len({problem.split(":")[0] for problem in project.problems})
    print(f"{clean} passed, {len(project.problems)} failed")
    return 1 if project.problems else 0


if __name__ == "__main__":
    sys.exit(main())
