"""Rows 32 to 41: permissions. See stage.py."""
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import stage
from stage import (ALL, DENIED, OLD, SKIPPED, TIMEOUT, Agent, calls, error_is, runs, same, says, short, shorts, shown, true, writes)

TRUE = ("run_command", {"command": "true"})
CLI = ("--client-context", "cli")


def told_the_model(agent):
    """What the model was told of the last call."""
    said = agent.model.messages()[-1]
    same(said["role"], "tool", "the last message")
    return said["content"]


def row_32():
    """Allowed: request, the reply to the acknowledgement, the reply to the answer, toolStart, toolEnd; waiting_permission meanwhile."""
    for compat in ALL:
        steps = [calls(("run_command", {"command": "echo", "args": ["hi-from-cmd"]}, "call_r1")), says("All done.")]
        with Agent(*CLI, compat=compat, steps=steps) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            same((question["tool"], question["description"]), ("run_command", "Run this command?\n  $ echo hi-from-cmd"), "the question")
            same(question["context"]["command"], "echo hi-from-cmd", "its context")
            if compat == "doc":
                same(question["context"]["args"], {"command": "echo", "args": ["hi-from-cmd"]}, "its args")
            else:
                same(list(question["context"]), ["command"], "its context")
            agent.aside.clear()
            acknowledged = agent.start("permissionAcknowledged", {"requestId": question["requestId"]})
            state = agent.start("getState")
            answered = agent.start("permissionResponse", {"requestId": question["requestId"], "allowed": True})
            turn = agent.finish(identity)
            order = shorts(turn.messages)
            wanted = [acknowledged, state, answered, "toolStart"]
            same(order[:4], wanted, "the order")
            same([each.get("result", {}).get("success") for each in turn.messages[:3]], [True, None, True], "the answers")
            same(turn.messages[1]["result"]["status"], "waiting_permission", "the state")
            true(order.index("toolStart") < order.index("toolEnd"), "toolEnd: %s" % order)
            end = turn.one("toolEnd")
            true(end["success"] and "hi-from-cmd" in end["output"], shown(end))
            args = turn.one("toolStart")["args"]
            same(args, {"command": "echo", "args": ["hi-from-cmd"], **({} if compat == "doc" else {"type": "run_command"})}, "its args")
            true(turn.success, "the turn")


def row_33():
    """Denied: no toolStart and no toolEnd, the model is told, the turn succeeds; doc tells -32001."""
    for compat in ALL:
        with Agent(*CLI, compat=compat, steps=[calls(runs("touch ran")), says("As you like.")]) as agent:
            turn = agent.turn(permit=False)
            same([name for name in turn.order if name.startswith("tool")], [], "tools")
            same(turn.answer["result"], {"success": True}, "the turn")
            same(told_the_model(agent), SKIPPED, "what the model is told")
            same(agent.get("ran"), None, "it did not run")
            if compat == "doc":
                told = turn.one("error")
                same((told["code"], told["recoverable"]), (DENIED, True), "autohand.error")
                same(turn.all("hook.sessionError"), [], "it does not end the turn")
            else:
                same(turn.all("error"), [], "errors")
            same(turn.text, "As you like.", "the answer")


def unseen(limit, *words):
    for compat in ALL:
        with Agent(*CLI, *words, compat=compat, steps=[calls(runs("touch ran")), says("Well.")]) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            began = time.monotonic()
            turn = agent.finish(identity, patience=2 * stage.PATIENCE)
            took = time.monotonic() - began
            true(limit - 0.05 <= took < limit + 0.1 + (0.4 if limit < 5 else 1.0) * stage.SLOW, "denied after %.2f s" % took)
            same((turn.success, agent.get("ran")), (True, None), "the turn")
            same([each["code"] for each in turn.all("error")], [TIMEOUT] if compat == "doc" else [], "errors")
            same(agent.result("permissionResponse", {"requestId": question["requestId"], "allowed": True}), {"success": False}, "too late")
            same(agent.result("permissionAcknowledged", {"requestId": question["requestId"]}), {"success": False}, "too late")


def row_34():
    """No sign of life within the first limit: denied then (here 600 ms), the turn goes on."""
    unseen(0.6, "--ack-timeout", "600ms")


def row_34_long():
    """The same with the real 30 s."""
    unseen(30.0)


def row_35():
    """Acknowledged, then silence: it lives past the first limit, and is denied at the second (here 200 ms and 900 ms)."""
    for compat in ALL:
        words = (*CLI, "--ack-timeout", "200ms", "--answer-timeout", "900ms")
        with Agent(*words, compat=compat, steps=[calls(runs("touch ran")), says("Well."), calls(runs("touch ran")), says("Well.")]) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            same(agent.result("permissionAcknowledged", {"requestId": question["requestId"]}), {"success": True}, "the sign of life")
            began = time.monotonic()
            time.sleep(0.4)
            same(agent.status(), "waiting_permission", "past the first limit")
            turn = agent.finish(identity)
            took = time.monotonic() - began
            true(0.8 <= took < 1.5 * stage.SLOW, "denied after %.2f s" % took)
            same((turn.success, agent.get("ran")), (True, None), "the turn")
            same([each["code"] for each in turn.all("error")], [TIMEOUT] if compat == "doc" else [], "errors")
            same([name for name in turn.order if name.startswith("tool")], [], "tools")
            same(agent.allow(question), False, "too late")
            identity = agent.prompt()  # and late, but not too late
            question = agent.wait_question()
            agent.result("permissionAcknowledged", {"requestId": question["requestId"]})
            time.sleep(0.4)
            true(agent.allow(question), "the answer")
            agent.finish(identity)
            same(agent.get("ran"), "", "it ran")


def row_36():
    """An answer to an unknown question, a second one, one after the end: success false."""
    for compat in ALL:
        with Agent(*CLI, compat=compat, steps=[calls(TRUE), says("x"), calls(TRUE), says("x")]) as agent:
            same(agent.result("permissionResponse", {"requestId": "perm_x", "allowed": True}), {"success": False}, "unknown")
            identity = agent.prompt()
            question = agent.wait_question()
            same(agent.result("permissionResponse", {"requestId": question["requestId"] + "0", "allowed": True}), {"success": False}, "another")
            two = [agent.request("permissionResponse", {"requestId": question["requestId"], "allowed": True}) for _ in range(2)]
            agent.write(b"".join(stage.raw.text_of(each) + b"\n" for each in two))
            turn = agent.finish(identity)
            got = [each["result"]["success"] for each in turn.messages if each.get("id") in [one["id"] for one in two]]
            same(got, [True, False], "once, and again")
            true(turn.one("toolEnd")["success"], "the first counts")
            same(agent.allow(question), False, "after the turn")
            identity = agent.prompt()
            same(agent.allow(question), False, "in the next turn, for the old question")
            true(agent.allow(agent.wait_question()), "for its own")
            agent.finish(identity)


def row_37():
    """Acknowledged twice: both times true; unknown: false; without id: -32602."""
    for compat in ALL:
        with Agent(*CLI, compat=compat, steps=[calls(TRUE), says("x")]) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            for _ in range(2):
                same(agent.result("permissionAcknowledged", {"requestId": question["requestId"]}), {"success": True}, "it is there")
            same(agent.result("permissionAcknowledged", {"requestId": "perm_x"}), {"success": False}, "unknown")
            error_is(agent.ask("permissionAcknowledged", {}), -32602, "Missing required parameter: requestId")
            error_is(agent.ask("permissionAcknowledged"), -32602)
            agent.allow(question)
            agent.finish(identity)


def row_38():
    """Neither allowed nor decision: -32602; a decision that is not known is a no."""
    for compat in ALL:
        with Agent(*CLI, compat=compat, steps=[calls(runs("touch ran")), says("x")]) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            for params in ({"requestId": question["requestId"]}, {"allowed": True}, {}, {"requestId": question["requestId"], "allowed": 1}):
                error_is(agent.ask("permissionResponse", params), -32602, "Missing required parameters: requestId, allowed", shown(params))
            same(agent.status(), "waiting_permission", "the question is still there")
            same(agent.result("permissionResponse", {"requestId": question["requestId"], "decision": "why_not"}), {"success": True}, "taken")
            turn = agent.finish(identity)
            same((agent.get("ran"), turn.success), (None, True), "denied")
            same(told_the_model(agent), SKIPPED, "what the model is told")


def row_39():
    """Remembered: for the session, for the project in a new process, and what is denied for good is refused without a question."""
    place = tempfile.mkdtemp(prefix="autohand-")
    try:
        both = [calls(runs("echo a >>ran")), says("x")] * 3
        with Agent(place=place, steps=both) as agent:
            true(agent.turn(permit="allow_session").success, "the first")
            turn = agent.turn()
            same((turn.all("permissionRequest"), agent.get("ran")), ([], "a\na\n"), "again in the session")
            agent.result("reset")
            agent.aside.clear()
            turn = agent.turn(permit=False)
            same((len(turn.all("permissionRequest")), agent.get("ran")), (1, "a\na\n"), "another session asks again")
        for decision, ran in (("allow_always_project", "b\nb\n"), ("deny_always_project", None)):
            line = "echo b >>%s" % decision
            with Agent(place=place, steps=[calls(runs(line)), says("x")]) as agent:
                same(len(agent.turn(permit=decision).all("permissionRequest")), 1, decision)
            with Agent(place=place, steps=[calls(runs(line)), says("x"), calls(runs(line + " ")), says("x")]) as agent:
                turn = agent.turn()
                same((turn.all("permissionRequest"), agent.get(decision)), ([], ran), decision + " in a new process")
                if ran is None:
                    same([each["code"] for each in turn.all("error")], [DENIED], "it is refused")
                    true(told_the_model(agent).startswith("Permission denied"), told_the_model(agent))
                turn = agent.turn(permit=False)
                same(len(turn.all("permissionRequest")), 1, "another command is another question")
        with Agent(steps=[calls(runs("echo b >>allow_always_project")), says("x")]) as agent:
            same(len(agent.turn(permit=False).all("permissionRequest")), 1, "another project asks")
        # A command that waits to be asked for is not asked for if an answer to another one covers it.
        with Agent(steps=[calls(*[TRUE] * 20), says("x")]) as agent:
            turn = agent.turn(permit="allow_session")
            same((len(turn.all("permissionRequest")), len(turn.all("toolEnd"))), (16, 20), "twenty at once")
        # What speaks against a command does so in every folder.
        inside = [calls(("run_command", {"command": "touch", "args": [name], "directory": "d"})) for name in ("no", "maybe", "never")]
        rules = {"allow": ["run_command:touch *"], "deny": ["run_command:touch no"],
                 "rules": [{"tool": "run_command", "pattern": "touch maybe", "action": "prompt"},
                           {"tool": "run_command", "pattern": "touch never", "action": "prompt"}]}
        never = calls(("run_command", {"command": "touch never"}))
        steps = [inside[0], says("x"), inside[1], says("x"), never, says("x"), inside[2], says("x")]
        with Agent(steps=steps, settings={"permissions": rules}, files={"d/f": ""}) as agent:
            turn = agent.turn()
            same((turn.all("permissionRequest"), [each["code"] for each in turn.all("error")]), ([], [DENIED]), "denied")
            same(len(agent.turn(permit=False).all("permissionRequest")), 1, "asked for")
            same(len(agent.turn(permit="deny_session").all("permissionRequest")), 1, "denied by somebody")
            same(agent.turn().all("permissionRequest"), [], "and elsewhere")
            same([agent.get("d/" + name) for name in ("no", "maybe", "never")], [None] * 3, "what ran")
    finally:
        stage.shutil.rmtree(place, ignore_errors=True)


def row_40():
    """Two calls, two questions at once, answered the other way round; each answer is for its own call."""
    for compat in ("doc", "0.8"):
        two = calls((*runs("echo one"), "c1"), (*runs("echo two >two"), "c2"))
        with Agent(*CLI, compat=compat, steps=[two, says("x")]) as agent:
            identity = agent.prompt()
            first, second = agent.wait_question(), agent.wait_question()
            true("one" in first["description"] and "two" in second["description"], shown((first, second)))
            same(agent.status(), "waiting_permission", "both wait")
            true(agent.allow(second, False), "no to the second")
            same(agent.status(), "waiting_permission", "one waits")
            true(agent.allow(first, True), "yes to the first")
            turn = agent.finish(identity)
            ends = turn.all("toolEnd")
            same([each["success"] for each in ends], [True], "what ran")
            true("one" in ends[0]["output"], "the first ran: %s" % shown(ends))
            same(agent.get("two"), None, "the second did not")
            same([(each["role"], each.get("tool_call_id")) for each in agent.model.messages()[-2:]], [("tool", "c1"), ("tool", "c2")], "both results")


def row_41():
    """An alternative replaces the command; it is checked again; an empty one is none."""
    with Agent(steps=[calls(runs("touch first")), says("x")] * 3, settings={"permissions": {"deny": ["run_command:touch forbidden*"]}}) as agent:
        turn = agent.turn(permit={"decision": "alternative", "alternative": "touch 'second file'"})
        same((agent.get("first"), agent.get("second file")), (None, ""), "the other ran")
        same(turn.one("toolStart")["args"], {"command": "touch", "args": ["second file"]}, "what is told")
        turn = agent.turn(permit={"decision": "alternative", "alternative": "touch forbidden"})
        same((agent.get("forbidden"), turn.all("toolStart")), (None, []), "what a rule forbids is refused")
        same([each["code"] for each in turn.all("error")], [DENIED], "and told")
        turn = agent.turn(permit={"decision": "alternative", "alternative": ""})
        same((agent.get("first"), turn.all("toolStart")), (None, []), "nothing instead is a no")
    with Agent(steps=[calls(writes("a.txt", "text\n")), says("x")] * 2) as agent:
        turn = agent.turn(permit={"decision": "alternative", "alternative": "b.txt"})
        asked = turn.one("permissionRequest")
        same((asked["tool"], asked["context"]["path"]), ("write_file", "a.txt"), "the question")
        same(turn.one("changesBatchUpdate")["change"]["filePath"], "b.txt", "another path")
        turn = agent.turn(permit={"decision": "alternative", "alternative": "../b.txt"})
        same(turn.all("changesBatchUpdate"), [], "not outside")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
