"""Rows 59 to 65: hooks. See stage.py."""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import DENIED, Agent, calls, eventually, is_gone, reads, runs, same, says, short, shorts, shown, true, writes

TOUCH = ("run_command", {"command": "touch", "args": ["ran"]})


def hooks(*listed, **more):
    return {"hooks": {**more, "hooks": list(listed)}}


def hook(event, command, **more):
    return {"event": event, "command": command, **more}


def last_tool(agent):
    return [each["content"] for each in agent.model.messages() if each["role"] == "tool"][-1]


def once(settings, steps=None, permit=None, compat="doc", files=None, words=()):
    """One turn with a touch, or with these calls; the agent is still there."""
    agent = Agent("--client-context", "cli", *words, compat=compat, settings=settings, files=files,
                  steps=(steps or [calls(TOUCH)]) + [says("x")])
    return agent, agent.turn(permit=permit)


def row_59():
    """A hook before a tool that exits with 2: the tool is refused with what it wrote to its standard error, no toolStart. 0.6 does not listen."""
    for compat in ("doc", "0.8"):
        agent, turn = once(hooks(hook("pre-tool", "echo never; echo never this way >&2; echo but that >&2; seq 1000 >&2; exit 2")), permit=True, compat=compat)
        with agent:
            same((turn.all("toolStart"), turn.all("permissionRequest"), agent.get("ran")), ([], [], None), "nothing runs")
            same(last_tool(agent)[:46], "Permission denied: never this way\nbut that\n1\n2", "what the model is told")
            true(last_tool(agent).endswith("\n1000"), "all of it: %s" % last_tool(agent)[-100:])
            true(turn.success, "the turn")
            if compat == "doc":
                same([each["code"] for each in turn.all("error")], [DENIED], "autohand.error")
                same(turn.order.count("hook.preTool"), 1, "hook.preTool")
    agent, turn = once(hooks(hook("pre-tool", "exit 2")), permit=True)
    with agent:
        true("Hook blocked execution" in last_tool(agent), "without words: %s" % last_tool(agent))
    agent, turn = once(hooks(hook("pre-tool", "printf '\\303\\244%.0s' $(seq 5000) >&2; exit 2")), permit=True)
    with agent:
        same(last_tool(agent), "Permission denied: " + "ä" * 4096, "there is an end to it")
    for command in ("exit 1", "echo '{'", """echo '{"decision":"allow","decision":"deny"}'""", """echo '{"decision":"perhaps"}'""", "kill -9 $$", "/nonexistent/hook"):
        agent, turn = once(hooks(hook("pre-tool", command)), permit=True)
        with agent:
            same((turn.all("toolStart"), agent.get("ran")), ([], None), "a hook that fails is a no: %s" % command)
    agent, turn = once(hooks(hook("pre-tool", "exit 2")), permit=True, compat="0.6")
    with agent:
        same(agent.get("ran"), "", "0.6 runs it all the same")


def answers(**facts):
    return "cat >/dev/null; echo '%s'" % json.dumps(facts)


def row_60():
    """A hook that allows spares the question; one that asks forces one, for read_file, too; updatedInput changes the arguments."""
    agent, turn = once(hooks(hook("pre-tool", answers(decision="allow"))))
    with agent:
        same((turn.all("permissionRequest"), agent.get("ran")), ([], ""), "allowed")
    read = [calls(reads("a.txt"))]
    agent, turn = once(hooks(hook("pre-tool", answers(decision="ask"))), read, permit=True, files={"a.txt": "text\n"})
    with agent:
        same((len(turn.all("permissionRequest")), last_tool(agent)), (1, "text\n"), "asked")
        same(turn.one("permissionRequest")["description"], "Allow tool read_file?", "the question")
    agent, turn = once(hooks(hook("pre-tool", answers(decision="ask"))), read, permit=False, files={"a.txt": "text\n"})
    with agent:
        same((turn.all("toolStart"), last_tool(agent)), ([], stage.SKIPPED), "and denied")
    for reply in (answers(decision="deny", reason="because"), answers(decision="block", reason="because"), answers(**{"continue": False, "stopReason": "because"})):
        agent, turn = once(hooks(hook("pre-tool", reply), hook("pre-tool", "touch second")), permit=True)
        with agent:
            same((turn.all("toolStart"), agent.get("ran")), ([], None), reply)
            true("because" in last_tool(agent), last_tool(agent))
            if "continue" in reply:
                same(agent.get("second"), None, "no further hook")
    agent, turn = once(hooks(hook("pre-tool", answers(updatedInput={"args": ["other"]}, additionalContext="Mind the gap."))), permit=True)
    with agent:
        same((agent.get("ran"), agent.get("other")), (None, ""), "other arguments")
        same(turn.one("permissionRequest")["context"]["command"], "touch other", "they are asked for")
        same(turn.one("toolStart")["args"], {"command": "touch", "args": ["other"]}, "and told")
        true("Mind the gap." in json.dumps(agent.model.messages()), "the model is told")
    for update in ({"type": "x"}, {"tool": "x"}, {"bogus": 1}, {"args": "no list"}, {"command": 5}):
        agent, turn = once(hooks(hook("pre-tool", answers(updatedInput=update, decision="allow"))), permit=True)
        with agent:
            same([each["success"] for each in turn.all("toolEnd")].count(True), 0, "refused: %s" % update)
            same(agent.get("ran"), None, "refused: %s" % update)
    agent, turn = once(hooks(hook("pre-tool", answers(decision="allow"))), permit=True, compat="0.6")
    with agent:
        same(len(turn.all("permissionRequest")), 1, "0.6 asks all the same")
    deny = {**hooks(hook("pre-tool", answers(decision="allow"))), "permissions": {"deny": ["run_command:touch*"]}}
    agent, turn = once(deny)
    with agent:
        same(agent.get("ran"), None, "no hook allows what a rule denies")


def row_61():
    """A permission-request hook that allows: nobody is asked; that denies: neither; it runs only if there would be a question."""
    agent, turn = once(hooks(hook("permission-request", answers(decision="allow"))))
    with agent:
        same((turn.all("permissionRequest"), agent.get("ran")), ([], ""), "allowed")
        same(turn.order.count("hook.permissionRequest"), 1, "told")
        told = turn.one("hook.permissionRequest")
        same((told["tool"], told["command"], told["args"]), ("run_command", "touch ran", TOUCH[1]), "what is told")
    agent, turn = once(hooks(hook("permission-request", answers(decision="deny", reason="not today"))))
    with agent:
        same((turn.all("permissionRequest"), agent.get("ran")), ([], None), "denied")
        true("not today" in last_tool(agent), last_tool(agent))
    agent, turn = once(hooks(hook("permission-request", "touch hooked")), words=("--yolo",))
    with agent:
        same((agent.get("ran"), agent.get("hooked")), ("", None), "no question, no hook")
        same(turn.order.count("hook.permissionRequest"), 0, "nothing is told")
    agent, turn = once(hooks(hook("permission-request", "true")), permit=True)
    with agent:
        same((len(turn.all("permissionRequest")), agent.get("ran")), (1, ""), "a hook that says nothing leaves it to the client")


def row_62():
    """A hook that takes too long: SIGTERM, a second later SIGKILL, to it and its children; the tool is refused."""
    stubborn = "echo $$ >pid; trap 'echo term >>told' TERM; sleep 60 & echo $! >child; while :; do sleep 0.05; done"
    agent = Agent(settings=hooks(hook("pre-tool", stubborn, timeout=300)), steps=[calls(TOUCH), says("x")])
    with agent:
        began = time.monotonic()
        turn = agent.turn(permit=True)
        took = time.monotonic() - began
        true(1.1 < took < 4 * stage.SLOW, "it took %.1f s" % took)
        same((turn.all("toolStart"), agent.get("ran"), turn.success), ([], None, True), "the tool")
        true((agent.get("told") or "").startswith("term"), "SIGTERM was not seen")
        for name in ("pid", "child"):
            is_gone(int(agent.get(name)), "the hook's " + name, 2 * stage.SLOW)
    agent, turn = once(hooks(hook("pre-tool", "sleep 60", timeout=200)), permit=True)
    with agent:
        same((turn.all("toolStart"), agent.get("ran")), ([], None), "one that goes at once")
    agent = Agent(settings=hooks(hook("pre-tool", "echo $$ >pid; sleep 60")), steps=[calls(TOUCH), says("x")])
    with agent:  # an abort does not wait for it
        identity = agent.prompt()
        pid = int(eventually(lambda: (agent.get("pid") or "").strip(), "the hook does not run"))
        began = time.monotonic()
        agent.start("abort")
        agent.finish(identity)
        true(time.monotonic() - began < 0.3 * stage.SLOW, "abort took %.2f s" % (time.monotonic() - began))
        is_gone(pid, "the hook", 2 * stage.SLOW)


# Writes what it is told to a file named by its event, a line each.
TELL = "import json,os,sys; d=sys.stdin.read(); e={k:v for k,v in os.environ.items() if k.startswith('HOOK_')}; open('told-'+os.environ['HOOK_EVENT'],'a').write(json.dumps([json.loads(d),e])+chr(10))"
EVENTS = {
    "session-start": ({"session_type"}, {"HOOK_SESSION_TYPE"}),
    "pre-prompt": ({"instruction", "mentioned_files"}, {"HOOK_INSTRUCTION", "HOOK_MENTIONED_FILES"}),
    "pre-tool": ({"tool_name", "tool_input", "tool_use_id", "command"}, {"HOOK_TOOL", "HOOK_ARGS", "HOOK_TOOL_CALL_ID", "HOOK_COMMAND"}),
    "permission-request": ({"tool_name", "tool_input", "tool_use_id", "command", "permission_type"},
                           {"HOOK_TOOL", "HOOK_ARGS", "HOOK_TOOL_CALL_ID", "HOOK_COMMAND", "HOOK_PERMISSION_TYPE"}),
    "post-tool": ({"tool_name", "tool_input", "tool_use_id", "tool_response", "tool_success", "duration", "command"},
                  {"HOOK_TOOL", "HOOK_ARGS", "HOOK_TOOL_CALL_ID", "HOOK_OUTPUT", "HOOK_SUCCESS", "HOOK_DURATION", "HOOK_COMMAND"}),
    "stop": ({"tokens_used", "tool_calls_count", "turn_duration", "duration"},
             {"HOOK_TOKENS", "HOOK_TOOL_CALLS_COUNT", "HOOK_TURN_DURATION", "HOOK_DURATION"}),
    "file-modified": ({"file_path", "change_type", "tool_use_id"}, {"HOOK_PATH", "HOOK_CHANGE_TYPE", "HOOK_TOOL_CALL_ID"}),
    "session-error": ({"error", "error_code"}, {"HOOK_ERROR", "HOOK_ERROR_CODE"}),
    "rate-limit": ({"error", "error_code"}, {"HOOK_ERROR", "HOOK_ERROR_CODE"}),
    "session-end": ({"session_end_reason", "duration"}, {"HOOK_SESSION_END_REASON", "HOOK_DURATION"}),
}


def row_63():
    """Each event: one JSON object on the standard input and HOOK_ variables; what is not known is left out of both."""
    command = "%s -c \"%s\"" % (sys.executable, TELL)
    settings = hooks(*(hook(event, command, timeout=30000) for event in EVENTS))
    steps = [calls((*TOUCH, "call_1")), calls((*writes("new.txt", "x\n"), "call_2")), says("x"), {"status": 429, "text": "slow down"}]
    stale = {"HOOK_TOOL": "stale", "HOOK_ERROR": "stale", "HOOK_": "stale"}
    with Agent("--model-tries", "1", settings=settings, steps=steps, env=stale) as agent:
        turn = agent.turn("Do it", permit=True, context={"files": ["a.c"]})
        true(turn.success, shown(turn.answer))
        batch = turn.one("changesBatchStart")["batchId"]
        true(agent.result("changesDecision", {"batchId": batch, "action": "accept_all"})["success"], "the decision")
        agent.turn("fail")
        session = agent.greeting["params"]["sessionId"]
        told = {}
        for event in EVENTS:
            if event != "session-end":
                eventually(lambda: agent.get("told-" + event), "%s was not run" % event)
        time.sleep(0.3)
        agent.leave()
        for event, (members, variables) in EVENTS.items():
            lines = [json.loads(line) for line in (agent.get("told-" + event) or "").splitlines()]
            true(lines, "%s was not run" % event)
            told[event] = lines
            given, env = lines[0]
            always = {"session_id", "cwd", "hook_event_name"}
            same(set(given), always | members, "the members of %s" % event)
            same(set(env), {"HOOK_SESSION_ID", "HOOK_WORKSPACE", "HOOK_EVENT"} | variables, "the variables of %s" % event)
            same((given["hook_event_name"], given["cwd"], given["session_id"]), (event, agent.workspace, session), event)
            same((env["HOOK_EVENT"], env["HOOK_WORKSPACE"], env["HOOK_SESSION_ID"]), (event, agent.workspace, session), event)
            true(None not in given.values(), "null in %s" % event)
    given, env = told["pre-tool"][0]
    same((given["tool_name"], given["tool_input"], given["command"]), ("run_command", TOUCH[1], "touch ran"), "pre-tool")
    same((env["HOOK_TOOL"], json.loads(env["HOOK_ARGS"]), env["HOOK_TOOL_CALL_ID"]), ("run_command", TOUCH[1], given["tool_use_id"]), "pre-tool")
    given, env = told["post-tool"][0]
    same((given["tool_success"], env["HOOK_SUCCESS"], env["HOOK_OUTPUT"]), (True, "true", given["tool_response"]), "post-tool")
    same(told["file-modified"][0][0]["file_path"], "new.txt", "file-modified")
    same(told["file-modified"][0][0]["change_type"], "create", "file-modified")
    same((told["pre-prompt"][0][0]["instruction"], told["pre-prompt"][0][0]["mentioned_files"]), ("Do it\n\nFiles: a.c", ["a.c"]), "pre-prompt")
    same((told["stop"][0][0]["tokens_used"], told["stop"][0][0]["tool_calls_count"]), (45, 2), "stop")
    same(told["session-end"][0][0]["session_end_reason"], "exit", "session-end")
    same(told["session-start"][0][0]["session_type"], "startup", "session-start")


def row_64():
    """hooks.enabled false: no hook runs, but all notifications come; a hook that is switched off does not run."""
    listed = [hook(event, "touch hooked-%s; exit 2" % event) for event in EVENTS]
    agent, turn = once(hooks(*listed, enabled=False), permit=True)
    with agent:
        same(agent.get("ran"), "", "the tool")
        same([name for name in os.listdir(agent.workspace) if name.startswith("hooked")], [], "hooks")
        told = [name for name in turn.order if name.startswith("hook.")]
        same(told, ["hook.prePrompt", "hook.preTool", "hook.permissionRequest", "hook.postTool", "hook.postResponse"], "the notifications")
        same(list(turn.one("hook.preTool")), ["toolId", "toolName", "args", "timestamp"], "hook.preTool")
        before, start = turn.one("hook.preTool"), turn.one("toolStart")
        same((before["toolName"], before["args"]), TOUCH, "its call")
        same([start[name] for name in before if name != "timestamp"],
             [before[name] for name in before if name != "timestamp"], "as in toolStart")
        true(turn.order.index("hook.preTool") < turn.order.index("toolStart"), "before it: %s" % turn.order)
        same([name for name in turn.one("hook.postTool") if name != "output"], ["toolId", "toolName", "success", "duration", "timestamp"], "hook.postTool")
        same(list(turn.one("hook.postResponse")), ["tokensUsed", "toolCallsCount", "duration", "timestamp"], "hook.postResponse")
    agent, turn = once(hooks(hook("pre-tool", "touch hooked; exit 2", enabled=False)), permit=True)
    with agent:
        same((agent.get("ran"), agent.get("hooked")), ("", None), "one that is off")


def row_65():
    """filter.tool, filter.path and matcher choose; a matcher that is no regular expression never fits."""
    steps = [calls((*reads("src/a.c"), "c1")), calls((*reads("doc/a.md"), "c2")), calls((*TOUCH, "c3"))]
    table = (({"filter": {"tool": ["read_file"]}}, "c1 c2"), ({"filter": {"tool": ["run_command", "write_file"]}}, "c3"),
             ({"filter": {"path": ["src/**"]}}, "c1"), ({"filter": {"path": ["**/*.md", "x"]}}, "c2"), ({"filter": {"path": ["*.c"]}}, ""),
             ({"filter": {"tool": ["read_file"], "path": ["doc/*"]}}, "c2"), ({"matcher": "^read_"}, "c1 c2"), ({"matcher": "run|write"}, "c3"),
             ({"matcher": "("}, ""), ({"matcher": "^read_file$", "filter": {"path": ["src/{a,b}.c"]}}, "c1"), ({}, "c1 c2 c3"))
    for number, (choice, wanted) in enumerate(table):
        agent, _ = once(hooks(hook("pre-tool", "echo $HOOK_TOOL $HOOK_PATH $HOOK_COMMAND >>hooked", **choice)), steps, permit=True,
                        files={"src/a.c": "x", "doc/a.md": "y"})
        with agent:
            ran = (agent.get("hooked") or "").splitlines()
            names = {"c1": "read_file src/a.c", "c2": "read_file doc/a.md", "c3": "run_command touch ran"}
            same(ran, [names[each] for each in wanted.split()], "%d: %s" % (number, choice))
            if choice.get("matcher") == "(":
                true(any("matcher" in line or "regular" in line or "(" in line for line in agent.told), "it is logged: %s" % agent.told)


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
