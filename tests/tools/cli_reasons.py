"""Command-line cases: every reason code of interp/syntax/reasons.def is provoked by a test. By a script and
`posset why NAME FILE`, a row of PROVOKED; by a case below or in cli_cache.py, a row of BY_CASES; or, where no script can do it, by
the unit test that IN_UNIT_TESTS names.

A row of PROVOKED is the unit's name, the source and options. In a forced tier compilation happens at once,
so those runs do not depend on time; `why` waits for the others' compilations.
"""

import ctypes
import json
import re

import cli_cache
import harness
import make_docs
from cli_case import case, each
from harness import Failure, Skip

FORCED = ["--force-tier", "1"]


def lines(count, line):
    return "\n".join(line.replace("#", str(number)) for number in range(count))


# More than are compiled while the first is; each is a unit of its own, and all are called f.
LONG = "fn long(y) {\nvar x = y\n" + lines(5000, "x = x + #") + "\nx\n}\nlong(1)\nlong(2)\n"
MANY_AT_ONCE = LONG + lines(3000, "do {\nfn f(x) => x + #\nf(1)\nf(2)\n}")

WORK = "fn work(n) => if n < 2 { n } else { work(n - 1) }\n"

PROVOKED = {
    "not_hot": ("f", "fn f(x) => x\nf(1)", []),
    "queue_full": ("f", MANY_AT_ONCE, []),
    "evicted": ("f0", lines(40, "fn f#(x) => x + #\nf#(1)\nf#(2)\nf#(3)"), ["--code-limit", "4000", *FORCED]),
    "above_highest": ("f", "fn f(x) => x\nfor i in 0..9 { f(i) }", ["--tier", "0"]),
    "nested_deeply": ("f", "fn f(x) => " + " ".join(f"if x == {n} {{ {n} }} else" for n in range(3500)) + " { x }\nf(1)", FORCED),
    "many_variables": ("f", f"fn f(x) {{\n{lines(60100, 'let v# = x')}\nx\n}}\nf(1)", FORCED),
    "many_registers": ("f", f"fn f(x) {{\n{lines(59900, 'let v# = x')}\nmax({', '.join(['x'] * 200)})\n}}\nf(1)", FORCED),
    "many_constants": ("f", f"fn f(x) {{\n{lines(33000, 'x == 1000#')}\nx\n}}\nf(1)", FORCED),
    "many_descriptors": ("f", f"fn f(x) {{\n{lines(66000, 'x?.a#')}\nx\n}}\nf(nil)", FORCED),
    "many_arguments": ("f", f"fn g(..xs) => len(xs)\nfn f(x) => g({', '.join(['x'] * 1001)})\nf(1)", FORCED),
    "many_fields": ("f", "type T = C(" + lines(300, "a#,") + ")\nfn f(x) => C(" + "x, " * 300 + ")\nf(1)", FORCED),
    "long_list_pattern": ("f", "fn f(x) => match x { [" + lines(251, "a#,") + "] => 1\n _ => 2 }\nf([1])", FORCED),
    "far_jump": ("f", f"fn f(y) {{\nvar x = y\nif x == 1 {{\n{lines(40000, 'x = x + 1')}\n}}\nx\n}}\nf(2)", FORCED),
    "rest_in_alternatives": ("f", "fn f(x) => match x { [a, ..r] | {b: a, ..r} => a\n _ => 0 }\nf([1])", FORCED),
    "computed_default": ("f", "fn g() => [:]\nfn f(x) {\nvar m = [:]\nm[x, g()][x, g()] ??= 1\nm\n}\nf(1)", FORCED),
    "place_through_value": ("f", "fn f(a) { a.value.value.x = 1 }\nf(ref({value: {x: 1}}))", FORCED),
    "inout_value": ("f", "fn g(inout x) { x += 1 }\nfn f(h) {\nvar a = 1\nh(&a)\na\n}\nf(g)", FORCED),
    "inout_spread": ("f", "fn g(inout x, ..r) { x += 1 }\nfn f(r) {\nvar a = 1\ng(&a, ..r)\na\n}\nf([1])", FORCED),
    "optional_spread": ("f", "fn g(x, ..r) => x\nfn f(x, r) => x?.g(..r)\nf(nil, [1])", FORCED),
    "method_value": ("f", "fn f(g) {\nvar x = [1]\nx.g(2)\n}\nf((x, y) => x)", FORCED),
    "tail_call_in_loop": ("f", "fn f(n) {\nfor i in 0..3 {\nif n > 0 and i == 2 { return f(n - 1) }\n}\nn\n}\nf(100)", []),
    "imports": ("<top>", "import \"lib\"\nlib.f(1)", FORCED),
    "fork_off": ("f", WORK + "fn f(x) => work(x) + work(x)", ["--workers", "1"]),
    "fork_trivial": ("f", WORK + "fn f(x) => work(x) + 1", []),
    "fork_impure": ("f", WORK + "fn f(x) => work(x) + do { print(); work(x) }", []),
    "fork_unproved": ("f", WORK + "fn f(g) => work(1) + g.h(work(2))", []),
    "fork_dependent": ("f", WORK + "fn f(x) {\nlet a = work(x)\nlet b = work(a)\nb\n}", []),
    "fork_writes": ("f", WORK + "fn f(x) {\nvar a = 0\nwork(x) + do { a += 1; work(x) }\n}", []),
    "fork_many_inputs": ("f", WORK + "fn f(a, b, c, d, e, g, h) => work(a) + work(a + b + c + d + e + g + h)", []),
    "fork_leaves": ("f", WORK + "fn f(x) => work(x) + work(if x == 0 { return 0 } else { x })", []),
}
BY_CASES = {
    "being_compiled": "a_unit_is_being_compiled_while_the_script_goes_on",
    "session_input": "the_top_level_of_an_input_is_walked_and_the_trace_says_why",
    "executable_refused": "executable_memory_is_refused",
    "cache_corrupt": "a_corrupt_file_is_not_used_and_replaced",
    "cache_foreign": "a_foreign_file_is_not_used_and_replaced",
    "cache_unsafe": "a_directory_that_is_not_the_users_alone_is_not_used",
    "cache_unavailable": "a_directory_that_cannot_be_made_is_said_in_the_trace",
    "cache_unwritable": "a_directory_that_cannot_be_written_is_read_all_the_same",
    "not_built": "a_build_without_native_tiers_says_so",
}
# (the file, the test case)
DIVIDED = ("api/parallel_test.cpp", "parallel: explanations tell of every built-in and comprehension whether it is divided, and why not")

IN_UNIT_TESTS = {
    "stopped": ("api/tiering_test.cpp", "tiering: what waits when the runtime is closed was stopped, and so is what comes later"),
    "failed": ("api/tiering_test.cpp", "tiering: a compiler that has no memory failed, and the unit stays where it is"),
    "short_lived": ("api/tiering_test.cpp", "tiering: code that does not come again says that its evaluation ended first"),
    "idle": ("api/tiering_test.cpp", "tiering: a loop is not made native when it has ended long before"),
    "superseded": ("api/tiering_test.cpp", "tiering: a loop is not made native when the code around it has come meanwhile"),
    "after_quick": ("api/tiering_test.cpp", "tiering: optimised code is asked for when quick code is there"),
    "left_to_loops": ("api/native_test.cpp", "native: a function whose loop has native code is left to the walker until it is called often"),
    "exits_often": ("api/tiering_test.cpp", "tiering: code that exits again and again is given up"),
    "cache_stale": ("api/cache_test.cpp", "cache: code into which a function is inlined that is not here is stale"),
    "internal": ("bytecode/refusal_test.cpp", "bytecode: a node the compiler does not know is refused as internal"),
    "part_cheap": DIVIDED,
    "part_in_order": DIVIDED,
    "part_inout": DIVIDED,
}


@each(PROVOKED)
def a_reason_is_provoked(cli, row):
    name, source, options = row
    cli.write("lib.posset", "export fn f(x) => x\n")
    cli.write("a.posset", source)
    outcome = cli("why", *options, name, "a.posset", timeout=60).ends(0)
    reasons = set(re.findall(r"\[(\w+)\]", outcome.stdout))
    wanted = next(reason for reason, each_row in PROVOKED.items() if each_row is row)
    if wanted not in reasons:
        outcome.fail(f"does not say [{wanted}]")
    if f"\n{wanted}: " not in outcome.stdout:
        outcome.fail("does not say what the reason means")


def body_of_unit_test(file, name):
    """Its text; None when there is no test case of that name."""
    text = (harness.ROOT / "tests" / "unit" / file).read_text(encoding="utf-8")
    found = re.search(rf'^TEST_CASE\("{re.escape(name)}"\) \{{\n(.*?)^\}}', text, re.DOTALL | re.MULTILINE)
    return found and found[1]


@case
def every_reason_is_provoked_by_a_test(cli):
    rows = {row[0] for row in make_docs.reason_rows()}
    tables = [PROVOKED, BY_CASES, IN_UNIT_TESTS, NATIVE]
    tested = [reason for table in tables for reason in table]
    if rows != set(tested) or len(tested) != len(set(tested)):
        raise Failure(f"without a test: {sorted(rows - set(tested))}; of no row: {sorted(set(tested) - rows)}; "
                      f"in two tables: {sorted({each for each in tested if tested.count(each) > 1})}")
    for reason, (file, name) in IN_UNIT_TESTS.items():
        if not re.search(rf"\[{reason}\]|Reason::{reason}\b|reason={reason}\b", body_of_unit_test(file, name) or ""):
            raise Failure(f"tests/unit/{file} has no test case '{name}' about {reason}")
    for reason, name in BY_CASES.items():
        if not hasattr(globals().get(name, getattr(cli_cache, name, None)), "cases"):
            raise Failure(f"there is no case {name}, which is to provoke {reason}")
    listed = {line.split()[0] for line in cli("why").ends(0).stdout.splitlines()}
    if listed != rows:
        raise Failure(f"`posset why` lists {sorted(listed ^ rows)} or does not")


@case
def a_unit_is_being_compiled_while_the_script_goes_on(cli):
    # Asked in the call that crosses the threshold. The machine may leave the script alone for longer than the compiler
    # takes, but not time and again.
    source = "import \"runtime\"\n" + LONG.replace("var x = y", "var x = y\nprintln(runtime.explain(long))")
    if not any("[being_compiled]" in cli.script(source).ends(0).stdout for _ in range(5)):
        raise Failure("a unit this long should not be compiled by the next line")


@case
def the_top_level_of_an_input_is_walked_and_the_trace_says_why(cli):
    cli("repl", "--trace", "t.html", stdin="fn f(x) => x\nf(1) + f(2)\n").ends(0)
    page = (cli.folder / "t.html").read_text(encoding="utf-8")
    units = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])["units"]
    whys = {unit["name"]: {code for part in unit["parts"] for _, code, _ in part["why"]} for unit in units}
    if "session_input" not in whys["<top>"] or "session_input" in whys["f"]:
        raise Failure(f"the top level is a session's input, and the function is not: {whys}")


@case
def a_refusal_says_where_in_the_function_it_is(cli):
    cli.write("a.posset", "fn g(x) => x\nfn f(x) {\n  let y = x + 1\n  if x == 0 { x?.g(..[y]) }\n  y\n}\nfn h(x) {\n"
              "  let y = x + 1\n  if x == 0 {\n    x?.g(..[y]) }\n  y\n}\nf(1)\nh(1)\n")
    # They are one unit, and each is told its own place.
    for name, place in (("f", "4:15"), ("h", "10:5")):
        for verb in (["why", name, "a.posset"], ["explain", "a.posset", name]):
            outcome = cli(verb[0], *FORCED, *verb[1:]).ends(0)
            if f"  tier 1: an optional call with spread arguments, at a.posset:{place} [optional_spread]\n" not in outcome.stdout:
                outcome.fail(f"does not say where: {place}")
    cli("run", *FORCED, "--trace", "t.json", "a.posset").ends(0)
    if "tier 1: an optional call with spread arguments, at a.posset:4:15 [optional_spread]\n" not in cli("why", "f", "t.json").ends(0).stdout:
        raise Failure("the trace does not say where")


@case
def a_unit_that_tier_1_refused_is_not_called_cold_in_the_tiers_above(cli):
    cli.write("a.posset", "fn f(x) {\nif x == 0 { x?.f(..[]) }\nx\n}\nf(1)\nf(2)\nf(3)\n")
    outcome = cli("why", *FORCED, "f", "a.posset").ends(0)
    if "[not_built]" in outcome.stdout:
        raise Skip("no native tiers")
    cli("run", *FORCED, "--trace", "t.json", "a.posset").ends(0)
    for told in (outcome, cli("explain", *FORCED, "a.posset", "f").ends(0), cli("why", "f", "t.json").ends(0)):
        if "not_hot" in told.stdout:
            told.fail("it is not for want of heat")
        for level in (2, 3):
            if f"  tier {level}: needs tier 1: an optional call with spread arguments [optional_spread]\n" not in told.stdout:
                told.fail(f"does not say why there is no tier {level}")


@case
def a_loop_in_the_code_around_it_is_not_called_cold(cli):
    cli.write("a.posset", "fn f(n) { var t = 0\n for i in 0..n { t += i }\n t }\nf(0)\nf(3)\n")
    cli.write("b.posset", "var t = 0\nfor i in 0..9 {\n  for k in 0..9 { t += k } }\nimport \"lib\"")
    cli.write("lib.posset", "export let x = 1")
    outcome = cli("why", *FORCED, "<top>", "b.posset").ends(0)
    for line in ("loop 0 (b.posset:2:1): tier 1 (bytecode)\n", "loop 1 (b.posset:3:3): tier 1 (bytecode) as part of the code around it\n"):
        if line not in outcome.stdout:
            outcome.fail(f"does not say: {line}")
    outcome = cli("why", "--tier", "1", *FORCED, "f", "a.posset").ends(0)
    if "loop 0 (a.posset:2:2): tier 1 (bytecode) as part of the code around it\n" not in outcome.stdout or "not_hot" in outcome.stdout:
        outcome.fail("the loop runs in tier 1")


@case
def what_was_evicted_says_what_brings_it_back(cli):
    name, source, options = PROVOKED["evicted"]
    cli.write("a.posset", source)
    outcome = cli("why", *options, name, "a.posset").ends(0)
    if "its code was evicted: 2 executions are needed again [evicted]" not in outcome.stdout:
        outcome.fail("does not say when it will be compiled again")


@case
def explain_tells_what_forks_and_what_does_not(cli):
    cli.write("a.posset", WORK + "fn say(n) {\n  println(n)\n  work(n)\n}\nfn f(x) {\n  let a = work(x)\n  let b = work(a)\n"
              "  let c = work(x +\n    1)\n  [say(x), work(a), b, c]\n}")
    told = cli("explain", "--workers", "1", "a.posset", "f").ends(0)
    for line in ("  fork: 9:11 `work(x + 1)` beside 7:11 `work(x)`: one worker only [fork_off]\n",
                 "  no fork: 8:11 `work(a)` beside 7:11 `work(x)`: it needs what is only set before it: 'a' [fork_dependent]\n",
                 "  no fork: 11:4 `say(x)` beside 11:12 `work(a)`: it is not pure: calls 'say', and say calls 'println' [fork_impure]\n"):
        if line not in told.stdout:
            told.fail(f"does not say: {line}")


@case
def why_prints_the_page_of_a_reason(cli):
    outcome = cli("why", "not_hot").ends(0)
    if not outcome.stdout.startswith("not_hot: not hot yet\n\nThe unit has not"):
        outcome.fail("not the page of the reason")
    cli("why", "nosuch").ends(2).prints("").says("nosuch", "posset why")
    cli("why", "a", "b", "c").ends(2)


@case
def why_takes_the_file_on_either_side(cli):
    cli.write("a.posset", "fn f(x) => x\nf(1)\n")
    one, other = cli("why", "f", "a.posset").ends(0), cli("why", "a.posset", "f").ends(0)
    if one.stdout != other.stdout or "fn f (a.posset:1:1): tier 0 (walk)\n" not in one.stdout:
        one.fail("both orders should tell of f")
    cli("why", "g", "a.posset").ends(2).says("no unit called 'g'")
    cli("why", "f", "b.posset").ends(2).says("b.posset")
    cli("repl", stdin="fn f(x) => x\n:why f\n:why g\n").ends(0)


# ---- native tiers, which a build may lack ----

SIMPLE = "fn f(x) => x\nf(1)"
NATIVE = {
    "no_native_plugin": ("f", SIMPLE, ["--force-tier", "2", "--native-plugin", "libposset_no_such_thing.so"]),
    "not_translated": ("f", "fn f(x) {\n  var t = x\n" + "  t += 1\n" * 11000 + "  t\n}\nf(1)", ["--force-tier", "2"]),
}


def has_native(cli):
    return cli("eval", "--force-tier", "2", "1").ends(0, 2).status == 0


@each(NATIVE)
def a_reason_of_native_tiers_is_provoked(cli, row):
    if not has_native(cli):
        raise Skip("no JIT")
    name, source, options = row
    cli.write("a.posset", source)
    outcome = cli("why", *options, name, "a.posset", timeout=60).ends(0)
    wanted = next(reason for reason, each_row in NATIVE.items() if each_row is row)
    if f"[{wanted}]" not in outcome.stdout:
        outcome.fail(f"does not say [{wanted}]")


@case
def a_library_of_another_version_is_no_native_plugin(cli):
    if not has_native(cli):
        raise Skip("no JIT")
    cli.write("a.posset", SIMPLE)
    outcome = cli("why", "--force-tier", "2", "--native-plugin", "libposset_arena.so", "f", "a.posset").ends(0)
    if "[no_native_plugin]" not in outcome.stdout:
        outcome.fail("takes a library that is not the native compiler")


def refuse_executable_memory():
    """In the child, before it becomes the command: what a hardened service does to its processes."""
    set_mdwe, refuse_exec_gain = 65, 1
    if ctypes.CDLL(None).prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) != 0:
        raise OSError("not on this kernel")


@case
def executable_memory_is_refused(cli):
    if not has_native(cli):
        raise Skip("no JIT")
    cli.write("a.posset", SIMPLE + "\nprintln(f(2))")
    try:
        child = cli.start("why", "--force-tier", "2", "f", "a.posset", preexec_fn=refuse_executable_memory)
    except Exception as problem:
        raise Skip("the kernel cannot refuse executable memory (6.3 can)") from problem
    outcome = cli.finish(child).ends(0)
    if "[executable_refused]" not in outcome.stdout or not outcome.stdout.startswith("2\n"):
        outcome.fail("does not run, or does not say [executable_refused]")


@case
def why_tells_the_ways_out_of_native_code(cli):
    if not has_native(cli):
        raise Skip("no JIT")
    source = ("fn f(a) => a + 1\nfor i in 0..100 { f(i) }\n"
              "for i in 0..30 { try { f(9223372036854775807) } catch { nil } }")
    cli.write("script.posset", source)
    # In the foreground, so that it does not depend on time; what is kept has been made more general.
    options = ["--no-cache", "--force-tier", "1", "--thresholds", "1,1000000,20", "--exit-stress", "5"]
    told = r"left native code \d+ times in f \(script.posset:1:12\): expected no overflow, found 9223372036854775807 \+ 1"
    cli("run", *options, "--trace", "t.json", "script.posset").ends(0)
    for outcome in (cli("why", *options, "f", "script.posset"), cli("why", "f", "t.json")):
        if not re.search(told, outcome.ends(0).stdout):
            outcome.fail("the exits are not told")


@case
def a_build_without_native_tiers_says_so(cli):
    if has_native(cli):
        raise Skip("this build has them")
    cli.write("a.posset", SIMPLE)
    if "[not_built]" not in cli("why", *FORCED, "f", "a.posset").ends(0).stdout:
        raise Failure("does not say [not_built]")
