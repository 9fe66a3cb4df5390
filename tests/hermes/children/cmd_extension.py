"""cmd_extension.py [WORD...]: an extension for the tests of duplex hermes.

Each command of its list does what its name says; what it gets to know goes to the standard error.
Words:
  name=TEXT  what it calls itself      hang    does not answer initialize
  events     wants to hear of changes  die     leaves at once, with code 3
  schema     has one                   refuse  answers initialize with an error
  stay       ignores shutdown, the end of its input and SIGTERM
  only=CMD   has only that command         sleep=S  how long cmd/sleep and cmd/late-garbage sleep
  linger     patches after it has answered shutdown, and then leaves
  crash      leaves with code 3 instead of answering shutdown
  sulk       answers shutdown with an error
"""

import json
import os
import signal
import sys
import time

words = sys.argv[1:]
name = next((word[5:] for word in words if word.startswith("name=")), "Cmd")
DIALOGS = {
    "cmd/message": ("ui/showMessage", {"message": "Look \x1b[31mhere", "title": "Title"}),
    "cmd/confirm": ("ui/showConfirm", {"message": "Really?"}),
    "cmd/open-file": ("ui/openFile", {"title": "Which one"}),
    "cmd/open-files": ("ui/openFiles", {"title": "Which ones"}),
    "cmd/save-file": ("ui/saveFile", {"title": "Where to", "defaultName": "out.csv"}),
    "cmd/folder": ("ui/selectDirectory", {"title": "Which folder"}),
}
COMMANDS = [
    "cmd/upper", "cmd/env", "cmd/exit", "cmd/flood", "cmd/slow", "cmd/escape", "cmd/stray", "cmd/window",
    "cmd/window-close", "cmd/file-window", "cmd/dash-window", "cmd/latin", "cmd/encode", "cmd/dialog-and-exit", "cmd/levels", "cmd/sleep", "cmd/garbage", "cmd/late-garbage", "cmd/bad-header", "cmd/bad-length", "cmd/no-id", "cmd/cut", "cmd/same-id", "cmd/append", "cmd/unlink", "cmd/hold", "cmd/hold-upper", *DIALOGS,
]
COMMANDS = [word[5:] for word in words if word.startswith("only=")] or COMMANDS
SECONDS = next((float(word[6:]) for word in words if word.startswith("sleep=")), 1)
next_id = 0
window = None


def log(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


# What the output ends in, by the word that asks for it.
ENDS = {
    "cut-body": b'Content-Length: 300\r\n\r\n{"jsonrpc":"2.0",',
    "cut-head": b"Content-Len",
    "cut-block": b"Content-Length: 20\r\n",
    "text-end": b"Done: 5 fields\n",
}


def leave():
    for word, data in ENDS.items():
        if word in words:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    sys.exit(0)


def receive():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))


def ask(method, params):
    """The answer; what else comes meanwhile is handled."""
    global next_id
    next_id += 1
    own = next_id
    send({"id": own, "method": method, "params": params})
    while True:
        message = receive()
        if message is None:
            sys.exit(0)
        if "method" not in message and message.get("id") == own:
            return message.get("result", message.get("error"))
        handle(message)


def run(command):
    global window
    if command in DIALOGS:
        log("answer " + json.dumps(ask(*DIALOGS[command])))
    elif command == "cmd/upper":
        text = ask("editor/getMessage", {"format": "hl7"})["message"]
        pid = next(line for line in text.replace("\n", "\r").split("\r") if line.startswith("PID"))
        ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": pid.split("|")[5].split("^")[0].upper()}]})
    elif command == "cmd/slow":  # never silent for long, and done late
        for _ in range(8):
            time.sleep(0.1)
            ask("editor/getMessage", {"format": "hl7"})
        ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": "SLOW"}]})
    elif command == "cmd/sleep":  # reads and says nothing meanwhile
        time.sleep(SECONDS)
        ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": "SLEPT"}]})
    elif command in ("cmd/garbage", "cmd/late-garbage"):
        time.sleep(SECONDS if command == "cmd/late-garbage" else 0)
        sys.stdout.buffer.write(b'Content-Length: 17\r\n\r\n{"jsonrpc":"2.0",')
        sys.stdout.buffer.flush()
    elif command == "cmd/cut":  # the rest of it never comes
        body = b'{"jsonrpc":"2.0","id":9,"method":"editor/patchMessage","params":{"patches":[{"path":"PID.5.1","value":"LOST"}]}}'
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % (len(body) + 400) + body)
        sys.stdout.buffer.flush()
    elif command in ("cmd/hold", "cmd/hold-upper"):  # until there is that file
        log("holding")
        while not os.path.exists(os.environ["CMD_FILE"]):
            time.sleep(0.01)
        if command == "cmd/hold-upper":
            run("cmd/upper")
        else:
            ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": "HELD"}]})
    elif command == "cmd/append":  # as another program would
        with open(os.environ["CMD_FILE"], "ab") as file:
            file.write(b"ZZZ|theirs\r")
        log("appended")
    elif command == "cmd/unlink":
        os.unlink(os.environ["CMD_FILE"])
        log("unlinked")
    elif command == "cmd/same-id":  # in one piece: the second comes before the first is answered
        bodies = [b'{"jsonrpc":"2.0","id":"s","method":"editor\\/patchMessage","params":{"patches":[{"path":"PID.5.%d","value":"SAME"}]}}' % part for part in (1, 2)]
        sys.stdout.buffer.write(b"".join(b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies))
        sys.stdout.buffer.flush()
    elif command in ("cmd/bad-header", "cmd/bad-length", "cmd/no-id"):
        head = {"cmd/bad-header": b"Content-Lenght: %d", "cmd/bad-length": b"Content-Length: 0x%x", "cmd/no-id": b"Content-Length: %d"}
        body = {"jsonrpc": "2.0", "method": "editor/patchMessage", "params": {"patches": [{"path": "PID.5.1", "value": "LOST"}]}}
        body = json.dumps(body if command == "cmd/no-id" else {**body, "id": 99}).encode()
        sys.stdout.buffer.write(head[command] % len(body) + b"\r\n\r\n" + body)
        sys.stdout.buffer.flush()
    elif command == "cmd/env":
        log("env " + json.dumps({"cwd": os.getcwd(), **{k: v for k, v in os.environ.items() if k.startswith(("HERMES", "CMD_"))}}))
    elif command == "cmd/exit":
        os._exit(3)
    elif command == "cmd/flood":
        sys.stderr.write("x" * 200 + "\n" + ("flood of lines\n" * 20000))
        sys.stderr.write("y" * 300000 + "\nflooded\n")
        sys.stderr.flush()
    elif command == "cmd/escape":
        log("a \x1b[2J and \x07 in it")
    elif command == "cmd/levels":
        log("[WARN] careful")
        log("error: broken")
    elif command == "cmd/stray":
        sys.stdout.buffer.write(b"printed by mistake\n")
        sys.stdout.buffer.flush()
        ask("editor/getMessage", {"format": "hl7"})
    elif command == "cmd/latin":
        ask("editor/setMessage", {"format": "hl7", "message": "MSH|^~\\&|ä\rPID|1||||Müller^Jörg\r"})
    elif command == "cmd/encode":
        text = ask("editor/getMessage", {"format": "hl7"})["message"]
        log("read " + json.dumps(next(line for line in text.split("\r") if line.startswith("PID"))))
        json_text = ask("editor/getMessage", {"format": "json"})["message"]
        log("json " + json.dumps(json.loads(json_text)["segments"][1]["fields"]["5"]["1"]))
        log("wrote " + json.dumps(ask("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": "Größe"}]})))
        log("patch " + json.dumps(ask("editor/patchMessage", {"patches": [{"path": "PID.5.2", "value": "5 €"}]})))
        for format, message in (("hl7", text), ("json", json_text)):
            log("set " + json.dumps(ask("editor/setMessage", {"format": format, "message": message.replace("Jürg", "€")})))
    elif command == "cmd/window":
        window = ask("ui/openWindow", {"url": "https://example.org/a?b=1&c=$(id);x", "title": "A \x1b[31m page", "width": 300})["windowId"]
    elif command == "cmd/window-close":
        log("closed " + json.dumps(ask("ui/closeWindow", {"windowId": window})))
    elif command == "cmd/file-window":
        log("window " + json.dumps(ask("ui/openWindow", {"url": "file:///etc/passwd", "title": "x"})))
    elif command == "cmd/dash-window":
        log("window " + json.dumps(ask("ui/openWindow", {"url": "--version", "title": "x"})))
    elif command == "cmd/dialog-and-exit":
        send({"id": "d", "method": "ui/showConfirm", "params": {"message": "Never answered?"}})
        time.sleep(0.3)
        os._exit(4)


def initialize():
    result = {"name": name, "version": "1.2", "capabilities": {"commands": COMMANDS}}
    result["toolbarButtons"] = [{"id": "b", "label": "Upper \x1b[1m", "icon": "<svg/>", "command": "cmd/upper"}]
    if "events" in words:
        result["capabilities"]["events"] = [{"name": "message/" + event} for event in ("changed", "opened", "saved")]
    if "schema" in words:
        result["schema"] = {"segments": {"PID": {"fields": [{"field": 5, "note": "the name"}]}}}
    return result


def handle(message):
    method = message.get("method")
    if method == "initialize" and "refuse" in words:
        send({"id": message["id"], "error": {"code": -32000, "message": "not today"}})
    elif method == "initialize" and "hang" not in words:
        send({"id": message["id"], "result": initialize()})
    elif method == "shutdown" and "stay" not in words:
        log("reason " + message["params"]["reason"])
        if "crash" in words:
            os._exit(3)
        if "sulk" in words:
            send({"id": message["id"], "error": {"code": -32000, "message": "no"}})
            return
        if "huge-end" in words:
            sys.stdout.buffer.write(b"Content-Length: 9999999999\r\n\r\n")
        send({"id": message["id"], "result": {"success": True}})
        if "linger" in words:
            send({"id": "l", "method": "editor/patchMessage", "params": {"patches": [{"path": "PID.5.1", "value": "LINGERED"}]}})
        leave()
    elif method == "command/execute":
        run(message["params"]["command"])
        if "id" in message:
            send({"id": message["id"], "result": {"success": True}})
    elif method and method.startswith(("message/", "window/")):
        log("got " + method + " " + json.dumps(message["params"]))


if "die" in words:
    sys.exit(3)
if "stay" in words:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    message = receive()
    if message is None and "stay" in words:
        time.sleep(60)
    if message is None:
        leave()
    handle(message)
