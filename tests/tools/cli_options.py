"""Command-line cases: options, limits, signals, and output that cannot be written."""

import os
import re
import resource
import subprocess
import time

from cli_case import case, each
from harness import Failure

ENDLESS = "while true { }"
TIERS = {"tier0": ["--tier", "0"], "forced1": ["--force-tier", "1"]}


@case
def stats_are_on_standard_error(cli):
    outcome = cli.script("println([1, 2] + [3])", "--stats").ends(0).prints("[1, 2, 3]\n")
    stats = outcome.run.stats()
    if stats.get("live_objects") != "0":
        outcome.fail("no line `stats: live_objects 0`")
    names = " ".join(stats)
    for word in ("alloc", "cop"):
        if word not in names:
            outcome.fail(f"no statistic about {word}...")


@each({"tree": ["--tier", "0"], "bytecode": ["--tier", "1"], "highest": ["--tier", "3"],
       "forced_tree": ["--force-tier", "0"], "forced_bytecode": ["--force-tier", "1"],
       "thresholds": ["--thresholds", "1,2,3"], "one_worker": ["--workers", "1"], "workers": ["--workers", "4"], "quantum": ["--quantum", "100"],
       "cabal_limit": ["--cabal-limit", "2", "--workers", "3"],
       "no_cache": ["--no-cache"], "cache": ["--cache", "folder"], "cache_limit": ["--cache-limit", "1000"],
       "quick_passes": ["--native-passes", "quick", "--thresholds", "1,2,3"],
       "exit_stress": ["--exit-stress", "7", "--thresholds", "1,2,3"]})
def a_script_runs_the_same_with(cli, options):
    cli.script("fn f(n) => if n < 2 { n } else { f(n - 1) + f(n - 2) }\nprintln(f(15))",
               *options).ends(0).prints("610\n")


@each({"force_tier_2": ["run", "--force-tier", "2"], "force_tier_3": ["run", "--force-tier", "3"],
       "dump_ir": ["dump", "--ir"], "dump_asm": ["dump", "--asm"]})
def what_is_not_built_yet_says_so(cli, arguments):
    cli.write("a.posset", "println(1)\n")
    outcome = cli(*arguments, "a.posset").ends(0, 2)
    if outcome.status == 2:
        outcome.says("not built yet").prints("")


@each({
    "memory": ("memory", "var xs = []\nwhile true { xs.push(\"text \" + str(len(xs))) }",
               ["--memory-limit", "20000000"]),
    "memory_string": ("memory", "var s = \"ab\"\nwhile true { s = s + s }", ["--memory-limit", "20000000"]),
    "steps": ("step", ENDLESS, ["--step-limit", "100000"]),
    "steps_in_calls": ("step", "fn f(n) => if n == 0 { 0 } else { f(n - 1) }\nf(10000000000)",
                       ["--step-limit", "100000"]),
    "steps_in_builtin": ("step", "println(count(0..100000000000, x => x < 0))", ["--step-limit", "100000"]),
    "time": ("time", ENDLESS, ["--time-limit", "0.2"]),
    "time_in_builtin": ("time", "println(count(0..100000000000, x => x < 0))", ["--time-limit", "0.2"]),
    "stack": ("stack overflow", "fn f(n) => 1 + f(n + 1)\nf(0)", []),
    "small_stack": ("stack overflow", "fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\nf(60)",
                    ["--stack-limit", "50"]),
    "stack_through_builtin": ("stack overflow", "fn f(n) => map([n], x => f(x + 1))\nf(0)", []),
})
def a_limit_ends_the_run_with_status_4(cli, row):
    words, source, options = row
    for tier in TIERS.values():
        outcome = cli.script('println("begun")\n' + source, *tier, *options)
        outcome.ends(4).prints("begun\n").diagnoses(words).is_brief()


@each({"memory": "--memory-limit", "steps": "--step-limit", "nested_calls": "--stack-limit", "time": "--time-limit"})
def a_limit_says_what_it_takes(cli, option):
    for value in ("0", "-1", "abc", "1x", "nan", "inf"):
        outcome = cli.script("println(1)", option + "=" + value).ends(2).prints("").says(option, "number above 0", value)
        if len(outcome.stderr) > 200:
            outcome.fail("the bounds of a type are no help")


@case
def a_limit_cannot_be_caught(cli):
    source = 'try { while true { } } catch { println("caught") }\nprintln("after")'
    for tier in TIERS.values():
        cli.script(source, *tier, "--step-limit", "1000").ends(4).prints("")


@case
def a_limit_that_is_not_reached_changes_nothing(cli):
    cli.script("println(sum(0..1000))", "--memory-limit", "50000000", "--step-limit", "1000000",
               "--time-limit", "60", "--stack-limit", "1000").ends(0).prints("499500\n")


@case
def a_list_of_a_billion_elements_meets_the_memory_limit(cli):
    for source in ("let xs = fill(1000000000, 0)", "let xs = list(0..1000000000)",
                   "let xs = [0] * 1000000000", "let xs = tabulate(1000000000, i => i)",
                   "let xs = [x for x in 0..1000000000]", 'let s = "x" * 1000000000'):
        cli.script(source, "--memory-limit", "50000000", timeout=40).ends(1, 3, 4)
    cli.script("let xs = fill(1000000000, 0)", "--memory-limit", "50000000").ends(4).diagnoses("limit")


STEPPED = """fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
var total = 0
for i in 0..7 { total += fib(i) }
while total > 0 { total -= 3 }
let xs = map(0..10, x => x * 2)
let ys = [for x in xs if x > 4 => x + 1]
println(sum(sort(ys)))
"""


def fewest_steps(cli, tier):
    """The smallest step limit under which STEPPED ends."""
    low, high = 1, 100000
    while low < high:
        middle = (low + high) // 2
        if cli.script(STEPPED, *tier, "--step-limit", str(middle)).ends(0, 4).status == 0:
            high = middle
        else:
            low = middle + 1
    return low


@case
def a_step_is_the_same_in_every_tier(cli):
    needed = {name: fewest_steps(cli, tier) for name, tier in TIERS.items()}
    if len(set(needed.values())) != 1:
        raise Failure(f"steps needed: {needed}")


@each({"loop": ENDLESS, "builtin": "println(count(0..100000000000, x => x < 0))",
       "calls": "fn f(n) => f(n + 1)\nf(0)", "sort": "while true { sort(list(0..1000)) }"})
def ctrl_c_ends_the_run_with_status_130(cli, source):
    for tier in TIERS.values():
        cli.interrupt('println("begun")\n' + source, *tier).ends(130).prints("begun\n")


@case
def ctrl_c_cannot_be_caught(cli):
    cli.interrupt('while true { try { while true { } } catch { println("caught") } }').ends(130).prints("")


@case
def colours_only_where_asked_for(cli):
    for options, environment, coloured in (([], {}, False), (["--color", "always"], {}, True),
                                           (["--color", "never"], {}, False),
                                           ([], {"NO_COLOR": "1"}, False)):
        outcome = cli.script('throw "x"', *options, **environment).ends(1)
        if ("\x1b[" in outcome.stderr) != coloured:
            outcome.fail("colours expected" if coloured else "no colours expected")


@case
def files_need_a_grant(cli):
    cli.write("secret.txt", "secret")
    outcome = cli.script('import "io"\nprintln(io.read("secret.txt"))').ends(1, 3)
    if "secret\n" in outcome.stdout:
        outcome.fail("read without a grant")


@case
def a_program_that_prints_much_prints_it_all(cli):
    outcome = cli.script('for i in 0..200000 { println("line {i}") }').ends(0)
    if outcome.stdout.count("\n") != 200000 or not outcome.stdout.endswith("line 199999\n"):
        outcome.fail("lines are missing")


MUCH = 'while true { println("a line of text that fills the buffer soon") }'


@case
def a_reader_that_goes_away_ends_the_program(cli):
    cli.write("a.posset", MUCH)
    child = cli.start("run", "a.posset")
    child.stdout.read(100)
    child.stdout.close()
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        child.kill()
        raise Failure("still running after its reader closed the pipe") from None
    finally:
        text = child.stderr.read().decode("utf-8", "replace")
        child.stderr.close()
    # Ending by SIGPIPE is what every Unix tool does; saying so with a status of its own is fine too.
    if child.returncode not in (-13, 1, 2, 141):
        raise Failure(f"exit status {child.returncode}: {text[:500]}")


@case
def a_full_disk_is_reported(cli):
    cli.write("a.posset", 'println("x")')
    with open("/dev/full", "wb") as full:
        outcome = cli.finish(cli.start("run", "a.posset", stdout=full))
    outcome.ends(1, 2)
    if not re.search("output|write|space", outcome.stderr):
        outcome.fail("nothing was said about the output")


@case(alone=True)
def a_closed_standard_output_is_reported(cli):
    cli.write("a.posset", 'println("x")')
    child = cli.start("run", "a.posset", stdout=None, preexec_fn=lambda: os.close(1))
    outcome = cli.finish(child).ends(1, 2)
    if not re.search("output|write", outcome.stderr):
        outcome.fail("nothing was said about the output")


@case(alone=True)
def closed_standard_streams_do_not_matter_when_unused(cli):
    cli.write("a.posset", "let x = 1")
    child = cli.start("run", "a.posset", stdin=None, preexec_fn=lambda: os.close(0))
    cli.finish(child).ends(0)


@case
def standard_input_of_the_script_is_not_the_script(cli):
    cli.script("println(1)", stdin="println(2)").ends(0).prints("1\n")


@case
def hello_is_quick(cli):
    """Not a benchmark: notices when something slow comes to stand before the first line."""
    cli.write("a.posset", 'println("hello")')
    best = 9.0
    for _ in range(5):
        started = time.monotonic()
        cli("run", "a.posset").ends(0)
        best = min(best, time.monotonic() - started)
    if best > (2.0 if cli.sanitized else 0.1):
        raise Failure(f"{best * 1000:.0f} ms")


@case
def an_environment_variable_stands_in_for_its_option(cli):
    cli.write("a.posset", "fn f(x) => x\nfor i in 0..5 { f(i) }\n")
    cli("explain", "a.posset", "f", POSSET_TIER="0").ends(0)
    if "tier 0 (walk)" not in cli("explain", "a.posset", "f", POSSET_TIER="0").stdout:
        raise Failure("POSSET_TIER=0 did not keep f in tier 0")
    cli("run", "--tier", "1", "a.posset", POSSET_TIER="9").ends(0, 2)
    cli("run", "a.posset", POSSET_TIER="9").ends(2).says("POSSET_TIER: Value 9")
    cli("run", "a.posset", POSSET_THRESHOLDS="x").ends(2).says("POSSET_THRESHOLDS: takes three")
    for given in (["--tier", "8"], ["--tier=8"]):
        cli("run", *given, "a.posset", POSSET_TIER="9").ends(2).says("--tier: Value 8")


@case
def help_tells_no_meaning_of_a_0_that_is_refused(cli):
    for option in ("workers", "quantum", "cabal-limit", "memory-limit", "time-limit", "step-limit", "stack-limit"):
        cli("run", f"--{option}", "0", "a.posset").ends(2).says(option)
    lines = cli("run", "--help").ends(0).stdout.splitlines()
    zeros = {line.split()[0] for line in lines if " 0: " in line and line.lstrip().startswith("--")}
    if not zeros <= {"--exit-stress", "--trace-events"}:
        raise Failure(f"help speaks of 0 where it is refused: {zeros}")


@case(alone=True)
def parts_of_an_evaluation_leave_it_address_space_for_its_stack(cli):
    """What computed parts of it had so much that its own first stack segment could not be had: it overflowed some
    fifty calls deep."""
    if cli.sanitized:  # which have reserved more than any limit leaves
        return
    cli.write("halves.posset",
              "fn slow(n) => if n <= 0 { 0 } else { 1 + slow(n - 1) }\n"
              "fn both(n) => if n == 0 { slow(20) } else { both(n - 1) + both(n - 1) }\n"
              "println(both(9), sum(map(0..2000, n => slow(n % 100))))\n")
    space = 4 << 30
    child = cli.start("run", "--tier", "0", "--workers", "8", "--quantum", "1", "--exit-stress", "3",
                      "halves.posset",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space)))
    cli.finish(child, 60.0).ends(0).prints("10240 99000\n")
