"""A client of MCP by hand, for the checks of duplex mcp serve: lines of JSON, and nothing that knows the library."""
import json
import os
import select
import socket
import subprocess
import sys
import time

failed = 0


def complain(text):
    """With the line of the script itself."""
    global failed
    failed = 1
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    print(f"line {frame.f_lineno}: {text}", flush=True)


def expect(condition, text=""):
    if not condition:
        complain(str(text)[:1500])


class Gone(Exception):
    pass


class Client:
    """`command` is a list of words; `address` the path of a socket."""

    def __init__(self, command=None, address=None, revision="2025-11-25", **more):
        self.process = self.socket = None
        if command:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
            self.read_fd, self.write_fd = self.process.stdout.fileno(), self.process.stdin.fileno()
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            until = time.monotonic() + 20  # its file is there a moment before it listens
            while self.socket.connect_ex(address) != 0:
                if time.monotonic() > until:
                    raise OSError("nobody listens at " + address)
                time.sleep(0.01)
            self.read_fd = self.write_fd = self.socket.fileno()
        self.next_id = 0
        self.rest = b""
        self.seen = []  # notifications that nobody has taken yet
        self.answers = {}
        if revision:
            self.started = self.request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}})
            self.notify("notifications/initialized")

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.write_fd, data):]

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})})

    def ask(self, method, params=None):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, **({"params": params} if params is not None else {})})
        return self.next_id

    def turn(self, seconds):
        """Reads what comes within that time; False if nothing did."""
        if not select.select([self.read_fd], [], [], max(0, seconds))[0]:
            return False
        data = os.read(self.read_fd, 1 << 20)
        if not data:
            raise Gone
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "method" in message:
                self.seen.append(message)
            else:
                self.answers[message.get("id")] = message
        return True

    def answer(self, number, seconds=10):
        until = time.monotonic() + seconds
        while number not in self.answers:
            if not self.turn(until - time.monotonic()) and time.monotonic() >= until:
                raise TimeoutError(f"no answer to {number}")
        return self.answers.pop(number)

    def request(self, method, params=None, seconds=10):
        message = self.answer(self.ask(method, params), seconds)
        return message.get("result", message.get("error"))

    def call(self, name, arguments=None, seconds=10):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, seconds)

    def fails(self, name, arguments, part):
        """The call answers with an error result that has this text in it."""
        result = self.call(name, arguments)
        text = "".join(item.get("text", "") for item in result.get("content", []))
        if not result.get("isError") or part not in text:
            complain(f"{name} {str(arguments)[:200]}: expected an error with '{part}', found {str(result)[:500]}")

    def news(self, method, seconds=3):
        """The first notification of that method that comes; None if there is none in time."""
        until = time.monotonic() + seconds
        while True:
            for message in self.seen:
                if message["method"] == method:
                    self.seen.remove(message)
                    return message.get("params", {})
            if not self.turn(until - time.monotonic()) and time.monotonic() >= until:
                return None

    def close(self):
        """Leaves; the exit code and the standard error of the server."""
        if self.socket:
            self.socket.close()
            return None
        self.process.stdin.close()
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "it did not leave"
        self.errors = self.process.stderr.read().decode(errors="replace")
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone_soon(pid, seconds=3):
    until = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(pid)
