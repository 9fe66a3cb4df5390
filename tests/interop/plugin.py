#!/usr/bin/env python3
"""A plugin in Python's standard library alone, written from the JSON-RPC 2.0 specification and from the
header part of LSP's base protocol; it shares nothing with Duplex.

    plugin.py header|line [stdio|unix PATH|tcp PORTFILE] [WORD...]

Over a socket it serves every connection; with tcp the port that it got is written to PORTFILE. Other words are for whoever looks for the process. What it answers:

    echo PARAMS           the params
    big {"bytes": N}      a text of that length
    slow {"seconds": N}   null, after that time
    fail PARAMS           the error 1234 with the params as its data
    crash                 a line on the standard error, then exit code 7, no answer
    ask                   asks user/name of the host, answers {"asked": its answer} or {"refused": its error}
    tell {"count": N}     sends N notifications told, then answers N
    env                   its environment;  where: its working folder, process id and blocked signals
    say {"out", "err"}    writes those texts as they are to the standard output and error, answers null
    speak {"error": E}    answers with this error object;  {"message": M} sends this message instead
    heard                 the notifications that came, oldest first
"""

import base64
import json
import os
import signal
import socket
import sys
import threading
import time


class Stream:
    """Messages over two binary files."""

    def __init__(self, framing, source, sink):
        self.framing, self.source, self.sink = framing, source, sink

    def read(self):
        """One message as bytes; None at the end of the input."""
        if self.framing == "line":
            line = self.source.readline()
            return line if line else None
        length = None
        while True:
            line = self.source.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        return self.source.read(length) if length is not None else b""

    def write(self, message):
        body = json.dumps(message, ensure_ascii=False).encode()
        if self.framing == "line":
            self.sink.write(body + b"\n")
        else:
            self.sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.sink.flush()


class Refused(Exception):
    def __init__(self, code, message, **more):
        super().__init__(message)
        self.error = {"code": code, "message": message, **more}


class Plugin:
    def __init__(self, stream):
        self.stream = stream
        self.notifications = []
        self.asked = 0

    def echo(self, params):
        return params

    def big(self, params):
        return "b" * params["bytes"]

    def slow(self, params):
        time.sleep(params["seconds"])

    def fail(self, params):
        raise Refused(1234, "this always fails", data=params)

    def crash(self, _):
        os.write(2, b"about to crash\n")
        os._exit(7)

    def ask(self, params):
        self.asked += 1
        number = f"ask-{self.asked}"
        self.stream.write({"jsonrpc": "2.0", "id": number, "method": "user/name", "params": params or {}})
        while True:
            text = self.stream.read()
            if text is None:
                sys.exit(3)
            message = json.loads(text)
            if "method" in message:
                self.take(message)
            elif message.get("id") == number:
                return {"asked": message["result"]} if "result" in message else {"refused": message["error"]}

    def tell(self, params):
        for i in range(params["count"]):
            self.stream.write({"jsonrpc": "2.0", "method": "told", "params": {"i": i}})
        return params["count"]

    def env(self, _):
        return dict(os.environ)

    def where(self, _):
        blocked = sorted(int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, []))
        return {"cwd": os.getcwd(), "pid": os.getpid(), "blocked": blocked}

    def say(self, params):
        for stream, name in ((self.stream.sink, "out"), (sys.stderr.buffer, "err")):
            stream.write(base64.b64decode(params.get(name, "")))
            stream.flush()

    def speak(self, params):
        if "message" in params:
            self.stream.write(params["message"])
            return None
        refusal = Refused(0, "")
        refusal.error = params["error"]
        raise refusal

    def heard(self, _):
        return self.notifications

    METHODS = ("echo", "big", "slow", "fail", "crash", "ask", "tell", "env", "where", "say", "speak", "heard")

    def answer(self, message):
        name = message["method"]
        if name not in self.METHODS:
            raise Refused(-32601, "Method not found")
        try:
            return getattr(self, name)(message.get("params"))
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(-32602, "Invalid params", data=repr(error)) from error

    def take(self, message):
        if "method" not in message:
            return
        if "id" not in message:
            self.notifications.append({"method": message["method"], "params": message.get("params")})
            return
        try:
            reply = {"result": self.answer(message)}
        except Refused as refused:
            reply = {"error": refused.error}
        self.stream.write({"jsonrpc": "2.0", "id": message["id"], **reply})

    def run(self):
        while True:
            text = self.stream.read()
            if text is None:
                return
            if not text.strip():
                continue
            try:
                message = json.loads(text)
            except ValueError:
                self.stream.write({"jsonrpc": "2.0", "id": None,
                                   "error": {"code": -32700, "message": "Parse error"}})
                continue
            self.take(message)


def listen(kind, place):
    if kind == "unix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(place + ".new")
        server.listen()
        os.rename(place + ".new", place)  # whoever sees it can connect
        return server
    server = socket.create_server(("127.0.0.1", 0))
    with open(place + ".new", "w", encoding="ascii") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(place + ".new", place)
    return server


def converse(framing, connection):
    try:
        with connection, connection.makefile("rb") as source, connection.makefile("wb") as sink:
            Plugin(Stream(framing, source, sink)).run()
    except (BrokenPipeError, ConnectionResetError):
        pass


def main(framing, kind="stdio", place=None, *_):
    if kind not in ("unix", "tcp"):
        Plugin(Stream(framing, sys.stdin.buffer, sys.stdout.buffer)).run()
        return
    server = listen(kind, place)
    while True:
        connection, _ = server.accept()
        threading.Thread(target=converse, args=(framing, connection), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
