#!/usr/bin/env bash
# duplex repl with lines that come from a pipe; check-repl-terminal.sh has those that are typed.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/repl-common.bash"

# --- Lines -------------------------------------------------------------------------------------

talk 0 '' '' '' -- "$echo" line
talk 0 '{"a":"b"}' '' 'echo a=b' -- "$echo" line
talk 0 '{"a":"b"}' '' $'  \techo\ta=b  \r' -- "$echo" line
talk 0 $'null\n[1]' '' $'\n   \n# echo [0]\necho\n\necho [1]' -- "$echo" line
talk 0 '[1]' '' 'call echo [1]' -- "$echo" line
talk 1 '' 'duplex repl: line 1: help: Method not found (-32601)' 'call help' -- "$echo" line
talk 1 '' 'duplex repl: line 1: x y: Method not found (-32601)' "'x y'" -- "$echo" line
got=0
last='a last line without its end'
printf 'echo [1]' | timeout 20 "$BUILD/duplex" repl -- "$echo" line >out 2>err || got=$?
verify 0 '[1]' ''

timeout 20 "$BUILD/duplex" repl -- "$echo" line >out 2>err <&- || complain "a closed standard input: $? $(cat err)"

# Words are those of a shell, but JSON stands as it is.
while IFS=$'\t' read -r line wanted; do
    talk 0 "$wanted" '' "echo $line" -- "$echo" line
done <<'END'
a='b c'	{"a":"b c"}
a="b \"c\" \\ \x"	{"a":"b \"c\" \\ \\x"}
a=b\ c\'	{"a":"b c'"}
'a=1'"2"3	{"a":"123"}
a=	{"a":""}
a=''	{"a":""}
{"a": "b  c"}	{"a": "b  c"}
 [1, "}", "\"]"]	[1, "}", "\"]"]
'{"a": 1}'	{"a": 1}
a:={"b": "c d", "e": [1, {}]} f=g	{"a":{"b":"c d","e":[1,{}]},"f":"g"}
a:="b \" c"	{"a":"b \" c"}
a:='"b"'	{"a":"b"}
a:=[1, 2] b:=null c:=18446744073709551616	{"a":[1,2],"b":null,"c":18446744073709551616}
a={x} b="&"	{"a":"{x}","b":"&"}
a=b &	{"a":"b"}
'&=1'	{"&":"1"}
END
printf '{"from": "a file"}' >params.json
talk 0 '{"from": "a file"}' '' 'echo @params.json' -- "$echo" line

wrong() {
    talk 2 '' "duplex repl: line 1: $1" "$2" -- "$echo" line
}
wrong 'missing closing quote' 'echo "a'
wrong 'missing closing quote' "echo a='b"
wrong 'missing character after the last backslash' $'echo a\\'
wrong "expected key=text or key:=json, got '&'" "echo '&'"
wrong "PARAMS cannot be '-': standard input is used for the lines" 'echo -'
wrong 'PARAMS:1:7: *' 'echo {"a":1,}'
wrong 'PARAMS:1:4: *' 'echo {"a'
wrong "unexpected argument 'a=b' after PARAMS" 'echo {} a=b'
wrong 'a:= must be followed by valid JSON: *' 'echo a:={"b"'
wrong "cannot read absent.json: No such file or directory" 'echo @absent.json'
wrong 'missing METHOD' 'call'
wrong 'missing METHOD' 'notify &'
wrong 'missing TEXT' 'raw'
wrong "missing METHOD; 'methods' lists them" 'describe'
wrong "jsonrpc has no method 'x'" 'describe x'
wrong "quit takes no arguments, got 'x'; to call a method of that name, use 'call quit'" 'quit x'
wrong "missing ID: the number of a call; 'pending' lists them" 'cancel x'
wrong 'no pending call 1' 'cancel 1'
wrong "missing ID: the number of a request; 'pending' lists them" 'answer'
wrong 'no pending request 1' 'answer 1 2'
wrong "missing ID: the number of a request; 'pending' lists them" 'answer 99999999999999999999 2'
wrong 'cannot send the text: it contains a line break' $'raw a\rb'

# A failure is told with its line, what follows is done all the same, and the first one counts.
talk 1 $'[1]\n[2]' $'duplex repl: line 2: none: Method not found (-32601)\nduplex repl: line 4: missing closing quote' \
    $'echo [1]\nnone\n\necho \'\necho [2]' -- "$echo" line
talk 2 '' $'duplex repl: line 1: missing closing quote\nduplex repl: line 2: fail: this always fails (1234)\n  {"why":"x"}' \
    $'"\nfail why=x' -- "${py[@]}"
for quits in $'quit\necho [2]' quit; do talk 0 '[1]' '' $'echo [1]\n'"$quits" -- "$echo" line; done

# --- Words of the command ----------------------------------------------------------------------

expect 2 '' "duplex repl: missing command after --
hint: put the server's command line after --, or pass --in or --connect" repl
expect 2 '' "duplex repl: unexpected argument 'echo'
hint: put the server's command line after --" repl echo -- "$echo" line
expect 2 '' 'duplex repl: --ask and --auto cannot be used together' repl --ask --auto -- "$echo" line
expect 3 '' 'duplex repl: cannot start ./absent: No such file or directory' repl -- ./absent
run repl --help
[[ $got == 0 ]] || complain "$last: $got"
grep -q '^Usage: duplex repl ' out || complain "$last: $(cat out)"

# --- Several at a time -------------------------------------------------------------------------

# What ends first is told first; without & each is awaited.
talk 0 $'2\n1' '' $'hold count:=2 &\nhold count:=2 &' -- "${peer[@]}"
talk 0 $'[3]\n3\n1' '' $'hold count:=2 &\necho [3]\nhold count:=2' -- "${peer[@]}"
talk 5 '[1]' 'duplex repl: line 2: hold: no response within 200 ms (--timeout)' $'echo [1]\nhold count:=2' -t 200ms -- "${peer[@]}"
printf 'hold count:=2 &\npending\nhold count:=2\n' | timeout 20 "$BUILD/duplex" repl -- "${peer[@]}" >out 2>err
[[ $(sed -E 's/[0-9.]+ ms/T/' out) == $'call 1: hold, for T\n2\n1' ]] || complain "pending: $(cat out err)"
# A call that is cancelled on purpose is told, but it is no failure.
talk 0 '[1]' 'duplex repl: line 1: hold: cancelled' $'hold count:=2 &\ncancel 1\necho [1]' -- "${peer[@]}"
# Ten thousand lines, each answered before the next one is asked.
begin=$(date +%s%N)
for ((i = 0; i < 10000; i++)); do echo "echo [$i]"; done >many
timeout 20 "$BUILD/duplex" repl -- "$echo" line <many >out 2>err || complain "10,000 lines: $? $(head -c 500 err)"
sed 's/echo //' many | cmp -s - out || complain "10,000 lines: $(head -n 3 out)"
((($(date +%s%N) - begin) / 1000000 < 9000)) || complain '10,000 lines take too long'

# --- Lines of the hostile ----------------------------------------------------------------------

"$python" - <<'END'
def lines(name, *texts):
    with open(name, "wb") as file:
        for text in texts:
            file.write(text + b"\n")
last = b"echo [1]"
lines("nul", b"echo a=\0b", b"\0", last)
lines("bytes", b"echo a=\xff", b"\xff\xfe", b"raw \xff", b"notify \x80", last)
lines("deep", b"echo " + b"[" * 100000, b"echo " + b"[" * 50000 + b"]" * 50000, b"echo a:=" + b"{" * 100000, last)
lines("quotes", b"'" * 100001, b'"' * 100001, b"\\" * 99999, last)
lines("megabyte", b'echo {"a":"' + b"x" * (1 << 20) + b'"}')
lines("words", b"echo" + b"".join(b" k%d=1" % i for i in range(9999)))
lines("more-words", b"echo" + b"".join(b" k%d=1" % i for i in range(10000)), last)
END
hostile nul 2 $'duplex repl: line 1: the line contains a NUL byte\nduplex repl: line 2: the line contains a NUL byte'
hostile bytes 2 $'duplex repl: line 1: the params cannot be written as JSON: *\nduplex repl: line 2: \\\\xff\\\\xfe cannot be sent: its name is not valid UTF-8\nduplex repl: line 4: \\\\x80 cannot be sent: its name is not valid UTF-8'
hostile deep 2 $'duplex repl: line 1: PARAMS:1:*\nduplex repl: line 2: echo cannot be sent: *\nduplex repl: line 3: a:= must be followed by valid JSON: *'
hostile quotes 2 $'duplex repl: line 1: missing closing quote\nduplex repl: line 2: missing closing quote\nduplex repl: line 3: missing character after the last backslash'
hostile more-words 2 'duplex repl: line 1: the line has more than 10000 words'
for file in megabyte words; do
    timeout 20 "$BUILD/duplex" repl -- "$echo" line <"$file" >out 2>err || complain "$file: $? $(head -c 300 err)"
    [[ $file != words ]] || { "$python" -c 'import json; assert len(json.load(open("out"))) == 9999' || complain words; }
    [[ $file == words ]] || sed 's/^echo //' "$file" | cmp -s - out || complain "$file: $(head -c 100 out)"
done

# --- Notifications and texts -------------------------------------------------------------------

talk 0 '[{"jsonrpc": "2.0", "method": "told", "params": {"a": "b"}}, {"jsonrpc": "2.0", "method": "x"}]' '' \
    $'notify told a=b\nnotify x\nseen' -- "${peer[@]}"
# Texts go out as they are, quotes, & and all.
talk 0 '["no  \"JSON & &"]' '' $'raw no  "JSON & &\nseen' -- "${peer[@]}"
talk 0 '[1]' 'duplex repl: a response to an unknown request' \
    $'raw {"jsonrpc":"2.0","id":77,"method":"echo","params":[7]}\necho [1]' -- "$echo" line
# What comes unasked is no result.
talk 0 2 '' 'tell count:=2' -- "${py[@]}"

# --- Requests of the peer ----------------------------------------------------------------------

refused='{"code": -32601, "message": "Method not found"}'
talk 0 "[$refused, $refused]" '' 'asks count:=2' -- "${peer[@]}"
talk 0 "[$refused, $refused]" '' 'asks count:=2' --auto -- "${peer[@]}"
asked=$'request 1: question {"i": 0, "pad": ""}\nrequest 2: question {"i": 1, "pad": ""}'
# An answer may stand before its question; RESULT is any JSON, or words.
talk 0 '["x y", {"a": "b"}]' "$asked" $'asks count:=2 &\nanswer 1 "x y"\nanswer 2 a=b' --ask -- "${peer[@]}"
talk 0 '[null, {"code": -5, "message": "no way"}]' "$asked" $'asks count:=2 &\nanswer 1\nrefuse 2 -5 no "way"' --ask -- "${peer[@]}"
nobody='{"code": -32603, "message": "the request was not answered"}'
# Those that nobody answers are refused at the end.
talk 0 "[$nobody, [1]]" "$asked" $'asks count:=2 &\nanswer 2 [1]' --ask -- "${peer[@]}"
talk 2 "[$nobody, $nobody]" "$asked"$'\nduplex repl: line 2: missing CODE: a number, for example -32601\nduplex repl: line 3: missing MESSAGE' \
    $'asks count:=2 &\nrefuse 2 x y\nrefuse 2 5' --ask -- "${peer[@]}"
talk 2 "[$nobody, 5]" "$asked"$'\nduplex repl: line 3: no pending request 2' \
    $'asks count:=2 &\nanswer 2 5\nanswer 2 6' --ask -- "${peer[@]}"
talk 2 '' 'duplex repl: line 1: no pending request 1' 'answer 1 5' --ask -t 200ms -- "${peer[@]}"
# --- JSON --------------------------------------------------------------------------------------

noise=$(printf 'one\xff\n' | base64 -w0)
printf '%s\n' 'echo a=b' 'fail why=x' 'tell count:=1' 'ask &' 'answer 1 {"x":1}' "say err=$noise" '"' pending \
    'raw {"jsonrpc":"2.0","id":9,"method":"echo"}' 'echo [1]' |
    timeout 20 "$BUILD/duplex" repl --json --ask -- "${py[@]}" >out 2>err || got=$?
last='duplex repl --json'
[[ $got == 1 && ! -s err ]] || complain "$last: $got $(cat err)"
json '[one["event"] for one in j if one["event"] != "stderr"] == ["result", "error", "notification", "result", "request", "result", "result", "error", "violation", "result", "end"]'
json '(all(one.pop("us", 1) >= 0 and one.get("error", {}).pop("us", 1) >= 0 for one in j) and
    j[0] == {"event": "result", "id": 1, "method": "echo", "result": {"a": "b"}} and
    j[1] == {"event": "error", "error": {"method": "fail", "code": 1234, "data": {"why": "x"}, "id": 2, "line": 2, "exit": 1,
        "kind": "refused", "message": "fail: this always fails (1234)"}} and
    j[2] == {"event": "notification", "method": "told", "params": {"i": 0}} and
    j[4] == {"event": "request", "id": 1, "method": "user/name", "params": {}} and
    j[5]["result"] == {"asked": {"x": 1}} and
    {"event": "stderr", "text": "one\ufffd", "lossy": True} in j and
    j[8] == {"event": "error", "error": {"line": 7, "exit": 2, "kind": "usage", "message": "missing closing quote"}} and
    j[9]["fault"] == "id-unknown" and json.loads(j[9]["message"])["id"] == 9 and
    j[11] == {"event": "end", "how": "the program exited with code 0"})'
printf 'methods\ndescribe ping\nhelp\n' | timeout 20 "$BUILD/duplex" repl --json -p mcp -- "$BUILD/examples/mcp-conformance" >out 2>err ||
    complain "methods: $? $(cat err)"
last='methods --json'
json '({"event": "method", "name": "ping", "kind": "request"}.items() <= j[1].items() and any(one.get("method") == "ping" or one.get("name") == "ping" for one in j[5:]) and
    {"event": "command", "name": "quit", "words": "", "help": "leave the REPL"} in j)'

# Progress of each, by its call; and a request that the peer takes back, behind one that it makes in the handshake.
printf 'tools/call name=test_tool_with_progress &\ntools/call name=test_tool_with_progress &\n' |
    timeout 20 "$BUILD/duplex" repl --json --progress -p mcp -- "$BUILD/examples/mcp-conformance" >out 2>err ||
    complain "progress: $? $(cat err)"
last='progress'
json '{one["id"] for one in j if one["event"] == "progress"} == {1, 2} and len({one["params"]["progressToken"] for one in j if one["event"] == "progress"}) == 2'
cat >takes-back.py <<'END'
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        number = message["id"]
        print(json.dumps({"jsonrpc": "2.0", "id": "early", "method": "ping"}), flush=True)
    if message.get("id") == "early" and message["result"] == {}:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
              "serverInfo": {"name": "late", "version": "1"}}}), flush=True)
    if message.get("method") == "ping":
        for one in ({"id": "p", "method": "ping"}, {"method": "notifications/cancelled", "params": {"requestId": "p"}},
                    {"id": message["id"], "result": {}}):
            print(json.dumps({"jsonrpc": "2.0", **one}), flush=True)
            time.sleep(0.2)
END
printf 'ping\nanswer 1 {}\n' | timeout 20 "$BUILD/duplex" repl --json --ask -p mcp -- "$python" takes-back.py "$tag" >out 2>err
last='a request that is taken back'
json '[one["event"] for one in j] == ["request", "request", "cancelled", "result", "error", "end"] and j[2]["id"] == 1'
# In the handshake nobody can be asked; what was taken back is gone.
json '"id" not in j[0] and j[1]["id"] == 1 and j[4]["error"]["message"] == "no pending request 1"'

# --- Ends --------------------------------------------------------------------------------------

talk 4 '[1]' 'duplex repl: line 2: crash: the conversation ended before the server responded: the program exited with code 7; stderr: about to crash' \
    $'echo [1]\ncrash\necho [2]' -- "${py[@]}"
# One that leaves well has done nothing wrong, unless it is wanted again.
talk 0 $'[1]\nnull' '' $'echo [1]\nleave code:=0' -- "${peer[@]}"
talk 4 null 'duplex repl: line 2: echo: the conversation ended before the server *' $'leave code:=0\necho [2]\necho [3]' -- "${peer[@]}"
got=0
(echo 'leave code:=3'; sleep 0.5; echo 'echo [1]') | timeout 20 "$BUILD/duplex" repl -- "${peer[@]}" >out 2>err || got=$?
last='a peer that leaves with 3'
verify 4 null 'duplex repl: the conversation with the server ended: the program exited with code 3'
(echo 'leave code:=3'; sleep 0.5) | timeout 20 "$BUILD/duplex" repl --json -- "${peer[@]}" >out 2>err
json '{"event": "end", "how": "the program exited with code 3"} in j'
# One that breaks the conversation while nothing is asked of it, and lives on: that is the reason, whatever ends it then.
broken() {
    got=0
    last="a conversation that ends by itself: $*"
    (sleep 0.3; echo 'echo [1]') | timeout 20 "$BUILD/duplex" repl --stop-timeout 200ms "${@:4}" >out 2>err || got=$?
    verify "$1" "$2" "$3"
}
broken 6 '' 'duplex repl: the conversation with the server ended: message too long: the limit is 67108864 bytes' \
    -f header -- sh -c 'printf "Content-Length: 99999999999\r\n\r\n"; sleep 9'
broken 6 '' "duplex repl: warning: the server printed text on stdout that is not JSON-RPC: \"$tag\" (it breaks strict clients)
duplex repl: the conversation with the server ended: too much text that is not part of a message: 1001, the limit is 1000*" -- yes "$tag"
broken 4 '' 'duplex repl: the conversation with the server ended: the program closed its output' -- sh -c 'exec >&-; sleep 9'
# One that speaks first shows its framing.
greets=("$python" "$SOURCE/tests/check/repl-greets.py" "$tag")
broken 0 '[1]' 'duplex repl: the server speaks header framing; pass --framing header to skip the detection' -- "${greets[@]}"
broken 6 '' 'duplex repl: the server does not use line framing (it responded in the other one) but header framing: pass --framing header' \
    -f line -- "${greets[@]}"
# Where results cannot be written, no more is asked.
got=0
yes 'echo [1]' | timeout 10 "$BUILD/duplex" repl -- "$echo" line >/dev/full 2>err || got=$?
[[ $got == 2 && $(cat err) == "duplex repl: the output cannot be written: No space left on device" ]] || complain "a full device: $got $(cat err)"
# Anew, as often as wanted.
talk 0 $'[{"jsonrpc": "2.0", "method": "x"}]\n[]\n[]' '' $'notify x\nseen\nrestart\nseen\nrestart\nseen' -- "${peer[@]}"

expect 3 '' 'duplex repl: *' repl -c "unix:$work/absent"
"$python" "$plugin" line unix "$work/socket" "$tag" &
server=$!
# Its file is there a moment before it listens, which this flag in the list of sockets says.
for ((i = 0; i < 100; i++)); do grep -q " 00010000 .* $work/socket\$" /proc/net/unix || sleep 0.05; done
talk 0 $'[1]\n[2]' '' $'echo [1]\nrestart\necho [2]' --connect "unix:$work/socket"
kill "$server"
wait "$server" 2>/dev/null
server=

# --- Framings, protocols and options of the peer -----------------------------------------------

talk 0 $'[1]\n[2]' 'duplex repl: the server speaks header framing; pass --framing header to skip the detection' \
    $'echo [1] &\necho [2]' -- "$echo" header
talk 6 '' 'duplex repl: the server does not use header framing (it responded in the other one) but line framing: pass --framing line' \
    $'echo [1]\necho [2]' -f header -- "${py[@]}"
talk 4 '' 'duplex repl: line 1: x: the conversation ended before the server *' x -- true
mcp=("$BUILD/examples/mcp-conformance")
talk 0 '{}' '' ping -p mcp -- "${mcp[@]}"
talk 7 '{}' $'duplex repl: line 1: ping is a request: use call\nduplex repl: line 2: notifications/initialized is a notification: use notify\nduplex repl: line 3: mcp has no method \'none\'\nhint: --check off sends any method\nduplex repl: line 4: tools/call cannot be sent: *' \
    $'notify ping\nnotifications/initialized\nnone\ntools/call name:=1\nping' -p mcp -- "${mcp[@]}"
talk 7 '' $'duplex repl: line 1: mcp has no method \'tools/lst\'\nhint: did you mean tools/list? (--check off sends any method)' tools/lst -p mcp -- "${mcp[@]}"
talk 2 '' $'duplex repl: line 1: mcp has no method \'pong\'\nhint: did you mean ping?' 'describe pong' -p mcp -- "${mcp[@]}"
talk 0 $'[1]\n[2]' '*' $'echo [1]\nrestart\necho [2]' -s -o trace.jsonl -- "$echo" line
[[ $(grep -c -- '-> \|<- ' err) == 4 && $(grep -c '"run":2,.*"echo"' trace.jsonl) == 1 && $(grep -c '"result"' trace.jsonl) == 2 ]] || complain "$last: $(cat err trace.jsonl)"
talk 0 null $'one\\xff' "say err=$noise" --stderr inherit -- "${py[@]}"
talk 0 null '' "say err=$noise" --stderr errors.txt -- "${py[@]}"
printf 'one\xff\n' | cmp -s - errors.txt || complain "$last: $(cat errors.txt)"
if command -v clangd >/dev/null; then
    printf 'workspace/symbol query=main\n' | timeout 20 "$BUILD/duplex" repl -p lsp -- clangd >out 2>err || complain "clangd: $? $(cat err)"
    [[ $(cat out) == '['* ]] || complain "clangd: $(cat out)"
fi

# --- Signals -----------------------------------------------------------------------------------

cat >cancels.py <<'END'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {},
              "serverInfo": {"name": "late", "version": "1"}}}), flush=True)
    open("heard", "a").write(message["method"] + "\n")
END
mkfifo lines
exec 5<>lines
for signal in INT TERM HUP; do
    : >heard
    got=0
    last="SIG$signal while a call is awaited"
    echo tools/list >&5
    "$BUILD/duplex" repl -p mcp -- "$python" cancels.py "$tag" >out 2>err <lines 5>&- &
    for ((i = 0; i < 200; i++)); do grep -q tools/list heard || sleep 0.05; done
    kill "-$signal" $!
    wait $! || got=$?
    verify 130 '' 'duplex repl: interrupted*'
    grep -q notifications/cancelled heard || complain "$last: $(cat heard)"
done
# Half a surrogate pair is shown with a note, and with --json as it came.
cat >half.py <<'END'
import sys, json
for line in sys.stdin:
    message = json.loads(line)
    answer = r'"result":"a\ud83d"' if message["method"] == "good" else r'"error":{"code":1.5,"message":"cut \ud83d","data":1e3}'
    print('{"jsonrpc":"2.0","id":%s,%s}' % (json.dumps(message["id"]), answer), flush=True)
END
half() { printf 'good\nbad\n' | timeout 20 "$BUILD/duplex" repl "$@" -f line -- "$python" half.py >out 2>err; }
half || [[ $? == 1 && $(cat out) == '"a\ufffd"' && $(grep -c 'half a UTF-16 surrogate pair' err) == 2 ]] || complain "half: $(cat out err)"
half --json || grep -qF '"result":"a\ud83d"}' out || complain "half: $(cat out err)"
grep -qF '"code":1.5,"data":1e3,"message":"cut \ud83d"' out || complain "half: $(cat out err)"
[[ ! -e $work/.local ]] || complain 'lines of a pipe are in the history'

finish
