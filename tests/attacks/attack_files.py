"""Files that hold traffic: nobody else reads them, whoever made them, and nobody else says where they are."""
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time

import attack
from attack import PATIENCE, Skip, duplex, eventually, run, same, time_bound, true

NOBODY = 65534


class Folder:
    """A folder that everybody may write to; without the sticky bit, so that the kernel alone does not
    keep anybody from following the links of others."""

    def __enter__(self):
        self.place = tempfile.mkdtemp(prefix="attack-files-")
        os.chmod(self.place, 0o777)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.place, name)

    def make(self, name, mode, owner=None, text="old\n"):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, mode)
        if owner is not None:
            os.chown(path, owner, owner)
        return path

    def link(self, target, name, owner=None):
        path = self.path(name)
        os.symlink(target, path)
        if owner is not None:
            os.lchown(path, owner, owner)
        return path


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def echo():
    return os.path.join(attack.BUILD, "examples", "echo")


def call(path):
    return duplex("call", "-f", "line", "-o", path, "echo", "secret=1", "--", echo(), "line")


def recorders(folder):
    """Each command that writes traffic to a file, as a function of that file."""
    script = folder.make("script.json", 0o644, text='{"duplex-mock": 1, "on": []}')
    trace = folder.path("input.jsonl")
    same(run(call(trace), PATIENCE)[0], 0, "the exit code")

    return {
        "tap": lambda path: duplex("tap", "-o", path, "--", echo(), "line"),
        "call": call,
        "mcp": lambda path: duplex("mcp", "ping", "-o", path, "--", os.path.join(attack.BUILD, "examples", "mcp-adder")),
        "mock": lambda path: duplex("mock", "-f", "line", "-o", path, script),
        "replay": lambda path: duplex("replay", "-o", path, trace, "--", echo(), "line"),
        "timeline": lambda path: duplex("timeline", "-o", path, trace),
    }


def attack_files_mode():
    """A file that is there and that everybody may read is private once traffic is in it."""
    with Folder() as folder:
        for name, command in recorders(folder).items():
            path = folder.make(name, 0o666)
            code, _, said = run(command(path), PATIENCE, stdin=subprocess.DEVNULL)
            true(code == 0, "%s: %d %s" % (name, code, said))
            same(mode_of(path), 0o600, "the mode")
            true("old" not in read(path)[:4], "%s was not written" % name)
        path = folder.make("run", 0o666)
        config = folder.make("run.json", 0o600, text=json.dumps(
            {"duplex": 1, "peers": {"a": {"command": [echo(), "line"], "framing": "line", "record": path}}}))
        with attack.Program(duplex("run", "--config", config)) as program:
            eventually(lambda: mode_of(path) == 0o600, "the recording of a run is private")
            program.is_sane()


def as_nobody(argv):
    """The same command line as another user."""
    drop = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--"]
    if os.geteuid() != 0:
        raise Skip("another user can be had only by root")
    if subprocess.run([*drop, *duplex("--version")], capture_output=True, check=False).returncode:
        raise Skip("another user cannot run what was built here")
    return [*drop, *argv]


def attack_files_made_by_others():
    """A file that another user made is not used, not even by root: its owner can read it."""
    as_nobody([])
    with Folder() as folder:
        path = folder.make("theirs", 0o666, owner=NOBODY)
        code, _, said = run(call(path), PATIENCE)
        true(code == 2 and said.count("\n") == 1 and "owned by another user" in said, said)
        same(read(path), "old\n", "the file")
        path = folder.make("roots", 0o666)
        code, _, said = run(as_nobody(call(path)), PATIENCE)
        true(code == 2 and said.count("\n") == 1 and "owned by another user" in said, said)
        same(read(path), "old\n", "the file")
        same(mode_of(path), 0o666, "the mode")


def refused(command, target):
    """One line, and the target of the link stays as it is, or is not made."""
    before = read(target) if os.path.exists(target) else None
    code, _, said = run(command, PATIENCE, stdin=subprocess.DEVNULL)
    true(code == 2 and said.count("\n") == 1, "%d %s" % (code, said))
    true("symbolic link owned by another user" in said, said)
    same(read(target) if os.path.exists(target) else None, before, target)


def attack_files_links_of_others():
    as_nobody([])
    with Folder() as folder:
        target = folder.make("target", 0o600)
        for name, command in recorders(folder).items():
            refused(command(folder.link(target, name, owner=NOBODY)), target)
            refused(command(folder.link(folder.path("absent-" + name), name + "-absent", owner=NOBODY)),
                    folder.path("absent-" + name))
        # Through a link of our own, too; and the other way round, for another user than root.
        refused(call(folder.link("call", "ours")), target)
        mine = folder.make("mine", 0o600, owner=NOBODY)
        third = folder.link(mine, "third", owner=12345)
        refused(as_nobody(call(third)), mine)


def attack_files_own_links():
    """What worked before: links of our own and of root, pipes, devices, descriptors."""
    with Folder() as folder:
        os.mkdir(folder.path("below"))
        folder.link("../real", "below/first")
        path = folder.link("below/first", "second")
        code, _, said = run(call(path), PATIENCE)
        true(code == 0, said)
        true("secret" in read(folder.path("real")), "nothing was recorded")
        same(mode_of(folder.path("real")), 0o600, "the mode")
        for place in "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
            before = subprocess.run([*call(place)], capture_output=True, check=False, timeout=time_bound(PATIENCE))
            true(before.returncode == 0 and b"secret" in before.stdout, "%s: %s" % (place, before.stderr))
        null = mode_of("/dev/null")
        same(run(call("/dev/null"), PATIENCE)[0], 0, "the exit code")
        same(mode_of("/dev/null"), null, "the mode")
        os.mkfifo(folder.path("pipe"), 0o644)
        with subprocess.Popen(["cat", folder.path("pipe")], stdout=subprocess.PIPE) as reader:
            code, _, said = run(call(folder.path("pipe")), PATIENCE)
            text = reader.stdout.read()
        true(code == 0 and b"secret" in text, said)
        same(mode_of(folder.path("pipe")), 0o644, "the mode")
        folder.link("loop", "loop")
        code, _, said = run(call(folder.path("loop")), PATIENCE)
        true(code == 2 and said.count("\n") == 1, said)


class Reader:
    """A client of `mcp serve files`, which reads one path after the other."""

    def __init__(self, root):
        self.process = subprocess.Popen(duplex("mcp", "serve", "files", root), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}}
        self.ask("initialize", hello)

    def ask(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if "id" in answer:
                return answer.get("result", {})

    def read(self, path):
        return self.ask("tools/call", {"name": "read_file", "arguments": {"path": path}}).get("content", [{}])[0].get("text", "")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        same(self.process.wait(time_bound(PATIENCE)), 0, "the exit code")


def attack_files_served_links():
    """No link leads out of a folder that is served, whatever becomes of links and folders while they are followed."""
    with Folder() as folder:
        root, outside = os.path.realpath(folder.place) + "/root", os.path.realpath(folder.place) + "/outside"
        for path in root + "/inside/deep", outside:
            os.makedirs(path)
        for path, text in (root + "/file", "plain"), (root + "/inside/file", "plain"), (outside + "/file", "secret"):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        os.symlink("../file", root + "/inside/deep/up")  # while deep is elsewhere, this is another file
        os.symlink(root + "/way/file", root + "/twice")
        os.symlink(root + "/inside/../../outside/file", root + "/round")
        for number in range(60):  # each doubles the way
            os.symlink(f"l{number + 1}/" * 2, f"{root}/l{number}")
        os.symlink(".", root + "/l60")
        os.symlink("./" * 2040 + "l0", root + "/long")
        stop = threading.Event()

        def juggle():
            while not stop.is_set():
                for target in root + "/inside", outside, "../outside", root + "/inside/../../outside", root:
                    os.symlink(target, root + "/new")
                    os.rename(root + "/new", root + "/way")
                os.rename(root + "/inside/deep", outside + "/deep")
                os.rename(outside + "/deep", root + "/inside/deep")

        thread = threading.Thread(target=juggle)
        thread.start()
        seen = set()
        try:
            with Reader(root) as reader:
                until = time.monotonic() + 3
                while time.monotonic() < until:
                    for path in "way/file", "twice", "inside/deep/up", "round", "way/way/file", root + "/way/file":
                        seen.add(reader.read(path))
                for path in "l0/file", "long/file", "l0", "/".join(["l60"] * 900) + "/file":
                    begin = time.monotonic()
                    true("plain" != reader.read(path), path[:20] + " is followed for ever")
                    true(time.monotonic() - begin < time_bound(2), path[:20] + " takes long")
                same(reader.read("/".join(["l60"] * 40) + "/file"), "plain", "as many links as are allowed")
        finally:
            stop.set()
            thread.join()
        true("plain" in seen and not any("secret" in text for text in seen), str(seen))


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
