"""M1 to M9: the modern era, 2026-07-28. See rows.py."""
import sys
import time

import rows
from rows import META, MODERN, NEWEST, Client, Server, error_is, same, shown, true

LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}


def complete(server, method, params=None, **rest):
    """The result of a modern request, which says that it is whole."""
    answer = server.ask_modern(method, params, **rest)
    true("result" in answer, "%s was refused: %s" % (method, shown(answer)))
    same(answer["result"].get("resultType"), "complete", method)
    return answer["result"]


def row_M1():
    """server/discover tells revisions, capabilities, and for how long that is true."""
    with Server() as server:
        result = complete(server, "server/discover")
        true(MODERN in result["supportedVersions"], shown(result))
        true({"tools", "resources", "prompts"} <= set(result["capabilities"]), shown(result))
        same(result.get("instructions"), "Use with care.", "instructions")
        true(isinstance(result["ttlMs"], int) and result["ttlMs"] >= 0, "ttlMs")
        true(result["cacheScope"] in ("public", "private"), "cacheScope")
        same(result["_meta"][META + "serverInfo"]["name"], "fixture", "serverInfo")


def row_M2():
    """A member of _meta that is missing gets -32602, a revision that is not spoken -32022 and those that are."""
    with Server() as server:
        complete(server, "tools/list")
        for missing in ("protocolVersion", "clientCapabilities"):
            made = server.modern("tools/list")
            del made["params"]["_meta"][META + missing]
            server.send(made)
            error_is(server.answer_to(made["id"]), -32602, "without " + missing)
        error_is(server.ask("tools/list", {}), -32602, "without _meta")
        for revision in ("1900-01-01", "2025-11-25", ""):
            error = error_is(server.ask_modern("tools/list", meta={META + "protocolVersion": revision}), -32022, revision)
            true(MODERN in error["data"]["supported"], shown(error))
            same(error["data"]["requested"], revision, "what was asked for")
        complete(server, "tools/list")
    with Server() as server:
        # The first message already.
        error = error_is(server.ask_modern("server/discover", meta={META + "protocolVersion": "1900-01-01"}), -32022, "first")
        true(MODERN in error["data"]["supported"], shown(error))
        complete(server, "server/discover")


def row_M3():
    """Every result has a resultType; lists and resources say how long they are good."""
    with Server() as server:
        for method, params in [(each, None) for each in LISTS] + [
            ("resources/read", {"uri": "test://one"}), ("prompts/get", {"name": "greet", "arguments": {"who": "x"}}),
            ("tools/call", {"name": "echo", "arguments": {"text": "x"}}), ("tools/call", {"name": "fail"}),
            ("tools/call", {"name": "sum", "arguments": {"a": 1, "b": 2}}), ("tools/call", {"name": "echo", "arguments": {}}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": ""}}),
        ]:
            result = complete(server, method, params)
            if method in LISTS or method == "resources/read":
                true(isinstance(result["ttlMs"], int) and result["cacheScope"] in ("public", "private"), method)


def probe(client, answer):
    """The copy of the server that is asked first: `answer` deals with its server/discover."""
    copy = client.guest()
    asked = copy.news("server/discover")
    same(asked["params"]["_meta"][META + "protocolVersion"], MODERN, "the revision of the probe")
    answer(copy, asked)
    return copy


def row_M4():
    """Not knowing the era, our client asks a copy: whatever a legacy server does there, it is talked to as one."""
    ways = {
        "silent": lambda copy, asked: None,
        "-32601": lambda copy, asked: copy.refuse(asked, -32601, "Method not found"),
        "-32602": lambda copy, asked: copy.refuse(asked, -32602, "Invalid params"),
        "-32600": lambda copy, asked: copy.refuse(asked, -32600, "Server not initialized"),
        "-32000": lambda copy, asked: copy.refuse(asked, -32000, "Bad Request"),
        "exits": lambda copy, asked: copy.leave(1),
        "garbage": lambda copy, asked: copy.write(b"what?\n"),
    }
    for name, way in ways.items():
        with Client() as client:
            same(client.open(mode="auto", probe=1500, close_ms=200, term_ms=200)["status"], "ok", "opening")
            began = time.monotonic()
            copy = probe(client, way)
            if name != "exits":
                copy.more(5)  # the end of its input
                copy.leave()
            guest = client.guest().accept()
            ready = client.event("ready")
            same((ready["modern"], ready["revision"]), (False, NEWEST), name)
            true(time.monotonic() - began < 6, "%s took %.1f s" % (name, time.monotonic() - began))
            client.call("a")
            guest.answer(guest.news("tools/call"))
            client.answer("a")
    for supported, modern in ((["2099-01-01"], False), ([MODERN], True)):
        with Client() as client:
            client.open(mode="auto", probe=2000, close_ms=200, term_ms=200)
            error = {"code": -32022, "message": "Unsupported", "data": {"supported": supported, "requested": MODERN}}
            copy = probe(client, lambda copy, asked: copy.send({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
            copy.more(5)
            copy.leave()
            guest = client.guest()
            asked = guest.fresh()
            same(asked["method"], "server/discover", "-32022 is modern")
            if modern:
                guest.discovered(asked)
                same(client.event("ready")["modern"], True, "it stays modern")
                continue
            guest.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})
            guest.more(5)
            guest.leave()
            closed = client.event("closed")
            same((closed["no_revision"], closed["was_ready"]), (1, 0), "no revision in common: %s" % shown(closed))
    with Client() as client:
        client.open(mode="auto", argv=[rows.BUILD + "/tests/mcp_server"])
        ready = client.event("ready")
        same((ready["modern"], ready["revision"]), (True, MODERN), "our own server")
        client.call("a", name="echo", arguments={"text": "x"})
        client.answer("a")
        client.close()
    with Client() as client:
        client.open(mode="auto", argv=[rows.BUILD + "/tests/mcp_server", "legacy"])
        same(client.event("ready")["modern"], False, "our own server, legacy only")
        client.close()


def row_M4_long():
    """A copy that is silent is given up after 10 s, if nobody has set another time."""
    with Client() as client:
        client.open(mode="auto")
        began = time.monotonic()
        copy = probe(client, lambda copy, asked: None)
        copy.more(20)
        took = time.monotonic() - began
        true(9.9 <= took < 11, "after %.2f s" % took)
        copy.leave()
        client.guest().accept()
        same(client.event("ready")["modern"], False, "the era")


def needs(guest, asked, state="s1", **requests):
    guest.reply(asked, {"resultType": "input_required", "inputRequests": requests,
                        **({"requestState": state} if state is not None else {})})


def row_M5():
    """Input that is asked for goes out with the repeated request: a new id, the same state, all else as before."""
    with Client() as client:
        guest = client.start_modern(elicitation=True, rounds_max=3)
        client.call("a", name="book", arguments={"day": 1})
        first = guest.news("tools/call")
        guest.reply(first, {"resultType": "input_required", "inputRequests": {"who": FORM}, "requestState": "s1",
                            "unknown": {"key": 1}})
        number = client.event("question", kind="elicitation")["number"]
        client.do("answer", number=number, result={"action": "accept", "content": {}})
        same(client.event("answered")["status"], "misfit", "a form that is not filled in")
        client.do("answer", number=number, result={"action": "accept", "content": {"name": "Ada"}})
        same(client.event("answered")["status"], "ok", "the form")
        second = guest.news("tools/call")
        true(second["id"] != first["id"], "a new id")
        same((second["params"]["name"], second["params"]["arguments"], second["params"]["requestState"]),
             ("book", {"day": 1}, "s1"), "what stays")
        same(second["params"]["inputResponses"]["who"], {"action": "accept", "content": {"name": "Ada"}}, "the input")
        # A round without questions: only the state goes around.
        guest.reply(second, {"resultType": "input_required", "requestState": "s2"})
        third = guest.news("tools/call")
        same(third["params"]["requestState"], "s2", "the next state")
        true("who" not in third["params"].get("inputResponses", {}), "old input")
        guest.reply(third, {"resultType": "complete", "content": [{"type": "text", "text": "booked"}]})
        same(client.answer("a")["value"]["content"][0]["text"], "booked", "the answer, under the first handle")
        client.call("b", name="book")
        for each in range(4):
            asked = guest.message(2)
            if asked is None or "method" not in asked or asked["method"] != "tools/call":
                break
            guest.reply(asked, {"resultType": "input_required", "requestState": "s%d" % each})
        client.answer("b", "invalid")
        client.call("c", name="book")
        needs(guest, guest.news("tools/call"), model={"method": "sampling/createMessage", "params": {
            "messages": [], "maxTokens": 1}})
        true(client.event("answer", tag="c")["outcome"] in ("invalid", "error"), "what was not offered is not asked for")
        client.call("d", name="book")
        needs(guest, guest.news("tools/call"), who=FORM)
        client.event("question")
        client.do("cancel", tag="d")
        client.answer("d", "cancelled")
        client.event("question_gone")
        same(client.pending(), 0, "pending")
        client.call("e", name="book")
        guest.reply(guest.news("tools/call"), {"resultType": "surprise", "content": []})
        client.answer("e", "invalid")
    with Server() as server:
        offers = {"elicitation": {"form": {}}}
        call = {"name": "ask-user", "arguments": {}}
        answer = server.ask_modern("tools/call", call, capabilities=offers)["result"]
        same(answer["resultType"], "input_required", "our server asks")
        same(answer["inputRequests"]["first"]["method"], "elicitation/create", "what")
        state = answer["requestState"]
        given = {"inputResponses": {"first": {"action": "accept", "content": {"name": "Ada"}}, "other": {"action": "decline"}}}
        result = complete(server, "tools/call", {**call, **given, "requestState": state}, capabilities=offers)
        true("Ada" in result["content"][0]["text"], shown(result))
        for wrong in (state[:-2] + ("AA" if state[-2:] != "AA" else "BB"), "x" + state, state[:5], "", "é"):
            answer = server.ask_modern("tools/call", {**call, **given, "requestState": wrong}, capabilities=offers)
            error_is(answer, -32602, "a state that was changed: %r" % wrong[:20])
        other = server.ask_modern("tools/call", {"name": "ask-model", **given, "requestState": state}, capabilities=offers)
        error_is(other, -32602, "the state of another request")
        error = error_is(server.ask_modern("tools/call", call), -32021, "a client that cannot")
        true("elicitation" in error["data"]["requiredCapabilities"], shown(error))


def listen(server, **wanted):
    made = server.modern("subscriptions/listen", {"notifications": wanted})
    server.send(made)
    ack = server.fresh()
    same(ack["method"], "notifications/subscriptions/acknowledged", "the first message")
    same(ack["params"]["_meta"][META + "subscriptionId"], made["id"], "whose")
    return made["id"], ack["params"]["notifications"]


def row_M6():
    """A subscription begins with its acknowledgement, names itself in all it tells, and ends when it is cancelled."""
    with Server() as server:
        first, got = listen(server, toolsListChanged=True)
        same(got, {"toolsListChanged": True}, "what it covers")
        second, got = listen(server, resourceSubscriptions=["test://one"], toolsListChanged=True)
        same(got.get("resourceSubscriptions"), ["test://one"], "what it covers")
        complete(server, "tools/call", {"name": "register", "arguments": {"name": "new"}})
        told = [server.news("notifications/tools/list_changed") for _ in range(2)]
        same({each["params"]["_meta"][META + "subscriptionId"] for each in told}, {first, second}, "whose")
        complete(server, "tools/call", {"name": "touch", "arguments": {"uri": "test://one"}})
        told = server.news("notifications/resources/updated")["params"]
        same((told["uri"], told["_meta"][META + "subscriptionId"]), ("test://one", second), "the resource")
        server.tell("notifications/cancelled", {"requestId": first})
        complete(server, "tools/call", {"name": "remove", "arguments": {"name": "new"}})
        told = server.news("notifications/tools/list_changed")
        same(told["params"]["_meta"][META + "subscriptionId"], second, "the one that is left")
        server.is_quiet("nothing for the one that has ended, not even an answer")
        same(server.aside, [], "nothing else")
        began = time.monotonic()
        server.close_write()
        true(server.ended() in (0, 1) and time.monotonic() - began < 2, "the end of the input ends it")
    with Client() as client:
        guest = client.start_modern({"tools": {"listChanged": True}, "resources": {"subscribe": True}}, changes=True)

        def take():
            asked = guest.news("subscriptions/listen")
            meta = {"_meta": {META + "subscriptionId": asked["id"]}}
            guest.tell("notifications/subscriptions/acknowledged", {"notifications": asked["params"]["notifications"], **meta})
            return asked, meta

        asked, meta = take()
        true(asked["params"]["notifications"].get("toolsListChanged"), "from the start: %s" % shown(asked))
        guest.tell("notifications/tools/list_changed", meta)
        same(client.event("changed")["kind"], "tools", "the change")
        client.call("s", "subscribe", name="test://one")
        asked, meta = take()
        client.answer("s")
        same(asked["params"]["notifications"]["resourceSubscriptions"], ["test://one"], "the resource")
        guest.tell("notifications/resources/updated", {"uri": "test://one", **meta})
        same(client.event("updated")["uri"], "test://one", "the resource")
        client.do("close")
        guest.more(5)
        guest.leave()
        client.event("closed")


def row_M7():
    """Nothing is logged for a request that did not ask for it, nor below the level it asked for."""
    with Server() as server:
        complete(server, "tools/call", {"name": "log"})
        same(server.aside, [], "without logLevel")
        complete(server, "tools/call", {"name": "log"}, meta={META + "logLevel": "error"})
        same([each["params"]["level"] for each in server.aside], ["error", "critical", "alert", "emergency"], "from error on")
        server.aside = []
        complete(server, "tools/call", {"name": "log"})
        same(server.aside, [], "the next one without it")
    with Client() as client:
        guest = client.start_modern()
        client.call("a")
        true(META + "logLevel" not in guest.news("tools/call")["params"]["_meta"], "a level that nobody wanted")
        client.call("b", log_level="info")
        same(guest.news("tools/call")["params"]["_meta"][META + "logLevel"], "info", "the level")


def row_M8():
    """ping, setLevel, subscribe and their like are gone: -32601."""
    with Server() as server:
        complete(server, "server/discover")
        for method, params in (
            ("ping", {}), ("logging/setLevel", {"level": "info"}), ("resources/subscribe", {"uri": "test://one"}),
            ("resources/unsubscribe", {"uri": "test://one"}), ("tasks/list", {}), ("tasks/get", {"taskId": "x"}),
            ("roots/list", {}), ("no/such", {}),
        ):
            error_is(server.ask_modern(method, params), -32601, method)
        complete(server, "tools/list")
    with Client() as client:
        guest = client.start_modern({"tools": {}, "resources": {"subscribe": True}, "logging": {}})
        client.call("a", "ping", status="misfit")
        client.do("set_level", tag="b", name="info")
        client.answer("b")
        guest.is_quiet("none of these goes out")


def row_M9():
    """The first message decides the era: initialize makes it legacy, anything modern makes initialize -32022."""
    with Server() as server:
        same(server.start()["protocolVersion"], NEWEST, "initialize first")
        server.is_alive("legacy")
        error_is(server.ask("server/discover", {}), -32601, "server/discover in the legacy era")
        true("resultType" not in server.result("tools/list"), "a legacy result")
    with Server() as server:
        complete(server, "tools/list")
        error = error_is(server.initialize(), -32022, "initialize in the modern era")
        same(error["data"]["supported"], [MODERN], "what is spoken")
        complete(server, "tools/list")


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
