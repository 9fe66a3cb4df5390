"""Talks to `duplex-autohand agent` as a client does. One argument each: the program, a folder to
work in, and the part."""
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

PROGRAM, WORK, PART = sys.argv[1:4]
FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "autohand", "fake_model.py")
failed = 0


def check(good, *words):
    global failed
    if not good:
        failed = 1
        line = sys._getframe(1).f_lineno
        print(f"line {line}:", *(str(word)[:1500] for word in words), flush=True)


def put(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def put_json(name, *values):
    return put(name, "".join(json.dumps(value) + "\n" for value in values))


class Agent:
    """An agent that was started, and the conversation with it."""

    def __init__(self, *words, env=None, errors=subprocess.DEVNULL, header=False, home="home"):
        os.makedirs(os.path.join(WORK, "place"), exist_ok=True)
        self.header = header
        argv = [PROGRAM, "agent", "--path", os.path.join(WORK, "place")]
        if home:
            argv += ["--home", os.path.join(WORK, home)]
        self.child = subprocess.Popen(argv + list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=errors, env={**os.environ, **(env or {})})
        self.messages = queue.Queue()
        self.seen = []
        self.next = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            self.read_all(self.child.stdout)
        except ValueError:
            pass  # it was closed meanwhile
        self.messages.put(None)

    def read_all(self, out):
        while True:
            line = out.readline()
            if line.lower().startswith(b"content-length:"):
                out.readline()
                line = out.read(int(line.split(b":")[1]))
            if not line:
                break
            if not line.strip():
                continue
            self.messages.put(json.loads(line))

    def write(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def send(self, method, params=None, answered=True):
        message = {"jsonrpc": "2.0", "method": method}
        if answered:
            self.next += 1
            message["id"] = self.next
        if params is not None:
            message["params"] = params
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self.header else body + b"\n")
        return self.next

    def until(self, wanted, seconds=20):
        """The first message that is wanted: a method, or the number of an answer."""
        end = time.monotonic() + seconds
        while True:
            try:
                message = self.messages.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                return {"nothing": "came", "seen": self.seen[-5:]}
            if message is None:
                return {"the end": self.seen[-5:]}
            self.seen.append(message)
            if message.get("method") == wanted or ("id" in message and message["id"] == wanted and "method" not in message):
                return message

    def ask(self, method, params=None):
        return self.until(self.send(method, params))

    def prompt(self, text):
        return self.ask("autohand.prompt", {"message": text})

    def texts(self):
        return "".join(it["params"]["delta"] for it in self.seen if it.get("method") == "autohand.messageUpdate")

    def end(self, seconds=10):
        if self.child.stdin and not self.child.stdin.closed:
            try:
                self.child.stdin.close()
            except OSError:
                pass
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return "it stays"


class Fake:
    """The fake model."""

    def __init__(self, *steps):
        self.log = put("log", "")
        words = ["--script", put_json("fake.jsonl", *steps)] if steps else []
        self.child = subprocess.Popen([sys.executable, FAKE, "--log", self.log, *words],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = "http://127.0.0.1:%d" % int(self.child.stdout.readline())

    def says(self, line):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            with open(self.log, encoding="utf-8") as log:
                if line in log.read().split("\n"):
                    return True
            time.sleep(0.005)
        return False

    def asked(self):
        from urllib.request import ProxyHandler, build_opener
        return json.load(build_opener(ProxyHandler({})).open(self.url + "/log"))

    def end(self):
        self.child.stdin.close()
        self.child.wait(10)


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as facts:
            return facts.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def part_framing():
    began = time.monotonic()
    agent = Agent()
    start = agent.until("autohand.agentStart")
    check("params" in start and 0.1 < time.monotonic() - began < 5, start)
    check(agent.ask("autohand.getState")["result"]["status"] == "idle", agent.seen)
    # Who began with lines stays with them.
    agent.write(b"Content-Length: 2\n\n")
    check(agent.ask("autohand.getState").get("result", {}).get("status") == "idle", agent.seen)
    check(agent.end() == 0, "code")

    for first in (b" ", b"\r\n", b"\xef\xbb\xbf", b"C\n", b"not json\n", b"[]\n"):
        agent = Agent()
        agent.write(first)
        check(agent.ask("autohand.getState").get("result", {}).get("status") == "idle", first, agent.seen)
        check(agent.end() == 0, first)

    agent = Agent(header=True)
    check("params" in agent.until("autohand.agentStart") if agent.send("initialize", {}) else False, agent.seen)
    answer = agent.until(1)
    check(answer.get("result", {}).get("capabilities") == {}, answer)
    agent.send("initialized", {}, answered=False)
    check(agent.ask("autohand.getState").get("result", {}).get("status") == "idle", agent.seen)
    check(agent.end() == 0, "header: code")

    # The same from one that begins late: what was said in lines is the beginning of a header for it.
    agent = Agent(header=True)
    line = agent.until("autohand.agentStart")
    answer = agent.ask("initialize", {})
    check(answer.get("result", {}).get("capabilities") == {}, answer)
    starts = [it for it in agent.seen if it.get("method") == "autohand.agentStart"]
    check(len(starts) == 2 and starts[1]["params"]["sessionId"] == line["params"]["sessionId"], agent.seen)
    check(agent.end() == 0, "late header: code")
    agent = Agent("--framing", "line", header=True)
    agent.until("autohand.agentStart")
    agent.write(b"Content-Length: 2\r\n\r\n{}")
    check(agent.end() == 1, "lines were asked for")

    # The same one byte at a time, in other letters, and asked for.
    agent = Agent()
    body = b'{"jsonrpc":"2.0","method":"autohand.getState","id":5}'
    for byte in b"content-length: %d\r\n\r\n%s" % (len(body), body):
        agent.write(bytes([byte]))
    check("result" in agent.until(5), agent.seen)
    check(agent.end() == 0, "bytes: code")
    agent = Agent("--framing", "header", header=True)
    time.sleep(0.3)
    check("result" in agent.ask("autohand.getState"), agent.seen)
    check(agent.end() == 0, "--framing header: code")


def part_ends():
    script = put_json("steps.jsonl", {"match": "run", "toolCalls": [{"name": "run_command", "args": {"command": "sh", "args": ["-c", "echo $$; sleep 60 & wait"]}}]}, {"match": "wait", "delayMs": 60000, "text": "late"})
    for number in (None, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for text in (None, "run", "wait"):
            agent = Agent("--script", script, "--yolo")
            agent.until("autohand.agentStart")
            pid = None
            if text:
                agent.send("autohand.prompt", {"message": text})
                agent.until("autohand.turnStart")
            if text == "run":
                update = agent.until("autohand.toolUpdate")
                pid = int(update["params"]["output"])
                check(lives(pid), "the command", update)
            began = time.monotonic()
            if number:
                agent.child.send_signal(number)
                try:
                    code = agent.child.wait(10)
                except subprocess.TimeoutExpired:
                    code = "it stays"
            else:
                code = agent.end()
            took = time.monotonic() - began
            check(code == 0 and took < 2.5, number, text, code, took)
            agent.until("no such thing", 1)
            ends = [it.get("method") for it in agent.seen]
            check(ends[-1] == "autohand.agentEnd" and ends.count("autohand.agentEnd") == 1, number, text, ends)
            check(ends.count("autohand.turnEnd") == (1 if text else 0), number, text, ends)
            check(not pid or not lives(pid), "it was left behind", number, text)
            agent.end()
    # A client that dies takes its end of both pipes with it.
    agent = Agent("--script", script, "--yolo")
    agent.until("autohand.agentStart")
    agent.child.stdin.close()
    agent.child.stdout.close()
    check(agent.end() == 0, "both ends closed")


def part_settings():
    script = put_json("steps.jsonl", {"text": "from the settings", "repeat": True})
    settings = {"provider": "script", "script": {"file": script}}
    path = put_json("mine.json", settings)
    put_json("other/config.json", settings)
    put_json("home2/.autohand/config.json", settings)
    ways = (
        (("--config", path), {}, "home"),
        ((), {"AUTOHAND_CONFIG": path}, "home"),
        ((), {}, "other"),
        ((), {"AUTOHAND_HOME": os.path.join(WORK, "other")}, None),
        ((), {"HOME": os.path.join(WORK, "home2")}, None),
    )
    for words, env, home in ways:
        agent = Agent(*words, env=env, home=home)
        check("result" in agent.prompt("hello") and agent.texts() == "from the settings", words, env, agent.seen)
        check(agent.end() == 0, words)
    # Options win.
    other = put_json("other.jsonl", {"text": "from the option", "repeat": True})
    agent = Agent("--config", path, "--script", other, "--model", "mine")
    check("result" in agent.prompt("hello") and agent.texts() == "from the option", agent.seen)
    check(agent.ask("autohand.getState")["result"]["model"] == "mine", agent.seen)
    check(agent.end() == 0, "code")
    # Nothing at all: the rules.
    put("place/a.txt", "some words\n")
    agent = Agent(home=None, env={"HOME": ""})
    check("result" in agent.prompt("show a.txt") and agent.texts() == "some words", agent.seen)
    check(agent.ask("autohand.getState")["result"]["model"] == "offline", agent.seen)
    check(agent.end() == 0, "code")


def part_models():
    fake = Fake({"match": "hello", "text": "Hi", "repeat": True, "tokens": 9}, {"match": "go", "toolCalls": [{"name": "list_tree"}]}, {"role": "tool", "text": "Done"})
    key = {"OPENAI_API_KEY": "sk-from-environment"}
    agent = Agent("--url", fake.url + "/v1", "--model", "m1", env=key)
    check("result" in agent.prompt("hello") and agent.texts() == "Hi", agent.seen)
    check("result" in agent.prompt("go"), agent.seen)
    asked = fake.asked()
    check([it["authorization"] for it in asked] == ["Bearer sk-from-environment"] * 3, asked)
    check({it["body"]["model"] for it in asked} == {"m1"} and all(it["body"]["stream"] for it in asked), asked)
    check("run_command" in {it["function"]["name"] for it in asked[0]["body"]["tools"]}, asked[0])
    check([it["role"] for it in asked[2]["body"]["messages"]][-2:] == ["assistant", "tool"], asked[2])
    # Nor can a command that the model runs read it there.
    with open(f"/proc/{agent.child.pid}/environ", "rb") as environ:
        check(b"sk-from-environment" not in environ.read(), "the key is still in the environment")
    check(agent.end() == 0, "code")
    # The endpoint of the settings, with its own key, or with that of the environment.
    for own in ("sk-from-settings", None):
        about = {"baseUrl": fake.url, "model": "m2", **({"apiKey": own} if own else {})}
        path = put_json("http.json", {"provider": "llamacpp", "llamacpp": about})
        agent = Agent("--config", path, env=key)
        check("result" in agent.prompt("hello"), agent.seen)
        last = fake.asked()[-1]
        check(last["authorization"] == "Bearer " + (own or "sk-from-environment") and last["body"]["model"] == "m2", last)
        check(agent.end() == 0, "code")
    # A key of the settings is not for another endpoint.
    path = put_json("http.json", {"provider": "openai", "openai": {"apiKey": "sk-secret"}})
    agent = Agent("--config", path, "--url", fake.url + "/v1")
    check("result" in agent.prompt("hello") and fake.asked()[-1]["authorization"] is None, fake.asked()[-1])
    check(agent.end() == 0, "code")

    # Aborting closes the connection.
    for mode in ("silent", "mute"):
        agent = Agent("--url", fake.url + "/" + mode)
        turn = agent.send("autohand.prompt", {"message": "x"})
        check(fake.says("asked " + mode), mode)
        if mode == "silent":
            agent.until("autohand.messageUpdate")
        began = time.monotonic()
        check(agent.ask("autohand.abort").get("result", {}).get("success") is True, agent.seen)
        check(fake.says("gone " + mode) and time.monotonic() - began < 0.5, mode, time.monotonic() - began)
        check(agent.until(turn).get("error", {}).get("code") == -32004, agent.seen)
        check(agent.end() == 0, "code")

    # What fails, and when it is given up.
    for words, code, kind in (
            (("--url", fake.url + "/401"), -32000, "auth"),
            (("--url", fake.url + "/429", "--model-tries", "1"), -32000, "rate_limit"),
            (("--url", fake.url + "/cut"), -32000, "network"),
            (("--url", fake.url + "/silent", "--model-timeout", "300ms"), -32002, "timeout"),
            (("--", "sleep", "60"), -32002, "timeout"),
            (("--", "/nonexistent/model"), -32000, "unknown")):
        words = words if "--" not in words else ("--model-timeout", "300ms", *words)
        agent = Agent(*words)
        check(agent.prompt("x").get("error", {}).get("code") == code, words, agent.seen[-3:])
        errors = [it["params"] for it in agent.seen if it.get("method") == "autohand.error"]
        check([it["code"] for it in errors] == [code], words, errors)
        check(agent.end() == 0, "code")
    fake.end()

    # A program of one's own. It gets the key, the commands that it runs don't.
    model = put("model.py", """import json, os, sys
for line in sys.stdin:
    question = json.loads(line)
    last = question["messages"][-1]
    if last["role"] == "user":
        print(json.dumps({"toolCall": {"name": "run_command", "args": {"command": "env"}}}))
    elif "OPENAI_API_KEY" in last["content"] or os.environ["OPENAI_API_KEY"] != "sk-from-environment":
        print(json.dumps({"text": "wrong"}))
    else:
        print(json.dumps({"text": question["model"] + " says " + last["role"]}))
    print(json.dumps({"done": True, "tokens": 3}), flush=True)
""")
    agent = Agent("--model", "own", "--yolo", "--", sys.executable, model, env=key)
    for _ in range(3):
        check("result" in agent.prompt("x"), agent.seen)
    check(agent.texts() == "own says tool" * 3, agent.texts())
    check(agent.end() == 0, "code")


def plain(value):
    """Without how long something took."""
    if isinstance(value, dict):
        return {name: plain(it) for name, it in value.items() if name not in ("duration", "durationMs")}
    return [plain(it) for it in value] if isinstance(value, list) else value


def part_clock():
    """Two runs with a fixed clock say the same."""
    script = put_json("steps.jsonl", {"text": "a", "toolCalls": [{"name": "list_tree"}]}, {"text": "b"})
    said = []
    for _ in range(2):
        agent = Agent("--script", script, "--fixed-clock")
        agent.prompt("x")
        check(agent.end() == 0, "code")
        agent.until("no such thing", 1)
        said.append(plain(agent.seen))
    text = json.dumps(said[0])
    check(said[0] == said[1] and len(said[0]) > 8, said)
    check("2026-01-01T00:00:00.000Z" in text and "session_1_1767225600000" in text, text)


def part_deaf():
    """Nobody reads its standard error: it answers nevertheless."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    fake = Fake({"match": "hello", "status": 500, "repeat": True})
    agent = Agent("--url", fake.url + "/v1", "--model-tries", "2", errors=writer)
    check(agent.prompt("hello").get("error", {}).get("code") == -32000, agent.seen)
    check(agent.ask("autohand.getState")["result"]["status"] == "idle", agent.seen)
    check(agent.end() == 0, "code")
    fake.end()
    os.close(reader)
    os.close(writer)


globals()["part_" + PART]()
sys.exit(failed)
