"""Secrets that end up where somebody else reads them: recordings, logs, pages."""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import attack
from attack import MB, Program, duplex, eventually, python, run, same, true

SECRET = "sk-4f0bd2c1a9e8"
# Answers with what it was asked.
ECHO = r'''
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]}), flush=True)
'''
PARAMS = {"env": {"API_KEY": SECRET, "HOME": "/home/me"}, "headers": {"Authorization": "Bearer " + SECRET},
          "mcp": {"httpHeaders": [{"name": "X-Api-Key", "value": SECRET}, {"value": SECRET, "name": "Cookie"},
                                  {"value": "text/html", "name": "Accept"}]},
          "fetch": {"headers": [["Authorization", "Bearer " + SECRET], ["Accept", "text/html"]]},
          "args": ["--token=" + SECRET, "-v"],
          "_meta": {"progressToken": "p1"}, "keyboard": "qwerty"}
HIDDEN = {"env": {"API_KEY": "***", "HOME": "/home/me"}, "headers": {"Authorization": "***"},
          "mcp": {"httpHeaders": [{"name": "X-Api-Key", "value": "***"}, {"value": "***", "name": "Cookie"},
                                  {"value": "text/html", "name": "Accept"}]},
          "fetch": {"headers": [["Authorization", "***"], ["Accept", "text/html"]]},
          "args": ["--token=***", "-v"],
          "_meta": {"progressToken": "p1"}, "keyboard": "qwerty"}


def records(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return text, [json.loads(line) for line in text.splitlines()]


def talks_through_a_tap(folder, params, *options):
    trace = os.path.join(folder, "trace")
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}) + "\n"
    code, out, _ = run(duplex("tap", "-o", trace, *options, "--", *python(ECHO, "--api-key=" + SECRET)), 20,
                       input=request.encode())
    same(code, 0, "exit code")
    same(json.loads(out)["result"], params, "what a tap passes on")
    return (trace, *records(trace))


def attack_secrets_in_a_recording():
    """They are passed on, and not recorded; and the record says so."""
    with tempfile.TemporaryDirectory() as folder:
        trace, text, lines = talks_through_a_tap(folder, PARAMS)
        true(SECRET not in text, text)
        messages = [line for line in lines if "message" in line]
        same(messages[0]["message"]["params"], HIDDEN, "the request")
        same(messages[1]["message"]["result"], HIDDEN, "the response")
        same([line["redacted"] for line in messages], [6, 6], "how many values are hidden")
        start = [line for line in lines if line.get("event") == "start"][0]
        same(start["data"]["argv"][-1], "--api-key=***", "the command line")
        # Replaying says that something is missing.
        code, _, said = run(duplex("replay", trace, "--", *python(ECHO)), 20)
        true("redacted" in said, said)
        out = os.path.join(folder, "call")
        code, _, _ = run(duplex("call", "-p", "jsonrpc", "-f", "line", "-o", out, "m", json.dumps(PARAMS), "--", *python(ECHO)), 20)
        same(code, 0, "exit code")
        text, lines = records(out)
        true(SECRET not in text and '"redacted":6' in text, text)


def attack_secrets_at_a_pointer():
    with tempfile.TemporaryDirectory() as folder:
        params = {"user": {"pin": 4711}, "pin": 4711, "list": [{"Secret Word": SECRET}, 1]}
        _, text, lines = talks_through_a_tap(folder, params, "--redact", "/params/user/pin", "--redact", "/result/user",
                                             "--redact", "secret word")
        messages = [line["message"] for line in lines if "message" in line]
        same(messages[0]["params"], {"user": {"pin": "***"}, "pin": 4711, "list": [{"Secret Word": "***"}, 1]}, "the request")
        same(messages[1]["result"], {"user": "***", "pin": 4711, "list": [{"Secret Word": "***"}, 1]}, "the response")


def attack_secrets_not_a_pointer():
    """What would hide nothing is refused."""
    for command in ["tap", "--redact", "#/params/pin", "--", "cat"], ["timeline", "--redact", "$.params.pin", "x"]:
        code, out, said = run(duplex(*command), 20)
        same((code, out), (2, ""), "exit code")
        same(said, "duplex %s: --redact: '%s' is neither a member name nor a JSON Pointer; write it like /params/pin\n"
             % (command[0], command[2]), "what is said")


def attack_secrets_in_a_page():
    """A trace of somebody who hid nothing."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        with open(trace, "w", encoding="utf-8") as file:
            file.write('{"duplex-trace":1,"time":"us","part":1}\n')
            file.write(json.dumps({"t": 1, "event": "start", "data": {"argv": ["x", "TOKEN=" + SECRET]}}) + "\n")
            file.write(json.dumps({"t": 2, "from": "host", "message": {
                "jsonrpc": "2.0", "id": 1, "method": "m", "params": {**PARAMS, "word": "xyzzy", "pin": 123454321}}}) + "\n")
        for options in ([], ["--chrome"], ["--mermaid"]):
            code, out, _ = run(duplex("timeline", *options, "--redact", "/params/pin", "--redact", "word", trace), 20)
            same(code, 0, "exit code")
            true(SECRET not in out and "xyzzy" not in out and "123454321" not in out, out[-2000:])
            true("***" in out or "--mermaid" in options, out[-2000:])


def attack_secrets_in_logs_of_a_run():
    """A value that the run gave to a peer, and the command line."""
    says = "import os, sys\nprint('my key is', os.environ['API_KEY'] + '!', file=sys.stderr)\nsys.exit(os.environ['API_KEY'])"
    with tempfile.TemporaryDirectory() as folder:
        config, socket = os.path.join(folder, "config"), os.path.join(folder, "socket")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"duplex": 1, "peers": {"p": {"command": python(says, "--auth-token=" + SECRET),
                                                   "env": {"API_KEY": SECRET}, "restart": "never"},
                                             "stays": {"command": ["cat"]}}}, file)
        for options in ([], ["--json"]):
            with Program(duplex("run", *options, "--socket", socket, "--config", config)) as program:
                eventually(lambda: "failed" in program.said() + program.printed(), "the peer still runs")
                shown = program.said() + program.printed()
                for command in "logs", "ps":
                    for more in ([], ["--json"]):
                        code, out, _ = run(duplex(command, *more, "--socket", socket), 20)
                        same(code, 0, "exit code")
                        shown += out
                true(SECRET not in shown, shown)
                true("my key is ***!" in shown and "--auth-token=***" in shown, shown)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
