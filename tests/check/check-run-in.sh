#!/usr/bin/env bash
# --in NAME: mcp, repl and bench talk to a peer that duplex run keeps and that others use, too.
# shellcheck source=/dev/null disable=SC2154,SC2034 # it sets work, duplex and failed, and uses run
. "$SOURCE/tests/check/run-common.bash"
export XDG_RUNTIME_DIR=$work/rt
mkdir -m 700 "$XDG_RUNTIME_DIR"
python=$(command -v /usr/bin/python3 || command -v python3)
server="$SOURCE/tests/check/mcp-server.py"

# wait_for PATTERN FILE: until a line matches, at most 15 s.
wait_for() {
    for _ in $(seq 300); do
        [[ -e $2 ]] && grep -q -- "$1" "$2" && return
        sleep 0.05
    done
    complain "'$1' did not come: $(cat "$2")"
}
# expect CODE OUT ERR ARGUMENT...: both outputs are compared whole, as patterns.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 20 "$duplex" "$@" >out 2>err </dev/null || got=$?
    # shellcheck disable=SC2053 # patterns
    if ((got != code)) || [[ $(cat out) != $out || $(cat err) != $err ]]; then
        complain "duplex $*: code $got, expected $code
stdout: $(cat out)
stderr: $(cat err)"
    fi
}

# A language server of a few lines: header framing, pretty JSON, and what it was sent on its stderr.
cat >server.py <<'END'
import json, sys
def send(message):
    text = json.dumps(dict(jsonrpc="2.0", **message), indent=2)
    sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}")
    sys.stdout.flush()
while True:
    length = 0
    while (line := sys.stdin.readline().strip()):
        length = int(line.split(":")[1])
    if not length:
        break
    message = json.loads(sys.stdin.read(length))
    print(message["method"], file=sys.stderr, flush=True)
    if message["method"] == "initialize":
        send({"id": message["id"], "result": {"capabilities": {}, "serverInfo": {"name": "tiny"}}})
    elif message["method"] == "textDocument/hover":
        send({"method": "window/logMessage", "params": {"type": 3, "message": "hovering"}})
        send({"id": message["id"], "result": {"contents": "a\nb"}})
    elif message["method"] == "exit":
        break
    elif "id" in message:
        send({"id": message["id"], "result": None})
END
cat >peers.json <<END
{"duplex": 1, "peers": {
  "test": {"command": ["$python", "$server"], "protocol": "mcp", "backoffMs": 100},
  "modern": {"command": ["$python", "$server", "modern"], "protocol": "mcp@2026-07-28"},
  "echo": {"command": ["$BUILD/examples/echo", "line"]},
  "tiny": {"command": ["$python", "server.py"], "protocol": "lsp"},
  "noisy": {"command": ["sh", "-c", "echo up; exec \"\$0\" \"\$1\"", "$python", "$server"], "protocol": "mcp"},
  "crash": {"command": ["sh", "-c", "echo 'TypeError: größe is null' >&2; exit 1"], "protocol": "mcp", "tries": 1},
  "absent": {"command": ["./nothing"], "protocol": "mcp"}
}}
END

for words in 'mcp info' repl bench; do
    # shellcheck disable=SC2086 # words
    expect 3 '' "duplex $words: no run named 'default'
hint: start one with 'duplex run --config FILE'" $words --in test
done

timeout -k 1 120 "$duplex" run --config peers.json >run.out 2>run.err </dev/null &
for name in test modern echo tiny noisy; do wait_for "^$name: ready" run.err; done
wait_for '^crash: failed' run.err
run=$(timeout 10 "$duplex" ps --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["pid"])')

# --- Every subcommand of mcp -----------------------------------------------------------------------

expect 0 'Server       test-server 1.2 (Test Server)
Revision     2025-11-25
*' '' mcp info --in test
expect 0 '{"tools":*"name": "echo"*"name": "file"*' '' mcp tools --in test --json
expect 0 'hello' '' mcp tools call echo message=hello --in test
expect 0 '42' '' mcp tools call add a:=2 b:=40 --in test
expect 1 '' 'duplex mcp tools call: fail: it went
  wrong \\x1b\[31m' mcp tools call fail --in test
expect 1 '' 'duplex mcp tools call: tools/call: inside it \\x1b broke (-32603)*' mcp tools call error --in test
expect 0 'test://text*test://two*' '' mcp resources --in test
expect 0 'Hello
world' '' mcp resources read test://text --in test
expect 0 'test://item/{id}*' '' mcp templates --in test
expect 0 'greet*plain*' '' mcp prompts --in test
expect 0 '*Greet Ada*' '' mcp prompts get greet who=Ada --in test
expect 0 'alpha*' '' mcp complete prompt greet who=al --in test
expect 0 '[0-9]* [mu]s*' '' mcp ping --in test
# Text on stdout: the run warns when it comes, and clients when they connect.
noise='printed text on stdout that is not JSON-RPC: "up" (it breaks strict clients)'
grep -qxF "duplex run: warning: 'noisy' $noise" run.err || complain "no warning: $(cat run.err)"
expect 0 '42' "duplex mcp tools call: warning: the server $noise" mcp tools call add a:=2 b:=40 --in noisy
expect 0 '{*}' "duplex call: warning: the server $noise" call tools/list --in noisy
expect 0 '' "duplex notify: warning: the server $noise" notify notifications/cancelled requestId:=9 --in noisy
expect 0 '{}
{}' "duplex call: warning: the server $noise" call ping --then ping --in noisy
expect 1 '' "duplex call: warning: the server $noise
duplex call: *" call tools/call name=nothing --in noisy
expect 0 '{}' '' call ping --in test
# The newest era has no handshake: everything is passed on.
expect 0 '*test-server 1.2*Revision     2026-07-28*' '' mcp info --in modern
expect 0 'hello' '' mcp tools call echo message=hello --in modern
expect 7 '' 'duplex mcp watch: watch --in does not work with a server of revision 2026-07-28: it sends changes only to the client that started it' \
    mcp watch --in modern
expect 7 '' 'duplex mcp log: a server of revision 2026-07-28 logs only *' mcp log --in modern

# What the server sends by itself reaches everybody who watches.
watch_test() {
    timeout 20 "$duplex" mcp log --in "$1" --json --level debug --for 15s >log1 2>&1 &
    local log=$! watch
    timeout 20 "$duplex" mcp watch test://text --in "$1" --json --for 15s >watch1 2>&1 &
    watch=$!
    for _ in $(seq 100); do
        [[ $(timeout 10 "$duplex" mcp tools call change --in "$1") == changed ]] || complain "change"
        grep -q updated watch1 && grep -q warning log1 && break
        sleep 0.05
    done
    kill -INT "$log" "$watch"
    wait "$log" "$watch" || true
}
watch_test test
grep -qxF '{"event":"log","level":"warning","logger":"test","data":"something changed"}' log1 || complain "log: $(cat log1)"
grep -qxF '{"event":"updated","uri":"test://text"}' watch1 || complain "watch: $(cat watch1)"
grep -qxF '{"event":"changed","list":"tools"}' watch1 || complain "watch: $(cat watch1)"

# All methods are checked before anything is sent.
expect 7 '' "duplex call: mcp has no method 'tools/lst'
hint: did you mean tools/list?" call --in test tools/lst
expect 7 '' "duplex call: mcp has no method 'tools/lst'
hint: did you mean tools/list?" call --in test ping --then tools/lst
expect 7 '' 'duplex notify: ping is a request: use duplex call' notify --in test ping
expect 0 $'{}\n{}' '' call --in test ping --then ping
# What is about the messages goes through a connection of its own.
expect 0 '{}' '*"method":"ping"}*' call --in test ping --show
expect 0 '{}' '' call --in test ping -o call.jsonl
grep -q '"method":"ping"' call.jsonl || complain "call --in -o: $(cat call.jsonl)"
expect 7 '' "duplex call: mcp has no method 'tools/lst'
hint: did you mean tools/list? (--check off sends any method)" call --in test ping --then tools/lst -o call.jsonl
! grep -q '"method":"ping"' call.jsonl || complain "it called ping: $(cat call.jsonl)"

# Requests of the server are the run's to answer, which offers it nothing.
expect 0 '*"code": -32601*' '' mcp tools call model --in test

# --- Several at a time -------------------------------------------------------------------------------

# Each hears of its own progress, though all of them count their ids and tokens from 1.
pids=()
for i in 1 2 3; do
    timeout 20 "$duplex" mcp tools call wait ms:=$((i * 300)) --progress --ids counter --in test >out$i 2>err$i &
    pids+=($!)
done
for i in 1 2 3; do
    wait "${pids[i - 1]}" || complain "client $i: $?"
    [[ $(cat out$i) == waited && $(grep -c 'step [1-5]$' err$i) == 5 && $(wc -l <err$i) == 5 ]] || complain "client $i: $(cat out$i err$i)"
done
# A timeout cancels the call at the server, and so does a client that is gone.
cancelled() { timeout 10 "$duplex" logs test | grep -c cancelled || true; }
before=$(cancelled)
expect 5 '' 'duplex mcp tools call: tools/call: no response within 300 ms (--timeout)*' mcp tools call wait ms:=9000 -t 300ms --in test
calls() { timeout 10 "$duplex" ps | awk '$1 == "test" { print $7 }'; }
made=$(calls)
"$duplex" mcp tools call wait ms:=9000 --in test >out 2>err &
gone=$!
for _ in $(seq 100); do
    (($(calls) > made)) && break
    sleep 0.05
done
kill -KILL $gone
wait $gone 2>/dev/null || true
for _ in $(seq 100); do
    (($(cancelled) == before + 2)) && break
    sleep 0.05
done
(($(cancelled) == before + 2)) || complain "cancelling: $before before, $(timeout 10 "$duplex" logs test)"

# By the socket itself: equal ids and tokens of two clients, strange ids, and what does not fit.
cat >raw.py <<'END'
import sys
from speak import *
path = sys.argv[1]
def attach(name):
    s = connect(path)
    send(s, request("a", "attach", name=name))
    f = s.makefile("r", encoding="utf-8")
    answer = json.loads(f.readline())
    assert answer["id"] == "a" and answer["result"]["pid"] > 0, answer
    return s, f, answer["result"]["protocol"]
def wait_call(id, ms, token):
    return request(id, "tools/call", **{"name": "wait", "arguments": {"ms": ms}, "_meta": {"progressToken": token}})
one, one_in, protocol = attach("test")
two, two_in, _ = attach("test")
assert protocol == "mcp", protocol
assert attach("tiny")[2] == "lsp"
hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
for s, f in (one, one_in), (two, two_in):
    send(s, request(1, "initialize", **hello))
    answer = json.loads(f.readline())
    assert answer["id"] == 1 and answer["result"]["serverInfo"]["name"] == "test-server", answer
    assert answer["result"]["protocolVersion"] == "2025-11-25", answer  # what the run has agreed on
    send(s, {"jsonrpc": "2.0", "method": "notifications/initialized"})
send(one, wait_call(7, 200, "t"))
send(two, wait_call(7, 200, "t"), request("é", "ping"), request(8.5, "ping"))
for f, more in (one_in, 0), (two_in, 2):
    lines = [json.loads(f.readline()) for _ in range(6 + more)]
    ticks = [m["params"] for m in lines if m.get("method") == "notifications/progress"]
    assert [t["progress"] for t in ticks] == [1, 2, 3, 4, 5] and all(t["progressToken"] == "t" for t in ticks), lines
    assert [m["result"]["content"][0]["text"] for m in lines if m.get("id") == 7] == ["waited"], lines
    assert more == 0 or {m["id"] for m in lines if m.get("result") == {}} == {"é", 8.5}, lines
# What does not fit the protocol is refused by the run, and the peer never sees it.
send(one, request(9, "tools/call", arguments={}))
answer = json.loads(one_in.readline())
assert answer["id"] == 9 and answer["error"]["code"] == -32602 and "name" in answer["error"]["message"], answer
# Commands of the run mean nothing here any more.
send(one, request(10, "ps"))
answer = json.loads(one_in.readline())
assert answer["error"]["code"] == -32602, answer
END
timeout 60 "$python" raw.py "$XDG_RUNTIME_DIR/duplex/default.sock" || complain "raw.py"

# --- A server that ends --------------------------------------------------------------------------------

expect 4 '' 'duplex mcp tools call: tools/call: the program exited with code 3*' mcp tools call die --in test
# It is back in a moment; then ps still says why it was gone.
for _ in $(seq 100); do
    timeout 10 "$duplex" ps >table
    grep -q '^test *ready' table && break
    sleep 0.05
done
expect 0 'again' '' mcp tools call echo message=again --in test
grep -A1 '^test ' table | grep -Eqx '  last failure: the program exited with code 3; stderr: my last words \([0-9]+m?s ago\)' || complain "ps: $(cat table)"
timeout 20 "$duplex" mcp tools call wait ms:=9000 --in test >call.out 2>call.err &
call=$!
sleep 5.2 # the failure above is not the reason for what comes
expect 0 '' '' restart test
code=0
wait $call || code=$?
[[ $code == 4 && $(cat call.err) == 'duplex mcp tools call: tools/call: it was stopped or restarted' ]] || complain "restart: $code $(cat call.err)"

# --- repl and bench ------------------------------------------------------------------------------------

say() { printf '%s\n' "${@:2}" | timeout 20 "$duplex" repl "${json[@]}" --in "$1" >out 2>err; }
json=()
say echo 'echo [1]' 'echo a=b' || complain "repl: $? $(cat err)"
[[ $(cat out) == '[1]
{"a":"b"}' && ! -s err ]] || complain "repl: $(cat out err)"
# In lines, though the run speaks to it in header framing, and with the result of its own handshake.
say tiny 'textDocument/hover {"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}' || complain "repl: $? $(cat err)"
[[ $(tr -d ' ' <out) == '{"contents":"a\nb"}' ]] || complain "repl: $(cat out err)"
json=(--json)
say tiny 'textDocument/hover {"textDocument":{"uri":"file:///x"},"position":{"line":0,"character":0}}' || complain "repl: $? $(cat err)"
json=()
grep -q '^{"event":"notification","method":"window/logMessage"' out || complain "repl shows no notification: $(cat out err)"
# Nobody ends the server for the others.
code=0
say tiny shutdown || code=$?
[[ $code == 1 && $(cat err) == "duplex repl: line 1: shutdown: shutdown would stop 'tiny' for all its clients: use 'duplex restart tiny' or 'duplex down tiny' (-32600)" ]] ||
    complain "shutdown: $code $(cat err)"
timeout 10 "$duplex" logs tiny >tiny.log
[[ $(grep -c ' initialize$' tiny.log) == 1 ]] || complain "the handshake was passed on: $(cat tiny.log)"
! grep -q 'shutdown\|exit' tiny.log || complain "the farewell was passed on: $(cat tiny.log)"
code=0
say test 'tools/call name=die' || code=$?
[[ $code == 4 && $(cat err) == *'tools/call: the conversation ended before the server '*': the program exited with code 3'* ]] || complain "repl: $code $(cat err)"

wait_for_ready() {
    for _ in $(seq 100); do
        timeout 10 "$duplex" ps | grep -q "^$1 *ready" && return
        sleep 0.05
    done
}
wait_for_ready test
timeout 30 "$duplex" bench --in test --starts 2 -n 50 --concurrency 4 >out 2>err || complain "bench: $? $(cat err)"
for line in '^Connecting, median of 2$' '^Calls of ping$' '^  calls +50 +50$' '^Memory of the server$' '^  CPU/call +[0-9.]+ [mu]s'; do
    grep -qE "$line" out || complain "bench: no '$line' in $(cat out)"
done
timeout 30 "$duplex" bench --in echo echo '[1]' -n 20 --json >out 2>err || complain "bench: $? $(cat err)"
"$python" -c '
import json
j = json.load(open("out"))
assert j["method"] == "echo" and j["framing"] == "line" and all(r["results"] == 20 for r in j["runs"]), j
assert j["memory"]["before"]["rss_bytes"] > 0, j' || complain "bench --json"
expect 2 '' 'duplex bench: missing METHOD: jsonrpc has no ping to call' bench --in echo

# --- What cannot be -------------------------------------------------------------------------------------

expect 2 '' $'duplex mcp info: no server \'nobody\' in this run\nhint: the servers are test, modern, echo, tiny, noisy, crash, absent' mcp info --in nobody
expect 2 '' $'duplex mcp tools: no server \'tesst\' in this run\nhint: did you mean test?' mcp tools --in tesst
expect 2 '' $'duplex repl: no server \'ecko\' in this run\nhint: did you mean echo?' repl --in ecko
expect 2 '' 'duplex mcp info: --in: echo speaks jsonrpc, not mcp' mcp info --in echo
# Why it is not running, as duplex ps has it, and what can be done.
hint="
hint: see 'duplex logs absent'; 'duplex restart absent' starts it again"
expect 3 '' "duplex mcp info: absent is not running: failed, cannot start $work/nothing: No such file or directory$hint" mcp info --in absent
reason='the program exited with code 1; stderr: TypeError: größe is null'
grep -qxF "  reason: $reason" <(timeout 10 "$duplex" ps) || complain "ps: $(timeout 10 "$duplex" ps)"
hint="
hint: see 'duplex logs crash'; 'duplex restart crash' starts it again"
for words in 'mcp tools' 'mcp info' 'call ping' 'notify notifications/cancelled' repl 'bench ping'; do
    # shellcheck disable=SC2086 # words
    expect 3 '' "duplex *: crash is not running: failed, $reason$hint" $words --in crash
done
expect 3 '{"error":{"hint":"see '*' starts it again",*"message":"crash is not running: failed, the program exited with code 1; stderr: TypeError: größe is null"}}' '' \
    call ping --in crash --json
expect 3 '' "duplex restart: crash is not running: failed, $reason
hint: see 'duplex logs crash'" restart crash
for words in '--root /' '--sample x' '--answer accept' '--opener x' '--mode modern' '--revision 2024-11-05' '--env A=b' '--cwd /' \
    '--config x' '--connect tcp:1' '--stderr quiet'; do
    # shellcheck disable=SC2086 # words
    expect 2 '' "duplex mcp tools: --in and ${words%% *} cannot be used together" mcp tools --in test $words
done
expect 2 '' 'duplex mcp tools: --in and a command cannot be used together' mcp tools --in test -- x
for words in '--protocol mcp' '--framing line' '--connect tcp:1' '--init {}' --no-handshake '--env A=b' '--cwd /' '--stop-timeout 1s'; do
    for verb in repl bench; do
        # shellcheck disable=SC2086 # words
        expect 2 '' "duplex $verb: --in and ${words%% *} cannot be used together" $verb --in test $words
    done
done

# When the run ends, so does what goes through it.
timeout 20 "$duplex" mcp tools call wait ms:=9000 --in test >call.out 2>call.err &
call=$!
sleep 5.2
expect 0 '' '' down
code=0
wait $call || code=$?
[[ $code == 4 && $(cat call.err) =~ ^'duplex mcp tools call: tools/call: '('it was stopped or restarted'|'the run has ended')$ ]] || complain "down: $code $(cat call.err)"
exit "$failed"
