#!/usr/bin/env bash
# duplex mcp as a client: every word, every option, every exit code.
# shellcheck source=/dev/null disable=SC2154 # its names
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
tag=check-mcp-$$-$RANDOM
background=
# shellcheck disable=SC2317 # called by the trap
tidy() {
    # A child that is interrupted before it has become another program would come here, too.
    [[ $BASHPID == "$$" ]] || return
    [[ -z $background ]] || kill "$background" 2>/dev/null
    rm -rf "$work"
}
trap tidy EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
unset NO_COLOR
python=/usr/bin/python3
[[ -x $python ]] || python=python3
program=$SOURCE/tests/check/mcp-server.py
talk=$SOURCE/tests/check/terminal-talk.py
server=("$python" -IS "$program" "$tag")
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}

# run ARGUMENT...: duplex mcp, its output in out and err, its exit code in $got.
run() {
    got=0
    last="duplex mcp $*"
    timeout -k 5 15 "$BUILD/duplex" mcp "$@" >out 2>err </dev/null || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"
# with CODE OUT ERR WORDS... [-- FLAG...]: the same with the server.
with() {
    local code=$1 out=$2 err=$3 words=()
    shift 3
    while (($#)) && [[ $1 != -- ]]; do words+=("$1"); shift; done
    expect "$code" "$out" "$err" "${words[@]}" -- "${server[@]}" "${@:2}"
}
# An expression of Python over the lines of out; j is the first, e its error.
json() {
    "$python" -c 'import json, sys
all = [json.loads(line) for line in open("out", "rb")]
j = all[0]
e = j.get("error")
assert '"$1" 2>why || { complain "$last: $1"; cat out why; }
}

# --- Words. ------------------------------------------------------------------------------------
usage() { expect 2 '' "$@"; [[ $(grep -vc '^hint: ' err) == 1 && $(wc -l <err) -le 2 ]] || complain "$last: more than one line"; }
# unknown WORDS HINT ARGUMENT...: exactly two lines.
unknown() {
    local text="duplex mcp: unknown subcommand '$1'"$'\n'"hint: $2"
    shift 2
    expect 2 '' "$text" "$@"
    [[ $(cat err) == "$text" ]] || complain "$last: $(cat err)"
}
meant() { unknown "$1" "did you mean 'duplex mcp $2'?" "${@:3}"; }
usage 'missing subcommand'
meant call 'tools call' call -- true
meant run 'tools call' run -- true
meant list tools list -- true
meant tool tools tool -- true
meant resource resources resource -- true
meant prompt prompts prompt -- true
meant read 'resources read' read file:///x -- true
meant 'tools cal' 'tools call' tools cal -- true
meant 'tools lst' 'tools list' tools lst -- true
meant 'resources lits' 'resources list' resources lits -- true
meant 'tools run' 'tools call' tools run -- true
meant 'tools add' 'tools call' tools add a=1 -- true
meant 'resources get' 'resources read' resources get x -- true
meant 'prompts show' 'prompts get' prompts show x -- true
meant 'serve folder' 'serve files' serve folder .
meant inof info inof -- true
unknown nonesuch "'duplex mcp --help' lists the subcommands; the command line of a server goes after --" nonesuch -- true
unknown 'serve x' "'duplex mcp --help' lists the subcommands; the command line of a server goes after --" serve x
usage "duplex mcp: unknown subcommand 'templates read'" templates read -- true
usage "duplex mcp tools: unexpected argument 'x'" tools list x -- true
usage "duplex mcp info: unexpected argument 'x'" info x -- true
usage "duplex mcp ping: unexpected argument 'x'" ping x -- true
usage "duplex mcp log: unexpected argument 'x'" log x -- true
usage $'duplex mcp tools call: missing tool NAME\nhint: duplex mcp tools call NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]' tools call -- true
# A forgotten --.
: >noisy.py
for word in ./noisy.py sh; do
    usage "expected key=text or key:=json, got '$word'"$'\nhint: put the server\'s command line after --' tools call hi $word
    usage "expected key=text or key:=json, got '$word'" tools call hi $word -- true
    lacks err hint
done
usage 'missing prompt NAME' prompts get -- true
usage 'missing resource URI' resources read -- true
usage "missing 'prompt' or 'template'" complete -- true
usage "expected 'prompt' or 'template', got 'tool'" complete tool x y -- true
usage 'missing NAME' complete prompt -- true
usage 'missing ARGUMENT' complete prompt x -- true
usage 'missing subcommand' serve
usage 'missing FOLDER' serve files
usage 'missing SPEC' serve command
usage "duplex mcp serve files: unexpected argument 'b'" serve files a b
# A tool that is not in the list may be there all the same.
cat >unlisted.py <<'END'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"},
              "tools": [{"name": "weather", "inputSchema": {"type": "object"}}],
              "content": [{"type": "text", "text": json.dumps(message.get("params"))}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
END
"$BUILD/duplex" mcp tools call wether days=2 -- python3 unlisted.py >out 2>err </dev/null || complain "unlisted: $(cat err)"
[[ $(cat out) == '{"name": "wether", "arguments": {"days": "2"}}' && $(cat err) == "duplex mcp tools call: warning: the server does not list a tool 'wether', so arguments are sent as strings; did you mean 'weather'?" ]] ||
    complain "unlisted: $(cat out err)"
# A URL is not a command, whatever the command.
url="'https://example.com/mcp' is a URL, not a command
hint: put a local program after --; for a remote MCP server: -- npx -y mcp-remote https://example.com/mcp"
usage "duplex mcp: $url" info -- https://example.com/mcp
# Nor is it an argument.
hint="hint: ${url#*hint: }"
usage $'duplex mcp info: unexpected argument \'https://example.com/mcp\'\n'"$hint" info https://example.com/mcp
usage $'duplex mcp: unexpected argument \'https://example.com/mcp\'\n'"$hint" tools https://example.com/mcp
usage $'duplex mcp: unexpected argument \'./server\'\nhint: put the server\'s command line after --' tools ./server
"$BUILD/duplex" call ping https://example.com/mcp >out 2>err </dev/null && complain "call: no error"
[[ $(cat err) == "duplex call: $url" ]] || complain "call: $(cat err)"
for command in 'call ping' 'tap' 'repl' 'bench ping'; do
    # shellcheck disable=SC2086 # words
    "$BUILD/duplex" $command -- https://example.com/mcp >out 2>err </dev/null && complain "$command: no error"
    [[ $(cat err) == "duplex ${command% *}: $url" ]] || complain "$command: $(cat err)"
done
# The letter -p keeps its old meaning for this release.
with 0 42 'warning: -p will not mean --progress in the next release; write --progress' tools call add a:=2 -p
usage "--for is only for 'log' and 'watch'" info --for 1 -- true
usage "--task is only for 'tools call'" info --task -- true
usage '--env, --clean-env, --cwd and --keep-daemons need a command after --' info --connect tcp:1 --env A=1
usage '--env, --clean-env, --cwd and --keep-daemons need a command after --' info --connect tcp:1 --cwd .
usage "--listen is only for 'serve'" info --listen tcp:1 -- true
usage "--hidden is only for 'serve files'" info --hidden -- true
usage "--max-size is only for 'serve files'" serve command x --max-size 1
usage "--config is only for clients, not for 'serve'" serve files . --config x
usage "--connect is only for clients, not for 'serve'" serve files . --connect tcp:1
usage $'missing server\nhint: put the server\'s command line after --, or pass --in, --config or --connect' tools
usage $'missing server\nhint: put the server\'s command line after --, or pass --in, --config or --connect' tools --
usage 'cannot be used together' tools --connect tcp:1 -- true
usage 'cannot be used together' tools --connect tcp:1 --config x
usage '--server needs --config' tools --server x -- true
usage '--env: expected NAME=VALUE' tools --env x -- true
usage "--revision: unknown revision '1999-01-01', expected one of 2026-07-28, 2025-11-25" tools --revision 1999-01-01 -- true
usage '--revision 2025-06-18 does not work with --mode modern' tools --mode modern --revision 2025-06-18 -- true
usage '--revision 2026-07-28 does not work with --mode legacy' tools --mode legacy --revision 2026-07-28 -- true
usage '--mode: expected' tools --mode old -- true
usage '--ids: expected' tools --ids x -- true
usage '--level: expected' log --level loud -- true
usage '--root: absent: No such file' tools --root absent -- true
usage '--opener: missing closing quote' tools --opener "x '" -- true
usage '--opener: expected a program' tools --opener '' -- true
usage '--answer: expected accept' tools -a '' -- true
usage '--answer: expected accept' tools -a - -- true
usage '--answer: missing closing quote' tools -a 'a="' -- true
usage "expected key=text or key:=json, got 'x'" tools -a 'x' -- true
usage 'a:= must be followed by valid JSON' tools -a 'a:=x' -- true
usage 'cannot read absent:' tools -a '@absent' -- true
usage "cannot write 'absent/x': No such file" tools --stderr absent/x -- true
usage 'absent/x' tools --record absent/x -- true
usage 'ARGUMENTS must be' tools call echo '[1]' -- true
usage "expected key=text" tools call echo x -- true
expect 2 '' 'cannot send tools/call: its params have a number out of range, or text that is not valid UTF-8' \
    tools call add a=1e400 b=2 -- "$BUILD/examples/mcp-adder"
# Text in front of a message says nothing of the framing.
cat >stray.py <<'END'
import json, sys
for line in sys.stdin:
    if "id" in (m := json.loads(line)):
        print("DEBUG", json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {}}), flush=True)
END
expect 5 '' 'the server did not answer initialize within 3 s (--start-timeout)' tools --start-timeout 3s -- python3 stray.py
lacks err framing
has err 'and the message on that line is lost)'
expect 2 '"kind":"usage"' '' tools --json
json 'e["exit"] == 2'
run --help-all
for word in --config --server --connect --mode --revision --ids --env --clean-env --inherit-env --cwd --stderr --root --sample \
    --answer --opener --progress --reset-on-progress --task --level --show --record --timeout --total-timeout --start-timeout \
    --probe-timeout --for --json; do has out "$word"; done

# The help of a subcommand has what belongs to it, and nothing else.
expect 0 $'Call MCP servers, or serve files and programs as one\n\nUsage: duplex mcp SUBCOMMAND ' '' --help
[[ $(wc -l <out) -le 60 ]] || complain "$last: $(wc -l <out) lines"
has out '  tools call      Call a tool and print its result'
expect 0 $'List the tools of a server with their arguments\n\nUsage: duplex mcp tools [list] [OPTION...] -- SERVER [ARG...]\n' '' tools --help
has out '       duplex mcp tools call NAME [ARGUMENTS] [OPTION...] -- SERVER [ARG...]'
has out '    duplex mcp tools call add a=2 b=40 -- build/examples/mcp-adder'
for word in 'prompts get' 'serve files' --listen --max-size; do lacks out "$word"; done
expect 0 $'Print the contents of resources\n\nUsage: duplex mcp resources read URI... [OPTION...] -- SERVER [ARG...]\n' '' resources read --help
for word in 'tools call' --task --answer; do lacks out "$word"; done
expect 0 '  --max-size SIZE         serve files: do not read files larger than this; 0' '' serve files --help
lacks out --timeout

# --- What there is. ----------------------------------------------------------------------------
with 0 'Server       test-server 1.2 (Test Server)' '' info
for text in 'Revision     2025-11-25' 'tools (listChanged)' 'resources (subscribe, listChanged)' 'Be kind.' \
    'And brief.' 'Tools (27)' '  echo  Echo Tool' 'Resources (3)' '  test://blob  A blob' 'Templates (1)' \
    '  test://item/{id}  items' 'Prompts (2)' '  greet'; do has out "$text"; done
lacks out $'\e'
with 0 '*' '' info --json
json 'j["revision"] == "2025-11-25" and j["mode"] == "legacy" and j["serverInfo"]["name"] == "test-server"'
json 'len(j["tools"]) == 27 and len(j["resources"]) == 3 and len(j["resourceTemplates"]) == 1'
json 'len(j["prompts"]) == 2 and j["instructions"].startswith("Be kind") and "logging" in j["capabilities"]'
with 0 'Capabilities none' '' info -- bare
lacks out Tools
with 0 '*' '' tools
for text in 'echo  Echo Tool' '  Says what it is told.' '  (read-only)' '    message  string, required' \
    '        What to say' '    a  number, 0 to 100, required' '    b  number, default 40' \
    '    colour  one of red, green, default green' '    at  object' '        x  integer' \
    '    tags  array of string' '  (task optional)' 'Its name is \x1b[31mred'; do has out "$text"; done
lacks out $'\e'
awk 'length($0) > 80 { exit 1 }' out || complain "lines of more than 80 columns"
with 0 '*' '' tools list --json
json 'len(j["tools"]) == 27 and "nextCursor" not in j and j["tools"][0]["name"] == "echo"'
with 0 'test://text' '' resources
has out '  (text/plain, 12 bytes)'
with 0 '*' '' resources --json
json '[one["name"] for one in j["resources"]] == ["text", "blob", "two"]'
with 0 'test://item/{id}  items' '' templates
has out '  Any item'
with 0 '"resourceTemplates": [' '' templates list --json
with 0 'greet' '' prompts
has out '    who  required'
has out '        Whom'
with 0 '*' '' prompts --json
json 'j["prompts"][1]["name"] == "plain"'
with 7 '' 'tools/list' tools -- bare
with 7 '' 'the same cursor twice' tools -- loop

# --- Tools. ------------------------------------------------------------------------------------
with 0 'hello there' '' tools call echo message='hello there'
with 0 42 '' tools call add a:=2 b:=40
with 0 45 '' tools call add '{"a": 5}'
printf '{"a": 1, "b": 1}' >arguments
with 0 2 '' tools call add @arguments
got=0
echo '{"a": 3, "b": 1}' | timeout 10 "$BUILD/duplex" mcp tools call add - -- "${server[@]}" >out 2>err || got=$?
[[ $got == 0 && $(cat out) == 4 ]] || complain "arguments from the standard input: $(cat out err)"
with 0 '[image: image/png, 8 bytes]' '' tools call image
with 0 '*' '' tools call many
printf 'first\nsecond\n[audio: audio/wav, 4 bytes]\n[test://in: text/plain]\ninside\n[test://bytes: 3 bytes]\n[link: text test://text, text/plain, 2.0 KiB]\n  where it is\n' | cmp -s - out || { complain "many"; cat out; }
with 0 '{"sum":42}' '' tools call structured
with 0 '*' '' tools call many --json
json 'j["content"][1]["data"] == "QUJDRA=="'
with 0 '\x1b]0;owned\x07 and \x9b2J' '' tools call steer
with 1 '' 'duplex mcp tools call: fail: it went' tools call fail
has err '  wrong \x1b[31m'
with 1 '"isError":' '' tools call fail --json
with 1 '' 'duplex mcp tools call: tools/call: inside it \x1b broke (-32603)' tools call error
has err '{"why":7}'
with 1 '*' '' tools call error --json
json 'e["exit"] == 1 and e["kind"] == "refused" and e["code"] == -32603 and e["data"] == {"why": 7}'
# An error arrives as the server sent it, without a request that nobody asked for.
with 1 '' $'duplex mcp tools call: tools/call: Unknown tool: ecko (-32602)\nhint: did you mean \'echo\'?' tools call ecko
with 1 '' $'Unknown tool: nothing-like-it (-32602)\nhint: \'duplex mcp tools\' lists the tools' tools call nothing-like-it
with 1 '*' '' tools call ecko --json
json 'e["message"] == "Unknown tool: ecko" and e["code"] == -32602 and e["method"] == "tools/call" and "echo" in e["hint"]'
with 1 '' 'Unknown tool: ecko (-32602)' tools call ecko '{}' -o unlisted.jsonl
! grep -q 'tools/list' unlisted.jsonl || complain "tools/list: $(cat unlisted.jsonl)"
cat >raw.py <<'END'
import sys, json
error = r'{"code":1.5,"message":"odd\ttext \u001b[1m\u0000","data":{"x":1e3},"hint":"do it","method":"x","exit":0}'
pages = {None: r'{"tools":[{"name":"a","inputSchema":{"type":"object"},"_meta":{"z":1e3}}],"nextCursor":"2","_meta":{"p":1}}',
         "2": r'{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"ttlMs":7.50,"_meta":{"p":1e3}}'}
if sys.argv[1:]:
    pages[None] = pages["2"]
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    answer = {"initialize": '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}',
              "tools/list": '"result":' + pages[message.get("params", {}).get("cursor")]}.get(method, '"error":' + error)
    if "id" in message:
        print('{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), answer), flush=True)
END
raw() { "$BUILD/duplex" mcp "$@" -- "$python" raw.py >out 2>err </dev/null; }
raw tools call a x:=1 && complain 'an odd error is a success'
[[ $(cat err) == 'duplex mcp tools call: tools/call: odd'$'\t''text \x1b[1m\x00 (1.5)'$'\n''  {"x":1e3}' ]] || complain "raw: $(cat err)"
raw tools call a x:=1 --json && complain 'an odd error is a success'
[[ $(cat out) == '{"error":{"method":"tools/call",'*'"exit":1,"kind":"refused"}}' && $(cat out) != *'do it'* ]] || complain "raw: $(cat out)"
grep -qF '"code":1.5,"message":"odd\ttext \u001b[1m\u0000","data":{"x":1e3}' out || complain "raw: $(cat out)"
raw tools --json || complain "raw: $(cat err)"
[[ $(cat out) == '{"tools":[{"name":"a","inputSchema":{"type":"object"},"_meta":{"z":1e3}},{"name":"b","inputSchema":{"type":"object"}}],"ttlMs":7.50,"_meta":{"p":1e3}}' ]] ||
    complain "two pages: $(cat out)"
"$BUILD/duplex" mcp tools --json -- "$python" raw.py one >out 2>err </dev/null || complain "one page: $(cat err)"
[[ $(cat out) == '{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"ttlMs":7.50,"_meta":{"p":1e3}}' ]] || complain "one page: $(cat out)"
raw info --json || complain "info: $(cat err)"
grep -qF '"_meta":{"z":1e3}' out || complain "info: $(cat out)"
# Half a surrogate pair and 1E400, as JavaScript and Python send them, lose nothing.
cat >half.py <<'END'
import os, sys, json
whole = r'{"content":[{"type":"text","text":"a\ud83d b"}],"structuredContent":{"n":1E400,"m":1e3}}'
for line in sys.stdin:
    message = json.loads(line)
    answer = {"initialize": r'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}',
              "tools/list": r'"result":{"tools":[{"name":"t","description":"\udc00","inputSchema":{"type":"object"}}]}',
              "tools/call": '"result":' + whole}.get(message.get("method"))
    if message.get("params", {}).get("name") == "fail":
        answer = r'"error":{"code":7,"message":"no \ud83d","data":1E400}'
    if message.get("params", {}).get("name") == "odd":
        answer = '"result":{"content":[{"type":"text","text":7}]}'
    if message.get("params", {}).get("name") == "none":
        answer = '"result":{}'
    if message.get("params", {}).get("name") == "five":
        answer = '"result":5'
    if message["method"] == "initialize" and "RESOURCES" in os.environ:
        answer = answer.replace('"tools":{}', '"resources":{}')
    if message["method"] == "resources/read":
        answer = '"result":{"contents":[{"uri":"f:x"}]}'
    if "id" in message:
        print('{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), answer), flush=True)
END
half() { "$BUILD/duplex" "$@" -- "$python" half.py >out 2>err </dev/null; }
is_half() { [[ $1 == 0 && $(cat out) == "$2" ]] || complain "half: $1: $(cat out err)"; }
half mcp tools call t {}; is_half $? $'a\uFFFD b'
grep -q '^duplex mcp tools call: tools/call: the response has half a UTF-16 surrogate pair, shown as U+FFFD (' err || complain "half: $(cat err)"
half mcp tools call t {} --json
is_half $? '{"content":[{"type":"text","text":"a\ud83d b"}],"structuredContent":{"n":1E400,"m":1e3}}'
[[ ! -s err ]] || complain "half: $(cat err)"
half mcp tools; is_half $? $'t\n  \uFFFD'
half mcp info --json
is_half $? '{"revision":"2025-11-25","mode":"legacy","serverInfo":{"name":"n","version":"1"},"capabilities":{"tools":{}},"tools":[{"name":"t","description":"\udc00","inputSchema":{"type":"object"}}]}'
half call -p mcp tools/call '{"name":"t"}'
is_half $? '{"content":[{"type":"text","text":"a\ufffd b"}],"structuredContent":{"n":1E400,"m":1e3}}'
[[ $(wc -l <err) == 2 ]] || complain "half: $(cat err)"
half call -f line tools/call '{"name":"t"}' --json
is_half $? '{"method":"tools/call","result":{"content":[{"type":"text","text":"a\ud83d b"}],"structuredContent":{"n":1E400,"m":1e3}}}'
half mcp tools call fail {} --json
grep -qF '"code":7,"message":"no \ud83d","data":1E400' out || complain "half: $(cat out)"
half mcp tools call fail {}
grep -qF $'no \uFFFD (7)' err || complain "half: $(cat err)"
half mcp tools call odd {}
[[ $? == 7 && $(cat err) == *'/result: fits none of the 2 allowed forms; nearest is "CallToolResult": at /content/0/text: expected string, found number' ]] ||
    complain "odd: $(cat err)"
shy() {
    "$BUILD/duplex" mcp info "$@" -- "$python" -c 'import json
print(r"""{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x\ud83d","version":"1"},"_meta":{"n":1e3}}}""" % json.dumps(json.loads(input())["id"]), flush=True)
while True: input()' >out 2>err </dev/null
}
shy --json
is_half 0 '{"revision":"2025-11-25","mode":"legacy","serverInfo":{"name":"x\ud83d","version":"1"},"capabilities":{},"_meta":{"n":1e3}}'
shy
grep -q '^duplex mcp info: initialize: the response has half a UTF-16' err || complain "half: $(cat err)"
# A cursor goes back as it came, half a pair and all.
cat >cursor.py <<'END'
import sys, json
for line in sys.stdin:
    message = json.loads(line)
    page = '"a","inputSchema":{"type":"object"}}],"nextCursor":"c\\ud83d\\u0041\\/"}'
    if message.get("params", {}).get("cursor"):
        page = '"b","inputSchema":{"type":"object"}}]}' if r'"c\ud83d\u0041\/"' in line else '7}]}'
    if message["method"] == "initialize":
        page = None
    answer = '{"tools":[{"name":' + page if page else '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}'
    if "id" in message:
        print('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(message["id"]), answer), flush=True)
END
"$BUILD/duplex" mcp tools -- "$python" cursor.py >out 2>err </dev/null || complain "cursor: $(cat err)"
[[ $(cat out) == $'a\n\nb' ]] || complain "cursor: $(cat out err)"
half mcp tools call none {}
[[ $? == 7 && $(cat err) == *'/result: fits none of the 2 allowed forms; nearest is "CallToolResult": missing member "content"' ]] || complain "none: $(cat err)"
half mcp tools call five {}
[[ $? == 7 && $(cat err) == *'/result: expected object, found number' ]] || complain "five: $(cat err)"
RESOURCES=1 half mcp resources read f:x
[[ $? == 7 && $(cat err) == *'nearest is "TextResource": at /contents/0: missing member "text"' ]] || complain "read: $(cat err)"
is_strict() {
    [[ $1 == 6 && $(cat err) == *'tools/call: a number or string that cannot be represented, at byte '* ]] || complain "strict: $(cat err)"
}
half mcp tools call t {} --strict
is_strict $?
half call -p mcp tools/call name=t --strict
is_strict $?
with 7 '' "the tool 'echo' requires the argument 'message'"$'\nhint: \'echo\' takes message=TEXT' tools call echo
with 1 '' "message is required" tools call echo '{}'
with 1 '' 'cancelled by the other side' tools call giveup
with 7 '' 'tools/call' tools call unfit
with 6 '' 'tools/call' tools call both
with 4 '' 'my last words' tools call die
has err 'code 3'
with 4 '*' '' tools call die --json
json 'e["exit"] == 4 and "my last words" in e["detail"]'
with 5 '' '(--timeout)' tools call wait --timeout 200ms
with 5 '*' '' tools call wait --timeout 200ms --json
json 'e["kind"] == "timeout" and "--timeout" in e["message"]'
with 5 '' '(--total-timeout)' tools call wait --timeout 10s --total-timeout 200ms
with 5 '' '(--total-timeout)' tools call wait ms:=4000 -p --reset-on-progress --timeout 1500ms --total-timeout 1700ms
# Progress is shown, here in lines; it keeps the call alive only if that is wanted.
with 5 '' 'no response within 600 ms (--timeout)' tools call wait ms:=1000 -p --timeout 600ms
with 0 'waited' ' 20% 1 of 5: step 1' tools call wait ms:=1000 -p --reset-on-progress --timeout 600ms
has err '100% 5 of 5: step 5'
with 0 'waited' 'task: working' tools call job ms:=200 --task
with 0 'waited' '' tools call job ms:=100 --task --json

# --- Resources, prompts, completions. ----------------------------------------------------------
with 0 $'Hello\nworld' '' resources read test://text
lacks out 'test://text'
with 0 '[test://blob: image/png, 8 bytes]' '' resources read test://text test://blob
has out '[test://text: text/plain]'
with 0 $'[test://two/a]\nA\n[test://two/b]\nB' '' resources read test://two
with 0 '"blob":' '' resources read test://blob --json
with 1 '' 'Resource not found (-32002)' resources read test://none
with 0 $'A greeting\nuser:\n  Greet Ada\nassistant:\n  [image: image/png, 3 bytes]' '' prompts get greet who=Ada
with 0 '"messages":' '' prompts get greet who=Ada --json
with 1 '' 'who is missing (-32602)' prompts get greet
with 1 '' 'duplex mcp prompts get: prompts/get: no such prompt (-32602)' prompts get gret
with 0 alpha 'there are more values' complete prompt greet who
with 0 beta '' complete prompt greet who=be
lacks out alpha
with 0 'test://item/{id}' '' complete template 'test://item/{id}' id=te
with 0 'how-kind' '' complete prompt greet who=how how=kind
with 0 '*' '' complete prompt greet who=al --json
json 'j["completion"]["values"] == ["alpha"]'
with 7 '' 'completion/complete' complete prompt greet who -- bare

# --- Questions of the server. ------------------------------------------------------------------
with 0 '"error"' '' tools call ask
with 0 '"action": "accept"' 'the server asks: A ticket?; answering: name=' tools call ask -a 'name="Ada L" window:=true'
for text in '"name": "Ada L"' '"seats": 2' '"window": true' '"colour": "green"'; do has out "$text"; done
with 0 '\"seats\": 3' '' tools call ask -a '{"name": "Ada", "seats": 3}' --json
printf '{"name": "File"}' >answer
with 0 '"name": "File"' '*' tools call ask -a @answer
with 0 '"tags": ["a b", "c"]' '*' tools call tags -a 'tags:=["a b", "c"]'
with 0 'One Two Two' '*' tools call twice -a name=One -a name=Two
with 0 '"action": "decline"' '*' tools call ask -a decline
with 0 '"action": "cancel"' '*' tools call ask --answer cancel
with 7 '' '--answer does not fit the form' tools call ask -a 'name=Ada seats:=10'
with 7 '' '--answer does not fit the form' tools call ask -a accept
with 0 '"action": "accept"' 'the server asks you to visit https://example.com/in?a=1' tools call page -a accept
has err 'the server reports that the page is complete (e1)'
printf '#!/bin/sh\ngrep SigIgn /proc/self/status >%s/ignored\necho "$@" >%s/opened\n' "$work" "$work" >opener
chmod +x opener
with 0 '"action": "accept"' '*' tools call page -a accept --opener "$work/opener 'a word'"
for _ in {1..50}; do [[ -s opened ]] && break; sleep 0.05; done
[[ $(cat opened 2>/dev/null) == "a word https://example.com/in?a=1" ]] || complain "the opener got: $(cat opened)"
(((0x$(sed 's/.*\t//' ignored) & 0x1001000) == 0)) || complain "the opener ignores SIGPIPE or SIGXFSZ: $(cat ignored)"
with 0 '"action": "cancel"' '--opener: No such file' tools call page -a accept --opener "$work/absent"
with 0 '"action": "cancel"' '--opener: only http and https URLs are opened' tools call file -a accept --opener "$work/opener"
with 0 '"action": "decline"' '*' tools call page -a decline --opener "$work/absent"
with 0 '"error"' '*' tools call model
with 0 '"text": "three"' 'the server asks the model: How many?; responding: three' tools call model --sample three
mkdir 'a b'
with 0 'a%20b' '' tools call roots --root 'a b' --root /
has out '"uri": "file:///"'
has out '"name": "a b"'
with 0 '"error"' '*' tools call roots

# --- Notifications. ----------------------------------------------------------------------------
with 0 '*' '' ping
grep -qE '^[0-9]+\.[0-9]{3} ms$' out || complain "ping: $(cat out)"
with 0 '*' '' ping --json -- slow
json '300 <= j["ms"] < 3000'
with 5 '' '(--timeout)' ping --timeout 100ms -- slow
with 0 'warning (test): something changed' '' log --for 500ms -- ticks
with 0 '*' '' log --for 500ms --json --level debug -- ticks
json 'j == {"event": "log", "level": "warning", "logger": "test", "data": "something changed"}'
with 7 '' 'logging/setLevel' log --for 100ms -- bare
with 0 logged 'info (test): about it' tools call log --level info
has err 'error (test): {"deep":1}'
with 0 logged '' tools call log
with 0 'updated: test://text' '' watch test://text --for 500ms -- ticks
for text in 'changed: list of tools' 'changed: list of prompts' 'changed: list of resources'; do has out "$text"; done
with 0 '*' '' watch test://text --for 500ms --json -- ticks
json '{"event": "updated", "uri": "test://text"} in all and {"event": "changed", "list": "tools"} in all'
with 0 '' 'does not report changes to its lists' watch --for 100ms -- bare
with 1 '' 'no such resource' watch other://x --for 100ms
with 7 '' 'resources/subscribe' watch test://text --for 100ms -- bare

# SIGINT: what is watched ends; what is called is cancelled, and the server hears of it.
signalled() {
    local err=$1
    shift
    last="duplex mcp $* (SIGINT)"
    : >out
    "$BUILD/duplex" mcp "$@" >out 2>err </dev/null &
    background=$!
    for _ in {1..100}; do grep -q tools/call seen 2>/dev/null && break; [[ -s out ]] && break; sleep 0.05; done
    kill -INT "$background"
    got=0
    wait "$background" || got=$?
    background=
    ((got == 130)) || complain "$last: code $got, expected 130: $(cat out err)"
    [[ -z $err ]] || has err "$err"
}
signalled '' watch -- "${server[@]}" ticks
has out 'changed: list of tools'
signalled '' log -- "${server[@]}" ticks
rm -f seen
(for _ in {1..100}; do [[ -s trace ]] && grep -q tools/call trace && cp trace seen && break; sleep 0.05; done) &
signalled 'interrupted' tools call wait ms:=10000 --stderr errors --record trace -- "${server[@]}"
has errors 'cancelled: interrupted by the user'
has trace 'notifications/cancelled'

# A second one does not wait for a server that does not want to leave.
: >out
"$BUILD/duplex" mcp watch -- "${server[@]}" ticks stubborn >out 2>err </dev/null &
background=$!
last='duplex mcp watch (SIGINT twice)'
for _ in {1..100}; do [[ -s out ]] && break; sleep 0.05; done
SECONDS=0
kill -INT "$background"
sleep 0.3
kill -INT "$background" || complain "$last: it is gone after the first one"
got=0
wait "$background" || got=$?
background=
((got == 130 && SECONDS < 3)) || complain "$last: code $got after $SECONDS s"

# --- The server: how it starts and ends. -------------------------------------------------------
expect 3 '' 'absent/server' tools -- absent/server
expect 3 '*' '' tools --json -- absent/server
json 'e["kind"] == "start"'
expect 3 '' 'tcp' tools --connect tcp:1
expect 3 '' 'cannot' tools --connect "unix:$work/none"
with 4 '' 'code 3' tools -- exit
has err 'no licence found'
has err 'first line'
with 4 '' 'code 3' tools --stderr quiet -- exit
lacks err 'first line'
with 4 '' 'first line' tools --stderr inherit -- exit
with 4 '' 'code 3' tools --stderr errors -- exit
has errors 'no licence found'
with 4 '*' '' tools --json -- exit
json 'e["exit"] == 4 and "first line" in e["detail"]'
with 4 '' 'signal 9' tools -- kill
with 1 '' 'not with you' tools -- refuse
with 1 '' 'pass --mode modern' tools -- modern
with 1 '*' '' tools --json -- refuse
json 'e["exit"] == 1 and "not with you" in e["message"]'
with 6 '' '1999-01-01' tools -- old
with 6 '' 'not with that' tools -- oldest
with 0 'Revision     2024-11-05' '' info -- older
with 7 '' 'initialize' tools -- unfit
with 5 '' '(--start-timeout)' tools --start-timeout 200ms -- silent
with 6 '' 'framing' tools -- header
with 0 '*' 'duplex mcp ping: warning: the server printed text on stdout that is not JSON-RPC: "Server is starting up" (it breaks strict clients)' ping -- noise
with 0 'Resources (3)' 'resources/templates/list: Method not found (-32601)' info -- partial
lacks out Templates
has out 'Prompts (2)'
with 0 '*' '' info --json -- partial
json '"resourceTemplates" not in j and len(j["prompts"]) == 2 and len(all) == 1'
"${server[@]}" "listen=$work/socket" </dev/null 2>/dev/null &
background=$!
# Its file is there a moment before it listens, which this flag in the list of sockets says.
for _ in {1..100}; do grep -q " 00010000 .* $work/socket\$" /proc/net/unix && break; sleep 0.05; done
expect 0 hi '' tools call echo message=hi --connect "unix:$work/socket"
expect 0 'Revision     2025-11-25' '' info --mode auto --connect "unix:$work/socket"
expect 4 '' 'closed' tools call die --connect "unix:$work/socket"
kill "$background"
wait "$background" 2>/dev/null
background=

# --- Its surroundings. -------------------------------------------------------------------------
with 0 "cwd=$work/a b" '' tools call env --cwd 'a b' --env ONE=1 --env 'TWO=2 3'
has out 'ONE=1'
has out 'TWO=2 3'
lacks out 'SECRET'
SECRET=x with 0 'SECRET=x' '' tools call env
SECRET=x with 0 'SECRET=x' 'warning: --inherit-env is now the default and will be removed' tools call env --inherit-env
SECRET=x with 0 '*' '' tools call env --clean-env
lacks out 'SECRET'

# --- Revisions, ids, traffic. ------------------------------------------------------------------
for revision in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
    with 0 "Revision     $revision" '' info --revision "$revision"
done
with 0 '2026-07-28' '' info --mode modern -- modern
with 0 '2026-07-28' '' info --revision 2026-07-28 -- modern
with 0 '2026-07-28' '' info --mode auto -- modern
with 0 '2025-11-25' '' info --mode auto
with 0 '*' '' info --json --mode modern -- modern
json 'j["mode"] == "modern" and len(j["tools"]) == 27'
with 0 '2025-11-25' '' info --mode auto --probe-timeout 1ms
with 0 42 '' tools call add a:=2 --mode modern -- modern
with 0 '*' '' ping --mode modern -- modern
with 0 '"name": "Ada"' '*' tools call ask -a name=Ada --mode modern -- modern
with 0 '"text": "three"' '*' tools call model --sample three --mode modern -- modern
with 0 logged 'about it' tools call log --level info --mode modern -- modern
with 7 '' 'pass --level to a call' log --mode modern -- modern
with 0 'updated: test://text' '' watch test://text --for 500ms --mode modern -- modern ticks
has out 'changed: list of tools'
with 1 '' '-32602' resources read test://none --mode modern -- modern
with 0 '*' '"id":1,' ping --ids counter --show
has err ' -> '
has err ' <- '
has err 'notifications/initialized'
with 0 '*' '"id":"req_' ping --ids random --show
with 0 '*' '' ping --record trace
has trace '"method":"ping"'

# --- Configurations. ---------------------------------------------------------------------------
cat >config.json <<END
{"mcpServers": {
  "one": {"command": "$python", "args": ["-IS", "$program", "$tag"], "env": {"FROM": "config", "BOTH": "c"},
          "autoApprove": []},
  "two": {"command": "absent/two"},
  "net": {"url": "https://example.com/mcp"}}}
END
expect 0 'FROM=config' 'autoApprove is unknown: ignored' tools call env --config config.json --server one --env BOTH=o
has out 'BOTH=o'
SECRET=x expect 0 'FROM=config' 'autoApprove' tools call env --config config.json --server one
lacks out 'SECRET'
SECRET=x expect 0 'SECRET=x' 'autoApprove' tools call env --config config.json --server one --inherit-env
lacks err 'inherit-env'
expect 0 '*' '' tools --config config.json --server one --json
json 'len(j["tools"]) == 27'
expect 2 '' 'has several servers; pass --server: one, two' tools --config config.json
expect 2 '' 'is a remote server' tools --config config.json --server net
expect 2 '' $'no server \'ome\'\nhint: did you mean one?' tools --config config.json --server ome
expect 2 '' $'no server \'none\'\nhint: did you mean one?' tools --config config.json --server none
expect 2 '' "cannot read absent.json" tools --config absent.json
expect 2 '*' '' tools --config config.json --server net --json
json '"this is a remote server, which cannot be started (\"command\": \"npx\"" in e["message"]'
cat >words.json <<'END'
{"mcpServers": {"one": {"command": "sh x.sh"}}}
END
expect 3 '' $'cannot start sh x.sh: No such file or directory\nhint: put the arguments in "args", not in "command"' tools --config words.json
expect 3 '' $'cannot start sh x.sh: No such file or directory\nhint: the program and its arguments are separate words: -- sh x.sh' tools -- 'sh x.sh'
expect 3 '' 'absent/two' tools --config config.json --server two
cat >vscode.json <<END
{"servers": {"only": {"type": "stdio", "command": "$python", "args": ["-IS", "$program", "$tag"], "timeout": 200}}}
END
expect 0 hi '' tools call echo message=hi -c vscode.json
expect 5 '' '(--timeout)' tools call wait -c vscode.json
cat >own.json <<END
{"duplex": 1, "peers": {"a": {"command": ["$python", "-IS", "$program", "$tag"], "protocol": "mcp@2025-06-18"},
                        "b": {"command": ["true"], "protocol": "lsp"}}}
END
expect 0 'Revision     2025-06-18' '' info -c own.json --server a
expect 2 '' 'b speaks lsp, not mcp' info -c own.json --server b

# --- At a terminal. ----------------------------------------------------------------------------
terminal() {
    local steps=$1
    shift
    last="duplex mcp $* (at a terminal)"
    "$python" "$talk" "$BUILD/duplex" mcp --color never "$@" -- "${server[@]}" <<<"$steps" >out 2>err || complain "$last: $(cat err)"
}
terminal '< +- the server asks -
< | message  "A ticket?"
< +- Answer this request? [y/n, c to cancel]>
> perhaps
< y, n or c>
> y
< | name     "name"
< | about    "Who it is for"
< | type     string, at least 2 characters, required
< +- value>
> 
< a value is required
< | name     "name"
< +- value>
> Ada
< | name     "seats"
< | type     integer, 1 to 9, default 2
< +- value>
> many
< expected a number
< | name     "seats"
< +- value>
> 
< | name     "window"
< +- value>
> maybe
< expected yes or no
> yes
< | name     "colour"
< | type     one of red, green, default green
< +- value>
> red
< "action": "accept"
< "name": "Ada", "seats": 2, "window": true, "colour": "red"
= 0' tools call ask
# What does not fit is asked for again.
terminal '< +- Answer this request?
> y
< | name     "name"
< +- value>
> A
< | name     "seats"
< +- value>
> 3
< | name     "window"
< +- value>
> n
< | name     "colour"
< +- value>
> 
< invalid response
< | name     "name"
< +- value>
> Ada
< | name     "seats"
< +- value>
> 
< | name     "window"
< +- value>
> 
< | name     "colour"
< +- value>
> 
< "action": "accept"
= 0' tools call ask
terminal '< +- Answer this request?
> n
< "action": "decline"
= 0' tools call ask
terminal '< +- Answer this request?
^ D
< "action": "cancel"
= 0' tools call ask
terminal '< +- Answer this request?
^ C
< interrupted
= 130' tools call ask
terminal '< +- Answer this request?
< the server withdrew the question
< withdrawn
= 0' tools call withdraw
# The time for an answer does not run while the user thinks.
terminal '< +- Answer this request?
< the server withdrew the question
< withdrawn
= 0' tools call withdraw --timeout 200ms
terminal '< | page     "https://example.com/in
< +- Answer this request?
> y
< "action": "accept"
= 0' tools call page
terminal '< +- Answer this request?
> y
< | name     "tags"
< | type     array of one of a b, c, d
< +- value>
> a b , c
< "tags": ["a b", "c"]
= 0' tools call tags
terminal '< +- the server asks the model -
< | message  "How many?"
< +- What should the model say?
> four
< "text": "four"
= 0' tools call model
terminal '< +- What should the model say?
> 
< rejected
= 0' tools call model
terminal '< 5 of 5: step 5
< waited
! \x1b[K
= 0' tools call wait ms:=300 -p
terminal '< (--timeout)
= 5' tools call mute --timeout 300ms

# Nothing of ours may still run.
pgrep -f "$tag" >left && complain "left running: $(ps -o pid=,args= -p "$(paste -sd, left)")"
exit "$failed"
