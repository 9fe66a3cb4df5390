"""What plugins say and are told."""
import json
import select
import sys
import time

import rows
from rows import ALL, ECHO, PATIENCE, WORK, frame, host, plugin, same, setting, shown, true


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
    """Log messages of any level are told with their fields, at any time; one of no level is a protocol error (R31)."""
    for revision in ALL:
        with host("work", revision=revision, options=("--log-level", "debug")) as ours:
            guest = ours.guest()
            guest.greet()
            guest.log(level="INFO", msg="before its answer to handshake")
            asked = guest.run()
            guest.log(level="info", msg="one")
            guest.log(level="INFO+2", msg="two", fields={"a": 1, "b": {"c": ["å"]}})
            guest.log(level="TRACE", msg="hidden")
            guest.log(level="LOUD", msg="wrong")
            guest.log(level="Warn", msg="four", more=1)
            guest.send({"jsonrpc": "2.0", "id": None, "method": "log", "params": {"level": "ERROR", "msg": "five"}})
            guest.reply(asked, {})
            leaving = guest.news("shutdown")
            guest.log(level="INFO", msg="asked to leave")
            guest.reply(leaving, None)
            guest.log(level="INFO", msg="agreed to leave")
            guest.news("exit")
            guest.leave()
            ours.ended(0)
            told = {line["msg"]: line for line in ours.told()}
            for at_any_time in ("before its answer to handshake", "asked to leave", "agreed to leave"):
                true(at_any_time in told, "%s: not told in %s" % (at_any_time, shown(list(told))))
            same((told["one"]["level"], told["two"]["level"]), ("INFO", "INFO+2"), "levels")
            same(told["two"]["fields"], {"a": 1, "b": {"c": ["å"]}}, "fields")
            true("hidden" not in told and "wrong" not in told, "too much is told: %s" % shown(told))
            # Other members are an error in the real program alone, an id of null in the document (R13).
            same([name in told for name in ("four", "five")], [revision != "exact", revision != "seed"], "the odd ones")
            same(len(ours.told(kind="violation")), 2 if revision in ("exact", "seed") else 1, "violations")
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


# None of them has an id that could be answered.
MALFORMED = (b'{"jsonrpc":"2.0","id":[1],"method":"log"}', b'{"jsonrpc":"2.0","method":5}', b"[]",
             b'{"jsonrpc":"1.0","method":"log","params":{"level":"INFO","msg":"hidden"}}')


# These have one. The last four are requests that the document allows, and the real host does not.
WITH_ID = (b'{"jsonrpc":"2.0","id":9,"method":1}', b'{"jsonrpc":"2.0","id":9,"method":"x","params":5}',
           b'{"id":9,"method":"x"}', b'{"jsonrpc":"1.0","id":9,"method":"x"}', b'{"jsonrpc":"2.0","id":99}',
           b'{"jsonrpc":"2.0","id":9,"method":"x"}', b'{"jsonrpc":"2.0","id":9,"method":"config"}',
           b'{"jsonrpc":"2.0","id":9,"method":"runCommand","params":{"name":"work"}}',
           b'{"jsonrpc":"2.0","id":"","method":"log","params":{"level":"info","msg":"hidden"}}')


def ends_after(ours, guest, asked, violations):
    """After so many violations nothing else comes than what ends every conversation."""
    guest.reply(asked, {})
    leaving = guest.fresh()
    same(leaving.get("method"), "shutdown", "what came instead: %s" % shown(leaving))
    guest.reply(leaving, None)
    guest.news("exit")
    guest.leave()
    ours.ended(0)
    same(len(ours.told(kind="violation")), violations, "violations")


def row_37():
    """In gen-a and exact nothing is sent about what has an id either: each is one protocol error, also if the plugin answers all that comes (R1)."""
    for revision in ("gen-a", "exact"):
        for first in range(0, len(WITH_ID), 4):
            several = WITH_ID[first:first + 4]
            with host("work", revision=revision) as ours:
                guest = ours.guest()
                asked = guest.run()
                for body in several:
                    guest.write(frame(body))
                ours.tells("raw", "violation", len(several))
                ends_after(ours, guest, asked, len(several))
                same(ours.told(), [], "the log")
    # Otherwise they are answered, as JSON-RPC has it.
    for revision in (None, "seed"):
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            asked = guest.run()
            for body in WITH_ID[:4]:
                guest.write(frame(body))
                answer = guest.fresh()
                same((answer["id"], answer["error"]["code"]), (9, -32600), "the answer to %r" % body)
            guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)


def row_33():
    """In gen-a and exact nothing is sent with an id of null, so that a plugin that answers everything is counted once (R22)."""
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            asked = guest.run()
            for body in MALFORMED:
                guest.write(frame(body))
            ours.tells("raw", "violation", 4)
            silent = revision in ("gen-a", "exact")
            for _ in () if silent else MALFORMED:
                same(guest.fresh()["id"], None, "the id of an answer")
            ends_after(ours, guest, asked, 4)


def row_41():
    """In seed a batch is taken as JSON-RPC has it: what asks for something is answered in one; elsewhere it is a protocol error (R35)."""
    log = {"jsonrpc": "2.0", "method": "log", "params": {"level": "INFO", "msg": "in a batch"}}
    batch = [log, {"jsonrpc": "2.0", "id": "a", "method": "config"}, 5, {"jsonrpc": "2.0", "id": "b", "method": "no/such"}]
    for revision in ALL:
        with host("work", revision=revision) as ours:
            guest = ours.guest()
            asked = guest.run(configs=[{"key": "owner", "value": "me", "type": "string"}])
            guest.send([log, log])
            guest.write(frame(batch))
            if revision == "seed":
                answer = guest.fresh()
                same({each["id"]: each.get("error", {}).get("code", 0) for each in answer}, {"a": 0, "b": -32601, None: -32600},
                     "the answers")
                guest.write(frame([{"jsonrpc": "2.0", "id": asked["id"], "result": {}}]))
            else:
                for _ in () if revision else range(2):
                    same(guest.fresh()["error"]["code"], -32600, "the answer")
                guest.reply(asked, {})
            guest.farewell()
            ours.ended(0)
            same(len(ours.told()), 3 if revision == "seed" else 0, "the log")
            same(len(ours.told(kind="violation")), 1 if revision == "seed" else 2, "violations")


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
            for number in range(4):
                guest.send({"jsonrpc": "2.0", "id": "q%d" % number, "method": "config"})
            ours.tells("raw", "violation", 4)
            guest.log(level="INFO", msg="still there")
            ours.tells("raw", None)
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


if __name__ == "__main__":
    sys.exit(rows.main(globals()))
