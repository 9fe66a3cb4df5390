#!/usr/bin/env python3
"""An extension runner of FineCode in Python's standard library alone, written from the document of the protocol and
from what is known of the real program; it shares nothing with Duplex.

    er.py [--stdio] [--revision=seed|real] start --project-path=DIR --env-name=ENV [OPTION...]
    er.py version

Without --stdio it listens on a port of the loopback address, tells it as the real one does and speaks what the real
one speaks; with it, it speaks what the document says. Its actions and handlers are in demo.py.

With ER_JOURNAL in the environment every message that comes is kept in that file, a line each, with the project and
the env that it came to.
"""
import json
import os
import re
import socket
import sys
import threading
import time
from urllib.parse import unquote

sys.dont_write_bytecode = True
from demo import (ACTIONS, ACTS, FREE, HANDLERS, PAYLOAD, Cancelled, Failed, Refused, Stopped, code_of, formatted, made, merged,
                  rebuilt)

HEADER = "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
DEBOUNCE = 0.3


class Wire:
    """Frames, read to the letter of what the real program takes; several threads write."""

    def __init__(self, read, write):
        self.read_some, self.write_all = read, write
        self.lock = threading.Lock()

    def read(self):
        """The next message, as text; None at the end."""
        while True:
            length = None
            while True:
                line = self.read_some.readline()
                if not line:
                    return None
                found = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
                if found:
                    length = int(found.group(1))
                if line == b"\r\n" and length is not None:
                    break
            body = self.read_some.read(length)
            if len(body) < length:
                return None
            if body:
                return body

    def write(self, message):
        body = json.dumps(message).encode("ascii")
        with self.lock:
            try:
                self.write_all(HEADER.encode() % len(body) + body)
            except (OSError, ValueError):
                pass  # the manager is gone; the reader sees it


class Run:
    """One request that runs handlers."""

    def __init__(self, er, params, identity):
        self.er = er
        self.id = identity
        self.cancelled = threading.Event()
        self.nested = set()  # our own requests on its behalf
        options = params.get("options") or {}
        if er.is_real and not options.get("walRunId"):
            raise Failed("Missing required wal_run_id in run options")
        meta = options.get("meta")
        if er.is_real and not isinstance(meta, dict):
            raise Refused(-32603, "no meta")
        self.meta = {"trigger": "unknown", "devEnv": "cli", "orchestrationDepth": 0, **(meta or {})}
        if (self.meta["trigger"] not in ("user", "system", "unknown")
                or self.meta["devEnv"] not in ("ide", "cli", "ai", "git_hook", "ci")):
            raise Refused(-32603 if er.is_real else -32602, "bad meta")
        self.formats = options.get("resultFormats")
        self.formats = ["json"] if self.formats is None else self.formats
        if not set(self.formats) <= {"json", "string"}:
            raise Refused(-32603 if er.is_real else -32602, "bad formats")
        self.wal_run_id = options.get("walRunId", "")
        self.token = options.get("partialResultToken")
        self.progress_token = options.get("progressToken")
        self.name = params["actionName"]
        if not er.actions:
            raise Failed("Extension runner not initialized")
        self.action = er.actions.get(self.name)
        if not self.action:
            raise Failed("R1 | Action %s not found" % self.name)
        self.payload = params.get("params")
        self.result = None
        self.context = None
        self.waiting = None  # partial results that were not sent yet
        self.sent_at = 0.0
        self.has_sent = False
        self.lock = threading.Lock()

    def pause(self, seconds):
        if self.cancelled.wait(seconds):
            raise Cancelled("Request cancelled")

    def partial(self, result):
        self.result = merged(self.result, result)
        if self.token is None:
            return
        with self.lock:
            self.waiting = merged(self.waiting, result)
            if time.monotonic() - self.sent_at >= DEBOUNCE:
                self.flush()

    def flush(self):
        if self.waiting is None:
            return
        value = formatted(self.name, self.waiting, self.formats or ["json"])
        self.er.tell("$/progress", {"token": self.token, "value": json.dumps(value)})
        self.waiting, self.sent_at, self.has_sent = None, time.monotonic(), True

    def progress(self, **value):
        if self.progress_token is not None:
            self.er.tell("$/progress", {"token": self.progress_token, "value": json.dumps(value)})

    def handle(self, handler):
        run = HANDLERS.get(handler["source"])
        if not run:
            raise Failed("No module named '%s'" % handler["source"])
        config = {**self.er.handler_configs.get(handler["source"], {}), **(handler.get("config") or {})}
        try:
            result = run(self, config)
            self.result = merged(self.result, result)  # it may have got partial ones meanwhile
        except (Failed, Cancelled, Stopped, Refused):
            raise
        except Exception as wrong:
            raise Failed("Running action handler '%s' failed(Run 1): %s" % (handler["name"], wrong)) from wrong
        with self.lock:
            self.flush()

    def handle_all(self, handlers):
        """The status."""
        try:
            if ACTIONS[self.action["source"]].get("concurrent"):
                self.handle_at_once(handlers)
            else:
                for handler in handlers:
                    self.pause(0)
                    self.handle(handler)
            return "success"
        except Stopped as stopped:
            self.result = stopped.result
            return "stopped"

    def handle_at_once(self, handlers):
        """All at the same time; results are merged in the order of the handlers."""
        parts = [Part(self) for _ in handlers]
        threads = [threading.Thread(target=part.go, args=(handler,)) for part, handler in zip(parts, handlers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for part in parts:
            if part.wrong:
                raise part.wrong
        for part in parts:
            self.result = merged(self.result, part.result)

    def ask(self, method, params):
        self.pause(0)
        return self.er.ask(method, params, self)


class Part:
    """A handler of several that run at once."""

    def __init__(self, run):
        self.run, self.result, self.wrong = run, None, None

    def __getattr__(self, name):
        return getattr(self.run, name)

    def go(self, handler):
        try:
            Run.handle(self, handler)
        except Exception as wrong:
            self.wrong = wrong

    def flush(self):
        self.run.flush()


class Runner:
    def __init__(self, project, env, is_real):
        self.project, self.env, self.is_real = project, env, is_real
        self.wire = None
        self.actions, self.handler_configs, self.documents = {}, {}, {}
        self.running = {}
        self.answers = {}
        self.last_id = 0
        self.lock = threading.Lock()
        path = os.environ.get("ER_JOURNAL")
        self.journal = open(path, "a", encoding="utf-8") if path else None

    def serve(self, wire):
        self.wire = wire
        while True:
            body = wire.read()
            if body is None:
                return
            try:
                message = json.loads(body)
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            if self.journal:
                self.journal.write(json.dumps({"env": self.env, "project": self.project, "message": message}) + "\n")
                self.journal.flush()
            if message.get("method") == "exit":
                return
            self.take(message)

    def take(self, message):
        if "method" not in message:
            with self.lock:
                waits = self.answers.pop(message.get("id"), None)
            if waits:
                waits.append(message)
                waits[0].set()
        elif "id" in message:
            # Registered before its thread is there, so that a cancellation finds it.
            self.running[message["id"]] = None
            threading.Thread(target=self.answer, args=(message,), daemon=True).start()
        else:
            self.note(message["method"], message.get("params") or {})

    def answer(self, message):
        done = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            done["result"] = self.do(message["method"], message.get("params") or {}, message["id"])
        except Failed as wrong:
            done["result"] = {"error": str(wrong)}
        except Cancelled as wrong:
            done["error"] = {"code": -32800, "message": str(wrong)}
        except Refused as wrong:
            done["error"] = {"code": wrong.code, "message": str(wrong)}
        except KeyError as wrong:
            done["error"] = {"code": -32603, "message": str(wrong)}
        self.running.pop(message["id"], None)
        self.wire.write(done)

    def tell(self, method, params):
        self.wire.write({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params, run):
        waits = [threading.Event()]
        with self.lock:
            identity, self.last_id = self.last_id, self.last_id + 1
            self.answers[identity] = waits
        self.wire.write({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        while not waits[0].wait(0.02):
            if run.cancelled.is_set():
                self.tell("$/cancelRequest", {"id": identity})
                raise Cancelled("Request cancelled")
        answer = waits[1]
        if "error" in answer and answer["error"]["code"] == -32800:
            raise Cancelled("nested run was cancelled")
        if "error" in answer:
            raise Failed("%s: %s" % (answer["error"]["code"], answer["error"]["message"]))
        return answer["result"]

    def note(self, method, params):
        document = params.get("textDocument") or {}
        path = unquote(document.get("uri", "")[len("file://"):])
        if method == "$/cancelRequest" and params.get("id") in self.running:
            run = self.running[params["id"]]
            if run:
                run.cancelled.set()
        elif method == "textDocument/didOpen":
            self.documents[path] = document["text"]
        elif method == "textDocument/didClose":
            self.documents.pop(path, None)
        elif method == "textDocument/didChange":
            for change in params["contentChanges"]:
                self.documents[path] = changed(self.documents.get(path, ""), change)

    def text_of(self, path):
        if path in self.documents:
            return self.documents[path]
        with open(path, encoding="utf-8") as file:
            return file.read()

    def do(self, method, params, identity):
        name = "do_" + re.sub(r"\W", "_", method)
        if not hasattr(self, name):
            raise Refused(-32601, "Method not found: " + method)
        return getattr(self, name)(params, identity)

    def do_initialize(self, params, _):
        return {"capabilities": {"textDocumentSync": 1},
                "serverInfo": {"name": "FineCode_Extension_Runner_Server", "version": "v1"}}

    def do_shutdown(self, params, _):
        return None

    def do_finecodeRunner_getInfo(self, params, _):
        return {"logFilePath": None}

    def do_finecodeRunner_updateLogging(self, params, _):
        if not self.is_real:
            raise Refused(-32601, "Method not found: finecodeRunner/updateLogging")
        return {}

    def do_finecodeRunner_updateConfig(self, params, _):
        config = params["config"]
        self.handler_configs = config["action_handler_configs"]
        sources = [each["source"] for each in config["actions"]]
        if len(set(sources)) < len(sources):
            raise Refused(-32603, "an action twice")
        self.actions = {each["name"]: each for each in config["actions"]}
        return {}

    def do_finecodeRunner_resolveActionMeta(self, params, _):
        known = {}
        for action in self.actions.values():
            about = ACTIONS.get(action["source"])
            if about is None:
                continue
            known[action["source"]] = {"canonical_source": about.get("canonical", action["source"]),
                                       "runs_concurrently": about.get("concurrent", False)}
            if self.is_real:
                known[action["source"]].update({"scope": "project", "parentActionSource": about.get("parent"),
                                                "language": about.get("language"), "fileLoc": None})
        return {"actions": known, "handlerLocations": {}} if self.is_real and self.actions else known

    def do_actions_getPayloadSchemas(self, params, _):
        return {name: PAYLOAD if each["source"] in ACTIONS else None for name, each in self.actions.items()}

    def do_actions_reload(self, params, _):
        params["actionName"]
        return {}

    def do_actions_resolveSource(self, params, _):
        source = params["source"]
        if "." not in source or source not in ACTIONS and source != "demo_ext.again.Echo":
            raise Refused(-32603, "Cannot resolve source '%s'" % source)
        return {"canonicalSource": ACTIONS.get(source, {"canonical": ACTS + "EchoAction"}).get("canonical", source)}

    def do_packages_resolvePath(self, params, _):
        if params["packageName"] != "demo_ext":
            raise Refused(-32603, "Cannot find package %s" % params["packageName"])
        return {"packagePath": os.path.dirname(os.path.abspath(__file__))}

    def do_actions_mergeResults(self, params, _):
        if not self.actions:
            raise Failed("Extension runner not initialized")
        if params["actionName"] not in self.actions:
            raise Failed("Action '%s' not found" % params["actionName"])
        whole = None
        for each in params["results"]:
            if each:
                part = rebuilt(each)
                if part is None:
                    raise Failed("While structuring R")
                whole = merged(whole, part)
        return {"merged": whole or {}}

    def check(self, run):
        if run.name in FREE:
            return
        wrong = []
        if not isinstance(run.payload.get("text"), str):
            wrong.append("required field missing @ $.text")
        if not isinstance(run.payload.get("n", 0), int):
            wrong.append("invalid value for type, expected int @ $.n")
        if wrong:
            raise Failed("Invalid payload for action %s: %s" % (run.name, "; ".join(wrong)))

    def do_actions_run(self, params, identity):
        params["actionName"]
        run = Run(self, params, identity)
        self.running[identity] = run
        self.check(run)
        status = run.handle_all(run.action["handlers"])
        return self.spelt(run, status, formatted(run.name, run.result, run.formats))

    def spelt(self, run, status, by_format):
        """By the document nothing that was streamed is repeated, and only that is empty; the real one always tells all."""
        if self.is_real:
            status = "streamed" if status == "success" and not by_format and run.token is not None else status
            return {"status": status, "resultByFormat": by_format, "returnCode": code_of(run.result)}
        if status == "success" and run.has_sent:
            status, by_format = "streamed", {}
        elif not by_format:
            by_format = formatted(run.name, run.result or made(), run.formats or ["json"])
        return {"status": status, "result_by_format": json.dumps(by_format), "return_code": code_of(run.result)}

    def do_actions_runHandlers(self, params, identity):
        run = Run(self, params, identity)
        self.running[identity] = run
        if run.payload:
            self.check(run)
        run.result = rebuilt(params.get("previousResult"))
        run.context = params.get("previousContext")
        by_name = {each["name"]: each for each in run.action["handlers"]}
        status = run.handle_all([by_name[name] for name in params["handlerNames"] if name in by_name])
        by_format = formatted(run.name, run.result, run.formats if "resultFormats" in (params.get("options") or {}) else [])
        if status == "success" and run.token is not None and (run.has_sent or not by_format):
            status, by_format = "streamed", by_format if self.is_real else {}
        done = {"status": status, "result": run.result or {}, "resultByFormat": by_format, "returnCode": code_of(run.result)}
        return {**done, "context": run.context} if self.is_real else done


def changed(text, change):
    """One change of a document; positions are in UTF-16 units."""
    if not change.get("range"):
        return change["text"]
    units = text.encode("utf-16-le")
    starts = [0] + [found.end() for found in re.finditer("\r\n|\r|\n", text)]

    def place(position):
        line = min(position["line"], len(starts) - 1)
        end = starts[line + 1] if line + 1 < len(starts) else len(text)
        whole = text[starts[line]:end].rstrip("\r\n")
        return len(text[:starts[line]].encode("utf-16-le")) + min(2 * position["character"], len(whole.encode("utf-16-le")))

    start, end = place(change["range"]["start"]), place(change["range"]["end"])
    return (units[:start] + change["text"].encode("utf-16-le") + units[end:]).decode("utf-16-le")


def main():
    words = sys.argv[1:]
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    if "version" in words:
        print("FineCode Extension Runner 0.0")
        return 0
    if "env-name" not in options or not os.path.isdir(options.get("project-path", "")):
        print("--env-name and --project-path are needed", file=sys.stderr)
        return 1 if "env-name" not in options else 2
    is_real = options.get("revision", "seed" if "stdio" in options else "real") == "real"
    runner = Runner(options["project-path"], options["env-name"], is_real)
    if "stdio" in options:
        output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

        def write(data):
            output.write(data)
            output.flush()
        runner.serve(Wire(sys.stdin.buffer, write))
        os._exit(0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print("2026-01-01 INFO | er - Serving on %r" % (listener.getsockname(),), flush=True)
        listener.settimeout(60)
        connection, _ = listener.accept()
    runner.serve(Wire(connection.makefile("rb"), connection.sendall))
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
