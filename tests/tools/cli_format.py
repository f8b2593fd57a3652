"""Command-line cases: `posset fmt`. What it does with files; the layout itself, one rule a row; and that it keeps every
program of the checkout: its lines, what stands in them, and a second run changes nothing."""

import os
import re
import stat
import threading

import harness
from cli_case import case, each

UNTIDY = "let x=1\nprintln( x )\n"
TIDY = "let x = 1\nprintln(x)\n"


def read(cli, name):
    return (cli.folder / name).read_bytes().decode("utf-8")


def expect(cli, name, text):
    if read(cli, name) != text:
        raise harness.Failure(f"{name} is not as it should be\n" + harness.difference(text, read(cli, name)))


# ---- files ----

@case
def fmt_rewrites_files_and_says_nothing(cli):
    cli.write("a.posset", UNTIDY)
    cli.write("b.posset", UNTIDY + "\n\n")
    outcome = cli("fmt", "a.posset", "b.posset").ends(0).prints("")
    if outcome.stderr:
        outcome.fail("nothing should be said")
    expect(cli, "a.posset", TIDY)
    expect(cli, "b.posset", TIDY)
    if sorted(os.listdir(cli.folder)) != ["a.posset", "b.posset"]:
        outcome.fail(f"something is left: {os.listdir(cli.folder)}")


@case
def fmt_does_not_touch_a_file_that_has_its_layout(cli):
    path = cli.folder / cli.write("a.posset", TIDY)
    before = path.stat()
    cli("fmt", "a.posset").ends(0).prints("")
    after = path.stat()
    if (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns):
        raise harness.Failure("the file was written")


@case
def fmt_keeps_permissions_and_follows_links(cli):
    path = cli.folder / cli.write("a.posset", UNTIDY)
    path.chmod(0o751)
    (cli.folder / "link.posset").symlink_to("a.posset")
    cli("fmt", "link.posset").ends(0)
    expect(cli, "a.posset", TIDY)
    if stat.S_IMODE(path.stat().st_mode) != 0o751 or not (cli.folder / "link.posset").is_symlink():
        raise harness.Failure("permissions or the link are lost")


@case
def fmt_of_a_dash_is_a_filter(cli):
    cli("fmt", "-", stdin=UNTIDY).ends(0).prints(TIDY)
    cli("fmt", "-", stdin=TIDY).ends(0).prints(TIDY)
    cli("fmt", "-", stdin="let = 1").ends(3).prints("").diagnoses("expected a name", at=(1, 5)).says("<stdin>:1:5")


@case
def fmt_check_names_what_would_change_and_changes_nothing(cli):
    cli.write("a.posset", UNTIDY)
    cli.write("b.posset", TIDY)
    cli.write("c.posset", UNTIDY)
    outcome = cli("fmt", "--check", "a.posset", "b.posset", "c.posset").ends(1).prints("")
    if outcome.stderr != "a.posset\nc.posset\n":
        outcome.fail("standard error should be the two names")
    expect(cli, "a.posset", UNTIDY)
    cli("fmt", "--check", "b.posset").ends(0).prints("").says_not("b.posset")
    cli("fmt", "--check", "-", stdin=UNTIDY).ends(1).prints("").says("<stdin>")


@case
def fmt_leaves_what_does_not_parse_and_does_the_others(cli):
    wrong = "let x=1\nlet  y = )\n"
    cli.write("wrong.posset", wrong)
    cli.write("a.posset", UNTIDY)
    cli("fmt", "wrong.posset", "a.posset").ends(3).diagnoses("found ')'", at=(2, 10)).says("wrong.posset:2:10")
    expect(cli, "wrong.posset", wrong)
    expect(cli, "a.posset", TIDY)
    cli.write("a.posset", UNTIDY)
    cli("fmt", "--check", "a.posset", "wrong.posset").ends(3).says("a.posset\n", "wrong.posset:2:10")


@case
def fmt_of_what_cannot_be_read_or_written_is_wrong_usage(cli):
    cli.write("a.posset", UNTIDY)
    cli("fmt", "absent.posset", "a.posset").ends(2).says("absent.posset")
    expect(cli, "a.posset", TIDY)
    cli.write("wrong.posset", "let = 1")
    cli("fmt", "absent.posset", "wrong.posset").ends(2).says("absent.posset", "wrong.posset:1:5")
    cli("fmt", ".").ends(2).says("it is a directory")
    cli("fmt").ends(2).says("no file given")
    cli("fmt", "--json", "a.posset").ends(2)


@case
def fmt_replaces_regular_files_only(cli):
    """Not one like /dev/stdin, which a failure of this case must not replace either."""
    pipe = cli.folder / "pipe.posset"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[UNTIDY.encode()], daemon=True).start()  # waits for a reader
    cli("fmt", "pipe.posset").ends(2).says("cannot write pipe.posset: it is no regular file")
    if not pipe.is_fifo():
        raise harness.Failure("the pipe was replaced")


@case
def fmt_needs_no_names_and_no_imports(cli):
    cli("fmt", "-", stdin='import "nowhere"\nunknown( 1 )\n').ends(0).prints('import "nowhere"\nunknown(1)\n')


@each({"invalid_utf8": b"let x=1\nlet y=\"\xff\"\n", "nul": b"let x=1\n\0\n"})
def fmt_refuses_what_is_no_text(cli, source):
    cli.write("a.posset", source)
    cli("fmt", "a.posset").ends(3).says("a.posset:2:")
    if (cli.folder / "a.posset").read_bytes() != source:
        raise harness.Failure("the file was changed")


@each({"brackets": ("(" * 900 + "1" + ")" * 900, 0), "too_deep": ("[" * 2000 + "]" * 2000, 3),
       "lines": ("[\n" * 900 + "]\n" * 900, 0), "blocks": ("do {\n" * 900 + "}\n" * 900, 0),
       "else_if": ("if a { 1 }" + "\nelse if b { 2 }" * 100000, 0)})
def fmt_stands_depth(cli, source):
    text, status = source
    outcome = cli("fmt", "-", stdin=text).ends(status)
    if status == 0:
        cli("fmt", "-", stdin=outcome.stdout).ends(0).prints(outcome.stdout)


@case
def fmt_takes_time_linear_in_the_source(cli):
    many = "println( 1,2 ) # one\n" * 100000
    cli("fmt", "-", stdin=many).ends(0).prints("println(1, 2) # one\n" * 100000)
    cli("fmt", "-", stdin="[" + "1," * 1000000 + "]").ends(0).prints("[" + "1, " * 999999 + "1,]\n")
    cli("fmt", "-", stdin="#\n" * 500000).ends(0).prints("#\n" * 500000)


# ---- the layout ----

# A text of one or more lines, and what it becomes.
LAYOUT = {
    # spaces
    "operators": ("a=b+c*d**e//f%g-h|i&j^k<<l>>m\n", "a = b + c * d ** e // f % g - h | i & j ^ k << l >> m\n"),
    "wrapping": ("a+%b-%c*%d\n", "a +% b -% c *% d\n"),
    "comparisons": ("a==b and c!=d or not(e<=f)\n", "a == b and c != d or not (e <= f)\n"),
    "assignments": ("a+=1;b  ??=  2\n", "a += 1; b ??= 2\n"),
    "pipes": ("x|>f??y\n", "x |> f ?? y\n"),
    "a_minus_before_its_operand": ("f( - x, 1 - - 2, [ - 1 ], a - -b, --c)\n", "f(-x, 1 - -2, [-1], a - -b, - -c)\n"),
    "a_minus_after_a_word": ("return - 1\nif a { - 1 } else { a.in - 1 }\n", "return -1\nif a { -1 } else { a.in - 1 }\n"),
    "a_minus_that_starts_a_line": ("a\n- b\n(a\n- b)\n", "a\n-b\n(a\n  - b)\n"),
    "an_ampersand": ("f(& x,y&z)\nwith t = & x.y { t }\n", "f(&x, y & z)\nwith t = &x.y { t }\n"),
    "tilde": ("~ x + ~ ~y\n", "~x + ~~y\n"),
    "ranges": ("for i in 0 .. n { xs[1 ..= 2] }\n", "for i in 0..n { xs[1..=2] }\n"),
    "spreads": ("f(.. xs, [ .. a, ..b ], { .. p })\nlet [a, .. , b] = c\n", "f(..xs, [..a, ..b], {..p})\nlet [a, .., b] = c\n"),
    "calls_and_indexes": ("f (x) [ 1 ] (y)\nif (a) { (b) }\n", "f(x)[1](y)\nif (a) { (b) }\n"),
    "brackets_behind_words": ("for [a,b] in[c] { return[a] }\n", "for [a, b] in [c] { return [a] }\n"),
    "fields": ("a . b ?. c . d( )\n", "a.b?.c.d()\n"),
    "words_as_fields": ("r.if (1)\nr.in [1]\n{if:1,else:2}\n", "r.if(1)\nr.in[1]\n{if: 1, else: 2}\n"),
    "maps": ("[ : ]\n[ \"a\" :1 , 2:\"b\" ,]\n", "[:]\n[\"a\": 1, 2: \"b\",]\n"),
    "records": ("f({ x:1 , y },{ })\n", "f({x: 1, y}, {})\n"),
    "a_record_starts_a_statement": ("{ a : 1 }\n", "{a: 1}\n"),
    "blocks": ("if a {b}else{c}\nwhile true {}\nwhile false {}\ntry {}catch e{}\ndo{x}\n",
               "if a { b } else { c }\nwhile true { }\nwhile false { }\ntry { } catch e { }\ndo { x }\n"),
    "a_record_in_a_head": ("if { a : 1 }=={ a : 1 }{ b }\n", "if {a: 1} == {a: 1} { b }\n"),
    "after_an_arrow": ("f(x=>{x},x=>{x:1},x=>{in:1},x=>{..x},()=>{})\n",
                       "f(x => { x }, x => {x: 1}, x => {in: 1}, x => {..x}, () => { })\n"),
    "after_an_arrow_over_comments": ("f(x => { # one\n x : 1 })\n", "f(x => { # one\n  x: 1})\n"),
    "functions": ("pure fn  f (inout a,b:int?=1,..c)->[float]{a}\nfn g( )=>nil\n",
                  "pure fn f(inout a, b: int? = 1, ..c) -> [float] { a }\nfn g() => nil\n"),
    "results_that_are_words": ("fn f()->nil{nil}\nfn g()->fn{f}\nfn h()->int?{1}\n",
                               "fn f() -> nil { nil }\nfn g() -> fn { f }\nfn h() -> int? { 1 }\n"),
    "types": ("type  T=A( x:int )|B\n", "type T = A(x: int) | B\n"),
    "imports": ("import { a,b  as c }from \"m\"\nimport \"m\"  as n\n", "import {a, b as c} from \"m\"\nimport \"m\" as n\n"),
    "matches": ("match v {0|1=>a,{x,..r}if x>0=>b,Circle (r)=>c}\n", "match v { 0 | 1 => a, {x, ..r} if x > 0 => b, Circle(r) => c }\n"),
    "comprehensions": ("[ for x in xs if c=>x ]\n", "[for x in xs if c => x]\n"),
    "a_way_out_in_a_head": ("while a or continue{b}\n", "while a or continue { b }\n"),
    "semicolons": ("a ;b;;c ;\n", "a; b;; c;\n"),
    "tasks": ("await  spawn f (x)\n", "await spawn f(x)\n"),
    # what stays
    "strings": ("println( \"a  {x+1 :>3}  b\",'  raw{ x+1}' )\n", "println(\"a  {x+1 :>3}  b\", '  raw{ x+1}')\n"),
    "strings_over_lines": ("f( \"\"\"\n   a  \n\t{ [1,\n2] }\n \"\"\",1 )\n", "f(\"\"\"\n   a  \n\t{ [1,\n2] }\n \"\"\", 1)\n"),
    "nested_strings": ("f( \"{ \"{a+b}\" }\" )\n", "f(\"{ \"{a+b}\" }\")\n"),
    "shebang": ("#!/usr/bin/env  posset \n#  a comment  \nx\n", "#!/usr/bin/env  posset \n#  a comment\nx\n"),
    "directives": ("x # expect: 1 \n# expect runtime error:  \n# test: \n", "x # expect: 1 \n# expect runtime error:  \n# test: \n"),
    "a_byte_order_mark": ("\ufeff  x\n", "\ufeffx\n"),
    "line_breaks": ("f(\n1,\n2 )\n", "f(\n  1,\n  2)\n"),
    "nothing": ("", ""),
    "only_blanks": (" \n\n\t\n", ""),
    "only_a_comment": ("\n\n  # one", "# one\n"),
    # white space
    "windows_line_ends": ("x\r\n\"\"\"\r\n a\r\n \"\"\" # b\r\n", "x\n\"\"\"\n a\n \"\"\" # b\n"),
    "tabs": ("if a {\n\tb\t+\tc\n\t}\n", "if a {\n  b + c\n}\n"),
    "no_line_end": ("x", "x\n"),
    "empty_lines": ("\n\n\na\n\n\n\nb\n\n\n", "a\n\nb\n"),
    "empty_lines_in_brackets": ("if a {\n\n  b\n\n  c\n\n}\nf(\n\n  1,\n\n)\n", "if a {\n  b\n\n  c\n}\nf(\n  1,\n)\n"),
    "empty_lines_around_comments": ("if a { # one\n\n  # two\n\n  b\n  # three\n\n}\n",
                                    "if a { # one\n  # two\n\n  b\n  # three\n}\n"),
    # indentation
    "blocks_nest": ("fn f() {\nif a {\nb\n}\n}\n", "fn f() {\n  if a {\n    b\n  }\n}\n"),
    "brackets_of_one_line_count_once": ("f([{\na: 1,\n}],\nb)\n", "f([{\n  a: 1,\n}],\n  b)\n"),
    "what_closes_stands_with_what_opened": ("f(a, x => {\nb\n}, [\n1,\n])\n", "f(a, x => {\n  b\n}, [\n  1,\n])\n"),
    "what_opens_behind_what_closes": ("for x in [a,\nb] {\nf(x,\ny, z => {\nz\n}, () => {\nx\n})\n}\n",
                                      "for x in [a,\n  b] {\n  f(x,\n    y, z => {\n      z\n    }, () => {\n      x\n    })\n}\n"),
    "after_operators": ("let x = a +\nb *\nc\ny\n", "let x = a +\n  b *\n  c\ny\n"),
    "before_operators": ("let x = a\n|> f(1)\n.g\n?.h\n?? b\nand c\ny\n", "let x = a\n  |> f(1)\n  .g\n  ?.h\n  ?? b\n  and c\ny\n"),
    "a_continued_line_that_opens": ("a\n|> map(x => {\nx\n})\n|> f\n", "a\n  |> map(x => {\n    x\n  })\n  |> f\n"),
    "arrows": ("fn f(x) =>\nx\nmatch v {\n1 =>\na\n2 => b\n}\n", "fn f(x) =>\n  x\nmatch v {\n  1 =>\n    a\n  2 => b\n}\n"),
    "arms_after_commas": ("match v {\n1 => a,\n-1 => b,\n}\n", "match v {\n  1 => a,\n  -1 => b,\n}\n"),
    "alternatives": ("type T =\n| A\n| B\nmatch v {\n0\n| 1 =>\na\n}\n", "type T =\n  | A\n  | B\nmatch v {\n  0\n  | 1 =>\n    a\n}\n"),
    "statements_behind_semicolons": ("a\n|> f; b\n|> g\n", "a\n  |> f; b\n    |> g\n"),
    "elements_go_on": ("f(\na\n| b,\nc\n)\nf(a +\nb,\nc, d +\ne)\n", "f(\n  a\n    | b,\n  c\n)\nf(a +\n  b,\n  c, d +\n    e)\n"),
    "else_below_its_if": ("if a {\n1\n}\nelse if b {\n2\n}\nelse {\n3\n}\n", "if a {\n  1\n}\nelse if b {\n  2\n}\nelse {\n  3\n}\n"),
    "else_below_an_if_of_one_line": ("fn f() {\nif a { 1 }\n# one\nelse if b { 2 }\nelse { 3 }\n}\n",
                                     "fn f() {\n  if a { 1 }\n  # one\n  else if b { 2 }\n  else { 3 }\n}\n"),
    "else_below_more_of_its_chain": ("if a {\n1\n} else if b { 2 }\nelse { 3 }\n", "if a {\n  1\n} else if b { 2 }\nelse { 3 }\n"),
    "catch_below_its_try": ("try { 1 }\ncatch { 2 }\n", "try { 1 }\ncatch { 2 }\n"),
    "else_below_another_word": ("let x = if a { 1 }\nelse { 2 }\nlet y = try { 1 }\ncatch { 2 }\n",
                                "let x = if a { 1 }\n  else { 2 }\nlet y = try { 1 }\n  catch { 2 }\n"),
    "else_below_a_block": ("let x = if a {\n1\n}\nelse {\n2\n}\n", "let x = if a {\n  1\n}\nelse {\n  2\n}\n"),
    "words_as_fields_end_lines": ("r.in\ny\nr.not\ny\n", "r.in\ny\nr.not\ny\n"),
    "words_as_fields_start_lines": ("{\nelse: 1,\nin: 2,\n}\n", "{\n  else: 1,\n  in: 2,\n}\n"),
    # comments
    "comments_stand_with_the_code_below": ("a\n      # one\n|> f\n# two\nb\nif c {\n# three\n}\n",
                                           "a\n  # one\n  |> f\n# two\nb\nif c {\n  # three\n}\n"),
    "comments_behind_code": ("a# one\nbc # two\n\nd\t# three\n", "a # one\nbc # two\n\nd # three\n"),
    "comments_in_a_column_stay_there": ("let a=1       # one\n\nlet bc = 2    # two\n", "let a = 1     # one\n\nlet bc = 2    # two\n"),
    "comments_make_room": ("let a=b   # one\nlet abc=b # two\n", "let a = b   # one\nlet abc = b # two\n"),
    "comments_apart_make_no_room": ("let a=b   # one\n\nlet abc=b # two\n", "let a = b # one\n\nlet abc = b # two\n"),
    "comments_without_room": ("f(a,b,c,d)  # one\n", "f(a, b, c, d) # one\n"),
    "comments_go_on_below": ("f(a,b) # one\n       # two\n# three\ng()\n", "f(a, b) # one\n        # two\n# three\ng()\n"),
    "comments_below_an_empty_line_do_not": ("x # one\n\n  # two\n", "x # one\n\n# two\n"),
    "comments_behind_wide_letters": ("f( \"日本\" ) # one\nf(\"abcdef\") # two\n", "f(\"日本\")   # one\nf(\"abcdef\") # two\n"),
    "comments_behind_strings_over_lines": ("x     # one\n\"\"\"\n\"\"\"+1 # two\n", "x     # one\n\"\"\"\n\"\"\" + 1 # two\n"),
    "comments_behind_what_opens": ("f( # one\n1)\n", "f( # one\n  1)\n"),
}


@each(LAYOUT)
def fmt_lays_out(cli, texts):
    given, wanted = texts
    outcome = cli("fmt", "-", stdin=given).ends(0)
    if outcome.run.stdout != wanted:
        outcome.fail(harness.difference(wanted, outcome.stdout))
    cli("fmt", "--check", "-", stdin=wanted).ends(0)


# ---- the checkout ----

CORPUS = ["examples", "bench", "tests/lang", "tests/fuzz/seeds", "tests/golden/bytecode"]


def written(text):
    """The lines that hold something, each without white space: what a layout must not change."""
    lines = [re.sub(r"\s+", "", line) for line in text.replace("\r\n", "\n").split("\n")]
    return [line for line in lines if line]


def programs():
    """{path in the checkout: bytes} of every program of the corpus."""
    paths = [path for folder in CORPUS for path in sorted((harness.ROOT / folder).rglob("*.posset"))]
    if len(paths) < 500:
        raise harness.Failure(f"only {len(paths)} programs: the corpus is not what it was")
    return {str(path.relative_to(harness.ROOT)): path.read_bytes() for path in paths}


@case
def fmt_keeps_every_program_of_the_checkout(cli):
    sources = programs()
    for name, source in sources.items():
        cli.write(name, source)
    cli("fmt", *sources, timeout=60.0).ends(0, 3).says_not("internal error")
    changed = [name for name in sources if (cli.folder / name).read_bytes() != sources[name]]
    for name in changed:
        if written(read(cli, name)) != written(sources[name].decode("utf-8")):
            raise harness.Failure(f"{name} is another program now")
    cli("fmt", "--check", *changed, timeout=60.0).ends(0)


@case
def fmt_gives_one_layout_however_a_program_was_typed(cli):
    """All lines at the margin, and twice the empty lines. Columns of comments are the author's, so they are not looked at."""
    names = []
    for name, source in programs().items():
        text = source.decode("utf-8", errors="replace")
        if '"""' in text or "\ufffd" in text:
            continue  # a string may hold lines; no text
        lines = [line.strip() for line in re.split(r"\r?\n", text)]
        cli.write("typed/" + name, text)
        cli.write("margin/" + name, "\n".join(line or "\n" for line in lines))
        names.append(name)
    outcome = cli("fmt", *("typed/" + name for name in names), *("margin/" + name for name in names), timeout=120.0).ends(0, 3)
    wrong = {file for file, *_ in outcome.run.diagnostics("error")}  # stays as it was typed
    bare = lambda name: [re.sub(r"\s*#.*", " #", line) for line in read(cli, name).rstrip("\n").split("\n")]
    differ = [name for name in names if "typed/" + name not in wrong and bare("typed/" + name) != bare("margin/" + name)]
    if differ:
        raise harness.Failure("another layout, typed without indentation: " + ", ".join(differ[:10]))


@case
def fmt_finds_nothing_to_do_in_examples_and_benchmarks(cli):
    files = [str(path) for folder in ("examples", "bench/programs") for path in (harness.ROOT / folder).rglob("*.posset")]
    cli("fmt", "--check", *sorted(files)).ends(0)


@case
def fmt_finds_nothing_to_do_in_the_page_that_describes_it(cli):
    page = (harness.ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```posset\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        cli("fmt", "-", stdin=block).ends(0).prints(block)
