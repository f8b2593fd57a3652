"""A terminal's screen, as far as the REPL and its line editor use one: cells with a character and a colour,
and a cursor. What it does not know is a failure, so that no case passes on what was misread.
"""

import codecs
import re
import unicodedata

from harness import Failure

# Control sequences; an incomplete one at the end waits for more.
SEQUENCE = re.compile(r"\x1b(?:\[([0-9;?]*)([A-Za-z@])|([=>]))")
BLANK = (" ", "")
BEHIND = ("", "")  # the second cell of a wide character


def width_of(character):
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [self._empty_row() for _ in range(rows)]
        self.row = self.column = 0  # column == columns: the next character begins a row
        self.color, self.colors_seen, self.inserting = "", set(), False
        self.decoder, self.rest = codecs.getincrementaldecoder("utf-8")("replace"), ""

    def _empty_row(self):
        return [BLANK] * self.columns

    # ---- what is seen ----

    def line(self, row):
        return "".join(character for character, _ in self.cells[row]).rstrip()

    def lines(self):
        return [self.line(row) for row in range(self.rows)]

    def input_row(self):
        """The row of the last prompt down to the cursor's."""
        found = [row for row in range(self.row + 1) if self.line(row)[:2].rstrip() in (">", ".")]
        if not found:
            raise Failure("there is no prompt on the screen:\n" + "\n".join(self.lines()))
        return found[-1]

    def input(self):
        """What stands behind the last prompt, its rows joined; blanks at its end are not seen."""
        first = self.input_row()
        text = "".join(c for row in self.cells[first:] for c, _ in row)
        return text[2:].rstrip()

    def input_cursor(self):
        """The cell of the cursor, counted from the one behind the prompt."""
        return (self.row - self.input_row()) * self.columns + self.column - 2

    def colored(self):
        """[(word, colour)] behind the last prompt: stretches of one colour without blanks, which show none."""
        found, follows = [], False
        for character, color in [cell for row in self.cells[self.input_row():] for cell in row][2:]:
            if character == "":  # the rest of a wide character
                continue
            if follows and character != " " and color == found[-1][1]:
                found[-1] = (found[-1][0] + character, found[-1][1])
            elif character != " ":
                found.append((character, color))
            follows = character != " "
        return found

    # ---- what the program writes ----

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        self.rest, at = "", 0
        while at < len(text):
            if text[at] != "\x1b":
                self._control(text[at]) if text[at] < " " else self._put(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if found:
                self._sequence(found[2] or "", found[1] or "")
                at = found.end()
            elif len(text) - at < 16:
                self.rest = text[at:]
                return
            else:
                raise Failure(f"the screen does not know {text[at:at + 16]!r}")

    def _control(self, c):
        self.column = min(self.column, self.columns - 1)
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self._down()
        elif c == "\b":
            self.column = max(self.column - 1, 0)
        elif c == "\t":
            self.column = min((self.column // 8 + 1) * 8, self.columns - 1)
        elif c != "\a":
            raise Failure(f"the screen does not know {c!r}")

    def _down(self):
        self.row += 1
        if self.row == self.rows:
            self.cells = self.cells[1:] + [self._empty_row()]
            self.row -= 1

    def _put(self, character):
        width = width_of(character)
        if self.column + width > self.columns:
            self.column = 0
            self._down()
        cells = self.cells[self.row]
        if self.inserting:
            cells[self.column:] = ([BLANK] * width + cells[self.column:])[:self.columns - self.column]
        cells[self.column:self.column + width] = [(character, self.color)] + [BEHIND] * (width - 1)
        self.column += width

    def _sequence(self, final, parameters):
        if final == "m":
            self.color = "" if parameters in ("", "0") else parameters.removeprefix("0;")
            self.colors_seen.add(self.color)
            return
        if final in "hl" and final:
            self.inserting = final == "h" if parameters == "4" else self.inserting
            return
        count = int(parameters) if parameters.isdigit() else 1
        self.column = min(self.column, self.columns - 1)
        cells, at = self.cells[self.row], self.column
        if final == "A":
            self.row = max(self.row - count, 0)
        elif final == "B":
            self.row = min(self.row + count, self.rows - 1)
        elif final == "C":
            self.column = min(at + count, self.columns - 1)
        elif final == "D":
            self.column = max(at - count, 0)
        elif final == "G":
            self.column = min(count, self.columns) - 1
        elif final == "@":
            cells[at:] = ([BLANK] * count + cells[at:])[:self.columns - at]
        elif final == "P":
            cells[at:] = (cells[at + count:] + [BLANK] * count)[:self.columns - at]
        elif final in ("K", "J") and parameters in ("", "0"):
            cells[at:] = [BLANK] * (self.columns - at)
            below = range(self.row + 1, self.rows) if final == "J" else ()
            for row in below:
                self.cells[row] = self._empty_row()
        elif final:
            raise Failure(f"the screen does not know ESC [ {parameters} {final}")
