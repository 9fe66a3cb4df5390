"""duplex mock as a host, from a trace, and as others see it: duplex call, duplex mcp."""
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_talk import *  # noqa: E402,F403

BUILD = os.environ["BUILD"]
ECHO = os.path.join(BUILD, "examples", "echo")
ADDER = os.path.join(BUILD, "examples", "mcp-adder")


def run(*words, stdin=b"", limit=LIMIT):
    got = subprocess.run(words, input=stdin, capture_output=True, timeout=limit)
    return got.returncode, got.stdout.decode(), got.stderr.decode()


def host(script, *command, options=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict({"duplex-mock": 1}, **script), file)
        return run(DUPLEX, "mock", path, *options, "--", *command)


def shown(text):
    """What --show has: which way, and what."""
    return [tuple(row.split(None, 2)[1:]) for row in text.splitlines()]


@case
def with_echo():
    for framing in ("line", "header"):
        script = {"framing": framing,
                  "start": [{"request": "echo", "params": {"n": 1}, "then": [{"request": "echo", "params": ["${result.n}"], "then": {"notify": "done", "params": ["${result}"]}}]},
                            {"request": "nothing", "else": {"notify": "no", "params": ["${error.code}"]}}],
                  "end": [{"notify": "bye"}]}
        code, out, said = host(script, ECHO, framing, options=["--show"])
        same((code, out), (0, ""), said)
        sent = [json.loads(text) for way, text in shown(said) if way == "->"]
        same(sent, [{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"n": 1}}, {"jsonrpc": "2.0", "id": 2, "method": "nothing"},
                    {"jsonrpc": "2.0", "id": 3, "method": "echo", "params": [1]}, {"jsonrpc": "2.0", "method": "no", "params": [-32601]},
                    {"jsonrpc": "2.0", "method": "done", "params": [[1]]}, {"jsonrpc": "2.0", "method": "bye"}])
    # The other framing is found out.
    code, out, said = host({"start": [{"request": "echo", "params": [5], "timeout": "5s"}]}, DUPLEX, "mock", "-p", "jsonrpc", options=["-f", "header"])
    same((code, out, said), (0, "", ""))


@case
def exit_codes():
    same(host({}, "./absent")[0], 3)
    code, _, said = host({"start": [{"request": "x", "timeout": "100ms"}]}, "sleep", "60")
    same((code, said), (5, "duplex mock: x: timed out, no response\n"))
    code, _, said = host({"timeout": "100ms", "start": [{"request": "x"}]}, "sleep", "60")
    same(code, 5)
    code, _, said = host({"start": [{"request": "x"}]}, "sleep", "60", options=["--timeout", "100ms"])
    same(code, 5)
    code, _, said = host({"start": [{"request": "x"}]}, "sh", "-c", "read a; echo oh dear >&2; exit 7")
    same((code, said), (4, "duplex mock: the plugin exited early: the program exited with code 7\n  oh dear\n"))
    code, _, said = host({"start": [{"request": "x"}]}, "sh", "-c", "read a; kill -9 $$")
    same((code, said), (4, "duplex mock: the plugin exited early: the program was killed by signal 9\n"))
    code, _, said = host({"start": [{"request": "x"}]}, "sh", "-c", "exec >&-; sleep 0.3; exit 0")
    same((code, said), (4, "duplex mock: the plugin exited early: the program exited with code 0\n"))
    code, _, said = host({"framing": "header", "start": [{"request": "x"}]}, "sh", "-c", "printf 'Content-Length: 99999999999\\r\\n\\r\\n'; sleep 9")
    same((code, said), (6, "duplex mock: cannot split the plugin's output into messages: message too long: the limit is 67108864 bytes\n"))
    same(host({"start": [{"exit": 9}]}, "cat")[0], 9)
    same(host({"start": [{"signal": "KILL"}]}, "sleep", "60")[0], -9)
    # A handshake that is refused, and one that is not answered.
    refuse = '{"duplex-mock":1,"otherwise":"refuse"}'
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(refuse)
        file.flush()
        code, _, said = run(DUPLEX, "mock", "-p", "mcp", "--", DUPLEX, "mock", file.name)
    same((code, said), (1, 'duplex mock: the plugin refused initialize: {"code":-32601,"message":"Method not found"}\n'))
    code, _, said = run(DUPLEX, "mock", "-p", "mcp", "-t", "100ms", "--", "sleep", "60")
    same((code, said), (5, "duplex mock: initialize: timed out, no response\n"))
    code, out, said = run(DUPLEX, "mock", "-p", "mcp", "--json", "--", "false")
    same((code, said), (4, ""))
    same(json.loads(out)["error"]["kind"], "ended")


@case
def leaving():
    # LSP: a request, a notification, the end of the input.
    code, _, said = run(DUPLEX, "mock", "-p", "lsp", "--show", "--", DUPLEX, "mock", "-p", "lsp")
    same(code, 0)
    same([json.loads(text).get("method") for way, text in shown(said) if way == "->"], ["initialize", "initialized", "shutdown", "exit"])
    # One that does not leave is made to.
    began = time.monotonic()
    same(run(DUPLEX, "mock", "-p", "jsonrpc", "--", "sh", "-c", "trap '' TERM; while :; do sleep 0.2; done")[0], 0)
    assert 3.5 < time.monotonic() - began < 10
    # --stay: until the plugin leaves, or somebody says so.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "up")
        process = subprocess.Popen([DUPLEX, "mock", "-p", "jsonrpc", "--stay", "--", "sh", "-c", '>"$0"; exec sleep 60', path], stderr=subprocess.PIPE)
        until = time.monotonic() + 10
        while not os.path.exists(path) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)
        same(process.poll(), None)
        process.send_signal(signal.SIGTERM)
        same((process.wait(5), process.stderr.read()), (130, b"duplex mock: interrupted\n"))
    same(run(DUPLEX, "mock", "-p", "jsonrpc", "--stay", "--", "sleep", "0.3")[0], 4)


@case
def environment():
    script = {"start": [{"delay": "100ms"}]}
    code, _, said = host(script, "sh", "-c", 'echo "$A$B" >&2; pwd >&2; exit 3', options=["--env", "A=1", "--cwd", "/usr"])
    same((code, said.splitlines()[1:]), (4, ["  1", "  /usr"]))
    os.environ["B"] = "2"
    code, _, said = host(script, "sh", "-c", 'echo "$A$B" >&2; exit 3', options=[])
    same(said.splitlines()[1:], ["  2"])
    code, _, said = host(script, "sh", "-c", 'echo "$A${B-none}" >&2; exit 3', options=["--clean-env"])
    same(said.splitlines()[1:], ["  none"])


# Traces.

HEADER = '{"duplex-trace":1,"time":"us","part":1}\n'


def record(*rows, framing=None, more=""):
    text = HEADER
    for at, (side, kind, value) in enumerate(rows):
        value = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        size = '"bytes":%d,' % len(FRAME[framing](value)) if framing else ""
        text += '{"t":%d,"from":"%s","peer":"p","run":1,%s"%s":%s}\n' % (at * 100000, side, size, kind, value)
    text += more
    file = tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)
    file.write(text)
    file.close()
    return file.name


def q(number, method, params=None):
    return json.loads(request(number, method, params))


def a(number, result):
    return json.loads(answer(number, result))


def play(path, send, *options):
    seen, code, said = ask("--trace", path, *options, send=send)
    same((code, said), (0, ""))
    return seen


@case
def recorded():
    path = record(("plugin", "message", q(0, "x") | {"id": "early"}),
                  ("host", "message", q(1, "get", {"k": "a", "z": [1, 2]})), ("plugin", "message", json.loads(notice("note", [1]))),
                  ("plugin", "stray", '"oops\\n"'), ("plugin", "message", '{"jsonrpc": "2.0","id":1,"result":{"${id}":1.50}}'), ("plugin", "message", json.loads(notice("note", [2]))),
                  ("host", "message", q(2, "get", {"k": "b"})), ("host", "message", q(3, "get", {"k": "c"})),
                  ("plugin", "message", a(3, "c")), ("plugin", "message", '{"jsonrpc":"2.0","id":2,"error":{"code":5,"message":"b"}}'),
                  ("host", "message", json.loads(notice("tell"))), ("plugin", "message", json.loads(notice("told"))), ("plugin", "stderr", '"log\\n"'))
    early = line('{"jsonrpc":"2.0","id":"early","method":"x"}')
    first = notice("note", [1]) + b"oops\n" + line('{"jsonrpc":"2.0","id":70,"result":{"${id}":1.50}}') + notice("note", [2])
    # By method and params, whatever their order; the id is the one that came.
    same(play(path, request(70, "get", {"z": [1, 2], "k": "a"})), early + first)
    same(play(path, request("s", "get", {"k": "c"}) + request(5, "get", {"k": "b"})), early + answer('"s"', "c") + line('{"jsonrpc":"2.0","id":5,"error":{"code":5,"message":"b"}}'))
    # By method in order, when no params are the same; and the last one again when all were used.
    same(play(path, request(70, "get") + request(71, "get") + request(72, "get") + request(73, "get")),
         early + first + line('{"jsonrpc":"2.0","id":71,"error":{"code":5,"message":"b"}}') + answer(72, "c") + answer(73, "c"))
    same(play(path, request(1, "other")), early + line('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'))
    seen, code, said = ask("--trace", path, send=notice("tell"))
    same((seen, code, said), (early + notice("told"), 0, "log\n"))
    # In real time.
    mock = Mock("--trace", path, "--timing", "real")
    mock.read(len(early))
    began = time.monotonic()
    mock.write(request(70, "get", {"z": [1, 2], "k": "a"}))
    same(mock.read(len(early) + len(first)), early + first)
    assert 0.38 < time.monotonic() - began < 3, time.monotonic() - began
    same(mock.finish(), 0)
    os.unlink(path)


@case
def recorded_host():
    path = record(("host", "message", q(1, "echo", [1])), ("plugin", "message", a(1, [1])), ("host", "message", json.loads(notice("n"))),
                  ("host", "message", q(2, "echo", [2])), ("plugin", "message", a(2, [2])), ("host", "message", q(3, "echo", [3])), ("plugin", "message", a(3, [3])))
    code, out, said = run(DUPLEX, "mock", "--trace", path, "--show", "--", ECHO, "line")
    same((code, out), (0, ""))
    same([json.loads(text).get("params") for way, text in shown(said) if way == "->"], [[1], None, [2], [3]])
    os.unlink(path)
    # What the plugin says by itself is waited for, but not for ever.
    path = record(("plugin", "message", q(9, "up")), ("host", "message", a(9, "down")), ("plugin", "message", json.loads(notice("never"))), ("host", "message", json.loads(notice("n"))))
    up = "sleep 0.3; echo '%s'; read a; [ \"$a\" = '%s' ] || echo \"$a\" >&2; read b" % (request("x", "up").decode().strip(), answer('"x"', "down").decode().strip())
    began = time.monotonic()
    same(run(DUPLEX, "mock", "--trace", path, "--", "sh", "-c", up + '; [ "$b" = \'%s\' ] || echo "$b" >&2' % notice("n").decode().strip()),
         (0, "", "duplex mock: the plugin did not send 'never' as in the trace\n"))
    assert 2 < time.monotonic() - began < 8
    os.unlink(path)
    # The framing is that of the trace; what is answered out of turn does not matter.
    path = record(*[row for i in range(50) for row in (("host", "message", q(i, "echo", [i])), ("plugin", "message", a(i, [i])))], framing="header")
    code, out, said = run(DUPLEX, "mock", "--trace", path, "--show", "--", DUPLEX, "mock", "-p", "jsonrpc", "-f", "header")
    same((code, out, len(said.splitlines())), (0, "", 100))
    os.unlink(path)


@case
def recorded_between():
    """What was asked of the host comes before the answer that needs it."""
    path = record(("host", "message", q(1, "work")), ("plugin", "message", q(1, "ask")), ("plugin", "message", q(2, "ask")), ("host", "message", a(1, "x")),
                  ("plugin", "message", json.loads(notice("half"))), ("host", "message", a(2, "y")), ("plugin", "message", a(1, "done")),
                  ("host", "message", q(2, "quick")), ("plugin", "message", q(3, "ask")), ("plugin", "message", a(2, "at once")), ("host", "message", a(3, "z")))
    asked = request(1, "ask") + request(2, "ask")
    mock = Mock("--trace", path)
    mock.write(request(70, "work"))
    same(mock.read(len(asked)), asked)
    mock.write(answer(2, "y"))
    same(mock.read_for(0.2), asked)
    mock.write(answer(1, "x"))
    all_of_it = asked + notice("half") + answer(70, "done")
    same(mock.read(len(all_of_it)), all_of_it)
    # What was answered without it is, once more.
    mock.write(request(71, "quick"))
    all_of_it += request(3, "ask") + answer(71, "at once")
    same(mock.read(len(all_of_it)), all_of_it)
    same((mock.finish(), mock.errors), (0, b""))
    # Nobody answers: at the end of the input it is not waited for.
    same(play(path, request(70, "work")), asked + answer(70, "done"))
    os.unlink(path)


@case
def recorded_params():
    """The same params are found in whatever form they come, and not only the next with that method."""
    rows = ["{}", "[]", "[1,2]", "[2,1]", '{"a":1,"b":{"c":[null,true],"d":"x"}}', '{"a":1,"b":{"c":[null,false],"d":"x"}}', '{"a":0}']
    path = record(*[row for i, text in enumerate(rows) for row in (("host", "message", '{"jsonrpc":"2.0","id":%d,"method":"m","params":%s}' % (i, text)), ("plugin", "message", a(i, i)))])
    for text, wanted in (('{"b":{"d":"\\u0078","c":[null,false]},"a":1.0}', 5), ('{ "b":{"c":[null,true],"d":"x"},"a":10e-1}', 4), ("[2,1.0]", 3), ("[ ]", 1), ('{"a":-0.0}', 6), ('{"a":2}', 0)):
        same(play(path, line('{"jsonrpc":"2.0","id":7,"method":"m","params":%s}' % text)), answer(7, wanted), text)
    os.unlink(path)


@case
def recorded_depths():
    """Params are compared to their last level."""
    depths = (511, 512, 998, 4000)
    def text(depth, leaf):
        return '{"jsonrpc":"2.0","id":%d,"method":"m","params":%s%d%s}' % (leaf, "[" * depth, leaf, "]" * depth)
    path = record(*[row for depth in depths for leaf in (1, 2)
                    for row in (("host", "message", text(depth, leaf)), ("plugin", "message", a(leaf, [depth, leaf])))])
    for depth in depths:
        for leaf in (2, 1):
            same(play(path, line(text(depth, leaf))), answer(leaf, [depth, leaf]))
    os.unlink(path)


@case
def recorded_null():
    """An error with the id null answers nobody, whoever asked with that."""
    error = '{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"x"}}'
    path = record(("host", "message", '{"jsonrpc":"2.0","id":null,"method":"a"}'), ("plugin", "message", error % 1),
                  ("host", "message", q(1, "b")), ("plugin", "message", error % 2), ("plugin", "message", a(1, "B")))
    same(play(path, request(7, "b")), line(error % 2) + answer(7, "B"))
    same(play(path, request(7, "a")), line(error % 1) + line('{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}'))
    os.unlink(path)


@case
def recorded_batches():
    path = record(("host", "message", "[%s,%s]" % (request(1, "a").decode().strip(), request(2, "b").decode().strip())),
                  ("plugin", "message", "[%s,%s]" % (answer(2, "B").decode().strip(), answer(1, "A").decode().strip())),
                  ("plugin", "message", "[%s]" % notice("n").decode().strip()))
    same(play(path, request(70, "b") + request(71, "a")), answer(70, "B") + line(b"[" + notice("n")[:-1] + b"]") + answer(71, "A"))
    seen = play(path, line("[%s,%s]" % (request(7, "a").decode().strip(), request(8, "b").decode().strip())), "-p", "jsonrpc")
    same(sorted(m["id"] for m in json.loads(seen.splitlines()[-1])), [7, 8], seen)
    os.unlink(path)


@case
def damaged_traces():
    path = record(("host", "message", q(1, "a")), ("plugin", "message", a(1, "A")), more='{"t":9,"dropped":2}\n{}\n{"t":9,"from":"plugin","peer":"p","run":1,"message":%s}\n'
                  '{"t":9,"from":"host","peer":"p","run":1,"message":%s}\n{"t":9,"from":"plugin","peer":"p","run":1,"mess' % (answer(5, "?").decode().strip(), request(6, "b").decode().strip()))
    seen, code, said = ask("--trace", path, send=request(5, "a") + request(6, "b"))
    same((seen, code), (answer(5, "A") + line('{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"Method not found"}}'), 0))
    same([row.replace(path, "F") for row in said.splitlines()],
         ["duplex mock: F: line 4: 2 records are missing here", "duplex mock: F: line 5: " + said.splitlines()[1].split("line 5: ")[1],
          "duplex mock: F: line 8: the trace ends in the middle of it"])
    os.unlink(path)
    # An answer to nothing that nothing explains is a fault of the plugin, and is played.
    path = record(("host", "message", q(1, "a")), ("plugin", "message", a(99, "?")), ("plugin", "message", a(1, "A")))
    same(play(path, request(5, "a")), answer(99, "?") + answer(5, "A"))
    os.unlink(path)


@case
def long_conversations():
    """However long it is, what comes is found at once."""
    path = record(*[row for i in range(30000) for row in (("host", "message", q(i, "get", {"n": i % 15000})), ("plugin", "message", a(i, i)))])
    began = time.monotonic()
    same(play(path, b"".join(request(i, "get", {"n": i % 15000}) for i in range(30000))), b"".join(answer(i, i) for i in range(30000)))
    assert time.monotonic() - began < 10, time.monotonic() - began
    os.unlink(path)


@case
def wrong_traces():
    def fails(text, wanted, *more):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(text)
            file.flush()
            code, out, said = run(DUPLEX, "mock", "--trace", file.name, *more)
            same((code, out, said), (2, "", "duplex mock: " + wanted.replace("FILE", file.name) + "\n"))
    fails("", "FILE has no messages")
    fails(HEADER, "FILE has no messages")
    fails("hello\n", "FILE: line 1: invalid JSON at byte 0")
    fails(HEADER + '{"t":1,"from":"host","peer":"p","message":{}}\n', "FILE has no messages of 'q'", "--peer", "q")


@case
def what_is_played_stays():
    """A recording is not written over the trace or the script that is played."""
    trace = record(("host", "message", q(1, "a")), ("plugin", "message", a(1, "A")))
    script = trace + ".json"
    with open(script, "w", encoding="utf-8") as file:
        file.write('{"duplex-mock":1}')
    os.symlink(trace, trace + ".link")
    for path, words, what in ((trace, ("--trace", trace), "trace"), (trace + ".link", ("--trace", trace), "trace"),
                              (script, (script,), "script"), (trace, ("--trace", "-", "--", ECHO), "trace")):
        with open(trace, "rb") as stdin, open(path, "rb") as file:
            before = file.read()
            got = subprocess.run([DUPLEX, "mock", "-o", path, *words], stdin=stdin, capture_output=True, timeout=LIMIT)
            same((got.returncode, got.stdout, got.stderr.decode()),
                 (2, b"", "duplex mock: --record: %s is the %s to play\n" % (path, what)))
            file.seek(0)
            same(file.read(), before)
    same(run(DUPLEX, "mock", "--trace", trace, "-o", trace + ".new")[0], 0)
    for end in ("", ".json", ".link", ".new"):
        os.unlink(trace + end)


@case
def with_mcp():
    """A real server is recorded, and then is not needed any more."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.jsonl")
        words = ["tools/list", "--then", "tools/call", '{"name":"add","arguments":{"a":2,"b":40}}']
        real = run(DUPLEX, "call", "-p", "mcp", "-o", path, *words, "--", ADDER)
        same(real[0], 0, real)
        assert "42" in real[1], real
        same(run(DUPLEX, "call", "-p", "mcp", *words, "--", DUPLEX, "mock", "--trace", path), real)
        other = run(DUPLEX, "call", "-p", "mcp", "tools/call", '{"name":"add","arguments":{"a":1,"b":1}}', "--", DUPLEX, "mock", "--trace", path)
        same((other[0], other[1]), (0, real[1].splitlines(True)[1]))
        if os.access(os.path.join(BUILD, "duplex-mcp"), os.X_OK):
            tools = run(DUPLEX, "mcp", "tools", "list", "--", ADDER)
            mocked = run(DUPLEX, "mcp", "tools", "list", "--", DUPLEX, "mock", "--trace", path)
            same(mocked, tools)
        # A fault comes after the handshake here, too.
        faulty = run(DUPLEX, "call", "-p", "mcp", "-t", "1s", "tools/list", "--", DUPLEX, "mock", "-p", "mcp", "--trace", path, "--fault", "result-and-error")
        same((faulty[0], faulty[2]), (6, 'duplex call: tools/list: a response with both "result" and "error"\n'))
        # … and with the host's side of it.
        for fault, wanted in (("id-in-use", ["ping", "ping", "ping"]), ("stray", ["ping"])):
            code, _, said = run(DUPLEX, "mock", "-p", "mcp", "--trace", path, "--fault", fault, "--show", "--", ADDER)
            sent = [json.loads(text).get("method") for way, text in shown(said) if way == "->" and text.startswith("{")]
            same((code, sent), (0, ["initialize", "notifications/initialized", *wanted, "tools/list", "tools/call"]), said)
            same("[mock]" in said.split("initialized")[0], False)
        # A handshake that it does not have is not waited for.
        code, _, said = run(DUPLEX, "mock", "-p", "lsp", "-f", "line", "--trace", path, "--", ADDER)
        same((code, said), (0, ""))
        # It keeps the protocol, by the books.
        trace = os.path.join(folder, "u.jsonl")
        run(DUPLEX, "call", "-p", "mcp", "-o", trace, *words, "--", DUPLEX, "mock", "--trace", path)
        same(run(DUPLEX, "lint", "-p", "mcp", trace)[0], 0)


@case
def by_the_books():
    """A mock that was told nothing else keeps its protocol."""
    for name in ("mcp", "lsp", "hermes", "reginald", "finecode"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.jsonl")
            code, _, said = run(DUPLEX, "mock", "-p", name, "-o", path, "--", DUPLEX, "mock", "-p", name)
            same((code, said), (0, ""), name)
            code, out, said = run(DUPLEX, "lint", "-p", name, path)
            same((code, out), (0, ""), name)


@case
def cancelling():
    rows = {"duplex-mock": 1, "protocol": "lsp", "on": [{"method": "slow", "do": [{"delay": "1h"}, {"result": 1}]}, {"method": "asks", "do": {"request": "up", "then": {"result": 1}}}]}
    shake = request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": None}, "header") + notice("initialized", {}, "header")
    for method in ("slow", "asks"):
        mock = Mock(script=rows)
        mock.write(shake + request("x", method, None, "header") + notice("$/cancelRequest", {"id": "x"}, "header") + notice("$/cancelRequest", {"id": "y"}, "header"))
        wanted = header('{"jsonrpc":"2.0","id":"x","error":{"code":-32800,"message":"cancelled"}}')
        same(mock.finish(), 0)
        assert mock.seen.endswith(wanted) and mock.seen.count(b'"x"') == 1, mock.seen
    # What was answered is not answered once more.
    rows = {"duplex-mock": 1, "protocol": "lsp", "on": [{"method": "slow", "do": [{"result": 1}, {"delay": "300ms"}, {"notify": "more"}]}]}
    mock = Mock(script=rows)
    mock.write(shake + request("x", "slow", None, "header") + notice("$/cancelRequest", {"id": "x"}, "header"))
    same(mock.finish(), 0)
    assert mock.seen.endswith(answer('"x"', 1, "header") + notice("more", None, "header")), mock.seen
    rows = {"duplex-mock": 1, "protocol": "mcp", "on": [{"method": "tools/call", "do": [{"delay": "300ms"}, {"result": {"content": []}}]}]}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    mock = Mock(script=rows)
    mock.write(request(1, "initialize", hello) + notice("notifications/initialized") + request(2, "tools/call", {"name": "x"}) + request(3, "tools/call", {"name": "x"}) +
               notice("notifications/cancelled", {"requestId": 2}))
    same(mock.finish(), 0)
    same([json.loads(text)["id"] for text in mock.seen.splitlines()], [1, 3])


# What a user sees, with duplex call. (All of them: the long check.)

SEEN = {"split": 0, "crlf": 0, "nul": 0, "answer-twice": 0, "stray": 0, "result-and-error": 6, "error-shape": 1, "other-framing": 6, "id-equal": 0, "flood": 0, "surrogate": 0,
        "exit": 4, "signal": 4, "cut-body": 4, "utf8-invalid": 5}


def called(name, code):
    def check():
        words = [DUPLEX, "call", "-p", "mcp", "-t", "500ms" if code else "9s", "--start-timeout", "2s", "tools/list", "--", DUPLEX, "mock", "-p", "mcp", "--fault", name]
        got = run(*words)
        same(got[0], code, got)
        assert code or got[1].startswith("{"), got
    return check


def strictly():
    got = run(DUPLEX, "call", "-p", "mcp", "--strict", "tools/list", "--", DUPLEX, "mock", "-p", "mcp", "--fault", "surrogate")
    same(got[0], 6, got)


CASES.append(("call surrogate --strict", strictly))
for name, code in SEEN.items():
    CASES.append(("call " + name, called(name, code)))


sys.exit(run_all(12))
