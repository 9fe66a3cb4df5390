"""Rows 49 to 54: documents, logs, names, spellings, clients, events. See stage.py."""
import json
import os
import socket
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, DEMO, ECHO, RUN_ID, Er, demo_action, error_is, eventually, raw, same, shown, true
from workspace import Client, Command, Manager

ONE = {"p": [demo_action("echo", ECHO, ("h1", "H1"))]}


def at(line, start, end=None, last=None):
    return {"start": {"line": line, "character": start},
            "end": {"line": line if last is None else last, "character": start if end is None else end}}


CHANGES = (  # a text, changes, what they lead to
    ("héllo", [{"range": at(0, 1, 2), "text": "e"}], "hello"),
    ("a😀b", [{"range": at(0, 3, 4), "text": "c"}], "a😀c"),
    ("a😀b", [{"range": at(0, 1, 3), "text": ""}], "ab"),
    ("one\ntwo\n", [{"range": at(1, 0, 3), "text": "2"}, {"range": at(0, 0, 3), "text": "1"}], "1\n2\n"),
    ("one\r\ntwo", [{"range": at(0, 3, 0, 1), "text": " "}], "one two"),
    ("x", [{"range": at(0, 99), "text": "y"}], "xy"),
    ("x", [{"range": at(9, 0), "text": "y"}], "xy"),
    ("x", [{"text": "whole"}], "whole"),
    ("x", [{"range": at(0, 0, 1), "rangeLength": None, "text": "z"}], "z"),
)


def row_49():
    """An open document wins over the disk; whole and partial changes in UTF-16; closed, the disk wins; spaces, percent signs, the version 0, a second didOpen; a new configuration loses nothing (F32)."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            path = os.path.join(ours.project, "a b%20c#ü.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("disk")
            uri = "file://" + path.replace("%", "%25").replace(" ", "%20").replace("#", "%23").replace("ü", "%C3%BC")

            def opens(text, version=1, name=uri):
                ours.tell("textDocument/didOpen", {"textDocument": {"uri": name, "languageId": "", "version": version, "text": text}})
            same(ours.items("read", {"text": path}), ["disk"], "the disk")
            for text, changes, wanted in CHANGES:
                opens(text, 0)
                same(ours.items("read", {"text": path}), [text], "the open document")
                ours.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 1}, "contentChanges": changes})
                same(ours.items("read", {"text": path}), [wanted], "%r after %s" % (text, changes))
                ours.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
                same(ours.items("read", {"text": path}), ["disk"], "closed")
            opens("kept")
            same(ours.result("finecodeRunner/updateConfig", ours.config()), {}, "another configuration")
            same(ours.items("read", {"text": path}), ["kept"], "the document after it")
            os.remove(path)
            same(ours.items("read", {"text": path}), ["kept"], "one whose file is gone")
            opens("twice")
            true(ours.items("read", {"text": path})[0] in ("kept", "twice"), "opened twice")
            ours.tell("textDocument/didChange", {"textDocument": {"uri": "file:///never/opened", "version": 1},
                                                 "contentChanges": [{"text": "x"}]})
            ours.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
            true(ours.failed("read", {"text": path}), "closed, and no file")
        with Er(tcp=tcp) as ours:
            ours.hello()
            path = os.path.join(ours.project, "early.txt")
            ours.tell("textDocument/didOpen", {"textDocument": {"uri": "file://" + path, "languageId": "", "version": 1, "text": "early"}})
            ours.result("finecodeRunner/updateConfig", ours.config())
            ours.result("finecodeRunner/resolveActionMeta", {})
            same(ours.items("read", {"text": path}), ["early"], "opened before the configuration")


def row_49b():
    """The manager keeps documents by UTF-16, tells runners of their project only, and takes the version 0 and none."""
    for _, tcp in ALL:
        with Manager({"p": ONE["p"], "q": ONE["p"]}, tcp=tcp) as ours:
            uri = "file://" + ours.path("p/a%20b.txt")
            ours.client.tell("documents/opened", {"uri": uri, "version": 0, "text": "a😀b"})
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("e", "p").begin()
            guest.done(guest.run())
            ours.client.answer_to(run)
            same([each["params"]["textDocument"] for each in guest.opened + guest.aside if each["method"] == "textDocument/didOpen"],
                 [{"uri": uri, "languageId": "", "version": 0, "text": "a😀b"}], "at the start")
            run = ours.client.start_run(ECHO, ours.path("q"), {"text": "t"})
            other = ours.guest("e", "q").begin()
            other.done(other.run())
            ours.client.answer_to(run)
            guest.aside.clear()
            change = {"range": at(0, 3, 4), "text": "c"}
            ours.client.tell("documents/changed", {"uri": uri, "version": 1, "contentChanges": [change]})
            told = guest.news("textDocument/didChange")["params"]
            same(told["textDocument"], {"uri": uri, "version": 1}, "didChange")
            same([(each["text"], each.get("range")) for each in told["contentChanges"]], [("c", change["range"])], "its changes")
            os.kill(guest.pid, 9)
            guest.leave()
            ours.becomes("EXITED")
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            again = ours.guest("e", "p").begin()
            again.done(again.run())
            ours.client.answer_to(run)
            same([each["params"]["textDocument"]["text"] for each in again.opened + again.aside
                  if each["method"] == "textDocument/didOpen"], ["a😀c"], "the text that the manager keeps")
            ours.client.tell("documents/closed", {"uri": uri})
            same(again.news("textDocument/didClose")["params"], {"textDocument": {"uri": uri}}, "didClose")
            same([each for each in other.opened + other.aside], [], "the other project hears nothing")
            other.is_quiet("the other project")
            ours.client.tell("documents/opened", {"uri": "http://else.where/x", "version": 1, "text": "x"})
            ours.client.tell("documents/changed", {"uri": uri, "version": "", "contentChanges": 5})
            ours.client.is_alive("after documents that are none")


def row_50():
    """Logs are forwarded from their level on while that is wanted; secrets are blotted out, their source is told; messages come."""
    with Er(tcp=True) as ours:
        ours.start()

        def talked():
            ours.aside.clear()
            same(ours.items("talk", {"text": "hello"}), ["talked"], "a run")
            ours.is_alive("after it")
            records = [record for each in ours.aside if each["method"] == "er/logRecords" for record in each["params"]["records"]]
            messages = [each["params"] for each in ours.aside if each["method"] == "er/userMessage"]
            same(messages, [{"message": "hello", "type": "WARNING"}], "er/userMessage")
            return [each for each in records if each["group"] == "demo.talk"]
        same(talked(), [], "not wanted")
        for level, wanted in (("WARNING", ["WARNING", "ERROR"]), ("INFO", ["INFO", "WARNING", "ERROR"]),
                              ("TRACE", ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"])):
            same(ours.result("finecodeRunner/updateLogging", {"forward": True, "forwardLevel": level}), {}, "updateLogging")
            records = talked()
            same([each["level"] for each in records], wanted, "from %s on" % level)
            for each in records:
                same(set(each), {"timestamp", "level", "group", "message"}, "a record")
                true(abs(each["timestamp"] - time.time()) < 60, "its time: %s" % each["timestamp"])
        same(ours.result("finecodeRunner/updateLogging", {"forward": False, "forwardLevel": "INFO"}), {}, "updateLogging")
        same(talked(), [], "no longer wanted")
    with Manager(ONE, tcp=True) as ours:
        run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
        guest = ours.guest().begin()
        asked = guest.run()
        ours.client.result("server/subscribeLogs", {"minLevel": "WARNING"})
        told = guest.news("finecodeRunner/updateLogging")
        same(told["params"], {"forward": True, "forwardLevel": "WARNING"}, "the runner is told")
        guest.reply(told, {})
        record = {"timestamp": time.time(), "level": "ERROR", "group": "g", "message": "api_key=abc123 and password: hunter2 end"}
        guest.tell("er/logRecords", {"records": [record]})
        records = ours.client.news("server/logRecords")["params"]["records"]
        found = next(each for each in records if each.get("group") == "g")
        true("hunter2" not in found["message"] and "abc123" not in found["message"] and "REDACTED" in found["message"]
             and found["message"].endswith("end"), "secrets: %s" % shown(found))
        true("runner:e@" in found["source"], "its source: %s" % shown(found))
        guest.tell("er/userMessage", {"message": "look", "type": "INFO"})
        same(ours.client.news("server/userMessage")["params"], {"message": "look", "type": "INFO"}, "a message for the user")
        ours.client.result("server/unsubscribeLogs", {})
        told = guest.news("finecodeRunner/updateLogging")
        same(told["params"]["forward"], False, "no longer")
        guest.reply(told, {})
        guest.done(asked)
        ours.client.answer_to(run)


FOUND = {each["source"] for each in DEMO} - {"no_such_pkg.Action"}


def row_51():
    """An action is found by its name, its source, its canonical source, and by what a runner says an alias means; a flat map and one without a scope are understood (F6)."""
    canonical = ACTS + "EchoAction"
    for flat in (False, True):
        for _, tcp in ALL:
            with Manager(ONE, tcp=tcp) as ours:
                run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                guest = ours.guest().begin(canonical={ECHO: canonical}, flat=flat)
                guest.done(guest.run())
                true("result" in ours.client.answer_to(run), "by its source")
                for word in (canonical, "echo"):
                    run = ours.client.start_run(word, ours.path("p"), {"text": "t"})
                    guest.done(guest.run())
                    true("result" in ours.client.answer_to(run), "by %s" % word)
                run = ours.client.start_run("demo_ext.again.Echo", ours.path("p"), {"text": "t"})
                asked = guest.news("actions/resolveSource")
                same(asked["params"], {"source": "demo_ext.again.Echo"}, "resolveSource")
                guest.reply(asked, {"canonicalSource": canonical})
                guest.done(guest.run())
                true("result" in ours.client.answer_to(run), "by an alias")
                run = ours.client.start_run("demo_ext.Nothing", ours.path("p"), {"text": "t"})
                guest.refuse(guest.news("actions/resolveSource"), -32603, "Cannot resolve source")
                true("error" in ours.client.answer_to(run), "by nothing")
    with Er(tcp=True) as ours:
        meta = ours.start()
        same(set(meta), {"actions", "handlerLocations"}, "resolveActionMeta in the real form")
        same(meta["actions"][ECHO], {"canonical_source": canonical, "runs_concurrently": False, "scope": "project",
                                     "parentActionSource": None, "language": None, "fileLoc": "/ws/fc-ext/demo_ext/acts.py:40"}, "echo")
        same(set(meta["actions"]), FOUND, "all but what cannot be found")
        for source in (ECHO, canonical, "demo_ext.again.Echo"):
            same(ours.result("actions/resolveSource", {"source": source}), {"canonicalSource": canonical}, source)
        for source in ("demo_ext.Nope", "nodot", ""):
            error_is(ours.ask("actions/resolveSource", {"source": source}), -32603, repr(source))
        same(ours.result("packages/resolvePath", {"packageName": "demo_ext"}), {"packagePath": "/ws/fc-ext/demo_ext"}, "resolvePath")
        error = error_is(ours.ask("packages/resolvePath", {"packageName": "nope_pkg"}), -32603, "resolvePath")
        true("cannot find package" in error["message"].lower(), "its text: %s" % error["message"])
    with Er() as ours:
        meta = ours.start()
        same(meta[ECHO], {"canonical_source": canonical, "runs_concurrently": False}, "the document's flat map")
        same(set(meta), FOUND, "all but what cannot be found")
        for source, about in meta.items():
            same(set(about), {"canonical_source", "runs_concurrently"}, source)
            at_once = source in (ACTS + "ConcAction", ACTS + "ConcStopAction")
            same(about["runs_concurrently"], at_once, "does %s run at once" % source)


def row_52():
    """Our manager takes either spelling, and text and object, from any runner; ours sends what its revision has (F2, F3)."""
    result = {"items": ["x"]}
    spellings = (
        {"status": "success", "resultByFormat": {"json": result}, "returnCode": 1},
        {"status": "success", "result_by_format": json.dumps({"json": result}), "return_code": 1},
        {"status": "success", "resultByFormat": json.dumps({"json": result}), "returnCode": 1},
        {"status": "success", "result_by_format": {"json": result}, "return_code": 1},
    )
    for revision, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            guest = None
            for spelling in spellings:
                run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                guest = guest or ours.guest().begin()
                guest.reply(guest.run(), spelling)
                got = ours.client.answer_to(run)
                same((got["result"]["resultByFormat"], got["result"]["returnCode"]), ({"json": result}, 1), shown(spelling))
            for status in ("success", "stopped", "streamed"):
                run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                empty = {"status": status, "result_by_format": "{}", "return_code": 1}
                guest.reply(guest.run(), {"status": status, "resultByFormat": {}, "returnCode": 1} if tcp else empty)
                answer = ours.client.answer_to(run)
                if revision == "seed" and status != "streamed":  # F10
                    why = error_is(answer, -32603, "%s and empty" % status)["message"]
                    true("broke the protocol" in why, "%s and empty: %s" % (status, why))
                else:
                    same(answer["result"]["returnCode"], 1, "%s and empty" % status)
            for wrong in ({"status": "success"}, {"status": 5, "resultByFormat": {}, "returnCode": 0}, [], "x", None, {},
                          {"status": "success", "result_by_format": "{", "return_code": 0}):
                run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                guest.reply(guest.run(), wrong)
                true("id" in ours.client.answer_to(run), "it ends: %s" % shown(wrong))
            same(ours.states(), {("p", "e"): "RUNNING"}, "the runner after all that")


def row_53():
    """The manager as a server: headers with a type are fine, a stale port file is replaced, a live one is not; two clients; it ends when the last one has left; unknown methods are -32601."""
    with Manager(ONE, "--disconnect-timeout", "1s", "--initialize-timeout", "1s") as ours:
        asked = ours.client.request("workspace/listProjects", {})
        ours.client.write(raw.frame(asked, stage.FULL))
        listed = ours.client.answer_to(asked["id"])["result"]["projects"]
        same([(each["name"], each["path"]) for each in listed], [("p", ours.path("p"))], "listProjects")
        error_is(ours.client.ask("no/such", {}), -32601, "an unknown method")
        error_is(ours.client.ask("actions/run", {"actionSource": 5}), -32602, "params that do not fit")
        actions = ours.client.result("actions/list", {"project": ours.path("p")})
        true(isinstance(actions["actions"], list), "actions/list")
        second = ours.connect()
        true(second.result("client/initialize", {"clientId": "second"}) is not None, "a second client")
        second.is_alive("it works")
        for garbage in (raw.frame(b"{"), raw.frame(b"[]"), raw.frame(b'{"jsonrpc":"2.0","id":{},"method":"x"}')):
            second.write(garbage)
        second.is_alive("after garbage")
        second.close()
        ours.client.is_alive("the first one, after the second left")
        port = ours.port()
        with Command(ONE, "serve", options=("--port-file", ours.port_file)) as other:
            true(other.child.wait(stage.PATIENCE) != 0, "another one behind the same file")
        same(ours.port(), port, "the file is as it was")
        ours.client.close()
        same(ours.child.wait(20), 0, "it ends when the last one has left")
        true(not os.path.exists(ours.port_file), "the file is gone")
        with socket.create_server(("127.0.0.1", 0)) as unused:
            stale = unused.getsockname()[1]
        with open(ours.port_file, "w", encoding="ascii") as file:
            file.write(str(stale))
        with Command(ONE, "serve", options=("--port-file", ours.port_file, "--disconnect-timeout", "2s")) as other:
            def fresh():
                with open(ours.port_file, encoding="ascii") as file:
                    return file.read().strip() not in ("", str(stale)) and int(file.seek(0) or file.read())
            client = Client(eventually(fresh, "a stale file is not replaced"))
            client.is_alive("behind the new port")
            client.result("server/shutdown", {})
            client.close()
            same(other.child.wait(20), 0, "server/shutdown")
    with Command(ONE, "serve", options=("--disconnect-timeout", "500ms")) as ours:
        begin = time.monotonic()
        ours.ended(0)
        true(time.monotonic() - begin < 15, "it ends if nobody comes")


def events_of(folder):
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found += [json.loads(line) for line in file]
    return found


CHAIN = ACTS + "OtherAction"
HANDLERS = """
[[action]]
source = "demo_ext.acts.OtherAction"
[[handler]]
source = "demo_ext.acts.C1"
command = ["echo", "{\\"items\\": [\\"1\\"]}"]
[[handler]]
source = "demo_ext.acts.C2"
command = ["echo", "{\\"items\\": [\\"2\\"]}"]
"""


def row_54():
    """The WAL: numbers go on across restarts, files end at 1 MiB and twenty are kept, one wal_run_id is in all events of a run."""
    with Er(tcp=True) as first:
        wal = os.path.join(first.project, "wal")
        with Er(tcp=True, project=first.project, words=["--wal=" + wal]) as ours:
            ours.start()
            ours.items("echo")
            ours.failed("fail")
            ours.shut_down()
        events = events_of(wal)
        for event in events:
            true({"schema_version", "sequence", "ts", "event_type", "project_path", "writer_id", "payload"} <= set(event), shown(event))
            same((event["schema_version"], event["project_path"]), (2, first.project), "an event")
        types = [each["event_type"] for each in events]
        for wanted in ("run.accepted", "run.completed", "run.failed", "handler.started", "handler.completed", "handler.failed"):
            true(wanted in types, "%s is not in %s" % (wanted, types))
        same({each["wal_run_id"] for each in events if each["event_type"].startswith(("run.", "handler."))}, {RUN_ID}, "wal_run_id")
        same([each["sequence"] for each in events], list(range(events[0]["sequence"], events[0]["sequence"] + len(events))), "sequence")
        with Er(tcp=True, project=first.project, words=["--wal=" + wal]) as ours:
            ours.start()
            ours.items("echo")
            ours.shut_down()
        again = [each["sequence"] for each in events_of(wal)]
        true(len(again) > len(events) and again == list(range(again[0], again[0] + len(again))), "sequence after a restart: %s" % again)
    two = {"p": [demo_action("chain", CHAIN, ("1", "C1", "a"), ("2", "C2", "b"))]}
    for _, tcp in ALL:
        runner = [os.path.join(stage.BUILD, "duplex-finecode"), "er", *(["--tcp"] if tcp else [])]
        files = {"p/finecode-handlers.toml": HANDLERS}
        with Command(two, "run", "chain", options=("--wal", "wal"), tcp=tcp, runner=runner, files=files) as ours:
            ours.ended(0)
            ids = set()
            places = {"wal": ("run.accepted", "run.dispatched", "run.completed", "runner.started")}
            for env in ("a", "b"):
                places["p/.venvs/%s/state/finecode/wal/er" % env] = ("handler.started", "handler.completed")
            for place, wanted in places.items():
                true(os.path.isdir(ours.path(place)), "no events were written in %s" % place)
                events = events_of(ours.path(place))
                types = [each["event_type"] for each in events]
                true(set(wanted) <= set(types), "%s in %s" % (types, place))
                runs = [each for each in events if each["event_type"].startswith(("run.", "handler."))]
                ids |= {each["wal_run_id"] for each in runs}
            same(len(ids), 1, "one wal_run_id: %s" % ids)


def row_54_long():
    """A file of the WAL ends at 1 MiB, and twenty of them are kept, with numbers that go on."""
    with Er(tcp=True) as first:
        wal = os.path.join(first.project, "wal")
        with Er(tcp=True, project=first.project, words=["--wal=" + wal]) as ours:
            ours.start()
            end = time.monotonic() + 100
            while "wal-000022.jsonl" not in (os.listdir(wal) if os.path.isdir(wal) else []):
                true(time.monotonic() < end, "the files: %s" % sorted(os.listdir(wal)))
                made = [ours.run_request("echo") for _ in range(200)]
                ours.write(b"".join(raw.frame(each, stage.FULL) for each in made))
                for each in made:
                    ours.answer_to(each["id"])
            names = sorted(os.listdir(wal))
            same(names, ["wal-%06d.jsonl" % number for number in range(3, 23)], "the files")
            for name in names[:-1]:
                true(900 << 10 < os.path.getsize(os.path.join(wal, name)) <= 1 << 20, "the size of %s" % name)
            sequence = [each["sequence"] for each in events_of(wal)]
            same(sequence, list(range(sequence[0], sequence[0] + len(sequence))), "the numbers")
            ours.shut_down()


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
