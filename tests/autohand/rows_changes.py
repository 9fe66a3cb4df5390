"""Rows 50 to 58: the preview of changes and its decision. See stage.py. Numbers with an A are errata of the protocol's document."""
import os
import sys

sys.dont_write_bytecode = True
import stage
from stage import ALL, EXECUTION, OLD, Agent, calls, error_is, reads, runs, same, says, short, shorts, shown, true, writes

FILES = {"old.txt": "one\ntwo\n", "gone.txt": "bye\n"}
THREE = [calls((*writes("new/dir/new.txt", "new\n"), "c1"), (*writes("old.txt", "one\n2\n"), "c2"), ("delete_path", {"path": "gone.txt"}, "c3")), says("x")]


def decide(agent, batch, action="accept_all", **more):
    return agent.result("changesDecision", {"batchId": batch, "action": action, **more})


def change_ids(turn):
    return [each["change"]["id"] for each in turn.all("changesBatchUpdate")]


def previewed(agent, steps=None):
    """A turn with changes; the batch and it."""
    agent.model.follow_steps(THREE if steps is None else steps)
    turn = agent.turn(permit=True)
    true(turn.success, shown(turn.answer))
    return turn.one("changesBatchStart")["batchId"], turn


def row_50():
    """Creating, changing and deleting are told with both texts, and nothing is on disk before the decision."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, turn = previewed(agent)
            named = compat == "doc"  # A8
            told = {each["change"]["filePath"]: each["change"] for each in turn.all("changesBatchUpdate")}
            names = ["id", "filePath", "changeType", "originalContent", "proposedContent", "description", "toolId", "toolName"]
            same([list(each) for each in told.values()], [names] * 3, "the members")
            rows = (("new/dir/new.txt", "create", "", "new\n", "Create new/dir/new.txt", "write_file"),
                    ("old.txt", "modify", "one\ntwo\n", "one\n2\n", "Modify old.txt", "write_file"),
                    ("gone.txt", "delete", "bye\n", "", "Delete gone.txt", "delete_path"))
            for path, *facts, tool in rows:
                change = told[path]
                same([change[name] for name in names[2:6]], facts, path)
                same(change["toolName"], tool if named else "", "the tool")
                same(bool(change["toolId"]), named, "the tool's id")
            starts = {each["toolId"]: each["toolName"] for each in turn.all("toolStart")}
            if named:
                same({each["toolId"]: each["toolName"] for each in told.values()}, starts, "the ids are those of the calls")
            same(sorted(change_ids(turn)), ["change_%s_%d" % (batch, n) for n in (1, 2, 3)], "ids")
            end = turn.one("changesBatchEnd")
            same((end["batchId"], end["changeCount"]), (batch, 3), "the end")
            same((agent.get("new/dir/new.txt"), agent.get("old.txt"), agent.get("gone.txt")), (None, "one\ntwo\n", "bye\n"), "the disk")
            same(os.path.exists(agent.path("new")), False, "not even the folder")
            agent.model.follow_steps([calls(("apply_patch", {"path": "old.txt", "patch": "@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"})), says("x")])
            turn = agent.turn(permit=True)
            change = turn.one("changesBatchUpdate")["change"]
            same((change["changeType"], change["proposedContent"]), ("modify", "one\nzwei\n"), "a patch")
            same(change["description"], "Apply patch to old.txt", "its description")
            agent.model.follow_steps([calls(("search_replace", {"path": "old.txt", "search": "two", "replace": "deux"})), says("x")])
            change = agent.turn(permit=True).one("changesBatchUpdate")["change"]
            same((change["changeType"], change["proposedContent"]), ("modify", "one\ndeux\n"), "a replacement")


def row_51():
    """accept_all, reject_all and accept_selected: the counts, and the disk."""
    for compat in ALL:
        for action, chosen, counts in (("accept_all", None, (3, 0)), ("reject_all", None, (0, 3)), ("accept_selected", 2, (1, 2)),
                                       ("accept_selected", 0, (0, 3))):
            with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
                batch, turn = previewed(agent)
                more = {} if chosen is None else {"selectedChangeIds": change_ids(turn)[:1] if chosen else []}
                answer = decide(agent, batch, action, **more)
                same(list(answer), ["success", "appliedCount", "skippedCount"], "the members")
                same((answer["success"], answer["appliedCount"], answer["skippedCount"]), (True, *counts), action)
                disk = (agent.get("new/dir/new.txt"), agent.get("old.txt"), agent.get("gone.txt"))
                if action == "accept_all":
                    same(disk, ("new\n", "one\n2\n", None), action)
                elif action == "reject_all" or not chosen:
                    same(disk, (None, "one\ntwo\n", "bye\n"), action)
                else:
                    path = turn.all("changesBatchUpdate")[0]["change"]["filePath"]
                    wanted = {"new/dir/new.txt": None, "old.txt": "one\ntwo\n", "gone.txt": "bye\n"}
                    wanted[path] = {"new/dir/new.txt": "new\n", "old.txt": "one\n2\n", "gone.txt": None}[path]
                    same(disk, tuple(wanted.values()), action)
                if compat == "doc":  # A30
                    told = [each["params"] for each in agent.aside if short(each) == "hook.fileModified"]
                    same(len(told), counts[0], "hook.fileModified")
                    same([list(each) for each in told], [["filePath", "changeType", "toolId", "timestamp"]] * counts[0], "its members")
                    changes = [each["change"] for each in turn.all("changesBatchUpdate")]
                    tools = {each["filePath"]: each["toolId"] for each in changes}
                    same([each["toolId"] for each in told], [tools[each["filePath"]] for each in told], "its tool")
                    if action == "accept_all":
                        same({each["filePath"]: each["changeType"] for each in told},
                             {"new/dir/new.txt": "create", "old.txt": "modify", "gone.txt": "delete"}, "what it says")
                else:
                    same(agent.aside, [], "nothing is told")
                same(os.listdir(agent.workspace).count("old.txt"), 1, "no other file is left")
                true(not [name for name in os.listdir(agent.workspace) if name.startswith(".") and name != ".autohand"], "nothing is left beside")


def unknown(batch):
    return {"success": False, "appliedCount": 0, "skippedCount": 0,
            "errors": [{"changeId": "unknown", "error": "Batch %s not found or expired" % batch}]}


def row_52():
    """A second decision, and one about a batch without changes: not found or expired."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, _ = previewed(agent)
            true(decide(agent, batch)["success"], "the first")
            agent.put("old.txt", "by hand\n")
            same(decide(agent, batch), unknown(batch), "the second")
            same(agent.get("old.txt"), "by hand\n", "nothing happens")
            agent.aside.clear()
            batch, turn = previewed(agent, [says("no changes")])
            same(turn.one("changesBatchEnd")["changeCount"], 0, "changes")
            same(decide(agent, batch), unknown(batch), "an empty one")
            same(decide(agent, "b", "reject_all"), unknown("b"), "an unknown one")


def row_53():
    """Without an action, or a batch: -32602. An unknown action, and accept_selected without ids: -32602 in doc, all of it in the versions (A21)."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, _ = previewed(agent)
            for params in ({"batchId": batch}, {"action": "accept_all"}, {}, {"batchId": 5, "action": "accept_all"}):
                error_is(agent.ask("changesDecision", params), -32602, "Missing required parameters: batchId, action", shown(params))
            if compat == "doc":
                for params in ({"action": "yes"}, {"action": "accept_selected"}, {"action": "accept_selected", "selectedChangeIds": "x"},
                               {"action": "accept_selected", "selectedChangeIds": [1]}, {"action": "accept_selected", "selectedChangeIds": None}):
                    error_is(agent.ask("changesDecision", {"batchId": batch, **params}), -32602, what=shown(params))
                same(agent.get("old.txt"), "one\ntwo\n", "nothing happened")
                true(decide(agent, batch, selectedChangeIds=None)["success"], "it is still there, and null is no list")
                batch, turn = previewed(agent, [calls(writes("n", "x")), says("x")])
                answer = decide(agent, batch, "accept_selected", selectedChangeIds=["nope", *change_ids(turn)])
                same((answer["success"], answer["appliedCount"]), (False, 1), "an unknown id beside a known one")
                same([each["changeId"] for each in answer["errors"]], ["nope"], "which is told")
                continue
            same(decide(agent, batch, "accept_selected"), {"success": True, "appliedCount": 3, "skippedCount": 0}, "no ids")
            same(agent.get("old.txt"), "one\n2\n", "all of it")
            batch, _ = previewed(agent, [calls(writes("n", "x")), says("x")])
            same(decide(agent, batch, "whatever"), {"success": True, "appliedCount": 1, "skippedCount": 0}, "an unknown action")
            batch, _ = previewed(agent, [calls(writes("m", "x")), says("x")])
            same(decide(agent, batch, "accept_selected", selectedChangeIds=["nope"]), {"success": True, "appliedCount": 0, "skippedCount": 1}, "unknown ids")


def row_54():
    """The next prompt drops a batch that nobody has decided on (A22); before that it waits, also over other requests."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, _ = previewed(agent)
            agent.status()
            agent.result("getMessages")
            other, _ = previewed(agent, [says("x")])
            true(other != batch, "another batch")
            same(decide(agent, batch), unknown(batch), "the old one")
            same(agent.get("old.txt"), "one\ntwo\n", "the disk")
    with Agent(files=FILES) as agent:  # an aborted turn's batch can still be decided on
        agent.model.follow_steps([calls(writes("new.txt", "x\n")), says("late", delayMs=20000)])
        identity = agent.prompt()
        agent.allow(agent.wait_question())
        batch = agent.news("changesBatchUpdate")["batchId"]
        agent.start("abort")
        turn = agent.finish(identity)
        same([each["changeCount"] for each in turn.all("changesBatchEnd")], [1], "the batch ends with the turn")
        same(decide(agent, batch)["appliedCount"], 1, "and is decided on")
        same(agent.get("new.txt"), "x\n", "the disk")
    prompt_while_writing()


def prompt_while_writing():
    """A prompt that comes while many changes are written waits for them, and everybody else is heard meanwhile."""
    many = 1000
    with Agent("--yolo") as agent:
        batch, _ = previewed(agent, [calls(*(writes("f%d" % each, "text\n") for each in range(many))), says("x")])
        agent.model.follow_steps([calls(reads("f%d" % (many - 1))), says("x")])
        decision = agent.request("changesDecision", {"batchId": batch, "action": "accept_all"})
        prompt = agent.request("prompt", {"message": "go"})
        state = agent.request("getState")
        agent.write(b"".join(stage.raw.text_of(each) + b"\n" for each in (decision, prompt, state)))
        turn = agent.finish(prompt["id"])
        answers = [each["id"] for each in turn.messages if "id" in each]
        same(answers, [state["id"], decision["id"]], "the order of the answers")
        same(turn.one("toolEnd")["output"], "text\n", "the last file, as it was decided")


def row_55():
    """A file that was changed by hand after the preview: an error for that change, the others are applied; the versions overwrite it."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, turn = previewed(agent)
            ids = {each["change"]["filePath"]: each["change"]["id"] for each in turn.all("changesBatchUpdate")}
            agent.put("old.txt", "by hand\n")
            agent.put("new/dir/new.txt", "by hand\n")
            answer = decide(agent, batch)
            if compat != "doc":
                same(answer, {"success": True, "appliedCount": 3, "skippedCount": 0}, compat)
                same((agent.get("old.txt"), agent.get("new/dir/new.txt")), ("one\n2\n", "new\n"), "overwritten")
                continue
            same((answer["success"], answer["appliedCount"], answer["skippedCount"]), (False, 1, 0), "the counts")
            same({each["changeId"]: each["error"] for each in answer["errors"]},
                 {ids["old.txt"]: "old.txt changed after preview; review and retry.",
                  ids["new/dir/new.txt"]: "new/dir/new.txt was created after preview; review and retry."}, "the errors")
            same((agent.get("old.txt"), agent.get("new/dir/new.txt"), agent.get("gone.txt")), ("by hand\n", "by hand\n", None), "the disk")
    with Agent(files=FILES) as agent:
        batch, turn = previewed(agent)
        os.unlink(agent.path("old.txt"))
        answer = decide(agent, batch)
        same((answer["success"], answer["appliedCount"], agent.get("old.txt")), (False, 2, None), "deleted by hand")
    with Agent(files=FILES, settings={"features": {"readBeforeWrite": False}}) as agent:
        batch, turn = previewed(agent)
        agent.put("old.txt", "by hand\n")
        same((decide(agent, batch)["success"], agent.get("old.txt")), (True, "one\n2\n"), "not looked at")


def row_56():
    """A folder that cannot be written to: errors has that change, success is false, the others are counted."""
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files={**FILES, "file": "in the way\n"}) as agent:
            steps = [calls((*writes("file/below.txt", "x\n"), "c1"), (*writes("good.txt", "y\n"), "c2"), (*writes("shut/x.txt", "z\n"), "c3")), says("x")]
            os.mkdir(agent.path("shut"))
            batch, turn = previewed(agent, steps)
            changes = {each["change"]["filePath"]: each["change"]["id"] for each in turn.all("changesBatchUpdate")}
            os.rmdir(agent.path("shut"))
            agent.put("shut", "a file instead of a folder")
            answer = decide(agent, batch)
            same(answer["success"], False, "the whole")
            same(answer["appliedCount"], 1, "what was applied: %s" % shown(answer))
            failed = {each["changeId"] for each in answer["errors"]}
            same(failed, {changes[path] for path in ("file/below.txt", "shut/x.txt") if path in changes}, "what was not")
            true(all(each["error"] for each in answer["errors"]), "with reasons")
            same((agent.get("good.txt"), agent.get("file"), agent.get("shut")), ("y\n", "in the way\n", "a file instead of a folder"), "the disk")
    if os.geteuid() == 0:
        return
    with Agent(files={"locked/old.txt": "a\n"}) as agent:
        batch, _ = previewed(agent, [calls(writes("locked/new.txt", "x\n"), writes("b.txt", "b\n")), says("x")])
        os.chmod(agent.path("locked"), 0o500)
        answer = decide(agent, batch)
        os.chmod(agent.path("locked"), 0o700)
        same((answer["success"], answer["appliedCount"], len(answer["errors"])), (False, 1, 1), "a locked folder")


def row_57():
    """Reading after writing in a turn: the pending text in doc, the old one in the versions; the next turn sees the disk."""
    steps = [calls((*writes("old.txt", "new text\n"), "c1")), calls((*reads("old.txt"), "c2"), ("search", {"query": "new text"}, "c3"),
             ("list_tree", {}, "c4")), calls((*writes("more.txt", "m\n"), "c5")), calls(("list_tree", {}, "c6"), ("delete_path", {"path": "gone.txt"}, "c7")),
             calls((*reads("gone.txt"), "c8")), says("x")]
    for compat in ALL:
        with Agent("--client-context", "cli", compat=compat, files=FILES) as agent:
            batch, turn = previewed(agent, steps)
            said = {each["tool_call_id"]: each["content"] for each in agent.model.messages() if each["role"] == "tool"}
            if compat == "doc":
                same(said["c2"], "new text\n", "read_file")
                true("old.txt:1" in said["c3"], "search: %s" % said["c3"])
                true("more.txt" in said["c6"], "list_tree: %s" % said["c6"])
                true("bye" not in said["c8"], "a deleted file: %s" % said["c8"])
            else:
                same(said["c2"], "one\ntwo\n", "read_file")
                same(said["c8"], "bye\n", "a deleted file")
            decide(agent, batch, "reject_all")
            agent.aside.clear()
            agent.model.follow_steps([calls((*reads("old.txt"), "d1")), says("x")])
            agent.turn()
            same([each["content"] for each in agent.model.messages() if each.get("tool_call_id") == "d1"], ["one\ntwo\n"], "the next turn")
    with Agent(files=FILES) as agent:  # two writes to one file: each is shown against the one before
        batch, turn = previewed(agent, [calls(writes("old.txt", "A\n")), calls(writes("old.txt", "B\n")), says("x")])
        same(decide(agent, batch), {"success": True, "appliedCount": 2, "skippedCount": 0}, "both")
        same(agent.get("old.txt"), "B\n", "the disk")


OUT = ("../x", "a/../../x", "/etc/hostname", "{place}/outside", "link", "linked/x", "ws-link/../../x", "./../x", "up", "up/x", "", ".", "a\u0000b")
TOOLS = (("read_file", {}), ("write_file", {"contents": "evil\n"}), ("apply_patch", {"patch": "@@ -0,0 +1 @@\n+evil\n"}),
         ("search_replace", {"search": "secret", "replace": "evil"}), ("delete_path", {}), ("list_tree", {}), ("search", {"query": "secret"}),
         ("run_command", {"command": "pwd"}))


def row_58():
    """Paths that lead out, by .., from the root, by a link: each tool refuses each, and nothing enters the batch."""
    for compat in ALL:
        with Agent("--client-context", "cli", "--yolo", compat=compat, files={"a/b.txt": "inside\n"}) as agent:
            outside = os.path.join(agent.place, "outside")
            os.mkdir(outside)
            for name in ("x", "hostname"):
                with open(os.path.join(outside, name), "w", encoding="ascii") as file:
                    file.write("secret\n")
            with open(os.path.join(agent.place, "x"), "w", encoding="ascii") as file:
                file.write("secret\n")
            os.symlink(os.path.join(outside, "x"), agent.path("link"))
            os.symlink(outside, agent.path("linked"))
            os.symlink("..", agent.path("up"))
            steps, wanted = [], []
            for tool, args in TOOLS:
                for path in OUT:
                    if tool in ("list_tree", "search", "run_command") and path in ("", "."):
                        continue
                    member = "directory" if tool == "run_command" else "path"
                    steps.append(calls((tool, {member: path.replace("{place}", agent.place), **args}, "c%d" % len(steps))))
                    wanted.append((tool, path))
            agent.model.follow_steps([*steps, says("x")])
            turn = agent.turn()
            true(turn.success, shown(turn.answer))
            same(turn.all("changesBatchUpdate"), [], "nothing enters the batch")
            said = {each["tool_call_id"]: each["content"] for each in agent.model.messages() if each["role"] == "tool"}
            same(len(said), len(wanted), "results")
            ends = turn.all("toolEnd")
            for number, (tool, path) in enumerate(wanted):
                text = said["c%d" % number]
                true("secret" not in text, "%s %r tells %s" % (tool, path, shown(text)))
            same([(wanted[n], each["success"]) for n, each in enumerate(ends) if each["success"]], [], "what succeeded")
            same(len(ends), len(wanted), "each was refused")
            with open(os.path.join(agent.place, "x"), encoding="ascii") as file:
                same(file.read(), "secret\n", "the file outside")
            same(sorted(os.listdir(outside)), ["hostname", "x"], "the folder outside")
            same(agent.state()["status"], "idle", "behind it")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
