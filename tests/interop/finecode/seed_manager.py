#!/usr/bin/env python3
"""A workspace manager written from the WM-ER document of FineCode alone (seed 002): its words and its samples, over stdio.

    seed_manager.py SCENE PROJECT -- RUNNER WORD...

A runner is RUNNER WORD... start --project-path=PROJECT --env-name=ENV. SCENE is "catalog", every message that the
manager sends, and sequential and concurrent runs in two envs; "requests", those that runners send; or "silent" and
"late": projects/getRawConfig is not answered, or only after updateConfig was. The actions and handlers are in actions.json
of PROJECT. What is done is printed, a line each; what the document does not allow is the end, with code 9.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

HEADER = b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
META = {"trigger": "user", "devEnv": "cli", "orchestrationDepth": 0}
RUN = {"meta": META, "walRunId": "5a1c0f0e-1b7e-4e0f-8a53-1f4b8f2d9d10"}
PATIENCE = 60


class Error(Exception):
    """A JSON-RPC error."""


def must(fact, *what):
    if not fact:
        print("seed_manager:", *what, file=sys.stderr, flush=True)
        os._exit(9)


def same(found, wanted, what):
    must(found == wanted, what, "is", json.dumps(found), "and not", json.dumps(wanted))
    print("ok", what, flush=True)


def only(value, needed, more=()):
    must(isinstance(value, dict) and set(needed) <= set(value) <= {*needed, *more}, "members:", value, "needed:", needed)
    return value


class Runner:
    def __init__(self, manager, env):
        self.manager, self.env, self.last, self.waiting, self.progress, self.asked = manager, env, 0, {}, {}, []
        self.writing = threading.Lock()
        words = [*manager.command, "start", "--project-path=" + manager.project, "--env-name=" + env]
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=manager.project)
        threading.Thread(target=self.read_all, daemon=True).start()
        self.begin()

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        with self.writing:
            self.child.stdin.write(HEADER % len(body) + body)
            self.child.stdin.flush()

    def read(self):
        fields, line = {}, None
        while line != b"\r\n":
            line = self.child.stdout.readline()
            if not line:
                return None
            found = re.fullmatch(rb"(Content-Length|Content-Type): ([ -~]+)\r\n", line)
            must(found or line == b"\r\n", "the header has the line", line)
            if found:
                fields[found[1]] = found[2]
        must(fields.get(b"Content-Type") == b"application/vscode-jsonrpc; charset=utf-8", "the header is", fields)
        return json.loads(self.child.stdout.read(int(fields[b"Content-Length"])))

    def read_all(self):
        while True:
            message = self.read()
            if message is None:
                return
            must(message["jsonrpc"] == "2.0", message)
            if "method" not in message:
                slot = self.waiting.pop(message["id"], None)
                must(slot and ("result" in message) != ("error" in message), "an answer to nothing:", message)
                slot[1] = message
                slot[0].set()
            elif message["method"] == "$/progress" and "id" not in message:
                value = only(message["params"], ("token", "value"))["value"]
                must(message["params"]["token"] in self.progress and isinstance(value, str), message)
                self.progress[message["params"]["token"]].append(json.loads(value))
            else:
                must("id" in message, "no such notification:", message)
                self.asked.append(message["method"])
                threading.Thread(target=self.manager.asked, args=(self, message), daemon=True).start()

    def ask(self, method, params=None):
        """The request is sent; its answer is waited for by the function that this gives."""
        self.last += 1
        identity, slot = self.last, [threading.Event(), None]
        self.waiting[identity] = slot
        self.write({"id": identity, "method": method, **({} if params is None else {"params": params})})

        def answer():
            must(slot[0].wait(PATIENCE), method, "is not answered")
            if "error" in slot[1]:
                raise Error(slot[1]["error"]["code"], slot[1]["error"]["message"])
            return slot[1]["result"]
        return identity, answer

    def call(self, method, params=None):
        return self.ask(method, params)[1]()

    def tell(self, method, params=None):
        self.write({"method": method, **({} if params is None else {"params": params})})

    def begin(self):
        """The lifecycle."""
        project = self.manager.project
        params = {
            "processId": os.getpid(), "clientInfo": {"name": "FineCode_WorkspaceManager", "version": "0.1.0"},
            "capabilities": {}, "workspaceFolders": [{"uri": "file://" + project, "name": os.path.basename(project)}],
            "trace": "verbose"}
        must(isinstance(self.call("initialize", params), dict), "initialize")
        self.tell("initialized", {})
        config = {"actions": self.manager.actions, "action_handler_configs": {}, "services": []}
        begun = time.monotonic()
        must(self.call("finecodeRunner/updateConfig", {
            "workingDir": project, "projectName": os.path.basename(project), "projectDefPath": project + "/finecode.toml",
            "config": config}) == {}, "the result of updateConfig")
        must(time.monotonic() - begun < 30, "updateConfig took", time.monotonic() - begun)
        must(self.asked == ["projects/getRawConfig"], "requests during updateConfig:", self.asked)
        self.manager.configured.set()
        meta = self.call("finecodeRunner/resolveActionMeta", {})
        for source in meta:
            only(meta[source], ("canonical_source", "runs_concurrently"))
        must(self.manager.meta in (None, meta), "two runners differ:", self.manager.meta, meta)
        self.manager.meta = meta

    def end(self):
        same(self.call("shutdown"), None, "shutdown")
        self.tell("exit")
        same(self.child.wait(PATIENCE), 0, "exit")

    def run(self, name, params=None, **options):
        """actions/run, as the document has its results."""
        result = self.call("actions/run", {"actionName": name, "params": params or {}, "options": {**RUN, **options}})
        if "error" in result:
            return only(result, ("error",))
        only(result, ("status", "result_by_format", "return_code"))
        formats = json.loads(result["result_by_format"])
        must((formats == {}) == (result["status"] == "streamed"), "an empty result:", result)
        return result["status"], formats, result["return_code"]

    def handlers(self, name, names, previous, **options):
        params = {"actionName": name, "handlerNames": names, "previousResult": previous, "options": {**RUN, **options}}
        result = self.ask("actions/runHandlers", params)[1]
        return lambda: self.taken(result())

    @staticmethod
    def taken(result):
        if "error" in result:
            return only(result, ("error",))
        only(result, ("status", "result", "resultByFormat", "returnCode"))
        return result["status"], result["result"], result["resultByFormat"], result["returnCode"]

    def streamed(self, token, call):
        self.progress[token] = []
        answer = call(token)
        return answer, self.progress[token]


class Manager:
    def __init__(self, scene, project, command):
        self.scene, self.project, self.command = scene, project, command
        self.meta, self.configured, self.requests = None, threading.Event(), {}
        with open(project + "/actions.json", encoding="utf-8") as file:
            self.actions = json.load(file)

    def asked(self, runner, message):
        """What runners may ask."""
        method, params = message["method"], message["params"]
        self.requests.setdefault(method, []).append(params)
        if method == "projects/getRawConfig":
            must(params == {"projectDefPath": self.project + "/finecode.toml"}, params)
            if self.scene == "silent":
                return
            if self.scene == "late":
                self.configured.wait(PATIENCE)
            result = {"config": json.dumps({"finecode": {}})}
        elif method == "workspace/applyEdit":
            result = {"applied": True}
        elif method == "finecode/runActionInProject":
            only(params, ("actionSource", "payload", "meta"))
            result = {"result": {"items": [params["actionSource"]]}, "returnCode": 1}
        else:
            must(method == "finecode/runActionInWorkspace", "no such method:", message)
            only(params, ("actionSource", "payload", "meta", "projectPaths"), ("concurrently",))
            result = {"resultsByProject": {self.project: {"items": [params["actionSource"]]}}}
        runner.write({"id": message["id"], "result": result})


def refused(call, what):
    try:
        call()
    except Error as wrong:
        same(isinstance(wrong.args[0], int) and isinstance(wrong.args[1], str), True, what)
        return wrong.args[0]
    return must(False, what, "is not refused")


def documents(one, uri):
    def found():
        return one.run("read", {"text": uri[len("file://"):]})[1]["json"]["items"]
    one.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 1, "text": "one"}})
    same(found(), ["one"], "textDocument/didOpen")
    start, end = {"line": 0, "character": 0}, {"line": 0, "character": 3}
    one.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2},
                                        "contentChanges": [{"range": {"start": start, "end": end}, "text": "two"}]})
    same(found(), ["two"], "textDocument/didChange")
    one.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    same(found(), ["disk"], "textDocument/didClose")


def catalog(manager):
    one, two = Runner(manager, "env1"), Runner(manager, "env2")
    same({source: manager.meta[source] for source in manager.meta if source.startswith("myext.")}, {
        "myext.LintAction": {"canonical_source": "myext.actions.lint.LintAction", "runs_concurrently": True},
        "myext.FormatAction": {"canonical_source": "myext.actions.format.FormatAction", "runs_concurrently": False},
    }, "finecodeRunner/resolveActionMeta")
    must("more.nowhere" not in manager.meta, "an action that can't be imported:", manager.meta)
    same(list(one.call("finecodeRunner/getInfo", {})), ["logFilePath"], "finecodeRunner/getInfo")

    # actions/run
    lint = {"items": ["l1", "l2"]}
    same(one.run("lint"), ("success", {"json": lint}, 2), "success")
    status, formats, code = one.run("lint", resultFormats=["json", "string"])
    same((status, formats["json"], sorted(formats), code), ("success", lint, ["json", "string"], 2), "both formats")
    result = one.call("actions/run", {"actionName": "lint", "params": {}, "options": None})
    same(json.loads(result["result_by_format"]), {"json": lint}, "no options")
    answer, parts = one.streamed("token", lambda token: one.run("parts", partialResultToken=token))
    same((answer, [item for part in parts for item in part["items"]]), (("streamed", {}, 0), ["part 0", "part 1"]), "streamed")
    same(one.run("stop"), ("stopped", {"json": {"items": ["enough"]}}, 5), "stopped")
    same(list(one.run("fail")), ["error"], "error")
    same(list(one.run("nobody")), ["error"], "an unknown action")

    # The samples of the segments.
    segments = ((one, ["h1", "h2", "h3"]), (two, ["h4"])), ((one, ["h1"]), (two, ["h2"]), (one, ["h3"]))
    for name, chain in zip(("chain", "zigzag"), segments):
        previous, codes = None, []
        for runner, names in chain:
            last = runner is chain[-1][0] and names is chain[-1][1]
            status, previous, formats, code = runner.handlers(name, names, previous, **({"resultFormats": ["json"]} if last else {}))()
            codes.append(code)
            must(status == "success" and formats == ({"json": previous} if last else {}), "a segment:", status, formats)
        same(previous, {"items": ["h%d after %d" % (each + 1, each) for each in range(4 if name == "chain" else 3)]}, name)
        same(codes, [0, 3] if name == "chain" else [0] * 3, "the return codes of " + name)
    answer, parts = one.streamed(7, lambda token: one.handlers("parts", ["p"], None, partialResultToken=token)())
    same((answer, len(parts) > 0), (("streamed", {"items": ["part 0", "part 1"]}, {}, 0), True), "a segment that is streamed")
    same(one.handlers("stop", ["s"], None, resultFormats=["json"])(), ("stopped", {"items": ["enough"]}, {"json": {"items": ["enough"]}}, 5),
         "a segment that is stopped")
    same(list(one.handlers("fail", ["f"], None)()), ["error"], "a segment that fails")
    same(list(two.handlers("chain", ["h1"], None)()), ["error"], "a handler of another env")
    same(list(one.handlers("chain", ["h1", "zz"], None)()), ["error"], "an unknown handler")

    # Side by side.
    both = [one.handlers("wide", ["h1", "h3"], None), two.handlers("wide", ["h2"], None)]
    results = [answer()[1] for answer in both]
    same(results, [{"items": ["h1", "h3"]}, {"items": ["h2"]}], "groups")
    merged = two.call("actions/mergeResults", {"actionName": "wide", "results": results})
    same(merged, {"merged": {"items": ["h1", "h3", "h2"]}}, "actions/mergeResults")
    same(list(two.call("actions/mergeResults", {"actionName": "nobody", "results": []})), ["error"], "a merge that fails")

    # The others.
    schemas = one.call("actions/getPayloadSchemas", {})
    same(sorted(schemas), sorted(each["name"] for each in manager.actions), "actions/getPayloadSchemas")
    same(schemas["nowhere"], None, "the schema of an unknown action")
    only(schemas["lint"], ("properties", "required"), ("type",))
    same(one.call("actions/reload", {"actionName": "lint"}), {}, "actions/reload")
    for source in ("myext.LintAction", "myext.again.LintAction", "myext.actions.lint.LintAction"):
        found = one.call("actions/resolveSource", {"source": source})
        same(found, {"canonicalSource": "myext.actions.lint.LintAction"}, "actions/resolveSource of " + source)
    refused(lambda: one.call("actions/resolveSource", {"source": "myext.No"}), "an unknown source")
    same(one.call("packages/resolvePath", {"packageName": "preset_ext"}), {"packagePath": manager.project + "/preset_ext"}, "packages/resolvePath")
    identity, answer = one.ask("actions/run", {"actionName": "slow", "params": {}, "options": RUN})
    time.sleep(0.3)
    one.tell("$/cancelRequest", {"id": identity})
    same(refused(answer, "$/cancelRequest"), -32800, "its error")
    one.end()
    two.end()


def requests(manager):
    one = Runner(manager, "env1")
    documents(one, "file://%s/doc.txt" % manager.project)
    edit = {"edit": {"changes": {}}}
    answer = one.run("ask", {"method": "workspace/applyEdit", "params": edit})[1]["json"]["answer"]
    same((answer, manager.requests["workspace/applyEdit"]), ({"applied": True}, [edit]), "workspace/applyEdit")
    source = "myext.actions.lint.LintAction"
    answer = one.run("nest", {"source": source}, meta={**META, "orchestrationDepth": 3})[1]["json"]["answer"]
    same((answer["returnCode"], answer["result"]), (1, {"items": [source]}), "finecode/runActionInProject")
    same(manager.requests["finecode/runActionInProject"][0]["meta"], {**META, "orchestrationDepth": 3}, "orchestrationDepth")
    answer = one.run("spread", {"source": source})[1]["json"]["answer"]
    same(answer, {"resultsByProject": {manager.project: {"items": [source]}}}, "finecode/runActionInWorkspace")
    one.end()


def configured(manager):
    one = Runner(manager, "env1")
    same(one.run("lint")[1], {"json": {"items": ["l1", "l2"]}}, "a run")
    one.end()


def main():
    at = sys.argv.index("--")
    manager = Manager(sys.argv[1], sys.argv[2], sys.argv[at + 1:])
    {"catalog": catalog, "requests": requests}.get(manager.scene, configured)(manager)


if __name__ == "__main__":
    main()
