"""Tells where words stand that nobody needs, and where lines are too long.

The payload is on the standard input, the configuration in FINECODE_CONFIG_JSON, the result goes to
the standard output; what goes to the standard error is logged.
"""
import fnmatch
import json
import os
import re
import sys


def units(text):
    """Columns are UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def message(line, start, end, text, code):
    place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": place, "message": text, "code": code, "source": "wording", "severity": 2}


def look(path, config):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines):
        for word in config.get("words", []):
            for match in re.finditer(rf"\b{re.escape(word)}\b", line):
                start = units(line[: match.start()])
                yield message(number, start, start + units(word), f"leave out '{word}'", "word")
        most = config.get("columns", 0)
        if most and len(line) > most:
            yield message(number, most, units(line), f"longer than {most} columns", "long")


payload = json.load(sys.stdin)
config = json.loads(os.environ["FINECODE_CONFIG_JSON"])
files = payload.get("files") or sorted(os.listdir("."))
found = {}
for name in files:
    if any(fnmatch.fnmatch(os.path.basename(name), glob) for glob in config["globs"]):
        path = os.path.abspath(name)
        print("looking at", name, file=sys.stderr)
        found[path] = list(look(path, config))
json.dump({"messages": {path: some for path, some in found.items() if some}}, sys.stdout)
