"""Raw bytes on both ends of the Hermes protocol, for rows.py: nothing here comes from Duplex.

Editor is `duplex hermes host` with raw extensions. Such an extension is a small process that lends
its three standard streams, and its life, to the row that runs here: so a row reads and writes as
the extension, drives the console and sees the events in one line of thought.

Extension is a program of ours, run by a raw host.
"""
import array
import fcntl
import json
import os
import select
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

# For whatever has to come. It is never waited for to the end unless something is wrong.
PATIENCE = 30

# A raw extension: hands over 0, 1 and 2, tells a SIGTERM with a T and stays, and leaves with the
# code that it is told, or when the row is gone. argv: the socket.
LENDER = """import array, os, signal, socket, sys
row = socket.socket(socket.AF_UNIX)
row.connect(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: row.send(b"T"))
row.sendmsg([b"F"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
for fd in 0, 1, 2:
    os.close(fd)
told = row.recv(1)
os._exit(told[0] if told else 0)
"""


class Wrong(Exception):
    """What a row found."""


class Skip(Exception):
    """What a row needs is not there."""


def same(got, wanted, what):
    if got != wanted:
        raise Wrong("%s: %s instead of %s" % (what, shown(got), shown(wanted)))


def true(fact, what):
    if not fact:
        raise Wrong(what)


def eventually(fact, what, patience=PATIENCE):
    """The first true value of fact()."""
    end = time.monotonic() + patience
    while True:
        value = fact()
        if value:
            return value
        true(time.monotonic() < end, what() if callable(what) else what)
        time.sleep(0.005)


def is_there(pid):
    """Does that process run? A zombie does not."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def is_gone(pid, what, patience=PATIENCE):
    eventually(lambda: not is_there(pid), "%s (%d) is still there" % (what, pid), patience)


def slowness(build):
    """How much longer a build with sanitizers may take."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return 5 if "DUPLEX_SANITIZE:BOOL=ON" in file.read() else 1


def shown(value):
    text = repr(value)
    return text if len(text) <= 600 else text[:400] + " ... " + text[-180:]


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def frame(body, header="Content-Length: %d\r\n\r\n"):
    body = body if isinstance(body, bytes) else text_of(body)
    return (header % len(body) if "%d" in header else header).encode() + body


class Wire:
    """Two descriptors: frames from one, bytes to the other. Every wait has its end."""

    def __init__(self, read_fd, write_fd):
        self.read_fd, self.write_fd = read_fd, write_fd
        self.bytes = bytearray()
        self.aside = []  # messages that were read while an answer was waited for
        self.last_id = 0
        for fd in (read_fd, write_fd):
            os.set_blocking(fd, False)

    def close(self):
        for name in ("read_fd", "write_fd"):
            fd = getattr(self, name)
            if fd is not None:
                os.close(fd)
            setattr(self, name, None)

    def close_write(self):
        os.close(self.write_fd)
        self.write_fd = None

    def write(self, data, fd=None):
        """All of it; what comes meanwhile is kept, so that two full pipes cannot face each other."""
        fd = self.write_fd if fd is None else fd
        rest = memoryview(data)
        end = time.monotonic() + PATIENCE
        while rest:
            if time.monotonic() > end:
                raise Wrong("%d bytes cannot be written: nobody reads" % len(rest))
            readable, writable, _ = select.select([self.read_fd], [fd], [], 1)
            if writable:
                rest = rest[os.write(fd, rest[:65536]) :]
            elif readable and not self.take():
                # The end of what comes need not be the end of what goes.
                time.sleep(0.01)

    def write_bytewise(self, data):
        for at in range(len(data)):
            self.write(data[at : at + 1])

    def take(self):
        data = os.read(self.read_fd, 1 << 20)
        self.bytes += data
        return data

    def more(self, patience=PATIENCE):
        """Some more bytes. False: none came in time, or it is the end."""
        if not select.select([self.read_fd], [], [], patience)[0]:
            return False
        return bool(self.take())

    def is_taken(self):
        """Waits until the other side has read everything that was written."""
        count = array.array("i", [0])
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            fcntl.ioctl(self.write_fd, termios.FIONREAD, count)
            if not count[0]:
                return
            time.sleep(0.005)
        raise Wrong("%d bytes were never read" % count[0])

    def frame(self, patience=PATIENCE):
        """The bytes of the next frame, header and all. Only the canonical form is one. None: silence
        for that long, or the end."""
        end = time.monotonic() + patience
        while True:
            at = self.bytes.find(b"\r\n\r\n")
            if at >= 0:
                head = bytes(self.bytes[:at])
                number = head[len(b"Content-Length: ") :]
                true(
                    head.startswith(b"Content-Length: ") and number.isdigit() and str(int(number)).encode() == number,
                    "the header is %r" % head,
                )
                size = at + 4 + int(number)
                if len(self.bytes) >= size:
                    data = bytes(self.bytes[:size])
                    del self.bytes[:size]
                    return data
            if not self.more(max(0, end - time.monotonic())):
                return None

    def body(self, patience=PATIENCE):
        data = self.frame(patience)
        return None if data is None else data[data.index(b"\r\n\r\n") + 4 :]

    def message(self, patience=PATIENCE):
        """The next message, also one that was put aside; None as with frame()."""
        if self.aside:
            return self.aside.pop(0)
        return self.fresh(patience)

    def fresh(self, patience=PATIENCE):
        body = self.body(patience)
        return None if body is None else json.loads(body.decode())

    def until(self, fits, what):
        """The first message that fits; those before it stay for others."""
        for at, message in enumerate(self.aside):
            if fits(message):
                return self.aside.pop(at)
        while True:
            message = self.fresh()
            if message is None:
                raise Wrong("%s did not come; before it: %s" % (what, shown(self.aside)))
            if fits(message):
                return message
            self.aside.append(message)

    def news(self, method):
        return self.until(lambda m: m.get("method") == method, method)

    def answer_to(self, identity):
        return self.until(
            lambda m: "method" not in m and m.get("id") == identity and isinstance(m.get("id"), type(identity)),
            "the answer to %r" % (identity,),
        )

    def send(self, message):
        self.write(frame(message))

    def reply(self, request, result):
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def refuse(self, request, code, text):
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text}})

    def request(self, method, *params):
        """A request that is not sent yet."""
        self.last_id += 1
        made = {"jsonrpc": "2.0", "id": self.last_id, "method": method}
        if params:
            made["params"] = params[0]
        return made

    def ask(self, method, *params):
        """The whole answer."""
        made = self.request(method, *params)
        self.send(made)
        return self.answer_to(made["id"])

    def result(self, method, *params):
        answer = self.ask(method, *params)
        true("result" in answer, "%s was refused: %s" % (method, shown(answer)))
        return answer["result"]

    def error(self, method, *params):
        answer = self.ask(method, *params)
        true("error" in answer, "%s was not refused: %s" % (method, shown(answer)))
        return answer["error"]


class Guest(Wire):
    """A raw extension of an Editor."""

    def __init__(self, control):
        control.settimeout(PATIENCE)
        _, ancillary, _, _ = control.recvmsg(1, 1000)
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        true(len(fds) == 3, "an extension lent %d streams" % len(fds))
        super().__init__(fds[0], fds[1])
        self.errors_fd = fds[2]
        os.set_blocking(fds[2], False)
        self.control = control
        self.pid = struct.unpack("3i", control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.greeting = None

    def close(self):
        super().close()
        if self.errors_fd is not None:
            os.close(self.errors_fd)
            self.errors_fd = None
        self.control.close()

    def greet(self):
        """Reads initialize."""
        self.greeting = self.fresh()
        true(self.greeting is not None, "initialize did not come")
        same(self.greeting.get("method"), "initialize", "the first message")
        return self.greeting

    def start(self, **facts):
        """Answers initialize."""
        self.reply(self.greeting or self.greet(), {"name": "Raw", "version": "1", **facts})
        return self

    def leave(self, code=0):
        """Its process ends. The control socket stays, to see that."""
        Wire.close(self)
        if self.errors_fd is not None:
            os.close(self.errors_fd)
            self.errors_fd = None
        try:
            self.control.send(bytes([code]))
        except OSError:
            pass

    def gone(self, patience=PATIENCE):
        """Waits for the end of the process; what it told meanwhile: b"T" for each SIGTERM."""
        told = b""
        end = time.monotonic() + patience
        while True:
            self.control.settimeout(max(0.001, end - time.monotonic()))
            try:
                data = self.control.recv(100)
            except ConnectionError:
                return told
            except TimeoutError:
                raise Wrong("the process is still there after %s s" % patience) from None
            if not data:
                return told
            told += data

    def is_there(self):
        """Its process lives: nothing was told, and there is no end."""
        self.control.settimeout(0)
        try:
            return self.control.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except ConnectionError:
            return False

    def farewell(self, reason):
        """Reads shutdown, agrees and leaves."""
        request = self.news("shutdown")
        same(request["params"], {"reason": reason}, "why it is to leave")
        self.reply(request, {"success": True})
        self.leave()

    def see_the_end(self):
        """Nothing comes but the end of its input, and it leaves."""
        same(self.message(), None, "before the end")
        self.leave()


class Editor:
    """duplex hermes host with its console and events. Without events, its console is a terminal."""

    def __init__(self, build, *options, names=("raw",), message=None, revision=None, data=None, events=True):
        self.place = tempfile.mkdtemp(prefix="hermes-")
        self.closing = []
        self.revision = revision
        self.events = []
        self.is_over = False
        self.wrong = None
        self.failure = None  # what it fails with in the end
        self.news = threading.Condition()
        self.child = None
        self.data = os.path.join(self.place, data or "data")
        self.message = os.path.join(self.place, "message.hl7")
        words = [os.path.join(build, "duplex"), "hermes", "host", "--data", self.data, *options]
        if events:
            words.append("--json")
        if revision:
            words += ["--revision", revision]
        self.doors = {each: self.door(each) for each in names}
        for each in names:
            words += ["--extension", " ".join(shlex.quote(os.path.join(self.place, w)) for w in (each, each + ".at"))]
        if message is not None:
            with open(self.message, "wb") as file:
                file.write(message.encode())
            words.append(self.message)
        ours, theirs = (None, subprocess.PIPE) if events else os.openpty()
        with open(os.path.join(self.place, "said"), "wb") as said:
            self.child = subprocess.Popen(words, stdin=theirs, stdout=subprocess.PIPE, stderr=said)
        self.console = self.child.stdin if events else os.fdopen(ours, "wb")
        if not events:
            os.close(theirs)
        # Events are taken as they come, so that nothing that a row does can hold the host up.
        self.reader = threading.Thread(target=self.read_events if events else self.child.stdout.read, daemon=True)
        self.reader.start()

    def door(self, name):
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!%s -IS\n%s" % (sys.executable, LENDER))
        os.chmod(path, 0o700)
        listener = socket.socket(socket.AF_UNIX)
        self.closing.append(listener)
        listener.bind(path + ".at")
        listener.listen(8)
        return listener

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        if kind:
            print("# the host said: " + self.said().strip().replace("\n", "\n# "))
            print("# events: " + shown(self.events[-8:]))
        for each in self.closing:
            each.close()
        if self.child:
            self.child.kill()
            self.child.wait()
            self.reader.join(PATIENCE)
            self.console.close()
            self.child.stdout.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def said(self):
        with open(os.path.join(self.place, "said"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, words):
        """Until the host has said that to its user."""
        end = time.monotonic() + PATIENCE
        while words not in self.said():
            true(time.monotonic() < end, "the host does not say %r" % words)
            time.sleep(0.02)

    def guest(self, name="raw"):
        """The process that was started under that name, the next one."""
        door = self.doors[name]
        door.settimeout(PATIENCE)
        try:
            control, _ = door.accept()
        except TimeoutError:
            raise Wrong("%s was not started" % name) from None
        guest = Guest(control)
        self.closing.append(guest)
        return guest

    def say(self, *lines):
        """Lines for the console."""
        self.console.write("".join(line + "\n" for line in lines).encode())
        self.console.flush()

    def read_events(self):
        try:
            for line in self.child.stdout:
                event = json.loads(line.decode())
                true(isinstance(event, dict) and not self.failure, "behind the failure: %r" % line)
                if event.keys() == {"error"}:
                    self.failure = event["error"]
                    continue
                true("event" in event, "no event: %r" % line)
                with self.news:
                    self.events.append(event)
                    self.news.notify()
        except (Wrong, ValueError) as wrong:
            self.wrong = wrong
        with self.news:
            self.is_over = True
            self.news.notify()

    def event(self, kind, **members):
        """Waits for an event; the one that fits stays in the list, but not for a second call."""

        def fits(event):
            return event["event"] == kind and all(
                os.path.basename(str(event.get(key))) == value if key == "extension" else event.get(key) == value
                for key, value in members.items()
            )

        end = time.monotonic() + PATIENCE
        at = 0
        with self.news:
            while True:
                for at in range(at, len(self.events)):
                    if not self.events[at].get("seen") and fits(self.events[at]):
                        self.events[at]["seen"] = True
                        return self.events[at]
                at = len(self.events)
                left = end - time.monotonic()
                if self.is_over or left <= 0:
                    raise self.wrong or Wrong("no event %s %s" % (kind, members))
                self.news.wait(left)

    def state(self, state, extension=None):
        members = {"extension": extension} if extension else {}
        return self.event("state", state=state, **members)

    def start(self, name="raw", **facts):
        """A guest that is running. It calls itself as its door is called."""
        guest = self.guest(name)
        guest.start(**{"name": name, **facts})
        self.state("running", name)
        return guest

    def opened(self):
        """Waits until the message is there: it is opened when all extensions have started."""
        self.event("message", by=None)

    def quit(self, *guests, code=0):
        """The end of the console's input; the guests say farewell; how it ends is checked."""
        self.console.close()
        for guest in guests:
            # The real editor says nothing when it ends (H18).
            if self.revision == "exact":
                guest.see_the_end()
            else:
                guest.farewell("closing")
        self.ended(code)
        for guest in guests:
            same(guest.gone(), b"", "signals of one that left")

    def ended(self, code):
        self.reader.join(PATIENCE)
        if self.wrong:
            raise self.wrong
        try:
            got = self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Wrong("the host does not end") from None
        same(got, code, "the exit code of the host")
        if self.failure:
            same(self.failure["exit"], code, "the exit code in the failure")

    def memory(self, what):
        """VmSize: how much memory it has asked for; VmRSS: how much of it is there. In bytes."""
        with open("/proc/%d/status" % self.child.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith(what + ":"):
                    return int(line.split()[1]) * 1024
        raise Wrong("no " + what)


class Extension(Wire):
    """A program of ours under a raw host."""

    def __init__(self, path, *words):
        self.child = subprocess.Popen(
            [path, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
        self.child.stdin.close()
        self.child.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.close()
        self.child.kill()
        said = self.child.stderr.read().decode(errors="replace")
        if kind:
            print("# the extension said: " + said.strip().replace("\n", "\n# "))
        self.child.stderr.close()
        self.child.wait()

    def start(self, data="/tmp"):
        """initialize with the three members; its result."""
        told = {"apiVersion": "1.0", "dataDirectory": data, "hermesVersion": "0.1.0"}
        return self.result("initialize", told)

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def execute(self, command):
        self.tell("command/execute", {"command": command})

    def ended(self):
        try:
            return self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Wrong("the extension does not end") from None

    def shut_down(self):
        """shutdown is answered with success, nothing follows, and it leaves with 0."""
        result = self.result("shutdown", {"reason": "closing"})
        same(result.get("success"), True, "the answer to shutdown")
        self.close_write()
        same(self.ended(), 0, "the exit code of the extension")
        rest = self.message()
        same(rest, None, "behind the answer to shutdown")


def run_row(rows, name):
    row = rows["row_" + name.replace("-", "_")]
    try:
        row()
    except Skip as why:
        print("skipped %s %s Why: %s" % (name, row.__doc__, why), flush=True)
        return None
    except Exception as wrong:  # the next row has nothing to do with it
        why = wrong if isinstance(wrong, Wrong) else "%s: %s" % (type(wrong).__name__, wrong)
        print("not ok %s %s Why: %s" % (name, row.__doc__, why), flush=True)
        if len(sys.argv) > 2 and not isinstance(wrong, Wrong):
            raise
        return False
    print("ok %s %s" % (name, row.__doc__), flush=True)
    return True


def run_rows(rows, prepare):
    """The main program of a file of rows: its functions row_NN, of which the command line names some."""
    names = [key[4:].replace("_", "-") for key in rows if key.startswith("row_")]
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(names):
        print("usage: %s BUILD [ROW...]; rows: %s" % (sys.argv[0], " ".join(names)), file=sys.stderr)
        return 2
    prepare(os.path.abspath(sys.argv[1]))
    wanted = sys.argv[2:] or [name for name in names if not name.endswith("-long")]
    done = [run_row(rows, name) for name in wanted]
    return 1 if False in done else 77 if set(done) == {None} else 0
