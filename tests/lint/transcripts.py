"""What real programs said: MCP's without a flaw, and others with the flaws that they were made with.

    transcripts.py DUPLEX FOLDER
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

DUPLEX, FOLDER = sys.argv[1:]
failures = 0


def convert(path, sides, part):
    """Each part of a transcript is a conversation."""
    runs = {}
    yield {"duplex-trace": 1, "time": "us", "part": 1}
    with open(path, encoding="utf-8") as file:
        for entry in map(json.loads, file):
            run = runs.setdefault(entry.get(part), len(runs) + 1)
            record = {"t": int(entry.get("ms", 0) * 1000), "peer": "p", "run": run}
            if entry["from"] in sides:
                record["from"] = sides[entry["from"]]
                record.update({"message": entry["message"]} if "message" in entry else {"broken": entry["line"]})
            elif entry["from"] == "stderr":
                record.update({"from": "plugin", "stderr": entry["line"]})
            else:
                continue
            yield record


def look(name, protocol, sides, part):
    """How many of each kind; None if there is no such transcript."""
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        print(f"skipped: there is no {name}")
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for record in convert(path, sides, part):
            print(json.dumps(record), file=file)
        file.flush()
        done = subprocess.run([DUPLEX, "lint", "--json", "--max", "0", "-p", protocol, file.name], timeout=20,
                              capture_output=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = collections.Counter(one["kind"] for one in found[:-1])
    print(f"{name} as {protocol}: exit code {done.returncode}, {dict(kinds)}, {found[-1]['summary']}")
    return done.returncode, kinds, found[-1]["summary"]["messages"]


def check(condition, what):
    global failures
    if not condition:
        print("not true:", what)
        failures += 1


SIDES = {"client": "host", "server": "plugin", "wm": "host", "er": "plugin"}
seen = look("mcp-2025-11-25.jsonl", "mcp@2025-11-25", SIDES, "section")
check(seen in (None, (0, {}, 76)), "MCP is as it should be")
# Without the protocol nobody knows that two of the requests were cancelled.
seen = look("mcp-2025-11-25.jsonl", "jsonrpc", SIDES, "section")
check(seen in (None, (0, {"open-at-end": 2}, 76)), "MCP is JSON-RPC")
# In these, what is wrong was tried on purpose: it is found.
for transcript, protocol, part, messages, kinds in (
        ("autohand.jsonl", "autohand", "section", 408,
         {"broken", "batch-empty", "not-a-message", "version", "result-missing", "id-type", "params-fit", "method-kind",
          "id-null"}),
        ("finecode.jsonl", "finecode@real", "capture", 235,
         {"params-fit", "id-type", "method-unknown", "cancel-unknown", "early"})):
    seen = look(transcript, protocol, SIDES, part)
    check(not seen or (seen[0] == 7 and kinds <= set(seen[1]) and seen[2] == messages), transcript)
sys.exit(failures != 0)
