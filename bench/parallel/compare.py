#!/usr/bin/env python3
"""Pure programs on one and on several executors, and three of them in C++ on oneTBB, by turns in one run.

The wall times of whole processes, start-up and compilation included; medians. `--posset` and `--tbb` name the
programs; a result that differs from that of one executor ends the run. The line `# args:` of a script says what it is
given.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posset", default="build/posset")
    parser.add_argument("--tbb", default="build/release/bin/parallel_tbb")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--only", default="", help="names with commas between them")
    parser.add_argument("--options", default="--no-cache", help="for every run of posset")
    return parser.parse_args()


def given_to(script):
    line = next(line for line in script.read_text().splitlines() if line.startswith("# args:"))
    return line.removeprefix("# args:").split()


def commands(asked, script):
    """The columns: how each is run."""
    given = given_to(script)
    posset = [asked.posset, "run", *asked.options.split()]
    columns = {"one": [*posset, "--workers", "1", script, *given],
               "several": [*posset, "--workers", asked.workers, script, *given],
               # Everything that several executors need is there, and nobody may take anything.
               "unused": [*posset, "--workers", asked.workers, "--cabal-limit", "1", script, *given]}
    if script.stem in ("fib", "merge_sort", "tree"):
        for name, workers in (("tbb one", "1"), ("tbb several", asked.workers)):
            columns[name] = [asked.tbb, script.stem, *given, workers]
    return columns


def seconds(command, expected):
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    spent = time.perf_counter() - begun
    if done.returncode != 0 or (expected is not None and done.stdout != expected):
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}, another answer than one executor's:\n{done.stdout}{done.stderr}")
    return spent, done.stdout


def measure(asked, script):
    columns = commands(asked, script)
    times, expected = {name: [] for name in columns}, None
    for _ in range(asked.runs):
        for name, command in columns.items():
            spent, answer = seconds(command, expected)
            expected = answer
            times[name].append(spent)
    return {name: statistics.median(each) for name, each in times.items()}


def main():
    asked = arguments()
    print(f"| program | 1 worker, s | {asked.workers} workers, s | faster | records nobody takes | oneTBB 1, s | oneTBB {asked.workers}, s | time / oneTBB's |")
    print("|---|---|---|---|---|---|---|---|")
    for script in sorted(HERE.glob("*.posset")):
        if script.stem == "soak":  # soak.py's
            continue
        if asked.only and script.stem not in asked.only.split(","):
            continue
        found = measure(asked, script)
        row = [script.stem, f"{found['one']:.3f}", f"{found['several']:.3f}", f"{found['one'] / found['several']:.2f} x",
               f"{found['unused'] / found['one']:.3f} x"]
        if "tbb one" in found:
            row += [f"{found['tbb one']:.3f}", f"{found['tbb several']:.3f}", f"{found['several'] / found['tbb several']:.2f}"]
        else:
            row += ["", "", ""]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
