"""Rows 19 to 31: the session, its state, turns. See stage.py. Numbers with an A are errata of the protocol's document."""
import base64
import re
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ALL, BUSY, EXECUTION, OLD, TIMEOUT, Agent, calls, error_is, reads, runs, same, says, short, shown, true, writes

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# 0.8 says one thing more to the model, before the first prompt.
MORE = {"doc": 0, "0.6": 0, "0.8": 1}
STATE = ["status", "sessionId", "model", "workspace", "contextPercent", "messageCount"]


def numbers(*ids):
    return [int(re.fullmatch(r"[a-z]+_(\d+)_\d{13}", each).group(1)) for each in ids]


def row_19():
    """agentStart is the first line; members in their order; ids share one counter that begins at 1."""
    for compat in ALL:
        with Agent(compat=compat, steps=[calls(writes("new.txt", "x\n")), says("Done.")]) as agent:
            told = agent.greeting["params"]
            same(list(agent.greeting), ["jsonrpc", "method", "params"], "the members")
            same(list(told), ["sessionId", "model", "workspace", "timestamp", "contextPercent"], "of agentStart")
            same((told["model"], told["workspace"]), ("fake-model", agent.workspace), "the facts")
            true(STAMP.fullmatch(told["timestamp"]), told["timestamp"])
            true(90 <= told["contextPercent"] <= 100, "the context is still free: %s" % told["contextPercent"])
            turn = agent.turn(permit=True)
            ids = (told["sessionId"], turn.one("turnStart")["turnId"], turn.one("messageStart")["messageId"],
                   turn.one("changesBatchStart")["batchId"], turn.one("permissionRequest")["requestId"])
            same(numbers(*ids), [1, 2, 3, 4, 5], "numbers of ids")
            same([each.split("_")[0] for each in ids], ["session", "turn", "msg", "changes", "perm"], "their beginnings")
            same(turn.one("changesBatchUpdate")["change"]["id"], "change_%s_1" % ids[3], "the change")
            true(all(STAMP.fullmatch(each["params"]["timestamp"]) for each in turn.messages), "timestamps")
            members(turn, compat)
            identities(turn, told["sessionId"])
        with Agent(compat=compat, start=False) as agent:  # also before what was said already, whatever it is
            agent.write(b'not json\n{"jsonrpc":"2.0","method":"autohand.getState","id":1}\n[]\n')
            first, *rest = [short(agent.fresh()) for _ in range(4)]
            same((first, sorted(map(str, rest))), ("agentStart", ["1", "None", "None"]), "the first line, and the answers")


def members(turn, compat):
    """Each in its order (facts 4, with what doc adds)."""
    wanted = {
        "turnStart": ["turnId", "timestamp"],
        "messageStart": ["messageId", "role", "timestamp"],
        "messageUpdate": ["messageId", "delta", "timestamp"],
        "messageEnd": ["messageId", "content", "timestamp"],
        "turnEnd": ["turnId", "timestamp", "contextPercent", "tokensUsed", "durationMs"],
        "toolStart": ["toolId", "toolName", "args", "timestamp"],
        "toolEnd": ["toolId", "toolName", "success", "output", "timestamp"],
        "permissionRequest": ["requestId", "tool", "description", "context", "timestamp"],
        "changesBatchStart": ["batchId", "turnId", "timestamp"],
        "changesBatchUpdate": ["batchId", "change", "timestamp"],
        "changesBatchEnd": ["batchId", "changeCount", "timestamp"],
    }
    if compat == "doc":
        wanted["turnStart"] = ["turnId", "sessionId", "instruction", "timestamp"]
        wanted["messageStart"] = ["messageId", "turnId", "role", "timestamp"]
        wanted["messageEnd"] = ["messageId", "content", "toolCalls", "timestamp"]
        wanted["turnEnd"] = ["turnId", "sessionId", "stats", "timestamp", "contextPercent", "tokensUsed", "durationMs", "reason"]
        end = turn.one("turnEnd")
        same(end["stats"], {"tokensUsed": end["tokensUsed"], "duration": end["durationMs"], "contextPercent": end["contextPercent"]}, "stats")
        start = turn.one("toolStart")
        same(turn.one("messageEnd")["toolCalls"],
             [{"id": start["toolId"], "name": start["toolName"], "args": start["args"]}], "the calls")
    for name, names in wanted.items():
        same(list(turn.one(name)), names, "the members of %s in %s" % (name, compat))


def identities(turn, session):
    """What a message of a turn with one call says of session, turn, message, batch and call is said of its own."""
    own = {"sessionId": session}
    for start, name in (("turnStart", "turnId"), ("messageStart", "messageId"), ("changesBatchStart", "batchId"),
                        ("toolStart", "toolId"), ("toolStart", "toolName")):
        own[name] = turn.one(start)[name]
    for message in turn.messages:
        said = {name: value for name, value in message["params"].items() if name in own}
        same(said, {name: own[name] for name in said}, "the ids of %s" % short(message))


def row_20():
    """getState: six members in their order; the free context gets less with a turn."""
    for compat in ALL:
        with Agent(compat=compat, steps=[says("x" * 60000, tokens=60000)]) as agent:
            before = agent.state()
            same(list(before), STATE, "the members")
            same((before["status"], before["messageCount"]), ("idle", 1), "at the start")
            same(before["sessionId"], agent.greeting["params"]["sessionId"], "the session")
            same(before["workspace"], agent.workspace, "the workspace")
            turn = agent.turn()
            after = agent.state()
            true(after["contextPercent"] < before["contextPercent"], "%s after %s" % (after, before))
            same(after["contextPercent"], turn.one("turnEnd")["contextPercent"], "as turnEnd said")
            same(after["messageCount"], 3 + MORE[compat], "messages")
            agent.line('{"jsonrpc":"2.0","method":"autohand.getState","params":{},"id":"p"}')
            same(agent.answer_to("p")["result"], after, "with params")


def row_21():
    """A prompt without a message, or with an empty one, or with one that is no text: -32602."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            for params in ({}, {"message": ""}, {"message": None}, ["hi"], {"context": {}}):
                error_is(agent.ask("prompt", params), -32602, "Missing required parameter: message", shown(params))
            error_is(agent.ask("prompt"), -32602, "Missing required parameter: message", "no params")
            for message in (5, ["x"], {"a": 1}, True):
                error_is(agent.ask("prompt", {"message": message}), -32602, what=shown(message))  # A23
            same(agent.aside, [], "no turn was begun")
            same(agent.status(), "idle", "behind them")


PLAIN = {
    "doc": ["turnStart", "messageStart", "changesBatchStart", "hook.prePrompt", "messageUpdate", "changesBatchEnd",
            "hook.postResponse", "messageEnd", "turnEnd"],
    "0.6": ["turnStart", "messageStart", "changesBatchStart", "messageUpdate", "changesBatchEnd", "messageEnd", "turnEnd"],
    "0.8": ["turnStart", "messageStart", "changesBatchStart", "messageUpdate", "changesBatchEnd", "hook.stop", "messageEnd", "turnEnd"],
}


def row_22():
    """A plain turn: exactly these notifications, then the answer of the prompt."""
    for compat in ALL:
        with Agent(compat=compat, steps=[says("Hi", repeat=True)]) as agent:
            for _ in range(2):
                turn = agent.turn("Just say hi")
                same(turn.order, PLAIN[compat], compat)
                same(turn.answer["result"], {"success": True}, "the prompt's answer")
                same((turn.text, turn.one("messageEnd")["content"]), ("Hi", "Hi"), "the text")
                same(turn.one("turnEnd")["tokensUsed"], 15, "tokens")
                agent.is_quiet("nothing behind it")
    with Agent(steps=[says("abcdef", pieces=3, thought="Hm.")]) as agent:  # A29
        turn = agent.turn()
        same([(each["delta"], each.get("thought")) for each in turn.all("messageUpdate")],
             [("", "Hm."), ("ab", None), ("cd", None), ("ef", None)], "pieces")
        same(turn.one("messageEnd")["content"], "abcdef", "the whole")


def row_23():
    """A second prompt meanwhile: -32003 in doc, -32603 in the versions; also while a permission is waited for."""
    for compat in ALL:
        steps = [says("late", delayMs=600), calls(("run_command", {"command": "true"})), says("end")]
        with Agent("--client-context", "cli", compat=compat, steps=steps) as agent:
            code = BUSY if compat == "doc" else -32603
            first = agent.prompt()
            same(agent.status(), "processing", "in a turn")
            error_is(agent.ask("prompt", {"message": "second"}), code, "Agent is already processing")
            true(agent.finish(first).success, "the first is not disturbed")
            first = agent.prompt()
            question = agent.wait_question()
            same(agent.status(), "waiting_permission", "at a question")
            error_is(agent.ask("prompt", {"message": "second"}), code, "Agent is already processing")
            true(agent.allow(question), "permissionResponse")
            true(agent.finish(first).success, "the first is not disturbed")
            same(agent.status(), "idle", "at the end")


def row_24():
    """Slash commands: no batch and no model; success tells whether there is such a command."""
    for compat in ALL:
        with Agent(compat=compat) as agent:
            order = ["turnStart", "messageStart", "messageUpdate", *(["hook.stop"] if compat == "0.8" else []), "messageEnd", "turnEnd"]
            turn = agent.turn("/help")
            same((turn.order, turn.answer["result"]), (order, {"success": True}), "/help")
            if compat != "doc":
                same(turn.text, "Command /help executed.", "/help")
            same(turn.one("messageEnd")["content"], turn.text, "its content")
            turn = agent.turn("/nosuch")
            same((turn.order, turn.answer["result"]), (order, {"success": False}), "/nosuch")
            same(turn.text, "Unknown command: /nosuch. Type /help for available commands.", "/nosuch")
            same(turn.one("turnEnd")["tokensUsed"], 0, "tokens")
            same(agent.model.asked, [], "the model was not asked")
            same(agent.status(), "idle", "behind it")


def row_25():
    """reset: agentStart of a new session, then the answer; the history is empty. contextPercent is missing in the versions."""
    for compat in ALL:
        with Agent(compat=compat, steps=[says("Hi", repeat=True)]) as agent:
            agent.turn()
            same(agent.state()["messageCount"], 3 + MORE[compat], "before")
            identity = agent.start("reset")
            start, answer = agent.fresh(), agent.fresh()
            same((short(start), answer["id"]), ("agentStart", identity), "the order")
            wanted = ["sessionId", "model", "workspace", "timestamp"] + (["contextPercent"] if compat == "doc" else [])
            same(list(start["params"]), wanted, "its members")
            same(answer["result"], {"sessionId": start["params"]["sessionId"]}, "the answer")
            true(start["params"]["sessionId"] != agent.greeting["params"]["sessionId"], "a new session")
            state = agent.state()
            same((state["messageCount"], state["status"], state["sessionId"]), (1, "idle", answer["result"]["sessionId"]), "behind it")
            true(agent.turn().success, "the next turn")
            same([each["role"] for each in agent.model.messages()], ["system"] * (1 + MORE[compat]) + ["user"], "what the model is told")
    with Agent(steps=[says("late", delayMs=20000), says("Hi")]) as agent:  # in the middle of a turn
        identity = agent.prompt()
        agent.news("hook.prePrompt")
        agent.model.waits_for("asked v1")
        reset = agent.start("reset")
        turn = agent.finish(identity)
        error_is(turn.answer, stage.ABORTED)
        same(turn.order.count("turnEnd"), 1, "the end of the turn")
        true("result" in agent.answer_to(reset), "reset")
        agent.news("agentStart")
        same(agent.state()["messageCount"], 1, "messages")
        true(agent.turn().success, "the next turn")
    with Agent(steps=[says("Hi", tokens=64000)]) as agent:  # what the model counted belongs to the session that is over
        same(agent.turn().one("turnEnd")["contextPercent"], 50, "half of the context is free")
        agent.start("reset")
        same(agent.news("agentStart")["contextPercent"], agent.greeting["params"]["contextPercent"], "all of it is free again")


def row_26():
    """getMessages: limit 1, 3, 0, -1 and none; the arguments of calls are objects; ids count from 0 in each answer."""
    for compat in ALL:
        with Agent(compat=compat, files={"a.txt": "some\n"}, steps=[calls((*reads("a.txt"), "call_r1")), says("All done.")]) as agent:
            agent.turn("READ")
            everything = agent.result("getMessages", {"limit": 0})["messages"]
            roles = ["system"] * (1 + MORE[compat]) + ["user", "assistant", "tool", "assistant"]
            same([each["role"] for each in everything], roles, "the roles")
            for params in ({"limit": -1}, {}, {"limit": 1000}):
                same([each["role"] for each in agent.result("getMessages", params)["messages"]], roles, shown(params))
            same(len(agent.result("getMessages")["messages"]), len(roles), "without params")
            one = agent.result("getMessages", {"limit": 1})["messages"]
            same([(each["id"], each["role"], each["content"]) for each in one], [("msg_0", "assistant", "All done.")], "the last")
            three = agent.result("getMessages", {"limit": 3})["messages"]
            same([each["id"] for each in three], ["msg_0", "msg_1", "msg_2"], "ids")
            same(three[0]["toolCalls"], [{"id": "call_r1", "name": "read_file", "args": {"path": "a.txt"}}], "the calls")
            same(list(three[0]), ["id", "role", "content", "timestamp", "toolCalls"], "the members")
            same([list(each) for each in three[1:]], [["id", "role", "content", "timestamp"]] * 2, "the members of others")
            same((three[1]["role"], three[1]["content"]), ("tool", "some\n"), "the tool")
            true("READ" in everything[-4]["content"], "the prompt")
            error_is(agent.ask("getMessages", {"limit": "x"}), -32602)


def timed(agent):
    """A turn, and how many milliseconds it took at most, in the agent's whole ones."""
    began = time.monotonic()
    turn = agent.turn()
    return turn, (time.monotonic() - began) * 1000 + 1


def row_27():
    """Two questions to the model are still one message."""
    for compat in ALL:
        steps = [says("First. ", toolCalls=[{"name": "list_tree"}]), says("Second.", delayMs=300)]
        with Agent(compat=compat, steps=steps) as agent:
            turn, took = timed(agent)
            same((len(turn.all("messageStart")), len(turn.all("messageEnd"))), (1, 1), "messages")
            same(turn.text, "First. Second.", "deltas")
            same(turn.one("messageEnd")["content"], "First. Second." if compat == "doc" else "Second.", "content")  # A29
            same(len(agent.model.asked), 2, "questions")
            end = turn.one("turnEnd")
            same(end["tokensUsed"], 30, "tokens of both")
            true(300 <= end["durationMs"] <= took, "turnEnd after %.1f ms: %s" % (took, shown(end)))
            if compat == "doc":
                told = turn.one("hook.postResponse")
                same((told["tokensUsed"], told["toolCallsCount"]), (30, 1), "hook.postResponse")
                true(300 <= told["duration"] <= end["durationMs"], "its duration: %s" % shown(told))
    with Agent(steps=[calls(*[("list_tree", {}, "same")] * 3), says("Done.")]) as agent:  # calls that nobody could tell apart
        turn = agent.turn()
        ids = [each["toolId"] for each in turn.all("toolStart")]
        same(len(set(ids)), 3, "the ids of three calls: %s" % ids)
        said = agent.model.messages()
        same([each["id"] for each in said[-4]["tool_calls"]], [each["tool_call_id"] for each in said[-3:]], "their results")
        same(len({each["tool_call_id"] for each in said[-3:]}), 3, "what the model is told")
    again = calls(("list_tree", {}, "call_1"))  # a model that counts from one in each answer
    with Agent(steps=[again, again, says("Done."), again, says("Done.")]) as agent:
        turns = [agent.turn(), agent.turn()]
        ids = [each["toolId"] for turn in turns for each in turn.all("toolStart")]
        same((len(ids), len(set(ids)), ids[0]), (3, 3, "call_1"), "the ids of three calls: %s" % ids)
        same([each["toolId"] for turn in turns for each in turn.all("toolEnd")], ids, "their ends")
        told = [each["id"] for turn in turns for each in turn.one("messageEnd")["toolCalls"]]
        same(told, ids, "the calls of the messages")
        said = [each["tool_call_id"] for each in agent.model.messages() if each["role"] == "tool"]
        same(said, ["call_1"] * 3, "what the model is told, by the ids that it gave")


def row_28():
    """Names of files and a selection go to the model behind the message; real agents do not name the files (A33)."""
    for compat in ALL:
        with Agent(compat=compat, steps=[says("Hi")], files={"other.c": "SECRET-TEXT"}) as agent:
            picked = {"file": "main.c", "startLine": 3, "endLine": 4, "text": "int ```x;\nint y;"}
            turn = agent.turn("Explain", context={"files": ["other.c", "b.c"], "selection": picked})
            said = agent.model.messages()[-1]["content"]
            true(said.startswith("Explain") or "Explain" in said, said)
            true("main.c" in said and "3" in said and "4" in said and picked["text"] in said, said)
            true("SECRET-TEXT" not in str(agent.model.asked), "files are not read")
            same("Explain\n\nFiles: other.c, b.c\n\nSelected" in said, compat == "doc", "they are named: " + said)
            true(compat == "doc" or "other.c" not in str(agent.model.asked), "nor named")
            if compat == "doc":
                told = turn.one("hook.prePrompt")
                same(list(told), ["instruction", "mentionedFiles", "timestamp"], "its members")
                same(told["instruction"], said, "the instruction, as the model gets it")
                same(told["mentionedFiles"], ["other.c", "b.c"], "files")
                same(turn.one("turnStart")["instruction"], "Explain", "the instruction")
            for wrong in ({"files": "x"}, {"files": [1]}, {"selection": 5}, {"selection": {"file": "x"}}, 7):
                error_is(agent.ask("prompt", {"message": "x", "context": wrong}), -32602, what=shown(wrong))


def row_29():
    """Images of another type, or over 10 MiB, are left out with autohand.error -32602; the turn goes on (A20)."""
    good = base64.b64encode(b"\x89PNG" + bytes(100)).decode()
    limit = 10 << 20
    at_limit = base64.b64encode(bytes(limit)).decode()
    over = base64.b64encode(bytes(limit + 1)).decode()
    for compat in ("doc", "0.8"):
        with Agent(compat=compat, steps=[says("Seen.", repeat=True)]) as agent:
            images = [{"data": good, "mimeType": "image/tiff", "filename": "a.tiff"}, {"data": over, "mimeType": "image/png"},
                      {"data": "no base64!", "mimeType": "image/png"}, {"data": good, "mimeType": "image/webp"}, 7]
            turn = agent.turn("Look", images=images)
            same([(each["code"], each["recoverable"]) for each in turn.all("error")], [(-32602, True)] * 4, "errors")
            same((turn.success, turn.text), (True, "Seen."), "the turn")
            parts = agent.model.messages()[-1]["content"]
            same([each["image_url"]["url"] for each in parts if each["type"] == "image_url"], ["data:image/webp;base64," + good], "what is sent")
            turn = agent.turn("Look", images=[{"data": at_limit, "mimeType": "image/jpeg"}])
            same((turn.all("error"), turn.success), ([], True), "10 MiB")
            kinds = ["image/" + kind for kind in ("png", "jpeg", "gif", "webp")]
            turn = agent.turn("Look", images=[{"data": good, "mimeType": kind, "filename": "a"} for kind in kinds])
            parts = agent.model.messages()[-1]["content"]
            same(([each["image_url"]["url"] for each in parts if each["type"] == "image_url"], turn.all("error")),
                 (["data:%s;base64,%s" % (kind, good) for kind in kinds], []), "every type of the document")
            error_is(agent.ask("prompt", {"message": "x", "images": "y"}), -32602)


def row_30():
    """A model that fails: the codes and kinds, turnEnd each time, idle again; what may pass is tried again."""
    table = (("401", "auth"), ("402", "payment"), ("403", "model"), ("404", "model"), ("400", "context"), ("429", "rate_limit"), ("500", "server"),
             ("cut", "network"), ("malformed", "network"), ("no-choices", "network"), ("huge-line", "network"), ("drop", "network"))
    for mode, kind in table:
        with Agent("--model-tries", "1", mode=mode) as agent:
            told = failed(agent, agent.turn(), EXECUTION, kind, mode)
            # What may pass can be tried again, but not an answer that is longer than any may be.
            same(told["recoverable"], kind in ("rate_limit", "server", "network") and mode != "huge-line", "recoverable after %s" % mode)
    with Agent("--model-tries", "1", "--model-timeout", "300ms", mode="silent") as agent:
        failed(agent, agent.turn(), TIMEOUT, "timeout", "silent")
    with Agent("--model-timeout", "2s", mode="slow") as agent:  # who speaks slowly is told as it speaks
        identity = agent.prompt()
        same(agent.news("messageUpdate")["delta"], "a", "the first piece")
        same(agent.status(), "processing", "the rest is still to come")
        turn = agent.finish(identity)
        same((turn.success, turn.text, turn.one("messageEnd")["content"]), (True, "bc", "abc"), "slow")
    with Agent("--model-tries", "1") as agent:
        agent.model.close()  # nobody is there
        failed(agent, agent.turn(), EXECUTION, "network", "refused")
        agent.model = None
    for mode in ("429-once", "500-once", "drop-once"):
        with Agent("--model-tries", "2", mode=mode) as agent:
            turn = agent.turn()
            same((turn.success, turn.text, turn.all("error")), (True, "Grüße, 世界! 🙂", []), mode)
            same(len(agent.model.asked), 2, "questions")
    for compat in OLD:
        with Agent("--model-tries", "1", compat=compat, mode="429") as agent:
            turn = agent.turn()
            told = turn.one("error")
            same((list(told), told["code"], told["recoverable"]), (["code", "message", "recoverable", "timestamp"], EXECUTION, True), compat)
            same(turn.answer["result"], {"success": False}, "the prompt's answer")
            same(turn.order[-4:], ["changesBatchEnd", "error", "messageEnd", "turnEnd"], "the order")


def row_30b():
    """A tool that fails is told as -32000, one that takes too long as -32002; the model gets what it said, and the turn goes on."""
    table = ((runs("echo out; echo broken >&2; exit 4"), EXECUTION, "4"), (("read_file", {"path": "absent"}), EXECUTION, "absent"),
             (("no_such_tool", {}), EXECUTION, "no_such_tool"), (("read_file", {"file": 1}), EXECUTION, "path"), (("read_file", "no JSON"), EXECUTION, "JSON"),
             (runs("sleep 60"), TIMEOUT, ""))
    for call, code, words in table:
        limit = ("--command-timeout", "300ms") if code == TIMEOUT else ()
        with Agent("--yolo", *limit, steps=[calls(call), says("Well.")]) as agent:
            turn, took = timed(agent)
            same((turn.success, turn.text), (True, "Well."), "the turn: %s" % shown(call))
            end, told = turn.one("toolEnd"), turn.one("error")
            same((end["success"], told["code"], told["recoverable"]), (False, code, True), shown(call))
            same([name for name in end if name in ("output", "error")], ["error"], "toolEnd: %s" % shown(end))
            true(words in end["error"], shown(end))
            same(agent.model.messages()[-1]["content"], end["error"], "what the model gets")
            same(turn.all("hook.sessionError"), [], "it ends no turn")
            hooked(turn, 0, took)
    with Agent("--yolo", steps=[calls(runs("echo out; sleep 0.2")), says("Well.")]) as agent:  # one that does not fail
        turn, took = timed(agent)
        same((turn.one("toolEnd")["success"], turn.one("toolEnd")["output"]), (True, "out\n"), "toolEnd")
        hooked(turn, 200, took)


def hooked(turn, least, most):
    """hook.postTool says what toolEnd does, and how many milliseconds the tool took."""
    end, told = turn.one("toolEnd"), turn.one("hook.postTool")
    text = end["output" if end["success"] else "error"]
    same((told["toolId"], told["toolName"], told["success"], told["output"]),
         (end["toolId"], end["toolName"], end["success"], text), "hook.postTool")
    true(least <= told["duration"] <= most, "after %d to %.1f ms: %s" % (least, most, shown(told)))


def failed(agent, turn, code, kind, what):
    told = turn.one("error")
    same((told["code"], told["errorType"]), (code, kind), "%s: %s" % (what, shown(told)))
    same(list(told), ["code", "message", "errorType", "recoverable", "timestamp"], "the members of error")
    error_is(turn.answer, code, told["message"], what)
    same(turn.order[-5:], ["changesBatchEnd", "error", "hook.sessionError", "messageEnd", "turnEnd"], what)
    same(turn.one("turnEnd")["reason"], "error", what)
    same((turn.one("hook.sessionError")["error"], turn.one("hook.sessionError")["code"]), (told["message"], str(code)), what)
    same(agent.status(), "idle", what)
    return told


def row_31():
    """ping comes during a long turn, with the status and the turn, and no more after its end; the versions have none."""
    pinged("100ms", 0.1, 0.75)
    for compat in OLD:
        with Agent("--ping", "50ms", compat=compat, steps=[says("late", delayMs=300)]) as agent:
            same(agent.turn().order.count("ping"), 0, compat)


def pinged(option, period, length):
    words = ("--ping", option) if option else ()
    steps = [says("late", delayMs=int(length * 1000)), calls(("run_command", {"command": "true"})), says("end")]
    with Agent(*words, steps=steps) as agent:
        turn = agent.turn()
        told = turn.all("ping")
        wanted = int(length / period)
        true(1 <= len(told) <= wanted + 1 and (stage.SLOW > 1 or len(told) >= wanted // 2), "%d pings" % len(told))
        same({(each["status"], each["turnId"]) for each in told}, {("processing", turn.one("turnStart")["turnId"])}, "what they say")
        same(list(told[0]), ["timestamp", "status", "turnId"], "the members")
        agent.is_quiet("after the turn", period * 2.5)
        if option:
            identity = agent.prompt()
            question = agent.wait_question()
            # One that came before the question, while the turn was beginning, says nothing of it.
            agent.aside = [each for each in agent.aside if each.get("method") != "autohand.ping"]
            same(agent.news("ping")["status"], "waiting_permission", "at a question")
            agent.allow(question)
            agent.finish(identity)


def row_31_long():
    """The same with the real 15 s."""
    pinged(None, 15, 17)


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
