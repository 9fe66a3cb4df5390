"""A plugin of Reginald for check-reginald.sh. What its file is called says what it is; what it gets is written to the
file in TRACE, one JSON text per line, after its own name."""
import json
import os
import signal
import sys
import threading

NAME = os.path.basename(sys.argv[0]).removeprefix("reginald-")
INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer
LOCK = threading.Lock()


def raw(data):
    with LOCK:
        OUTPUT.write(data)
        OUTPUT.flush()


def send(**message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def log(level, msg, **fields):
    send(method="log", params={"level": level, "msg": msg, **({"fields": fields} if fields else {})})


def trace(what, more=None):
    with LOCK, open(os.environ["TRACE"], "a", encoding="utf-8") as file:
        file.write(f"{NAME} {what} {json.dumps(more)}\n")


def read():
    length = None
    while (line := INPUT.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(INPUT.read(length)) if length else None


def entry(key, value, **more):
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"
    return {"key": key, "value": value, "type": kind, **more}


OFFERS = {
    "example": {
        "version": "0.1.0",
        "configs": [entry("greeting", "hello", flag={"name": "greeting", "shorthand": "g", "usage": "what it says"}),
                    entry("depth", 3, envOverride="EXAMPLE_HOW_DEEP")],
        "commands": [
            {"name": "sleep", "usage": "sleep [options]", "configs": [
                entry("time", 5, flag={"shorthand": "t", "usage": "time to sleep"}),
                entry("be-loud", False, flag={"usage": "say \x1b[31mso"}),
                entry("only", "x", flag={}, flagOnly=True),
                entry("secret", "s")]},
            {"name": "fail", "usage": "fails"}, {"name": "refuse", "usage": "refuses to be set up"},
            {"name": "die", "usage": "dies"}, {"name": "rant", "usage": "breaks the protocol"},
            {"name": "mute", "usage": "is never set up"},
            {"name": "wait", "usage": "waits for ever"}, {"name": "say", "usage": "logs"}],
        "tasks": [{"type": "mark", "configs": [entry("ms", 0), entry("fail", False)]},
                  {"type": "dry", "configs": [entry("dry-run", False)]}, {"type": "kill"}],
    },
    "broken": {},
    "silent": {},
    "odd": {"version": "1", "name": "\x1b]0;odd\x07", "commands": [{"name": "plugins", "usage": ""}]},
    "stays": {"version": "2", "commands": [{"name": "stay", "usage": "ignores the end"}]},
}


def say():
    log("TRACE", "a trace")
    log("debug", "a debug line")
    log("INFO", "an \x1b[31mescape", path="/a b", n=3, word="x")
    log("INFO+2", "between")
    log("Warn", "a warning")
    log("ERROR", "an error")
    print("on stderr\x1b[2J", file=sys.stderr, flush=True)


def run_command(number, name):
    if name == "say":
        say()
    if name == "fail":
        send(id=number, error={"code": -32000, "message": "it went wrong \x1b[1m"})
    elif name == "die":
        os._exit(7)
    elif name == "rant":
        for _ in range(9):
            send(jsonrpc="1.0", method="log", params={"level": "INFO", "msg": "x"})
    elif name not in ("wait", "stay"):
        send(id=number, result={})


def run_task(number, params):
    values = {one["key"]: one["value"] for one in params.get("config", [])}
    if params["type"] == "kill":
        os._exit(9)
    trace("begin", values.get("name"))

    def end():
        trace("end", values.get("name"))
        if values.get("fail"):
            send(id=number, error={"code": -32603, "message": "the task failed"})
        else:
            send(id=number, result={})

    threading.Timer(values.get("ms", 0) / 1000, end).start()


def answer(message):
    number, method, params = message.get("id"), message["method"], message.get("params") or {}
    trace(method, params)
    if method == "handshake":
        if NAME == "silent":
            return
        send(id=number, result={"protocol": "rpp", "protocolVersion": 0, "name": NAME, **OFFERS[NAME]})
    elif method == "exit":
        if NAME == "stays":
            threading.Event().wait()
        os._exit(0)
    elif method == "setupCommand" and params["name"] == "refuse":
        send(id=number, error={"code": -32602, "message": "no"})
    elif method == "setupCommand" and params["name"] == "mute":
        pass
    elif method == "validateTask" and any(one["key"] == "bad" for one in params.get("config", [])):
        send(id=number, error={"code": -32050, "message": "bad is bad"})
    elif method == "runCommand":
        run_command(number, params["name"])
    elif method == "runTask":
        run_task(number, params)
    else:
        send(id=number, result=None if method == "shutdown" else {})


trace("pid", os.getpid())
if NAME == "broken":
    sys.exit("it is broken")
if NAME == "stays":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while (one := read()) is not None:
    answer(one)
sys.exit(1)
