"""Command-line cases: native code kept between runs. Every second run is a process of its own.

Tiers are forced, so that what is compiled, and when, does not depend on time; the trace says what came from the
cache.
"""

import os
import re
import shutil

from cli_case import case, each
from harness import Failure, Skip

FORCED = ["--force-tier", "3"]
SOURCE = """fn area(p) => p.w * p.h
fn total(n) {
  var sum = 0
  for i in 0..n { sum += area({w: i, h: 2}) }
  sum
}
println(total(50), "a string that is too long to be a short one")
"""
OUTPUT = "2450 a string that is too long to be a short one\n"


def needs_native(cli):
    if cli("eval", "--no-cache", *FORCED, "1").ends(0, 2).status != 0:
        raise Skip("no JIT")


class Traced:
    """A run with a trace: which compilations of native tiers were found in the cache, and what was wrong."""

    def __init__(self, outcome, output):
        self.outcome = outcome.ends(0).prints(output)
        finished = re.findall(r"compile_finished unit=(\S+) .*tier=[23] .*cached=(\d)", outcome.stderr)
        self.cached = {unit for unit, cached in finished if cached == "1"}
        self.compiled = {unit for unit, cached in finished if cached == "0"}
        self.reasons = set(re.findall(r"cache_refused .*reason=(\w+)", outcome.stderr))

    def is_all_cached(self):
        if self.compiled or self.reasons or not self.cached:
            self.outcome.fail(f"compiled {self.compiled}, cached {self.cached}, refused for {self.reasons}")

    def is_all_compiled(self, *reasons):
        if self.cached or self.reasons != set(reasons) or not self.compiled:
            self.outcome.fail(f"compiled {self.compiled}, cached {self.cached}, refused for {self.reasons}, not {reasons}")


def traced(cli, source=SOURCE, output=OUTPUT, *options, folder="cache", name="script.posset", **environment):
    cli.write(name, source)
    return Traced(cli("run", *FORCED, "--trace", "-", "--cache", folder, *options, name, **environment), output)


def files(cli, folder="cache"):
    return sorted((cli.folder / folder).glob("*.native"))


def changed_files(cli, change):
    for file in files(cli):
        file.write_bytes(change(file.read_bytes()))


@case
def a_second_run_takes_what_the_first_has_kept(cli):
    needs_native(cli)
    traced(cli).is_all_compiled()
    kept = files(cli)
    if not kept or (cli.folder / "cache").stat().st_mode & 0o777 != 0o700 or any(f.stat().st_mode & 0o777 != 0o600 for f in kept):
        raise Failure("the directory and its files should be the user's alone")
    traced(cli).is_all_cached()
    if files(cli) != kept:
        raise Failure("the second run should add nothing")
    stats = cli("run", *FORCED, "--cache", "cache", "--stats", "script.posset").ends(0).run.stats()
    if stats["cache_misses"] != "0" or int(stats["cache_hits"]) < 2:
        raise Failure(f"wrong statistics: {stats}")


@case
def the_default_is_the_users_cache_directory(cli):
    needs_native(cli)
    cli.write("a.posset", SOURCE)
    for folder, environment in (("xdg/posset", {"XDG_CACHE_HOME": str(cli.folder / "xdg")}),
                                ("home/.cache/posset", {"XDG_CACHE_HOME": "", "HOME": str(cli.folder / "home")}),
                                ("other/.cache/posset", {"XDG_CACHE_HOME": "relative", "HOME": str(cli.folder / "other")}),
                                ("named", {"POSSET_CACHE": "named"})):
        cli("run", *FORCED, "a.posset", **environment).ends(0).prints(OUTPUT)
        if not files(cli, folder):
            raise Failure(f"nothing is kept in {folder}")


@each({"option": (["--no-cache"], {}), "option_beats_variable": (["--no-cache"], {"POSSET_CACHE": "named"}),
       "empty_variable": ([], {"POSSET_CACHE": ""}), "no_home": ([], {"XDG_CACHE_HOME": "", "HOME": ""}),
       "not_hot": (["--tier", "1"], {})})
def nothing_is_left_behind_with(cli, row):
    needs_native(cli)
    options, environment = row
    cli.write("a.posset", SOURCE)
    tier = FORCED if "--tier" not in options else []
    cli("run", *tier, *options, "a.posset", **environment).ends(0).prints(OUTPUT)
    left = sorted(path.name for path in cli.folder.iterdir())
    if left != ["a.posset"]:
        raise Failure(f"left behind: {left}")


@case
def a_changed_function_is_compiled_and_so_is_what_calls_it(cli):
    needs_native(cli)
    source = SOURCE + "fn other(x) => x\nother(1)\n"
    traced(cli, source)
    run = traced(cli, source.replace("p.w * p.h", "p.w * p.h + 1"), OUTPUT.replace("2450", "2500"))
    if "other" not in run.cached or not {"area", "total"} <= run.compiled or run.reasons:
        run.outcome.fail("area has changed, total calls it, and other is as it was")


@case
def renamed_variables_and_moved_code_are_found_again(cli):
    needs_native(cli)
    traced(cli)
    run = traced(cli, "# moved\n\n" + SOURCE.replace("sum", "s").replace("(p)", "(q)").replace("p.w * p.h", "q.w * q.h"),
                 name="moved.posset")
    if run.compiled:
        run.outcome.fail("they mean the same")


@each({"cut_off": lambda data: data[:-1], "empty": lambda data: b"", "changed": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
       "no_such_file": lambda data: b"#!/bin/sh\n" * 20})
def a_corrupt_file_is_not_used_and_replaced(cli, change):
    needs_native(cli)
    traced(cli)
    changed_files(cli, change)
    traced(cli).is_all_compiled("cache_corrupt")
    traced(cli).is_all_cached()


@case
def a_foreign_file_is_not_used_and_replaced(cli):
    needs_native(cli)
    traced(cli)
    # Each under the name of another: what its header says it is.
    kept = files(cli)
    data = [file.read_bytes() for file in kept]
    for file, other in zip(kept, data[1:] + data[:1]):
        file.write_bytes(other)
    traced(cli).is_all_compiled("cache_foreign")
    traced(cli).is_all_cached()


@case
def a_directory_that_is_not_the_users_alone_is_not_used(cli):
    needs_native(cli)
    traced(cli)
    shutil.copytree(cli.folder / "cache", cli.folder / "open")
    (cli.folder / "open").chmod(0o777)
    traced(cli, SOURCE, OUTPUT, folder="open").is_all_compiled("cache_unsafe")
    (cli.folder / "link").symlink_to("cache")
    traced(cli, SOURCE, OUTPUT, folder="link").is_all_compiled("cache_unsafe")
    for file in files(cli):
        file.chmod(0o666)
    traced(cli).is_all_compiled("cache_unsafe")
    traced(cli).is_all_cached()  # they were replaced


@case
def a_directory_that_cannot_be_made_is_said_in_the_trace(cli):
    needs_native(cli)
    traced(cli, SOURCE, OUTPUT, folder="/proc/self/fdinfo/no/such").is_all_compiled("cache_unavailable")


@case
def a_directory_that_cannot_be_written_is_read_all_the_same(cli):
    needs_native(cli)
    traced(cli)
    if os.geteuid() == 0:
        # Nothing keeps root from writing, but where the kernel makes the files.
        traced(cli, SOURCE, OUTPUT, folder="/proc/sys/kernel").is_all_compiled("cache_unwritable")
        return
    (cli.folder / "cache").chmod(0o500)
    traced(cli).is_all_cached()
    run = traced(cli, SOURCE.replace("i in", "k in").replace("w: i", "w: k + 0"))
    (cli.folder / "cache").chmod(0o700)
    if run.reasons != {"cache_unwritable"}:
        run.outcome.fail("the trace should say cache_unwritable")


@case
def what_is_kept_stays_below_the_limit(cli):
    needs_native(cli)
    for n in range(12):
        cli.script(f"fn f(x) => x * {n} + {n}\nprintln(f({n}))", *FORCED, "--cache", "cache", "--cache-limit", "30000").ends(0)
    size = sum(file.stat().st_size for file in files(cli))
    if not 0 < size <= 30000:
        raise Failure(f"{size} bytes are kept")
