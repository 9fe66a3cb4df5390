"""Rows 44 to 48: cancellation, death and restart. See stage.py."""
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, ECHO, META, Er, demo_action, error_is, eventually, is_gone, same, true
from workspace import Command, Manager

ONE = {"p": [demo_action("echo", ECHO, ("h1", "H1"))]}
TWO = [demo_action("echo", ECHO, ("h1", "H1", "a")), demo_action("lang", ACTS + "LangAction", ("l", "plain_fn", "b"))]

HANDLERS = """
[[action]]
source = "t.Sleep"
[[handler]]
source = "t.sleep"
command = ["sh", "-c", "echo $$ >pids; sh -c 'echo $$ >>pids; exec sleep 60' & exec sleep 60"]
[[handler]]
source = "t.stubborn"
command = ["sh", "-c", "trap '' TERM INT HUP; echo $$ >pids; while :; do sleep 1; done"]
"""


def row_44():
    """$/cancelRequest ends a slow run with -32800 at once, and all processes of its command; ids that are not in use do nothing."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            times = []
            for _ in range(5):
                made = ours.run_request("slow", {"text": "t", "n": 60})
                ours.send(made)
                ours.says("started slow", len(times) + 1)
                begin = time.monotonic()
                ours.tell("$/cancelRequest", {"id": made["id"]})
                error_is(ours.answer_to(made["id"]), -32800, "cancelled")
                times.append(time.monotonic() - begin)
            true(min(times) < 0.1 * stage.SLOW, "it took %s" % times)
            for identity in ("nope", 1, made["id"]):
                ours.tell("$/cancelRequest", {"id": identity})
            ours.is_alive("after ids that are not in use")
            ours.tell("$/cancelRequest", {"id": made["id"] + 2})
            same(len(ours.items("echo")), 2, "a run after all that")
            # One between two handlers is cancelled, too.
            made = ours.request("actions/runHandlers", {"actionName": "echo", "handlerNames": ["h1", "h2"], "params": {"text": "t"},
                                                        "previousResult": None, "options": ours.options()})
            ours.send(made)
            ours.tell("$/cancelRequest", {"id": made["id"]})
            true("id" in ours.answer_to(made["id"]), "it ends once, one way or the other")
            ours.is_quiet("and only once")


def row_44b():
    """The command of a handler and all that it started are dead when its run was cancelled, also one that ignores signals."""
    for _, tcp in ALL:
        for source in ("sleep", "stubborn"):
            with Er("duplex", tcp=tcp) as ours:
                pids = os.path.join(ours.project, "pids")
                with open(os.path.join(ours.project, "handlers.toml"), "w", encoding="utf-8") as file:
                    file.write(HANDLERS)
                ours.close()
                ours.child.kill()
                ours.child.wait()
                with Er("duplex", tcp=tcp, project=ours.project, words=["--handlers=" + ours.project + "/handlers.toml"]) as again:
                    action = {"name": "sleep", "source": "t.Sleep", "config": {},
                              "handlers": [{"name": "s", "source": "t." + source, "config": {}, "env": "e", "dependencies": []}]}
                    again.start([action])
                    for ends in ("cancelled", "gone"):
                        if os.path.exists(pids):
                            os.remove(pids)
                        made = again.run_request("sleep", {})
                        again.send(made)
                        count = 2 if source == "sleep" else 1

                        def started():
                            if not os.path.exists(pids):
                                return False
                            with open(pids, encoding="ascii") as file:
                                found = file.read().split()
                            return found if len(found) >= count else False
                        found = [int(each) for each in eventually(started, "the command does not start")]
                        if ends == "cancelled":
                            again.tell("$/cancelRequest", {"id": made["id"]})
                            error_is(again.answer_to(made["id"]), -32800, "cancelled")
                        else:
                            again.child.send_signal(signal.SIGKILL)
                        for pid in found:
                            is_gone(pid, "%s: a process of %s" % (ends, source), 10)


def row_45():
    """A client that leaves, or cancels, cancels its run, and what a runner runs for it; the runs of others go on."""
    for _, tcp in ALL:
        for way in ("leaves", "cancels"):
            for told in (True, False):  # does the runner itself cancel what it asked for?
                with Manager({"p": TWO}, tcp=tcp) as ours:
                    other = ours.connect()
                    run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                    guest = ours.guest("a").begin()
                    asked = guest.run()
                    inner = guest.request("finecode/runActionInProject", {
                        "actionSource": ACTS + "LangAction", "payload": {"text": "in"}, "meta": {**META, "orchestrationDepth": 1}})
                    guest.send(inner)
                    beside = ours.guest("b").begin()
                    within = beside.run()
                    mine = other.start_run(ECHO if told else ACTS + "LangAction", ours.path("p"), {"text": "mine"})
                    first = (guest if told else beside).run()
                    if way == "leaves":
                        ours.client.close()
                    else:
                        ours.client.tell("$/cancelRequest", {"id": run})
                    same(guest.news("$/cancelRequest")["params"], {"id": asked["id"]}, "the run")
                    if told:
                        guest.tell("$/cancelRequest", {"id": inner["id"]})
                    guest.refuse(asked, -32800, "Request cancelled")
                    same(beside.news("$/cancelRequest")["params"], {"id": within["id"]}, "the run inside")
                    beside.refuse(within, -32800, "Request cancelled")
                    error_is(guest.answer_to(inner["id"]), -32800, "its answer")
                    if way == "cancels":
                        error_is(ours.client.answer_to(run), -32800, "the client's answer")
                    (guest if told else beside).done(first, {"items": ["mine"]})
                    same(other.answer_to(mine)["result"]["resultByFormat"]["json"]["items"], ["mine"], "the other client")


def row_45b():
    """SIGINT at `run` cancels what runs, stops the runners and ends with 130."""
    for _, tcp in ALL:
        with Command(ONE, "run", "echo", tcp=tcp) as ours:
            guest = ours.guest().begin()
            asked = guest.run()
            ours.child.send_signal(signal.SIGINT)
            same(guest.news("$/cancelRequest")["params"], {"id": asked["id"]}, "the run is cancelled")
            guest.refuse(asked, -32800, "Request cancelled")
            guest.farewell()
            ours.ended(130)


def row_46():
    """A runner that is killed has EXITED; the next run starts another one, which gets the documents as they are now. One that is killed during a run fails that within a second, and the others go on."""
    for _, tcp in ALL:
        with Manager({"p": TWO}, tcp=tcp) as ours:
            uri = "file://" + ours.path("p/a.txt")
            ours.client.tell("documents/opened", {"uri": uri, "version": 1, "text": "old"})
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest("a").begin()
            guest.done(guest.run())
            ours.client.answer_to(run)
            run = ours.client.start_run(ACTS + "LangAction", ours.path("p"), {"text": "t"})
            other = ours.guest("b").begin()
            waiting = other.run()
            os.kill(guest.pid, signal.SIGKILL)
            guest.leave()
            ours.becomes("EXITED", "a")
            ours.nobody_new("nothing is started by itself")
            ours.client.tell("documents/changed", {"uri": uri, "version": 2, "contentChanges": [{"text": "new"}]})
            again = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            fresh = ours.guest("a").begin()
            fresh.run()
            opened = fresh.opened + [each for each in fresh.aside if each["method"] == "textDocument/didOpen"]
            same([each["params"]["textDocument"]["text"] for each in opened], ["new"], "the document")
            begin = time.monotonic()
            os.kill(fresh.pid, signal.SIGKILL)
            fresh.leave()
            answer = ours.client.answer_to(again)
            true(time.monotonic() - begin < stage.SLOW, "it took %.2f s" % (time.monotonic() - begin))
            error_is(answer, -32603, "the run of one that was killed")
            other.done(waiting, {"items": ["b"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["b"], "the other runner")


def row_46b():
    """After a SIGKILL of the manager its runners are gone, and the commands of their handlers, with all that those started."""
    action = {"name": "sleep", "source": "t.Sleep", "config": {}, "handlers": [{"name": "s", "source": "t.sleep", "env": "e"}]}
    for _, tcp in ALL:
        program = [os.path.join(stage.BUILD, "duplex-finecode"), "er", *(["--tcp"] if tcp else [])]
        with Command({"p": [action]}, "run", "sleep", runner=program, tcp=tcp, files={"p/finecode-handlers.toml": HANDLERS}) as ours:
            pids = ours.path("p/pids")
            found = eventually(lambda: os.path.exists(pids) and len(lines_of(pids)) == 2 and lines_of(pids), "the command does not start")
            ours.child.kill()
            for pid in found:
                is_gone(int(pid), "a process of a command", 10)


def lines_of(path):
    with open(path, encoding="ascii") as file:
        return file.read().split()


def row_47():
    """A runner that closes its connection but lives has died: what waits fails, and its process goes."""
    for _, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin()
            guest.run()
            begin = time.monotonic()
            os.close(guest.write_fd)
            guest.write_fd = None
            if tcp:
                os.close(guest.read_fd)
                guest.read_fd = None
            true("error" in ours.client.answer_to(run), "the run fails")
            true(time.monotonic() - begin < stage.SLOW, "it took %.2f s" % (time.monotonic() - begin))
            is_gone(guest.pid, "its process", 20)
            ours.becomes("EXITED")


def row_48():
    """Restart: shutdown, exit, and another one; one that ignores exit is killed when its time is up."""
    for _, tcp in ALL:
        with Manager(ONE, "--stop-timeout", "1s", tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin()
            guest.done(guest.run())
            ours.client.answer_to(run)
            asked = ours.client.request("runners/restart", {"runnerWorkingDir": ours.path("p"), "envName": "e"})
            ours.client.send(asked)
            same([guest.fresh()["method"]], ["shutdown"], "first")
            ours.nobody_new("not before the old one is gone")
            begin = time.monotonic()  # it answers nothing and stays
            is_gone(guest.pid, "one that ignores everything", 20)
            true(time.monotonic() - begin > 0.5, "it got its time")
            second = ours.guest().begin()
            true("result" in ours.client.answer_to(asked["id"]), "restart")
            ours.becomes("RUNNING")
            asked = ours.client.request("runners/restart", {"runnerWorkingDir": ours.path("p"), "envName": "e"})
            ours.client.send(asked)
            second.farewell()
            ours.guest().begin()
            true("result" in ours.client.answer_to(asked["id"]), "restart of one that obeys")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
