"""A runner of FineCode for check-finecode.sh: runner.py TRACE start --project-path=DIR --env-name=ENV. What it does is
said by its env's name and by the configuration of its handlers; what it gets is written to the file TRACE, a line each:
PROJECT/ENV, the method, the params."""
import json
import os
import signal
import socket
import sys
import threading
import time

TRACE = sys.argv[1]
WORDS = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[2:])
PROJECT, ENV = WORDS["project-path"], WORDS["env-name"]
NAME = f"{os.path.basename(PROJECT)}/{ENV}"
INPUT, OUTPUT = sys.stdin.buffer, sys.stdout.buffer
LOCK = threading.Lock()
ACTIONS, CANCELLED = {}, set()
REAL = ENV.startswith("tcp")


def trace(what, more=None):
    with LOCK, open(TRACE, "a", encoding="utf-8") as file:
        file.write(f"{NAME} {what} {json.dumps(more)}\n")


def send(**message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    head = b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body)
    with LOCK:
        OUTPUT.write(head + body)
        OUTPUT.flush()


def read():
    length = None
    while (line := INPUT.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(INPUT.read(length)) if length else None


def formats(result, options, config):
    """The result in the forms that are wanted."""
    wanted, forms = options.get("resultFormats", ["json"]), {}
    if "json" in wanted:
        forms["json"] = result
    if "string" in wanted and config.get("styled"):
        forms["styled_text_json"] = {"parts": ["plain ", {"text": "red\n", "bold": True, "foreground": "red"}]}
    elif "string" in wanted:
        forms["string"] = config.get("text", "\n".join(result.get("ran", [])))
    return {} if config.get("empty") else forms


def tell(config, options):
    """What a handler says while it works."""
    if "message" in config:
        send(method="er/userMessage", params={"message": config["message"], "type": "WARNING"})
    if "log" in config:
        send(method="er/logRecords", params={"records": [
            {"timestamp": 1.5, "level": config.get("level", "INFO"), "group": "a.b", "message": config["log"]}]})
    if "stderr" in config:
        print(config["stderr"], file=sys.stderr, flush=True)
    if "progress" in config and "progressToken" in options:
        for value in ({"type": "begin", "title": "work", "percentage": 0, "cancellable": False},
                      {"type": "report", "message": config["progress"], "percentage": 50}, {"type": "end"}):
            send(method="$/progress", params={"token": options["progressToken"], "value": json.dumps(value)})
            time.sleep(0.3)


def one(number, handler, result, payload, options):
    """One handler; the part of the result that it makes. None: it has answered, or never will."""
    config = handler["config"]
    trace("handler", [handler["name"], payload])
    tell(config, options)
    if "die" in config:
        os._exit(9)
    for _ in range(config.get("ms", 10**6 if "hang" in config else 0) // 20):
        if number in CANCELLED:
            trace("cancelled", handler["name"])
            send(id=number, error={"code": -32800, "message": "Request cancelled"})
            return None
        time.sleep(0.02)
    trace("ended", handler["name"])
    if "fail" in config:
        send(id=number, result={"error": config["fail"]})
        return None
    if "rpc" in config:
        send(id=number, error={"code": config["rpc"], "message": "no"})
        return None
    part = {"ran": [handler["name"]], "payload": payload, **({"code": config["code"]} if "code" in config else {})}
    if "partialResultToken" in options and config.get("parts"):
        for i in range(config["parts"]):
            value = formats({"ran": [f"{handler['name']}-{i}"]}, {"resultFormats": options.get("resultFormats", ["json"])}, {})
            send(method="$/progress", params={"token": options["partialResultToken"], "value": json.dumps(value)})
    return merge([result, part])


def merge(results):
    merged = {}
    for result in results:
        for key, value in (result or {}).items():
            merged[key] = merged[key] + value if isinstance(value, list) and key in merged else value
    return merged


def run(number, params, names):
    action, options = ACTIONS[params["actionName"]], params.get("options") or {}
    result, last = params.get("previousResult") or {}, {}
    for handler in action["handlers"]:
        if (handler["name"] not in names) if names is not None else handler["env"] != ENV:
            continue
        last = handler["config"]
        result = one(number, handler, result, params.get("params"), options)
        if result is None:
            return
        if last.get("stop"):
            break
    code = result.get("code", 0)
    streamed = "partialResultToken" in options and last.get("parts")
    forms = {} if streamed else formats(result, options, last)
    status = "streamed" if streamed else "stopped" if last.get("stop") else "success"
    if names is not None:
        send(id=number, result={"status": status, "result": result, "resultByFormat": forms, "returnCode": code})
    elif REAL:
        send(id=number, result={"status": status, "resultByFormat": forms, "returnCode": code})
    else:
        send(id=number, result={"status": status, "result_by_format": json.dumps(forms), "return_code": code})


def configure(params):
    ACTIONS.clear()
    ACTIONS.update({action["name"]: action for action in params["config"]["actions"]})


def meta():
    actions = {action["source"]: {"canonical_source": f"canonical.{action['name']}",
                                  "runs_concurrently": bool(action["config"].get("concurrent"))}
               for action in ACTIONS.values()}
    if not REAL:
        return actions
    more = {"scope": "project", "parentActionSource": None, "language": None, "fileLoc": None}
    return {"actions": {key: value | more for key, value in actions.items()}, "handlerLocations": {}}


def answer(message):
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method is None:
        return
    trace(method, params)
    if method == "initialize" and ENV != "silent":
        send(id=number, result={"capabilities": {}, "serverInfo": {"name": "test", "version": "1"}})
    elif method == "finecodeRunner/updateConfig":
        configure(params)
        send(id=number, result={})
    elif method == "finecodeRunner/resolveActionMeta":
        send(id=number, result=meta())
    elif method == "finecodeRunner/getInfo":
        send(id=number, result={"logFilePath": f"/logs/{NAME}"})
    elif method in ("actions/run", "actions/runHandlers"):
        threading.Thread(target=run, args=(number, params, params.get("handlerNames")), daemon=True).start()
    elif method == "actions/mergeResults":
        send(id=number, result={"merged": merge(params["results"])})
    elif method == "$/cancelRequest":
        CANCELLED.add(params["id"])
    elif method == "exit":
        if ENV == "stays":
            threading.Event().wait()
        os._exit(0)
    elif method == "shutdown":
        send(id=number, result=None)
    elif number is not None and ENV != "silent":
        send(id=number, result={})


def listen():
    global INPUT, OUTPUT
    server = socket.create_server(("127.0.0.1", 0))
    print(f"INFO | Serving on ('127.0.0.1', {server.getsockname()[1]})", flush=True)
    stream = server.accept()[0].makefile("rwb")
    INPUT, OUTPUT = stream, stream


trace("pid", os.getpid())
if ENV == "broken":
    sys.exit("it is broken")
if ENV in ("stays", "silent"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if REAL:
    listen()
while (request := read()) is not None:
    answer(request)
