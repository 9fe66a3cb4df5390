"""Values for one definition of the MCP schema: 1,000 of them, the same in every run, each tenth of them wrong in one
place."""

import random

DEFINITION = "CallToolResult"
COUNT = 1000

WORDS = ("alpha", "budget", "ceiling", "drift", "estuary", "façade", "gravel", "harbour", "isthmus", "jetty", "kelp",
         "lagoon", "marsh", "naïve", "orchard", "parish", "quarry", "ridge", "shoal", "timber")


def _text(pick, low, high):
    return " ".join(pick.choice(WORDS) for _ in range(pick.randint(low, high)))


def _uri(pick):
    return f"https://{pick.choice(WORDS[:5])}.example/{pick.choice(WORDS)}/{pick.randrange(1000)}".encode(
        "ascii", "ignore").decode()


def _maybe(pick, share, value, key, make):
    if pick.random() < share:
        value[key] = make()
    return value


def _annotations(pick):
    value = {"audience": pick.sample(["user", "assistant"], pick.randint(1, 2)),
             "priority": round(pick.random(), 3)}
    return _maybe(pick, 0.5, value, "lastModified", lambda: f"2025-11-{pick.randint(1, 28):02}T12:00:00Z")


def _meta(pick):
    return {f"example.org/{pick.choice(WORDS)}": pick.choice([1, "x", None, [1, 2], {"a": {"b": True}}])
            for _ in range(pick.randint(1, 3))}


def _icon(pick):
    return {"src": _uri(pick), "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": pick.choice(["dark", "light"])}


def _block(pick):
    kind = pick.choices(["text", "image", "audio", "resource_link", "resource"], [50, 10, 5, 20, 15])[0]
    value = {"type": kind}
    if kind == "text":
        value["text"] = _text(pick, 3, 40)
    elif kind in ("image", "audio"):
        value |= {"data": "QUJD" * pick.randint(4, 60), "mimeType": f"{kind}/x"}
    elif kind == "resource_link":
        value |= {"name": _text(pick, 1, 2), "uri": _uri(pick)}
        _maybe(pick, 0.5, value, "description", lambda: _text(pick, 2, 12))
        _maybe(pick, 0.4, value, "size", lambda: pick.randrange(10**7))
        _maybe(pick, 0.3, value, "icons", lambda: [_icon(pick) for _ in range(pick.randint(1, 2))])
    else:
        body = {"text": _text(pick, 3, 30)} if pick.random() < 0.6 else {"blob": "QUJD" * 8}
        value["resource"] = {"uri": _uri(pick), "mimeType": "text/plain", **body}
    _maybe(pick, 0.3, value, "annotations", lambda: _annotations(pick))
    return _maybe(pick, 0.1, value, "_meta", lambda: _meta(pick))


def _result(pick):
    value = {"content": [_block(pick) for _ in range(pick.randint(1, 6))]}
    _maybe(pick, 0.4, value, "isError", lambda: pick.random() < 0.2)
    _maybe(pick, 0.3, value, "structuredContent", lambda: _meta(pick))
    return _maybe(pick, 0.2, value, "_meta", lambda: _meta(pick))


def _spoil(pick, value):
    """One mistake, at the top, in a block, or deep inside one."""
    block = pick.choice(value["content"])
    mistakes = [
        lambda: value.pop("content"),
        lambda: value.update(content="none"),
        lambda: value.update(isError="no"),
        lambda: value.update(_meta=[]),
        lambda: block.pop("type"),
        lambda: block.update(type="video"),
        lambda: block.update(annotations={"priority": 2}),
        lambda: block.update(annotations={"audience": ["nobody"]}),
        lambda: value["content"].append(17),
        lambda: value["content"].append({"type": "resource", "resource": {"uri": "x:y", "text": 1}}),
    ]
    pick.choice(mistakes)()
    return value


def make():
    pick = random.Random(20251125)
    made = []
    for at in range(COUNT):
        valid = at % 10 != 7
        value = _result(pick)
        made.append({"valid": valid, "value": value if valid else _spoil(pick, value)})
    return made
