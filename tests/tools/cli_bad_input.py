"""Command-line cases: input no program should meet. Each gets a clear error and nothing else: no crash,
no hang, no flood of text.
"""

from cli_case import case, each

DEEP = 100_000
HUGE = 50 * 1024 * 1024


@each({
    "parentheses": ("(", "1", ")"), "lists": ("[", "", "]"), "maps": ("[1: ", "2", "]"),
    "records": ("{a: ", "1", "}"), "calls": ("f(", "1", ")"), "indexes": ("x[", "0", "]"),
    "blocks": ("do { ", "1", " }"), "conditions": ("if true { ", "1", " }"),
    "negations": ("-", "1", ""), "nots": ("not ", "true", ""), "lambdas": ("x => ", "1", ""),
    "functions": ("fn () { ", "1", " }"), "matches": ("match 1 { _ => ", "1", " }"),
    "tries": ("try { ", "1", " } catch { 2 }"), "loops": ("while false { ", "1", " }"),
    "powers": ("2 ** ", "1", ""), "interpolations": ('"{', "1", '}"'),
})
def nesting_100_000_deep_is_an_error(cli, row):
    before, middle, after = row
    for source in (before * DEEP + middle + after * DEEP, before * DEEP):
        outcome = cli.script("let value = " + source + "\n").ends(3).prints("").is_brief()
        outcome.diagnoses("")
    cli.script("let value = " + before * DEEP + middle + after * DEEP).diagnoses("nested too deeply")


@each({"parentheses": ")", "brackets": "]", "braces": "}"})
def closing_100_000_times_is_an_error(cli, bracket):
    cli.script(bracket * DEEP).ends(3).is_brief(2_000_000)


@each({"patterns": "match 1 { " + "[" * DEEP + "]" * DEEP + " => 1 }",
       "destructuring": "let " + "[" * DEEP + "a" + "]" * DEEP + " = 1",
       "annotations": "let a: " + "[" * DEEP + "int" + "]" * DEEP + " = 1"})
def nested_patterns_and_types_are_an_error(cli, source):
    cli.script(source).ends(3).prints("").is_brief().diagnoses("nested too deeply")


@each({"sum": "println(" + " + ".join(["1"] * DEEP) + ")",
       "and": "println(" + " and ".join(["true"] * DEEP) + ")",
       "pipes": "println(1" + " |> abs" * DEEP + ")",
       "methods": "println(1" + ".abs()" * DEEP + ")",
       "else_if": "let x = if false { 1 }" + " else if false { 2 }" * DEEP,
       "commas": "println(len([" + "1, " * DEEP + "]))",
       "semicolons": "let x = 1; " * DEEP,
       "lines": "println(1)\n" * 20_000,
       "functions": "".join(f"fn f{i}() => {i}\n" for i in range(20_000)),
       "string_pieces": 'println(len("' + "{1}" * 20_000 + '"))'})
def long_flat_code_runs_or_is_refused(cli, source):
    cli.script(source, timeout=40).ends(0, 3).is_brief()


@case
def deep_values_are_built_printed_compared_and_freed(cli):
    source = ("var a = []\nvar b = []\nfor i in 0..1000000 {\n  a = [a]\n  b = [b]\n}\n"
              "println(try { a == b } catch e { e.message })\n"
              "println(try { len(str(a)) > 0 } catch e { e.message })\n")
    for tier in (["--tier", "0"], ["--force-tier", "1"]):
        cli.script(source, *tier, "--stats", timeout=40).ends(0, 1, 4).is_brief()


@case
def a_million_calls_deep_is_a_stack_overflow(cli):
    source = "fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\nprintln(f(1000000))\n"
    for tier in (["--tier", "0"], ["--force-tier", "1"], []):
        cli.script(source, *tier).ends(4).prints("").diagnoses("stack overflow").is_brief()


@case
def a_tail_call_a_million_deep_is_fine(cli):
    source = "fn f(n, acc) => if n == 0 { acc } else { f(n - 1, acc + 1) }\nprintln(f(1000000, 0))\n"
    for tier in (["--tier", "0"], ["--force-tier", "1"]):
        cli.script(source, *tier).ends(0).prints("1000000\n")


@each({
    "comment": (b"#" * HUGE + b"\nprintln(1)\n", 0), "spaces": (b" " * HUGE + b"println(1)\n", 0),
    "string": (b'println(len("' + b"a" * HUGE + b'"))\n', 0), "name": (b"a" * HUGE + b"\n", 3),
    "digits": (b"println(" + b"9" * HUGE + b")\n", 3), "garbage": (b"?" * HUGE, 3),
    "open_string": (b'"' + b"a" * HUGE, 3), "error_at_its_end": (b"println(1)" + b" " * HUGE + b")", 3),
})
def a_line_of_50_megabytes(cli, row):
    source, status = row
    outcome = cli.script(source, timeout=60).ends(status, 3).is_brief(100_000)
    if status == 3:
        outcome.diagnoses("")


@each({"list": (b"let xs = [", b"0,", b"]\n"), "sum": (b"let x = 1", b"+1", b"\n"),
       "statements": (b"", b"1;", b"\n")})
def a_line_of_50_megabytes_of_code(cli, row):
    before, piece, after = row
    # What matters is the size, and a sanitizer makes of it minutes.
    size = HUGE // 20 if cli.sanitized else HUGE
    cli.script(before + piece * (size // len(piece)) + after, "--memory-limit", "4000000000",
               timeout=120).ends(0, 3, 4).is_brief()


INVALID = {
    "stray_continuation": b"\x80", "overlong": b"\xc0\xaf", "surrogate": b"\xed\xa0\x80",
    "too_high": b"\xf4\x90\x80\x80", "cut_short": b"\xe2\x82", "bytes_ff": b"\xff\xfe",
}


@each(INVALID)
def invalid_utf8_is_an_error_wherever_it_stands(cli, rubbish):
    for before, after in ((b"let x = 1\n", b"\n"), (b'let x = "', b'"\n'), (b"let x = '", b"'\n"),
                          (b"# ", b"\n"), (b"let ", b" = 1\n"), (b'let x = """', b'"""\n'),
                          (b"println(1)\n", b"")):
        outcome = cli.script(before + rubbish + after).ends(3).prints("").diagnoses("utf-8")
        try:
            outcome.run.raw_stderr.decode("utf-8")
        except UnicodeDecodeError:
            outcome.fail("standard error is not valid UTF-8 itself")


@each({"code": b"let x\0 = 1\n", "string": b'let x = "a\0b"\n', "comment": b"# a\0b\nprintln(1)\n",
       "alone": b"\0", "end": b"println(1)\n\0"})
def a_nul_byte_is_an_error(cli, source):
    cli.script(source).ends(3).prints("").diagnoses("")


@each({"random_bytes": bytes((i * 7919 + (i >> 3) * 31) % 256 for i in range(5000)),
       "elf": b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "utf16": "println(1)".encode("utf-16")})
def a_binary_file_is_an_error(cli, source):
    cli.script(source).ends(3).prints("").is_brief().diagnoses("")


UNTERMINATED = [
    '"abc', "'abc", '"""abc', '"{1', '"{', '"{x:', '"{1:>', '"{1:.3f', '"{"', '"\\', '"\\u', '"\\u{12',
    '"\\u{}"', "(", "[", "[1, 2", "[1:", "[1: 2,", "{a: 1", "{a:", "{a: 1,", "{..", "f(", "f(1,", "f(&",
    "x[", "x[0", "x[0,", "x.", "x?.", "x ??", "1 +", "1 ..", "-", "not", "not 1 in", "1 in", "x =>",
    "(x) =>", "(x", "(x,", "fn", "fn f", "fn f(", "fn f(x", "fn f(x:", "fn f(x =", "fn f(..", "fn f()",
    "fn f() =>", "fn f() ->", "fn f() {", "fn f() { 1", "fn (", "pure", "pure fn", "let", "let x", "let x =",
    "let [", "let [a", "let [a,", "let [..", "let {", "let {a", "let {a:", "var", "var x =", "x = ", "x +=",
    "if", "if true", "if true {", "if true { 1", "if true { 1 } else", "if true { 1 } else {", "while",
    "while true", "while true {", "for", "for x", "for x in", "for x in 1..3", "for x in 1..3 {", "do", "do {",
    "match", "match 1", "match 1 {", "match 1 { 1", "match 1 { 1 =>", "match 1 { 1 |", "match 1 { [",
    "match 1 { A(", "match 1 { n if", "try", "try {", "try { 1 }", "try { 1 } catch", "try { 1 } catch e {",
    "throw", "with", "with t", "with t =", "with t = &", "with t = &x", "with t = &x {", "import",
    "import {", "import {a", "import {a}", "import {a} from", 'import "a" as', "export fn",
    "type T =", "type T = A(", "type T = A |", "type T = A(x:", "[x for", "[x for x in", "[x for x in xs if",
    "return +", "spawn", "await", "1 |>", "a.b.", "0x", "0b", "0o", "1e", "1.5e", "1_", "0x_", "1 if", "#!(\n(",
]


@each({f"{number:03}": text for number, text in enumerate(UNTERMINATED)})
def an_unterminated_construct_is_an_error(cli, source):
    for variant in (source, source + "\n", source + "\n\nlet after = 1\n"):
        cli.script("var x = [1]\n" + variant).ends(3).prints("").diagnoses("").is_brief()


@each({"int": "9223372036854775808", "long_int": "9" * 400, "negated_too_far": "-9223372036854775809",
       "subtracted": "0 - 9223372036854775808", "hex": "0x8000000000000000", "hex_long": "0x" + "f" * 40,
       "binary": "0b1" + "0" * 63, "octal": "0o1000000000000000000000", "float": "1e999",
       "float_negative": "-1e999", "float_long": "1" * 400 + ".0", "leading_zero": "007",
       "unicode_escape": '"\\u{110000}"', "surrogate_escape": '"\\u{D800}"',
       "long_escape": '"\\u{' + "0" * 100 + '}"', "width": '"{1:' + "9" * 30 + '}"'})
def a_literal_out_of_range_is_an_error(cli, literal):
    cli.script(f"let x = {literal}\n").ends(3).prints("").diagnoses("")


@case
def literals_at_the_edge_are_fine(cli):
    cli.script("println(9223372036854775807)\nprintln(-9223372036854775808)\n"
               "println(0x7fffffffffffffff)\nprintln(1e308)\n").ends(0)


@case
def a_cyclic_import_shows_the_cycle(cli):
    cli.write("a.posset", 'import "b"\nexport let x = 1\n')
    cli.write("b.posset", 'import "c"\nexport let x = 1\n')
    cli.write("c.posset", 'import "a"\nexport let x = 1\n')
    cli("run", "a.posset").ends(3).diagnoses("cycle").says("a -> b -> c -> a")
    cli.script('import "a"').ends(3).diagnoses("cycle")
    cli.write("self.posset", 'import "self"')
    cli("run", "self.posset").ends(3).diagnoses("cycle")


@case
def an_import_that_is_not_there_is_an_error(cli):
    cli.script('println("ran")\nimport "absent"').ends(3).prints("").diagnoses("absent", at=(2, 8))


@each({"folder": 'import "folder"', "empty": 'import ""', "nul": 'import "a\\0b"', "dots": 'import ".."',
       "long": f'import "{"a" * 100_000}"', "device": 'import "/dev/zero"'})
def a_strange_import_is_an_error(cli, source):
    (cli.folder / "folder.posset").mkdir()
    cli.script(source).ends(2, 3).is_brief(400_000)


@case
def a_long_chain_of_imports_works(cli):
    for number in range(300):
        cli.write(f"m{number}.posset", f'import "m{number + 1}"\nexport fn f() => 1 + m{number + 1}.f()\n')
    cli.write("m300.posset", "export fn f() => 0\n")
    cli.script('import "m0"\nprintln(m0.f())').ends(0).prints("300\n")


@case
def strange_bytes_in_arguments_do_no_harm(cli):
    cli.script("for a in args { println(len(a) >= 0) }",
               arguments=[b"\xff\xfe".decode("utf-8", "surrogateescape"), "é", "\n"]).ends(0, 1, 2)


@each({"variable": ('let xs: [int] = [1, "a"]', 'element 1 is str ("a")'),
       "argument": ("fn f(xs: [int]) => len(xs)\nf([1.5])", "element 0 is float (1.5)"),
       "result": ("fn f() -> [[num]?] { [nil, [1, 2.5], [3, true]] }\nf()", "in element 2, element 1 is bool (true)"),
       "field": ("type Box = Box(items: [str])\nBox([nil])", "element 0 is nil"),
       "declared": ("type Box = Box(items)\nlet xs: [Box] = [Box(1), 7]", "element 1 is int (7)")})
def what_keeps_a_list_from_fitting_is_told(cli, row):
    source, hint = row
    cli.script(source).ends(1).diagnoses("got list").says(hint)


@case
def what_is_no_list_has_no_element_that_does_not_fit(cli):
    cli.script('let xs: [int] = "abc"').ends(1).diagnoses("expected [int], got str").says_not("element")
