"""The traffic of the real program, recorded: R1 has our runner answer what its manager asked, R2 has our manager ask what the real
one asked. See stage.py. Where ours does something else, the erratum that says so stands beside it."""
import json
import os
import sys

sys.dont_write_bytecode = True
import stage
from stage import ACTS, DEMO, ECHO, Er, Skip, demo_action, same, shown, true
from workspace import Manager

RECORDED = os.path.join(stage.SHARED, "transcripts", "finecode.jsonl")


def recorded(capture):
    if not os.path.exists(RECORDED):
        raise Skip("the recorded traffic is not here")
    with open(RECORDED, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [each for each in lines if each["capture"].startswith(capture)]


def refused(answer):
    return answer.get("error", {}).get("code") in (-32602, -32603)


def stopped(answer):
    return "error" in answer["result"] or answer["result"]["status"] == "stopped"


# What ours answers instead.
OTHERWISE = {
    "req-8": refused, "req-21": refused, "req-24": refused, "req-25": refused, "req-30": refused,  # F23: -32602
    "req-23": lambda answer: refused(answer) or "error" in answer["result"],  # F33: the same
    "req-26": lambda answer: refused(answer) or "error" in answer["result"],
    "req-56": lambda answer: refused(answer) or "error" in answer["result"],
    "req-33": stopped,  # F12: in all formats
    "req-34": stopped,  # the real one fails; a stop is a stop
    "req-54": stopped,  # F11
    "req-52": lambda answer: "result" in answer,  # results have no type here that 5 items could offend
    "req-60": lambda answer: "result" in answer,
    "null": lambda answer: answer["error"]["code"] == -32600,  # null is no id
}


def is_like(ours, theirs):
    """Results are equal but for texts of failures and paths of logs, errors have the same code."""
    if "error" in theirs:
        return ours.get("error", {}).get("code") == theirs["error"]["code"]
    if "result" not in ours:
        return False
    one, other = ours["result"], theirs["result"]
    if isinstance(other, dict) and "error" in other:
        return isinstance(one, dict) and list(one) == ["error"] and isinstance(one["error"], str)
    if isinstance(other, dict) and isinstance(one, dict) and other.get("context") == {"seen": 0} and one["context"] is None:
        other = {**other, "context": None}  # of a run without handlers: the real one makes an empty one
    return one == other


def config_of(ours):
    handlers = [DEMO[0]["handlers"][0], {**DEMO[0]["handlers"][1], "config": {"prefix": "hh"}}]
    actions = [{**DEMO[0], "handlers": handlers}] + DEMO[1:]
    return ours.config(actions, {ACTS + "H1": {"prefix": "global"}, ACTS + "H2": {"prefix": "g"}})


def row_R1():
    """Our runner in the revision real answers what the recorded manager asked as the recorded runner did."""
    lines = recorded("stand-in WM")
    answers, told = {}, {}
    for each in lines:
        message = each["message"]
        if each["from"] == "er" and "id" in message:
            answers[json.dumps(message["id"])] = message
        elif each["from"] == "er":
            value = json.loads(message["params"]["value"])
            told.setdefault(json.dumps(message["params"]["token"]), []).append(value)
    count, slow = 0, []
    with Er(tcp=True) as ours:
        for each in lines:
            message = each["message"]
            if each["from"] != "wm":
                continue
            if message["method"] == "shutdown":
                count += sum(check(ours, each, answers) for each in slow)
            ours.send(message)
            if message.get("method") == "exit":
                break
            if message["method"] == "actions/run" and message["params"].get("actionName") == "slow":
                slow.append(message)  # it is answered later, or cancelled
                continue
            if "id" not in message:
                continue
            count += check(ours, message, answers)
            if message["id"] == "req-8":  # the good one was too long for the record
                made = {"jsonrpc": "2.0", "id": "req-9", "method": "finecodeRunner/updateConfig", "params": config_of(ours)}
                ours.send(made)
                count += check(ours, made, answers)
        same(ours.ended(), 0, "its exit code")
        progress = {}
        for message in ours.aside:
            same(message["method"], "$/progress", "nothing else comes")
            progress.setdefault(json.dumps(message["params"]["token"]), []).append(json.loads(message["params"]["value"]))
        kinds = {token: [sorted(value) for value in values] for token, values in progress.items()}
        same(kinds, {token: [sorted(value) for value in values] for token, values in told.items()}, "progress and its members")
        for token, values in told.items():
            if "json" in values[0]:
                same(progress[token], values, "partial results of %s" % token)
    true(count >= 60, "only %d answers were compared" % count)


def check(ours, message, answers):
    identity = message["id"]
    answer = ours.until(lambda each: "method" not in each and each.get("id") == identity, "the answer to %s" % identity)
    theirs = answers.get(json.dumps(identity))
    otherwise = OTHERWISE.get(identity if identity is not None else "null")
    if otherwise:
        true(otherwise(answer), "%s: %s" % (identity, shown(answer)))
    elif theirs is not None:
        true(is_like(answer, theirs), "%s: %s instead of %s" % (identity, shown(answer), shown(theirs)))
    elif message["method"] == "finecodeRunner/resolveActionMeta":
        same(set(answer["result"]), {"actions", "handlerLocations"}, "resolveActionMeta")
    else:
        true("result" in answer, "%s: %s" % (identity, shown(answer)))
    return 1


def without(params):
    """Params but for what differs from run to run."""
    made = json.loads(json.dumps(params))
    if isinstance(made, dict) and isinstance(made.get("options"), dict):
        same(len(made["options"].pop("walRunId")), 36, "walRunId")
    return made


WORKSPACE = [
    demo_action("echo", ECHO, ("h1", "H1", "dev_workspace"), ("h2", "H2", "env_b")),
    demo_action("conc", ACTS + "ConcAction", ("c1", "C1", "dev_workspace"), ("c2", "C2", "env_b")),
    demo_action("other", ACTS + "OtherAction", ("other_h", "C1", "env_b")),
    demo_action("lang", ACTS + "LangAction", ("lang_h", "plain_fn", "env_b")),
    demo_action("stop", ACTS + "StopAction", ("stop_h", "stop", "dev_workspace")),
    demo_action("fail", ACTS + "FailAction", ("fail_h", "fail", "dev_workspace")),
    demo_action("none", ACTS + "NoneAction", ("none_h", "none", "dev_workspace")),
    demo_action("canc", ACTS + "CancAction", ("canc_h", "canc", "dev_workspace")),
]


def of_section(lines, section):
    """What the recorded manager asked there: the env and the message."""
    return [(each["env"], each["message"]) for each in lines if each["from"] == "wm" and each["section"] == section]


def row_R2():
    """Our manager asks real runners what the recorded one asked: the start of an env, a chain, a concurrent run, and the rest."""
    lines = recorded("real WM")
    answers = {each["message"]["id"]: each["message"] for each in lines if each["from"] == "er"}
    with Manager({"fc-ws": WORKSPACE}, tcp=True) as ours:
        sections = (("run echo: sequential multi-env", ECHO), ("run conc: concurrent multi-env", ACTS + "ConcAction"),
                    ("run StopAction", ACTS + "StopAction"), ("run FailAction", ACTS + "FailAction"),
                    ("run NoneAction", ACTS + "NoneAction"), ("run CancAction", ACTS + "CancAction"))
        run = ours.client.start_run(ECHO, ours.path("fc-ws"), {"text": "t"}, ("json", "string"))
        order = [message["method"] for _, message in of_section(lines, "actions/list")][:6]
        crew = {}
        for env in ("dev_workspace", "env_b"):
            crew[env] = ours.guest(env).begin(canonical={ECHO: ACTS + "EchoAction"}, concurrent=("conc",))
            same(crew[env].order, order, "the start of %s" % env)
        for section, source in sections:
            if section != sections[0][0]:
                run = ours.client.start_run(source, ours.path("fc-ws"), {"text": "t"}, ("json", "string"))
            for env, message in of_section(lines, section):
                asked = crew[env].run() if message["method"] != "actions/mergeResults" else crew[env].news(message["method"])
                same(asked["method"], message["method"], section)
                same(without(asked["params"]), without(message["params"]), section)
                crew[env].send({**answers[message["id"]], "id": asked["id"]})
            answer = ours.client.answer_to(run)
            if section == sections[0][0]:
                same(answer["result"]["resultByFormat"]["json"]["items"], ["h1:t:prev=None:seen=1", "cfg2:t:prev=1:seen=2"], section)
            elif section == sections[1][0]:
                same(answer["result"]["resultByFormat"], {"json": {"items": ["c1", "c2"], "by_path": {}, "bad": False},
                                                          "string": "c1\nc2"}, section)
            elif section.endswith("StopAction"):  # F12: a result, where the real manager tells of a failure
                same((answer["result"]["resultByFormat"]["string"], answer["result"]["returnCode"]), ("stopped early", 1), section)
            elif section.endswith("CancAction"):
                same(answer["error"]["code"], -32800, section)
            else:
                same("error" in answer, section.endswith("FailAction"), "%s: %s" % (section, shown(answer)))


def row_R3():
    """The start of dev_workspace with its preset is the recorded one, to the params of those that have none."""
    lines = recorded("real WM")
    asked = [message for env, message in of_section(lines, "client/initialize, addDir") if env == "dev_workspace"]
    asked = asked[:len(asked) // 2]  # it was recorded twice
    more = "[[finecode.presets]]\nsource = \"fine_envs\"\n"
    with Manager({"fc-ws": WORKSPACE}, tcp=True, more=more, files={"fine_envs/preset.toml": "[tool.finecode]\n"}) as ours:
        ours.client.start_run(ECHO, ours.path("fc-ws"), {"text": "t"})
        guest = ours.guest("dev_workspace").connect()
        for message in asked:
            while guest.step({"packages/resolvePath": {"packagePath": ours.path("fine_envs")}}) == "finecodeRunner/updateConfig":
                pass  # these were too long for the record
            same(guest.order[-1], message["method"], "the order")
            if guest.order[-1] != "initialize":
                same(guest.last.get("params", "absent"), message["params"], message["method"])
            same(set(guest.last["params"] or {}), set(message["params"] or {}), message["method"])
        same(guest.order.count("finecodeRunner/updateConfig"), 2, "it is configured twice")


if __name__ == "__main__":
    sys.exit(stage.main(globals()))
