"""Hostile traces, scripts and schemas: what reads them ends soon, in little memory, and with a line that says why."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import attack
from attack import MB, MIB, duplex, run, true

HEAD = '{"duplex-trace":1,"time":"us","part":1,"unix-ms":1}\n'


class Folder:
    def __enter__(self):
        self.place = tempfile.mkdtemp(prefix="attack-readers-")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def write(self, name, *texts):
        path = os.path.join(self.place, name)
        with open(path, "wb") as file:
            for text in texts:
                file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def sparse(self, name, text, size):
        path = self.write(name, text)
        with open(path, "ab") as file:
            file.truncate(size)
        return path


def ends(argv, memory, seconds=20):
    code, printed, said = run(argv, seconds, memory=memory, stdin=subprocess.DEVNULL)
    what = "%s: code %d: %r" % (argv[1:4], code, said[:300])
    true(code >= 0 and len(said) < 100000, what)
    true("\x1b" not in said and "\u202e" not in said and "\x1b" not in printed, what)
    return code, said


def traces(folder):
    message = '{"t":1,"from":"host","message":%s}\n'
    return [folder.sparse("sparse", HEAD, 1 << 30), folder.write("junk", os.urandom(MIB)),
            folder.write("deep", HEAD, message % ("[" * 200000 + "]" * 200000)),
            folder.write("times", HEAD, *('{"t":%d,"from":"host","message":{"jsonrpc":"2.0","id":%d,"method":"x"}}\n'
                                          % (2**64 - 1 - i, i) for i in range(20000))),
            folder.write("escape", HEAD, '{"t":1,"peer":"a\\u001b[31m\\u202e","run":1,"event":"\\u001b[2J"}\n',
                         message % '{"jsonrpc":"2.0","method":"\\u001b[31m\\u202e"}')]


def attack_readers_trace():
    """A line of a gigabyte, noise, deep nesting, times that run backwards, names that steer a terminal."""
    with Folder() as folder:
        for path in traces(folder):
            page = os.path.join(folder.place, "page.html")
            ends(duplex("lint", path), 400 * MB)
            ends(duplex("timeline", "-o", page, path), 400 * MB)
            ends(duplex("mock", "--trace", path), 400 * MB)
            ends(duplex("replay", "-t", "1s", path, "--", "/bin/cat"), 400 * MB)


def attack_readers_script():
    """A script that repeats, delays and enlarges beyond measure is refused, or ends with its input."""
    with Folder() as folder:
        for number, actions in enumerate((
                [{"notify": "x", "repeat": 10**18}], [{"notify": "x", "params": ["a" * 1000], "repeat": 10**9}],
                [{"notify": "x", "delay": "99999999999h"}], [{"run": ["/bin/sh", "-c", "true"]}],
                [{"notify": "x", "params": ["${env:" + "A" * 100000 + "}"]}])):
            text = json.dumps({"duplex-mock": 1, "start": actions})
            code, said = ends(duplex("mock", "-f", "line", folder.write("script%d" % number, text)), 100 * MB)
            true(code == 2 and said.count("\n") == 1, "%s: %d %s" % (actions, code, said))
        code, said = ends(duplex("mock", folder.write("deep", "[" * 200000)), 100 * MB)
        true(code == 2 and said.count("\n") == 1, said)


def attack_readers_schema():
    """Schemas that would take for ever: references in a circle, a pattern that backtracks, a tree that doubles."""
    double = {"$defs": {"d%d" % i: {"allOf": [{"$ref": "#/$defs/d%d" % (i + 1)}] * 2} for i in range(60)}}
    double["$defs"]["d60"] = {"type": "string"}
    double["$ref"] = "#/$defs/d0"
    with Folder() as folder:
        value = folder.write("value.json", json.dumps("a" * 60 + "!"))
        for number, schema in enumerate((
                {"$ref": "#"}, {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
                {"pattern": "^(a+)+$"}, {"pattern": "(" * 5000}, {"pattern": "a{1000}{1000}{1000}"}, double,
                {"$ref": "http://127.0.0.1:1/schema.json"}, {"$ref": "file:///etc/passwd"})):
            path = folder.write("schema%d.json" % number, json.dumps(schema))
            code, said = ends(duplex("schema", path, value), 100 * MB)
            true(code in (2, 7) and said.count("\n") <= 3, "%s: %d %s" % (str(schema)[:80], code, said[:200]))


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
