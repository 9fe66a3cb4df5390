"""Rows 1 to 7: framing and ids. See stage.py. Numbers with an F are errata of the protocol's document."""
import json
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ALL, FULL, Er, demo_action, error_is, raw, same, shown, true
from workspace import Manager

HEADERS = (
    FULL,
    "Content-Length: %d\r\n\r\n",
    "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
    "X-Before: 1\r\nContent-Length: %d\r\nX-Unknown: between\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
    "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
)
ONE = {"p": [demo_action("echo", stage.ECHO, ("h1", "H1"))]}


def row_01():
    """Headers: both fields, the length alone, the type first, unknown ones in between: all are answered, by runner and manager."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            for header in HEADERS:
                asked = ours.request("finecodeRunner/getInfo", {})
                ours.send(asked, header)
                true("logFilePath" in ours.answer_to(asked["id"])["result"], repr(header))
            ours.shut_down()
        with Manager(ONE, tcp=tcp) as ours:
            for number, header in enumerate(HEADERS):
                run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": "t"})
                guest = ours.guest().begin() if number == 0 else guest
                asked = guest.run()
                sent = []
                guest.write = sent.append  # what it would send, for another header
                guest.done(asked, {"items": [header]})
                del guest.write
                body = sent[0][sent[0].index(b"\r\n\r\n") + 4:]
                guest.write(raw.frame(body, header))
                same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"], {"items": [header]}, repr(header))


def row_02():
    """Lengths are bytes: raw UTF-8 and escapes come through, and what we send has the right length, too."""
    text = "Å中😀\u2028\"\\"
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for ascii_only in (True, False):
                asked = ours.run_request("lang", {"text": text})
                ours.write(raw.frame(json.dumps(asked, ensure_ascii=ascii_only).encode(), FULL))
                _, by_format, _ = ours.read(ours.answer_to(asked["id"])["result"])
                same(by_format["json"]["items"], ["fn:" + text], "the text")
            ours.is_alive("behind it")
        with Manager(ONE, tcp=tcp) as ours:
            for ascii_only in (True, False):
                run = ours.client.request("actions/run", {
                    "actionSource": stage.ECHO, "project": ours.path("p"), "params": {"text": text},
                    "options": {"resultFormats": ["json"], "trigger": "user", "devEnv": "cli"}})
                ours.client.write(raw.frame(json.dumps(run, ensure_ascii=ascii_only).encode()))
                guest = ours.guest().begin() if ascii_only else guest
                asked = guest.run()
                same(asked["params"]["params"], {"text": text}, "the payload")
                guest.done(asked, {"items": [text]})
                same(ours.client.answer_to(run["id"])["result"]["resultByFormat"]["json"]["items"], [text], "the result")


def row_03():
    """A frame may be cut at every byte, and ten may come in one piece: as many answers."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            size = len(raw.frame(ours.request("finecodeRunner/getInfo", {}), FULL))
            for at in range(1, size):
                asked = ours.request("finecodeRunner/getInfo", {})
                data = raw.frame(asked, FULL)
                ours.write(data[:at])
                time.sleep(0.001) if tcp else ours.is_taken()
                ours.write(data[at:])
                true("result" in ours.answer_to(asked["id"]), "cut at %d" % at)
            several = [ours.request("finecodeRunner/getInfo", {}) for _ in range(10)]
            ours.write(b"".join(raw.frame(each, FULL) for each in several))
            for each in several:
                true("result" in ours.answer_to(each["id"]), "one of ten")
            same(ours.aside, [], "answers")
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": "t"}, token="part")
            guest = ours.guest().begin()
            asked = guest.run()
            token = asked["params"]["options"]["partialResultToken"]
            parts = [{"jsonrpc": "2.0", "method": "$/progress", "params": {
                "token": token, "value": json.dumps({"json": {"items": [number]}})}} for number in range(10)]
            guest.write(b"".join(raw.frame(each, FULL) for each in parts[:5]))
            guest.write_bytewise(b"".join(raw.frame(each, FULL) for each in parts[5:]))
            guest.done(asked, {"items": []}, status="streamed")
            ours.client.answer_to(run)
            told = [each["params"]["value"]["resultByFormat"]["json"]["items"] for each in ours.client.aside
                    if each["method"] == "actions/partialResult"]
            same([item for items in told for item in items], list(range(10)), "the partial results")


def row_04():
    """What is no message is answered with an error or dropped, and the next good request works (F30); but on a
    socket text between messages ends the conversation."""
    wrong = (
        (raw.frame(b'{"jsonrpc": "2.0", "id": 1, ', FULL), -32700),
        (raw.frame([{"jsonrpc": "2.0", "id": 1, "method": "finecodeRunner/getInfo"}], FULL), -32600),
        (raw.frame(b"", FULL), None),
        (raw.frame(b"42", FULL), None),
        (b"no header at all\r\n", None),
    )
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            for data, code in wrong[:-1] if tcp else wrong:
                ours.write(data)
                ours.is_alive("after %r" % data)
                if code:
                    error_is(ours.until(lambda m: "error" in m, "an error"), code, repr(data))
                true(all(each.get("id") is None and "error" in each for each in ours.aside), shown(ours.aside))
                ours.aside.clear()
            # The real one skips a header in lower case as noise; ours takes it.
            asked = ours.request("finecodeRunner/getInfo", {})
            ours.send(asked, "content-length: %d\r\n\r\n")
            true("result" in ours.answer_to(asked["id"]), "a header in lower case")
            if tcp:
                ours.write(wrong[-1][0])
                true(ours.ended() != 0, "it takes text between messages on a socket")
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin()
            for data, _ in wrong[:3]:
                guest.write(data)
            guest.done(guest.run(), {"items": ["fine"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["fine"], "the run")


def row_05():
    """A payload of a megabyte comes back."""
    text = "0123456789abcdef" * 65536
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            path = ours.project + "/large"
            ours.tell("textDocument/didOpen", {"textDocument": {"uri": "file://" + path, "languageId": "", "version": 1,
                                                                "text": text}})
            same(ours.items("read", {"text": path}), [text], "the text")
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": text})
            guest = ours.guest().begin()
            asked = guest.run()
            same(asked["params"]["params"]["text"], text, "the payload")
            guest.done(asked, {"items": [text]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], [text], "the result")


def row_06():
    """Without jsonrpc: a runner answers in the revision real and refuses in the document's; a manager goes on (F22)."""
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            ours.send({"id": "nj", "method": "finecodeRunner/getInfo"})
            if revision == "real":
                true("logFilePath" in ours.answer_to("nj")["result"], "the answer")
            else:
                error_is(ours.until(lambda m: "error" in m, "an error"), -32600, "without jsonrpc")
            ours.is_alive("after it")
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin()
            asked = guest.run()
            guest.send({"method": "no/such"})
            guest.send({"id": 5, "result": {}})
            guest.done(asked, {"items": ["fine"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["fine"], "the run")


def row_07():
    """Ids of all kinds are echoed with their type; null and one that is in use are refused, and nothing crashes."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for identity in ("5e609587-fa7c-4ac6-95b3-de6d84c9ea28", 42, 0, "", -1, 9007199254740993, "0"):
                ours.send({"jsonrpc": "2.0", "id": identity, "method": "finecodeRunner/getInfo", "params": {}})
                same(ours.fresh()["id"], identity, "the id")
            ours.send({"jsonrpc": "2.0", "id": None, "method": "finecodeRunner/getInfo"})
            refused = ours.fresh()
            same((refused["id"], refused.get("error", {}).get("code")), (None, -32600), "the id null")
            slow = ours.run_request("slow", {"text": "t", "ms": 400})
            ours.send(slow)
            ours.send({**slow, "method": "finecodeRunner/getInfo", "params": {}})
            answers = [ours.fresh(), ours.fresh()]
            same([each["id"] for each in answers], [slow["id"]] * 2, "two of the same id")
            same(sorted("error" in each for each in answers), [False, True], "one of them is refused: %s" % shown(answers))
            ours.is_alive("after it")
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(stage.ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin()
            asked = guest.run()
            true(isinstance(asked["id"], str) and len(asked["id"]) == 36, "our ids are UUIDs: %s" % shown(asked["id"]))
            for identity in (0, "zero"):
                guest.send({"jsonrpc": "2.0", "id": identity, "method": "projects/getRawConfig",
                            "params": {"projectDefPath": ours.path("p/finecode.toml")}})
                true("config" in guest.answer_to(identity)["result"], "the answer to %r" % identity)
            guest.send({"jsonrpc": "2.0", "id": asked["id"], "method": "projects/getRawConfig",
                        "params": {"projectDefPath": ours.path("p/finecode.toml")}})
            true("config" in guest.answer_to(asked["id"])["result"], "an id that is also one of ours")
            guest.done(asked, {"items": ["fine"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["fine"], "the run")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
