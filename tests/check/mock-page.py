"""mock-page.py PAGE: runs the examples of a page: scripts in ```json blocks, with a name in the line above them that ends with "`NAME`:",
and commands behind "$ " in ```console blocks, with what they print. A script must be taken as it stands, since readers copy it."""
import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
environment = dict(os.environ, PATH=os.environ["BUILD"] + ":" + os.environ["PATH"])
os.symlink(os.environ["BUILD"] + "/examples/echo", "echo")
failed = count = 0
scripts = 0
for name, kind, block in re.findall(r"^(?:[^\n]*`([a-z.]+)`:\n\n)?```(json|console)\n(.*?)^```$", text, re.M | re.S):
    if kind == "json" and '"duplex-mock"' in block:
        name = name or "unnamed.json"
        with open(name, "w", encoding="utf-8") as file:
            file.write(block)
        got = subprocess.run(["duplex", "mock", name], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, timeout=60)
        scripts += 1
        if got.returncode or got.stderr:
            failed += 1
            print("%s is not taken: %d: %s" % (name, got.returncode, got.stderr.decode()))
    if kind == "json":
        continue
    for command, wanted in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.M):
        got = subprocess.run(["bash", "-c", command], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=60)
        found = got.stdout.decode()
        count += 1
        if found != wanted:
            failed += 1
            print("$ %s  found:\n%s  the page has:\n%s" % (command, found, wanted))
print("%d scripts, %d examples, %d failed" % (scripts, count, failed))
sys.exit(1 if failed or not count or not scripts else 0)
