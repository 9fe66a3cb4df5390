"""mock-page.py PAGE: runs the examples of a page: files in ```json blocks that begin with a line "// NAME", commands behind "$ "
in ```console blocks, with what they print."""
import json
import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
environment = dict(os.environ, PATH=os.environ["BUILD"] + ":" + os.environ["PATH"])
os.symlink(os.environ["BUILD"] + "/examples/echo", "echo")
failed = count = 0
for kind, block in re.findall(r"^```(json|console)\n(.*?)^```$", text, re.M | re.S):
    if kind == "json":
        name, _, content = block.partition("\n")
        if name.startswith("// "):
            json.loads(content)
            with open(name[3:], "w", encoding="utf-8") as file:
                file.write(content)
        continue
    for command, wanted in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.M):
        got = subprocess.run(["bash", "-c", command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=60)
        found = got.stdout.decode()
        count += 1
        if found != wanted:
            failed += 1
            print("$ %s  found:\n%s  the page has:\n%s" % (command, found, wanted))
print("%d examples, %d failed" % (count, failed))
sys.exit(1 if failed or not count else 0)
