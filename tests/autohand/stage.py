"""Raw bytes on both ends of the Autohand protocol, for rows_*.py: nothing here comes from Duplex.

Agent is `duplex-autohand agent` in a workspace of its own, under a raw client. Its model is an HTTP
endpoint (fake_model.py) that follows a list of steps, unless the row says otherwise.

    rows_NAME.py BUILD [ROW...]      all rows of that chapter, or these: 07, 35-long
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "hermes"))
import fake_model
import raw
from raw import PATIENCE, Skip, Wrong, eventually, is_gone, is_there, same, shown, true

BUILD = ""
SLOW = 1
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
OLD = ("0.6", "0.8")
ALL = ("doc", *OLD)
EXECUTION, DENIED, TIMEOUT, BUSY, ABORTED = -32000, -32001, -32002, -32003, -32004
SKIPPED = "Tool execution skipped by user."


def error_is(answer, code, text=None, what="the answer"):
    true("error" in answer, "%s: %s instead of an error" % (what, shown(answer)))
    same(answer["error"]["code"], code, "%s: %s" % (what, shown(answer)))
    if text is not None:
        same(answer["error"]["message"], text, what)
    return answer["error"]


def short(message):
    """The method without its first part; of an answer its id."""
    if isinstance(message, list):
        return "[%s]" % ",".join(str(short(each)) for each in message)
    return message["method"].replace("autohand.", "", 1) if "method" in message else message.get("id")


def shorts(messages):
    return [short(each) for each in messages]


def says(text, **more):
    """A step of the model: text."""
    return {"text": text, "tokens": 15, **more}


def calls(*made, **more):
    """A step of the model: calls, each (name, {arguments}) or (name, {arguments}, id)."""
    listed = [{"name": each[0], "args": each[1], **({"id": each[2]} if len(each) > 2 else {})} for each in made]
    return {"toolCalls": listed, "tokens": 15, **more}


def runs(line, **more):
    """A call of a shell."""
    return ("run_command", {"command": "sh", "args": ["-c", line], **more})


def writes(path, text):
    return ("write_file", {"path": path, "contents": text})


def reads(path):
    return ("read_file", {"path": path})


class Model(fake_model.Server):
    """The endpoint, in this process. What happened to it is in `said`: (when, "asked v1")."""

    def __init__(self, steps):
        self.said = []
        super().__init__(types.SimpleNamespace(port=0, log=None, script=None))
        self.follow_steps(steps)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        self.url = "http://127.0.0.1:%d" % self.server_address[1]

    def follow_steps(self, steps):
        self.steps = list(steps)
        self.left = [step.get("repeat", 1) for step in self.steps]

    def tell(self, line):
        self.said.append((time.monotonic(), line))

    def waits_for(self, line, since=0.0, patience=PATIENCE):
        """When that happened."""
        return eventually(lambda: next((at for at, each in list(self.said) if each == line and at >= since), None),
                          lambda: "the model does not see %r; it saw %s" % (line, shown(self.said)), patience)

    def messages(self, at=-1):
        """Of a question."""
        return self.asked[at]["body"]["messages"]

    def close(self):
        self.shutdown()
        self.server_close()


class Turn:
    """What came from a prompt to its answer."""

    def __init__(self, messages, answer):
        self.messages, self.answer = messages, answer

    @property
    def order(self):
        return [short(each) for each in self.messages if "method" in each]

    def all(self, name):
        return [each["params"] for each in self.messages if each.get("method") == "autohand." + name]

    def one(self, name):
        found = self.all(name)
        same(len(found), 1, "how often %s came: %s" % (name, shown(self.order)))
        return found[0]

    @property
    def text(self):
        return "".join(each["delta"] for each in self.all("messageUpdate"))

    @property
    def success(self):
        return self.answer.get("result", {}).get("success")


class Lines(raw.Wire):
    """Lines instead of frames."""

    def body(self, patience=PATIENCE):
        end = time.monotonic() + patience
        looked = 0
        while True:
            at = self.bytes.find(b"\n", looked)
            if at >= 0:
                line = bytes(self.bytes[:at])
                del self.bytes[: at + 1]
                return line
            looked = len(self.bytes)
            if not self.more(max(0, end - time.monotonic())):
                return None

    def more(self, patience=PATIENCE):
        try:
            return super().more(patience)
        except ConnectionError:
            return False

    def line(self, data):
        self.write((data if isinstance(data, bytes) else data.encode()) + b"\n")

    def send(self, message):
        self.line(raw.text_of(message))


class Agent(Lines):
    """An agent of ours. words: more options, and behind "--" a model of its own."""

    def __init__(self, *words, steps=None, mode="v1", compat="doc", settings=None, files=None, place=None, env=None,
                 start=True, framing=None):
        self.is_mine = place is None
        self.place = place or tempfile.mkdtemp(prefix="autohand-")
        self.workspace = os.path.join(self.place, "ws")
        self.home = os.path.join(self.place, "home")
        os.makedirs(self.workspace, exist_ok=True)
        os.makedirs(self.home, exist_ok=True)
        for path, text in (files or {}).items():
            self.put(path, text)
        argv = [os.path.join(BUILD, "duplex-autohand"), "agent", "--path", self.workspace, "--home", self.home,
                "--model", "fake-model", "--compat", compat]
        if framing:
            argv += ["--framing", framing]
        if settings is not None:
            path = os.path.join(self.place, "config.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(settings, file)
            argv += ["--config", path]
        self.model = None
        if "--" not in words and "--script" not in words:
            self.model = Model(steps or [])
            argv += ["--url", self.model.url + "/" + mode]
        argv += words
        self.compat = compat
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      cwd=self.place, start_new_session=True, env={**os.environ, **(env or {})})
        self.told = []
        self.drainer = threading.Thread(target=self.drain, args=(self.child.stderr,), daemon=True)
        self.drainer.start()
        super().__init__(os.dup(self.child.stdout.fileno()), os.dup(self.child.stdin.fileno()))
        self.child.stdin.close()
        self.child.stdout.close()
        self.greeting = self.fresh() if start else None
        if start:
            same(short(self.greeting or {}), "agentStart", "the first line; it said %s" % self.told)

    def drain(self, stream):
        for line in stream:
            self.told.append(line.decode(errors="replace").rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.close()
        try:
            self.child.wait(PATIENCE if kind is None else 0)
        except subprocess.TimeoutExpired:
            pass
        left = self.child.returncode is None
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except OSError:
            pass
        self.child.wait()
        self.drainer.join(1)
        if self.model:
            self.model.close()
        if self.is_mine:
            shutil.rmtree(self.place, ignore_errors=True)
        if kind:
            print("# the agent said: " + "\n# ".join(self.told[-40:]))
            return
        true(not left, "the agent stays when its client is gone")
        true(not [line for line in self.told if "Sanitizer" in line or "runtime error" in line], "\n# ".join(self.told[-60:]))

    def tell(self, method, *params):
        self.send({"jsonrpc": "2.0", "method": "autohand." + method, **({"params": params[0]} if params else {})})

    def request(self, method, *params):
        return super().request("autohand." + method, *params)

    def start(self, method, *params):
        """A request whose answer comes later; its id."""
        made = self.request(method, *params)
        self.send(made)
        return made["id"]

    def news(self, name):
        return self.until(lambda m: isinstance(m, dict) and m.get("method") == "autohand." + name, name)["params"]

    def answer_to(self, identity):
        return self.until(lambda m: isinstance(m, dict) and "method" not in m and m.get("id") == identity
                          and type(m.get("id")) is type(identity), "the answer to %r" % (identity,))

    def is_quiet(self, what, seconds=0.2):
        same(self.aside, [], what)
        same(self.fresh(seconds), None, what)

    def state(self):
        return self.result("getState")

    def status(self):
        return self.state()["status"]

    # Turns.

    def prompt(self, text="go", **more):
        """Begins a turn; the id of its prompt."""
        return self.start("prompt", {"message": text, **more})

    def finish(self, identity, permit=None, patience=PATIENCE):
        """Up to the answer of a prompt. permit: what each question is answered with."""
        messages, own = [], []
        while True:
            message = self.message(patience)
            if message is None:
                raise Wrong("the prompt is not answered; there came %s" % shown(shorts(messages)))
            if isinstance(message, dict) and "method" not in message and message.get("id") in own:
                same(message.get("result"), {"success": True}, "permissionResponse")
                continue
            if isinstance(message, dict) and "method" not in message and message.get("id") == identity:
                return Turn(messages, message)
            messages.append(message)
            if short(message) == "permissionRequest" and permit is not None:
                asked = message["params"]["requestId"]
                answer = permit(message["params"]) if callable(permit) else permit
                answer = {"allowed": answer} if isinstance(answer, bool) else {"decision": answer} if isinstance(answer, str) else answer
                own.append(self.start("permissionResponse", {"requestId": asked, **answer}))

    def turn(self, text="go", permit=None, **more):
        return self.finish(self.prompt(text, **more), permit)

    def wait_question(self):
        """The params of the next permissionRequest."""
        return self.news("permissionRequest")

    def allow(self, question, allowed=True, **more):
        return self.result("permissionResponse", {"requestId": question["requestId"], "allowed": allowed, **more})["success"]

    # Files.

    def path(self, name):
        return os.path.join(self.workspace, name)

    def put(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def get(self, name):
        """None: there is no such file."""
        try:
            with open(self.path(name), "rb") as file:
                return file.read().decode()
        except FileNotFoundError:
            return None

    # Its process.

    def memory(self, what):
        """VmHWM: the most that it ever had; VmRSS: what it has. In bytes."""
        with open("/proc/%d/status" % self.child.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith(what + ":"):
                    return int(line.split()[1]) * 1024
        raise Wrong("no " + what)

    def ended(self, patience=PATIENCE):
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            raise Wrong("the agent does not end") from None

    def leave(self, code=0):
        """The end of its input: what still comes."""
        self.close_write()
        rest = list(self.aside)
        self.aside = []
        while (message := self.fresh()) is not None:
            rest.append(message)
        same(self.ended(), code, "its exit code")
        return rest


def prepare(build):
    global BUILD, SLOW
    BUILD = build
    SLOW = raw.slowness(build)


def main(rows):
    return raw.run_rows(rows, prepare)
