"""duplex mock --fault: the bytes of each, as a plugin and as a host; after the handshake, or from the start."""
import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_talk import *  # noqa: E402,F403

TABLE = [json.loads(text) for text in subprocess.run([DUPLEX, "mock", "--list-faults", "--json"], capture_output=True, check=True).stdout.splitlines()]
NOTE = b'{"jsonrpc":"2.0","method":"mock/note"}'
ASK = b'{"jsonrpc":"2.0","id":%s,"method":"mock/ask"}'
GOOD = b'{"jsonrpc":"2.0","id":7,"result":{"a":"x"}}'
OTHER = {"header": "line", "line": "header"}


def changed(text):
    return lambda framing: FRAME[framing](text)


KEYS = b"{" + b",".join(b'"key%d":%d' % (i, i) for i in range(100000)) + b"}"


def table(GOOD, carry):  # noqa: N803  (as it is called elsewhere)
    """What is written in place of that message by each fault; carry gives it a member more."""
    N = len(GOOD)  # noqa: N806

    def before(*texts):
        """These messages, then that one."""
        return lambda framing: b"".join(FRAME[framing](text) for text in texts) + FRAME[framing](GOOD)

    def fields(text, body=GOOD):
        return lambda framing: text + body

    return {
        "split": before(),
        "glued": before(NOTE),
        "header-form": fields(b"cOnTeNt-LeNgTh:   %d  \r\n\r\n" % N),
        "header-extra": fields(b"X-Mock: yes\r\nContent-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % N),
        "charset": fields(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-16\r\n\r\n" % N),
        "header-lf": fields(b"Content-Length: %d\n\n" % N),
        "length-missing": fields(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"),
        "length-twice": fields(b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (N, N)),
        "length-differs": fields(b"Content-Length: %d\r\nContent-Length: 7%d\r\n\r\n" % (N, N)),
        "length-form": fields(b"Content-Length: +%d\r\n\r\n" % N),
        "length-digits": fields(b"Content-Length: " + b"9" * 400 + b"\r\n\r\n"),
        "length-limit": fields(b"Content-Length: 1000000000000\r\n\r\n"),
        "length-unmet": fields(b"Content-Length: 1048576\r\n\r\n", GOOD[:10]),
        "length-short": fields(b"Content-Length: %d\r\n\r\n" % (N - 6)),
        "length-long": fields(b"Content-Length: %d\r\n\r\n" % (N + 7)),
        "length-zero": fields(b"Content-Length: 0\r\n\r\nContent-Length: %d\r\n\r\n" % N),
        "header-flood": fields(b"".join(b"X-Mock-%d: yes\r\n" % i for i in range(10000)) + b"Content-Length: %d\r\n\r\n" % N),
        "header-nul": fields(b"X-Mock: \x00\x01\xff\r\nContent-Length: %d\r\n\r\n" % N),
        "stray-before": fields(b"text that is not a header\r\nContent-Length: %d\r\n\r\n" % N),
        "length-in-body": changed(carry(b'"Content-Length: 7\\r\\n\\r\\nContent-Length: 7"')),
        "cut-header": fields(b"Content-Length:", b""),
        "cut-body": lambda framing: FRAME[framing](GOOD)[:-(N // 2)],
        "line-endless": lambda framing: GOOD[:-1] + b" " * (80 << 20),
        "crlf": fields(b"\r\n\n", GOOD + b"\r\n"),
        "bom": fields(b"\xef\xbb\xbf", GOOD + b"\n"),
        "pretty": lambda framing: json.dumps(json.loads(GOOD), indent=4).encode() + b"\n",
        "last-line": lambda framing: GOOD,
        "stray": lambda framing: b"[mock] info: this is a log line\n" + FRAME[framing](GOOD),
        "stray-json": before(b'{"level":"info","text":"not a message"}'),
        "other-framing": lambda framing: FRAME[OTHER[framing]](GOOD),
        "framing-switch": lambda framing: FRAME[framing](NOTE) + FRAME[OTHER[framing]](GOOD),
        "raw-newline": changed(carry(b'"two\nlines"')),
        "deep": changed(carry(b"[" * 100000 + b"]" * 100000)),
        "utf8-invalid": changed(carry(b'"\xff\xfe\x80"')),
        "utf8-overlong": changed(carry(b'"\xc0\xaf\xed\xa0\x80"')),
        "surrogate": changed(carry(b'"\\ud800"')),
        "nul": changed(carry(b'"a\\u0000b"')),
        "member-twice": changed(GOOD.replace(b"{", b'{"id":%s,' % (b"7" if b":7," in GOOD else b"1"), 1)),
        "number-huge": changed(carry(b"[1e400," + b"7" * 10000 + b"]")),
        "id-large": before(ASK % b"18446744073709551615"),
        "id-fraction": before(ASK % b"1.5"),
        "trailing": changed(GOOD + b' {"more":true}'),
        "not-json": changed(carry(b"NaN").replace(b'"note":', b"/* a note */ 'note': ")),
        "huge": changed(carry(b'"' + b"x" * (16 << 20) + b'"')),
        "keys": changed(carry(KEYS)),
        "id-unknown": changed(GOOD.replace(b":7,", b":987654321,")),
        "late": lambda framing: b"",
        "answer-twice": before(GOOD),
        "id-form": changed(GOOD.replace(b":7,", b':"7",')),
        "result-and-error": changed(b'{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":-32000,"message":"both"}}'),
        "result-missing": changed(b'{"jsonrpc":"2.0","id":7}'),
        "method-and-result": changed(GOOD.replace(b":7,", b':7,"method":"mock/note",')),
        "id-equal": before(ASK % b"7"),
        "id-in-use": before(ASK % b"77", ASK % b"77"),
        "id-type": before(ASK % b"null", ASK % b'{"n":1}'),
        "version-missing": changed(GOOD.replace(b'"jsonrpc":"2.0",', b"")),
        "version-wrong": changed(GOOD.replace(b"2.0", b"1.0")),
        "method-unknown": before(b'{"jsonrpc":"2.0","id":1,"method":"mock/unknown"}', b'{"jsonrpc":"2.0","method":"mock/unknown"}'),
        "params-type": before(b'{"jsonrpc":"2.0","method":"mock/note","params":"a text"}'),
        "result-fit": changed(b'{"jsonrpc":"2.0","id":7,"result":42}'),
        "batch": changed(b"[" + GOOD + b"]"),
        "batch-empty": before(b"[]"),
        "early": before(ASK % b"1"),
        "cancel-unknown": before(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"mock-nobody"}}'),
        "cancel-ignored": lambda framing: b"",
        "progress-unknown": before(b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":"mock-nobody"}}'),
        "progress-endless": lambda framing: b"",
        "error-shape": changed(b'{"jsonrpc":"2.0","id":7,"error":"something went wrong"}'),
        "silent": lambda framing: b"",
        "loses": before(),
        "flood": before(*[NOTE] * 100000),
        "stderr-flood": before(),
        "dies-writing": lambda framing: FRAME[framing](GOOD)[:-(N // 2)],
        "stuck": lambda framing: b"",
        "exit": lambda framing: b"",
        "signal": lambda framing: b"",
        "closes-output": lambda framing: b"",
        # These need something of a protocol: see below.
        "answers-unknown": before(),
        "params-taken": before(),
        "answers-notice": before(),
        "serves-early": before(),
    }


# What is written for a request with the id 7, whose input ends then.
BYTES = table(GOOD, lambda text: GOOD.replace(b'{"a"', b'{"note":' + text + b',"a"'))


def before(*texts):
    return lambda framing: b"".join(FRAME[framing](text) for text in texts) + FRAME[framing](GOOD)


CODES = {"dies-writing": -signal.SIGKILL, "exit": 1, "signal": -signal.SIGSEGV}
# These have cases of their own.
APART = {"interleaved", "writes-first", "deaf", "eof-ignored", "grandchild", "term-ignored"}


@case
def all_are_here():
    names = [row["name"] for row in TABLE]
    same(sorted(names), sorted(set(BYTES) | APART))
    assert len(names) == len(set(names)) and len(names) > 80
    text = subprocess.run([DUPLEX, "mock", "--list-faults"], capture_output=True, check=True).stdout.decode()
    same([row.split()[0] for row in text.splitlines()], names)


def framings(row):
    return [row["framing"]] if row["framing"] != "any" else ["line", "header"]


def plugin(name, framing):
    def run():
        seen, code, said = ask("-f", framing, "--fault", name, send=request(7, "m", {"a": "x"}, framing))
        same(seen, BYTES[name](framing), said[:500])
        same(code, CODES.get(name, 0))
        if name == "stderr-flood":
            assert len(said) >= 8 << 20, len(said)
        else:
            same(said, "")
    return run


def by_script(name, framing):
    """The same as an action, once."""
    script = {"duplex-mock": 1, "framing": framing, "on": [{"method": "m", "do": {"fault": name}}]}

    def run():
        seen, code, _ = ask(send=request(7, "m", {"a": "x"}, framing) + request(7, "n", {"a": "x"}, framing), script=script)
        wanted = BYTES[name](framing)
        if name == "early":
            wanted = before(ASK % b"1")(framing)
        if name == "stuck":  # the next message lets it go
            wanted = FRAME[framing](GOOD)
        if name == "answers-notice":
            wanted = FRAME[framing](b'{"jsonrpc":"2.0","id":null,"result":null}')
        ends = name in CODES or name in ("cut-header", "cut-body", "last-line", "closes-output")
        same(seen, wanted + (b"" if ends else FRAME[framing](GOOD)))
        same(code, CODES.get(name, 0))
    return run


for row in TABLE:
    if row["name"] in APART:
        continue
    for kind in framings(row):
        CASES.append(("plugin %s %s" % (row["name"], kind), plugin(row["name"], kind)))
        if row["name"] not in ("line-endless", "huge"):
            CASES.append(("script %s %s" % (row["name"], kind), by_script(row["name"], kind)))


# As a host: what a program that only listens gets, and never answers.

ASKED = b'{"jsonrpc":"2.0","id":1,"method":"mock/ask"}'
NOTHING = b'{"jsonrpc":"2.0","id":4711,"result":{}}'
HOST = table(ASKED, lambda text: ASKED.replace(b"{", b'{"note":' + text + b",", 1))


def as_host(name, framing):
    """The same in a request of the host's; answers go to nobody."""
    frame = FRAME[framing]
    whole = frame(ASKED)

    def at_the_front(text, last="1"):
        return text + frame(ASKED.replace(b":1,", b":%s," % last.encode()))

    own = {"id-large": [ASK % b"18446744073709551615"], "id-fraction": [ASK % b"1.5"], "id-equal": [ASK % b"1"],
           "id-in-use": [ASK % b"77"] * 2, "id-type": [ASK % b"null", ASK % b'{"n":1}'],
           "method-unknown": [b'{"jsonrpc":"2.0","id":1,"method":"mock/unknown"}', b'{"jsonrpc":"2.0","method":"mock/unknown"}'],
           "params-type": [b'{"jsonrpc":"2.0","method":"mock/note","params":"a text"}'], "batch-empty": [b"[]"],
           "cancel-unknown": [b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"mock-nobody"}}'],
           "progress-unknown": [b'{"jsonrpc":"2.0","method":"$/progress","params":{"token":"mock-nobody"}}'],
           "early": [ASK % b"1"], "flood": [NOTE] * 100000}
    if name in own:
        asked = sum(b"mock/ask" in text or b'1,"method":"mock/unknown"' in text for text in own[name])
        return at_the_front(b"".join(frame(text) for text in own[name]), str(asked + 1))
    answers = {"id-unknown": NOTHING.replace(b"4711", b"987654321"), "id-form": NOTHING.replace(b"4711", b'"4711"'),
               "result-and-error": b'{"jsonrpc":"2.0","id":4711,"result":null,"error":{"code":-32000,"message":"both"}}',
               "result-missing": b'{"jsonrpc":"2.0","id":4711}', "result-fit": NOTHING.replace(b"{}", b"42"),
               "method-and-result": NOTHING.replace(b"4711", b'4711,"method":"mock/note"'),
               "error-shape": b'{"jsonrpc":"2.0","id":4711,"error":"something went wrong"}', "answers-notice": NOTHING}
    if name in answers:
        return frame(answers[name]) + whole
    if name == "answer-twice":
        return frame(NOTHING) * 2 + whole
    if name in ("late", "cancel-ignored", "silent", "loses", "stuck", "stderr-flood", "eof-ignored", "term-ignored", "serves-early",
                "answers-unknown", "params-taken", "progress-endless", "deaf"):
        return whole
    if name in ("signal", "closes-output", "exit", "grandchild"):
        return b""
    if name == "interleaved":
        one, half, other = frame(NOTE), len(frame(NOTE)) // 2, len(whole) // 2
        return one[:half] + whole[:other] + one[half:] + whole[other:]
    if name == "writes-first":
        return frame(NOTE) * -(-(2 << 20) // len(frame(NOTE))) + whole
    return HOST[name](framing) if name in HOST else None


def host(name, framing):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "heard")
            words = [DUPLEX, "mock", "-f", framing, "--fault", name, "--timeout", "100ms", "--", "sh", "-c", 'cat >"$0"; exit 0', path]
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if name in ("eof-ignored", "term-ignored"):  # they stay
                until = time.monotonic() + 10
                while not (os.path.exists(path) and os.path.getsize(path)) and time.monotonic() < until:
                    time.sleep(0.02)
                time.sleep(0.3)
                same(process.poll(), None)
                process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=LIMIT)
            wanted = as_host(name, framing)
            heard = b""
            if os.path.exists(path):
                with open(path, "rb") as file:
                    heard = file.read()
            if name == "dies-writing":  # and the program with its host
                assert wanted.startswith(heard), heard
            elif name == "progress-endless":  # so often as there was time
                same(re.sub(rb'({"jsonrpc":"2.0","method":"\$/progress","params":{"token":1}}\n)+', b"", heard), wanted)
            else:
                same(heard, wanted, errors[:500])
            same(out, b"")
            code = {"exit": 1, "signal": -signal.SIGSEGV, "dies-writing": -signal.SIGKILL, "eof-ignored": 130, "term-ignored": 130}.get(name, 0)
            same(process.returncode, code, errors[:500])
    return run


@case
def host_leaves():
    """However little it reads, and whatever it ignores: without its plugin there is nothing left."""
    def run(script, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(dict({"duplex-mock": 1, "framing": "line"}, **script), file)
            began = time.monotonic()
            got = subprocess.run([DUPLEX, "mock", path, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        assert time.monotonic() - began < 10
        return got.returncode
    same(run({}, "--fault", "deaf", "-t", "300ms", "--", "cat"), 0)  # which asks while it leaves
    same(run({"start": [{"stop-reading": True}, {"exit": 3}]}, "--", "cat"), 3)
    same(run({"start": [{"close": "input"}, {"exit": 3}]}, "--", "cat"), 3)
    same(run({}, "--fault", "eof-ignored", "--", "sh", "-c", "read a; exit 0"), 4)
    same(run({}, "--fault", "term-ignored", "--", "sh", "-c", "read a; exit 0"), 4)


for row in TABLE:
    for kind in framings(row)[:1]:
        CASES.append(("host %s %s" % (row["name"], kind), host(row["name"], kind)))


# Those apart.

@case
def interleaved():
    for framing in ("line", "header"):
        one, two = FRAME[framing](NOTE), FRAME[framing](GOOD)
        half, other = len(one) // 2, len(two) // 2
        seen, _, _ = ask("-f", framing, "--fault", "interleaved", send=request(7, "m", {"a": "x"}, framing))
        same(seen, one[:half] + two[:other] + one[half:] + two[other:])


@case
def split_is_split():
    mock = Mock("-f", "line", "--fault", "split")
    mock.write(request(7, "m", {"a": "x"}))
    same(mock.finish(), 0)
    same(mock.seen, line(GOOD))
    mock = Mock("-f", "line", "--fault", "glued")
    mock.write(request(7, "m", {"a": "x"}))
    same(mock.finish(), 0)
    same(mock.reads[0], len(mock.seen))


@case
def length_forms():
    send = request(7, "m", {"a": "x"}, "header") * 8
    seen, _, _ = ask("-f", "header", "--fault", "length-form", send=send)
    N = len(GOOD)  # noqa: N806
    forms = (b"+%d" % N, b"0x%x" % N, b"%d,%d" % (N, N), b"-%d" % N, b"%de0" % N, b"%d %d" % (N, N), b"%d.0" % N, b"")
    same(seen, b"".join(b"Content-Length: " + form + b"\r\n\r\n" + GOOD for form in forms))
    assert ask("-f", "header", "--seed", "2", "--fault", "length-form", send=send)[0].startswith(b"Content-Length: %d,%d\r" % (N, N))
    same(ask("-f", "header", "--seed", "1", "--fault", "length-digits", send=request(7, "m", {"a": "x"}, "header"))[0], b"Content-Length: %d\r\n\r\n" % (2**64 + N) + GOOD)


@case
def writes_first():
    mock = Mock("-f", "line", "--fault", "writes-first")
    mock.write(request(7, "m", {"a": "x"}))
    mock.read(1)
    seen = mock.read((2 << 20) + 10)
    mock.write(request(8, "m", {"a": "x"}))
    same(mock.finish(), 0)
    notes = mock.seen.split(b"\n")
    assert notes.count(NOTE) == -(-(2 << 20) // (len(NOTE) + 1)), notes.count(NOTE)
    same(notes[-3:], [GOOD, GOOD.replace(b":7,", b":8,"), b""])
    assert len(seen) >= 2 << 20


@case
def deaf():
    mock = Mock("-p", "mcp", "--fault", "deaf")
    mock.write(SHAKE)
    same(mock.read(len(INIT)), INIT)
    fcntl.fcntl(mock.process.stdin, fcntl.F_SETFL, os.O_NONBLOCK)
    sent = 0
    until = time.monotonic() + 0.7
    while time.monotonic() < until and sent < 4 << 20:
        sent += mock.process.stdin.write(b"x" * 4096) or 0
    assert 1 << 15 < sent < 1 << 20, sent
    mock.process.terminate()
    same(mock.process.wait(5), 0)
    same(mock.process.stdout.read(), b"")
    mock.kill()


@case
def eof_ignored():
    for name, stays in (("eof-ignored", False), ("term-ignored", True)):
        mock = Mock("-f", "line", "--fault", name)
        mock.write(request(7, "m", {"a": "x"})).close()
        same(mock.read_for(0.4), line(GOOD))
        same(mock.process.poll(), None)
        mock.process.terminate()
        if stays:
            time.sleep(0.3)
            same(mock.process.poll(), None)
        else:
            same(mock.process.wait(5), 0)
        mock.kill()


@case
def grandchild():
    mock = Mock("-f", "line", "--fault", "grandchild")
    mock.write(request(7, "m", {"a": "x"}))
    same(mock.process.wait(5), 0)
    same(mock._read([mock.process.stdout], 0.3), False)
    assert not select.select([mock.process.stdout], [], [], 0.2)[0], "nobody holds its output"
    left = subprocess.run(["pgrep", "-f", "mock -f line --fault grandchild"], capture_output=True, check=False).stdout.split()
    holders = [int(pid) for pid in left if os.path.exists("/proc/%d/fd" % int(pid)) and
               any(os.readlink("/proc/%d/fd/%s" % (int(pid), fd)) == os.readlink("/proc/self/fd/%d" % mock.process.stdout.fileno())
                   for fd in os.listdir("/proc/%d/fd" % int(pid)))]
    same(len(holders), 1)
    os.kill(holders[0], signal.SIGTERM)
    assert select.select([mock.process.stdout], [], [], 5)[0]
    same(os.read(mock.process.stdout.fileno(), 9), b"")
    mock.kill()


@case
def late_ones():
    mock = Mock("-f", "line", "--fault", "late", "--late", "300ms")
    began = time.monotonic()
    mock.write(request(7, "m", {"a": "x"}))
    same(mock.read(1), line(GOOD))
    assert 0.29 < time.monotonic() - began < 3
    same(mock.finish(), 0)
    mock = Mock("-f", "line", "--fault", "cancel-ignored")
    mock.write(request(7, "m", {"a": "x"}) + notice("$/cancelRequest", {"id": 7}))
    same(mock.read(1), line(GOOD))
    same(mock.finish(), 0)
    mock = Mock("-f", "line", "--fault", "progress-endless")
    mock.write(request(7, "m", {"a": "x"}))
    tick = line('{"jsonrpc":"2.0","method":"$/progress","params":{"token":7}}')
    same(mock.read(len(tick) * 3)[:len(tick) * 3], tick * 3)
    same(mock.finish(), 0)
    mock = Mock("-f", "line", "--fault", "loses")
    mock.write(b"".join(request(i, "m") for i in range(1, 21)))
    same(mock.finish(), 0)
    same([json.loads(text)["id"] for text in mock.seen.splitlines()], [i for i in range(1, 21) if i not in (3, 13)])
    mock = Mock("-f", "line", "--fault", "stuck")
    mock.write(request(7, "m", {"a": "x"}))
    same(mock.read_for(0.2), b"")
    mock.write(request(8, "m"))
    same(mock.read_for(0.3), line(GOOD))
    same(mock.finish(), 0)


# With protocols: the handshake goes well.

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
INIT = answer(1, {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "", "version": ""}})
SHAKE = request(1, "initialize", HELLO) + notice("notifications/initialized")


def mcp(fault, send, *more):
    return ask("-p", "mcp", *(["--fault", fault] if fault else []), *more, send=send)[0]


@case
def with_mcp():
    ping = request(2, "ping")
    same(mcp(None, SHAKE + ping), INIT + answer(2, {}))
    same(mcp("id-unknown", SHAKE + ping), INIT + answer(987654321, {}))
    same(mcp("id-unknown", SHAKE + ping, "--from-start"), INIT.replace(b":1,", b":987654321,", 1) + answer(987654321, {}))
    same(mcp("id-unknown@tools/list", SHAKE + ping + request(3, "tools/list")), INIT + answer(2, {}) + answer(987654321, {"tools": []}))
    same(mcp("version-wrong,id-form", SHAKE + ping), INIT + line('{"jsonrpc":"1.0","id":"2","result":{}}'))
    same(mcp("cut-body", SHAKE + ping), INIT + answer(2, {})[:-18])
    same(mcp("bom", SHAKE + ping), b"\xef\xbb\xbf" + INIT + answer(2, {}))
    same(mcp("other-framing", SHAKE), header(INIT[:-1]))
    # Without its last word, too.
    same(mcp("id-unknown", request(1, "initialize", HELLO) + ping), INIT + answer(987654321, {}))
    # It refuses what it should, unless that is the fault.
    early = mcp(None, ping + request(3, "tools/list"))
    same(early.count(b'"error"'), 1, early)
    same(mcp("serves-early", request(3, "tools/list")), answer(3, {"tools": []}))
    assert b"-32601" in mcp(None, SHAKE + request(2, "no/such"))
    same(mcp("answers-unknown", SHAKE + request(2, "no/such")), INIT + answer(2, {}))
    assert b'"code":-32602,"message":"Invalid params: /name' in mcp(None, SHAKE + request(2, "tools/call", {"name": 5})), mcp(None, SHAKE + request(2, "tools/call", {"name": 5}))
    assert b'"result":{' in mcp("params-taken", SHAKE + request(2, "tools/call", {"name": 5})).splitlines()[1]
    same(mcp("answers-notice", SHAKE + notice("notifications/roots/list_changed")), INIT + line('{"jsonrpc":"2.0","id":null,"result":null}') * 2)
    same(mcp("result-fit", SHAKE + ping), INIT + answer(2, 42))
    # What it sends by itself is what the protocol has.
    same(mcp("id-large", SHAKE + ping), INIT + request(18446744073709551615, "ping") + answer(2, {}))
    found = mcp("glued", SHAKE + ping)[len(INIT):].splitlines()
    assert json.loads(found[0])["method"].startswith("notifications/"), found
    found = json.loads(mcp("cancel-unknown", SHAKE + ping).splitlines()[1])
    same((found["method"], found["params"]["requestId"]), ("notifications/cancelled", "mock-nobody"))
    found = json.loads(mcp("progress-unknown", SHAKE + ping).splitlines()[1])
    same((found["method"], found["params"]["progressToken"]), ("notifications/progress", "mock-nobody"))
    mock = Mock("-p", "mcp", "--fault", "progress-endless")
    mock.write(SHAKE + request(2, "tools/call", {"name": "x", "_meta": {"progressToken": "tok"}}))
    mock.read(len(INIT) + 10)
    found = json.loads(mock.seen[len(INIT):].splitlines()[0])
    same(found["params"]["progressToken"], "tok")
    mock.kill()


@case
def all_protocols():
    names = subprocess.run([DUPLEX, "list", "--names"], capture_output=True, check=True).stdout.decode().split()
    assert len(names) > 12
    for name in names:
        got = subprocess.run([DUPLEX, "mock", "-p", name, "--", DUPLEX, "mock", "-p", name], capture_output=True, timeout=LIMIT)
        same((got.returncode, got.stdout, got.stderr), (0, b"", b""), name)


@case
def wrong_words():
    def fails(wanted, *words):
        got = subprocess.run([DUPLEX, "mock", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        same((got.returncode, got.stdout, got.stderr.decode()), (2, b"", "duplex mock: %s\n" % wanted), words)
    fails("--fault: unknown fault 'xyzzy'\nhint: 'duplex mock --list-faults' lists them", "--fault", "xyzzy@greet")
    fails("--fault: unknown fault 'dies-writting'\nhint: did you mean dies-writing?", "--fault", "dies-writting")
    fails("--fault: unknown fault ''\nhint: 'duplex mock --list-faults' lists them", "--fault", "nul,")
    fails("--fault: missing method after '@'", "--fault", "nul@")
    fails("--fault: mcp has no method 'tools/lst'\nhint: did you mean tools/list?", "-p", "mcp", "--fault", "nul@tools/lst")
    fails("the fault header-lf needs the header framing, which the protocol does not use\nhint: add --framing header", "--fault", "header-lf", "-p", "mcp")
    fails("the fault pretty needs the line framing, which the protocol does not use\nhint: add --framing line", "--fault", "pretty", "-p", "lsp")
    fails("the fault pretty needs the line framing, not header", "--fault", "pretty", "-f", "header")
    fails("the fault pretty needs the line framing, not header", "--fault", "header-lf,pretty")
    fails("--fault: split and stray cannot be in one message\nhint: give each its own method: NAME@METHOD", "--fault", "split@a,nul", "--fault", "stray")
    same(ask("-f", "line", "--fault", "stray@a,crlf@b,nul", send=request(1, "b", {}))[0], b'\r\n\n{"jsonrpc":"2.0","id":1,"result":{"note":"a\\u0000b"}}\r\n')
    same(ask("--fault", "nul", send=line('{"jsonrpc":"2.0","id":1,"method":"b","params":{ \t}}'))[0], line('{"jsonrpc":"2.0","id":1,"result":{"note":"a\\u0000b" \t}}'))
    fails("expected a SCRIPT, --trace, --fault or --protocol\nhint: duplex mock --protocol mcp")
    fails("missing command after --", "-p", "mcp", "--")
    fails("--peer needs --trace", "-p", "mcp", "--peer", "x")
    fails("--env, --clean-env, --cwd, --keep-daemons and --stay need a command after --", "-p", "mcp", "--stay")
    fails("expected one SCRIPT, but also got 'b'", "a", "b")
    fails("SCRIPT and --trace cannot be used together", "a", "--trace", "b")
    fails("cannot read the script from standard input: it carries the messages", "-")
    fails("cannot read the trace from standard input: it carries the messages", "--trace", "-")
    fails("cannot read absent: No such file or directory", "--trace", "absent")


sys.exit(run_all(12))
