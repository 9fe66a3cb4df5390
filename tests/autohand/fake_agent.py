"""fake_agent.py SCRIPT...: an agent that does as it is told, a step a line (each argument is a line or more):

  start [JSON]         sends agentStart
  n NAME JSON          sends the notification autohand.NAME, with a timestamp
  < NAME [JSON]        waits for the request autohand.NAME, whose params must have these members; requests that come
                       before it are answered with {"success": true}
  a NAME JSON          answers the last request of that name
  e NAME CODE TEXT     answers it with an error
  raw TEXT             writes that line; \\xNN is a byte
  err TEXT             writes that line to the standard error
  sleep SECONDS
  repeat N STEP        does a step N times; NUMBER in it becomes 0, 1, …
  big NAME KEY BYTES   sends the notification with one long text
  close                closes its standard output
  eof                  waits for the end of the input; what comes until then is answered
  exit CODE            leaves at once
  die                  is killed
  turn ID [JSON...]    a whole turn in the form of FORM (doc, 0.6, 0.8 or later), the environment says which: waits for a
                       prompt, and says "All done."; JSON are steps in between

What it does not expect is written to its standard error, and then it leaves with 9. At the end of its script it waits
for the end of its input."""
import json
import os
import signal
import sys
import time

FORM = os.environ.get("FORM", "doc")
STAMP = "2026-11-15T02:16:29.787Z"


def send(message):
    os.write(1, json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def tell(name, params):
    send({"jsonrpc": "2.0", "method": "autohand." + name, "params": {**params, "timestamp": STAMP}})


def fail(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    os._exit(9)


class Agent:
    def __init__(self):
        self.rest = b""
        self.ids = {}

    def line(self):
        """The next message that is no answer; None at the end."""
        while True:
            while b"\n" not in self.rest:
                data = os.read(0, 1 << 16)
                if not data:
                    return None
                self.rest += data
            line, self.rest = self.rest.split(b"\n", 1)
            message = json.loads(line)
            if "method" in message:
                return message

    def take(self, message):
        name = message["method"].removeprefix("autohand.")
        self.ids[name] = message.get("id")
        return name

    def wait(self, wanted, members):
        while (message := self.line()) is not None:
            name = self.take(message)
            if name != wanted:
                send({"jsonrpc": "2.0", "result": {"success": True}, "id": message["id"]})
                continue
            params = message.get("params", {})
            for key, value in members.items():
                if (params.get(key) if value is not None else key in params or None) != value:
                    fail(f"{name}: expected {key} to be {value}, found {params}")
            return
        fail(f"the end of the input instead of {wanted}")

    def eof(self):
        while (message := self.line()) is not None:
            self.take(message)
            if "id" in message:
                send({"jsonrpc": "2.0", "result": {"success": True}, "id": message["id"]})

    def start(self, more):
        params = {"sessionId": "session_1", "model": "fake", "workspace": os.getcwd()}
        tell("agentStart", {**params, "contextPercent": 96, **more})

    def turn(self, number, steps):
        turn, message, batch = "turn_" + number, "msg_" + number, "changes_" + number
        self.wait("prompt", {})
        if FORM == "later":
            self.do('a prompt {"success": true}')
        doc = {"sessionId": "session_1"} if FORM == "doc" else {}
        tell("turnStart", {"turnId": turn, **doc, **({"instruction": "it"} if doc else {})})
        tell("messageStart", {"messageId": message, **({"turnId": turn} if doc else {}), "role": "assistant"})
        tell("changesBatchStart", {"batchId": batch, "turnId": turn})
        count = 0
        for step in steps:
            count += "changesBatchUpdate" in step
            self.do(step.replace("BATCH", batch).replace("MESSAGE", message))
        for delta in ["All ", "done."] if FORM == "doc" else ["All done."]:
            tell("messageUpdate", {"messageId": message, "delta": delta})
        tell("changesBatchEnd", {"batchId": batch, "changeCount": count})
        figures = {"tokensUsed": 30, "toolCallsCount": 0, "duration": 25}
        if FORM in ("0.8", "later"):
            tell("hook.stop", figures)
        if FORM in ("doc", "later"):
            tell("hook.postResponse", figures)
        tell("messageEnd", {"messageId": message, "content": "All done.", **({"toolCalls": []} if doc else {})})
        stats = {"contextPercent": 93, "tokensUsed": 30}
        if FORM == "doc":
            tell("turnEnd", {"turnId": turn, **doc, "stats": {**stats, "duration": 25}})
        elif FORM == "later":
            tell("turnEnd", {"turnId": turn, **stats, "durationMs": 25, "reason": "completed"})
        else:
            tell("turnEnd", {"turnId": turn, **stats, "durationMs": 25})
        if FORM != "later":
            self.do('a prompt {"success": true}')

    def do(self, step):
        word, _, rest = step.strip().partition(" ")
        name, _, more = rest.partition(" ")
        if word == "start":
            self.start(json.loads(rest or "{}"))
        elif word == "n":
            tell(name, json.loads(more or "{}"))
        elif word == "<":
            self.wait(name, json.loads(more or "{}"))
        elif word == "a":
            send({"jsonrpc": "2.0", "result": json.loads(more), "id": self.ids[name]})
        elif word == "e":
            code, _, text = more.partition(" ")
            send({"jsonrpc": "2.0", "error": {"code": int(code), "message": text}, "id": self.ids[name]})
        elif word == "raw":
            os.write(1, rest.encode().decode("unicode_escape").encode("latin-1") + b"\n")
        elif word == "err":
            sys.stderr.write(rest + "\n")
            sys.stderr.flush()
        elif word == "sleep":
            time.sleep(float(rest))
        elif word == "repeat":
            for number in range(int(name)):
                self.do(more.replace("NUMBER", str(number)))
        elif word == "big":
            key, size = more.split()
            tell(name, {key: "x" * int(size)})
        elif word == "close":
            os.close(1)
        elif word == "eof":
            self.eof()
        elif word == "exit":
            os._exit(int(rest))
        elif word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "turn":
            self.turn(name, [part for part in more.split(" ;; ") if part])
        elif word:
            fail(f"no such step: {step}")


agent = Agent()
for argument in sys.argv[1:]:
    for line in argument.split("\n"):
        agent.do(line)
agent.eof()
