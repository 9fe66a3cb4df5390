"""Talks to `duplex-finecode er start` as a workspace manager does. One argument each: the program,
a folder to work in, and the part."""
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

PROGRAM, WORK, PART = sys.argv[1:4]
failed = 0


def check(good, *words):
    global failed
    if not good:
        failed = 1
        line = sys._getframe(1).f_lineno
        print(f"line {line}:", *(str(word)[:1500] for word in words), flush=True)


def make_folder(name, files):
    path = os.path.join(WORK, name)
    os.makedirs(path, exist_ok=True)
    for file, text in files.items():
        whole = os.path.join(path, file)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8", newline="") as out:
            out.write(text)
    return path


class Er:
    """A runner that was started, and the conversation with it."""

    def __init__(self, project, words=(), argv=None, tcp=False, env=None):
        argv = argv or [PROGRAM, "er", "start", f"--project-path={project}", "--env-name=e", *words]
        self.tcp = tcp
        self.log = open(os.path.join(WORK, f"log{time.monotonic_ns()}"), "w+b")
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.log, env=env, start_new_session=True)
        self.source, self.sink = self.child.stdout, self.child.stdin
        if tcp:
            port = self.line_of("Serving on ('127.0.0.1', ").rstrip(")\n")
            self.socket = socket.create_connection(("127.0.0.1", int(port)))
            self.source = self.socket.makefile("rb")
            self.sink = self.socket.makefile("wb")
        self.next = 0
        self.notes = []
        self.answers = {}
        self.news = threading.Condition()
        self.on_request = lambda method, params: ({"applied": True}, None)
        threading.Thread(target=self.read, daemon=True).start()
        self.project = project

    def line_of(self, mark):
        line = self.child.stdout.readline().decode()
        check(line.startswith(mark), "expected", mark, "found", line, self.logged())
        return line[len(mark):]

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.sink.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.sink.flush()

    def read(self):
        while True:
            length = 0
            line = self.source.readline()
            while line not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
                line = self.source.readline()
            if not line:
                break
            message = json.loads(self.source.read(length))
            if "method" in message and "id" in message:
                if message["method"] == "projects/getRawConfig":  # during each updateConfig
                    self.send({"id": message["id"], "result": {"config": "{}"}})
                    continue
                result, error = self.on_request(message["method"], message["params"])
                self.notes.append(message)
                answer = {"error": error} if error else {"result": result}
                self.send({"id": message["id"], **answer})
                continue
            with self.news:
                if "method" in message:
                    self.notes.append(message)
                else:
                    self.answers[message["id"]] = message
                self.news.notify_all()
        with self.news:
            self.answers[None] = True
            self.news.notify_all()

    def ask(self, method, params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        return self.next

    def answer(self, number, seconds=20):
        with self.news:
            done = self.news.wait_for(lambda: number in self.answers or None in self.answers, seconds)
        check(done and number in self.answers, "no answer", number, self.logged())
        return self.answers.get(number, {})

    def call(self, method, params, seconds=20):
        return self.answer(self.ask(method, params), seconds)

    def note(self, method, params):
        self.send({"method": method, "params": params})

    def begin(self, actions, configs=None):
        """actions: {name: (source, [(handler's name, source, config)])}"""
        self.call("initialize", {"processId": None, "capabilities": {},
                                 "workspaceFolders": [{"uri": "file://" + self.project, "name": "p"}]})
        self.note("initialized", {})
        config = {"actions": [], "action_handler_configs": configs or {}}
        for name, (source, handlers) in actions.items():
            config["actions"].append({"name": name, "source": source, "config": {}, "handlers": [
                {"name": one, "source": what, "config": how, "env": "e", "dependencies": []}
                for one, what, how in handlers]})
        answer = self.call("finecodeRunner/updateConfig", {
            "workingDir": self.project, "projectName": "p",
            "projectDefPath": self.project + "/finecode.toml", "config": config})
        check(answer.get("result") == {}, "updateConfig", answer)
        answer = self.call("finecodeRunner/resolveActionMeta", {})
        return answer.get("result")

    def ask_run(self, action, payload=None, **options):
        options = {"walRunId": "run-1", "meta": {"trigger": "user", "devEnv": "cli",
                                                 "orchestrationDepth": 1}, **options}
        return self.ask("actions/run", {"actionName": action, "params": payload or {},
                                        "options": options})

    def run(self, action, payload=None, seconds=30, **options):
        """The result as JSON, the code; or the error."""
        return self.outcome(self.answer(self.ask_run(action, payload, **options), seconds))

    @staticmethod
    def outcome(answer):
        if "error" in answer:
            return answer["error"], answer["error"]["code"]
        result = answer.get("result") or {}
        if "error" in result:
            return result["error"], None
        by_format = result.get("result_by_format", result.get("resultByFormat"))
        if isinstance(by_format, str):
            by_format = json.loads(by_format)
        code = result.get("return_code", result.get("returnCode"))
        return (by_format or {}).get("json"), code

    def logged(self):
        self.log.seek(0)
        return self.log.read().decode()

    def end(self):
        self.call("shutdown", None)
        self.note("exit", None)
        code = self.child.wait(5)
        check(code == 0, "exit code", code, self.logged())
        self.child.stdout.close()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def await_death(pids, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(map(is_alive, pids)):
        time.sleep(0.01)
    return not any(map(is_alive, pids))


def read_pids(path):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            with open(path) as file:
                text = file.read()
            if text.endswith("\n"):
                return [int(word) for word in text.split()]
        except OSError:
            pass
        time.sleep(0.01)
    return []


HANDLERS = r'''
[[action]]
source = "t.Any"
[[action]]
source = "t.Listed"
canonical_source = "t.real.Listed"
aliases = ["t.Other"]
runs_concurrently = true
merge = { list = "concat", number = "max" }
fails_if = "/list"
[action.payload]
required = ["who"]
properties = { who = { type = "string" } }
[[action]]
source = "t.Open"
payload = { properties = { who = { type = "string" } }, additionalProperties = true }
[[handler]]
source = "t.echo"
command = ["python3", "-c", """
import json, os, sys
payload = json.loads(sys.stdin.readline())
assert sys.stdin.read() == ''
print('first line', file=sys.stderr); print('second line', file=sys.stderr)
names = ['FINECODE_ACTION', 'FINECODE_HANDLER', 'FINECODE_PROJECT_PATH', 'FINECODE_ENV_NAME', 'FINECODE_RUN_ID', 'MINE']
print(json.dumps({'payload': payload, 'config': json.loads(os.environ['FINECODE_CONFIG_JSON']),
    'env': {name: os.environ[name] for name in names}, 'cwd': os.getcwd()}, indent=2))
"""]
env = { MINE = "yes" }
[[handler]]
source = "t.one"
command = ["sh", "-c", "echo '{\"list\": [1], \"number\": 1}'; exit 3"]
[[handler]]
source = "t.two"
command = ["sh", "-c", "printf '{\"list\": [2], \"number\": 7}'"]
[[handler]]
source = "t.parts"
command = ["sh", "-c", "for i in 1 2 3; do echo \"{\\\"list\\\": [$i]}\"; sleep 0.5; done; echo '{\"list\": [4]}'"]
[[handler]]
source = "t.early"
command = ["sh", "-c", "echo '{\"list\": [1]}'; sleep 1.5"]
[[handler]]
source = "t.code"
command = ["sh", "-c", "exit 4"]
[[handler]]
source = "t.broken"
command = ["sh", "-c", "echo first >&2; printf 'last \\377\\033 words%0400d' 0 >&2; exit 4"]
[[handler]]
source = "t.warned"
command = ["sh", "-c", "echo careful >&2; echo '{}'; exit 4"]
[[handler]]
source = "t.stop"
command = ["sh", "-c", "echo '{\"stopped\": true}'; exit 9"]
stop_code = 9
[[handler]]
source = "t.full"
form = "full"
command = ["python3", "-c", """
import json, sys
run = json.load(sys.stdin)
print(json.dumps({'progress': {'message': 'half', 'percentage': 50}}))
print(json.dumps({'partial': {'list': ['part']}}))
print(json.dumps({'result': {'run': run}, 'returnCode': 5}))
"""]
[[handler]]
source = "t.fullstop"
form = "full"
command = ["sh", "-c", "echo '{\"result\": {\"a\": 1}, \"stop\": true}'"]
[[handler]]
source = "t.text"
command = ["echo", "no JSON"]
[[handler]]
source = "t.array"
command = ["echo", "[1]"]
[[handler]]
source = "t.deep"
command = ["python3", "-c", "print('{\"a\":' * 501 + '1' + '}' * 501)"]
[[handler]]
source = "t.notdeep"
command = ["python3", "-c", "print('{\"a\":' * 500 + '1' + '}' * 500)"]
[[handler]]
source = "t.mixed"
command = ["sh", "-c", "echo '{\"a\": 1}'; echo '{\"a\": 2}'; echo rubbish"]
[[handler]]
source = "t.noise"
command = ["sh", "-c", "echo looking; echo '{\"a\": 1}'; echo '{\"a\": 2}'"]
[[handler]]
source = "t.latestop"
command = ["sh", "-c", "echo '{\"stopped\": true}'; sleep 0.5; exit 9"]
stop_code = 9
[[handler]]
source = "t.longline"
command = ["python3", "-c", "import sys; sys.stdout.write('{\"a\": \"' + 'x' * 15000000 + '\"}')"]
[[handler]]
source = "t.oddfull"
form = "full"
command = ["echo", "{\"a\": 1}"]
[[handler]]
source = "t.late"
command = ["sleep", "30"]
timeout = "300ms"
[[handler]]
source = "t.late60"
command = ["sleep", "60"]
[[handler]]
source = "t.much"
command = ["sh", "-c", "yes | head -c 2000; sleep 30"]
output_max = 1999
[[handler]]
source = "t.enough"
command = ["sh", "-c", "printf '{\"a\": \"%01980d\"}' 0"]
output_max = 1989
[[handler]]
source = "t.killed"
command = ["sh", "-c", "kill -SEGV $$"]
[[handler]]
source = "t.absent"
command = ["no-such-program-here"]
[[handler]]
source = "t.nowhere"
command = ["true"]
cwd = "nowhere"
[[handler]]
source = "t.slow"
command = ["sh", "-c", "sleep 60 & echo $$ $! >pids; wait"]
[[handler]]
source = "t.stubborn"
command = ["sh", "-c", "trap '' TERM; sleep 60 & echo $$ $! >pids; wait; wait; while :; do sleep 1; done"]
[[package]]
name = "mine"
path = "packages/mine"
'''


def part_commands():
    project = make_folder("commands", {"finecode-handlers.toml": HANDLERS})
    er = Er(project)
    sources = ["echo", "code", "full", "text", "array", "mixed", "oddfull", "late", "much", "enough",
               "killed", "absent", "nowhere", "slow", "stubborn"]
    actions = {"a_" + one: ("t.Any", [(one, "t." + one, {"x": [1]})]) for one in sources[:1]}
    # One action a source: the others are added as actions of their own in a second configuration.
    meta = er.begin({**actions, "listed": ("t.Listed", [("one", "t.one", {}), ("two", "t.two", {})])},
                    {"t.echo": {"x": [2], "y": {"z": 1}}})
    check(meta["t.Listed"] == {"canonical_source": "t.real.Listed", "runs_concurrently": True}, meta)
    result, code = er.run("a_echo", {"text": "ä🙂"})
    check(code == 0 and result["payload"] == {"text": "ä🙂"}, result, code)
    check(result["config"] == {"x": [1], "y": {"z": 1}}, result)
    check(result["cwd"] == os.path.realpath(project), result)
    check(result["env"] == {"FINECODE_ACTION": "a_echo", "FINECODE_HANDLER": "echo", "MINE": "yes",
                            "FINECODE_PROJECT_PATH": os.path.realpath(project),
                            "FINECODE_ENV_NAME": "e", "FINECODE_RUN_ID": "run-1"}, result)
    check("t.echo: first line\n" in er.logged() and "t.echo: second line\n" in er.logged(), er.logged())
    result, code = er.run("listed", {"who": "me"})
    check(sorted(result["list"]) == [1, 2] and result["number"] == 7 and code == 3, result, code)
    result, code = er.run("listed", {"who": 1})
    check(code is None and "who" in str(result), result, code)
    # What is not declared is refused, not ignored; unless the schema says otherwise.
    result, code = er.run("listed", {"who": "me", "save": False})
    check(code is None and "Invalid payload for action listed: unknown field @ $.save" in str(result), result, code)
    schema = er.call("actions/getPayloadSchemas", {})["result"]["listed"]
    check(schema["additionalProperties"] is False, schema)
    configure(er, {"open": ("t.Open", [("two", "t.two", {})])})
    result, code = er.run("open", {"who": "me", "more": 1})
    check(code == 0 and result["number"] == 7, result, code)
    answer = er.call("actions/resolveSource", {"source": "t.Other"})
    check(answer["result"] == {"canonicalSource": "t.real.Listed"}, answer)
    answer = er.call("packages/resolvePath", {"packageName": "mine"})
    check(answer["result"] == {"packagePath": os.path.realpath(project) + "/packages/mine"}, answer)

    def only(source, *more):
        return er.begin_again({"it": ("t.Any", [(one, "t." + one, {}) for one in (source, *more)])})

    er.begin_again = lambda actions: configure(er, actions)
    only("parts")
    number = er.ask_run("it", partialResultToken="tok")
    result = er.answer(number)["result"]
    check(result["status"] == "streamed", result)
    parts = [json.loads(note["params"]["value"]) for note in er.notes if note["method"] == "$/progress"]
    check(len(parts) >= 3, parts)
    check(sum((part["list"] for part in parts), []) == [1, 2, 3, 4], parts)
    result, code = er.run("it")
    check(result == {"list": [1, 2, 3, 4]} and code == 0, result, code)
    # One that may be the last is not held back for long.
    only("early")
    er.notes.clear()
    begin = time.monotonic()
    number = er.ask_run("it", partialResultToken="tok")
    while not er.notes and time.monotonic() < begin + 5:
        time.sleep(0.02)
    check(er.notes and number not in er.answers and time.monotonic() < begin + 1.2, er.notes)
    check(er.answer(number)["result"]["status"] == "streamed", er.answers)
    only("code")
    result, code = er.run("it")
    check(code == 4, result, code)
    only("warned")
    result, code = er.run("it")
    check(code == 4, result, code)
    only("stop", "echo")
    answer = er.answer(er.ask_run("it"))["result"]
    check(answer["status"] == "stopped" and er.outcome({"result": answer})[0].get("stopped") is True, answer)
    # It takes its time to end: its result has gone as a part meanwhile, and counts.
    only("latestop", "echo")
    answer = er.answer(er.ask_run("it"))["result"]
    check(answer["status"] == "stopped" and er.outcome({"result": answer})[0].get("stopped") is True, answer)
    only("fullstop", "echo")
    answer = er.answer(er.ask_run("it"))["result"]
    check(answer["status"] == "stopped" and er.outcome({"result": answer})[0].get("a") == 1, answer)
    only("one", "full")
    result, code = er.run("it", {"p": 1})
    check(code == 5 and "part" in result["list"], result, code)
    run = result["run"]
    check(run["payload"] == {"p": 1} and run["result"]["list"] == [1] and run["action"] == "it" and
          run["handler"] == "full" and run["runId"] == "run-1" and run["config"] == {} and
          run["meta"] == {"trigger": "user", "devEnv": "cli", "orchestrationDepth": 1}, run)
    for source, text in (("text", "its output is not a JSON object: 'no JSON'"), ("array", "its output is not a JSON object: '[1]'"),
                         ("deep", "its output is not a JSON object: '" + '{"a":' * 16 + "…'"),
                         ("mixed", "line 3 of its output is not a JSON object: 'rubbish'"), ("noise", "its output is not a JSON object: 'looking'"),
                         ("oddfull", "has no partial, progress, result, files, context, stop or returnCode"), ("late", "took longer than 300 ms"),
                         ("much", "wrote more than 1999 bytes"), ("killed", "signal 11"),
                         ("broken", "sh exited with code 4 and no result: last ?? words0"),
                         ("absent", "cannot start no-such-program-here: No such file"),
                         ("nowhere", "cannot change to nowhere: No such file")):
        only(source)
        result, code = er.run("it", seconds=10)
        check(code is None and text in str(result), source, result, code)
    only("notdeep")
    result, code = er.run("it")
    check(code == 0 and str(result).count("{") == 500, result, code)
    only("enough")
    result, code = er.run("it")
    check(code == 0 and len(result["a"]) == 1980, result, code)
    only("longline")
    result, code = er.run("it")
    check(code == 0 and len(result["a"]) == 15000000, code)

    # Cancelled: answered at once, and nothing of it lives on.
    only("slow")
    number = er.ask_run("it")
    pids = read_pids(project + "/pids")
    check(len(pids) == 2 and all(map(is_alive, pids)), pids)
    begin = time.monotonic()
    er.note("$/cancelRequest", {"id": number})
    answer = er.answer(number)
    check(answer.get("error", {}).get("code") == -32800, answer)
    check(time.monotonic() - begin < 0.3, time.monotonic() - begin)
    check(await_death(pids, 0.3), "they live", pids)
    os.unlink(project + "/pids")
    only("stubborn")
    number = er.ask_run("it")
    pids = read_pids(project + "/pids")
    begin = time.monotonic()
    er.note("$/cancelRequest", {"id": number})
    check(er.answer(number).get("error", {}).get("code") == -32800, "not cancelled")
    check(time.monotonic() - begin < 0.3, time.monotonic() - begin)
    check(is_alive(pids[0]), "dead before its time")
    check(await_death(pids, 3), "they live", pids)
    check(time.monotonic() - begin > 1.8, time.monotonic() - begin)
    os.unlink(project + "/pids")
    # There may be many at the same time, but not more.
    only("late60")
    numbers = [er.ask_run("it") for _ in range(257)]
    result, code = er.outcome(er.answer(numbers[-1]))
    check(code is None and "too many programs are running" in str(result) and
          not any(number in er.answers for number in numbers[:-1]), result, code)
    for number in numbers[:-1]:
        er.note("$/cancelRequest", {"id": number})
    check(all(er.answer(number).get("error", {}).get("code") == -32800 for number in numbers[:-1]), "not cancelled")
    only("stubborn")
    # The runner is asked to leave while a command runs.
    er.ask_run("it")
    pids = read_pids(project + "/pids")
    er.note("exit", None)
    check(er.child.wait(5) == 0, "exit code", er.child.returncode, er.logged())
    check(await_death(pids, 0.5), "they live", pids)


def configure(er, actions):
    config = {"actions": [], "action_handler_configs": {}}
    for name, (source, handlers) in actions.items():
        config["actions"].append({"name": name, "source": source, "config": {}, "handlers": [
            {"name": one, "source": what, "config": how, "env": "e", "dependencies": []}
            for one, what, how in handlers]})
    answer = er.call("finecodeRunner/updateConfig", {
        "workingDir": er.project, "projectName": "p",
        "projectDefPath": er.project + "/finecode.toml", "config": config})
    check(answer.get("result") == {}, "updateConfig", answer)
    return er.call("finecodeRunner/resolveActionMeta", {})


def part_ends():
    """However the runner ends, its commands end with it."""
    project = make_folder("ends", {"finecode-handlers.toml": HANDLERS})
    for way in ("KILL", "TERM", "EOF", "GROUP"):
        er = Er(project)
        er.begin({"it": ("t.Any", [("slow", "t.slow", {})])})
        er.ask_run("it")
        pids = read_pids(project + "/pids")
        check(len(pids) == 2, pids)
        if way == "EOF":
            er.child.stdin.close()
        elif way == "GROUP":
            os.killpg(er.child.pid, signal.SIGKILL)
        else:
            er.child.send_signal(signal.SIGTERM if way == "TERM" else signal.SIGKILL)
        code = er.child.wait(5)
        check(code == {"KILL": -9, "GROUP": -9, "TERM": 130, "EOF": 0}[way], way, code, er.logged())
        check(await_death(pids, 1), way, "they live", pids)
        os.unlink(project + "/pids")
    # Nothing of the runner itself is left either.
    until = time.monotonic() + 2
    while time.monotonic() < until:
        left = subprocess.run(["pgrep", "-f", project], capture_output=True, text=True).stdout.split()
        left = [pid for pid in left if int(pid) != os.getpid()]
        if not left:
            break
        time.sleep(0.05)
    check(not left, "left behind", left)


def part_place():
    """In the place of a venv's python: by TCP, in the real program's revision."""
    project = make_folder("place", {"finecode-handlers.toml": HANDLERS})
    python = os.path.join(project, ".venvs/e/bin/python")
    os.makedirs(os.path.dirname(python))
    os.symlink(PROGRAM, python)
    words = ["-m", "finecode_extension_runner.cli"]
    told = subprocess.run([python, *words, "version"], capture_output=True, text=True, timeout=5)
    check(told.stdout.startswith("FineCode Extension Runner ") and told.returncode == 0, told)
    argv = [python, *words, "start", "--log-level=INFO", f"--project-path={project}", "--env-name=e"]
    er = Er(project, argv=argv + ["--wal"], tcp=True)
    meta = er.begin({"it": ("t.Any", [("one", "t.one", {})])})
    check(meta["actions"]["t.Any"]["scope"] == "project", meta)
    answer = er.answer(er.ask_run("it"))["result"]
    check(answer["resultByFormat"]["json"]["list"] == [1] and answer["returnCode"] == 3, answer)
    er.end()
    with open(project + "/.venvs/e/state/finecode/wal/er/wal-000001.jsonl") as wal:
        events = [json.loads(line) for line in wal]
    check({"run.accepted", "handler.started", "run.completed"} <= {one["event_type"] for one in events} and
          all(one["wal_run_id"] == "run-1" for one in events if one["event_type"].startswith("run.")), events)

    # Where it logs, and the other revision by either way.
    er = Er(project, ["--tcp", "--revision=seed", "--log-file", WORK + "/er.log", "--log-level=DEBUG"],
            tcp=True, env={**os.environ, "FINECODE_WAL_ENABLED": "1"})
    er.begin({"it": ("t.Any", [("echo", "t.echo", {})])})
    answer = er.call("finecodeRunner/getInfo", {})
    check(answer["result"] == {"logFilePath": os.path.realpath(WORK) + "/er.log"}, answer)
    answer = er.answer(er.ask_run("it"))["result"]
    check(isinstance(answer["result_by_format"], str) and answer["return_code"] == 0, answer)
    er.end()
    with open(WORK + "/er.log") as log:
        check("t.echo: second line\n" in log.read() and er.logged() == "", er.logged())
    with open(project + "/.venvs/e/state/finecode/wal/er/wal-000001.jsonl") as wal:
        check(len(list(wal)) > len(events), "no events")
    er = Er(project, ["--revision", "real", "--stdio", "--log-level", "ERROR"])
    er.begin({"it": ("t.Any", [("echo", "t.echo", {})])})
    answer = er.answer(er.ask_run("it"))["result"]
    check(answer["returnCode"] == 0 and answer["resultByFormat"]["json"]["payload"] == {}, answer)
    er.end()
    check(er.logged() == "", er.logged())

    # A debugger: whoever connects and speaks.
    child = subprocess.Popen(argv + ["--debug"], stdout=subprocess.PIPE, text=True)
    line = child.stdout.readline()
    check(line.startswith("Debug session: 127.0.0.1:"), line)
    time.sleep(0.2)
    check(child.poll() is None, "it did not wait")
    debugger = socket.create_connection(("127.0.0.1", int(line.rsplit(":", 1)[1])))
    debugger.sendall(b'Content-Length: 48\r\n\r\n{"seq":1,"type":"request","command":"initialize"}')
    line = child.stdout.readline()
    check(line.startswith("Serving on ('127.0.0.1', "), line)
    # One that says nothing is not its manager.
    socket.create_connection(("127.0.0.1", int(line.rsplit(" ", 1)[1].rstrip(")\n")))).close()
    manager = socket.create_connection(("127.0.0.1", int(line.rsplit(" ", 1)[1].rstrip(")\n"))))
    manager.sendall(b'Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}')
    check(child.wait(5) == 0, "exit code", child.returncode)
    manager.close()
    debugger.close()
    # By pipes its port goes to the standard error; who leaves before is not waited for.
    child = subprocess.Popen(argv + ["--debug", "--stdio"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = child.stderr.readline()
    check(line.startswith("Debug session: 127.0.0.1:"), line)
    child.stdin.close()
    check(child.wait(5) == 4 and child.stdout.read() == "", "exit code", child.returncode)


def lines_of(result, name):
    """What was found in a file: (line from 0, column, code)."""
    for path, found in result["messages"].items():
        if path.endswith("/" + name):
            return [(one["range"]["start"]["line"], one["range"]["start"]["character"], one.get("code"))
                    for one in found]
    return []


def part_tools():
    project = make_folder("tools", {
        "good.c": "int main(void) { return 0; }\n",
        "bad.c": "int x = 1;\n/* 🙂 */ int   y;\n",
        "leak.c": "#include <stdlib.h>\nint f(void) {\n  char *p = malloc(10);\n  if (!p)\n    return 1;\n"
                  "  p[0] = 'ä';\n  return p[0];\n}\n",
        "bad.sh": "#!/bin/sh\necho 'ä🙂' $1\n",
        "run": "#!/usr/bin/env bash\ncd /tmp\n",
        "notes.txt": "nothing\n",
        "build/made.c": "int  z;\n",
        "below/finecode.toml": "[finecode]\n",
        "below/other.c": "int  z;\n",
        "sub/deep/x.c": "int  deep;\n",
    })
    er = Er(project)
    meta = er.begin({
        "check": ("duplex.Lint", [("check", "duplex.clang_format_check", {})]),
        "format": ("duplex.Format", [("format", "duplex.clang_format", {"exclude": ["sub/**"]})]),
        "analyse": ("duplex.Analyse", [("cppcheck", "duplex.cppcheck", {"jobs": 1}),
                                       ("shellcheck", "duplex.shellcheck", {})]),
    })
    check(meta["duplex.Lint"]["runs_concurrently"] and not meta["duplex.Format"]["runs_concurrently"], meta)
    result, code = er.run("check")
    check(code == 1 and [os.path.basename(path) for path in result["changed"]] == ["bad.c", "x.c"], result)
    # Behind an astral character, in UTF-16 units.
    check((1, 12, "clang-format-violations") in lines_of(result, "bad.c"), result)
    result, code = er.run("check", {"files": ["good.c", "notes.txt"]})
    check(code == 0 and result == {"messages": {}, "changed": []}, result, code)
    result, code = er.run("check", {"files": ["file://" + project + "/bad%2Ec"]})
    check(code == 1 and len(result["changed"]) == 1, result, code)
    result, code = er.run("check", {"files": ["absent.c"]})
    check(code is None and "absent.c" in str(result), result, code)
    make_folder(".", {"x.c": "int  outside;\n"})
    for payload, text in (({"file": ["good.c"]}, "unknown field @ $.file"), ({"files": ["/etc/passwd"]}, "files: /etc/passwd: outside the project"),
                          ({"files": ["good.c", "../x.c"]}, "files: ../x.c: outside the project")):
        result, code = er.run("check", payload)
        check(code is None and text in str(result), payload, result, code)
    os.symlink("../x.c", project + "/link.c")
    result, code = er.run("check", {"files": ["link.c"]})
    check(code is None and "files: link.c: a link that leads out of the project" in str(result), result, code)
    os.unlink(project + "/link.c")
    if os.geteuid():  # root can read all of them
        os.mkdir(project + "/secret", 0)
        result, code = er.run("check", {"files": ["good.c", "secret"]})
        check(code is None and "files: secret: Permission denied" in str(result), result, code)
        os.rmdir(project + "/secret")
    result, code = er.run("check", {"files": ["sub", "file://" + project + "/build/"]})
    check([os.path.basename(path) for path in result["changed"]] == ["made.c", "x.c"], result, code)
    result, code = er.run("analyse")
    check(code == 1 and (6, 2, "memleak") in lines_of(result, "leak.c"), result)
    # The column behind "ä🙂' ": shellcheck counts characters.
    check((1, 11, "SC2086") in lines_of(result, "bad.sh"), result)
    check((1, 0, "SC2164") in lines_of(result, "run"), result)
    check(not lines_of(result, "good.c"), result)
    # What an editor has open counts.
    uri = "file://" + project + "/good.c"
    er.note("textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "", "version": 1,
        "text": "#include <stdlib.h>\nint main(void) { char  *p = malloc(1); return !p; }\n"}})
    result, code = er.run("check", {"files": ["good.c"]})
    check(code == 1 and lines_of(result, "good.c")[0][0] == 1, result, code)
    result, code = er.run("analyse", {"files": ["good.c"]})
    check(code == 1 and lines_of(result, "good.c")[0][2] == "memleak", result, code)
    er.note("textDocument/didClose", {"textDocument": {"uri": uri}})
    result, code = er.run("analyse", {"files": ["good.c"]})
    check(code == 0, result, code)
    # Formatting: the manager applies the edits …
    asked = []

    def on_request(method, params):
        asked.append((method, params))
        return {"applied": True}, None
    er.on_request = on_request
    result, code = er.run("format")
    check(code == 0 and result == {"changed": [project + "/bad.c"]}, result, code)
    check(asked[0][0] == "workspace/applyEdit" and len(asked) == 1, asked)
    change = asked[0][1]["edit"]["documentChanges"][0]
    check(change["textDocument"]["uri"] == "file://" + project + "/bad.c", change)
    check(change["edits"] == [{"range": {"start": {"line": 1, "character": 12},
                                         "end": {"line": 1, "character": 15}}, "newText": " "}], change)
    # … or says why not …
    er.on_request = lambda method, params: ({"applied": False, "failureReason": "not today"}, None)
    result, code = er.run("format")
    check(code is None and "not today" in str(result), result, code)
    # … or does not know of it, as the real one: then they are made here.
    er.on_request = lambda method, params: (None, {"code": -32601, "message": "Method not found"})
    result, code = er.run("format")
    check(code == 0 and result == {"changed": [project + "/bad.c"]}, result, code)
    with open(project + "/bad.c", encoding="utf-8") as file:
        check(file.read() == "int x = 1;\n/* 🙂 */ int y;\n", "not formatted")
    result, code = er.run("format")
    check(code == 0 and result == {"changed": []}, result, code)
    answer = er.answer(er.ask_run("format", resultFormats=["string"]))
    check("all files are formatted" in json.dumps(answer), answer)
    # One that is written while the formatter looks at it gets no edits, which would be for another text.
    with open(project + "/busy", "w") as file:
        file.write("#!/bin/sh\nfor last; do :; done\nclang-format \"$@\" || exit\nprintf 'int  more;\\n' >\"$last\"\n")
    os.chmod(project + "/busy", 0o755)
    make_folder("tools", {"bad.c": "int   y;\n"})
    configure(er, {"it": ("duplex.Format", [("it", "duplex.clang_format", {"program": project + "/busy"})])})
    er.on_request = on_request
    asked.clear()
    result, code = er.run("it", {"files": ["bad.c"]})
    check(code is None and "bad.c: the file changed in the meantime" in str(result) and not asked, result, code, asked)
    # An open document that needs nothing is no reason not to edit another file here.
    er.on_request = lambda method, params: (None, {"code": -32601, "message": "Method not found"})
    configure(er, {"format": ("duplex.Format", [("format", "duplex.clang_format", {})])})
    er.note("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 1, "text": "int a;\n"}})
    result, code = er.run("format", {"files": ["good.c", "bad.c"]})
    check(code == 0 and result == {"changed": [project + "/bad.c"]}, result, code)
    er.note("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "int  a;\n"}]})
    result, code = er.run("format", {"files": ["good.c", "bad.c"]})
    check(code is None and "is open in an editor" in str(result), result, code)
    er.note("textDocument/didClose", {"textDocument": {"uri": uri}})
    make_folder("tools", {"bad.c": "int x = 1;\n/* 🙂 */ int y;\n"})
    # Output that is something else.
    for program, text in (("true", "bad.sh: true: its output is not a JSON object with comments: ''"),
                          ("false", "bad.sh: false exited with code 1"),
                          ("echo", "bad.sh: echo: its output is not a JSON object with comments: '--format=json1 ")):
        configure(er, {"it": ("duplex.Lint", [("it", "duplex.shellcheck", {"program": program})])})
        result, code = er.run("it", {"files": ["bad.sh"]})
        check(code is None and text in str(result), program, result, code)
    # Configurations that are wrong, and programs that are not there.
    for config, text in (({"program": "no-such-tool"}, "cannot start no-such-tool: it is not in PATH"),
                         ({"jobs": 65}, "jobs: expected"), ({"jobs": 0}, "jobs: expected"),
                         ({"incldue": []}, "incldue"), ({"args": "x"}, "args: expected"),
                         ({"timeout": "soon"}, "timeout: expected"),
                         ({"args": ["--no-such-option"]}, "clang-format exited with code 1"),
                         ({"timeout": "1ms", "program": project + "/slow"}, "took longer than 1 ms")):
        with open(project + "/slow", "w") as file:
            file.write("#!/bin/sh\nsleep 5\n")
        os.chmod(project + "/slow", 0o755)
        configure(er, {"it": ("duplex.Lint", [("it", "duplex.clang_format_check", config)])})
        result, code = er.run("it")
        check(code is None and text in str(result), config, result, code)
    for config, names in (({"jobs": 64, "include": ["**/x.c", "good.c"]}, ["x.c"]),
                          ({"include": ["sub/**"]}, ["x.c"]), ({"include": ["sub/*"]}, []),
                          ({"include": ["sub/*/*.c"]}, ["x.c"]), ({"include": ["/sub/**/x.c"]}, ["x.c"]),
                          ({"include": ["**/sub/**/deep/**/x.c"]}, ["x.c"]), ({"include": ["deep/x.c"]}, []),
                          ({"include": ["**"]}, None), ({"include": ["x.?", "made.c"]}, ["x.c"]),
                          ({"exclude": ["**/deep/*"]}, []), ({"exclude": ["deep"]}, ["x.c"]),
                          ({"include": []}, [])):
        configure(er, {"it": ("duplex.Lint", [("it", "duplex.clang_format_check", config)])})
        result, code = er.run("it")
        if names is None:  # also what is no C, and what clang-format makes of it
            check(code == 1 or code is None, config, result, code)
        else:
            check([os.path.basename(path) for path in result["changed"]] == names, config, result, code)
    # Partial results, and several processes at once.
    for number in range(40):
        make_folder("tools/many", {f"{number}.c": "int  a;\n"})
    configure(er, {"it": ("duplex.Lint", [("it", "duplex.clang_format_check", {"jobs": 2})])})
    er.notes.clear()
    result = er.answer(er.ask_run("it", partialResultToken=7))["result"]
    found = {}
    for note in er.notes:
        if note["method"] == "$/progress":
            found.update(json.loads(note["params"]["value"])["messages"])
    check(result["status"] == "streamed" and len(found) == 41, result, len(found))
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", project], check=True)
        make_folder("tools", {".gitignore": "/many/\n"})
        result, code = er.run("it")
        check([os.path.basename(path) for path in result["changed"]] == ["made.c", "x.c"], result)
    er.end()


def part_nested():
    """What belongs to a project below is not looked at, in whatever order the paths come."""
    odd = "int  a;\n"
    mine = ["a-b/x.c", "a.c", "ab/x.c", "b/c/x.c", "z/x.c"]
    others = ["a/x.c", "a/b/x.c", "a/b/c/x.c", "a/z/x.c", "b/c/d/x.c", "y/x.c"]
    project = make_folder("nested", {name: odd for name in mine + others} | {
        name + "/finecode.toml": "[finecode]\n" for name in (".", "a", "a/b", "b/c/d", "y")})
    er = Er(project)
    er.begin({"it": ("duplex.Lint", [("it", "duplex.clang_format_check", {})])})
    result, code = er.run("it")
    check(code == 1 and result["changed"] == [f"{project}/{name}" for name in mine], result, code)
    er.end()


def part_many():
    """More files and folders than anybody has: none is forgotten, with git and without."""
    project = os.path.realpath(make_folder("many", {"z/x.c": "int  a;\n"}))
    for number in range(100001):
        os.close(os.open(f"{project}/{number}.txt", os.O_CREAT | os.O_WRONLY))
    for number in range(20001):
        os.mkdir(f"{project}/z/{number}")
    make_folder("many/z/9999/z", {"y.c": "int  a;\n"})
    er = Er(project)
    er.begin({"it": ("duplex.Lint", [("it", "duplex.clang_format_check", {})])})
    for words in (["true"], ["git", "init", "-q", project]):
        if shutil.which(words[0]):
            subprocess.run(words, check=True)
            result, code = er.run("it", seconds=200)
            check(code == 1 and result["changed"] == [project + "/z/9999/z/y.c", project + "/z/x.c"], words, result, code)
    shutil.rmtree(project)
    er.end()


def part_odd():
    """A name that is no UTF-8, and a long line with many places."""
    project = make_folder("odd", {"long.c": "a " * 500000})
    with open(os.fsencode(project) + b"/\xff.c", "w") as file:
        file.write("int  a;\nint  b;\n")
    with open(project + "/places", "w") as file:
        file.write("#!/usr/bin/env python3\nprint('<replacements>')\nfor i in range(20000):\n"
                   "    print(f\"<replacement offset='{50 * i + 1}' length='1'></replacement>\")\nprint('</replacements>')\n")
    os.chmod(project + "/places", 0o755)
    er = Er(project)
    er.begin({"check": ("duplex.Lint", [("check", "duplex.clang_format_check", {"exclude": ["long.c"]})]),
              "format": ("duplex.Format", [("format", "duplex.clang_format", {"program": project + "/places"})])})
    result, code = er.run("check")
    check(code == 1 and result["changed"] == [project + "/?.c"] and list(result["messages"]) == [project + "/?.c"] and
          len(result["messages"][project + "/?.c"]) == 2, result, code)
    asked = []
    er.on_request = lambda method, params: (asked.append(params), ({"applied": True}, None))[1]
    result, code = er.run("format", {"files": ["long.c"]}, 20)
    check(code == 0 and len(asked) == 1, result, code)
    edits = asked[0]["edit"]["documentChanges"][0]["edits"] if asked else []
    check(len(edits) == 20000 and edits[-1]["range"] == {"start": {"line": 0, "character": 999951},
                                                         "end": {"line": 0, "character": 999952}}, edits[-1:])
    er.end()


def part_tidy():
    project = make_folder("tidy", {
        ".clang-tidy": "Checks: '-*,bugprone-integer-division'\n",
        "a.c": "double f(int a, int b) {\n    /* ä🙂 */ double c = a / b; /* b.c:1:1: error: no */\n    return c;\n}\n",
    })
    with open(project + "/compile_commands.json", "w") as file:
        json.dump([{"directory": project, "command": "cc -c a.c", "file": "a.c"}], file)
    er = Er(project)
    er.begin({"it": ("duplex.Analyse", [("it", "duplex.clang_tidy", {"build": "."})])})
    result, code = er.run("it")
    check(code == 1 and lines_of(result, "a.c") == [(1, 25, "bugprone-integer-division")], result, code)
    # What it shows of the source is no finding, whatever it says.
    check(list(result["messages"]) == [project + "/a.c"], result)
    er.note("textDocument/didOpen", {"textDocument": {
        "uri": "file://" + project + "/a.c", "languageId": "c", "version": 0,
        "text": "int g(void) {\n    return nowhere;\n}\n"}})
    result, code = er.run("it")
    check(code == 1 and lines_of(result, "a.c") == [(1, 11, "clang-diagnostic-error")], result, code)
    er.end()


EDITORS = r"""
[[action]]
source = "t.Any"
[[handler]]
source = "t.edit"
form = "full"
command = ["python3", "edit.py"]
stop_code = 9
"""

EDIT = r"""import json, os, signal, sys, time
run = json.load(sys.stdin)
for line in run["payload"].get("lines", []):
    print(json.dumps(line), flush=True)
exec(run["payload"].get("code", ""))
"""


def part_edits():
    """Files that a command hands in: all are replaced, or none."""
    texts = {"a.txt": "one\n\u00e4\U0001f642 two\r\nthree", "sub/b c.txt": "b\n", "blank.txt": " \n\t\n", "c.txt": "c\n"}
    project = os.path.realpath(make_folder("edits", {"finecode-handlers.toml": EDITORS, "edit.py": EDIT, **texts, "finecode.toml":
        "[finecode.er]\nrunner = 'duplex'\n[finecode.action.it]\nsource = 't.Any'\nhandlers = [{ name = 'it', source = 't.edit', env = 'e' }]\n"}))
    er = Er(project)
    er.begin({"it": ("t.Any", [("it", "t.edit", {})])})
    asked = []

    def on_request(method, params):
        asked.append((method, {change["textDocument"]["uri"][len("file://" + project + "/"):]: change["edits"]
                               for change in params["edit"]["documentChanges"]}))
        return {"applied": True}, None
    er.on_request = on_request

    def run(*lines, code="", form="json"):
        asked.clear()
        return er.run("it", {"lines": lines, "code": code})

    def refused(text, *lines, code=""):
        result, got = run(*lines, code=code)
        check(got is None and text in str(result) and not asked, text, result, got, asked)

    # By paths of the project, whole paths and URIs; the last text of a file counts.
    result, code = run({"files": {"a.txt": "no"}}, {"files": {"./a.txt": "one\n2\r\nthree", project + "/sub/b c.txt": "B\n"}},
                       {"files": {"file://" + project + "/c.txt": "c\n"}})
    check(code == 0 and result == {"changed": [project + "/a.txt", project + "/sub/b c.txt"]}, result, code)
    check(asked == [("workspace/applyEdit", {
        "a.txt": [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, "newText": "2\r\n"}],
        "sub/b%20c.txt": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}, "newText": "B\n"}]})], asked)
    # Also by another path of the same file.
    os.symlink("c.txt", project + "/link")
    for names in (("c.txt", "../edits/c.txt"), ("c.txt", "link"), ("link", "sub/../c.txt")):
        result, code = run({"files": {names[0]: "first\nline\n"}}, {"files": {names[1]: "C\n"}})
        check(code == 0 and result == {"changed": [project + "/" + names[0]]}, names, result, code)
        check([list(edits) for method, edits in asked] == [[names[0]]] and [one["newText"] for one in asked[0][1][names[0]]] == ["C\n"], names, asked)
    os.unlink(project + "/link")
    # The result is what the command gives, and its code.
    result, code = run({"files": {"c.txt": "C"}}, {"result": {"fixed": 1}, "returnCode": 3})
    check(code == 3 and result["fixed"] == 1 and "changed" not in result and len(asked) == 1, result, code, asked)
    answer = er.answer(er.ask_run("it", {"lines": [{"files": {"c.txt": "C"}}], "code": "sys.exit(9)"}))["result"]
    check(answer["status"] == "stopped" and len(asked) == 2, answer, asked)
    result, code = run({"files": {"c.txt": "c\n"}}, {"files": {}})
    check(code == 0 and result == {"changed": []} and not asked, result, code, asked)
    result, code = run({"files": {"blank.txt": ""}})
    check(code == 0 and len(asked) == 1, result, code, asked)
    # A command that did not get through with it.
    refused("python3 exited with code 1, so no file was changed", {"files": {"c.txt": "C"}}, code="sys.exit(1)")
    refused("signal 9", {"files": {"c.txt": "C"}}, code="os.kill(os.getpid(), 9)")
    refused("is not a JSON object", {"files": {"c.txt": "C"}}, code="print('{')")
    refused("c.txt: the new text is empty", {"files": {"a.txt": "x", "c.txt": ""}})
    # Texts that it can't have seen.
    refused("c.txt: it changed while the command ran", {"files": {"c.txt": "C"}}, code="time.sleep(0.1); open('c.txt', 'w').write('d'); os.utime('c.txt', (1, 1))")
    make_folder("edits", texts)
    time.sleep(0.1)
    uri = "file://" + project + "/c.txt"
    er.note("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 1, "text": "open"}})
    refused("c.txt: it has unsaved changes in an editor", {"files": {"c.txt": "C"}})
    er.note("textDocument/didClose", {"textDocument": {"uri": uri}})
    # What is not a file, or not a text.
    refused("absent.txt: No such file", {"files": {"a.txt": "x", "absent.txt": "x"}})
    refused("sub: Is a directory", {"files": {"sub": "x"}})
    for files in ({"c.txt": 1}, {"": "x"}, {"c\0.txt": "x"}, {"c.txt": None}):
        refused("line 1 of its output has files that are not paths with their new text", {"files": files})
    for files in ([], None, "c.txt"):
        refused("line 1 of its output has files that are not an object", {"files": files})
    # Cancelled, before and while the manager is asked.
    number = er.ask_run("it", {"lines": [{"files": {"c.txt": "C"}}], "code": "open('pids', 'w').write(f'{os.getpid()}\\n'); time.sleep(60)"})
    pids = read_pids(project + "/pids")
    er.note("$/cancelRequest", {"id": number})
    check(er.answer(number).get("error", {}).get("code") == -32800 and await_death(pids, 10) and not asked, asked)
    # A manager that refuses, and one that can't do it: then the files are written here.
    er.on_request = lambda method, params: ({"applied": False, "failureReason": "not today"}, None)
    refused("not today", {"files": {"c.txt": "C"}})
    er.on_request = lambda method, params: (None, {"code": -32601, "message": "Method not found"})
    result, code = run({"files": {"c.txt": "C", "a.txt": texts["a.txt"]}})
    check(code == 0 and result == {"changed": [project + "/c.txt"]}, result, code)
    with open(project + "/c.txt", encoding="utf-8") as file:
        check(file.read() == "C", "not written")
    er.end()

    # The same by the manager: an interrupted command leaves the files as they were.
    def contents():
        return [open(os.path.join(project, name), newline="", encoding="utf-8").read() for name in texts]
    make_folder("edits", texts)
    time.sleep(0.1)
    lines = [{"files": {name: "new " + name for name in texts}}]
    os.unlink(project + "/pids")
    payload = json.dumps({"lines": lines, "code": "open('pids', 'w').write(f'{os.getpid()}\\n'); time.sleep(60)"})
    child = subprocess.Popen([PROGRAM, "run", "it", payload], cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    pids = read_pids(project + "/pids")
    child.send_signal(signal.SIGINT)
    check(child.wait(30) == 130 and await_death(pids, 10) and contents() == list(texts.values()), child.returncode, contents())
    done = subprocess.run([PROGRAM, "run", "it", json.dumps({"lines": lines})], cwd=project, capture_output=True, text=True)
    check(done.returncode == 0 and contents() == ["new " + name for name in texts], done, contents())
    # One that can't be written: none is.
    os.chmod(project + "/c.txt", 0o400)
    lines = [{"files": {name: "newer " + name for name in texts}}]
    if os.geteuid():
        done = subprocess.run([PROGRAM, "run", "it", json.dumps({"lines": lines})], cwd=project, capture_output=True, text=True)
        check(done.returncode == 8 and contents() == ["new " + name for name in texts], done, contents())
    make_folder("", {"outside.txt": "x"})
    lines = [{"files": {"a.txt": "newer", WORK + "/outside.txt": "y"}}]
    done = subprocess.run([PROGRAM, "run", "it", json.dumps({"lines": lines})], cwd=project, capture_output=True, text=True)
    check(done.returncode == 8 and "outside the workspace" in done.stderr and contents() == ["new " + name for name in texts], done, contents())


TEXTS = r"""
[[action]]
source = "t.Any"
[[action]]
source = "t.Summary"
text = "/deep/summary"
[[handler]]
source = "t.text"
form = "text"
command = ["sh", "-c", "printf 'one \\377\\n{\\n'; exit 3"]
[[handler]]
source = "t.silent"
form = "text"
command = ["sh", "-c", "echo broken >&2; exit 3"]
[[handler]]
source = "t.json"
form = "full"
command = ["python3", "-c", """ + "\"\"\"" + """
import json, sys
for line in json.load(sys.stdin)['payload']['lines']:
    print(json.dumps(line), flush=True)
""" + "\"\"\"" + r"""]
[[handler]]
source = "t.tidy"
form = "full"
command = ["sh", "-c", "trap 'kill $!; echo gone >cleaned; exit 1' TERM; sleep 60 & echo $$ >pids; wait"]
"""


def part_text():
    """What handlers say: plain and styled text, and progress; and what they do when they are cancelled."""
    project = make_folder("text", {"finecode-handlers.toml": TEXTS})
    er = Er(project)
    er.begin({"it": ("t.Any", [("one", "t.text", {}), ("two", "t.text", {})])})

    def shown(er, lines=(), format="string", action="it", token=None):
        answer = er.answer(er.ask_run(action, {"lines": lines}, resultFormats=[format], **({"progressToken": token} if token else {}))).get("result", {})
        by_format = answer.get("result_by_format", answer.get("resultByFormat"))
        by_format = json.loads(by_format) if isinstance(by_format, str) else by_format
        return by_format, answer.get("return_code", answer.get("returnCode"))

    # The output is the text; those of several handlers come one after the other.
    by_format, code = shown(er)
    check(by_format == {"string": "one ?\n{\n" * 2} and code == 3, by_format, code)
    by_format, code = shown(er, format="json")
    check(by_format["json"]["text"] == ["one ?\n{\n"] * 2, by_format)
    configure(er, {"it": ("t.Any", [("it", "t.silent", {})])})
    result, code = er.run("it")
    check(code is None and "sh exited with code 3 and no result: broken" in str(result), result, code)
    # Plain and styled text as a part of a result; the document's revision has only plain text.
    configure(er, {"it": ("t.Any", [("it", "t.json", {})]), "sum": ("t.Summary", [("it", "t.json", {})])})
    styled = {"parts": ["plain ", {"text": "red", "bold": True, "foreground": "red"}]}
    for value, text in (("hello", "hello"), (["a\n", "b"], "a\nb"), (styled, "plain red"), (["a ", styled], "a plain red"), ("", ""), ([], "")):
        by_format, code = shown(er, [{"result": {"text": value, "n": 1}}])
        check(by_format == {"string": text} and code == 0, value, by_format, code)
        by_format, code = shown(er, [{"result": {"deep": {"summary": value}, "text": "not this"}}], action="sum")
        check(by_format == {"string": text}, value, by_format)
    for value in (1, {"a": 1}, [1], {"parts": [1]}, {"parts": [{"bold": True}]}, None):
        by_format, code = shown(er, [{"result": {"text": value}}])
        check(json.loads(by_format["string"]) == {"text": value}, value, by_format)
    real = Er(project, ["--tcp"], tcp=True)
    real.begin({"it": ("t.Any", [("it", "t.json", {})])})
    by_format, code = shown(real, [{"result": {"text": ["a ", styled]}}])
    check(by_format == {"styled_text_json": {"parts": ["a ", *styled["parts"]]}}, by_format)

    # Progress, as it goes to clients that want it.
    progress = [{"progress": {"type": "begin", "title": "Look", "message": "first", "total": 2}},
                {"progress": {"message": "half", "percentage": 50}}, {"progress": {"type": "report", "message": "most"}},
                {"progress": {"type": "end", "message": "done"}}, {"result": {}}]
    real.notes.clear()
    shown(real, progress, token="tok")
    values = [note["params"]["value"] for note in real.notes if note["method"] == "$/progress" and note["params"]["token"] == "tok"]
    values = [json.loads(value) if isinstance(value, str) else value for value in values]
    check([(one["type"], one["message"], one.get("percentage"), one.get("title"), one.get("total")) for one in values] ==
          [("begin", "first", 0, "Look", 2), ("report", "half", 50, None, None), ("report", "most", None, None, None),
           ("end", "done", None, None, None)], values)
    # A handler that does not say that it has ended has ended, too.
    real.notes.clear()
    shown(real, progress[:1], token="tok")
    check("end" in json.dumps([note["params"] for note in real.notes if note["method"] == "$/progress"]), real.notes)
    result, code = real.run("it", {"lines": [{"progress": {"type": "odd"}}]})
    check(code is None and "line 1 of its output has progress whose type is not begin, report or end" in str(result), result, code)

    # A cancelled command gets SIGTERM, and the time to clean up.
    configure(real, {"it": ("t.Any", [("it", "t.tidy", {})])})
    number = real.ask_run("it")
    pids = read_pids(project + "/pids")
    real.note("$/cancelRequest", {"id": number})
    check(real.answer(number).get("error", {}).get("code") == -32800 and await_death(pids, 10), real.answers)
    check(os.path.exists(project + "/cleaned"), "it had no time")
    er.end()
    real.end()


def part_log():
    """Each runner has a log file of its own, which does not grow without end."""
    project = os.path.realpath(make_folder("log", {"finecode-handlers.toml": HANDLERS}))
    env = {**os.environ, "XDG_STATE_HOME": WORK + "/own"}

    def begin(words=(), **more):
        er = Er(project, words, env={**env, **more})
        er.begin({"it": ("t.Any", [("echo", "t.echo", {})])})
        path = er.call("finecodeRunner/getInfo", {})["result"]["logFilePath"]
        return er, path
    er, path = begin()
    check(path and path.startswith(WORK + "/own/duplex/finecode/log-") and path.endswith("/e.log"), path)
    er.run("it")
    with open(path) as file:
        check("INFO    t.echo: first line\n" in file.read(), path)
    check("t.echo: first line\n" in er.logged(), er.logged())
    check(os.stat(path).st_mode & 0o777 == 0o600 and os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700, path)
    er.end()
    # It goes on in the same file, up to its limit; then that is the older one.
    with open(path, "a") as file:
        file.write("x" * (1 << 20))
    er, again = begin()
    er.run("it")
    er.end()
    check(again == path and os.stat(path).st_size < 10000 and 1 << 20 <= os.stat(path + ".1").st_size < 1100000, again, os.listdir(os.path.dirname(path)))
    # A file of somebody's choice, a link, and no place at all.
    er, again = begin([f"--log-file={WORK}/chosen"])
    er.end()
    check(again == WORK + "/chosen", again)
    os.unlink(path)
    os.symlink(WORK + "/elsewhere", path)
    er, again = begin()
    er.run("it")
    er.end()
    check(again is None and not os.path.exists(WORK + "/elsewhere"), again)
    er, again = begin(XDG_STATE_HOME="/proc/nowhere")
    er.end()
    check(again is None, again)


def part_pattern():
    """Programs that print a line for each finding, hostile output, and where programs are found."""
    ws = make_folder("pattern", {
        "finecode-workspace.toml": "[workspace]\n",
        "p/a.py": "x\n\u00e4\U0001f642 y\n", "p/b.py": "x\n", "p/sub/c.py": "x\n", "p/d.txt": "x\n",
        "p/print": "#!/bin/sh\ncat \"$PWD/out\"; exit $(cat \"$PWD/code\")\n",
        "p/list": "#!/bin/sh\necho \"$#\" >>\"$PWD/count\"; for a; do echo \"$a:1:1: found\"; done\n",
        "node_modules/.bin/tool": "#!/bin/sh\necho a.py:1: from the workspace\n",
        "p/node_modules/.bin/near": "#!/bin/sh\necho a.py:1: from the project\n",
    })
    make_folder("", {"node_modules/.bin/far": "#!/bin/sh\necho a.py:1: from above\n"})
    project = ws + "/p"
    for name in ("p/print", "p/list", "node_modules/.bin/tool", "p/node_modules/.bin/near", "../node_modules/.bin/far"):
        os.chmod(f"{ws}/{name}", 0o755)
    pattern = r"(?<file>.+?):(?<line>\d+)(?::(?<column>\d+))?(?:-(?<end_line>\d+):(?<end_column>\d+))?: (?:(?<severity>error|warning|note): )?(?<message>.*?)(?: \[(?<code>\S+)\])?$"
    base = {"program": project + "/print", "include": ["*.py"], "pattern": pattern}
    er = Er(project)
    er.begin({"it": ("duplex.Lint", [("it", "duplex.pattern", base)])})

    def run(out=b"", code=0, payload=None, **config):
        with open(project + "/out", "wb") as file:
            file.write(out)
        with open(project + "/code", "w") as file:
            file.write(str(code))
        configure(er, {"it": ("duplex.Lint", [("it", "duplex.pattern", {k: v for k, v in {**base, **config}.items() if v is not None})])})
        return er.run("it", payload, 60)

    result, code = run("a.py:2:4-2:5: error: bad \u00e4 [E1]\r\nFound 1 error.\n./sub/c.py:1: odd\n".encode(), 1)
    one = {"range": {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 5}},
           "message": "bad \u00e4", "code": "E1", "source": "print", "severity": 1}
    check(code == 1 and result["messages"].get(project + "/a.py") == [one], result, code)
    check(result["messages"].get(project + "/sub/c.py", [{}])[0].get("severity") == 2, result)
    for columns, at in (("bytes", 8), ("utf16", 5)):
        result, code = run(f"a.py:2:{at}-2:{at + 1}: error: bad \u00e4 [E1]\n".encode(), 1, columns=columns)
        check(code == 1 and result["messages"].get(project + "/a.py") == [one], columns, result, code)
    result, code = run(b"a.py:1:1: bad\n", severity="hint")
    check(code == 1 and result["messages"][project + "/a.py"][0]["severity"] == 4, result, code)
    result, code = run(b"All good.\n")
    check(code == 0 and result == {"messages": {}}, result, code)
    # It found something, or broke down, and the pattern fits nothing of that.
    result, code = run(b"1 problem in a.py\n", 1)
    check(code is None and "no line fits the pattern; the last one: 1 problem in a.py" in str(result), result, code)
    result, code = run(b"", 2)
    check(code is None and "it printed nothing" in str(result), result, code)
    # Anything may be printed.
    result, code = run(b"\xff\x00\x1b:99999999999:1: x\n:1:1: no name\na.py:99999:99999: far\n" + b"a" * 100000 + b":1:1: long\na.py:1:1: \xff\n")
    check(code == 1 and [one["message"] for one in result["messages"][project + "/a.py"]] == ["far", "?"], result, code)
    result, code = run(b"a" * 4000 + b"\n", pattern="(?<file>(a+)+)[bc](?<message>)")
    check(code is None and "it takes too long to match" in str(result), result, code)
    # Each line may take its time, but not all of them together.
    result, code = run((b"a" * 20 + b"\n") * 2000000, pattern=r"(?<file>(?:a|aa)+)[bc](?<message>)")
    check(code is None and "it takes too long to match" in str(result), result, code)
    # As few processes as there may be, by number and by length; and none without files.
    for number in range(60):
        make_folder("pattern/p/many", {f"{number:02}{'n' * 200}.py": "x\n"})

    def counts(**config):
        open(project + "/count", "w").close()
        result, code = run(program=project + "/list", **config)
        with open(project + "/count") as file:
            return len(result["messages"]), sorted(map(int, file.read().split()))
    check(counts(jobs=1, exclude=None) == (63, [63]), counts(jobs=1))
    check(counts(jobs=2, include=["many/*.py"])[1] == [30, 30], counts(jobs=2, include=["many/*.py"]))
    check(counts(include=["*.none"]) == (0, []), counts(include=["*.none"]))
    check(counts(include=None, files=False) == (0, [0]), counts(include=None, files=False))
    for number in range(3000):
        make_folder("pattern/p/deep/" + "/".join(["d" * 100] * 3), {f"{number}.py": "x\n"})
    found, processes = counts(jobs=1, include=["deep/**/*.py"])
    check(found == 3000 and sum(processes) == 3000 and 6 <= len(processes) <= 60, found, processes)
    shutil.rmtree(project + "/deep")
    # The project's programs come first, then those of folders above, up to the workspace.
    for program, text in (("near", "from the project"), ("tool", "from the workspace")):
        result, code = run(program=program)
        check(code == 1 and result["messages"][project + "/a.py"][0]["message"] == text, result, code)
    result, code = run(program="far")
    check(code is None and "cannot start far: it is not in node_modules/.bin or PATH" in str(result), result, code)
    os.chmod(ws, 0o777)  # anybody could put a program there
    result, code = run(program="tool")
    check(code is None and "cannot start tool: it is not in node_modules/.bin or PATH" in str(result), result, code)
    os.chmod(ws, 0o755)
    # It may write files, and a dry run must not.
    dry = Er(project, env={**os.environ, "FINECODE_DRY_RUN": "1"})
    dry.begin({"it": ("duplex.Lint", [("it", "duplex.pattern", {**base, "args": ["-f"]})])})
    result, code = dry.run("it")
    check(code is None and "config: dry_run: with --dry-run, the program must not write files" in str(result), result, code)
    configure(dry, {"it": ("duplex.Lint", [("it", "duplex.pattern", {**base, "args": ["-f"], "dry_run": True})])})
    result, code = dry.run("it")
    check(code == 0, result, code)
    # Nor what other programs are told to write.
    for tool, words in (("prettier_check", ["-w", "-uw", "--write", "--cache-location=x"]),
                        ("eslint", ["-o", "-ofile", "-fhtml", "--fix", "--output-file", "--cache", "--suppress-all", "--init"]),
                        ("clang_format_check", ["-i", "--i", "-i=1", "@file"]),
                        ("clang_tidy", ["-fix", "--fix-errors", "--export-fixes=x", "-store-check-profile=x", "@file"]),
                        ("cppcheck", ["--dump", "--output-file=x", "--cppcheck-build-dir=x", "--checkers-report=x", "--plist-output=x"])):
        for word in words:
            configure(dry, {"it": ("duplex.Lint", [("it", "duplex." + tool, {"args": [word]})])})
            result, code = dry.run("it", {"files": []})
            check(code is None and f"the program must not write files, and '{word}' may do so" in str(result), tool, word, result, code)
    for tool, words in (("prettier_check", ["--tab-width=4", "-u"]), ("eslint", ["-c", "fix.mjs", "--report-unused-disable-directives", "--rule=no-fix: off"]),
                        ("clang_format_check", ["--style=file"]), ("clang_tidy", ["--checks=-fix*"]), ("cppcheck", ["--suppress=x", "--inline-suppr"])):
        configure(dry, {"it": ("duplex.Lint", [("it", "duplex." + tool, {"args": words})])})
        result, code = dry.run("it", {"files": []})
        check(code == 0, tool, words, result, code)
    dry.end()
    # Configurations that are wrong.
    for config, text in (({"pattern": "("}, "config: pattern: missing closing parenthesis, at 1"),
                         ({"pattern": "(?<file>x)"}, "config: pattern: missing group (?<message>"),
                         ({"pattern": None}, "config: pattern: missing"), ({"program": None}, "config: program: missing"),
                         ({"include": None}, "config: include: missing"), ({"columns": "chars"}, "config: columns: expected"),
                         ({"severity": "bad"}, "config: severity: expected"), ({"files": 1}, "config: files: expected"),
                         ({"dry_run": 1}, "config: dry_run: expected"),
                         ({"pattern": r"(?<file>\C)(?<message>)"}, "config: pattern: ")):
        result, code = run(**config)
        check(code is None and text in str(result), config, result, code)
    configure(er, {"it": ("duplex.Lint", [("it", "duplex.clang_format_check", {"pattern": pattern})])})
    result, code = er.run("it")
    check(code is None and "config: pattern: unknown key" in str(result), result, code)
    # What an editor has open counts, under its own name.
    uri = "file://" + project + "/b.py"
    er.note("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 1, "text": "open\n"}})
    configure(er, {"it": ("duplex.Lint", [("it", "duplex.pattern", {**base, "program": "grep", "args": ["-Hn", "open"], "jobs": 1,
                                           "pattern": r"(?<file>[^:]+):(?<line>\d+):(?<message>.*)"})])})
    result, code = er.run("it", {"files": ["b.py", "a.py"]})
    check(code == 1 and list(result["messages"]) == [project + "/b.py"], result, code)
    er.end()


def part_npm():
    """eslint and prettier with a document that an editor has open, and a manager that can't edit."""
    project = os.path.realpath(make_folder("npm", {
        "eslint.config.mjs": "export default [{ rules: { 'no-var': 'error' } }];\n",
        "a.js": "let a = 1;\n", "b.js": "let b = 1;\n", "bad.js": "let = (\n", "latin.js": "",
    }))
    with open(project + "/latin.js", "wb") as file:
        file.write(b"// \xe4\nlet  c = 1;\n")
    er = Er(project)
    er.begin({})

    def run(handler, names, config={}, **options):
        action = "duplex.Lint" if handler in ("eslint", "prettier_check") else "duplex.Format"
        configure(er, {"it": (action, [("it", "duplex." + handler, config)])})
        return er.answer(er.ask_run("it", {"files": names}, **options), 60)
    uri = "file://" + project + "/a.js"
    er.note("textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "", "version": 1, "text": "// \u00e4\U0001f642\r\n/* \U0001f642 */ var  a = 1;\r\nlet b;\r\n"}})
    files = ["a.js", "b.js"]
    result, code = er.outcome(run("eslint", files))
    check(code == 1 and lines_of(result, "a.js") == [(1, 9, "no-var")] and len(result["messages"]) == 1, result, code)
    result, code = er.outcome(run("prettier_check", files))
    check(code == 1 and result["changed"] == [project + "/a.js"], result, code)
    asked = []
    er.on_request = lambda method, params: (asked.append(params["edit"]["documentChanges"]), ({"applied": True}, None))[1]
    result, code = er.outcome(run("eslint_fix", files))
    check(code == 0 and result["changed"] == [project + "/a.js"], result, code)
    check(asked[0][0]["edits"] == [{"range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}},
                                    "newText": "/* \U0001f642 */ let  a = 1;\r\n"}], asked)
    result, code = er.outcome(run("prettier", files))
    check(code == 0 and result["changed"] == [project + "/a.js"] and len(asked) == 2 and
          asked[1][0]["textDocument"]["uri"] == uri, result, code, asked)
    # What can't be read is reported; the others are formatted.
    result, code = er.outcome(run("prettier", ["a.js", "bad.js"]))
    check(code == 1 and result["changed"] == [project + "/a.js"] and lines_of(result, "bad.js") == [(1, 0, "")], result, code)
    result, code = er.outcome(run("eslint_fix", ["bad.js"]))
    check(code == 1 and result["changed"] == [] and len(lines_of(result, "bad.js")) == 1, result, code)
    answer = run("prettier", ["a.js", "bad.js"], resultFormats=["string"])
    check("formatted: " + project + "/a.js\\\\ncannot format: " + project + "/bad.js:2:1: SyntaxError" in json.dumps(answer), answer)
    result, code = er.outcome(run("prettier", ["latin.js"]))
    check(code is None and "latin.js: not valid UTF-8" in str(result), result, code)
    # Why a tool broke down.
    result, code = er.outcome(run("eslint", ["b.js"], {"args": ["--config", "absent.mjs"]}))
    check(code is None and "exited with code 2" in str(result) and "absent.mjs" in str(result), result, code)
    result, code = er.outcome(run("prettier_check", ["b.js"], {"args": ["--config", "absent.json"]}))
    check(code is None and "prettier exited with code 2: Invalid configuration" in str(result), result, code)
    make_folder("npm", {"noisy.mjs": "console.log('\\n hello \u00e4\\nmore'); export default [{ rules: { 'no-var': 'error' } }];\n",
                        "var.js": "var a = 1;\n"})
    for name in ("b.js", "var.js"):  # also if it exits with code 1
        result, code = er.outcome(run("eslint", [name], {"args": ["--config", "noisy.mjs"]}))
        check(code is None and name + ": eslint: its output is not a JSON array: 'hello \u00e4'" in str(result), name, result, code)
    make_folder("npm", {"[error] x.js": "let  a\n"})
    for name in ("b.js", "[error] x.js"):
        result, code = er.outcome(run("prettier_check", [name], {"program": "false"}))
        check(code is None and name + ": false exited with code 1" in str(result), name, result, code)
    er.end()


globals()["part_" + PART]()
sys.exit(failed)
