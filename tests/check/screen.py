"""What a terminal shows of what is written to it."""

import codecs
import re
import unicodedata


class Wrong(Exception):
    pass


class Screen:
    """As much of a terminal as libedit and Duplex use of xterm; anything else is an error."""

    def __init__(self, width):
        self.rows = [[]]
        self.row = self.column = 0
        self.width = width
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.rest = ""

    def put(self, char):
        cells = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.column + cells > self.width:
            self.down()
            self.column = 0
        line = self.rows[self.row]
        line.extend(" " * (self.column - len(line)))
        line[self.column : self.column + cells] = [char] + [""] * (cells - 1)
        self.column += cells

    def down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def control(self, kind, numbers):
        count = numbers[0] if numbers and numbers[0] else 1
        line = self.rows[self.row]
        self.column = min(self.column, self.width - 1) if kind not in "m" else self.column
        if kind == "A":
            self.row = max(0, self.row - count)
        elif kind == "B":
            for _ in range(count):
                self.down()
        elif kind == "C":
            self.column = min(self.width - 1, self.column + count)
        elif kind == "D":
            self.column = max(0, self.column - count)
        elif kind == "G":
            self.column = count - 1
        elif kind == "K" and not numbers:
            del line[self.column :]
        elif kind == "J" and not numbers:
            del line[self.column :]
            del self.rows[self.row + 1 :]
        elif kind == "P":
            del line[self.column : self.column + count]
        elif kind == "@":
            line[self.column : self.column] = [" "] * count
        elif kind not in "mhl":
            raise Wrong(f"the terminal is told {numbers}{kind}")

    def feed(self, data):
        text = self.rest + self.decode(data)
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\x1b":
                match = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z@])").match(text, at)
                if not match:
                    if len(text) - at < 12 and re.fullmatch(r"\x1b(\[\??[0-9;]*)?", text[at:]):
                        break
                    raise Wrong(f"the terminal is told {text[at : at + 20]!r}")
                self.control(match[2], [int(one) for one in match[1].split(";") if one])
                at = match.end()
                continue
            if char == "\r":
                self.column = 0
            elif char == "\n":
                self.down()
            elif char == "\b":
                self.column = max(0, min(self.column, self.width - 1) - 1)
            elif char >= " ":
                self.put(char)
            elif char != "\x07":
                raise Wrong(f"the terminal is told {char!r}")
            at += 1
        self.rest = text[at:]

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.rows)
