#!/usr/bin/env python3
"""An extension for names and relatives: Python's standard library alone, written from the document of
the protocol, in the manner of its samples, and from what is known of the real program, which has members
and methods that the document does not show (seed_extension.py knows the document alone). It asks one question at a time and waits for the answer in
the loop that the document shows; what else comes meanwhile is looked at there.

Against the samples: bytes are counted, not characters, and the end of the input ends the program. What
came is kept in the data directory (names-å中😀.jsonl), one JSON value a line.
"""

import json
import os
import re
import signal
import sys

NAME = "Names Å中😀"
PATIENCE = 20

FRESH = "\r".join((
    r"MSH|^~\&|NAMES|Å|EPJ|中|20251126||ADT^A08|NY-1|P|2.5.1",
    "EVN|A08|20251126",
    "PID|1||99^^^X^MR||Ny^Åse 😀",
)) + "\r"


def read_message():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            raise EOFError
        if line == b"\r\n":
            break
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
    content = sys.stdin.buffer.read(length)
    if len(content) < length:
        raise EOFError
    return json.loads(content)


def write_message(message):
    content = json.dumps(message, ensure_ascii=False).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
    sys.stdout.buffer.flush()


def log(text):
    sys.stderr.buffer.write(text.encode() + b"\n")
    sys.stderr.buffer.flush()


class Refused(Exception):
    pass


class Names:
    def __init__(self):
        self.asked = 0
        self.waiting = None
        self.later = []
        self.journal = None

    def note(self, value):
        if self.journal:
            self.journal.write(json.dumps(value, ensure_ascii=False) + "\n")
            self.journal.flush()

    def ask(self, method, params):
        self.asked += 1
        number, before = self.asked, self.waiting
        self.waiting = method
        write_message({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        signal.alarm(PATIENCE)
        while True:
            message = read_message()
            if "method" in message:
                self.come(message)
            elif message.get("id") == number:
                break
        signal.alarm(0)
        self.waiting = before
        self.note({"asked": method, "id": number, **{k: message[k] for k in ("result", "error") if k in message}})
        if "error" in message:
            raise Refused(f"{message['error']['code']} {message['error']['message']}")
        return message["result"]

    def patch(self, *patches):
        result = self.ask("editor/patchMessage", {"patches": list(patches)})
        log(f"[INFO] patched {result['patchesApplied']} of {len(patches)}")
        for error in result.get("errors", []):
            log(f"[WARN] patch {error['index']} at {error['path']}: {error['message']}")
        return result

    # What comes while a question is open: questions are answered at once, work waits for its turn.
    def come(self, message):
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            self.begin(params)
        self.note({"came": message, "waiting": self.waiting})
        if "id" in message:
            self.answer(message["id"], method)
        elif method == "window/closed":
            log(f"[INFO] window closed by {params['reason']} while waiting for {self.waiting}")
            self.later.append(lambda: self.patch({"path": "EVN.7", "value": params["reason"]}))
        elif method == "message/changed":
            segments = [part for part in re.split("[\r\n]+", params.get("message", "")) if part]
            log(f"[INFO] changed: {len(segments)} segments as {params.get('format')}")
        elif method == "command/execute":
            self.later.append(lambda: self.execute(params["command"]))

    def answer(self, number, method):
        if method == "initialize":
            reply = {"result": {
                "name": NAME,
                "version": "1.2.0",
                "description": "Navn og pårørende, 名前",
                "authors": ["Åse Å", "李"],
                "capabilities": {
                    "commands": list(COMMANDS),
                    "events": [{"name": "message/changed", "options": {"includeContent": True}}],
                },
                "toolbarButtons": [{
                    "id": "upper",
                    "label": "Store bokstaver Å",
                    "icon": '<svg viewBox="0 0 20 20"><path d="M2 18 10 2l8 16"/></svg>',
                    "command": "names/upper",
                }],
                "schema": {"segments": {"PID": {"fields": [
                    {"field": 8, "name": "Kjønn", "required": True, "values": {"M": "Mann", "F": "Kvinne"}},
                ]}}},
            }}
        elif method == "shutdown":
            reply = {"result": {"success": True}}
        else:
            reply = {"error": {"code": -32601, "message": "Method not found"}}
        write_message({"jsonrpc": "2.0", "id": number, **reply})
        if method == "shutdown":
            log("[INFO] good bye")
            sys.exit(0)

    def begin(self, params):
        folder = params.get("dataDirectory")
        if folder and os.path.isdir(folder):
            self.journal = open(os.path.join(folder, "names-å中😀.jsonl"), "a", encoding="utf-8")
        told = {name: os.environ[name] for name in sorted(os.environ) if name.startswith("HERMES_")}
        self.note({"environment": told})

    def execute(self, command):
        if command not in COMMANDS:
            log(f"[ERROR] no such command: {command}")
            return
        try:
            COMMANDS[command](self)
        except Refused as refused:
            log(f"[ERROR] {command}: {refused}")

    def upper(self):
        text = self.ask("editor/getMessage", {"format": "hl7"})["message"]
        person = next((part for part in re.split("[\r\n]+", text) if part.startswith("PID|")), None)
        if person is None:
            log("[WARN] nobody is in this message")
            return
        names = person.split("|")[5].split("~")
        self.patch(*({"path": f"PID.5[{at}].1", "value": name.split("^")[0].upper()}
                     for at, name in enumerate(names, 1)))

    def kin(self):
        self.patch(
            {"path": "NK1", "create": True},
            {"path": "NK1[3].1", "value": "3"},
            {"path": "NK1[3].2.1", "value": "Bjørk & Sønn 中😀"},
            {"path": "NK1[3].2.2", "value": "a|b^c~d\\e"},
            {"path": "NK1[3].3.1", "value": "EMC"},
        )

    def partly(self):
        self.patch(
            {"path": "PID.8", "value": "U"},
            {"path": "ZZZ.1", "value": "nobody"},
            {"path": "PID.5.1xyz", "value": "nothing"},
            {"path": "NK1[2]", "remove": True},
        )

    def swap(self):
        message = json.loads(self.ask("editor/getMessage", {"format": "json"})["message"])
        person = next(each["fields"] for each in message["segments"] if each["segment"] == "PID")
        person["8"] = "F"
        person["5"] = {"1": "Å", "2": "中", "3": "😀"}
        text = json.dumps(message, ensure_ascii=False)
        log(f"[INFO] set: {json.dumps(self.ask('editor/setMessage', {'message': text, 'format': 'json'}))}")

    def fresh(self):
        log(f"[INFO] set: {json.dumps(self.ask('editor/setMessage', {'message': FRESH, 'format': 'hl7'}))}")

    def wrong(self):
        for method, params in (
            ("editor/setMessage", {"message": "PID|1||4711", "format": "hl7"}),
            ("editor/setMessage", {"message": "{", "format": "json"}),
            ("editor/getMessage", {"format": "xml"}),
            ("editor/getMessage", {}),
            ("editor/patchMessage", {"patches": [{"path": "PID.8", "value": 7}]}),
            ("editor/noSuch", {}),
            ("ui/openWindow", {"url": "file:///etc/passwd", "title": "x"}),
            ("ui/openWindow", {"url": "no url", "title": "x"}),
            ("ui/closeWindow", {"windowId": "ext-window-of-nobody"}),
        ):
            try:
                result = self.ask(method, params)
                log(f"[INFO] {method}: {json.dumps(result, ensure_ascii=False, sort_keys=True)}")
            except Refused as refused:
                log(f"[WARN] {method}: {refused}")

    def window(self):
        result = self.ask("ui/openWindow", {
            "url": "http://127.0.0.1:9/navn?q=%C3%85",
            "title": "Navn – 名前 😀",
            "width": 640,
            "height": 480,
            "modal": True,
            "resizable": False,
        })
        log(f"[INFO] window {result['windowId']}")
        self.patch({"path": "PID.8", "value": "O"})

    def speak(self):
        for line in ("plain", "[INFO] info", "[WARN] warn", "[WARNING] warning", "[ERROR] error", "ERROR: colon",
                     "warning: low", "[info] low Å中😀"):
            log(line)
        os.write(2, b"[WARN] not \xff\xfe UTF-8\n")
        os.write(2, b"x" * 200000 + b"\n")
        log("last")

    def empty(self):
        self.patch()

    def stamp(self):
        self.patch({"path": "MSH.8", "value": "names"})

    def work(self):
        while True:
            while self.later:
                self.later.pop(0)()
            message = read_message()
            if "method" in message:
                self.come(message)


COMMANDS = {
    "names/upper": Names.upper,
    "names/kin": Names.kin,
    "names/partly": Names.partly,
    "names/swap": Names.swap,
    "names/fresh": Names.fresh,
    "names/wrong": Names.wrong,
    "names/window": Names.window,
    "names/speak": Names.speak,
    "names/empty": Names.empty,
    "both/stamp": Names.stamp,
}


if __name__ == "__main__":
    try:
        Names().work()
    except EOFError:
        sys.exit(0)
