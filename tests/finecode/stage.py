"""Raw bytes on both ends of the FineCode protocol, for rows_*.py: nothing here comes from Duplex.

Er is a runner of ours, by pipes or by a port, under a raw manager. The other end is in workspace.py.

    rows_NAME.py BUILD [ROW...]      all rows of that chapter, or these: 07, 14-long
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "hermes"))
import raw
from raw import PATIENCE, Skip, Wrong, eventually, is_gone, is_there, same, shown, true

BUILD = ""
SLOW = 1
INTEROP = os.path.join(HERE, "..", "interop", "finecode")
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
TYPE = b"\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8"
FULL = "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
ACTS = "demo_ext.acts."
ECHO = "demo_ext.EchoAction"
META = {"trigger": "user", "devEnv": "cli", "orchestrationDepth": 0}
RUN_ID = "11111111-2222-3333-4444-555555555555"
ALL = (("seed", False), ("real", True))  # revision, is it by TCP

def error_is(answer, code, what):
    true("error" in answer, "%s: %s instead of an error" % (what, shown(answer)))
    same(answer["error"]["code"], code, "%s: %s" % (what, shown(answer)))
    true(isinstance(answer["error"]["message"], str), "%s: the message" % what)
    return answer["error"]


def result_of(answer, what):
    true("result" in answer, "%s: %s" % (what, shown(answer)))
    return answer["result"]


class Framed(raw.Wire):
    """Frames whose header is the document's, with the type of the content; see `plain`."""

    plain = False  # without it: the protocol of clients

    def frame(self, patience=PATIENCE):
        end = time.monotonic() + patience
        while True:
            at = self.bytes.find(b"\r\n\r\n")
            if at >= 0:
                head = bytes(self.bytes[:at])
                found = re.fullmatch(rb"Content-Length: (0|[1-9]\d*)" + (b"" if self.plain else re.escape(TYPE)), head)
                true(found, "the header is %r" % head)
                size = at + 4 + int(found.group(1))
                if len(self.bytes) >= size:
                    data = bytes(self.bytes[:size])
                    del self.bytes[:size]
                    return data
            if not self.more(max(0, end - time.monotonic())):
                return None

    def more(self, patience=PATIENCE):
        try:
            return super().more(patience)
        except ConnectionError:
            return False

    def send(self, message, header=FULL):
        self.write(raw.frame(message, "Content-Length: %d\r\n\r\n" if self.plain and header is FULL else header))

    def tell(self, method, *params):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params[0]} if params else {})})

    def is_quiet(self, what, seconds=0.2):
        same(self.fresh(seconds), None, what)


def socket_wire(wire, connection):
    """Both ends of a wire on one socket."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    fd = connection.detach()
    raw.Wire.__init__(wire, fd, os.dup(fd))


def demo_action(name, source, *handlers):
    """(name, source, env) each; the env may be left out."""
    return {"name": name, "source": source, "config": {},
            "handlers": [{"name": each[0], "source": ACTS + each[1], "config": {}, "env": (*each, "e")[2], "dependencies": []}
                         for each in handlers]}


# What the traffic was recorded with, all in one env.
DEMO = [
    demo_action("echo", ECHO, ("h1", "H1"), ("h2", "H2")),
    demo_action("conc", ACTS + "ConcAction", ("c1", "C1"), ("c2", "C2")),
    demo_action("conc_stop", ACTS + "ConcStopAction", ("c1", "C1"), ("stop", "stop")),
    demo_action("stop", ACTS + "StopAction", ("stop", "stop"), ("after", "C1")),
    demo_action("fail", ACTS + "FailAction", ("fail", "fail")),
    demo_action("boom", ACTS + "BoomAction", ("boom", "boom")),
    demo_action("none", ACTS + "NoneAction", ("none", "none")),
    demo_action("canc", ACTS + "CancAction", ("canc", "canc")),
    demo_action("bad", ACTS + "BadAction", ("bad", "bad")),
    demo_action("styled", ACTS + "StyledAction", ("styled", "styled")),
    demo_action("lang", ACTS + "LangAction", ("lang", "plain_fn")),
    demo_action("missing", "no_such_pkg.Action", ("missing", "missing")),
    demo_action("gen", ACTS + "GenAction", ("gen", "gen")),
    demo_action("send", ACTS + "SendAction", ("send", "send")),
    demo_action("prog", ACTS + "ProgAction", ("prog", "prog")),
    demo_action("slow", ACTS + "SlowAction", ("slow", "slow")),
    demo_action("who", ACTS + "WhoAction", ("who", "who")),
    demo_action("read", ACTS + "ReadAction", ("read", "read")),
    demo_action("talk", ACTS + "TalkAction", ("talk", "talk")),
    demo_action("die", ACTS + "DieAction", ("die", "die")),
    demo_action("forget", ACTS + "ForgetAction", ("forget", "forget")),
    demo_action("ask", ACTS + "AskAction", ("ask", "ask")),
    demo_action("nest", ACTS + "NestAction", ("nest", "nest")),
    demo_action("spread", ACTS + "SpreadAction", ("spread", "spread")),
]


class Er(Framed):
    """A runner of ours under a raw manager. what: demo, words, duplex, or a whole argv."""

    def __init__(self, what="demo", tcp=False, words=(), env="e", project=None, revision=None, state="/dev/null"):
        self.place = tempfile.mkdtemp(prefix="finecode-")
        self.project = project or self.place
        self.revision = revision or ("real" if tcp else "seed")
        programs = {"demo": [os.path.join(BUILD, "tests", "finecode_demo"), *([] if tcp else ["--stdio"]), "start"],
                    "words": [os.path.join(BUILD, "examples", "finecode-words"), "start"],
                    "duplex": [os.path.join(BUILD, "duplex-finecode"), "er", "start", *(["--tcp"] if tcp else [])]}
        argv = programs[what] if isinstance(what, str) else list(what)
        argv = argv + (["--revision=" + revision] if revision else []) + list(words)
        argv += ["--project-path=" + self.project, "--env-name=" + env]
        self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL if tcp else subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, cwd=self.project, start_new_session=True,
                                      env={**os.environ, "XDG_STATE_HOME": state})
        self.told = []
        self.printed = []
        threading.Thread(target=self.drain, args=(self.child.stderr, self.told), daemon=True).start()
        if tcp:
            self.port = self.read_port()
            threading.Thread(target=self.drain, args=(self.child.stdout, self.printed), daemon=True).start()
            socket_wire(self, socket.create_connection(("127.0.0.1", self.port)))
        else:
            super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
            self.child.stdin.close()
            self.child.stdout.close()

    asks_config = False  # by the document, that is part of updateConfig

    def send(self, message, header=FULL):
        if isinstance(message, dict) and message.get("method") == "finecodeRunner/updateConfig":
            self.asks_config = True
        super().send(message, header)

    def frame(self, patience=PATIENCE):
        data = super().frame(patience)
        asks, self.asks_config = self.asks_config, self.asks_config and not data
        if asks and data and b'"projects/getRawConfig"' in data:
            self.reply(json.loads(data.split(b"\r\n\r\n", 1)[1]), {"config": "{}"})
            return self.frame(patience)
        return data

    @staticmethod
    def drain(stream, into):
        for line in stream:
            into.append(line.decode(errors="replace").rstrip("\n"))

    def read_port(self):
        for line in self.child.stdout:
            found = re.search(rb"Serving on \('127\.0\.0\.1', (\d+)\)", line)
            if found:
                return int(found.group(1))
        raise Wrong("no port was told; it left with %r: %s" % (self.child.wait(), self.told))

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.close()
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()
        if kind:
            print("# the runner said: " + "\n# ".join(self.told[-60:]))
        shutil.rmtree(self.place, ignore_errors=True)

    def says(self, line, count=1):
        """Waits for a line of its standard error."""
        eventually(lambda: self.told.count(line) >= count, "the runner does not say %r" % line)

    @property
    def is_real(self):
        return self.revision == "real"

    def hello(self):
        result = self.result("initialize", {"processId": os.getpid(), "capabilities": {}, "trace": "verbose",
                                            "clientInfo": {"name": "FineCode_WorkspaceManager", "version": "0.1.0"},
                                            "workspaceFolders": [{"uri": "file://" + self.project, "name": "p"}]})
        self.tell("initialized", {})
        return result

    def config(self, actions=None, configs=None, **more):
        """The params of updateConfig."""
        config = {"actions": DEMO if actions is None else actions, "action_handler_configs": configs or {}, **more}
        return {"workingDir": self.project, "projectName": os.path.basename(self.project),
                "projectDefPath": self.project + "/finecode.toml", "config": config}

    def start(self, *actions, **more):
        """All up to being ready; what resolveActionMeta says."""
        self.hello()
        same(self.result("finecodeRunner/updateConfig", self.config(*actions, **more)), {}, "updateConfig")
        return self.result("finecodeRunner/resolveActionMeta", None if self.is_real else {})

    @staticmethod
    def options(**more):
        made = {"resultFormats": ["json"], "walRunId": RUN_ID, "traceparent": None, "meta": META, **more}
        return {key: value for key, value in made.items() if value is not ...}

    def run_request(self, action, payload=None, **options):
        payload = {"text": "t"} if payload is None else payload
        return self.request("actions/run", {"actionName": action, "params": payload, "options": self.options(**options)})

    def ask_run(self, action, payload=None, **options):
        made = self.run_request(action, payload, **options)
        self.send(made)
        return self.answer_to(made["id"])

    def read(self, result):
        """A result of a run in its revision's spelling, as (status, by format, code)."""
        if self.is_real:
            same(set(result), {"status", "resultByFormat", "returnCode"}, "the members of a result")
            return result["status"], result["resultByFormat"], result["returnCode"]
        same(set(result), {"status", "result_by_format", "return_code"}, "the members of a result")
        true(isinstance(result["result_by_format"], str), "result_by_format is no text: %s" % shown(result))
        return result["status"], json.loads(result["result_by_format"]), result["return_code"]

    def run(self, action, payload=None, **options):
        return self.read(result_of(self.ask_run(action, payload, **options), action))

    def failed(self, action, payload=None, **options):
        """The text of {"error": text}."""
        result = result_of(self.ask_run(action, payload, **options), action)
        same(list(result), ["error"], "%s: %s" % (action, shown(result)))
        return result["error"]

    def items(self, action, payload=None, **options):
        status, by_format, _ = self.run(action, payload, **options)
        same(status, "success", action)
        return by_format["json"]["items"]

    def handlers(self, action, names, previous=None, payload=None, **rest):
        """actions/runHandlers; the whole answer."""
        context = {key: rest.pop(key) for key in ("previousContext",) if key in rest}
        made = self.request("actions/runHandlers", {
            "actionName": action, "handlerNames": names, "params": {"text": "t"} if payload is None else payload,
            "previousResult": previous, **context, "options": self.options(**rest)})
        self.send(made)
        return self.answer_to(made["id"])

    def is_alive(self, what):
        true("logFilePath" in self.result("finecodeRunner/getInfo", {}), what)

    def ended(self, patience=PATIENCE):
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            raise Wrong("the runner does not end") from None

    def shut_down(self):
        same(self.result("shutdown", None), None, "the answer to shutdown")
        self.tell("exit", None)
        same(self.ended(), 0, "its exit code")


def prepare(build):
    global BUILD, SLOW
    BUILD = build
    SLOW = raw.slowness(build)


def main(rows):
    return raw.run_rows(rows, prepare)
