#!/usr/bin/env python3
"""An extension runner written from the WM-ER document of FineCode alone (seed 002): its words and its samples, over stdio.

    seed_runner.py start --project-path=DIR --env-name=ENV

It is strict: a message that the document does not allow ends it with code 9 and a line on the standard error. What a
handler does is the last word of its source, below. With SEED_JOURNAL in the environment, each message that comes is
kept in that file, a line each, behind the env.
"""
import json
import os
import re
import sys
import threading
import time

HEADER = b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
# What can be imported here: configSource, canonical source, runs_concurrently.
CLASSES = {
    "myext.LintAction": ("myext.actions.lint.LintAction", True),
    "myext.FormatAction": ("myext.actions.format.FormatAction", False),
    "myext.NestAction": ("myext.actions.nest.NestAction", False),
    "myext.SlowAction": ("myext.actions.slow.SlowAction", False),
}
SCHEMA = {"properties": {"items": {"type": "array"}}, "required": []}
STATE = {"stage": 0, "config": None, "actions": {}, "handlers": {}, "documents": {}, "raw": None}
WRITING = threading.Lock()
WAITING, RUNNING = {}, {}


class Wrong(Exception):
    """A JSON-RPC error: a failure of the protocol."""


class Failed(Exception):
    """A failure of a command."""


class Stopped(Exception):
    pass


def must(fact, *what):
    if not fact:
        print("seed_runner:", *what, file=sys.stderr, flush=True)
        os._exit(9)


def only(value, needed, more=()):
    must(isinstance(value, dict) and set(needed) <= set(value) <= {*needed, *more}, "members:", value, "needed:", needed)
    return value


def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    with WRITING:
        sys.stdout.buffer.write(HEADER % len(body) + body)
        sys.stdout.buffer.flush()


def read():
    line, size, fields = None, None, set()
    while line != b"\r\n":
        line = sys.stdin.buffer.readline()
        must(line, "the input ended without exit")
        found = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
        size = int(found[1]) if found else size
        fields.add(line.split(b":")[0])
        must(found or line in (b"\r\n", b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"), "header:", line)
    must(len(fields) == 3, "a field is missing:", fields)
    return json.loads(sys.stdin.buffer.read(size))


def ask(method, params):
    """A request to the manager, and its result."""
    with WRITING:
        identity = len(WAITING) + 1
        WAITING[identity] = slot = [threading.Event(), None]
    write({"id": identity, "method": method, "params": params})
    must(slot[0].wait(60), method, "is not answered")
    if "error" in slot[1]:
        raise Failed("%s: %s" % (method, slot[1]["error"]["message"]))
    return slot[1]["result"]


class Run:
    def __init__(self, params, previous):
        options = only(params["options"] or {}, (), ("meta", "partialResultToken", "resultFormats", "walRunId"))
        self.name, self.result, self.cancelled = params["actionName"], previous, threading.Event()
        self.payload = params.get("params") or {}
        self.token, self.streamed = options.get("partialResultToken"), False
        self.formats = options.get("resultFormats", None)
        must(self.token is None or isinstance(self.token, (int, str)), "token:", self.token)
        must(self.formats is None or set(self.formats) <= {"json", "string"}, "formats:", self.formats)
        self.meta = only(options["meta"], ("trigger", "devEnv", "orchestrationDepth"))
        must(self.meta["trigger"] in ("user", "system", "unknown"), self.meta)
        must(self.meta["devEnv"] in ("ide", "cli", "ai", "git_hook", "ci"), self.meta)
        must(isinstance(self.meta["orchestrationDepth"], int), self.meta)
        must(isinstance(options["walRunId"], str), "walRunId:", options)
        if self.name not in STATE["actions"]:
            raise Failed("no action " + self.name)

    def give(self, result):
        """What a handler gives is merged with what there is."""
        self.result = merge([self.result, result])

    def part(self, result):
        self.give(result)
        if self.token is not None:
            self.streamed = True
            write({"method": "$/progress", "params": {"token": self.token, "value": json.dumps(result)}})

    def handle(self, handler):
        act = globals().get("do_" + handler["source"].split(".")[-1])
        if not act:
            raise Failed("cannot import " + handler["source"])
        config = {**STATE["handlers"].get(handler["source"], {}), **handler["config"]}
        self.give(act(self, handler["name"], config))

    def go(self, handlers, by_default):
        """status, formats and return code."""
        status = "success"
        try:
            for handler in handlers:
                self.handle(handler)
        except Stopped:
            status = "stopped"
        if status == "success" and self.streamed:
            return "streamed", {}, code_of(self.result)
        wanted = by_default if self.formats is None else self.formats
        formats = {"json": self.result, "string": "%s: %s" % (self.name, ",".join(self.result["items"]))}
        return status, {key: formats[key] for key in wanted}, code_of(self.result)


def made(*items, bad=False):
    return {"items": list(items), "bad": bad}


def merge(results):
    whole = made()
    for each in results:
        if each:
            only(each, ("items", "bad"))
            whole = made(*whole["items"], *each["items"], bad=whole["bad"] or each["bad"])
    return whole


def code_of(result):
    return 1 if result["bad"] else 0


# Handlers.

def do_say(run, name, config):
    seen = len(run.result["items"]) if run.result else 0
    return made("%s@%s after %d%s" % (name, STATE["env"], seen, config.get("mark", "")))


def do_bad(run, name, config):
    return made(name, bad=True)


def do_parts(run, name, config):
    for number in range(3):
        run.part(made("%s part %d" % (name, number)))


def do_stop(run, name, config):
    run.give(made("stopped", bad=True))
    raise Stopped


def do_fail(run, name, config):
    raise Failed("failed on purpose")


def do_slow(run, name, config):
    must(run.cancelled.wait(60), "not cancelled")
    raise Wrong(-32800, "cancelled")


def do_read(run, name, config):
    text = STATE["documents"].get(config["uri"])
    return made("not open" if text is None else text)


def do_raw(run, name, config):
    return made(STATE["raw"])


def do_edit(run, name, config):
    start = {"line": 0, "character": 0}
    edits = [{"range": {"start": start, "end": start}, "newText": "edited "}]
    return made("applied: %s" % ask("workspace/applyEdit", {"edit": {"changes": {config["uri"]: edits}}})["applied"])


def do_nest(run, name, config):
    result = ask("finecode/runActionInProject", {"actionSource": config["actionSource"], "payload": {}, "meta": run.meta})
    only(result, ("result", "returnCode"))
    return made(*result["result"]["items"], bad=result["returnCode"] == 1)


def do_spread(run, name, config):
    paths = {} if "concurrently" not in config else {"concurrently": config["concurrently"]}
    result = ask("finecode/runActionInWorkspace", {"actionSource": config["actionSource"], "payload": {}, "meta": run.meta,
                                                   "projectPaths": config.get("projectPaths"), **paths})
    results = only(result, ("resultsByProject",))["resultsByProject"]
    return made(*["%s: %s" % (os.path.basename(path), ",".join(results[path]["items"])) for path in sorted(results)])


# Requests.

def on_initialize(params):
    only(params, ("processId", "clientInfo", "capabilities", "workspaceFolders", "trace"))
    must(params["clientInfo"] == {"name": "FineCode_WorkspaceManager", "version": "0.1.0"}, params)
    folder, = params["workspaceFolders"]
    must(only(folder, ("uri", "name"))["uri"] == "file://" + STATE["project"], folder)
    must(params["capabilities"] == {} and params["trace"] == "verbose", params)
    return {"capabilities": {}}


def on_shutdown(params):
    must(params is None, "shutdown has params:", params)


def on_finecodeRunner_updateConfig(params):
    only(params, ("workingDir", "projectName", "projectDefPath", "config"))
    config = only(params["config"], ("actions", "action_handler_configs"), ("services", "handlers_to_initialize"))
    for action in config["actions"]:
        only(action, ("name", "handlers", "source", "config"))
    STATE["handlers"] = config["action_handler_configs"]
    STATE["actions"] = {each["name"]: each for each in config["actions"]}
    answer = only(ask("projects/getRawConfig", {"projectDefPath": params["projectDefPath"]}), ("config",))
    STATE["raw"] = ",".join(sorted(json.loads(answer["config"])["tool"]["finecode"]["action"]))
    return {}


def on_finecodeRunner_getInfo(params):
    must(params == {}, "getInfo:", params)
    return {"logFilePath": None}


def on_finecodeRunner_resolveActionMeta(params):
    must(params in (None, {}), "resolveActionMeta:", params)
    sources = [each["source"] for each in STATE["actions"].values() if each["source"] in CLASSES]
    return {each: {"canonical_source": CLASSES[each][0], "runs_concurrently": CLASSES[each][1]} for each in sources}


def on_actions_run(params, identity):
    only(params, ("actionName", "params", "options"))
    RUNNING[identity] = run = Run(params, None)
    envs = {each["env"] for each in STATE["actions"][run.name]["handlers"]}
    must(envs == {STATE["env"]}, "actions/run of handlers in", envs)
    status, formats, code = run.go(STATE["actions"][run.name]["handlers"], ["json"])
    return {"status": status, "result_by_format": json.dumps(formats), "return_code": code}


def on_actions_runHandlers(params, identity):
    only(params, ("actionName", "handlerNames", "previousResult", "options"))
    previous = params["previousResult"]
    RUNNING[identity] = run = Run(params, merge([previous]) if previous else None)
    handlers = {each["name"]: each for each in STATE["actions"][run.name]["handlers"]}
    must(params["handlerNames"], "no handlers to run")
    for name in params["handlerNames"]:
        must(handlers[name]["env"] == STATE["env"], name, "is not of this env")
    status, formats, code = run.go([handlers[name] for name in params["handlerNames"]], [])
    return {"status": status, "result": run.result, "resultByFormat": formats, "returnCode": code}


def on_actions_getPayloadSchemas(params):
    must(params == {}, "getPayloadSchemas:", params)
    return {name: SCHEMA if each["source"] in CLASSES else None for name, each in STATE["actions"].items()}


def on_actions_mergeResults(params):
    only(params, ("actionName", "results"))
    must(params["actionName"] in STATE["actions"] and isinstance(params["results"], list), params)
    return {"merged": merge(params["results"])}


def on_actions_reload(params):
    must(only(params, ("actionName",))["actionName"] in STATE["actions"], params)
    return {}


def on_actions_resolveSource(params):
    alias = only(params, ("source",))["source"]
    for canonical, _ in CLASSES.values():
        if alias.split(".")[-1] == canonical.split(".")[-1] and alias.split(".")[0] == "myext":
            return {"canonicalSource": canonical}
    raise Wrong(-32603, "cannot import " + alias)


def on_packages_resolvePath(params):
    must(only(params, ("packageName",))["packageName"] == "preset_ext", params)
    return {"packagePath": os.path.join(STATE["project"], "preset_ext")}


def answer(message):
    identity, method = message["id"], message["method"]
    act = globals().get("on_" + method.replace("/", "_"))
    must(act, "no such method:", method)
    try:
        result = act(message.get("params"), identity) if method.startswith("actions/run") else act(message.get("params"))
        write({"id": identity, "result": result})
    except Failed as wrong:
        write({"id": identity, "result": {"error": str(wrong)}})
    except Wrong as wrong:
        write({"id": identity, "error": {"code": wrong.args[0], "message": wrong.args[1]}})
    except Exception as wrong:
        must(False, "%s: %s" % (type(wrong).__name__, wrong), "in", message)
    if method == "actions/run" or method == "actions/runHandlers":
        RUNNING.pop(identity, None)


def note(method, params):
    documents = STATE["documents"]
    if method == "textDocument/didOpen":
        document = params["textDocument"]
        must(document["uri"] not in documents, "opened twice:", document)
        documents[document["uri"]] = document["text"]
    elif method == "textDocument/didChange":
        for change in params["contentChanges"]:
            text = documents[params["textDocument"]["uri"]]
            if "range" in change:
                start, end = (change["range"][key]["character"] for key in ("start", "end"))
                change = {"text": text[:start] + change["text"] + text[end:]}
            documents[params["textDocument"]["uri"]] = change["text"]
    elif method == "textDocument/didClose":
        documents.pop(params["textDocument"]["uri"])
    elif method == "$/cancelRequest":
        if params["id"] in RUNNING:
            RUNNING[params["id"]].cancelled.set()
    else:
        must(method == "initialized", "no such notification:", method)


# The order of the lifecycle: what must have come before the others.
STAGES = ["initialize", "initialized", "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta"]
EARLY = ("finecodeRunner/getInfo", "packages/resolvePath", "shutdown")


def main():
    must(sys.argv[1] == "start", sys.argv)
    given = dict(word[2:].split("=", 1) for word in sys.argv[2:] if "=" in word)
    STATE["project"], STATE["env"] = given["project-path"], given["env-name"]
    journal = os.environ.get("SEED_JOURNAL")
    time.sleep(float(os.environ.get("SEED_DELAY", "0")))
    while True:
        message = read()
        must(message["jsonrpc"] == "2.0", message)
        if journal:
            with open(journal, "a", encoding="utf-8") as file:
                file.write(json.dumps([STATE["env"], message]) + "\n")
        if "method" not in message:
            must(message["id"] in WAITING and ("result" in message) != ("error" in message), message)
            WAITING[message["id"]][1] = message
            WAITING[message["id"]][0].set()
            continue
        method = message["method"]
        if method == "exit":
            must(STATE["stage"] == len(STAGES) + 1, "exit without shutdown")
            os._exit(0)
        if method in STAGES:
            must(STAGES.index(method) <= STATE["stage"], method, "at stage", STATE["stage"])
            STATE["stage"] = max(STATE["stage"], STAGES.index(method) + 1)
        elif method == "shutdown":
            STATE["stage"] = len(STAGES) + 1
        else:
            must(STATE["stage"] >= len(STAGES) or method in EARLY and STATE["stage"] > 1, method, "at stage", STATE["stage"])
        if "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
        else:
            must("result" not in message, message)
            note(method, message.get("params") or {})


if __name__ == "__main__":
    main()
