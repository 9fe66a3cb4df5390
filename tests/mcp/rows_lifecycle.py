"""L1 to L9: how a conversation of the legacy era begins. See rows.py."""
import sys
import time

import rows
from rows import LEGACY, NEWEST, Client, Server, error_is, line, same, shown, true


def row_L1():
    """initialize goes first and alone, then initialized, then all else."""
    with Client() as client:
        client.open(traffic=True)
        guest = client.guest()
        asked = guest.greet()
        same(sorted(asked["params"]), ["capabilities", "clientInfo", "protocolVersion"], "the params of initialize")
        same(asked["params"]["protocolVersion"], NEWEST, "the revision that is asked for")
        same(asked["params"]["clientInfo"]["name"], "drive", "the client")
        client.call("early", status="again")
        guest.is_quiet("before the result")
        guest.reply(asked, {"protocolVersion": NEWEST, "capabilities": {"tools": {}},
                            "serverInfo": {"name": "raw", "version": "2"}, "instructions": "Read me."})
        same(guest.fresh(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, "behind the result")
        ready = client.event("ready")
        same((ready["revision"], ready["modern"], ready["server"]["version"], ready["instructions"]),
             (NEWEST, False, "2", "Read me."), "what is known of the server")
        client.call("a")
        guest.answer(guest.news("tools/call"))
        client.answer("a")


def row_L2():
    """Our server echoes a revision that it speaks, and answers one that it does not with its newest."""
    for revision in LEGACY:
        with Server() as server:
            result = server.start(revision)
            same(result["protocolVersion"], revision, "the revision")
            same(result["serverInfo"]["name"], "fixture", "the server")
            true("tools" in result["capabilities"], shown(result))
            server.is_alive(revision)
    for revision in ("1999-01-01", "2024-10-07", "2026-07-28", "2099-12-31", "", "é"):
        with Server() as server:
            same(server.start(revision)["protocolVersion"], NEWEST, "the answer to %r" % revision)
            server.is_alive(revision)


def row_L3():
    """A server that answers with a revision that is not spoken here is left, with a reason."""
    for revision in ("1999-01-01", "2024-05-11", "2026-07-28", ""):
        with Client() as client:
            client.open()
            guest = client.guest()
            guest.reply(guest.greet(), {"protocolVersion": revision, "capabilities": {},
                                        "serverInfo": {"name": "raw", "version": "1"}})
            same(guest.fresh(), None, "nothing comes any more, not even initialized")
            guest.leave()
            closed = client.event("closed")
            same((closed["no_revision"], closed["was_ready"]), (1, 0), shown(closed))
            true(revision in closed["phrase"], "the reason: %s" % shown(closed))
            client.none("ready", "it was ready")
    for revision in LEGACY[1:]:
        with Client() as client:
            client.open()
            client.guest().accept(revision)
            same(client.event("ready")["revision"], revision, "an older one")


def row_L4():
    """An error as the answer to initialize is the reason of the end."""
    with Client() as client:
        client.open()
        guest = client.guest()
        guest.refuse(guest.greet(), -32602, "no drives here")
        same(guest.fresh(), None, "nothing comes any more")
        guest.leave()
        closed = client.event("closed")
        same(closed["was_ready"], 0, shown(closed))
        true("no drives here" in closed["phrase"], shown(closed))
    with Client() as client:
        client.open()
        guest = client.guest()
        guest.reply(guest.greet(), {"protocolVersion": 5})
        guest.fresh()
        guest.leave()
        closed = client.event("closed")
        true(closed["was_ready"] == 0 and closed["phrase"], "a result that is none: %s" % shown(closed))


def row_L5():
    """A silent server is given up after the time for it, and initialize is not cancelled on the wire."""
    with Client() as client:
        began = time.monotonic()
        client.open(start=400, close_ms=200)
        guest = client.guest()
        guest.greet()
        same(guest.fresh(), None, "after initialize, before the end")
        guest.leave()
        closed = client.event("closed")
        took = time.monotonic() - began
        true(0.39 <= took < 2, "it took %.2f s" % took)
        same((closed["was_ready"], closed["fault"]), (0, "timeout"), shown(closed))
    with Client() as client:
        client.open()
        guest = client.guest()
        guest.greet()
        client.do("close")
        same(guest.fresh(), None, "after initialize, when the client closes")
        guest.leave()
        same(client.event("closed")["by_us"], 1, "who ended it")


def row_L5_long():
    """The same with the time that nobody has set: 30 s."""
    with Client() as client:
        began = time.monotonic()
        client.open()
        guest = client.guest()
        guest.greet()
        same(guest.fresh(40), None, "after initialize, before the end")
        took = time.monotonic() - began
        true(29.9 <= took < 32, "it took %.2f s" % took)
        guest.leave()
        same(client.event("closed")["fault"], "timeout", "why")


def row_L6():
    """ping, log messages and changes that come before the result of initialize are handled."""
    with Client() as client:
        client.open(changes=True)
        guest = client.guest()
        asked = guest.greet()
        same(guest.result("ping"), {}, "ping before the result")
        guest.tell("notifications/message", {"level": "info", "data": "early"})
        guest.tell("notifications/tools/list_changed")
        guest.reply(asked, {"protocolVersion": NEWEST, "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                            "serverInfo": {"name": "raw", "version": "1"}})
        client.event("ready")
        same(client.event("log")["data"], "early", "the log message")
        guest.news("notifications/initialized")
        same(guest.result("ping"), {}, "ping after it")
    with Server() as server:
        same(server.result("ping"), {}, "ping before initialize")
        server.start()
        server.is_alive("after it")


def row_L7():
    """A second initialize gets -32600, and the conversation goes on."""
    with Server() as server:
        server.start()
        error_is(server.initialize(), -32600, "the second one")
        error_is(server.initialize("2024-11-05"), -32600, "the third one, of another revision")
        server.is_alive("after it")
        same(server.text("echo", text="x"), "x", "a tool after it")


def row_L8():
    """A request before initialize gets -32600 with its own id, or is served if the server is told so."""
    for identity in (5, "five", 0):
        with Server() as server:
            server.send({"jsonrpc": "2.0", "id": identity, "method": "tools/list", "params": {}})
            error_is(server.answer_to(identity), -32600, "tools/list before initialize")
            server.start()
            true("tools" in server.result("tools/list"), "after it")
    with Server("early") as server:
        server.send({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
        true("tools" in server.answer_to(5).get("result", {}), "tools/list is served early")
        server.start()
        server.is_alive("after it")
    with Server() as server:
        # Between the result and initialized requests are served: M5.
        server.initialize()
        true("tools" in server.result("tools/list"), "before initialized")
        server.tell("notifications/initialized")
        server.is_alive("after it")


def row_L9():
    """initialize without clientInfo, or otherwise wrong, gets -32602; a right one may follow."""
    right = {"protocolVersion": NEWEST, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    for member in right:
        with Server() as server:
            error = error_is(server.ask("initialize", {k: v for k, v in right.items() if k != member}), -32602, member)
            true(member in shown(error), "the error does not name it: %s" % shown(error))
            server.start()
            server.is_alive("after it")
    with Server() as server:
        error_is(server.ask("initialize", {**right, "clientInfo": {"name": "raw"}}), -32602, "no version")
        error_is(server.ask("initialize", {**right, "protocolVersion": 1}), -32602, "a number")
        server.write(line({"jsonrpc": "2.0", "id": 77, "method": "initialize"}))
        error_is(server.answer_to(77), -32602, "no params")
        server.start()


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
