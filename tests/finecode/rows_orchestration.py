"""Rows 29 to 37: handlers in several envs, and runs inside of runs. S1 and S2 are the tables of the document, T1 is the
fan-out over many projects. See stage.py."""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, ECHO, Er, demo_action, error_is, eventually, is_there, same, shown, true
from workspace import Command, Manager

CHAIN = ACTS + "OtherAction"
EACH = ACTS + "EachAction"


def action_of(name, source, *places):
    """Handlers by "name/env"."""
    return demo_action(name, source, *((place.split("/")[0], "C1", place.split("/")[1]) for place in places))


def crew_of(manager, places, **meta):
    """The runners of all envs, begun."""
    envs = dict.fromkeys(place.split("/")[1] for place in places)
    return {env: manager.guest(env).begin(**meta) for env in envs}


def parts_of(asked):
    return asked["params"]["actionName"], asked["params"]["handlerNames"]


def formats_of(asked):
    return asked["params"]["options"].get("resultFormats") or []


def chain(places, segments):
    """A sequential run makes these calls, and no others."""
    for revision, tcp in ALL:
        with Manager({"p": [action_of("chain", CHAIN, *places)]}, tcp=tcp) as ours:
            run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"}, ("json", "string"))
            crew = crew_of(ours, places)
            ids, items = set(), []
            for number, (env, names) in enumerate(segments):
                asked = crew[env].run()
                same((asked["method"], *parts_of(asked)), ("actions/runHandlers", "chain", names), "call %d" % number)
                same(asked["params"]["previousResult"], {"items": items} if number else None, "previousResult of call %d" % number)
                is_last = number == len(segments) - 1
                same(formats_of(asked), ["json", "string"] if is_last else [], "resultFormats of call %d" % number)
                same(asked["params"]["options"]["meta"], {"trigger": "user", "devEnv": "cli", "orchestrationDepth": 1}, "meta")
                if revision == "real":
                    same(asked["params"]["params"], {"text": "t"}, "the payload")
                    same(asked["params"]["previousContext"], {"seen": number} if number else None, "previousContext")
                ids.add(asked["params"]["options"]["walRunId"])
                items = items + names
                crew[env].done(asked, {"items": items}, **({"context": {"seen": number + 1}} if tcp else {}))
            result = ours.client.answer_to(run)["result"]
            same(result["resultByFormat"]["json"], {"items": items}, "the result")
            same(sorted(result["resultByFormat"]), ["json", "string"], "its formats")
            same(len(ids), 1, "one walRunId: %s" % ids)
            true(all(ids), "walRunId is not empty")
            for guest in crew.values():
                guest.is_quiet("no call is left")


def row_S1():
    """The document: [h1/env1, h2/env1, h3/env1, h4/env2] is (env1, [h1, h2, h3]), (env2, [h4]); [h1/env1, h2/env2, h3/env1] is (env1, [h1]), (env2, [h2]), (env1, [h3])."""
    chain(("h1/env1", "h2/env1", "h3/env1", "h4/env2"), (("env1", ["h1", "h2", "h3"]), ("env2", ["h4"])))
    chain(("h1/env1", "h2/env2", "h3/env1"), (("env1", ["h1"]), ("env2", ["h2"]), ("env1", ["h3"])))


def groups(places, wanted, *, dies=False, refuses=False):
    """A concurrent run makes these calls at once, then merges, and by the program has the result formatted, if it is."""
    for revision, tcp in ALL:
        with Manager({"p": [action_of("each", EACH, *places)]}, tcp=tcp) as ours:
            run = ours.client.start_run(EACH, ours.path("p"), {"text": "t"}, ("json", "string"))
            crew = crew_of(ours, places, concurrent=("each",))
            asked = {env: crew[env].run() for env, _ in wanted}  # all of them, before one is answered
            ids = {each["params"]["options"]["walRunId"] for each in asked.values()}
            for env, names in wanted:
                same((asked[env]["method"], *parts_of(asked[env])), ("actions/runHandlers", "each", names), env)
                same((asked[env]["params"]["previousResult"], formats_of(asked[env])), (None, []), env)
            for env, names in wanted if dies else reversed(wanted):
                crew[env].done(asked[env], {"items": names}, code=int(refuses and env == wanted[0][0]))
                if dies and env == wanted[0][0]:
                    crew[env].leave()
                    ours.becomes("EXITED", env)
            merger = crew[wanted[1 if dies else 0][0]]
            merge = merger.news("actions/mergeResults")
            same(merge["params"], {"actionName": "each", "results": [{"items": names} for _, names in wanted]}, "mergeResults")
            items = [name for _, names in wanted for name in names]
            merger.reply(merge, {"merged": {"items": items}})
            last = crew[wanted[-1][0]]
            if revision == "real":
                asked = last.run()
                same((asked["method"], *parts_of(asked)), ("actions/runHandlers", "each", []), "the last call")
                same((asked["params"]["previousResult"], formats_of(asked)), ({"items": items}, ["json", "string"]), "what it formats")
                ids.add(asked["params"]["options"]["walRunId"])
                if refuses:
                    last.refuse(asked, -32602, "no handlers")
                else:
                    last.done(asked, {"items": items}, code=1)
            result = ours.client.answer_to(run)["result"]
            code = int(refuses or revision == "real")
            same((result["resultByFormat"]["json"], result["returnCode"]), ({"items": items}, code), "the result")
            true(revision == "real" or json.loads(result["resultByFormat"]["string"]) == {"items": items}, "its text")
            last.is_quiet("no call is left")
            same(len(ids), 1, "one walRunId: %s" % ids)


def row_S2():
    """The document: [h1/env1, h2/env2, h3/env1] side by side is (env1, [h1, h3]), (env2, [h2])."""
    groups(("h1/env1", "h2/env2", "h3/env1"), (("env1", ["h1", "h3"]), ("env2", ["h2"])))


def row_29():
    """Segments: two for a a b, three for a b a; results and contexts go on; stopped ends the chain."""
    chain(("1/a", "2/a", "3/b"), (("a", ["1", "2"]), ("b", ["3"])))
    chain(("1/a", "2/b", "3/a"), (("a", ["1"]), ("b", ["2"]), ("a", ["3"])))
    for _, tcp in ALL:
        with Manager({"p": [action_of("chain", CHAIN, "1/a", "2/b")]}, tcp=tcp) as ours:
            crew = None
            # No format was asked for, so none comes by the document.
            for by_format in ({}, {"json": {"items": ["enough"]}}):
                run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"})
                crew = crew or crew_of(ours, ("1/a", "2/b"))
                asked = crew["a"].run()
                same(formats_of(asked), [], "resultFormats")
                crew["a"].done(asked, {"items": ["enough"]}, status="stopped", code=1, resultByFormat=by_format)
                result = ours.client.answer_to(run)["result"]
                same(result, {"resultByFormat": {"json": {"items": ["enough"]}}, "returnCode": 1}, "the result")
                crew["b"].is_quiet("the chain has ended")
            # A last segment that gives none of the formats that it was asked for.
            run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"})
            crew["a"].done(crew["a"].run(), {"items": ["1"]})
            asked = crew["b"].run()
            same(formats_of(asked), ["json"], "resultFormats")
            crew["b"].done(asked, {"items": ["1", "2"]}, resultByFormat={})
            result = ours.client.answer_to(run)["result"]
            same(result, {"resultByFormat": {"json": {"items": ["1", "2"]}}, "returnCode": 0}, "the result of the last")
        with Manager({"p": [action_of("one", CHAIN, "1/a", "2/a")]}, tcp=tcp) as ours:
            run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin()
            asked = guest.run()
            same((asked["method"], asked["params"]["actionName"], asked["params"]["params"]),
                 ("actions/run", "one", {"text": "t"}), "one env alone")
            guest.done(asked)
            ours.client.answer_to(run)


def row_30():
    """Groups run at once, are merged on a runner that runs, and by the program formatted by a last call; one env alone needs no merge."""
    groups(("1/a", "2/b", "3/a"), (("a", ["1", "3"]), ("b", ["2"])))
    groups(("1/a", "2/b", "3/c", "4/b"), (("a", ["1"]), ("b", ["2", "4"]), ("c", ["3"])))
    groups(("1/a", "2/b"), (("a", ["1"]), ("b", ["2"])), dies=True)
    groups(("1/a", "2/b"), (("a", ["1"]), ("b", ["2"])), refuses=True)
    for _, tcp in ALL:
        with Manager({"p": [action_of("each", EACH, "1/a", "2/a")]}, tcp=tcp) as ours:
            run = ours.client.start_run(EACH, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin(concurrent=("each",))
            asked = guest.run()
            same(asked["method"], "actions/run", "one env alone")
            guest.done(asked)
            ours.client.answer_to(run)
            guest.is_quiet("no merge")


def row_31():
    """Of two groups one fails and one is cancelled: failed; both are cancelled: -32800."""
    for _, tcp in ALL:
        for first_fails in (True, False):
            with Manager({"p": [action_of("each", EACH, "1/a", "2/b")]}, tcp=tcp) as ours:
                run = ours.client.start_run(EACH, ours.path("p"), {"text": "t"})
                crew = crew_of(ours, ("1/a", "2/b"), concurrent=("each",))
                asked = {env: crew[env].run() for env in ("a", "b")}
                if first_fails:
                    crew["a"].reply(asked["a"], {"error": "a went wrong"})
                else:
                    crew["a"].refuse(asked["a"], -32800, "gave up")
                crew["b"].refuse(asked["b"], -32800, "gave up")
                answer = ours.client.answer_to(run)
                if first_fails:
                    true("a went wrong" in shown(answer) and answer["error"]["code"] != -32800, "failed: %s" % shown(answer))
                else:
                    error_is(answer, -32800, "cancelled")


def row_32():
    """runHandlers: none of them formats what was before; unknown names are refused, by the program skipped; results and contexts are taken and given."""
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            before = {"items": ["m1", "m2"], "by_path": {}, "bad": True}
            result = ours.handlers("echo", [], before, resultFormats=["json", "string"])["result"]
            same((result["status"], result["result"], result["returnCode"]), ("success", before, 1), "format only")
            same(result["resultByFormat"], {"json": before, "string": "m1\nm2"}, "its formats")
            result = ours.handlers("echo", ["zz"])["result"]
            if revision == "real":
                same((result["status"], result["result"], result["returnCode"]), ("success", {}, 0), "unknown names")
            else:
                same(result, {"error": "Action echo has no handler 'zz' in env e"}, "unknown names")
            first = ours.handlers("echo", ["h1"], resultFormats=[])["result"]
            same((first["result"]["items"], first["resultByFormat"]), (["h1:t:prev=None:seen=1"], {}), "the first segment")
            context = {"previousContext": first["context"]} if revision == "real" else {}
            second = ours.handlers("echo", ["h2"], first["result"], **context)["result"]
            seen = 2 if revision == "real" else 1
            same(second["result"]["items"], ["h1:t:prev=None:seen=1", "h2:t:prev=1:seen=%d" % seen], "the second one")
            same("context" in second, revision == "real", "a context is of the revision real (F7)")
            turned = ours.handlers("echo", ["h2", "h1"])["result"]["result"]["items"]
            same(turned, ["h2:t:prev=None:seen=1", "h1:t:prev=1:seen=2"], "in the order of their names")
            order = ours.handlers("conc", ["c2", "c1"])["result"]["result"]["items"]
            same(sorted(order), ["c1", "c2"], "concurrent ones")
            answer = ours.handlers("echo", ["h2"], {"items": 5})
            true("result" in answer, "a previous result that is none: %s" % shown(answer))


def row_33():
    """mergeResults keeps the order, skips null and {}; nothing is {}; an unknown action is an error."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()

            def merged(*results, action="echo"):
                return ours.result("actions/mergeResults", {"actionName": action, "results": list(results)})
            one, other = {"items": ["a"], "by_path": {"x": 1}, "bad": False}, {"items": ["b"], "by_path": {"y": 2}, "bad": True}
            whole = {"items": ["a", "b"], "by_path": {"x": 1, "y": 2}, "bad": True}
            same(merged(one, other), {"merged": whole}, "two")
            same(merged({}, one, None, other, {}), {"merged": whole}, "with empty ones")
            same(merged(other, one)["merged"]["items"], ["b", "a"], "the order")
            for nothing in ((), ({}, None)):
                same(merged(*nothing), {"merged": {}}, "nothing")
            true("nosuch" in merged(action="nosuch")["error"], "an unknown action")


def demo(tcp):
    return [os.path.join(stage.BUILD, "tests", "finecode_demo"), *([] if tcp else ["--stdio"])]


DEEP = [demo_action("nest", ACTS + "NestAction", ("n", "nest", "a")), demo_action("spread", ACTS + "SpreadAction", ("s", "spread", "b")),
        demo_action("who", ACTS + "WhoAction", ("w", "who", "a"))]


def nested(sources):
    """The payload of the first of them, each running the next; the last one is who."""
    payload = {"text": "t"}
    following = ACTS + "WhoAction"
    for source in reversed(sources):
        payload, following = {"source": following, "payload": payload}, source
    return following, payload


def row_34():
    """Runs inside of runs: eight are fine and told their depth, the ninth is refused; in projects, workspaces, batches, streams."""
    ways = ([ACTS + "NestAction"], [ACTS + "SpreadAction"], [ACTS + "NestAction", ACTS + "SpreadAction"])
    for _, tcp in ALL:
        with Manager({"p": DEEP}, tcp=tcp, runner=demo(tcp)) as ours:
            for way in ways:
                for token in (None, "deep"):
                    for count in (7, 8):
                        source, payload = nested((way * count)[:count])
                        answer = ours.client.answer_to(ours.client.start_run(source, ours.path("p"), payload, token=token))
                        told = str(answer) + str(ours.client.aside)
                        ours.client.aside.clear()
                        what = "%d of %s: %s" % (count + 1, way, shown(answer))
                        same("who w user cli 8 " in told, count == 7, what)
                        # What a project of a workspace run failed with is not told in the real form, but that it did.
                        true(count == 7 or "limit 8" in told or "'status': 'failed'" in told, what)
            for count, fits in ((7, True), (8, False)):
                source, payload = nested([ACTS + "NestAction"] * count)
                answer = ours.client.ask("actions/runBatch", {
                    "actionSources": [source], "projects": [ours.path("p")], "params": payload,
                    "options": {"resultFormats": ["json"], "trigger": "user", "devEnv": "cli"}})
                same("limit 8" in str(answer), not fits, "a batch of %d: %s" % (count + 1, shown(answer)))


WHO = [demo_action("who", ACTS + "WhoAction", ("w", "who", "a"))]


def row_35():
    """A user may ask for any number of projects; a runner for as many as the limit, one more is refused."""
    with Command({"p%02d" % number: WHO for number in range(70)}, "run", "who", "text=t", options=("--json",), runner=demo(False)) as ours:
        ours.ended(0, 120)
        done = ours.events("project")
        same((len(done), {each["status"] for each in done}), (70, {"success"}), "70 projects")
    many = {"p%02d" % number: WHO for number in range(64)}
    many["q"] = [DEEP[1]] + WHO
    with Manager(many, "--fanout", "64", runner=demo(False)) as ours:
        payload = {"source": ACTS + "WhoAction", "payload": {"text": "t"}, "paths": [ours.path("p%02d" % n) for n in range(64)]}
        answer = ours.client.answer_to(ours.client.start_run(ACTS + "SpreadAction", ours.path("q"), payload))
        results = answer["result"]["resultByFormat"]["json"]["answer"]["resultsByProject"]
        same(len(results), 64, "64 from a runner")
        payload["paths"].append(ours.path("q"))
        answer = ours.client.answer_to(ours.client.start_run(ACTS + "SpreadAction", ours.path("q"), payload))
        true("64" in str(answer), "65 from a runner: %s" % shown(answer))


def row_36():
    """An action without handlers: no_handlers, the code 0, and nobody is started."""
    empty = [{"name": "empty", "source": ECHO, "config": {}, "handlers": []}]
    with Command({"p": empty}, "run", "empty", options=("--json",)) as ours:
        ours.ended(0)
        same([(each["status"], each["returnCode"]) for each in ours.events("project")], [("no_handlers", 0)], "the project")
        same(ours.guests, [], "runners")


def row_37():
    """With a token in several envs every handler runs once, and every partial result comes once."""
    for revision, tcp in ALL:
        with Manager({"p": [action_of("chain", CHAIN, "1/a", "2/b"), action_of("each", EACH, "3/a", "4/b")]}, tcp=tcp) as ours:
            run = ours.client.start_run(CHAIN, ours.path("p"), {"text": "t"}, token="seq")
            crew = crew_of(ours, ("1/a", "2/b"), concurrent=("each",))
            for env, name, items in (("a", "1", ["1"]), ("b", "2", ["1", "2"])):
                asked = crew[env].run()
                same(parts_of(asked), ("chain", [name]), "the call of %s" % env)
                crew[env].progress(asked["params"]["options"]["partialResultToken"], {"json": {"items": [name]}})
                crew[env].done(asked, {"items": items}, status="streamed")
            ours.client.answer_to(run)

            def told(token):
                return [item for each in ours.client.aside if each["method"] == "actions/partialResult"
                        and each["params"]["token"] == token
                        for item in each["params"]["value"]["resultByFormat"]["json"]["items"]]
            same(told("seq"), ["1", "2"], "partial results of a chain")
            run = ours.client.start_run(EACH, ours.path("p"), {"text": "t"}, token="conc")
            asked = {env: crew[env].run() for env in ("a", "b")}
            for env, name in (("a", "3"), ("b", "4")):
                same(parts_of(asked[env]), ("each", [name]), "the call of %s" % env)
                crew[env].progress(asked[env]["params"]["options"]["partialResultToken"], {"json": {"items": [name]}})
                crew[env].done(asked[env], {"items": [name]}, status="streamed")
            crew["a"].reply(crew["a"].news("actions/mergeResults"), {"merged": {"items": ["3", "4"]}})
            if revision == "real":
                last = crew["b"].run()
                same(parts_of(last), ("each", []), "the last call")
                crew["b"].done(last, {"items": ["3", "4"]})
            ours.client.answer_to(run)
            same(sorted(told("conc")), ["3", "4"], "partial results side by side")


def row_T1():
    """64 projects with two envs each: every handler runs once, and after a SIGKILL of the manager no runner is left."""
    both = [demo_action("who", ACTS + "WhoAction", ("w", "who", "a"), ("x", "who", "b")),
            demo_action("slow", ACTS + "SlowAction", ("s", "slow", "a"))]
    with Manager({"p%02d" % number: both for number in range(64)}, runner=demo(False)) as ours:
        begin = time.monotonic()
        answer = ours.client.answer_to(ours.client.start_run(ACTS + "WhoAction", "", {"text": "t"}, token="who"))
        true("result" in answer, "the run: %s" % shown(answer))
        told = [each["params"]["value"] for each in ours.client.aside if each["method"] == "actions/partialResult"]
        by_project = {}
        for each in told:
            by_project.setdefault(each["project"], []).extend(item.split()[:3] for item in each["resultByFormat"]["json"]["items"])
        same(by_project, {ours.path("p%02d" % number): [["a", "who", "w"], ["b", "who", "x"]] for number in range(64)}, "the results")
        true(time.monotonic() - begin < 25 * stage.SLOW, "it took %.1f s" % (time.monotonic() - begin))
        with open("/proc/%d/task/%d/children" % (ours.child.pid, ours.child.pid), encoding="ascii") as file:
            pids = [int(each) for each in file.read().split()]
        true(len(pids) >= 16, "%d processes" % len(pids))
        ours.client.start_run(ACTS + "SlowAction", "", {"text": "t", "n": 60})
        time.sleep(0.3)
        ours.child.kill()
        eventually(lambda: not any(is_there(pid) for pid in pids), "runners are left behind", 10)


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
