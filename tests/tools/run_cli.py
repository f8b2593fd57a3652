#!/usr/bin/env python3
"""Tests the posset command from outside: verbs, options, exit statuses, the shape of diagnostics, bad
input of every kind, signals and the REPL on a terminal.

The cases stand in the modules cli_*.py beside this file, one for each theme; cli_case.py has what they
share. What a script alone can say belongs to tests/lang instead.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cli_bad_input
import cli_cache
import cli_case
import cli_format
import cli_highlight
import cli_options
import cli_reasons
import cli_repl
import cli_trace
import cli_verbs
import harness

THEMES = [cli_verbs, cli_options, cli_bad_input, cli_format, cli_repl, cli_highlight, cli_reasons, cli_trace, cli_cache]


def main():
    parser = argparse.ArgumentParser(description="Tests the posset command from outside.")
    harness.add_common_options(parser)
    options = parser.parse_args()
    harness.limit_resources(options.sanitized)
    tally = harness.Tally(options.verbose)
    cases = [case for theme in THEMES for case in cli_case.cases_of(theme)]
    chosen = [case for case in cases if options.filter in case.name]
    with tempfile.TemporaryDirectory(prefix="posset-cli-") as scratch:
        posset = harness.posset_command(options.posset)
        bind = lambda case: (case.name, lambda: case.run(posset, Path(scratch), options.sanitized))
        # A terminal is set up between fork and exec, where other threads could hold locks: alone.
        harness.run_cases(tally, [bind(case) for case in chosen if not case.alone], options.jobs)
        harness.run_cases(tally, [bind(case) for case in chosen if case.alone], 1)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
