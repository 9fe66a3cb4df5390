"""Rows 38 to 43: what runners ask their manager. See stage.py."""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, ECHO, META, Er, demo_action, error_is, same, shown, true
from workspace import Command, Manager

LANG = ACTS + "LangAction"
CANON = {ECHO: ACTS + "EchoAction"}


def asks(guest, method, params):
    """A request of a runner; its id."""
    made = guest.request(method, params)
    guest.send(made)
    return made["id"]


def nested(source, payload=None, **more):
    return {"actionSource": source, "payload": payload or {}, "meta": {**META, "orchestrationDepth": 1}, **more}


def row_38():
    """runActionInProject: results, failures and cancellations go through to the one who asked, both ways."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for kind in ("result", "error", "cancelled"):
                made = ours.run_request("nest", {"source": "x.Y", "payload": {"a": 1}})
                ours.send(made)
                asked = ours.news("finecode/runActionInProject")
                same((asked["params"]["actionSource"], asked["params"]["payload"], asked["params"]["meta"]),
                     ("x.Y", {"a": 1}, META), "what it asks for")
                if kind == "result":
                    ours.reply(asked, {"result": {"deep": [1]}, "returnCode": 1})
                    _, by_format, _ = ours.read(ours.answer_to(made["id"])["result"])
                    same(by_format["json"]["answer"], {"result": {"deep": [1]}, "returnCode": 1}, "the answer")
                elif kind == "error":
                    ours.refuse(asked, -32603, "no such thing")
                    true("no such thing" in ours.answer_to(made["id"])["result"]["error"], "an error")
                else:
                    ours.refuse(asked, -32800, "cancelled")
                    error_is(ours.answer_to(made["id"]), -32800, "cancelled")
        actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", LANG, ("l", "plain_fn", "b"))]
        with Manager({"p": actions}, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin(canonical=CANON)
            asked = guest.run()
            inner = asks(guest, "finecode/runActionInProject", nested(LANG, {"text": "in"}))
            other = ours.guest("b").begin(canonical=CANON)
            within = other.run()
            same((within["params"]["actionName"], within["params"]["params"]), ("lang", {"text": "in"}), "the run inside")
            same(within["params"]["options"]["meta"], {**META, "orchestrationDepth": 2}, "its meta")
            true(within["params"]["options"]["walRunId"] != asked["params"]["options"]["walRunId"], "it has a walRunId of its own")
            other.done(within, {"items": ["in"]}, code=1)
            same(guest.answer_to(inner)["result"], {"result": {"items": ["in"]}, "returnCode": 1}, "the answer")
            inner = asks(guest, "finecode/runActionInProject", nested(LANG))
            other.refuse(other.run(), -32800, "gave up")
            error_is(guest.answer_to(inner), -32800, "cancelled")
            inner = asks(guest, "finecode/runActionInProject", nested(LANG))
            other.reply(other.run(), {"error": "it went wrong"})
            true("it went wrong" in error_is(guest.answer_to(inner), -32603, "failed")["message"], "why")
            for source in ("no.such.Action", ECHO, "lang"):
                inner = asks(guest, "finecode/runActionInProject", nested(source))
                answer = guest.answer_to(inner)
                true(answer.get("error", {}).get("code") in (-32602, -32603), "%s is not canonical: %s" % (source, shown(answer)))
            guest.done(asked, {"items": ["out"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["out"], "the outer run")


def row_39():
    """With a token the results of a run inside come by $/progress, bare; then the answer has the code and null (F31)."""
    actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", LANG, ("l", "plain_fn", "b"))]
    with Manager({"p": actions}, tcp=True) as ours:
        run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
        guest = ours.guest("a").begin(canonical=CANON)
        asked = guest.run()
        inner = asks(guest, "finecode/runActionInProject", nested(LANG, {"text": "in"}, partialResultToken=11))
        other = ours.guest("b").begin(canonical=CANON)
        within = other.run()
        token = within["params"]["options"]["partialResultToken"]
        other.progress(token, {"json": {"items": ["1"]}})
        other.progress(token, {"json": {"items": ["2"]}})
        other.done(within, {"items": ["1", "2"]}, code=1)
        same(guest.answer_to(inner)["result"], {"returnCode": 1, "result": None}, "the answer")
        told = [each["params"] for each in guest.aside if each["method"] == "$/progress"]
        same({each["token"] for each in told}, {11}, "the token")
        same([json.loads(each["value"]) for each in told], [{"items": ["1"]}, {"items": ["2"]}], "bare results, each once")
        guest.aside.clear()
        inner = asks(guest, "finecode/runActionInProject", nested(LANG, {"text": "in"}, partialResultToken=12))
        other.done(other.run(), {"items": ["direct"]})
        same(guest.answer_to(inner)["result"], {"returnCode": 0, "result": None}, "the answer of one that was not streamed")
        told = [json.loads(each["params"]["value"]) for each in guest.aside if each["method"] == "$/progress"]
        same(told, [{"items": ["direct"]}], "its result, once")
        guest.done(asked)
        ours.client.answer_to(run)
    with Er(tcp=True) as ours:
        ours.start()
        made = ours.run_request("nest", {"source": "x.Y", "payload": {}})
        ours.send(made)
        asked = ours.news("finecode/runActionInProject")
        for value in ({"items": ["bare"]}, {"json": {"items": ["enveloped"]}}):
            ours.tell("$/progress", {"token": 99, "value": json.dumps(value)})
        ours.reply(asked, {"returnCode": 0, "result": None})
        same(ours.read(ours.answer_to(made["id"])["result"])[0], "success", "an answer without a result")


def row_40():
    """runActionInWorkspace: results by project, in the real form one level deeper with their status; explicit projects, or all that have it (F14)."""
    actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", LANG, ("l", "plain_fn", "a"))]
    empty = [{"name": "lang", "source": LANG, "config": {}, "handlers": []}]
    for revision, tcp in ALL:
        with Manager({"p": actions, "q": actions, "r": [actions[0]], "s": empty}, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a", "p").begin(canonical=CANON)
            asked = guest.run()
            for paths in ([ours.path("p"), ours.path("q")], None):
                inner = asks(guest, "finecode/runActionInWorkspace", nested(LANG, {"text": "in"}, projectPaths=paths))
                guest.done(guest.run(), {"items": ["of p"]})
                other = ours.guest("a", "q").begin(canonical=CANON) if paths else other
                other.done(other.run(), {"items": ["of q"]})
                results = guest.answer_to(inner)["result"]["resultsByProject"]
                if revision == "real":
                    if not paths and ours.path("s") in results:
                        same([each["status"] for each in results.pop(ours.path("s")).values()], ["no_handlers"], "no handlers")
                    same({path: [(each["result"], each["status"]) for each in by_action.values()] for path, by_action in results.items()},
                         {ours.path("p"): [({"items": ["of p"]}, "success")], ours.path("q"): [({"items": ["of q"]}, "success")]},
                         "the results")
                else:
                    results.pop(ours.path("s"), None)
                    same(results, {ours.path("p"): {"items": ["of p"]}, ours.path("q"): {"items": ["of q"]}}, "the results")
            inner = asks(guest, "finecode/runActionInWorkspace", nested(LANG, projectPaths=["/no/such/project"]))
            true("error" in guest.answer_to(inner), "a project that is not there")
            inner = asks(guest, "finecode/runActionInWorkspace", nested("lang", projectPaths=None))
            true("error" in guest.answer_to(inner), "a source that is not canonical")
            guest.done(asked)
            ours.client.answer_to(run)


def row_40b():
    """concurrently: false runs one project after the other, true and nothing all at once (F26)."""
    actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", LANG, ("l", "plain_fn", "a"))]
    for _, tcp in ALL:
        with Manager({"p": actions, "q": actions}, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a", "p").begin(canonical=CANON)
            asked = guest.run()
            paths = [ours.path("p"), ours.path("q")]
            other = None
            for more in ({}, {"concurrently": True}):
                inner = asks(guest, "finecode/runActionInWorkspace", nested(LANG, projectPaths=paths, **more))
                first = guest.run()
                other = other or ours.guest("a", "q").begin(canonical=CANON)
                second = other.run()
                guest.done(first)
                other.done(second)
                true("result" in guest.answer_to(inner), "both at once: %s" % more)
            inner = asks(guest, "finecode/runActionInWorkspace", nested(LANG, projectPaths=paths, concurrently=False))
            first = guest.run()
            other.is_quiet("the second project waits", 0.5)
            guest.done(first)
            other.done(other.run())
            true("result" in guest.answer_to(inner), "both")
            guest.done(asked)
            ours.client.answer_to(run)


def raw_config_is_told(ours, guest, revision):
    answer = guest.ask("projects/getRawConfig", {"projectDefPath": ours.path("p/finecode.toml")})
    config = answer["result"]["config"]
    same(isinstance(config, dict), revision == "real", "its form: %s" % shown(config))
    config = config if revision == "real" else json.loads(config)
    true(ECHO in json.dumps(config), "its content: %s" % shown(config))


def row_41():
    """getRawConfig, also during updateConfig: an object, by the document its text; an unknown one is refused (F13)."""
    for revision, tcp in ALL:
        with Manager({"p": [demo_action("echo", ECHO, ("h1", "H1", "a"))]}, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a")
            if tcp:
                guest.connect()
            while guest.fresh_or_end() and guest.order[-1] != "finecodeRunner/updateConfig":
                guest.answer_last()
            raw_config_is_told(ours, guest, revision)
            guest.answer_last()
            asked = guest.begin().run()
            raw_config_is_told(ours, guest, revision)
            error_is(guest.ask("projects/getRawConfig", {"projectDefPath": "/no/such/finecode.toml"}), -32603, "an unknown one")
            error_is(guest.ask("projects/getRawConfig", {}), -32602, "without a path")
            guest.done(asked)
            ours.client.answer_to(run)
        with Er(tcp=tcp) as ours:
            ours.start()
            for config in ({"tool": {}}, '{"tool": {}}'):
                params = {"projectDefPath": "/p/finecode.toml"}
                made = ours.run_request("ask", {"method": "projects/getRawConfig", "params": params})
                ours.send(made)
                asked = ours.news("projects/getRawConfig")
                same(asked["params"], params, "what it asks for")
                ours.reply(asked, {"config": config})
                _, by_format, _ = ours.read(ours.answer_to(made["id"])["result"])
                got = by_format["json"]["answer"]["config"]
                same(json.loads(got) if isinstance(got, str) else got, {"tool": {}}, "both forms are taken")


def row_41_long():
    """A manager that does not answer getRawConfig is waited for ten seconds."""
    with Er(tcp=True) as ours:
        ours.start()
        begin = time.monotonic()
        why = ours.failed("ask", {"method": "projects/getRawConfig", "params": {"projectDefPath": "/p/finecode.toml"}})
        true(9 < time.monotonic() - begin < 20, "%.1f s: %s" % (time.monotonic() - begin, why))


def row_42():
    """The four other questions of the revision real are answered in their shapes."""
    actions = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", LANG, ("l", "plain_fn", "a"))]
    with Manager({"p": actions, "q": [actions[0]]}, tcp=True) as ours:
        run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
        guest = ours.guest("a", "p").connect()
        about = {"canonical_source": LANG, "runs_concurrently": False, "scope": "project",
                 "parentActionSource": CANON[ECHO], "language": "python", "fileLoc": "/x.py:5"}
        echo = {**about, "canonical_source": CANON[ECHO], "parentActionSource": None, "language": None, "fileLoc": None}
        guest.begin({"finecodeRunner/resolveActionMeta": {"actions": {ECHO: echo, LANG: about},
                                                          "handlerLocations": {ACTS + "H1": "/x.py:9"}}})
        asked = guest.run()
        result = guest.result("finecode/getActionsForParent", {"parentActionSource": CANON[ECHO]})
        same(result, {"subactions": [{"source": LANG, "canonicalSource": LANG, "language": "python"}]}, "getActionsForParent")
        listed = guest.result("finecode/listWorkspaceActions", {})["actions"]
        same(sorted((os.path.basename(each["project"]), each["name"]) for each in listed), [("p", "echo"), ("p", "lang"), ("q", "echo")],
             "listWorkspaceActions")
        same(set(listed[0]), {"name", "source", "canonicalSource", "scope", "project", "language", "parentActionSource", "fileLoc",
                              "handlers"}, "its members")
        first = next(each for each in listed if each["project"] == ours.path("p") and each["name"] == "echo")
        same(first["handlers"], [{"name": "h1", "source": ACTS + "H1", "env": "a", "fileLoc": "/x.py:9"}], "its handlers")
        paths = guest.result("workspace/getProjectPaths", {})["projects"]
        same(sorted((each["path"], each["configStatus"]) for each in paths), [(ours.path("p"), "valid"), (ours.path("q"), "valid")],
             "getProjectPaths")
        true(isinstance(guest.result("workspace/getWorkspaceEditablePackages", {})["packages"], dict), "getWorkspaceEditablePackages")
        guest.done(asked)
        ours.client.answer_to(run)


def row_43():
    """An unknown request of a runner is -32601, and its run goes on; a question that cannot be asked fails cleanly."""
    for _, tcp in ALL:
        with Manager({"p": [demo_action("echo", ECHO, ("h1", "H1", "a"))]}, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin()
            asked = guest.run()
            error_is(guest.ask("no/such", {}), -32601, "an unknown one")
            error_is(guest.ask("finecode/runActionInProject", {"payload": {}}), -32602, "params that do not fit")
            guest.done(asked, {"items": ["fine"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["fine"], "the run")
        with Er(tcp=tcp) as ours:
            ours.start()
            true(ours.failed("ask", {"method": "no/such", "params": {}}), "it says why")
            ours.is_alive("after it")


def edit(path, new, line=0, start=0, end=999999):
    span = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"documentChanges": [{"textDocument": {"uri": "file://" + path, "version": None}, "edits": [{"range": span, "newText": new}]}]}


def row_43b():
    """workspace/applyEdit: `run` writes files, all or none; a client that can gets it instead, and its answer goes back (F16)."""
    for _, tcp in ALL:
        with Command({"p": [demo_action("echo", ECHO, ("h1", "H1", "a"))]}, "run", "echo", tcp=tcp) as ours:
            one, other = ours.put("p/a b.txt", "eins\n"), ours.put("p/c.txt", "zwei\n")
            guest = ours.guest("a").begin()
            asked = guest.run()
            wanted = edit(one.replace(" ", "%20"), "one")
            wanted["documentChanges"] += edit(other, "TWO", 0, 0, 4)["documentChanges"]
            same(guest.result("workspace/applyEdit", {"edit": wanted})["applied"], True, "applied")
            with open(one, encoding="utf-8") as first, open(other, encoding="utf-8") as second:
                same((first.read(), second.read()), ("one\n", "TWO\n"), "the files")
            wanted["documentChanges"].append(edit(ours.path("p/none/there.txt"), "x")["documentChanges"][0])
            result = guest.result("workspace/applyEdit", {"edit": wanted})
            true(result["applied"] is False and result.get("failureReason"), "one that cannot be: %s" % shown(result))
            with open(one, encoding="utf-8") as first:
                same(first.read(), "one\n", "nothing was changed")
            same(sorted(os.listdir(ours.path("p"))), ["a b.txt", "c.txt", "finecode.toml"], "nothing is left beside")
            guest.done(asked)
            guest.farewell()
            ours.ended(0)
        # Whoever wants an end too late is told, and what had not begun was not run.
        three = {name: [demo_action("echo", ECHO, ("h1", "H1", "a"))] for name in "pqr"}
        with Command(three, "run", "echo", options=("--json", "--jobs", "1"), tcp=tcp) as ours:
            one = ours.put("p/a.txt", "eins\n")
            guest = ours.guest("a").begin()
            asked = guest.run()
            same(guest.result("workspace/applyEdit", {"edit": edit(one, "one")})["applied"], True, "applied")
            ours.child.send_signal(signal.SIGINT)
            guest.refuse(asked, -32800, "Request cancelled")
            guest.farewell()
            ours.ended(130)
            same([(each["name"], each["status"], each["why"]) for each in ours.events("project")],
                 [("p", "cancelled", "Request cancelled; its edits are in the files")], "the project")
            same([(each["failed"], each["notRun"], each["exitCode"]) for each in ours.events("summary")], [(1, 2, 130)], "the summary")
        with Manager({"p": [demo_action("echo", ECHO, ("h1", "H1", "a"))]}, tcp=tcp) as ours:
            editor = ours.connect()
            editor.result("client/initialize", {"clientId": "editor", "capabilities": {"workspace": {"applyEdit": True}}})
            path = ours.put("p/a.txt", "text\n")
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin()
            asked = guest.run()
            inner = asks(guest, "workspace/applyEdit", {"edit": edit(path, "new")})
            forwarded = editor.news("workspace/applyEdit")
            same(forwarded["params"]["edit"], edit(path, "new"), "what the client gets")
            editor.reply(forwarded, {"applied": True})
            same(guest.answer_to(inner)["result"]["applied"], True, "the answer")
            with open(path, encoding="utf-8") as file:
                same(file.read(), "text\n", "the file is the client's business")
            guest.done(asked)
            ours.client.answer_to(run)


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
