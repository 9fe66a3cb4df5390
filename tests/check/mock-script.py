"""duplex mock with a script: every action, rules, templates, limits; and its wire on files, pipes and sockets."""
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mock_talk import *  # noqa: E402,F403


def script(*rules, **more):
    return dict({"duplex-mock": 1, "on": list(rules)}, **more)


def on(actions, method="m", **more):
    return dict({"method": method, "do": actions}, **more)


def check(actions, wanted, send=None, code=0, errors="", **more):
    """What a rule's actions make of a request with the id 7."""
    seen, got, said = ask(send=send or request(7, "m", {"a": "x"}), script=script(on(actions), **more))
    same(seen, wanted, "%r: %s" % (actions, said))
    same(got, code, said)
    same(said, errors)


ID7 = '{"jsonrpc":"2.0","id":7,'


@case
def results():
    check({"result": [1, None, True, False, "t", {"o": {}}]}, answer(7, [1, None, True, False, "t", {"o": {}}]))
    seen, _, _ = ask(send=request(7, "m"), script='{"duplex-mock":1,"on":[{"do":{"result":[1.0,1e2,1e400,12345678901234567890123,-0,"\\u00e9"]}}]}')
    same(seen, line(ID7 + '"result":[1.0,1e2,1e400,12345678901234567890123,-0,"\u00e9"]}'))
    check({"error": {"code": -5, "message": "no ${method}", "data": {"p": "${params}"}}},
          line(ID7 + '"error":{"code":-5,"message":"no m","data":{"p":{"a":"x"}}}}'))
    check([{"result": 1}, {"result": 2}], answer(7, 1) + answer(7, 2))


@case
def templates():
    t = '{"duplex-mock":1,"on":[{"method":"m","do":{"result":%s}}]}'

    def expand(text, wanted, message=None):
        seen, code, said = ask(send=line(message or '{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"name":"n\\"\\n","deep":[{"x":[10,20]}],"n":1.50,"o":{},"nul":null,"t":true}}'),
                               script=t % text, env={"MOCKED": "e\"v"})
        same((code, said), (0, ""))
        same(seen, line('{"jsonrpc":"2.0","id":18446744073709551615,"result":%s}' % wanted), text)

    expand('"${id}"', "18446744073709551615")
    expand('"id ${id}"', '"id 18446744073709551615"')
    expand('"${params.n}"', "1.50")
    expand('"${params.name}"', '"n\\"\\n"')
    expand('"<${params.name}>"', '"<n\\"\\n>"')
    expand('"${params.deep.0.x.1}"', "20")
    expand('"${params.deep.0.x.2}"', "null")
    expand('"${params.deep.x}"', "null")
    expand('"${params.nothing.at.all}"', "null")
    expand('"<${params.nothing}${params.nul}>"', '"<>"')
    expand('"${params.t}${params.o}${method}${count}"', '"true{}m1"')
    expand('{"a":["${count}","${method}"]}', '{"a":[1,"m"]}')
    expand('"$${params} $ {x} $"', '"${params} $ {x} $"')
    expand('"$$${id}"', '"$${id}"')
    expand('"${env:MOCKED}"', '"e\\"v"')
    expand('"${result}${error.x}"', '""')
    expand('"${result.y}"', "null")
    expand('"${params}"', '{"${id}":"${params}"}', '{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"${id}":"${params}"}}')
    # What the JSON library cannot hold goes through as a whole.
    expand('"${params}"', '{"a":"\\ud800","b":1e999}', '{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"a":"\\ud800","b":1e999}}')
    expand('"${params.a}"', "null", '{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"a":"\\ud800"}}')
    expand('"[${params.s}]"', '"[\x7f\\u0000]"', '{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"s":"\x7f\\u0000"}}')
    # An id that is a text, and one that is none.
    seen, _, _ = ask(send=line('{"jsonrpc":"2.0","id":"\\u0041b","method":"m"}'), script=script(on({"result": ["${id}", "<${id}>"]})))
    same(seen, line('{"jsonrpc":"2.0","id":"\\u0041b","result":["\\u0041b","<Ab>"]}'))


@case
def rules():
    rows = [
        on({"result": "regex"}, "tools/*", params={"s": {"$regex": "^a+$"}}),
        on({"result": "type"}, "tools/*", params={"s": {"$type": "integer"}}),
        on({"result": "number"}, "tools/*", params={"s": {"$type": "number"}}),
        on({"result": "any"}, "tools/*", params={"any": {"$any": True}}),
        on({"result": "array"}, "tools/*", params={"s": [1, {"b": 2}, {"$type": "null"}]}),
        on({"result": "nested"}, "tools/*", params={"s": {"a": {"b": True}}}),
        on({"result": "large"}, "tools/*", params={"s": 18446744073709551615}),
        on({"result": "second"}, "second", nth=2),
        on({"result": "twice"}, "second", times=2),
        on({"result": "more"}, "second"),
        on({"notify": "noticed", "params": ["${method}"]}, "[nx]ote", kind="notification"),
        on({"result": "asked"}, "note", kind="request"),
    ]

    def find(method, params, wanted):
        seen, _, said = ask(send=line('{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}' % (method, params)), script=script(*rows, otherwise="refuse"))
        same(said, "")
        refused = line('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}')
        same(seen, answer(1, wanted) if wanted else refused, params)

    find("tools/x", '{"s":"aaa"}', "regex")
    find("tools/x", '{"s":"ab"}', None)
    find("tools/x", '{"s":5}', "type")
    find("tools/x", '{"s":5.5}', "number")
    find("tools/x", '{"any":null}', "any")
    find("tools/x", '{"any":{}}', "any")
    find("tools/x", '{"s":[1.0,{"b":2,"c":3},null]}', "array")
    find("tools/x", '{"s":[1,{"b":2},null,4]}', None)
    find("tools/x", '{"s":[1,{},null]}', None)
    find("tools/x", '{"s":{"a":{"b":true,"z":1},"y":2}}', "nested")
    find("tools/x", '{"s":{"a":{"b":false}}}', None)
    find("tools/x", '[]', None)
    find("tool/x", '{"s":"aaa"}', None)
    find("note", '{}', "asked")
    find("tools/x\\u0000", '{"s":"aaa"}', None)
    seen, _, _ = ask(send=b"".join(request(i, "second") for i in range(1, 6)), script=script(*rows))
    same(seen, answer(1, "twice") + answer(2, "second") + answer(3, "twice") + answer(4, "more") + answer(5, "more"))
    seen, _, _ = ask(send=notice("note") + notice("xote") + notice("other"), script=script(*rows))
    same(seen, notice("noticed", ["note"]) + notice("noticed", ["xote"]))
    # 18446744073709551615 is not 18446744073709551614, though their doubles are the same.
    large = '{"duplex-mock":1,"otherwise":"ignore","on":[{"params":{"s":18446744073709551615},"do":{"result":1}}]}'
    same(ask(send=line('{"jsonrpc":"2.0","id":1,"method":"m","params":{"s":18446744073709551614}}'), script=large)[0], b"")
    same(ask(send=line('{"jsonrpc":"2.0","id":1,"method":"m","params":{"s":18446744073709551615}}'), script=large)[0], answer(1, 1))


@case
def otherwise():
    send = request(1, "m", [1]) + request(2, "n")
    for word, wanted in (("echo", answer(1, [1]) + answer(2, None)), ("ignore", b"")):
        same(ask(send=send, script=script(otherwise=word))[0], wanted)
    refused = ',"error":{"code":-32601,"message":"Method not found"}}'
    both = b"".join(line('{"jsonrpc":"2.0","id":%d' % i + refused) for i in (1, 2))
    same(ask(send=send, script=script(otherwise="refuse"))[0], both)
    same(ask(send=send, script=script(otherwise="example", protocol="lsp", framing="line"))[0].count(b"-32002"), 2)
    # A rule that does not answer has it answered.
    seen, _, _ = ask(send=request(7, "m", {"a": "x"}), script=script(on({"notify": "n"})))
    same(seen, notice("n") + answer(7, {"a": "x"}))
    same(ask(send=request(7, "m"), script=script(on({"silence": True})))[0], b"")


@case
def sending():
    check([{"notify": "a/${method}", "params": {"p": "${params.a}"}}, {"result": 1}],
          notice("a/m", {"p": "x"}) + answer(7, 1))
    check([{"message": {"jsonrpc": "1.9", "id": "${id}", "odd": True}}], line('{"jsonrpc":"1.9","id":7,"odd":true}'))
    check([{"raw": "log ${method} ${params}\n"}, {"result": 1}], b'log m {"a":"x"}\n' + answer(7, 1))
    check([{"base64": "AP8="}, {"base64": ""}, {"base64": "AAEC"}, {"base64": "/w=="}], b"\x00\xff\x00\x01\x02\xff")
    assert ask(send=request(7, "m"), script=script(on({"base64": "QUJD" * 500000})))[0] == b"ABC" * 500000
    check([{"stderr": "oh ${method}\n"}, {"result": 1}], answer(7, 1), errors="oh m\n")
    garbage = [ask("--seed", seed, send=request(7, "m"), script=script(on({"garbage": 5000})))[0] for seed in ("1", "1", "2")]
    assert len(garbage[0]) == 5000 and garbage[0] == garbage[1] != garbage[2]
    assert len(set(garbage[0])) > 200
    check([{"length": "+3", "do": {"result": 1}}, {"result": 2}],
          b"Content-Length: 38\r\n\r\n" + answer(7, 1)[:-1] + answer(7, 2))
    check([{"length": "-3", "do": {"result": 1}}], b"Content-Length: 32\r\n\r\n" + answer(7, 1)[:-1])
    check([{"length": 5, "do": [{"result": 1}]}], b"Content-Length: 5\r\n\r\n" + answer(7, 1)[:-1])
    # A whole number is one in whatever form.
    seen, _, _ = ask(send=b"", script='{"duplex-mock":1,"start":[{"flood":1e1,"do":{"raw":"x"}},{"huge":2.0},{"length":1.2E1,"do":{"message":1}}]}')
    same(seen, b"x" * 10 + line('{"jsonrpc":"2.0","method":"mock/note","params":{"text":"xx"}}') + b"Content-Length: 12\r\n\r\n1")
    check([{"framing": "header"}, {"result": 1}, {"framing": "line"}, {"result": 2}],
          answer(7, 1, "header") + answer(7, 2))
    check([{"result": 1}], answer(7, 1, "header"), send=request(7, "m", {}, "header"))


@case
def rows_without_a_name():
    """What docs/mock.md says that a script can do of the catalogue of faults."""
    def does(action, wanted, send=request(7, "m")):
        seen, code, said = ask(send=send, script='{"duplex-mock":1,"on":[{"do":[%s]}]}' % action)
        same((seen, code, said), (wanted, 0, ""), action)

    def quiet(action, wanted):
        does(action + ',{"silence":true}', wanted)

    quiet('{"length":"-2","do":{"result":"\u00e9\u00e9"}}', b"Content-Length: 38\r\n\r\n" + '{"jsonrpc":"2.0","id":7,"result":"\u00e9\u00e9"}'.encode())
    does('{"message":42},{"message":"ok"},{"message":{}},{"message":[1,2]}', b'42\n"ok"\n{}\n[1,2]\n')
    quiet('{"notify":"a\\u0000b"},{"request":"m","id":1e0},{"request":"m","id":1.0},{"request":"m","id":"\\u0000"}',
          b'{"jsonrpc":"2.0","method":"a\\u0000b"}\n{"jsonrpc":"2.0","id":1e0,"method":"m"}\n{"jsonrpc":"2.0","id":1.0,"method":"m"}\n{"jsonrpc":"2.0","id":"\\u0000","method":"m"}\n')
    does('{"message":{"jsonrpc":"2.0","id":"${id}","result":1,"result":2}}', line('{"jsonrpc":"2.0","id":7,"result":1,"result":2}'))
    quiet('{"request":"m","id":[1]},{"request":"m","id":true}', line('{"jsonrpc":"2.0","id":[1],"method":"m"}') + line('{"jsonrpc":"2.0","id":true,"method":"m"}'))
    does('{"error":{"code":"5","message":"m"}}', line('{"jsonrpc":"2.0","id":7,"error":{"code":"5","message":"m"}}'))
    quiet('{"notify":"$/cancelRequest","params":{"id":5}},{"request":"m","id":5},{"notify":"$/cancelRequest","params":{"id":5}}',
          notice("$/cancelRequest", {"id": 5}) + request(5, "m") + notice("$/cancelRequest", {"id": 5}))


@case
def asking():
    mock = Mock(script=script(on([{"request": "up", "params": ["${params}"], "then": [{"result": {"got": "${result.v}"}}],
                                  "else": {"error": {"code": 1, "message": "${error.message}"}}}])))
    mock.write(request(7, "m", {"k": 1}) + request(8, "m", {"k": 2}))
    wanted = request(1, "up", [{"k": 1}]) + request(2, "up", [{"k": 2}])
    same(mock.read(len(wanted)), wanted)
    mock.write(line('{"jsonrpc":"2.0","id":2,"error":{"code":9,"message":"bad"}}') + answer(1, {"v": [3]}))
    wanted += line('{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"bad"}}') + answer(7, {"got": [3]})
    same(mock.read(len(wanted)), wanted)
    same(mock.finish(), 0)
    same(mock.seen, wanted)
    # Rules for answers; ids of one's own; answers to nothing.
    rows = [on({"notify": "r", "params": ["${result}", "${method}"]}, "up*", kind="result"),
            on({"notify": "e", "params": ["${error.code}"]}, kind="error", method="*")]
    mock = Mock(script=script(*rows, start=[{"request": "up1", "id": "a-${count}"}, {"request": "x", "id": 5}]))
    mock.write(line('{"jsonrpc":"2.0","id":"a-0","result":4}') + line('{"jsonrpc":"2.0","id":5,"error":{"code":6,"message":""}}') + answer(99, 1))
    same(mock.finish(), 0)
    same(mock.seen, line('{"jsonrpc":"2.0","id":"a-0","method":"up1"}') + request(5, "x") + notice("r", [4, "up1"]) + notice("e", [6]))
    # One that is not answered in time; the request that led to it gets the usual answer without "timeout".
    _, code, said = ask(send=b"", script=script(start=[{"request": "up", "timeout": "100ms"}, {"delay": "900ms"}]))
    same((code, said), (5, "duplex mock: up: timed out, no response\n"))
    seen, code, _ = ask(send=request(7, "m", [1]), script=script(on([{"request": "up", "then": {"result": 1}}])))
    same((seen, code), (request(1, "up"), 0))


@case
def in_time():
    mock = Mock(script=script(on([{"delay": "300ms"}, {"result": "slow"}], "slow"), on({"result": "fast"}, "fast")))
    began = time.monotonic()
    mock.write(request(1, "slow") + request(2, "fast"))
    same(mock.read(10), answer(2, "fast"))
    same(mock.read(len(answer(2, "fast")) + 1), answer(2, "fast") + answer(1, "slow"))
    assert time.monotonic() - began > 0.29
    # At the end of the input a short delay is waited for, a long one is not.
    mock.write(request(3, "slow"))
    same(mock.finish(), 0)
    assert mock.seen.endswith(answer(3, "slow"))
    began = time.monotonic()
    same(ask(send=request(1, "m"), script=script(on([{"delay": "1h"}, {"result": 1}])))[:2], (b"", 0))
    assert time.monotonic() - began < 20
    mock = Mock(script=script(on([{"repeat": 3, "every": "100ms", "do": {"notify": "n"}}, {"result": 1}])))
    began = time.monotonic()
    mock.write(request(1, "m"))
    same(mock.read(len(notice("n")) * 3 + 1), notice("n") * 3 + answer(1, 1))
    assert 0.19 < time.monotonic() - began < 20
    same(mock.finish(), 0)
    # Nor is what would go on for hours; what is at the end has its own second.
    began = time.monotonic()
    seen, code, _ = ask(send=b"", script=script(start=[{"repeat": 100000, "every": "300ms", "do": {"notify": "n"}}], end=[{"delay": "500ms"}, {"notify": "end"}]))
    count = seen.count(notice("n"))  # 4, if the end of the input is seen at once
    same((seen, code), (notice("n") * count + notice("end"), 0))
    assert 3 <= count <= 20 and time.monotonic() - began < 20, count


@case
def in_pieces():
    mock = Mock(script=script(on([{"split": 3, "pause": "15ms", "do": [{"notify": "n"}, {"result": 1}]}, {"notify": "whole"}])))
    mock.write(request(7, "m"))
    wanted = notice("n") + answer(7, 1) + notice("whole")
    same(mock.finish(), 0)
    same(mock.seen, wanted)
    assert mock.reads.count(3) > 5, mock.reads  # who reads late gets several at once
    # Nothing of others gets into it.
    mock = Mock(script=script(on({"split": 1, "pause": "1ms", "do": {"result": 1}}), on({"result": 2}, "n")))
    mock.write(request(1, "m") + request(2, "n"))
    same(mock.finish(), 0)
    same(mock.seen, answer(1, 1) + answer(2, 2))
    mock = Mock(script=script(on([{"together": [{"notify": "a"}, {"delay": "50ms"}, {"notify": "b"}, {"split": 2, "do": {"result": 1}}]}])))
    mock.write(request(7, "m"))
    same(mock.finish(), 0)
    same(mock.seen, notice("a") + notice("b") + answer(7, 1))
    same(mock.reads[0], len(mock.seen))
    # No split of more than is there, and one byte is one.
    mock = Mock(script=script(on({"split": 1048576, "do": {"raw": "x"}})))
    mock.write(request(7, "m"))
    same((mock.finish(), mock.seen), (0, b"x"))


@case
def faster_than_it_writes():
    # More answers than may wait, to more requests than may be under way: what comes has to wait, and all is answered.
    text = "z" * 13000
    with tempfile.TemporaryFile() as source:
        source.write(b"".join(request(i, "m") for i in range(11000)))
        for actions in ({"result": text}, [{"notify": text}, {"result": 1}]):
            source.seek(0)
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(script(on(actions)), file)
                file.flush()
                got = subprocess.run(["sh", "-c", '"$0" mock "$1" | wc -lc', DUPLEX, file.name], stdin=source, capture_output=True, timeout=60)
            lines, size = map(int, got.stdout.split())
            same((lines, size > 136 << 20, got.stderr), (11000 * (1 if isinstance(actions, dict) else 2), True, b""))


@case
def in_masses():
    seen, code, _ = ask(send=request(7, "m"), script=script(on([{"flood": 20000, "do": [{"notify": "n", "params": [1]}]}, {"result": 1}])))
    same(code, 0)
    same(seen, notice("n", [1]) * 20000 + answer(7, 1))
    seen, _, _ = ask(send=request(7, "m"), script=script(on({"flood": 10, "do": {"flood": 3, "do": {"raw": "x"}}})))
    same(seen, b"x" * 30)
    for size in (0, 1, 1 << 20, 70 << 20):
        seen, code, said = ask(send=request(7, "m"), script=script(on({"huge": size})))
        same((len(seen), code, said), (size + len(answer(7, "")), 0, ""))
        assert seen.startswith(line(ID7 + '"result":"')[:-1]) and seen.endswith(b'"}\n') and seen.count(b"x") == size
    seen, _, _ = ask("-f", "header", send=b"", script=script(start=[{"huge": "2k"}]))
    same(seen, header('{"jsonrpc":"2.0","method":"mock/note","params":{"text":"%s"}}' % ("x" * 2048)))
    seen, _, _ = ask(send=b"", script=script(start=[{"together": [{"huge": "5k"}, {"garbage": "9k"}]}]))
    same(len(seen), len('{"jsonrpc":"2.0","method":"mock/note","params":{"text":""}}\n') + 14 * 1024)


@case
def ending():
    check([{"result": 1}, {"exit": 3}, {"result": 2}], answer(7, 1), code=3)
    check([{"result": 1}, {"signal": "SEGV"}], answer(7, 1), code=-signal.SIGSEGV)
    check({"signal": "SIGKILL"}, b"", code=-signal.SIGKILL)
    mock = Mock(script=script(end=[{"notify": "bye"}]))
    same((mock.finish(), mock.seen), (0, notice("bye")))
    mock = Mock(script=script(start=[{"notify": "hi"}], end=[{"notify": "bye"}, {"exit": 9}]))
    same(mock.read(5), notice("hi"))
    mock.process.send_signal(signal.SIGTERM)
    same((mock.finish(close=False), mock.seen), (9, notice("hi") + notice("bye")))
    mock = Mock(script=script(start=[{"ignore": "TERM"}, {"notify": "hi"}]))
    mock.read(5)
    mock.process.send_signal(signal.SIGTERM)
    mock.read_for(0.2)
    same(mock.process.poll(), None)
    same(mock.finish(), 0)
    # A delay that is under way does not hold SIGTERM up, nor does a reader that does not read.
    mock = Mock(script=script(on([{"notify": "n"}, {"delay": "1h"}])))
    mock.write(request(1, "m")).read(5)
    mock.process.terminate()
    same(mock.process.wait(5), 0)
    mock.kill()
    mock = Mock(script=script(start=[{"huge": "50M"}]))
    mock.read(1)
    began = time.monotonic()
    mock.process.terminate()
    same(mock.process.wait(5), 0)
    assert time.monotonic() - began < 4
    mock.kill()


@case
def ends_of_the_wire():
    mock = Mock(script=script(on([{"result": 1}, {"close": "output"}, {"result": 2}])))
    mock.write(request(7, "m"))
    while mock._read([mock.process.stdout], 5):
        pass
    same(mock.seen, answer(7, 1))
    same(mock.process.poll(), None)
    same(mock.finish(), 0)
    mock = Mock(script=script(on([{"close": "input"}, {"result": 1}])))
    mock.write(request(7, "m"))
    same(mock.read(5), answer(7, 1))
    try:
        for _ in range(50):
            mock.write(b"x" * 4096)
            time.sleep(0.01)
        raise AssertionError("its input is open")
    except BrokenPipeError:
        pass
    mock.process.terminate()
    same(mock.process.wait(5), 0)
    mock.kill()
    # Not read for a while: what fits into the pipe, and no more.
    mock = Mock(script=script(on([{"stop-reading": True}, {"notify": "stopped"}, {"delay": "900ms"}, {"stop-reading": False}, {"result": 1}]),
                              on({"result": 2}, "n")))
    mock.write(request(7, "m"))
    mock.read(5)
    mock.write(request(8, "n"))
    same(mock.read_for(0.2), notice("stopped"))
    same(mock.finish(), 0)
    same(mock.seen, notice("stopped") + answer(7, 1) + answer(8, 2))
    # A process that holds the output.
    mock = Mock(script=script(on([{"grandchild": "2s"}, {"result": 1}, {"exit": 0}])))
    began = time.monotonic()
    mock.write(request(7, "m"))
    same(mock.process.wait(5), 0)
    assert time.monotonic() - began < 1.8
    while mock._read([mock.process.stdout], 5):
        pass
    assert time.monotonic() - began > 1.9
    same(mock.seen, answer(7, 1))
    mock.kill()


@case
def many_under_way():
    rows = script(on([{"delay": "1h"}, {"result": 1}]))
    seen, code, said = ask(send=b"".join(request(i, "m") for i in range(10001)), script=rows)
    same((seen, code), (b"", 5))
    same(said, "duplex mock: more than 10000 rules or 256 MiB of messages are in progress\n")
    seen, code, said = ask(send=b"".join(request(i, "m") for i in range(10000)), script=rows)
    same((seen, code, said), (b"", 0, ""))
    rows = script(on({"request": "up"}))
    _, code, said = ask(send=b"".join(notice("m") for i in range(10001)), script=rows)
    same((code, said), (5, "duplex mock: more than 10000 requests have no response\n"))
    _, code, said = ask(send=b"".join(notice("m") for i in range(10000)), script=rows)
    same((code, said), (0, ""))


@case
def nobody_reads():
    mock = Mock(script=script(on({"message": "x" * 1000000})))
    mock.write(b"".join(notice("m") for _ in range(140)))
    same(mock.process.wait(20), 5)
    same(mock.process.stderr.read(), b"duplex mock: the output is not being read: more than 128 MiB are waiting\n")
    mock.kill()
    mock = Mock(script=script(on({"message": "x" * 1000000})))
    mock.write(b"".join(notice("m") for _ in range(120)))
    time.sleep(0.5)
    same(mock.process.poll(), None)
    same(mock.finish(), 0)
    same(len(mock.seen), 120 * 1000003)
    # The reader is gone: that is no reason to fail.
    mock = Mock(script=script(on({"result": 1})))
    mock.process.stdout.close()
    mock.write(request(1, "m"))
    time.sleep(0.1)
    mock.write(request(2, "m"))
    mock.close()
    same(mock.process.wait(5), 0)
    same(mock.process.stderr.read(), b"")
    mock.tidy()


@case
def wrong_messages():
    def error(code, text, data, number="null"):
        return line('{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"%s","data":"%s"}}' % (number, code, text, data))
    for sent, wanted in ((b"hello\n", error(-32700, "Parse error", "json-syntax")),
                         (b'{"jsonrpc":"2.0","id":1,"method":5}\n', error(-32600, "Invalid Request", "method-type", 1)),
                         (b'{"jsonrpc":"2.0","id":{},"method":"m"}\n', error(-32600, "Invalid Request", "id-type")),
                         (b'{"x":1}\n', b""),
                         (b'[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"method":"n","params":[2]},{"jsonrpc":"2.0","method":"x"},5]\n',
                          b"[" + answer(1, None)[:-1] + b"," + answer(2, [2])[:-1] + b"," + error(-32600, "Invalid Request", "not-a-message")[:-1] + b"]\n"),
                         (b'[{"jsonrpc":"2.0","method":"x"}]\n', b""),
                         (b'[{"jsonrpc":"2.0","id":1,"method":5}]\n', b"[" + error(-32600, "Invalid Request", "method-type", 1)[:-1] + b"]\n"),
                         (b"[" * 5000 + b"\n", error(-32700, "Parse error", "json-depth")),
                         (b"\xff\xfe\n", error(-32700, "Parse error", "json-utf8"))):
        same(ask("-p", "jsonrpc", send=sent)[:2], (wanted, 0), sent[:50])
    seen, code, said = ask("-f", "header", script=script(), send=b"Content-Length: 99999999999\r\n\r\n" + request(1, "m", None, "header"))
    same((seen, code, said), (b"", 0, "duplex mock: cannot split the input into messages, ignoring the rest: message too long: the limit is 67108864 bytes\n"))
    seen, code, said = ask("-f", "header", script=script(), send=request(1, "m"))
    same((seen, code, said), (b"", 0, "duplex mock: cannot split the input into messages, ignoring the rest: expected header framing (Content-Length), but the peer sends line framing (one JSON text per line)\n"))
    same(ask("-p", "mcp", send=b"[]\n")[0].count(b"-32600"), 1)


# The wire itself: our end of it may be anything.

@case
def batches():
    """Its answers are one message, when the last of them is there."""
    mock = Mock(script=script(on([{"delay": "200ms"}, {"result": "slow"}], "slow"), on({"silence": True}, "never")))
    mock.write(line(b"[" + b",".join(request(i, name)[:-1] for i, name in enumerate(("slow", "a", "never", "slow"))) + b"]") + request(9, "b"))
    same(mock.finish(), 0)
    same(mock.seen, answer(9, None) + line(b"[" + b",".join(text[:-1] for text in (answer(1, None), answer(0, "slow"), answer(3, "slow"))) + b"]"))
    seen, _, _ = ask("-p", "jsonrpc", "--fault", "id-form", send=line(b"[" + request(1, "a")[:-1] + b"," + request(2, "a")[:-1] + b"]"))
    same(seen, answer('"1"', None) + answer('"2"', None))


@case
def plain_files():
    with tempfile.TemporaryDirectory() as folder:
        sent = b"".join(request(i, "m", {"text": "y" * 200}) for i in range(3000))
        for name, data in (("empty", b""), ("full", sent), ("cut", sent[:-1])):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
            with open(os.path.join(folder, name), "rb") as source, open(os.path.join(folder, "out"), "wb") as sink:
                got = subprocess.run([DUPLEX, "mock", "-p", "jsonrpc"], stdin=source, stdout=sink, stderr=subprocess.PIPE, timeout=20)
            same((got.returncode, got.stderr), (0, b""))
            with open(os.path.join(folder, "out"), "rb") as sink:
                found = sink.read()
            wanted = b"".join(answer(i, {"text": "y" * 200}) for i in range(3000)) if data else b""
            same(found, wanted)
        # A disk that is full, or a file that may not grow, is told.
        with open("/dev/full", "wb") as sink:
            got = subprocess.run([DUPLEX, "mock", "-p", "jsonrpc"], input=sent, stdout=sink, stderr=subprocess.PIPE, timeout=20)
        same((got.returncode, got.stderr), (4, b"duplex mock: cannot write the output: No space left on device\n"))


@case
def sockets():
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([DUPLEX, "mock", "-p", "jsonrpc"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE)
    theirs.close()
    ours.settimeout(20)
    sent = b"".join(request(i, "m", {"text": "y" * 5000}) for i in range(500))
    wanted = b"".join(answer(i, {"text": "y" * 5000}) for i in range(500))
    found = b""
    ours.setblocking(False)
    until = time.monotonic() + 20
    while len(found) < len(wanted) and time.monotonic() < until:
        try:
            sent = sent[ours.send(sent):] if sent else sent
        except BlockingIOError:
            pass
        try:
            found += ours.recv(1 << 16)
        except BlockingIOError:
            time.sleep(0.001)
    same(found, wanted)
    ours.shutdown(socket.SHUT_WR)
    same((process.wait(10), process.stderr.read()), (0, b""))


@case
def both_write():
    # 8 MiB each way at once, and neither end waits for the other.
    mock = Mock("-p", "jsonrpc")
    sent = b"".join(request(i, "m", {"text": "y" * 100000}) for i in range(80))
    wanted = b"".join(answer(i, {"text": "y" * 100000}) for i in range(80))
    writer = threading.Thread(target=lambda: (mock.write(sent), mock.close()))
    writer.start()
    time.sleep(0.3)
    same(mock.finish(close=False), 0)
    writer.join()
    same(mock.seen, wanted)


@case
def byte_by_byte():
    mock = Mock("-p", "jsonrpc")
    for byte in request(5, "m", {"é": 1}, "header"):
        mock.write(bytes([byte]))
    same(mock.finish(), 0)
    same(mock.seen, header('{"jsonrpc":"2.0","id":5,"result":{"\\u00e9":1}}'))
    # The first message says which framing it is, what is before that is stray.
    seen, _, said = ask("-p", "jsonrpc", send=b"\n\n" + request(1, "m"))
    same((seen, said), (answer(1, None), ""))
    seen, _, _ = ask("-p", "lsp", "-f", "header", send=b"hello\n" + request(1, "initialize", {"capabilities": {}, "processId": None, "rootUri": None}, "header"))
    same(seen, answer(1, {"capabilities": {}}, "header"))


@case
def closed_descriptors():
    for closed in ("<&-", ">&-", "<&- >&-"):
        got = subprocess.run(["sh", "-c", '"$0" mock -p jsonrpc %s' % closed, DUPLEX], input=b"", capture_output=True, timeout=20)
        same((got.returncode, got.stdout, got.stderr), (3, b"", b"duplex mock: the standard input and output cannot be used: Bad file descriptor\n"))


@case
def recording():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.jsonl")
        seen, code, said = ask("-o", path, "--show", send=request(7, "m"), script=script(on([{"raw": "stray\n"}, {"result": 1}])))
        same((seen, code), (b"stray\n" + answer(7, 1), 0))
        assert "-> " in said and "<- " in said, said
        with open(path, encoding="utf-8") as file:
            records = [json.loads(text) for text in file]
        kinds = [(r.get("from"), next(k for k in ("message", "stray", "broken") if k in r)) for r in records[1:]]
        same(kinds, [("host", "message"), ("plugin", "broken"), ("plugin", "message")])


@case
def recorded_whole():
    # Whichever framing it is after all, each message is recorded once, however much was written at once.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.jsonl")
        many = {"flood": 60, "do": {"notify": "n", "params": ["y" * 5000]}}
        seen, code, _ = ask("-o", path, script=script(start=[{"framing": "header"}, {"split": 1048576, "do": many}]), send=b"")
        same((seen, code), (notice("n", ["y" * 5000], "header") * 60, 0))
        with open(path, encoding="utf-8") as file:
            records = [json.loads(text) for text in file][1:]
        same([(r["from"], "message" in r, r.get("bytes")) for r in records], [("plugin", True, len(seen) // 60)] * 60)


@case
def without_errors():
    # A standard error that is closed is not taken for the wire.
    got = subprocess.run(["sh", "-c", '"$0" mock -p jsonrpc --show 2>&-', DUPLEX], input=request(1, "m"), stdout=subprocess.PIPE, timeout=20)
    same((got.returncode, got.stdout), (0, answer(1, None)))


@case
def more_limits():
    for count, code in ((10000, 0), (10001, 2)):
        same(ask(send=b"", script=script(*[on([])] * count))[1], code)
        same(ask(send=b"", script=script(start=[{"garbage": 0}] * count))[1], code)
    for size, code in ((64, 0), (65, 5)):
        seen, got, said = ask(send=b"", script=script(start=[{"together": [{"garbage": "%dM" % size}]}]))
        same((len(seen), got), (size << 20 if not code else 0, code), said)
    for count, code in ((10000, 0), (10001, 5)):
        seen, got, said = ask("--fault", "late", send=b"".join(request(i, "m") for i in range(count)))
        same((seen, got), (b"", code), said)


@case
def little_memory():
    # However little there is, it ends and says so, or it works.
    for size in (12, 16, 24, 40, 64):
        process = subprocess.run([DUPLEX, "mock", "-p", "mcp"], input=request(1, "initialize", {}) + request(2, "ping"), capture_output=True, timeout=20,
                                 preexec_fn=lambda limit=size << 20: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        assert process.returncode in (0, 3, 127, 2), (size, process)


sys.exit(run_all())
