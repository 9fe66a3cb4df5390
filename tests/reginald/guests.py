"""Raw bytes on both ends of the Reginald protocol, for rows.py: nothing here comes from Duplex.

Host is `duplex reginald` with raw plugins. Such a plugin is a small process that lends its three
standard streams, and its life, to the row that runs here: so a row reads and writes as the plugin
and sees what the host says in one line of thought.

Plugin is a program of ours, run by a raw host.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hermes"))
import raw
from raw import LENDER, PATIENCE, Wrong, frame, same, shown, text_of, true

HELLO = {"protocol": "rpp", "protocolVersion": 0}
WORK = {"name": "work", "usage": "work"}


def is_there(pid):
    """Does that process run? A zombie does not."""
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def setting(key, value):
    return {"key": key, "value": value, "type": {bool: "bool", int: "int", str: "string"}[type(value)]}


class Guest(raw.Guest):
    """A raw plugin of a Host."""

    def __init__(self, control, name):
        super().__init__(control)
        self.name = name
        self.greeting = None

    def greet(self):
        """Reads handshake."""
        self.greeting = self.fresh()
        true(self.greeting is not None, "handshake did not come")
        same(self.greeting.get("method"), "handshake", "the first message")
        same(self.greeting.get("params"), HELLO, "its params")
        return self.greeting

    def facts(self, **more):
        return {**HELLO, "name": self.name, "version": "1.0.0", **more}

    def hello(self, **more):
        """Answers handshake."""
        self.reply(self.greeting or self.greet(), self.facts(**more))
        return self

    def start(self, **more):
        """Answers handshake and initialize, whose params are kept."""
        self.hello(**{"commands": [WORK], **more})
        return self.initialized()

    def initialized(self):
        self.initialize = self.news("initialize")
        self.reply(self.initialize, {})
        return self

    def run(self, **more):
        """As far as runCommand, which is not answered."""
        self.start(**more)
        return self.running()

    def running(self):
        self.setup = self.news("setupCommand")
        self.reply(self.setup, {})
        return self.news("runCommand")

    def farewell(self, result=None):
        """Reads shutdown, agrees, reads exit and leaves."""
        request = self.news("shutdown")
        true(request.get("params") is None, "shutdown has params: %s" % shown(request))
        self.reply(request, result)
        told = self.news("exit")
        true("id" not in told and told.get("params") is None, "exit is %s" % shown(told))
        self.leave()

    def log(self, **params):
        self.send({"jsonrpc": "2.0", "method": "log", "params": params})


class Host:
    """duplex reginald. Its plugins are in a folder, each under the name of its door."""

    def __init__(self, build, *words, names=("raw",), revision=None, config=None, options=(), env=None):
        self.place = tempfile.mkdtemp(prefix="reginald-")
        self.folder = os.path.join(self.place, "plugins")
        os.mkdir(self.folder)
        self.closing = []
        self.guests = []
        self.child = None
        self.command = [os.path.join(build, "duplex"), "reginald", "--plugin-dir", self.folder, "--log-format", "json"]
        self.command += ["--revision", revision] if revision else []
        if config is not None:
            self.command += ["-c", os.path.join(self.place, "config.toml")]
            with open(self.command[-1], "w", encoding="utf-8") as file:
                file.write(config)
        self.command += [*options, *words]
        self.env = {key: os.environ[key] for key in os.environ if not key.startswith("REGINALD_")}
        self.env.update(env or {})
        self.doors = {each: self.door(each) for each in names}

    def door(self, name):
        at = os.path.join(self.place, name + ".at")
        self.put(name, "#!%s -IS\n%s" % (sys.executable, LENDER.replace("sys.argv[1]", repr(at))))
        listener = socket.socket(socket.AF_UNIX)
        self.closing.append(listener)
        listener.bind(at)
        listener.listen(8)
        return listener

    def put(self, name, text, mode=0o700):
        path = os.path.join(self.folder, "reginald-" + name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def __enter__(self):
        self.begin()
        return self

    def begin(self):
        with open(os.path.join(self.place, "out"), "wb") as out, open(os.path.join(self.place, "err"), "wb") as err:
            self.began = time.monotonic()
            self.child = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.env)

    def __exit__(self, kind, wrong, trace):
        self.child.kill()
        self.child.wait()
        if kind:
            print("# %s" % " ".join(self.command))
            print("# the host said: " + self.said().strip().replace("\n", "\n# ")[-3000:])
        for each in self.closing:
            each.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def guest(self, name="raw"):
        door = self.doors[name]
        door.settimeout(PATIENCE)
        try:
            control, _ = door.accept()
        except TimeoutError:
            raise Wrong("%s was not started" % name) from None
        guest = Guest(control, name)
        self.closing.append(guest)
        self.guests.append(guest)
        return guest

    def starts(self, **facts):
        """Guests of these names, all ready. The host awaits every handshake before it goes on with any."""
        guests = [self.guest(name) for name in facts]
        for guest, more in zip(guests, facts.values()):
            guest.hello(**more)
        for guest in guests:
            guest.initialized()
        return guests

    def text(self, name):
        with open(os.path.join(self.place, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def said(self):
        """What it told its user: the standard error."""
        return self.text("err")

    def printed(self):
        return self.text("out")

    def tale(self):
        return self.printed() + self.said()

    def told(self, plugin="raw", kind=None):
        """The lines of its log that are about that plugin: its messages, or "stderr", "violation", "failed"."""
        lines = [json.loads(line) for line in self.said().splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in lines if line.get("plugin") == plugin and line.get("kind") == kind]

    def tells(self, plugin, kind, count=1):
        """Waits for so many of them; all that are there."""
        end = time.monotonic() + PATIENCE
        while len(self.told(plugin, kind)) < count:
            true(time.monotonic() < end, "not %d %s of %s" % (count, kind, plugin))
            time.sleep(0.02)
        return self.told(plugin, kind)

    def wait_for(self, words, count=1):
        end = time.monotonic() + PATIENCE
        while self.said().count(words) < count:
            true(time.monotonic() < end and self.child.poll() is None, "the host does not say %r" % words)
            time.sleep(0.02)

    def ended(self, code, within=PATIENCE):
        """Its exit code, and that nothing that it started is left."""
        try:
            got = self.child.wait(within)
        except subprocess.TimeoutExpired:
            raise Wrong("the host does not end") from None
        same(got, code, "the exit code of the host")
        for guest in self.guests:
            guest.gone()

    def seconds(self):
        return time.monotonic() - self.began

    def interrupt(self, number=signal.SIGINT):
        self.child.send_signal(number)

    def memory(self, what):
        """VmSize: how much memory it has asked for; VmRSS: how much of it is there. In bytes."""
        with open("/proc/%d/status" % self.child.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith(what + ":"):
                    return int(line.split()[1]) * 1024
        raise Wrong("no " + what)


class Plugin(raw.Extension):
    """A program of ours under a raw host. Log messages are kept apart."""

    def __init__(self, *words):
        self.logs = []
        super().__init__(*words)

    def fresh(self, patience=PATIENCE):
        while True:
            message = super().fresh(patience)
            if not message or message.get("method") != "log":
                true(not message or "method" not in message, "a plugin may only log: %s" % shown(message))
                return message
            true(set(message) == {"jsonrpc", "method", "params"}, "a log message: %s" % shown(message))
            self.logs.append(message["params"])

    def start(self, level="TRACE", **more):
        """handshake and initialize; what it said of itself."""
        facts = self.result("handshake", HELLO)
        same(self.result("initialize", {"logging": {"enabled": True, "level": level}, **more}), {}, "initialize")
        return facts

    def sets(self, **values):
        """setupCommand of sleep."""
        config = [setting(key.replace("_", "-"), value) for key, value in values.items()]
        return self.result("setupCommand", {"name": "sleep", "args": None, "config": config})

    def shut_down(self):
        same(self.result("shutdown"), None, "the answer to shutdown")
        self.tell_exit()
        same(self.ended(), 0, "the exit code of the plugin")
        same(self.message(), None, "behind the answer to shutdown")

    def tell_exit(self):
        self.send({"jsonrpc": "2.0", "method": "exit"})

    def is_alive(self, what):
        same(self.error("no/such")["code"], -32601, what)
