#!/usr/bin/env python3
"""Holds what the documentation promises and a reader cannot check at a glance:

    stdlib_page    docs/stdlib.md is what `posset doc` prints
    made/PAGE      docs/reasons.md and docs/trace.md are what their tables say
    tested/NAME    some script of tests/lang calls the function NAME
    links/PAGE     the files a page links to are there
    folder/PATH    the README of a folder has a row for every file in it
    snippet        the C++ of README.md is part of examples/embed/ten_lines.cpp, which is built and run
    MODE/PAGE:N    the block of `posset` at line N does what its comments say (run_lang.py), in every tier
"""

import argparse
import fnmatch
import re
import subprocess
import sys

import harness
import make_docs
import run_lang
from harness import Failure

# Folders whose README names every file; a pattern like `slow_*.cpp` names several.
FOLDERS = ["bench/programs", "bytecode", "cli", "cmake", "examples", "include/posset", "interp/api",
           "interp/runtime", "interp/syntax", "interp/value", "interp/walk", "jit", "sched/base", "stdlib",
           "stdlib/simdjson", "tests/package", "tests/tools"]
UNNAMED = {"README.md", "CMakeLists.txt"}
ROW = re.compile(r"^\| `([A-Za-z_]\w*)(\(.*)?` \|")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def tracked(*patterns):
    """Paths of files git knows or could be told of, so that build folders do not count."""
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
                          cwd=harness.ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(line for line in done.stdout.split("\n") if line and (harness.ROOT / line).is_file())


def check_stdlib_page(posset):
    path = harness.ROOT / "docs" / "stdlib.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    changed = harness.difference(make_docs.stdlib_page(posset), text, "docs/stdlib.md")
    if changed:
        raise Failure("docs/stdlib.md is stale: ./dev docs writes it\n" + changed)


def check_made_page(name, made):
    path = harness.ROOT / "docs" / name
    changed = harness.difference(made(), path.read_text(encoding="utf-8") if path.exists() else "", f"docs/{name}")
    if changed:
        raise Failure(f"docs/{name} is stale: ./dev docs writes it\n{changed}")


def functions(posset):
    """[(module, name)] of everything in the table; the module of what is always in scope is ''."""
    module, found = "", []
    for line in make_docs.stdlib_page(posset).split("\n"):
        heading = re.match(r"## Module `(\w+)`", line)
        module = heading[1] if heading else module
        row = ROW.match(line)
        if row:
            found.append((module, row[1]))
    return found


def without_comments(text):
    return re.sub(r"^\s*#.*$|\s#[^\"'\n]*$", "", text, flags=re.MULTILINE)


def is_used(module, name, text):
    if not module:
        return re.search(rf"(?<![\w]){name}\s*\(|\|>\s*{name}\b|[(,=]\s*{name}\s*[),]", text)
    bound = re.search(rf'import "{module}"(?: as (\w+))?', text)
    if bound and re.search(rf"\b{bound[1] or module}\.{name}\b", text):
        return True
    taken = re.search(rf'import \{{([^}}]*)\}} from "{module}"', text)
    return taken and re.search(rf"\b{name}\b", taken[1])


def check_tested(scripts, module, name):
    if not any(is_used(module, name, text) for text in scripts):
        raise Failure("no script of tests/lang calls it")


def check_links(page):
    text = re.sub(r"^```.*?^```", "", (harness.ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    missing = [target for target in LINK.findall(text)
               if "://" not in target and not ((harness.ROOT / page).parent / target).exists()]
    if missing:
        raise Failure("links to what is not there: " + ", ".join(missing))


def check_folder(folder):
    path = harness.ROOT / folder / "README.md"
    if not path.exists():
        raise Failure("has no README.md")
    named = re.findall(r"`([^`\s]+)`", path.read_text(encoding="utf-8"))
    files = [file.removeprefix(folder + "/") for file in tracked(folder)]
    here = [file for file in files if "/" not in file and file not in UNNAMED]
    missing = [file for file in here if not any(fnmatch.fnmatch(file, name) for name in named)]
    gone = [name for name in named if re.fullmatch(r"[\w*.]+\.(cpp|h|hpp|def|py|posset|cmake)", name)
            and not fnmatch.filter([file.rsplit("/", 1)[-1] for file in tracked()], name)]
    if missing or gone:
        raise Failure("\n".join([f"README.md does not name {name}" for name in missing]
                                + [f"README.md names {name}, which is not there" for name in gone]))


def check_snippet():
    text = (harness.ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```cpp\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    program = (harness.ROOT / "examples/embed/ten_lines.cpp").read_text(encoding="utf-8").split("\n")
    lines = {line.strip() for line in program}
    other = [line for line in block[1].split("\n") if line.strip() not in lines | {""}]
    if other:
        raise Failure("not in examples/embed/ten_lines.cpp:\n" + "\n".join(other))


def run_blocks(runner, page):
    """Runs the blocks of a page as scripts of tests/lang; an example inside a text has no expectations."""
    text = (harness.ROOT / page).read_text(encoding="utf-8")
    for block in re.finditer(r"^```posset\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, block.start()) + 1
        path = harness.ROOT / "build" / "test" / "docs" / f"{page.replace('/', '_')}_{line}.posset"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block[1], encoding="utf-8")
        runner.run_script(path, str(path.relative_to(harness.ROOT)))


def main():
    parser = argparse.ArgumentParser(description="Checks what the documentation promises.")
    parser.add_argument("--posset", default="build/posset")
    options = run_lang.parse_options(["--posset", parser.parse_args().posset])
    posset = harness.posset_command(options.posset)
    tally = harness.Tally()
    harness.run_one(tally, "stdlib_page", lambda: check_stdlib_page(posset))
    for name, made in (("reasons.md", make_docs.reasons_page), ("trace.md", make_docs.trace_page)):
        harness.run_one(tally, f"made/{name}", lambda name=name, made=made: check_made_page(name, made))
    scripts = [without_comments((harness.ROOT / path).read_text(encoding="utf-8", errors="replace"))
               for path in tracked("tests/lang/*.posset")]
    for module, name in functions(posset):
        harness.run_one(tally, f"tested/{module + '.' if module else ''}{name}",
                        lambda m=module, n=name: check_tested(scripts, m, n))
    for page in tracked("*.md"):
        harness.run_one(tally, f"links/{page}", lambda page=page: check_links(page))
    harness.run_one(tally, "snippet", check_snippet)
    runner = run_lang.LangRunner(options, tally)
    for page in tracked("*.md"):
        run_blocks(runner, page)
    for folder in FOLDERS:
        harness.run_one(tally, f"folder/{folder}", lambda folder=folder: check_folder(folder))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
