"""What the test runners share: running a command, reading its diagnostics, counting, reporting.

A runner makes a list of (name, function) cases and hands it to `run_cases`. A case passes by
returning, fails by raising `Failure`, is skipped by raising `Skip`. Every runner ends its output with
one line `N passed, N failed, N skipped`, which ./dev adds up.
"""

import concurrent.futures
import difflib
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DIAGNOSTIC = re.compile(r"^(.+?):(\d+):(\d+): (error|warning): (.*)$")
TRACE_LINE = re.compile(r"^  in ")
STAT_LINE = re.compile(r"^stats: (\S+) (.+)$")
# Printed by a sanitizer before it ends the process with SANITIZER_EXIT.
SANITIZER_EXIT = 86


class Failure(Exception):
    """The case failed; the text says how."""


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Finished:
    """What a command left behind."""

    def __init__(self, command, status, stdout, stderr, timed_out, seconds):
        self.command, self.status, self.timed_out, self.seconds = command, status, timed_out, seconds
        self.raw_stdout, self.raw_stderr = stdout, stderr
        self.stdout = stdout.decode("utf-8", "backslashreplace")
        self.stderr = stderr.decode("utf-8", "backslashreplace")

    def diagnostics(self, severity=None):
        """[(file, line, column, severity, message)] in order."""
        found = []
        for line in self.stderr.split("\n"):
            match = DIAGNOSTIC.match(line)
            if match and severity in (None, match[4]):
                found.append((match[1], int(match[2]), int(match[3]), match[4], match[5]))
        return found

    def stats(self):
        """{name: text} of the `stats: NAME VALUE` lines."""
        return dict(m.groups() for m in map(STAT_LINE.match, self.stderr.split("\n")) if m)

    def crash(self):
        """None, or a phrase saying that the command did not end in an orderly way."""
        if self.timed_out:
            return f"no end after {self.seconds:.0f} s"
        if self.status < 0:
            try:
                return f"killed by {signal.Signals(-self.status).name}"
            except ValueError:
                return f"killed by signal {-self.status}"
        if self.status == SANITIZER_EXIT:
            return "a sanitizer reported an error"
        return None


def time_scale():
    """Sanitizer builds are several times slower: POSSET_TIME_SCALE stretches every time limit."""
    return float(os.environ.get("POSSET_TIME_SCALE", "1"))


def run(command, stdin=b"", timeout=20.0, cwd=ROOT, env=None):
    """Runs a command (a list) to its end, or to its time limit, and returns a Finished."""
    timeout *= time_scale()
    started = time.monotonic()
    if env is None:
        env = {**os.environ, "POSSET_CACHE": ""}  # nothing of an earlier run, nothing for a later one
    child = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env,
                             stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
    timed_out = False
    try:
        out, err = child.communicate(stdin or None, timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        out, err = child.communicate()
    return Finished(command, child.returncode, out, err, timed_out, time.monotonic() - started)


def posset_command(option):
    """--posset's value as a list; a path may carry a launcher in front."""
    parts = shlex.split(option)
    if len(parts) == 1 and not os.path.exists(ROOT / parts[0]):
        sys.exit(f"{parts[0]} is not there: ./dev build makes it")
    if len(parts) == 1:
        parts[0] = str((ROOT / parts[0]).absolute())
    return parts


def shorten(text, lines=40, width=400):
    """Keeps reports readable when a program prints megabytes."""
    parts = [part if len(part) <= width else part[:width] + " ..." for part in text.split("\n")]
    if len(parts) > lines:
        parts = parts[:lines] + [f"... {len(parts) - lines} more lines"]
    return "\n".join(parts)


def difference(expected, actual, what="standard output"):
    """A unified diff of two texts, or '' when they are equal."""
    if expected == actual:
        return ""
    lines = difflib.unified_diff(expected.split("\n"), actual.split("\n"),
                                 f"expected {what}", f"actual {what}", lineterm="", n=2)
    return shorten("\n".join(lines))


def indent(text, by="    "):
    return "\n".join(by + line if line else line for line in text.split("\n"))


def limit_resources(sanitized=False):
    """A test that runs away must not take the machine along. Children inherit this."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized:  # a sanitizer reserves terabytes of address space
        # The soft limit: a browser, which reserves as much, may raise its own.
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))


class Tally:
    """Counts results and prints the failures as they come, from any thread."""

    def __init__(self, verbose=False):
        self.passed = self.failed = self.skipped = 0
        self.verbose = verbose
        self.failures = []
        self.skips = {}
        self._lock = threading.Lock()

    def add_pass(self, name):
        with self._lock:
            self.passed += 1
            if self.verbose:
                print(f"ok      {name}")

    def add_failure(self, name, text):
        with self._lock:
            self.failed += 1
            self.failures.append(name)
            print(f"FAILED  {name}\n{indent(str(text))}", flush=True)

    def add_skip(self, name, reason):
        with self._lock:
            self.skipped += 1
            self.skips.setdefault(str(reason), []).append(name)

    def finish(self):
        """Prints the summary and returns the exit status."""
        for reason, names in sorted(self.skips.items()):
            some = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
            print(f"skipped {len(names)} ({some}): {reason}")
        if len(self.failures) > 5:
            print("failed:")
            for name in sorted(self.failures):
                print(f"    {name}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed else 0


def run_one(tally, name, function):
    try:
        function()
    except Failure as failure:
        tally.add_failure(name, failure)
    except Skip as skip:
        tally.add_skip(name, skip)
    else:
        tally.add_pass(name)


def run_cases(tally, cases, jobs):
    """Runs [(name, function)] on `jobs` threads; the functions spend their time in children."""
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        for future in [pool.submit(run_one, tally, name, function) for name, function in cases]:
            future.result()


def add_common_options(parser):
    parser.add_argument("--posset", default="build/posset", help="the command to test")
    parser.add_argument("--filter", default="", help="only cases whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--sanitized", action="store_true", help="the command is a sanitizer build")
    parser.add_argument("--verbose", action="store_true", help="name what passed, too")


def data_folder():
    """The folder of real data files, or None: POSSET_DATA, or shared/data beside the checkout."""
    for candidate in (os.environ.get("POSSET_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def peers_folder():
    """The folder of the peer programs, or None."""
    for candidate in (os.environ.get("POSSET_PEERS"), ROOT.parent / "shared" / "peers"):
        if candidate and (Path(candidate) / "compare").is_file():
            return Path(candidate)
    return None
