"""Rows 42 to 49: abort, the end of the input, signals, and what was started. See stage.py."""
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import (ABORTED, ALL, OLD, Agent, calls, error_is, eventually, is_gone, is_there, runs, same, says, short, shorts, shown, true)

CLI = ("--client-context", "cli")
SLEEP = "echo $$ >pid; sleep 60 & echo $! >child; wait"
END = ["changesBatchEnd", "error", "hook.sessionError", "messageEnd", "turnEnd"]


def number(agent, name):
    return int(eventually(lambda: (agent.get(name) or "").strip(), "%s is not written" % name))


def aborted(turn, compat):
    """It ended once, by an abort."""
    for name in ("messageEnd", "turnEnd"):
        same(turn.order.count(name), 1, "how often %s: %s" % (name, turn.order))
    same(turn.one("messageEnd")["aborted"], True, "messageEnd")
    if compat == "doc":
        same(turn.one("turnEnd")["reason"], "aborted", "turnEnd")
        same([each["code"] for each in turn.all("error")], [ABORTED], "autohand.error")
        same(turn.order[-5:], END, "the end")
        error_is(turn.answer, ABORTED)
    else:
        same(turn.answer["result"], {"success": True}, "the prompt's answer")  # as recorded


def row_42():
    """abort when nothing runs: success false; as a notification: nothing."""
    for compat in ALL:
        with Agent(compat=compat, steps=[says("Hi")]) as agent:
            same(agent.result("abort"), {"success": False}, "at the start")
            agent.tell("abort")
            agent.turn()
            same(agent.result("abort"), {"success": False}, "after a turn that ended by itself")
            agent.is_quiet("notifications")


def row_43():
    """abort while the model speaks, or is silent: its connection is closed at once, the turn ends once, nothing follows; the next works."""
    for compat in ALL:
        for mode in ("silent", "mute", "v1", "huge"):
            with Agent("--model-tries", "1", compat=compat, mode=mode, steps=[says("late", delayMs=20000)]) as agent:
                identity = agent.prompt()
                agent.model.waits_for("asked " + mode)
                if compat == "doc" and mode in ("silent", "huge"):
                    agent.news("messageUpdate")
                began = time.monotonic()
                asked = agent.start("abort")
                took = agent.model.waits_for("gone " + mode, began) - began
                true(took < 0.1 * stage.SLOW + 0.3 * (mode == "huge"), "%s: the connection is closed after %.3f s" % (mode, took))
                turn = agent.finish(identity)
                same(agent.status(), "idle", "behind it")
                same([each["result"] for each in turn.messages + agent.aside if each.get("id") == asked], [{"success": True}], "abort")
                same([short(each) for each in agent.aside if "method" in each], [], "what comes behind the end")
                aborted(turn, compat)
                agent.model.follow_steps([says("Hi")])
                if mode == "v1":
                    same(agent.turn("again").text, "Hi", "the next turn")
                agent.aside.clear()
                agent.is_quiet("nothing of the old turn", 0.3)


def row_44():
    """abort at a question: it is over, and an answer to it comes too late."""
    for compat in ALL:
        with Agent(*CLI, compat=compat, steps=[calls(runs("touch ran")), says("never"), says("Hi")]) as agent:
            identity = agent.prompt()
            question = agent.wait_question()
            asked = agent.start("abort")
            turn = agent.finish(identity)
            aborted(turn, compat)
            same([each["result"] for each in turn.messages if each.get("id") == asked], [{"success": True}], "abort")
            same(agent.status(), "idle", "behind it")
            same(agent.allow(question), False, "the answer")
            same(agent.result("permissionAcknowledged", {"requestId": question["requestId"]}), {"success": False}, "the sign of life")
            agent.is_quiet("nothing follows", 0.3)
            same((agent.get("ran"), len(agent.model.asked)), (None, 1), "nothing ran, nobody was asked")
            said = agent.result("getMessages", {"limit": 1})["messages"]
            same(said[0]["role"], "tool", "the call has its result, so that the next turn can go on")
            agent.model.follow_steps([says("Hi")])
            same(agent.turn().text, "Hi", "the next turn")


def row_45():
    """abort while a command runs: it and all that it has started are gone; doc within 100 ms."""
    for compat in ALL:
        with Agent(*CLI, "--yolo", compat=compat, steps=[calls(runs(SLEEP)), says("never")]) as agent:
            identity = agent.prompt()
            pids = [number(agent, "pid"), number(agent, "child")]
            true(all(is_there(pid) for pid in pids), "they run")
            began = time.monotonic()
            agent.start("abort")
            turn = agent.finish(identity)
            took = time.monotonic() - began
            true(took < 0.1 * stage.SLOW + 0.1, "abort takes %.3f s" % took)
            for pid in pids:
                is_gone(pid, "a process of the command", 2 * stage.SLOW)
            aborted(turn, compat)
            if compat == "doc":
                same(turn.one("toolEnd")["success"], False, "toolEnd")


def row_46():
    """Two aborts of one turn: both true, one turnEnd."""
    for compat in ALL:
        with Agent("--yolo", *CLI, compat=compat, steps=[calls(runs(SLEEP)), says("never")]) as agent:
            identity = agent.prompt()
            number(agent, "pid")
            two = [agent.request("abort") for _ in range(2)]
            agent.write(b"".join(stage.raw.text_of(each) + b"\n" for each in two))
            turn = agent.finish(identity)
            later = [agent.answer_to(each["id"]) for each in two if each["id"] not in shorts(turn.messages)]
            answers = [each for each in turn.messages if "method" not in each] + later
            same([each["result"]["success"] for each in answers], [True, True], "both")
            aborted(turn, compat)
            agent.is_quiet("one turnEnd", 0.2)


def row_47():
    """The end of the input at a question, at a model, in a command: the turn is closed, agentEnd, exit code 0 within 2.5 s, nothing left."""
    for compat in ALL:
        for what in ("question", "command", "model"):
            steps = [calls(runs(SLEEP))] if what != "model" else [says("late", delayMs=20000)]
            words = (*CLI, "--yolo") if what == "command" else CLI
            with Agent(*words, compat=compat, steps=steps) as agent:
                agent.prompt()
                pids = []
                if what == "question":
                    agent.wait_question()
                elif what == "command":
                    pids = [number(agent, "pid"), number(agent, "child")]
                else:
                    agent.model.waits_for("asked v1")
                began = time.monotonic()
                rest = agent.leave()
                took = time.monotonic() - began
                true(took < 2.5, "%s: it takes %.1f s" % (what, took))
                ended(rest, compat, what)
                for pid in pids:
                    is_gone(pid, "a process of the command", 0.5 * stage.SLOW)
    nobody_reads()
    hooks_end_before()


def nobody_reads():
    """The pipe is full of what a command prints: the agent does not wait for its client for ever."""
    with Agent("--yolo", steps=[calls(runs("echo $$ >pid; exec yes 0123456789"))]) as agent:
        agent.prompt()
        pid = number(agent, "pid")
        time.sleep(0.3)
        began = time.monotonic()
        agent.close_write()
        same(agent.ended(), 0, "its exit code")
        true(time.monotonic() - began < 2.5, "it takes %.1f s" % (time.monotonic() - began))
        is_gone(pid, "the command", 0.5 * stage.SLOW)


def hooks_end_before():
    """Hooks that nobody waits for are given a little time; those that take more are killed."""
    events = ("stop", "session-end", "post-tool")
    quick = [{"event": event, "command": "sleep 0.3; echo >>%s" % event, "async": event == "session-end"} for event in events]
    slow = {"event": "stop", "command": "trap '' TERM; echo $$ >pid; sleep 60"}
    for hooks in (quick, [*quick, slow]):
        with Agent("--yolo", steps=[calls(runs("true")), says("Hi")], settings={"hooks": {"hooks": hooks}}) as agent:
            agent.turn()
            pids = [number(agent, "pid")] if slow in hooks else []
            began = time.monotonic()
            same(shorts(agent.leave()), ["agentEnd"], "what comes")
            took = time.monotonic() - began
            true(took < 2.5, "it takes %.1f s" % took)
            same([event for event in events if agent.get(event) is None], [], "hooks that did not come to their end")
            for pid in pids:
                is_gone(pid, "a hook", 0.5 * stage.SLOW)


def ended(rest, compat, what):
    told = [each for each in rest if "method" in each]
    for name in ("messageEnd", "turnEnd"):
        same(sum(short(each) == name for each in told), 1, "%s: how often %s: %s" % (what, name, shorts(rest)))
    ends = [each["params"]["reason"] for each in told if short(each) == "agentEnd"]
    same(ends, {"doc": ["aborted"], "0.6": [], "0.8": ["disconnected"]}[compat], "%s: agentEnd" % what)
    if ends:
        same(short(told[-1]), "agentEnd", "%s: the last" % what)
    if compat == "doc":
        order = shorts(told)
        true(order.index("changesBatchEnd") < order.index("messageEnd") < order.index("turnEnd"), shown(order))


def row_48():
    """SIGTERM and SIGINT in a turn: as the end of the input, code 0; who does not read any more does not bring it down."""
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for what in ("command", "model", "idle"):
            steps = [calls(runs(SLEEP))] if what == "command" else [says("late", delayMs=20000)]
            with Agent("--yolo", steps=steps) as agent:
                pids = []
                if what != "idle":
                    agent.prompt()
                    agent.model.waits_for("asked v1")
                if what == "command":
                    pids = [number(agent, "pid"), number(agent, "child")]
                began = time.monotonic()
                agent.child.send_signal(signum)
                rest = []
                while (message := agent.message()) is not None:
                    rest.append(message)
                same(agent.ended(), 0, "its exit code")
                true(time.monotonic() - began < 2.5, "it takes %.1f s" % (time.monotonic() - began))
                if what == "idle":
                    same(shorts(rest), ["agentEnd"], "idle")
                else:
                    ended(rest, "doc", what)
                for pid in pids:
                    is_gone(pid, "a process of the command", 0.5 * stage.SLOW)
    with Agent("--yolo", steps=[calls(runs("echo $$ >pid; while :; do echo line; sleep 0.01; done"))]) as agent:
        agent.prompt()
        pid = number(agent, "pid")
        os.close(agent.read_fd)  # EPIPE from now on
        agent.read_fd = None
        time.sleep(0.3)
        os.close(agent.write_fd)
        agent.write_fd = None
        true(agent.ended(5 * stage.SLOW) in (0, 1), "it ended by a signal: %s" % agent.child.returncode)
        is_gone(pid, "the command", 1)


# A client that starts an agent and is killed: argv of the agent. It gives it a prompt and says so.
CLIENT = """import subprocess, sys, time
agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
agent.stdin.write(b'{"jsonrpc":"2.0","method":"autohand.prompt","params":{"message":"go"},"id":1}\\n')
agent.stdin.flush()
print(agent.pid, flush=True)
time.sleep(60)
"""


def row_49():
    """The client is killed with SIGKILL: the agent sees the end of its input, and it and its commands are gone. The agent is: its commands are, too."""
    for whom in ("client", "agent"):
        with Agent("--yolo", steps=[calls(runs(SLEEP), runs("touch never"))]) as ours:
            argv = ours.child.args
            client = subprocess.Popen([sys.executable, "-c", CLIENT, *argv], stdout=subprocess.PIPE)
            try:
                agent = int(client.stdout.readline())
                pids = [number(ours, "pid"), number(ours, "child")]
                began = time.monotonic()
                os.kill(client.pid if whom == "client" else agent, signal.SIGKILL)
                for pid in (agent, *pids):
                    is_gone(pid, "the agent or its command", 3 * stage.SLOW)
                true(time.monotonic() - began < 2.5 * stage.SLOW, "it took %.1f s" % (time.monotonic() - began))
                same(ours.get("never"), None, "nothing else ran")
            finally:
                client.kill()
                client.wait()
                client.stdout.close()


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
