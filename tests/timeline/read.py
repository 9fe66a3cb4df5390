"""Reads what duplex timeline has written, and compares it with the trace.

    read.py page TRACE PAGE         every message is there as it was, and has its answer
    read.py chrome TRACE EVENTS     the same for --chrome
    read.py facts PAGE              what the page says of itself, and how many texts of which length
"""
import html.parser
import json
import re
import sys

REQUEST, NOTIFICATION, RESULT, ERROR, JUNK, BROKEN, STRAY, STDERR, EVENT, DROPPED, UNREAD = range(1, 12)
IS_JSON, IS_BYTES, IS_CUT = 64, 128, 256
SIDES = {"host": 1, "plugin": 2}


class Page(html.parser.HTMLParser):
    """The scripts of a page by their ids; what else there is, is counted."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.scripts, self.tags, self.at = {}, {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag == "script":
            self.at = dict(attrs).get("id", "")
            assert self.at not in self.scripts, self.at
            self.scripts[self.at] = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self.at = None

    def handle_data(self, data):
        if self.at is not None:
            self.scripts[self.at] += data


def restored(text):
    return re.sub(r"\\(?:x3c|.)", lambda found: "<" if found[0] == "\\x3c" else found[0], text)


def read_page(path):
    with open(path, encoding="utf-8", newline="") as file:
        page = Page(file.read())
    facts = json.loads(page.scripts["facts"])
    items = []
    for number in range(facts["blocks"]):
        texts = page.scripts[f"t{number}"]
        assert "<" not in texts and "\r" not in texts and "\0" not in texts
        lines, block, time = texts.split("\n"), json.loads(page.scripts[f"c{number}"]), 0
        assert block["first"] == len(items) and len(lines) == len(block["time"]), number
        cut = dict(block["cut"])
        for i, line in enumerate(lines):
            time += block["time"][i]
            code, lane, name = block["code"][i], block["lane"][i], block["name"][i]
            text = restored(line) if code & IS_JSON else json.loads(line)
            items.append({"time": time, "kind": code & 15, "side": code >> 4 & 3, "text": text,
                          "lane": tuple(block["lanes"][lane - 1]) if lane else None, "bytes": block["bytes"][i],
                          "name": block["names"][name - 1] if name else None, "cut": cut.get(i), "is_bytes": bool(code & IS_BYTES),
                          "about": len(items) - block["back"][i] if block["back"][i] else None})
            assert (i in cut) == bool(code & IS_CUT)
    assert len(items) == facts["items"]
    assert page.tags["script"] == 2 * facts["blocks"] + 2, page.tags
    assert "img" not in page.tags and "iframe" not in page.tags
    return facts, items


def read_trace(path):
    """The records of one part, and of each message the very text."""
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            record = json.loads(line)
            if "message" in record:
                record["raw"] = line[line.index('"message":') + 10:-2]
            yield record


def pairs(path):
    """(time, side, text, number of the request it answers): our own bookkeeping, for traces without tricks."""
    waiting, number = {}, 0
    for record in read_trace(path):
        if "duplex-trace" in record:
            continue
        message, about = record.get("message"), None
        if message is not None:
            place = record["peer"], record["run"]
            key = json.dumps(message.get("id"))
            if "method" in message and "id" in message:
                waiting[place, record["from"], key] = number
            elif "method" not in message:
                other = "plugin" if record["from"] == "host" else "host"
                about = waiting.pop((place, other, key), None)
            elif message["method"] == "$/cancelRequest":
                about = waiting.get((place, record["from"], json.dumps(message["params"]["id"])))
        yield record, about
        number += 1


def compare_page(trace, path):
    facts, items = read_page(path)
    expected = list(pairs(trace))
    assert len(items) == len(expected), (len(items), len(expected))
    for item, (record, about) in zip(items, expected):
        assert item["time"] == record["t"] and item["about"] == about, (item, record)
        assert item["side"] == SIDES.get(record.get("from"), 0)
        assert item["cut"] is None
        if "message" in record:
            message = record["message"]
            assert item["text"] == record["raw"]
            assert item["lane"] == (0, record["peer"], str(record["run"]))
            assert item["bytes"] == record["bytes"]
            kind = (REQUEST if "id" in message else NOTIFICATION) if "method" in message else ERROR if "error" in message else RESULT
            assert item["kind"] == kind and item["name"] == message.get("method")
        elif "dropped" in record:
            assert (item["kind"], item["text"]) == (DROPPED, str(record["dropped"]))
        elif "event" in record:
            assert (item["kind"], item["name"], json.loads(item["text"])) == (EVENT, record["event"], record["data"])
        else:
            kind, word = (STRAY, "stray") if "stray" in record else (STDERR, "stderr")
            assert (item["kind"], item["text"]) == (kind, record[word])
    messages = sum("message" in record for record, _ in expected)
    assert facts["messages"] == messages
    answered = sum(item["about"] is not None for item in items)
    print(f"{messages} messages, {answered} pairs")


def compare_chrome(trace, path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    expected = list(pairs(trace))
    phases = {}
    for event in events:
        phases.setdefault(event["ph"], []).append(event)
    messages = [record for record, _ in expected if "message" in record]
    assert [event["args"]["text"] for event in phases["X"]] == [record["raw"] for record in messages]
    assert [event["ts"] for event in phases["X"]] == [record["t"] for record in messages]
    begins = {event["id"]: event for event in phases["b"]}
    numbers = [number for number, (record, _) in enumerate(expected) if "method" in record.get("message", {}) and "id" in record["message"]]
    assert sorted(begins) == numbers
    ends = {event["id"]: event for event in phases["e"]}
    answers = {about: record for record, about in expected if about is not None and "method" not in record["message"]}
    assert sorted(ends) == sorted(answers)
    for number, event in ends.items():
        assert event["ts"] == answers[number]["t"] and event["name"] == begins[number]["name"] and event["pid"] == begins[number]["pid"]
    assert len(phases["s"]) == len(begins) and len(phases["f"]) == len(ends)
    assert len(phases["n"]) == sum(about is not None for record, about in expected if "method" in record.get("message", {}))
    print(f"{len(messages)} messages, {len(ends)} of {len(begins)} calls end")


def tell_facts(path):
    facts, items = read_page(path)
    facts.pop("duplex")
    print(json.dumps(facts, separators=(",", ":")))
    for item in items:
        print(item["time"], item["kind"], item["side"], json.dumps(item["lane"]), json.dumps(item["name"]), item["about"], item["cut"], json.dumps(item["text"][:200]))


if __name__ == "__main__":
    if sys.argv[1] == "page":
        compare_page(*sys.argv[2:])
    elif sys.argv[1] == "chrome":
        compare_chrome(*sys.argv[2:])
    else:
        tell_facts(sys.argv[2])
