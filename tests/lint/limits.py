"""Each limit of duplex lint, on both sides of it.

    limits.py DUPLEX SIXTH

SIXTH is a protocol whose messages have at most 65,536 bytes.
"""
import json
import subprocess
import sys

DUPLEX, SIXTH = sys.argv[1:]
HEADER = '{"duplex-trace":1,"time":"us","part":1}\n'
failures = 0


def ask(number, who="host", **more):
    return {"from": who, "message": {"jsonrpc": "2.0", "id": number, "method": "a"}, **more}


def answer(number, who="plugin", **more):
    return {"from": who, "message": {"jsonrpc": "2.0", "id": number, "result": 0}, **more}


def notify(text):
    return '{"from":"host","message":' + text + "}"


def expect(what, records, kinds, *options):
    """Only these kinds are found, each as often as it stands there."""
    global failures
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    done = subprocess.run([DUPLEX, "lint", "--json", "--max", "0", *options, "-"], timeout=30, check=False,
                          input=(HEADER + "\n".join(lines) + "\n").encode(), capture_output=True)
    found = [json.loads(line).get("kind") for line in done.stdout.splitlines()]
    found = [kind for kind in found if kind not in (None, "open-at-end")]
    if sorted(found) != sorted(kinds) or done.returncode not in (0, 7):
        print(f"{what}: found {found[:10]}, expected {kinds} (exit code {done.returncode})")
        failures += 1


# Open requests: the first was forgotten when one too many came, so its answer says nothing.
full = [json.dumps(ask(i)) for i in range(100000)]
expect("open requests", full + [answer(-1), answer(0)], ["id-unknown"])
expect("open requests and one", full + [ask(100000), answer(-1), answer(0), answer(1)], ["open-limit"])
expect("open requests of two", full + [ask(i, peer="b") for i in range(1000)], [])

# Their room: 64 MiB, with ids of a kilobyte.
long = [json.dumps(ask(f"{i:01000}")) for i in range(57000)]
expect("room", long, [])
expect("no room", long + [ask(f"{i:01000}") for i in range(57000, 63000)], ["open-limit"])

# Conversations.
talks = [ask(1, peer=f"p{i}") for i in range(1024)]
expect("conversations", talks + [answer(1, peer="p0"), answer(2, peer="p0")], ["id-unknown"])
expect("conversations and one", talks + [ask(1, peer="q"), ask(1, peer="r"), answer(2, peer="p0")], ["conversations"])
# The one that was heard of last stays.
expect("conversations and one, p0 being heard", talks + [answer(1, peer="p0"), ask(1, peer="q"), answer(2, peer="p0")],
       ["conversations", "id-unknown"])
expect("conversations one after the other",
       [line for i in range(3000) for line in (ask(1, peer=f"p{i}"), answer(1, peer=f"p{i}"), {"peer": f"p{i}", "event": "exit"})], [])

# Cancelled requests that nobody answers.
cancelled = [line for i in range(10000) for line in (
    {"from": "host", "message": {"jsonrpc": "2.0", "id": i, "method": "ping"}},
    {"from": "host", "message": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}})]
more = [json.loads(json.dumps(line).replace("9999", "10000")) for line in cancelled[-2:]]
expect("cancelled", cancelled + [answer(-1)], ["id-unknown"], "-p", "mcp")
expect("cancelled and one", cancelled + more + [answer(-1)], [], "-p", "mcp")

# Answers that are remembered.
answered = [line for i in range(1024) for line in (ask(i), answer(i))]
expect("answered", answered + [answer(0)], ["id-answered"])
expect("answered and one", answered + [ask(1024), answer(1024), answer(0), answer(1)], ["id-unknown", "id-answered"])

# Lengths and depths.
expect("id", [ask("i" * 1022), answer("i" * 1022)], [])
expect("long id", [ask("i" * 1023), answer("i" * 1023)], ["id-limit"])
expect("long id that nobody asked", [answer("i" * 1023)], ["id-unknown"])
frame = '{"jsonrpc":"2.0","method":"a","params":%s}'
expect("depth", [notify(frame % ("[" * 999 + "]" * 999))], [])
expect("too deep", [notify(frame % ("[" * 1000 + "]" * 1000))], ["json-depth"])
hello = '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"name":"%s"}}'
fill = 65536 - len(hello) + 2
expect("length", [notify(hello % ("x" * fill))], [], "-p", SIXTH)
expect("too long", [notify(hello % ("x" * (fill + 1)))], ["message-limit"], "-p", SIXTH)

# Names of peers are told apart however long they are.
name = "n" * 5000
expect("long names", [ask(1, peer=name + "a"), answer(1, peer=name + "b"), answer(1, peer=name + "a")], ["id-unknown"])

sys.exit(failures != 0)
