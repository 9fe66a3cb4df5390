"""T1 to T13 and T23: bytes and streams under MCP. See rows.py."""
import json
import os
import sys
import time

import rows
from rows import Client, Server, error_is, line, memory_of, same, shown, true

ODD = "a\nb\u2028c😀\x00d\r\t\"\\ é中"


def initialize(server, extra=()):
    """initialize, initialized and more, as one piece of bytes; the ids that will be answered."""
    first = server.request("initialize", {"protocolVersion": rows.NEWEST, "capabilities": {},
                                          "clientInfo": {"name": "raw", "version": "1"}})
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = [server.request(*each) for each in extra]
    return b"".join(line(each) for each in (first, told, *asked)), [first["id"], *(each["id"] for each in asked)]


def row_T1():
    """A message in single bytes is read once, by our server and by our client."""
    with Server() as server:
        data, identities = initialize(server, [("tools/call", {"name": "echo", "arguments": {"text": ODD}})])
        server.write_bytewise(data)
        for each in identities:
            true("result" in server.answer_to(each), "no result")
        server.is_quiet("after the answers")
    with Client() as client:
        guest = client.start()
        client.call("a", name="é中😀")
        asked = guest.news("tools/call")
        guest.write_bytewise(line({"jsonrpc": "2.0", "id": asked["id"],
                                   "result": {"content": [{"type": "text", "text": ODD}]}}))
        same(client.answer("a")["value"]["content"][0]["text"], ODD, "the answer in bytes")


def row_T2():
    """Several messages in one read are all taken, in their order."""
    with Server() as server:
        data, identities = initialize(server, [("ping",), ("tools/list",), ("ping",)])
        server.write(data)
        same([server.message()["id"] for _ in identities], identities, "the order of the answers")
    with Client() as client:
        guest = client.start({"tools": {}, "logging": {}})
        for tag in "abc":
            client.call(tag)
        asked = [guest.news("tools/call") for _ in range(3)]
        log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
        done = [{"jsonrpc": "2.0", "id": each["id"], "result": {"content": []}} for each in asked]
        guest.write(line(done[2]) + line(log) + line(done[0]) + line(done[1]))
        for tag in "abc":
            client.answer(tag)
        seen = [each.get("tag", "log") for each in client.events if each["event"] in ("answer", "log")]
        same(seen, ["c", "log", "a", "b"], "the order of what came")


def row_T3():
    """CRLF, blank lines and blanks around a message are let pass, in both directions."""
    ends = (b"%s\r\n", b"\n\n\r\n%s\n", b"  \t%s   \n", b"%s  \r\n\r\n")
    with Server() as server:
        server.start()
        for end in ends:
            asked = server.request("ping")
            server.write(end % line(asked)[:-1])
            same(server.answer_to(asked["id"])["result"], {}, repr(end))
        server.is_quiet("blank lines")
    with Client() as client:
        guest = client.start()
        for end in ends:
            client.call("a%d" % len(end))
            asked = guest.news("tools/call")
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}
            guest.write(end % line(answer)[:-1])
            client.answer("a%d" % len(end))
        client.none("violation", "blank lines")


def row_T4():
    """A newline, U+2028, an emoji and a NUL in a string are one line on the wire, and come back as they were."""
    with Server() as server:
        server.start()
        asked = server.tool("echo", text=ODD)
        server.send(asked)
        data = server.frame()  # what is no single line would be no JSON here
        same(json.loads(data)["result"]["content"][0]["text"], ODD, "what our server echoes")
    with Client() as client:
        guest = client.start()
        client.call("a", arguments={"text": ODD})
        asked = json.loads(guest.frame())
        same(asked["params"]["arguments"]["text"], ODD, "what our client sends")
        guest.answer(asked, ODD)
        same(client.answer("a")["value"]["content"][0]["text"], ODD, "what our client reads")


def row_T5():
    """A byte order mark in front of everything is skipped."""
    with Server() as server:
        data, identities = initialize(server, [("ping",)])
        server.write(b"\xef\xbb\xbf" + data)
        for each in identities:
            true("result" in server.answer_to(each), "no result")
    with Client() as client:
        client.open()
        guest = client.guest()
        asked = guest.greet()
        guest.write(b"\xef\xbb\xbf" + line({"jsonrpc": "2.0", "id": asked["id"], "result": {
            "protocolVersion": rows.NEWEST, "capabilities": {}, "serverInfo": {"name": "raw", "version": "1"}}}))
        client.event("ready")


def row_T6():
    """A line that is no JSON between two messages is told, and the next message works."""
    with Server() as server:
        server.start()
        server.write(b"debug: hello\n")
        server.is_alive("after it")
        server.wait_for("stray debug: hello")
        server.write(b'{"debug: hello\n')
        error_is(server.no_id("the answer to a line of garbage"), -32700, "what begins like a message")
        server.is_alive("after it")
    with Client() as client:
        guest = client.start()
        client.call("a")
        asked = guest.news("tools/call")
        guest.write(b"debug: hello\n" + line({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}))
        client.answer("a")
        true("hello" in shown(client.event("violation")), "the line is not told")
        guest.is_quiet("an answer to garbage")


def row_T7():
    """Garbage on the line of an answer is told; the answer is lost, and its caller's time runs out."""
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=300)
        asked = guest.news("tools/call")
        answer = line({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})
        guest.write(b"debug " + answer)
        client.event("violation")
        client.answer("a", "timed out")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")
    with Server() as server:
        server.start()
        server.write(b"debug " + line(server.request("ping")))
        server.wait_for("stray debug {")
        server.write(line(server.request("ping"))[:-1] + b" debug\n")
        error_is(server.no_id("the answer to it"), -32700, "garbage behind a message")
        server.is_alive("after it")


def row_T8():
    """JSON over many lines is told, with a hint; nobody waits beyond the time of the call."""
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=300)
        asked = guest.news("tools/call")
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}
        guest.write(json.dumps(answer, indent=2).encode() + b"\n")
        client.answer("a", "timed out")
        told = shown([each for each in client.events if each["event"] == "violation"])
        true("line" in told, "no hint in %s" % told)
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")
    with Server() as server:
        server.start()
        server.write(json.dumps(server.request("ping"), indent=2).encode() + b"\n")
        error_is(server.no_id("the answer to it"), -32700, "many lines")
        server.aside.clear()
        server.is_alive("after it")


def row_T9():
    """A peer that sends Content-Length headers is told so in words."""
    with Client() as client:
        client.open(start=2000)
        guest = client.guest()
        asked = guest.greet()
        body = line({"jsonrpc": "2.0", "id": asked["id"], "result": {}})[:-1]
        guest.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        guest.leave()
        closed = client.event("closed")
        told = shown([closed] + [each for each in client.events if each["event"] == "violation"])
        true("Content-Length" in told or "header" in told, "no word of the framing: %s" % told)
    with Server() as server:
        body = line(server.request("ping"))[:-1]
        server.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.wait_for("Content-Length")


def padded(message, size):
    body = line(message)[:-1]
    return body + b" " * (size - len(body)) + b"\n"


def row_T10():
    """A message at the limit is taken, one byte more is a defined end; memory stays bounded; 9 MiB are no problem."""
    cap = 1 << 20
    with Server("max=%d" % cap) as server:
        server.start()
        asked = server.request("ping")
        server.write(padded(asked, cap))
        same(server.answer_to(asked["id"])["result"], {}, "a message of the limit")
        before = memory_of(server.child.pid)
        try:
            server.write(padded(server.request("ping"), cap + 1) + b"x" * (8 * cap))
        except OSError:
            pass
        true(server.ended() in (0, 1), "how it ends")
        server.wait_for(str(cap))
        true(before < 64 << 20, "it has %d bytes" % before)
    with Client() as client:
        guest = client.start(message_max=cap)
        client.call("a")
        guest.write(padded({"jsonrpc": "2.0", "id": guest.news("tools/call")["id"], "result": {"content": []}}, cap))
        client.answer("a")
        client.call("b")
        guest.news("tools/call")
        before = memory_of(client.child.pid)
        try:
            guest.write(b"y" * (4 * cap))
        except (OSError, rows.Wrong):
            pass
        lost = client.answer("b", "lost")
        true(str(cap) in lost["phrase"], "the reason: %s" % shown(lost))
        true(memory_of(client.child.pid) - before < 4 * cap, "memory for what is refused")
        guest.leave()
        same(client.event("closed")["fault"], "message-limit", "why it is over")
    with Client() as client:
        client.start_ours()
        text = "é" * (9 << 19)
        client.call("a", name="echo", arguments={"text": text})
        true(client.answer("a")["value"]["content"][0]["text"] == text, "9 MiB are not the same")


def row_T10_long():
    """9 MiB go to server-everything and come back."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop", "node_modules",
                          "@modelcontextprotocol", "server-everything", "dist", "index.js")
    if not os.path.exists(script):
        print("server-everything is not installed")
        sys.exit(77)
    with Client() as client:
        same(client.open(argv=["node", script, "stdio"])["status"], "ok", "starting it")
        client.event("ready")
        text = "x" * (9 << 20)
        client.call("a", name="echo", arguments={"message": text})
        true(client.answer("a")["value"]["content"][0]["text"].endswith(text), "9 MiB are not the same")
        client.close()


def row_T11():
    """Bytes that are not UTF-8 get -32700, and the process lives."""
    with Server() as server:
        server.start()
        server.write(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"a":"\xff\xc3("}}}\n')
        error_is(server.no_id("the answer"), -32700, "wrong UTF-8")
        server.is_alive("after it")
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=300)
        asked = guest.news("tools/call")
        answer = line({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": "A"}]}})
        guest.write(answer.replace(b'"A"', b'"\xed\xa0\x80"'))
        client.event("violation")
        client.answer("a", "timed out")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")


def row_T12():
    """10,000 arrays inside each other get an error, and the stack holds."""
    deep = b"[" * 10000 + b"]" * 10000
    with Server() as server:
        server.start()
        server.write(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"a":%s}}}\n' % deep)
        answer = server.until(lambda m: "error" in m, "the answer")
        true(answer["error"]["code"] in (-32700, -32600), shown(answer))
        server.write(deep + b"\n")
        answer = server.until(lambda m: "error" in m, "the answer to arrays alone")
        true(answer["error"]["code"] in (-32700, -32600), shown(answer))
        server.is_alive("after it")
    with Client() as client:
        guest = client.start()
        client.call("a", timeout=300)
        asked = guest.news("tools/call")
        answer = line({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [], "_meta": {"a": "A"}}})
        guest.write(answer.replace(b'"A"', deep))
        client.event("violation")
        true(client.event("answer", tag="a")["outcome"] in ("timed out", "invalid"), "the call")
        client.call("b")
        guest.answer(guest.news("tools/call"))
        client.answer("b")


def row_T13():
    """What a handler prints goes to the standard error and never reaches the wire."""
    with Server() as server:
        server.start()
        same(server.text("print"), "printed", "the tool that prints")
        server.is_alive("after it")
        same(server.aside, [], "what else came")
        server.wait_for("hello")


def row_T23():
    """A client that does not read for a while, while it asks for megabytes, gets everything in the end."""
    with Server() as server:
        server.start()
        asked = [server.tool("big", size=300000) for _ in range(10)]
        asked += [server.tool("echo", text="y" * 100000) for _ in range(30)]
        asked += [server.request("ping") for _ in range(2000)]
        data = memoryview(b"".join(line(each) for each in asked))
        # Written without reading: our server has to take its input while its output is full.
        end = time.monotonic() + rows.PATIENCE
        while data and time.monotonic() < end:
            try:
                data = data[os.write(server.write_fd, data[:65536]) :]
            except BlockingIOError:
                time.sleep(0.005)
        true(not data, "%d bytes were not read" % len(data))
        for each in asked:
            true("result" in server.answer_to(each["id"]), "no result")


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
