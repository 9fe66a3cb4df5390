"""D1 to D6: what the document that Duplex began with says and the numbered cases leave out. See rows.py."""
import os
import re
import subprocess
import sys

import rows
from rows import LEGACY, Client, Server, error_is, same, shown, true


def row_D1():
    """Requests are answered once under their id, notifications never, and responses end the call of their id."""
    with Server() as server:
        server.start()
        for identity in (7, "seven"):
            server.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
            same(server.fresh(), {"jsonrpc": "2.0", "id": identity, "result": {}}, "the answer")
            server.send({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {"name": "nobody"}})
            answer = server.fresh()
            same((answer["jsonrpc"], answer["id"], sorted(answer)), ("2.0", identity, ["error", "id", "jsonrpc"]), "an error")
        server.tell("notifications/cancelled", {"requestId": 99})
        server.tell("notifications/roots/list_changed")
        server.is_quiet("notifications are not answered")
    with Client() as client:
        guest = client.start()
        client.call("result")
        client.call("error")
        asked = [guest.news("tools/call") for _ in range(2)]
        for each in asked:
            same(sorted(each), ["id", "jsonrpc", "method", "params"], "a request")
        guest.refuse(asked[1], -32603, "no luck")
        guest.answer(asked[0], "luck")
        got = client.answer("error", "error")
        same((got["code"], got["value"]["message"]), (-32603, "no luck"), "the error")
        same(client.answer("result")["value"]["content"][0]["text"], "luck", "the result")


def row_D2():
    """A call is in the books from the moment it is made until it ends, and no longer."""
    with Client() as client:
        guest = client.start()
        same(client.pending(), 0, "at first")
        client.call("a")
        client.call("b", "list", kind="tools")
        same(client.pending(), 2, "two of different methods")
        guest.reply(guest.news("tools/list"), {"tools": []})
        same(client.answer("b")["value"], {"tools": []}, "the answer of its own method")
        same(client.pending(), 1, "one")
        guest.answer(guest.news("tools/call"))
        client.answer("a")
        same(client.pending(), 0, "in the end")


def row_D3():
    """When the time of a call runs out it leaves the books, the server is told, and then the caller hears of it."""
    with Client() as client:
        guest = client.start(traffic=True, timeout=200)
        client.call("a")
        got = client.answer("a", "timed out")
        same(got["pending"], 0, "the books, when the caller hears of it")
        order = [each["event"] for each in client.events
                 if each["event"] == "answer" or each.get("out") and "notifications/cancelled" in each["text"]]
        same(order, ["traffic", "answer"], "the order")
        asked = guest.news("tools/call")
        told = guest.news("notifications/cancelled")
        same((sorted(told), told["params"]["requestId"]), (["jsonrpc", "method", "params"], asked["id"]), "the notification")
        true("200" in got["phrase"] or "time" in got["phrase"], "what the caller is told: %s" % shown(got))
        guest.answer(asked, "too late")
        guest.is_alive("the conversation goes on")
        client.none("answer", "a second end", answers=2)


def row_D4():
    """Notifications are exchanged without the caller: initialized, changes of folders, progress, log."""
    with Client() as client:
        guest = client.start({"tools": {"listChanged": True}, "logging": {}}, roots=True, changes=True)
        client.do("add_root", uri="file:///a")
        guest.news("notifications/roots/list_changed")
        guest.tell("notifications/tools/list_changed")
        same(client.event("changed")["kind"], "tools", "a change")
        guest.tell("notifications/message", {"level": "error", "data": "x"})
        same(client.event("log")["level"], "error", "the log")
        guest.is_alive("requests are answered by the library, too")


def row_D5():
    """Messages are checked against the schema of the revision, in both directions and in every revision."""
    for revision in LEGACY:
        with Client() as client:
            guest = client.start({"tools": {}, "logging": {}, "prompts": {}}, revision, revision=revision)
            client.call("own", "call", status="misfit", method="prompts/get", params={"name": 5})
            client.call("unknown", "call", status="misfit", method="no/such", params={})
            guest.is_quiet("what does not fit is not sent")
            client.call("a", "call", method="prompts/get", params={"name": "p"})
            guest.reply(guest.news("prompts/get"), {"messages": [{"role": "nobody", "content": {}}]})
            true(client.answer("a", "invalid")["phrase"], "a result that does not fit")
            guest.tell("notifications/message", {"level": "loud", "data": 1})
            client.event("violation")
            client.none("log", "a notification that does not fit")
            guest.is_alive("after it")
        with Server() as server:
            server.start(revision)
            error = error_is(server.ask("resources/read", {"uri": 5}), -32602, "a request that does not fit")
            true("uri" in shown(error.get("data")), "the place: %s" % shown(error))
            server.tell("notifications/cancelled", {"requestId": {}})
            server.is_alive("after a notification that does not fit")
            same(server.aside, [], "it is not answered")


def row_D6():
    """Our schema accepts and refuses what the published one does (mcp.equal: all revisions); the sample id is taken, and ours look like it."""
    done = subprocess.run([os.path.join(rows.BUILD, "tests", "mcp_equal"), "2024-11-05"], capture_output=True, timeout=60)
    true(done.returncode in (0, 77), shown(done.stdout[-400:] + done.stderr[-400:]))
    with Server() as server:
        server.start("2024-11-05")
        server.send({"jsonrpc": "2.0", "id": "req_gdc_yngatmpd1namcqk", "method": "ping"})
        same(server.answer_to("req_gdc_yngatmpd1namcqk")["result"], {}, "the id of the document")
    with Client() as client:
        client.open(revision="2024-11-05")
        guest = client.guest()
        true(re.fullmatch(r"req_[a-z0-9_]+", guest.greet()["id"]), "our id: %s" % guest.greeting["id"])
        same(guest.greeting["params"]["protocolVersion"], "2024-11-05", "the revision of the document")
    if done.returncode == 77:  # the rest was good, but that is not all of it
        print(done.stdout.decode().strip())
        sys.exit(77)


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
