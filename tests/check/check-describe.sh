#!/usr/bin/env bash
# duplex describe: what it says, where it says it, and its exit codes. That its schemas judge as the
# library does is tested by tests/protocol/schemas.c.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >tea.openrpc.json <<'END'
{
  "openrpc": "1.3.2",
  "info": {"title": "Tea", "version": "1.2", "description": "A guest and a pot."},
  "x-duplex": {
    "name": "tea",
    "revision": "3",
    "host": "guest",
    "plugin": "pot",
    "framing": "header",
    "lenient": ["lf", "null-params"],
    "messageMax": 4096,
    "ids": "uuid",
    "deadline": 90000,
    "cancel": {"method": "drop", "id": "call", "reason": "why", "answered": true, "code": 41, "grace": 300},
    "progress": {"method": "steam", "token": "call", "place": ["/meta/token"], "unknown": "pass"},
    "lifecycle": {
      "start": "cold",
      "states": {
        "cold": {"host": ["hello"], "plugin": [], "code": 42},
        "ready": {"never": ["hello"]},
        "gone": {"host": [], "plugin": [], "early": "deliver"}
      },
      "moves": [
        {"in": "cold", "message": "hello", "by": "host", "outcome": "result", "to": "ready"},
        {"in": "ready", "message": "bye", "by": "host", "outcome": "sent", "to": "gone"}
      ]
    },
    "start": [{"call": "hello", "params": {"name": "Ana"}}, {"notify": "bye"}],
    "stop": {"call": "hello", "params": {"name": "Bo"}, "notify": "bye", "callMs": 500, "closeMs": 2000, "termMs": 60000},
    "errata": [{"id": "K1", "document": "Water boils at 100.", "program": "At 93.", "here": "Either.", "revision": "2"}]
  },
  "methods": [
    {
      "name": "hello",
      "summary": "Who is there?",
      "description": "Says who is there, and learns what pot it is.\n\nOnce is enough.",
      "params": [
        {"name": "name", "required": true, "description": "Of the guest.", "schema": {"type": "string"}},
        {"name": "wish", "schema": {"$ref": "#/components/schemas/Wish"}}
      ],
      "result": {"name": "result", "schema": {"$ref": "#/components/schemas/Pot"}},
      "errors": [{"$ref": "#/components/errors/NoWater"}, {"code": -32602, "message": "Say who you are"}],
      "x-duplex": {"from": "host", "params": {"$ref": "#/components/schemas/HelloParams"}, "late": "kill"}
    },
    {
      "name": "cups",
      "summary": "How many cups are wanted.",
      "params": [],
      "result": {"name": "result", "schema": {"type": "integer", "minimum": 1}},
      "x-duplex": {
        "from": "both",
        "deadline": null,
        "variants": {"host": {"summary": "How many cups the pot holds.", "result": {"const": 8}, "late": "fail"}}
      }
    },
    {
      "name": "steam",
      "summary": "How hot the water is.",
      "params": [{"name": "call", "required": true, "schema": true}],
      "x-duplex": {
        "from": "plugin",
        "notification": true,
        "params": {"type": "object", "required": ["call"], "properties": {"call": true}},
        "optional": true
      }
    },
    {
      "name": "drop",
      "summary": "A request is no longer wanted.",
      "params": [{"name": "call", "required": true, "schema": true}, {"name": "why", "schema": {"type": "string"}}],
      "x-duplex": {
        "from": "both",
        "notification": true,
        "params": {"type": "object", "required": ["call"], "properties": {"call": true, "why": {"type": "string"}}}
      }
    },
    {"name": "bye", "summary": "The guest leaves.", "params": [], "x-duplex": {"from": "host", "notification": true}}
  ],
  "components": {
    "schemas": {
      "HelloParams": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 1}, "wish": {"$ref": "#/components/schemas/Wish"}},
        "additionalProperties": false
      },
      "Wish": {
        "description": "What the guest would like, or what another guest would.",
        "type": "object",
        "properties": {
          "kind": {"enum": ["green", "black"], "default": "black"},
          "hot": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
          "like": {"$ref": "#/components/schemas/Wish"},
          "with": {"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "milk"}, {"$ref": "#/components/schemas/Sugar"}]}}
        },
        "additionalProperties": {"type": "boolean"}
      },
      "Sugar": {
        "allOf": [{"required": ["spoons"]}, {"properties": {"spoons": {"type": "number", "minimum": 0.5}}}],
        "type": "object",
        "if": {"properties": {"spoons": {"minimum": 9}}},
        "then": {"required": ["really"]}
      },
      "Pot": {
        "type": "object",
        "properties": {"id": {"type": "string", "pattern": "^[a-z]+$", "format": "word"}, "made": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}
      }
    },
    "errors": {
      "NoWater": {"code": 40, "message": "there is no water"},
      "Dropped": {"code": 41, "message": "dropped"},
      "Cold": {"code": 42, "message": "the pot is cold"}
    }
  }
}
END

failed=0
# expect CODE STDOUT STDERR ARGUMENT...: the output is compared whole, errors by a part of them.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 10 "$BUILD/duplex" describe "$@" >out 2>err </dev/null || got=$?
    if ((got != code)) || [[ $(cat out) != "$out" ]] || [[ $(cat err) != *"$err"* ]] || { [[ -z $err && -s err ]]; } ||
        (($(grep -vc '^hint: ' err || true) > 1)); then
        echo "duplex describe $*: code $got, expected $code"
        diff <(echo "$out") out || true
        echo "stderr: $(cat err)"
        failed=1
    fi
}

expect 0 "$(cat <<'END'
tea@3: Tea
A guest and a pot.

version           1.2
host              guest
plugin            pot
framing           header (Content-Length)
leniencies        lf, null-params
request ids       UUIDs
batches           not accepted
unknown methods   refused (-32601)
longest message   4096 bytes
response timeout  90 s

Start:
  1. call hello {"name":"Ana"}, and wait for its result
  2. send bye

States:
  cold (initial state)
    guest may send hello
    pot may send nothing
    messages that are not allowed are refused: 42 the pot is cold
    → ready on the result of hello from the guest
  ready
    nobody may send hello
    messages that are not allowed are refused: -32600 Invalid Request
    → gone when bye is sent by the guest
  gone
    guest may send nothing
    pot may send nothing
    messages that are not allowed are accepted anyway, and counted

Stop:
  1. call hello {"name":"Bo"}, and wait up to 500 ms
  2. send bye
  3. close its input, and wait up to 2 s
  4. SIGTERM, and wait up to 1 min
  5. SIGKILL

Cancellation:
  drop cancels the request whose id is in call; why gives the reason
  the request still gets a response, with error 41, within 300 ms

Progress:
  steam reports the progress of the request whose token is in call
  a request has its token at /meta/token
  progress with an unknown token is passed on

Errors:
  40  NoWater  there is no water
  41  Dropped  dropped
  42  Cold     the pot is cold

Known differences between documentation and program:
  K1
    documentation: Water boils at 100.
    program: At 93.
    Duplex: Either.
    revision that follows the program: @2

Methods:
  hello  guest → pot  request       Who is there?
  cups   guest ↔ pot  request       How many cups are wanted.
  steam  pot → guest  notification  How hot the water is.
  drop   guest ↔ pot  notification  A request is no longer wanted.
  bye    guest → pot  notification  The guest leaves.
END
)" '' ./tea.openrpc.json
expect 0 "$(cat <<'END'
hello
Who is there?

request, guest → pot
timeout: 90 s, then the other side is killed

Says who is there, and learns what pot it is.

Once is enough.

params: HelloParams (object)
  name: string, not empty, required
      Of the guest.
  wish: Wish (object)
      What the guest would like, or what another guest would.
    kind: "green" or "black", default "black"
    hot: integer (0 to 100) or null
    like: Wish, as above
    with: array of one of these, not empty
      - "milk"
      - Sugar (object), more rules apply
        spoons: number, at least 0.5, required
    (any other): boolean

result: Pot (object)
  id: string (word) matching /^[a-z]+$/
  made: string or integer

Errors:
      40  NoWater        there is no water
  -32602  InvalidParams  Say who you are

Example:
  guest → pot
    Content-Length: 100

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","method":"hello","params":{"name":"x"}}
  pot → guest
    Content-Length: 73

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","result":{}}
END
)" '' ./tea.openrpc.json hello
expect 0 "$(cat <<'END'
cups
How many cups are wanted.

request, guest ↔ pot

guest → pot
How many cups the pot holds.
timeout: none

params: none

result: 8

Example:
  guest → pot
    Content-Length: 77

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","method":"cups"}
  pot → guest
    Content-Length: 72

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","result":8}

pot → guest
How many cups are wanted.
timeout: none

params: none

result: integer, at least 1

Example:
  pot → guest
    Content-Length: 77

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","method":"cups"}
  guest → pot
    Content-Length: 72

    {"jsonrpc":"2.0","id":"01234567-89ab-4def-8123-456789abcdef","result":1}
END
)" '' ./tea.openrpc.json cups
expect 0 "$(cat <<'END'
steam
How hot the water is.

notification, pot → guest

params: object, optional
  call: anything, required

Example:
  pot → guest
    Content-Length: 34

    {"jsonrpc":"2.0","method":"steam"}
END
)" '' ./tea.openrpc.json steam
expect 0 '{"name":"bye","summary":"The guest leaves.","params":[],"x-duplex":{"from":"host","notification":true}}' \
    '' --openrpc ./tea.openrpc.json bye

# shellcheck disable=SC2016
draft='{"$schema":"https://json-schema.org/draft/2020-12/schema",'
expect 0 "$draft"'"type":["object","array","null"],"maxProperties":0,"maxItems":0}' '' --json-schema ./tea.openrpc.json cups
expect 0 "$draft"'"const":8}' '' --json-schema --result --from host ./tea.openrpc.json cups
expect 0 "$draft"'"type":"integer","minimum":1}' '' --json-schema --result --from plugin ./tea.openrpc.json cups
# shellcheck disable=SC2016
expect 0 "$draft"'"anyOf":[{"type":"null"},{"$ref":"#/$defs/params"}],"$defs":{"params":{"type":"object","required":["call"],"properties":{"call":true}}}}' \
    '' --json-schema ./tea.openrpc.json steam
# Both send it, and it is the same: nobody has to say who.
expect 0 "$draft"'"type":"object","required":["call"],"properties":{"call":true,"why":{"type":"string"}}}' \
    '' --json-schema ./tea.openrpc.json drop
expect 0 '{"protocol":"tea","revision":"3","name":"bye","kind":"notification","from":"host","direction":"guest → pot","summary":"The guest leaves.","description":null,"errors":[],"directions":[{"from":"host","direction":"guest → pot","summary":"The guest leaves.","hasParams":false,"optional":false,"params":'"$draft"'"type":["object","array","null"],"maxProperties":0,"maxItems":0},"example":{"message":{"jsonrpc":"2.0","method":"bye"},"messageBytes":"Content-Length: 32\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}"}}]}' \
    '' --json ./tea.openrpc.json bye

expect 2 '' $'duplex describe: missing PROTOCOL\nhint: \'duplex list\' lists the built-in protocols'
expect 2 '' 'unknown protocol "nothing"' nothing
for words in ping ''; do
    # shellcheck disable=SC2086 # words
    cmp <("$BUILD/duplex" describe -p mcp $words) <("$BUILD/duplex" describe mcp $words) || failed=1
done
expect 2 '' $'duplex describe: mcp has no method \'pong\'\nhint: did you mean ping?' -p mcp pong
expect 2 '' "expected one METHOD, but also got 'ping'" -p mcp mcp ping
expect 2 '' "cannot read ./absent.json: No such file or directory" ./absent.json
expect 2 '' $'duplex describe: tea has no method \'helo\'\nhint: did you mean hello?' ./tea.openrpc.json helo
expect 2 '' $'tea has no method \'HELLO\'\nhint: did you mean hello?' ./tea.openrpc.json HELLO
expect 2 '' $'tea has no method \'zzz\'\nhint: \'duplex list ./tea.openrpc.json\' lists the methods' ./tea.openrpc.json zzz
expect 2 '' $'tea has no method \'\'\nhint: \'duplex list' ./tea.openrpc.json ''
expect 2 '' $'mcp has no method \'tools/lst\'\nhint: did you mean tools/list?' mcp tools/lst
expect 2 '' $'mcp has no method \'templates\'\nhint: did you mean resources/templates/list?' mcp templates
expect 2 '' "hint: 'duplex list mcp' lists the methods" mcp "$(printf 'x%.0s' {1..5000})"
expect 2 '' "mcp has no method '\x1b[1m'" mcp $'\e[1m'
expect 2 '' "expected one METHOD, but also got 'c'" mcp a c
expect 2 '' 'duplex describe: unexpected command after --' mcp -- true
expect 2 '' '--json-schema needs a METHOD' --json-schema mcp
expect 2 '' "--openrpc and --json-schema cannot be used together" --json-schema --openrpc mcp ping
expect 2 '' '--result needs --json-schema' --result mcp ping
expect 2 '' '--from needs --json-schema' --from host mcp ping
expect 2 '' "--from: expected host|plugin, got 'guest'" --json-schema --from guest ./tea.openrpc.json cups
expect 2 '' 'the pot does not send hello' --json-schema --from plugin ./tea.openrpc.json hello
expect 2 '' 'steam is a notification: it has no result' --json-schema --result ./tea.openrpc.json steam
expect 2 '' $'cups has one schema from the guest (the host) and another from the pot (the plugin)\nhint: add --from host or --from plugin' \
    --json-schema --result ./tea.openrpc.json cups
expect 2 '{"error":{"hint":"did you mean hello?","exit":2,"kind":"usage","message":"tea has no method '\''helo'\''"}}' \
    '' --json ./tea.openrpc.json helo
# A document may be read whose schemas cannot be used: that is told when they are needed.
sed 's/"minLength": 1}/"minLength": "one"}/' tea.openrpc.json >flawed.json
expect 7 '' "invalid schema: #/\$defs/HelloParams/properties/name/minLength" --json-schema ./flawed.json hello
timeout 10 "$BUILD/duplex" describe --help | grep -q '^Usage: duplex describe' || failed=1

timeout 100 python3 - "$BUILD/duplex" <<'END' || failed=1
import json, os, pty, subprocess, sys, time

duplex = sys.argv[1]
failed = 0
count = 0


def complain(*words):
    global failed
    print(*words)
    failed = 1


def run(*words, code=0):
    global count
    count += 1
    done = subprocess.run([duplex, *words], capture_output=True, timeout=20)
    if done.returncode != code or (code == 0 and done.stderr):
        complain(*words, done.returncode, done.stderr.decode())
    if b"\033" in done.stdout:
        complain(*words, "steers a terminal")
    return done.stdout.decode()


# Every protocol, and every message of it, in every form.
for name in run("list", "--names").split():
    text = run("describe", name)
    whole = json.loads(run("describe", "--openrpc", name))
    facts = json.loads(run("describe", "--json", name))
    methods = {method["name"]: method for method in whole["methods"]}
    if [message["name"] for message in facts["messages"]] != list(methods) or facts["framing"] != whole["x-duplex"]["framing"]:
        complain(name, "facts")
    for head in ("Start:", "States:", "Stop:", "Cancellation:", "Progress:", "Methods:"):
        if head + "\n" not in text:
            complain(name, head)
    for method in methods:
        text = run("describe", name, method)
        if not text.startswith(method + "\n") or "\nparams:" not in text or "Example:\n  " not in text or "none could be" in text:
            complain(name, method, text)
        if ("\nresult:" in text) == bool(methods[method]["x-duplex"].get("notification")):
            complain(name, method, "result")
        if json.loads(run("describe", "--openrpc", name, method)) != methods[method]:
            complain(name, method, "--openrpc")
        said = json.loads(run("describe", "--json", name, method))
        senders = {"host": ["host"], "plugin": ["plugin"], "both": ["host", "plugin"]}[methods[method]["x-duplex"]["from"]]
        if [side["from"] for side in said["directions"]] != senders:
            complain(name, method, "directions")
        for side in said["directions"]:
            if side["example"]["message"]["method"] != method:
                complain(name, method, "example")

# The document that --openrpc prints stands alone, and is the same again; a schema is one for duplex schema.
for name in ("mcp", "hermes@exact", "reginald@gen-b"):
    with open("whole.json", "w") as file:
        file.write(run("describe", "--openrpc", name))
    if run("describe", "--openrpc", "./whole.json") != open("whole.json").read():
        complain(name, "is not the same when it is read again")
with open("call.json", "w") as file:
    file.write(run("describe", "--json-schema", "mcp", "tools/call"))
for value, code in (({"name": "a", "arguments": {}}, 0), ({"name": 1}, 7), ({}, 7), ([], 7)):
    with open("value.json", "w") as file:
        json.dump(value, file)
    run("schema", "call.json", "value.json", code=code)


# A schema that would fill the world is cut, soon, and that is said.
def document(schemas):
    return {
        "openrpc": "1.3.2", "info": {"title": "T", "version": "1"}, "x-duplex": {"name": "t", "framing": "line"},
        "methods": [{"name": "a", "summary": "S", "params": [],
                     "x-duplex": {"from": "host", "params": {"allOf": [{"$ref": "#/components/schemas/s0"}]}}}],
        "components": {"schemas": schemas},
    }


def reference(number):
    return {"$ref": "#/components/schemas/s%d" % number}


hostile = {
    "doubling": {"s%d" % i: {"properties": {"a": reference(i + 1), "b": reference(i + 1)}} for i in range(20)} | {"s20": {}},
    "deep": {"s%d" % i: {"properties": {"a": reference(i + 1)}} for i in range(100)} | {"s100": {}},
    "arrays": {"s%d" % i: {"type": ["array"] * 4, "items": reference(i + 1)} for i in range(22)} | {"s22": {}},
    "wide": {"s0": {"properties": {"p%d" % i: {"type": "string"} for i in range(10000)},
                    "required": ["p%d" % i for i in range(10000)]}},
    "circle": {"s0": {"items": reference(1), "type": "array"}, "s1": {"anyOf": [reference(0), reference(1)]}},
    "steering": {"s0": {"properties": {"\033[2J": {"description": "\033[2J\u009b", "enum": ["\033[2J"], "default": "\033"}}}},
}
for name, schemas in hostile.items():
    with open(name + ".json", "w") as file:
        json.dump(document(schemas), file)
    start = time.monotonic()
    text = run("describe", "./%s.json" % name, "a")
    if time.monotonic() - start > 5:
        complain(name, "takes", time.monotonic() - start)
    if len(text) > 3000000:
        complain(name, "is", len(text))
    if name in ("doubling", "deep", "wide") and "… and more: --json-schema shows everything" not in text:
        complain(name, "is not cut:", text[-200:])
    if name == "circle" and ", as above" not in text:
        complain(name, text)
    run("describe", "--json", "./%s.json" % name, "a")

# Colours are for terminals.
child, fd = pty.fork()
if child == 0:
    os.environ.pop("NO_COLOR", None)
    os.execv(duplex, [duplex, "describe", "mcp", "ping"])
text = b""
try:
    while piece := os.read(fd, 65536):
        text += piece
except OSError:
    pass
if os.waitpid(child, 0)[1] or b"\033[1mping" not in text:
    complain("no colours on a terminal")
if count < 900:
    complain("only", count, "descriptions")
sys.exit(failed)
END
exit $failed
