"""Makes traces for the tests of duplex timeline.

    make.py talk COUNT [US]  an editor and its three plugins, about COUNT messages, one each US (6000) microseconds
    make.py hostile          everything that a page could stumble over
    make.py open COUNT       so many requests that nobody answers
    make.py ids COUNT        so many requests with one id
"""
import base64
import json
import random
import sys


def write(record):
    sys.stdout.write(json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n")


def header(**more):
    write({"duplex-trace": 1, "time": "us", "part": 1, "unix-ms": 1754038800000, **more})


class Talk:
    """One conversation, as a list of records that are sorted by time in the end."""

    def __init__(self, peer, run=1):
        self.peer, self.run, self.records, self.ids = peer, run, [], {"host": 0, "plugin": 0}

    def add(self, time, **members):
        place = {"peer": self.peer, "run": self.run}
        self.records.append({"t": int(time), **({"from": members.pop("who")} if "who" in members else {}),
                             **place, **members})

    def message(self, time, who, message):
        message = {"jsonrpc": "2.0", **message}
        self.add(time, who=who, bytes=len(json.dumps(message)) + 22, message=message)

    def call(self, time, who, method, params, took, result=None, error=None, cancelled=None):
        other = "plugin" if who == "host" else "host"
        self.ids[who] += 1
        number = self.ids[who]
        self.message(time, who, {"id": number, "method": method, "params": params})
        if cancelled:
            self.message(time + cancelled, who, {"method": "$/cancelRequest", "params": {"id": number}})
        if error:
            self.message(time + took, other, {"id": number, "error": error})
        elif took is not None:
            self.message(time + took, other, {"id": number, "result": result})


LSP = [("textDocument/completion", 18000, 9), ("textDocument/hover", 4000, 6), ("textDocument/definition", 6000, 3),
       ("textDocument/semanticTokens/full", 30000, 2), ("textDocument/codeAction", 9000, 3),
       ("workspace/symbol", 60000, 1), ("textDocument/documentSymbol", 12000, 1)]


def words(dice, count):
    return " ".join(dice.choice(("buffer", "frame", "peer", "limit", "loop", "child", "trace", "id")) for _ in range(count))


def editor(dice, talk, start, end, count):
    """A language server: calls of an editor, progress, diagnostics, a few of everything that goes wrong."""
    talk.add(start, event="start", data={"argv": [talk.peer], "pid": 4000 + talk.run, "framing": "header"})
    talk.call(start + 400, "host", "initialize", {"processId": 1, "capabilities": {}}, 210000,
              {"capabilities": {"hoverProvider": True}})
    talk.message(start + 211000, "host", {"method": "initialized", "params": {}})
    first = start + 215000
    time, step = first, (end - first) / max(count / 2.3, 1)
    uri = "file:///home/ada/duplex/src/peer/peer.c"
    while time < end - 60000:
        time += dice.expovariate(1 / step)
        what = dice.random()
        if what < 0.12:
            talk.message(time, "host", {"method": "textDocument/didChange", "params": {
                "textDocument": {"uri": uri, "version": int(time)}, "contentChanges": [{"text": words(dice, 4)}]}})
        elif what < 0.22:
            talk.message(time, "plugin", {"method": "textDocument/publishDiagnostics", "params": {
                "uri": uri, "diagnostics": [{"message": "unused variable '" + words(dice, 1) + "'", "severity": 2}]}})
        elif what < 0.26:
            talk.call(time, "plugin", "workspace/configuration", {"items": [{"section": "clangd"}]},
                      dice.uniform(200, 3000), [None])
        else:
            method, took, _ = dice.choices(LSP, [weight for *_, weight in LSP])[0]
            took = dice.lognormvariate(0, 0.7) * took
            fate = dice.random()
            params = {"textDocument": {"uri": uri}, "position": {"line": dice.randrange(900), "character": dice.randrange(80)}}
            if fate < 0.02:
                talk.call(time, "host", method, params, took,
                          error={"code": -32603, "message": "not indexed yet: " + words(dice, 2)})
            elif fate < 0.045:
                talk.call(time, "host", method, params, took, cancelled=took * 0.6,
                          error={"code": -32800, "message": "request cancelled"})
            elif fate < 0.049:
                talk.call(time, "host", method, params, None)
            else:
                talk.call(time, "host", method, params, took, {"items": [{"label": words(dice, 1), "kind": 3}]})
        if dice.random() < 6 / max(count, 6):
            talk.add(time, who="plugin", bytes=20, stderr="I[12:00] " + words(dice, 3) + "\n")
        if dice.random() < 2 / max(count, 6):
            talk.add(time, who="plugin", bytes=20, stray="warning: " + words(dice, 3) + "\n")


def make_talk(count, step):
    dice = random.Random(7)
    count *= 1.35  # some are dropped
    length = max(count * step, 3000000)
    clangd, bash = Talk("clangd"), Talk("bash-language-server")
    tools = Talk("almanac"), Talk("almanac", 2)
    editor(dice, clangd, 1000, length, count * 0.6)
    editor(dice, bash, 90000, length * 0.9, count * 0.25)
    middle = length * 0.55
    editor(dice, tools[0], 300000, middle, count * 0.07)
    tools[0].add(middle, event="exit", data={"signal": 11})
    editor(dice, tools[1], middle + 700000, length, count * 0.07)
    clangd.add(length, event="exit", data={"code": 0})
    records = clangd.records + bash.records + tools[0].records + tools[1].records
    records.append({"t": int(length * 0.72), "dropped": 12})
    records = [record for record in records if "dropped" in record or not length * 0.7 < record["t"] < length * 0.72]
    header()
    for record in sorted(records, key=lambda record: record["t"]):
        write(record)


NASTY = ["</script><script>alert(1)</script>", "<!-- <script>", "]]>", "\u2028\u2029", "\u202egnp.exe", "\x1b[31mred\x07",
         "<img src=x onerror=alert(2)>", "\\x3c \\\\x3c \\\\\\x3c", "{{7*7}} ${7*7}", "\x00\x7f\u0085", "𝄞 ﬂ°°60¶ß", "\ufeff",
         " ", "end", "wrap:style:a#b;"]


def make_hostile():
    header()
    time = 0
    for number, text in enumerate(NASTY):
        time += 1000
        place = {"peer": text, "run": number}
        write({"t": time, "from": "host", **place, "message": {"jsonrpc": "2.0", "id": text, "method": text, "params": [text]}})
        write({"t": time + 500, "from": "plugin", **place, "message": {"jsonrpc": "2.0", "id": text, "error": {"code": 1, "message": text}}})
        write({"t": time + 600, "from": "plugin", **place, "message": {"jsonrpc": "2.0", "method": text}})
        write({"t": time + 700, "from": "plugin", **place, "stderr": text})
        write({"t": time + 800, **place, "event": text or "x", "data": {text: text}})
    place = {"peer": "odd", "run": 18446744073709551615}
    raw = bytes(range(256)) + b"</script>"
    for kind in ("broken", "stray", "stderr"):
        write({"t": 20000, "from": "plugin", **place, kind: base64.b64encode(raw).decode(), "base64": True})
    lines = [
        '{"jsonrpc":"2.0","id":"\\ud800","method":"\\ud800<b>"}', '{"jsonrpc":"2.0","id":"\\ud800","result":"\\udfff\\u003c"}',
        '{"jsonrpc":"2.0","id":18446744073709551617,"method":"big"}', '{"jsonrpc":"2.0","id":18446744073709551617,"result":1e400}',
        '{"jsonrpc":"2.0","id":1.50,"method":"a"}', '{"jsonrpc":"2.0","id":null,"method":"null"}', '{"jsonrpc":"2.0","id":[1],"method":"array"}',
        '{"jsonrpc":"2.0","id":7,"method":"twice"}', '{"jsonrpc":"2.0","id":7,"method":"twice"}', '{"jsonrpc":"2.0","id":7,"result":0}',
        '{"__proto__":1,"jsonrpc":"2.0","id":8,"method":"__proto__"}', '{"jsonrpc":"2.0","id":9,"method":"constructor"}',
        '[{"jsonrpc":"2.0","id":10,"method":"b1"},{"jsonrpc":"2.0","method":"b2"},1]', '[]', '"text"', '{}', '{"method":"\\u0061b"}',
        '{"jsonrpc":"2.0","id":11,"method":"%s"}' % ("m" * 5000), '{"jsonrpc":"2.0","id":"%s","method":"long"}' % ("i" * 3000),
        '{"jsonrpc":"2.0","id":12,"method":""}', '[' * 3000 + ']' * 3000, '{ "jsonrpc" : "2.0",\t"id" : 13 , "method" : "spaces" }',
        '{"jsonrpc":"2.0","method":"big","params":["%s<"]}' % ("é" * 5000000)]
    for number, line in enumerate(lines):
        who = "plugin" if '"result"' in line else "host"
        print('{"t":%d,"from":"%s","peer":"odd","run":18446744073709551615,"message":%s}' % (30000 - number * 100, who, line))
    write({"t": 18446744073709551615, "dropped": 18446744073709551615})
    write({"t": 5, "from": "host", "message": {"jsonrpc": "2.0", "method": "nobody"}})
    print("no record </script>")
    write({"t": 40000, "from": "plugin", "peer": "", "stray": ""})
    write({"duplex-trace": 1, "time": "us", "part": 1, "unix-ms": 1})
    write({"t": 1, "from": "host", "peer": "early", "message": {"jsonrpc": "2.0", "method": "before"}})
    sys.stdout.write('{"t":50000,"from":"host","mess')


def make_many(count, one_id):
    print('{"duplex-trace":1,"time":"us","part":1}')
    for number in range(count):
        print('{"t":%d,"from":"host","peer":"p","message":{"jsonrpc":"2.0","id":%d,"method":"m"}}' % (number, 1 if one_id else number))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")
    what = sys.argv[1]
    if what == "talk":
        make_talk(int(sys.argv[2]), int((sys.argv + [6000])[3]))
    elif what == "hostile":
        make_hostile()
    else:
        make_many(int(sys.argv[2]), what == "ids")
