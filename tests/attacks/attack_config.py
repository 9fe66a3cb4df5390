"""Hostile configuration files: one clear line, soon, and in little memory."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import attack
from attack import MB, duplex, run, true

DEPTH = 200000
KEYS = 1000000


class Folder:
    """The files, each made when it is asked for."""

    def __enter__(self):
        self.place = tempfile.mkdtemp(prefix="attack-config-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.place, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def odd(self):
        """What is no file, or none that anybody would write."""
        with open(self.path("huge"), "wb") as file:
            file.truncate(1 << 30)
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        os.symlink("loop", self.path("loop"))
        return [self.path("huge"), self.path("pipe"), self.path("folder"), self.path("loop"), self.path("absent"),
                "/dev/zero", "/dev/null", self.write("empty", "")]

    def jsons(self, opening, closing):
        """JSON that is wrong, in the member that names the peers."""
        many = ",".join('"k%d":{"command":["true"]}' % i for i in range(KEYS))
        return [self.write("deep", "[" * DEPTH), self.write("closed", "[" * DEPTH + "]" * DEPTH),
                self.write("deeper", opening + '{"a":' * DEPTH + "1" + "}" * DEPTH + closing),
                self.write("nul", b"\0" + opening.encode()),
                self.write("utf8", opening.encode() + b'{"\xff\xfe":1}' + closing.encode()),
                self.write("many", opening + "{" + many + "}" + closing),
                self.write("twice", opening + '{"a":{"command":["true"]},"a":{"command":["true"]}}' + closing),
                self.write("escape", opening + '{"a\\u001b[31m\\u202e":{"command":["true"]}}' + closing)]

    def tomls(self):
        many = "".join("k%d = 1\n" % i for i in range(KEYS))
        return [self.write("deep", "a = " + "[" * DEPTH), self.write("inline", "a = " + "{a=" * DEPTH),
                self.write("dotted", ".".join(["a"] * DEPTH) + " = 1"), self.write("nul", b"a = 1\0\n"),
                self.write("utf8", b'a = "\xff"\n'), self.write("many", many), self.write("twice", "a = 1\na = 2\n"),
                self.write("tables", "".join("[k%d]\n" % i for i in range(KEYS))),
                self.write("escape", b'"\x1b[31mx" = 1\n')]


def complains(argv, path, codes=(2,), lines=1, cwd=None, memory=100 * MB):
    """One line that names the file and holds nothing that steers a terminal."""
    code, printed, said = run(argv, 20, memory=memory, stdin=subprocess.DEVNULL, cwd=cwd)
    what = "%s: code %d: %r" % (path, code, (printed + said)[:300])
    true(code in codes, what)
    true(said.count("\n") - said.count("\nhint: ") == lines and len(said) < 1000, what)
    true("\x1b" not in printed + said and "\u202e" not in printed + said, what)


def attack_config_run():
    with Folder() as folder:
        for path in folder.odd() + folder.jsons('{"duplex":1,"peers":', "}"):
            complains(duplex("run", "--config", path), path)


def attack_config_mcp():
    with Folder() as folder:
        for path in folder.odd() + folder.jsons('{"mcpServers":', "}"):
            complains(duplex("mcp", "tools", "--config", path, "--server", "a"), path)


def attack_config_reginald():
    with Folder() as folder:
        for path in folder.odd() + folder.tomls():
            if path.endswith(("null", "empty")):
                continue  # nothing is a configuration, too
            complains(duplex("reginald", "--config", path, "plugins"), path)


def attack_config_finecode():
    """The file of a workspace; what is wrong with it makes one project invalid."""
    with Folder() as folder:
        workspace = folder.path("workspace")
        os.mkdir(workspace)
        place = os.path.join(workspace, "finecode.toml")
        for path in folder.odd() + folder.tomls():
            if path.endswith(("absent", "loop", "null", "empty")):
                continue  # no project, or one without anything in it
            os.symlink(path, place)
            complains(duplex("finecode", "list"), path, codes=(7,), cwd=workspace)
            os.unlink(place)


def attack_config_autohand():
    """The agent tells it to its client as well: an error without an id on its standard output."""
    with Folder() as folder:
        for path in folder.odd() + folder.jsons('{"hooks":', "}"):
            if path.endswith("escape"):
                continue  # a member that is not known is let pass
            complains(duplex("autohand", "agent", "--config", path), path, codes=(1,))
        escape = {"permissions": {"allow": ["a\u001b[31m\u202e"] * 1001}, "hooks": {"hooks": [{"event": "\u001b[31m"}]}}
        path = folder.write("escape", json.dumps(escape))
        complains(duplex("autohand", "agent", "--config", path), path, codes=(1,))


def attack_config_mcp_spec():
    """What `duplex mcp serve command` reads."""
    with Folder() as folder:
        for path in folder.odd() + folder.jsons('{"tools":', "}"):
            complains(duplex("mcp", "serve", "command", path), path, codes=(2, 7), memory=300 * MB)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
