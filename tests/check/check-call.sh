#!/usr/bin/env bash
# duplex call, duplex notify: words, options, exit codes, what is said and where. The peers are our own
# examples and a plugin in Python; tests/interop has those of others.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"

# --- PARAMS ------------------------------------------------------------------------------------

expect 0 '{"a":"b"}' '' call -f header echo '{"a":"b"}' -- "$echo" header
expect 0 '[1]' '' call --framing=line echo '[1]' -- "$echo" line
expect 0 '[1]' '' call -fline echo ' [1]' -- "$echo" line
expect 0 '{"a":"x=y","b":[1,2.50],"c":18446744073709551616}' '' \
    call -f line echo a=x=y 'b:=[1,2.50]' c:=18446744073709551616 -- "$echo" line
expect 0 '{"a":""}' '' call echo a= -- "$echo" line
expect 0 '{"ä":"ö\"\\"}' '' call echo $'ä=ö"\\' -- "$echo" line
printf '{\n  "from": ["a", "file"]\n}\n' >params.json
expect 0 '{   "from": ["a", "file"] }' '' call -f header echo @params.json -- "$echo" header
run call -f line echo @params.json -- "$echo" line
json 'j == [{"from": ["a", "file"]}]'
run call --json -f header echo @params.json -- "$echo" header
json 'j == [{"method": "echo", "result": {"from": ["a", "file"]}}]'
got=0
last='duplex call with the standard input'
echo '[3]' | timeout 20 "$BUILD/duplex" call echo - -- "$echo" line >out 2>err || got=$?
verify 0 '[3]' ''
expect 1 '' 'duplex call: none: Method not found (-32601)' call none -- "$echo" line
expect 2 '' 'duplex call: a is given twice' call echo a=1 a:=2 -- "$echo" line
expect 2 '' $'duplex call: b:= must be followed by valid JSON\nhint: for text, write b=nothing' call echo a=1 b:=nothing -- "$echo" line
expect 2 '' "duplex call: expected key=text or key:=json, got '=1'" call echo =1 -- "$echo" line
expect 2 '' "duplex call: expected key=text or key:=json, got ':=1'" call echo :=1 -- "$echo" line
expect 2 '' "duplex call: expected key=text or key:=json, got '5'" call echo 5 -- "$echo" line
expect 2 '' "duplex call: unexpected argument 'a=b' after PARAMS" call echo '{}' a=b -- "$echo" line
expect 2 '' 'duplex call: PARAMS:1:7: *' call echo '{"a":1,}' -- "$echo" line
expect 2 '' 'duplex call: cannot read absent.json: No such file or directory' call echo @absent.json -- "$echo" line
expect 2 '' "duplex call: cannot read $work: Is a directory" call echo "@$work" -- "$echo" line
printf '{"a":\n\n 1 2}' >bad.json
expect 2 '' 'duplex call: @bad.json:3:4: *' call echo @bad.json -- "$echo" line
echo '"text"' >text.json
expect 2 '' 'duplex call: PARAMS must be a JSON object or array' call echo @text.json -- "$echo" line
expect 2 '' "duplex call: the params cannot be written as JSON: *" call echo $'a=\xff' -- "$echo" line
expect 2 '' "duplex call: echo cannot be sent: its params have a number out of range, or text that is not valid UTF-8" \
    call echo a:=1e999 -- "$echo" line
expect 2 '' "duplex call: \\xff cannot be sent: its name is not valid UTF-8" call $'\xff' -- "$echo" line

echo nothing >nothing.json
expect 2 '' 'duplex call: @nothing.json:1:1: invalid JSON' call echo @nothing.json -- "$echo" line
expect 2 '' 'duplex call: PARAMS:1:2: invalid JSON: *' call echo '{' -- "$echo" line

# --- Words -------------------------------------------------------------------------------------

expect 2 '' 'duplex call: missing METHOD
hint: duplex call [OPTION...] METHOD [PARAMS] [--then METHOD [PARAMS]]... -- COMMAND [ARG...]' call -- "$echo" line
expect 2 '' 'duplex notify: missing METHOD
hint: duplex notify [OPTION...] METHOD [PARAMS] [--notify METHOD [PARAMS]]... -- COMMAND [ARG...]' notify
expect 2 '' "duplex call: missing command after --
hint: put the server's command line after --, or pass --in or --connect" call echo
expect 2 '' "duplex call: missing command after --
hint: put the server's command line after --, or pass --in or --connect" call echo --
expect 2 '' 'duplex call: --connect and a command cannot be used together' call echo --connect tcp:1 -- "$echo" line
for word in --env=A=1 --clean-env --inherit-env --cwd=. --keep-daemons; do
    expect 2 '' 'duplex call: --env, --clean-env, --cwd and --keep-daemons need a command after --' call echo --connect tcp:1 "$word"
done
expect 2 '' 'duplex call: --no-handshake and --init cannot be used together' call -p mcp --no-handshake --init '{}' ping -- "$echo" line
expect 2 '' 'duplex call: missing argument after --then' call echo --then -- "$echo" line
# Nobody answers a handshake here, and nothing is there to be started.
expect 6 '' "duplex call: cannot detect the protocol: no valid response to a handshake (tried *" call -p auto x -- cat
expect 3 '' 'duplex call: cannot start /nonexistent: *' call -p auto x -- /nonexistent
expect 4 '' 'duplex call: the conversation ended during the handshake: the program exited with code 1; stderr: no config' \
    call -p auto x -- sh -c 'echo no config >&2; exit 1'
expect 4 '' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "no config" (it breaks strict clients)\nduplex call: the conversation ended during the handshake: the program exited with code 1\n  stdout: no config' \
    call -p auto x -- sh -c 'echo no config; exit 1'
expect 5 '' "duplex call: cannot detect the protocol: no response in time (tried *" \
    call -p auto x -- sh -c 'echo loading >&2; exec sleep 20'
[[ $(cat err) == *'; pass --protocol, or a longer --start-timeout'$'\n''  loading' ]] || complain "$last: $(cat err)"
expect 2 '' 'duplex call: missing argument before --then' call echo --then --then echo -- "$echo" line
expect 0 null '' call --then echo -- "$echo" line
expect 2 '' 'duplex call: missing argument before --notify' call --then --notify echo -- "$echo" line
expect 2 '' "duplex call: unknown option '--nothing'
hint: 'duplex call --help' lists the options" call --nothing=1 echo -- "$echo" line
expect 2 '' "duplex call: unknown option '--jsn'
hint: did you mean --json?" call --jsn echo -- "$echo" line
expect 2 '' "duplex call: unknown option '--fraimng'
hint: did you mean --framing?" call --fraimng=x echo -- "$echo" line
expect 2 '' $'duplex call: unknown protocol "mpc"\nhint: did you mean mcp?' call -p mpc echo -- "$echo" line
expect 2 '' "duplex: unknown command 'cal'
hint: did you mean 'duplex call'?" cal
expect 2 '' "duplex: unknown command 'nonesuch'
hint: 'duplex --help' lists the commands" nonesuch
expect 2 '' "duplex call: unknown option '-z'
hint: 'duplex call --help' lists the options" call -z echo -- "$echo" line
expect 2 '' 'duplex call: --show does not take a value' call --show=yes echo -- "$echo" line
expect 2 '' 'duplex call: --env needs a value: NAME=VALUE' call echo --env -- "$echo" line
expect 2 '' "duplex call: --env: expected NAME=VALUE, got '=x'" call echo --env =x -- "$echo" line
expect 2 '' "duplex call: --framing: expected header|line|auto, got 'lines'" call -f lines echo -- "$echo" line
expect 2 '' "duplex call: --check: expected off|incoming|both, got ''" call --check= echo -- "$echo" line
for time in 5x -1 1.5s '' 99999999999999999999 ' 1'; do
    expect 2 '' "duplex call: --timeout: expected a time (2s, 500ms, 5m, never), got '$time'" \
        call "--timeout=$time" echo -- "$echo" line
done
expect 2 '' $'duplex call: unknown protocol "nothing"\nhint: \'duplex list\' lists the built-in protocols' call -p nothing echo -- "$echo" line
expect 2 '' 'duplex call: cannot read absent.json: No such file or directory' call -p absent.json echo -- "$echo" line
expect 2 '' 'duplex call: bad.json*' call -p bad.json echo -- "$echo" line
expect 2 '' "duplex call: $work/no/errors cannot be written: No such file or directory" \
    call --stderr "$work/no/errors" echo -- "$echo" line
run call --record "$work/no/trace" echo -- "$echo" line
verify 2 '' "$(cat err)"
grep -q 'No such file or directory' err || complain "$last: $(cat err)"
run call --json --nothing echo -- "$echo" line
verify 2 "$(cat out)" ''
json 'e["exit"] == 2 and e["kind"] == "usage" and e["message"] == "unknown option \x27--nothing\x27" and e["hint"] == "\x27duplex call --help\x27 lists the options"'
for verb in call notify; do
    run "$verb" --help
    ((got == 0)) || complain "$last: $got"
    grep -q "^Usage: duplex $verb " out || complain "$last: $(cat out)"
    ! painted || complain "$last: colours"
done

# --- Several, one after the other --------------------------------------------------------------

many=(echo '[0]')
wanted='[0]'
for ((i = 1; i < 100; i++)); do
    many+=(--then echo "[$i]")
    wanted+=$'\n'"[$i]"
done
expect 0 "$wanted" '' call -f header "${many[@]}" -- "$echo" header
expect 1 '[1]' 'duplex call: none: Method not found (-32601)' call echo '[1]' --then none --then echo '[2]' -- "$echo" line
expect 0 '{"refused": {"code": -32601, "message": "Method not found"}}' '' call ask -- "${py[@]}"
expect 0 '3' '' call tell count:=3 -- "${py[@]}"
run call --json echo '[1]' --then fail '{"why":["x"]}' -- "${py[@]}"
json 'j[0] == {"method": "echo", "result": [1]} and j[1]["error"] == {"method": "fail", "code": 1234,
    "data": {"why": ["x"]}, "exit": 1, "kind": "refused", "message": "fail: this always fails (1234)"}'
expect 1 '' $'duplex call: fail: this always fails (1234)\n  {"why":["x"]}' call fail '{"why":["x"]}' -- "${py[@]}"

# A notification has no answer, but it arrives before what follows it, and before the end.
expect 0 '' '' notify -f header told a=b -- "$echo" header
expect 0 '' '' notify one --notify two '[2]' -- "$python" -c '
import sys
lines = sys.stdin.read()
open("heard", "w").write(lines)'
[[ $(cat heard) == '{"jsonrpc":"2.0","method":"one"}'$'\n''{"jsonrpc":"2.0","method":"two","params":[2]}' ]] ||
    complain "notifications arrived as $(cat heard)"
expect 3 '' 'duplex notify: cannot start ./absent: No such file or directory' notify x -- ./absent

# --- Ends --------------------------------------------------------------------------------------

expect 3 '' 'duplex call: cannot start ./absent: No such file or directory' call echo -- ./absent
expect 3 '' $'duplex call: cannot start ./params.json: Permission denied\nhint: \'./params.json\' is not executable' call echo -- ./params.json
printf '#!/bin/sh\necho\n' >script
expect 3 '' $'duplex call: cannot start ./script: Permission denied\nhint: chmod +x ./script' call echo -- ./script
expect 3 '' $'duplex call: cannot start params.json: No such file or directory\nhint: \'params.json\' is not in PATH; for the file in this folder, write ./params.json' \
    call echo -- params.json
expect 3 '' $'duplex call: cannot start no-such-program: No such file or directory\nhint: \'no-such-program\' is not in PATH' call echo -- no-such-program
expect 3 '' $'duplex call: cannot start sh x.sh: No such file or directory\nhint: the program and its arguments are separate words: -- sh x.sh' call echo -- 'sh x.sh'
expect 3 '' $'duplex call: cannot start .: No such file or directory\nhint: \'.\' is a folder' call echo -- .
expect 3 '{"error":{"hint":"'"'no-such-program' is not in PATH"'","exit":3,"kind":"start","message":"cannot start no-such-program: No such file or directory"}}' '' \
    call --json echo -- no-such-program
expect 3 '' 'duplex call: *' call --cwd absent echo -- "$echo" line
expect 3 '' 'duplex call: *' call echo --connect "unix:$work/absent"
expect 2 '' $'duplex call: \'https://x.y/mcp\' is a URL, not an address\nhint: put a local program after --; for a remote MCP server: -- npx -y mcp-remote https://x.y/mcp' \
    call x --connect https://x.y/mcp
for address in foo nothing:7 unix: tcp:99999 tcp:127.0.0.1:80; do
    for words in 'call x' 'call -p auto x' 'bench x' repl; do
        # shellcheck disable=SC2086 # words
        expect 2 '' "duplex ${words%% *}: expected an address, unix:PATH or tcp:PORT, got $address" $words --connect "$address"
    done
done
expect 4 '' 'duplex call: crash: the conversation ended before the server responded: the program exited with code 7; stderr: about to crash' \
    call crash -- "${py[@]}"
run call --json crash -- "${py[@]}"
json 'e["exit"] == 4 and e["kind"] == "ended" and e["method"] == "crash" and e["detail"] == "about to crash\n"'
expect 4 true 'duplex call: y: the conversation ended before the server responded: *' call x --then y -- "$children/leaves" exit 3 1
expect 4 '' 'duplex call: x: the conversation ended before the server responded: the program was killed by signal 9*' call x -- "$children/leaves" signal 9 0
expect 4 '' 'duplex call: x: the conversation ended before the server responded: the program exited with code 0' call x -- true
# What ends it then is no news.
expect 4 '' 'duplex call: x: the conversation ended before the server responded: the program closed its output' \
    call x --stop-timeout 200ms -f line -- sh -c 'read -r line; exec >&-; sleep 9'
expect 4 '' 'duplex call: the conversation ended during the handshake: the program exited with code 3*' \
    call -p mcp tools/list -- "$children/leaves" exit 3 0
# What it wrote to the wrong place is what one wants to read then.
expect 4 '' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "usage: peer FILE" (it breaks strict clients)\nduplex call: x: the conversation ended before the server responded: *' call x -- sh -c 'echo "usage: peer FILE"; exit 1'
grep -q '^  stdout: usage: peer FILE$' err || complain "$last: $(cat err)"
run call x -- sh -c 'seq -f "line %g" 30 >&2; exit 1'
[[ $(grep -c '^  line' err) == 10 ]] || complain "$last: $(cat err)"

expect 5 '' 'duplex call: slow: no response within 300 ms (--timeout)' \
    call slow seconds:=9 -t 300ms --stop-timeout 0 -- "${py[@]}"
expect 5 '' 'duplex call: slow: no response within 200 ms in total (--total-timeout)' \
    call slow seconds:=9 -t never --total-timeout 200ms --stop-timeout 0 -- "${py[@]}"
expect 5 '' 'duplex call: initialize: no response within 400 ms (--start-timeout)' \
    call -p mcp tools/list -f line --start-timeout 400ms --stop-timeout 0 -- "$children/deaf"
# --timeout is for the call, not for the handshake, and holds for methods that the protocol knows.
cat >late.py <<'END'
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "late", "version": "1"}}
    if message["method"] == "tools/list":
        print("still thinking", file=sys.stderr, flush=True)
        result = {"tools": []}
    if "id" in message:
        time.sleep(float(sys.argv[1 if message["method"] == "initialize" else 2]))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
END
expect 0 '{"tools": []}' '' call -p mcp -t 600ms tools/list -- "$python" late.py 0.9 0
expect 5 '' $'duplex call: tools/list: no response within 250 ms (--timeout)\n  still thinking' \
    call -p mcp -t 250ms tools/list --stop-timeout 0 -- "$python" late.py 0 9

# What it did wrong before is a note, and with --json in the detail.
cat >torn.sh <<'END'
echo busy >&2
read -r line
printf '{"jsonrpc":"2.0","id":1,"result":"\377"}\n'
[[ -z $1 ]] && read -r line
END
expect 5 '' $'duplex call: invalid UTF-8 at byte 34\nduplex call: x: no response within 2 s (--timeout)\n  busy' \
    call -f line -t 2s --stop-timeout 0 x -- bash torn.sh
run call --json -f line -t 2s --stop-timeout 0 x -- bash torn.sh
json 'e["exit"] == 5 and e["detail"] == "busy\nviolation: invalid UTF-8 at byte 34\n"'
run call --json --stderr quiet -f line x -- bash torn.sh ends
json 'e["exit"] == 4 and e["detail"] == "violation: invalid UTF-8 at byte 34\n"'

begin=$(date +%s%N)
expect 6 '' 'duplex call: the server does not use header framing (it responded in the other one) but line framing: pass --framing line' \
    call -f header echo -- "${py[@]}"
expect 6 '' 'duplex call: the server does not use line framing (it sent nothing) but header framing: pass --framing header' \
    call -f line echo -- "$python" "$plugin" header "$tag"
((($(date +%s%N) - begin) / 1000000 < 8000)) || complain 'the wrong framing took too long to find'
expect 0 '[1]' 'duplex call: the server speaks header framing; pass --framing header to skip the detection' \
    call echo '[1]' -- "$echo" header
# A line that is printed is no message: it says nothing about the framing, neither here nor of the copies that are tried.
for line in 'Starting up...' '[info] started' 42; do
    # shellcheck disable=SC2016 # for the other shell
    expect 0 '[1]' '*' call -t 9s echo '[1]' -- sh -c 'echo "$1"; exec "$0" header' "$echo" "$line"
    grep -q '^duplex call: the server speaks header framing' err || complain "$last: $(cat err)"
done
# shellcheck disable=SC2016
expect 0 '[1]' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "up" (it breaks strict clients)\nduplex call: the server speaks header framing*' \
    call -t 9s echo '[1]' -- sh -c 'echo up; exec "$@"' "$tag" "$python" "$plugin" header "$tag"
expect 4 '' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "starting up" (it breaks strict clients)\nduplex call: the conversation ended during the handshake: the program exited with code 1\n  stdout: starting up\n  stdout: no config' \
    call -p lsp -f header workspace/symbol query=x -- sh -c 'echo starting up; echo no config; exit 1'
# Nor does one keep a header behind it from being seen, from somebody who speaks first.
cat >greets.sh <<'END'
say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
echo Starting up...
say '{"jsonrpc":"2.0","method":"hello"}'
say '{"jsonrpc":"2.0","method":"hello"}'
exec "$1" header
END
expect 6 '' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "Starting up..." (it breaks strict clients)\nduplex call: the server does not use line framing (it responded in the other one) but header framing: pass --framing header' \
    call -f line echo -- bash greets.sh "$echo"
run call --json -f header echo -- "${py[@]}"
json 'e["exit"] == 6 and e["kind"] == "violation"'
expect 6 '' 'duplex call: x: a response with both "result" and "error"' \
    call x -- sh -c 'read -r line; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"\"}}"; read -r line'
expect 6 '' $'duplex call: warning: the server printed text on stdout that is not JSON-RPC: "no" (it breaks strict clients)\nduplex call: x: too much text that is not part of a message*' \
    call x --stop-timeout 0 -- "$python" -c 'print("no\n" * 2000, flush=True); import time; time.sleep(9)'

# --- The protocol ------------------------------------------------------------------------------

cat >toy.openrpc.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Toy", "version": "1"}, "x-duplex": {"name": "toy", "framing": "line"},
 "methods": [
  {"name": "echo", "summary": "Says it again.", "params": [], "result": {"name": "r", "schema": {"type": "array"}},
   "x-duplex": {"from": "host", "params": {"type": "array"}}},
  {"name": "told", "summary": "Hears it.", "params": [],
   "x-duplex": {"from": "host", "params": {"type": "object"}, "notification": true}}],
 "components": {"schemas": {}, "errors": {}}}
END
toy=(-p ./toy.openrpc.json)
expect 0 '[1]' '' call "${toy[@]}" echo '[1]' -- "$echo" line
expect 7 '' 'duplex call: told is a notification: use duplex notify' call "${toy[@]}" told -- "$echo" line
expect 7 '' 'duplex notify: echo is a request: use duplex call' notify "${toy[@]}" echo -- "$echo" line
expect 7 '' "duplex call: echo cannot be sent: *" call "${toy[@]}" echo a=b -- "$echo" line
expect 7 '' $'duplex call: toy has no method \'none\'\nhint: --check off sends any method' call "${toy[@]}" none -- "$echo" line
# Nothing is sent if one of the methods is unknown.
expect 7 '' $'duplex call: toy has no method \'ecko\'\nhint: did you mean echo? (--check off sends any method)' \
    call "${toy[@]}" echo '[1]' --then ecko -- "$echo" line
expect 7 '' $'duplex call: the server speaks mcp; pass --protocol mcp to skip the detection\nduplex call: mcp has no method \'tools/lst\'\nhint: did you mean tools/list? (--check off sends any method)' \
    call -p auto ping --then tools/lst -- "$BUILD/examples/mcp-adder"
for words in check mock; do
    expect 2 '' $'duplex '$words$': unknown protocol "auto"\nhint: --protocol auto works only in call, notify, repl and bench' $words -p auto -- true
done
expect 0 '' '' notify "${toy[@]}" told a=b -- "$echo" line
# Unchecked everything can be sent, but what comes must fit, until that is switched off, too.
expect 6 '' 'duplex call: echo: *' call "${toy[@]}" --check incoming echo a=b -- "$echo" line
expect 0 '{"a":"b"}' '' call "${toy[@]}" --check off echo a=b -- "$echo" line
expect 1 '' 'duplex call: told: Method not found (-32601)' call "${toy[@]}" --check off told -- "$echo" line
# key=text gets the type that the protocol asks for, as in `duplex mcp`; what fits neither way is reported.
for command in call repl bench; do
    case $command in
    call) words=(call -p mcp -o typed.jsonl tools/call name=add 'arguments={"a":2,"b":40}') ;;
    bench) words=(bench -p mcp -o typed.jsonl -n 1 tools/call name=add 'arguments={"a":2,"b":40}') ;;
    repl) words=(repl -p mcp -o typed.jsonl) ;;
    esac
    rm -f typed.jsonl
    "$BUILD/duplex" "${words[@]}" -- "$BUILD/examples/mcp-adder" >out 2>err <<<"tools/call name=add 'arguments={\"a\":2,\"b\":40}'" ||
        complain "$command: $(cat err)"
    grep -qF '"params":{"name":"add","arguments":{"a":2,"b":40}' typed.jsonl || complain "$command: $(cat typed.jsonl)"
done
"$BUILD/duplex" notify -p mcp -o typed2.jsonl notifications/progress progressToken=1 progress=5 -- "$BUILD/examples/mcp-adder" 2>err || complain "$(cat err)"
grep -qF '"params":{"progressToken":"1","progress":5}' typed2.jsonl || complain "notify: $(cat typed2.jsonl)"
expect 7 '' 'duplex call: tools/call cannot be sent: /arguments: expected object, found string' call -p mcp tools/call name=add arguments=x -- \
    "$BUILD/examples/mcp-adder"
expect 1 '' 'duplex call: initialize: Method not found (-32601)' call -p mcp tools/list -- "$echo" line
expect 0 '{"a":"b"}' '' call -p mcp --no-handshake --check off echo a=b -- "$echo" line
expect 7 '' "duplex call: initialize cannot be sent: *" call -p mcp --init '{"a":1}' tools/list -- "$echo" line
expect 2 '' 'duplex call: PARAMS:1:2: *' call -p mcp --init '{' tools/list -- "$echo" line
echo '{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"me","version":"9"}}' >init.json
run call -p mcp --init @init.json --show tools/list -- "$python" late.py 0 0
grep -q -- '-> .*"clientInfo":{"name":"me"' err || complain "$last: $(cat err)"

expect 0 '[1]' 'duplex call: cannot request progress: these params have no field for a progress token' \
    call --progress echo '[1]' -- "$echo" line

# What starts the time anew is asked for, but not shown.
expect 0 '{"content":[{"type":"text","text":"counted to 25"}]}' '' \
    call -p mcp --reset-on-progress -t 1500ms tools/call name=count 'arguments:={"to":25}' -- "$BUILD/examples/mcp-adder"

# --- What it shows and leaves ------------------------------------------------------------------

run call -s echo '[1]' -- "$echo" line
[[ $got == 0 && $(cat out) == '[1]' && $(wc -l <err) == 2 ]] || complain "$last: $(cat out err)"
grep -qE '^ +[0-9]+\.[0-9]{6} -> \{"jsonrpc":"2.0","id":1,"method":"echo","params":\[1\]\}$' err || complain "$last: $(cat err)"
grep -qE '^ +[0-9]+\.[0-9]{6} <- \{"jsonrpc":"2.0","id":1,"result":\[1\]\}$' err || complain "$last: $(cat err)"
run call -o trace.jsonl echo '[1]' -- "$echo" line
[[ $got == 0 && $(stat -c %a trace.jsonl) == 600 ]] || complain "$last"
[[ $(grep -c '"echo"\|"result"' trace.jsonl) == 2 ]] || complain "$last: $(cat trace.jsonl)"
# With the framing found out on the way nothing of the conversation is missing.
run call -p mcp -f auto -o trace.jsonl -s tools/list -- "$python" "$plugin" header
grep -q -- '-> .*initialize' err || complain "$last: $(cat err)"
[[ $(grep -c initialize trace.jsonl) == 2 ]] || complain "$last: $(cat trace.jsonl)"

noise=$(printf 'one\ntwo\xff\n\0three' | base64 -w0)
expect 0 null '' call say err="$noise" -- "${py[@]}"
expect 0 null $'one\ntwo\\xff\n\\x00three' call --stderr inherit say err="$noise" -- "${py[@]}"
expect 0 null '' call --stderr quiet say err="$noise" -- "${py[@]}"
expect 0 null '' call --stderr errors.txt say err="$noise" -- "${py[@]}"
printf 'one\ntwo\xff\n\0three\n' | cmp -s - errors.txt || complain "$last: $(od -c errors.txt)"
expect 5 null 'duplex call: slow: no response within 1500 ms (--timeout)' \
    call --stderr quiet say err="$noise" --then slow seconds:=9 -t 1500ms --stop-timeout 0 -- "${py[@]}"

expect 0 null "duplex call: /dev/full cannot be written: No space left on device" \
    call --stderr /dev/full say err="$noise" -- "${py[@]}"
expect 0 null 'duplex call: the recording is incomplete: cannot write to /dev/full: No space left on device' \
    call --record /dev/full --stderr quiet say err="$noise" -- "${py[@]}"
run call --record /dev/full --json --stderr quiet say err="$noise" -- "${py[@]}"
json 'j[0]["result"] is None'
grep -q 'is incomplete' err || complain "$last: $(cat err)"

export DUPLEX_TEST_SECRET=hidden
run call env --clean-env -- "${py[@]}"
json '"DUPLEX_TEST_SECRET" not in j[0] and "PATH" in j[0]'
run call env -- "${py[@]}"
json 'j[0]["DUPLEX_TEST_SECRET"] == "hidden"'
run call env --inherit-env -- "${py[@]}"
json 'j[0]["DUPLEX_TEST_SECRET"] == "hidden"'
[[ $(cat err) == 'duplex call: warning: --inherit-env is now the default and will be removed' ]] || complain "$last: $(cat err)"
expect 2 '' 'duplex call: --clean-env and --inherit-env cannot be used together' call env --clean-env --inherit-env -- "${py[@]}"
run call env -e A=1 --env=B=x=y -e PATH="$PATH" -- "${py[@]}"
json 'j[0]["A"] == "1" and j[0]["B"] == "x=y"'
mkdir folder
run call where --cwd folder -- "${py[@]}"
json 'j[0]["cwd"].endswith("/folder") and j[0]["blocked"] == []'

finish
