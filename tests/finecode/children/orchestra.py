"""A runner whose handlers do what their configuration says, for the tests of runs.

Started as `orchestra.py [--tcp] start --project-path=DIR --env-name=ENV`. What a handler's `config` may hold:

  items      a list: the handler's result is {"items": items}; results are merged by joining the lists
  bare       a list, given as what the answer to a run holds, instead of what the handlers gave
  partials   a list of lists: each is sent as a partial result, with `pause` seconds before each
  plain      true: partial results are sent bare, not by format
  progress   true: begin, report and end are told
  error      a text: the handler fails with it
  cancels    true: it gives up by itself
  stops      true: nothing after it runs
  sleep      seconds; ends early if the request is cancelled
  deaf       true: does not notice that it was cancelled
  asks       a list of [METHOD, PARAMS]: asked at the manager; each answer is one item more, as JSON text
  deep       the canonical source of an action to be run in the project, one level deeper
  dies       true: the process ends
  code       the return code
  answer     the whole result of the request, instead of everything

Every handler that runs appends its name to DIR/ran.
"""
import json
import os
import socket
import sys
import threading
import time

OPTIONS = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
PROJECT = OPTIONS["project-path"]
ENV = OPTIONS["env-name"]
REAL = "--tcp" in sys.argv


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Stopped(Exception):
    pass


class Failed(Exception):
    pass


class Talk:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.lock = threading.Lock()
        self.cancelled = {}
        self.waiting = {}
        self.last = 0
        self.parts = {}

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        head = "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body)
        with self.lock:
            try:
                self.writer.write(head.encode() + body)
                self.writer.flush()
            except OSError:
                os._exit(0)

    def read(self):
        length = 0
        while True:
            line = self.reader.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.reader.read(length))

    def ask(self, job, method, params):
        with self.lock:
            self.last += 1
            number = self.last
        answer = {}
        done = threading.Event()
        self.waiting[number] = (answer, done)
        self.send({"id": number, "method": method, "params": params})
        while not done.wait(0.01):
            if job.is_cancelled() and not job.deaf:
                self.send({"method": "$/cancelRequest", "params": {"id": number}})
                done.wait(5)
                break
        return answer


class Job:
    def __init__(self, talk, params, event):
        self.talk = talk
        self.params = params
        self.event = event
        self.options = params.get("options") or {}
        self.token = self.options.get("partialResultToken")
        self.formats = self.options.get("resultFormats", ["json"])
        self.streamed = False
        self.deaf = False
        self.code = 0

    def is_cancelled(self):
        return self.event.is_set()

    def sleep(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.is_cancelled() and not self.deaf:
                raise Refused(-32800, "Request cancelled")
            time.sleep(0.005)

    def tell(self, token, value):
        self.talk.send({"method": "$/progress", "params": {"token": token, "value": json.dumps(value)}})

    def partial(self, items, plain):
        result = {"items": items}
        if self.token is not None:
            self.tell(self.token, result if plain else formatted(result, self.formats or ["json"]))
            self.streamed = True

    def asked(self, config, items):
        for method, params in config.get("asks", []):
            answer = self.talk.ask(self, method, params)
            items.append(json.dumps(answer, sort_keys=True))
        if "deep" in config:
            meta = dict(self.options["meta"])
            answer = self.talk.ask(self, "finecode/runActionInProject",
                                   {"actionSource": config["deep"], "payload": {}, "meta": meta})
            items.append(json.dumps(answer, sort_keys=True))
        if self.is_cancelled() and not self.deaf:
            raise Refused(-32800, "Request cancelled")

    def handle(self, name, config):
        with open(PROJECT + "/ran", "a", encoding="utf-8") as file:
            file.write(name + "\n")
        self.deaf = config.get("deaf", False)
        token = self.options.get("progressToken")
        if config.get("progress") and token is not None:
            self.tell(token, {"type": "begin", "title": name, "percentage": 0, "total": 2})
            self.tell(token, {"type": "report", "message": "half", "percentage": 50})
            self.tell(token, {"type": "end", "message": None})
        items = list(config.get("items", []))
        for part in config.get("partials", []):
            self.sleep(config.get("pause", 0))
            self.partial(part, config.get("plain", False))
            items += part
        self.sleep(config.get("sleep", 0))
        self.asked(config, items)
        if config.get("dies"):
            os._exit(3)
        if "error" in config:
            raise Failed(config["error"])
        if config.get("cancels"):
            raise Refused(-32800, "handler gave up")
        self.code = max(self.code, config.get("code", 0))
        return items

    def run(self, names):
        action = ACTIONS.get(self.params["actionName"])
        if action is None:
            return {"error": "Action %s not found" % self.params["actionName"]}
        handlers = {handler["name"]: handler["config"] for handler in action["handlers"]}
        items = list((self.params.get("previousResult") or {}).get("items", []))
        seen = (self.params.get("previousContext") or {}).get("seen", 0)
        status = "success"
        chosen = list(handlers) if names is None else names
        for name in chosen:
            config = handlers[name]
            if "answer" in config:
                return config["answer"]
            items += self.handle(name, config)
            seen += 1
            if config.get("stops"):
                status = "stopped"
                break
        result = {"items": items}
        if self.params.get("params"):
            result["payload"] = self.params["params"]
        return self.answer(names, status, result, seen)

    def answer(self, names, status, result, seen):
        by_format = formatted(result, self.formats)
        if self.streamed and not REAL:
            status, by_format = "streamed", {}
        if names is not None:
            answer = {"status": status, "result": result, "resultByFormat": by_format, "returnCode": self.code}
            return {**answer, "context": {"seen": seen}} if REAL else answer
        if REAL:
            return {"status": status, "resultByFormat": by_format, "returnCode": self.code}
        return {"status": status, "result_by_format": json.dumps(by_format), "return_code": self.code}


ACTIONS = {}


def formatted(result, formats):
    texts = {"json": result, "string": "\n".join(str(item) for item in result["items"])}
    return {name: texts[name] for name in formats}


def update(params):
    ACTIONS.clear()
    ACTIONS.update({action["name"]: action for action in params["config"]["actions"]})
    return {}


def meta_of(action):
    about = action["config"]
    entry = {"canonical_source": about.get("canonical", action["source"]),
             "runs_concurrently": about.get("concurrent", False)}
    if REAL:
        entry.update({"scope": about.get("scope", "project"), "parentActionSource": about.get("parent"),
                      "language": about.get("language"), "fileLoc": None})
    return entry


def meta():
    actions = {action["source"]: meta_of(action) for action in ACTIONS.values()
               if ENV in action["config"].get("importable", [ENV])}
    return {"actions": actions, "handlerLocations": {}} if REAL else actions


def resolve(params):
    for action in ACTIONS.values():
        if params["source"] in action["config"].get("aliases", []):
            return {"canonicalSource": action["config"].get("canonical", action["source"])}
    raise Refused(-32603, "Cannot resolve source '%s'" % params["source"])


def merge(params):
    if any(ACTIONS[params["actionName"]]["config"].get("unmergeable", []) for _ in [0]):
        return {"error": "these cannot be merged"}
    return {"merged": {"items": [item for result in params["results"] if result for item in result["items"]]}}


def serve(talk, method, params, event):
    params = params or {}
    if method == "initialize":
        return {"capabilities": {}}
    if method == "finecodeRunner/updateConfig":
        return update(params)
    if method == "finecodeRunner/resolveActionMeta":
        return meta()
    if method == "finecodeRunner/getInfo":
        return {"logFilePath": None}
    if method in ("finecodeRunner/updateLogging", "actions/reload"):
        return {}
    if method == "actions/resolveSource":
        return resolve(params)
    if method == "packages/resolvePath":
        path = os.path.join(os.path.dirname(PROJECT), params["packageName"])
        if not os.path.isdir(path):
            raise Refused(-32603, "Cannot find package " + params["packageName"])
        return {"packagePath": path}
    if method == "actions/getPayloadSchemas":
        return {name: {"properties": {}, "required": []} if ENV in action["config"].get("importable", [ENV]) else None
                for name, action in ACTIONS.items()}
    if method == "actions/mergeResults":
        return merge(params)
    if method == "actions/run":
        return Job(talk, params, event).run(None)
    if method == "actions/runHandlers":
        return Job(talk, params, event).run(params["handlerNames"])
    if method == "shutdown":
        return None
    raise Refused(-32601, "Method not found: " + method)


def work(talk, message, event):
    try:
        talk.send({"id": message["id"], "result": serve(talk, message["method"], message.get("params"), event)})
    except Refused as why:
        talk.send({"id": message["id"], "error": {"code": why.code, "message": str(why)}})
    except Failed as why:
        talk.send({"id": message["id"], "result": {"error": str(why)}})
    talk.cancelled.pop(message["id"], None)


def take_progress(talk, params):
    """What comes by a token of ours stands in the file, since the answer holds nothing then."""
    with open(PROJECT + "/progress", "a", encoding="utf-8") as file:
        file.write("%s %s\n" % (json.dumps(params["token"]), params["value"]))


def take(talk, message):
    if "method" not in message:
        answer, done = talk.waiting.pop(message["id"], ({}, threading.Event()))
        answer.update({key: message[key] for key in ("result", "error") if key in message})
        done.set()
    elif "id" in message:
        event = talk.cancelled.setdefault(message["id"], threading.Event())
        if message["method"].startswith("actions/run"):
            threading.Thread(target=work, args=(talk, message, event), daemon=True).start()
        else:
            work(talk, message, event)
    elif message["method"] == "$/cancelRequest":
        event = talk.cancelled.get(message["params"]["id"])
        if event:
            event.set()
    elif message["method"] == "$/progress":
        take_progress(talk, message["params"])
    elif message["method"] == "exit":
        os._exit(0)


def main():
    if REAL:
        place = socket.create_server(("127.0.0.1", 0))
        print("Serving on ('127.0.0.1', %d)" % place.getsockname()[1], flush=True)
        connection, _ = place.accept()
        stream = connection.makefile("rwb", buffering=0)
        talk = Talk(connection.makefile("rb"), stream)
    else:
        talk = Talk(sys.stdin.buffer, sys.stdout.buffer)
    while True:
        message = talk.read()
        if message is None:
            os._exit(0)
        take(talk, message)


main()
