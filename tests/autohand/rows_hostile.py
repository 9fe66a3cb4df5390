"""Rows H1 to H12: many calls, much output, ways out of the workspace, and a death in the middle. See stage.py."""
import json
import os
import resource
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
import stage
from stage import ABORTED, Agent, calls, error_is, eventually, is_gone, reads, runs, same, says, short, shown, true, writes

MIB = 1 << 20


def bounded(agent, most, what):
    used = agent.memory("VmHWM")
    true(stage.SLOW > 1 or used < most, "%s: %d MiB were used" % (what, used // MIB))
    print("# %s: %d MiB" % (what, used // MIB))


def row_H1():
    """A turn with 10,000 tool calls in one answer: all run, in order, in bounded memory, and the state is told meanwhile."""
    count = 10000
    many = calls(*((*reads("a.txt"), "c%d" % number) for number in range(count)))
    with Agent(steps=[many, says("All done.")], files={"a.txt": "x" * 1000 + "\n"}) as agent:
        identity = agent.prompt()
        agent.news("toolStart")
        began = time.monotonic()
        same(agent.status(), "processing", "meanwhile")
        took = time.monotonic() - began
        true(took < 1 * stage.SLOW, "getState takes %.2f s" % took)
        turn = agent.finish(identity)
        true(turn.success, shown(turn.answer))
        same(len(turn.all("toolEnd")), count, "calls that ended")
        true(all(each["success"] for each in turn.all("toolEnd")), "they succeed")
        same([each["tool_call_id"] for each in agent.model.messages() if each["role"] == "tool"][-3:], ["c%d" % n for n in range(count - 3, count)], "the last results")
        bounded(agent, 150 * MIB, "10,000 calls")
    results_too_long()


def results_too_long():
    """More results than are kept: the model still gets one for each call, and the call before them."""
    count = 1100
    with Agent(steps=[calls(*((*reads("a.txt"), "c%d" % number) for number in range(count))), says("Done.")], files={"a.txt": "x" * 65000 + "\n"}) as agent:
        true(agent.turn().success, "the turn")
        said = agent.model.messages()
        same([each["role"] for each in said[:3]], ["system", "user", "assistant"], "what the model is told")
        same([each["tool_call_id"] for each in said[3:]], ["c%d" % number for number in range(count)], "the results")
        true(sum(len(each["content"]) for each in said) < 1 << 20, "they are cut")
        bounded(agent, 130 * MIB, "long results")


def row_H2():
    """1,000 calls, one a question to the model; memory stays bounded: what no longer fits is left out of the question, not of the count."""
    question_by_question(1000)


def row_H2_long():
    """The same with 10,000."""
    question_by_question(10000)


def question_by_question(count):
    program = ("import json, sys\n"
               "for n, line in enumerate(sys.stdin):\n"
               "    more = n < %d\n"
               "    print(json.dumps({'toolCall': {'id': 'c%%d' %% n, 'name': 'read_file', 'args': {'path': 'a.txt'}}} if more else {'text': 'All done.'}))\n"
               "    print(json.dumps({'done': True, 'tokens': 1}), flush=True)\n") % count
    place = stage.tempfile.mkdtemp(prefix="autohand-")
    path = os.path.join(place, "model.py")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        with Agent("--", sys.executable, path, place=place, files={"a.txt": "x" * 20 + "\n"}) as agent:
            turn = agent.turn()
            true(turn.success, shown(turn.answer))
            same((len(turn.all("toolEnd")), turn.text), (count, "All done."), "calls that ended")
            bounded(agent, 100 * MIB, "%d questions" % count)
            same(agent.state()["messageCount"], 2 + 2 * count + 1, "messages")
    finally:
        stage.shutil.rmtree(place, ignore_errors=True)


def row_H3():
    """An abort in the middle of 10,000 calls: the turn is over within 100 ms."""
    many = calls(*((*reads("a.txt"), "c%d" % number) for number in range(10000)))

    def begin(agent):
        for _ in range(20):
            agent.news("toolEnd")
    abort_is_quick(begin, steps=[many, says("never")], files={"a.txt": "x" * 1000 + "\n"})


def abort_is_quick(begin, check=lambda agent: None, **facts):
    """begin() waits for the middle of the turn. What else runs on the machine may get in between, but not three times."""
    times = []
    while len(times) < 3 and (not times or times[-1] > 0.1):
        with Agent("--yolo", **facts) as agent:
            identity = agent.prompt()
            begin(agent)
            times.append(time_of_abort(agent, identity))
            check(agent)
    true(times[-1] <= 0.1 * stage.SLOW, "the turn is over after %s s" % times)


def time_of_abort(agent, identity):
    """From the request to the end of the turn; all is read as it comes, so that what is measured is the agent."""
    seen = []

    def read():
        while not seen or seen[-1][1].get("id") != identity or "method" in seen[-1][1]:
            message = agent.message()
            if message is None:
                return
            seen.append((time.monotonic(), message))
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    time.sleep(0.05)
    began = time.monotonic()
    os.write(agent.write_fd, stage.raw.text_of(agent.request("abort")) + b"\n")
    reader.join(stage.PATIENCE)
    true(seen and seen[-1][1].get("id") == identity, "the prompt is not answered")
    error_is(seen[-1][1], ABORTED)
    same(sum(short(each) == "turnEnd" for _, each in seen), 1, "turnEnd")
    return next(at for at, each in seen if short(each) == "turnEnd") - began


def row_H4():
    """A tool that prints 1 GB: all of it goes by in bounded memory, the model gets its beginning and its end."""
    size = 1 << 30 if stage.SLOW == 1 else 1 << 26
    line = "head -c %d /dev/zero | tr '\\0' x; echo; echo THE-END" % size
    with Agent("--yolo", "--command-timeout", "10m", steps=[calls(runs(line)), says("x")]) as agent:
        identity = agent.prompt()
        told, order = 0, []
        while True:
            body = agent.body()
            true(body is not None, "the prompt is not answered")
            if b'"method":"autohand.toolUpdate"' in body[:60]:
                told += len(body)
                continue
            message = json.loads(body)
            order.append(message)
            if message.get("id") == identity:
                break
        true("result" in order[-1], shown(order[-1]))
        true(told > size, "only %d bytes went by" % told)
        end = [each["params"] for each in order if short(each) == "toolEnd"][0]
        true(end["success"] and "THE-END" in end["output"] and len(end["output"]) < 100000, "toolEnd: %d" % len(end["output"]))
        true(len(agent.model.messages()[-1]["content"]) < 100000, "what the model gets")
        bounded(agent, 60 * MIB, "1 GB")


def row_H5():
    """An abort while a tool prints without end: over within 100 ms, and the tool is gone."""
    def begin(agent):
        for _ in range(200):
            agent.news("toolUpdate")
        agent.aside.clear()

    def check(agent):
        is_gone(int(agent.get("pid")), "the command", 1 * stage.SLOW)
        bounded(agent, 60 * MIB, "output without end")
    abort_is_quick(begin, check, steps=[calls(runs("echo $$ >pid; exec yes 0123456789012345678901234567890123456789")), says("never")])


def row_H6():
    """A client that stops reading holds the tool up, not the memory: 200 MB wait outside."""
    with Agent("--yolo", steps=[calls(runs("echo $$ >pid; exec head -c 200000000 /dev/zero")), says("x")]) as agent:
        identity = agent.prompt()
        eventually(lambda: agent.get("pid"), "the command does not run")
        time.sleep(1)
        bounded(agent, 60 * MIB, "nobody reads")
        agent.start("abort")
        error_is(agent.finish(identity).answer, ABORTED)


def row_H7():
    """Files are swapped for links to the outside in a loop while all tools work on them: nothing outside is read or changed."""
    with Agent("--yolo", files={"dir/f.txt": "inside\n"}) as agent:
        outside = os.path.join(agent.place, "outside")
        os.mkdir(outside)
        secret = os.path.join(outside, "f.txt")
        with open(secret, "w", encoding="ascii") as file:
            file.write("secret inside\n")
        os.mkdir(os.path.join(outside, "only-outside"))
        os.symlink(outside, agent.path("evil"))
        stop = threading.Event()

        def race():
            names = [agent.path(name) for name in ("dir", "evil", "spare")]
            while not stop.is_set():
                for one, other in ((0, 2), (1, 0), (0, 1), (2, 0)):
                    try:
                        os.rename(names[one], names[other])
                    except OSError:
                        pass
        rows = [(*reads("dir/f.txt"),), writes("dir/f.txt", "inside too\n"), ("search", {"query": "secret"}), ("list_tree", {"path": "dir"}),
                ("search", {"query": "secret", "path": "dir"}), ("search", {"query": "secret", "path": "dir/f.txt"}), ("list_tree", {}),
                ("apply_patch", {"path": "dir/f.txt", "patch": "@@ -1 +1 @@\n-secret inside\n+evil inside\n"}),
                ("apply_patch", {"path": "dir/patched.txt", "patch": "@@ -0,0 +1 @@\n+evil\n"}),
                ("search_replace", {"path": "dir/f.txt", "search": "inside", "replace": "evil inside"}), writes("dir/new.txt", "evil\n"),
                ("delete_path", {"path": "dir/f.txt"}), ("run_command", {"command": "cat", "args": ["f.txt"], "directory": "dir"})]
        steps = []
        for number in range(60):
            steps.append(calls(*((*each, "c%d-%d" % (number, at)) for at, each in enumerate(rows))))
        racer = threading.Thread(target=race, daemon=True)
        racer.start()
        try:
            for _ in range(3):
                agent.model.follow_steps([*steps[:20], says("x")])
                turn = agent.turn()
                true(turn.success, shown(turn.answer))
                for each in agent.model.messages():
                    true(each["role"] != "tool" or not ("secret" in each["content"] or "only-outside" in each["content"]), shown(each))
                for each in turn.all("changesBatchUpdate"):
                    true("secret" not in each["change"]["originalContent"], shown(each))
                answer = agent.result("changesDecision", {"batchId": turn.one("changesBatchStart")["batchId"], "action": "accept_all"})
                true("appliedCount" in answer, shown(answer))
                agent.aside.clear()
        finally:
            stop.set()
            racer.join()
        with open(secret, encoding="ascii") as file:
            same(file.read(), "secret inside\n", "the file outside")
        same(sorted(os.listdir(outside)), ["f.txt", "only-outside"], "the folder outside")


def row_H8():
    """Odd files in the workspace, a pipe, a device, a folder, a huge one: no tool hangs at them."""
    with Agent("--yolo", files={"a.txt": "x\n", "binary": b"\x00\x01\xff" * 100}) as agent:
        os.mkfifo(agent.path("pipe"))
        os.mkdir(agent.path("folder"))
        with open(agent.path("sparse"), "wb") as file:
            file.truncate(1 << 33)
        paths = ("pipe", "folder", "sparse", "binary", "a.txt/below", "x" * 300, "y/" * 3000 + "z")
        tools = (("read_file", {}), ("write_file", {"contents": "x"}), ("search_replace", {"search": "x", "replace": "y"}),
                 ("apply_patch", {"patch": "@@ -1 +1 @@\n-x\n+y\n"}), ("delete_path", {}), ("list_tree", {}), ("search", {"query": "x"}))
        agent.model.follow_steps([calls(*((tool, {"path": path, **args}) for path in paths for tool, args in tools)), says("x")])
        began = time.monotonic()
        turn = agent.turn()
        true(turn.success, shown(turn.answer))
        true(time.monotonic() - began < 10 * stage.SLOW, "it takes %.1f s" % (time.monotonic() - began))
        same(len(turn.all("toolEnd")), len(paths) * len(tools), "each ended")
        bounded(agent, 60 * MIB, "odd files")
        agent.result("changesDecision", {"batchId": turn.one("changesBatchStart")["batchId"], "action": "accept_all"})
        same(agent.status(), "idle", "behind it")


def row_H9():
    """kill -9 after a turn: what was said is on disk, each line whole; so it is if a file may not grow, and the agent goes on."""
    a_file_that_may_not_grow()
    killed_in_its_first_turn()
    place = stage.tempfile.mkdtemp(prefix="autohand-")
    try:
        with Agent(place=place, steps=[calls((*reads("a.txt"), "call_1")), says("The answer."), says("late", delayMs=20000)], files={"a.txt": "text\n"}) as agent:
            true(agent.turn("The question.").success, "the turn")
            agent.prompt("Another.")
            agent.model.waits_for("asked v1")
            os.kill(agent.child.pid, signal.SIGKILL)
            agent.ended()
        sessions = os.path.join(place, "home", "sessions")
        stored = [name for name in os.listdir(sessions) if os.path.isdir(os.path.join(sessions, name))]
        same(len(stored), 1, "sessions")
        with open(os.path.join(sessions, stored[0], "conversation.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        same([each["role"] for each in lines][:4], ["user", "assistant", "tool", "assistant"], "the roles")
        true("The question." in lines[0]["content"], "the question")
        same([each["content"] for each in lines[2:4]], ["text\n", "The answer."], "the rest")
        same(lines[1]["toolCalls"], [{"id": "call_1", "tool": "read_file", "args": {"path": "a.txt"}}], "the calls")
        with open(os.path.join(sessions, stored[0], "metadata.json"), encoding="utf-8") as file:
            facts = json.load(file)
        same((facts["sessionId"], facts["projectPath"], facts["model"]), (stored[0], os.path.join(place, "ws"), "fake-model"), "its facts")
    finally:
        stage.shutil.rmtree(place, ignore_errors=True)


def killed_in_its_first_turn():
    """What was said, and where, is known even then."""
    with Agent(steps=[says("late", delayMs=20000)]) as agent:
        agent.prompt("The question.")
        agent.model.waits_for("asked v1")
        os.kill(agent.child.pid, signal.SIGKILL)
        agent.ended()
        sessions = os.path.join(agent.home, "sessions")
        stored = os.path.join(sessions, *os.listdir(sessions))
        with open(os.path.join(stored, "conversation.jsonl"), encoding="utf-8") as file:
            same([json.loads(line)["content"] for line in file], ["The question."], "what was said")
        with open(os.path.join(stored, "metadata.json"), encoding="utf-8") as file:
            facts = json.load(file)
        same((facts["projectPath"], facts["messageCount"], facts["status"]), (agent.workspace, 1, "active"), "its facts")


def a_file_that_may_not_grow():
    with Agent(steps=[says("One."), says("Two."), says("Three.")]) as agent:
        resource.prlimit(agent.child.pid, resource.RLIMIT_FSIZE, (10000, 10000))
        for text in ("x", "y" * 20000, "z"):
            true(agent.turn(text).success, "a turn")
        sessions = os.path.join(agent.home, "sessions")
        with open(os.path.join(sessions, *os.listdir(sessions), "conversation.jsonl"), encoding="utf-8") as file:
            same([json.loads(line)["content"] for line in file], ["x", "One."], "what is kept")
        eventually(lambda: [line for line in agent.told if "is not saved" in line], lambda: "it does not say so: %s" % agent.told)
        same(len([line for line in agent.told if "is not saved" in line]), 1, "it says so once: %s" % agent.told)


def row_H10():
    """The model cannot write its own permissions: what belongs to the agent is refused to all tools, under every spelling."""
    grant = json.dumps({"permissions": {"remembered": [{"tool": "run_command", "subject": "touch ran", "decision": "allow"}], "allow": ["run_command"]}})
    names = (".autohand/settings.local.json", "./.autohand/settings.local.json", "a/../.autohand/settings.local.json", ".autohand//settings.local.json",
             "link/settings.local.json", ".autohand")
    for exists in (True, False):
        with Agent(files={"a/x": "x", **({".autohand/settings.local.json": "{}"} if exists else {})}) as agent:
            os.symlink(".autohand", agent.path("link"))
            agent.model.follow_steps([calls(*(writes(name, grant) for name in names), *(("delete_path", {"path": name}) for name in names)), says("x")])
            turn = agent.turn(permit=True)
            # A link to nothing is seen through when the change is written.
            paths = {each["change"]["filePath"] for each in turn.all("changesBatchUpdate")}
            true(paths <= (set() if exists else {"link/settings.local.json"}), "changes of %s" % paths)
            agent.result("changesDecision", {"batchId": turn.one("changesBatchStart")["batchId"], "action": "accept_all"})
            same(agent.get(".autohand/settings.local.json"), "{}" if exists else None, "the file")
    # Also where somebody has put them elsewhere in the workspace.
    with Agent("--config", "ws/agent.json", "--home", "ws/h", files={"agent.json": "{}", "h/config.json": "{}"}) as agent:
        os.symlink("agent.json", agent.path("alias"))
        names = ("agent.json", "Agent.json", "alias", "h/config.json", "h/permissions.json", "h/new/x", "h2")
        agent.model.follow_steps([calls(*(writes(name, grant) for name in names)), says("x")])
        turn = agent.turn(permit=True)
        same({each["change"]["filePath"] for each in turn.all("changesBatchUpdate")}, {"h2"}, "what may be changed")
    # Nor does a file that comes with a repository allow anything.
    with Agent(files={".autohand/settings.local.json": grant}, steps=[calls(("run_command", {"command": "touch", "args": ["ran"]})), says("x")]) as agent:
        turn = agent.turn(permit=False)
        same((len(turn.all("permissionRequest")), agent.get("ran")), (1, None), "a file in the workspace")


def row_H11():
    """A model that says nonsense: odd ids, names and arguments, very long or deep ones. Each call gets an end or a refusal, every line is a message."""
    deep = "[" * 100000 + "]" * 100000
    odd = [("read_file", '{"path":', ""), ("read_file", "null"), ("read_file", "[]"), ("read_file", '{"path":1}'), ("read_file", '{"path":"a","path":"/etc/passwd"}'),
           ("read_file", '{"path":"\\ud800"}'), ("read_file", '{"path":"a\\u0000b"}'), ("read_file", '{"path":%s}' % deep), ("x" * 100000, "{}"),
           ("", "{}"), ("\u001b[31m\n\u2028", "{}"), ("read_file", json.dumps({"path": "y" * 1000000})), ("write_file", json.dumps({"path": "z", "contents": "w" * 9000000})),
           ("run_command", json.dumps({"command": "a\u0000b"})), ("run_command", json.dumps({"command": "true", "args": ["x" * 300000]})),
           ("run_command", json.dumps({"command": "true", "args": ["y"] * 200000})), ("run_command", json.dumps({"command": "true", "timeout": 10 ** 30})),
           ("run_command", json.dumps({"command": "   "})), ("search", json.dumps({"query": "\u0000"})), ("list_tree", json.dumps({"depth": 10 ** 18}))]
    same_ids = [{"name": name, "args": args, "id": "same"} for name, args, *_ in odd]
    long_ids = [{"name": "list_tree", "args": {}, "id": "i" * 1000000}, {"name": "list_tree", "args": {}, "id": ""}]
    with Agent("--yolo", steps=[{"toolCalls": same_ids, "tokens": -5}, {"toolCalls": long_ids, "text": "\u0000\ufffe"}, says("Done.")]) as agent:
        turn = agent.turn()
        true(turn.success, shown(turn.answer))
        same(len(turn.all("toolEnd")), len(same_ids) + 2, "each call has an end")
        ids = [each["toolId"] for each in turn.all("toolStart")]
        same(len(set(ids)), len(ids), "each has an id of its own")
        true(turn.text.endswith("Done."), shown(turn.text))
        true(agent.result("getMessages")["messages"], "the history")
        same(agent.status(), "idle", "behind it")
        bounded(agent, 200 * MIB, "nonsense")


def row_H12():
    """Files may be no larger than the system allows: what is, is an error of its change, and leaves nothing behind; the agent lives."""
    with Agent("--yolo", files={"old": "old\n"}, steps=[calls(writes("old", "x" * 300000), writes("new", "y" * 300000), writes("small", "z\n")), says("x")]) as agent:
        resource.prlimit(agent.child.pid, resource.RLIMIT_FSIZE, (200000, resource.RLIM_INFINITY))
        turn = agent.turn()
        answer = agent.result("changesDecision", {"batchId": turn.one("changesBatchStart")["batchId"], "action": "accept_all"})
        same((answer["success"], answer["appliedCount"], len(answer["errors"])), (False, 1, 2), shown(answer))
        same((agent.get("old"), agent.get("small"), sorted(os.listdir(agent.workspace))), ("old\n", "z\n", ["old", "small"]), "the disk")
        same(agent.status(), "idle", "behind it")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
