#!/usr/bin/env python3
"""Compares the processor time of commands on a machine that is not idle.

    bench/ab.py --runs 31 "build/posset run fib.posset 30" "build/posset run --trace t.json fib.posset 30"

Each round runs every command once, in an order that alternates, so that whatever else the machine does meets all of
them alike. Printed are each command's median and least processor time (user and system, of all its threads) and the
median over the rounds of its ratio to the first command, with the quartiles. The least of many is what the
command takes when it is disturbed least.
"""
import argparse
import os
import shlex
import statistics
import sys


def processor_time(command):
    """Seconds; a command that fails ends the comparison."""
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"ab: failed with status {os.waitstatus_to_exitcode(status)}: {shlex.join(command)}")
    return usage.ru_utime + usage.ru_stime


def measure(commands, runs):
    times = [[] for _ in commands]
    for run in range(runs):
        order = range(len(commands)) if run % 2 == 0 else reversed(range(len(commands)))
        for which in order:
            times[which].append(processor_time(commands[which]))
    return times


def report(texts, times):
    for text, own in zip(texts, times):
        ratios = sorted(mine / first for mine, first in zip(own, times[0]))
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{statistics.median(own) * 1e3:9.2f} ms, least {min(own) * 1e3:9.2f} ms, ratio {middle:.4f} "
              f"({low:.4f} to {high:.4f}), of the least {min(own) / min(times[0]):.4f}: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=31, help="rounds, at least 2")
    parser.add_argument("commands", nargs="+", metavar="COMMAND", help="one argument each, quoted")
    args = parser.parse_args()
    if args.runs < 2:
        parser.error("at least 2 rounds")
    commands = [shlex.split(text) for text in args.commands]
    try:
        report(args.commands, measure(commands, args.runs))
    except OSError as error:
        sys.exit(f"ab: {error}")


if __name__ == "__main__":
    main()
