"""Command-line cases: colours while an input is typed at the REPL, held against what a terminal shows."""

import random
import time

import harness
from cli_case import case, each
from cli_repl import Terminal
from harness import Failure
from screen import width_of

KEYWORD, NUMBER, TEXT, COMMENT, ERROR = "35", "36", "32", "90", "31"
LEFT, RIGHT, UP, HOME, END, BACKSPACE = "\x1b[D", "\x1b[C", "\x1b[A", "\x01", "\x05", "\x7f"
LINE = 'let x = "a{40 + 2}" # c'
COLORED = [("let", KEYWORD), ("x", ""), ("=", ""), ('"a{', TEXT), ("40", NUMBER), ("+", ""), ("2", NUMBER),
           ('}"', TEXT), ("#", COMMENT), ("c", COMMENT)]


def expect(terminal, what, wanted):
    """Waits until the screen gives it: painting comes behind the editor's own output."""
    end = time.monotonic() + 5.0 * harness.time_scale()
    while what() != wanted:
        if time.monotonic() > end:
            raise Failure(f"expected {wanted!r}\nfound    {what()!r}\nthe screen:\n"
                          + harness.indent("\n".join(filter(None, terminal.screen.lines()))))
        terminal.reads(0.05)


def colors(terminal, wanted):
    expect(terminal, terminal.screen.colored, wanted)


def expect_line(terminal, line):
    """The screen's last line that is neither blank nor a prompt."""
    expect(terminal, lambda: [each for each in terminal.screen.lines() if each.strip("> ")][-1], line)
    expect_prompt(terminal)


def expect_prompt(terminal):
    expect(terminal, lambda: (terminal.screen.line(terminal.screen.row).rstrip(), terminal.takes_keys()), (">", True))


@case(alone=True)
def repl_colors_what_is_typed(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        for end, key in enumerate(LINE, 1):
            terminal.types(key)
            expect(terminal, terminal.screen.input, LINE[:end].rstrip())
        colors(terminal, COLORED)
        terminal.types("\n")
        expect_prompt(terminal)
        terminal.types("x")
        colors(terminal, [("x", "")])
        terminal.types("\n")
        expect_line(terminal, '"a42"')
        terminal.types("1 && 2")
        colors(terminal, [("1", NUMBER), ("&&", ERROR), ("2", NUMBER)])


@case(alone=True)
def repl_colors_again_after_edits(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.types("let y = 12")
        colors(terminal, [("let", KEYWORD), ("y", ""), ("=", ""), ("12", NUMBER)])
        terminal.types(LEFT + "0")
        colors(terminal, [("let", KEYWORD), ("y", ""), ("=", ""), ("102", NUMBER)])
        terminal.types(HOME + RIGHT)
        expect(terminal, terminal.screen.input_cursor, 1)
        terminal.types("o")
        colors(terminal, [("loet", ""), ("y", ""), ("=", ""), ("102", NUMBER)])
        terminal.types(BACKSPACE)
        colors(terminal, [("let", KEYWORD), ("y", ""), ("=", ""), ("102", NUMBER)])
        terminal.types("\ny + 1\n")
        expect_line(terminal, "103")
        terminal.types(UP + UP)
        colors(terminal, [("let", KEYWORD), ("y", ""), ("=", ""), ("102", NUMBER)])


@each({"no_color": ([], {"NO_COLOR": "1"}), "color_never": (["--color", "never"], {}), "dumb": ([], {"TERM": "dumb"}),
       "dumb_always": (["--color", "always"], {"TERM": "dumb"})}, alone=True)
def repl_types_plainly(cli, how):
    options, environment = how
    with Terminal(cli, "repl", *options, **environment) as terminal:
        terminal.settles()
        terminal.types(LINE)
        expect(terminal, terminal.screen.input, LINE)
        terminal.types("\nx\n")
        expect_line(terminal, '"a42"')
        if terminal.screen.colors_seen - {""}:
            raise Failure(f"there are colours: {terminal.screen.colors_seen}")


@case(alone=True)
def repl_colors_always(cli):
    with Terminal(cli, "repl", "--color", "always", NO_COLOR="1") as terminal:
        terminal.settles()
        terminal.types(LINE)
        colors(terminal, COLORED)


@case(alone=True)
def repl_colors_follow_the_lines_before(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.enters('let t = """one')
        terminal.settles()
        terminal.types("let # 2")
        colors(terminal, [("let", TEXT), ("#", TEXT), ("2", TEXT)])
        terminal.types('""" + "{3')
        colors(terminal, [("let", TEXT), ("#", TEXT), ('2"""', TEXT), ("+", ""), ('"{', TEXT), ("3", NUMBER)])
        terminal.types('}"\nt\n')
        expect_line(terminal, '"one\\nlet # 23"')


@each({"many_rows": (17, 12, ["é", "nil.b(c) "]), "few_rows": (31, 12, ["let ", "'é'"]),
       "rows_scroll": (40, 5, ["let ", "name"]), "wide_characters": (250, 12, ["日本", "é"])}, alone=True)
def repl_screen_stays_right_whatever_is_edited(cli, how):
    """Random keys; after each the screen shows the text and the cursor."""
    columns, rows, words = how
    dice, text, cursor, typed = random.Random(columns), "", 0, []
    with Terminal(cli, "repl", columns=columns, rows=rows) as terminal:
        terminal.settles()
        for _ in range(150):
            cut = "\x0b" if len(text) > 90 else LEFT  # Ctrl-K: the rest of the line
            key = dice.choice([LEFT, LEFT, RIGHT, HOME, END, BACKSPACE, cut, *'""{}{}##11++  ', *words, *words])
            if key == BACKSPACE:
                text, cursor = text[:max(cursor - 1, 0)] + text[cursor:], max(cursor - 1, 0)
            elif key == "\x0b":
                text = text[:cursor]
            elif key in (LEFT, RIGHT, HOME, END):
                cursor = {LEFT: max(cursor - 1, 0), RIGHT: min(cursor + 1, len(text)), HOME: 0, END: len(text)}[key]
            else:
                text, cursor = text[:cursor] + key + text[cursor:], cursor + len(key)
            typed.append(key)
            terminal.types(key)
            try:
                expect(terminal, lambda: (terminal.screen.input(), terminal.screen.input_cursor()),
                       (text.rstrip(), sum(map(width_of, text[:cursor]))))
            except Failure as failure:
                raise Failure(f"{failure}\nafter the keys {typed!r}") from None


@case(alone=True)
def repl_evaluates_a_line_of_many_rows(cli):
    with Terminal(cli, "repl", columns=30) as terminal:
        terminal.settles()
        sum_of = " + ".join(str(n) for n in range(1, 40))
        terminal.types(sum_of)
        expect(terminal, terminal.screen.input, sum_of)
        expect(terminal, lambda: {color for word, color in terminal.screen.colored() if word != "+"}, {NUMBER})
        terminal.types(HOME + RIGHT + "000\n")
        expect_line(terminal, str(sum(range(1, 40)) + 999))


@case(alone=True)
def repl_takes_letters_of_every_alphabet(cli):
    with Terminal(cli, "repl", LC_ALL="C") as terminal:
        terminal.settles()
        terminal.types('"é日" + "Ω"')
        colors(terminal, [('"é日"', TEXT), ("+", ""), ('"Ω"', TEXT)])
        terminal.types("\n")
        expect_line(terminal, '"é日Ω"')
        terminal.types(":quit\n")
        terminal.ends(0)
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.types(UP + UP)
        colors(terminal, [('"é日"', TEXT), ("+", ""), ('"Ω"', TEXT)])


@case(alone=True)
def repl_prompt_begins_a_line(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.types('print("abc")\n')
        expect_line(terminal, "abc")
        terminal.types("4" + HOME + "1\n")
        expect_line(terminal, "14")
        terminal.types('print("abc"); 1 // 0\n')
        expect(terminal, lambda: terminal.screen.lines().count("abc"), 2)


@case(alone=True)
def repl_follows_the_size_of_its_window(cli):
    with Terminal(cli, "repl") as terminal:
        terminal.settles()
        terminal.resizes(20, 10)
        terminal.types("1\n")
        terminal.settles()
        terminal.types("[1111, 2222, 3333, 4444]" + LEFT)
        expect(terminal, terminal.screen.input, "[1111, 2222, 3333, 4444]")
        colors(terminal, [word for number in ("1111", "2222", "3333", "4444")
                          for word in (("[" if number == "1111" else ",", ""), (number, NUMBER))] + [("]", "")])
