"""Floods: batches, giant messages and endless small ones. They must cost bounded memory, let
deadlines and signals through, and leave the other peers of a run their turn."""
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

import attack
from attack import MB, MIB, Program, Wrong, duplex, eventually, python, run, same, time_bound, true

# A hostile peer: writes argv[1] (a name of FLOODS) for argv[2] times (0: until nobody reads), after it
# has answered as many requests as argv[3] says. It never reads again.
FLOOD = r"""
import os, sys
def big(n, piece, head=b"", tail=b""):
    return head + piece * ((n - len(head) - len(tail)) // len(piece)) + tail + b"\n"
M = 64 * 1024 * 1024 - 64
FLOODS = {
    "batch": lambda: big(M, b"1,", b"[", b"1]"),
    "values": lambda: big(M, b"1,", b'{"jsonrpc":"2.0","method":"n","params":[', b"1]}"),
    "strings": lambda: big(M, b'"a\\nb\\tc\\"d\\\\",', b'{"jsonrpc":"2.0","method":"n","params":[', b"1]}"),
    "escapes": lambda: big(M, b"\\n", b'{"jsonrpc":"2.0","method":"n","params":["', b'"]}'),
    "method": lambda: big(M, b"\\n", b'{"jsonrpc":"2.0","method":"', b'"}'),
    "name": lambda: big(M, b"\\n", b'{"', b'":1}'),
    "id": lambda: big(M, b"\\n", b'{"jsonrpc":"2.0","method":"n","id":"', b'"}'),
    "digits": lambda: big(M, b"7", b'{"jsonrpc":"2.0","method":"n","id":', b"}"),
    "spaces": lambda: big(M, b" ", b'{"jsonrpc":"2.0","method":"n"', b"}"),
    "blanks": lambda: big(M, b" "),
    "deep": lambda: big(M, b'{"a":' * 100 + b"1" + b"}" * 100 + b",", b'{"jsonrpc":"2.0","method":"n","params":[', b"1]}"),
    "progress": lambda: big(M, b"\\n", b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"a":"', b'","progressToken":1,"progress":1}}'),
    "ids": lambda: big(M, b'{"jsonrpc":"2.0","id":77777777,"result":1}\n')[:-1],
    "lines": lambda: big(M, b"1\n")[:-1],
    "words": lambda: big(M, b"[1]\n")[:-1],
    "batches": lambda: big(M, b"[" + b"1," * 900 + b"1]\n")[:-1],
    "notes": lambda: big(M, b'{"jsonrpc":"2.0","method":"n"}\n')[:-1],
    "requests": lambda: big(M, b'{"jsonrpc":"2.0","id":"a","method":"n"}\n')[:-1],
}
for i in range(int(sys.argv[3])):
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    if '"id"' not in line:
        line = sys.stdin.readline()
    import json
    os.write(1, json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {
        "protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}}).encode() + b"\n")
data = FLOODS[sys.argv[1]]()
times = int(sys.argv[2])
try:
    while True:
        view = memoryview(data)
        while view:
            view = view[os.write(1, view[:1 << 20]):]
        times -= 1
        if not times:
            break
    import time
    time.sleep(1000)
except OSError:
    pass
"""


def flood(name, times=0, handshakes=0):
    return python(FLOOD, name, str(times), str(handshakes))


def call_ends(name, times, memory):
    """duplex call, whose peer floods, ends when its time is over."""
    code, _, said = run(duplex("call", "-t", "5s", "-p", "jsonrpc", "-f", "line", "foo", "--", *flood(name, times)),
                        6 if not attack.IS_ASAN else 20, memory)
    true(code != 0, "exit code 0 without an answer")
    return said


def attack_batch_call():
    """One line of 30 million elements is one invalid request: it costs its own size and no more."""
    said = call_ends("batch", 1, 200 * MB)
    true("no response within 5 s" in said or "timed out" in said, "it does not say why it ended: " + said)


def attack_batches_call():
    """Many batches of many errors, from a peer that never reads the replies."""
    call_ends("batches", 0, 400 * MB)


def attack_values_call():
    """30 million values are refused before a tree is built of them."""
    call_ends("values", 1, 200 * MB)


def attack_strings_call():
    call_ends("strings", 0, 500 * MB)


def attack_lines_call():
    call_ends("lines", 0, 200 * MB)


def attack_deadline_under_every_flood_long():
    """-t 5s ends within 6 s, whatever comes."""
    names = ("batch", "values", "strings", "escapes", "method", "name", "id", "digits", "spaces", "blanks", "deep",
             "ids", "lines", "words", "batches", "notes", "requests")
    for name in names:
        call_ends(name, 0, 700 * MB)


def attack_tap_signals():
    """A tap that records a flood leaves soon after a signal, and at once after another one."""
    for signals, seconds in ((1, 6), (2, 3)):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            words = ["sh", "-c", 'exec "$@" >/dev/null', "sh", *duplex("tap", "-o", trace, "--", "yes", "{}")]
            with Program(words) as program:
                eventually(lambda: os.path.exists(trace) and os.path.getsize(trace) > MB, "something is recorded")
                time.sleep(1)
                began = time.monotonic()
                for _ in range(signals):
                    os.kill(program.pid, signal.SIGTERM)
                    time.sleep(0.5)
                same(program.child.wait(time_bound(30)), 128 + signal.SIGTERM, "exit code")
                took = time.monotonic() - began
                true(took < time_bound(seconds), "it took %.1f s" % took)
                true(took < 0.9 * seconds / 2 or "the recording is not complete" in program.said(), program.said())


def attack_batch_mcp():
    """A server that claims a revision with batches."""
    code, _, said = run(duplex("mcp", "tools", "-t", "5s", "--", *flood("batch", 1, 1)), 10, 200 * MB)
    true(code != 0, "exit code 0 without an answer: " + said)


def attack_batch_serve():
    """A client floods our server with a batch: one error, and it serves on."""
    with Program(duplex("mcp", "serve", "files", attack.HERE), stdin=None) as program:
        send = program.child.stdin
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
        send.write(json.dumps(hello).encode() + b"\n")
        send.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        send.write(b"[" + b"1," * (32 * MIB - 100) + b"1]\n")
        send.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        send.close()
        same(program.wait(60), 0, "its exit code")
        program.below(200 * MB)
        program.is_sane()
        lines = program.printed().splitlines()
        same(len(lines), 3, "how many answers came")
        same(json.loads(lines[1])["error"]["code"], -32600, "the answer to the batch")
        same(json.loads(lines[2]), {"jsonrpc": "2.0", "id": 2, "result": {}}, "the answer after it")


ECHO = """
import sys
for line in sys.stdin:
    head, _, rest = line.partition('"id":')
    identity = rest.split(",")[0].split("}")[0]
    sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":1}\\n' % identity)
    sys.stdout.flush()
"""


class Run:
    """duplex run with a peer that floods and one that answers, and a client of its socket."""

    def __init__(self, name, times=0, good=ECHO):
        place = os.path.join(attack.BUILD, "attacks-run-%d" % os.getpid())
        os.makedirs(place, mode=0o700, exist_ok=True)
        self.place = place
        config = {"duplex": 1, "peers": {
            "good": {"command": python(good), "protocol": "jsonrpc", "framing": "line"},
            "bad": {"command": flood(name, times), "protocol": "jsonrpc", "framing": "line"}}}
        path = os.path.join(place, "run.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.name = "attack-%d" % os.getpid()
        self.program = Program(duplex("run", "--name", self.name, "--config", path), env={"XDG_RUNTIME_DIR": place})

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.program.__exit__(*what)
        shutil.rmtree(self.place, ignore_errors=True)

    def connect(self):
        def find():
            for folder, _, files in os.walk(self.place):
                for file in files:
                    path = os.path.join(folder, file)
                    try:
                        client = socket.socket(socket.AF_UNIX)
                        client.connect(path)
                        return client
                    except OSError:
                        client.close()
            return None
        return eventually(find, "the socket of the run does not come up")

    def latencies(self, rate, seconds):
        """Calls at a fixed rate, whether or not the ones before were answered; their times in s."""
        client = self.connect()
        client.settimeout(time_bound(60))
        body = b'{"jsonrpc":"2.0","id":0,"method":"call","params":{"name":"good","method":"x"}}\n'
        client.sendall(body)
        stream = client.makefile("rb")
        first = json.loads(stream.readline())
        true("result" in first, "the first call fails: %s" % first)
        begun = time.monotonic()
        due = [begun + i / rate for i in range(int(rate * seconds))]
        took = []

        def read():
            for _ in due:
                got = json.loads(stream.readline())
                took.append(time.monotonic() - due[got["id"] - 1])
        reader = threading.Thread(target=read)
        reader.start()
        for number, when in enumerate(due, 1):
            time.sleep(max(0, when - time.monotonic()))
            client.sendall(body.replace(b'"id":0', b'"id":%d' % number))
        reader.join(time_bound(60))
        true(not reader.is_alive(), "%d of %d calls were answered" % (len(took), len(due)))
        client.close()
        return sorted(took)


def attack_sibling():
    """A peer's batch of 64 MiB does not hold the others up: in the past that took a minute."""
    with Run("batch", 3) as whole:
        took = whole.latencies(20, 3)
        true(took[-1] < time_bound(10), "a call took %.1f s" % took[-1])
        whole.program.below(200 * MB)
        whole.program.is_sane()


def attack_large_result_passes():
    """A result that is too long to be parsed by the run still arrives whole."""
    code = ECHO.replace("result\":1}", "result\":[%s]}").replace("% identity", "% (identity, ','.join(map(str, range(300000))))")
    with Run("notes", 1, code) as whole:
        client = whole.connect()
        client.settimeout(time_bound(30))
        client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"call","params":{"name":"good","method":"x"}}\n')
        answer = json.loads(client.makefile("rb").readline())
        true(answer.get("result") == list(range(300000)), "the result is incomplete: %s" % str(answer)[:200])
        client.close()


def latency_under(name, seconds):
    with Run(name) as whole:
        took = whole.latencies(100, seconds)
        p99, longest = took[int(len(took) * 0.99)] * 1000, took[-1] * 1000
        print("# %s: p50 %.1f ms, p99 %.1f ms, maximum %.1f ms, %d MB" % (
            name, took[len(took) // 2] * 1000, p99, longest, whole.program.peak / MB))
        whole.program.is_sane()
        if not attack.IS_ASAN:
            true(p99 < 50, "%s: p99 is %.1f ms" % (name, p99))
            true(longest < 300, "%s: the maximum is %.1f ms" % (name, longest))
            whole.program.below(400 * MB)


def attack_sibling_alone_long():
    """While a peer repeats the worst input for a minute, calls of another take less than 50 ms."""
    latency_under("strings", 60)


def attack_sibling_every_flood_alone_long():
    for name in ("batch", "values", "escapes", "method", "name", "id", "digits", "spaces", "blanks", "deep", "ids",
                 "lines", "words", "batches", "notes", "requests", "progress"):
        latency_under(name, 3)


if __name__ == "__main__":
    sys.exit(attack.main(globals()))
