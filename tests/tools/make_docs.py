#!/usr/bin/env python3
"""Writes the pages of docs/ that come from tables: each TABLES row is a .def file and a page.

A table's columns are named by the first `MACRO(column, ...)` in its opening comment; its sections are
the comments of the form `// ---- text ----`. docs/stdlib.md is what `posset doc` prints: the standard
library's rows are C++, and only the runtime knows them all. docs/reasons.md has a section for each row of its
table; docs/trace.md is written by hand but for the tables of events between two marks. Those three are kept in
the repository, the others are not; check_docs.py says when one is stale.
"""

import argparse
import re
import sys

import harness

# table, page, title
TABLES = [
    ("include/posset/error_codes.def", "errors.md", "Errors and warnings"),
    ("include/posset/options.def", "options.md", "Options"),
    ("bytecode/opcodes.def", "bytecode.md", "Bytecode"),
]
ROW = re.compile(r"^([A-Z][A-Z0-9_]*)\(", re.MULTILINE)


def arguments(text, start):
    """([argument], end) of the call whose opening bracket is before `start`; strings are kept whole."""
    found, current, depth, position = [], "", 0, start
    while position < len(text):
        character = text[position]
        if character == '"':
            end = position + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            current += text[position:end + 1]
            position = end
        elif character in ")]}" and depth == 0:
            return found + [current.strip()], position
        elif character == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            depth += (character in "([{") - (character in ")]}")
            current += character
        position += 1
    raise ValueError("a row that is not closed")


def opening(text):
    """The prose of the opening comment, up to the column line, and what follows it."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//") or line.startswith("// clang-format"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def columns_of(comment, macro):
    match = re.search(rf"\b{macro}\(([^)]*)\)", comment)
    return [name.strip() for name in match[1].split(",")] if match else []


def cell(text):
    """An argument as a table cell: C++ strings joined and without quotes."""
    strings = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    if strings and re.fullmatch(r'(\s*"(?:\\.|[^"\\])*")+\s*', text):
        text = "".join(strings).replace('\\"', '"').replace("\\\\", "\\")
        return text.replace("|", "\\|").replace("<", "&lt;")
    return f"`{text}`" if text else ""


def expand(text):
    """The table without its own `#define`s, their rows written out (the bodies paste with ## and by juxtaposition)."""
    macros = {}
    define = re.compile(r"^#define (\w+)\(([^)]*)\)((?:.*\\\n)*.*\n)", re.MULTILINE)
    for name, parameters, body in define.findall(text):
        macros[name] = ([each.strip() for each in parameters.split(",")], body.replace("\\\n", "\n"))
    text = re.sub(r"^#(define|undef)(?:.*\\\n)*.*\n", "", text, flags=re.MULTILINE)
    call = re.compile(rf"^[ \t]*({'|'.join(macros)})\(", re.MULTILINE)
    while macros and (found := call.search(text)):
        parameters, body = macros[found[1]]
        given, end = arguments(text, found.end())
        for parameter, value in zip(parameters, given):
            body = re.sub(rf"(##)?\b{parameter}\b(##)?", lambda _, value=value: value, body)
        text = text[:found.start()] + re.sub(r"^[ \t]+", "", body, flags=re.MULTILINE) + text[end + 1:].lstrip("\n")
    return text


def page(title, source, text):
    """The page as text: one table for each run of rows with the same macro."""
    text = expand(text)
    comment = opening(text)
    prose = re.split(r"\n\s*\n|\n\s*[A-Z_]+\(", comment)[0].replace("\n", " ")
    # What follows the line of the columns explains them.
    legend = re.sub(r"\A.*?((\n|\A)[ \t]*[A-Z_]+\([^)]*\)[:.]?)+", "", comment, flags=re.DOTALL).strip()
    lines = [f"# {title}", "", f"Made from `{source}` by `./dev docs`.", "", prose, ""]
    if legend:
        lines += ["```", legend, "```", ""]
    body = "\n".join(" " * len(line) if line.startswith("#") else line for line in text.split("\n"))
    marks = sorted([(m.start(), "row", m) for m in ROW.finditer(body)]
                   + [(m.start(), "section", m) for m in
                      re.finditer(r"^// -{3,} (.*?) *-*$", body, re.MULTILINE)])
    previous = None
    for _, kind, match in marks:
        if kind == "section":
            lines += ["", f"## {match[1][:1].upper() + match[1][1:]}", ""]
            previous = None
            continue
        cells, _ = arguments(body, match.end())
        if match[1] != previous:
            names = columns_of(comment, match[1]) or [""] * len(cells)
            lines += ["", "| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
            previous = match[1]
        lines.append("| " + " | ".join(cell(text) for text in cells) + " |")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def write(name, text):
    path = harness.ROOT / "docs" / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(f"wrote docs/{name}")


def stdlib_page(posset):
    """The text of docs/stdlib.md, from the command."""
    done = harness.run([*posset, "doc"])
    if done.status != 0 or not done.stdout.startswith("# "):
        raise harness.Failure(f"`posset doc` ended with {done.status}\n{done.stderr}")
    return done.stdout


def rows_of(source, macro):
    """[[argument]] of each row of a table, strings without their quotes."""
    text = (harness.ROOT / source).read_text(encoding="utf-8")
    code = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    rows = [arguments(code, found.end())[0] for found in re.finditer(rf"\b{macro}\(", code)]
    return [["".join(re.findall(r'"((?:\\.|[^"\\])*)"', each)) if each.startswith('"') else each for each in row]
            for row in rows]


def reason_rows():
    """The rows of the table of reasons, in the order in which `posset why` lists them."""
    return rows_of("interp/syntax/reasons.def", "REASON")


def reasons_page():
    """The text of docs/reasons.md."""
    lines = ["# Why a unit is not in a higher tier, or does not fork", "",
             "Made from `interp/syntax/reasons.def` by `./dev docs`. `posset why REASON`",
             "prints a section of this page, `posset why NAME FILE` runs a file and says which of them hold for its units of",
             "that name. The set is closed: explanations and traces say nothing else.", ""]
    for name, text, page_text in reason_rows():
        prose = page_text.replace("<", "&lt;").replace('\\"', '"').replace("\\\\", "\\")
        lines += [f"## `{name}`", "", f"*{text.replace('&', '&amp;')}*", "", prose, ""]
    return "\n".join(lines)


def events_table(source):
    """A table of the events of a .def file, with their fields."""
    lines = ["| event | when | fields |", "| --- | --- | --- |"]
    for name, meaning, fields in rows_of(source, "EVENT"):
        named = ", ".join(f"`{field}` {kind}" for kind, field in re.findall(r"FIELD\((\w+), (\w+)\)", fields))
        lines.append(f"| `{name}` | {meaning} | {named} |")
    return "\n".join(lines)


def trace_page():
    """docs/trace.md with its tables of events made anew."""
    text = (harness.ROOT / "docs" / "trace.md").read_text(encoding="utf-8")
    mark = re.compile(r"(<!-- made from (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return mark.sub(lambda found: found[1] + events_table(found[2]) + "\n" + found[3], text)


def main():
    parser = argparse.ArgumentParser(description="Writes the pages of docs/ that come from tables.")
    parser.add_argument("--posset", default="build/posset")
    options = parser.parse_args()
    for source, name, title in TABLES:
        write(name, page(title, source, (harness.ROOT / source).read_text(encoding="utf-8")))
    write("reasons.md", reasons_page())
    write("trace.md", trace_page())
    write("stdlib.md", stdlib_page(harness.posset_command(options.posset)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
