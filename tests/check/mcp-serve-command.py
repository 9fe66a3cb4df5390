"""duplex mcp serve command: words, limits, and that no process is left. Words: duplex-mcp, an empty folder, the sources."""
import atexit
import json
import os
import signal
import subprocess
import sys
import time

import mcp_talk
from mcp_talk import Client, expect, gone_soon, is_alive

program, work, source = sys.argv[1:4]
os.chdir(work)
python = sys.executable
text = {"type": "string"}


def tool(name, command, properties=None, **more):
    return {"name": name, "command": command, "input": {"type": "object", "properties": properties or {}}, **more}


def spec(*tools, **more):
    with open("spec.json", "w") as file:
        json.dump({"name": "n", "version": "1", "tools": list(tools), **more}, file)
    return [program, "serve", "command", "spec.json"]


def refused(tools, part, code=7, **more):
    """The file is wrong: one line says where."""
    result = subprocess.run(spec(*tools, **more), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
    expect(result.returncode == code and part in result.stderr and result.stderr.count("\n") == 1 and not result.stdout, (part, result))


def output(result):
    return "".join(item.get("text", "") for item in result["content"])


# --- The example. -------------------------------------------------------------------------------
client = Client([program, "serve", "command", source + "/examples/mcp/tools.json"])
expect(client.started["serverInfo"]["name"] == "tools" and client.started["instructions"].startswith("count"), client.started)
expect([one["name"] for one in client.request("tools/list")["tools"]] == ["count", "date", "log"], "tools")
expect(output(client.call("count", {"text": "one two\nthree\n"})).split() == ["2", "3", "14"], "count")
expect(output(client.call("count", {"text": "one two\nthree\n", "lines": True})).split() == ["2"], "lines")
expect(output(client.call("count", {"text": "one", "lines": False})).split() == ["0", "1", "3"], "false is as absent")
expect(output(client.call("date", {"of": "2024-02-29 12:00 UTC", "utc": True})) == "2024-02-29T12:00:00+00:00\n", "date")
expect(output(client.call("date", {"of": "1 Jan 1970 UTC; touch x", "utc": True})).find("invalid") > 0 and not os.path.exists("x"), "no shell")
result = client.call("log", {"repository": work + "/none", "count": 3, "paths": ["a"]})
expect(result.get("isError") and "exit code 128" in output(result) and "none" in output(result), result)
client.fails("log", {"repository": "--exec-path=/tmp"}, "repository' starts with '-'")
expect(client.call("count", {}).get("isError") and client.call("count", {"text": 1}).get("isError"), "arguments that do not fit")
expect(client.close() == 0 and client.errors == "", client.errors)

# --- Words. -------------------------------------------------------------------------------------
show = [python, "-ISc", "import sys, json; print(json.dumps(sys.argv[1:]))"]
names = {"a": {}, "b": {}, "list": {}}
client = Client(spec(
    tool("plain", [*show, "{a}", "x{a}y{b}", "{{a}}", "{b}"], names),
    tool("if", [*show, {"if": "a", "words": ["-a", "v={a}"]}, "end"], names),
    tool("each", [*show, {"each": "list", "words": ["-l", "{list}", "{a}"]}], names),
    tool("both", [*show, {"if": "a", "each": "list", "words": [{"if": "b", "words": ["{list}{b}"]}]}], names),
    tool("behind", [*show, "--", "{a}", {"each": "list", "words": ["{list}"]}], names),
    tool("dash", [*show, {"dash": True, "words": ["{a}"]}, "{b}"], names),
    tool("deep", [*show] + [{"words": [{"words": [{"words": [{"words": [{"words": [{"words": [{"words": ["{a}"]}]}]}]}]}]}]}], names),
    tool("in", ["cat"], names, stdin="<{a}|{b}>"),
    tool("json", [*show, "{a}"], names, output="json"),
    tool("shaped", ["cat"], names, stdin="{a}", output={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
    tool("list", ["cat"], names, stdin="{a}", output={"type": "array"}),
    title="T", instructions="I"))
words = lambda name, **arguments: json.loads(output(client.call(name, arguments)))
expect(words("plain", a="1", b="2") == ["1", "x1y2", "{a}", "2"], words("plain", a="1", b="2"))
expect(words("plain", a="") == ["", "{a}"] and words("plain") == ["{a}"] and words("plain", a=None) == ["{a}"], "absent")
expect(words("plain", a="$(id) `id`; 'x' \"y\" *\n") == ["$(id) `id`; 'x' \"y\" *\n", "{a}"], "there is no shell")
expect(words("plain", a=42, b=True) == ["42", "x42ytrue", "{a}", "true"] and words("plain", a=1.5, b=[1, "x"])[3] == '[1,"x"]', "as JSON")
expect(words("plain", a={"k": "ü"})[0] == '{"k":"ü"}' and words("plain", a="{b}", b="no")[0] == "{b}", "values are not read again")
expect(words("if") == ["end"] and words("if", a=False) == ["end"] and words("if", a="x") == ["-a", "v=x", "end"] and words("if", a=0)[0] == "-a", "if")
expect(words("each", list=["x", "y"]) == ["-l", "x", "-l", "y"] and words("each", list=[]) == words("each") == [], "each")
expect(words("each", list="one", a="z") == ["-l", "one", "z"] and words("each", list=[None, 1]) == ["-l", "1"], "each of one")
expect(words("both", a="x", list=["1", "2"], b="b") == ["1b", "2b"] and words("both", list=["1"], b="b") == [], "both")
expect(words("deep", a="x") == ["x"], "deep")
for value in ("-x", "--output=/etc/passwd", "-", -5):
    client.fails("plain", {"a": value}, "the argument 'a' starts with '-'")
    client.fails("dash", {"b": value}, "the argument 'b' starts with '-'")
    client.fails("each", {"list": ["x", value]}, "the argument 'list' starts with '-'")
    expect(words("dash", a=value) == [str(value)], "a dash that is allowed")
    expect(words("behind", a=value, list=[value]) == ["--", str(value), str(value)], "behind --")
    expect(words("plain", a="x", b=value) if False else words("if", a=value)[1] == f"v={value}", "in the middle")
expect(words("behind", list=["--", "-x"]) == ["--", "--", "-x"], "more behind --")
client.fails("dash", {"a": "--", "b": "-x"}, "starts with '-'")  # an argument that is "--" ends nothing
client.fails("plain", {"a": "x\0y"}, "NUL")
client.fails("plain", {"a": "x" * 200000}, "Argument list too long")
client.fails("each", {"list": ["x"] * 10001}, "too many command-line arguments")
expect(output(client.call("in", {"a": "x\0y", "b": "ü" * 300000})) == "<x\0y|" + "ü" * 300000 + ">", "the standard input takes all")
expect(output(client.call("in", {})) == "<|>", "an empty standard input")
result = client.call("json", {"a": "x"})
expect(output(result) == '["x"]\n' and not result.get("isError"), result)
result = client.call("shaped", {"a": '{"n": 7}'})
expect(result["structuredContent"] == {"n": 7} and json.loads(output(result)) == {"n": 7}, result)
client.fails("shaped", {"a": "no JSON"}, "not valid JSON")
result = client.call("shaped", {"a": '{"n": "x"}'})
expect(result.get("isError") and "structuredContent" not in result, result)
expect("does not match its schema: #/n" in output(result) or "does not match its schema: /n" in output(result), result)
client.fails("shaped", {"a": "[7]"}, "does not match its schema")
result = client.call("list", {"a": '["x"]'})
expect(json.loads(output(result)) == ["x"] and not result.get("isError"), result)
client.fails("list", {"a": '{"n": 7}'}, "does not match its schema")
expect(client.close() == 0, "code")

# --- Limits, failures, leftovers. ---------------------------------------------------------------
script = lambda lines: [python, "-ISc", lines.replace("{", "{{").replace("}", "}}")]
forks = "import os, sys, time, subprocess\nchild = subprocess.Popen(['sleep', '60'])\nopen('pids', 'w').write(f'{os.getpid()} {child.pid}')\n"
client = Client(spec(
    tool("code", script("import sys; print('out'); print('err', file=sys.stderr); sys.exit(int(sys.argv[1]))") + ["{a}"], names, success=[0, 3]),
    tool("killed", script("import os; os.kill(os.getpid(), 9)")),
    tool("absent", ["/absent/program"]),
    tool("unknown", ["no-such-program-here"]),
    tool("folder", ["/tmp"]),
    tool("nocwd", ["true"], cwd="/absent"),
    tool("exact", script("import sys; sys.stdout.write('x' * 1024)"), maxOutput="1k"),
    tool("more", script("import sys; sys.stdout.write('ü' * 512 + 'y')"), maxOutput="1k"),
    tool("endless", script("while True: print('x' * 1000)"), maxOutput="100k"),
    tool("errors", script("import sys\nfor i in range(100000): print(i, file=sys.stderr)\nsys.exit(1)")),
    tool("latin", script("import sys; sys.stdout.buffer.write(b'caf\\xe9')")),
    tool("badtext", script("import sys; sys.stderr.buffer.write(b'caf\\xe9'); sys.exit(1)")),
    tool("late", script(forks + "print('begun', flush=True); time.sleep(60)"), timeout="2s"),
    tool("stubborn", script("import signal, time, os\nsignal.signal(15, signal.SIG_IGN)\nopen('pids', 'w').write(str(os.getpid()))\ntime.sleep(60)"), timeout="2s"),
    tool("stopped", script("import os\nopen('pids', 'w').write(str(os.getpid()))\nos.kill(os.getpid(), 19)"), timeout="2s"),
    tool("behind", script(forks + "print('done')")),
    tool("escaped", script("import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(30)\n    os._exit(0)\nprint('done', flush=True)")),
    tool("wait", script(forks + "time.sleep(60)")),
    tool("nap", ["sleep", "{a}"], names),
    tool("lines", script("import time\nfor i in range(6):\n    print(i, flush=True)\n    time.sleep(0.12)")),
    tool("first", script("import time\nprint('first', flush=True)\ntime.sleep(25)")),
    tool("fds", script("import os, json; print(json.dumps([[fd for fd in range(64) if os.path.exists(f'/proc/self/fd/{fd}')], os.getsid(0) == os.getpid() == os.getpgid(0), "
                       "[s for s in open('/proc/self/status') if s.startswith(('SigBlk', 'SigIgn'))]]))")),
    tool("env", script("import os, json; print(json.dumps(dict(os.environ)))"), env={"MINE": "ü=1", "HOME": "/nowhere"}),
    tool("where", ["pwd"], cwd="sub"),
    tool("beside", ["./beside.sh", "{a}"], names)), env={**os.environ, "SECRET": "1"})
os.mkdir("sub")
with open("beside.sh", "w") as file:
    file.write("#!/bin/sh\necho beside $1\n")
os.chmod("beside.sh", 0o755)
result = client.call("code", {"a": 3})
expect(output(result) == "out\n" and not result.get("isError"), result)
result = client.call("code", {"a": 4})
expect(result["isError"] and result["content"][0]["text"] == "out\n" and "code failed with exit code 4\nerr\n" in output(result), result)
client.fails("killed", {}, "signal 9 (Killed)")
client.fails("absent", {}, "cannot start /absent/program: No such file")
client.fails("unknown", {}, "cannot start no-such-program-here: No such file")
client.fails("folder", {}, "cannot start /tmp: Is a directory")
client.fails("nocwd", {}, "cannot change to /absent: No such file")
expect(output(client.call("exact")) == "x" * 1024, "as much as allowed")
result = client.call("more")
expect(result["isError"] and result["content"][0]["text"] == "ü" * 512 and "more than 1024 bytes" in output(result), result)
client.fails("endless", {}, "more than 102400 bytes")
result = client.call("errors")
expect(result["isError"] and output(result).endswith("99999\n") and len(output(result)) < 40000, "the last of the errors")
client.fails("latin", {}, "not valid UTF-8 (4 bytes)")
client.fails("badtext", {}, "caf\ufffd")
before = time.monotonic()
result = client.call("late")
expect(result["isError"] and "begun" in output(result) and "timed out after 2000 ms" in output(result), result)
expect(1.9 < time.monotonic() - before < 20, time.monotonic() - before)
pids = lambda: [int(one) for one in open("pids").read().split()]
expect(all(gone_soon(pid) for pid in pids()), "left behind after its time")
before = time.monotonic()
client.fails("stubborn", {}, "timed out after 2000 ms")
expect(3 < time.monotonic() - before < 20 and gone_soon(pids()[0]), "SIGKILL comes a second later")
client.fails("stopped", {}, "timed out after 2000 ms")
expect(gone_soon(pids()[0]), "one that is stopped")
expect(output(client.call("behind")) == "done\n" and all(gone_soon(pid) for pid in pids()), "what it leaves behind is killed")
before = time.monotonic()
expect(output(client.call("escaped")) == "done\n" and time.monotonic() - before < 20, "who escapes is not waited for")


def started():
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if os.path.exists("pids") and len(open("pids").read().split()) == 2:
            return pids()
        time.sleep(0.01)
    return []


os.remove("pids")
number = client.ask("tools/call", {"name": "wait", "arguments": {}})
both = started()
expect(len(both) == 2 and client.request("ping") == {}, "ping while it runs")
client.notify("notifications/cancelled", {"requestId": number})
expect(all(gone_soon(pid) for pid in both), "left behind after it was cancelled")
client.request("ping")
expect(number not in client.answers, "a cancelled call is answered")
numbers = [client.ask("tools/call", {"name": "nap", "arguments": {"a": "0.5"}}) for _ in range(33)]
results = [client.answer(number)["result"] for number in numbers]
expect([bool(one.get("isError")) for one in results] == [False] * 32 + [True] and "too many programs" in output(results[32]), "32 at once")
number = client.ask("tools/call", {"name": "lines", "arguments": {}, "_meta": {"progressToken": 1}})
expect(output(client.answer(number)["result"]) == "0\n1\n2\n3\n4\n5\n", "lines")
told = [one["params"]["progress"] for one in client.seen if one["method"] == "notifications/progress"]
expect(told and told == sorted(set(told)) and told[-1] <= 6, told)
number = client.ask("tools/call", {"name": "first", "arguments": {}, "_meta": {"progressToken": 2}})
expect((client.news("notifications/progress", 20) or {}).get("progress") == 1, "the first line is told at once")
client.notify("notifications/cancelled", {"requestId": number})
fds, own, signals = json.loads(output(client.call("fds")))
expect([fd for fd in fds if fd > 3] == [] and own and all(int(line.split()[1], 16) & ~0x1000000 == 0 for line in signals if "SigBlk" in line), (fds, own, signals))
env = json.loads(output(client.call("env")))
expect(env["MINE"] == "ü=1" and env["HOME"] == "/nowhere" and "SECRET" not in env and "PATH" in env, env)
expect(output(client.call("where")) == os.path.join(work, "sub") + "\n" and output(client.call("beside", {"a": "x"})) == "beside x\n", "places")
zombies = subprocess.run(["ps", "-o", "stat=", "--ppid", str(client.process.pid)], capture_output=True, text=True).stdout
expect("Z" not in zombies, zombies)
os.remove("pids")
client.ask("tools/call", {"name": "wait", "arguments": {}})
both = started()
before = time.monotonic()
expect(client.close() == 0 and time.monotonic() - before < 1.5, "leaving")
expect(len(both) == 2 and all(gone_soon(pid) for pid in both), "left behind after the client left")

# The server is killed: the program goes with it.
os.remove("pids")
client = Client(spec(tool("wait", script(forks + "time.sleep(60)"))))
client.ask("tools/call", {"name": "wait", "arguments": {}})
both = started()
client.process.kill()
client.close()
expect(gone_soon(both[0]), "left behind after the server was killed")
os.kill(both[1], signal.SIGKILL)

# Interrupted, and many clients.
os.remove("pids")
address = os.path.join(work, "socket")
server = subprocess.Popen([*spec(tool("wait", script(forks + "time.sleep(60)"))), "--listen", "unix:" + address, "--env", "A=1"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
atexit.register(server.kill)  # else it would hold our output if something fails
clients = [Client(address=address) for _ in range(2)]
clients[0].ask("tools/call", {"name": "wait", "arguments": {}})
both = started()
clients[0].close()
expect(all(gone_soon(pid) for pid in both), "left behind after one client left")
os.remove("pids")
clients[1].ask("tools/call", {"name": "wait", "arguments": {}})
both = started()
server.send_signal(signal.SIGINT)
expect(server.wait(5) == 0 and all(gone_soon(pid) for pid in both), "left behind after an interrupt")

# --- Files that are wrong. ----------------------------------------------------------------------
good = tool("t", ["true"])
refused([], "/tools: expected")
refused([{**good, "comand": []}], "/tools/0/comand: unexpected member")
refused([good, {"name": "u"}], "/tools/1: ")
refused([{**good, "command": "ls -l"}], "/tools/0/command: expected array")
refused([{**good, "command": []}], "/tools/0/command: ")
refused([{**good, "command": [{"words": ["x"]}]}], "/tools/0/command/0: ")
refused([{**good, "command": ["x", {"if": "a"}]}], "/tools/0/command/1: ")
refused([{**good, "command": ["x", {"iff": "a", "words": []}]}], "/tools/0/command/1")
refused([{**good, "command": ["x", 7]}], "/tools/0/command/1: expected")
refused([tool("t", ["{a}"], names)], "/tools/0/command/0: the program's name cannot come from an argument")
refused([tool("t", ["x", "{c}"], names)], "/tools/0/command: input has no property 'c'")
refused([tool("t", ["x", {"if": "c", "words": []}], names)], "/tools/0/command: input has no property 'c'")
refused([tool("t", ["x", {"each": "c", "words": []}], names)], "input has no property 'c'")
refused([tool("t", ["x"], names, stdin="{c}")], "/tools/0/stdin: input has no property 'c'")
for bad in ("{", "}", "{}", "a{b", "{a{b}", "{{}"):
    refused([tool("t", ["x", bad], names)], "/tools/0/command: expected {name}, {{ or }}")
refused([tool("t", ["x", "a\0b"], names)], "/tools/0/command: contains a NUL byte")
nested = ["{a}"]
for _ in range(8):
    nested = [{"words": nested}]
refused([tool("t", ["x", *nested], names)], "more than 8 levels deep")
for member, values in {"timeout": ["soon", "-1s", 5], "maxOutput": ["0", "33M", "x", 5], "success": [[], [256], [-1], ["0"], 0], "output": ["xml", 7],
                       "env": [{"A": 1}, {"A=B": "x"}, {"": "x"}, ["A"], {"A": "x\0"}], "cwd": ["", 1], "stdin": [1], "annotations": ["x"], "input": ["x"],
                       "name": ["", 7]}.items():
    for value in values:
        refused([{**good, member: value}], f"/tools/0/{member}")
refused([{**good, "input": {"type": "object", "properties": {"a": {"type": "nothing"}}}}], "/tools/0: ")
refused([{**good, "name": "a b"}], "/tools/0: ")
refused([good, good], "/tools/1: ")
refused([good], "/name", name="")
refused([good], "more", more=1)
for content, code, part in (("{", 7, "spec.json:1:2: "), ("[]", 7, "spec.json: expected object"), ("", 7, "spec.json:")):
    with open("spec.json", "w") as file:
        file.write(content)
    result = subprocess.run([program, "serve", "command", "spec.json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
    expect(result.returncode == code and part in result.stderr and result.stderr.count("\n") == 1, result)
for argument, part in (("absent.json", "cannot read absent.json"), (work, "cannot read " + work), ("-", "only with --listen")):
    result = subprocess.run([program, "serve", "command", argument], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
    expect(result.returncode == 2 and part in result.stderr and result.stderr.count("\n") == 1, result)
sys.exit(mcp_talk.failed)
