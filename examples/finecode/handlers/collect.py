"""Counts the lines of each file: a partial result a line, which are merged by the file's name."""
import fnmatch
import json
import os

config = json.loads(os.environ["FINECODE_CONFIG_JSON"])
for name in sorted(os.listdir(".")):
    if any(fnmatch.fnmatch(name, glob) for glob in config["globs"]):
        with open(name, encoding="utf-8") as file:
            print(json.dumps({"files": {name: len(file.readlines())}}), flush=True)
