"""An extension that does what its one argument says, which is a JSON object:

init          the result of initialize (a usual one with the command "go" if it is left out)
initError     answers initialize with this error instead
initText      answers initialize with this body, whatever it is
mute          does not answer initialize
exit          leaves with this code at once; exitAfter: when initialize was answered
before        messages that are sent before initialize is answered
go            what it does for a command: {"name": [messages]}; "exit" in place of a message leaves
asks          what it does when a message comes: {"method": [messages]}
shutdown      "mute", "error", "stay" (answers, but does not leave), "false", "null"
lines         lines for the standard error at the start
dump          a file that gets all bytes of the standard input

What comes in, besides initialize and commands, goes to the standard error as "got JSON".
"""
import json
import os
import signal
import sys

spec = json.loads(sys.argv[1])
source = sys.stdin.buffer
dump = open(spec["dump"], "wb") if "dump" in spec else None
usual = {"name": "guest", "version": "1", "capabilities": {"commands": list(spec.get("go", {"go": []}))}}


def take(data):
    if dump:
        dump.write(data)
        dump.flush()
    return data


def receive():
    length = None
    while True:
        line = take(source.readline())
        if not line:
            return None
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
        if line == b"\r\n":
            return json.loads(take(source.read(length)))


def send_text(text):
    data = text.encode("utf-8", "surrogateescape")
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    sys.stdout.buffer.flush()


def send(message):
    if message == "exit":
        os._exit(3)
    if message == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(message, str):
        if message.startswith("stray "):
            sys.stdout.buffer.write(message.encode() + b"\n")
            sys.stdout.buffer.flush()
        else:
            send_text(message)
        return
    if "times" in message:
        for number in range(message["times"]):
            send(dict(message["message"], id="n-%d" % number))
        return
    if "pad" in message:
        message = dict(message)
        where, size = message.pop("pad")  # so many bytes has the whole of it
        rest = len(json.dumps({"jsonrpc": "2.0", **message}))
        message["params"] = dict(message["params"], **{where: "x" * (size - rest)})
    send_text(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False))


def log(text):
    sys.stderr.buffer.write(text.encode() + b"\n")
    sys.stderr.buffer.flush()


def initialize(message):
    for other in spec.get("before", []):
        send(other)
    if "mute" in spec:
        return
    if "initText" in spec:
        send_text(spec["initText"])
    elif "initError" in spec:
        send({"id": message["id"], "error": spec["initError"]})
    else:
        send({"id": message["id"], "result": spec.get("init", usual)})
    if "exitAfter" in spec:
        os._exit(spec["exitAfter"])


def shutdown(message):
    how = spec.get("shutdown")
    log("got " + json.dumps(message, sort_keys=True))
    if how == "mute":
        return
    if how == "error":
        send({"id": message["id"], "error": {"code": -32000, "message": "no"}})
        return
    if how == "stay":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send({"id": message["id"], "result": {"false": {"success": False}, "null": None}.get(how, {"success": True})})
    while how == "stay":
        signal.pause()


for line in spec.get("lines", []):
    log(line)
if "env" in spec:
    for name in spec["env"]:
        log("env %s=%s" % (name, os.environ.get(name, "(none)")))
    log("cwd " + os.getcwd())
if "exit" in spec:
    sys.exit(spec["exit"])
while True:
    message = receive()
    if message is None:
        if spec.get("shutdown") in ("mute", "error"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                signal.pause()
        sys.exit(0)
    method = message.get("method")
    if method == "initialize":
        initialize(message)
    elif method == "shutdown":
        shutdown(message)
    elif method == "command/execute":
        if "id" in message:
            send({"id": message["id"], "result": {"success": True, "message": "done"}})
        for other in spec["go"][message["params"]["command"]]:
            send(other)
    else:
        log("got " + json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        for other in spec.get("asks", {}).get(method, []):
            send(other)
