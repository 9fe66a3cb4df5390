"""`duplex-finecode` with raw runners and raw clients, for rows_*.py: nothing here comes from Duplex.

Manager is `duplex-finecode serve` with raw clients, Command any other `duplex-finecode …`. A raw runner is a small process
that lends its three standard streams, and its life, to the row that runs here; by TCP, it is told the row's own port.
Other programs can be its runners as well.
"""
import array
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import stage
import raw
from raw import PATIENCE, Wrong, same, shown, true
from stage import Framed, eventually, socket_wire

# argv: the socket, and then what the manager adds, which is told with the streams.
LENDER = """import array, json, os, signal, socket, sys
row = socket.socket(socket.AF_UNIX)
row.connect(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: row.send(b"T"))
row.sendmsg([json.dumps(sys.argv[2:]).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
for fd in 0, 1, 2:
    os.close(fd)
told = row.recv(1)
os._exit(told[0] if told else 0)
"""


class Guest(Framed, raw.Guest):
    """A raw runner of a Manager or Command."""

    def __init__(self, control, tcp):
        control.settimeout(PATIENCE)
        told, ancillary, _, _ = control.recvmsg(65536, 1000)
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        true(len(fds) == 3, "a runner lent %d streams" % len(fds))
        self.words = json.loads(told)
        named = dict(word[2:].partition("=")[::2] for word in self.words if word.startswith("--"))
        self.env, self.path = named.get("env-name"), named.get("project-path")
        self.control, self.errors_fd, self.out_fd = control, fds[2], None
        self.pid = struct.unpack("3i", control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.is_real = tcp
        self.order, self.opened = [], []
        self.config = self.last = None
        if tcp:
            os.close(fds[0])
            self.out_fd = fds[1]
            self.read_fd = self.write_fd = None
            self.bytes, self.aside, self.last_id = bytearray(), [], 0
        else:
            raw.Wire.__init__(self, fds[0], fds[1])

    def close(self):
        raw.Guest.close(self)
        if self.out_fd is not None:
            os.close(self.out_fd)
            self.out_fd = None

    def leave(self, code=0):
        if self.out_fd is not None:
            os.close(self.out_fd)
            self.out_fd = None
        raw.Guest.leave(self, code)

    def connect(self, before=""):
        """By TCP: tells a port behind that text, and takes the connection."""
        with socket.create_server(("127.0.0.1", 0)) as door:
            os.write(self.out_fd, ("%sServing on ('127.0.0.1', %d)\n" % (before, door.getsockname()[1])).encode())
            door.settimeout(PATIENCE)
            try:
                connection, _ = door.accept()
            except TimeoutError:
                raise Wrong("the manager does not connect") from None
        socket_wire(self, connection)
        return self

    def meta(self, canonical=None, concurrent=(), flat=False):
        """The answer to resolveActionMeta for what was configured."""
        known = {}
        for action in self.config["actions"]:
            about = {"canonical_source": (canonical or {}).get(action["source"], action["source"]),
                     "runs_concurrently": action["name"] in concurrent}
            if self.is_real and not flat:
                about.update({"scope": "project", "parentActionSource": None, "language": None, "fileLoc": None})
            known[action["source"]] = about
        return {"actions": known, "handlerLocations": {}} if self.is_real and not flat else known

    def fresh_or_end(self):
        """The next message of the start; None at the end."""
        self.last = self.fresh()
        if self.last:
            self.order.append(self.last["method"])
        return self.last

    def answer_last(self, answers=None, **meta):
        """Answers it, if it is a request."""
        message, method = self.last, self.last["method"]
        usual = {"initialize": {"capabilities": {}}, "finecodeRunner/getInfo": {"logFilePath": None},
                 "finecodeRunner/updateConfig": {}, "finecodeRunner/updateLogging": {}}
        if method == "textDocument/didOpen":
            self.opened.append(message)
        if method == "finecodeRunner/updateConfig":
            self.config = message["params"]["config"]
        if method == "finecodeRunner/resolveActionMeta":
            usual[method] = self.meta(**meta)
        if "id" in message:
            true(method in usual or method in (answers or {}), "unexpected at the start: %s" % shown(message))
            given = (answers or {}).get(method, usual.get(method))
            if isinstance(given, Exception):
                self.refuse(message, -32601, "Method not found: " + method)
            else:
                self.reply(message, given)

    def step(self, answers=None, **meta):
        """The next request or notification of the start, answered; its method."""
        true(self.fresh_or_end() is not None, "the manager says nothing more after %s" % self.order)
        self.answer_last(answers, **meta)
        return self.order[-1]

    def begin(self, answers=None, **meta):
        """All of the start, up to being used."""
        if self.is_real and self.read_fd is None:
            self.connect()
        last = "finecodeRunner/updateLogging" if self.is_real else "finecodeRunner/resolveActionMeta"
        while self.step(answers, **meta) != last:
            pass
        return self

    def run(self):
        """The next actions/run or runHandlers."""
        return self.until(lambda m: m.get("method") in ("actions/run", "actions/runHandlers"), "a run")

    def done(self, request, result=None, status="success", code=0, **more):
        """Answers a run as its revision has it. Formats are those that were asked for."""
        result = {"items": []} if result is None else result
        formats = request["params"]["options"].get("resultFormats", ["json"])
        by_format = {}
        if result and "json" in formats:
            by_format["json"] = result
        if result and "string" in formats:
            by_format["string"] = json.dumps(result)
        if status == "streamed":
            by_format = {}
        answer = {"status": status, "resultByFormat": by_format, "returnCode": code}
        if request["method"] == "actions/runHandlers":
            answer["result"] = result
        elif not self.is_real:
            answer = {"status": status, "result_by_format": json.dumps(by_format), "return_code": code}
        self.reply(request, {**answer, **more})

    def progress(self, token, value):
        self.tell("$/progress", {"token": token, "value": value if isinstance(value, str) else json.dumps(value)})

    def farewell(self):
        """shutdown, exit, and it leaves."""
        self.reply(self.news("shutdown"), None)
        self.news("exit")
        self.leave()


class Client(Framed):
    """A raw client of a Manager."""

    plain = True

    def __init__(self, port):
        socket_wire(self, socket.create_connection(("127.0.0.1", port)))

    def run_request(self, source, project="", payload=None, formats=("json",), token=None, **options):
        return self.request("actions/run", {
            "actionSource": source, "project": project, "params": {} if payload is None else payload,
            "options": {"resultFormats": list(formats), "trigger": "user", "devEnv": "cli", **options},
            **({} if token is None else {"partialResultToken": token})})

    def start_run(self, *words, **rest):
        """Its id."""
        made = self.run_request(*words, **rest)
        self.send(made)
        return made["id"]

    def is_alive(self, what):
        true(isinstance(self.result("workspace/listProjects", {}), dict), what)


def toml_of(value):
    return json.dumps(value, ensure_ascii=False)


class Workspace:
    """A folder with projects. projects: {name: [action]}; runner: raw, or an argv; by TCP or by pipes."""

    def __init__(self, projects, tcp=False, runner="raw", more="", files=None):
        self.place = os.path.realpath(tempfile.mkdtemp(prefix="finecode-"))
        self.folder = os.path.join(self.place, "ws")
        self.tcp = tcp
        self.closing, self.guests, self.ours = [], [], []
        self.door = None
        argv = self.lender() if runner == "raw" else list(runner)
        for name, actions in projects.items():
            self.put(os.path.join(name, "finecode.toml"), self.project(actions, argv) + more)
        for name, text in (files or {}).items():
            self.put(name, text)

    def lender(self):
        at, lender = os.path.join(self.place, "at"), os.path.join(self.place, "lender.py")
        with open(lender, "w", encoding="utf-8") as file:
            file.write(LENDER)
        self.door = socket.socket(socket.AF_UNIX)
        self.closing.append(self.door)
        self.door.bind(at)
        self.door.listen(256)
        return [sys.executable, "-IS", lender, at]

    def project(self, actions, argv):
        text = "[finecode.er]\nrunner = %s\ntransport = %s\n" % (toml_of(argv), toml_of("tcp" if self.tcp else "stdio"))
        for action in actions:
            text += "\n[finecode.action.%s]\nsource = %s\n" % (action["name"], toml_of(action["source"]))
            for each in action["handlers"]:
                text += "[[finecode.action.%s.handlers]]\nname = %s\nsource = %s\nenv = %s\n" % (
                    action["name"], toml_of(each["name"]), toml_of(each["source"]), toml_of(each["env"]))
        return text

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def path(self, name):
        return os.path.join(self.folder, name)

    def open(self, *words, env=None):
        self.words = [os.path.join(stage.BUILD, "duplex-finecode"), *words]
        with open(os.path.join(self.place, "out"), "wb") as out, open(os.path.join(self.place, "err"), "wb") as err:
            self.child = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.folder,
                                          env={**os.environ, **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        self.child.kill()
        self.child.wait()
        if kind:
            print("# %s" % " ".join(self.words))
            print("# it said: " + (self.said() + self.printed()).strip().replace("\n", "\n# ")[-3000:])
        for each in self.closing:
            each.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def text(self, name):
        with open(os.path.join(self.place, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def said(self):
        return self.text("err")

    def printed(self):
        return self.text("out")

    def guest(self, env=None, project=None, patience=PATIENCE):
        """The next runner that is started; of that env and project, if they are named."""
        end = time.monotonic() + patience
        while True:
            for guest in self.guests:
                if not guest.taken and env in (None, guest.env) and project in (None, os.path.basename(guest.path)):
                    guest.taken = True
                    return guest
            self.door.settimeout(max(0.001, end - time.monotonic()))
            try:
                control, _ = self.door.accept()
            except TimeoutError:
                raise Wrong("no runner of %s was started" % (env or "any env")) from None
            guest = Guest(control, self.tcp)
            guest.taken = False
            self.closing.append(guest)
            self.guests.append(guest)

    def nobody_new(self, what, seconds=0.3):
        try:
            guest = self.guest(patience=seconds)
        except Wrong:
            return
        raise Wrong("%s: a runner of %s was started" % (what, guest.env))

    def ended(self, code, patience=PATIENCE):
        """Its exit code, and that nothing that it started is left."""
        try:
            got = self.child.wait(patience)
        except subprocess.TimeoutExpired:
            raise Wrong("it does not end") from None
        same(got, code, "the exit code")
        for guest in self.guests:
            guest.gone()

    def events(self, kind=None):
        """What --json told."""
        found = [json.loads(line) for line in self.printed().splitlines()]
        return [each for each in found if kind in (None, each.get("event"))]


class Command(Workspace):
    """duplex-finecode WORD... -w FOLDER."""

    def __init__(self, projects, *words, options=(), env=None, **rest):
        super().__init__(projects, **rest)
        self.open(words[0], "-w", self.folder, *options, *words[1:], env=env)


class Manager(Workspace):
    """duplex-finecode serve, and a client that has added the folder."""

    def __init__(self, projects, *options, env=None, **rest):
        super().__init__(projects, **rest)
        self.port_file = os.path.join(self.place, "port")
        self.open("serve", "--port-file", self.port_file, *options, env=env)
        self.client = self.connect()
        self.client.result("client/initialize", {"clientId": "row"})
        self.added = self.client.result("workspace/addDir", {"dirPath": self.folder, "startRunners": False})

    def port(self):
        def look():
            true(self.child.poll() is None, "the manager ended: " + self.said())
            try:
                with open(self.port_file, encoding="ascii") as file:
                    return int(file.read() or "0")
            except OSError:
                return 0
        return eventually(look, "no port was written")

    def connect(self):
        client = Client(self.port())
        self.closing.append(client)
        return client

    def states(self):
        """{(project, env): status}."""
        runners = self.client.result("runners/list", {})["runners"]
        return {(os.path.basename(each["projectPath"]), each["envName"]): each["status"] for each in runners}

    def becomes(self, state, env="e", project="p"):
        eventually(lambda: self.states().get((project, env)) == state, "the runner of %s is not %s" % (env, state))
