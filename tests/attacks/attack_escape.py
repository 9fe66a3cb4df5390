"""Processes that leave their peer's process group: they are ended with it, reported, and never
confused with the processes of another peer or of somebody else."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import attack
from attack import Program, Skip, duplex, eventually, is_gone, is_there, python, run, same, true

# A peer that answers every request, and leaves a process behind that escapes in the way that argv[1]
# names. The pids of such processes are appended to the file argv[2].
PEER = r"""
import json, os, signal, sys, time
kind, notes = sys.argv[1:3]
def note():
    fd = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, b"%d\n" % os.getpid())
    os.close(fd)
def stay():
    note()
    time.sleep(60)
    os._exit(0)
def escape():
    if kind == "heavy":
        memory = b"x" * (600 << 20)
        stay()
    os.setsid()
    if kind != "hold":
        if os.fork():
            os._exit(0)
        os.closerange(0, 100)
    if kind == "cleared":
        os.execve(sys.executable, ["left", "-IS", "-c", "import os, time\nopen(%r, 'a').write('%%d\\n' %% os.getpid())\ntime.sleep(60)" % notes], {})
    if kind == "forged":
        os.execve(sys.executable, ["left", "-IS", "-c", "import os, time\nopen(%r, 'a').write('%%d\\n' %% os.getpid())\ntime.sleep(60)" % notes], {"DUPLEX_PEER": "1:1"})
    if kind == "tree":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for depth in range(5):
            if os.fork():
                break
            os.setsid()
    if kind == "many":
        for i in range(300):
            if os.fork() == 0:
                os.setsid()
                stay()
        os._exit(0)
    if kind == "storm":
        note()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
    if kind == "user":
        os.setgid(65534)
        os.setuid(65534)
    stay()
def zombies():
    for i in range(200):
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(0.01)
            os._exit(0)
        os.wait()
    note()
def notes_there():
    return len(open(notes).readlines()) if os.path.exists(notes) else 0
before = notes_there()
if kind == "zombies":
    zombies()
elif kind != "none" and os.fork() == 0:
    escape()
count = {"none": 0, "zombies": 0, "tree": 6, "many": 300}.get(kind, 1)
while count and notes_there() < before + count:
    time.sleep(0.01)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}) + "\n")
        sys.stdout.flush()
"""


class Escape:
    """A folder with the peer, and what it left behind."""

    def __init__(self):
        self.place = tempfile.mkdtemp(prefix="escape-")
        os.chmod(self.place, 0o777)
        self.peer = self.path("peer.py")
        with open(self.peer, "w", encoding="utf-8") as file:
            file.write(PEER)

    def path(self, name):
        return os.path.join(self.place, name)

    def command(self, kind, notes="notes"):
        return [sys.executable, "-IS", self.peer, kind, self.path(notes)]

    def left(self, notes="notes"):
        """The pids that were noted."""
        try:
            with open(self.path(notes), encoding="ascii") as file:
                return [int(line) for line in file]
        except FileNotFoundError:
            return []

    def one(self, notes="notes"):
        eventually(lambda: self.left(notes), "nothing escaped")
        return self.left(notes)[-1]

    def __enter__(self):
        return self

    def __exit__(self, *wrong):
        for name in os.listdir(self.place):
            for pid in self.left(name) if name.startswith("notes") else []:
                if self.place in command_of(pid):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.place, ignore_errors=True)


def command_of(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def call(*words):
    return duplex("call", "-p", "jsonrpc", "-f", "line", *words)


def is_ended(kind, count=1):
    """duplex call ends what escaped in this way, reports it, and succeeds."""
    with Escape() as escape:
        code, out, said = run(call("hello", "--", *escape.command(kind)), 10)
        pids = escape.left()
        same(len(pids), count, "processes that escaped")
        for pid in pids:
            true(not is_there(pid), "%s: %d lives on" % (kind, pid))
            true("stopped escaped process %d: " % pid in said, "%d is not reported: %s" % (pid, said))
        same((code, out.strip()), (0, "{}"), "code and result")


def attack_escape_session():
    """A grandchild makes a session of its own and holds the standard output."""
    is_ended("hold")


def attack_escape_daemon():
    """A real daemon: two forks, a session of its own, all descriptors closed."""
    is_ended("daemon")


def attack_escape_cleared_environment():
    """Without the mark, or with a forged one, it still comes from the only peer there is."""
    is_ended("cleared")
    is_ended("forged")


def attack_escape_tree():
    """Sessions within sessions, all of which ignore SIGTERM."""
    is_ended("tree", 6)


def attack_escape_storm():
    """A daemon that forks and exits without a pause: ended, or reported in bounded time."""
    with Escape() as escape:
        try:
            code, _, said = run(call("hello", "--", *escape.command("storm")), 9)
            left = attack.processes_with(escape.place)
            if code == 0: # one that is seen only while it exits by itself is not reported
                true("stopped escaped process" in said or not said, said)
                same(left, [], "processes that live on though all is well")
            else:
                same(code, 5, "code")
                true("could not stop escaped process" in said, said)
            true(said.count("\n") < 30, "a flood of reports: %d lines" % said.count("\n"))
        finally:
            end = time.monotonic() + 40
            while attack.processes_with(escape.place) and time.monotonic() < end:
                for pid, _ in attack.processes_with(escape.place):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)


def attack_escape_keep_daemons():
    """--keep-daemons leaves them alone."""
    with Escape() as escape:
        code, _, said = run(call("hello", "--keep-daemons", "--", *escape.command("daemon")), 10)
        same((code, said), (0, ""), "code and standard error")
        true(is_there(escape.one()), "the daemon was ended")


def attack_escape_slow_death():
    """An ordinary child dies with its peer's group; that it takes long to die is no escape."""
    with Escape() as escape:
        code, _, said = run(call("hello", "--", *escape.command("heavy")), 20)
        same((code, said), (0, ""), "code and standard error")
        true(not is_there(escape.one()), "it lives on")


def attack_escape_hostile_name():
    """Its command line cannot steer the terminal."""
    with Escape() as escape:
        command = [*escape.command("hold"), "\033[2J\nduplex call: all is well\u202e"]
        _, _, said = run(call("hello", "--", *command), 10)
        true("\033" not in said and "\u202e" not in said, said)
        same(said.count("\n"), 1, "lines")


# Without CAP_KILL, root cannot end the processes of others.
WITHOUT_KILL = r"""
import ctypes, os, sys
if ctypes.CDLL(None, use_errno=True).prctl(24, 5, 0, 0, 0) != 0:
    sys.exit("prctl: %d" % ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def attack_escape_other_user():
    """What belongs to another user cannot be ended: reported, and the exit code says so."""
    if os.getuid() != 0:
        raise Skip("needs root")
    with Escape() as escape:
        code, out, said = run(python(WITHOUT_KILL, *call("hello", "--", *escape.command("user"))), 10)
        pid = escape.one()
        same((code, out.strip()), (5, "{}"), "code and result")
        true("could not stop escaped process %d: " % pid in said and escape.peer in said, said)
        true(is_there(pid), "it was stopped")


def attack_escape_no_proc():
    """Without /proc nothing can be found: that is said, and nothing hangs."""
    if attack.IS_ASAN:
        raise Skip("sanitizers need /proc themselves")
    hide = "mount -t tmpfs none /proc && exec \"$0\" \"$@\""
    unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*unshare, "sh", "-c", hide, "true"], capture_output=True, check=False).returncode:
        raise Skip("needs mount namespaces")
    with Escape() as escape:
        for kind, want in ("none", 0), ("daemon", 5):
            command = [*unshare, "sh", "-c", hide, *call("hello", "--", *escape.command(kind))]
            code, out, said = run(command, 10)
            same((code, out.strip()), (want, "{}"), "code and result")
            same("cannot stop processes that escaped: /proc" in said, want == 5, said)


def attack_escape_earlier_children():
    """Children from before an exec are not the peer's, and neither is what they leave behind."""
    with Escape() as escape:
        # The child of the shell that becomes duplex leaves a process behind, too, when the peer runs.
        shell = "setsid sh -c \"$1\" & shift; exec \"$@\""
        earlier = ("cd %s; echo $$ >> notes-a; while ! [ -e started ]; do sleep 0.02; done;"
                   " (sh -c 'echo $$ >> notes-b; exec sleep 60' &); exec sleep 60" % escape.place)
        later = "cd %s; : > started; while ! [ -s notes-b ]; do sleep 0.02; done; exec \"$0\" \"$@\"" % escape.place
        command = call("hello", "--", "sh", "-c", later, *escape.command("daemon"))
        try:
            code, _, said = run(["sh", "-c", shell, "sh", earlier, *command], 10)
            same(code, 0, "code")
            true("stopped escaped process %d: " % escape.one() in said, said)
            same(said.count("\n"), 1, "lines of %s" % said)
            for name in "notes-a", "notes-b":
                true(is_there(escape.one(name)), "%s was ended" % name)
        finally:
            for name in "notes-a", "notes-b":
                for pid in escape.left(name):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)


class Run:
    """duplex run with these peers, each of which leaves a process behind in the way that is named."""

    def __init__(self, escape, *kinds, words=()):
        peers = {"p%d" % i: {"command": escape.command(kind, "notes%d" % i), "protocol": "jsonrpc",
                             "framing": "line", "restart": "always", "backoffMs": 50}
                 for i, kind in enumerate(kinds)}
        with open(escape.path("run.json"), "w", encoding="utf-8") as file:
            json.dump({"duplex": 1, "peers": peers}, file)
        self.socket = escape.path("socket")
        self.program = Program(duplex("run", "--config", escape.path("run.json"), "--socket",
                                      self.socket, *words))

    def do(self, verb, *words):
        code, out, said = run(duplex(verb, "--socket", self.socket, *words), 20)
        same(code, 0, "%s: %s" % (verb, said))
        return out

    def said(self, text):
        eventually(lambda: text in self.program.said(), "it does not say '%s'" % text)

    def __enter__(self):
        self.program.__enter__()
        return self

    def __exit__(self, *wrong):
        self.program.__exit__(*wrong)


def attack_escape_run():
    """A restart ends what the old incarnation left behind; the other peer's processes live on."""
    with Escape() as escape, Run(escape, "daemon", "hold", "none") as host:
        host.said("p1: ready")
        host.said("p0: ready")
        old, other = escape.one("notes0"), escape.one("notes1")
        host.do("restart", "p0")
        host.said("p0: stopped escaped process %d: " % old)
        is_gone(old, "what the old incarnation left behind")
        eventually(lambda: escape.one("notes0") != old, "it did not start again")
        new = escape.one("notes0")
        true("stopped escaped process %d: " % old in host.do("logs", "p0"), "the log does not tell")
        time.sleep(1)
        true(is_there(new) and is_there(other), "a process of a peer that runs was ended")
        host.do("down")
        same(host.program.wait(30), 0, "code")
        true(not is_there(new) and not is_there(other), "it lives on")
        host.said("p0: stopped escaped process %d: " % new)
        host.said("p1: stopped escaped process %d: " % other)


def attack_escape_many():
    """More of them than are looked at, remembered and reported one by one."""
    with Escape() as escape, Run(escape, "many", "daemon") as host:
        host.said("p1: ready")
        eventually(lambda: len(escape.left("notes0")) == 300, "not all escaped")
        old, other = escape.left("notes0"), escape.one("notes1")
        host.do("restart", "p0")
        eventually(lambda: not any(is_there(pid) for pid in old), "some live on", 30)
        eventually(lambda: len(escape.left("notes0")) == 600, "not all escaped")
        true(is_there(other), "a process of the other peer was ended")
        host.do("down")
        same(host.program.wait(60), 0, "code")
        same([pid for pid in escape.left("notes0") if is_there(pid)], [], "what lives on")
        said = host.program.said()
        true(said.count("stopped escaped") < 100 and " more\n" in said, said)


def attack_escape_stranger():
    """A process with the same mark that is not ours is nobody's to end."""
    with Escape() as escape, Run(escape, "daemon") as host:
        host.said("p0: ready")
        old = escape.one("notes0")
        with open("/proc/%d/environ" % old, "rb") as file:
            mark = re.search(rb"DUPLEX_PEER=([0-9:,]+)", file.read())[1].decode()
        stranger = subprocess.Popen(["sleep", "60"], env={"DUPLEX_PEER": mark}, start_new_session=True)
        try:
            host.do("restart", "p0")
            is_gone(old, "what the old incarnation left behind")
            host.do("down")
            same(host.program.wait(30), 0, "code")
            same(stranger.poll(), None, "the stranger was ended")
        finally:
            stranger.kill()
            stranger.wait()


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def attack_escape_zombies():
    """What a peer that runs leaves behind and exits is reaped, not collected."""
    with Escape() as escape, Run(escape, "zombies") as host:
        escape.one("notes0")
        eventually(lambda: len(children_of(host.program.pid)) <= 2, "zombies are kept")
        host.do("down")
        same(host.program.wait(30), 0, "code")
        true("escaped" not in host.program.said(), host.program.said())


FINECODE = """
[finecode.er]
runner = %s
transport = "stdio"
[finecode.action.x]
source = "x"
[[finecode.action.x.handlers]]
name = "x"
source = "x"
env = "dev"
"""


def attack_escape_commands():
    """Every command that starts programs ends what they leave behind."""
    with Escape() as escape:
        trace = escape.path("trace")
        run(call("hello", "-o", trace, "--", *escape.command("none")), 10)
        words = " ".join(escape.command("daemon"))
        server = escape.path("mcp.json")
        with open(server, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"x": {"command": escape.command("daemon")[0],
                                            "args": escape.command("daemon")[1:]}}}, file)
        plugin = escape.path("plugin")
        with open(plugin, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec %s\n" % words)
        os.chmod(plugin, 0o755)
        workspace = escape.path("workspace")
        os.mkdir(workspace)
        with open(os.path.join(workspace, "finecode.toml"), "w", encoding="utf-8") as file:
            file.write(FINECODE % json.dumps(escape.command("daemon")))
        tools = escape.path("tools.json")
        with open(tools, "w", encoding="utf-8") as file:
            json.dump({"name": "x", "version": "1", "tools": [
                {"name": "x", "description": "x", "input": {"type": "object"},
                 "command": escape.command("daemon")}]}, file)
        command = ["--", *escape.command("daemon")]
        serve = duplex("mcp", "serve", "command", tools)
        agent = duplex("autohand", "agent", "--path", escape.place, "--home", escape.path("home"))
        for line in (
                ["notify", "-f", "line", "hello", *command],
                ["bench", "-f", "line", "-n", "10", "hello", *command],
                ["tap", *command],
                ["replay", trace, *command],
                ["mcp", "--start-timeout", "1s", "tools", "list", *command],
                ["mcp", "--start-timeout", "1s", "-c", server, "tools", "list"],
                ["autohand", "prompt", "--no", "--start-timeout", "1s", "x", *command],
                ["hermes", "host", "--start-timeout", "1s", "--extension", words, "--run", "x"],
                ["reginald", "--plugin", plugin, "--handshake-timeout", "1s", "plugins"],
                ["mock", "--protocol", "jsonrpc", *command],
                ["finecode", "runners", "-w", workspace, "--initialize-timeout", "1s"],
                # Agent and server end what their tools leave behind, not only the client that started them.
                ["mcp", "--keep-daemons", "tools", "call", "x", "--", *serve],
                ["autohand", "prompt", "--yes", "--keep-daemons", "run %s </dev/null" % words, "--", *agent],
                ["check", "--protocol", "jsonrpc", "--timeout", "300ms", "--only", "start.answered", *command],
        ):
            before = len(escape.left())
            # On a machine at full load, a peer may be given up before it has started anything.
            for _ in range(20):
                _, _, said = run(duplex(*line), 60, input=b"")
                new = escape.left()[before:]
                if new:
                    break
            true(new, "%s: nothing was started: %s" % (line[0], said))
            for pid in new:
                true(not is_there(pid), "%s: %d lives on" % (line[0], pid))
                if "--keep-daemons" not in line:
                    true("stopped escaped process %d: " % pid in said, "%s says: %s" % (line[0], said))


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
