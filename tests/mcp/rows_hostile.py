"""X1 and on: what a hostile peer, or a user in a callback, could do. Most of it is for the sanitizers. See rows.py."""
import json
import random
import sys
import time

import rows
from rows import Client, Server, error_is, line, same, shown, true

FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10}


def provoke(client, guest):
    """Makes every callback of a client come, as far as it is still there; raw.Wrong if it is not."""
    for each in range(3):
        client.do("tool", tag="a%d" % each, name="x", progress=True)
    asked = [guest.news("tools/call") for _ in range(3)]
    guest.write(
        line({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}})
        + line({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        + line({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}})
        + b"stray\n"
        + line({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": SAMPLING})
        + line({"jsonrpc": "2.0", "id": 8, "method": "elicitation/create", "params": FORM})
        + line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        + line({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": asked[0]["params"]["_meta"]["progressToken"], "progress": 1}})
        + line({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"content": []}})
        + line({"jsonrpc": "2.0", "id": asked[1]["id"], "error": {"code": 1, "message": "no"}}))
    guest.write(b"to the standard error\n", guest.errors_fd)


def row_X1():
    """A client may be freed in each of its callbacks."""
    offers = {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}}
    for where in ("ready", "answer", "log", "changed", "updated", "question", "question_gone", "progress", "violation",
                  "errors", "traffic", "closed"):
        with Client() as client:
            client.open(free_in=where, sampling=True, elicitation=True, changes=True, traffic=True, roots=True,
                        close_ms=100, term_ms=100)
            guest = client.guest()
            try:
                guest.accept(capabilities=offers)
                provoke(client, guest)
                guest.leave()
            except (rows.Wrong, OSError):
                pass  # the client is gone, and its server with it
            client.event("freed", patience=10)


def row_X2():
    """A modern client may be freed in each of its callbacks, too, also in a round of input."""
    for where in ("ready", "question", "question_gone", "answer"):
        with Client() as client:
            client.open(mode="modern", free_in=where, elicitation=True, changes=True, close_ms=100, term_ms=100)
            guest = client.guest()
            try:
                guest.discovered(guest.news("server/discover"), {"tools": {"listChanged": True}})
                client.event("ready")
                client.do("tool", tag="a", name="x")
                asked = guest.news("tools/call")
                question = {"method": "elicitation/create", "params": {"mode": "form", **FORM}}
                guest.reply(asked, {"resultType": "input_required", "inputRequests": {"a": question, "b": question},
                                    "requestState": "s"})
                client.event("question", patience=5)
                client.do("cancel", tag="a")
                guest.leave()
            except (rows.Wrong, OSError):
                pass
            client.event("freed", patience=10)


def row_X3():
    """A server that asks and asks is refused, not stored without end."""
    with Client() as client:
        guest = client.start(sampling=True)
        task = {**SAMPLING, "task": {"ttl": 3600000}}
        data = b"".join(line({"jsonrpc": "2.0", "id": "q%d" % each, "method": "sampling/createMessage", "params": task})
                        for each in range(30000))
        guest.write(data)
        guest.is_alive("after 30,000 questions")
        true(any("error" in each for each in guest.aside), "all of them were taken")


def row_X4():
    """What no client should send does not end our server, and is answered or dropped as it should be."""
    with Server() as server:
        server.start()
        server.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        server.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}})
        server.send({"jsonrpc": "2.0", "error": {"code": 1, "message": "x"}})
        server.tell("notifications/progress", {"progressToken": "x", "progress": 1e308})
        server.tell("notifications/initialized")
        server.tell("notifications/initialized")
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            true("error" in server.ask(method, {"taskId": "nobody"}), method)
        for uri in ("", "%", "test://item/%", "test://item/%00", "test://item/" + "x" * 200000, "test://item/a/b", "\x00"):
            answer = server.ask("resources/read", {"uri": uri})
            true("error" in answer or answer["result"]["contents"], shown(uri))
        for arguments in ({"text": "x" * 3000000}, {"text": "\u0000" * 100000}):
            true("result" in server.ask("tools/call", {"name": "echo", "arguments": arguments}), "a large text")
        server.is_alive("after all that")


def row_X5():
    """Subscriptions, tasks and open requests of one client have limits, and its end frees them all."""
    with Server() as server:
        server.start()
        asked = [server.request("resources/subscribe", {"uri": "test://n/%d" % each}) for each in range(12000)]
        server.write(b"".join(line(each) for each in asked))
        refused = sum("error" in server.answer_to(each["id"]) for each in asked)
        true(refused > 0, "12,000 subscriptions were all taken")
        asked = [server.tool("never") for _ in range(11000)]
        server.write(b"".join(line(each) for each in asked))
        for each in asked[10000:]:
            error_is(server.answer_to(each["id"]), -32000, "what is too much")
        server.tell("notifications/cancelled", {"requestId": asked[0]["id"]})
        server.is_alive("when there is room again")
    with Server() as server:
        server.start()
        taken = 0
        for _ in range(1100):
            answer = server.ask("tools/call", {"name": "task", "arguments": {"ms": 600000}, "task": {"ttl": 1 << 50}})
            taken += "result" in answer
        same(taken, 1000, "tasks of one session")
        server.is_alive("after it")


def row_X6():
    """A modern server that does not acknowledge a subscription does not keep its caller waiting."""
    with Client() as client:
        guest = client.start_modern({"resources": {"subscribe": True}}, timeout=300)
        client.call("a", "subscribe", name="test://one")
        asked = guest.news("subscriptions/listen")
        client.answer("a", "timed out")
        same(guest.news("notifications/cancelled")["params"]["requestId"], asked["id"], "what is given up")
        client.call("b", "subscribe", name="test://two")
        asked = guest.news("subscriptions/listen")
        client.do("cancel", tag="b")
        client.answer("b", "cancelled")
        same(guest.news("notifications/cancelled")["params"]["requestId"], asked["id"], "what is cancelled")


def row_X7():
    """Forms and rounds of input of any length take no time that grows with their square."""
    with Client() as client:
        guest = client.start(elicitation=True)
        fields = {"p%06d" % each: {"type": "string", "default": "x"} for each in range(60000)}
        asked = guest.request("elicitation/create", {"message": "?", "requestedSchema": {
            "type": "object", "properties": fields}})
        guest.send(asked)
        client.do("answer", number=0, result={"action": "accept", "content": {}})
        began = time.monotonic()
        guest.result("ping")
        true(time.monotonic() - began < 3 * rows.SLOW, "a form took %.1f s" % (time.monotonic() - began))
    with Client() as client:
        guest = client.start_modern(elicitation=True)
        client.call("a")
        question = {"method": "elicitation/create", "params": {"mode": "form", **FORM}}
        guest.reply(guest.news("tools/call"), {"resultType": "input_required", "requestState": "s", "inputRequests": {
            "k%d" % each: question for each in range(60000)}})
        began = time.monotonic()
        client.pending()
        true(time.monotonic() - began < 3 * rows.SLOW, "a round took %.1f s" % (time.monotonic() - began))


ODD = (None, True, 0, -1, 1e308, 9007199254740993, "", "x" * 300, "\u0000", "\ud83d\ude00", [], {}, [[]], {"": {}}, {"type": "object"})


def spoiled(value, dice):
    """The value with one place replaced, removed or doubled."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        made = dict(value)
        way = dice.random()
        if way < 0.15:
            del made[key]
        elif way < 0.25:
            made["other"] = value[key]
        else:
            made[key] = spoiled(value[key], dice)
        return made
    if isinstance(value, list) and value and dice.random() < 0.8:
        at = dice.randrange(len(value))
        return value[:at] + [spoiled(value[at], dice)] + value[at + dice.randrange(2) :]
    return dice.choice(ODD)


def cut(data, dice):
    """The line with some bytes changed; it stays one line."""
    data = bytearray(data[:-1])
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(data))
        data[at : at + dice.randrange(3)] = bytes([dice.choice(b'{}[]":,\\0ae\xff\x00 ')])
    return bytes(data).replace(b"\n", b" ") + b"\n"


def noise(messages, count, seed):
    dice = random.Random(seed)
    for _ in range(count):
        message = dice.choice(messages)
        data = json.dumps(spoiled(message, dice)).encode() + b"\n"
        yield cut(data, dice) if dice.random() < 0.3 else data


def row_X8():
    """Spoiled messages of all kinds neither end our server nor keep it from answering."""
    with Server("page=5") as made:
        modern = [made.modern("tools/list"), made.modern("tools/call", {"name": "ask-user", "arguments": {}, "requestState": "x"}),
                  made.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}}),
                  made.modern("resources/read", {"uri": "test://item/5"}), made.modern("server/discover")]
        legacy = [
            made.tool("echo", text="x"), made.tool("sum", a=1, b=2), made.tool("sleep", ms=3), made.tool("log"),
            made.request("tools/call", {"name": "task", "arguments": {"ms": 3}, "task": {"ttl": 5}}),
            made.request("tools/list", {"cursor": "after-5"}), made.request("tasks/list"), made.request("tasks/get", {"taskId": "x"}),
            made.request("resources/subscribe", {"uri": "a:b"}), made.request("logging/setLevel", {"level": "error"}),
            made.request("prompts/get", {"name": "greet", "arguments": {"who": "x"}}),
            made.request("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": "v"}}),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": "x"}},
            {"jsonrpc": "2.0", "id": 5, "result": {}}, {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}},
        ]
    for seed, start in ((1, True), (2, False)):
        with Server("page=5") as server:
            server.last_id = 1000000
            if start:
                server.start()
            else:
                server.ask_modern("server/discover")
            for number, data in enumerate(noise(legacy if start else modern, 4000, seed)):
                server.write(data)
                if number % 100 == 0:
                    made = server.request("ping") if start else server.modern("tools/list")
                    server.send(made)
                    true("result" in server.answer_to(made["id"]), "what is right is no longer answered")
                    server.aside.clear()


def row_X9():
    """Spoiled messages of all kinds neither end our client nor keep its calls from ending."""
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "roots/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": FORM},
        {"jsonrpc": "2.0", "id": 4, "method": "sampling/createMessage", "params": {**SAMPLING, "task": {"ttl": 5}}},
        {"jsonrpc": "2.0", "id": 5, "method": "tasks/list"},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1, "logger": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1, "total": 2}},
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}},
        {"jsonrpc": "2.0", "id": "req_x", "result": {"tools": []}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
    ]
    with Client() as client:
        guest = client.start(sampling=True, elicitation=True, roots=True, changes=True)
        for number, data in enumerate(noise(messages, 4000, 3)):
            guest.write(data)
            if number % 200 == 0:
                tag = "a%d" % number
                client.call(tag)
                asked = guest.news("tools/call")
                guest.aside.clear()
                guest.write(next(noise([{"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}], 1, number)))
                guest.answer(asked)
                true(client.event("answer", tag=tag)["outcome"] in ("result", "invalid", "error"), tag)


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
