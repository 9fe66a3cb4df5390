#!/usr/bin/env python3
"""A host of Reginald that starts one plugin and talks to it, in Python's standard library alone, written from the
document of the protocol and from what is known of the real program; it shares nothing with Duplex.

    host.py SCENARIO whole|bytes|together PROGRAM

It writes a frame at a time, a byte at a time, or as many frames at once as wait for no answer. What comes is read by
the grammar of the document. Every scenario ends with an orderly end, and with "ok" on the standard output.
"""
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 20  # seconds that any wait may take
FIELD = re.compile(rb"([A-Za-z-]+):( *)([\x00-\x09\x0b\x0c\x0e-\x7f]*)\r\n")
LEVEL = re.compile(r"(TRACE|DEBUG|INFO|WARN|ERROR)([+-][0-9]+)?")

# What the real host sends, each with the size that its header says.
LIVE = {
    "handshake": (93, '{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"rpp","protocolVersion":0}}'),
    "initialize": (100, '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"logging":{"enabled":true,"level":"TRACE"}}}'),
    "setup": (135, '{"jsonrpc":"2.0","id":3,"method":"setupCommand","params":{"name":"sleep","args":null,'
                   '"config":[{"key":"time","value":1,"type":"int"}]}}'),
    "run": (72, '{"jsonrpc":"2.0","id":4,"method":"runCommand","params":{"name":"sleep"}}'),
    "shutdown": (58, '{"jsonrpc":"2.0","id":5,"method":"shutdown","params":null}'),
    "exit": (47, '{"jsonrpc":"2.0","method":"exit","params":null}'),
}

# What the example of the real program says of itself.
EXAMPLE = ('{"jsonrpc":"2.0","id":1,"result":{"protocol":"rpp","protocolVersion":0,"name":"example","version":"0.1.0-0.dev",'
           '"commands":[{"name":"sleep","usage":"sleep [options]","configs":[{"key":"time","value":5,"type":"int",'
           '"flag":{"shorthand":"t","usage":"time to sleep in seconds (default 5s)"}}]}],"tasks":[{"type":"echo"}]}}')


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Host:
    def __init__(self, writes, program):
        self.writes = writes
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.frames = queue.Queue()
        self.errors = []
        self.last_id = 0
        self.logs = []
        self.answers = {}  # by the text of their id
        self.held = b""
        self.readers = [threading.Thread(target=each, daemon=True) for each in (self.read_frames, self.read_errors)]
        for each in self.readers:
            each.start()

    # Transport

    def read_frames(self):
        stream = self.process.stdout
        while True:
            head, length = b"", None
            while True:
                line = stream.readline()
                if not line:
                    self.frames.put(("end", head))
                    return
                head += line
                if line == b"\r\n":
                    break
                found = FIELD.fullmatch(line)
                if not found:
                    self.frames.put(("not a header", head))
                    return
                if found[1] == b"Content-Length":
                    length = int(found[3])
            if length is None:
                self.frames.put(("no length", head))
                return
            body = stream.read(length)
            self.frames.put(("frame", head + body) if len(body) == length else ("cut", head + body))

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.decode("utf-8", "replace"))

    def put(self, body, hold=False):
        """hold: more comes before an answer is waited for."""
        data = b"Content-Length: %d\r\n\r\n" % len(body) + body
        if self.writes == "together" and hold:
            self.held += data
            return
        data, self.held = self.held + data, b""
        pieces = [data[at:at + 1] for at in range(len(data))] if self.writes == "bytes" else [data]
        for piece in pieces:
            self.process.stdin.write(piece)
            self.process.stdin.flush()

    def frame(self):
        try:
            kind, data = self.frames.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failure("nothing came") from None
        expect(kind == "frame", "%s instead of a frame: %r" % (kind, data))
        return data

    # Messages

    def take(self):
        """One message: log messages are kept and checked, answers are kept by their id. Nothing else may come."""
        data = self.frame()
        message = json.loads(data.split(b"\r\n\r\n", 1)[1].decode("utf-8"))
        expect(message.get("jsonrpc") == "2.0", "no version in %r" % data)
        if message.get("method") == "log":
            expect("id" not in message, "a log message with an id: %r" % data)
            params = message["params"]
            expect(set(params) <= {"msg", "level", "fields"} and {"msg", "level"} <= set(params), "log of %r" % params)
            expect(LEVEL.fullmatch(params["level"]) and isinstance(params["msg"], str), "log of %r" % params)
            expect(isinstance(params.get("fields", {}), dict), "log of %r" % params)
            self.logs.append(params)
            return
        expect("method" not in message, "a plugin may only log: %r" % data)
        expect(set(message) - {"jsonrpc", "id"} in ({"result"}, {"error"}), "no answer: %r" % data)
        self.answers[json.dumps(message["id"])] = message

    def ask(self, method, *params, hold=False):
        """Sends it; its id."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, **({"params": params[0]} if params else {})}
        self.put(json.dumps(message, ensure_ascii=False).encode("utf-8"), hold)
        return self.last_id

    def answer(self, identity):
        while json.dumps(identity) not in self.answers:
            self.take()
        return self.answers.pop(json.dumps(identity))

    def result(self, method, *params):
        answer = self.answer(self.ask(method, *params))
        expect("result" in answer, "%s was refused: %r" % (method, answer))
        return answer["result"]

    def refused(self, code, method, *params):
        answer = self.answer(self.ask(method, *params))
        expect("error" in answer, "%s %r was not refused: %r" % (method, params, answer))
        error = answer["error"]
        expect(error["code"] == code, "%s %r: %r instead of %d" % (method, params, error, code))
        expect(set(error) <= {"code", "message", "data"} and error["message"], "an odd error: %r" % error)
        return error

    # Life

    def start(self):
        facts = self.result("handshake", {"protocol": "rpp", "protocolVersion": 0})
        expect(set(facts) <= {"protocol", "protocolVersion", "name", "version", "configs", "commands", "tasks"}, "%r" % facts)
        expect((facts["protocol"], facts["protocolVersion"]) == ("rpp", 0), "it speaks %r" % facts)
        expect(facts["name"] and re.fullmatch(r"\d+\.\d+\.\d+.*", facts["version"]), "it is %r" % facts)
        for entry in self.entries(facts):
            self.check_entry(entry)
        expect(self.result("initialize", {"logging": {"enabled": True, "level": "TRACE"}}) == {}, "initialize is not {}")
        return facts

    @staticmethod
    def entries(facts):
        for offer in [facts] + facts.get("commands", []) + facts.get("tasks", []):
            yield from offer.get("configs", [])

    @staticmethod
    def check_entry(entry):
        kinds = {"bool": bool, "int": int, "string": str}
        expect(set(entry) <= {"key", "value", "type", "flag", "envOverride", "flagOnly"}, "a setting: %r" % entry)
        expect(entry["key"] and type(entry["value"]) is kinds[entry["type"]], "a setting: %r" % entry)
        expect(set(entry.get("flag", {})) <= {"name", "shorthand", "usage"}, "a flag: %r" % entry)
        expect(len(entry.get("flag", {}).get("shorthand", "x")) == 1, "a letter: %r" % entry)

    def leave(self):
        expect(self.result("shutdown", None) is None, "shutdown is not answered with null")
        self.put(b'{"jsonrpc":"2.0","method":"exit","params":null}')
        self.is_gone(0)

    def is_gone(self, code):
        """By itself, with its input still open, and with nothing behind the last answer."""
        expect(self.process.wait(timeout=PATIENCE) == code, "it left with %d: %s" % (self.process.returncode, "".join(self.errors)))
        kind, data = self.frames.get(timeout=PATIENCE)
        expect((kind, data) == ("end", b""), "%s %r in the end" % (kind, data))


def setting(key, value):
    return {"key": key, "value": value, "type": {bool: "bool", int: "int", str: "string"}[type(value)]}


def setup(host, time_s, hold=False):
    return host.ask("setupCommand", {"name": "sleep", "args": None, "config": [setting("time", time_s)]}, hold=hold)


def golden(host):
    """The bytes of the real host; the answers are those of the real plugin."""
    for size, text in LIVE.values():
        expect(len(text) == size, "a mistake here: %d %s" % (size, text))
    wanted = [EXAMPLE, '{"jsonrpc":"2.0","id":2,"result":{}}', '{"jsonrpc":"2.0","id":3,"result":{}}',
              '{"jsonrpc":"2.0","id":4,"result":{}}', '{"jsonrpc":"2.0","id":5,"result":null}']
    begin = time.monotonic()
    for name, bytes_wanted in zip(("handshake", "initialize", "setup", "run", "shutdown"), wanted):
        host.put(LIVE[name][1].encode())
        data = host.frame()
        while b'"method":"log"' in data:
            data = host.frame()
        expect(data == b"Content-Length: %d\r\n\r\n%s" % (len(bytes_wanted), bytes_wanted.encode()), "%s: %r" % (name, data))
    expect(1 <= time.monotonic() - begin < 5, "it did not sleep for a second")
    host.put(LIVE["exit"][1].encode())
    host.is_gone(0)


def sleep(host):
    facts = host.start()
    command = [each for each in facts["commands"] if each["name"] == "sleep"]
    expect(len(command) == 1 and isinstance(command[0]["usage"], str), "its commands: %r" % facts)
    entry = command[0]["configs"][0]
    expect((entry["key"], entry["type"], entry["flag"]["shorthand"]) == ("time", "int", "t"), "its setting: %r" % entry)
    # Two at once: the second is done first.
    asked = [setup(host, 2, hold=True), host.ask("runCommand", {"name": "sleep"}, hold=True),
             setup(host, 0, hold=True), host.ask("runCommand", {"name": "sleep"})]
    for identity in (asked[0], asked[2], asked[3]):
        expect(host.answer(identity)["result"] == {}, "not {}")
    expect(json.dumps(asked[1]) not in host.answers, "two seconds are over already")
    expect(host.answer(asked[1])["result"] == {}, "not {}")
    refusals(host)
    host.leave()


def refusals(host):
    host.refused(-32602, "runCommand", {"name": "nap"})
    host.refused(-32602, "runCommand", {})
    host.refused(-32602, "runCommand")
    host.refused(-32602, "setupCommand", {"name": "sleep", "args": None, "config": [setting("tim", 1)]})
    host.refused(-32602, "setupCommand", {"name": "sleep", "args": None, "config": [setting("time", "1")]})
    host.refused(-32602, "setupCommand", {"name": "nap", "args": None})
    host.refused(-32602, "runTask", {"type": "no-such", "dir": "/"})
    host.refused(-32602, "validateTask", {"type": "no-such"})
    host.refused(-32601, "nope", {})
    for identity in ("a-1", 0, 1.5, 9007199254740993, "\u00e5\"<&>"):
        host.put(json.dumps({"jsonrpc": "2.0", "id": identity, "method": "nope"}).encode())
        expect(host.answer(identity)["error"]["code"] == -32601, "id %r" % identity)


def several(host):
    """All that a run needs in as few writes as can be, and again with other settings."""
    host.start()
    asked = []
    for _ in range(20):
        asked += [setup(host, 0, hold=True), host.ask("runCommand", {"name": "sleep"}, hold=True)]
    asked.append(host.ask("runCommand", {"name": "none"}))
    for identity in asked[:-1]:
        expect(host.answer(identity)["result"] == {}, "not {}")
    expect(host.answer(asked[-1])["error"]["code"] == -32602, "an unknown command")
    host.leave()


def link(source, target, **more):
    values = {"from": source, "to": target, **{key.replace("_", "-"): value for key, value in more.items()}}
    return {"type": "symlink", "config": [setting(key, value) for key, value in values.items()]}


def symlink(host):
    """Links in a folder, what is told of them, a dry run, and what is refused."""
    facts = host.start()
    expect([each["type"] for each in facts["tasks"]] == ["symlink"], "its tasks: %r" % facts)
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "hjem Å中😀")
        os.mkdir(folder)
        with open(os.path.join(folder, "file"), "w", encoding="utf-8") as file:
            file.write("kept")
        for good in (link("a", "b"), link("/etc", "å/<&>/c", force=True)):
            expect(host.result("validateTask", good) == {}, "not {}")
        for bad in (link("", "b"), link("a", ""), link("a", "/b"), link("a", "../b"), link("a", "b/../../c")):
            host.refused(-32050, "validateTask", bad)
        host.refused(-32602, "validateTask", link("a", "b", forse=True))
        host.refused(-32602, "validateTask", link("a", "b", force="yes"))

        def run(*words, **more):
            host.logs.clear()
            expect(host.result("runTask", {"dir": folder, **link(*words, **more)}) == {}, "not {}")
            told = [each["fields"]["changed"] for each in host.logs if "changed" in each.get("fields", {})]
            return told[0] if told else None

        made = os.path.join(folder, "å", "<&>", "c")
        expect(run("../../file", "å/<&>/c", dry=True) is False, "a dry run changed something: %r" % host.logs)
        expect(not os.path.lexists(os.path.join(folder, "å")), "a dry run made something")
        expect(run("../../file", "å/<&>/c") is True, "nothing changed: %r" % host.logs)
        expect(os.readlink(made) == "../../file", "it is %s" % os.readlink(made))
        expect(run("../../file", "å/<&>/c") is False, "made again: %r" % host.logs)
        host.refused(-32603, "runTask", {"dir": folder, **link("other", "å/<&>/c")})
        host.refused(-32603, "runTask", {"dir": folder, **link("x", "file")})
        host.refused(-32603, "runTask", {"dir": folder + "/no/such", **link("x", "y")})
        expect(os.readlink(made) == "../../file" and open(os.path.join(folder, "file")).read() == "kept", "it was changed")
        expect(run("other", "å/<&>/c", force=True) is True and os.readlink(made) == "other", "it was not replaced")
        asked = [host.ask("runTask", {"dir": folder, **link("x", "many/%d" % number)}, hold=number < 19) for number in range(20)]
        for identity in asked:
            expect(host.answer(identity).get("result") == {}, "not {}")
        expect(len(os.listdir(os.path.join(folder, "many"))) == 20, "some are missing")
    host.leave()


SCENARIOS = {"golden": golden, "sleep": sleep, "several": several, "symlink": symlink}


def main():
    scenario, writes, program = sys.argv[1:]
    host = Host(writes, program)
    try:
        SCENARIOS[scenario](host)
    except (Failure, OSError, ValueError, KeyError, IndexError, TypeError, subprocess.TimeoutExpired, queue.Empty) as failure:
        print("not ok: %s: %r" % (scenario, failure))
        print("# its standard error: %s" % "".join(host.errors))
        return 1
    finally:
        host.process.kill()
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
