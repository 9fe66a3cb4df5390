#!/usr/bin/env python3
"""An editor that starts one extension and talks to it, written from the document and from what is known of the real
program, which has members and methods that the document does not show (seed_host.py knows the document alone).

It reads and writes as the document's samples do, except where those break: lengths are bytes, and
the end of a stream is an end. Its HL7 is a list of lists, enough for the patches of an editor.

Usage: host.py SCENARIO PROGRAM
"""
import json
import os
import queue
import re
import subprocess
import sys
import threading

PATIENCE = 20  # seconds that any wait may take

MESSAGE = "\r".join([
    r"MSH|^~\&|LAB|GENERAL|EHR|CLINIC|202401150830||ORU^R01|MSG00001|P|2.5",
    r"PID|1||12345^^^HOSP^MR||DOE^JOHN^q^^DR~  von-THURN&und&TAXIS^mary ANN^d'ARC||19800229|M",
    r"NK1|1|O'NEIL^ÅSA^ |SPO",
    r"NK1|2|Muñoz^Ana^B|CHD",
    r"OBR|1|||CBC",
    r"OBX|1|NM|WBC||7.2|10*3/uL|4-11|N|||F|||20240115083000+0100",
    r"OBX|2|ST|NOTE||see \T\ below|||||F",
    r"NTE|1||a note of the laboratory",
])


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


# HL7: segments of fields of repetitions of components of subcomponents.

PATH = re.compile(r"^(\w{3})(?:\[(\d+)\])?(?:\.(\d+)(?:\[(\d+)\])?(?:\.(\d+)(?:\.(\d+))?)?)?$")
ESCAPES = {"\\": "\\E\\", "|": "\\F\\", "^": "\\S\\", "&": "\\T\\", "~": "\\R\\"}


def put(text, separator, number, change):
    """The text whose number-th part is what `change` makes of it."""
    parts = text.split(separator)
    parts += [""] * (number - len(parts))
    parts[number - 1] = change(parts[number - 1])
    return separator.join(parts)


def patch_one(lines, patch):
    match = PATH.match(patch["path"])
    if not match:
        return "not a path"
    name = match.group(1)
    index, field, repetition, component, part = (int(n) if n else 0 for n in match.groups()[1:])
    places = [i for i, line in enumerate(lines) if line[:3] == name]
    if not field:
        if patch.get("create"):
            lines.insert(places[-1] + 1 if places else len(lines), name + "|")
            return None
        if patch.get("remove"):
            for place in places[max(index, 1) - 1:max(index, 1)]:
                del lines[place]
            return None
        return "a field is missing"
    if max(index, 1) > len(places):
        return "Segment %s not found" % name
    place = places[max(index, 1) - 1]
    value = "".join(ESCAPES.get(c, c) for c in patch.get("value") or "")

    def in_component(text):
        return put(text, "&", part, lambda _: value) if part else value

    def in_repetition(text):
        return put(text, "^", component, in_component) if component else value

    def in_field(text):
        return put(text, "~", max(repetition, 1), in_repetition) if repetition or component else value

    lines[place] = put(lines[place], "|", field + (0 if name == "MSH" else 1), in_field)
    return None


class Host:
    """Both sides number their requests for themselves; every answer is found by its id."""

    def __init__(self, program):
        self.lines = MESSAGE.split("\r")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.messages = queue.Queue()
        self.log = queue.Queue()
        self.logged = []
        self.last_id = 0
        self.waiting = []  # requests of the extension that came while something else was awaited
        for reader in (self.read_messages, self.read_log):
            threading.Thread(target=reader, daemon=True).start()

    # Transport

    def read_messages(self):
        stream = self.process.stdout
        while True:
            header = b""
            while not header.endswith(b"\r\n\r\n"):
                byte = stream.read(1)
                if not byte:
                    self.messages.put(("end", header))
                    return
                header += byte
            match = re.fullmatch(rb"Content-Length: ([1-9][0-9]*)\r\n\r\n", header)
            if not match:
                self.messages.put(("bad", header))
                return
            content = stream.read(int(match.group(1)))
            self.messages.put(("message", json.loads(content.decode("utf-8"))))

    def read_log(self):
        for line in self.process.stderr:
            self.log.put(line.decode("utf-8").rstrip("\n"))
        self.log.put(None)

    def write(self, message):
        content = json.dumps(dict({"jsonrpc": "2.0"}, **message), ensure_ascii=False).encode("utf-8")
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def next_message(self):
        try:
            kind, message = self.messages.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failure("nothing came") from None
        expect(kind == "message", "%s instead of a message: %r" % (kind, message))
        expect(message.get("jsonrpc") == "2.0", "no version in %r" % message)
        return message

    def logs(self, part):
        """Waits for a line of the log that has this in it."""
        while True:
            for line in self.logged:
                if part in line:
                    return line
            try:
                line = self.log.get(timeout=PATIENCE)
            except queue.Empty:
                line = None
            expect(line is not None, "the log never says %r, only %r" % (part, self.logged))
            self.logged.append(line)

    # Messages

    def call(self, method, params):
        self.last_id += 1
        self.write({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.next_message()
            if "result" in message or "error" in message:
                expect(message.get("id") == self.last_id, "an answer to something else: %r" % message)
                return message
            self.waiting.append(message)

    def notify(self, method, params):
        self.write({"method": method, "params": params})

    def asked(self, method):
        """The next request of the extension, which must be this."""
        message = self.waiting.pop(0) if self.waiting else self.next_message()
        expect("id" in message and message.get("method") == method,
               "%s was expected, %r came" % (method, message))
        return message

    def answer(self, request, result):
        self.write({"id": request["id"], "result": result})

    def serve_get(self):
        request = self.asked("editor/getMessage")
        expect(request["params"] == {"format": "hl7"}, "asks for %r" % request["params"])
        self.answer(request, {"message": "\r".join(self.lines)})

    def set(self, request):
        expect(request["params"]["format"] == "hl7", "sets %r" % request["params"])
        self.lines = request["params"]["message"].split("\r")
        self.answer(request, {"success": True})

    def patch(self, request):
        errors = []
        patches = request["params"]["patches"]
        for index, patch in enumerate(patches):
            why = patch_one(self.lines, patch)
            if why:
                errors.append({"index": index, "path": patch["path"], "message": why})
        result = {"success": not errors, "patchesApplied": len(patches) - len(errors)}
        if errors:
            result["errors"] = errors
        return result

    def line(self, name, number=1):
        return [line for line in self.lines if line[:3] == name][number - 1]

    # Life

    def start(self, data="/tmp/daten-Å中😀"):
        answer = self.call("initialize", {"hermesVersion": "0.1.0", "apiVersion": "1.0",
                                          "dataDirectory": data})
        result = answer["result"]
        expect(result["name"] and result["version"], "no name or version")
        return result

    def leave(self):
        """It is idle, says yes, says nothing more, and goes by itself."""
        expect(not self.waiting, "these were not expected: %r" % self.waiting)
        expect(self.call("shutdown", {"reason": "closing"})["result"] == {"success": True},
               "shutdown did not succeed")
        kind, message = self.messages.get(timeout=PATIENCE)
        expect((kind, message) == ("end", b""), "after shutdown came %s %r" % (kind, message))
        expect(self.process.wait(timeout=PATIENCE) == 0, "it left with %d" % self.process.returncode)

    def cut_off(self):
        """As the real editor quits: the pipe just ends."""
        self.process.stdin.close()
        expect(self.process.wait(timeout=PATIENCE) == 0, "it left with %d" % self.process.returncode)


def normalise(host):
    facts = host.start()
    expect(facts["capabilities"]["commands"] == ["names/normalise"], "its commands are %r" % facts)
    button = facts["toolbarButtons"][0]
    expect(button["command"] == "names/normalise" and "<svg" in button["icon"], "its button: %r" % button)
    before = list(host.lines)
    host.notify("command/execute", {"command": "names/normalise"})
    host.serve_get()
    request = host.asked("editor/patchMessage")
    got = {patch["path"]: patch["value"] for patch in request["params"]["patches"]}
    wanted = {"PID.5.1": "Doe", "PID.5.2": "John", "PID.5.3": "Q", "PID.5[2].1.1": "Von-Thurn",
              "PID.5[2].1.2": "Und", "PID.5[2].1.3": "Taxis", "PID.5[2].2": "Mary Ann",
              "PID.5[2].3": "D'Arc", "NK1.2.1": "O'Neil", "NK1.2.2": "Åsa", "NK1.2.3": ""}
    expect(got == wanted, "patched %r" % got)
    host.answer(request, host.patch(request))
    host.logs("[INFO] %d names normalised" % len(wanted))
    expect(host.line("PID") == r"PID|1||12345^^^HOSP^MR||Doe^John^Q^^DR~Von-Thurn&Und&Taxis^Mary Ann^D'Arc||19800229|M",
           "PID is %s" % host.line("PID"))
    expect(host.line("NK1") == "NK1|1|O'Neil^Åsa^|SPO", "NK1 is %s" % host.line("NK1"))
    changed = [i for i in range(len(before)) if before[i] != host.lines[i]]
    expect(changed == [1, 2], "these lines changed: %r" % changed)

    # What is right already is left alone: one question, no patch.
    host.notify("command/execute", {"command": "names/normalise"})
    host.serve_get()
    host.logs("[INFO] all names are normalised already")

    # Nothing open; an answer without what was asked for; an error; a patch that fails.
    for result, said in (({"message": ""}, "there is no message to work on"),
                         ({"text": "MSH"}, "invalid response"), (None, "invalid response")):
        host.notify("command/execute", {"command": "names/normalise"})
        host.answer(host.asked("editor/getMessage"), result)
        host.logs(said)
    host.notify("command/execute", {"command": "names/normalise"})
    host.write({"id": host.asked("editor/getMessage")["id"],
                "error": {"code": -32003, "message": "No message open"}})
    host.logs("[ERROR] editor/getMessage: No message open (-32003)")
    host.lines = before
    host.notify("command/execute", {"command": "names/normalise"})
    host.serve_get()
    request = host.asked("editor/patchMessage")
    host.answer(request, {"success": False, "patchesApplied": 0, "errors": [
        {"index": 0, "path": "PID.5.1", "message": "read only"}]})
    host.logs("[ERROR] editor/patchMessage: PID.5.1: read only")

    # As it was before commands were notifications: the answer comes, the work goes on.
    expect(host.call("command/execute", {"command": "names/normalise"})["result"] == {"success": True},
           "a command that is a request")
    host.serve_get()
    host.asked("editor/patchMessage")
    host.notify("command/execute", {"command": "names/unknown"})
    host.logs("names/unknown")
    expect("error" in host.call("no/such", {}), "an unknown request")
    host.leave()


def validate(host):
    facts = host.start()
    expect(facts["capabilities"]["events"] == [{"name": "message/changed", "options": {
        "includeContent": True, "format": "hl7"}}], "its events are %r" % facts)

    def changed(message, **more):
        host.notify("message/changed", dict({"hasFile": False, "message": message, "format": "hl7"}, **more))

    def now(kind, parts):
        host.notify("command/execute", {"command": "validate/now"})
        host.serve_get()
        request = host.asked("ui/showMessage")
        expect(request["params"]["kind"] == kind, "shows %r" % request["params"])
        for part in parts:
            expect(part in request["params"]["message"], "%r is not in %r" % (part, request["params"]))
        host.answer(request, {"acknowledged": True})

    now("info", ["No problems found."])
    expect(not [line for line in host.logged if "[WARN]" in line or "[ERROR]" in line], "it found something")
    good = list(host.lines)
    bad = {"MSH.9": "ORU^R01", "MSH.10": "MSG00001", "MSH.12": "2.5", "PID.3": "12345^^^HOSP^MR"}
    for path, text in bad.items():
        changed("\r".join(good).replace(text, "", 1))
        host.logs("[ERROR] %s: must not be empty" % path)
    changed("\r".join(good).replace("|NM|WBC", "||WBC"), filePath="/tmp/Å.hl7")
    host.logs("[ERROR] OBX[1].2: a value without a value type")
    changed("\r".join(good).replace("|ST|NOTE", "|XX|NOTE"))
    host.logs("[ERROR] OBX[2].2: unknown value type")
    changed("\r".join(good).replace("20240115083000+0100", "20240115083000+1"))
    host.logs("[WARN] OBX[1].14: not a valid date")
    host.logged.clear()
    for date, fits in (("1980", 1), ("198002", 1), ("19800229", 1), ("198002292359", 1),
                       ("19800229235959", 1), ("19800229235959.1234-0500", 1), ("1980+0100", 1), ('""', 1),
                       ("19810229", 0), ("198013", 0), ("198", 0), ("1980022924", 0), ("198002291060", 0),
                       ("19800229235960", 0), ("19800229235959.", 0), ("1980-02-29", 0), ("29.02.1980", 0),
                       ("1980+2500", 0), ("19800229x", 0), ("1980ä", 0)):
        host.logged.clear()
        changed("\r".join(good).replace("19800229", date))
        host.notify("command/execute", {"command": "no/" + date})
        host.logs("no/" + date)
        found = any("[WARN] PID.7: not a valid date" in line for line in host.logged)
        expect(found != bool(fits), "the date %s: %r" % (date, host.logged))
    host.lines = [good[0].replace("ORU^R01", ""), good[1].replace("19800229", "yesterday")]
    now("error", ["MSH.9: must not be empty", "PID.7: not a valid date"])
    host.lines = [good[0], good[1].replace("19800229", "yesterday")]
    now("warning", ["PID.7: not a valid date"])
    changed("PID|1")
    host.logs("[ERROR] message: ")
    host.notify("message/changed", {"hasFile": False})  # without what was asked for
    host.notify("message/changed", {})
    host.notify("message/opened", {"isNew": True})
    host.leave()


def window(host):
    host.start()
    # Both are asked at once. The window is closed while the first note is held back.
    host.notify("command/execute", {"command": "window/open"})
    host.serve_get()
    opening = host.asked("ui/openWindow")
    held = host.asked("editor/setMessage")
    expect(opening["params"]["url"].startswith("https://"), "opens %r" % opening)
    host.answer(opening, {"windowId": "fenster-Å"})
    host.logs("fenster-Å is open")
    host.notify("window/closed", {"windowId": "fenster-Å", "reason": "user"})
    host.logs("[INFO] fenster-Å closed: user (notes pending: 1)")
    expect(not any("the note was written" in line for line in host.logged), "the first note was not answered yet")
    host.set(held)
    host.logs("[INFO] the note was written after the window was closed")
    host.serve_get()
    second = host.asked("editor/setMessage")
    expect(second["id"] != held["id"], "an id twice")
    host.set(second)
    host.logs("[INFO] noted: closed: user")
    expect(host.line("NTE", 1) == "NTE|1||a note of the laboratory", "the other note was lost")
    expect(host.line("NTE", 2) == "NTE|||closed: user", "the note is %r" % host.line("NTE", 2))
    expect(re.match(r"ZWN\|\d{14}\+0000$", host.line("ZWN")), "ZWN is %r" % host.line("ZWN"))
    # The usual order.
    host.logged.clear()
    host.notify("command/execute", {"command": "window/open"})
    host.serve_get()
    opening = host.asked("ui/openWindow")
    host.set(host.asked("editor/setMessage"))
    host.logs("[INFO] the note was written while the window is open")
    host.write({"id": opening["id"], "error": {"code": -32008, "message": "no display"}})
    host.logs("[ERROR] ui/openWindow: no display (-32008)")
    host.notify("window/closed", {"windowId": "another"})
    host.logs("closed: unknown")
    host.serve_get()
    host.set(host.asked("editor/setMessage"))
    host.logs("[INFO] noted: closed: unknown")
    expect(host.line("NTE", 3) == "NTE|||closed: unknown", "the note is %r" % host.line("NTE", 3))
    host.notify("window/closed", {"windowId": "a", "reason": "shutdown"})
    host.logs("closed: shutdown")
    host.leave()


def quit_early(host):
    host.start()
    host.cut_off()


def main():
    scenarios = {"normalise": normalise, "validate": validate, "window": window, "quit": quit_early}
    scenario, program = sys.argv[1:]
    host = Host(program)
    try:
        scenarios[scenario](host)
    except (Failure, subprocess.TimeoutExpired, BrokenPipeError) as failure:
        print("%s: %s" % (os.path.basename(program), failure))
        return 1
    finally:
        host.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
