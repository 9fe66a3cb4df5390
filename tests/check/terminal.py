"""terminal.py SHELL SETUP ANSWERS [SECONDS]: types each line of the standard input at an interactive
SHELL (bash or zsh) in a terminal of its own, presses TAB, and prints what the line is then. SETUP is a
file that the shell reads first; in it Ctrl-X p must be bound to something that appends the line at
hand to the file ANSWERS and empties it."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

OPTIONS = {"bash": ["--noprofile", "--norc", "-i"], "zsh": ["-f", "-i"]}


class Terminal:
    def __init__(self, shell, answers, seconds):
        self.answers = answers
        self.end = time.monotonic() + seconds
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(shell, [shell, *OPTIONS[shell]])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                self.fail("the shell ended")

    def fail(self, why):
        sys.stderr.write(f"{why}; seen: {self.seen[-2000:]!r}\n")
        sys.exit(1)

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for_lines(self, count):
        while True:
            with open(self.answers, encoding="utf-8") as file:
                lines = file.read().split("\n")
            if len(lines) > count:
                return lines[count - 1]
            if time.monotonic() > self.end:
                self.fail(f"line {count} is not answered")
            self.read(0.02)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def main():
    shell, setup, answers = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 20
    with open(answers, "w", encoding="utf-8"):
        pass
    terminal = Terminal(shell, answers, seconds)
    try:
        terminal.type(f". {setup}\r")
        terminal.wait_for_lines(1)  # the file's last line says that it was read
        for number, line in enumerate(sys.stdin.read().splitlines()):
            terminal.type(line + "\t\x18p")
            print(terminal.wait_for_lines(number + 2))
    finally:
        terminal.close()


main()
