"""terminal-talk.py PROGRAM [ARG...]: runs a program in a terminal of its own and talks to it as the
standard input says, a step a line:
  > TEXT   types the text and Enter
  - NAME   sends it that signal: - TERM
  ^ KEYS   types control characters: ^ C is Ctrl-C
  < TEXT   waits until that has been shown, behind what was waited for before
  ! TEXT   that must not have been shown so far
  = CODE   waits for its end, which must have that exit code
What was shown goes to the standard output in the end."""

import os
import pty
import select
import signal
import sys
import time

SECONDS = 15


class Talk:
    def __init__(self, argv):
        self.seen = b""
        self.at = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)

    def fail(self, why):
        sys.stderr.write(f"{why}; shown: {self.seen.decode(errors='replace')}\n")
        os.kill(self.pid, 9)
        sys.exit(1)

    def read(self):
        if select.select([self.fd], [], [], 0.1)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            self.seen += data
            return data != b""
        return True

    def wait_for(self, text):
        end = time.monotonic() + SECONDS
        while (found := self.seen.find(text, self.at)) < 0:
            if not self.read() or time.monotonic() > end:
                self.fail(f"{text!r} is not shown")
        self.at = found + len(text)

    def wait_for_end(self, code):
        end = time.monotonic() + SECONDS
        while self.read():
            if time.monotonic() > end:
                self.fail("it does not end")
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status != code:
            sys.stderr.write(f"it ended with {status}, expected {code}; shown: {self.seen.decode(errors='replace')}\n")
            sys.exit(1)


def main():
    steps = sys.stdin.read().splitlines()
    talk = Talk(sys.argv[1:])
    for step in steps:
        kind, text = step[:1], step[2:]
        if kind == ">":
            os.write(talk.fd, text.encode() + b"\n")
        elif kind == "-":
            os.kill(talk.pid, getattr(signal, "SIG" + text))
        elif kind == "^":
            os.write(talk.fd, bytes(ord(c) - 64 for c in text))
        elif kind == "<":
            talk.wait_for(text.encode())
        elif kind == "!" and text.encode() in talk.seen:
            talk.fail(f"{text!r} is shown")
        elif kind == "=":
            talk.wait_for_end(int(text))
    sys.stdout.write(talk.seen.decode(errors="replace"))


main()
