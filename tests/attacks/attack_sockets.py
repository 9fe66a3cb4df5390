"""Web pages, other users and junk at everything that listens. A listener is real when the same message
from its own user makes it run a program, which leaves a file."""
import contextlib
import http.server
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import attack
from attack import MB, PATIENCE, Program, Skip, Wrong, duplex, eventually, python, true

NOBODY = 65534
HTTP = "it begins with an HTTP request"
OTHER_USER = "refused a connection of user %d: only the user who runs this program and root may connect" % NOBODY
# Becomes another user, says its input, and prints what comes back. Arguments: user, path or port, family.
CLIENT = """
import os, socket, sys
os.setgroups([])
os.setuid(int(sys.argv[1]))
where, family, data = sys.argv[2], sys.argv[3], sys.stdin.buffer.read()
s = socket.socket({"unix": socket.AF_UNIX, "mapped": socket.AF_INET6}.get(family, socket.AF_INET))
s.settimeout(20)
try:
    s.connect(where if family == "unix" else ("::ffff:127.0.0.1" if family == "mapped" else "127.0.0.1", int(where)))
    s.sendall(data)
    while data := s.recv(65536):
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
except (ConnectionError, BrokenPipeError):
    pass
"""


def line(message):
    return json.dumps(message).encode() + b"\n"


def frame(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(number, method, params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Listener(Program):
    """One that listens. bytes_for(mark) is what makes it create that file; None: it runs nothing."""

    def __init__(self, words, framing, bytes_for=None, told=r"tcp:(\d+)", where="err", env=None, by=()):
        self.folder = tempfile.mkdtemp(prefix="attack-socket-")
        self.framing, self.bytes_for = framing, bytes_for
        os.chmod(self.folder, 0o777)
        self.marks = 0
        super().__init__([*by, *words(self)], env=env)
        self.family = "inet"
        if told.startswith("/"):
            self.family, self.where = "unix", self.folder + told
            eventually(self.listens, "%s is there" % self.where)
            os.chmod(self.where, 0o777)
        else:
            eventually(lambda: re.search(told, self.read(where)), "it tells its port")
            self.where = re.search(told, self.read(where)).group(1)

    def __exit__(self, kind, wrong, trace):
        super().__exit__(kind, wrong, trace)
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def mark(self):
        self.marks += 1
        return os.path.join(self.folder, "mark-%d" % self.marks)

    def knock(self, data, uid=None, family=None):
        """Connects, says that, and returns what comes back until the listener closes the connection."""
        try:
            if uid is not None:
                with subprocess.Popen(python(CLIENT, str(uid), self.where, family or self.family), stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE) as client:
                    return client.communicate(data, timeout=PATIENCE)[0]
            got = b""
            with self.connect(family) as s:
                s.sendall(data)
                while more := s.recv(65536):
                    got += more
        except (subprocess.TimeoutExpired, TimeoutError):
            raise Wrong("%s is not refused: the connection stays open" % attack.shown(data[:80])) from None
        except ConnectionError:
            pass
        return got

    def connect(self, family=None):
        family = family or self.family
        s = socket.socket({"unix": socket.AF_UNIX, "mapped": socket.AF_INET6}.get(family, socket.AF_INET))
        s.settimeout(PATIENCE)
        s.connect(self.where if family == "unix" else ("::ffff:127.0.0.1" if family == "mapped" else "127.0.0.1", int(self.where)))
        return s

    def listens(self):
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def works(self, family=None):
        """Its own user makes it run a program: an attack that gets through would be seen."""
        mark = self.mark()
        with self.connect(family) as s:
            s.sendall(self.bytes_for(mark))
            eventually(lambda: os.path.exists(mark), "its own user can run a program")
        os.unlink(mark)

    def refuses(self, attacks, reason, uid=None, family=None):
        """All of them do nothing, and each is told in one line."""
        def told():
            """Lines about refusals, and how many there were: the same line again and again is counted."""
            lines = [each for each in self.said().split("\n") if "refused" in each]
            repeats = re.findall(r"last line repeated (once|[0-9,]+)", self.said())
            return lines, len(lines) + sum(1 if each == "once" else int(each.replace(",", "")) for each in repeats)
        before, count = told()
        mark = self.mark()
        for data in attacks:
            got = self.knock(data(mark) if callable(data) else data, uid, family)
            true(not got, "it answers %s" % attack.shown(got[:300]))
        eventually(lambda: told()[1] >= count + len(attacks), "each refusal is told")
        lines = told()[0][len(before):]
        true(lines and all(reason in each for each in lines) and told()[1] == count + len(attacks), "it said %s" % "\n".join(lines))
        time.sleep(0.1)
        true(not os.path.exists(mark), "a program was run")
        self.is_sane()


# --- The listeners. -----------------------------------------------------------------------------

def mcp_bytes(mark):
    """One request of the newest revision: nothing is answered before the tool has run."""
    meta = {"protocolVersion": "2026-07-28", "clientInfo": {"name": "n", "version": "1"}, "clientCapabilities": {}}
    return line(request(1, "tools/call", {"name": "mark", "arguments": {"path": mark}, "_meta": {
        "io.modelcontextprotocol/" + name: value for name, value in meta.items()}}))


def mcp_serve(*options, unix=False, **more):
    def words(self):
        spec = self.put("spec.json", json.dumps({"name": "n", "version": "1", "tools": [
            {"name": "mark", "command": ["touch", "--", "{path}"],
             "input": {"type": "object", "properties": {"path": {"type": "string"}}}}]}))
        return duplex("mcp", "serve", "command", spec, "--listen", "unix:%s/s" % self.folder if unix else "tcp:0", *options)
    return Listener(words, "line", mcp_bytes, **({"told": "/s"} if unix else {}), **more)


def finecode_serve(*options):
    def words(self):
        return duplex("finecode", "serve", "--disconnect-timeout", "10m", *options)

    def bytes_for(mark):
        place = mark + ".d/p"
        os.makedirs(place, exist_ok=True)
        os.chmod(os.path.dirname(place), 0o755)
        with open(place + "/finecode.toml", "w", encoding="utf-8") as file:
            file.write('[finecode.er]\nrunner = ["/bin/sh", "-c", "touch %s"]\ntransport = "stdio"\n'
                       '[finecode.action.a]\nsource = "a.A"\n[[finecode.action.a.handlers]]\nname = "h"\nsource = "h.H"\nenv = "e"\n' % mark)
        return frame(request(1, "workspace/addDir", {"dirPath": os.path.dirname(place)}))
    return Listener(words, "header", bytes_for, r"127\.0\.0\.1:(\d+)", "out")


def finecode_runner(*options, told=r"Serving on \('127\.0\.0\.1', (\d+)\)"):
    def words(self):
        return duplex("finecode", "er", "start", "--tcp", "--project-path", self.folder, "--env-name", "e", *options)
    return Listener(words, "header", lambda mark: frame({"jsonrpc": "2.0", "method": "exit"}), told, "out")


def finecode_debugger():
    return finecode_runner("--debug", told=r"Debug session: 127\.0\.0\.1:(\d+)")


def run_control():
    def words(self):
        config = self.put("run.json", json.dumps({"duplex": 1, "peers": {"p": {"command": ["sleep", "600"], "framing": "line"}}}))
        return duplex("run", "--config", config, "--socket", self.folder + "/s")
    return Listener(words, "line", lambda mark: line(request(1, "down", {})), "/s")


def tap():
    return Listener(lambda self: duplex("tap", "--listen", self.folder + "/s", "--", "sleep", "600"), "", told="/s")


# --- Web pages. ---------------------------------------------------------------------------------

def http_request(listener, method="POST", path="/", more="", body=None):
    """An HTTP request with the message as its body, as a browser writes it."""
    def data(mark):
        text = listener.bytes_for(mark)
        if body:
            text = body(text)
        elif listener.framing == "header":
            text = text.split(b"\r\n\r\n", 1)[1]  # the header of HTTP says how long it is
        head = ("%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: keep-alive\r\nContent-Length: %d\r\n%s"
                "Content-Type: text/plain;charset=UTF-8\r\nOrigin: http://evil.example\r\nAccept: */*\r\n\r\n")
        return (head % (method, path, listener.where, len(text), more)).encode() + text
    return data


def pages(listener):
    return [http_request(listener), http_request(listener, "GET", "/x:y?a=Content-Length:%20" + "p" * 2000), http_request(listener, "OPTIONS"),
            http_request(listener, "PUT", "/a/b"), http_request(listener, "CONNECT", "a:1"), http_request(listener, body=lambda text: b"a=" + text),
            http_request(listener, body=lambda text: b"\r\n" + text),
            http_request(listener, "GET", "/", "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"),
            lambda mark: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + listener.bytes_for(mark)]


def odd_pages(listener):
    """Methods that no browser sends, but a proxy may let through."""
    return [lambda mark, start=start: start + listener.bytes_for(mark)
            for start in (b"post / http/1.1\r\n", b"\r\nPOST / HTTP/1.1\r\n", b"CONTENT-X / HTTP/1.1\r\n", b"M-SEARCH * HTTP/1.1\r\n")]


def junk(listener):
    """What does not begin with a message, though one follows."""
    starts = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", b"hello\n", b"\xef\xbb\xbf", b"say what\r\n", b"\0\n", b" " * 100 + b"\r\n",
              b"0\n", b'"a"\n', b"null\n"]
    if listener.framing == "header":
        starts += [b"\r\n", b"X-A: b\r\n", b"Conten\r\n", b"{}\n"]
    else:
        starts += [b"Content-Length: 5\r\n\r\n", b"Content-Type: application/json\r\n"]
    return [lambda mark, start=start: start + listener.bytes_for(mark) for start in starts]


def attack_http_mcp_serve():
    """No HTTP request makes `mcp serve --listen tcp:PORT` call a tool."""
    with mcp_serve() as ours:
        ours.works()
        ours.refuses(pages(ours), HTTP)
        time.sleep(1)  # ten refusals a second are told
        ours.refuses(odd_pages(ours), HTTP)
        ours.works()
        ours.below(50 * MB)


def attack_http_finecode_serve():
    """No HTTP request makes `finecode serve` start a runner, though its header has a Content-Length."""
    with finecode_serve() as ours:
        ours.works()
        ours.refuses(pages(ours), HTTP)
        ours.works()
        ours.below(50 * MB)


def attack_http_finecode_runner():
    """An HTTP request neither ends a runner nor takes the place of its manager."""
    with finecode_runner() as ours:
        ours.refuses(pages(ours), HTTP)
        with ours.connect() as silent, ours.connect() as s:  # a browser connects in advance, and says nothing
            s.sendall(frame(request(1, "initialize", {"processId": 1, "capabilities": {}, "workspaceFolders": []})))
            true(b'"result"' in s.recv(4096), "the manager is not served")
            true(not silent.recv(1), "another connection stays")
            s.sendall(frame(request(2, "shutdown", None)) + frame({"jsonrpc": "2.0", "method": "exit"}))
            ours.child.wait(PATIENCE)


# Tries all that a page can have a browser send to another port.
PAGE = """<!doctype html><title>harmless</title><body><script>
const send = ({port, text}) => {
    const url = "http://127.0.0.1:" + port + "/x";
    for (const method of ["POST", "GET", "PUT"]) {
        const xhr = new XMLHttpRequest();
        xhr.open(method, url);
        xhr.setRequestHeader("Content-Type", "text/plain");
        xhr.send(text);
    }
    fetch(url, {method: "POST", mode: "no-cors", body: text}).catch(() => {});
    fetch(url, {method: "POST", mode: "no-cors", body: new URLSearchParams({[text]: ""})}).catch(() => {});
    navigator.sendBeacon(url, text);
    for (const kind of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
        const frame = document.body.appendChild(document.createElement("iframe"));
        const form = document.body.appendChild(document.createElement("form"));
        const field = form.appendChild(document.createElement("textarea"));
        frame.name = form.target = "f" + Math.random();
        Object.assign(form, {method: "POST", action: url, enctype: kind});
        Object.assign(field, {name: text + "\\n", value: "\\n" + text});
        form.submit();
    }
    try {
        const ws = new WebSocket("ws://127.0.0.1:" + port + "/x");
        ws.onopen = () => ws.send(text);
    } catch {}
    new EventSource(url);
    document.body.appendChild(document.createElement("img")).src = url;
    document.body.appendChild(document.createElement("script")).src = url;
    document.body.appendChild(document.createElement("link")).href = url;
};
fetch("/listeners").then((it) => it.json()).then((all) => {
    all.forEach(send);
    setTimeout(() => fetch("/done"), 3000);
});
</script>"""


class Site(http.server.ThreadingHTTPServer):
    """Serves that page, and knows when it has done all."""

    def __init__(self, listeners):
        self.done = threading.Event()
        site = self

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(listeners) if self.path == "/listeners" else PAGE
                self.send_response(200)
                self.send_header("Content-Type", "application/json" if self.path == "/listeners" else "text/html")
                self.end_headers()
                self.wfile.write(body.encode())
                if self.path == "/done":
                    site.done.set()

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def attack_web_page_long():
    """A page in a real browser can do nothing at any port, by XHR, fetch, beacons, forms, WebSockets and tags."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        raise Skip("there is no Chromium: ./dev test browser brings it")
    with contextlib.ExitStack() as stack:
        ours = [stack.enter_context(make()) for make in (mcp_serve, finecode_serve, finecode_runner, finecode_debugger)]
        mark = ours[0].mark()
        texts = [each.bytes_for(mark).decode() for each in ours]
        body = lambda each, text: text if each.framing == "line" else text.split("\r\n\r\n", 1)[1]
        site = Site([{"port": each.where, "text": body(each, text)} for each, text in zip(ours, texts)])
        place = tempfile.mkdtemp(prefix="attack-browser-")
        stack.callback(shutil.rmtree, place, True)
        page = stack.enter_context(Program(
            [browser, "--headless", "--disable-gpu", "--no-first-run", "--user-data-dir=" + place, *(["--no-sandbox"] if os.geteuid() == 0 else []),
             "--remote-debugging-port=0", "http://127.0.0.1:%d/" % site.server_port]))
        true(site.done.wait(60), "the page has not done its work")
        time.sleep(1)
        page.child.terminate()
        page.child.wait(PATIENCE)
        true(not os.path.exists(mark), "a page has run a program")
        for each in ours:
            true(each.child.poll() is None, "a page has ended %s" % each.argv[1:4])
            true(HTTP in each.said(), "%s has seen no page: %s" % (each.argv[1:4], each.said()))
        true("Serving" not in ours[3].printed(), "a page passes for a debugger")
        ours[0].works()
        ours[1].works()


def attack_http_unix_sockets():
    """The same words at Unix sockets do nothing either."""
    for make in (lambda: mcp_serve(unix=True), run_control):
        with make() as ours:
            ours.refuses(pages(ours), HTTP)
            true(ours.child.poll() is None, "it has ended")


def attack_junk_before_a_message():
    """What does not begin with a message is refused, whatever follows."""
    for make in (mcp_serve, lambda: mcp_serve(unix=True), finecode_serve):
        with make() as ours:
            ours.refuses(junk(ours)[:7], "it does not begin with a message")
            time.sleep(1)  # ten refusals a second are told
            ours.refuses(junk(ours)[7:], "it does not begin with a message")
            ours.works()


def attack_junk_after_a_message():
    """Nor does a message count behind text that comes later: the connection ends there."""
    cases = ((mcp_serve, line(request(1, "ping", {})), b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"),
             (mcp_serve, line(request(1, "ping", {})), b"hello\n"),
             (finecode_serve, frame(request(9, "server/getInfo", {})), b"POST / HTTP/1.1\r\n"),
             (finecode_serve, frame(request(9, "server/getInfo", {})), b"\r\n"))
    for make, first, between in cases:
        with make() as ours:
            mark = ours.mark()
            got = ours.knock(first + between + ours.bytes_for(mark))
            true(got.count(b'"id"') <= 1, "it answers what follows: %s" % attack.shown(got))
            ours.works()
            true(not os.path.exists(mark), "a program was run")


# --- Other users. -------------------------------------------------------------------------------

def need_root():
    if os.geteuid() != 0:
        raise Skip("only root can become another user")


def attack_other_user_tcp():
    """No other user can connect by TCP, from whatever kind of socket; the owner can."""
    need_root()
    for make in (mcp_serve, finecode_serve):
        with make() as ours:
            for family in ("inet", "mapped"):
                ours.refuses([ours.bytes_for], OTHER_USER, NOBODY, family)
                ours.works(family)
    with finecode_runner() as ours:
        ours.refuses([ours.bytes_for], OTHER_USER, NOBODY)
        true(ours.child.poll() is None, "the runner has exited")
        ours.knock(ours.bytes_for(""))
        ours.child.wait(PATIENCE)
    with finecode_debugger() as ours:
        ours.refuses([b""], OTHER_USER, NOBODY)
        true("Serving" not in ours.printed(), "it begins for another user")
        with ours.connect() as s:
            s.sendall(b"Content-Length: 2\r\n\r\n{}")
            eventually(lambda: "Serving" in ours.printed(), "it begins for its own user")


def attack_other_user_unix():
    """Nor by a Unix socket, even if its mode allows it."""
    need_root()
    for make in (lambda: mcp_serve(unix=True), run_control):
        with make() as ours:
            ours.refuses([ours.bytes_for], OTHER_USER, NOBODY)
            true(ours.child.poll() is None, "it has ended")
    with tap() as ours:
        true(ours.knock(b"", NOBODY) == b"", "a tap shows the traffic to another user")
        with ours.connect() as s:
            true(b"duplex" in s.recv(4096), "a tap shows nothing to its own user")


def attack_any_user():
    """With --any-user everybody can, and a warning says so."""
    need_root()
    for make in (mcp_serve, lambda *words: mcp_serve(*words, unix=True), finecode_serve):
        with make("--any-user") as ours:
            eventually(lambda: "--any-user: every user of this machine can connect" in ours.said(), "no warning")
            os.chmod(ours.folder, 0o777)
            mark = ours.mark()
            data = ours.bytes_for(mark)
            with subprocess.Popen(python(CLIENT, str(NOBODY), ours.where, ours.family), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as client:
                client.stdin.write(data)
                client.stdin.close()
                eventually(lambda: os.path.exists(mark), "another user can run a program")
                client.kill()
            os.unlink(mark)
            ours.refuses(pages(ours)[:3], HTTP)
    with finecode_runner("--any-user") as ours:
        ours.knock(ours.bytes_for(""), NOBODY)
        ours.child.wait(PATIENCE)


def stopped(ours, then):
    """Does that while the listener does not run."""
    os.kill(ours.pid, signal.SIGSTOP)
    try:
        return then()
    finally:
        os.kill(ours.pid, signal.SIGCONT)


def attack_other_user_hangs_up():
    """A connection that its maker has closed, which counts as root's for the kernel, is refused."""
    need_root()
    code = CLIENT.replace("    while data", "    s.close(); sys.exit()\n    while data")
    for make in (mcp_serve, finecode_serve):
        with make() as ours:
            mark = ours.mark()
            data = ours.bytes_for(mark)
            stopped(ours, lambda: subprocess.run(python(code, str(NOBODY), ours.where, "inet"), input=data, check=True))
            eventually(lambda: "refused a connection: cannot determine which user made it" in ours.said(), "it is refused")
            ours.works()
            true(not os.path.exists(mark), "a program was run")


# Runs a program without netlink sockets, as a sandbox does (argument 1), and without /proc/net (2).
CONFINED = """if 1:
    import ctypes, os, platform, struct, sys
    libc = ctypes.CDLL(None, use_errno=True)
    def must(result):
        if result:
            raise OSError(ctypes.get_errno(), sys.argv[1])
    if "2" in sys.argv[1]:
        must(libc.unshare(0x20000))
        must(libc.mount(b"none", b"/", None, 0x44000, None))
        must(libc.mount(b"none", b"/proc/%d/net" % os.getpid(), b"tmpfs", 0, None))
    number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
    filter = b"".join(struct.pack("HBBI", *row) for row in (
        (0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, 16), (0x06, 0, 0, 0x50000 + 97), (0x06, 0, 0, 0x7fff0000)))
    kept = ctypes.create_string_buffer(filter, len(filter))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(kept)))
    must(libc.prctl(38, 1, 0, 0, 0))
    must(libc.prctl(22, 2, program, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])"""


def need_confinement():
    need_root()
    if platform.machine() not in ("x86_64", "aarch64"):
        raise Skip("the number of the system call socket() is not known here")
    done = subprocess.run(python(CONFINED, "12", "/bin/true"), stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Skip("no namespace or filter can be made: %s" % done.stderr.decode().strip().split("\n")[-1])


def attack_other_user_without_netlink():
    """Where a sandbox forbids netlink, /proc/net/tcp and tcp6 tell whose a connection is."""
    need_confinement()
    with mcp_serve(by=python(CONFINED, "1")) as ours:
        for family in ("inet", "mapped"):
            ours.works(family)
            ours.refuses([ours.bytes_for], OTHER_USER, NOBODY, family)


def attack_other_user_without_both():
    """Where neither tells, nobody gets in by TCP; --any-user still lets everybody."""
    need_confinement()
    with mcp_serve(by=python(CONFINED, "12")) as ours:
        ours.refuses([ours.bytes_for], "refused a connection: cannot determine which user made it")
    with mcp_serve("--any-user", by=python(CONFINED, "12")) as ours:
        ours.works()


# --- Many. --------------------------------------------------------------------------------------

def attack_refusals_are_bounded():
    """Many connections that are refused neither flood the log nor keep others out."""
    with mcp_serve() as ours:
        began = time.monotonic()
        for _ in range(2000):
            with ours.connect() as s:
                s.sendall(b"GET / HTTP/1.1\r\n\r\n")
        ours.works()
        seconds = time.monotonic() - began
        time.sleep(1)
        ours.refuses([http_request(ours)], HTTP)
        lines = ours.said().split("\n")
        true(len(lines) <= 10 * (seconds + 3) + 5, "%d lines in %.1f s" % (len(lines), seconds))
        true(" more before)" in ours.said(), "those that were not told are counted")
        ours.below(50 * MB)


def attack_silent_connections():
    """Connections that say nothing neither keep others out nor are kept without end."""
    for make in (mcp_serve, finecode_serve):
        with make() as ours:
            held = [ours.connect() for _ in range(300)]
            ours.works()
            descriptors = len(os.listdir("/proc/%d/fd" % ours.pid))
            true(descriptors < 100, "it holds %d descriptors" % descriptors)
            held[-1].sendall(ours.bytes_for(mark := ours.mark()))
            eventually(lambda: os.path.exists(mark), "one that speaks late is served")
            for s in held:
                s.close()
            ours.below(50 * MB)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
