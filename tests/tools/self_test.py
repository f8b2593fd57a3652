"""Proves that run_lang.py notices what it is there to notice (run_lang.py --self-test).

A stand-in for posset obeys the lines `#% MODES VERB TEXT` of a script (MODES: `*`, or modes joined by
commas), so that every kind of wrong behaviour can be shown to the runner. Each case is a script, and
either None (it must pass) or words the report of its failure must contain.
"""

import contextlib
import io
import shlex
import sys
import tempfile
from pathlib import Path

import harness
import run_lang

FAKE = r'''
import os, signal, sys, time
arguments = sys.argv[1:]
mode = "default"
if "--force-tier" in arguments: mode = "forced" + arguments[arguments.index("--force-tier") + 1]
elif "--tier" in arguments: mode = "tier" + arguments[arguments.index("--tier") + 1]
index = next(i for i, a in enumerate(arguments) if a.endswith(".posset"))
path, live, status = arguments[index], 0, 0
for line in open(path, encoding="utf-8"):
    if not line.startswith("#% "): continue
    _, modes, verb, text = (line.rstrip("\n") + "   ").split(" ", 3)
    text = text[:-2] if text.endswith("  ") else text
    text = text.rstrip()
    if modes != "*" and mode not in modes.split(","): continue
    if verb == "out": print(text, flush=True)
    elif verb == "raw": print(text, end="", flush=True)
    elif verb == "err": print(text.replace("FILE", path), file=sys.stderr)
    elif verb == "exit": status = int(text)
    elif verb == "leak": live = int(text)
    elif verb == "nostats": live = None
    elif verb == "stat": print("stats: " + text, file=sys.stderr)
    elif verb == "sleep": time.sleep(float(text))
    elif verb == "abort": os.kill(os.getpid(), signal.SIGABRT)
    elif verb == "cat": sys.stdout.write(sys.stdin.read())
    elif verb == "args": print(*arguments[index + 1:])
    elif verb == "options": print(*arguments[:index])
if live is not None: print("stats: live_objects %d" % live, file=sys.stderr)
sys.exit(status)
'''

# name: (script, None or words of the report)
CASES = {
    "right_output": ("# expect: one\n#% * out one\n#  expect: two\n#% * out two", None),
    "empty_line": ("#% * out\n# expect:\n", None),
    "last_line_without_newline": ("# expect: a\n#% * raw a", None),
    "nothing_expected_nothing_printed": ("", None),
    "trailing_comment": ('print("x")  # expect: x\n#% * out x', None),
    "wrong_output": ("# expect: one\n#% * out two", "-one +two"),
    "missing_line": ("# expect: one\n# expect: two\n#% * out one", "-two"),
    "unexpected_line": ("#% * out one", "+one"),
    "wrong_order": ("# expect: a\n# expect: b\n#% * out b\n#% * out a", "+b a -b"),
    "wrong_status": ("#% * exit 1", "exit status 1, expected 0"),
    "crash": ("#% * abort", "SIGABRT"),
    "hang": ("#% default sleep 30", "no end after"),
    "leak": ("#% * leak 2", "leak: 2 live objects"),
    "leak_in_one_mode": ("#% forced1 leak 2", "leak: 2 live objects"),
    "no_statistics": ("#% * nostats", "no line `stats: live_objects 0`"),
    "error_at_its_line": ("# expect error: not defined\n#% * err FILE:1:9: error: x is Not defined"
                          "\n#% * exit 3", None),
    "no_statistics_needed_after_a_parse_error":
        ("# expect error: no\n#% * err FILE:1:1: error: no\n#% * exit 3\n#% * nostats", None),
    "error_at_wrong_line": ("\n# expect error: x\n#% * err FILE:1:9: error: x\n#% * exit 3",
                            "no error at line 2"),
    "error_with_wrong_text": ("# expect error: y\n#% * err FILE:1:9: error: x\n#% * exit 3",
                              "saying: y"),
    "error_at_exact_place": ("\n# expect error@7:9: x\n#% * err FILE:7:9: error: x\n#% * exit 3",
                             None),
    "error_at_wrong_column": ("# expect error@3: x\n#% * err FILE:1:9: error: x\n#% * exit 3",
                              "no error at 1:3"),
    "error_in_a_module": ("# expect error@modules/a.posset:7:9: x\n"
                          "#% * err dir/modules/a.posset:7:9: error: x\n#% * exit 3", None),
    "error_in_another_file": ("# expect error: x\n#% * err a.posset:1:9: error: x\n#% * exit 3",
                              "no error at line 1"),
    "one_of_two_errors_missing": ("# expect error: x\n# expect error: y\n"
                                  "#% * err FILE:1:9: error: x\n#% * exit 3", "saying: y"),
    "runtime_error": ("# expect: a\n#% * out a\n# expect runtime error: zero\n"
                      "#% * err FILE:3:1: error: division by zero\n#% * exit 1", None),
    "runtime_error_not_raised": ("# expect runtime error: zero", "exit status 0, expected 1"),
    "runtime_error_with_status_of_parse_error":
        ("# expect runtime error: z\n#% * err FILE:1:1: error: z\n#% * exit 3",
         "exit status 3, expected 1"),
    "limit": ("# expect limit: memory\n#% * err FILE:1:1: error: memory limit\n#% * exit 4", None),
    "warning": ("# expect warning: unused\n#% * err FILE:1:1: warning: unused x", None),
    "warning_missing": ("# expect warning: unused", "no warning at line 1"),
    "warning_is_no_error": ("# expect error: x\n#% * err FILE:1:1: warning: x\n#% * exit 3",
                            "no error at line 1"),
    "standard_error": ("# expect stderr: in f ({file}:1:2)\n#% * err   in f (FILE:1:2)", None),
    "standard_error_missing": ("# expect stderr: in f", "standard error does not contain: in f"),
    "statistic": ("# expect stat: copies <= 2\n#% * stat copies 2", None),
    "statistic_too_high": ("# expect stat: copies <= 2\n#% * stat copies 3", "copies is 3"),
    "statistic_unknown": ("# expect stat: copies == 2", "no statistic named copies"),
    "other_exit_status": ("# expect exit: 7\n#% * exit 7", None),
    "standard_input": ("# stdin: a b\n# stdin:\n# stdin: c\n#% * cat\n# expect: a b\n# expect:\n"
                       "# expect: c", None),
    "arguments": ("# args: a 'b c'\n#% * args\n# expect: a b c", None),
    "options": ("# options: --step-limit 7\n#% default options\n# modes: default\n"
                "# expect: run --stats --step-limit 7", None),
    "only_named_modes": ("# modes: tier0\n#% tier0 out x\n# expect: x", None),
    "unknown_mode": ("# modes: tier9", "unknown mode tier9"),
    "misspelt_expectation": ("# expect run time error: x", "not an expectation"),
    "expectation_without_space": ("# expect:x\n#% * out x", "not an expectation"),
    "output_of_one_tier_differs": ("# expect: a\n#% tier0,forced1,default out a\n#% tier1 out b",
                                   "standard output in tier1"),
    "status_of_one_tier_differs": ("# expect exit: 7\n#% tier0,forced1,default exit 7",
                                   "exit status 7 in tier0, 0 in tier1"),
    "position_in_one_tier_differs":
        ("# expect runtime error: z\n#% * exit 1\n#% tier0,default,tier1 err FILE:1:1: error: z\n"
         "#% forced1 err FILE:1:2: error: z", "errors in forced1"),
    "trace_in_one_tier_differs": ("#% * out a\n# expect: a\n#% tier0 err   in f (FILE:1:1)",
                                  "errors in forced1"),
    "allowed_to_differ": ("# nondeterministic: time\n#% tier0 err   in f (FILE:1:1)", None),
    "known_failure_fails": ("# known failure: issue 9\n# expect: a", None),
    "known_failure_passes": ("# known failure: issue 9", "noted as a known failure: issue 9"),
    "skipped": ("# skip: not yet\n#% * exit 9", None),
    "not_sanitized_but_run_elsewhere": ("# not sanitized: takes long\n#% * exit 9", "exit status 9"),
    "sanitized_and_left_out": ("# not sanitized: takes long\n#% * exit 9", None),
}


def run_script(posset, folder, name, script, no_native=False):
    """(tally, report) of one case."""
    path = folder / f"{name}.posset"
    path.write_text(script + "\n", encoding="utf-8")
    options = run_lang.parse_options([])
    options.posset, options.no_native, options.sanitized = posset, no_native, name.startswith("sanitized")
    if name == "hang":
        options.timeout = 1.0
    tally = harness.Tally()
    run_lang.LangRunner(options, tally).run_script(path, str(path))
    return tally


def check(posset, folder, name):
    script, words = CASES[name]
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        tally = run_script(posset, folder, name, script)
    text = " ".join(report.getvalue().split())
    if words is None and (tally.failed or not tally.passed + tally.skipped):
        raise harness.Failure("should have passed:\n" + report.getvalue())
    if words is not None and not tally.failed:
        raise harness.Failure("went unnoticed")
    if words is not None and words not in text:
        raise harness.Failure(f"the report does not say `{words}`:\n" + report.getvalue())


def check_helpers_are_not_run(folder):
    (folder / "lang" / "modules").mkdir(parents=True)
    for name in ("a.posset", "_b.posset", "modules/c.posset"):
        (folder / "lang" / name).write_text("")
    found = [path.name for path in run_lang.find_scripts(folder / "lang")]
    if found != ["a.posset"]:
        raise harness.Failure(f"runs {found}")


def check_native_modes_are_left_out_when_asked(posset, folder):
    """A build without native tiers passes with --no-native, and fails without it."""
    for no_native in (True, False):
        with contextlib.redirect_stdout(io.StringIO()):
            tally = run_script(posset, folder, "no_native", "#% forced2,forced3 exit 2", no_native)
        if bool(tally.failed) == no_native or not tally.passed:
            raise harness.Failure(f"{tally.passed} passed, {tally.failed} failed; --no-native: {no_native}")


def check_shares_are_all():
    """Each script is in one share of a mode of stress, none is empty, and the other modes are in all."""
    names = [f"tests/lang/{number}.posset" for number in range(50)]
    for mode in run_lang.MODES:
        shares = [{name for name in names if run_lang.is_in_share(mode, name, f"{k}/3")} for k in range(3)]
        wanted = 1 if mode in run_lang.STRESS else 3
        if not all(shares) or any(sum(name in share for share in shares) != wanted for name in names):
            raise harness.Failure(f"{mode}: {[len(share) for share in shares]} of {len(names)}")


def main():
    tally = harness.Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fake = folder / "fake_posset.py"
        fake.write_text(FAKE, encoding="utf-8")
        posset = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(fake))}"
        # One after the other: each case reads what was printed.
        for case in CASES:
            harness.run_one(tally, case, lambda case=case: check(posset, folder, case))
        harness.run_one(tally, "shares_are_all", check_shares_are_all)
        harness.run_one(tally, "helpers_are_not_run", lambda: check_helpers_are_not_run(folder))
        harness.run_one(tally, "native_modes_are_left_out_when_asked",
                        lambda: check_native_modes_are_left_out_when_asked(posset, folder))
    return tally.finish()
