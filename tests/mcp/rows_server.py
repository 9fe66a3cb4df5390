"""S1 to S18: what our server answers, and what it does not. See rows.py."""
import json
import sys
import time

import rows
from rows import LEGACY, NEWEST, Server, best, error_is, line, same, shown, true


def row_S1():
    """An unknown method gets -32601 with its id, also before initialize."""
    with Server("legacy") as server:
        error_is(server.ask("server/discover", {}), -32601, "server/discover of one that is legacy only")
        error_is(server.ask("no/such", {}), -32601, "before initialize")
        server.start()
        for identity in ("a", 0, 12):
            server.send({"jsonrpc": "2.0", "id": identity, "method": "no/such"})
            error_is(server.answer_to(identity), -32601, "after it")
        error_is(server.ask("Tools/List"), -32601, "another case")
        error_is(server.ask("notifications/initialized"), -32600, "a notification that has an id")
        server.tell("no/such")
        server.tell("tools/list")
        server.is_alive("after it")
        same(server.aside, [], "notifications are not answered")


def row_S2():
    """Params that do not fit get -32602 and the place."""
    with Server() as server:
        server.start()
        for method, params in (
            ("tools/call", {}), ("tools/call", {"name": 5}), ("tools/call", {"name": "echo", "arguments": []}),
            ("resources/read", {}), ("resources/read", {"uri": 1}), ("prompts/get", {}),
            ("logging/setLevel", {"level": "loud"}), ("logging/setLevel", {}),
            ("completion/complete", {"ref": {"type": "ref/nothing"}, "argument": {"name": "a", "value": "b"}}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greet"}}),
            ("tools/list", {"cursor": 5}), ("prompts/get", {"name": "greet", "arguments": {"who": 1}}),
        ):
            error_is(server.ask(method, params), -32602, "%s %s" % (method, params))
        error_is(server.ask("prompts/get", {"name": "greet"}), -32602, "an argument that is required")
        error_is(server.ask("prompts/get", {"name": "nobody"}), -32602, "a prompt that is not there")
        server.is_alive("after it")


def batch(server, *messages):
    server.write(line(list(messages)))


def row_S3():
    """What is no JSON, no JSON-RPC or a batch gets the error that it should; batches work where they exist."""
    for revision in LEGACY:
        with Server() as server:
            server.start(revision)
            server.write(b"{\n")
            error_is(server.no_id("not JSON"), -32700, "not JSON")
            for message in (b'{"jsonrpc":"2.0","method":5}', b'{"jsonrpc":"1.0","method":"ping","id":null}',
                            b'{"jsonrpc":"2.0","id":{},"method":"ping"}'):
                server.write(message + b"\n")
                error_is(server.no_id(message), -32600, message)
            # What has nothing of a request is no request, and gets no answer (F25 of the catalogue).
            server.write(b'{}\n42\n"ok"\nnull\n')
            server.is_alive("after what is no message")
            same(server.aside, [], "answers to what is no message")
            for message in ({"id": 5, "method": "ping"}, {"jsonrpc": "2.0", "id": 5, "method": 1},
                            {"jsonrpc": "2.0", "id": 5, "method": "ping", "params": 3}):
                server.send(message)
                error_is(server.answer_to(5), -32600, shown(message))
            if revision != "2025-03-26":
                batch(server, server.request("ping"))
                error_is(server.no_id("a batch"), -32600, "a batch")
                server.is_alive("after it")
                continue
            first, second = server.request("ping"), server.request("no/such")
            batch(server, first, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, second)
            answers = server.until(lambda m: isinstance(m, list), "the answer to a batch")
            same(sorted(each["id"] for each in answers), [first["id"], second["id"]], "who is answered")
            batch(server, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            server.is_quiet("a batch of notifications")
            batch(server)
            error_is(server.no_id("an empty batch"), -32600, "an empty batch")
            server.is_alive("after it")


def row_S4():
    """A tool that fails, and arguments that do not fit, are results with isError; an unknown tool is -32602."""
    for revision in LEGACY:
        with Server() as server:
            server.start(revision)
            failed = server.call("fail")
            same((failed["isError"], failed["content"][0]["text"]), (True, "it did not work"), "a tool that fails")
            error_is(server.ask("tools/call", {"name": "nobody"}), -32602, "an unknown tool")
            for wrong in ({}, {"text": 5}):
                answer = server.ask("tools/call", {"name": "echo", "arguments": wrong})
                if revision == NEWEST:
                    true(answer.get("result", {}).get("isError"), "arguments that do not fit: %s" % shown(answer))
                    true("text" in answer["result"]["content"][0]["text"], "the place is not told: %s" % shown(answer))
                else:
                    error_is(answer, -32602, "arguments that do not fit")
            same(server.call("echo", text="x").get("isError", False), False, "one that fits")


def row_S5():
    """A call that is cancelled is not answered, whatever its handler still does; the handler is told."""
    with Server() as server:
        server.start()
        slow, deaf = server.tool("sleep", ms=100, name="slow"), server.tool("deaf", ms=100, name="deaf")
        server.send(slow)
        server.send(deaf)
        server.wait_for("began deaf")
        for each in (slow, deaf):
            server.tell("notifications/cancelled", {"requestId": each["id"], "reason": "enough"})
        server.wait_for("cancelled slow")
        server.wait_for("cancelled deaf")
        server.wait_for("finished deaf")
        server.is_quiet("after the end of both", 0.3)
        # The id is free again.
        server.send({**slow, "params": {"name": "echo", "arguments": {"text": "again"}}})
        same(server.answer_to(slow["id"])["result"]["content"][0]["text"], "again", "the same id")


def row_S6():
    """Cancelling what is unknown or over does nothing; initialize cannot be cancelled."""
    with Server() as server:
        server.start()
        done = server.request("ping")
        server.send(done)
        server.answer_to(done["id"])
        for identity in (done["id"], 1, 999, "nobody", "1"):
            server.tell("notifications/cancelled", {"requestId": identity})
        server.tell("notifications/cancelled", {})
        server.tell("notifications/cancelled", {"requestId": None})
        server.tell("notifications/cancelled", {"requestId": {}, "reason": 5})
        server.is_alive("after it")
        same(server.aside, [], "what else came")


def row_S7():
    """ping is answered in less than 10 ms while a tool runs for 5 s."""
    with Server() as server:
        server.start()
        slow = server.tool("sleep", ms=5000, name="slow")
        server.send(slow)

        def measure():
            began = time.monotonic()
            server.is_alive("while it sleeps")
            return (time.monotonic() - began) * 1000

        best(measure, 10, times=20)
        same(server.aside, [], "it still sleeps")
        server.tell("notifications/cancelled", {"requestId": slow["id"]})
        server.wait_for("cancelled slow")


def row_S7_long():
    """The same, and the answer of the tool comes after 5 s."""
    with Server() as server:
        server.start()
        began = time.monotonic()
        slow = server.tool("sleep", ms=5000, name="slow")
        server.send(slow)
        while time.monotonic() - began < 4.5:
            server.is_alive("while it sleeps")
            time.sleep(0.1)
        same(server.aside, [], "it still sleeps")
        same(server.answer_to(slow["id"])["result"]["content"][0]["text"], "slept", "its answer")
        true(4.9 < time.monotonic() - began < 6, "after %.1f s" % (time.monotonic() - began))


def progress_of(server, name, token, /, **arguments):
    """The notifications of a call up to its answer."""
    made = server.tool(name, **arguments)
    if token is not None:
        made["params"]["_meta"] = {"progressToken": token}
    server.send(made)
    server.answer_to(made["id"])
    told, server.aside = server.aside, []
    same({each.get("method") for each in told} - {"notifications/progress"}, set(), "what else came")
    return [each["params"] for each in told]


def row_S8():
    """Progress goes out only with a token, only if it grows, and never after the result."""
    with Server() as server:
        server.start()
        same(progress_of(server, "waver", None), [], "without a token")
        for token in ("t", 0, 77, ""):
            told = progress_of(server, "waver", token)
            same([each["progress"] for each in told], [1, 2, 2.25], "what grows")
            same({shown(each["progressToken"]) for each in told}, {shown(token)}, "the token")
        told = progress_of(server, "sleep", "s", steps=3, ms=10)
        same([(each["progress"], each.get("total")) for each in told], [(1, 3), (2, 3), (3, 3), (1e9, None)], "steps")
        server.is_quiet("after the result")


def row_S9():
    """setLevel is obeyed; a level that is none gets -32602."""
    levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    with Server() as server:
        true("logging" in server.start()["capabilities"], "logging is not offered")
        for at, level in enumerate(levels):
            same(server.result("logging/setLevel", {"level": level}), {}, level)
            server.text("log")
            told, server.aside = server.aside, []
            same([each["params"]["level"] for each in told], levels[at:], "what is logged at " + level)
            same({each["method"] for each in told}, {"notifications/message"}, "how")
            true(all(each["params"]["data"] == {"of": "logs"} for each in told), "the data")
        error_is(server.ask("logging/setLevel", {"level": "loud"}), -32602, "no level")


def pages(server, method, member, most=30):
    found, cursor, seen = [], None, set()
    for _ in range(most):
        result = server.result(method, {"cursor": cursor} if cursor else {})
        found.append([each["name"] for each in result[member]])
        cursor = result.get("nextCursor")
        if cursor is None:
            return found
        true(cursor not in seen, "the cursor comes twice")
        seen.add(cursor)
    raise rows.Wrong("no last page")


def row_S10():
    """Pages are whole and stable, also while the list changes; a wrong cursor gets -32602."""
    with Server("page=4") as server:
        server.start()
        found = pages(server, "tools/list", "tools")
        same([len(each) for each in found[:-1]], [4] * (len(found) - 1), "the length of a page")
        names = sum(found, [])
        true(len(names) == len(set(names)) and len(names) > 12, shown(names))
        same(sum(pages(server, "tools/list", "tools"), []), names, "the second time")
        cursor = server.result("tools/list")["nextCursor"]
        server.text("remove", name=names[0])
        server.text("register", name="aaa-new")
        rest = []
        while cursor:
            result = server.result("tools/list", {"cursor": cursor})
            rest += [each["name"] for each in result["tools"]]
            cursor = result.get("nextCursor")
        same(sorted(set(rest) - {"aaa-new"}), sorted(names[4:]), "what follows the first page, after changes")
        for cursor in ("no-such", "", "9999999999999999999999", "é", "x" * 5000):
            error_is(server.ask("tools/list", {"cursor": cursor}), -32602, "the cursor %r" % cursor[:30])
        error_is(server.ask("prompts/list", {"cursor": server.result("tools/list")["nextCursor"]}), -32602,
                 "the cursor of another list")
    with Server() as server:
        server.start()
        same(len(pages(server, "tools/list", "tools")), 1, "pages of a short list")


def row_S11():
    """A resource that is not there gets -32002, in the modern era -32602, and its uri."""
    for revision in LEGACY:
        with Server() as server:
            server.start(revision)
            error = error_is(server.ask("resources/read", {"uri": "test://none"}), -32002, "an unknown one")
            same(error.get("data"), {"uri": "test://none"}, "the data")
            same(server.result("resources/read", {"uri": "test://one"})["contents"][0]["text"], "what it holds", "one")
            same(server.result("resources/read", {"uri": "test://item/7"})["contents"][0],
                 {"uri": "test://item/7", "text": "7"}, "a template")
    with Server() as server:
        answer = server.ask_modern("resources/read", {"uri": "test://none"})
        same(error_is(answer, -32602, "modern").get("data"), {"uri": "test://none"}, "the data")


def row_S12():
    """Who subscribes hears of changes, who unsubscribes no more."""
    with Server() as server:
        same(server.start()["capabilities"]["resources"].get("subscribe"), True, "the capability")

        def touched(uri):
            server.text("touch", uri=uri)
            server.is_alive("after it")
            told, server.aside = server.aside, []
            return [(each["method"], each["params"]["uri"]) for each in told]

        updated = "notifications/resources/updated"
        same(touched("test://one"), [], "before")
        same(server.result("resources/subscribe", {"uri": "test://one"}), {}, "subscribing")
        same(server.result("resources/subscribe", {"uri": "test://one"}), {}, "and again")
        same(touched("test://one"), [(updated, "test://one")], "its change")
        same(touched("test://two"), [], "another one")
        same(server.result("resources/unsubscribe", {"uri": "test://one"}), {}, "unsubscribing")
        same(touched("test://one"), [], "afterwards")
        answer = server.ask("resources/unsubscribe", {"uri": "test://never"})
        true("result" in answer or answer["error"]["code"] in (-32602, -32002), "what never was: %s" % shown(answer))
    with Server("unsubscribed") as server:
        true(not server.start()["capabilities"]["resources"].get("subscribe"), "the capability")
        error_is(server.ask("resources/subscribe", {"uri": "test://one"}), -32601, "subscribing")


def row_S13():
    """A tool that is added or removed while the server runs is told once, and is there or gone."""
    with Server() as server:
        same(server.start()["capabilities"]["tools"], {"listChanged": True}, "the capability")
        for what, name, there in (("register", "new", True), ("remove", "new", False)):
            server.text(what, name=name)
            server.news("notifications/tools/list_changed")
            names = [each["name"] for each in server.result("tools/list")["tools"]]
            same(name in names, there, "the list after " + what)
        error_is(server.ask("tools/call", {"name": "new"}), -32602, "one that was removed")
        true(server.call("register", name="echo")["isError"], "a name that is there")
        true(server.call("register", name="no blanks")["isError"], "a name that cannot be")
        server.is_quiet("nothing else has changed")
        same(server.aside, [], "nothing else has changed")


def row_S14():
    """A completion has at most 100 values, the number of all, and says that there are more."""
    with Server() as server:
        true("completions" in server.start()["capabilities"], "the capability")
        for ref, name in (({"type": "ref/prompt", "name": "greet"}, "who"),
                          ({"type": "ref/resource", "uri": "test://item/{id}"}, "id")):
            got = server.result("completion/complete", {"ref": ref, "argument": {"name": name, "value": ""}})["completion"]
            same((len(got["values"]), got.get("total"), got.get("hasMore")), (100, 250, True), "all")
            got = server.result("completion/complete", {"ref": ref, "argument": {"name": name, "value": "value-01"}})
            got = got["completion"]
            same((got["values"], got.get("hasMore", False)), (["value-%03d" % each for each in range(10, 20)], False), "ten")
        error_is(server.ask("completion/complete", {"ref": {"type": "ref/prompt", "name": "nobody"},
                                                    "argument": {"name": "a", "value": ""}}), -32602, "no prompt")


def row_S15():
    """A structured result fits its schema and is there as text, too; one that does not fit is an error."""
    with Server() as server:
        server.start()
        tool = [each for each in server.result("tools/list")["tools"] if each["name"] == "sum"][0]
        same(tool["outputSchema"]["required"], ["sum"], "the schema")
        got = server.call("sum", a=2, b=40)
        same(got["structuredContent"], {"sum": 42}, "the structured result")
        same(json.loads(got["content"][0]["text"]), {"sum": 42}, "as text")
        answer = server.ask("tools/call", {"name": "wrong-sum", "arguments": {"a": 1, "b": 1}})
        true("error" in answer or answer["result"].get("isError"), "a wrong one: %s" % shown(answer))
        true("structuredContent" not in answer.get("result", {}), "a wrong one goes out: %s" % shown(answer))
        server.is_alive("after it")


def row_S16():
    """A client that never answers roots/list holds up nothing else."""
    with Server() as server:
        server.start(roots={"listChanged": True})
        asking = server.tool("ask-roots")
        server.send(asking)
        asked = server.news("roots/list")
        same(server.text("echo", text="x"), "x", "another tool")
        server.is_alive("meanwhile")
        same(server.aside, [], "it waits")
        server.reply(asked, {"roots": [{"uri": "file:///a"}]})
        got = server.answer_to(asking["id"])["result"]["content"][0]["text"]
        true("file:///a" in got, "in the end: %s" % got)
    with Server("ask=300") as server:
        server.start(roots={})
        asking = server.tool("ask-roots")
        server.send(asking)
        asked = server.news("roots/list")
        true(server.answer_to(asking["id"])["result"]["isError"], "after the time for it")
        same(server.news("notifications/cancelled")["params"]["requestId"], asked["id"], "the question is cancelled")
    with Server() as server:
        server.start()
        true(server.call("ask-roots")["isError"], "a client without roots")
        same([each for each in server.aside if "id" in each], [], "it was asked all the same")


def row_S17():
    """A second request with the id of an open one gets -32600; the first is not disturbed."""
    with Server() as server:
        server.start()
        first = server.tool("sleep", ms=200, name="first")
        server.send(first)
        server.send({**first, "params": {"name": "echo", "arguments": {"text": "second"}}})
        error_is(server.answer_to(first["id"]), -32600, "the second")
        same(server.answer_to(first["id"])["result"]["content"][0]["text"], "slept", "the first")
        server.is_quiet("after both")


def row_S18():
    """A handler that forgets to answer, or answers with what is no text, makes -32603; the server lives."""
    with Server() as server:
        server.start()
        for name in ("forget", "garble", "forget"):
            error_is(server.ask("tools/call", {"name": name}), -32603, name)
        same(server.text("echo", text="x"), "x", "after it")


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
