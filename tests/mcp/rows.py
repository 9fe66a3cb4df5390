"""Raw lines on both ends of MCP, for rows_*.py.

Server is tests/mcp/server.c, a server of ours, under a raw client.

Client is tests/mcp/drive.c, a client of ours that is driven by commands, with raw servers. Such a
server is a small process that lends its three standard streams, and its life, to the row that runs
here; or any other program.

    rows_NAME.py BUILD [ROW...]      all rows of that chapter, or these: T1, R13-long
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hermes"))
import raw
from raw import LENDER, PATIENCE, Wrong, same, shown, text_of, true

BUILD = ""
SLOW = 1  # what is built with sanitizers also looks for leaks before it ends
NEWEST = "2025-11-25"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


def line(message):
    return (message if isinstance(message, bytes) else text_of(message)) + b"\n"


def error_is(answer, code, what):
    """An error of that code, and one line for people in it; the error."""
    true("error" in answer, "%s: %s instead of an error" % (what, shown(answer)))
    same(answer["error"]["code"], code, what)
    true(answer["error"]["message"] and "\n" not in answer["error"]["message"], "%s: the message" % what)
    return answer["error"]


def best(measure, bound, times=5):
    """The shortest of several, since a loaded machine only makes them longer; milliseconds."""
    seen = []
    bound *= SLOW
    for _ in range(times):
        seen.append(measure())
        if seen[-1] < bound:
            return seen[-1]
    raise Wrong("at best %.1f ms of %s, the bound is %g" % (min(seen), ["%.1f" % each for each in seen], bound))


def is_there(pid):
    """Does that process run? A zombie does not."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_gone(pid, what):
    end = time.monotonic() + PATIENCE
    while is_there(pid):
        true(time.monotonic() < end, "%s (%d) is still there" % (what, pid))
        time.sleep(0.01)


def children_of(pid):
    """Its processes, zombies included."""
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(each) for each in file.read().split()]


def memory_of(pid, what="VmRSS"):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        for each in file:
            if each.startswith(what + ":"):
                return int(each.split()[1]) * 1024
    raise Wrong("no " + what)


class Lines:
    """What makes a raw.Wire one of lines."""

    def frame(self, patience=PATIENCE):
        """The next line with its end; None: silence for that long, or the end."""
        end = time.monotonic() + patience
        at = 0
        while True:
            found = self.bytes.find(b"\n", at)
            if found >= 0:
                data = bytes(self.bytes[: found + 1])
                del self.bytes[: found + 1]
                true(b"\r" not in data and data.strip(), "the line is %r" % data[:80])
                return data
            at = len(self.bytes)
            if not self.more(max(0, end - time.monotonic())):
                return None

    def body(self, patience=PATIENCE):
        return self.frame(patience)

    def send(self, message):
        self.write(line(message))

    def tell(self, method, *params):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params[0]} if params else {})})

    def is_quiet(self, what, seconds=0.15):
        """Nothing comes but what was put aside."""
        same(self.fresh(seconds), None, what)

    def is_alive(self, what):
        """It is heard and answered, whatever came before."""
        same(self.result("ping"), {}, what)

    def no_id(self, what):
        """The next error that is about no request."""
        return self.until(lambda m: "error" in m and "id" not in m, what)


class Server(Lines, raw.Wire):
    """tests/mcp/server.c, or another program, under a raw client."""

    def __init__(self, *words, argv=None):
        self.child = subprocess.Popen(
            argv or [os.path.join(BUILD, "tests", "mcp_server"), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
        self.child.stdin.close()
        self.child.stdout.close()
        self.told = []
        self.reader = threading.Thread(target=self.read_errors, daemon=True)
        self.reader.start()

    def read_errors(self):
        for each in self.child.stderr:
            self.told.append(each.decode(errors="replace").rstrip())

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.close()
        try:
            code = self.child.wait(5 if not kind else 0.5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            code = None
        self.reader.join(PATIENCE)
        self.child.stderr.close()
        if kind:
            print("# the server said: " + " / ".join(self.told[-20:]))
        else:
            true(code in (0, 1), "the server ended with %s: %s" % (code, " / ".join(self.told[-20:])))

    def wait_for(self, words):
        """Until a handler has told that."""
        end = time.monotonic() + PATIENCE
        while not any(words in each for each in list(self.told)):
            true(time.monotonic() < end, "the server does not tell %r: %s" % (words, self.told))
            time.sleep(0.005)

    def initialize(self, revision=NEWEST, **capabilities):
        params = {"protocolVersion": revision, "capabilities": capabilities,
                  "clientInfo": {"name": "raw", "version": "1"}}
        return self.ask("initialize", params)

    def start(self, revision=NEWEST, **capabilities):
        """The whole handshake; its result."""
        answer = self.initialize(revision, **capabilities)
        true("result" in answer, "initialize was refused: %s" % shown(answer))
        self.tell("notifications/initialized")
        return answer["result"]

    def tool(self, name, /, **arguments):
        """A request that calls a tool and is not sent yet."""
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def call(self, name, /, **arguments):
        return self.result("tools/call", {"name": name, "arguments": arguments})

    def text(self, name, /, **arguments):
        """The text that the tool answered."""
        return "".join(each["text"] for each in self.call(name, **arguments)["content"])

    def modern(self, method, params=None, capabilities=None, meta=None):
        """A modern request that is not sent yet."""
        added = {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities or {},
                 META + "clientInfo": {"name": "raw", "version": "1"}, **(meta or {})}
        return self.request(method, {**(params or {}), "_meta": added})

    def ask_modern(self, method, params=None, capabilities=None, meta=None):
        made = self.modern(method, params, capabilities, meta)
        self.send(made)
        return self.answer_to(made["id"])

    def ended(self, patience=PATIENCE):
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            raise Wrong("the server does not end") from None


class Host:
    """What a raw server says."""

    greeting = None

    greet = raw.Guest.greet

    def accept(self, revision=NEWEST, capabilities=None, **facts):
        """Answers initialize, and reads initialized."""
        told = {"protocolVersion": revision, "capabilities": {"tools": {}} if capabilities is None else capabilities,
                "serverInfo": {"name": "raw", "version": "1"}, **facts}
        self.reply(self.greeting or self.greet(), told)
        self.news("notifications/initialized")
        return self

    def discovered(self, request, capabilities=None):
        """The answer to server/discover."""
        self.reply(request, {"resultType": "complete", "supportedVersions": [MODERN], "ttlMs": 0,
                             "cacheScope": "private", "capabilities": {"tools": {}} if capabilities is None else capabilities,
                             "_meta": {META + "serverInfo": {"name": "raw", "version": "1"}}})

    def answer(self, request, text="done"):
        """The result of a tool."""
        self.reply(request, {"content": [{"type": "text", "text": text}]})

    def progress(self, request, progress, **rest):
        token = request["params"]["_meta"]["progressToken"]
        self.tell("notifications/progress", {"progressToken": token, "progress": progress, **rest})


class Guest(Host, Lines, raw.Guest):
    """A raw server of a Client: a process."""


class Socket(Host, Lines, raw.Wire):
    """A raw server at the other end of a socket."""

    def __init__(self, connection):
        fd = connection.detach()
        super().__init__(fd, os.dup(fd))


class Client:
    """tests/mcp/drive.c and its raw servers."""

    def __init__(self, env=None):
        self.place = tempfile.mkdtemp(prefix="mcp-")
        self.closing = []
        self.events = []
        self.is_over = False
        self.news = threading.Condition()
        path = os.path.join(self.place, "server")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!%s -IS\n%s" % (sys.executable, LENDER))
        os.chmod(path, 0o700)
        self.argv = [path, path + ".at"]
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(path + ".at")
        self.door.listen(8)
        self.closing.append(self.door)
        with open(os.path.join(self.place, "said"), "wb") as said:
            self.child = subprocess.Popen([os.path.join(BUILD, "tests", "mcp_drive")], stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=said, env=env)
        self.reader = threading.Thread(target=self.read_events, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        try:
            self.child.stdin.close()
        except OSError:
            pass
        for each in self.closing:
            each.close()
        try:
            code = self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.child.kill()
            code = self.child.wait()
        self.reader.join(PATIENCE)
        self.child.stdout.close()
        with open(os.path.join(self.place, "said"), encoding="utf-8", errors="replace") as file:
            said = file.read().strip()
        shutil.rmtree(self.place, ignore_errors=True)
        if kind:
            print("# the client said: " + said[-3000:].replace("\n", "\n# "))
            print("# events: " + shown(self.events[-8:]))
        else:
            same(code, 0, "the exit code of the client, which said %s" % said[-3000:])

    def read_events(self):
        for each in self.child.stdout:
            with self.news:
                self.events.append(json.loads(each.decode(errors="replace")))
                self.news.notify()
        with self.news:
            self.is_over = True
            self.news.notify()

    def event(self, kind, /, patience=PATIENCE, **members):
        """Waits for an event that was not taken yet."""
        end = time.monotonic() + patience
        with self.news:
            while True:
                for each in self.events:
                    if not each.get("seen") and each["event"] == kind and \
                            all(each.get(key) == value for key, value in members.items()):
                        each["seen"] = True
                        return each
                left = end - time.monotonic()
                if self.is_over or left <= 0:
                    raise Wrong("no event %s %s" % (kind, members))
                self.news.wait(left)

    def none(self, kind, what, /, **members):
        """No such event has come."""
        with self.news:
            for each in self.events:
                if each["event"] == kind and all(each.get(key) == value for key, value in members.items()):
                    raise Wrong("%s: %s" % (what, shown(each)))

    def do(self, what, /, **members):
        self.child.stdin.write(text_of({"do": what, **members}) + b"\n")
        self.child.stdin.flush()

    def open(self, argv=None, **options):
        """How dx_mcp_client_open() ended."""
        self.do("open", argv=argv or self.argv, **options)
        return self.event("opened")

    def guest(self):
        """The raw server that was started, the next one."""
        self.door.settimeout(PATIENCE)
        try:
            control, _ = self.door.accept()
        except TimeoutError:
            raise Wrong("no server was started") from None
        guest = Guest(control)
        self.closing.append(guest)
        return guest

    def start(self, capabilities=None, agreed=NEWEST, /, **options):
        """A raw server that is ready."""
        same(self.open(**options)["status"], "ok", "opening")
        guest = self.guest().accept(agreed, capabilities)
        self.event("ready")
        return guest

    def start_modern(self, capabilities=None, **options):
        same(self.open(mode="modern", **options)["status"], "ok", "opening")
        guest = self.guest()
        guest.discovered(guest.news("server/discover"), capabilities)
        self.event("ready")
        return guest

    def start_ours(self, *words, **options):
        """With tests/mcp/server.c at the other end."""
        argv = [os.path.join(BUILD, "tests", "mcp_server"), *words]
        same(self.open(argv=argv, **options)["status"], "ok", "opening")
        return self.event("ready")

    def call(self, tag, what="tool", /, status="ok", **members):
        """A call that is accepted; the event."""
        if what == "tool":
            members.setdefault("name", "any")
        self.do(what, tag=tag, **members)
        called = self.event("called", tag=tag)
        same(called["status"], status, "%s: %s" % (tag, called.get("why")))
        return called

    def answer(self, tag, outcome="result"):
        got = self.event("answer", tag=tag)
        same(got["outcome"], outcome, "%s: %s" % (tag, shown(got)))
        same((got["same"], got["answers"]), (True, 1), "%s: its handle, and how often it ended" % tag)
        return got

    def pending(self):
        self.do("offers", method="ping")
        return self.event("offers")["pending"]

    def close(self):
        """Closes; the last event."""
        self.do("close")
        return self.event("closed")


def prepare(build):
    global BUILD, SLOW
    BUILD = build
    SLOW = raw.slowness(BUILD)


def main(rows):
    return raw.run_rows(rows, prepare)
