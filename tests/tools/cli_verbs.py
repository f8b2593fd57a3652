"""Command-line cases: what each verb does, and the exit status of each ending."""

import json
import re

import cli_cache
import harness
from cli_case import case, each

COUNT_DOWN = "fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\n"


@case
def run_prints_to_standard_output(cli):
    cli.script('println("hi")').ends(0).prints("hi\n")


@case
def the_verb_run_may_be_left_out(cli):
    cli.write("a.posset", 'println("hi")')
    cli("a.posset").ends(0).prints("hi\n")


@case
def arguments_after_the_file_are_the_scripts(cli):
    source = "for a in args { println(a) }"
    cli.script(source, arguments=["one", "--stats", "-x", "a b", ""]).ends(0).prints(
        "one\n--stats\n-x\na b\n\n").says_not("stats:")
    cli.write("a.posset", source)
    cli("a.posset", "one", "--tier").ends(0).prints("one\n--tier\n")


@case
def without_arguments_args_is_empty(cli):
    cli.script("println(len(args))").ends(0).prints("0\n")


@case
def dash_reads_the_script_from_standard_input(cli):
    cli("run", "-", stdin="println(1 + 2)").ends(0).prints("3\n")
    cli("-", "x", stdin="println(args)").ends(0)
    cli("run", "-", stdin="let = 1").ends(3)


@case
def a_shebang_line_is_a_comment(cli):
    cli.script("#!/usr/bin/env posset\nprintln(1)\n").ends(0).prints("1\n")


@each({"empty": "", "comment": "# nothing", "blank_lines": "\n\n\n", "no_newline": "1"})
def a_script_that_does_nothing_is_done(cli, source):
    cli.script(source).ends(0).prints("")


@case
def eval_prints_the_value_unless_nil(cli):
    cli("eval", "1 + 2").ends(0).prints("3\n")
    cli("eval", "nil").ends(0).prints("")
    cli("eval", 'println("x")').ends(0).prints("x\n")
    cli("eval", "[1, 2]").ends(0).prints("[1, 2]\n")


@case
def eval_ends_like_a_script(cli):
    cli("eval", "1 // 0").ends(1).diagnoses("division by zero")
    cli("eval", "1 +").ends(3)
    cli("eval", "--step-limit", "100", "do { while true { } }").ends(4).says("limit")
    cli("eval").ends(2)


@case
def an_uncaught_error_shows_line_caret_and_trace(cli):
    source = "fn inner(x) => 10 // x\nfn outer(x) {\n  1 + inner(x)\n}\nprintln(1)\nprintln(outer(0))\n"
    outcome = cli.script(source).ends(1).prints("1\n").diagnoses("division by zero", at=(1, 16))
    lines = outcome.stderr.split("\n")
    if lines[1].strip() != "1 | fn inner(x) => 10 // x":
        outcome.fail("the second line should show the source line")
    if lines[2].index("^") - lines[2].index("|") != 2 + 15:
        outcome.fail("the caret should stand below column 16")
    outcome.says("in inner (script.posset:1:16)", "in outer (script.posset:3:7)", "script.posset:6:9")


@case
def a_thrown_value_is_shown(cli):
    cli.script('throw "what went wrong"').ends(1).diagnoses("what went wrong", at=(1, 1))


@case
def several_mistakes_are_reported_in_one_run(cli):
    outcome = cli.script("let a = )\nlet b = 1\nlet c = ]\nprintln(b)\n").ends(3).prints("")
    lines = {found[1] for found in outcome.run.diagnostics("error")}
    if not {1, 3} <= lines:
        outcome.fail("both line 1 and line 3 have a mistake")


@case
def several_unknown_names_are_reported_in_one_run(cli):
    outcome = cli.script("println(alpha)\nprintln(beta)\n").ends(3).prints("")
    outcome.diagnoses("alpha", "not defined", at=(1, 9)).diagnoses("beta", "not defined", at=(2, 9))


@case
def a_misspelt_name_gets_a_suggestion(cli):
    cli.script("let counter = 1\nprintln(conter)\n").ends(3).diagnoses("not defined").says("counter")


@case
def warnings_do_not_change_the_exit_status(cli):
    source = "println(match 1 {\n  _ => 2\n  1 => 3\n})\n"
    cli.script(source).ends(0).prints("2\n").diagnoses("", severity="warning", at=(3, 3))


@case
def check_is_silent_about_good_files_and_does_not_run_them(cli):
    cli.write("a.posset", 'println("ran")')
    outcome = cli("check", "a.posset").ends(0).prints("")
    if outcome.stderr:
        outcome.fail("nothing should be said")


@case
def check_reports_every_file(cli):
    cli.write("a.posset", "println(x)")
    cli.write("b.posset", "println(1)")
    cli.write("c.posset", "let = 2")
    outcome = cli("check", "a.posset", "b.posset", "c.posset").ends(3)
    files = {found[0] for found in outcome.run.diagnostics("error")}
    if files != {"a.posset", "c.posset"}:
        outcome.fail(f"diagnostics name {files}")
    cli("check").ends(2)
    cli("check", "b.posset", "absent.posset").ends(2).says("absent.posset")
    cli("check", "absent.posset", "c.posset").ends(2).says("absent.posset").says("c.posset:1:")
    json_diagnostics(cli("check", "--json", "absent.posset", "b.posset").ends(2).stdout)


def json_diagnostics(text):
    """The objects of a JSON array, of an object's only list, or of one object a line."""
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(parsed, dict):
        lists = [value for value in parsed.values() if isinstance(value, list)]
        parsed = lists[0] if lists else [parsed]
    return parsed


@case
def check_json_is_for_editors(cli):
    cli.write("a.posset", 'println(x)\nprintln("quoted \\" é", y)\n')
    outcome = cli("check", "--json", "a.posset").ends(3)
    try:
        found = json_diagnostics(outcome.stdout)
        places = [(one["line"], one["column"]) for one in found]
    except (ValueError, KeyError, TypeError) as error:
        outcome.fail(f"not a list of diagnostics: {error!r}")
    if (1, 9) not in places or len(found) < 2:
        outcome.fail(f"diagnostics are at {places}")
    if not all("message" in one and "severity" in one and "file" in one for one in found):
        outcome.fail("a diagnostic has file, line, column, severity and message")


@case
def check_json_of_a_good_file_is_still_json(cli):
    cli.write("a.posset", "println(1)")
    outcome = cli("check", "--json", "a.posset").ends(0)
    try:
        found = json_diagnostics(outcome.stdout) if outcome.stdout.strip() else []
    except ValueError as error:
        outcome.fail(f"not JSON: {error}")
    if found:
        outcome.fail("there is nothing to report")


@case
def explain_tells_pure_from_impure_and_names_the_culprit(cli):
    cli.write("a.posset", "fn double(x) => x * 2\nfn shout(x) {\n  println(x)\n}\nshout(double(2))\n")
    outcome = cli("explain", "a.posset").ends(0)
    told = outcome.stdout + outcome.stderr
    for word in ("double", "shout", "pure", "println"):
        if word not in told:
            outcome.fail(f"does not name: {word}")
    cli("explain", "a.posset", "double").ends(0)
    cli("explain", "a.posset", "nosuch").ends(1, 2).says("nosuch")
    cli("explain").ends(2)


@each({"tree": "--tree", "bytecode": "--bytecode"})
def dump_shows_a_unit(cli, form):
    cli.write("a.posset", "fn double(x) => x * 2\nfn half(x) => x / 2\nprintln(double(2))\n")
    outcome = cli("dump", form, "a.posset").ends(0)
    if "double" not in outcome.stdout or "half" not in outcome.stdout:
        outcome.fail("both functions should be shown")
    only = cli("dump", form, "a.posset", "half").ends(0)
    if "half" not in only.stdout or len(only.stdout) >= len(outcome.stdout):
        only.fail("only half should be shown")
    cli("dump", form, "a.posset", "nosuch").ends(1, 2).says("nosuch")
    cli.write("bad.posset", "let = 1")
    cli("dump", form, "bad.posset").ends(3)


@case
def dump_does_not_run_the_script_unless_told_to(cli):
    cli.write("a.posset", 'println("side effect")\nthrow args[0]')
    outcome = cli("dump", "--bytecode", "a.posset").ends(0)
    if outcome.stdout.startswith("side effect\n"):
        outcome.fail("the script ran")
    outcome = cli("dump", "--bytecode", "--run", "a.posset", "--", "thrown").ends(1).says("thrown")
    if not outcome.stdout.startswith("side effect\n") or "CallNative" not in outcome.stdout:
        outcome.fail("the script should have run, and then been shown")


@case
def dump_shows_what_hot_code_has_become(cli):
    cli.write("a.posset", 'import "runtime"\nfn f(xs) {\n  var t = 0\n  for x in xs { t += x }\n  t\n}\n'
              "for i in 0..10_000_000 {\n  if runtime.tier(f) == 3 { break }\n  f([i, 2])\n}\n")
    cli_cache.needs_native(cli)
    quick = cli("dump", "--ir", "a.posset", "f").ends(0)
    hot = cli("dump", "--ir", "--run", "a.posset", "f").ends(0)
    if "exec_Add" not in quick.stdout or "exec_Add" in hot.stdout:
        hot.fail("stage 2 knows what has been added, and stage 1 does not")


@each({"explain": ["explain", "a.posset", "f"], "explain_all": ["explain", "a.posset"], "why": ["why", "f", "a.posset"]})
def a_script_that_is_told_about_has_its_arguments(cli, words):
    cli.write("a.posset", "fn f(x) => x * 2\nprintln(args)\nprintln(f(int(args[1])))\n")
    outcome = cli(*words, "--", "--tier", "21").ends(0)
    if not outcome.stdout.startswith('["--tier", "21"]\n42\n'):
        outcome.fail("args should be what stands behind --")
    cli(*words, "more", "even more").ends(2)


@each({"help": ["--help"], "run_help": ["run", "--help"], "version": ["--version"]})
def help_is_on_standard_output(cli, arguments):
    outcome = cli(*arguments).ends(0)
    if not outcome.stdout.strip():
        outcome.fail("nothing was printed")


@each({verb: verb for verb in ("run", "eval", "repl", "check", "fmt", "explain", "why", "dump", "trace", "doc")})
def help_of_a_verb_says_how_it_is_called(cli, verb):
    called = [line.strip() for line in cli("--help").ends(0).stdout.splitlines() if line.startswith(f"posset {verb} ")]
    outcome = cli(verb, "--help").ends(0)
    usage, _, options = outcome.stdout.removeprefix("Usage: ").partition("\n\n")
    if [line.strip() for line in usage.splitlines()] != [re.split("  +", line)[0] for line in called]:
        outcome.fail(f"the list of all verbs has: {called}")
    if re.search(r"INT|Env:|\[\d", options):
        outcome.fail("types of the implementation are no help")


@each({
    "no_file": ["run"], "unknown_option": ["run", "--no-such-option", "a.posset"],
    "unknown_option_of_check": ["check", "--no-such", "a.posset"], "dump_without_form": ["dump"],
    "tier_not_a_number": ["run", "--tier", "x", "a.posset"],
    "tier_too_high": ["run", "--tier", "9", "a.posset"],
    "negative_tier": ["run", "--tier", "-1", "a.posset"],
    "option_without_value": ["run", "--tier"],
    "negative_limit": ["run", "--memory-limit", "-5", "a.posset"],
    "limit_not_a_number": ["run", "--step-limit", "many", "a.posset"],
    "thresholds_not_numbers": ["run", "--thresholds", "a,b", "a.posset"],
    "unknown_grant": ["run", "--allow", "everything", "a.posset"],
    "grant_below_no_directory": ["run", "--allow", "clock,read=", "a.posset"],
    "grant_to_write_below_no_directory": ["run", "--allow", "write=", "a.posset"],
    "grant_below_two_directories": ["run", "--allow", "read=a,read=b", "a.posset"],
    "grant_that_takes_no_directory": ["run", "--allow", "env=a", "a.posset"],
    "unknown_passes": ["run", "--native-passes", "many", "a.posset"],
    "negative_seed": ["run", "--exit-stress", "-1", "a.posset"],
    "unknown_colour": ["run", "--color", "mauve", "a.posset"],
})
def wrong_usage_is_status_2(cli, arguments):
    cli.write("a.posset", 'println("ran")')
    outcome = cli(*arguments).ends(2).prints("")
    if not outcome.stderr.strip():
        outcome.fail("nothing was said")


@case
def a_missing_file_is_status_2(cli):
    cli("run", "absent.posset").ends(2).says("absent.posset")
    cli("absent.posset").ends(2).says("absent.posset")


@case
def a_folder_as_script_is_status_2(cli):
    (cli.folder / "folder.posset").mkdir()
    cli("run", "folder.posset").ends(2).says("folder.posset", "directory")
    cli("run", ".").ends(2)


@case
def recursion_within_the_limit_works(cli):
    for tier in (["--tier", "0"], ["--force-tier", "1"]):
        cli.script(COUNT_DOWN + "println(f(90000))", *tier).ends(0).prints("90000\n")


@case
def modules_are_relative_to_the_importing_file(cli):
    cli.write("lib/a.posset", 'import "inner/b"\nexport fn twice(x) => b.double(x)\n')
    cli.write("lib/inner/b.posset", "export fn double(x) => x * 2\n")
    cli.script('import "lib/a"\nprintln(a.twice(21))').ends(0).prints("42\n")


@case
def errors_in_modules_name_their_file(cli):
    cli.write("lib.posset", "export fn f(x) =>\n  1 // x\n")
    outcome = cli.script('import "lib"\nlib.f(0)').ends(1).diagnoses("division by zero", at=(2, 3))
    if not outcome.run.diagnostics("error")[0][0].endswith("lib.posset"):
        outcome.fail("the error is in lib.posset")


@case
def a_mistake_in_a_module_is_found_before_anything_runs(cli):
    cli.write("lib.posset", "export fn f() => nosuch\n")
    cli.script('println("ran")\nimport "lib"').ends(3).prints("").diagnoses("nosuch", "not defined")


@case
def output_is_flushed_before_an_error_ends_the_run(cli):
    cli.script('print("no newline")\nthrow "x"').ends(1).prints("no newline")


@case
def output_and_errors_are_in_order_on_one_stream(cli):
    cli.write("a.posset", 'println("first")\nthrow "second"')
    child = cli.start("run", "a.posset", stderr=-2)  # subprocess.STDOUT
    outcome = cli.finish(child)
    if not 0 <= outcome.stdout.find("first") < outcome.stdout.find("second"):
        raise harness.Failure(outcome.stdout)


@case
def eval_takes_an_expression_that_begins_with_a_minus(cli):
    cli("eval", "-1 + 3").ends(0).prints("2\n")
    cli("eval", "--tier", "0", "-9223372036854775808").ends(0).prints("-9223372036854775808\n")
    cli("eval", "--", "--5").ends(0).prints("5\n")


@case
def doc_shows_a_function_of_the_library(cli):
    cli("doc", "len").ends(0).prints(
        "len(x)\n  The number of elements of a list, map or range, of characters of a string.\n")
    cli("doc", "time.now").ends(0).prints("now()   (not pure)\n  Seconds since 1970 (UTC), as a float.\n")
    cli("doc", "nosuch").ends(2).says("nosuch")
    outcome = cli("doc", "strings").ends(0)
    for words in ("upper(s)\n  s in upper case.\n", "bytes(s)\n"):
        if words not in outcome.stdout:
            outcome.fail(f"the functions of the module are without {words!r}")
    cli("doc", "len", "push").ends(2)


@case
def doc_alone_writes_all_of_the_library(cli):
    page = cli("doc").ends(0).stdout
    for row in ("| `len(x)` | yes |", "## Module `math`", "| `sin(x)` | yes |", "| `println(..args)` |  |"):
        if row not in page:
            raise harness.Failure(f"no {row} in\n{page[:2000]}")
