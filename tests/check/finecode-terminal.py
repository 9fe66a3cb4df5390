"""finecode-terminal.py COMMAND...: runs it in a terminal of its own, 80 columns and 24 lines. Prints its exit code, then
"most" and the screen when it had the most lines of what is redrawn, then "end" and the last screen."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Screen:
    def __init__(self):
        self.lines, self.row, self.column, self.unknown = [""], 0, 0, []

    def text(self, text):
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + text + line[self.column + len(text):]
        self.column += len(text)

    def steer(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif letter == "J":
            self.lines[self.row:] = [self.lines[self.row][:self.column]]
        elif letter not in "mhl":
            self.unknown.append(letter)

    def take(self, data):
        for token in TOKEN.finditer(data):
            if token[0] == "\r":
                self.column = 0
            elif token[0] == "\n":
                self.row, self.column = self.row + 1, 0
                self.lines += [""] * (self.row + 1 - len(self.lines))
            elif token[2]:
                self.steer(token[1], token[2])
            else:
                self.text(token[0])

    def show(self):
        return "\n".join(line.rstrip() for line in self.lines)


def main():
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(sys.argv[1], sys.argv[1:])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    screen, rest, most, end = Screen(), b"", "", time.monotonic() + 15
    while time.monotonic() < end and select.select([fd], [], [], end - time.monotonic())[0]:
        try:
            data = rest + os.read(fd, 65536)
        except OSError:
            break
        cut = data.rfind(b"\x1b")
        cut = cut if cut >= len(data) - 6 and not re.search(rb"[A-Za-z]", data[cut:]) else len(data)
        rest, data = data[cut:], data[:cut]
        screen.take(data.decode(errors="replace"))
        most = max(most, screen.show(), key=lambda text: text.count("running") * 100 + len(text))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(code, screen.unknown, "most", most, "end", screen.show(), sep="\n")


main()
