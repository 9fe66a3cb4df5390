"""replay.py DUPLEX ECHO: duplex replay against plugins and hosts that say what each case wants them to say.

As `replay.py plugin FILE` it is such a plugin: FILE has a list of lists of lines; the first is written at the
start, the next behind the first message that comes, and so on, the last at the end of the input. $ID in a line is
the id of the message that came. What came is kept in FILE.log. Lines that are numbers are waited for, in ms, and
"exit N" is the end."""

import json
import os
import signal
import subprocess
import sys
import time

HEADER = '{"duplex-trace":1,"time":"us","part":1}'


def plugin(path):
    with open(path, encoding="utf-8") as file:
        steps = json.load(file)
    out = sys.stdout.buffer
    log = open(path + ".log", "wb", buffering=0)

    def do(step, message=b""):
        for line in step:
            if isinstance(line, (int, float)):
                out.flush()
                time.sleep(line / 1000)
            elif line.startswith("exit "):
                out.flush()
                os._exit(int(line[5:]))
            else:
                if "$ID" in line:
                    line = line.replace("$ID", json.dumps(json.loads(message)["id"]))
                out.write(line.encode("utf-8", "surrogateescape") + b"\n")
        out.flush()

    do(steps[0])
    rest = steps[1:-1]
    for line in sys.stdin.buffer:
        log.write(line)
        do(rest.pop(0) if rest else [], line)
    if len(steps) > 1:
        do(steps[-1])


if sys.argv[1] == "plugin":
    plugin(sys.argv[2])
    sys.exit(0)

duplex = sys.argv[1]
failed = 0
count = 0


def complain(name, text):
    global failed
    failed = 1
    print(f"{name}: {text}")


def host(text, **more):
    return record("host", text, **more)


def them(text, **more):
    return record("plugin", text, **more)


def record(side, text, t=None, kind="message", peer="p", run=1, **more):
    value = text if kind == "message" else json.dumps(text)
    parts = [f'"from":"{side}"']
    parts += [f'"peer":"{peer}"'] if peer else []
    parts += [f'"run":{run}'] if run else []
    parts += [f'"{key}":{json.dumps(item)}' for key, item in more.items()]
    return (t, ",".join(parts) + f',"{kind}":{value}')


def write_trace(records, path="t", header=HEADER):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        if header:
            file.write(header + "\n")
        for at, one in enumerate(records):
            if isinstance(one, str):
                file.write(one + "\n")
            else:
                t = 1000 * at if one[0] is None else one[0]
                file.write(f'{{"t":{t},{one[1]}}}\n')


def request(ident, method, params=None):
    more = f',"params":{params}' if params is not None else ""
    return f'{{"jsonrpc":"2.0","id":{ident},"method":"{method}"{more}}}'


def notice(method, params=None):
    more = f',"params":{params}' if params is not None else ""
    return f'{{"jsonrpc":"2.0","method":"{method}"{more}}}'


def answer(ident, result):
    return f'{{"jsonrpc":"2.0","id":{ident},"result":{result}}}'


def refusal(ident, code, message="no"):
    return f'{{"jsonrpc":"2.0","id":{ident},"error":{{"code":{code},"message":"{message}"}}}}'


def run(words, steps=None, command=None, stdin=b"", timeout=30, wait=True):
    if steps is not None:
        with open("steps", "w", encoding="utf-8") as file:
            json.dump(steps, file)
    if command is None and steps is not None:
        command = ["--", sys.executable, "-IS", os.path.abspath(__file__), "plugin", "steps"]
    full = [duplex, "replay", *words, *(command or [])]
    if not wait:
        return subprocess.Popen(full, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return subprocess.run(full, input=stdin, capture_output=True, timeout=timeout)


def log():
    with open("steps.log", "rb") as file:
        return file.read().decode("utf-8", "surrogateescape").splitlines()


def longer(words):
    """Where a machine has so much to do that a plugin does not even start in the time it has: ten times that."""
    words = list(words)
    if "--timeout" in words:
        at = words.index("--timeout") + 1
        words[at] = words[at].replace("ms", "0ms") if "ms" in words[at] else words[at].replace("s", "0s")
    return tuple(words)


def case(name, records, steps, code, out, err="", words=("t",), header=HEADER, command=None):
    """out is compared as a whole, err by a part of it; None: anything."""
    global count
    count += 1
    if records is not None:
        write_trace(records, header=header)
    for patient in (False, True):
        done = run(longer(words) if patient else words, steps, command)
        stdout = done.stdout.decode("utf-8", "replace").rstrip("\n")
        stderr = done.stderr.decode("utf-8", "replace")
        good = done.returncode == code and (out is None or stdout == out) and err in stderr
        if good or longer(words) == words:
            break
    if not good:
        complain(name, f"code {done.returncode}, expected {code}\n-- stdout\n{stdout}\n-- expected\n{out}\n-- stderr\n{stderr}")
    return stdout, stderr


# --- Equal, and every kind of difference. ---------------------------------------------------------
A, B = request(1, "a", '{"n":1}'), request(2, "b")
TALK = [host(A), them(answer(1, '{"x":1,"y":[1,2,3]}')), host(B), them(notice("n", '{"k":1}')), them(answer(2, '"ok"'))]
RX, N, OK = '{"x":1,"y":[1,2,3]}', notice("n", '{"k":1}'), answer(2, '"ok"')


def told(first, second, early=(), late=()):
    return [list(early), first, second, list(late)]


case("equal", TALK, told([answer(1, RX)], [N, OK]), 0, "", "equal: 2 sent; of 3 expected: 3 matched, 0 differed, 0 missing; 0 unexpected;")
case("equal by value", TALK, told([answer("1", '{"y":[1.0,20e-1,0.3E1],"x":1}')], [N, OK]), 0, "", "equal")
case("a different result", TALK, told([answer(1, '{"x":2,"y":[1,2,3]}')], [N, OK]), 7,
     "t:3: result: plugin: response to a with id 1: a different result\n  /result/x\n  - 1\n  + 2", "of 3 expected: 2 matched, 1 differed, 0 missing; 0 unexpected")
case("members and elements", TALK, told([answer(1, '{"y":[1,3],"z":{"/~":null}}')], [N, OK]), 7,
     "t:3: result: plugin: response to a with id 1: a different result\n  /result/x\n  - 1\n  /result/y/1\n  - 2\n  /result/z\n  + {\"/~\":null}")
case("one element more", TALK, told([answer(1, '{"x":1,"y":[0,1,2,3]}')], [N, OK]), 7,
     "t:3: result: plugin: response to a with id 1: a different result\n  /result/y/0\n  + 0")
case("a repeated member", TALK, told([answer(1, '{"x":1,"x":1,"y":[1,2,3]}')], [N, OK]), 7,
     "t:3: result: plugin: response to a with id 1: a different result\n  /result/x\n  + 1")
case("an error for a result", TALK, told([refusal(1, -5)], [N, OK]), 7,
     't:3: error: plugin: response to a with id 1: an error instead of a result\n  /error\n  + {"code":-5,"message":"no"}\n  /result\n  - ' + RX)
case("another code", [host(A), them(refusal(1, -1))], [[], [refusal(1, -2)], []], 7,
     "t:3: error: plugin: response to a with id 1: a different error\n  /error/code\n  - -1\n  + -2")
case("different params", TALK, told([answer(1, RX)], [notice("n", '{"k":2}'), OK]), 7,
     "t:5: params: plugin: notification n: different params\n  /params/k\n  - 1\n  + 2")
unexpected = 't:{}: unexpected: plugin: notification {} was not recorded\n  + {}'
case("one more, of another name", TALK, told([answer(1, RX), notice("m")], [N, OK]), 7, unexpected.format(2, "m", notice("m")), "1 unexpected")
more = notice("n", '{"k":9}')
for where, steps in {"before": told([answer(1, RX)], [more, N, OK]), "behind": told([answer(1, RX)], [N, more, OK]),
                     "early": told([more, answer(1, RX)], [N, OK])}.items():
    case("one more, " + where, TALK, steps, 7, unexpected.format(2 if where == "early" else 4, "n", more).replace("t:2", "t:4"),
         "3 matched, 0 differed, 0 missing; 1 unexpected")
case("a missing answer", TALK, told([], [N, OK]), 7, f"t:3: missing: plugin: response to a with id 1 did not arrive\n  - {answer(1, RX)}", "1 missing", ("t", "--timeout", "200ms"))
case("a missing notification", TALK, told([answer(1, RX)], [OK]), 7, f"t:5: missing: plugin: notification n did not arrive\n  - {N}", "1 missing", ("t", "--timeout", "200ms"))
case("another order", TALK, told([answer(1, RX)], [OK, N]), 0, "t:5: note: order: plugin: notification n arrived after a message that was recorded later", "equal")
case("an answer nobody recorded", TALK, told([answer(1, RX), answer(77, 1)], [N, OK]), 7,
     f"t:2: unexpected: plugin: response with id 77 was not recorded\n  + {answer(77, 1)}")
case("a log line", TALK, told(["a log", answer(1, RX)], [N, OK]), 0, "", "equal")
case("a word too early", TALK, told([answer(1, RX)], [N, OK], early=[notice("m"), 50]), 7, None, "1 unexpected")
case("what comes at the end of the input", TALK + [them(notice("bye"))], told([answer(1, RX)], [N, OK], late=[notice("bye")]), 0, "", "equal")

# --- Strict. --------------------------------------------------------------------------------------
strict = ("t", "--strict")
case("strict, equal", TALK, told([answer(1, RX)], [N, OK]), 0, "", "equal", strict)
spaced = answer(1, '{"x": 1,"y":[1,2,3]}')
case("strict, another form", TALK, told([spaced], [N, OK]), 7,
     f"t:3: form: plugin: response to a with id 1: the same value, written differently\n  - {answer(1, RX)}\n  + {spaced}", "1 differed", strict)
case("strict, another order", TALK, told([answer(1, RX)], [OK, N]), 7,
     "t:5: order: plugin: notification n arrived after a message that was recorded later", "", strict)
case("strict, a log line", TALK, told(["a log", answer(1, RX)], [N, OK]), 7, "t:2: unexpected: plugin: text that is not JSON was not recorded\n  + a log", "", strict)
case("strict, a recorded log line", [host(A), them("a log\n", kind="stray"), them(answer(1, RX))], [[], ["a log", answer(1, RX)], []], 0, "", "equal", strict)
case("strict, late", TALK, told([], [N, OK]), 5, f"t:3: missing: plugin: response to a with id 1 did not arrive\n  - {answer(1, RX)}",
     "timed out: a recorded message did not arrive (--timeout)", strict + ("--timeout", "200ms"))

# --- What may differ. -----------------------------------------------------------------------------
TIMES = [host(A), them(answer(1, '{"time":1,"list":[{"v":1,"w":2},{"v":1}],"v":0}'))]
changed = [[], [answer(1, '{"time":2,"list":[{"v":3,"w":2},{"v":4}],"v":0}')], []]
case("a name may differ", TIMES, changed, 0, "", "equal", ("t", "-i", "time", "-i", "v"))
case("a pointer may differ", TIMES, changed, 0, "", "equal", ("t", "-i", "/result/time", "-i", "/result/list/*/v"))
case("the whole may differ", TIMES, changed, 0, "", "equal", ("t", "-i", "/result"))
case("not that pointer", TIMES, changed, 7, "t:3: result: plugin: response to a with id 1: a different result\n  /result/list/1/v\n  - 1\n  + 4", "",
     ("t", "-i", "/result/time", "-i", "/result/list/0/v", "-i", "/result/*/v", "-i", "list/1/v"))
SLASHES = [host(A), them(answer(1, '{"x/y~z":[1,2],"":3}'))]
case("a name with a slash may differ", SLASHES, [[], [answer(1, '{"x/y~z":[1,5],"":3}')], []], 0, "", "equal", ("t", "-i", "x/y~z"))
case("a pointer with a slash may differ", SLASHES, [[], [answer(1, '{"x/y~z":[1,5],"":4}')], []], 0, "", "equal", ("t", "-i", "/result/x~1y~0z/1", "-i", "/result/"))
case("an element has no name", SLASHES, [[], [answer(1, '{"x/y~z":[1,5],"":3}')], []], 7, None, "1 differed", ("t", "-i", "1"))
case("a member that is gone may differ", TIMES, [[], [answer(1, '{"list":[{"v":1,"w":2},{"v":1}],"v":0}')], []], 0, "", "equal", ("t", "-i", "time"))
LOGS = [host(A), them(notice("log", "[1]")), them(answer(1, RX)), host(B), them(notice("log", "[2]")), them(OK)]
case("skipped", LOGS, [[], [answer(1, 5)], [notice("log", "[3]"), notice("log", "[4]"), OK], []], 0, "", "equal: 2 sent; of 2 expected: 2 matched", ("t", "--skip", "log", "--skip", "a"))
case("not skipped", LOGS, [[], [answer(1, 5)], [notice("log", "[3]"), notice("logs"), OK], []], 7, None, "1 differed, 0 missing; 1 unexpected", ("t", "--skip", "log", "--skip", "b"))
case("a request is not skipped", [host(A), them(request(7, "log")), host(answer(7, 1)), them(answer(1, 2))], [[], [request(8, "log")], [answer(1, 2)], []], 0, "", "equal: 2 sent; of 2", ("t", "--skip", "log"))
case("what was redacted", [host(A), them(answer(1, '{"token":"***","x":1}'))], [[], [answer(1, '{"token":"abc","x":1}')], []], 0, "", "equal")
NUMBERS = "[18446744073709551615,-0,1e400,0.10,12300,1E+2,5e-1]"
case("numbers by value", [host(A), them(answer(1, NUMBERS))], [[], [answer(1, "[18446744073709551615.0,0,10e399,1e-1,1.23e4,100,0.5]")], []], 0, "", "equal")
case("numbers that are close", [host(A), them(answer(1, "[9007199254740993,1.5,-1,1,10]"))], [[], [answer(1, "[9007199254740992,1.50000000000000000001,1,1e1,1]")], []], 7,
     "t:3: result: plugin: response to a with id 1: a different result\n" + "\n".join(
         f"  /result/{i}\n  - {a}\n  + {b}" for i, (a, b) in enumerate([("9007199254740993", "9007199254740992"), ("1.5", "1.50000000000000000001"), ("-1", "1"), ("1", "1e1"), ("10", "1")])))

# --- Ids of the other side. -----------------------------------------------------------------------
ASKED = [host(A), them(request(1, "ask", '{"_meta":{"progressToken":"t1"}}')), host(notice("notifications/progress", '{"progressToken":"t1","progress":1}')),
         host(answer(1, '"yes"')), them(answer(1, RX)), them(request('"r2"', "ask2")), them(notice("notifications/cancelled", '{"requestId":"r2"}')), host(notice("z"))]
now = [[], [request('"x"', "ask", '{"_meta":{"progressToken":7}}')], [], [answer(1, RX), request(99, "ask2"), notice("notifications/cancelled", '{"requestId":99}')], [], []]
case("ids of requests", ASKED, now, 0, "", "equal", ("t", "-p", "mcp"))
if log() != [A, notice("notifications/progress", '{"progressToken":7,"progress":1}'), answer('"x"', '"yes"'), notice("z")]:
    complain("ids of requests", f"sent was {log()}")
cancel = [notice("notifications/cancelled", f'{{"requestId":{i}}}') for i in (1, 2, 50, 51)]
case("who is cancelled", [host(A), them(request(1, "ask")), them(request(2, "ask2")), host(cancel[0]), host(cancel[1])], [[], [request(50, "ask"), request(51, "ask2")], [], [], []], 0, "", "equal", ("t", "-p", "mcp"))
if log() != [A, cancel[0], cancel[3]]:
    complain("who is cancelled", f"sent was {log()}")
case("another id is cancelled", ASKED, now[:3] + [[answer(1, RX), request(99, "ask2"), notice("notifications/cancelled", '{"requestId":98}')], [], []], 7,
     "t:8: params: plugin: notification notifications/cancelled: different params\n  /params/requestId\n  - 99\n  + 98", "", ("t", "-p", "mcp"))
ASK = request(1, "ask", '{"_meta":{"progressToken":"t1"}}')
case("a request that does not come", ASKED[:1] + ASKED[1:2] + ASKED[3:5], [[], [answer(1, RX)], []], 7,
     f"t:3: missing: plugin: request ask did not arrive\n  - {ASK}\n"
     "t:4: note: unsent: plugin: the recorded response with id 1 was not sent: its request did not arrive", "", ("t", "--timeout", "200ms"))
WHAT = request('"u"', "what")
case("a request nobody recorded", TALK, [[], [request('"u"', "what")], [answer(1, RX)], [N, OK], []], 7,
     f"t:2: unexpected: plugin: request what was not recorded\n  + {WHAT}")
if json.loads(log()[1]) != {"jsonrpc": "2.0", "id": "u", "error": {"code": -32601, "message": "Method not found", "data": "not in the recording"}}:
    complain("a request nobody recorded", f"answered was {log()}")

# --- Recordings of what went wrong, and bad recordings. -------------------------------------------
case("faults are sent again", [host("{broken", kind="broken"), host("stray text\n", kind="stray"), host("42"), host(A), them(answer(1, RX))],
     [[], [], [], [], [answer(1, RX)], []], 0, "", "equal: 4 sent")
if log() != ["{broken", "stray text", "42", A]:
    complain("faults are sent again", f"sent was {log()}")
case("an answer before its question", [them(answer(1, RX)), host(A)], [[], [answer(1, RX)], []], 0, "", "equal")
case("a response to nothing", [host(answer(5, 1)), host(A), them(answer(1, RX))], [[], [], [answer(1, RX)], []], 0, "", "equal: 2 sent")
case("never answered", [host(A), host(B), them(OK)], [[], [], [OK], []], 0, "", "equal")
case("never answered, now it is", [host(A), host(B), them(OK)], [[], [answer(1, 0)], [OK], []], 7,
     f"t:3: unexpected: plugin: response with id 1 was not recorded\n  + {answer(1, 0)}")
# Whoever sent what nobody could read waits for that to be said.
NOBODY = refusal("null", -32700)
case("a response to nobody", [host("{broken", kind="broken"), them(NOBODY), host(A), them(answer(1, RX))], [[], [100, NOBODY], [answer(1, RX)], []], 0, "", "equal: 2 sent", ("t", "--record", "now"))
with open("now", encoding="utf-8") as file:
    said = file.read()
if not said.find("-32700") < said.find('"method":"a"'):
    complain("a response to nobody", "it was not waited for: " + said)
case("a response to nobody is missing", [host("{broken", kind="broken"), them(NOBODY), host(A), them(answer(1, RX))], [[], [], [answer(1, RX)], []], 7, None, "1 missing", ("t", "--timeout", "200ms"))
case("answered twice", [host(A), them(answer(1, 1)), them(answer(1, 2))], [[], [answer(1, 1), answer(1, 2)], []], 0, "", "equal")
batch = f"[{request(1, 'a')},{request(2, 'b')}]"
case("batches", [host(batch), them(f"[{answer(1, 1)},{answer(2, 2)}]"), them(f"[{request(5, 'c')}]"), host(f"[{answer(5, 5)}]")],
     [[], [f"[{answer(1, 1)},{answer(2, 3)}]", f"[{request(50, 'c')}]"], [], []], 7,
     "t:3: text: plugin: batch: different content\n  /1/result\n  - 2\n  + 3")
if log() != [batch, f"[{answer(50, 5)}]"]:
    complain("batches", f"sent was {log()}")
answers = [answer(1, 1), answer(2, '{"t":1,"v":2}'), answer('"1"', 3), answer(1, 4), notice("n")]
several = [host("[" + ",".join([request(1, "a"), request(2, "b"), request('"1"', "c"), request(1, "d")]) + "]"), them("[" + ",".join(answers) + "]")]
mixed = [answers[at] for at in (4, 2, 0, 1, 3)]
case("the answers of a batch in another order", several, [[], ["[" + ", ".join(mixed) + "]"], []], 0, "", "equal")
case("strict, the answers of a batch in another order", several, [[], ["[" + ",".join(mixed) + "]"], []], 7, None, "1 differed", ("t", "--strict"))
mixed[3] = answer(2, '{"t":5,"v":2}')
case("a batch in another order and with another answer", several, [[], ["[" + ",".join(mixed) + "]"], []], 7, "t:3: text: plugin: batch: different content\n  /1/result/t\n  - 1\n  + 5")
case("what may differ in a batch", several, [[], ["[" + ",".join(mixed) + "]"], []], 0, "", "equal", ("t", "-i", "/result/t"))
case("a batch with an answer less", several, [[], ["[" + ",".join(mixed[:3] + mixed[4:]) + "]"], []], 7, f"t:3: text: plugin: batch: different content\n  /1\n  - {answers[1]}")
case("a batch with an answer more", several, [[], ["[" + ",".join([answer(9, 9)] + answers) + "]"], []], 7, f"t:3: text: plugin: batch: different content\n  /4\n  + {answer(9, 9)}")
case("no header", TALK, told([answer(1, RX)], [N, OK]), 0, "", "t:1: ", header=None)
case("dropped, cut and wrong lines", TALK[:2] + ['{"t":5,"dropped":3}', "nonsense"] + TALK[2:] + ['{"t":9,"from'], told([answer(1, RX)], [N, OK]), 0, "", "t:4: 3 records are missing here")
with open("t", "rb+") as file:
    file.seek(-1, os.SEEK_END)
    file.truncate()
case("the last line is cut", None, told([answer(1, RX)], [N, OK]), 0, "", "t:9: ")
case("remarks end", TALK + ['{"t":9,"dropped":1}'] * 20, told([answer(1, RX)], [N, OK]), 0, "", "t:26: 1 record is missing here\nduplex replay: equal")
case("too many remarks", TALK + ['{"t":9,"dropped":1}'] * 22, told([answer(1, RX)], [N, OK]), 0, "", "t:26: 1 record is missing here\nduplex replay: the trace has more errors; 'duplex lint' reports them all\nduplex replay: equal")

two = TALK + [host(A, peer="q", run=2), them(answer(1, "0"), peer="q", run=2), host(A, peer="q", run=3), them(answer(1, "3"), peer="q", run=3)]
case("several conversations", two, told([], []), 2, "", "the trace has 3 conversations: p, run 1 (5 messages); q, run 2 (2 messages); q, run 3 (2 messages)\nhint: select one with --peer NAME and --run N\n")
case("one of several", two, told([answer(1, RX)], [N, OK]), 0, "", "equal: 2 sent", ("t", "--peer", "p"))
case("one run of several", two, [[], [answer(1, 3)], []], 0, "", "equal: 1 sent", ("t", "--peer", "q", "--run", "3"))
case("none of several", two, [[], []], 2, "", "the trace has no messages of that peer or run", ("t", "--peer", "r"))
case("as many as are told apart", [host(A, peer=f"p{i}") for i in range(64)], [[], []], 2, "", "replay: the trace has 64 conversations: ")
case("more than are told apart", [host(A, peer=f"p{i}") for i in range(65)], [[], []], 2, "", "replay: the trace has more than 64 conversations: ")
write_trace(TALK[:2], "t.1", '{"duplex-trace":1,"time":"us","part":1,"unix-ms":5}')
write_trace(TALK[2:], "t.0", '{"duplex-trace":1,"time":"us","part":2,"unix-ms":5}')
case("parts", None, told([answer(1, RX)], [N, OK]), 0, "", "equal: 2 sent; of 3", ("t.1", "t.0"))
case("a part is missing", None, [[], [N, OK], []], 0, "", "t.0:1: parts of the trace are missing before this part", ("t.0",))
case("parts the wrong way round", None, [[], []], 2, "", "t.1:1: part 1 follows part 2: give the oldest part first", ("t.0", "t.1"))
case("two traces", None, [[], []], 2, "", "t.1:1: another trace begins here: only one can be replayed at a time", ("t.1", "t.1"))

# --- Limits, on both sides. -----------------------------------------------------------------------
for ahead, code in ((1024, 0), (1025, 7)):
    notes = [notice("m", f"[{i}]") for i in range(ahead - 1)] + [notice("last")]
    late = "t:3: note: order: plugin: notification m arrived after a message that was recorded later"
    unknown = unexpected.format(2, "last", notes[-1]) + f"\nt:{ahead + 2}: missing: plugin: notification last did not arrive\n  - {notes[-1]}"
    case(f"{ahead} ahead", [host(A), *[them(text) for text in notes], host(B)], [[], [notes[-1], *notes[:-1]], [], []], code,
         unknown if code else late, "", ("t", "--timeout", "400ms"))
for changes, rest in ((20, ""), (21, "\n  … and more")):
    big = answer(1, "[" + ",".join("1" * changes) + "]")
    case(f"{changes} changes", [host(A), them(answer(1, "[" + ",".join("0" * changes) + "]"))], [[], [big], []], 7,
         "t:3: result: plugin: response to a with id 1: a different result" + "".join(f"\n  /result/{i}\n  - 0\n  + 1" for i in range(20)) + rest)
case("--max", [host(A), them(notice("x")), them(notice("y"))], [[], [], []], 7, f"t:3: missing: plugin: notification x did not arrive\n  - {notice('x')}",
     "2 missing; 0 unexpected; 1 not shown", ("t", "--timeout", "200ms", "--max", "1"))
many = [notice(f"x{i}") for i in range(101)]
for most, shown in (((), 100), (("--max", "0"), 101)):
    out, err = case(f"so many {most}", [host(A), *map(them, many)], [[], [], []], 7, None, "101 missing; 0 unexpected", ("t", "--timeout", "200ms", *most))
    if out.count(": missing: ") != shown or ("; 1 not shown" in err) != (shown == 100):
        complain(f"so many {most}", err)
for pairs, first in ((4096, 10000), (4097, 0)):
    case(f"{pairs} ids", [host(A), *[them(request(i, "q", f"[{i}]")) for i in range(pairs)], host(answer(0, 0))],
         [[], [request(i + 10000, "q", f"[{i}]") for i in range(pairs)], [], []], 0, "", "equal: 2 sent")
    if log() != [A, answer(first, 0)]:
        complain(f"{pairs} ids", f"sent was {log()}")
for length, dots in ((198, ""), (199, "…")):
    shown = ('"' + "x" * length + '"')[:200]
    case(f"a text of {length}", [host(A), them(answer(1, 1))], [[], [answer(1, '"' + "x" * length + '"')], []], 7,
         f"t:3: result: plugin: response to a with id 1: a different result\n  /result\n  - 1\n  + {shown}{dots}")
# What differs is among what is shown, however far inside it is.
for same, cut in ((158, ""), (159, "…")):
    was, now = "é" * (same // 2) + "x" * (same % 2) + "a" * 100, "é" * (same // 2) + "x" * (same % 2) + "b" * 100
    shown = [f'"{text}"'.encode()[same - 39 - same % 2 if cut else 0:][:200].decode() + ("" if cut else "…") for text in (was, now)]
    case(f"a difference behind {same} bytes", [host(A), them(answer(1, f'"{was}"'))], [[], [answer(1, f'"{now}"')], []], 7,
         f"t:3: result: plugin: response to a with id 1: a different result\n  /result\n  - {cut}{shown[0]}\n  + {cut}{shown[1]}")
for length, whole in ((65534, "x" * 65534), (65535, '"' + "x" * 65535)):
    out, err = case(f"a text of {length}", [host(A), them(answer(1, 1))], [[], [answer(1, '"' + "x" * length + '"')], []], 7, None, "", ("t", "--json"))
    if json.loads(out.splitlines()[0])["changes"] != [{"pointer": "/result", "was": 1, "is": whole}]:
        complain(f"a text of {length}", out[:300])
for size, code in ((7 << 20, 0), (9 << 20, 7)):
    # So large that nothing behind it is in sight.
    block = notice("block", '"' + "x" * size + '"').replace('"params":"', '"params":["').replace('"}', '"]}')
    case(f"{size} bytes ahead", [host(A), them(block), them(N), host(B), them(OK)], [[], [N, 50, block], [OK], []], code, None, "", ("t", "--timeout", "700ms"))
keys = [f'"k{i}":{i}' for i in range(50000)]
began = time.monotonic()
case("many members in another order", [host(A), them(answer(1, "{" + ",".join(keys) + "}"))], [[], [answer(1, "{" + ",".join(reversed(keys)) + "}")], []], 0, "", "equal")
if time.monotonic() - began > 5:
    complain("many members in another order", f"took {time.monotonic() - began} s")
deep = 990
case("as deep as is looked into", [host(A), them(answer(1, "[" * deep + "1" + "]" * deep))], [[], [answer(1, "[" * deep + "2" + "]" * deep)], []], 7, None, "1 differed")
deep = 1500
case("deeper", [host(A), them(answer(1, "[" * deep + "1" + "]" * deep))], [[], [answer(1, "[" * deep + "1 " + "]" * deep)], []], 7, None, "1 differed")

# What has no place is told once 32 messages were sent, not at the end.
for sent, early in ((31, False), (40, True)):
    rounds = [(notice("x"), notice("n", f"[{i}]")) for i in range(sent)]
    extra = notice("n", '"extra"').replace('"params":"extra"', '"params":["extra"]')
    out, err = case(f"{sent} messages later", [host(A), them(answer(1, RX)), *[one for ours, theirs in rounds for one in (host(ours), them(theirs))], host(B), them(OK), host(notice("z")), them(notice("n", '["last"]'))],
                    [[], [extra, answer(1, RX)], *[[theirs] for ours, theirs in rounds], [answer(2, '"ko"')], [notice("n", '["last"]')], []], 7, None, "1 differed, 0 missing; 1 unexpected", ("t", "--timeout", "10s"))
    if early != (out.find("unexpected") < out.find("a different result")):
        complain(f"{sent} messages later", out)

# --- What else there is. ---------------------------------------------------------------------------
case("without a name", [host(A, peer=None, run=None), them(answer(1, RX), peer=None, run=None)], [[], [answer(1, RX)], []], 0, "", "equal: 1 sent")
start = '{"t":0,"peer":"%s","run":1,"event":"start","data":{"framing":"%s"}}'
case("one that only started", [start % ("q", "line"), *TALK], told([answer(1, RX)], [N, OK]), 0, "", "equal")
case("how it was framed", [start % ("p", "header"), host(request(1, "echo", "[1]")), them(answer(1, "[1]"))], None, 0, "", "equal", command=["--", sys.argv[2], "header"])
case("half a character", [host(A), them(answer(1, '"\\ud800"'))], [[], [answer(1, '"\\ud800"')], []], 0, "", "equal")
out, err = case("half a character, another", [host(A), them(answer(1, '"\\ud800"'))], [[], [answer(1, '"\\ud801"')], []], 7, None, "", ("t", "--json"))
if json.loads(out.splitlines()[0])["is"]["result"] != "\ud801":
    complain("half a character, another", out)
for body, code in (("{x}", 0), ("{y}", 7)):
    case(f"a body that is no JSON, {body}", [them("{x}", kind="broken")], None, code, "" if code == 0 else "t:2: text: plugin: text that is not JSON: different content\n  - {x}\n  + {y}", "",
         ("t", "-f", "header"), command=["--", "sh", "-c", f"printf 'Content-Length: 3\\r\\n\\r\\n{body}'; cat >/dev/null"])
os.makedirs("folder", exist_ok=True)
surroundings = ["--", "sh", "-c", """printf '{"jsonrpc":"2.0","method":"%s-%s-%s"}\\n' "${PWD##*/}" "$MINE" "$SECRET"; cat >/dev/null"""]
os.environ["SECRET"] = "s"
case("--cwd, --env and --clean-env", [them(notice("folder-m-"))], None, 0, "", "equal", ("t", "--cwd", "folder", "-e", "MINE=m", "--clean-env"), command=surroundings)
case("the whole environment", [them(notice("folder--s"))], None, 0, "", "equal", ("t", "--cwd", "folder"), command=surroundings)
out, err = case("--show", TALK, told([answer(1, RX)], [N, OK]), 0, "", f"-> {A}\n", ("t", "--show"))
if f"<- {OK}\n" not in err:
    complain("--show", err)

# --- Secrets. -------------------------------------------------------------------------------------
SECRET = [host(request(1, "a", '{"token":"***","***":["***"],"x":"a***"}')), them(answer(1, 1))]
said = [[], [answer(1, 1)], []]
case("redacted", SECRET, said, 0, "", "2 values of the host were redacted in the trace and will be sent as \"***\"; --set or --redacted replaces them")
case("--redacted", SECRET, said, 0, "", "equal", ("t", "--redacted", 'a"b'))
if json.loads(log()[0])["params"] != {"token": 'a"b', "***": ['a"b'], "x": "a***"}:
    complain("--redacted", log()[0])
out, err = case("--set", SECRET, said, 0, "", "1 value of the host was redacted in the trace and will be sent as \"***\"; --set or --redacted replaces it", ("t", "--set", '/params/token={"a":1.50}', "--set", "/params/none=1"))
if log()[0] != request(1, "a", '{"token":{"a":1.50},"***":["***"],"x":"a***"}'):
    complain("--set", log()[0])
if "redacted" in case("all of it is set", SECRET, said, 0, "", "", ("t", "--set", "/params/token=1", "--redacted", "x"))[1]:
    complain("all of it is set", "told that something is redacted")

# --- Words, and how it ends. ----------------------------------------------------------------------
write_trace(TALK)
open("empty", "w", encoding="utf-8").close()
for words, command, err in (
        ((), ["--", "true"], "duplex replay: missing trace file\nhint: record one: duplex tap -o talk.jsonl -- COMMAND [ARG...]"), (("t",), [], "missing command after --\nhint: duplex replay FILE -- COMMAND, or --as-plugin"), (("t",), ["--"], "missing command after --\nhint: duplex replay FILE -- COMMAND, or --as-plugin"),
        (("t", "--as-plugin"), ["--", "true"], "--as-plugin takes no command"), (("-", "--as-plugin"), [], "cannot replay standard input: the trace is read more than once"),
        (("absent", "--as-plugin"), [], "cannot read absent: No such file"), ((".", "--as-plugin"), [], "cannot read .: Is a directory"),
        (("/dev/null", "--as-plugin"), [], "/dev/null is not a regular file"), (("empty", "--as-plugin"), [], "empty is not a Duplex trace"),
        (("t", "--speed", "2"), ["--", "true"], "--speed needs --timing real"), (("t", "--timing", "real", "--speed", "0"), ["--", "true"], "--speed: expected a number from 0.001 to 1000, got '0'"),
        (("t", "--timing", "real", "--speed", "1001"), ["--", "true"], "--speed: expected"), (("t", "--timing", "real", "--speed", "2x"), ["--", "true"], "--speed: expected"),
        (("t", "--set", "x=1"), ["--", "true"], "--set: expected POINTER=JSON, got 'x=1'"), (("t", "--set", "/x"), ["--", "true"], "--set: expected POINTER=JSON"),
        (("t", "--set", "/x={"), ["--", "true"], "--set /x: '{' is not valid JSON"), (("t", "-i", ""), ["--", "true"], "--ignore: expected"),
        (("t", "--env", "x"), ["--", "true"], "--env: expected NAME=VALUE"), (("t", "-p", "nonesuch"), ["--", "true"], 'unknown protocol "nonesuch"'),
        (("t", "--redacted", b"\xff"), ["--", "true"], "--redacted: the text is not valid UTF-8"), (("t", "--record", "absent/x"), ["--", "true"], "absent/x"),
        (("t", "--record", "./t"), ["--", "true"], "--record: ./t is the trace to replay")):
    case(f"words {words}", None, None, 2, "", err, words, command=command)
# What is not a Duplex trace is told in one line; a trace may begin with some lines that are none.
with open("none", "w", encoding="utf-8") as file:
    file.write("nonsense\n" * 30)
if case("no trace", None, None, 2, "", "none is not a Duplex trace", ("none", "--as-plugin"))[1] != "duplex replay: none is not a Duplex trace\n":
    complain("no trace", "more than one line")
case("99 lines too many", ["nonsense"] * 99 + [HEADER, *TALK], told([answer(1, RX)], [N, OK]), 0, "", "equal: 2 sent", header=None)
case("100 lines too many", ["nonsense"] * 100 + [HEADER, *TALK], told([], []), 2, "", "t is not a Duplex trace", header=None)
write_trace(TALK)
case("a program that is not there", TALK, None, 3, "", "absent-program", command=["--", "./absent-program"])
case("it ends early", TALK, told([answer(1, RX)], ["exit 3"]), 4, None, "the plugin exited early: the program exited with code 3\nduplex replay: cut short: 2 sent; of 3 expected: 1 matched, 0 differed, 2 missing")
case("it ends at once", TALK, [["exit 0"], []], 4, f"t:3: missing: plugin: response to a with id 1 did not arrive\n  - {answer(1, RX)}", "the plugin exited early: the program exited with code 0")
case("it complains in pieces", TALK, None, 4, None, "the plugin exited early: the program exited with code 3\n  one two\n  three\n", command=["--", "sh", "-c", "for word in 'one ' 'two\n' three; do printf \"$word\" >&2; sleep 0.05; done; exit 3"])
case("the end of the recording", TALK, told([answer(1, RX)], [N, OK, "exit 3"]), 0, "", "equal")
lines = [json.loads(line) for line in case("--json", TALK, told([answer(1, '{"x":2,"y":[1,2,3]}'), notice("m")], [N, OK]), 7, None, "", ("t", "--json"))[0].splitlines()]
shape = [{"event": "difference", "kind": "result", "file": "t", "line": 3, "time": 1000, "from": "plugin", "method": "a", "id": 1, "message": "response to a with id 1: a different result",
          "changes": [{"pointer": "/result/x", "was": 1, "is": 2}], "more": False},
         {"event": "difference", "kind": "unexpected", "file": "t", "line": 2, "time": 0, "from": "plugin", "method": "m", "message": "notification m was not recorded", "is": json.loads(notice("m"))},
         {"event": "summary", "equal": False, "sent": 2, "unsent": 0, "expected": 3, "matched": 2, "different": 1, "missing": 0, "unexpected": 1, "reordered": 0, "hidden": 0, "then_us": 4000}]
lines[-1].pop("now_us", None)
if lines != shape:
    complain("--json", json.dumps(lines))
ended = [json.loads(line) for line in case("--json, ended", TALK, [["exit 0"], []], 4, None, "", ("t", "--json"))[0].splitlines()]
if [one.get("event", "error") for one in ended] != ["difference", "error", "summary"] or ended[1]["error"]["exit"] != 4:
    complain("--json, ended", json.dumps(ended))
evil = notice("m\\u001b[1m\u202e", '["\\u001b]0;x\\u0007","\u009b"]')
for words in (("t",), ("t", "--json"), ("t", "--color", "always")):
    out, err = case(f"evil {words}", TALK, told([answer(1, RX), evil], [N, OK]), 7, None, "", words)
    bad = [char for char in out + err if char in "\u202e\u009b\x07"]
    if bad or ("\x1b" in out) != ("always" in words) or "\x1b]" in out or "\x1b[1m\x1b" in out:
        complain(f"evil {words}", repr(out))
case("colours", TALK, told([answer(1, '{"x":2,"y":[1,2,3]}')], [N, OK]), 7,
     "t:3: \x1b[31mresult\x1b[0m: plugin: response to a with id 1: a different result\n  \x1b[36m/result/x\x1b[0m\n  \x1b[31m- 1\x1b[0m\n  \x1b[32m+ 2\x1b[0m", "", ("t", "--color", "always"))
write_trace(TALK)
started = run(("t",), [[10000], []], wait=False)
time.sleep(0.8)
started.send_signal(signal.SIGINT)
out, err = started.communicate(timeout=10)
if started.returncode != 130 or b"interrupted\nduplex replay: cut short: 1 sent" not in err:
    complain("SIGINT", f"{started.returncode} {err}")

# Who reads nothing is not waited for for ever; who reads late is.
flood = [host(notice("n", f'["{"x" * 100000}"]')) for _ in range(10)]
case("it does not read", flood, [[15000], []], 5, "", "timed out: the plugin does not read, ", ("t", "--timeout", "300ms"))
case("it reads late", flood, [[600], []], 0, "", "equal: 10 sent")
# A flood of what nothing was recorded for is told, and what comes behind it is still seen.
for kind, rounds, flood in (("notifications", 300, [notice("n", f'{{"k":{i + 5}}}') for i in range(3000)]), ("other notifications", 1500, [notice("n", f'{{"k":{i + 5}}}') for i in range(3000)]),
                            ("answers", 1500, [answer(i + 5, 0) for i in range(3000)])):
    long = [host(A), them(answer(1, RX)), *[one for i in range(rounds) for one in (host(notice("x")), them(notice("y")))], host(B), them(N), them(OK)]
    case("a flood of " + kind, long, [[], [*flood, answer(1, RX)], *[[notice("y")]] * rounds, [N, OK], []], 7, None,
         f"of {rounds + 3} expected: {rounds + 3} matched, 0 differed, 0 missing; 3000 unexpected", ("t", "--timeout", "2s"))

# --- Large, and slow. -----------------------------------------------------------------------------
large = "x" * (10 << 20)
case("10 MB", [host(request(1, "a", f'["{large}"]')), them(answer(1, f'"{large}"'))], [[], [answer(1, f'"{large}"')], []], 0, "", "equal")
case("10 MB, another one", None, [[], [answer(1, f'"{large}y"')], []], 7, None, "1 differed")
SLOW = [host(request(1, "echo", "[1]"), t=1000000), them(answer(1, "[1]"), t=1001000), host(request(2, "echo", "[2]"), t=1301000),
        them(answer(2, "[2]"), t=1302000), host(notice("c"), t=1602000)]
# A machine that has other things to do may be late, so the best of six counts.
for words, wanted in (((), None), (("--timing", "real"), 0.602), (("--timing", "real", "--speed", "2"), 0.301)):
    count += 1
    write_trace(SLOW)
    for tries in range(6):
        done = run(("t", "--json", *words), command=["--", sys.argv[2], "line"])
        summary = json.loads(done.stdout.decode().splitlines()[-1])
        took = summary["now_us"] / 1e6
        if done.returncode or (wanted and took < 0.98 * wanted) or summary["then_us"] != 602000:
            break
        if took <= (1.2 * wanted if wanted else 0.2):
            break
    else:
        complain(f"timing {words}", f"late: {took} s, expected {wanted}")
    if done.returncode or (wanted and took < 0.98 * wanted) or summary["then_us"] != 602000:
        complain(f"timing {words}", f"{took} s, expected {wanted}; {done}")


# What is sent keeps its distance to what came before it, however late that was.
write_trace([host(A, t=0), them(answer(1, RX), t=1000), host(B, t=201000), them(OK, t=202000)])
done = run(("t", "--json", "--timing", "real"), [[], [300, answer(1, RX)], [OK], []])
count += 1
if done.returncode or json.loads(done.stdout.decode().splitlines()[-1])["now_us"] < 500000:
    complain("distance", f"{done}")


# --- As a plugin. ---------------------------------------------------------------------------------
def as_plugin(name, records, lines, code, wanted, err, words=("t",), close=True):
    """Sends each line once the answers to those before it came; wanted is all that it says."""
    global count
    count += 1
    write_trace(records)
    started = run((*words, "--as-plugin"), None, wait=False)
    got = []
    for line, answers in lines:
        started.stdin.write(line.encode() + b"\n")
        started.stdin.flush()
        got += [started.stdout.readline().decode().rstrip("\n") for _ in range(answers)]
    if close:
        started.stdin.close()
    rest = started.stdout.read().decode()
    errors = started.stderr.read().decode()
    started.wait(timeout=10)
    got += rest.splitlines()
    if started.returncode != code or got != wanted or err not in errors:
        complain(name, f"code {started.returncode}, expected {code}\nsaid {got}\n{errors}")


MINE = [answer(1, RX), N, OK]
as_plugin("as a plugin", TALK, [(A, 1), (B, 2)], 0, MINE, "equal: 3 sent; of 2 expected: 2 matched")
as_plugin("as a plugin, other ids", TALK, [(request('"u"', "a", '{"n":1}'), 1), (request(99, "b"), 2)], 0, [answer('"u"', RX), N, answer(99, '"ok"')], "equal")
as_plugin("as a plugin, different params", TALK, [(request(1, "a", '{"n":2}'), 1), (B, 2)], 7, MINE, "t:2: params: host: request a: different params\n  /params/n\n  - 1\n  + 2\n")
as_plugin("as a plugin, left early", TALK, [(A, 1)], 7, [answer(1, RX)], f"t:4: missing: host: request b did not arrive\n  - {B}\nduplex replay: different: 1 sent; of 2 expected: 1 matched, 0 differed, 1 missing")
skipped = f"t:2: missing: host: request a did not arrive\n  - {A}\nt:3: note: unsent: host: the recorded response with id 1 was not sent"
as_plugin("as a plugin, a step left out", TALK, [(request(5, "b"), 2)], 7, [N, answer(5, '"ok"')], skipped)
as_plugin("as a plugin, a step left out, the other with different params", TALK, [(request(5, "b", "[1]"), 2)], 7, [N, answer(5, '"ok"')], skipped)
as_plugin("as a plugin, something else", TALK, [(A, 1), (request(7, "x"), 1), (B, 2)], 7, [answer(1, RX), '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found","data":"not in the recording"}}', N, OK],
          f"t:3: unexpected: host: request x was not recorded\n  + {request(7, 'x')}")
as_plugin("as a plugin, late", TALK, [(A, 2)], 7, [answer(1, RX), N], "t:4: missing: host: request b did not arrive", ("t", "--timeout", "200ms"))
as_plugin("as a plugin, something else first", TALK, [(request(7, "x"), 1), (A, 1), (B, 2)], 7,
          ['{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found","data":"not in the recording"}}', *MINE], "t:1: unexpected: host: request x was not recorded")
# A host that has left does not get what was recorded behind what it did not say; one that does not read ends it.
as_plugin("as a plugin, nothing is said", [host(A), *[them(notice("n", f"[{i}]")) for i in range(50)], host(B), them(OK)], [], 7, [], f"t:2: missing: host: request a did not arrive\n  - {A}\nduplex replay: different: 0 sent; of 2 expected: 0 matched, 0 differed, 2 missing; 0 unexpected; 1 not shown")
count += 1
write_trace([host(A), *[them(notice("n", '["' + "x" * 100000 + '"]')) for i in range(20)]])
reader, writer = os.pipe()
deaf = subprocess.Popen([duplex, "replay", "t", "--as-plugin"], stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE)
os.close(writer)
deaf.stdin.write(A.encode() + b"\n")
deaf.stdin.flush()
time.sleep(0.2)
os.close(reader)
deaf.stdin.close()
error = deaf.stderr.read().decode()
if deaf.wait(timeout=10) != 4 or "the host stopped reading" not in error:
    complain("as a plugin, nobody reads", f"code {deaf.returncode}: {error}")
LEAVING = [host(request(1, "shutdown")), them(answer(1, "null")), host(notice("exit"))]
as_plugin("as a plugin, told to leave", LEAVING, [(request(1, "shutdown"), 1), (notice("exit"), 0)], 0, [answer(1, "null")], "equal", ("t", "-p", "lsp", "-f", "line"), close=False)

# What cannot be cut into messages.
case("an impossible header", [host(A), them(answer(1, RX))], None, 6, "", "cannot split the output of the plugin into messages: two different Content-Length fields: 1, then 2\nduplex replay: cut short", ("t", "-f", "header"),
     command=["--", "sh", "-c", "printf 'Content-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n'; cat >/dev/null"])

print(f"{count} cases")
sys.exit(failed)
