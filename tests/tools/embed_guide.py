#!/usr/bin/env python3
"""Makes a program of the C++ in docs/embedding.md, and what it must print.

    embed_guide.py GUIDE.md PROGRAM.cpp EXPECTED.txt

A block marked `cpp` is the body of a function with a runtime and a context of its own, unless it makes them; one
marked `cpp types` stands before all functions. A comment with `expect: TEXT` says what the block prints next. Blocks
begin with the line they stand on, so that the compiler's messages point into the page.
"""

import re
import sys

BLOCK = re.compile(r"^```cpp( types)?\n(.*?)^```$", re.M | re.S)
EXPECT = re.compile(r"//.*?expect: (.*)$", re.M)

HEAD = """#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <posset/posset.hpp>

namespace {

// The words of a line, one space between.
template <class First, class... Rest>
void print(const First& first, const Rest&... rest) {
  std::cout << first;
  ((std::cout << ' ' << rest), ...);
  std::cout << '\\n';
}

"""


def blocks(text):
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 2
        yield line, bool(found[1]), found[2]


def function(line, body, page):
    own = [f"posset::{kind} {name}" for kind, name in (("Runtime", "runtime"), ("Context", "context"))]
    head = ""
    if own[0] not in body:
        head += "  posset::Runtime runtime;\n"
    if own[1] not in body and "context" in body:
        head += "  posset::Context context(runtime);\n"
    return f'void block_{line}() {{\n{head}#line {line} "{page}"\n{body}}}\n\n'


def main():
    page, program, expected = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    types, functions, calls, lines = "", "", "", []
    for line, is_types, body in blocks(text):
        if is_types:
            types += f'#line {line} "{page}"\n{body}\n'
            continue
        functions += function(line, body, page)
        calls += f"  block_{line}();\n"
        lines += EXPECT.findall(body)
    if not lines:
        sys.exit(f"{page}: nothing is expected of any block")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"{HEAD}{types}{functions}}}  // namespace\n\nint main() {{\n{calls}}}\n")
    with open(expected, "w", encoding="utf-8") as file:
        file.write("".join(line.rstrip() + "\n" for line in lines))


if __name__ == "__main__":
    main()
