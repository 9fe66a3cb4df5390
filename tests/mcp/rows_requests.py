"""R1 to R15: calls of our client, and their ends. See rows.py."""
import random
import re
import sys
import time

import rows
from rows import Client, Server, line, same, shown, true


def tools(guest, count):
    return [guest.news("tools/call") for _ in range(count)]


def told_first(client, calls):
    """The server was told of each cancelled call before its caller was. calls: {tag: id}."""
    for tag, identity in calls.items():
        order = [each["event"] for each in client.events if each["event"] == "answer" and each["tag"] == tag
                 or "notifications/cancelled" in each.get("text", "") and '"%s"' % identity in each["text"]]
        same(order, ["traffic", "answer"], "the order of %s" % tag)


def row_R1():
    """Ids are unique and look as they should; the same id may be open in both directions."""
    with Client() as client:
        guest = client.start()
        for each in range(300):
            client.call("a%d" % each)
        asked = tools(guest, 300)
        identities = [guest.greeting["id"]] + [each["id"] for each in asked]
        same(len(set(identities)), 301, "different ids")
        true(all(re.fullmatch(r"req_[a-z2-7]{13}", each) for each in identities), shown(identities[:5]))
        # The server asks with the id of an open call of ours.
        guest.send({"jsonrpc": "2.0", "id": asked[7]["id"], "method": "ping"})
        same(guest.until(lambda m: "result" in m, "pong"), {"jsonrpc": "2.0", "id": asked[7]["id"], "result": {}}, "pong")
        guest.answer(asked[7])
        client.answer("a7")
        same(client.pending(), 299, "the others")
    with Client() as client:
        guest = client.start(counter=True)
        client.call("a")
        asked = guest.news("tools/call")
        same([guest.greeting["id"], asked["id"]], [1, 2], "counters")
        for identity in (0, 2):
            guest.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
            same(guest.until(lambda m: "result" in m, "pong")["id"], identity, "pong")
        guest.answer(asked)
        client.answer("a")


def row_R2():
    """Answers in any order find their calls."""
    with Client() as client:
        guest = client.start()
        for each in range(20):
            client.call("a%d" % each, arguments={"number": each})
        asked = tools(guest, 20)
        random.Random(1).shuffle(asked)
        for each in asked:
            guest.answer(each, str(each["params"]["arguments"]["number"]))
        for each in range(20):
            same(client.answer("a%d" % each)["value"]["content"][0]["text"], str(each), "the answer")
        same(client.pending(), 0, "pending")


def row_R3():
    """A second answer and one of an unknown id are told and dropped."""
    with Client() as client:
        guest = client.start()
        client.call("a")
        asked = guest.news("tools/call")
        guest.send({"jsonrpc": "2.0", "id": "req_unknown", "result": {}})
        guest.send({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}})
        guest.answer(asked)
        client.answer("a")
        guest.answer(asked, "again")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")
        same(len([each for each in client.events if each["event"] == "answer"]), 2, "answers")
        true(client.event("violation"), "not told")


def row_R4():
    """"1" is not 1; 2^53-1 is an id like any other."""
    with Client() as client:
        guest = client.start(counter=True)
        client.call("a", timeout=400)
        asked = guest.news("tools/call")
        guest.send({"jsonrpc": "2.0", "id": str(asked["id"]), "result": {"content": []}})
        client.answer("a", "timed out")
        guest.send({"jsonrpc": "2.0", "id": 9007199254740991, "method": "ping"})
        same(guest.until(lambda m: "result" in m, "pong")["id"], 9007199254740991, "2^53-1")
    with Server() as server:
        server.start()
        for identity in (9007199254740991, -5, 0, "", "9007199254740993", "é\n"):
            server.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
            same(server.answer_to(identity)["result"], {}, repr(identity))
        server.send({"jsonrpc": "2.0", "id": 41, "method": "tools/call", "params": {"name": "never"}})
        server.send({"jsonrpc": "2.0", "id": "41", "method": "ping"})
        same(server.answer_to("41")["result"], {}, "the string beside the number")
        server.tell("notifications/cancelled", {"requestId": "41"})
        server.is_alive("after it")
        same([each for each in server.told if "cancelled" in each], [], "the number was not cancelled")


def row_R5():
    """An answer with both a result and an error, or neither, ends its call as invalid; an error's shape is checked."""
    with Client() as client:
        guest = client.start()
        error = {"code": 1, "message": "no"}
        for tag, members in (("both", {"result": {"content": []}, "error": error}), ("wrong", {"result": {"content": 5}}),
                             ("list", {"result": []}), ("neither", {})):
            client.call(tag)
            guest.send({"jsonrpc": "2.0", "id": guest.news("tools/call")["id"], **members})
            client.answer(tag, "invalid")
        for number, wrong in enumerate(("went wrong", {"code": "E1", "message": "x"}, {"message": "x"}, None)):
            client.call("error%d" % number)
            guest.send({"jsonrpc": "2.0", "id": guest.news("tools/call")["id"], "error": wrong})
            same(client.answer("error%d" % number, "error")["fault"], "error-shape", shown(wrong))
        same(client.pending(), 0, "pending")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")


def row_R6():
    """A call ends at its time: the caller hears it, the server is told with a reason, and nothing is left."""
    late = []
    for each in range(3):
        with Client() as client:
            guest = client.start()
            called = client.call("a", timeout=300)
            got = client.answer("a", "timed out")
            same((got["fault"], got["pending"]), ("timeout", 0), shown(got))
            asked = guest.news("tools/call")
            told = guest.news("notifications/cancelled")["params"]
            same(told["requestId"], asked["id"], "which")
            true(isinstance(told["reason"], str) and told["reason"], "the reason: %s" % shown(told))
            same(client.pending(), 0, "pending")
            late.append(got["at"] - called["at"] - 300)
            true(late[-1] > -5, "%.1f ms too early" % -late[-1])
    true(min(late) < 50, "%.1f ms late at best" % min(late))


def row_R6_long():
    """The same with the time that nobody has set: 30 s."""
    with Client() as client:
        guest = client.start()
        called = client.call("a")
        got = client.event("answer", patience=40, tag="a")
        same(got["outcome"], "timed out", shown(got))
        took = got["at"] - called["at"]
        true(29990 <= took < 31000, "after %.0f ms" % took)
        same(guest.news("notifications/cancelled")["params"]["requestId"], guest.news("tools/call")["id"], "which")


def row_R7():
    """An answer after the time of its call is dropped without a word, and others are not disturbed."""
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=200)
        asked = guest.news("tools/call")
        client.answer("a", "timed out")
        guest.answer(asked, "too late")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")
        same(len([each for each in client.events if each["event"] == "answer"]), 2, "answers")
        client.none("violation", "a late answer is no violation")


def row_R8():
    """Cancelling tells the server first and the caller then; a second time there is nothing to cancel."""
    with Client() as client:
        guest = client.start(traffic=True)
        client.call("a", timeout=60000)
        asked = guest.news("tools/call")
        client.do("cancel", tag="a", reason="the user left")
        same(client.event("cancel", tag="a")["status"], "ok", "the first time")
        client.answer("a", "cancelled")
        told = guest.news("notifications/cancelled")["params"]
        same(told, {"requestId": asked["id"], "reason": "the user left"}, "what the server is told")
        told_first(client, {"a": asked["id"]})
        client.do("cancel", tag="a")
        same(client.event("cancel", tag="a")["status"], "gone", "the second time")
        client.do("cancel", tag="nobody")
        same(client.event("cancel", tag="nobody")["status"], "gone", "one that never was")
        guest.answer(asked, "too late")
        client.call("b")
        second = guest.news("tools/call")
        client.do("cancel", tag="b")
        client.answer("b", "cancelled")
        told = guest.news("notifications/cancelled")["params"]
        same((told["requestId"], bool(told["reason"])), (second["id"], True), "a reason is always there")
        client.call("c")
        guest.answer(guest.news("tools/call"))
        client.answer("c")
        client.do("cancel", tag="c")
        same(client.event("cancel", tag="c")["status"], "gone", "one that has ended")
        guest.is_quiet("after its end")


def row_R9():
    """Cancelling all names them, and an empty list when there is none; the server hears of each before its caller."""
    with Client() as client:
        guest = client.start(traffic=True)
        client.do("cancel_all")
        none = client.event("cancel_all")
        same((none["status"], none["count"], none["tags"]), ("ok", 0, []), "none")
        for tag in "abcde":
            client.call(tag)
        asked = tools(guest, 5)
        client.do("cancel_all", reason="enough", max=3)
        got = client.event("cancel_all")
        same((got["status"], got["count"], len(got["tags"])), ("ok", 5, 3), "five, and room for three")
        true(set(got["tags"]) < set("abcde"), shown(got))
        for tag in "abcde":
            client.answer(tag, "cancelled")
        told = [guest.news("notifications/cancelled")["params"] for _ in range(5)]
        same(sorted(each["requestId"] for each in told), sorted(each["id"] for each in asked), "which")
        same({each["reason"] for each in told}, {"enough"}, "why")
        told_first(client, dict(zip("abcde", (each["id"] for each in asked))))
        same(client.pending(), 0, "pending")


def row_R10():
    """Closing with pending calls cancels and ends each of them."""
    with Client() as client:
        guest = client.start(traffic=True)
        for tag in "abc":
            client.call(tag)
        asked = tools(guest, 3)
        client.do("close")
        for tag in "abc":
            true(client.event("answer", tag=tag)["outcome"] in ("cancelled", "lost"), tag)
        told = [guest.news("notifications/cancelled")["params"] for _ in range(3)]
        same(sorted(each["requestId"] for each in told), sorted(each["id"] for each in asked), "which")
        true(all("clos" in each["reason"] for each in told), shown(told))
        told_first(client, dict(zip("abc", (each["id"] for each in asked))))
        same(guest.fresh(), None, "behind that")
        guest.leave()
        closed = client.event("closed")
        same((closed["by_us"], closed["pending"]), (1, 0), shown(closed))
        client.do("tool", tag="late", name="x")
        same(client.event("called", tag="late")["status"], "closed", "after the end")


def row_R11():
    """Progress comes in order, the last before the result, also if both are in one read."""
    with Client() as client:
        guest = client.start()
        client.call("a", progress=True)
        asked = guest.news("tools/call")
        token = asked["params"]["_meta"]["progressToken"]
        data = b""
        for each in (1, 2.5, 3):
            data += line({"jsonrpc": "2.0", "method": "notifications/progress",
                          "params": {"progressToken": token, "progress": each, "total": 4, "message": "m%g" % each}})
        guest.write(data + line({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}))
        client.answer("a")
        seen = [(each.get("progress"), each.get("total"), each.get("message"))
                for each in client.events if each["event"] in ("progress", "answer")]
        same(seen, [(1, 4, "m1"), (2.5, 4, "m2.5"), (3, 4, "m3"), (None, None, None)], "what came")
        client.call("b")
        true("progressToken" not in guest.news("tools/call")["params"].get("_meta", {}), "a token that nobody wanted")


def row_R12():
    """Progress after the end, or for nobody, is dropped without a word."""
    with Client() as client:
        guest = client.start()
        client.call("a", progress=True)
        asked = guest.news("tools/call")
        guest.answer(asked)
        client.answer("a")
        guest.progress(asked, 5)
        guest.tell("notifications/progress", {"progressToken": "nobody", "progress": 1})
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")
        client.none("progress", "progress after the end")
        client.none("violation", "late progress is no violation")


def row_R13():
    """Progress starts the time anew if that was asked for, up to the total; otherwise it does not."""
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=600, reset=True)
        asked = guest.news("tools/call")
        for each in range(8):
            time.sleep(0.25)
            guest.progress(asked, each + 1)
        guest.answer(asked)
        client.answer("a")
        called = client.call("b", timeout=600, total=1000, reset=True)
        asked = guest.news("tools/call")
        for each in range(6):
            guest.progress(asked, each + 1)
            time.sleep(0.25)
        got = client.answer("b", "timed out")
        same(got["fault"], "total", "why")
        took = got["at"] - called["at"]
        true(995 <= took < 1250, "the total is over after %.0f ms" % took)
        same(guest.news("notifications/cancelled")["params"]["requestId"], asked["id"], "the server is told")
        called = client.call("c", timeout=600, progress=True)
        asked = guest.news("tools/call")
        for each in range(3):
            guest.progress(asked, each + 1)
            time.sleep(0.25)
        took = client.answer("c", "timed out")["at"] - called["at"]
        true(595 <= took < 850, "without reset it is over after %.0f ms" % took)


def row_R14():
    """A token goes out whenever the time is to start anew, and each call has its own."""
    with Client() as client:
        guest = client.start()
        tokens = []
        for tag, options in (("a", {"reset": True}), ("b", {"progress": True}), ("c", {"reset": True, "progress": True})):
            client.call(tag, **options)
            token = guest.news("tools/call")["params"]["_meta"]["progressToken"]
            true(isinstance(token, (str, int)), repr(token))
            tokens.append(token)
        same(len(set(tokens)), 3, "different tokens")
        client.call("d", "call", method="tools/call", params={"name": "x", "_meta": {"mine": 1}}, reset=True)
        meta = guest.news("tools/call")["params"]["_meta"]
        true(meta.get("mine") == 1 and "progressToken" in meta, "what was there stays: %s" % shown(meta))


def row_R15():
    """A server that gives our call up ends it as cancelled by the server."""
    with Client() as client:
        guest = client.start()
        client.call("a")
        asked = guest.news("tools/call")
        guest.tell("notifications/cancelled", {"requestId": asked["id"], "reason": "no time"})
        got = client.answer("a", "cancelled")
        same(got["fault"], "given-up", shown(got))
        guest.answer(asked, "too late")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
