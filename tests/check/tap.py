#!/usr/bin/env python3
"""The parts of check-tap.sh that need two ends at once: python3 tap.py PART DUPLEX."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

DUPLEX = sys.argv[2]
MIB = 1 << 20


def tap(*words, **how):
    how.setdefault("stdin", subprocess.PIPE)
    how.setdefault("stdout", subprocess.PIPE)
    return subprocess.Popen([DUPLEX, "tap", *words], **how)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: expected {wanted!r}, got {got!r}")


def within(seconds, what, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within {seconds} s: {what}")
        time.sleep(0.01)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def read_trace(*paths):
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        expect(f"the header of {path}", lines[0]["duplex-trace"], 1)
        records += lines[1:]
    return records


def pieces():
    """Random bytes in awkward pieces, both ways, with pauses."""
    rng = random.Random(7)
    sent = bytearray()
    with tap("-o", "pieces.jsonl", "--", "cat") as process:
        got = bytearray()

        def read():
            while piece := process.stdout.read1(rng.choice((1, 7, 4096, 65536))):
                got.extend(piece)
        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(400):
            piece = rng.randbytes(rng.choice((1, 2, 3, 17, 4095, 4096, 4097, 65535, 65537)))
            if rng.random() < 0.3:
                piece = rng.choice((b"Content-Length: 3\r\n\r\n[1]", b"\n", b"{}\n", b"Content-Length: 9\r\n",
                                    b"Content-Length: 99999999999\r\n\r\n", b"\r\n\r\n", b"\0"))
            sent += piece
            process.stdin.write(piece)
            process.stdin.flush()
            if rng.random() < 0.05:
                time.sleep(0.002)
        process.stdin.close()
        reader.join()
        expect("the exit code", process.wait(20), 0)
    expect("the bytes that came back", bytes(got) == bytes(sent), True)
    read_trace("pieces.jsonl")


def both():
    """100 MiB each way at once, to a command that reads and writes slowly, for a host that does so, too."""
    command = """
import os, random, sys, threading, time, hashlib
def write():
    rng = random.Random(2)
    block = rng.randbytes(1 << 20)
    for i in range(100):
        os.write(1, block[:1000])
        rest = memoryview(block)[1000:]
        while rest: rest = rest[os.write(1, rest):]
        if i % 10 == 0: time.sleep(0.01)
    os.close(1)
writer = threading.Thread(target=write); writer.start()
sum_ = hashlib.sha256(); n = 0
while piece := os.read(0, 300000):
    sum_.update(piece); n += len(piece)
    if n % 7 == 0: time.sleep(0.001)
writer.join()
sys.stderr.write(f"{n} {sum_.hexdigest()}")
"""
    import hashlib
    block, answer = random.Random(1).randbytes(MIB), random.Random(2).randbytes(MIB)
    process = tap("-o", "both.jsonl", "--size", "1M", "--keep", "1", "--", sys.executable, "-c", command,
                  stderr=subprocess.PIPE)

    def write():
        for _ in range(100):
            process.stdin.write(block)
        process.stdin.close()
    writer = threading.Thread(target=write)
    writer.start()
    got, count = hashlib.sha256(), 0
    while piece := process.stdout.read1(200000):
        got.update(piece)
        count += len(piece)
        if count % 5 == 0:
            time.sleep(0.001)
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    errors = process.stderr.read().decode()
    writer.join()
    expect("the exit code", process.wait(20), 0)
    expect("bytes to the host", count, 100 * MIB)
    expect("what came to the host", got.hexdigest(), hashlib.sha256(answer * 100).hexdigest())
    expect("what came to the command", errors.split("duplex")[0].strip(),
           f"{100 * MIB} {hashlib.sha256(block * 100).hexdigest()}")
    # A message may have 8 MiB, in each direction, and 128 MiB may wait for the disk.
    if peak > 160 * 1024:
        sys.exit(f"the tap took {peak} KiB")


def stuck():
    """Nobody reads on either side: neither memory nor time is lost, and all comes in the end."""
    process = tap("--", sys.executable, "-c",
                  "import os,time\ntime.sleep(1.2)\nwhile p := os.read(0, 65536): os.write(1, p)")
    os.set_blocking(process.stdin.fileno(), False)
    sent = 0
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        try:
            sent += os.write(process.stdin.fileno(), bytes(65536))
        except BlockingIOError:
            time.sleep(0.01)
    if not 65536 <= sent <= 4 * MIB:
        sys.exit(f"{sent} bytes were taken while nobody read")
    process.stdin.close()
    expect("bytes in the end", len(process.stdout.read()), sent)
    expect("the exit code", process.wait(20), 0)


def gone(*rows):
    """The host goes away: the command is ended, step by step, and nothing is left."""
    # One that leaves when its input ends; one that needs SIGTERM.
    for words, code in rows or (
            ("import sys; print('x', flush=True); sys.stdin.read()", 0),
            ("import time; print('x', flush=True)\ntime.sleep(60)", 128 + 15)):
        process = tap("-o", "gone.jsonl", "--", sys.executable, "-c", words)
        expect("the first line", process.stdout.readline(), b"x\n")
        pid = next(r["data"]["pid"] for r in wait_for_trace("gone.jsonl", 1) if r.get("event") == "start")
        process.stdout.close()  # its input stays open
        expect(f"the exit code of {words!r}", process.wait(20), code)
        expect("it is alive", alive(pid), False)
        process.stdin.close()


def gone_long():
    """One that needs SIGKILL."""
    gone(("import signal,time; signal.signal(15, signal.SIG_IGN); print('x', flush=True)\n"
          "while True: time.sleep(60)", 128 + 9))


def wait_for_trace(path, count):
    """The first records of a trace that is being written."""
    found = []

    def there():
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")[1:-1]
        except OSError:
            return False
        found[:] = [json.loads(line) for line in lines]
        return len(found) >= count
    within(20, f"{count} records in {path}", there)
    return found


def shared():
    """A file that another tap records to is not taken from it; one that is about to leave is waited for."""
    first = tap("-o", "shared.jsonl", "--", "cat")
    first.stdin.write(b'{"a":1}\n')
    first.stdin.flush()
    expect("its line", first.stdout.readline(), b'{"a":1}\n')
    second = tap("-o", "shared.jsonl", "--", "cat", stderr=subprocess.PIPE)
    told = second.stderr.read()
    expect("the exit code of another", second.wait(20), 2)
    expect("it says why", b"another process records to: shared.jsonl" in told, True)
    third = tap("-o", "shared.jsonl", "--", "cat")
    time.sleep(0.3)
    first.stdin.close()
    expect("the exit code", first.wait(20), 0)
    third.stdin.write(b'{"b":1}\n')
    third.stdin.close()
    expect("what comes to the one behind it", third.stdout.read(), b'{"b":1}\n')
    expect("its exit code", third.wait(20), 0)
    with open("shared.jsonl", encoding="utf-8") as file:
        said = [record["message"] for record in map(json.loads, file) if "message" in record]
    expect("what it recorded", said, [{"b": 1}] * 2)
    for one in (first.stdout, second.stdin, second.stdout, second.stderr, third.stdout):
        one.close()


def killed():
    """SIGKILL to the tap: the command and its own child go, too."""
    process = tap("-o", "killed.jsonl", "--", "sh", "-c", "sleep 60 & echo $!; wait")
    child = int(process.stdout.readline())
    pid = next(r["data"]["pid"] for r in wait_for_trace("killed.jsonl", 1) if r.get("event") == "start")
    expect("both are alive", alive(pid) and alive(child), True)
    process.kill()
    process.wait(20)
    within(20, "the command is gone", lambda: not alive(pid) and not alive(child))
    process.stdin.close()
    process.stdout.close()


def signals():
    """Signals are handed on, and the exit code is the command's."""
    for number, words, code in ((signal.SIGTERM, "sleep 60", 128 + 15),
                                (signal.SIGINT, "trap 'exit 9' INT; echo x; while :; do sleep 0.05; done", 9),
                                (signal.SIGUSR1, "trap 'exit 8' USR1; echo x; while :; do sleep 0.05; done", 8)):
        process = tap("--", "sh", "-c", words if "trap" in words else "echo x; exec " + words)
        process.stdout.readline()
        process.send_signal(number)
        expect(f"the exit code after {number}", process.wait(20), code)
        process.stdin.close()
        process.stdout.close()


def closing():
    """What one side closes, the other sees closed: no more and no less."""
    process = tap("--", "sh", "-c", "exec >&-; read x; exit 5")
    expect("its output ends while it lives", process.stdout.read(), b"")
    expect("it lives", process.poll(), None)
    process.stdin.write(b"x\n")
    process.stdin.close()
    expect("the exit code", process.wait(20), 5)
    process = tap("--", "sh", "-c", "exec <&-; sleep 1.5; echo late")
    broke = False
    try:
        for _ in range(100):
            process.stdin.write(b"x")
            process.stdin.flush()
            time.sleep(0.005)
    except BrokenPipeError:
        broke = True
    expect("writing to one that closed its input fails", broke, True)
    expect("its output", process.stdout.read(), b"late\n")
    expect("the exit code", process.wait(20), 0)
    # What it wrote before it left comes, however late that is read.
    process = tap("--", "sh", "-c", "head -c 120000 /dev/zero; exit 6")
    time.sleep(0.4)
    expect("it waits for its reader", process.poll(), None)
    expect("all that it wrote", len(process.stdout.read()), 120000)
    expect("the exit code", process.wait(20), 6)
    # A process that outlives the command and holds its output does not hold us.
    begin = time.monotonic()
    process = tap("--", "sh", "-c", "sleep 30 & echo x")
    expect("its output", process.stdout.read(), b"x\n")
    expect("the exit code", process.wait(20), 0)
    if time.monotonic() - begin > 15:
        sys.exit("it waited for who held the output")


def sockets():
    """As Node starts its children: a socket each way; and one for both."""
    for one in (False, True):
        ours, theirs = socket.socketpair()
        ours2, theirs2 = (ours, theirs) if one else socket.socketpair()
        process = subprocess.Popen([DUPLEX, "tap", "--", "cat"], stdin=theirs, stdout=theirs2)
        theirs.close()
        theirs2.close()
        data = os.urandom(3 * MIB)
        writer = threading.Thread(target=lambda: (ours.sendall(data), ours.shutdown(socket.SHUT_WR)))
        writer.start()
        got = bytearray()
        while piece := ours2.recv(100000):
            got += piece
        writer.join()
        expect("over sockets", bytes(got) == data, True)
        expect("the exit code", process.wait(20), 0)
        expect("blocking stays as it was", os.get_blocking(ours.fileno()), True)


def flags():
    """Others share our descriptors: none of them becomes non-blocking."""
    r, w = os.pipe()
    r2, w2 = os.pipe()
    process = subprocess.Popen([DUPLEX, "tap", "--", "cat"], stdin=r, stdout=w2, stderr=w2)
    os.write(w, b"hello")
    expect("what comes", os.read(r2, 100), b"hello")
    for fd in (r, w2):
        expect("blocking", os.get_blocking(fd), True)
    for fd in (r, w, w2):
        os.close(fd)
    expect("the exit code", process.wait(20), 0)
    os.close(r2)


def packets():
    """A pipe in packet mode gives less than it holds; nothing of that may be left behind."""
    r, w = os.pipe2(os.O_DIRECT)
    for _ in range(10):  # a pipe holds 16
        os.write(w, b"0123456789")
    process = subprocess.Popen([DUPLEX, "tap", "--", "cat"], stdin=r, stdout=subprocess.PIPE)
    os.close(r)
    got = b""
    end = time.monotonic() + 20
    os.set_blocking(process.stdout.fileno(), False)
    while len(got) < 100 and time.monotonic() < end:
        got += process.stdout.read() or b""
        time.sleep(0.005)
    expect("all packets, while the pipe is open", got, b"0123456789" * 10)
    os.close(w)
    expect("the exit code", process.wait(20), 0)
    process.stdout.close()
    # Large ones, to a command that reads less than a packet at a time.
    data = random.Random(3).randbytes(MIB)
    r, w = os.pipe2(os.O_DIRECT)
    with tap("--", sys.executable, "-c", "import os\nwhile p := os.read(0, 1000): os.write(1, p)", stdin=r) as process:
        os.close(r)
        writer = threading.Thread(target=lambda: (os.write(w, data), os.close(w)))
        writer.start()
        got = process.stdout.read()
        writer.join()
        expect("the exit code", process.wait(20), 0)
    expect("all large packets", got == data, True)


def errors():
    """The standard error goes through and into the trace; one that nobody reads does not stop the end."""
    process = tap("-o", "errors.jsonl", "--", "sh", "-c", "printf 'one\\ntwo\\nrest' >&2; echo out",
                  stderr=subprocess.PIPE)
    process.stdin.close()
    expect("the output", process.stdout.read(), b"out\n")
    expect("the standard error", process.stderr.read(), b"one\ntwo\nrest\nduplex tap: warning: the program printed text on stdout"
           b' that is not JSON-RPC: "out" (it breaks strict clients)\n')
    expect("the exit code", process.wait(20), 0)
    records = read_trace("errors.jsonl")
    expect("in the trace", [r["stderr"] for r in records if "stderr" in r], ["one\n", "two\n", "rest"])
    process = tap("--", "sh", "-c", "head -c 120000 /dev/zero >&2; echo out", stderr=subprocess.PIPE)
    expect("the output", process.stdout.readline(), b"out\n")
    expect("the exit code, though nobody reads its errors", process.wait(20), 0)
    process.stdin.close()
    process.stdout.close()
    process.stderr.close()


def attach():
    """Whoever looks on sees all; whoever stops looking slows nothing, and is told what is missing."""
    path = os.path.join(tempfile.mkdtemp(dir="."), "s")
    process = tap("--listen", path, "-o", "attach.jsonl", "--redact", "secret", "--limit", "64k", "--", "cat")
    # It has its mode before anybody can connect, but not from its first moment.
    within(20, "the socket, with its mode", lambda: os.path.exists(path) and os.stat(path).st_mode & 0o777 == 0o600)
    seen = subprocess.Popen([DUPLEX, "tap", "--attach", path, "--json"], stdout=subprocess.PIPE)
    expect("its first line", json.loads(seen.stdout.readline())["duplex-trace"], 1)
    plain = subprocess.Popen([DUPLEX, "tap", "--attach", "unix:" + path], stdout=subprocess.PIPE)
    stopped = subprocess.Popen([DUPLEX, "tap", "--attach", path, "--json"], stdout=open("stopped.out", "wb"))
    within(20, "the file", lambda: os.path.getsize("stopped.out") > 0)
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    process.stdin.write(b'{"secret":"x","n":-1}\n')
    process.stdin.flush()
    expect("what comes back", process.stdout.readline(), b'{"secret":"x","n":-1}\n')
    line = json.loads(seen.stdout.readline())
    expect("what is seen", (line["from"], line["message"]), ("host", {"secret": "***", "n": -1}))

    # The reader of the good one keeps up.
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(seen.stdout))
    reader.start()
    plain_lines = []
    plain_reader = threading.Thread(target=lambda: plain_lines.extend(plain.stdout))
    plain_reader.start()
    text = b'{"n":1,"text":"' + b"a" * 1000 + b'"}\n'
    begin = time.monotonic()
    for _ in range(100):
        process.stdin.write(text * 60)
        process.stdin.flush()
        for _ in range(60):
            process.stdout.readline()
    took = time.monotonic() - begin
    if took > 25:
        sys.exit(f"the traffic took {took} s beside one who does not look")
    process.stdin.close()
    expect("the exit code", process.wait(20), 0)
    reader.join()
    plain_reader.join()
    expect("the exit code of who looks on", seen.wait(20), 0)
    expect("the same", plain.wait(20), 0)
    got = [json.loads(line) for line in lines]
    counted = sum("message" in r or "event" in r for r in got) + sum(r.get("dropped", 0) for r in got)
    expect("records seen or told to be missing", counted, 12002)  # with that of the exit
    if not any(b" -> " in line for line in plain_lines) or not any(b" <- " in line for line in plain_lines):
        sys.exit("who reads sees no arrows")
    stopped.send_signal(signal.SIGCONT)
    stopped.wait(20)
    with open("stopped.out", encoding="utf-8") as file:
        late = [line for line in file.read().split("\n")[:-1]]
    if len(late) >= 12000:
        sys.exit("nothing was dropped for who did not look")
    expect("the socket is left", os.path.exists(path), False)


def attach_stderr():
    """--attach shows what the command wrote to stderr as stderr, even if it looks like a message."""
    script = r"""
import os, sys
os.write(2, b'{"level":"info","text":"started"}\nplain \x1b[31m\n')
line = sys.stdin.readline()
os.write(2, b"half a line")
sys.stdout.write(line)
sys.stdout.flush()
sys.stdin.read()
os.write(2, b"\n[1, 2]\n")
"""
    process = tap("-o", "errors.jsonl", "--name", "server", "--", sys.executable, "-c", script, stderr=subprocess.DEVNULL)
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.stdin.close()
    expect("the exit code", process.wait(20), 0)
    seen = subprocess.run([DUPLEX, "tap", "--attach", "errors.jsonl"], capture_output=True, text=True, timeout=20)
    shown = [line.split(None, 1)[1] for line in seen.stdout.splitlines()]
    expect("stderr", [line for line in shown if "stderr" in line], [
        'server stderr: {"level":"info","text":"started"}', "server stderr: plain \\x1b[31m", "server stderr: half a line",
        "server stderr: [1, 2]"])
    expect("messages", [line for line in shown if " -> " in line or " <- " in line], [
        'server -> {"jsonrpc":"2.0","id":1,"method":"x"}', 'server <- {"jsonrpc":"2.0","id":1,"method":"x"}'])
    process.stdout.close()


def follow():
    """--attach FILE: what is there, then what comes, over rotations, until the command has exited."""
    process = tap("-o", "follow.jsonl", "--size", "20k", "--keep", "9", "--", "cat")
    wait_for_trace("follow.jsonl", 1)
    seen = subprocess.Popen([DUPLEX, "tap", "--attach", "follow.jsonl", "--json"], stdout=subprocess.PIPE)
    for _ in range(20):
        process.stdin.write(b'{"text":"' + b"a" * 1000 + b'"}\n')
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.06)
    process.stdin.close()
    expect("the exit code", process.wait(20), 0)
    out = seen.stdout.read().decode().splitlines()
    expect("the exit code of who looks on", seen.wait(20), 0)
    expect("messages seen", sum('"message"' in line for line in out), 40)
    if not os.path.exists("follow.jsonl.1"):
        sys.exit("there was no rotation")
    seen.stdout.close()
    process.stdout.close()


def show():
    """--show: on the standard error; and if nobody reads that, the traffic goes on."""
    process = tap("--show", "--", "cat", stderr=subprocess.PIPE)
    process.stdin.write(b'{"a":1}\n')
    process.stdin.close()
    shown = process.stderr.read()
    expect("the exit code", process.wait(20), 0)
    expect("the arrows", (b'-> {"a":1}' in shown, b'<- {"a":1}' in shown), (True, True))
    process = tap("--show", "--limit", "64k", "--", "cat", stderr=subprocess.PIPE)
    line = b'{"a":"' + b"x" * 4000 + b'"}\n'
    for _ in range(500):  # it would wait for the standard error without an end
        process.stdin.write(line)
        process.stdin.flush()
        process.stdout.readline()
    process.stdin.close()
    expect("the exit code", process.wait(20), 0)
    process.stderr.close()
    process.stdout.close()


def trace():
    """Both framings, each told from its first bytes; what is no message; what is too long; secrets."""
    def record(data, *words):
        process = tap("-o", "trace.jsonl", *words, "--", "cat")
        out, _ = process.communicate(data)
        expect("the bytes", out == data, True)
        expect("the exit code", process.returncode, 0)
        return [r for r in read_trace("trace.jsonl") if r.get("from") == "host"]

    def kinds(records):
        return [next((kind, r[kind]) for kind in ("message", "broken", "stray", "stderr") if kind in r)
                for r in records]
    header = b"Content-Length: %d\r\n\r\n%s"
    got = record(b"starting\n" + header % (7, b'{"a":1}') + header % (3, b"x{}") + b"print\n" +
                 b"Content-Type: x\r\n" + header % (2, b"[]"))
    expect("header framing", kinds(got), [("stray", "starting\n"), ("message", {"a": 1}), ("broken", "x{}"),
                                          ("stray", "print\n"), ("message", [])])
    expect("how much crossed", [r["bytes"] for r in got], [9, 28, 24, 6, 40])
    got = record(b'{"a":1}\r\nno\n[2]\n{"cut":')
    expect("line framing", kinds(got), [("message", {"a": 1}), ("broken", "no"), ("message", [2]),
                                        ("broken", '{"cut":')])
    got = record(b"[info] hello\n" + header % (2, b"{}"))
    expect("a first line that looks like JSON", kinds(got), [("broken", "[info] hello"), ("message", {})])
    got = record(header % (2, b"{}"), "--framing", "line")
    if ("message", {}) not in kinds(got) and len(got) < 1:
        sys.exit("the wrong framing loses text")
    got = record(b'{"jsonrpc":"2.0"}\n{"jsonrpc":"2.0"}\n', "--framing", "header")
    expect("the wrong framing", kinds(got), [("stray", '{"jsonrpc":"2.0"}\n')] * 2)
    got = record(b'{"Token":"t","deep":[{"pass\\u0077ord":{"x":1}}],"ok":"token"}\n', "--redact", "token",
                 "--redact", "password")
    expect("secrets", kinds(got), [("message", {"Token": "***", "deep": [{"password": "***"}],
                                                "ok": "token"})])
    # On both sides of the limit.
    for size, shown in ((65536, True), (65537, False)):
        body = b'"' + b"a" * (size - 2) + b'"'
        for data in (header % (size, body) + header % (2, b"{}"), b"{}\n" + body + b"\n{}\n"):
            got = record(data, "--limit", "64k")
            seen = [m for kind, m in kinds(got) if kind == "message"]
            expect(f"{size} bytes", any(isinstance(m, str) for m in seen), shown)
            expect("the next one is there", seen[-1], {})
    dropped = sum(r.get("dropped", 0) for r in read_trace("trace.jsonl"))
    expect("the long one is counted, each way", dropped, 2)
    got = record(b"\xff\xfe\n{}\n")
    expect("bytes that are no text", ("base64" in got[0], kinds(got)[1]), (True, ("message", {})))
    got = record(b"")
    expect("nothing", got, [])
    # A last line without an end stands before its answer, once.
    with tap("-o", "trace.jsonl", "--", "sh", "-c", "cat >/dev/null; echo '{\"b\":2}'") as process:
        process.communicate(b'{"a":1}')
    expect("a line without an end", [(r["from"], r["message"]) for r in read_trace("trace.jsonl") if "from" in r],
           [("host", {"a": 1}), ("plugin", {"b": 2})])


globals()[sys.argv[1]]()
