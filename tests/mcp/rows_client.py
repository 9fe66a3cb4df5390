"""R16 to R22: what a server asks of our client, lists, capabilities, and many calls. See rows.py."""
import sys

import rows
from rows import Client, error_is, same, true

ROOT = "file:///home/user/project"


def row_R16():
    """An unknown request of the server gets -32601 with its id, an unknown notification nothing."""
    with Client() as client:
        guest = client.start()
        error_is(guest.ask("weather/get", {}), -32601, "an unknown request")
        guest.tell("notifications/weather", {"rain": True})
        guest.tell("no/such/thing")
        guest.is_alive("after it")
        same(guest.aside, [], "what else came")


def row_R17():
    """Folders are listed, each change is told, and all that only if they are offered."""
    with Client() as client:
        client.open(roots=True)
        guest = client.guest()
        same(guest.greet()["params"]["capabilities"].get("roots"), {"listChanged": True}, "the capability")
        guest.accept()
        client.event("ready")
        same(guest.result("roots/list"), {"roots": []}, "none yet")
        for what, members, wanted in (
            ("add_root", {"uri": ROOT, "name": "project"}, [{"uri": ROOT, "name": "project"}]),
            ("add_root", {"uri": "file:///b"}, [{"uri": ROOT, "name": "project"}, {"uri": "file:///b"}]),
            ("remove_root", {"uri": ROOT}, [{"uri": "file:///b"}]),
            ("clear_roots", {}, []),
        ):
            client.do(what, **members)
            same(client.event("roots")["status"], "ok", what)
            guest.news("notifications/roots/list_changed")
            same(guest.result("roots/list"), {"roots": wanted}, what)
        client.do("remove_root", uri=ROOT)
        same(client.event("roots")["status"], "gone", "one that is not there")
        client.do("add_root", uri="https://example.com/")
        same(client.event("roots")["status"], "invalid", "not a file")
        guest.is_quiet("nothing changed")
    with Client() as client:
        client.open()
        guest = client.guest()
        true("roots" not in guest.greet()["params"]["capabilities"], "roots were not to be offered")
        guest.accept()
        client.event("ready")
        client.do("add_root", uri=ROOT)
        same(client.event("roots")["status"], "invalid", "roots that are not offered")
        error_is(guest.ask("roots/list"), -32601, "roots/list")


SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 10}
SAID = {"role": "assistant", "content": {"type": "text", "text": "!"}, "model": "m"}


def row_R18():
    """sampling/createMessage is answered, refused, or an error from the start: never met with silence."""
    with Client() as client:
        guest = client.start()
        true("sampling" not in guest.greeting["params"]["capabilities"], "sampling was not to be offered")
        error_is(guest.ask("sampling/createMessage", SAMPLING), -32601, "nobody is there to answer")
    with Client() as client:
        guest = client.start(sampling=True)
        true("sampling" in guest.greeting["params"]["capabilities"], "sampling is not offered")
        asked = [guest.request("sampling/createMessage", SAMPLING) for _ in range(4)]
        for each in asked:
            guest.send(each)
        numbers = [client.event("question", kind="sampling")["number"] for _ in asked]
        client.do("answer", number=numbers[2], result={"role": "nobody"})
        same(client.event("answered")["status"], "misfit", "an answer that does not fit")
        client.do("answer", number=numbers[2], result=SAID)
        same(client.event("answered")["status"], "ok", "one that fits")
        same(guest.answer_to(asked[2]["id"])["result"]["model"], "m", "the answer")
        client.do("refuse", number=numbers[0], code=-1, message="the user said no")
        same(client.event("answered")["status"], "ok", "refusing")
        same(error_is(guest.answer_to(asked[0]["id"]), -1, "refused")["message"], "the user said no", "the words")
        guest.tell("notifications/cancelled", {"requestId": asked[1]["id"]})
        same(client.event("question_gone")["number"], numbers[1], "the one that is no longer wanted")
        client.do("answer", number=numbers[1], result=SAID)
        same(client.event("answered")["status"], "gone", "answering it")
        error_is(guest.ask("sampling/createMessage", {"maxTokens": 1}), -32602, "one that does not fit")
        guest.is_alive("after it")
        same(guest.aside, [], "what else came")
        client.do("close")
        same(client.event("question_gone")["number"], numbers[3], "the open one, at the end")
        guest.leave()
        client.event("closed")


def row_R19():
    """Log messages of every level, with and without a logger, are told; one of no level is not."""
    levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    with Client() as client:
        guest = client.start({"logging": {}})
        for each in levels:
            named = {"logger": "l"} if each < "e" else {}
            guest.tell("notifications/message", {"level": each, "data": {"n": each}, **named})
        guest.tell("notifications/message", {"level": "loud", "data": 1})
        for each in levels:
            got = client.event("log")
            same((got["level"], got["data"], got.get("logger")), (each, {"n": each}, "l" if each < "e" else None), each)
        client.event("violation")
        client.none("log", "a level that is none", level=None)
        client.do("set_level", tag="a", name="warning")
        asked = guest.news("logging/setLevel")
        same(asked["params"]["level"], "warning", "the level")
        guest.reply(asked, {})
        client.answer("a")


def row_R20():
    """Lists are read to their last page; a cursor that comes twice, and too many pages, end it."""
    with Client() as client:
        guest = client.start({"tools": {}, "resources": {}}, pages_max=10)
        client.call("a", "list", kind="tools")
        for page in range(4):
            asked = guest.news("tools/list")
            same(asked.get("params", {}).get("cursor"), None if page == 0 else "c%d" % page, "the cursor")
            more = {"nextCursor": "c%d" % (page + 1)} if page < 3 else {}
            guest.reply(asked, {"tools": [{"name": "t%d" % page, "inputSchema": {"type": "object"}}], **more})
        got = client.answer("a")["value"]
        same([each["name"] for each in got["tools"]], ["t0", "t1", "t2", "t3"], "all pages")
        true("nextCursor" not in got, "there is no next page")
        client.call("b", "list", kind="tools")
        for _ in range(2):
            guest.reply(guest.news("tools/list"), {"tools": [], "nextCursor": "same"})
        client.answer("b", "invalid")
        guest.is_quiet("after the same cursor")
        client.call("c", "list", kind="resources")
        for page in range(10):
            guest.reply(guest.news("resources/list"), {"resources": [], "nextCursor": "p%d" % page})
        client.answer("c", "invalid")
        guest.is_quiet("after too many pages")
        client.call("d", "list", kind="tools")
        guest.reply(guest.news("tools/list"), {"tools": [], "nextCursor": "x"})
        guest.refuse(guest.news("tools/list"), -32602, "no such cursor")
        same(client.answer("d", "error")["code"], -32602, "an error on the second page")
        client.call("e", "list", kind="tools")
        guest.reply(guest.news("tools/list"), {"tools": [], "nextCursor": "x"})
        asked = guest.news("tools/list")
        client.do("cancel", tag="e")
        client.answer("e", "cancelled")
        same(guest.news("notifications/cancelled")["params"]["requestId"], asked["id"], "the page that was open")
        same(client.pending(), 0, "pending")


def row_R21():
    """What a server does not offer cannot be asked for, and nothing is sent."""
    asks = {
        "tools": ("list", {"kind": "tools"}), "resources": ("read", {"name": "test://one"}),
        "prompts": ("prompt", {"name": "p"}), "logging": ("set_level", {"name": "info"}),
        "completions": ("complete", {"kind": "prompts", "name": "p", "argument": "a", "value": ""}),
        "subscribe": ("subscribe", {"name": "test://one"}), "tasks": ("task", {"name": "t"}),
    }
    with Client() as client:
        guest = client.start({})
        for tag, (what, members) in asks.items():
            true(client.call(tag, what, status="misfit", **members).get("why"), "%s: no reason" % tag)
        guest.is_quiet("what is not offered")
        client.call("ping", "ping")
        guest.reply(guest.news("ping"), {})
        client.answer("ping")
    with Client() as client:
        guest = client.start({"completions": {}, "resources": {}})
        client.call("a", "complete", kind="prompts", name="p", argument="x", value="y")
        guest.reply(guest.news("completion/complete"), {"completion": {"values": ["yes"]}})
        same(client.answer("a")["value"]["completion"]["values"], ["yes"], "the values")
        client.call("b", "subscribe", status="misfit", name="test://one")
        client.call("c", "read", name="test://one")
        guest.reply(guest.news("resources/read"), {"contents": []})
        client.answer("c")
    with Client() as client:
        # As servers of Hermes MCP call it: M18.
        client.start({"completion": {}})
        client.call("a", "complete", kind="prompts", name="p", argument="x", value="y")


def row_R22():
    """1,000 calls at once that end in any order each get their own answer."""
    with Client() as client:
        client.start_ours()
        client.do("many", name="shuffled", count=1000)
        got = client.event("many")
        same((got["done"], got["wrong"], got["pending"]), (1000, 0, 0), "all of them")
        client.close()


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
