"""Messages as bytes: what is sent is the real program's, and what is taken and what is refused."""
import json
import sys
import time

import rows
from rows import ALL, ECHO, PATIENT, WORK, frame, host, plugin, same, setting, text_of, true


def live(size, text):
    """A frame of the real program, with the size that it was seen with."""
    same(len(text.encode()), size, "a mistake in the row: the size of " + text)
    return b"Content-Length: %d\r\n\r\n%s" % (size, text.encode())


HANDSHAKE = '{"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"rpp","protocolVersion":0}}'
INITIALIZE = '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"logging":{"enabled":true,"level":"TRACE"}}}'
SETUP = ('{"jsonrpc":"2.0","id":3,"method":"setupCommand","params":{"name":"sleep","args":null,'
         '"config":[{"key":"time","value":1,"type":"int"}]}}')
RUN = '{"jsonrpc":"2.0","id":4,"method":"runCommand","params":{"name":"sleep"}}'
VALIDATE = ('{"jsonrpc":"2.0","id":3,"method":"validateTask","params":{"type":"echo",'
            '"config":[{"key":"msg","value":"hällo","type":"string"}]}}')
HELLO_BACK = (
    '{"jsonrpc":"2.0","id":1,"result":{"protocol":"rpp","protocolVersion":0,"name":"example","version":"0.1.0-0.dev",'
    '"commands":[{"name":"sleep","usage":"sleep [options]","configs":[{"key":"time","value":5,"type":"int",'
    '"flag":{"shorthand":"t","usage":"time to sleep in seconds (default 5s)"}}]}],"tasks":[{"type":"echo"}]}}')


def the_end(guest, number, revision):
    """shutdown and exit: with params null where the real host is followed, else without any (R11)."""
    null = ',"params":null' if revision else ""
    text = '{"jsonrpc":"2.0","id":%d,"method":"shutdown"%s}' % (number, null)
    same(guest.frame(), frame(text.encode()), "shutdown")
    guest.write(frame(b'{"jsonrpc":"2.0","id":%d,"result":null}' % number))
    same(guest.frame(), frame(b'{"jsonrpc":"2.0","method":"exit"%s}' % null.encode()), "exit")
    guest.leave()


def row_01():
    """A run of a command and one of a task are the real host's, byte for byte, and so are our plugin's answers."""
    for revision in (None, "gen-a", "exact"):
        with host("sleep", "--", "-t", "1", revision=revision, options=("--log-level", "trace")) as ours:
            guest = ours.guest()
            same(guest.frame(), live(93, HANDSHAKE), "handshake")
            guest.write(live(318, HELLO_BACK))
            same(guest.frame(), live(100, INITIALIZE), "initialize")
            guest.write(live(36, '{"jsonrpc":"2.0","id":2,"result":{}}'))
            same(guest.frame(), live(135, SETUP), "setupCommand")
            guest.write(frame(b'{"jsonrpc":"2.0","id":3,"result":{}}'))
            same(guest.frame(), live(72, RUN), "runCommand")
            guest.write(frame(b'{"jsonrpc":"2.0","id":4,"result":{}}'))
            the_end(guest, 5, revision)
            ours.ended(0)
        with host("attend", revision=revision, config=ECHO % "hällo", options=("--log-level", "trace")) as ours:
            guest = ours.guest()
            same(guest.frame(), live(93, HANDSHAKE), "handshake")
            guest.write(live(318, HELLO_BACK))
            same(guest.frame(), live(100, INITIALIZE), "initialize")
            guest.write(live(36, '{"jsonrpc":"2.0","id":2,"result":{}}'))
            same(guest.frame(), live(131, VALIDATE), "validateTask")
            guest.write(frame(b'{"jsonrpc":"2.0","id":3,"result":{}}'))
            ran = json.loads(guest.body())
            same((ran["id"], ran["method"]), (4, "runTask"), "the next request")
            same(list(ran["params"]), ["type", "dir", "config"], "its params, in order")
            same(ran["params"]["config"], [setting("msg", "hällo")], "its settings")
            guest.reply(ran, {})
            the_end(guest, 5, revision)
            ours.ended(0)
    with plugin() as ours:
        ours.write(live(93, HANDSHAKE))
        same(ours.frame(), live(318, HELLO_BACK), "the answer to handshake")
        ours.write(live(100, INITIALIZE))
        same(ours.answer_to(2)["result"], {}, "initialize")
        ours.write(live(135, SETUP))
        same(ours.answer_to(3)["result"], {}, "setupCommand")
        begin = time.monotonic()
        ours.write(live(72, RUN))
        same(ours.answer_to(4)["result"], {}, "runCommand")
        true(0.9 < time.monotonic() - begin < 4.9, "it did not sleep for a second")
        ours.write(live(58, '{"jsonrpc":"2.0","id":5,"method":"shutdown","params":null}'))
        data = ours.frame()
        while b'"log"' in data:
            data = ours.frame()
        same(data, live(38, '{"jsonrpc":"2.0","id":5,"result":null}'), "the answer to shutdown")
        ours.write(live(47, '{"jsonrpc":"2.0","method":"exit","params":null}'))
        same(ours.ended(), 0, "its exit code")


def row_02():
    """Our plugin takes params null and none at all, on shutdown and exit; our host sends no {} (R11, R12)."""
    for params in ({"params": None}, {}):
        with plugin() as ours:
            ours.start()
            ours.send({"jsonrpc": "2.0", "id": "end", "method": "shutdown", **params})
            same(ours.answer_to("end")["result"], None, "the answer to shutdown")
            ours.send({"jsonrpc": "2.0", "method": "exit", **params})
            same(ours.ended(), 0, "its exit code")


# Each with the fault that is reported before its message, the first time.
REPORTED = (
    ("Content-Length: %d\n\n", "a header line ends in LF alone"),
    ("Content-Length: +%d\r\n\r\n", "a plus sign"),
    ("Content-Length:\t%d\r\n\r\n", "a tab next to"),
    ("X-2: 1\r\nContent-Length: %d\r\n\r\n", "a header field name"),
    ("\r\nContent-Length: %d\r\n\r\n", "an empty line before a header"),
    ("X_Other: 1\r\nContent-Length: %d\r\n\r\n", None),
)
TWO_LENGTHS = "Content-Length: 5\r\nContent-Length: %d\r\n\r\n"
GOOD = (
    "content-length: %d\r\n\r\n",
    "CONTENT-LENGTH:%d\r\n\r\n",
    "Content-Length:     %d\r\n\r\n",
    "X-Other: 1\r\nContent-Length: %d\r\nContent-Type: application/json-rpc\r\n\r\n",
    "X-Other: a\x01\x7f\tb\r\nContent-Length: %d\r\n\r\n",
)
# Of these the document knows.
STRICT_GOOD = (
    "Content-Length: %d\r\n\r\n",
    "Content-Length:%d\r\n\r\n",
    "Content-Length:          %d\r\n\r\n",
    "X-Other: one ~!@ token\r\nContent-Length: %d\r\nAnother-One:\r\n\r\n",
    "---: -\r\nContent-Length: %d\r\n\r\n",
    "X-Other: a\tb\r\nContent-Length: %d  \r\n\r\n",
    "X-Other: a\x01b\r\nContent-Length: %d\r\n\r\n",
    "X-Other: \x00\x08\x1b[31m\x7f\r\nContent-Length: %d\r\n\r\n",
)
BAD = (
    "\r\n\r\n",
    "Content-Length: 0\r\n\r\n",
    "Content-Length: -5\r\n\r\n",
    "X-Other: 1\r\n\r\n",
    "Content-Length: 0x10\r\n\r\n",
    "Content-Length: \r\n\r\n",
)
STRICT_BAD = (
    " Content-Length: %d\r\n\r\n",
    "Content-Length: %d\n\n",
    "Content-Length: +%d\r\n\r\n",
    TWO_LENGTHS,
    "X-2: 1\r\nContent-Length: %d\r\n\r\n",
    "X_Other: 1\r\nContent-Length: %d\r\n\r\n",
    "Content-Length:\t%d\r\n\r\n",
    "X-Other: \xe5\r\nContent-Length: %d\r\n\r\n",
    "X-Other: a\rb\r\nContent-Length: %d\r\n\r\n",
    "Content-Length: %d\x01\r\n\r\n",
    "no field at all\r\nContent-Length: %d\r\n\r\n",
    "\r\nContent-Length: %d\r\n\r\n",
)


def row_03():
    """Headers that the real program takes are taken, by host and plugin; those that it refuses end no conversation (R7, R8, R22)."""
    for revision in (None, "gen-a"):
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": guest.facts(commands=[WORK])}
            guest.write(frame(answer, GOOD[0]))
            for header, method in zip(GOOD[1:], ("initialize", "setupCommand")):
                asked = guest.news(method)
                guest.write(frame({"jsonrpc": "2.0", "id": asked["id"], "result": {}}, header))
            asked = guest.news("runCommand")
            lines = [*GOOD[3:], *(header for header, _ in REPORTED)] + [TWO_LENGTHS] * (revision == "gen-a")
            for header in lines * 2:
                guest.write(frame({"jsonrpc": "2.0", "method": "log", "params": {"level": "info", "msg": header}}, header))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same([line["msg"] for line in ours.told()], lines * 2, "the log")
            # Each is reported once, and no number of them ends the plugin.
            wanted = [fault for _, fault in REPORTED if fault] + ["two different Content-Length"] * (revision == "gen-a")
            got = [line["msg"] for line in ours.told(kind="violation")]
            true(len(got) == len(wanted) and all(a in b for a, b in zip(wanted, got)), "violations: %s" % got)
    # Two lengths could be two messages.
    with host("work", options=PATIENT) as ours:
        guest = ours.guest()
        answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": guest.facts(commands=[WORK])}
        guest.write(frame(answer, TWO_LENGTHS))
        true("two different Content-Length" in ours.tells("raw", "failed")[0]["msg"], ours.said())
        guest.leave()
        ours.ended(3)
    with plugin() as ours:
        ours.start()
        ours.write(frame({"jsonrpc": "2.0", "id": 9, "method": "shutdown"}, TWO_LENGTHS))
        same(ours.ended(), 1, "the exit code of our plugin after two lengths")
    with plugin() as ours:
        ours.start()
        for header in (*GOOD, *(header for header, _ in REPORTED)):
            asked = ours.request("no/such")
            ours.write(frame(asked, header))
            same(ours.answer_to(asked["id"])["error"]["code"], -32601, repr(header))
        for header in BAD:
            ours.write(header.encode())
            ours.aside.clear()
            ours.last_id += 1000
            ours.is_alive("after %r" % header)
        ours.aside.clear()
        ours.shut_down()
    # A host counts it: once is survived.
    for header in BAD:
        with host("work") as ours:
            guest = ours.guest()
            asked = guest.run()
            guest.write(header.encode())
            guest.is_taken()
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)


def row_04():
    """A byte a write, and several frames a write, are the same messages, both ways."""
    with host("work") as ours:
        guest = ours.guest()
        guest.write_bytewise(frame({"jsonrpc": "2.0", "id": guest.greet()["id"], "result": guest.facts(commands=[WORK])}))
        asked = guest.news("initialize")
        log = {"jsonrpc": "2.0", "method": "log", "params": {"level": "INFO", "msg": "Å中😀"}}
        guest.write(frame(log) * 3 + frame({"jsonrpc": "2.0", "id": asked["id"], "result": {}}) + frame(log)[:30])
        guest.is_taken()
        guest.write_bytewise(frame(log)[30:])
        asked = guest.running()
        guest.write_bytewise(frame(log) + frame({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
        guest.farewell()
        ours.ended(0)
        same([line["msg"] for line in ours.told()], ["Å中😀"] * 5, "the log")
    with plugin() as ours:
        ours.write_bytewise(live(93, HANDSHAKE))
        ours.answer_to(1)
        several = [INITIALIZE, SETUP.replace('"value":1', '"value":0'), RUN]
        ours.write(b"".join(frame(each.encode()) for each in several))
        same([ours.message()["id"] for _ in several], [2, 3, 4], "the answers")
        asked = [{"jsonrpc": "2.0", "id": number, "method": "no/such"} for number in range(100, 200)]
        ours.write(b"".join(frame(each) for each in asked))
        same([ours.message()["id"] for _ in asked], list(range(100, 200)), "a hundred answers")
        ours.shut_down()


HUGE = (9223372036854775807, 18446744073709551616, 99999999999999999999, 10 ** 400)


def row_05():
    """A length of 2^63-1, of 20 digits or of 401 is a clean error at once: the plugin fails, the others go on."""
    for revision in ALL:
        for length in HUGE[: 2 if revision else None]:
            with host("work", names=("raw", "other"), revision=revision, options=PATIENT) as ours:
                guest, other = ours.guest("raw"), ours.guest("other")
                guest.greet()
                size = ours.memory("VmSize")
                guest.write(b"Content-Length: %d\r\n\r\n{" % length)
                told = ours.tells("raw", "failed")
                true(ours.seconds() < 15, "it took %.1f s" % ours.seconds())
                true(ours.memory("VmSize") - size < 1 << 24, "memory for a refused message")
                asked = other.run()
                other.reply(asked, {})
                other.farewell()
                guest.leave()
                ours.ended(0)
                true(told[0]["msg"], "no reason")
    for length in HUGE:
        with plugin() as ours:
            ours.start()
            begin = time.monotonic()
            ours.write(b"Content-Length: %d\r\n\r\n" % length)
            same(ours.ended(), 1, "the exit code of our plugin")
            true(time.monotonic() - begin < 15, "it took its time")


def row_06():
    """Lengths count bytes, beyond ASCII too; & < > are taken raw and as escapes (R20)."""
    odd = "hällo 中😀 <a&b>"
    for revision in ALL:
        with host("attend", config=ECHO % odd, revision=revision) as ours:
            guest = ours.guest()
            guest.start(tasks=[{"type": "echo"}])
            data = guest.frame()
            head, _, body = data.partition(b"\r\n\r\n")
            same(head, b"Content-Length: %d" % len(body), "the header")
            true("hällo 中😀".encode() in body, "not raw UTF-8: %r" % body)
            same(b"\\u003ca\\u0026b\\u003e" in body, revision == "exact", "escapes as the real host has them")
            same(json.loads(body)["params"]["config"], [setting("msg", odd)], "the setting")
            guest.reply(json.loads(body), {})
            asked = guest.news("runTask")
            for text in ("<a&b>", r"\u003ca\u0026b\u003e"):
                guest.write(frame(b'{"jsonrpc":"2.0","method":"log","params":{"level":"INFO","msg":"%s"}}' % text.encode()))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same([line["msg"] for line in ours.told()], ["<a&b>"] * 2, "the log")
    with plugin() as ours:
        ours.start()
        for text in ("sl\\u0065ep", "sleep"):
            body = '{"jsonrpc":"2.0","id":"<&> \\u0026","method":"runTask","params":{"type":"%s","dir":"&"}}' % text
            ours.write(frame(body.encode()))
            same(ours.answer_to("<&> &")["error"]["code"], -32602, text)
        ours.shut_down()


def row_07():
    """Our plugin echoes ids as they came, also those that Go cannot hold (R13)."""
    with plugin() as ours:
        ours.start()
        for identity in ('"a-1"', "0", "1.5", "9007199254740993", "18446744073709551615", "-1", '"\\u00e5"', '""'):
            ours.write(frame(('{"jsonrpc":"2.0","id":%s,"method":"runCommand","params":{"name":"?"}}' % identity).encode()))
            body = ours.body()
            true(b'"id":%s,' % identity.encode() in body, "%s in %r" % (identity, body))
            same(json.loads(body)["error"]["code"], -32602, identity)
        ours.shut_down()


def row_08():
    """An answer's id 1.0 is taken for 1, "1" is not (R14)."""
    for revision in (None, "gen-a", "exact"):
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.greet()
            guest.write(frame(b'{"jsonrpc":"2.0","id":1.0,"result":%s}' % text_of(guest.facts(commands=[WORK]))))
            asked = guest.news("initialize")
            guest.reply(asked, {})
            guest.reply(guest.running(), {})
            guest.farewell()
            ours.ended(0)
        with host("work", revision=revision, options=("--handshake-timeout", "500ms")) as ours:
            guest = ours.guest()
            guest.greet()
            guest.reply({"id": "1"}, guest.facts(commands=[WORK]))
            ours.tells("raw", "failed")
            true(ours.seconds() > 0.4, "it did not wait")
            guest.leave()
            ours.ended(3)


ODD_BODIES = (
    (b"[]", -32600), (b'[{"jsonrpc":"2.0","id":7,"method":"no/such"}]', -32600),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"no/such"}', -32700),
    (b'{"JSONRPC":"2.0","Id":7,"Method":"no/such"}', None),
    (b'{"jsonrpc":"2.0","id":7,"method":"no/such","params":{"a":"\xff"}}', -32700),
    (b'{"jsonrpc":"2.0","id":7,"method":"no/such"} x', -32700), (b"null", None), (b"{", -32700),
)  # None: nothing that could be answered; it is only told


def row_21():
    """Batches, a byte order mark, other cases and bad UTF-8 are refused and survived; a pretty body is read (R9, R19, R22)."""
    with plugin() as ours:
        ours.start()
        for body, code in ODD_BODIES:
            ours.write(frame(body))
            if code:
                same(ours.message().get("error", {}).get("code"), code, "%r" % body)
            ours.is_alive("after %r" % body)
        pretty = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "no/such", "params": {"a": [1, {}]}}, indent="\t")
        ours.write(frame(("\r\n " + pretty + "\n\n").encode()))
        same(ours.answer_to(7)["error"]["code"], -32601, "a pretty body")
        ours.shut_down()
    for revision in (None, "gen-a", "exact"):
        for at in range(0, len(ODD_BODIES), 4):
            with host("work", revision=revision) as ours:
                guest = ours.guest()
                asked = guest.run()
                for body, _ in ODD_BODIES[at:at + 4]:
                    guest.write(frame(body))
                ours.tells("raw", "violation", 4)
                text = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {}}, indent="\t")
                guest.write(frame(text.encode()))
                guest.farewell()
                ours.ended(0)


def row_25():
    """The document's own example, pretty and with tabs, is read by our plugin."""
    text = ('{\n\t"jsonrpc": "2.0",\n\t"id": 1,\n\t"method": "handshake",\n\t"params": {\n\t\t"protocol": "rpp",\n'
            '\t\t"protocolVersion": 0\n\t}\n}\n')
    for body in (text, text.replace("\t", " "), text.replace("\n", "\r\n")):
        with plugin() as ours:
            ours.write(frame(body.encode()))
            same(ours.answer_to(1)["result"]["protocol"], "rpp", "its answer")
            ours.tell_exit()
            same(ours.ended(), 0, "its exit code")


def row_29():
    """The revision seed is the document's grammar to the letter: what it knows is taken, anything else ends the plugin."""
    for header in STRICT_GOOD:
        with host("work", revision="seed") as ours:
            guest = ours.guest()
            answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": guest.facts(commands=[WORK])}
            guest.write(frame(answer, header))
            guest.reply(guest.news("initialize"), {})
            guest.reply(guest.running(), {})
            guest.farewell()
            ours.ended(0)
    # A length of 0 is one; it is the empty content that is told of, see row 03.
    for header in (*STRICT_BAD, *(each for each in BAD if ": 0\r" not in each)):
        with host("work", revision="seed", options=PATIENT) as ours:
            guest = ours.guest()
            answer = {"jsonrpc": "2.0", "id": guest.greet()["id"], "result": guest.facts(commands=[WORK])}
            body = text_of(answer)
            guest.write((header % len(body) if "%d" in header else header).encode("latin-1") + body)
            ours.tells("raw", "failed")
            true(ours.seconds() < 15, "%r: it took %.1f s" % (header, ours.seconds()))
            guest.leave()
            ours.ended(3)


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
