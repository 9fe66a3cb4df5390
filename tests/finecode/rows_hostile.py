"""H1 to H7: what nobody sends by mistake. See stage.py."""
import json
import os
import random
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, ECHO, FULL, META, Er, demo_action, eventually, raw, same, shown, true
from workspace import Command, Manager

ONE = {"p": [demo_action("echo", ECHO, ("h1", "H1"))]}
CHAIN = ACTS + "OtherAction"
ODD = (None, 5, -1, 1e300, True, "", "x" * 5000, "\u0000", [], ["a"] * 7, list(range(9)), {}, {"a": 1, "b": 2}, {"message": [1]})


def is_well(ours):
    true(ours.child.poll() is None, "the manager ended: %s" % shown(ours.said()[-2000:]))
    ours.client.is_alive("the manager")


def row_H1():
    """Members of the wrong type, in whatever a runner answers, tells or asks, end no manager."""
    for _, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            for odd in ODD:
                for place in ("message", "capabilities", "getInfo", "updateConfig", "meta", "entry"):
                    run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                    guest = ours.guest()
                    if tcp:
                        guest.connect()
                    entry = {"canonical_source": odd, "runs_concurrently": odd, "scope": odd, "parentActionSource": odd, "fileLoc": odd}
                    answers = {
                        "capabilities": {"initialize": {"capabilities": odd}},
                        "getInfo": {"finecodeRunner/getInfo": {"logFilePath": odd}},
                        "updateConfig": {"finecodeRunner/updateConfig": {"error": odd}},
                        "meta": {"finecodeRunner/resolveActionMeta": odd},
                        "entry": {"finecodeRunner/resolveActionMeta": {"actions": {ECHO: entry}, "handlerLocations": {ACTS + "H1": odd}}},
                    }.get(place)
                    if answers:
                        while guest.fresh_or_end() and guest.order[-1:] != ["finecodeRunner/resolveActionMeta"]:
                            guest.answer_last(answers)
                        if guest.last:
                            guest.answer_last(answers)
                    else:
                        asked = guest.news("initialize")
                        guest.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": odd, "data": odd}})
                    guest.leave()
                    true("error" in ours.client.answer_to(run), "%s: %s" % (place, shown(odd)))
                    guest.gone()
                    is_well(ours)
                    ours.client.aside.clear()


def row_H2():
    """The same in answers to runs, and in what a running one tells and asks."""
    for _, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            guest = None
            for odd in ODD:
                for answer in (odd, {"error": odd}, {"status": odd, "resultByFormat": {}, "returnCode": 0},
                               {"status": "success", "resultByFormat": odd, "returnCode": 0},
                               {"status": "success", "result_by_format": odd, "return_code": odd},
                               {"status": "success", "resultByFormat": {"json": odd, "string": odd}, "returnCode": odd}):
                    run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"}, ("json", "string"), token="t")
                    guest = guest or ours.guest().begin()
                    asked = guest.run()
                    guest.tell("$/progress", {"token": asked["params"]["options"]["partialResultToken"], "value": odd})
                    guest.tell("$/progress", {"token": odd, "value": json.dumps({"json": odd})})
                    guest.tell("er/userMessage", {"message": odd, "type": odd})
                    guest.tell("er/logRecords", {"records": [{"timestamp": odd, "level": odd, "group": odd, "message": odd}]})
                    for method in ("projects/getRawConfig", "workspace/applyEdit", "finecode/runActionInProject", "finecode/getActionsForParent",
                                   "finecode/runActionInWorkspace"):
                        guest.send(guest.request(method, {"projectDefPath": odd, "edit": {"changes": odd, "documentChanges": odd},
                                                          "actionSource": odd, "payload": odd, "meta": odd, "projectPaths": odd,
                                                          "parentActionSource": odd}))
                    guest.reply(asked, answer)
                    true("id" in ours.client.answer_to(run), "it ends")
                is_well(ours)
                ours.client.aside.clear()
                guest.aside.clear()


def row_H3():
    """Members of the wrong type end no runner of ours, and every request is answered once."""
    options = {"resultFormats": ["json"], "walRunId": stage.RUN_ID, "meta": META}
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for odd in ODD:
                for method, params in (
                        ("actions/run", {"actionName": odd, "params": odd, "options": odd}),
                        ("actions/run", {"actionName": "echo", "params": {"text": odd, "n": odd, "files": odd}, "options": options}),
                        ("actions/run", {"actionName": "echo", "params": {"text": "t"}, "options": {**options, "meta": odd}}),
                        ("actions/run", {"actionName": "gen", "params": {"text": "t", "ms": 0}, "options": {
                            **options, "partialResultToken": odd, "progressToken": odd, "resultFormats": odd}}),
                        ("actions/runHandlers", {"actionName": "echo", "handlerNames": [odd, [odd]], "params": odd, "previousResult": odd,
                                                 "previousContext": odd, "options": options}),
                        ("actions/runHandlers", {"actionName": "echo", "handlerNames": odd, "previousResult": {"items": odd, "by_path": odd},
                                                 "options": options}),
                        ("actions/mergeResults", {"actionName": "echo", "results": [odd, {"items": odd, "bad": odd}, odd]}),
                        ("finecodeRunner/updateConfig", {"workingDir": odd, "projectName": odd, "projectDefPath": odd, "config": odd}),
                        ("finecodeRunner/updateConfig", ours.config([{"name": odd, "source": odd, "config": odd, "handlers": odd}])),
                        ("finecodeRunner/updateConfig", ours.config([{"name": "n", "source": "s", "config": odd, "handlers": [
                            {"name": odd, "source": odd, "config": odd, "env": odd}]}], {"s": odd}, services=odd, logging=odd,
                            handlers_to_initialize=odd)),
                        ("actions/resolveSource", {"source": odd}), ("packages/resolvePath", {"packageName": odd}),
                        ("actions/reload", {"actionName": odd}), ("actions/getPayloadSchemas", odd),
                        ("finecodeRunner/updateLogging", {"forward": odd, "forwardLevel": odd})):
                    asked = ours.request(method, params)
                    ours.send(asked)
                    true("id" in ours.answer_to(asked["id"]), "%s %s" % (method, shown(odd)))
                for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "$/cancelRequest", "$/progress"):
                    ours.tell(method, {"textDocument": {"uri": odd, "version": odd, "text": odd}, "contentChanges": odd, "id": odd,
                                       "token": odd, "value": odd})
                ours.is_alive("after %s" % shown(odd))
                ours.aside = [each for each in ours.aside if "id" in each]
                same(ours.aside, [], "nothing is answered twice")
            same(ours.result("finecodeRunner/updateConfig", ours.config()), {}, "a good configuration")
            same(len(ours.items("echo")), 2, "a run")
            ours.shut_down()


def row_H4():
    """Many members take no longer than their number: 50,000 in results, schemas and merged ones, in reverse order."""
    many = {"k%d" % number: number for number in range(50000)}
    other = {key: value + 1 for key, value in reversed(many.items())}
    chain = [demo_action("chain", CHAIN, ("1", "C1", "a"), ("2", "C2", "b"))]
    limit = 5 * stage.SLOW
    with Manager({"p": chain}, tcp=True) as ours:
        run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"}, token="t")
        first, second = ours.guest("a").begin(), ours.guest("b").begin()
        first.done(first.run(), many)
        asked = second.run()
        begin = time.monotonic()
        second.done(asked, other)
        true("result" in ours.client.answer_to(run), "the run")
        true(time.monotonic() - begin < limit, "a chain: %.1f s" % (time.monotonic() - begin))
        schemas = ours.client.request("actions/getPayloadSchemas", {"project": ours.path("p"), "actionSources": [CHAIN]})
        ours.client.send(schemas)
        asked = [guest.news("actions/getPayloadSchemas") for guest in (first, second)]
        begin = time.monotonic()
        for guest, each, names in ((first, asked[0], many), (second, asked[1], other)):
            guest.reply(each, {name: {"properties": {}, "required": []} for name in names})
        ours.client.answer_to(schemas["id"])
        true(time.monotonic() - begin < limit, "schemas: %.1f s" % (time.monotonic() - begin))
    with Er(tcp=True) as ours:
        ours.start()
        begin = time.monotonic()
        merged = ours.result("actions/mergeResults", {"actionName": "echo", "results": [{"by_path": many}, {"by_path": other}]})
        same(merged["merged"]["by_path"], other, "the merged result")
        true(time.monotonic() - begin < limit, "a merge: %.1f s" % (time.monotonic() - begin))


def whole(path, text="changed"):
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 999999, "character": 999999}}
    return {"edit": {"documentChanges": [{"textDocument": {"uri": "file://" + path, "version": None},
                                          "edits": [{"range": span, "newText": text}]}]}}


def row_H5():
    """Edits reach nothing outside of the workspace, through no link, and nothing but ordinary files."""
    with Command(ONE, "run", "echo", tcp=True) as ours:
        outside, project = os.path.join(ours.place, "outside"), ours.path("p")
        os.mkdir(outside)
        with open(outside + "/file", "w", encoding="ascii") as file:
            file.write("precious")
        os.symlink(outside, project + "/folder")
        os.symlink(outside + "/file", project + "/link")
        os.symlink("loop", project + "/loop")
        os.mkfifo(project + "/fifo")
        fine = ours.put("p/fine", "text\n")
        os.chmod(fine, 0o640)
        guest = ours.guest().begin()
        asked = guest.run()
        for path in (outside + "/file", project + "/folder/file", project + "/link", project + "/../../outside/file", project + "/loop",
                     project + "/fifo", project, "/", "/dev/null", fine + "/x", project + "/none"):
            result = guest.result("workspace/applyEdit", whole(path))
            same(result["applied"], False, path)
            true(result["failureReason"], "it says why")
        for kind in ({"kind": "create", "uri": "file://" + project + "/new"}, {"kind": "delete", "uri": "file://" + fine},
                     {"kind": "rename", "oldUri": "file://" + fine, "newUri": "file://" + outside + "/gone"}):
            same(guest.result("workspace/applyEdit", {"edit": {"documentChanges": [kind]}})["applied"], False, kind["kind"])
        same(guest.result("workspace/applyEdit", whole(fine))["applied"], True, "one that is fine")
        with open(outside + "/file", encoding="ascii") as file, open(fine, encoding="ascii") as other:
            same((file.read(), other.read()), ("precious", "changed"), "the files")
        same(os.stat(fine).st_mode & 0o777, 0o640, "its mode")
        same(sorted(os.listdir(project)), ["fifo", "fine", "finecode.toml", "folder", "link", "loop"], "nothing is left beside")
        guest.done(asked)
        guest.farewell()
        ours.ended(0)


def row_H6():
    """A runner that floods, or that lies about its depth, stops nobody: messages, stray text, runs inside of runs."""
    for _, tcp in ALL:
        with Manager({"p": [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", ACTS + "LangAction", ("l", "x", "b"))]},
                     tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin()
            asked = guest.run()
            message = {"jsonrpc": "2.0", "method": "er/userMessage", "params": {"message": "m" * 1000, "type": "INFO"}}
            guest.write(raw.frame(message, FULL) * 3000)
            deaf = ours.connect()
            deaf.send(deaf.request("client/initialize", {"clientId": "never reads"}))
            guest.write(raw.frame(message, FULL) * 3000)
            inside = guest.request("finecode/runActionInProject", {
                "actionSource": ACTS + "LangAction", "payload": {}, "meta": {**META, "orchestrationDepth": 0}})
            guest.send(inside)
            other = ours.guest("b").begin()
            within = other.run()
            same(within["params"]["options"]["meta"]["orchestrationDepth"], 2, "the depth is what it is")
            other.done(within)
            guest.answer_to(inside["id"])
            guest.done(asked)
            true("result" in ours.client.answer_to(run), "the run")
            is_well(ours)


def row_H7():
    """Runners and clients that do anything at any time, at random: the manager goes on, answers, and ends when it is told."""
    do_anything(2)


def row_H7_long():
    """The same, with more of them."""
    do_anything(10)


def do_anything(seeds):
    for seed in range(seeds):
        dice = random.Random(seed)
        tcp = bool(seed & 1)
        actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("chain", CHAIN, ("1", "C1", "a"), ("2", "C2", "b")),
                   demo_action("each", ACTS + "EachAction", ("3", "C1", "a"), ("4", "C2", "b"))]
        with Manager({"p": actions}, "--stop-timeout", "300ms", "--initialize-timeout", "2s", "--run-timeout", "2s", tcp=tcp) as ours:
            clients, end = [ours.client], time.monotonic() + 4
            while time.monotonic() < end:
                disturb(ours, clients, dice)
                serve_some(ours, dice)
                for client in clients:
                    while client.fresh(0):
                        pass
            true(ours.child.poll() is None, "seed %d: it ended: %s" % (seed, shown(ours.said()[-2000:])))
            ours.connect().is_alive("seed %d" % seed)
            ours.child.terminate()
            same(eventually(lambda: ours.child.poll() is not None, "seed %d: it does not end" % seed) and ours.child.returncode, 130, "its code")


def disturb(ours, clients, dice):
    """A client does something."""
    client = dice.choice(clients)
    source = dice.choice([ECHO, CHAIN, ACTS + "EachAction", "no.such.Action"])
    what = dice.randrange(12)
    if what < 6:
        client.start_run(source, dice.choice([ours.path("p"), ""]), {"text": "t"}, token=dice.choice([None, 1, "t"]))
    elif what < 9:
        client.tell("$/cancelRequest", {"id": dice.randrange(max(1, client.last_id - 4), client.last_id + 2)})
    elif what == 9:
        client.send(client.request("runners/restart", {"runnerWorkingDir": ours.path("p"), "envName": dice.choice("ab")}))
    elif what == 10 and len(clients) < 4:
        clients.append(ours.connect())
    elif what == 11 and len(clients) > 1:
        clients.remove(client)
        client.close()


def serve_some(ours, dice):
    """Runners do what they want with what comes."""
    try:
        ours.guest(patience=0.01).taken = True
        if ours.tcp:
            ours.guests[-1].connect()
    except (stage.Wrong, OSError):
        pass
    for guest in ours.guests:
        try:
            message = guest.fresh(0.002) if guest.read_fd is not None else None
            if not message or "id" not in message or "method" not in message:
                continue
            if message["method"] == "finecodeRunner/updateConfig":
                guest.config = message["params"]["config"]
            what = dice.randrange(20)
            if what == 0:
                guest.leave()
            elif what == 1:
                guest.refuse(message, dice.choice([-32800, -32603]), "no")
            elif what == 2:
                guest.reply(message, dice.choice(ODD))
            elif what == 3:
                guest.send(guest.request("finecode/runActionInProject", {"actionSource": CHAIN, "payload": {}, "meta": META}))
            elif what > 4:
                if what == 5:
                    guest.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
                if message["method"] in ("actions/run", "actions/runHandlers"):
                    guest.done(message, {"items": ["x"]}, status=dice.choice(["success", "stopped", "streamed"]))
                else:
                    guest.last = message
                    guest.answer_last({"actions/mergeResults": {"merged": {"items": []}}, "shutdown": None})
        except (OSError, stage.Wrong):
            guest.leave()


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
