"""Servers that misbehave: what duplex says about them, with the exact text. Usage: trouble.py DUPLEX"""

import concurrent.futures
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from screen import Screen

DUPLEX = sys.argv[1]
PYTHON = sys.executable
failed = False


def complain(what, *more):
    global failed
    failed = True
    print("%s:" % what, *more, sep="\n  ")


def run(*words, **more):
    done = subprocess.run([DUPLEX, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, text=True, **more)
    return done.returncode, done.stdout, done.stderr


def expect(what, code, out, err, *words, **more):
    """The whole of both outputs; a list are parts of it."""
    found = run(*words, **more)
    for wanted, text in ((out, found[1]), (err, found[2])):
        parts = wanted if isinstance(wanted, list) else None
        if found[0] != code or (text != wanted if parts is None else any(part not in text for part in parts)):
            complain("%s: duplex %s" % (what, " ".join(words)), *map(repr, found), "expected %r" % (wanted,))
            return


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


# 1. Text on stdout.

write("noisy.py", r'''
import json, sys, time
how = sys.argv[1]
def send(message):
    text = json.dumps(message, indent=2 if how == "pretty" else None)
    if how == "glued":
        text = "DEBUG sends " + json.dumps(message, separators=(",", ":"))
    if how == "between":
        print("DEBUG sends something")
    print(text, flush=True)
if how == "before":
    print("DEBUG \x1b[31mred\u202e" + "x" * 500, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": message["params"]["protocolVersion"],
              "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"}}})
    elif message.get("method") == "tools/list":
        send({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}})
    elif "id" in message:
        send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
''')
NOISY = [PYTHON, "noisy.py"]


def noise(command, text, who="the server", more=""):
    return 'duplex %s: warning: %s printed text on stdout that is not JSON-RPC: "%s" (it breaks strict clients%s)\n' % (
        command, who, text, more)


LONG = r"DEBUG \x1b[31mred\u202e" + "x" * 43 + "…"
expect("no noise", 0, "add\n", "", "mcp", "tools", "--", *NOISY, "quiet")
expect("noise before", 0, "add\n", noise("mcp tools", LONG), "mcp", "tools", "--", *NOISY, "before")
expect("noise between, once", 0, "add\n", noise("mcp tools", "DEBUG sends something"), "mcp", "tools", "--", *NOISY, "between")
expect("noise with --json", 0, ['"add"'], noise("mcp tools", "DEBUG sends something"), "mcp", "tools", "--json", "--", *NOISY, "between")
GLUED = noise("mcp tools", 'DEBUG sends {"jsonrpc":"2.0","id":1,"result":{"protocolVersi…', more=", and the message on that line is lost")
expect("noise on the same line", 5, "", [GLUED, "(--start-timeout)"], "mcp", "tools", "--ids", "counter", "--start-timeout", "500ms", "--",
       *NOISY, "glued")
expect("JSON over many lines", 5, "", ["duplex mcp tools: JSON that spans several lines: this framing needs one message per line\n"],
       "mcp", "tools", "--start-timeout", "500ms", "--", *NOISY, "pretty")
expect("call", 0, "{}\n", noise("call", "DEBUG sends something"), "call", "-p", "mcp", "ping", "--", *NOISY, "between")
expect("notify", 0, "", noise("notify", "DEBUG sends something"), "notify", "-p", "mcp", "notifications/cancelled", "requestId:=1",
       "--", *NOISY, "between")
expect("bench", 0, ["ping"], [noise("bench", "DEBUG sends something")], "bench", "-p", "mcp", "ping", "--count", "5", "--starts", "2",
       "--", *NOISY, "between")
write("mock.json", json.dumps({"duplex-mock": 1, "start": [{"delay": "300ms"}]}))
expect("mock", 0, "", noise("mock", "up", "the program"), "mock", "-p", "jsonrpc", "mock.json", "--", "sh", "-c", "echo up; sleep 0.6")

# A line of a log in JSON is noise, too. An object that claims to be a message is a violation.
write("logs.py", r'''
import sys
print(sys.argv[1], flush=True)
sys.argv = ["noisy.py", "quiet"]
exec(open("noisy.py").read())
''')
JSON = '{"level":"info","msg":"up"}'
expect("a log in JSON", 0, "add\n", noise("mcp tools", JSON), "mcp", "tools", "--", PYTHON, "logs.py", JSON)
expect("a log in JSON", 0, "{}\n", noise("call", JSON), "call", "-p", "mcp", "ping", "--", PYTHON, "logs.py", JSON)
expect("a message that is wrong", 0, "{}\n", "duplex call: JSON, but neither request, notification nor response\n",
       "call", "-p", "mcp", "ping", "--", PYTHON, "logs.py", '{"jsonrpc":"2.0"}')
# So is what begins as a message does, or is JSON, and is no message.
for text in "[INFO] up", "{'a': 1}", "{DEBUG} up", '{"a":1} and more', "8080", "true", '"up"', "[1,2]", "[]":
    expect("a log like JSON", 0, "add\n", noise("mcp tools", text), "mcp", "tools", "--", PYTHON, "logs.py", text)
    expect("a log like JSON", 0, "{}\n", noise("call", text), "call", "-p", "mcp", "ping", "--", PYTHON, "logs.py", text)
    expect("a log like JSON", 0, "{}\n", "duplex call: the server speaks mcp; pass --protocol mcp to skip the detection\n" + noise("call", text),
           "call", "-p", "auto", "ping", "--", PYTHON, "logs.py", text)
    expect("a log like JSON", 0, ["ping"], [noise("bench", text)], "bench", "-p", "mcp", "ping", "--count", "5", "--starts", "2", "--", PYTHON, "logs.py",
           text)
    expect("a log like JSON", 0, ["pass  "], [noise("check", text, "the program")], "check", "-p", "mcp", "--only", "id.*", "--", PYTHON, "logs.py", text)
    for words in [], ["-o", "tap.jsonl"]:
        expect("a log like JSON", 0, text + "\n", noise("tap", text, "the program"), "tap", *words, "--", "printf", "%s\n", text)
# What was printed while the protocol was detected.
expect("detection", 0, "{}\n", "duplex call: the server speaks mcp; pass --protocol mcp to skip the detection\n" + noise("call", LONG),
       "call", "-p", "auto", "ping", "--", *NOISY, "before")
# A tap passes everything on, and warns at the end.
MESSAGE = '{"jsonrpc":"2.0","method":"x"}\n'
expect("tap", 0, "DEBUG\n" + MESSAGE, noise("tap", "DEBUG", "the program"), "tap", "-o", "tap.jsonl", "--", "printf", "%s\n", "DEBUG",
       MESSAGE.strip())
expect("tap, between", 0, MESSAGE + "DEBUG\nmore\n" + MESSAGE, noise("tap", "DEBUG", "the program"), "tap", "-o", "tap.jsonl", "--",
       "printf", "%s\n", MESSAGE.strip(), "DEBUG", "more", MESSAGE.strip())
expect("tap, no noise", 0, MESSAGE + "\n" + MESSAGE, "", "tap", "-o", "tap.jsonl", "--", "printf", "%s\n", MESSAGE.strip(), "", MESSAGE.strip())
for words in [], ["-s"], ["-l", "tap.socket"]:
    code, out, err = run("tap", *words, "--", "sh", "-c", "echo junk")
    lines = [line for line in err.splitlines(True) if "junk" in line and "warning" in line]
    if code or out != "junk\n" or lines != [noise("tap", "junk", "the program")] or (words != ["-s"] and err != lines[0]):
        complain("tap %s" % words, out, err)
for bytes_out, text in (
    (MESSAGE + '\n  [1,\n' + "\n" + MESSAGE, None),
    ("\ufeff" + MESSAGE, None),
    (MESSAGE + "  up \n" + MESSAGE, "up"),
    ("no newline", "no newline"),
    ("Content-Length: 5\r\n\r\nabcdeContent-Type: x\r\nX-A: 1\r\ncontent-length: 5\r\n\r\na\nb\nc", None),
    ("Content-Length: 5\r\n\r\nabcdejunk\r\nContent-Length: 5\r\n\r\nabcde", "junk"),
    ("INFO: up\nContent-Length: 5\r\n\r\nabcde", "INFO: up"),
    (MESSAGE + "y" * 70000, "y" * 60 + "…"),
    ('{"result":"' + "y" * 70000 + '","jsonrpc":"2.0","id":1}\n', None),
    ('{"result":"' + "y" * 70000 + '","id":1}\n', '{"result":"' + "y" * 49 + "…"),
    ('{"jsonrpc":"2.0","me', None),
    ("Content-Length: 5\r\n\r\nabcdeINFO: up\nContent-Length: 5\r\n\r\nabcde", "INFO: up"),
    ("Content-Length: 5\r\nINFO: up\n\r\nabcde", "INFO: up"),
    ("Content-Length: 5\nX-A: 1\n\nabcde", None),
):
    write("out.txt", bytes_out)
    expect("tap looks at every line", 0, [bytes_out.replace("\r\n", "\n")], noise("tap", text, "the program") if text else "",
           "tap", "--", "cat", "out.txt")
# check warns, too, unless it fails for it.
for pattern in "id.*", "start.*":
    expect("check", 0, ["pass  "], [noise("check", "DEBUG sends something", "the program")], "check", "-p", "mcp", "--only", pattern,
           "--", *NOISY, "between")
    code, _, err = run("check", "-p", "mcp", "--only", pattern, "--", PYTHON, "logs.py", '{"level":"info"}')
    if err.count("warning") != 1 or noise("check", '{"level":"info"}', "the program") not in err:
        complain("check of a log in JSON", code, err)
expect("check, no noise", 0, ["pass  "], ["passed"], "check", "-p", "mcp", "--only", "id.*", "--", *NOISY, "quiet")
for words in ["--only", "framing.*"], ["--only", "framing.stray", "--only", "id.*"]:
    code, out, err = run("check", "-p", "mcp", *words, "--", *NOISY, "between")
    if code != 7 or "FAIL  framing.stray" not in out or "warning" in err:
        complain("check that fails for it", code, out, err)
# In front of a header, a line such as "DEBUG: up" looks like a field, but it ends in LF alone.
OUTLINE = os.path.join(os.path.dirname(DUPLEX), "examples", "lsp-outline")
write("noisy-lsp", "#!/bin/sh\necho 'DEBUG: up'\nexec '%s'\n" % OUTLINE)
os.chmod("noisy-lsp", 0o700)
SYMBOL = ["-p", "lsp", "workspace/symbol", "query=x"]
expect("a log line like a field", 0, "[]\n", noise("call", "DEBUG: up"), "call", *SYMBOL, "--", "./noisy-lsp")
expect("a log line like a field", 0, "", noise("notify", "DEBUG: up"), "notify", "-p", "lsp", "$/setTrace", "value=off", "--", "./noisy-lsp")
expect("a log line like a field", 0, ["workspace/symbol"], [noise("bench", "DEBUG: up")], "bench", *SYMBOL, "--count", "5", "--starts", "2", "--",
       "./noisy-lsp")
expect("a log line like a field", 0, ["pass  "], [noise("check", "DEBUG: up", "the program")], "check", "-p", "lsp", "--only", "id.*", "--", "./noisy-lsp")
expect("a log line like a field", 7, ["FAIL  framing.stray"], [], "check", "-p", "lsp", "--only", "framing.stray", "--", "./noisy-lsp")
expect("a log line like a field", 0, "[]\n", noise("call", "DEBUG: up"), "call", "-o", "noisy.jsonl", *SYMBOL, "--", "./noisy-lsp")
expect("a log line like a field", 7, ["DEBUG: up"], [], "lint", "noisy.jsonl")
# Text only: nothing to detect, and the text is the reason.
write("noisyonly.py", "#!" + PYTHON + "\nimport time\nprint('DEBUG up', flush=True)\ntime.sleep(9)\n")
os.chmod("noisyonly.py", 0o700)
expect("nothing but text", 5, "", [noise("call", "DEBUG up"), "duplex call: cannot detect the protocol"],
       "call", "-p", "auto", "-t", "1s", "ping", "--", "./noisyonly.py")

# 9. What is not a trace does not keep --attach waiting.
expect("attach", 2, "", "duplex tap: noisy.py is not a Duplex trace\n", "tap", "--attach", "noisy.py")

# 4. A server that crashes, and one that hangs.

write("key.mjs", '''
const key = process.env.WEATHER_API_KEY;
if (!key) throw new Error("WEATHER_API_KEY is missing");
''')
write("key.py", '''
import os
def main():
    return os.environ["WEATHER_API_KEY"]
main()
''')
clean = {name: value for name, value in os.environ.items() if name != "WEATHER_API_KEY"}
if subprocess.run(["sh", "-c", "command -v node"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
    for command in (["mcp", "tools"], ["call", "-p", "mcp", "tools/list"]):
        expect("node crashes", 4, "", ["the program exited with code 1; stderr: Error: WEATHER_API_KEY is missing\n", "key.mjs:3"],
               *command, "--", "node", "key.mjs", env=clean)
for command in (["mcp", "tools"], ["call", "-p", "mcp", "tools/list"]):
    expect("python crashes", 4, "", ["the program exited with code 1; stderr: KeyError: 'WEATHER_API_KEY'\n", "key.py"],
           *command, "--", PYTHON, "key.py", env=clean)
# An error line says more than what the program did after it, however much that was.
write("fails.py", r'''
import sys
print("loading", file=sys.stderr)
print(sys.argv[1], file=sys.stderr)
for number in range(int(sys.argv[2])):
    print("shutting down worker", number, file=sys.stderr)
sys.exit(3)
''')
OPEN = "ERROR: cannot open /etc/foo.conf: Permission denied"
for command in (["mcp", "tools"], ["call", "-p", "mcp", "tools/list"], ["call", "-p", "auto", "x"]):
    expect("an error line", 4, "", ["the program exited with code 3; stderr: " + OPEN + "\n  loading\n  " + OPEN + "\n  shutting down worker 0\n"
           "  shutting down worker 1\n  shutting down worker 2\n"], *command, "--", PYTHON, "fails.py", OPEN, "3")
    expect("an error line long before", 4, "", ["the program exited with code 3; stderr: " + OPEN + "\n  shutting down worker 40\n",
           "  shutting down worker 49\n"], *command, "--", PYTHON, "fails.py", OPEN, "50")
expect("an error line long before", 4, "", ["the program exited with code 3; stderr: " + OPEN + "\n  shutting down worker 1190\n",
       "  shutting down worker 1199\n"], "mcp", "tools", "--", PYTHON, "fails.py", OPEN, "1200")
for line in ("[error] x", "2026-01-01 12:00:00 FATAL x", "prog: error: x", "Error: x"):
    expect("an error line", 4, "", ["the program exited with code 3; stderr: " + line + "\n"], "mcp", "tools", "--", PYTHON, "fails.py", line, "9")
# What is not ASCII survives, but for what steers a terminal and what is not UTF-8.
QUOTES = "env: ‘nosuchlang’: Datei \x1b[1m nicht gefunden 漢字"
expect("not ASCII", 4, "", ["stderr: " + QUOTES.replace("\x1b", "?") + "\n"], "mcp", "tools", "--", PYTHON, "fails.py", QUOTES, "0",
       env={**os.environ, "PYTHONIOENCODING": "utf-8"})
expect("not UTF-8", 4, "", ["stderr: a?b\n"], "mcp", "tools", "--", "sh", "-c", "printf 'a\\377b\\n' >&2; exit 3")
expect("cut at a whole character", 4, "", ["éé\n"], "mcp", "tools", "--", PYTHON, "fails.py", "x" + 400 * "é", "0",
       env={**os.environ, "PYTHONIOENCODING": "utf-8"})
# 2. With the key it runs: the environment is the shell's.
expect("the environment", 4, "", ["the program exited with code 7"], "mcp", "tools", "--", "sh", "-c", 'exit "$WEATHER_API_KEY"',
       env={**clean, "WEATHER_API_KEY": "7"})
expect("a clean environment", 4, "", ["KeyError: 'WEATHER_API_KEY'"], "mcp", "tools", "--clean-env", "--", PYTHON, "key.py",
       env={**clean, "WEATHER_API_KEY": "7"})

# 7. A method that a built-in protocol does not have is refused before anything is started.

for command in "call", "bench":
    expect("unknown method", 7, "", "duplex %s: mcp has no method 'tools/lst'\nhint: did you mean tools/list? (--check off sends any method)\n"
           % command, command, "-p", "mcp", "tools/lst", "--", "touch", "started")
for method in "list_tools", "listTools", "LIST-TOOLS":
    expect("the same words", 7, "", f"duplex call: mcp has no method '{method}'\nhint: did you mean tools/list? (--check off sends any method)\n",
           "call", "-p", "mcp", method, "--", "touch", "started")
expect("a method like no other", 7, "", "duplex call: mcp has no method 'xyzzy'\nhint: --check off sends any method\n",
       "call", "-p", "mcp", "xyzzy", "--", "touch", "started")
expect("the second method", 7, "", ["duplex call: mcp has no method 'tools/lst'\n"], "call", "-p", "mcp", "ping", "--then", "tools/lst",
       "--", "touch", "started")
expect("a method of the server", 7, "", "duplex call: only the server may call 'sampling/createMessage'\n"
       "hint: --check off sends any method\n", "call", "-p", "mcp", "sampling/createMessage", "--", "touch", "started")
expect("a notification", 7, "", "duplex call: notifications/cancelled is a notification: use duplex notify\n", "call", "-p", "mcp",
       "notifications/cancelled", "--", "touch", "started")
if os.path.exists("started"):
    complain("a server was started for a method that does not exist")
expect("any method", 0, "{}\n", "", "call", "-p", "mcp", "--check", "off", "tools/lst", "--", *NOISY, "quiet")

# 8. The protocol is detected with one start if one is enough, never with two at a time, within --start-timeout.

write("counted.py", r'''
import json, os, sys
with open("starts", "a") as file:
    file.write("x")
if sys.argv[1] == "silent":
    import time
    time.sleep(60)
if sys.argv[1] == "deaf":
    sys.stdin.read()
    sys.exit()
if sys.argv[1] == "mcp":
    with open("noisy.py") as file:
        sys.argv = ["noisy.py", "quiet"]
        exec(file.read())
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not line:
        break
    message = json.loads(sys.stdin.buffer.read(length))
    if "id" in message:
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": {}} if message["method"] == "initialize" else None})
        sys.stdout.write("Content-Length: %d\r\n\r\n%s" % (len(body), body))
        sys.stdout.flush()
    elif message["method"] == "exit":
        break
''')


def starts(what, wanted, code, out, err, *words):
    if os.path.exists("starts"):
        os.unlink("starts")
    expect(what, code, out, err, *words)
    with open("starts", encoding="ascii") as file:
        count = len(file.read())
    if not wanted(count):
        complain("%s: %d starts" % (what, count))


def detected(command, name):
    return "duplex %s: the server speaks %s; pass --protocol %s to skip the detection\n" % (command, name, name)


starts("a language server", lambda count: count == 1, 0, "null\n", detected("call", "lsp"), "call", "-p", "auto", "workspace/symbol",
       "query=x", "--", PYTHON, "counted.py", "lsp")
starts("a server that its command line names", lambda count: count == 1, 0, "{}\n", detected("call", "mcp"), "call", "-p", "auto", "ping",
       "--", PYTHON, "counted.py", "mcp")
starts("a recording is whole", lambda count: count == 2, 0, "{}\n", detected("call", "mcp"), "call", "-p", "auto", "-o", "trace.jsonl", "ping",
       "--", PYTHON, "counted.py", "mcp")
os.link("counted.py", "other.py")
write("hidden.sh", 'exec "$1" other.py m""cp\n')
starts("a server that is not named", lambda count: count == 1, 0, "{}\n", detected("call", "mcp"), "call", "-p", "auto", "ping",
       "--", "sh", "hidden.sh", PYTHON)
write("late.sh", 'sleep 2; exec "$1" other.py m""cp\n')
starts("a server that starts slowly", lambda count: count == 1, 0, "{}\n", detected("call", "mcp"), "call", "-p", "auto", "ping",
       "--", "sh", "late.sh", PYTHON)
write("alone.sh", """mkdir alone || { echo "another copy is running" >&2; exit 1; }
trap 'rmdir alone' EXIT
"$1" other.py "$2"
""")
for kind, count, result, words in ("m''cp", 1, "{}\n", ["ping"]), ("header", 2, "null\n", ["workspace/symbol", "query=x"]):
    starts("only one copy can run", lambda got, count=count: got == count, 0, result, detected("call", "mcp" if count == 1 else "lsp"),
           "call", "-p", "auto", *words, "--", "sh", "alone.sh", PYTHON, kind.replace("'", ""))
starts("a server that never responds", lambda count: count == 5, 5, "",
       "duplex call: cannot detect the protocol: no response (tried mcp, lsp, reginald, finecode, hermes); pass --protocol\n",
       "call", "-p", "auto", "x", "--", PYTHON, "other.py", "deaf")
for words, least, most in (["--start-timeout", "1500ms"], 1.5, 4), (["--start-timeout", "7s"], 7, 11):
    began = time.monotonic()
    starts("a silent server", lambda count: count == 1, 5, "", ["duplex call: cannot detect the protocol: no response in time (tried "],
           "call", "-p", "auto", *words, "x", "--", PYTHON, "counted.py", "silent")
    if not least <= time.monotonic() - began <= most:
        complain("a silent server: %s took %.1f s" % (words, time.monotonic() - began))


def at_terminal(words, seconds, width=100):
    """What stood on the last row of the screen over time, and all of it in the end."""
    screen = Screen(width)
    rows = []
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.environ["NO_COLOR"] = "1"
        os.execv(DUPLEX, [DUPLEX, *words])
    import fcntl, struct, termios
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        screen.feed(got)
        row = "".join(screen.rows[screen.row]).rstrip()
        if row and (not rows or rows[-1] != row):
            rows.append(row)
    else:
        complain("%s: still running" % words)
    os.close(fd)
    os.waitpid(pid, 0)
    return rows, ["".join(row).rstrip() for row in screen.rows]


write("slow.py", r'''
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        time.sleep(1.2)
        for number in range(int(sys.argv[2])):
            print("line", number, file=sys.stderr, flush=True)
        time.sleep(float(sys.argv[1]))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": message["params"]["protocolVersion"],
              "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}}}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
''')


write("after.py", '''
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        if message["method"] != "initialize":
            time.sleep(float(sys.argv[1]))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": message["params"]["protocolVersion"],
              "capabilities": {}, "serverInfo": {"name": "n", "version": "1"}} if message["method"] == "initialize" else {}}), flush=True)
''')
write("slow.sh", "echo up >&2; sleep 3\n")
write("slow-plugin", "#!/bin/sh\nsleep 6\n")
os.chmod("slow-plugin", 0o700)


def waits(what, wanted, left, words, only=None, **more):
    rows, screen = at_terminal(words, 30, **more)
    for row in rows:
        if only and row.startswith(only) and re.sub("[0-9] s", "2 s", row, count=1) not in wanted:
            complain("%s: %r stood there" % (what, row), *rows)
    for text in wanted:
        if text not in rows:
            complain("%s: %r never stood there" % (what, text), *rows)
    for row in screen:
        if "waiting for" in row:
            complain("%s: the line was not erased" % what, *screen)
    if left is not None and [row for row in screen if row] != left:
        complain("%s: left on the screen" % what, *screen)


def waits_from_two(command):
    rows, _ = at_terminal([*command, "--start-timeout", "9s", "--", PYTHON, "slow.py", "3", "0"], 30)
    for second in 2, 3:
        text = "waiting for initialize… %d s, 9 s at most; the server has written nothing" % second
        if text not in rows:
            complain("%s: %r never stood there" % (command, text), *rows)
    if any("waiting for initialize… 1 s" in row for row in rows):
        complain("it comes before two seconds", *rows)


# They wait most of the time, so all of them wait at once.
waiting = []
for command in ["call", "-p", "mcp", "ping"], ["mcp", "info"]:
    waiting.append((waits_from_two, command))
def later(*arguments, **more):
    waiting.append((lambda: waits(*arguments, **more),))
SLOW = [PYTHON, "slow.py", "2", "1"]
later("check", ["waiting for initialize… 2 s, 20 s at most; the program has written 1 line to stderr"], None,
      ["check", "-p", "mcp", "--only", "start.answered", "--", *SLOW])
later("check, the first response", ["waiting for the first response… 2 s, 10 s at most; the program has written nothing since"], None,
      ["check", "-p", "mcp", "--only", "start.answered", "--", PYTHON, "after.py", "3"])
later("replay", ["waiting for the next recorded message… 2 s, 9 s at most"], None, ["replay", "--timeout", "9s", "slow.jsonl", "--", *SLOW])
later("hermes", ["waiting for the extensions to start… 2 s, 10 s at most; the extensions have written nothing"], None,
      ["hermes", "host", "-x", "sleep 3", "--run", "a/b", "slow.hl7"])
later("hermes, stderr", ["waiting for the extensions to start… 2 s, 7 s at most; the extensions have written 1 line to stderr"], None,
      ["hermes", "host", "--start-timeout", "7s", "-x", "sh slow.sh", "--run", "a/b", "slow.hl7"])
later("reginald", ["waiting for the plugins to start… 2 s, 5 s at most; the plugins have written nothing"], None,
      ["reginald", "--plugin", "./slow-plugin", "plugins"], width=120)
later("mock", ["waiting for initialize… 2 s, 30 s at most; the program has written nothing"], None,
      ["mock", "-p", "mcp", "--", "sleep", "3"])
later("mock, stderr", ["waiting for initialize… 2 s, 9 s at most; the program has written 1 line to stderr"], None,
      ["mock", "-p", "mcp", "-t", "9s", "--", "sh", "slow.sh"])
later("autohand", ["waiting for the agent… 2 s, 30 s at most; the agent has written 1 line to stderr"],
      ["duplex autohand: the agent exited before it was ready", "  up"], ["autohand", "prompt", "hello", "--", "sh", "-c", "echo up >&2; sleep 3"])
later("since the request", ["waiting for ping… 2 s, 9 s at most; the server has written nothing since"], None,
      ["mcp", "ping", "-t", "9s", "--", PYTHON, "after.py", "3"])
later("erased", ["waiting for initialize… 3 s, 9 s at most; the server has written 3 lines to stderr"], ["{}"],
      ["call", "-p", "mcp", "ping", "--start-timeout", "9s", "--", PYTHON, "slow.py", "3", "3"])
later("one line", ["waiting for initialize… 2 s, 9 s at most; the server has written 1 line to stderr"], ["{}"],
      ["call", "-p", "mcp", "ping", "--start-timeout", "9s", "--", PYTHON, "slow.py", "2", "1"])
for width, line in (
    (100, "waiting for initialize… 2 s, 9 s at most; the server has written 1 line to stderr"),
    (82, "waiting for initialize… 2 s, 9 s at most; the server has written 1 line to stderr"),
    (81, "waiting for initialize… 2 s, 9 s at most"),
    (41, "waiting for initialize… 2 s, 9 s at most"),
    (40, "waiting for initialize… 2 s"),
    (28, "waiting for initialize… 2 s"),
    (27, "waiting… 2 s"),
    (13, "waiting… 2 s"),
):
    later("a narrow terminal, %d" % width, [line], None,
          ["call", "-p", "mcp", "ping", "--start-timeout", "9s", "--", PYTHON, "slow.py", "2", "1"], width=width,
          only="waiting")
# A server of a run, as seen by its clients and by the run itself.
write("hang.json", json.dumps({"duplex": 1, "peers": {
    "hang": {"command": ["sleep", "60"], "protocol": "mcp", "restart": "never"},
    "late": {"command": [PYTHON, "after.py", "3"], "protocol": "mcp", "startMs": 30000}}}))
AT = ["--socket", os.path.abspath("hang.socket")]
HANGS = subprocess.Popen([DUPLEX, "run", "--config", "hang.json", "--start-timeout", "60s", *AT], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while run("ps", *AT)[0] == 3:
    time.sleep(0.05)
TOO_LATE = ["hang was not ready within 5 s (--timeout)", "hint: see 'duplex ps' and 'duplex logs hang'"]
for words in ["call", "ping"], ["mcp", "tools"], ["bench", "ping"]:
    later("--in, %s" % words[0], ["waiting for hang to start… 2 s, 5 s at most"], None, [*words, "--in", "hang", "-t", "1s", *AT])
later("--in, the limit", ["waiting for hang to start… 3 s, 5 s at most"], ["duplex notify: " + TOO_LATE[0], TOO_LATE[1]],
      ["notify", "notifications/cancelled", "requestId:=1", "--in", "hang", "-t", "1s", *AT])
later("--in, --start-timeout", ["waiting for hang to start… 2 s, 3 s at most"],
      ["duplex mcp ping: hang was not ready within 3 s (--start-timeout)", TOO_LATE[1]],
      ["mcp", "ping", "--in", "hang", "--start-timeout", "3s", *AT])
later("--in, a slow response", ["waiting for ping… 2 s, 9 s at most"], ["{}"], ["call", "ping", "--in", "late", "-t", "9s", *AT])
write("fails.json", json.dumps({"duplex": 1, "peers": {"hang": {"command": ["sleep", "60"], "protocol": "mcp", "restart": "never"}}}))
later("run", ["waiting for hang to start… 2 s, 3 s at most"],
      ["hang: starting: sleep 60", "hang: failed: no response within 3 s", "duplex run: every server has failed",
       "hint: fix the cause and start duplex run again"],
      ["run", "--config", "fails.json", "--start-timeout", "3s", "--name", "fails%d" % os.getpid()])
write("slow.hl7", "MSH|^~\\&|A|B|C|D|20240102030405||ADT^A01|1|P|2.5\r")
expect("recorded", 0, "{}\n", "", "call", "-p", "mcp", "-o", "slow.jsonl", "ping", "--", PYTHON, "slow.py", "0", "0")
with concurrent.futures.ThreadPoolExecutor(len(waiting)) as pool:
    for future in [pool.submit(*one) for one in waiting]:
        future.result()
HANGS.terminate()
HANGS.wait()
expect("no terminal", 0, "{}\n", "", "call", "-p", "mcp", "ping", "--", PYTHON, "slow.py", "2", "1")

sys.exit(failed)
