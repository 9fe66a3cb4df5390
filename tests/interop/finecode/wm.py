#!/usr/bin/env python3
"""A workspace manager of FineCode in Python's standard library alone, written from the document of the protocol and
from what is known of the real program; it shares nothing with Duplex.

    wm.py [--tcp] [--revision=seed|real] WORKSPACE SCRIPT -- RUNNER [WORD...]

WORKSPACE is a JSON file: {"projects": {path: [action]}}, the actions as updateConfig has them. SCRIPT is a JSON file, a
list of steps that are done one after the other, each printed with what became of it as a line of JSON:

    {"run": action, "project": path, "payload": {…}, "formats": […], "stream": false, "cancel_after": seconds}
    {"open": path, "text": …}  {"change": path, "changes": […], "text": what they lead to}  {"close": path}
    {"schemas": path}  {"restart": env, "project": path}  {"kill": env, "project": path}

A runner is RUNNER WORD... start --project-path=DIR --env-name=ENV, one for each project and env, started when it is
first needed. By pipes it is spoken to as the document says, with --tcp as the real manager does. Anything that is not as
it should be is the end, with code 9 and a line on the standard error.
"""
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import uuid

HEADER = b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
PATIENCE = 30
MAX_DEPTH, MAX_FANOUT = 8, 64


class Bad(Exception):
    """A runner broke the protocol."""


class Error(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


def must(fact, what):
    if not fact:
        raise Bad(what)


class Runner:
    def __init__(self, manager, project, env):
        self.manager, self.project, self.env = manager, project, env
        self.waiting, self.tokens = {}, {}
        self.lock = threading.Lock()
        self.is_over = False
        words = [*manager.command, "start", "--project-path=" + project, "--env-name=" + env]
        pipe = subprocess.PIPE
        if manager.is_tcp:
            self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, cwd=project, start_new_session=True)
            connection = socket.create_connection(("127.0.0.1", self.port()))
            self.input, self.output = connection.makefile("rb"), connection.makefile("wb")
            threading.Thread(target=self.child.stdout.read, daemon=True).start()
        else:
            self.child = subprocess.Popen(words, stdin=pipe, stdout=pipe, cwd=project, start_new_session=True)
            self.input, self.output = self.child.stdout, self.child.stdin
        self.reader = threading.Thread(target=self.read_all, daemon=True)
        self.reader.start()
        self.begin()

    def port(self):
        for line in self.child.stdout:
            found = re.search(rb"Serving on \('[\d.]+', (\d+)\)", line)
            if found:
                return int(found.group(1))
        raise Bad("the runner said no port and left with %r" % self.child.wait())

    def begin(self):
        """The order of the document."""
        folder = {"uri": "file://" + self.project, "name": os.path.basename(self.project)}
        result = self.call("initialize", {"processId": os.getpid(), "capabilities": {}, "trace": "verbose",
                                          "clientInfo": {"name": "FineCode_WorkspaceManager", "version": "0.1.0"},
                                          "workspaceFolders": [folder]})
        must(isinstance(result.get("capabilities"), dict), "initialize: %r" % result)
        self.tell("initialized", {})
        nothing = [None] if self.manager.is_real else [{}]
        info = self.call("finecodeRunner/getInfo", *nothing)
        must(set(info) == {"logFilePath"}, "getInfo: %r" % info)
        actions = [each for each in self.manager.projects[self.project] if self.env in [h["env"] for h in each["handlers"]]]
        config = {"actions": actions, "action_handler_configs": {}, "services": []}
        must(self.call("finecodeRunner/updateConfig", {
            "workingDir": self.project, "projectName": os.path.basename(self.project),
            "projectDefPath": self.project + "/finecode.toml", "config": config}) == {}, "updateConfig: not {}")
        meta = self.call("finecodeRunner/resolveActionMeta", *nothing)
        if self.manager.is_real:
            must(set(meta) == {"actions", "handlerLocations"}, "resolveActionMeta: %r" % meta)
            meta = meta["actions"]
        for source, about in meta.items():
            must(isinstance(about["canonical_source"], str) and isinstance(about["runs_concurrently"], bool), source)
            must(not self.manager.is_real or about["scope"] in ("project", "workspace"), "%s: no scope" % source)
            self.manager.about[source] = about
        for path, (version, text) in self.manager.documents.items():
            if path.startswith(self.project + "/"):
                self.opened(path, version, text)
        if self.manager.is_real:
            must(self.call("finecodeRunner/updateLogging", {"forward": False, "forwardLevel": "INFO"}) == {}, "updateLogging")

    def opened(self, path, version, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": "file://" + path, "languageId": "", "version": version,
                                                            "text": text}})

    def send(self, message):
        body = json.dumps(message).encode("ascii")
        with self.lock:
            self.output.write(HEADER % len(body) + body)
            self.output.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params, "jsonrpc": "2.0"})

    def call(self, method, *params, started=None):
        identity = str(uuid.uuid4())
        done = threading.Event()
        self.waiting[identity] = slot = [done, None]
        self.send({"id": identity, "method": method, **({"params": params[0]} if params else {}), "jsonrpc": "2.0"})
        if started:
            started(self, identity)
        must(done.wait(PATIENCE), "%s is not answered" % method)
        if slot[1] is None:
            raise Error(0, "the runner died")
        if "error" in slot[1]:
            raise Error(slot[1]["error"]["code"], slot[1]["error"]["message"])
        return slot[1]["result"]

    def read_frame(self):
        """The document's header, both fields, in any order."""
        fields = {}
        while True:
            line = self.input.readline()
            if not line:
                must(not fields, "the end inside a header")
                return None
            if line == b"\r\n":
                break
            found = re.fullmatch(rb"(Content-Length|Content-Type): ([ -~]+)\r\n", line)
            must(found, "the header has the line %r" % line)
            fields[found.group(1)] = found.group(2)
        must(fields.get(b"Content-Type") == b"application/vscode-jsonrpc; charset=utf-8", "the header is %r" % fields)
        body = self.input.read(int(fields[b"Content-Length"]))
        must(len(body) == int(fields[b"Content-Length"]), "the end inside a message")
        return json.loads(body)

    def read_all(self):
        try:
            while True:
                message = self.read_frame()
                if message is None:
                    break
                must(message.get("jsonrpc") == "2.0", "no jsonrpc: %r" % message)
                self.take(message)
        except OSError:
            pass
        except Exception as wrong:  # told by the main thread
            self.manager.wrong = self.manager.wrong or "%s: %s" % (type(wrong).__name__, wrong)
        self.is_over = True
        for slot in list(self.waiting.values()):
            slot[0].set()

    def take(self, message):
        if "method" not in message:
            slot = self.waiting.pop(message["id"], None)
            must(slot and ("result" in message) != ("error" in message), "an answer to nothing, or none: %r" % message)
            slot[1] = message
            slot[0].set()
        elif "id" in message:
            threading.Thread(target=self.answer, args=(message,), daemon=True).start()
        elif message["method"] == "$/progress":
            token, value = message["params"]["token"], message["params"]["value"]
            must(isinstance(value, str), "the value of progress is %r" % (value,))
            must(token in self.tokens, "progress for %r, which nobody waits for" % (token,))
            self.tokens[token].append(json.loads(value))
        elif message["method"] != "$/cancelRequest":
            must(message["method"] in ("er/userMessage", "er/logRecords"), "unknown: %r" % message)

    def answer(self, message):
        done = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            done["result"] = self.manager.asked(self, message["method"], message.get("params") or {})
        except Error as wrong:
            done["error"] = {"code": wrong.code, "message": wrong.message}
        self.send(done)

    def end(self):
        """shutdown, exit, and 0 in a second."""
        if self.is_over:
            return
        must(self.call("shutdown", *([None] if self.manager.is_real else [])) is None, "shutdown")
        self.tell("exit", *([None] if self.manager.is_real else [{}]))
        must(self.child.wait(5) == 0, "the runner left with %r" % self.child.returncode)
        self.reader.join(PATIENCE)  # so that nobody speaks to it any more


class Manager:
    def __init__(self, workspace, command, is_tcp, is_real):
        self.projects = workspace["projects"]
        self.command, self.is_tcp, self.is_real = command, is_tcp, is_real
        self.runners, self.about, self.documents = {}, {}, {}
        self.lock = threading.RLock()
        self.wrong = None
        self.last_token = 0

    def runner(self, project, env):
        with self.lock:
            found = self.runners.get((project, env))
            if not found or found.is_over:
                found = self.runners[project, env] = Runner(self, project, env)
            return found

    def action(self, project, name):
        for each in self.projects[project]:
            if name == each["name"]:
                return each
        raise Error(-32602, "no action %s" % name)

    def run(self, project, action, payload, formats, stream=False, depth=0, origin=("user", "cli"), started=None):
        if depth >= MAX_DEPTH:
            raise Error(-32603, "Orchestration depth %d reached limit %d" % (depth, MAX_DEPTH))
        handlers = action["handlers"]
        if not handlers:
            return {"status": "no_handlers", "by_format": {}, "code": 0, "parts": []}
        options = {"walRunId": str(uuid.uuid4()),
                   "meta": {"trigger": origin[0], "devEnv": origin[1], "orchestrationDepth": depth + 1}}
        call = Call(self, project, action, payload, options, formats, stream, started)
        envs = list(dict.fromkeys(each["env"] for each in handlers))
        for env in envs:
            self.runner(project, env)
        if len(envs) == 1:
            return call.whole(envs[0])
        if self.about.get(action["source"], {}).get("runs_concurrently"):
            return call.groups(envs)
        return call.segments()

    def asked(self, runner, method, params):
        """What runners may ask."""
        meta = params.get("meta") or {}
        origin = (meta.get("trigger"), meta.get("devEnv"))
        depth = meta.get("orchestrationDepth", 0)
        if method == "projects/getRawConfig":
            return {"config": {"known": True} if self.is_real else '{"known": true}'}
        if method == "workspace/applyEdit":
            return {"applied": False, "failureReason": "no client"}
        if method == "finecode/runActionInProject":
            done = self.run_canonical(runner.project, params, depth, origin)
            return {"result": done["by_format"].get("json", {}), "returnCode": done["code"]}
        if method == "finecode/runActionInWorkspace":
            paths = params.get("projectPaths")
            paths = list(self.projects) if paths is None else paths
            if len(paths) > MAX_FANOUT:
                raise Error(-32603, "too many projects")
            results = {}
            for path in paths:
                done = self.run_canonical(path, params, depth, origin)
                json_result = done["by_format"].get("json", {})
                nested = {params["actionSource"]: {"result": json_result, "status": done["status"]}}
                results[path] = nested if self.is_real else json_result
            return {"resultsByProject": results}
        raise Error(-32601, "Method not found: " + method)

    def run_canonical(self, project, params, depth, origin):
        for each in self.projects[project]:
            if self.about.get(each["source"], {}).get("canonical_source") == params["actionSource"]:
                return self.run(project, each, params["payload"], ["json"], depth=depth, origin=origin)
        raise Error(-32603, "no action has the source %s" % params["actionSource"])


class Call:
    """One logical run."""

    def __init__(self, manager, project, action, payload, options, formats, stream, started):
        self.__dict__.update(locals())
        self.parts = []

    def send(self, env, method, params, formats):
        runner = self.manager.runner(self.project, env)
        options = {**self.options, "resultFormats": formats}
        token = None
        if self.stream and method != "actions/mergeResults":
            self.manager.last_token += 1
            token = options["partialResultToken"] = self.manager.last_token
            runner.tokens[token] = self.parts
        params = {"actionName": self.action["name"], **params, "options": options}
        try:
            return self.read(runner.call(method, params, started=self.started), method)
        finally:
            runner.tokens.pop(token, None)

    def read(self, result, method):
        if set(result) == {"error"}:
            raise Error(1, result["error"])
        by_format, code = "resultByFormat", "returnCode"
        if method == "actions/run" and not self.manager.is_real:
            by_format, code = "result_by_format", "return_code"
            must(isinstance(result[by_format], str), "%s is no text: %r" % (by_format, result))
            result[by_format] = json.loads(result[by_format])
            must(result[by_format] or result["status"] == "streamed", "empty, but %s" % result["status"])
        wanted = {"status", by_format, code} | ({"result"} if method == "actions/runHandlers" else set())
        must(wanted <= set(result) <= wanted | {"context"}, "%s: %r" % (method, result))
        must(result["status"] in ("success", "streamed", "stopped"), "the status is %r" % result["status"])
        must(isinstance(result[by_format], dict) and isinstance(result[code], int), "%r" % result)
        return {"status": result["status"], "by_format": result[by_format], "code": result[code], "parts": self.parts,
                "result": result.get("result"), "context": result.get("context")}

    def whole(self, env):
        return self.send(env, "actions/run", {"params": self.payload}, self.formats)

    def handlers(self, env, names, previous, context, formats):
        params = {"handlerNames": names, "previousResult": previous}
        if self.manager.is_real:
            params.update({"params": self.payload, "previousContext": context, "callerKwargs": None})
        return self.send(env, "actions/runHandlers", params, formats)

    def segments(self):
        segments = []
        for each in self.action["handlers"]:
            if segments and segments[-1][0] == each["env"]:
                segments[-1][1].append(each["name"])
            else:
                segments.append((each["env"], [each["name"]]))
        done = {"result": None, "context": None}
        for number, (env, names) in enumerate(segments):
            is_last = number == len(segments) - 1
            done = self.handlers(env, names, done["result"], done["context"], self.formats if is_last else [])
            if done["status"] == "stopped":
                # It may be one that was asked for no format: the result itself is one.
                done["by_format"] = done["by_format"] or {"json": done["result"]}
                break
        return done

    def groups(self, envs):
        names = {env: [each["name"] for each in self.action["handlers"] if each["env"] == env] for env in envs}
        results, wrong = {}, []

        def go(env):
            try:
                results[env] = self.handlers(env, names[env], None, None, [])["result"]
            except Error as error:
                wrong.append(error)
        threads = [threading.Thread(target=go, args=(env,)) for env in envs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise next((each for each in wrong if each.code != -32800), wrong[0])
        merged = self.manager.runner(self.project, envs[0]).call(
            "actions/mergeResults", {"actionName": self.action["name"], "results": [results[env] for env in envs]})
        must(set(merged) == {"merged"}, "mergeResults: %r" % merged)
        return self.handlers(envs[-1], [], merged["merged"], None, self.formats)


def whole_of(done):
    """One result, whether it came at once or in parts."""
    for part in done["parts"] if not done["by_format"] else []:
        for key, value in part.get("json", part).items():
            kept = done["by_format"].setdefault("json", {})
            kept[key] = kept.get(key, type(value)()) + value if isinstance(value, list) else value
    return {"status": done["status"], "by_format": done["by_format"], "code": done["code"]}


def do(manager, step):
    if "run" in step:
        project = step.get("project") or next(iter(manager.projects))
        after = step.get("cancel_after")

        def started(runner, identity):
            threading.Timer(after, lambda: runner.tell("$/cancelRequest", {"id": identity})).start()
        try:
            return whole_of(manager.run(project, manager.action(project, step["run"]), step.get("payload", {}),
                                        step.get("formats", ["json"]), step.get("stream", False),
                                        started=started if after is not None else None))
        except Error as wrong:
            return {"error": wrong.code}
    path = step.get("open") or step.get("change") or step.get("close")
    runners = [each for each in manager.runners.values() if path and path.startswith(each.project + "/") and not each.is_over]
    if "open" in step:
        manager.documents[path] = (1, step["text"])
        for runner in runners:
            runner.opened(path, 1, step["text"])
    elif "change" in step:
        manager.documents[path] = (2, step["text"])
        for runner in runners:
            runner.tell("textDocument/didChange", {"textDocument": {"uri": "file://" + path, "version": 2},
                                                   "contentChanges": step["changes"]})
    elif "close" in step:
        manager.documents.pop(path)
        for runner in runners:
            runner.tell("textDocument/didClose", {"textDocument": {"uri": "file://" + path}})
    elif "schemas" in step:
        runner = next(each for each in manager.runners.values() if each.project == step["schemas"])
        return runner.call("actions/getPayloadSchemas", *([None] if manager.is_real else [{}]))
    elif "kill" in step:
        runner = manager.runner(step["project"], step["kill"])
        runner.child.kill()
        runner.reader.join(PATIENCE)
    elif "restart" in step:
        manager.runner(step["project"], step["restart"]).end()
    else:
        raise Bad("no such step: %r" % step)
    return None


def main():
    at = sys.argv.index("--")
    options = [word for word in sys.argv[1:at] if word.startswith("--")]
    workspace, script = [word for word in sys.argv[1:at] if not word.startswith("--")]
    is_tcp = "--tcp" in options
    is_real = "--revision=real" in options or is_tcp and "--revision=seed" not in options
    with open(workspace, encoding="utf-8") as file, open(script, encoding="utf-8") as other:
        manager, steps = Manager(json.load(file), sys.argv[at + 1:], is_tcp, is_real), json.load(other)
    try:
        for step in steps:
            print(json.dumps(do(manager, step), sort_keys=True), flush=True)
        for runner in manager.runners.values():
            runner.end()
        time.sleep(0.05)
        must(manager.wrong is None, manager.wrong)
    except Bad as wrong:
        print("wm.py: %s" % wrong, file=sys.stderr)
        return 9
    except Error as wrong:
        print("wm.py: %s" % (manager.wrong or wrong.message), file=sys.stderr)
        return 9
    finally:
        for runner in manager.runners.values():
            runner.child.kill()
            runner.child.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
