"""Row 68 and R1 to R8: the traffic of the real program, recorded. R1 to R4 have our agent answer what the recorded client said, each under its
version, with a model that says what the recorded one said; R5 to R8 have our client see what the recorded agent said. See stage.py.

Left out are the stragglers of 0.6 and 0.8: what they still say of a turn after its abort, with null for an id, and behind it the answer to its
prompt. Ours answers that prompt at once (A31)."""
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import stage
from stage import SKIPPED, Agent, Skip, calls, reads, same, says, short, shorts, shown, true, writes

RECORDED = os.path.join(stage.SHARED, "transcripts", "autohand.jsonl")
BASIC, FULL, WAITING, FULL_8 = "0.6.7 basic", "0.6.7 full turn", "0.6.7 abort while waiting for permission", "0.8.2 full turn"
STATE = {"jsonrpc": "2.0", "method": "autohand.getState"}
SPELT = {  # lines that the recording describes
    "(with leading spaces and CRLF) getState id 22": b"   " + stage.raw.text_of({**STATE, "id": 22}) + b"\r\n",
    "(no trailing newline, then EOF) getState id 24": stage.raw.text_of({**STATE, "id": 24}),
}


def recorded():
    if not os.path.exists(RECORDED):
        raise Skip("the recorded traffic is not here")
    with open(RECORDED, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def is_straggler(message):
    params = message.get("params") if isinstance(message, dict) else None
    return isinstance(params, dict) and (params.get("messageId", "") is None or params.get("turnId", "") is None)


def section(name):
    """Its lines without stragglers; a hook.stop and a changesBatchEnd among them are of the same turn."""
    lines = [each for each in recorded() if each["section"] == name]
    stragglers = {each["ms"] for each in lines if is_straggler(each.get("message"))}
    loose = ("autohand.hook.stop",)
    return [each for each in lines if not is_straggler(each.get("message")) and not
            (each["ms"] in stragglers and isinstance(each.get("message"), dict) and each["message"].get("method") in loose)]


# What the recorded model said.
ECHO = ("run_command", {"command": "echo", "args": ["hi-from-cmd"]}, "call_r1")
MULTI = ((*writes("a.txt", "A\n"), "call_m1"), (*writes("hello.txt", "changed\n"), "call_m2"), (*reads("hello.txt"), "call_m3"))
MODEL = [
    says("All done.", role="tool", repeat=True),
    calls((*reads("hello.txt"), "call_1"), match="READ", repeat=True),
    calls((*writes("new.txt", "created by agent\n"), "call_w1"), match="WRITE", repeat=True),
    calls(*MULTI, match="MULTI", repeat=True),
    calls(ECHO, match="RUN", repeat=True),
    calls(("delete_path", {"path": "hello.txt"}, "call_d1"), match="DELETE", repeat=True),
    says("All done.", match="SLOW", delayMs=4000, repeat=True),
    {"status": 429, "text": "Too Many Requests", "match": "FAIL", "repeat": True},
    says("All done.", repeat=True),
]

IDS = {"sessionId", "turnId", "messageId", "batchId", "requestId", "toolId"}
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NUMBERS = {"durationMs", "duration", "contextPercent"}


class Likeness:
    """Compares what ours says with what was recorded: the same members in the same order, the same values; ids are only to be the same ones
    each time, and times, durations and how much of the context is free only to be of their kind."""

    def __init__(self, workspace, texts_differ):
        self.ours, self.theirs = {}, {}
        self.workspace = workspace
        self.texts_differ = texts_differ

    def translate(self, value):
        """What the recorded client said, with our ids."""
        if isinstance(value, dict):
            return {key: self.translate(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.translate(each) for each in value]
        return self.ours.get(value, value) if isinstance(value, str) else value

    def identify(self, theirs, ours, where):
        true(isinstance(ours, str), "%s: %s is no id" % (where, shown(ours)))
        same(self.ours.setdefault(theirs, ours), ours, where)
        same(self.theirs.setdefault(ours, theirs), theirs, where)
        prefix = re.compile(r"[a-z]+(_[a-z]+)*_\d")
        same(bool(prefix.match(ours)), bool(prefix.match(theirs)), "%s: the form of %s" % (where, ours))

    def compare(self, theirs, ours, where):
        same(type(ours), type(theirs), "%s: %s instead of %s; the type" % (where, shown(ours), shown(theirs)))
        if isinstance(theirs, list):
            same(len(ours), len(theirs), where)
            for number, (one, other) in enumerate(zip(theirs, ours)):
                self.compare(one, other, "%s[%d]" % (where, number))
        elif isinstance(theirs, dict):
            same(list(ours), list(theirs), "the members of %s" % where)
            for key, value in theirs.items():
                self.member(key, value, ours[key], "%s.%s" % (where, key), theirs)
        else:
            same(self.plain(ours), self.plain(theirs), where)

    def plain(self, value):
        return re.sub(r"(changes|session|turn|msg|perm)_\d+_\d+", r"\1", value) if isinstance(value, str) else value

    def member(self, key, theirs, ours, where, around):
        if key in IDS or (key == "id" and str(theirs).startswith("change_")) or key == "selectedChangeIds":
            if isinstance(theirs, str) and theirs not in ("", "unknown"):
                self.identify(theirs, ours, where)
            else:
                same(ours, theirs, where)
        elif key == "timestamp":
            true(STAMP.fullmatch(ours), "%s: %s" % (where, ours))
        elif key in NUMBERS:
            true(isinstance(ours, int) and ours >= 0, "%s: %s" % (where, ours))
        elif key == "workspace":
            same(ours, self.workspace, where)
        elif key == "message" and around.get("code") == -32000:
            true(isinstance(ours, str) and ours, "%s: %s" % (where, ours))  # the words of the model's host
        elif key == "output" and around.get("toolName") in self.texts_differ:
            true(isinstance(ours, str) and ours, "%s: %s" % (where, ours))  # 0.8 draws for a terminal, 0.6 repeats the command
        else:
            self.compare(theirs, ours, where)

    def envelope(self, theirs, ours):
        """Members of the envelope may stand in any order."""
        if isinstance(theirs, list):
            same(len(ours), len(theirs), "a batch")
            for one, other in zip(theirs, ours):
                self.envelope(one, other)
            return
        same(set(ours), set(theirs), "the members of %s" % shown(theirs))
        for key in ("jsonrpc", "id", "method"):
            same(ours.get(key), theirs.get(key), "%s: %s instead of %s" % (key, shown(ours), shown(theirs)))
        for key in ("params", "result", "error"):
            if key in theirs:
                self.compare(theirs[key], ours[key], "%s.%s" % (short(theirs), key))


class Replay:
    """Our agent and the recorded client."""

    def __init__(self, name, compat, otherwise=None, words=()):
        self.lines = section(name)
        self.otherwise = otherwise or {}
        self.aborted = self.aborted_prompts()
        self.told, self.answers, self.seen = [], {}, []
        self.compared = 0
        self.agent = Agent(*words, compat=compat, steps=MODEL, files={"hello.txt": "hello\n"}, start=False, framing="line")
        self.like = Likeness(self.agent.workspace, ("write_file",) if compat == "0.8" else ("run_command",))

    def aborted_prompts(self):
        """Their answers come when ours ends the turn, not when it was recorded."""
        found, current = set(), None
        for each in self.lines:
            message = each.get("message")
            if not isinstance(message, dict):
                continue
            if message.get("method") == "autohand.prompt" and message["params"] != {"message": "second while busy"}:
                current = message["id"]
            if message.get("method") == "autohand.messageEnd" and message["params"].get("aborted"):
                found.add(current)
        return found

    def take(self):
        """One more of ours, put where it belongs."""
        message = self.agent.fresh()
        true(message is not None, "ours says no more; the last were %s" % shown(shorts(self.seen[-6:])))
        self.seen.append(message)
        if isinstance(message, dict) and "method" in message:
            self.told.append(message)
        else:
            key = json.dumps([each["id"] for each in message] if isinstance(message, list) else message["id"])
            self.answers.setdefault(key, []).append(message)

    def expect(self, theirs):
        """The next of ours that is of this kind."""
        if isinstance(theirs, dict) and "method" in theirs:
            while not self.told:
                self.take()
            ours = self.told.pop(0)
            same(short(ours), short(theirs), "the next notification; before it came %s" % shorts(self.seen[-8:]))
        else:
            key = json.dumps([each["id"] for each in theirs] if isinstance(theirs, list) else theirs["id"])
            while not self.answers.get(key):
                self.take()
            ours = self.answers[key].pop(0)
            if isinstance(theirs, dict) and self.ends_turn(theirs):
                before = self.seen[self.seen.index(ours) - 1]
                same(short(before), "turnEnd", "before the answer to a prompt")
        otherwise = self.otherwise.get(str(short(theirs))) if "method" not in theirs else None
        if otherwise:
            otherwise(ours)
        else:
            self.like.envelope(theirs, ours)
        self.compared += 1

    def ends_turn(self, answer):
        identity = answer.get("id")
        return isinstance(identity, int) and identity in self.prompts and identity not in self.aborted and "result" in answer

    def send(self, each):
        if "line" in each:
            self.agent.write(SPELT.get(each["line"], each["line"].encode() + b"\n"))
            if "then EOF" in each["line"]:
                self.agent.close_write()
        else:
            self.agent.send(self.like.translate(each["message"]))

    def run(self):
        self.prompts = {each["message"]["id"] for each in self.lines if each["from"] == "client" and isinstance(each.get("message"), dict)
                        and each["message"].get("method") == "autohand.prompt"}
        with self.agent:
            for each in self.lines:
                if each["from"] == "client":
                    self.send(each)
                elif "message" in each:
                    self.expect(each["message"])
                else:  # cut in the recording
                    self.expect_system()
            if self.agent.write_fd is not None:
                self.agent.close_write()
            rest = []
            while (message := self.agent.fresh()) is not None:
                rest.append(message)
            self.rest = rest
            same(self.agent.ended(), 0, "its exit code")
            same(self.told, [], "what was not recorded")
            same({key: each for key, each in self.answers.items() if each}, {}, "answers that were not recorded")
        return self

    def expect_system(self):
        """getMessages with the system message, which is too long for the recording."""
        while not self.answers.get("2"):
            self.take()
        ours = self.answers["2"].pop(0)
        same([(each["id"], each["role"]) for each in ours["result"]["messages"]], [("msg_0", "system")], "getMessages")
        self.compared += 1


def gone_batch(ours):
    """The recording is of the commit before the method was there."""
    true("result" in ours and ours["result"]["errors"][0]["error"] == "Batch b not found or expired", shown(ours))


def row_R1():
    """Our agent in 0.6: state, junk, ids, batches, unknown methods, reset, a last line without newline."""
    replay = Replay(BASIC, "0.6", {"18": gone_batch, "19": lambda ours: same(ours["error"]["code"], -32602, "no action")})
    replay.run()
    same(replay.rest, [], "0.6 says no farewell")
    true(replay.compared >= 26, "only %d lines were compared" % replay.compared)


def row_R2():
    """Our agent in 0.6: plain, reading, writing with its question, decisions, several changes, a command, deleting, denied, busy, abort, failure,
    slash commands."""
    replay = Replay(FULL, "0.6").run()
    true(replay.compared >= 110, "only %d lines were compared" % replay.compared)


def one_less(ours):
    """The straggler was the fifth message."""
    same((ours["result"]["status"], ours["result"]["messageCount"]), ("idle", 4), "the state")


def row_R3():
    """Our agent in 0.6: abort at a question, a question that nobody sees (in 1.5 s instead of 30), the end of the input at a question."""
    replay = Replay(WAITING, "0.6", {"3": one_less}, ("--ack-timeout", "1500ms")).run()
    true(replay.compared >= 25, "only %d lines were compared" % replay.compared)
    same(shorts(replay.rest)[:2], ["messageEnd", "turnEnd"], "the end of the last turn")


def row_R4():
    """Our agent in 0.8: the same as in R2, with calls that are started together, and a client without commands."""
    replay = Replay(FULL_8, "0.8").run()
    true(replay.compared >= 110, "only %d lines were compared" % replay.compared)
    same(shorts(replay.rest), ["agentEnd"], "the farewell")


class RecordedAgent(stage.Lines, stage.raw.Guest):
    """What our client has started: what it says comes from the row."""


class Client:
    """duplex autohand chat --json --ask with a recorded agent, whom it asks what the recorded client asked."""

    EVENTS = {"agentStart": "agent-start", "turnStart": "turn-start", "messageStart": "message-start", "messageUpdate": "text",
              "messageEnd": "message-end", "toolStart": "tool-start", "toolEnd": "tool-end", "permissionRequest": "permission",
              "changesBatchStart": "changes-start", "changesBatchUpdate": "change", "changesBatchEnd": "changes-end", "error": "error",
              "turnEnd": "turn-end", "hook.stop": "hook"}

    def __init__(self, name):
        self.lines = [each for each in recorded() if each["section"] == name]
        self.place = stage.tempfile.mkdtemp(prefix="autohand-")
        door = stage.socket.socket(stage.socket.AF_UNIX)
        door.bind(os.path.join(self.place, "at"))
        door.listen(1)
        door.settimeout(stage.PATIENCE)
        argv = [os.path.join(stage.BUILD, "duplex-autohand"), "chat", "--json", "--ask", "--", sys.executable, "-IS", "-c", stage.raw.LENDER,
                os.path.join(self.place, "at")]
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.place)
        self.events, self.told = [], []
        self.news = threading.Condition()
        threading.Thread(target=self.read_events, daemon=True).start()
        threading.Thread(target=self.read_errors, daemon=True).start()
        try:
            self.agent = RecordedAgent(door.accept()[0])
        except TimeoutError:
            raise stage.Wrong("no agent was started: %s" % self.told) from None
        finally:
            door.close()
        self.ids = {}  # recorded -> of our client
        self.shown = []  # what it has to show
        self.answered = []  # results that it has to show
        self.turns = []

    def __enter__(self):
        return self

    def __exit__(self, kind, wrong, trace):
        if kind:
            print("# events: %s" % shown(self.events[-6:]))
            print("# said: %s" % shown(self.told[-10:]))
        self.agent.close()
        self.child.kill()
        self.child.wait()
        stage.shutil.rmtree(self.place, ignore_errors=True)

    def read_events(self):
        for line in self.child.stdout:
            with self.news:
                self.events.append(json.loads(line))
                self.news.notify_all()

    def read_errors(self):
        for line in self.child.stderr:
            self.told.append(line.decode(errors="replace").rstrip())

    def wait_event(self, fits, what):
        with self.news:
            found = self.news.wait_for(lambda: [each for each in self.events if fits(each)], stage.PATIENCE)
            true(found, "%s is not shown" % what)
        return found[-1]

    def type(self, line):
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def hear(self, method):
        """The next request of our client, which must be that one; it may acknowledge questions that the recorded one did not."""
        while True:
            message = self.agent.fresh()
            true(message is not None, "our client does not say %s" % method)
            if message.get("method") == "autohand.permissionAcknowledged" != method:
                self.agent.send({"jsonrpc": "2.0", "result": {"success": True}, "id": message["id"]})
                continue
            same(message.get("method"), method, "what our client says: %s" % shown(message))
            return message

    def ask(self, recorded_one, line):
        """Our client is told to say what the recorded one said."""
        if line is not None:
            self.type(line)
        message = self.hear(recorded_one["method"])
        same(message.get("params", {}), recorded_one.get("params", {}), recorded_one["method"])
        self.ids[json.dumps(recorded_one["id"])] = message["id"]

    def act(self, message, later):
        """True: our client says it, too."""
        method = message["method"].replace("autohand.", "", 1)
        params = message.get("params", {})
        waiting = bool(self.open_question)
        if method == "prompt" and params.get("message") == "second while busy":
            return False
        if method == "prompt":
            self.leave_changes()
            self.ask(message, params["message"])
            self.turns.append(message["id"])
            self.in_turn = True
        elif method == "permissionAcknowledged" and waiting:
            self.ask(message, None)
        elif method == "permissionResponse" and waiting:
            self.wait_event(lambda each: each.get("event") == "ask" and each.get("id") == self.open_question, "the question")
            self.open_question = None
            self.ask(message, "y" if params["allowed"] else "n")
        elif method == "changesDecision" and self.open_batch:
            self.wait_event(lambda each: each.get("event") == "ask" and each.get("id") == self.open_batch[0], "the question about changes")
            chosen = params.get("selectedChangeIds")
            line = "y" if chosen is None else " ".join(str(self.open_batch[1].index(each) + 1) for each in chosen)
            self.open_batch = None
            self.ask(message, line)
        elif method == "abort":
            self.open_question = None
            self.ask(message, ":abort")
        elif method in ("getState", "getMessages", "reset") and not waiting and not self.in_turn:
            self.leave_changes()
            self.ask(message, {"getState": ":state", "getMessages": ":messages %d" % params.get("limit", 0), "reset": ":reset"}[method])
            self.answered.append(message["id"])
        else:
            return False
        return True

    def leave_changes(self):
        if self.open_batch:
            self.wait_event(lambda each: each.get("event") == "ask" and each.get("id") == self.open_batch[0], "the question about changes")
            self.type("l")
            self.open_batch = None

    def note(self, message):
        """What our client has to show of it, and what is open behind it."""
        name, params = short(message), message["params"]
        if is_straggler(message) or (name.startswith("changes") and not self.in_turn):
            self.shown.append(("late", message["method"]))
            return
        self.shown.append((self.EVENTS[name], params))
        if name == "permissionRequest":
            self.open_question = params["requestId"]
        elif name == "changesBatchStart":
            self.batch = (params["batchId"], [])
        elif name == "changesBatchUpdate":
            self.batch[1].append(params["change"]["id"])
        elif name == "changesBatchEnd" and params["changeCount"]:
            self.open_batch = self.batch
        elif name == "turnEnd":
            self.in_turn = False
            self.open_question = None

    def run(self, only=None, code=0):
        self.open_question = self.open_batch = None
        self.in_turn = False
        for number, each in enumerate(self.lines):
            message = each.get("message")
            if each["from"] == "client":
                if isinstance(message, dict) and "method" in message and "id" in message and (only is None or message["id"] in only):
                    self.act(message, self.lines[number:])
                continue
            if message is None:
                message = {"jsonrpc": "2.0", "result": {"messages": []}, "id": 2}  # cut in the recording
            if isinstance(message, dict) and "method" in message:
                self.note(message)
            elif isinstance(message, dict) and json.dumps(message["id"]) in self.ids:
                message = {**message, "id": self.ids[json.dumps(message["id"])]}
            elif only is None:
                continue  # an answer to what our client did not say
            self.agent.send(message)
        self.check()
        self.leave_changes()
        self.child.stdin.close()
        while (message := self.agent.fresh(1 if self.in_turn else stage.PATIENCE)) is not None:
            true(message.get("method") in ("autohand.permissionAcknowledged", "autohand.permissionResponse"), shown(message))
        self.agent.leave()
        same(self.child.wait(stage.PATIENCE), code, "its exit code")

    def check(self):
        names = {*self.EVENTS.values(), "late"}

        def seen():
            return [each for each in self.events if each.get("event") in names]
        stage.eventually(lambda: len(seen()) >= len(self.shown), lambda: "only %d of %d are shown" % (len(seen()), len(self.shown)))
        got = seen()
        same([each["event"] for each in got], [each[0] for each in self.shown], "what is shown")
        for event, (name, params) in zip(got, self.shown):
            self.check_event(event, name, params)
        results = {each["message"]["id"]: each["message"]["result"] for each in self.lines if each["from"] == "server" and isinstance(each.get("message"), dict)
                   and isinstance(each["message"].get("id"), int) and "result" in each["message"]}
        wanted = [results.get(each, {"messages": []}) for each in self.answered]
        stage.eventually(lambda: sum(each.get("event") == "answer" for each in self.events) >= len(wanted), "answers are not shown")
        same([each["result"] for each in self.events if each.get("event") == "answer"], wanted, "answers")
        ends = [each for each in self.events if each.get("event") == "turn"]
        aborted = [each.get("aborted", False) for each in ends]
        same([each["success"] for each in ends], [results[each]["success"] if each in results and not gone else False
                                                 for each, gone in zip(self.turns, aborted)][:len(ends)], "how turns went")

    def check_event(self, event, name, params):
        pairs = {"session": "sessionId", "turn": "turnId", "message": "messageId", "batch": "batchId", "tool": "toolId", "tokens": "tokensUsed",
                 "durationMs": "durationMs", "contextPercent": "contextPercent", "count": "changeCount", "success": "success", "code": "code",
                 "recoverable": "recoverable", "model": "model", "workspace": "workspace", "args": "args", "aborted": "aborted"}
        if name == "late":
            same(event["method"], params, "a straggler")
            return
        for key, theirs in pairs.items():
            if theirs in params and not (name == "hook" or (key == "turn" and name.startswith("changes"))):
                same(event.get(key), params[theirs], "%s: %s of %s" % (name, key, shown(event)))
        text = {"text": "delta", "message-end": "content", "tool-end": "output", "error": "message", "permission": "description"}.get(name)
        if text:
            same(event.get("text"), params[text], "%s: %s" % (name, shown(event)))
        if name == "permission":
            same((event["id"], event["name"]), (params["requestId"], params["tool"]), "permission")
        if name == "change":
            change = params["change"]
            same([event[key] for key in ("id", "path", "type", "before", "after", "description")],
                 [change[key] for key in ("id", "filePath", "changeType", "originalContent", "proposedContent", "description")], "change")
        if name == "hook":
            same(event["params"], params, "hook")


def row_R5():
    """Our client and the answers of 0.6 to junk: it asks for the state, messages and a reset, and lets pass what it did not ask for."""
    with Client(BASIC) as client:
        client.run(only=(1, 2, 23), code=0)


def row_R6():
    """Our client and 0.6: it shows each event, acknowledges and answers questions, decides on changes, and survives the stragglers of an abort."""
    with Client(FULL) as client:
        client.run(code=1)
        same(client.turns, [1, 2, 3, 9, 14, 18, 25, 29, 34, 35, 36], "turns")


def row_R7():
    """Our client and 0.6: abort at a question, one that nobody answers, and one that is open when the recording, and with it the agent, ends."""
    with Client(WAITING) as client:
        client.run(code=4)


def row_R8():
    """Our client and 0.8: the same as R6, with calls that run at the same time."""
    with Client(FULL_8) as client:
        client.run(code=1)


def row_68():
    """All that was recorded is replayed: each section in both directions, and only the stragglers of three aborts are left out."""
    lines = recorded()
    same({each["section"] for each in lines}, {BASIC, FULL, WAITING, FULL_8}, "sections")
    left = [each["message"] for each in lines if is_straggler(each.get("message"))]
    same(len(left), 9, "stragglers")
    same({short(each) for each in left}, {"messageUpdate", "messageEnd", "turnEnd"}, "what they are")
    for name in (BASIC, FULL, WAITING, FULL_8):
        kept, whole = section(name), [each for each in lines if each["section"] == name]
        true(len(whole) - len(kept) <= 4, "%s: %d lines are left out" % (name, len(whole) - len(kept)))
        same([each for each in kept if each["from"] == "client"], [each for each in whole if each["from"] == "client"], "what the client says")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
