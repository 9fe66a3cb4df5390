"""repl-terminal.py DUPLEX PEER SERVER TAG: duplex repl at a terminal of its own. What the terminal
shows is worked out as a terminal would, so that a line that is being typed can be looked at. PEER is
repl-peer.py, SERVER an MCP server; each "def case_..." is one case, each "def long_..." one of
those that "long" behind TAG asks for. Prints what is wrong; the exit code is 1 then."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from screen import Screen, Wrong

DUPLEX, PEER, SERVER, TAG = sys.argv[1:5]
SECONDS = 15
ROWS, COLUMNS = 40, 100
UP, LEFT = "\x1b[A", "\x1b[D"
INTERRUPT, END, TAB, ENTER, KILL = "\x03", "\x04", "\t", "\r", "\x15"


class Talk:
    """duplex repl with those arguments."""

    def __init__(self, *arguments, home=None, term="xterm", shell=()):
        self.screen = Screen(COLUMNS)
        self.raw = b""
        self.code = None
        self.home = home or os.path.abspath("home")
        os.makedirs(self.home, exist_ok=True)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(HOME=self.home, TERM=term, LC_ALL="C.UTF-8", NO_COLOR="1")
            os.environ.pop("XDG_STATE_HOME", None)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            command = [*shell, DUPLEX, "repl", *arguments]
            os.execvp(command[0], command)

    def read(self):
        if not select.select([self.fd], [], [], 0.02)[0]:
            return
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        if not data and self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.raw += data
        self.screen.feed(data)

    def wait(self, what, done):
        end = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > end or (self.code is not None and what != "its end"):
                raise Wrong(f"{what} is not there (code {self.code}); shown:\n{self.screen.text()[-1500:]}")
            self.read()

    def shows(self, *texts):
        """All of them, also where a row ends in one."""

        def has(text):
            shown = self.screen.text()
            return text in shown or text in shown.replace("\n", "")

        for text in texts:
            self.wait(repr(text), lambda text=text: has(text))

    def line(self, text, cursor=None):
        """The last rows are this line, prompt included, and the cursor stands there."""
        wanted = [text[i : i + COLUMNS].rstrip() for i in range(0, len(text) + 1, COLUMNS)]
        place = len(text) if cursor is None else cursor

        def is_there():
            rows = ["".join(row).rstrip() for row in self.screen.rows]
            while len(rows) > 1 and not rows[-1] and len(rows) - 1 > self.screen.row:
                rows.pop()
            first = len(rows) - len(wanted)
            at = (self.screen.row - first) * COLUMNS + min(self.screen.column, COLUMNS)
            return first >= 0 and rows[first:] == wanted and at == place

        self.wait(f"the line {text!r} with the cursor at {place}", is_there)

    def type(self, text):
        while text:
            text = text[os.write(self.fd, text[:1000].encode()) :]
            self.read()

    def enter(self, text):
        self.type(text + ENTER)

    def end(self, code):
        self.wait("its end", lambda: self.code is not None)
        os.close(self.fd)
        if self.code != code:
            raise Wrong(f"the end is {self.code}, expected {code}; shown:\n{self.screen.text()}")

    def quit(self):
        self.type(END)
        self.end(0)


def peer(*options, **more):
    return Talk(*options, "--", "python3", PEER, TAG, **more)


def case_prompt():
    talk = peer()
    talk.line("jsonrpc> ")
    talk.enter("echo a=b")
    talk.shows("1 echo, ", '{\n  "a": "b"\n}')
    talk.line("jsonrpc> ")
    talk.enter("none &")
    talk.enter("hold count:=2")
    talk.enter("pending")
    talk.shows("call 3: hold, for ")
    talk.enter("hold count:=2")
    talk.shows("4 hold, ", "3 hold, ")
    talk.enter("echo '")
    talk.shows("duplex repl: missing closing quote")
    talk.enter("seen")
    talk.shows('"method": "none"')
    talk.quit()


def case_quit():
    talk = peer()
    talk.line("jsonrpc> ")
    talk.enter("quit")
    talk.end(0)


def case_completion():
    talk = Talk("-p", "mcp", "--", SERVER, TAG)
    talk.line("mcp> ")
    talk.type("no" + TAB)
    talk.line("mcp> notif")
    talk.type("y" + TAB)
    talk.line("mcp> notify ")
    talk.type("notifications/c" + TAB)
    talk.line("mcp> notify notifications/cancelled ")
    talk.type(KILL + "tools/" + TAB)
    talk.shows("tools/call  tools/list\n")
    talk.line("mcp> tools/")
    talk.type("c" + TAB + "n" + TAB)
    talk.line("mcp> tools/call name=")
    talk.type("x " + TAB)
    talk.shows("_meta:=")
    if any(row.startswith("_meta:=") and " name=" in row for row in talk.screen.text().splitlines()):
        raise Wrong("a member is offered that is there already")
    talk.type("ar" + TAB)
    talk.line("mcp> tools/call name=x arguments:=")
    talk.type(KILL + "call logging/setLevel level=w" + TAB)
    talk.line("mcp> call logging/setLevel level=warning ")
    talk.type(KILL + "logging/setLevel level=e" + TAB)
    talk.line("mcp> logging/setLevel level=e")
    talk.type(TAB)
    talk.shows("level=emergency  level=error\n")
    talk.type(KILL + "describe logg" + TAB)
    talk.line("mcp> describe logging/setLevel ")
    talk.type(KILL + "x y" + TAB)
    talk.line("mcp> x y")
    talk.type(KILL)
    talk.line("mcp> ")
    talk.quit()


def case_history():
    home = os.path.abspath("history")
    file = home + "/.local/state/duplex/repl-history"
    talk = peer(home=home)
    talk.line("jsonrpc> ")
    talk.enter("echo [1]")
    talk.enter(" echo [2]")
    talk.enter("echo [3]")
    talk.shows("1 echo", "2 echo", "3 echo")
    talk.type(UP)
    talk.line("jsonrpc> echo [3]")
    talk.type(UP)
    talk.line("jsonrpc> echo [1]")
    talk.type(KILL)
    talk.quit()
    if os.stat(file).st_mode & 0o777 != 0o600 or os.stat(os.path.dirname(file)).st_mode & 0o077:
        raise Wrong("others may read the history")
    os.chmod(file, 0o644)
    talk = peer(home=home)
    talk.line("jsonrpc> ")
    talk.type(UP)
    talk.line("jsonrpc> echo [3]")
    talk.type(ENTER)
    talk.shows("1 echo")
    talk.quit()
    with open(file, encoding="utf-8") as lines:
        kept = lines.read()
    if kept != "echo [1]\necho [3]\necho [3]\n" or os.stat(file).st_mode & 0o777 != 0o600:
        raise Wrong(f"the history is {kept!r}")
    talk = peer("--no-history", home=home)
    talk.line("jsonrpc> ")
    talk.type(UP)
    talk.enter("echo [4]")
    talk.shows("1 echo")
    talk.quit()
    with open(file, encoding="utf-8") as lines:
        if lines.read() != kept:
            raise Wrong("--no-history writes it")
    # It has a limit, and is written only where it lies.
    for count, left in ((2000, 2001), (2001, 1001)):
        with open(file, "w", encoding="utf-8") as lines:
            lines.writelines(f"echo [{i}]\n" for i in range(count))
        talk = peer(home=home)
        talk.line("jsonrpc> ")
        talk.type(UP)
        talk.line(f"jsonrpc> echo [{count - 1}]")
        talk.enter("")
        talk.shows("1 echo")
        talk.quit()
        with open(file, encoding="utf-8") as lines:
            found = lines.readlines()
        if len(found) != left or found[-1] != f"echo [{count - 1}]\n":
            raise Wrong(f"{count} lines of history become {len(found)}")
    with open(file, "wb") as lines:
        lines.write(b"\0\xff\x1b]0;x\x07\n" + b"x" * (2 << 20) + b"\necho [5]\n")
    talk = peer(home=home)
    talk.line("jsonrpc> ")
    talk.type(UP)
    talk.line("jsonrpc> echo [5]")
    talk.type(KILL)
    talk.quit()
    if os.stat(file).st_size != 9:
        raise Wrong("a long history is not cut")
    os.unlink(file)
    os.symlink("/dev/null", file)
    talk = peer(home=home)
    talk.line("jsonrpc> ")
    talk.enter("echo [1]")
    talk.shows("cannot write the history ", "1 echo")
    talk.quit()


def case_history_of_others():
    home = os.path.abspath("others")
    file = home + "/.local/state/duplex/repl-history"
    os.makedirs(os.path.dirname(file))
    with open(file, "wb") as lines:
        lines.write(b"echo [1]\n\xff\xfe\n\x1b]0;x\x07\n" + b"x" + b"\t" * 30 + b"y\n")
    talk = peer(home=home)
    talk.line("jsonrpc> ")
    later(talk, 300, {"jsonrpc": "2.0", "method": "told"})
    talk.shows("1 later")
    # A line with tabs in it is put away whole, too.
    talk.type(UP + UP)
    talk.shows("notification: told")
    talk.wait("the line", lambda: talk.screen.text().rstrip().endswith(" y"))
    if talk.screen.text().count("jsonrpc> x") != 1:
        raise Wrong(f"a piece of the line is left behind:\n{talk.screen.text()}")
    talk.type(UP)
    talk.line("jsonrpc> ^[]0;x^G")
    # One that cannot be read is passed over.
    talk.type(UP)
    talk.line("jsonrpc> echo [1]")
    talk.type(KILL)
    talk.quit()


def case_keys():
    # Ctrl-Space means nothing; a Ctrl-D counts that is typed while a line is done.
    talk = peer()
    talk.line("jsonrpc> ")
    talk.type("\0")
    talk.enter("\0echo\0 [1]\0")
    talk.shows("1 echo")
    talk.line("jsonrpc> ")
    talk.type("restart" + ENTER + END)
    talk.end(0)


def later(talk, ms, message):
    talk.enter("later " + json.dumps({"ms": ms, "message": message}))


def case_half_typed():
    note = {"jsonrpc": "2.0", "method": "told", "params": {"i": 1}}
    long = "x" * 47 + "abc" + "y" * 100
    for text, left in (("echo half", 0), ("echo half", 4), (long, 0), (long, 75), ("z" * (COLUMNS - 9), 0), ("日本" * 20, 3)):
        talk = peer()
        talk.line("jsonrpc> ")
        later(talk, 200, note)
        talk.shows("1 later")
        talk.line("jsonrpc> ")
        talk.type(text + LEFT * left)
        talk.shows('notification: told {"i": 1}')
        if all(ord(char) < 128 for char in text):
            talk.line("jsonrpc> " + text, len("jsonrpc> " + text) - left)
            before = talk.screen.text().split("notification: told")[0]
            if text[:20] in before.split("1 later", 1)[1]:
                raise Wrong(f"a piece of the line is left behind:\n{talk.screen.text()}")
        # The line is whole for the peer, too.
        talk.enter("")
        talk.enter("pending")
        talk.shows(f"call 2: {text}, for" if text[:4] != "echo" else "got 'half'")
        talk.quit()


def case_requests():
    talk = peer()
    talk.line("jsonrpc> ")
    talk.enter("asks count:=3")
    talk.shows('request 3: question {"i": 2, "pad": ""}', "reply with 'answer 3 RESULT' or 'refuse 3 CODE MESSAGE'")
    talk.line("jsonrpc> ")
    talk.enter('answer 2 {"x": "y z"}')
    talk.enter("answer 2 1")
    talk.shows("no pending request 2")
    talk.enter("refuse 1 -7 not now")
    talk.enter("answer 3 true")
    talk.shows("1 asks", '"message": "not now"', '"x": "y z"')
    talk.enter("asks count:=1")
    talk.shows("request 4: question")
    talk.line("jsonrpc> ")
    talk.quit()
    if '"message": "the request was not answered"' not in talk.screen.text():
        raise Wrong("the last request is not refused at the end")
    talk = peer("--auto")
    talk.line("jsonrpc> ")
    talk.enter("asks count:=1")
    talk.shows("request: question", '"code": -32601')
    talk.quit()


def case_interrupts():
    server = os.path.abspath("cancels.py")
    talk = Talk("-p", "mcp", "--", "python3", server, TAG)
    talk.line("mcp> ")
    talk.type("tools/l")
    talk.line("mcp> tools/l")
    talk.type(INTERRUPT)
    talk.line("mcp> ")
    talk.enter("tools/list")
    talk.line("mcp> ")
    time.sleep(0.1)
    talk.type("half")
    talk.line("mcp> half")
    talk.type(INTERRUPT)
    talk.line("mcp> ")
    talk.enter("pending")
    talk.shows("call 1: tools/list")
    talk.line("mcp> ")
    talk.type(INTERRUPT)
    talk.shows("tools/list: cancelled")
    talk.line("mcp> ")
    talk.type(INTERRUPT)
    talk.quit()
    with open("heard", encoding="utf-8") as lines:
        if "notifications/cancelled" not in lines.read():
            raise Wrong("the peer hears nothing of it")


def case_peer_dies():
    talk = peer()
    talk.line("jsonrpc> ")
    talk.enter("pid")
    talk.wait("a process id", lambda: re.search(r"1 pid, .*\n\d+\njson", talk.screen.text()))
    talk.type("echo half")
    talk.line("jsonrpc> echo half")
    os.kill(int(re.search(r"1 pid, .*\n(\d+)", talk.screen.text())[1]), signal.SIGKILL)
    talk.shows("the conversation with the server ended: the program was killed by signal 9", "'restart' starts it again")
    talk.line("jsonrpc> echo half")
    talk.enter("")
    talk.shows("expected key=text or key:=json, got 'half'")
    talk.enter("echo [1]")
    talk.shows("echo: the conversation ended before the server was asked: the program was killed by signal 9")
    talk.enter("answer 1 2")
    talk.enter("raw x")
    talk.enter("restart")
    talk.enter("echo [42]")
    talk.shows("2 echo", "42\n]")
    talk.enter("hold count:=2")
    talk.enter("leave code:=5")
    # The row ends between "code" and 5, and blanks at its end are not shown.
    talk.shows("hold: the conversation ended before the server responded: the program exited with code", "code5")
    talk.enter("restart")
    talk.enter("echo [43]")
    talk.shows("43\n]")
    talk.quit()


def case_signals():
    for number in (signal.SIGTERM, signal.SIGHUP):
        talk = peer()
        talk.line("jsonrpc> ")
        talk.type("echo half")
        talk.line("jsonrpc> echo half")
        os.kill(talk.pid, number)
        talk.end(130)
    talk = peer()
    talk.line("jsonrpc> ")
    os.close(talk.fd)
    end = time.monotonic() + SECONDS
    while os.waitpid(talk.pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            raise Wrong("it lives on without its terminal")
        time.sleep(0.02)


def case_suspended():
    # Where a shell looks after it; it goes on when the shell has read a line.
    shell = ("sh", "-mc", '"$@"; for i in 1 2; do echo "stopped $?"; read -r line; echo "read $line"; fg; done', "sh")
    talk = peer(shell=shell)
    talk.line("jsonrpc> ")
    talk.type("echo [1]")
    talk.line("jsonrpc> echo [1]")
    talk.type("\x1a")
    talk.shows("stopped 148")
    plain = termios.tcgetattr(talk.fd)
    talk.type("go on\n")
    talk.shows("read go on")
    talk.line("jsonrpc> echo [1]")
    talk.enter("")
    talk.shows("1 echo")
    talk.line("jsonrpc> ")
    # Stopped without being asked: it is the shell that puts the terminal in order, if anybody does.
    os.killpg(os.tcgetpgrp(talk.fd), signal.SIGSTOP)
    talk.shows("stopped 147")
    termios.tcsetattr(talk.fd, termios.TCSANOW, plain)
    talk.type("go further\n")
    talk.shows("read go further")
    talk.line("jsonrpc> ")
    talk.enter("echo [2]")
    talk.shows("2 echo")
    if talk.screen.text().count("echo [2]") != 1:
        raise Wrong(f"the terminal is not what it was:\n{talk.screen.text()}")
    talk.quit()
    # Where nobody could let it go on, it does so by itself.
    talk = peer()
    talk.line("jsonrpc> ")
    talk.type("echo [1]")
    talk.line("jsonrpc> echo [1]")
    before = len(talk.raw)
    talk.type("\x1a")
    talk.wait("the line anew", lambda: len(talk.raw) > before)
    talk.line("jsonrpc> echo [1]")
    talk.enter("")
    talk.shows("1 echo")
    fcntl.ioctl(talk.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 50, 0, 0))
    talk.screen.width = 50
    talk.type("echo [" + "2" * 60 + "]")
    talk.wait("a line in the new width", lambda: "2" * 23 in talk.screen.text().splitlines()[-1][:30])
    talk.enter("")
    talk.shows("2 echo")
    talk.quit()


def case_steering():
    # Screen takes no sequence but those of a line that is edited, so that showing this fails.
    talk = peer()
    talk.line("jsonrpc> ")
    talk.enter("steer")
    talk.shows("notification: note\\x1b]0;owned", "stdout: stray \\x1b]0;", "stderr: errors \\x1b]0;", "request 1: question\\x1b]",
               "1 steer")
    talk.enter("pending")
    talk.shows("request 1: question\\x1b")
    talk.enter('echo {"a":"\\u001b]0;x\\u0007"}')
    talk.shows("2 echo", '"a": "\\u001B]0;x\\u0007"')
    talk.quit()
    for bad in (b"owned\x07", b"\x1b]", b"\x9b", "\u202e".encode(), b"\x1b[31m"):
        if bad in talk.raw:
            raise Wrong(f"{bad!r} reaches the terminal")


def case_long_line():
    talk = peer()
    talk.line("jsonrpc> ")
    for count in (8191, 8192):
        talk.type("x" * count)
        talk.wait("the last character", lambda count=count: talk.screen.text().count("x") >= 8191)
        if count == 8192:
            talk.wait("a beep", lambda: b"\x07" in talk.raw)
        elif b"\x07" in talk.raw:
            raise Wrong("8,191 characters are too many")
        talk.type(INTERRUPT)
        talk.line("jsonrpc> ")
    talk.quit()


def case_dumb():
    talk = peer(term="dumb")
    talk.enter("echo [7]")
    talk.shows("7\n]")
    if "jsonrpc>" in talk.screen.text():
        raise Wrong("there is a prompt")
    talk.type(END)
    talk.end(0)


def case_events():
    talk = peer("--json")
    talk.line("jsonrpc> ")
    talk.enter("asks count:=1")
    talk.shows('{"event":"request","id":1,"method":"question"')
    talk.enter("answer 1 5")
    talk.shows('{"event":"result","id":1,"method":"asks"')
    talk.type(END)
    talk.end(0)
    if '{"event":"end","how":"the program exited with code 0"}' not in talk.screen.text():
        raise Wrong(talk.screen.text())


def case_framing():
    talk = Talk("--", os.path.dirname(SERVER) + "/echo", "header")
    talk.line("jsonrpc> ")
    talk.enter("echo [1]")
    talk.type("half")
    talk.shows("the server speaks header framing", "1 echo", "1\n]")
    talk.line("jsonrpc> half")
    talk.type(KILL)
    talk.quit()
    # One that speaks before anything is asked.
    talk = Talk("--", "python3", os.path.abspath("greets.py"), TAG)
    talk.shows("the server speaks header framing", "notification: hello")
    talk.line("jsonrpc> ")
    talk.quit()


def long_calls():
    talk = peer()
    talk.line("jsonrpc> ")
    for _ in range(1000):
        talk.enter("hold count:=1000")
    talk.shows("1000 hold, ", "\n1 hold, ")
    talk.line("jsonrpc> ")
    if "already pending" in talk.screen.text():
        raise Wrong("1000 calls are too many")
    for _ in range(1001):
        talk.enter("hold count:=0")
    talk.shows("1000 calls are already pending: wait for one to finish, or cancel it")
    talk.line("jsonrpc> ")
    talk.quit()


def document(methods, schemas=None):
    with open("big.openrpc.json", "w", encoding="utf-8") as file:
        json.dump({"openrpc": "1.3.2", "info": {"title": "Big", "version": "1"}, "x-duplex": {"name": "big", "framing": "line"},
                   "methods": methods, "components": {"schemas": schemas or {}, "errors": {}}}, file)
    return peer("-p", "./big.openrpc.json")


def method(name, schema):
    listed = [{"name": one, "schema": {}} for one in schema.get("properties", {})]
    return {"name": name, "summary": "One.", "params": listed, "result": {"name": "r", "schema": {}},
            "x-duplex": {"from": "host", "params": schema}}


def long_offers():
    for count in (500, 501):
        talk = document([method(f"w{i:03}", {"type": "object"}) for i in range(count)])
        talk.line("big> ")
        talk.type("w" + TAB)
        talk.shows("w000  w001  ", "w499")
        talk.line("big> w")
        if "w500" in talk.screen.text():
            raise Wrong("501 offers are shown")
        talk.type(KILL)
        talk.quit()
    loop = {"anyOf": [{"$ref": "#/components/schemas/Loop"}] * 10}
    talk = document([method("m", {"type": "object", "properties": {"x": {"$ref": "#/components/schemas/Loop"}}})], {"Loop": loop})
    talk.line("big> ")
    begin = time.monotonic()
    talk.type("m x" + TAB)
    talk.line("big> m x=")
    if time.monotonic() - begin > 3:
        raise Wrong("schemas that lead to each other take too long")
    talk.type(KILL)
    talk.quit()


def main():
    failed = 0
    kind, wanted = ("long_", []) if sys.argv[5:] == ["long"] else ("case_", sys.argv[5:])
    for name, case in list(globals().items()):
        if not name.startswith(kind) or (wanted and name[5:] not in wanted):
            continue
        begin = time.monotonic()
        try:
            case()
        except (Wrong, OSError) as wrong:
            print(f"{name}: {wrong}")
            failed = 1
        if wanted:
            print(f"{name}: {time.monotonic() - begin:.1f} s")
    sys.exit(failed)


main()
