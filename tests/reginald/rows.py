"""What is known of the real Reginald on the wire, row by row: ours does it right, and with --revision
exact has its defects.

    rows.py BUILD [ROW...]      all rows, or these: 07, 18-long

A row is a function, and talks raw bytes: see guests.py. Rows 01 to 25 are those of what is known of the
seed and of generation A; the ones after that are what else was promised. Numbers with an R are errata of
the protocol's document, numbers with an F are faults of the catalogue.
"""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import guests
from guests import HELLO, PATIENCE, WORK, Host, Plugin, Wrong, frame, is_there, same, setting, shown, text_of, true

BUILD = ""
PLAIN = (None, "gen-a", "seed")
ALL = (None, "gen-a", "seed", "exact")
SLEEP = {"name": "sleep", "usage": "sleep [options]", "configs": [
    {"key": "time", "value": 5, "type": "int",
     "flag": {"shorthand": "t", "usage": "time to sleep in seconds (default 5s)"}}]}
# Longer than what is told at once can take, on a machine that is busy.
PATIENT = ("--handshake-timeout", "25s")
ECHO = '[[tasks]]\ntype = "echo"\nconfig = {msg = "%s"}\n'


def host(*words, **rest):
    return Host(BUILD, *words, **rest)


def plugin(name="sleep"):
    return Plugin(os.path.join(BUILD, "examples", "reginald-" + name))


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


GOOD = (
    "Content-Length: %d\n\n",
    "content-length: %d\r\n\r\n",
    "CONTENT-LENGTH:%d\r\n\r\n",
    "Content-Length:     %d\r\n\r\n",
    "X-Other: 1\r\nContent-Length: %d\r\nContent-Type: application/json-rpc\r\n\r\n",
    "Content-Length: 5\r\nContent-Length: %d\r\n\r\n",
    "Content-Length: +%d\r\n\r\n",
)
# Of these the document knows.
STRICT_GOOD = (
    "Content-Length: %d\r\n\r\n",
    "Content-Length:%d\r\n\r\n",
    "Content-Length:          %d\r\n\r\n",
    "X-Other: one ~!@ token\r\nContent-Length: %d\r\nAnother-One:\r\n\r\n",
    "---: -\r\nContent-Length: %d\r\n\r\n",
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
    "Content-Length: 5\r\nContent-Length: %d\r\n\r\n",
    "X-2: 1\r\nContent-Length: %d\r\n\r\n",
    "X_Other: 1\r\nContent-Length: %d\r\n\r\n",
    "Content-Length:\t%d\r\n\r\n",
    "X-Other: \xe5\r\nContent-Length: %d\r\n\r\n",
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
            for header in GOOD[3:]:
                guest.write(frame({"jsonrpc": "2.0", "method": "log", "params": {"level": "info", "msg": header}}, header))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same([line["msg"] for line in ours.told()], list(GOOD[3:]), "the log")
            same(ours.told(kind="violation"), [], "violations")
    with plugin() as ours:
        ours.start()
        for header in GOOD:
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
    """Our plugin echoes ids as they came, also those that Go can't hold (R13)."""
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


def row_09():
    """A handshake of another protocol, version or without a name fails that plugin alone; members that are not known do no harm."""
    wrong = (
        {"protocol": "rppp"}, {"protocolVersion": 1}, {"protocolVersion": "0"}, {"name": ""}, {"name": 5},
        {"commands": [{"name": "attend", "usage": ""}]}, {"commands": [{"name": "tend", "usage": ""}]},
        {"commands": [{"name": "work", "usage": ""}] * 2}, {"tasks": [{"type": "link"}]}, {"name": "other"},
        {"commands": [{"name": "x", "usage": "", "configs": [{"key": "k", "value": 1.5, "type": "float"}]}]},
        {"commands": [{"name": "x", "usage": "", "configs": [{"key": "k", "value": "1", "type": "int"}]}]},
    )
    for facts in wrong:
        # "other" is the first in order, so that it is raw whose name is taken.
        with host("work", names=("other", "raw")) as ours:
            other, guest = ours.guest("other"), ours.guest("raw")
            other.hello(commands=[WORK])
            guest.hello(**facts)
            other.initialized()
            other.reply(other.running(), {})
            true('"failed"' in ours.said(), "%s: it is not told: %s" % (facts, ours.said()))
            other.farewell()
            guest.leave()
            ours.ended(0)
    with host("work") as ours:
        guest = ours.guest()
        guest.hello(**wrong[0])
        guest.leave()
        ours.ended(3)
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.reply(guest.greet(), {**guest.facts(commands=[{**WORK, "odd": [1]}]), "more": {"a": 1}})
            guest.reply(guest.news("initialize"), {})
            guest.reply(guest.running(), {})
            guest.farewell()
            ours.ended(0)
    # A version that is none is only worth a word.
    with host("work") as ours:
        guest = ours.guest()
        guest.reply(guest.run(version="yesterday"), {})
        guest.farewell()
        ours.ended(0)
    with plugin() as ours:
        for params in ({"protocol": "other", "protocolVersion": 0}, {"protocol": "rpp", "protocolVersion": 1}, {}):
            true(ours.error("handshake", params)["code"] in (-32602, -32600), "a handshake of %r (R24)" % params)
        ours.start()
        ours.shut_down()


def row_10():
    """A plugin of generation B and our host, our plugin and a host of generation B: a clean failure that says so (R4)."""
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.reply(guest.greet(), {"protocol": "reginald", "protocolVersion": 0, "name": "raw"})
            why = ours.tells("raw", "failed")[0]["msg"]
            true("generation B" in why or "reginald" in why, "it is not told: " + why)
            guest.leave()
            ours.ended(3)
    with plugin() as ours:
        error = ours.error("handshake", {"protocol": "reginald", "protocolVersion": 0})
        true("reginald" in json.dumps(error) or "generation B" in json.dumps(error), shown(error))
        ours.start()
        ours.shut_down()


def silence(seconds, options):
    with host("work", names=("raw", "mute", "late"), options=options) as ours:
        guest, mute, late = ours.guest("raw"), ours.guest("mute"), ours.guest("late")
        mute.greet()
        late.hello()
        guest.start()
        told = ours.tells("mute", "failed")[0]["msg"]
        ours.tells("late", "failed")
        true(seconds * 0.9 <= ours.seconds() < seconds * 2 + 6, "it took %.1f s" % ours.seconds())
        true("handshake" in told or "in time" in told or "answer" in told, "the reason: " + told)
        guest.reply(guest.running(), {})
        guest.farewell()
        # Their processes are ended for them, whatever they do.
        ours.ended(0)
        for each in (mute, late):
            true(not is_there(each.pid), "%s is still there" % each.name)


def row_11():
    """A plugin that does not answer handshake or initialize is dropped in time, ended and named; the rest goes on."""
    silence(0.6, ("--handshake-timeout", "600ms"))


def row_11_long():
    """The time for a handshake is five seconds (R28)."""
    silence(5, ())


# Each is one protocol error, in every revision.
ERRORS = (
    {"jsonrpc": "1.0", "method": "log", "params": {"level": "INFO", "msg": "hidden"}},
    {"jsonrpc": "2.0", "params": {}},
    {"jsonrpc": "2.0", "method": "log", "params": {"level": 5, "msg": "hidden"}},
    {"jsonrpc": "2.0", "id": 4711, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
)


def row_12():
    """Four protocol errors are told and survived, the fifth ends the plugin, and what waited for it (R23)."""
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            asked = guest.run()
            for error in ERRORS[:4]:
                guest.send(error)
            ours.tells("raw", "violation", 4)
            guest.log(level="INFO", msg="still there")
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same([line["msg"] for line in ours.told()], ["still there"], "the log")
            same(len(ours.told(kind="violation")), 4, "violations")
        with host("work", names=("raw", "other"), revision=revision) as ours:
            guest, other = ours.starts(raw={"commands": [WORK]}, other={})
            guest.running()
            for error in ERRORS:
                guest.send(error)
            guest.gone()
            true(ours.seconds() < 12, "it took %.1f s" % ours.seconds())
            other.farewell()
            ours.ended(6)
    # Unknown notifications are one, too, where the protocol is closed.
    for revision in ("gen-a", "exact"):
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.run()
            for _ in range(5):
                guest.send({"jsonrpc": "2.0", "method": "no/such", "params": {}})
            guest.gone()
            ours.ended(6)


def row_13():
    """Log messages of any level are told with their fields; one of no level is a protocol error (R31)."""
    for revision in ALL:
        with host("work", revision=revision, options=("--log-level", "debug")) as ours:
            guest = ours.guest()
            asked = guest.run()
            guest.log(level="info", msg="one")
            guest.log(level="INFO+2", msg="two", fields={"a": 1, "b": {"c": ["å"]}})
            guest.log(level="TRACE", msg="hidden")
            guest.log(level="LOUD", msg="wrong")
            guest.log(level="Warn", msg="four", more=1)
            guest.send({"jsonrpc": "2.0", "id": None, "method": "log", "params": {"level": "ERROR", "msg": "five"}})
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            told = {line["msg"]: line for line in ours.told()}
            same((told["one"]["level"], told["two"]["level"]), ("INFO", "INFO+2"), "levels")
            same(told["two"]["fields"], {"a": 1, "b": {"c": ["å"]}}, "fields")
            true("hidden" not in told and "wrong" not in told, "too much is told: %s" % shown(told))
            # Other members are an error in the real program alone; an id of null is one here (R13).
            same([name in told for name in ("four", "five")], [revision != "exact", False], "the odd ones")
            same(len(ours.told(kind="violation")), 3 if revision == "exact" else 2, "violations")
    for level, wanted in (("info", ["b", "c"]), ("warn", ["c"]), ("error+1", [])):
        with host("work", options=("--log-level", level)) as ours:
            guest = ours.guest()
            asked = guest.run()
            for text, each in (("a", "debug"), ("b", "INFO"), ("c", "ERROR")):
                guest.log(level=each, msg=text)
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same([line["msg"] for line in ours.told()], wanted, level)


def row_14():
    """A plugin's request is answered: config with its settings, others with -32601; in gen-a and exact it is a protocol error (R1)."""
    entries = [{"key": "owner", "value": "nobody", "type": "string"}]
    for revision in (None, "seed"):
        with host("work", revision=revision, config='[plugins.raw]\nowner = "Å"\n') as ours:
            guest = ours.guest()
            asked = guest.run(configs=entries)
            same(guest.initialize["params"]["config"], [setting("owner", "Å")], "its settings")
            answer = guest.ask("config")
            true("Å" in json.dumps(answer.get("result"), ensure_ascii=False), "config: %s" % shown(answer))
            same(guest.error("no/such", {"a": 1})["code"], -32601, "no/such")
            for number in range(10):
                same(guest.error("no/such")["code"], -32601, "the %dth one" % number)
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same(ours.told(kind="violation"), [], "violations")
    for revision in ("gen-a", "exact"):
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.run()
            for _ in range(4):
                same(guest.error("config")["code"], -32601, "config, where the protocol is closed")
            ours.tells("raw", "violation", 4)
            guest.send({"jsonrpc": "2.0", "id": "q", "method": "config"})
            guest.gone()
            ours.ended(6)


def row_15():
    """Every form of an error ends the call with a reason, and nothing else (R15, R16)."""
    forms = (
        ({"error": {"code": -32000, "message": "went wrong", "data": {}}}, "went wrong"),
        ({"error": {"code": -32000, "message": "went wrong", "odd": 1}}, None),
        ({"error": "went wrong"}, None),
        ({"error": {"code": "x", "message": 5}}, None),
        ({"error": None}, None),
        # These are no answers at all.
        ({"result": {}, "error": None}, ""),
        ({"result": {}, "error": {"code": 1, "message": "both"}}, ""),
        ({}, ""),
    )
    for revision in ALL:
        for form, words in forms:
            with host("work", revision=revision) as ours:
                guest = ours.guest()
                asked = guest.run()
                guest.send({"jsonrpc": "2.0", "id": asked["id"], **form})
                guest.farewell()
                ours.ended(6 if words == "" else 1)
                true("work" in ours.said(), "what failed is not told: %s" % ours.said())
                if words:
                    true(words in ours.said(), "the reason is not told: %s" % ours.said())


def row_16():
    """The answer to shutdown may be null (A) or true (B), or an error; exit follows, without {} (R26)."""
    for revision in ALL:
        for result in (None, True):
            with host("work", revision=revision) as ours:
                guest = ours.guest()
                guest.reply(guest.run(), {})
                guest.farewell(result)
                ours.ended(0)
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.reply(guest.run(), {})
            guest.reply(guest.news("shutdown"), None)
            guest.news("exit")
            is_closed = bool(select.select([guest.read_fd], [], [], 0.5 if revision == "exact" else PATIENCE)[0])
            same(is_closed, revision != "exact", "the input is closed behind exit (R29)")
            guest.leave()
            ours.ended(0)
    with host("work") as ours:
        guest = ours.guest()
        guest.reply(guest.run(), {})
        guest.refuse(guest.news("shutdown"), -32603, "not now")
        guest.news("exit")
        guest.leave()
        ours.ended(0)


def row_17():
    """A request after shutdown is refused; exit without shutdown, exit with an id and the end of the input: 0, 0, 0 and 1 (R29, R30)."""
    with plugin() as ours:
        ours.start()
        same(ours.result("shutdown"), None, "shutdown")
        same(ours.error("runCommand", {"name": "sleep"})["code"], -32600, "a request after shutdown")
        same(ours.error("shutdown")["code"], -32600, "a second shutdown")
        ours.tell_exit()
        same(ours.ended(), 0, "the exit code")
    with plugin() as ours:
        ours.start()
        ours.tell_exit()
        same(ours.ended(), 0, "exit without shutdown")
    with plugin() as ours:
        ours.tell_exit()
        same(ours.ended(), 0, "exit without a handshake")
    with plugin() as ours:
        ours.start()
        same(ours.error("exit")["code"], -32600, "exit with an id")
        same(ours.ended(), 0, "exit with an id")
    for begin in (False, True):
        with plugin() as ours:
            if begin:
                ours.start()
            ours.close_write()
            same(ours.ended(), 1, "the end of the input")
    # A command that runs holds up none of that.
    for code in (0, 1):
        with plugin() as ours:
            ours.start()
            ours.sets(time=60)
            ours.send(ours.request("runCommand", {"name": "sleep"}))
            begin = time.monotonic()
            if code:
                ours.close_write()
            else:
                ours.tell_exit()
            same(ours.ended(), code, "its exit code")
            true(time.monotonic() - begin < 20, "it slept on")


def ignores_exit(seconds, options):
    with host("work", names=("raw", "good"), options=options) as ours:
        guest, good = ours.starts(raw={"commands": [WORK]}, good={})
        guest.reply(guest.running(), {})
        begin = time.monotonic()
        guest.reply(guest.news("shutdown"), None)
        guest.news("exit")
        good.farewell()
        ours.ended(0, seconds + 10)
        took = time.monotonic() - begin
        true(took < seconds + 8, "it took %.1f s" % took)
        true(not is_there(guest.pid), "it is still there")
    with host("work", options=options) as ours:
        guest = ours.guest()
        guest.reply(guest.run(), {})
        begin = time.monotonic()
        guest.news("shutdown")
        ours.ended(0, seconds + 10)
        took = time.monotonic() - begin
        true(seconds * 0.9 <= took < seconds + 8, "without an answer to shutdown it took %.1f s" % took)


def row_18():
    """A plugin that ignores exit, SIGTERM or shutdown itself is killed when its time is over."""
    ignores_exit(1, ("--stop-timeout", "1s"))


def row_18_long():
    """The time to leave is fifteen seconds (R28)."""
    ignores_exit(15, ())


def row_19():
    """Missing params, unknown keys, commands and tasks, and values of another type are -32602."""
    with plugin() as ours:
        facts = ours.start()
        same([each["name"] for each in facts["commands"]], ["sleep"], "its commands")
        wrong = (
            ("setupCommand", {"name": "sleep", "args": None, "config": [setting("tme", 1)]}),
            ("setupCommand", {"name": "sleep", "args": None, "config": [setting("time", "1")]}),
            ("setupCommand", {"name": "sleep", "args": None, "config": [setting("time", True)]}),
            ("setupCommand", {"name": "sleep", "args": None, "config": [{"key": "time", "value": "1", "type": "int"}]}),
            ("setupCommand", {"name": "sleep", "args": None, "config": [{"key": "time", "value": 1.5, "type": "float"}]}),
            ("setupCommand", {"name": "sleep", "args": None, "config": {"time": 1}}),
            ("setupCommand", {"name": "nap", "args": None}),
            ("setupCommand", {"name": "sleep", "args": "x"}),
            ("runCommand", {"name": "nap"}), ("runCommand", {}), ("runCommand", []), ("runCommand", {"name": 5}),
            ("runTask", {"type": "no-such", "dir": "/"}), ("runTask", {"type": "x"}), ("validateTask", {"type": "no-such"}),
        )
        for method, params in wrong:
            same(ours.error(method, params)["code"], -32602, "%s %s" % (method, shown(params)))
        for method in ("setupCommand", "runCommand", "validateTask", "runTask"):
            same(ours.error(method)["code"], -32602, method + " without params")
        # Each setupCommand starts anew (R32).
        ours.sets(time=3)
        ours.sets(time=0)
        begin = time.monotonic()
        same(ours.result("runCommand", {"name": "sleep"}), {}, "runCommand")
        true(time.monotonic() - begin < 2, "it slept")
        ours.shut_down()


def row_20():
    """Settings of a task that do not fit are -32050, a command that fails is -32000; our host tells both, with their text."""
    with plugin("symlink") as ours:
        ours.start()
        same(ours.error("validateTask", {"type": "symlink", "config": []})["code"], -32050, "a link from nowhere to nowhere")
        ours.shut_down()
    with plugin() as ours:
        ours.start()
        ours.send({"jsonrpc": "2.0", "id": "s", "method": "setupCommand",
                   "params": {"name": "sleep", "args": None, "config": [setting("time", -1)]}})
        if "result" in ours.answer_to("s"):
            same(ours.error("runCommand", {"name": "sleep"})["code"], -32000, "to sleep for less than nothing")
        ours.shut_down()
    with host("work") as ours:
        guest = ours.guest()
        guest.send({"jsonrpc": "2.0", "id": guest.run()["id"], "error": {"data": {}, "message": "no <luck> & more", "code": -32000}})
        guest.farewell()
        ours.ended(1)
        true("no <luck> & more" in ours.said(), "the reason: " + ours.said())
    with host("attend", config=ECHO % "x") as ours:
        guest = ours.guest()
        guest.start(tasks=[{"type": "echo"}])
        guest.refuse(guest.news("validateTask"), -32050, "msg is too short")
        guest.farewell()
        ours.ended(7)
        true("msg is too short" in ours.tale(), "the reason: " + ours.said())


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


def row_22():
    """A line of 300 kB on the standard error, and one of bytes that are no text, hold up nobody (R33)."""
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            guest.greet()
            guest.write(b"short\n" + b"x" * 300000 + b"\n\xff\x00\xfe\nlast\n", guest.errors_fd)
            guest.reply(guest.run(), {})
            guest.write(b"y" * 300000, guest.errors_fd)
            guest.farewell()
            ours.ended(0)
            said = ours.said()
            true(ours.seconds() < 15, "it took %.1f s" % ours.seconds())
            for text in ("short", "last"):
                true(text in said, "%s is not told" % text)
            true(said.count("x") >= 60000, "%d of 300000 x are told" % said.count("x"))
            true(all(line["level"] for line in ours.told(kind="stderr")), "levels")


TWO = '[[tasks]]\ntype = "echo"\nconfig = {msg = "one"}\n[[tasks]]\ntype = "echo"\nconfig = {msg = "two"}\n'


def row_23():
    """Two tasks run at once on one plugin, and answers in another order find their tasks; our plugin runs two, too."""
    for revision in ALL:
        with host("attend", config=TWO, revision=revision) as ours:
            guest = ours.guest()
            guest.start(tasks=[{"type": "echo"}])
            for _ in range(2):
                guest.reply(guest.news("validateTask"), {})
            asked = [guest.news("runTask") for _ in range(2)]
            same([each["params"]["config"][0]["value"] for each in asked], ["one", "two"], "in order")
            guest.refuse(asked[1], -32603, "two went wrong")
            guest.reply(asked[0], {})
            guest.farewell()
            ours.ended(1)
            true("two went wrong" in ours.tale(), "the reason: " + ours.said())
    with plugin() as ours:
        ours.start()
        ours.sets(time=2)
        slow = ours.request("runCommand", {"name": "sleep"})
        ours.send(slow)
        ours.sets(time=0)
        same(ours.result("runCommand", {"name": "sleep"}), {}, "the fast one")
        true(not ours.aside, "the slow one was the first: %s" % shown(ours.aside))
        same(ours.answer_to(slow["id"])["result"], {}, "the slow one")
        ours.shut_down()


def row_24():
    """Plugins are executable files called reginald-…; a folder, other names and files without that bit are none."""
    with tempfile.TemporaryDirectory() as place:
        ours = host("plugins", names=("raw", "Ångström 2"))
        mark = os.path.join(place, "started")
        script = "#!/bin/sh\ntouch '%s'\n" % mark
        ours.put("plain", script, 0o600)
        os.mkdir(os.path.join(ours.folder, "reginald-folder"))
        for name in ("reginal-x", "xreginald-y", "Reginald-z", "reginald"):
            ours.put("moved", script)
            os.rename(os.path.join(ours.folder, "reginald-moved"), os.path.join(ours.folder, name))
        os.symlink("/nowhere/at/all", os.path.join(ours.folder, "reginald-dangling"))
        ours.put("group", "#!/no/such/interpreter\n", 0o710)
        with ours:
            guest, odd = ours.starts(**{"raw": {"commands": [WORK]}, "Ångström 2": {}})
            guest.farewell()
            odd.farewell()
            ours.child.wait(PATIENCE)
            ours.ended(ours.child.returncode)
            listed = ours.printed() + ours.said()
            true("raw" in listed and "Ångström 2" in listed and "work" in listed, "the list: " + listed)
            true("group" in listed, "one that can't be started is not named: " + listed)
            true("reginald-plain" not in listed and "folder" not in listed, "too much is listed: " + listed)
            true(not os.path.exists(mark), "one was started that is none")
    with host("plugins", options=("-p", "/no/such/folder")) as ours:
        ours.ended(2)
        true("/no/such/folder" in ours.said(), "it is not named: " + ours.said())


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


def processes_of(folder):
    """The command lines that have that folder in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if folder.encode() in line:
            found.append(line)
    return found


def fifty(path):
    """The seconds until all of fifty have shaken hands, by the trace; and that nothing is left."""
    ours = host("c07", names=(), options=("--record", path))
    for number in range(50):
        os.symlink(os.path.join(BUILD, "tests", "children", "reginald"), os.path.join(ours.folder, "reginald-c%02d" % number))
    with ours:
        ours.ended(0)
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    os.remove(path)
    same(processes_of(ours.folder), [], "what is left")
    greeted = [each["t"] for each in records if "protocolVersion" in ((each.get("message") or {}).get("result") or {})]
    same(len(greeted), 50, "plugins that have shaken hands")
    return max(greeted) / 1e6


def row_26():
    """Fifty plugins have all shaken hands in under a second, and nothing of them is left."""
    with tempfile.TemporaryDirectory() as place:
        seen = []
        for _ in range(5):
            seen.append(fifty(os.path.join(place, "trace")))
            if seen[-1] < 1:
                return
        raise Wrong("at best %.2f s of %s" % (min(seen), seen))


def row_27():
    """SIGINT and SIGTERM end the host with 130, and nothing is left, in whatever state plugins are."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with host("work", names=("raw", "mute", "idle"), options=("--stop-timeout", "1s")) as ours:
            if number == signal.SIGINT:
                ours.guest("mute").greet()
                ours.guest("idle").hello()
                ours.guest("raw").hello()
            else:
                ours.starts(raw={"commands": [WORK]}, mute={}, idle={})[0].running()
            ours.interrupt(number)
            ours.ended(130)
            true(not any(is_there(each.pid) for each in ours.guests), "some are still there")
    # One that is killed leaves nothing behind, either (F86).
    with host("work") as ours:
        guest = ours.guest()
        guest.run()
        ours.interrupt(signal.SIGKILL)
        guest.gone()


KNOBS = {"name": "work", "usage": "work", "configs": [
    {"key": "a-b", "value": "default", "type": "string", "flag": {"name": "ab", "shorthand": "a"}},
    {"key": "n", "value": 1, "type": "int", "flag": {}},
    {"key": "on", "value": False, "type": "bool", "flag": {"shorthand": "o"}},
    {"key": "env", "value": "default", "type": "string", "envOverride": "OTHER_NAME"},
    {"key": "only", "value": "default", "type": "string", "flag": {}, "flagOnly": True},
]}
KNOB_FILE = '[commands.work]\na-b = "file"\nn = 2\non = true\nenv = "file"\n'
KNOB_ENV = {"REGINALD_WORK_A_B": "env", "REGINALD_WORK_N": "3", "REGINALD_OTHER_NAME": "env", "REGINALD_WORK_ONLY": "env"}


def row_28():
    """Flags win over the environment, that over the file, that over the default; values that do not fit are told."""
    cases = (
        ((), None, {}, {"a-b": "default", "n": 1, "on": False, "env": "default", "only": "default"}),
        ((), KNOB_FILE, {}, {"a-b": "file", "n": 2, "on": True, "env": "file", "only": "default"}),
        ((), KNOB_FILE, KNOB_ENV, {"a-b": "env", "n": 3, "on": True, "env": "env", "only": "default"}),
        (("--", "--ab=flag", "--n", "-4", "-o", "--only", "flag"), KNOB_FILE, KNOB_ENV,
         {"a-b": "flag", "n": -4, "on": True, "env": "env", "only": "flag"}),
        (("--", "-a", "Å", "--on=false"), KNOB_FILE, {}, {"a-b": "Å", "n": 2, "on": False, "env": "file", "only": "default"}),
    )
    for flags, config, env, wanted in cases:
        with host("work", *flags, config=config, env=env) as ours:
            guest = ours.guest()
            asked = guest.run(commands=[KNOBS])
            got = {each["key"]: each["value"] for each in guest.setup["params"].get("config", [])}
            same({**{each["key"]: each["value"] for each in KNOBS["configs"]}, **got}, wanted, "%s %s" % (flags, env))
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
    wrong = (
        (("--", "--n", "x"), None, {}), (("--", "--nn", "1"), None, {}), ((), '[commands.work]\nn = "x"\n', {}),
        ((), "[commands.work]\nonly = 1\n", {}), ((), None, {"REGINALD_WORK_N": "x"}), (("--", "--n"), None, {}),
        ((), "[commands.work]\nno-such = 1\n", {}),
    )
    for flags, config, env in wrong:
        with host("work", *flags, config=config, env=env) as ours:
            guest = ours.guest()
            guest.start(commands=[KNOBS])
            guest.farewell()
            ours.child.wait(PATIENCE)
            true(ours.child.returncode in (2, 7), "%s %s %s: %d" % (flags, config, env, ours.child.returncode))
            true(ours.said(), "it is not told")
    # Words behind the options are the command's.
    with host("work", "one", "--n", "5", "two words") as ours:
        guest = ours.guest()
        guest.reply(guest.run(commands=[KNOBS]), {})
        same(guest.setup["params"]["args"], ["one", "two words"], "the words")
        guest.farewell()
        ours.ended(0)


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


def row_30():
    """Tasks that need others wait for them, the rest runs at once; one that fails takes only those with it that need it."""
    file = "".join(
        '[[tasks]]\ntype = "echo"\nid = "%s"\n%sconfig = {msg = "%s"}\n' % (name, needs, name)
        for name, needs in (("a", ""), ("b", 'needs = ["a"]\n'), ("c", ""), ("d", 'needs = ["b", "c"]\n'), ("e", 'needs = ["c"]\n'))
    )

    def name_of(request):
        return request["params"]["config"][0]["value"]

    with host("attend", config=file) as ours:
        guest = ours.guest()
        guest.start(tasks=[{"type": "echo"}])
        for _ in range(5):
            guest.reply(guest.news("validateTask"), {})
        first = {name_of(each): each for each in (guest.news("runTask"), guest.news("runTask"))}
        same(sorted(first), ["a", "c"], "those that need nothing")
        guest.reply(first["c"], {})
        fifth = guest.news("runTask")
        same(name_of(fifth), "e", "the one that needs c")
        guest.refuse(first["a"], -32603, "a is wrong")
        guest.reply(fifth, {})
        same(guest.news("shutdown")["method"], "shutdown", "b and d are left out")
        guest.leave()
        ours.ended(1)
        true("a is wrong" in ours.tale(), ours.said())
    for config in ('[[tasks]]\ntype = "echo"\nid = "a"\nneeds = ["a"]\n', '[[tasks]]\ntype = "echo"\nneeds = ["x"]\n',
                   '[[tasks]]\nid = "x"\n', "[[tasks]\n", '[[tasks]]\ntype = "echo"\nid = "a"\n' * 2):
        with host("attend", config=config) as ours:
            end = time.monotonic() + PATIENCE
            while ours.child.poll() is None and time.monotonic() < end:
                ours.doors["raw"].settimeout(0.2)
                try:
                    control, _ = ours.doors["raw"].accept()
                except TimeoutError:
                    continue
                guest = guests.Guest(control, "raw")
                ours.closing.append(guest)
                guest.start(tasks=[{"type": "echo"}])
                guest.farewell()
            ours.ended(2)
            true("config.toml" in ours.said(), "the file is not named: " + ours.said())


def row_31():
    """The end of a plugin that is needed is 4, a command that nobody has 2; a plugin that fails is named, and the rest goes on."""
    with host("work") as ours:
        guest = ours.guest()
        guest.run()
        guest.leave(7)
        ours.ended(4)
        true("raw" in ours.said(), ours.said())
    with host("play") as ours:
        guest = ours.guest()
        guest.start()
        guest.farewell()
        ours.child.wait(PATIENCE)
        ours.ended(2)
        true("play" in ours.said(), ours.said())
    with host("work", names=("raw", "broken")) as ours:
        guest = ours.guest()
        ours.guest("broken").leave(1)
        guest.reply(guest.run(), {})
        guest.farewell()
        ours.ended(0)
        true(ours.told("broken", "failed"), "it is not named: " + ours.said())


LINKS = """[[tasks]]
type = "symlink"
id = "first"
dir = "home"
config = {from = "../å <&>", to = "a/b"}
[[tasks]]
type = "symlink"
needs = ["first"]
dir = "home"
config = {from = "a/b", to = "c"}
[[tasks]]
type = "echo"
config = {msg = "beside them"}
"""


def row_32():
    """Our host and our plugins: links that are made, checked and told of; a dry run changes nothing, a second run neither."""
    for revision in ALL:
        ours = host("attend", names=(), config=LINKS, revision=revision)
        for name in ("sleep", "symlink"):
            os.symlink(os.path.join(BUILD, "examples", "reginald-" + name), os.path.join(ours.folder, "reginald-" + name))
        home = os.path.join(ours.place, "home")
        os.mkdir(home)
        plain = ours.command
        wanted = {"would be": [False, False], "was made": [True, True], "already": [False, False]}
        for words, changes in wanted.items():
            # The folder stays for the next run.
            ours.command = plain[:-1] + (["--dry-run"] if words == "would be" else []) + ["attend"]
            ours.begin()
            ours.ended(0)
            told = [line for line in ours.told("symlink") if words in line["msg"]]
            same([line["fields"]["changed"] for line in told], changes, words)
            same(len(ours.told("example")), 0 if words == "would be" else 1, "echoes")
            same(os.path.lexists(os.path.join(home, "a")), words != "would be", "a folder")
        same(os.readlink(os.path.join(home, "a", "b")), "../å <&>", "the first link")
        same(os.readlink(os.path.join(home, "c")), "a/b", "the second link")
        same(processes_of(ours.folder), [], "what is left")
        ours.__exit__(None, None, None)


def run(name):
    row = globals()["row_" + name.replace("-", "_")]
    try:
        row()
    except Wrong as wrong:
        print("not ok %s %s Why: %s" % (name, row.__doc__, wrong), flush=True)
        return False
    except Exception as wrong:  # the next row has nothing to do with it
        print("not ok %s %s Why: %s: %s" % (name, row.__doc__, type(wrong).__name__, wrong), flush=True)
        if len(sys.argv) > 2:
            raise
        return False
    print("ok %s %s" % (name, row.__doc__), flush=True)
    return True


def main():
    global BUILD
    names = [key[4:].replace("_", "-") for key in globals() if key.startswith("row_")]
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(names):
        print("usage: rows.py BUILD [ROW...]; rows: " + " ".join(names), file=sys.stderr)
        return 2
    BUILD = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or [name for name in names if not name.endswith("-long")]
    return 0 if all([run(name) for name in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())
