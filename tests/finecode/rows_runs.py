"""Rows 16 to 28: runs of a runner of ours, results, partial results and progress. See stage.py."""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, DEMO, ECHO, META, Er, demo_action, error_is, same, shown, true
from workspace import Manager

BOTH = {"resultFormats": ["json", "string"]}


def row_16():
    """Formats: json, json and string, none, the default; styled text in the place of a string."""
    whole = {"items": ["h1:t:prev=None:seen=1", "h2:t:prev=1:seen=2"], "by_path": {"/a/b": 1}, "bad": False}
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            same(ours.run("echo"), ("success", {"json": whole}, 0), "json")
            same(ours.run("echo", **BOTH), ("success", {"json": whole, "string": "\n".join(whole["items"])}, 0), "both")
            same(ours.run("echo", resultFormats=...), ("success", {"json": whole}, 0), "the default")
            if revision == "real":
                same(ours.run("echo", resultFormats=[]), ("success", {}, 0), "none")
            else:  # an empty result is a protocol error there, unless it is streamed
                status, by_format, code = ours.run("echo", resultFormats=[])
                true((status == "streamed" or by_format) and code == 0, "none: %s" % shown((status, by_format)))
            _, by_format, _ = ours.run("styled", **BOTH)
            if revision == "real":
                same(sorted(by_format), ["json", "styled_text_json"], "styled text")
                same(by_format["styled_text_json"], {"parts": [{"text": "bold\n", "bold": True}, "plain"]}, "its parts")
            else:  # the document has no such thing
                same(by_format["string"], "bold\nplain", "styled text as plain one")
            same(ours.run("conc", **BOTH)[1]["string"], "c1\nc2", "concurrent handlers, merged in their order")


def row_17():
    """Options: real runs need walRunId and a good meta; a format or trigger that is none is refused in both (F4, F33)."""
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            params = {"actionName": "echo", "params": {"text": "t"}, "options": None}
            for answer in (ours.ask_run("echo", walRunId=...), ours.ask("actions/run", params)):
                if revision == "seed":
                    same(ours.read(answer["result"])[0], "success", "without options")
                elif "result" in answer:
                    same(answer["result"], {"error": "Missing required wal_run_id in run options"}, "without walRunId")
                else:
                    error_is(answer, -32602, "without walRunId")
            refused = [{"meta": {**META, "trigger": "weird"}}, {"meta": {**META, "devEnv": "precommit"}}, {"resultFormats": ["xml"]}]
            refused += [{"meta": ...}] if revision == "real" else []
            for options in refused:
                answer = ours.ask_run("echo", **options)
                true(answer.get("error", {}).get("code") in (-32602, -32603), "%s: %s" % (options, shown(answer)))
            for meta in ("user", "system", "unknown"):
                for dev_env in ("ide", "cli", "ai", "git_hook", "ci"):
                    status = ours.run("echo", meta={"trigger": meta, "devEnv": dev_env, "orchestrationDepth": 3})[0]
                    same(status, "success", "%s %s" % (meta, dev_env))
            ours.is_alive("after all that")


def row_18():
    """Payloads: a missing member and a wrong type fail with their place; unknown members are let pass."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            why = ours.failed("echo", {"n": "abc"})
            true("echo" in why and "text" in why, "missing: %s" % why)
            why = ours.failed("echo", {"text": "x", "n": "abc"})
            true("echo" in why and "n" in why, "a wrong type: %s" % why)
            same(len(ours.items("echo", {"text": "x", "unknown_field": 1})), 2, "unknown members")
            schemas = ours.result("actions/getPayloadSchemas", {})
            same(schemas["echo"]["required"], ["text"], "required")
            same(schemas["echo"]["properties"]["n"]["type"], "integer", "a type")
            same(schemas.get("missing", ...), None, "an action that is not known")


def row_19():
    """A return code of 1 comes with the status success."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            status, by_format, code = ours.run("bad", **BOTH)
            same((status, by_format["string"], code), ("success", "bad", 1), "bad")
            result = ours.handlers("bad", ["bad"], resultFormats=[])["result"]
            same((result["status"], result["resultByFormat"], result["returnCode"]), ("success", {}, 1), "also without formats")


def row_20():
    """Failures are results with an error; a handler that cancels itself is -32800; one that forgets to end has failed."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            true("declared failure" in ours.failed("fail") and "fail" in ours.failed("fail"), "a failure")
            true("'boom'" in ours.failed("boom"), "another")
            true("nosuch" in ours.failed("nosuch") and "not found" in ours.failed("nosuch"), "an unknown action")
            true(ours.failed("missing"), "an action that nobody has added")
            true(ours.failed("forget"), "a handler that forgets to end")
            error_is(ours.ask_run("canc"), -32800, "a handler that cancels itself")
            error = ours.error("actions/run", {"params": {}, "options": ours.options()})
            true(error["code"] in (-32602, -32603) and "actionName" in shown(error), "without a name: %s" % shown(error))
            error_is(ours.ask("no/such", {}), -32601, "an unknown method")
            ours.is_alive("after all that")
        with Er(tcp=tcp) as ours:
            ours.start()
            ours.send(ours.run_request("die", {"text": "t", "n": 5}))
            same(ours.ended(), 5, "one that dies")


def row_21():
    """Stop: no handler after it runs, the status is stopped with the result, in run and in runHandlers; a manager takes the real one's error as a failure (F11, F12)."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            status, by_format, code = ours.run("stop", **BOTH)
            same((status, code), ("stopped", 1), "run")
            same(by_format.get("string"), "stopped early", "its text")
            same(by_format["json"]["items"], ["stopped early"], "all formats")
            result = ours.handlers("stop", ["stop", "after"])["result"]
            same((result["status"], result["returnCode"], result["result"]["items"]), ("stopped", 1, ["stopped early"]), "runHandlers")
            answer = ours.ask_run("conc_stop", **BOTH)["result"]
            true("error" in answer or ours.read(answer)[0] == "stopped", "beside another: %s" % shown(answer))
        two = {"p": [demo_action("chain", ACTS + "OtherAction", ("one", "C1", "a"), ("two", "C2", "b"))]}
        with Manager(two, tcp=tcp) as ours:
            run = ours.client.start_run(ACTS + "OtherAction", ours.path("p"))
            guest = ours.guest("a").begin()
            ours.guest("b").begin()
            text = "<class 'finecode_extension_runner._services.run_action.StopWithResponse'>: "
            guest.reply(guest.run(), {"error": text})
            answer = ours.client.answer_to(run)
            true("error" in answer and "StopWithResponse" in shown(answer), "the failure: %s" % shown(answer))


def row_22():
    """Two runs that overlap end out of order."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            slow, quick = ours.run_request("slow", {"text": "t", "ms": 600}), ours.run_request("echo")
            ours.send(slow)
            ours.send(quick)
            same([ours.fresh()["id"], ours.fresh()["id"]], [quick["id"], slow["id"]], "the order of the answers")


def row_23():
    """The configuration of a handler: its own over that of its source; tables are merged, lists replaced."""
    handler = {"name": "h1", "source": ACTS + "H1", "env": "e", "config": {"list": [3], "table": {"b": 2}}}
    actions = [{**DEMO[0], "handlers": [handler, DEMO[0]["handlers"][1]]}]
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start(actions, configs={ACTS + "H1": {"prefix": "global", "list": [1, 2], "table": {"a": 1, "b": 1}},
                                         ACTS + "H2": {"prefix": "g"}})
            same(ours.items("echo"), ["global1:t:prev=None:seen=1", "g2:t:prev=1:seen=2"], "of the source")
            handler["config"]["prefix"] = "own"
            config = ours.config(actions, {ACTS + "H1": {"prefix": "global"}})
            same(ours.result("finecodeRunner/updateConfig", config), {}, "updateConfig")
            same(ours.items("echo"), ["own1:t:prev=None:seen=1", "h2:t:prev=1:seen=2"], "its own")
            del handler["config"]["prefix"]


def streamed(ours, action, payload, token="tok", **options):
    """The values of $/progress with that token before the answer, and the answer; nothing comes after it."""
    made = ours.run_request(action, payload, partialResultToken=token, **options)
    ours.send(made)
    values = []
    while True:
        message = ours.fresh()
        true(message is not None, "no answer")
        if message.get("method") == "$/progress":
            same((message["params"]["token"], type(message["params"]["token"])), (token, type(token)), "the token")
            true(isinstance(message["params"]["value"], str), "the value is no text")
            values.append(json.loads(message["params"]["value"]))
        else:
            same(message["id"], made["id"], "the answer")
            return values, message


def result_in(value):
    """A partial result: bare, or by format."""
    return value["json"] if set(value) <= {"json", "string"} else value


def all_items(values):
    return [item for value in values for item in result_in(value)["items"]]


def row_24():
    """Three partial results that are 400 ms apart are three $/progress, faster ones are merged; together they are the result, and nothing comes after the answer. The answer is streamed by the document, the whole result in the real form (F9)."""
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            values, answer = streamed(ours, "gen", {"text": "t", "n": 3, "ms": 450})
            same([result_in(each)["items"] for each in values], [["part0"], ["part1"], ["part2"]], "the parts")
            true(all(set(each) == {"json"} for each in values) or revision == "seed", "by format (F8): %s" % shown(values))
            status, by_format, code = ours.read(answer["result"])
            if revision == "real":
                same((status, by_format["json"]["items"], code), ("success", ["part0", "part1", "part2"], 0), "the answer")
            else:
                same((status, by_format, code), ("streamed", {}, 0), "the answer")
            values, answer = streamed(ours, "gen", {"text": "t", "n": 40, "ms": 5})
            same(all_items(values), ["part%d" % number for number in range(40)], "fast ones, together")
            true(len(values) <= 4, "%d notifications for 200 ms" % len(values))
            values, answer = streamed(ours, "send", {"text": "t", "n": 2, "ms": 5}, resultFormats=["json", "string"])
            true(all(set(each) == {"json", "string"} for each in values), "in the formats of the run: %s" % shown(values))
            same(ours.read(answer["result"])[2], 1, "the code of what was streamed")
            same(ours.items("gen", {"text": "t", "n": 2, "ms": 5}), ["part0", "part1"], "without a token")
            values, answer = streamed(ours, "echo", None)
            same(values, [], "a handler that does not stream")
            same(len(ours.read(answer["result"])[1]["json"]["items"]), 2, "its result")
            values, answer = streamed(ours, "none", None)
            same((values, ours.read(answer["result"])), ([], ("streamed", {}, 0)), "nothing at all")
            ours.is_quiet("after the answer", 0.5)


def row_25():
    """Tokens are echoed with their type: numbers, texts."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for token in (7, 0, "7", "tok-1", -3):
                values, _ = streamed(ours, "gen", {"text": "t", "n": 1}, token)
                same(all_items(values), ["part0"], "the part of %r" % (token,))


def partials(client, token):
    """What the client was told under that token, taken out."""
    found = [each for each in client.aside if each.get("method") == "actions/partialResult" and each["params"]["token"] == token]
    client.aside = [each for each in client.aside if each not in found]
    return [each["params"]["value"] for each in found]


def row_26():
    """A client's token: each partial result once, that of a direct answer, too; those of other tokens are dropped."""
    one = {"p": [demo_action("echo", ECHO, ("h1", "H1"))]}
    for revision, tcp in ALL:
        with Manager(one, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"}, token="direct")
            guest = ours.guest().begin()
            guest.done(guest.run(), {"items": ["a"]}, code=1)
            same(ours.client.answer_to(run)["result"]["returnCode"], 1, "its code")
            told = partials(ours.client, "direct")
            same([each["resultByFormat"]["json"] for each in told], [{"items": ["a"]}], "a direct answer")
            same(told[0]["project"], ours.path("p"), "its project")
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"}, token=5)
            asked = guest.run()
            token = asked["params"]["options"]["partialResultToken"]
            for foreign in (5, 4711, "direct", str(token) + "0"):
                guest.progress(foreign, {"json": {"items": ["of nobody"]}})
            guest.progress(token, {"json": {"items": ["b"]}})
            if revision == "real":  # the whole of it comes again
                guest.done(asked, {"items": ["b"]})
            else:
                guest.done(asked, {}, status="streamed")
            ours.client.answer_to(run)
            same([each["resultByFormat"]["json"]["items"] for each in partials(ours.client, 5)], [["b"]], "a streamed one")
            true("of nobody" not in str(ours.client.aside), "a foreign token: %s" % shown(ours.client.aside))
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"}, token="nothing")
            guest.done(guest.run(), {}, status="streamed")
            same(ours.client.answer_to(run)["result"].get("returnCode"), 0, "nothing: the code")
            same(partials(ours.client, "nothing"), [], "nothing: partial results")


def row_27():
    """Progress: begin, report and end in their order, with 0, 50 and 100 percent; a total of 0 is 100."""
    with Er(tcp=True) as ours:
        ours.start()
        for total, wanted in ((2, [50, 100]), (0, [100])):
            made = ours.run_request("prog", {"text": "t", "n": total}, progressToken="pg")
            ours.send(made)
            ours.answer_to(made["id"])
            values = [json.loads(each["params"]["value"]) for each in ours.aside]
            true(all(each["params"]["token"] == "pg" for each in ours.aside), "the token")
            ours.aside.clear()
            same([each["type"] for each in values], ["begin"] + ["report"] * len(wanted) + ["end"], "the order")
            same((values[0]["title"], values[0]["percentage"], values[0]["total"]), ("Working", 0 if total else 100, total), "begin")
            same([each["percentage"] for each in values[1:-1]], wanted, "percentages")
        same(ours.items("prog", {"text": "t"}), ["prog"], "without a token")
        same(ours.aside, [], "nothing is told then")


def row_28():
    """Thirty fast runs with tokens lose nothing."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            made = [ours.run_request("gen", {"text": "t", "n": 5, "ms": 1}, partialResultToken=number) for number in range(30)]
            for each in made:
                ours.send(each)
            for each in made:
                ours.answer_to(each["id"])
            for number in range(30):
                values = [json.loads(each["params"]["value"]) for each in ours.aside if each["params"]["token"] == number]
                same(all_items(values), ["part%d" % part for part in range(5)], "run %d" % number)
            begin = time.monotonic()
            ours.is_quiet("afterwards", 0.5)
            true(time.monotonic() - begin < 5, "and it is the end")
        one = {"p": [demo_action("gen", ACTS + "GenAction", ("gen", "gen"))]}
        demo = [os.path.join(stage.BUILD, "tests", "finecode_demo"), *([] if tcp else ["--stdio"])]
        with Manager(one, tcp=tcp, runner=demo) as ours:
            runs = [ours.client.start_run(ACTS + "GenAction", ours.path("p"), {"text": "t", "n": 5, "ms": 1}, token=number)
                    for number in range(30)]
            for each in runs:
                same(ours.client.answer_to(each)["result"]["returnCode"], 0, "a run")
            for number in range(30):
                told = [each["resultByFormat"] for each in partials(ours.client, number)]
                same(all_items(told), ["part%d" % part for part in range(5)], "run %d through the manager" % number)


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
