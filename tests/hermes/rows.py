"""What is known of the real Hermes on the wire, row by row: ours does it right, and with
--revision exact answers and edits as Hermes 0.1.0 does.

    rows.py BUILD [ROW...]      all rows, or these: 07, 14-long

A row is a function, and talks raw bytes: see raw.py. Numbers with an H are errata of the protocol's
document, numbers with an F are faults of the catalogue.
"""
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import raw
from raw import Editor, Extension, eventually, frame, same, shown, text_of, true
from tables import EXACT, FIXED, ROUND_TRIPS

BUILD = ""
BOTH = (None, "exact")
MESSAGE = "MSH|^~\\&|APP|FAC|||20250101||ADT^A01|1|P|2.5\rPID|1||12345||doe^john\r"
CHANGED = {"commands": [], "events": [{"name": "message/changed", "options": {"includeContent": True}}]}


def editor(*options, **rest):
    return Editor(BUILD, *options, **rest)


def extension(name="hermes-normalise"):
    return Extension(os.path.join(BUILD, "examples", name))


def get(guest, form="hl7"):
    return guest.result("editor/getMessage", {"format": form})["message"]


def put(guest, text, form="hl7"):
    return guest.result("editor/setMessage", {"message": text, "format": form})


def patch(guest, *patches):
    return guest.result("editor/patchMessage", {"patches": list(patches)})


def is_alive(guest, what):
    """It is heard and answered, whatever came before."""
    true("message" in guest.result("editor/getMessage", {"format": "hl7"}), what)


def standard(error, code, message, what):
    """An error as it is here: the document's own message, details in data."""
    same((error["code"], error["message"]), (code, message), what)


def exact_error(error, code, beginning, what):
    """An error as Hermes 0.1.0 has it: details in the message, and no data."""
    true(
        error["code"] == code and error["message"].startswith(beginning) and "data" not in error,
        "%s: %s instead of %d %s" % (what, shown(error), code, beginning),
    )


def help_of(option):
    """What the help says about an option."""
    words = [os.path.join(BUILD, "duplex"), "hermes", "--help-all"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=raw.PATIENCE, check=True)
    found = re.search(r"^ +.*--%s\b.*(\n {10,}\S.*)*" % option, done.stdout, re.M)
    true(found, "the help does not know --" + option)
    return found.group(0)


def row_01():
    """initialize, command/execute and shutdown are the real editor's, byte for byte."""
    for revision in BOTH:
        for data in ("d", "a longer folder"):
            with editor(revision=revision, data=data) as host:
                told = '{"apiVersion":"1.0","dataDirectory":"%s","hermesVersion":"0.1.0"}' % host.data
                greeting = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":%s}' % told
                greeting = b"Content-Length: %d\r\n\r\n%s" % (len(greeting.encode()), greeting.encode())
                guest = host.guest()
                same(guest.frame(), greeting, "initialize")
                guest.greeting = {"id": 1}
                guest.start(capabilities={"commands": ["echo/ping"]})
                host.state("running", "Raw")
                host.say("run echo/ping")
                same(
                    guest.frame(),
                    b'Content-Length: 77\r\n\r\n{"jsonrpc":"2.0","method":"command/execute",'
                    b'"params":{"command":"echo/ping"}}',
                    "command/execute, and nothing before it",
                )
                host.say("reload")
                same(
                    guest.frame(),
                    b'Content-Length: 73\r\n\r\n{"jsonrpc":"2.0","id":2,"method":"shutdown",'
                    b'"params":{"reason":"reload"}}',
                    "shutdown",
                )
                guest.reply({"id": 2}, {"success": True})
                guest.leave()
                again = host.guest()
                same(again.frame(), greeting, "initialize of the next process, ids from 1")
                again.greeting = {"id": 1}
                again.start()
                host.state("running", "Raw")
                if revision:
                    continue
                host.console.close()
                same(
                    again.frame(),
                    b'Content-Length: 74\r\n\r\n{"jsonrpc":"2.0","id":2,"method":"shutdown",'
                    b'"params":{"reason":"closing"}}',
                    "shutdown in the end (H18)",
                )
                again.reply({"id": 2}, {"success": True})
                again.leave()
                host.ended(0)


def row_02():
    """An answer whose header lines end in LF alone is taken, by the host and by our extension."""
    for header in ("Content-Length: %d\n\n", "Content-Length: %d\r\n\n", "Content-Length: %d\n\r\n"):
        with editor() as host:
            guest = host.guest()
            answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": {"name": "LF", "version": "1"}}
            guest.write(frame(answer, header))
            host.state("running", "LF")
            asked = guest.request("editor/getMessage", {"format": "hl7"})
            guest.write(frame(asked, header))
            same(guest.answer_to(asked["id"])["result"]["message"], "", "the answer to a request with LF")
        with extension() as ours:
            asked = ours.request("initialize", {"apiVersion": "1.0", "dataDirectory": "/", "hermesVersion": "0.1.0"})
            ours.write(frame(asked, header))
            true("name" in ours.answer_to(asked["id"])["result"], "our extension did not answer")


def row_03():
    """The host takes the header's name in any case (H6); we always send the one form."""
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.guest()
            answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": {"name": "low", "version": "1"}}
            guest.write(frame(answer, "content-length: %d\r\n\r\n"))
            host.state("running", "low")
            for name in ("CONTENT-LENGTH: %d\r\n\r\n", "Content-length:%d\r\n\r\n"):
                asked = guest.request("editor/getMessage", {"format": "hl7"})
                guest.write(frame(asked, name))
                guest.answer_to(asked["id"])
    with extension() as ours:
        # Wire.frame() takes nothing but the canonical form: so all that ours says here has it.
        ours.start()
        ours.execute("names/normalise")
        asked = ours.news("editor/getMessage")
        ours.reply(asked, {"hasFile": False, "message": MESSAGE})
        true("error" in ours.ask("x/y"), "x/y was answered")
        ours.aside.clear()
        ours.shut_down()


HEADERS = (
    "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
    "Content-Length: %d\r\nContent-Type: application/json\r\n\r\n",
    "X-Before: 1\r\nContent-Length: %d\r\nX-After: 2\r\n\r\n",
    "Content-Length:%d\r\n\r\n",
    "Content-Length:        %d   \r\n\r\n",
    "Content-Length: 5\r\nContent-Length: %d\r\n\r\n",
    "Content-Length: 100000\r\nX-Between: 1\r\nContent-Length: %d\r\n\r\n",
    "Content-Length: +%d\r\n\r\n",
    "  Content-Length: %d\r\n\r\n",
)


def row_04():
    """Other header lines, any blanks, a plus sign and the last of several lengths are taken."""
    with editor(message=MESSAGE) as host:
        guest = host.start()
        host.opened()
        for header in HEADERS:
            asked = guest.request("editor/getMessage", {"format": "hl7"})
            guest.write(frame(asked, header))
            got = guest.until(lambda m: m.get("id") == asked["id"], "the answer to %r" % header)
            same(got["result"]["message"], MESSAGE, repr(header))
        host.quit(guest)
    with extension() as ours:
        ours.start()
        for header in HEADERS:
            asked = ours.request("x/y")
            ours.write(frame(asked, header))
            got = ours.until(lambda m: m.get("id") == asked["id"], "the answer of ours to %r" % header)
            same(got["error"]["code"], -32601, repr(header))
        ours.shut_down()


def of_size(message, size):
    """The message in so many bytes: white space behind a document is part of it."""
    body = text_of(message)
    return body + b" " * (size - len(body))


def body_limit(revision, limit, size):
    with editor(revision=revision, names=("large", "other")) as host:
        guest, other = host.start("large"), host.start("other")
        before = host.memory("VmRSS")
        body = frame(of_size(guest.request("editor/getMessage", {"format": "hl7"}), size))
        guest.write(body[:1000])
        guest.is_taken()
        is_alive(other, "the other one, while a body is incomplete")
        grown = host.memory("VmRSS") - before
        true(grown < size // 2, "%d bytes for a body that did not come" % grown)
        guest.write(body[1000:])
        guest.answer_to(guest.last_id)
        before = host.memory("VmSize")
        guest.write(b"Content-Length: %d\r\n\r\n" % (limit + 1))
        why = host.state("failed", "large")
        true(str(limit) in str(why.get("reason")), "the reason does not name the limit: %s" % shown(why))
        grown = host.memory("VmSize") - before
        true(grown < size // 2, "%d bytes for a refused body" % grown)
        guest.leave()
        is_alive(other, "the other one, after that")


def row_05():
    """A body at the limit is taken, one byte more is refused at its header; nothing is allocated ahead."""
    body_limit("exact", 10485760, 10485760)
    body_limit(None, 1074790400, 80000000)


def row_05_long():
    """The same for the longest body, in which the longest document fits."""
    body_limit(None, 1074790400, 1074790400)


ODD = "Å中😀é"


def row_06():
    """Frames come in single bytes, and cut inside a character, and are the same messages."""
    with editor(message=MESSAGE) as host:
        guest = host.start()
        host.opened()
        asked = guest.request("editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": ODD}]})
        guest.write_bytewise(frame(asked))
        same(guest.answer_to(asked["id"])["result"], {"patchesApplied": 1, "success": True}, "a patch in bytes")
        wanted = MESSAGE.replace("doe", ODD)
        same(get(guest), wanted, "the message")
        whole = frame(guest.request("editor/setMessage", {"message": wanted, "format": "hl7"}))
        for at in [i for i in range(len(whole)) if whole[i] & 0xC0 == 0x80]:
            asked = guest.request("editor/setMessage", {"message": wanted, "format": "hl7"})
            data = frame(asked)
            at += len(data) - len(whole)
            guest.write(data[:at])
            guest.is_taken()
            guest.write(data[at:])
            same(guest.answer_to(asked["id"])["result"], {"success": True}, "a frame cut at %d" % at)
        # As the samples write it: the header alone, then a body whose characters are escapes.
        body = json.dumps(asked := guest.request("editor/setMessage", {"message": wanted, "format": "hl7"})).encode()
        true(b"\\ud83d" in body, "no escapes")
        guest.write(b"Content-Length: %d\r\n\r\n" % len(body))
        guest.is_taken()
        guest.write(body)
        same(guest.answer_to(asked["id"])["result"], {"success": True}, "a body of escapes")
        same(get(guest), wanted, "the message in the end")
        host.quit(guest)
    with extension() as ours:
        told = {"apiVersion": "1.0", "dataDirectory": "/" + ODD, "hermesVersion": "0.1.0"}
        asked = ours.request("initialize", told)
        ours.write_bytewise(frame(asked))
        true("name" in ours.answer_to(asked["id"])["result"], "our extension did not answer")
        ours.shut_down()


def row_07():
    """Two frames in one write are two messages; 100 requests at once are answered in order, a dialog holds up none."""
    with editor(message=MESSAGE) as host:
        guest = host.guest()
        answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": {"name": "Raw", "version": "1"}}
        asked = [guest.request("editor/getMessage", {"format": "hl7"}) for _ in range(100)]
        guest.write(frame(answer) + frame(asked[0]))
        true("message" in guest.answer_to(1)["result"], "the second message of one write")
        host.opened()
        guest.write(b"".join(frame(each) for each in asked[1:]))
        for each in asked[1:]:
            got = guest.message()
            same((got or {}).get("id"), each["id"], "the next answer")
            same(got["result"]["message"], MESSAGE, "the message")
        host.quit(guest)
    with extension() as ours:
        told = {"apiVersion": "1.0", "dataDirectory": "/tmp", "hermesVersion": "0.1.0"}
        asked = ours.request("initialize", told)
        command = {"jsonrpc": "2.0", "method": "command/execute", "params": {"command": "names/normalise"}}
        ours.write(frame(asked) + frame(command))
        true("name" in ours.answer_to(asked["id"])["result"], "our extension did not answer")
        ours.news("editor/getMessage")
    for revision in BOTH:
        with editor(revision=revision, events=False) as host:
            guest = host.guest()
            guest.start()
            question = guest.request("ui/showConfirm", {"message": "Sure?"})
            asked = [guest.request("editor/getMessage", {"format": "hl7"}) for _ in range(3)]
            guest.write(b"".join(frame(each) for each in [question, *asked]))
            # The real editor serves one after the other (H17).
            if not revision:
                same([guest.message()["id"] for _ in asked], [each["id"] for each in asked], "behind a dialog")
            host.wait_for("Sure?")
            host.say("yes")
            same(guest.message()["result"], {"confirmed": True}, "the user's answer")
            if revision:
                same([guest.message()["id"] for _ in asked], [each["id"] for each in asked], "after a dialog")


def row_08():
    """A data folder beyond ASCII is told in raw UTF-8, and its bytes are counted."""
    for name in ("Å", "中文", "😀", "Å中😀"):
        with editor(data=name) as host:
            guest = host.guest()
            data = guest.frame()
            head, _, body = data.partition(b"\r\n\r\n")
            same(head, b"Content-Length: %d" % len(body), "the header")
            true(("/" + name + '"').encode() in body, "not raw UTF-8: %r" % body)
            true(len(body) > len(body.decode()), "bytes and characters do not differ")
            same(json.loads(body)["params"]["dataDirectory"], host.data, "the folder")
        with extension() as ours:
            true("name" in ours.start("/data/" + name), "our extension did not answer")
            ours.shut_down()


def row_09():
    """A stray line before a header is survived and told; so is one with an empty line behind it (F17)."""
    for revision in BOTH:
        with editor(message=MESSAGE, revision=revision) as host:
            guest = host.start()
            host.opened()
            for stray in ("loading the tables\n", "loading the tables\r\n\r\n", "\r\n", "not yet done\n\n\n"):
                asked = guest.request("editor/getMessage", {"format": "hl7"})
                guest.write(stray.encode() + frame(asked))
                same(guest.answer_to(asked["id"])["result"]["message"], MESSAGE, "behind %r" % stray)
            for text in ("loading the tables", "loading the tables", "not yet done"):
                told = host.event("violation", extension="raw")
                true(text in told["text"], "%s is not told: %s" % (text, shown(told)))
            host.quit(guest)
    with extension() as ours:
        ours.start()
        asked = ours.request("x/y")
        ours.write(b"a stray line\n\n" + frame(asked))
        same(ours.answer_to(asked["id"])["error"]["code"], -32601, "our extension behind a stray line")


def row_10():
    """Strings and numbers as ids are echoed as they came (H9); null, true and the like are refused."""

    def exchange(wire, method, rest, answered):
        for identity in ('"s-1"', '"1"', "9223372036854775807", "9223372036854775808", "1.5", "-7", '""'):
            wire.write(frame(('{"jsonrpc":"2.0","id":%s,"method":"%s"%s}' % (identity, method, rest)).encode()))
            body = wire.body()
            true(body is not None, "id %s was not answered" % identity)
            true(
                body.startswith(b'{"jsonrpc":"2.0","id":%s,"%s":' % (identity.encode(), answered.encode())),
                "id %s: %r" % (identity, body[:300]),
            )
        for identity in ("null", "true", "{}", "[1]"):
            wire.write(frame(('{"jsonrpc":"2.0","id":%s,"method":"%s"%s}' % (identity, method, rest)).encode()))
            got = wire.message()
            true(got is not None, "id %s was not answered" % identity)
            same((got["id"], got.get("error", {}).get("code")), (None, -32600), "id %s" % identity)

    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            exchange(guest, "editor/getMessage", ',"params":{"format":"hl7"}', "result")
            host.quit(guest, code=6)
    with extension() as ours:
        ours.start()
        exchange(ours, "x/y", "", "error")
        ours.shut_down()


NOBODYS = (
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}},
    {"jsonrpc": "2.0", "id": 4711, "result": {}},
    {"jsonrpc": "2.0", "id": 4711, "error": {"code": 1, "message": "no"}},
    {"jsonrpc": "2.0", "id": "1", "result": {}},
)


def row_11():
    """An error with id null and answers that nobody waits for are ignored."""
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.guest()
            guest.greet()
            for each in NOBODYS:
                guest.send(each)
            guest.start(name="raw")
            host.state("running", "raw")
            for each in NOBODYS:
                guest.send(each)
                is_alive(guest, shown(each))
            same(guest.aside, [], "answers to answers")
            host.quit(guest)
    with extension() as ours:
        ours.start()
        ours.execute("names/normalise")
        asked = ours.news("editor/getMessage")
        for each in NOBODYS[:3]:
            ours.send(each)
        ours.reply(asked, {"hasFile": False, "message": MESSAGE})
        got = ours.message()
        true(got and got.get("method", "").startswith("editor/"), "ours did not go on: %s" % shown(got))


NAMELESS = b'{"jsonrpc":"2.0","id":1}'
REFUSAL = {"code": -32600, "message": "Invalid Request", "data": "missing required field: method"}


def check_batches(guest):
    """One response with what each request in it gets, in any order; nothing for notifications alone."""
    get_hl7 = {"jsonrpc": "2.0", "method": "editor/getMessage", "params": {"format": "hl7"}}
    set_hl7 = {"jsonrpc": "2.0", "method": "editor/setMessage", "params": {"format": "hl7", "message": MESSAGE}}
    guest.send([{**set_hl7, "id": "s"}, {**get_hl7, "id": 90}, {"jsonrpc": "2.0", "method": "no/such"}, {**get_hl7, "id": 91, "method": "x/y"}])
    got = {one["id"]: one.get("result", one.get("error", {}).get("code")) for one in guest.message()}
    same(got.pop("s"), {"success": True}, "in a batch")
    same((got.pop(90)["message"], got), (MESSAGE, {91: -32601}), "in a batch")
    guest.send([{"jsonrpc": "2.0", "method": "no/such"}])
    guest.send([{"jsonrpc": "2.0", "id": 4711, "result": 1}])
    guest.send([1, {**get_hl7, "id": 92}])
    got = {one["id"]: one.get("error", {}).get("code") for one in guest.message()}
    same(got, {None: -32600, 92: None}, "an element that is no message")
    put(guest, "MSH|^~\\&|A")


def check_unreadable(host, guest, revision):
    """It is reported, and answered as JSON-RPC says, with id null; not all of a flood is."""
    guest.write(frame(b'{"jsonrpc":"2.0",'))
    host.event("violation", extension="good")
    if not revision:
        got = guest.message()
        same((got["id"], got["error"]["code"]), (None, -32700), "what can't be read")
    guest.write(frame(b"{") * 500)
    guest.aside.clear()
    is_alive(guest, "after a flood")
    answers = [one for one in guest.aside if one.get("error", {}).get("code") == -32700]
    true(len(answers) == 0 if revision else 0 < len(answers) < 100, "%d answers to a flood" % len(answers))
    guest.aside.clear()


def row_12():
    """error null beside a result, jsonrpc as a number and the document's sample are refused; life goes on. Batches
    are taken (H52), what can't be read is answered, but not all of a flood (H8)."""
    for revision in BOTH:
        with editor(revision=revision, names=("both", "number", "good")) as host:
            both, number, good = (host.guest(name) for name in ("both", "number", "good"))
            facts = {"name": "x", "version": "1"}
            both.send({"jsonrpc": "2.0", "id": both.greet()["id"], "result": facts, "error": None})
            host.state("failed", "both")
            both.leave()
            number.greet()
            number.write(frame(b'{"jsonrpc":2.0,"id":1,"result":{"name":"x","version":"1"}}'))
            host.state("failed", "number")
            number.leave()
            good.start(name="good")
            host.state("running", "good")
            good.write(frame(b'{"jsonrpc":2.0,"id":7,"method":"editor/getMessage","params":{"format":"hl7"}}'))
            got = good.message()
            same((got["id"], got["error"]["code"]), (7, -32600), "jsonrpc as a number")
            request = {"jsonrpc": "2.0", "id": 8, "method": "editor/getMessage", "params": {"format": "hl7"}}
            for batch in ([], [request], [request, request]) if revision else ([],):
                good.send(batch)
                got = good.message()
                same((got["id"], got["error"]["code"]), (None, -32600), "a batch of %d" % len(batch))
            if not revision:
                check_batches(good)
            check_unreadable(host, good, revision)
            good.write(frame(NAMELESS))
            same(good.message(), {"jsonrpc": "2.0", "id": 1, "error": REFUSAL}, "an id and no method")
            is_alive(good, "after a batch")
    with extension() as ours:
        ours.start()
        ours.send([{"jsonrpc": "2.0", "id": 8, "method": "x/y"}, {"jsonrpc": "2.0", "method": "no/such"}, 1])
        got = ours.message()
        codes = [(one["id"], one["error"]["code"]) for one in got]
        same(sorted(codes, key=str), [(8, -32601), (None, -32600)], "a batch for our extension")
        ours.write(frame(NAMELESS))
        same(ours.message(), {"jsonrpc": "2.0", "id": 1, "error": REFUSAL}, "an id and no method for our extension")
        ours.shut_down()


def row_13():
    """32 requests before the answer to initialize are served, and so are 33 and 200 (H16)."""
    counts = (32, 33, 200)
    for revision in BOTH:
        with editor(revision=revision, names=["n%d" % count for count in counts]) as host:
            for count in counts:
                guest = host.guest("n%d" % count)
                guest.greet()
                asked = [guest.request("editor/getMessage", {"format": "hl7"}) for _ in range(count)]
                guest.write(b"".join(frame(each) for each in asked))
                guest.is_taken()
                guest.start(name="n%d" % count)
                host.state("running", "n%d" % count)
                for each in asked:
                    same(guest.answer_to(each["id"])["result"]["message"], "", "%d of %d" % (each["id"], count))


GOOD_STARTS = {
    "minimal": {},
    "empty": {"name": "", "version": "", "capabilities": {}},
    "unknown": {"more": [1], "capabilities": {"commands": [], "more": 1, "schemaProvider": True}},
    "nulls": {"description": None, "homepage": None, "authors": None, "schema": None},
    "events": {"capabilities": {"events": [{"name": "message/" + n} for n in ("changed", "opened", "saved")]}},
}
BAD_STARTS = {
    "no-version": {"name": "x"},
    "odd-name": {"name": 1, "version": "1"},
    "odd-event": {"name": "x", "version": "1", "capabilities": {"events": [{"name": "message/printed"}]}},
    "no-buttons": {"name": "x", "version": "1", "toolbarButtons": None},
    "no-label": {"name": "x", "version": "1", "toolbarButtons": [{"id": "a", "icon": "", "command": "a/b"}]},
    "no-capabilities": {"name": "x", "version": "1", "capabilities": None},
    "no-object": None,
    "an-array": ["x", "1"],
}


def row_14():
    """initialize: the least that will do, what will not, an error, silence, and an exit at once."""
    for option, time_ in (("start-timeout", "10 ?s"), ("stop-timeout", "5 ?s")):
        text = help_of(option)
        true(re.search(r"\b%s\b" % time_, text), "the default of --%s is not told: %s" % (option, text))
    names = [*GOOD_STARTS, *BAD_STARTS, "refuses", "leaves", "closes"]
    for revision in BOTH:
        with editor(revision=revision, names=names) as host:
            guests = {name: host.guest(name) for name in names}
            for name, facts in GOOD_STARTS.items():
                guests[name].start(**{"name": name, "version": "1", **facts})
                host.state("running", "" if name == "empty" else name)
            for name, result in BAD_STARTS.items():
                guests[name].reply(guests[name].greet(), result)
            guests["refuses"].refuse(guests["refuses"].greet(), -32050, "no licence")
            guests["leaves"].leave(3)
            guests["closes"].greet()
            guests["closes"].close_write()
            for name in (*BAD_STARTS, "refuses", "leaves", "closes"):
                why = host.state("failed", name).get("reason")
                true(why, "%s failed without a reason" % name)
                # Its process is ended: at the end of its input if it is a good one.
                if name != "leaves":
                    guests[name].see_the_end()
                if name == "refuses":
                    true("no licence" in why and "-32050" in why, "why it failed: %s" % why)
                guests[name].gone()
            for name in GOOD_STARTS:
                is_alive(guests[name], name)
    with editor("--start-timeout", "1s", names=("silent",)) as host:
        guest = host.guest("silent")
        guest.greet()
        why = host.state("failed", "silent").get("reason")
        true(why and re.search("time|initialize", why), "the reason of silence: %s" % why)
        guest.see_the_end()
        guest.gone()
    with extension() as ours:
        # The sample of the document, which tells nothing (H3).
        ours.last_id = 1
        ours.write(frame(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'))
        true("version" in ours.answer_to(1)["result"], "our extension did not answer")
        same(ours.error("initialize", {})["code"], -32002, "initialize for the second time")
        ours.shut_down()


def row_14_long():
    """Silence after initialize lasts 10 s, without any option."""
    with editor(names=("silent", "good")) as host:
        guest = host.guest("silent")
        guest.greet()
        began = time.monotonic()
        good = host.start("good")
        is_alive(good, "one that does not wait for another")
        host.state("failed", "silent")
        took = time.monotonic() - began
        true(9.5 < took < 20, "it took %.1f s" % took)
        guest.see_the_end()
        guest.gone()
        is_alive(good, "the neighbour of a silent one")


def row_15():
    """shutdown: any answer will do, an error and silence are a SIGKILL; our extension leaves at an end of input."""
    answers = {"false": {"success": False}, "null": None, "object": {}}
    for revision in BOTH:
        names = (*answers, "error", "silent") + (() if revision else ("stays",))
        with editor("--stop-timeout", "1s" if revision else "3s", names=names, revision=revision) as host:
            guests = {name: host.start(name) for name in names}
            for name in names:
                host.say("disable " + name)
            asked = {name: guests[name].news("shutdown") for name in names}
            for name in names:
                reason = "reload" if revision else "disabled"
                same(asked[name]["params"], {"reason": reason}, "why %s is asked to leave (H18)" % name)
            for name, answer in answers.items():
                guests[name].reply(asked[name], answer)
            if "stays" in names:
                guests["stays"].reply(asked["stays"], {"success": True})
            began = time.monotonic()
            guests["error"].refuse(asked["error"], -32000, "not now")
            for name in answers:
                same(guests[name].message(), None, "behind the answer to shutdown")
                guests[name].leave()
                same(guests[name].gone(), b"", "signals for %s" % name)
                host.state("stopped", name)
            same(guests["error"].gone(), b"", "SIGTERM before SIGKILL after an error")
            same(guests["silent"].gone(), b"", "SIGTERM before SIGKILL after silence")
            true(time.monotonic() - began < 20, "the kills took %.1f s" % (time.monotonic() - began))
            # One that answers but stays is asked once more, with SIGTERM (H20).
            if "stays" in names:
                same(set(guests["stays"].gone()), set(b"T"), "signals for one that answers and stays")
            host.quit(code=4)
    for name in ("hermes-normalise", "hermes-validate", "hermes-window"):
        for started in (True, False):
            with extension(name) as ours:
                if started:
                    ours.start()
                began = time.monotonic()
                ours.close_write()
                same(ours.ended(), 0, "%s at the end of its input" % name)
                true(time.monotonic() - began < 10, "it took %.1f s" % (time.monotonic() - began))


def row_15_long():
    """Silence after shutdown lasts 5 s, without any option."""
    with editor(names=("silent",)) as host:
        guest = host.start("silent")
        host.say("disable silent")
        guest.news("shutdown")
        began = time.monotonic()
        same(guest.gone(), b"", "SIGTERM before SIGKILL")
        took = time.monotonic() - began
        true(4.5 < took < 15, "it took %.1f s" % took)


def row_16():
    """A command that only a button has is delivered, as a notification; our extension answers none."""
    button = {"id": "b", "label": "B", "icon": "<svg/>", "command": "only/button"}
    for revision in BOTH:
        with editor(names=("other", "raw"), revision=revision) as host:
            other = host.start("other", capabilities={"commands": ["other/one"]})
            guest = host.start("raw", capabilities={"commands": ["listed/one"]}, toolbarButtons=[button])
            host.say("run only/button", "run listed/one", "run other/one")
            for command in ("only/button", "listed/one"):
                told = {"jsonrpc": "2.0", "method": "command/execute", "params": {"command": command}}
                same(guest.message(), told, command)
            same(other.message()["params"], {"command": "other/one"}, "the command of the other one")
            host.say("run nobody/has")
            host.event("result", command="run")
            host.quit(other, guest, code=1)
            same(guest.aside + other.aside, [], "what a command that nobody has sends")
    ours = (("normalise", "names/normalise"), ("validate", "validate/now"), ("window", "window/open"))
    for name, command in ours:
        with extension("hermes-" + name) as ours:
            facts = ours.start()
            known = facts["capabilities"]["commands"] + [each["command"] for each in facts.get("toolbarButtons", [])]
            true(command in known, "%s does not have its command" % name)
            for each in (command, "nobody/has", command):
                ours.execute(each)
            requests = 0
            # x/y is answered in its turn: an answer to a command would have come before it.
            asked = ours.request("x/y")
            ours.send(asked)
            while True:
                got = ours.message()
                true(got is not None, "x/y was not answered")
                if got.get("id") == asked["id"] and "method" not in got:
                    break
                true("method" in got, "an answer to a command: %s" % shown(got))
                requests += 1
            true(requests >= 1, "%s asked for nothing" % name)


def row_16_long():
    """A command may take longer than anything else may: the host waits for no answer, and serves what comes late."""
    with editor(message=MESSAGE) as host:
        guest = host.start(capabilities={"commands": ["slow/one"]})
        host.opened()
        host.say("run slow/one")
        guest.news("command/execute")
        same(guest.message(12), None, "what comes while a command is worked on")
        true(guest.is_there(), "the extension is gone")
        same(get(guest), MESSAGE, "what it asks for in the end")
        host.say("run slow/one")
        guest.news("command/execute")
        host.quit(guest)


def row_17():
    """Params of getMessage that do not fit are -32602, as an array is (H10)."""
    bad = ({"format": "xml"}, {"format": "HL7"}, {"format": None}, {}, [], ["hl7"], {"format": 1})
    for revision in BOTH:
        with editor(message=MESSAGE, revision=revision) as host:
            guest = host.start()
            host.opened()
            for params in bad:
                error = guest.error("editor/getMessage", params)
                if revision:
                    exact_error(error, -32602, "invalid params: ", shown(params))
                else:
                    standard(error, -32602, "Invalid params", shown(params))
                    true(error.get("data"), "no details in %s" % shown(error))
            error = guest.error("editor/getMessage")
            if revision:
                exact_error(error, -32602, "missing params", "no params")
                same(error["message"], "missing params", "no params")
            else:
                standard(error, -32602, "Invalid params", "no params")
            same(get(guest), MESSAGE, "after all that")
            host.quit(guest)


def check_exact_patches_of_nothing(guest):
    """Each patch fails by itself; what is wrong with the patch is seen before the message is read."""
    unread = "failed to parse message: Message parsing failed at position 0: ``"
    patches = [
        ({"path": "PID.1", "value": "x"}, unread),
        ({"path": "NK1", "create": True}, unread),
        ({"path": "NK1", "remove": True}, unread),
        ({"path": "MSH", "remove": True}, "Cannot remove MSH segment"),
        ({"path": "PID"}, "Path 'PID' must specify a field number for set/remove operations"),
        ({"path": "?", "value": "x"}, "Invalid path '?': Query parsing failed at position 0: `?`"),
    ]
    errors = [{"index": i, "message": why, "path": one["path"]} for i, (one, why) in enumerate(patches)]
    wanted = {"errors": errors, "patchesApplied": 0, "success": False}
    same(patch(guest, *[one for one, _ in patches]), wanted, "patches of an empty editor")
    same(patch(guest), {"patchesApplied": 0, "success": True}, "no patches")
    same(get(guest), "", "the editor")


def row_18():
    """An empty editor: hl7 is an empty text, other formats are -32003, or exactly -32603 said twice (H26)."""
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            same(guest.result("editor/getMessage", {"format": "hl7"}), {"hasFile": False, "message": ""}, "hl7")
            for form in ("json", "yaml", "toml"):
                error = guest.error("editor/getMessage", {"format": form})
                if revision:
                    wanted = "[-32603] failed to export to %s: Failed to parse message: " % form.upper()
                    exact_error(error, -32603, wanted + "Message parsing failed at position 0: ``", form)
                else:
                    standard(error, -32003, "No message open", form)
            if revision:
                check_exact_patches_of_nothing(guest)
            else:
                standard(guest.error("editor/patchMessage", {"patches": []}), -32003, "No message open", "a patch")
            host.quit(guest)
        with editor(revision=revision, message=MESSAGE) as host:
            guest = host.start()
            host.opened()
            got = guest.result("editor/getMessage", {"format": "hl7"})
            wanted = {"hasFile": False, "message": MESSAGE}
            if not revision:
                wanted = {"filePath": host.message, "hasFile": True, "message": MESSAGE}
            same(got, wanted, "of a file (H4)")
            host.quit(guest)


def run_table(guest, table):
    for name, before, patches, after, errors in table:
        same(put(guest, before), {"success": True}, name + ": setMessage")
        wanted = {"patchesApplied": len(patches) - len(errors), "success": not errors}
        if errors:
            wanted["errors"] = [
                {"index": index, "message": message, "path": patches[index]["path"]} for index, message in errors
            ]
        same(patch(guest, *patches), wanted, name)
        same(get(guest), after, name + ": the message")


def row_19():
    """Patches: every defect and every oddity of paths, as it should be and as Hermes 0.1.0 does it."""
    for revision, table in ((None, FIXED), ("exact", EXACT)):
        with editor(revision=revision) as host:
            guest = host.start()
            run_table(guest, table)
            before = put(guest, MESSAGE)
            same(before, {"success": True}, "setMessage")
            for value in (1, True, [], {}):
                patches = [{"path": "PID.1", "value": "x"}, {"path": "PID.2", "value": value}]
                error = guest.error("editor/patchMessage", {"patches": patches})
                same(error["code"], -32602, "a value that is %s" % shown(value))
            same(get(guest), MESSAGE, "after refused lists")
            host.quit(guest)


def row_20():
    """Separators, the escape character, CR and LF in a value are escaped; UTF-8 stays."""
    values = {
        "|": "\\F\\", "^": "\\S\\", "&": "\\T\\", "~": "\\R\\", "\\": "\\E\\", "\r": "\\X0D\\", "\n": "\\X0A\\",
        "a|b^c&d~e\\f\r\ng": "a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f\\X0D\\\\X0A\\g",
        ODD: ODD, "Ünïcödé|中": "Ünïcödé\\F\\中", '"': '"', "\t/<\x7f": "\t/<\x7f",
    }  # fmt: skip
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            for value, written in values.items():
                for path, after in (("PID.2", "PID|1|%s|3"), ("PID.3.2", "PID|1||3^%s")):
                    if path == "PID.3.2" and revision:
                        after = "PID|1||^%s"
                    put(guest, "MSH|^~\\&|A\rPID|1||3")
                    done = patch(guest, {"path": path, "value": value})
                    same(done, {"patchesApplied": 1, "success": True}, repr(value))
                    same(get(guest), "MSH|^~\\&|A\r" + after % written, repr(value))
            put(guest, "MSH|^~\\&|A\rPID|1|A\\T\\B|3")
            patch(guest, {"path": "PID.1", "value": "2"})
            put(guest, "MSH|^~\\&|A\rPID|1|x|3")
            done = patch(guest, {"path": "PID.2", "value": "one\\.br\\two"})
            same(done, {"patchesApplied": 1, "success": True}, "an escape sequence")
            written = "one\\E\\.br\\E\\two" if revision else "one\\.br\\two"
            same(get(guest), "MSH|^~\\&|A\rPID|1|%s|3" % written, "an escape sequence (H51)")
            put(guest, "MSH|^~\\&|A\rPID|1|A\\T\\B|3")
            patch(guest, {"path": "PID.1", "value": "2"})
            kept = "A\\E\\T\\E\\B" if revision else "A\\T\\B"
            same(get(guest), "MSH|^~\\&|A\rPID|2|%s|3" % kept, "escapes that are there (H35)")
            host.quit(guest)


def keys_of(text):
    """All objects of a JSON text, as lists of their keys."""
    found = []

    def take(pairs):
        found.append([key for key, _ in pairs])
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=take)
    return value, found


def check_toml(guest, revision):
    put(guest, "MSH|^~\\&|A\rPID|1||A~~B")
    if revision:
        error = guest.error("editor/getMessage", {"format": "toml"})
        same((error["code"], "data" in error), (-32603, False), "toml with an empty repetition (H43)")
        true("[-32603] failed to export to TOML: " in error["message"], shown(error))
        true("unsupported unit type" in error["message"], shown(error))
        return
    text = get(guest, "toml")
    try:
        import tomllib
    except ImportError:
        return
    fields = tomllib.loads(text)["segments"][1]["fields"]
    same(fields, {"1": "1", "3": ["A", "", "B"]}, "toml with an empty repetition (H43)")


def row_21():
    """Exports: order of components, empty repetitions in toml, keys of yaml; round trips lose nothing."""
    many = "MSH|^~\\&|A\rPID|1||" + "^".join("abcdefghijkl") + "\rOBX|1||a&b^&d|x~~y"
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            put(guest, many)
            text = get(guest, "json")
            value, keys = keys_of(text)
            numbers = [str(n) for n in range(1, 13)]
            wanted = sorted(numbers) if revision else numbers
            same([k for k in keys if len(k) == 12], [wanted], "components (H41)")
            same(list(value), ["segments"], "the root (H40)")
            same([list(each) for each in value["segments"]], [["segment", "fields"]] * 3, "a segment")
            msh, _, obx = (each["fields"] for each in value["segments"])
            true(text.startswith('{\n  "segments": [\n    {\n      "segment": "MSH",'), "json: %r" % text[:80])
            same(msh, {"1": "|", "2": "^~\\&", "3": "A"}, "MSH")
            same(obx["4"], ["x", None, "y"], "repetitions")
            true(text.endswith("}"), "json ends in %r" % text[-5:])
            yaml = get(guest, "yaml")
            keys = re.findall(r"^ *(\S+): +\S", yaml, re.M)
            quoted = [k for k in keys if re.fullmatch("\"[0-9]+\"|'[0-9]+'", k)]
            plain = [k for k in keys if re.fullmatch("[0-9]+", k)]
            true((plain and not quoted) if revision else (quoted and not plain), "keys of yaml (H42): %s" % keys)
            check_toml(guest, revision)
            host.quit(guest)
    with editor("--shape", "keys") as host:  # the sample of the document
        guest = host.start()
        put(guest, many)
        value = json.loads(get(guest, "json"))
        same(list(value), ["MSH", "PID", "OBX"], "the root (H40)")
        same(value["MSH"], {"1": "|", "2": "^~\\&", "3": "A"}, "MSH")
        before = get(guest)
        error = guest.error("editor/setMessage", {"format": "json", "message": json.dumps(
            {"OBX": [{"1": "1"}, {"1": "2"}], "MSH": {"3": "A"}, "NTE": {"3": "x"}})})
        true("segments as keys have no order" in error["data"], "an order that nobody knows: %s" % shown(error))
        same(get(guest), before, "after a refused message")
        value["MSH"]["3"] = "B"
        same(put(guest, json.dumps(value), "json"), {"success": True}, "the sample's way")
        same(get(guest), before.replace("&|A", "&|B"), "the sample's way")
        host.quit(guest)
    with editor() as host:  # segments as keys lose the order of different ones
        guest = host.start()
        for form in ("json", "yaml", "toml"):
            for message in ROUND_TRIPS:
                put(guest, message)
                exported = get(guest, form)
                same(put(guest, "MSH|^~\\&|other"), {"success": True}, "another one")
                same(put(guest, exported, form), {"success": True}, form)
                same(get(guest), message, "a round trip through " + form)
        host.quit(guest)


def check_order(guest):
    """H40: what the how-to of Hermes does with a message moves no result to another test."""
    labs = "MSH|^~\\&|LAB\rPID|1\rOBR|1|GLU\rOBX|1|GLU|5.4\rNTE|1|fasting\rOBR|2|NA\rOBX|1|NA|140"
    for form in ("json", "yaml", "toml"):
        put(guest, labs)
        same(put(guest, get(guest, form), form), {"success": True}, form)
        same(get(guest), labs, "read, modify, write in " + form)
    # A program that makes keys of it, sorted ones at that.
    put(guest, labs)
    keyed = {}
    for each in json.loads(get(guest, "json"))["segments"]:
        keyed.setdefault(each["segment"], []).append(each["fields"])
    keyed["OBX"][1]["3"] = "141"
    same(put(guest, json.dumps(keyed, sort_keys=True), "json"), {"success": True}, "segments as keys")
    changed = labs.replace("140", "141")
    same(get(guest), changed, "segments as keys")
    for wrong in ({**keyed, "NTE": []}, {**keyed, "NTE": keyed["NTE"] * 2}, {**keyed, "ZZZ": [{"1": "x"}]},
                  {**{k: v for k, v in keyed.items() if k != "NTE"}, "NTF": keyed["NTE"]}):
        error = guest.error("editor/setMessage", {"message": json.dumps(wrong), "format": "json"})
        standard(error, -32004, "Invalid message", shown(wrong))
        true("segments as keys have no order" in error["data"] and "`segments`" in error["data"], shown(error))
        same(get(guest), changed, "after a refused message")
    # One that has only one order is taken.
    put(guest, "MSH|^~\\&|A\rPID|1")
    same(put(guest, json.dumps({"NTE": [{"1": "1"}, {"1": "2"}], "MSH": {"3": "B"}}), "json"), {"success": True}, "one order")
    same(get(guest), "MSH|^~\\&|B\rNTE|1\rNTE|2", "one order")


def check_exact_msh(guest):
    """A segment MSH without fields is a name alone there, and any other has a separator behind its own."""
    put(guest, MESSAGE)
    for fields in ({}, {"1": "|"}, None):
        text = json.dumps({"segments": [{"segment": "MSH"} if fields is None else {"segment": "MSH", "fields": fields}]})
        same(put(guest, text, "json")["success"], False, text)
        same(get(guest), MESSAGE, text)
    for fields, wanted in (({"2": "^~\\&"}, "MSH|^~\\&|"), ({"3": "A"}, "MSH|^~\\&|A"), ({"5": "B"}, "MSH|^~\\&|||B"),
                           ({"2": "#", "3": "x"}, "MSH|#~\\&|x")):
        same(put(guest, json.dumps({"segments": [{"segment": "MSH", "fields": fields}]}), "json"), {"success": True}, shown(fields))
        same(get(guest), wanted, shown(fields))
    same(put(guest, "MSH|^~")["error"], "Invalid HL7 message: Message parsing failed at position 3: `|^~`", "too short")
    put(guest, MESSAGE)


def row_22():
    """setMessage: bad HL7 is success false; bad json, yaml and toml are -32004, exactly so also the old shape."""
    no_msh = json.dumps({"segments": [{"segment": "PID", "fields": {"1": "1"}}]})
    old = json.dumps({"MSH": {"1": "|", "2": "^~\\&", "3": "OLD"}, "PID": {"1": "1"}})
    for revision in BOTH:
        with editor(message=MESSAGE, revision=revision) as host:
            guest = host.start()
            host.opened()
            for text, beginning in (
                ("", "Message is empty"),
                ("PID|1", "Message must start with MSH segment"),
                ("MSH|", "Invalid HL7 message: "),
            ):
                result = put(guest, text)
                same((sorted(result), result["success"]), (["error", "success"], False), repr(text))
                true(result["error"].startswith(beginning), "%r: %s" % (text, shown(result)))
                same(result["error"].count("Invalid HL7 message: "), text.count("MSH"), "how often it is said")
            if revision:
                check_exact_msh(guest)
            bad = [("json", "{"), ("json", "[]"), ("yaml", "a: ["), ("toml", "= 1"), ("json", '{"segments":1}')]
            # Here nothing is a message without segments in the old shape.
            none = [("json", "{}"), ("toml", ""), ("json", no_msh)]
            for form, text in none if not revision else none[2:]:
                same(put(guest, text, form)["success"], False, repr(text))
            for form, text in bad + (none[:2] + [("json", old)] if revision else []):
                error = guest.error("editor/setMessage", {"message": text, "format": form})
                if revision:
                    exact_error(error, -32004, "failed to import from %s: " % form.upper(), repr(text))
                else:
                    standard(error, -32004, "Invalid message", repr(text))
                    true(error.get("data"), "no details in %s" % shown(error))
                if text == old:
                    true("missing field `segments`" in error["message"], "the old shape: %s" % shown(error))
            same(get(guest), MESSAGE, "after all that")
            if not revision:
                put(guest, "MSH|^~\\&|A\rPID|2")
                same(put(guest, old, "json"), {"success": True}, "the old shape (H40)")
                same(get(guest).rstrip("\r"), "MSH|^~\\&|OLD\rPID|1", "the old shape (H40)")
                check_order(guest)
            host.quit(guest)


def row_23():
    """Notifications that come between a request and its answer disturb neither."""
    with extension() as ours:
        ours.start()
        ours.execute("names/normalise")
        asked = ours.news("editor/getMessage")
        same(repr(asked["id"]), "1", "its first id")
        ours.tell("message/changed", {"hasFile": False, "message": "MSH|^~\\&|X", "format": "hl7"})
        ours.tell("window/closed", {"windowId": "ext-window-1", "reason": "user"})
        ours.tell("message/saved", {"filePath": "/tmp/x", "saveAs": False})
        ours.tell("no/such", {})
        ours.send({"jsonrpc": "2.0", "method": "initialized"})
        true("error" in ours.ask("x/y"), "x/y was answered")
        ours.reply(asked, {"hasFile": False, "message": MESSAGE})
        change = ours.message()
        same(change and change.get("method"), "editor/patchMessage", "what follows the message")
        same(repr(change["id"]), "2", "its next id")
        ours.tell("window/closed", {"windowId": "ext-window-1"})
        ours.execute("names/normalise")
        second = ours.news("editor/getMessage")
        same(repr(second["id"]), "3", "the id of a question beside an open one")
        # Answers in the other order than the questions; and one as short as it may be (H4).
        ours.reply(second, {"message": MESSAGE})
        ours.reply(change, {"patchesApplied": 1, "success": True})
        same(ours.news("editor/patchMessage")["params"], change["params"], "the same patches again")
        ours.aside.clear()
        ours.shut_down()
    with editor("--debounce", "1ms", message=MESSAGE) as host:
        guest = host.start(capabilities=CHANGED)
        host.opened()
        guest.aside.clear()
        asked = guest.request("editor/getMessage", {"format": "hl7"})
        data = frame(asked)
        guest.write(data[:-10])
        host.say("set PID.5.1 SMITH")
        changed = guest.news("message/changed")
        true("id" not in changed, "message/changed has an id")
        wanted = MESSAGE.replace("doe", "SMITH")
        same(changed["params"]["message"], wanted, "the message that is told")
        guest.write(data[-10:])
        same(guest.answer_to(asked["id"])["result"]["message"], wanted, "the answer behind it")
        window = guest.result("ui/openWindow", {"url": "http://localhost/", "title": "T"})["windowId"]
        data = frame(guest.request("editor/patchMessage", {"patches": [{"path": "PID.1", "value": "9"}]}))
        guest.write(data[:-10])
        host.say("close " + window)
        closed = {"jsonrpc": "2.0", "method": "window/closed", "params": {"reason": "user", "windowId": window}}
        same(guest.news("window/closed"), closed, "window/closed (H22)")
        guest.write(data[-10:])
        same(guest.answer_to(guest.last_id)["result"], {"patchesApplied": 1, "success": True}, "the answer behind it")
        host.quit(guest)


def row_23_long():
    """A question that the editor does not answer ends after 5 s, and the extension goes on."""
    with extension() as ours:
        ours.start()
        ours.execute("names/normalise")
        asked = ours.news("editor/getMessage")
        began = time.monotonic()
        line = ours.child.stderr.readline().decode()
        took = time.monotonic() - began
        true(4.5 < took < 15, "it took %.1f s" % took)
        true(line.startswith("[ERROR]"), "what it says: %r" % line)
        ours.reply(asked, {"hasFile": False, "message": MESSAGE})
        ours.execute("names/normalise")
        same(ours.message().get("method"), "editor/getMessage", "what follows a late answer")
        ours.shut_down()


def row_24():
    """The extension's own patch comes back as message/changed, once, when it has rested 500 ms."""
    true(re.search(r"\b500 ?ms\b", help_of("debounce")), "the default of --debounce is not told")
    for revision in BOTH:
        with editor(message=MESSAGE, revision=revision) as host:
            guest = host.start(capabilities=CHANGED)
            host.opened()
            for number in range(4):
                began = time.monotonic()
                patch(guest, {"path": "PID.5.1", "value": "n%d" % number})
            changed = guest.news("message/changed")
            took = time.monotonic() - began
            true(0.49 < took < 20, "it took %.3f s" % took)
            params = changed["params"]
            same((params["message"], params["format"]), (get(guest), "hl7"), "what is told")
            same(params["hasFile"], True, "hasFile")
            same(guest.message(1.2), None, "what comes behind it")
            host.quit(guest)


def row_25():
    """A flood, a line of 200 kB and one that is not UTF-8 on the standard error do no harm."""
    levels = (
        ("[ERROR] a", "error", "a"), ("[warn] b", "warn", "b"), ("WARNING: c", "warn", "c"),
        ("info: d", "info", "d"), ("[INFO] e", "info", "e"), ("error: f", "error", "f"),
        ("g [ERROR]", "info", "g [ERROR]"), ("[WARNING] h", "warn", "h"), ("[Error] i", "info", "[Error] i"),
    )  # fmt: skip
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            for line, level, text in levels:
                guest.write((line + "\n").encode(), guest.errors_fd)
                told = host.event("log", extension="raw")
                same((told["level"], told["text"]), (level, text), line)
            flood = b"".join(b"line %d of the flood\n" % n for n in range(60000))
            guest.write(flood, guest.errors_fd)
            guest.write(b"x" * 200000 + b"\n", guest.errors_fd)
            guest.write(b"\xff\xfe\x80 not text \xc3\n", guest.errors_fd)
            is_alive(guest, "after the flood")
            host.event("suppressed", extension="raw")

            # At most 1,000 lines a second are shown: so it is once the flood is over.
            def shown_again():
                guest.write(b"[ERROR] still here\n", guest.errors_fd)
                time.sleep(0.3)
                return [event for event in list(host.events) if event.get("text") == "still here"]

            told = eventually(shown_again, "what comes after the flood is not told")[0]
            same(told["level"], "error", "the level of the last line")
            true(guest.is_there(), "the extension is gone")
            host.quit(guest)


def row_26():
    """A method that nobody knows is -32601; exactly so: in lower case, with its name, without data."""
    for revision in BOTH:
        with editor(revision=revision) as host:
            guest = host.start()
            for params in ((), ({},), ({"a": [1]},)):
                error = guest.error("x/y", *params)
                if revision:
                    same(error, {"code": -32601, "message": "method not found: x/y"}, "the error")
                else:
                    standard(error, -32601, "Method not found", "the error")
            guest.send({"jsonrpc": "2.0", "method": "x/y"})
            is_alive(guest, "after a notification that nobody knows")
            same(guest.aside, [], "an answer to a notification")
            host.quit(guest)
    with extension() as ours:
        ours.start()
        standard(ours.error("x/y", {}), -32601, "Method not found", "the error of our extension")
        ours.tell("x/y", {})
        ours.shut_down()
        same(ours.aside, [], "an answer to a notification")


def row_27():
    """A number in a path that is too large for anything is an error in the result, and life goes on."""
    paths = ["PID.%s" % ("9" * 20), "PID.%d" % 2**64, "PID.%d" % (2**64 + 5)]
    paths += ["PID.5.%s" % ("9" * 4000), "PID.1000000", "OBX[%d].5" % 2**64]
    paths += ["PID.5[%d]" % 2**65, "PID.5.1.%d" % 2**64]
    for revision in BOTH:
        with editor(revision=revision, message=MESSAGE) as host:
            guest = host.start()
            host.opened()
            for path in paths if not revision else paths[:3]:
                result = patch(guest, {"path": path, "value": "x"}, {"path": "PID.1", "value": "2"})
                same((result["success"], result["patchesApplied"]), (False, 1), path[:60])
                same(result["errors"][0]["index"], 0, path[:60])
            same(get(guest).rstrip("\r"), MESSAGE.replace("PID|1", "PID|2").rstrip("\r"), "the message")
            # Whatever these are taken for: they are answered, and so is what follows.
            for path in paths[3:]:
                true("success" in patch(guest, {"path": path, "value": "x"}), path[:60])
            is_alive(guest, "in the end")
            host.quit(guest)


def row_28():
    """Closing an unknown window succeeds, that of another extension does not; only http and https are opened."""
    others = ("file:///etc/passwd", "javascript:alert(1)", "ftp://a.b/")
    urls = dict.fromkeys(others, "URL scheme must be http or https")
    urls.update(dict.fromkeys(("not a url", ""), "Invalid URL: "))
    for revision in BOTH:
        with editor(revision=revision, names=("raw", "other")) as host:
            guest, other = host.start("raw"), host.start("other")
            unknown = {"windowId": "ext-window-00000000-0000-4000-8000-000000000000"}
            same(guest.result("ui/closeWindow", unknown), {"success": True}, "an unknown window (H29)")
            same(guest.result("ui/closeWindow", {"windowId": "?"}), {"success": True}, "an odd window (H29)")
            for url, beginning in urls.items():
                error = guest.error("ui/openWindow", {"url": url, "title": "T"})
                if revision:
                    exact_error(error, -32007, beginning, url)
                else:
                    standard(error, -32007, "Invalid URL", url)
            opened = guest.result("ui/openWindow", {"url": "https://localhost:8443/a?b=c", "title": "T"})
            uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
            true(re.fullmatch("ext-window-" + uuid, opened["windowId"]), shown(opened))
            told = host.event("window", id=opened["windowId"])
            facts = [told[key] for key in ("url", "title", "width", "height", "modal", "resizable")]
            same(facts, ["https://localhost:8443/a?b=c", "T", 800, 600, False, True], "the window")
            error = other.error("ui/closeWindow", opened)
            same(error["code"], -32008, "the window of another extension")
            same(guest.result("ui/closeWindow", opened), {"success": True}, "its own window")
            host.event("closed", id=opened["windowId"], reason="extension")
            same(guest.result("ui/closeWindow", opened), {"success": True}, "a window that is closed already")
            host.quit(guest, other)


def prepare(build):
    global BUILD
    BUILD = build


if __name__ == "__main__":
    sys.exit(raw.run_rows(globals(), prepare))
