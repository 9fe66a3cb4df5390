"""Progress, pages and tasks without end: a call ends when its time is up all the same."""
import glob
import sys

import attack
from attack import MB, PATIENCE, Skip, duplex, python, run, time_bound, true

# An MCP server that never answers a call of a tool, but always has something to say about it: progress
# ten times a second, one more page of a list, or a task that is still working.
ENDLESS = r"""
import json, sys, time
def send(**members):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **members}) + "\n")
    sys.stdout.flush()
TASK = {"taskId": "t", "status": "working", "ttl": None, "pollInterval": 50,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
pages = 0
for line in sys.stdin:
    asked = json.loads(line)
    method, id, params = asked.get("method"), asked.get("id"), asked.get("params") or {}
    if method == "initialize":
        send(id=id, result={"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "e", "version": "1"},
             "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}, "list": {}}}})
    elif method == "tools/list":
        pages += 1
        time.sleep(0.05)
        send(id=id, result={"tools": [], "nextCursor": str(pages)})
    elif method == "tools/call" and "task" in params:
        send(id=id, result={"task": TASK})
    elif method == "tasks/get":
        send(id=id, result=TASK)
    elif method == "tools/call":
        token = params.get("_meta", {}).get("progressToken")
        step = 0
        while token is not None:
            step += 1
            send(method="notifications/progress", params={"progressToken": token, "progress": step})
            time.sleep(0.1)
    elif method == "ping":
        send(id=id, result={})
"""


def ends(words, seconds, message, env=None):
    """It ends with code 5 and that message, between these seconds."""
    with attack.Program(duplex(*words, "--", *python(ENDLESS)), env=env) as program:
        code = program.wait(seconds[1])
        took = attack.time.monotonic() - program.began
        true(code == 5, "it ended with code %d" % code)
        true(took >= seconds[0], "it ended after %.1f s" % took)
        true(message in program.said(), program.said()[-300:])
        program.below(100 * MB)
        program.is_sane()


MCP = ("mcp", "tools", "call", "work")
CALL = ("call", "-p", "mcp", "tools/call", "name=work")


def attack_progress_endless_mcp():
    """-t is a hard limit; it was none as soon as progress was shown."""
    ends((*MCP, "--progress", "-t", "2s"), (1.9, 6), "(--timeout)")


def attack_progress_endless_call():
    ends((*CALL, "--progress", "-t", "2s"), (1.9, 6), "(--timeout)")


def attack_progress_reset_has_a_total():
    for words in MCP, CALL:
        ends((*words, "--reset-on-progress", "-t", "1s", "--total-timeout", "3s"), (2.9, 7), "(--total-timeout)")


def attack_progress_endless_pages():
    ends(("mcp", "tools", "-t", "2s"), (1.9, 6), "(--timeout)")


def attack_progress_endless_task():
    ends((*MCP, "--task", "-t", "2s"), (1.9, 6), "(--timeout)")


def faketime(speed):
    """An environment in which all clocks run so much faster."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Skip("libfaketime is not installed")
    if attack.IS_ASAN:
        raise Skip("libfaketime and the address sanitizer don't go together")
    return {"LD_PRELOAD": found[0], "FAKETIME": "+0 x%d" % speed}


def default_total(words):
    """Ten minutes, if nothing is said: seen with a clock that is 200 times as fast."""
    code, text, _ = run(duplex(words[0], "--help-all"), PATIENCE)
    true(code == 0 and "progress or not (10m," in " ".join(text.split()), text)
    words = (*words, "--start-timeout", "1h")  # of that clock, too
    ends((*words, "--reset-on-progress"), (1.5, 20), "(--total-timeout)", env=faketime(200))
    ends((*words, "--reset-on-progress", "-t", "20m"), (1.5, 20), "(--total-timeout)", env=faketime(600))


def attack_progress_default_total_mcp():
    default_total(MCP)


def attack_progress_default_total_call():
    default_total(CALL)


def attack_progress_total_zero():
    """0 would be no limit in one reading and the shortest in another."""
    for words in MCP, CALL:
        for wrong in "0", "0s", "00ms", "-1", "":
            code, _, said = run(duplex(*words, "--total-timeout", wrong, "--", "/bin/false"), time_bound(PATIENCE))
            true(code == 2 and said.count("\n") == 1, said)
            true("--total-timeout: " + ("0 leaves no time" if "0" in wrong else "expected a time") in said, said)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
