#!/usr/bin/env python3
"""A plugin of Reginald in Python's standard library alone, written from the document of the protocol and from what
is known of the real program; it shares nothing with Duplex.

It is started without a word, so what it is follows from what its file is called (a link will do):

    reginald-example   what the example of the real program offers, and answers like it, byte by byte
    reginald-tour      more: see COMMANDS and TASKS below

and how it writes from PLUGIN_WRITES: whole (a frame a write), bytes (a byte a write), together (log messages wait
for the answer that follows, and all goes out in one write). With PLUGIN_JOURNAL every frame that came is kept in
that file, exactly as it was on the wire, behind a line with its size.

It reads by the grammar of the document and nothing else: a header that does not fit it is the end, with code 9.
"""
import json
import os
import re
import sys
import threading
import time

FIELD = re.compile(rb"([A-Za-z-]+):( *)([\x00-\x09\x0b\x0c\x0e-\x7f]*)\r\n")
NAME = os.path.basename(sys.argv[0])
KIND = NAME[len("reginald-"):]
WRITES = os.environ.get("PLUGIN_WRITES", "whole")
JOURNAL = os.environ.get("PLUGIN_JOURNAL")

SLEEP = {
    "name": "sleep",
    "usage": "sleep [options]",
    "configs": [{"key": "time", "value": 5, "type": "int",
                 "flag": {"shorthand": "t", "usage": "time to sleep in seconds (default 5s)"}}],
}
# The commands of the tour: what each does is its method run_NAME.
COMMANDS = [
    {"name": "show", "usage": "tells all its settings to the log", "configs": [
        {"key": "word", "value": "inni", "type": "string", "flag": {"name": "a-word", "shorthand": "w", "usage": "any text"}},
        {"key": "count", "value": 1, "type": "int", "flag": {}},
        {"key": "loud", "value": False, "type": "bool", "flag": {"shorthand": "l"}},
        {"key": "named", "value": "-", "type": "string", "envOverride": "NAMED_BY_ITSELF"},
        {"key": "hidden", "value": "by flag alone", "type": "string", "flag": {"name": "hidden"}, "flagOnly": True},
    ]},
    {"name": "levels", "usage": "a log message of each level"},
    {"name": "fails", "usage": "fails"},
    {"name": "asks", "usage": "asks the host for its settings, and for something that it cannot know"},
    {"name": "dies", "usage": "leaves in the middle of it"},
    {"name": "prints", "usage": "writes to its standard error"},
]
TASKS = [
    {"type": "note", "configs": [{"key": "msg", "value": "", "type": "string"}, {"key": "ms", "value": 0, "type": "int"}]},
    {"type": "picky"},
]


class Refused(Exception):
    def __init__(self, code, message, *data):
        super().__init__(message)
        self.error = {"message": message, "code": code}
        if data:
            self.error = {"data": data[0], **self.error}


def encode(value):
    """As Go writes it: compact, UTF-8, and three characters that browsers dislike as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: "\\u%04x" % ord(found.group()), text).encode("utf-8")


class Wire:
    """Frames on the standard streams. Several threads write."""

    def __init__(self):
        self.input = sys.stdin.buffer
        self.lock = threading.Lock()
        self.held = b""

    def read(self):
        """The body of the next frame; None at the end."""
        head, length = b"", None
        while True:
            line = self.input.readline()
            if not line and not head:
                return None
            head += line
            if line == b"\r\n":
                break
            found = FIELD.fullmatch(line)
            if not found:
                self.die("not a header: %r" % head)
            if found[1].lower() == b"content-length":
                length = int(found[3])
        if length is None:
            self.die("no length: %r" % head)
        body = self.input.read(length)
        if len(body) < length:
            self.die("%d bytes of %d" % (len(body), length))
        if JOURNAL:
            with open(JOURNAL, "ab") as file:
                file.write(b"%d\n%s" % (len(head + body), head + body))
        return body

    def die(self, why):
        print("plugin.py: " + why, file=sys.stderr, flush=True)
        os._exit(9)

    def write(self, message, hold=False):
        body = encode({"jsonrpc": "2.0", **message})
        data = b"Content-Length: %d\r\n\r\n" % len(body) + body
        with self.lock:
            if WRITES == "together" and hold:
                self.held += data
                return
            data, self.held = self.held + data, b""
            if WRITES == "bytes":
                for at in range(len(data)):
                    os.write(1, data[at:at + 1])
            while data and WRITES != "bytes":
                data = data[os.write(1, data):]


class Plugin:
    def __init__(self):
        self.wire = Wire()
        self.settings = {}  # of each command, by its name; of the plugin under None
        self.words = []
        self.answers = {}
        self.arrived = threading.Condition()
        self.asked = 0
        self.is_closing = False
        tour = KIND == "tour"
        self.commands = COMMANDS if tour else [SLEEP]
        self.tasks = TASKS if tour else [{"type": "echo"}]

    def log(self, text, level="INFO", **fields):
        params = {"msg": text, "level": level}
        if fields:
            params = {"fields": fields, **params}
        self.wire.write({"method": "log", "params": params}, hold=True)

    # What the host asks

    def handshake(self, params):
        if params != {"protocol": "rpp", "protocolVersion": 0}:
            raise Refused(-32602, "another protocol: %r" % (params,))
        if KIND == "tour":
            return {**params, "name": "tour", "version": "1.2.3", "commands": COMMANDS, "tasks": TASKS,
                    "configs": [{"key": "owner", "value": "nobody", "type": "string"}]}
        return {**params, "name": KIND, "version": "0.1.0-0.dev", "commands": self.commands, "tasks": self.tasks}

    def initialize(self, params):
        if set(params) - {"config"} != {"logging"} or set(params["logging"]) != {"enabled", "level"}:
            raise Refused(-32602, "initialize has %r" % (params,))
        self.settings[None] = self.values(params)
        return {}

    @staticmethod
    def values(params):
        kinds = {"bool": bool, "int": int, "string": str}
        values = {}
        for each in params.get("config", []):
            if set(each) != {"key", "value", "type"} or type(each["value"]) is not kinds.get(each["type"]):
                raise Refused(-32602, "not a setting: %r" % (each,))
            values[each["key"]] = each["value"]
        return values

    def known(self, entries, values):
        for key, value in values.items():
            declared = [each["value"] for each in entries or () if each["key"] == key]
            if entries is not None and not declared:
                raise Refused(-32602, "no such setting: " + key)
            if declared and type(declared[0]) is not type(value):
                raise Refused(-32602, "a value of another type: " + key)
        return values

    def command(self, name):
        for each in self.commands:
            if each["name"] == name:
                return each
        raise Refused(-32602, "no such command: %s" % name)

    def task(self, kind):
        for each in self.tasks:
            if each["type"] == kind:
                return each
        raise Refused(-32602, "no such task: %s" % kind)

    def setup_command(self, params):
        if set(params) - {"config"} != {"name", "args"}:
            raise Refused(-32602, "setupCommand has %r" % (params,))
        command = self.command(params["name"])
        self.settings[params["name"]] = self.known(command.get("configs", []), self.values(params))
        self.words = params["args"]
        return {}

    def run_command(self, params, settings):
        if set(params) != {"name"}:
            raise Refused(-32602, "runCommand has %r" % (params,))
        self.command(params["name"])
        # As they were when it was asked: setupCommand may come again while this runs.
        getattr(self, "run_" + params["name"])(settings.get(params["name"], {}))
        return {}

    def validate_task(self, params):
        if set(params) - {"config"} != {"type"}:
            raise Refused(-32602, "validateTask has %r" % (params,))
        values = self.known(self.task(params["type"]).get("configs"), self.values(params))
        if params["type"] == "picky" and values.get("like") != "this":
            raise Refused(-32050, "picky wants like = \"this\" & <nothing> else", {})
        return {}

    def run_task(self, params):
        if set(params) - {"config"} != {"type", "dir"}:
            raise Refused(-32602, "runTask has %r" % (params,))
        self.task(params["type"])
        values = self.values(params)
        begin = time.monotonic()
        if values.get("ms"):
            time.sleep(values["ms"] / 1000)
        if values.get("msg") == "fail":
            raise Refused(-32603, "told to fail")
        self.log("%s: %s" % (params["type"], values.get("msg", "")), dir=params["dir"],
                 begin=begin, end=time.monotonic())
        return {}

    def shutdown(self, params):
        if params is not None:
            raise Refused(-32602, "shutdown has %r" % (params,))
        self.is_closing = True
        return None

    # The commands

    def run_sleep(self, values):
        time.sleep(values.get("time", 5))

    def run_show(self, values):
        self.log("settings", owner=self.settings[None].get("owner", "?"), words=self.words, **values)

    def run_levels(self, _):
        for level in ("TRACE", "debug", "Info", "INFO+2", "WARN", "error"):
            self.log("at %s: Å中😀 <&>" % level, level, number=2, list=[1, "b"], object={"a": None})

    def run_fails(self, _):
        raise Refused(-32000, "this & that went <wrong>: Å", {})

    def run_asks(self, _):
        for method in ("config", "no/such"):
            answer = self.ask(method)
            self.log("asked " + method, answer={key: answer[key] for key in answer if key not in ("jsonrpc", "id")})

    def run_dies(self, _):
        os._exit(7)

    def run_prints(self, _):
        sys.stderr.write("a line\n" + "x" * 300000 + "\nthe last line, without an end")
        sys.stderr.flush()

    def ask(self, method):
        with self.arrived:
            self.asked += 1
            number = "q-%d" % self.asked
            self.wire.write({"id": number, "method": method, "params": {}})
            if not self.arrived.wait_for(lambda: number in self.answers, 20):
                raise Refused(-32603, "no answer to " + method)
            return self.answers.pop(number)

    METHODS = {
        "handshake": "handshake", "initialize": "initialize", "setupCommand": "setup_command",
        "runCommand": "run_command", "validateTask": "validate_task", "runTask": "run_task", "shutdown": "shutdown",
    }

    def answer(self, message, *settings):
        try:
            if self.is_closing:
                raise Refused(-32600, "after shutdown")
            name = self.METHODS.get(message["method"])
            if not name:
                raise Refused(-32601, "invalid method name: \"%s\"" % message["method"])
            reply = {"result": getattr(self, name)(message.get("params"), *settings)}
        except Refused as refused:
            reply = {"error": refused.error}
        except (KeyError, TypeError, AttributeError) as wrong:
            reply = {"error": Refused(-32602, repr(wrong)).error}
        self.wire.write({"id": message["id"], **reply})

    def run(self):
        while True:
            body = self.wire.read()
            if body is None:
                return 1
            message = json.loads(body.decode("utf-8"))
            if message.get("jsonrpc") != "2.0":
                self.wire.die("no version: %r" % body)
            if "method" not in message:
                with self.arrived:
                    self.answers[message["id"]] = message
                    self.arrived.notify_all()
            elif "id" in message:
                slow = message["method"] in ("runCommand", "runTask")
                settings = (dict(self.settings),) if message["method"] == "runCommand" else ()
                work = threading.Thread(target=self.answer, args=(message, *settings), daemon=True)
                work.start()
                if not slow:
                    work.join()
            elif message["method"] == "exit":
                return 0
            else:
                self.wire.die("an unknown notification: %r" % body)


if __name__ == "__main__":
    os._exit(Plugin().run())
