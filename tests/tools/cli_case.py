"""What the command-line tests share: how a case is declared, and the hand (`Cli`) it works with.

A case is a function of one argument, marked with `@case`; its name is `cli/` and the function's name.
`@each({name: value})` makes one case of each row of a table, called with the hand and the value.
"""

import os
import re
import shlex
import signal
import subprocess
import time

import harness
from harness import Failure

# Nothing on a terminal, nothing from the person who runs the tests.
PLAIN_ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"):
    if variable in os.environ:
        PLAIN_ENVIRONMENT[variable] = os.environ[variable]


class Case:
    def __init__(self, name, function, alone):
        self.name, self.function, self.alone = name, function, alone

    def run(self, posset, scratch, sanitized):
        folder = scratch / re.sub(r"\W", "_", self.name)
        folder.mkdir()
        self.function(Cli(posset, folder, sanitized))


def case(function=None, *, alone=False):
    if function is None:
        return lambda real: case(real, alone=alone)
    function.cases = [Case(f"cli/{function.__name__}", function, alone)]
    return function


def each(table, *, alone=False):
    def mark(function):
        function.cases = [
            Case(f"cli/{function.__name__}/{name}", lambda cli, v=value: function(cli, v), alone)
            for name, value in table.items()]
        return function
    return mark


def cases_of(module):
    return [made for thing in vars(module).values() for made in getattr(thing, "cases", [])]


class Outcome:
    """A finished run, with the assertions the cases are written in. Each returns self."""

    def __init__(self, finished):
        self.run = finished
        self.stdout, self.stderr, self.status = finished.stdout, finished.stderr, finished.status

    def fail(self, text):
        raise Failure(f"$ {shlex.join(map(str, self.run.command))[:400]}\n{text}\n"
                      f"exit status {self.status}\nstandard output:\n"
                      f"{harness.indent(harness.shorten(self.stdout, 12, 160))}\nstandard error:\n"
                      f"{harness.indent(harness.shorten(self.stderr, 15, 160))}")

    def ends(self, *statuses):
        if self.run.crash():
            self.fail(self.run.crash())
        if self.status not in statuses:
            self.fail(f"expected exit status {' or '.join(map(str, statuses))}")
        return self

    def prints(self, text):
        if self.stdout != text:
            self.fail(harness.difference(text, self.stdout))
        return self

    def says(self, *words):
        """Every word is on standard error, case ignored."""
        for word in words:
            if word.lower() not in self.stderr.lower():
                self.fail(f"standard error does not say: {word}")
        return self

    def says_not(self, *words):
        for word in words:
            if word.lower() in self.stderr.lower():
                self.fail(f"standard error says: {word}")
        return self

    def diagnoses(self, *words, severity="error", at=None):
        """There is a diagnostic with all the words in its message, at (line, column) if given."""
        found = self.run.diagnostics(severity)
        for _, line, column, _, message in found:
            if all(word.lower() in message.lower() for word in words) and at in (None, (line, column)):
                return self
        self.fail(f"no {severity} {f'at {at} ' if at else ''}that says: {', '.join(words)}")

    def is_brief(self, limit=20000):
        """However large the input, what is said about it can be read."""
        if len(self.stderr) > limit:
            self.fail(f"{len(self.stderr)} characters on standard error")
        return self


class Cli:
    """Runs the command under test in a folder of its own."""

    def __init__(self, posset, folder, sanitized):
        self.posset, self.folder, self.sanitized = posset, folder, sanitized
        self.environment = {**PLAIN_ENVIRONMENT, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return name

    def __call__(self, *arguments, stdin=b"", timeout=20.0, **environment):
        if isinstance(stdin, str):
            stdin = stdin.encode("utf-8")
        return Outcome(harness.run([*self.posset, *arguments], stdin, timeout, cwd=self.folder,
                                   env={**self.environment, **environment}))

    def script(self, source, *options, name="script.posset", arguments=(), **more):
        """Writes a script and runs it."""
        self.write(name, source)
        return self("run", *options, name, *arguments, **more)

    def start(self, *arguments, **how):
        """A running process, for cases that close its output or send it signals."""
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        return subprocess.Popen([*map(str, self.posset), *map(str, arguments)], cwd=self.folder,
                                env=self.environment, start_new_session=True, **how)

    def finish(self, child, timeout=20.0):
        """Waits for a process of `start`; kills what does not end."""
        started = time.monotonic()
        timed_out = False
        try:
            out, err = child.communicate(timeout=timeout * harness.time_scale())
        except subprocess.TimeoutExpired:
            timed_out = True
            child.kill()
            out, err = child.communicate()
        return Outcome(harness.Finished(child.args, child.returncode, out or b"", err or b"",
                                        timed_out, time.monotonic() - started))

    def interrupt(self, source, *options, after=0.5):
        """Runs a script that would not end, presses Ctrl-C, and returns the outcome."""
        self.write("endless.posset", source)
        child = self.start("run", *options, "endless.posset")
        time.sleep(after * harness.time_scale())
        child.send_signal(signal.SIGINT)
        return self.finish(child, 10.0)
