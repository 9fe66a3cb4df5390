"""Rows 8 to 15: how runners begin and end. See stage.py."""
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import stage
from stage import ACTS, ALL, DEMO, ECHO, Er, Wrong, demo_action, error_is, is_gone, raw, same, shown, true
from workspace import Command, Manager, toml_of

ONE = {"p": [demo_action("echo", ECHO, ("h1", "H1"))]}
TWO = {"p": [demo_action("echo", ECHO, ("h1", "H1", "dev_workspace"), ("h2", "H2", "env_b"))]}
RUN = ("run", "echo", "text=t")


def row_08():
    """The port is found behind any prefix and after noise; none in time, or an exit before, fails with the last lines and the code."""
    for before in ("", "2026-01-01 10:00:00 | INFO | er.server - ", "noise\nServing on nothing\n\nmore noise 'Serving on (' \n"):
        with Command(ONE, *RUN, options=("--json",), tcp=True) as ours:
            guest = ours.guest().connect(before).begin()
            os.write(guest.out_fd, b"still more noise, which is read and no message\n" * 5000)
            guest.done(guest.run(), {"items": ["found"]})
            guest.farewell()
            ours.ended(0)
    with Command(ONE, *RUN, options=("--json", "--port-timeout", "1s"), tcp=True) as ours:
        guest = ours.guest()
        os.write(guest.out_fd, b"".join(b"out %d\n" % number for number in range(40)))
        os.write(guest.errors_fd, b"".join(b"err %d\n" % number for number in range(40)))
        begin = time.monotonic()
        ours.ended(3)
        true(time.monotonic() - begin < 15, "it took long")
        why = ours.printed()
        true("out 39" in why and "err 39" in why, "the last lines: %s" % shown(why))
    with Command(ONE, *RUN, options=("--json",), tcp=True) as ours:
        guest = ours.guest()
        os.write(guest.errors_fd, b"I cannot\n")
        guest.leave(7)
        ours.ended(3)
        true("7" in shown(ours.events("project")) and "I cannot" in ours.printed(), "the code and the line: %s" % shown(ours.printed()))


def row_08_long():
    """Without an option the port has 30 seconds."""
    with Command(ONE, *RUN, options=("--json",), tcp=True) as ours:
        ours.guest()
        begin = time.monotonic()
        ours.ended(3, 60)
        true(29 < time.monotonic() - begin < 50, "%.1f s" % (time.monotonic() - begin))


SEED_ORDER = ["initialize", "initialized", "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta"]


def row_09():
    """The order of the start is the document's; by TCP the real one's; params null are taken."""
    for revision, tcp in ALL:
        with Manager(TWO, tcp=tcp) as ours:
            uri = "file://" + ours.path("p/open.txt")
            ours.client.tell("documents/opened", {"uri": uri, "version": 3, "text": "text"})
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guests = []
            for env in ("dev_workspace", "env_b"):
                guest = ours.guest(env)
                if tcp:
                    guest.connect()
                seen = []
                fresh = guest.fresh

                def kept(patience=stage.PATIENCE, fresh=fresh, seen=seen):
                    seen.append(fresh(patience))
                    return seen[-1]
                guest.fresh = kept
                guest.begin()
                if not tcp:
                    guest.news("textDocument/didOpen")
                guests.append(guest)
                order = [each["method"] for each in seen]
                same([each for each in order if each in SEED_ORDER], SEED_ORDER, "the document's order")
                opened = next(each for each in seen if each["method"] == "textDocument/didOpen")
                same(opened["params"]["textDocument"], {"uri": uri, "languageId": "", "version": 3, "text": "text"}, "the document")
                if revision == "real":
                    same(order, ["initialize", "initialized", "finecodeRunner/getInfo", "finecodeRunner/updateConfig",
                                 "finecodeRunner/resolveActionMeta", "textDocument/didOpen", "finecodeRunner/updateLogging"],
                         "the order")
                    same(seen[-1]["params"], {"forward": False, "forwardLevel": "INFO"}, "updateLogging")
                else:
                    true(order.index("textDocument/didOpen") > order.index("finecodeRunner/resolveActionMeta"), "didOpen is last")
                for each in seen:  # F17
                    if each["method"] in ("finecodeRunner/getInfo", "finecodeRunner/resolveActionMeta"):
                        same(each.get("params", "absent"), None if tcp else {}, each["method"])
                first = seen[0]["params"]
                same(first["workspaceFolders"], [{"uri": "file://" + ours.path("p"), "name": "p"}], "workspaceFolders")
                info = first["clientInfo"]
                same((sorted(info), info["name"]), (["name", "version"], "FineCode_WorkspaceManager"), "clientInfo")
                true(re.fullmatch(r"\d+\.\d+\.\d+", info["version"]), "its version: %s" % shown(info))
                same(first["trace"], "verbose", "trace")
                true(first["processId"] == ours.child.pid and isinstance(first["capabilities"], dict), "initialize: %s" % shown(first))
            config = [each for each in seen if each["method"] == "finecodeRunner/updateConfig"][0]["params"]
            same((config["workingDir"], config["projectName"], config["projectDefPath"]),
                 (ours.path("p"), "p", ours.path("p/finecode.toml")), "updateConfig")
            echo = config["config"]["actions"][0]
            same([each["env"] for each in echo["handlers"]], ["dev_workspace", "env_b"], "handlers of other envs are told, too")
            for guest in guests:
                guest.done(guest.run())
            ours.client.answer_to(run)
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            for method in ("finecodeRunner/getInfo", "finecodeRunner/resolveActionMeta", "actions/getPayloadSchemas"):
                for params in ([None], [{}], []):
                    true("result" in ours.ask(method, *params), "%s with %s" % (method, params))


PRESET = """[tool.finecode.action.extra]
source = "demo_ext.acts.LangAction"
handlers = [{name = "x", source = "t.extra", env = "dev_workspace"}, {name = "y", source = "t.extra", env = "env_c"}]
"""


def row_09b():
    """The runner of dev_workspace finds the presets: it is configured twice, the second time with them; the others start after it."""
    more = "[[finecode.presets]]\nsource = \"fine_one\"\n"
    for revision, tcp in ALL:
        with Manager(TWO, tcp=tcp, more=more, files={"fine_one/preset.toml": PRESET}) as ours:
            uri = "file://" + ours.path("p/open.txt")
            ours.client.tell("documents/opened", {"uri": uri, "version": 3, "text": "text"})
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            first = ours.guest("dev_workspace")
            if tcp:
                first.connect()
            configs = []
            while first.order.count("finecodeRunner/resolveActionMeta") < 2 or first.order[-1] != "textDocument/didOpen":
                first.step({"packages/resolvePath": {"packagePath": ours.path("fine_one")}})
                if first.order[-1] == "finecodeRunner/updateConfig":
                    configs.append([each["name"] for each in first.config["actions"]])
                if first.order[-1] == "packages/resolvePath":
                    same(first.last["params"], {"packageName": "fine_one"}, "which preset")
                    ours.nobody_new("others wait for them", 0.1)
            round_trip = ["packages/resolvePath", "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta", "textDocument/didOpen"]
            logging = ["finecodeRunner/updateLogging"] if revision == "real" else []
            same(first.order, ["initialize", "initialized", "finecodeRunner/getInfo", *round_trip, *logging, *round_trip], "the order")
            same([sorted(each) for each in configs], [["echo", "extra"]] * 2, "what it is configured with")
            second = ours.guest("env_b").begin()
            true("packages/resolvePath" not in second.order, "only one asks for presets: %s" % second.order)
            for guest in (first, second):
                guest.done(guest.run())
            true("result" in ours.client.answer_to(run), "the run")
            listed = ours.client.result("actions/list", {"project": ours.path("p")})["actions"]
            same(sorted(each["name"] for each in listed), ["echo", "extra"], "the actions")
            # A second runner of that env goes the same way.
            os.kill(first.pid, signal.SIGKILL)
            first.leave()
            ours.becomes("EXITED", "dev_workspace")
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            again = ours.guest("dev_workspace")
            if tcp:
                again.connect()
            while again.order != first.order:
                again.step({"packages/resolvePath": {"packagePath": ours.path("fine_one")}})
                true(again.order == first.order[:len(again.order)], "the order after a restart: %s" % again.order)
            for guest in (again, second):
                guest.done(guest.run())
            true("result" in ours.client.answer_to(run), "the run after a restart")


HANDLERS = """
[[action]]
source = "demo_ext.acts.LangAction"
[[handler]]
source = "t.extra"
command = ["sh", "-c", "echo '{\\"items\\": [\\"'$FINECODE_ENV_NAME'\\"]}'"]
[[package]]
name = "fine_one"
path = "../fine_one"
"""


def row_09c():
    """The same with runners of ours: an action that only a preset has runs, in an env that only the preset names."""
    more = "[[finecode.presets]]\nsource = \"fine_one\"\n"
    for revision, tcp in ALL:
        program = [os.path.join(stage.BUILD, "duplex-finecode"), "er", *(["--tcp"] if tcp else [])]
        files = {"fine_one/preset.toml": PRESET, "p/finecode-handlers.toml": HANDLERS}
        with Command({"p": []}, "run", "extra", options=("--json", "--show"), runner=program, tcp=tcp, more=more, files=files) as ours:
            ours.ended(0)
            same(ours.events("project")[0]["result"]["json"], {"items": ["dev_workspace", "env_c"]}, "the result")
            for env, rounds in (("dev_workspace", 2), ("env_c", 1)):
                sent = re.findall(r"p/%s -> (\{.*\})" % env, ours.said())
                methods = [each["method"] for each in map(json.loads, sent) if "method" in each]
                once = [*(["packages/resolvePath"] if rounds == 2 else []), "finecodeRunner/updateConfig", "finecodeRunner/resolveActionMeta"]
                logging = ["finecodeRunner/updateLogging"] if revision == "real" else []
                start = ["initialize", "initialized", "finecodeRunner/getInfo", *once, *logging, *once * (rounds - 1)]
                same(methods, [*start, "actions/runHandlers", "shutdown", "exit"], "what %s is asked" % env)


def row_10():
    """A runner that answers initialize without capabilities has failed, and hears nothing more."""
    for _, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest()
            if tcp:
                guest.connect()
            guest.reply(guest.news("initialize"), {"serverInfo": {"name": "x"}})
            true("error" in ours.client.answer_to(run), "the run fails")
            ours.becomes("FAILED")
            rest = guest.fresh(5)
            true(rest is None or rest["method"] in ("shutdown", "exit"), "it hears %s" % shown(rest))
            guest.gone()


def row_11():
    """Before updateConfig: runs and merges fail with a text, meta and schemas are empty, reload is fine."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            same(ours.failed("echo"), "Extension runner not initialized", "run")
            merged = ours.result("actions/mergeResults", {"actionName": "echo", "results": []})
            same(merged, {"error": "Extension runner not initialized"}, "mergeResults")
            same(ours.result("finecodeRunner/resolveActionMeta", {}), {}, "resolveActionMeta")
            same(ours.result("actions/getPayloadSchemas", {}), {}, "getPayloadSchemas")
            same(ours.result("actions/reload", {"actionName": "echo"}), {}, "reload")


NEEDED = ("workingDir", "projectName", "projectDefPath", "config", "config/actions", "config/action_handler_configs")


def row_12():
    """updateConfig: any missing member and an action twice are refused (F23); another one replaces the first."""
    for _, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.hello()
            for path in NEEDED:
                config = ours.config(services=[], handlers_to_initialize={})
                *outer, name = path.split("/")
                del (config[outer[0]] if outer else config)[name]
                error = ours.error("finecodeRunner/updateConfig", config)
                true(error["code"] in (-32602, -32603), "without %s: %s" % (path, shown(error)))
                true(re.search("[\"']%s[\"']" % name, str(error)), "without %s: %s" % (path, shown(error)))
            twice = ours.config([DEMO[0], {**DEMO[0], "name": "again"}])
            error = ours.error("finecodeRunner/updateConfig", twice)
            true(error["code"] in (-32602, -32603), "twice: %s" % shown(error))
            same(ours.failed("echo"), "Extension runner not initialized", "what was refused changes nothing")
            same(ours.result("finecodeRunner/updateConfig", ours.config()), {}, "a good one, as short as it may be")
            services = [{"interface": "i.A", "source": "s.A", "env": "e", "dependencies": []}]
            whole = ours.config(services=services, handlers_to_initialize={"echo": ["h1"]})
            same(ours.result("finecodeRunner/updateConfig", whole), {}, "a whole one")
            same(ours.items("echo")[0], "h1:t:prev=None:seen=1", "a run")
            changed = ours.config([DEMO[0]], {ACTS + "H1": {"prefix": "new"}})
            same(ours.result("finecodeRunner/updateConfig", changed), {}, "another one")
            same(ours.items("echo")[0], "new1:t:prev=None:seen=1", "the new configuration")
            true("not found" in ours.failed("lang"), "an action that is gone")


def row_13():
    """A runner that knows neither getInfo nor updateLogging runs all the same."""
    unknown = {"finecodeRunner/getInfo": KeyError(), "finecodeRunner/updateLogging": KeyError()}
    for _, tcp in ALL:
        with Manager(ONE, tcp=tcp) as ours:
            run = ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
            guest = ours.guest().begin(unknown)
            guest.done(guest.run(), {"items": ["fine"]})
            same(ours.client.answer_to(run)["result"]["resultByFormat"]["json"]["items"], ["fine"], "the run")
            same(ours.states(), {("p", "e"): "RUNNING"}, "its state")


def row_13b():
    """getInfo tells where the log of a runner of ours is, by its whole path; null if there is none."""
    for _, tcp in ALL:
        with Er("duplex", tcp=tcp, words=["--log-file=rel.log"]) as ours:
            ours.hello()
            told = ours.result("finecodeRunner/getInfo", None if tcp else {})
            same(told, {"logFilePath": os.path.join(os.path.realpath(ours.project), "rel.log")}, "a log")
            true(os.path.isfile(told["logFilePath"]), "it is there")
        with Er("duplex", tcp=tcp) as ours:
            ours.hello()
            same(ours.result("finecodeRunner/getInfo", None if tcp else {}), {"logFilePath": None}, "no log")
        with stage.tempfile.TemporaryDirectory() as state, Er("duplex", tcp=tcp, state=state) as ours:
            ours.hello()
            told = ours.result("finecodeRunner/getInfo", None if tcp else {})["logFilePath"]
            true(told.startswith(state) and os.path.isfile(told), "a log of its own: %s" % told)


def row_14():
    """shutdown, requests after it, exit alone, the end of the input alone or with a run: 0 within a second; no answer after."""
    for revision, tcp in ALL:
        with Er(tcp=tcp) as ours:
            ours.start()
            same(ours.result("shutdown", None), None, "shutdown")
            after = ours.ask("finecodeRunner/getInfo", None if tcp else {})
            if revision == "real":  # F18
                true("result" in after, "after shutdown: %s" % shown(after))
            else:
                error_is(after, -32600, "after shutdown")
            begin = time.monotonic()
            ours.tell("exit", None)
            same(ours.ended(), 0, "its exit code")
            true(time.monotonic() - begin < stage.SLOW, "it took %.2f s" % (time.monotonic() - begin))
        for ends in ("exit", "end", "end with a run", "exit at once"):
            with Er(tcp=tcp) as ours:
                if ends != "exit at once":
                    ours.start()
                if ends == "end with a run":
                    ours.send(ours.run_request("slow", {"text": "t", "n": 20}))
                    ours.says("started slow")
                begin = time.monotonic()
                if ends.startswith("exit"):
                    ours.tell("exit", None)
                elif tcp:
                    socket.socket(fileno=os.dup(ours.write_fd)).shutdown(socket.SHUT_WR)
                else:
                    ours.close_write()
                same(ours.ended(), 0, "%s: its exit code" % ends)
                true(time.monotonic() - begin < stage.SLOW, "%s: it took %.2f s" % (ends, time.monotonic() - begin))
                rest = ours.fresh(1)
                true(rest is None or "error" in rest, "%s: it still says %s" % (ends, shown(rest)))
    # Nobody connects: it ends by itself.
    begin = time.monotonic()
    alone = subprocess.run([os.path.join(stage.BUILD, "tests", "finecode_demo"), "start", "--connect-ms=300",
                            "--project-path=/tmp", "--env-name=e"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20,
                           check=False)
    true(0.25 < time.monotonic() - begin < 10 and b"Serving on" in alone.stdout, "nobody connects: %s" % alone)


def row_14b():
    """Words of the command: a project that is not there, no env, version; and as Python of a venv."""
    program = os.path.join(stage.BUILD, "duplex-finecode")

    def said(*words):
        return subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, text=True, check=False)
    for words in (("er", "start", "--project-path=/no/such", "--env-name=e"), ("er", "start", "--project-path=/tmp")):
        done = said(*words)
        true(done.returncode in (1, 2) and done.stderr and not done.stdout, "%s: %s" % (words, done))
    for words in (("er", "version"), ("-m", "finecode_extension_runner.cli", "version")):
        done = said(*words)
        true(done.returncode == 0 and done.stdout.startswith("FineCode Extension Runner "), "%s: %s" % (words, done))
    with Er([program, "-m", "finecode_extension_runner.cli", "start", "--log-level=INFO"], tcp=True) as ours:
        ours.start([])
        same(ours.result("finecodeRunner/updateLogging", {"forward": False, "forwardLevel": "INFO"}), {}, "updateLogging")
        ours.shut_down()


def row_14c():
    """--debug: a runner tells a port and begins when somebody has attached; the manager tells it and waits, beyond its times."""
    for _, tcp in ALL:
        with Command(ONE, *RUN, options=("--json", "--debug", "e", "--port-timeout", "1s", "--initialize-timeout", "1s"), tcp=tcp) as ours:
            guest = ours.guest()
            true("--debug" in guest.words, "its words: %s" % guest.words)
            os.write(guest.out_fd if tcp else guest.errors_fd, b"Debug session: 127.0.0.1:5678\n")
            stage.eventually(lambda: [each["port"] for each in ours.events("debug")] == [5678], "it is told")
            time.sleep(1.5)  # somebody takes his time
            guest.begin()
            guest.done(guest.run(), {"items": ["debugged"]})
            guest.farewell()
            ours.ended(0)
        child = subprocess.Popen([os.path.join(stage.BUILD, "duplex-finecode"), "er", "start", "--project-path=/tmp", "--env-name=e",
                                  "--debug", *(["--tcp"] if tcp else [])],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            line = (child.stdout if tcp else child.stderr).readline().decode()
            true("Debug session: 127.0.0.1:" in line, "it tells %r" % line)
            same(select.select([child.stdout], [], [], 0.3)[0], [], "nothing before somebody has attached")
            with socket.create_connection(("127.0.0.1", int(line.rsplit(":", 1)[1]))) as debugger:
                debugger.sendall(raw.frame({"seq": 1, "type": "request", "command": "initialize"}, stage.FULL))
                if tcp:
                    true(b"Serving on ('127.0.0.1', " in child.stdout.readline(), "then it serves")
                else:
                    child.stdin.write(raw.frame({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                                                 "params": {"processId": None, "capabilities": {}}}, stage.FULL))
                    child.stdin.flush()
                    true(child.stdout.readline().startswith(b"Content-Length: "), "then it serves")
        finally:
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout, child.stderr):
                stream.close()


def row_14_long():
    """A manager that is killed before it connects leaves no runner: by itself it ends after a minute."""
    with Er(tcp=True) as ours:  # connected, so this one stays
        ours.hello()
        child = subprocess.Popen([os.path.join(stage.BUILD, "tests", "finecode_demo"), "start", "--project-path=/tmp",
                                  "--env-name=e"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            same(child.wait(90) is not None, True, "it ends")
            ours.is_alive("the other one")
        except subprocess.TimeoutExpired:
            raise Wrong("it is still there") from None
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def row_15():
    """A second connection is closed, and the first goes on."""
    with Er(tcp=True) as ours:
        ours.hello()
        for _ in range(3):
            try:
                with socket.create_connection(("127.0.0.1", ours.port), 5) as second:
                    second.settimeout(stage.PATIENCE)
                    second.sendall(raw.frame({"jsonrpc": "2.0", "id": 1, "method": "finecodeRunner/getInfo"}))
                    same(second.recv(100), b"", "the second one hears")
            except (ConnectionError, BrokenPipeError):
                pass  # refused at once is fine, too
            ours.is_alive("the first one")
        ours.shut_down()


def row_15b():
    """A manager that is killed while its runners start or run takes them with it, by pipes and by TCP."""
    for _, tcp in ALL:
        for far in (False, True):
            with Manager(ONE, tcp=tcp) as ours:
                ours.client.start_run(ECHO, ours.path("p"), {"text": "t"})
                guest = ours.guest()
                if far:
                    guest.begin().run()
                ours.child.send_signal(signal.SIGKILL)
                is_gone(guest.pid, "a runner that %s" % ("runs" if far else "starts"))


OWN = """[finecode.er]
runner = "duplex"
[finecode.action.say]
source = "t.say"
handlers = [{name = "say", source = "t.say", env = "a", config = {word = "%s"}}%s]
"""
MORE = ', {name = "more", source = "t.say", env = "b", config = {word = "more"}}'
SAY = """[[action]]
source = "t.say"
[[handler]]
source = "t.say"
command = ["sh", "-c", 'read -r _; sleep "$SLOW"; echo "{\\"%s\\": [$FINECODE_CONFIG_JSON]}"']
env = {SLOW = "%s"}
"""


def row_C1():
    """A server notices that a project's files have changed: at the next request, and without breaking a run that is under way."""
    with Manager({}, files={"p/finecode.toml": OWN % ("one", ""), "p/finecode-handlers.toml": SAY % ("said", 0)}) as ours:
        def run():
            answer = ours.client.answer_to(ours.client.start_run("t.say", ours.path("p")))
            return answer["result"]["resultByFormat"]["json"] if "result" in answer else answer["error"]["message"]
        same(run(), {"said": [{"word": "one"}]}, "at first")
        ours.put("p/finecode.toml", OWN % ("two", ""))
        same(run(), {"said": [{"word": "two"}]}, "another setting")
        ours.put("p/finecode.toml", OWN % ("two", MORE))
        same(run(), {"said": [{"word": "two"}, {"word": "more"}]}, "a new env")
        ours.put("p/finecode-handlers.toml", SAY % ("told", 1))
        slow = ours.client.start_run("t.say", ours.path("p"))
        time.sleep(0.5)
        ours.put("p/finecode.toml", OWN % ("three", ""))
        same(run(), {"told": [{"word": "three"}]}, "another command")
        same(ours.client.answer_to(slow)["result"]["resultByFormat"]["json"], {"told": [{"word": "two"}, {"word": "more"}]}, "the run before")
        ours.put("p/finecode.toml", "[finecode\n")
        true("expected" in run(), "a broken file is told")
        ours.put("p/finecode.toml", OWN % ("four", ""))
        same(run(), {"told": [{"word": "four"}]}, "it is mended")
        ours.put("shared.toml", SAY % ("shared", 0))
        shared = OWN.replace('"duplex"', toml_of([os.path.join(stage.BUILD, "duplex-finecode"), "er", "--handlers", "../shared.toml"])) % ("five", "")
        ours.put("p/finecode.toml", shared)
        same(run(), {"shared": [{"word": "five"}]}, "handlers of another file")
        ours.put("shared.toml", SAY % ("ours", 0))
        same(run(), {"ours": [{"word": "five"}]}, "that file has changed")
        os.remove(ours.path("p/finecode.toml"))
        true("no finecode.toml" in run() or "unknown action" in run(), "no file")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
