"""A plugin that does what a dict says:

handshake    members that replace those of the usual answer (None takes one away)
answers      {method: result}, {method: {"error": …}} or {method: "mute"}; {} without it
text         {method: body}: answers with this body, whatever it is; %ID in it is the id
before       {method: [messages]} that are sent before the answer, after: … behind it
header       what stands before a body, with %d for its length
raw          bytes in place of the answer to handshake
chop         everything is written byte by byte
hold         answers to this method wait until so many have come, then they go out backwards
stay         ignores exit, the end of its input and SIGTERM
exit         leaves with this code at once; leave: {method: code} when that message comes
lines        texts for the standard error at the start
dump         a file that gets all bytes of the standard input

A message is a dict (jsonrpc is added), or a text that is sent as a body, or bytes. What comes goes
to the standard error as "got JSON".
"""
import json
import os
import signal
import sys

USUAL = {
    "protocol": "rpp", "protocolVersion": 0, "name": "example", "version": "0.1.0",
    "commands": [{"name": "sleep", "usage": "sleep [options]", "configs": [
        {"key": "time", "value": 5, "type": "int", "flag": {"shorthand": "t", "usage": "how long"}}]}],
    "tasks": [{"type": "echo"}],
}


class Guest:
    def __init__(self, spec):
        self.spec = spec
        self.held = []
        self.dump = open(spec["dump"], "ab") if "dump" in spec else None

    def take(self, data):
        if self.dump:
            self.dump.write(data)
            self.dump.flush()
        return data

    def receive(self):
        length = None
        while True:
            line = self.take(sys.stdin.buffer.readline())
            if not line:
                return None
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                return json.loads(self.take(sys.stdin.buffer.read(length)))

    def write(self, data):
        for piece in [data[i:i + 1] for i in range(len(data))] if "chop" in self.spec else [data]:
            os.write(1, piece)

    def send(self, message):
        if isinstance(message, bytes):
            self.write(message)
            return
        if isinstance(message, dict):
            message = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        data = message.encode("utf-8", "surrogateescape")
        header = self.spec.get("header", "Content-Length: %d\r\n\r\n")
        self.write((header % len(data)).encode("latin-1") + data)

    def answer(self, message):
        method, spec = message["method"], self.spec
        answer = spec.get("answers", {}).get(method, None if method == "shutdown" else {})
        if method in spec.get("text", {}):
            self.send(spec["text"][method].replace("%ID", json.dumps(message["id"])))
        elif method == "handshake" and "raw" in spec:
            self.send(spec["raw"])
        elif method == "handshake" and method not in spec.get("answers", {}):
            result = {**USUAL, **spec.get("handshake", {})}
            self.send({"id": message["id"], "result": {k: v for k, v in result.items() if v is not None}})
        elif isinstance(answer, dict) and "error" in answer:
            self.send({"id": message["id"], "error": answer["error"]})
        elif answer != "mute":
            self.send({"id": message["id"], "result": answer})

    def serve(self, message):
        method, spec = message.get("method"), self.spec
        if method in spec.get("leave", {}):
            os._exit(spec["leave"][method])
        for other in spec.get("before", {}).get(method, []):
            self.send(other)
        if spec.get("hold", ("", 0))[0] == method:
            self.held.append(message)
            if len(self.held) == spec["hold"][1]:
                for held in reversed(self.held):
                    self.answer(held)
        elif method and "id" in message:
            self.answer(message)
        for other in spec.get("after", {}).get(method, []):
            self.send(other)

    def run(self):
        for line in self.spec.get("lines", []):
            os.write(2, line.encode() + b"\n")
        if "exit" in self.spec:
            os._exit(self.spec["exit"])
        if "stay" in self.spec:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            message = self.receive()
            if message is None:
                while "stay" in self.spec:
                    signal.pause()
                os._exit(1)
            text = json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            os.write(2, ("got " + text + "\n").encode())
            self.serve(message)
            if message.get("method") == "exit" and "stay" not in self.spec:
                os._exit(0)


def run(spec):
    Guest(spec).run()
