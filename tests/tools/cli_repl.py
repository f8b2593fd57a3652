"""Command-line cases: the REPL, on a pseudo-terminal as a person has it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import harness
from cli_case import case
from harness import Failure
from screen import Screen

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>()][0-9A-Z]?|\r|\x07|\x0f")

PROMPT = re.compile(r"(^|\n)[>.] $")


class Terminal:
    """The command, a REPL mostly, on a terminal of its own: `types` sends keys, `shows` waits for text, `screen` has what is seen."""

    def __init__(self, cli, *arguments, columns=120, rows=40, **environment):
        self.master, slave = pty.openpty()
        self.resizes(columns, rows)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(
            [*map(str, cli.posset), *arguments], cwd=cli.folder, stdin=slave, stdout=slave, stderr=slave,
            env={**cli.environment, "TERM": "xterm", **environment}, preexec_fn=take_terminal)
        os.close(slave)
        self.text, self.seen = "", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.master)

    def resizes(self, columns, rows):
        """Takes another window, which is blank."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = Screen(columns, rows)

    def reads(self, seconds):
        """Takes what the REPL has written, waiting for it this long. False: nothing."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other side is gone
            return False
        self.text += ESCAPES.sub("", data.decode("utf-8", "replace"))
        self.screen.feed(data)
        return bool(data)

    def types(self, text):
        os.write(self.master, text.encode("utf-8"))

    def enters(self, line):
        """Types a line and forgets what was shown so far, its echo included."""
        self.settles()
        self.types(line + "\n")
        self.shows(line.rsplit("\t", maxsplit=1)[-1][-20:])

    def takes_keys(self):
        """The editor has the terminal; it shows its prompt just before that, and keys typed until then are
        echoed by the terminal, too."""
        return not termios.tcgetattr(self.master)[3] & (termios.ECHO | termios.ICANON)

    def settles(self):
        """Waits for the first prompt, and until nothing more comes. What looks like a prompt needs less time."""
        end = time.monotonic() + 5.0 * harness.time_scale()
        while self.reads((0.03 if PROMPT.search(self.text) else 0.15) * harness.time_scale()) or (
                not (PROMPT.search(self.text) and self.takes_keys()) and self.child.poll() is None
                and time.monotonic() < end):
            pass
        self.seen = len(self.text)

    def shows(self, pattern, seconds=5.0, regex=False):
        """Waits for text after what was seen last."""
        search = re.compile(pattern if regex else re.escape(pattern))
        end = time.monotonic() + seconds * harness.time_scale()
        while True:
            found = search.search(self.text, self.seen)
            if found:
                self.seen = found.end()
                return
            if time.monotonic() > end or not self.reads(0.2) and self.child.poll() is not None:
                raise Failure(f"did not show {pattern!r}; the screen since:\n"
                              + harness.indent(harness.shorten(self.text[self.seen:][-3000:])))

    def ends(self, status):
        end = time.monotonic() + 5.0 * harness.time_scale()
        while self.child.poll() is None and time.monotonic() < end:
            self.reads(0.1)
        if self.child.poll() != status:
            raise Failure(f"ended with {self.child.poll()}, expected {status}; the screen:\n"
                          + harness.indent(harness.shorten(self.text[-3000:])))


@case(alone=True)
def a_script_shows_its_prompt_before_it_reads(cli):
    cli.write("ask.posset", 'import "io"\nprint("name> ")\nlet name = io.read_line()\nprintln("hello {name}")\n')
    with Terminal(cli, "run", "--allow", "input", "ask.posset") as terminal:
        terminal.shows("name> ")
        terminal.types("Ann\n")
        terminal.shows("hello Ann")
        terminal.ends(0)


@case
def limits_act_while_a_script_waits_for_a_line(cli):
    cli.write("ask.posset", 'import "io"\nio.read_line()\n')
    with Terminal(cli, "run", "--allow", "input", "--time-limit", "0.2", "ask.posset") as terminal:
        terminal.ends(4)


@case
def limits_act_while_a_script_waits_for_a_process_or_a_pipe(cli):
    os.mkfifo(cli.folder / "pipe")
    cli.write("run.posset", 'import "os"\nos.run("sleep", "60")\n')
    cli.write("silent.posset", 'import "os"\nos.run("sh", "-c", "exec >&-; exec sleep 60")\n')
    cli.write("pipe.posset", 'import "io"\nio.read("pipe")\n')
    for name in ("run", "silent", "pipe"):
        cli("run", "--allow", "all", "--time-limit", "0.2", f"{name}.posset").ends(4).says("time limit")


@case(alone=True)
def repl_evaluates_and_keeps_names(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("let x = 20 + 1")
        terminal.enters("x * 2")
        terminal.shows("42")
        terminal.enters("fn double(n) => n * 2")
        terminal.enters("double(x) + 1")
        terminal.shows("43")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_is_what_posset_alone_starts(cli):
    with Terminal(cli) as terminal:
        terminal.enters("6 * 7")
        terminal.shows("42")
        terminal.settles()  # what is typed before the prompt stands is thrown away by the terminal
        terminal.types("\x04")  # Ctrl-D
        terminal.ends(0)


@case(alone=True)
def repl_survives_errors(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("1 // 0")
        terminal.shows("division by zero")
        terminal.enters("nosuch + 1")
        terminal.shows("not defined")
        terminal.enters("let = 3")
        terminal.shows("error")
        terminal.enters("40 + 2")
        terminal.shows("42")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_keeps_the_session_after_ctrl_c(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("let kept = 41")
        terminal.enters("while true { }")
        time.sleep(0.3 * harness.time_scale())
        terminal.types("\x03")
        terminal.shows("interrupt", regex=False)
        terminal.enters("kept + 1")
        terminal.shows("42")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_ctrl_c_at_the_prompt_drops_the_line(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.types("half a li")
        terminal.shows("half a li")
        terminal.types("\x03")
        terminal.settles()
        terminal.enters("40 + 2")
        terminal.shows("42")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_reads_several_lines(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("fn triple(n) {")
        terminal.enters("  n * 3")
        terminal.enters("}")
        terminal.enters("triple(14)")
        terminal.shows("42")
        terminal.enters("[1,")
        terminal.enters(" 40 + 2]")
        terminal.shows("[1, 42]")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_commands_answer(cli):
    cli.write("lib.posset", "fn loaded() => 4242\n")
    with Terminal(cli, "repl") as terminal:
        for line, answer in ((":help", ":quit"), (":doc len", "len("), (":type 1.5", "float"),
                             (":time 1 + 1", "s"), ("fn f(x) => x + 1", ""), ("f(1)", "2"),
                             (":explain f", "pure"), (":why f", "not_hot"), (":tier f", "f"), (":dump f", "f"),
                             (":load lib.posset", ""), ("loaded()", "4242"), (":nosuch", "nosuch"),
                             (":reset", ""), ("loaded()", "not defined")):
            terminal.enters(line)
            if answer:
                terminal.shows(answer)
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_completes_names(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("let surprising = 4242")
        terminal.settles()
        terminal.types("surpri\t")
        terminal.shows("surprising")
        terminal.types("\n")
        terminal.shows("4242")
        terminal.enters("let point = {abscissa: 777, ordinate: 888}")
        terminal.settles()
        terminal.types("point.absc\t")
        terminal.shows("point.abscissa")
        terminal.types("\n")
        terminal.shows("777")
        terminal.settles()
        terminal.types("awa\t")
        terminal.shows("await")
        terminal.types("\x03")
        terminal.enters(":quit")
        terminal.ends(0)


@case(alone=True)
def repl_remembers_lines_between_runs(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters("1000 + 234")
        terminal.shows("1234")
        terminal.enters(":quit")
        terminal.ends(0)
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.types("\x1b[A\x1b[A")  # up twice: past :quit
        terminal.shows("1000 + 234")
        terminal.types("\n")
        terminal.shows("1234")


LONG_SOLVE = """import "fixpoint"
print("begins, ")
println(fixpoint.solve(1, (i, x) => 1 - x[i], {timeout: 1.4}).status)
"""


@case(alone=True)
def a_long_solve_shows_its_progress_on_a_terminal_and_erases_it(cli):
    cli.write("long.posset", LONG_SOLVE)
    with Terminal(cli, "run", "long.posset") as terminal:
        terminal.shows(r"fixpoint\.solve: residual 1, \d+\.\d\d million updates a second, 1\.\d s", regex=True)
        terminal.shows("begins, timed out")
        terminal.ends(0)
        if "fixpoint" in "\n".join(terminal.screen.lines()):
            raise Failure("progress is left on the screen")


@case
def a_long_solve_shows_nothing_where_there_is_no_terminal(cli):
    cli.write("long.posset", LONG_SOLVE)
    cli("run", "long.posset").ends(0).prints("begins, timed out\n").says_not("fixpoint")


@case
def repl_without_a_terminal_does_not_hang(cli):
    outcome = cli("repl", stdin="1 + 41\n:quit\n").ends(0, 2)
    if outcome.status == 0 and "42" not in outcome.stdout:
        outcome.fail("evaluated nothing")
