"""For checks of duplex mock: the other end of its wire, byte by byte."""
import base64  # noqa: F401  (for those who import all of this)
import concurrent.futures
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback

DUPLEX = os.path.join(os.environ["BUILD"], "duplex")
LIMIT = 20


def header(text):
    body = text if isinstance(text, bytes) else text.encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def line(text):
    return (text if isinstance(text, bytes) else text.encode()) + b"\n"


FRAME = {"header": header, "line": line}


def request(number, method, params=None, framing="line"):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return FRAME[framing](json.dumps(message, separators=(",", ":")))


def notice(method, params=None, framing="line"):
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return FRAME[framing](json.dumps(message, separators=(",", ":")))


def answer(number, result, framing="line"):
    text = '{"jsonrpc":"2.0","id":%s,"result":%s}' % (number, json.dumps(result, separators=(",", ":")))
    return FRAME[framing](text)


class Mock:
    """A mock that was started, its input and its output."""

    def __init__(self, *arguments, script=None, env=None, stdin=None, stdout=None):
        self.folder = None
        words = [DUPLEX, "mock"]
        if script is not None:
            self.folder = tempfile.mkdtemp()
            path = os.path.join(self.folder, "s.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script if isinstance(script, str) else json.dumps(script))
            words.append(path)
        self.process = subprocess.Popen(
            words + list(arguments), stdin=stdin or subprocess.PIPE, stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})), bufsize=0)
        self.bytes = bytearray()
        self.errors = b""
        self.reads = []  # the size of each
        self.until = time.monotonic() + LIMIT

    @property
    def seen(self):
        return bytes(self.bytes)

    def write(self, data):
        self.process.stdin.write(data)
        return self

    def close(self):
        if self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
        return self

    def _read(self, streams, wait):
        ready = select.select(streams, [], [], max(0, wait))[0]
        for stream in ready:
            piece = os.read(stream.fileno(), 1 << 20)
            if stream is self.process.stdout:
                self.bytes += piece
                self.reads.append(len(piece))
            else:
                self.errors += piece
            if not piece:
                return False
        return bool(ready)

    def read(self, count):
        """Until so many bytes have come in all."""
        while len(self.bytes) < count and self._read([self.process.stdout], self.until - time.monotonic()):
            pass
        return self.seen

    def read_for(self, seconds):
        """What comes in that time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._read([self.process.stdout], until - time.monotonic()):
            pass
        return self.seen

    def finish(self, close=True):
        """All that comes until the end; the exit code."""
        if close:
            self.close()
        streams = [stream for stream in (self.process.stdout, self.process.stderr) if stream]
        while streams:
            ready = select.select(streams, [], [], max(0, self.until - time.monotonic()))[0]
            if not ready:
                self.process.kill()
                break
            for stream in ready:
                piece = os.read(stream.fileno(), 1 << 20)
                if stream is self.process.stdout:
                    self.bytes += piece
                    self.reads.append(len(piece))
                else:
                    self.errors += piece
                if not piece:
                    streams.remove(stream)
        try:
            code = self.process.wait(max(0.1, self.until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "hung"
        self.tidy()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.tidy()

    def tidy(self):
        if self.process.stdin:
            self.process.stdin.close()
        if self.folder:
            os.unlink(os.path.join(self.folder, "s.json"))
            os.rmdir(self.folder)
            self.folder = None


def ask(*arguments, send, script=None, env=None):
    """Sends it, ends the input; all that comes, the exit code, the errors."""
    mock = Mock(*arguments, script=script, env=env)
    try:
        mock.write(send)
    except BrokenPipeError:
        pass
    code = mock.finish()
    return mock.seen, code, mock.errors.decode(errors="replace")


def same(found, wanted, what=""):
    if found != wanted:
        raise AssertionError("%s\n  found:    %.1500r\n  expected: %.1500r" % (what, found, wanted))


CASES = []


def case(function):
    CASES.append((function.__name__, function))
    return function


def run_all(workers=6):
    """Runs the cases of this program, or those that were named; the exit code."""
    wanted = sys.argv[1:]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        jobs = [(name, pool.submit(function)) for name, function in CASES
                if not wanted or name in wanted]
        for name, job in jobs:
            try:
                job.result()
            except Exception:  # noqa: BLE001  (whatever it is, it is told)
                failed += 1
                print("%s: %s" % (name, traceback.format_exc(limit=-2)))
    print("%d cases, %d failed" % (len(jobs), failed))
    return 1 if failed or not jobs else 0
