"""Rows 1 to 18: lines, ids, batches, and who reads slowly. See stage.py. Numbers with an A are errata of the protocol's document."""
import json
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ALL, OLD, Agent, calls, error_is, eventually, is_gone, runs, same, says, short, shown, true

INVALID = "Invalid request: Missing jsonrpc version or method"
NO_BATCH = "Invalid batch: No valid requests"


def state_line(identity=None):
    more = "" if identity is None else ',"id":' + identity
    return '{"jsonrpc":"2.0","method":"autohand.getState"%s}' % more


def refused(agent, line, code, text, identity=None):
    """One line in, one error out, and the agent lives."""
    agent.line(line)
    body = agent.body()
    true(body is not None, "%r gets no answer" % line[:200])
    answer = json.loads(body)
    same(answer, {"jsonrpc": "2.0", "error": {"code": code, "message": text}, "id": identity}, repr(line[:200]))
    same(agent.status(), "idle", "behind it")
    return body


def row_01():
    """What is no JSON gets -32700 with id null, and the agent lives."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            for line in ("not json", "{", '{"jsonrpc":"2.0","method":"autohand.getState","id":1', "{'a':1}", "[1,", "nul", '"x'):
                refused(agent, line, -32700, "Parse error: Invalid JSON")
            same(agent.leave()[:-1], [], "nothing else comes")


def row_02():
    """Lines that are blank get nothing."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            agent.write(b"\n\r\n   \n\t\t\r\n \n")
            same(agent.status(), "idle", "behind them")
            agent.is_quiet("blank lines")


def row_03():
    """An empty batch, values that are no objects, and objects that are no requests: -32600 with id null."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            for line in ("[]", "42", '"x"', "null", "true", "{}", '{"foo":1}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","method":1}'):
                refused(agent, line, -32600, INVALID)


def row_04():
    """A batch without any valid entry: one error in the versions, one for each in doc (A24)."""
    for compat in OLD:
        with Agent(compat=compat) as agent:
            for line in ("[1,2]", "[[]]", '[{"foo":1}]'):
                refused(agent, line, -32600, NO_BATCH)
    with Agent() as agent:
        agent.line("[1,2]")
        each = {"jsonrpc": "2.0", "error": {"code": -32600, "message": INVALID}, "id": None}
        same(agent.fresh(), [each, each], "[1,2]")
        same(agent.status(), "idle", "behind it")


def row_05():
    """A batch of everything: one line with the answers in their order; doc answers the entry that is junk, too."""
    line = "[%s,%s,%s,%s]" % (state_line("20"), '{"jsonrpc":"2.0","method":"autohand.nope","id":21}', '{"foo":1}', state_line())
    for compat in ALL:
        with Agent(compat=compat) as agent:
            agent.line(line)
            answer = agent.fresh()
            true(isinstance(answer, list), "no batch: %s" % shown(answer))
            good = [each for each in answer if each["id"] is not None]
            same([each["id"] for each in good], [20, 21], "the answers")
            same(good[0]["result"]["status"], "idle", "the first")
            error_is(good[1], -32601, "Method not found: autohand.nope")
            if compat == "doc":
                same(len(answer), 3, "answers: %s" % shown(answer))
                junk = [each for each in answer if each["id"] is None]
                error_is(junk[0], -32600, INVALID)
            else:
                same(len(answer), 2, "answers")
            agent.is_quiet("nothing else")


def row_06():
    """A batch of notifications gets nothing."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            agent.line("[%s,%s]" % (state_line(), '{"jsonrpc":"2.0","method":"autohand.nope"}'))
            same(agent.status(), "idle", "behind it")
            agent.is_quiet("notifications")


def row_07():
    """Ids go back as they came; the versions take any kind and read numbers as a double does, doc only texts and numbers."""
    for compat in OLD:
        with Agent(compat=compat) as agent:
            for sent, back in (('"str-1"', '"str-1"'), ("null", "null"), ("1.5", "1.5"), ('{"a":1}', '{"a":1}'), ("true", "true"),
                               ("1.0", "1"), ("1e2", "100"), ("-7", "-7"), ('""', '""'), ('1,"id":2', "2")):
                agent.line(state_line(sent))
                body = agent.body().decode()
                true('"id":%s,' % back in body or body.endswith('"id":%s}' % back), "%s came back in %s" % (sent, body))
                true('"status":"idle"' in body, body)
    with Agent() as agent:
        for sent in ('"str-1"', "1.5", "0", "-7", '""', "9007199254740993"):
            agent.line(state_line(sent))
            body = agent.body().decode()
            true('"id":%s' % sent in body and '"status":"idle"' in body, "%s: %s" % (sent, body))
        agent.line(state_line("1.0"))
        same(json.loads(agent.body())["id"], 1, "1.0")
        for sent in ('{"a":1}', "true", "[1]", "null", '1,"id":2'):
            agent.line(state_line(sent))
            error_is(json.loads(agent.body()), -32600, what=sent)
        same(agent.status(), "idle", "behind them")


def row_08():
    """An id of 20 digits: the versions round it, doc keeps each digit."""
    for compat, back in (("0.6", "12345678901234567000"), ("0.8", "12345678901234567000"), ("doc", "12345678901234567890")):
        with Agent(compat=compat) as agent:
            agent.line(state_line("12345678901234567890"))
            body = agent.body().decode()
            true('"id":%s' % back in body, "%s: %s" % (compat, body[-60:]))


def row_09():
    """Without jsonrpc, but with an id: the versions answer with id null, doc with that id."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            identity = 9 if compat == "doc" else None
            refused(agent, '{"method":"autohand.getState","id":9}', -32600, INVALID, identity)
            refused(agent, '{"jsonrpc":"1.0","method":"autohand.getState","id":9}', -32600, INVALID, identity)
            refused(agent, '{"jsonrpc":"2.0","id":9}', -32600, INVALID, identity)


def row_10():
    """An unknown method gets -32601 with its name; as a notification nothing."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            error_is(agent.ask("nope"), -32601, "Method not found: autohand.nope")
            agent.line('{"jsonrpc":"2.0","method":"initialize","id":"i"}')
            error_is(agent.answer_to("i"), -32601, "Method not found: initialize")
            agent.tell("nope")
            agent.tell("prompt", {})
            same(agent.status(), "idle", "behind them")
            agent.is_quiet("notifications")


def row_11():
    """CRLF, blanks around a message and a BOM before it are taken."""
    for compat in ALL:
        with Agent(compat=compat, start=False, framing="line") as agent:
            agent.write(b"\xef\xbb\xbf" + state_line("1").encode() + b"\r\n")
            agent.write(b"  \t" + state_line("2").encode() + b"  \r\n" + state_line("3").encode() + b" \n")
            same(short(agent.fresh()), "agentStart", "the first line")
            for identity in (1, 2, 3):
                same(agent.answer_to(identity)["result"]["status"], "idle", "line %d" % identity)
    with Agent(start=False) as agent:  # it looks for the framing, too
        agent.write(b"\xef\xbb\xbf" + state_line("1").encode() + b"\r\n")
        same(agent.answer_to(1)["result"]["status"], "idle", "a BOM first")


def row_12():
    """A line of 3 MiB is taken; one that is longer than 64 MiB is one error, and the next line counts again."""
    with Agent(steps=[says("Hi", repeat=True)]) as agent:
        turn = agent.turn("x" * (3 << 20))
        same((turn.success, turn.text), (True, "Hi"), "3 MiB")
        same(len(turn.one("turnStart")["instruction"]), 3 << 20, "what was said")
        head = b'{"jsonrpc":"2.0","method":"autohand.getState","id":1,"params":{"x":"'
        limit = 64 << 20
        for size, is_good in ((limit, True), (limit + 1, False)):
            agent.write(head + b"y" * (size - len(head) - 3) + b'"}}')
            agent.write(b"\n")
            answer = agent.fresh()
            if is_good:
                same(answer.get("result", {}).get("status"), "idle", "64 MiB: %s" % shown(answer))
            else:
                error_is(answer, -32600, "Invalid request: the message is too long")
                same(answer["id"], None, "its id")
            same(agent.status(), "idle", "behind it")
        agent.write(b"z" * (limit + 5) + b"\n" + state_line('"next"').encode() + b"\n")
        error_is(agent.fresh(), -32600)
        same(agent.answer_to("next")["result"]["status"], "idle", "the next line")


def row_13():
    """Bytes that are no UTF-8: the versions take them for U+FFFD, doc refuses the message and stays."""
    line = b'{"jsonrpc":"2.0","method":"autohand.a\xff\xfez","id":"\xe9"}'
    for compat in OLD:
        with Agent(compat=compat) as agent:
            agent.line(line)
            answer = json.loads(agent.body())
            error_is(answer, -32601, "Method not found: autohand.a\ufffd\ufffdz")
            same(answer["id"], "\ufffd", "its id")
    with Agent() as agent:
        refused(agent, line, -32700, "Parse error: Invalid JSON")


def row_14():
    """U+2028 and U+2029 go through in one line, both ways, and are not escaped."""
    text = "a\u2028b\u2029c\u0085d 世界 🙂"
    with Agent(steps=[says(text)]) as agent:
        identity = agent.prompt(text)
        lines = []
        while not lines or json.loads(lines[-1]).get("id") != identity:
            lines.append(agent.body())
        told = [json.loads(line) for line in lines]
        same([each["params"]["instruction"] for each in told if short(each) == "turnStart"], [text], "what was said")
        same([each["params"]["content"] for each in told if short(each) == "messageEnd"], [text], "what was answered")
        raw = text.encode()
        same(sum(raw in line for line in lines if b"turnStart" in line or b"messageEnd" in line), 2, "raw bytes")
        same(agent.model.messages()[-1]["content"], text, "what the model got")


def row_15():
    """One byte at a time, and two messages in one write."""
    with Agent(start=False) as agent:
        for byte in state_line("1").encode() + b"\n":
            agent.write(bytes([byte]))
        same(agent.answer_to(1)["result"]["status"], "idle", "byte by byte")
        agent.write((state_line("2") + "\n" + state_line("3") + "\n" + state_line("4")).encode())
        same(agent.answer_to(2)["id"], 2, "the first")
        same(agent.answer_to(3)["id"], 3, "the second")
        agent.write(b"\n")
        same(agent.answer_to(4)["id"], 4, "the third")


def row_16():
    """The last line needs no newline: it is answered, agentEnd comes (not in 0.6), and the agent is gone with 0."""
    for compat, reason in (("doc", "aborted"), ("0.6", None), ("0.8", "disconnected")):
        with Agent(compat=compat) as agent:
            agent.write(state_line("24").encode())
            began = time.monotonic()
            rest = agent.leave()
            true(time.monotonic() - began < 2.5, "it takes %.1f s" % (time.monotonic() - began))
            same(rest[0]["id"], 24, "the answer")
            ends = [(short(each), each["params"]["reason"]) for each in rest[1:]]
            same(ends, [("agentEnd", reason)] if reason else [], "the end")
            if reason:
                same(list(rest[1]["params"]), ["sessionId", "reason", "timestamp"], "its members")
                same(rest[1]["params"]["sessionId"], agent.greeting["params"]["sessionId"], "the session")
    with Agent() as agent:  # half of a message is none
        agent.write(b'{"jsonrpc":"2.0","method":"autohand.getSt')
        rest = agent.leave()
        same(short(rest[-1]), "agentEnd", "the end")
        true(all(each.get("error", {}).get("code") == -32700 for each in rest[:-1]), shown(rest))


def row_17():
    """An answer to nothing is refused with -32600."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            for line in ('{"jsonrpc":"2.0","id":1,"result":{}}', '{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}'):
                agent.line(line)
                error_is(agent.fresh(), -32600, INVALID, what=line)
            same(agent.status(), "idle", "behind them")


def row_18():
    """Nobody reads what the agent says: it stops producing, still hears an abort, and tells the rest when it is read."""
    with Agent("--yolo", steps=[calls(runs("echo $$ >pid; while :; do echo 0123456789012345678901234567890123456789; done")), says("never")]) as agent:
        identity = agent.prompt()
        pid = int(eventually(lambda: agent.get("pid"), "the command does not run"))
        time.sleep(0.5 * stage.SLOW)  # the pipe is full by now
        true(agent.memory("VmRSS") < 100 << 20, "it keeps %d bytes" % agent.memory("VmRSS"))
        agent.write = lambda data, fd=None: stage.os.write(agent.write_fd, data)  # without reading
        began = time.monotonic()
        asked = agent.start("abort")
        is_gone(pid, "the command", 5 * stage.SLOW)
        del agent.write
        true(time.monotonic() - began < 1 * stage.SLOW, "abort takes %.2f s" % (time.monotonic() - began))
        turn = agent.finish(identity)
        same([each["result"]["success"] for each in turn.messages if each.get("id") == asked], [True], "abort")
        error_is(turn.answer, stage.ABORTED)
        same(turn.order[-4:], ["error", "hook.sessionError", "messageEnd", "turnEnd"], "the end of the turn")
        same(agent.status(), "idle", "behind it")
    answers_fill_the_pipe()


def answers_fill_the_pipe():
    """More answers than may wait: what is told of the turn comes nevertheless."""
    many, size = 20, 4 << 20
    with Agent("--yolo", "--ping", "20ms", steps=[says("Hi"), calls(runs("echo $$ >pid; sleep 60"))]) as agent:
        agent.turn("x" * size)
        identity = agent.prompt()
        eventually(lambda: agent.get("pid"), "the command does not run")
        large = agent.start("getMessages")
        time.sleep(0.4)  # twenty pings, if it were read
        agent.answer_to(large)
        agent.aside.clear()
        agent.state()
        true(len(agent.aside) < 10, "it is told to somebody who does not read: %s" % shown(agent.aside))
        agent.write = lambda data, fd=None: stage.os.write(agent.write_fd, data)  # without reading
        for _ in range(many):
            agent.start("getMessages")
        agent.start("abort")
        time.sleep(0.5 * stage.SLOW)
        del agent.write
        told = []
        while not told or told[-1].get("id") != identity:
            body = agent.body()
            true(body is not None, "no answer to the prompt: %s" % shown(told))
            if len(body) < size:
                told.append(json.loads(body))
            else:
                many -= 1
        same(many, 0, "answers that are missing")
        same([short(each) for each in told][-5:-1], ["error", "hook.sessionError", "messageEnd", "turnEnd"], "the end of the turn")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
