#!/usr/bin/env python3
"""Runs soak.posset for some time, 30 minutes unless told otherwise, and fails if the process grows.

    soak.py [--posset PATH] [--workers N] [SECONDS]

Resident memory and threads are looked at twenty times in each fifth of the time. The first fifth is for warming up; the
median of the last must not be above that of the second by more than a twentieth and 8 MB. Threads must not become more
after the first fifth. What the program computes it checks itself.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
FIFTHS, LOOKS = 5, 20
ALLOWED_SHARE, ALLOWED_MB = 1.05, 8


def status_of(process):
    """Resident megabytes and threads."""
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) / 1024, int(fields["Threads"])


def watch(process, seconds):
    looks = []
    for _ in range(FIFTHS * LOOKS):
        time.sleep(seconds / (FIFTHS * LOOKS))
        if process.poll() is not None:
            break
        try:
            looks.append(status_of(process))
        except (KeyError, FileNotFoundError, ProcessLookupError):
            break  # it is just ending
    return looks


def growth(looks):
    """What has grown, in words; empty: nothing."""
    fifths = [looks[n * LOOKS:(n + 1) * LOOKS] for n in range(FIFTHS)]
    medians = [statistics.median(megabytes for megabytes, _ in each) for each in fifths if each]
    print("resident memory, MB, by fifths: " + " ".join(f"{each:.1f}" for each in medians))
    if len(medians) < FIFTHS:
        return "it ended too early"
    if medians[-1] > medians[1] * ALLOWED_SHARE + ALLOWED_MB:
        return f"memory grew from {medians[1]:.1f} to {medians[-1]:.1f} MB"
    threads = [max(count for _, count in each) for each in fifths]
    if threads[-1] > threads[0]:
        return f"threads grew from {threads[0]} to {threads[-1]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float, nargs="?", default=1800)
    parser.add_argument("--posset", default="build/posset")
    parser.add_argument("--workers", default="4")
    parser.add_argument("--script", default=HERE / "soak.posset", help="another program, which is given the seconds")
    asked = parser.parse_args()
    command = [asked.posset, "run", "--no-cache", "--workers", asked.workers, asked.script, str(int(asked.seconds) + 1)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        looks = watch(process, asked.seconds)
        output, errors = process.communicate(timeout=60 + asked.seconds)
    finally:
        process.kill()
    if process.returncode != 0:
        sys.exit(f"soak: status {process.returncode}\n{errors}")
    problem = growth(looks)
    if problem:
        sys.exit(f"soak: {problem}")
    print(f"soak: {output.strip()} rounds in {asked.seconds:.0f} s without growth")


if __name__ == "__main__":
    main()
