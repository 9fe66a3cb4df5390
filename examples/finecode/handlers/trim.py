"""Takes spaces from the ends of lines, and tells which files that has changed."""
import fnmatch
import json
import os
import sys

payload = json.load(sys.stdin)
config = json.loads(os.environ["FINECODE_CONFIG_JSON"])
changed = []
for name in payload.get("files") or sorted(os.listdir(".")):
    if not any(fnmatch.fnmatch(os.path.basename(name), glob) for glob in config["globs"]):
        continue
    with open(name, encoding="utf-8", newline="") as file:
        text = file.read()
    trimmed = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    if trimmed != text:
        with open(name, "w", encoding="utf-8", newline="") as file:
            file.write(trimmed)
        changed.append(os.path.abspath(name))
json.dump({"changed": changed}, sys.stdout)
