"""The actions and handlers that er.py knows: those that the traffic of the real program was recorded with, and some more.
Written from that traffic alone."""
import os

ACTS = "demo_ext.acts."


class Refused(Exception):
    """A JSON-RPC error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Failed(Exception):
    """A command-level failure: {"error": text}."""


class Cancelled(Exception):
    pass


class Stopped(Exception):
    def __init__(self, result):
        super().__init__("stopped")
        self.result = result


# The results of all actions here are of one kind: items, by_path, bad.

def made(*items, by_path=None, bad=False):
    return {"items": list(items), "by_path": by_path or {}, "bad": bad}


def rebuilt(value):
    """A result that came over the wire; None if it is none."""
    fits = (isinstance(value, dict) and isinstance(value.get("items", []), list)
            and isinstance(value.get("by_path", {}), dict) and isinstance(value.get("bad", False), bool))
    if not fits or not value:
        return None
    return {**made(), **value}


def merged(first, second):
    if first is None or second is None:
        return first or second
    both = made(*first["items"], *second["items"], by_path={**first["by_path"], **second["by_path"]},
                bad=first["bad"] or second["bad"])
    return {**both, **{key: each[key] for each in (first, second) for key in each if key not in both}}


def code_of(result):
    return 1 if result and result["bad"] else 0


def formatted(action, result, formats):
    if not result:
        return {}
    by_format = {}
    if "json" in formats:
        by_format["json"] = result
    if "string" in formats and action == "styled":
        by_format["styled_text_json"] = {"parts": [{"text": "bold\n", "bold": True}, "plain"]}
    elif "string" in formats:
        by_format["string"] = "\n".join(result["items"])
    return by_format


def echo(number):
    def run(run, config):
        seen = (run.context or {}).get("seen", 0) + 1
        run.context = {"seen": seen}
        before = len(run.result["items"]) if run.result else None
        text = "%s%d:%s:prev=%s:seen=%d" % (config.get("prefix", "h"), number, run.payload["text"], before, seen)
        return made(text, by_path={"/a/b": 1} if number == 2 else None)
    return run


def parts(word, bad):
    def run(run, config):
        for number in range(run.payload.get("n", 1)):
            if number:
                run.pause(run.payload.get("ms", 400) / 1000)
            run.partial(made("%s%d" % (word, number), bad=bad))
    return run


def prog(run, config):
    run.progress(type="begin", title="Working", message=None, percentage=0, cancellable=False, total=2)
    run.progress(type="report", message="one", percentage=50)
    run.progress(type="report", message="two", percentage=100)
    run.progress(type="end", message=None)
    return made("prog")


def slow(run, config):
    run.pause(run.payload.get("ms", 1000 * run.payload.get("n", 1)) / 1000)
    return made("slow done")


def raises(wrong):
    def run(run, config):
        raise wrong
    return run


def who(run, config):
    return made("%s %s %d" % (run.er.env, run.name, run.meta["orchestrationDepth"]))


def read(run, config):
    return made(run.er.text_of(run.payload["text"]))


def die(run, config):
    os._exit(run.payload.get("n", 3))


def ask(run, config):
    return {**made(), "answer": run.ask(run.payload["method"], run.payload.get("params"))}


def nest(run, config):
    params = {"actionSource": run.payload["source"], "payload": run.payload.get("payload", {}), "meta": run.meta}
    return {**made(), "answer": run.ask("finecode/runActionInProject", params)}


def spread(run, config):
    params = {"actionSource": run.payload["source"], "payload": run.payload.get("payload", {}), "meta": run.meta,
              "projectPaths": run.payload.get("paths"), "concurrently": run.payload.get("concurrently", True)}
    return {**made(), "answer": run.ask("finecode/runActionInWorkspace", params)}


HANDLERS = {
    ACTS + "H1": echo(1), ACTS + "H2": echo(2),
    ACTS + "C1": lambda run, config: made("c1"), ACTS + "C2": lambda run, config: made("c2"),
    ACTS + "plain_fn": lambda run, config: made("fn:" + run.payload["text"]),
    ACTS + "stop": raises(Stopped(made("stopped early", bad=True))),
    ACTS + "fail": raises(ValueError("declared failure")), ACTS + "boom": raises(KeyError("boom")),
    ACTS + "none": lambda run, config: None, ACTS + "canc": raises(Cancelled("handler gave up")),
    ACTS + "bad": lambda run, config: made("bad", bad=True), ACTS + "styled": lambda run, config: made("x"),
    ACTS + "gen": parts("part", False), ACTS + "send": parts("sent", True), ACTS + "prog": prog,
    ACTS + "slow": slow, ACTS + "who": who, ACTS + "read": read, ACTS + "die": die,
    ACTS + "ask": ask, ACTS + "nest": nest, ACTS + "spread": spread,
}
ACTIONS = {"demo_ext.EchoAction": {"canonical": ACTS + "EchoAction"}, ACTS + "ConcAction": {"concurrent": True},
           ACTS + "EachAction": {"concurrent": True},
           ACTS + "LangAction": {"parent": ACTS + "EchoAction", "language": "python"}}
for each in ("Other", "Stop", "Fail", "Boom", "None", "Canc", "Bad", "Styled", "Gen", "Send", "Prog", "Slow", "Who", "Read",
             "Die", "Ask", "Nest", "Spread"):
    ACTIONS[ACTS + each + "Action"] = {}
PAYLOAD = {"properties": {"text": {"type": "string"}, "n": {"type": "integer"}}, "required": ["text"]}
FREE = ("ask", "nest", "spread")
