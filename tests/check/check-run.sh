#!/usr/bin/env bash
# duplex run and those who talk to it: ps, logs, restart, down, call --in, notify --in.
# shellcheck source=/dev/null disable=SC2154 # it sets work, duplex, run and failed
. "$SOURCE/tests/check/run-common.bash"
chmod 755 "$work"
export XDG_RUNTIME_DIR=$work/rt
mkdir -m 700 "$XDG_RUNTIME_DIR"
kids=$BUILD/tests/children
socket=$XDG_RUNTIME_DIR/duplex/default.sock

# wait_for PATTERN FILE: until a line has it, at most 8 s.
wait_for() {
    for _ in $(seq 160); do
        [[ -e $2 ]] && grep -q -- "$1" "$2" && return
        sleep 0.05
    done
    complain "'$1' did not come: $(cat "$2")"
}
# begin CONFIG [OPTION...]: a run of our own, whose process is $run.
begin() {
    rm -f run.out run.err
    timeout -k 1 60 "$duplex" run --config "$@" >run.out 2>run.err </dev/null &
    job=$!
    run=
    for _ in $(seq 100); do
        read -r run _ <"/proc/$job/task/$job/children" || true
        [[ -n $run && $(readlink "/proc/$run/exe") == */duplex ]] && return
        sleep 0.02
    done
    complain "there is no run: $(cat run.err)"
}
# ended CODE: it ends, with that.
ended() {
    local got=0
    { wait "$job" || got=$?; } 2>/dev/null
    run=
    ((got == $1)) || complain "the run ended with $got, expected $1: $(cat run.err)"
}
# expect CODE OUT ERR VERB ARGUMENT...: the output is compared whole, errors by a part of them.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 20 "$duplex" "$@" >out 2>err </dev/null || got=$?
    if ((got != code)) || [[ $(cat out) != "$out" ]] || [[ $(cat err) != *"$err"* ]] || [[ -z $err && -s err ]]; then
        complain "duplex $*: code $got, expected $code
stdout: $(cat out)
stderr: $(cat err)"
    fi
}
pid_of() {
    timeout 10 "$duplex" ps | awk -v name="$1" '$1 == name { print $3 }'
}
state_of() {
    timeout 10 "$duplex" ps | awk -v name="$1" '$1 == name { print $2 }'
}
gone() {
    for _ in $(seq 100); do
        # A zombie is nobody's child any more but init's, which need not hurry.
        [[ ! -e /proc/$1 || $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == Z ]] && return
        sleep 0.05
    done
    complain "process $1 is still there"
}

cat >sum.openrpc.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Sum", "version": "1"}, "x-duplex": {"name": "sum", "framing": "line"},
 "methods": [{"name": "sum", "summary": "adds", "params": [{"name": "a", "required": true, "schema": {"type": "integer"}}],
              "x-duplex": {"from": "host", "params": {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}},
              "result": {"name": "r", "schema": {"type": "integer"}}}]}
END
cat >peers.json <<END
{"duplex": 1, "peers": {
  "echo": {"command": ["$BUILD/examples/echo", "line"]},
  "poll": {"command": ["$BUILD/examples/poll", "header"], "framing": "header"},
  "bad": {"command": ["$kids/leaves", "exit", "3", "-1"], "tries": 3, "backoffMs": 100},
  "dies": {"command": ["$kids/leaves", "exit", "5", "0"], "backoffMs": 10000},
  "silent": {"command": ["$kids/silent"]},
  "slow": {"command": ["$kids/slow", "700"]},
  "parrot": {"command": ["$kids/parrot"], "protocol": "./sum.openrpc.json"},
  "once": {"command": ["$kids/leaves", "exit", "0", "-1"]},
  "absent": {"command": ["./nothing"], "restart": "never"}
}}
END

none() {
    expect 3 '' "duplex ps: no run named 'default'
hint: start one with 'duplex run --config FILE'" ps
    expect 3 '' "duplex logs: no run named 'other'" logs --name other
    expect 3 '' 'duplex restart: no run is listening at ./none.sock' restart x --socket ./none.sock
    expect 3 '' "duplex down: no run named 'default'" down
    expect 3 '' "duplex call: no run named 'default'" call --in echo echo
    expect 3 '{"error":{"hint":"start one with '\''duplex run --config FILE'\''","exit":3,"kind":"start","message":"no run named '\''default'\''"}}' '' ps --json
    expect 2 '' $'missing NAME\nhint: duplex restart [OPTION...] NAME...' restart
    expect 2 '' "unexpected argument 'x'" ps x
    expect 2 '' "--lines: expected a number, got 'many'" logs -n many
    expect 2 '' "expected at most one NAME, got 'b'" logs a b
    expect 2 '' '--in and a command cannot be used together' call --in echo echo -- x
    expect 2 '' '--in and --protocol cannot be used together' call --in echo echo -p mcp
    expect 2 '' '--in and --framing cannot be used together' call --in echo echo --framing line
    expect 2 '' 'missing METHOD' call --in echo
}

states() {
    begin peers.json
    for name in echo poll silent slow parrot; do wait_for "^$name: ready (pid [0-9]*)$" run.err; done
    grep -qxF "echo: starting: $BUILD/examples/echo line" run.err || complain "echo is not shown: $(cat run.err)"
    wait_for '^bad: failed' run.err
    [[ $(grep -A1 '^bad: [bf]a' run.err) == 'bad: backoff, restarting in 100 ms: the program exited with code 3
  last words
--
bad: backoff, restarting in 200 ms: the program exited with code 3
  last words
--
bad: failed: the program exited with code 3
  last words' ]] || complain "bad: $(grep -A1 ^bad: run.err)"
    wait_for '^once: stopped$' run.err
    wait_for "^absent: failed: cannot start $work/nothing: No such file or directory$" run.err
    timeout 10 "$duplex" ps >table
    [[ $(head -1 table) == 'NAME    STATE    PID'*'STARTS  UPTIME  MEMORY  CALLS  PROTOCOL            COMMAND' ]] || complain "ps: $(cat table)"
    grep -Eq "^echo +ready +[0-9]+ +1 +[0-9]+m?s +[0-9.]+[KM] +0 +jsonrpc +$BUILD/examples/echo line\$" table || complain "ps: $(cat table)"
    grep -Eq "^bad +failed +- +3 +- +- +0 " table || complain "ps: $(cat table)"
    grep -A1 '^bad ' table | grep -qxF '  reason: the program exited with code 3; stderr: last words' || complain "ps gives no reason: $(cat table)"
    grep -A1 '^absent ' table | grep -qxF "  reason: cannot start $work/nothing: No such file or directory" || complain "ps gives no reason: $(cat table)"
    timeout 10 "$duplex" ps --color always | grep -q $'\033\\[32mready\033\\[0m' || complain "no colour"
    grep -q $'\033' table && complain "colour where there is no terminal"
    timeout 10 "$duplex" ps --json | python3 -c '
import json, sys
all = json.load(sys.stdin)
peers = {p["name"]: p for p in all["peers"]}
assert all["run"] == "default" and all["config"] == "peers.json" and all["pid"] == int(sys.argv[1]), all
assert peers["echo"]["command"][1] == "line" and peers["echo"]["pid"] > 0 and peers["echo"]["uptimeMs"] >= 0, peers
assert 500_000 < peers["echo"]["memory"] < 100_000_000 and "lastFailure" not in peers["echo"], peers
assert peers["bad"]["lastFailure"] == "the program exited with code 3; stderr: last words" and 0 <= peers["bad"]["lastFailureMs"] < 60000, peers
assert "memory" not in peers["bad"] and "memory" not in peers["absent"], peers
assert peers["bad"]["why"] == "the program exited with code 3" and "pid" not in peers["bad"], peers
assert peers["poll"]["framing"] == "header", peers' "$run" || complain "ps --json"
    [[ $(stat -c %a "$socket") == 600 && $(stat -c %a "${socket%/*}") == 700 ]] || complain "modes: $(stat -c %a "$socket" "${socket%/*}")"
}

calls() {
    expect 0 '{"a":"1"}' '' call --in echo echo a=1
    expect 0 '[18446744073709551616,1.0,"é"]' '' call --in echo echo '[18446744073709551616,1.0,"é"]'
    expect 0 '[1]
[2]' '' call --in echo echo '[1]' --then echo '[2]'
    expect 0 '{"method":"echo","result":{"a":"1"}}' '' call --json --in echo echo a=1
    expect 1 '' 'duplex call: nix: Method not found (-32601)' call --in echo nix
    expect 1 '{"error":{"method":"nix","code":-32601,"exit":1,"kind":"refused","message":"nix: Method not found (-32601)"}}' '' \
        call --json --in echo nix
    # The same to the byte, whether the peer is ours or the run's.
    timeout 10 "$duplex" call --json nix -- "$BUILD/examples/echo" line >direct || true
    timeout 10 "$duplex" call --json --in echo nix >through || true
    cmp direct through || complain "direct and through the socket differ"
    expect 1 '' 'greet: the host did not say (-32603)' call --in poll greet # the run has no name to tell
    expect 2 '' $'no server \'eco\' in this run\nhint: did you mean echo?' call --in eco x
    expect 3 '' 'bad is not running: failed, the program exited with code 3' call --in bad x
    expect 3 '' 'once is not running: stopped' call --in once x
    expect 4 '' 'duplex call: x: the conversation ended before the server responded: the program exited with code 5
  last words' call --in dies x
    expect 3 '' 'dies is not running: backoff' call --in dies x
    expect 5 '' 'duplex call: x: no response within 100 ms (--timeout)' call --in silent -t 100ms x
    expect 5 '' '(--total-timeout)' call --in silent -t never --total-timeout 100ms x
    expect 6 '' 'sum: ' call --in parrot sum a:=1
    expect 7 '' "cannot send sum: /a: expected integer, found string" call --in parrot sum a=x
    expect 7 '' "sum has no method 'other'" call --in parrot other
    for verb in call notify; do
        expect 2 '' "duplex $verb: cannot send x: its params have a number out of range" "$verb" --in echo x a:=1e999
    done
    expect 0 '' '' notify --in silent hello
    expect 7 '' "sum has no method 'other'" notify --in parrot other
    expect 3 '' 'bad is not running' notify --in bad hello
    expect 2 '' "PARAMS:1:2: " call --in echo echo '{'
    # A call that nobody waits for any more is taken back.
    timeout -s INT 0.3 "$duplex" call --in silent x >out 2>err && complain "an interrupted call is well"
    grep -q 'duplex call: interrupted' err || complain "interrupted: $(cat err)"
}

at_the_same_time() {
    local i many=()
    "$duplex" call --in silent -t 20s never >never.out 2>never.err &
    never=$!
    for i in $(seq 20); do
        timeout 10 "$duplex" call --in echo echo "[$i]" >"out.$i" 2>&1 &
        many+=($!)
    done
    for i in "${many[@]}"; do wait "$i" || complain "a call of many: $?"; done
    for i in $(seq 20); do [[ $(cat "out.$i") == "[$i]" ]] || complain "call $i: $(cat "out.$i")"; done
    # On one connection, too, the quick one does not wait for the slow one.
    timeout 10 python3 - "$socket" <<'END' || complain "not concurrent"
import sys
from speak import *
s = connect(sys.argv[1])
send(s, request(1, "call", name="slow", method="x"), request(2, "call", name="echo", method="echo", params=[7]))
lines = s.makefile()
first, second = json.loads(next(lines)), json.loads(next(lines))
assert first == {"jsonrpc": "2.0", "id": 2, "result": [7]}, first
assert second["id"] == 1 and second["result"] is True, second
END
}

restarts() {
    local before code=0
    before=$(pid_of silent)
    expect 0 '' '' restart silent echo
    gone "$before"
    [[ $(pid_of silent) != "$before" && $(state_of silent) == ready ]] || complain "silent: $(pid_of silent)"
    wait $never || code=$?
    [[ $code == 4 && $(cat never.err) == *'never: the conversation ended before the server responded'* ]] || complain "pending: $code $(cat never.err)"
    timeout 10 "$duplex" ps | grep -Eq '^silent +ready +[0-9]+ +2 ' || complain "silent: runs"
    expect 2 '' $'no server \'silnt\' in this run\nhint: did you mean silent?' restart echo silnt
    expect 3 '' 'absent is not running: failed, cannot start' restart absent
    # Whoever calls while it starts again waits for that.
    timeout 10 "$duplex" restart slow &
    restart=$!
    sleep 0.1
    expect 0 true '' call --in slow x
    wait $restart || complain "restart slow: $?"
    # One that waits for its next try is started at once, and a clean record it has.
    expect 0 '' '' restart dies
    [[ $(state_of dies) == ready ]] || complain "dies: $(state_of dies)"
}

downs() {
    local before
    before=$(pid_of echo)
    expect 0 '' '' down echo once
    gone "$before"
    [[ $(state_of echo) == stopped ]] || complain "echo: $(state_of echo)"
    expect 3 '' 'echo is not running: stopped' call --in echo echo
    expect 2 '' "no server 'nobody'" down nobody
    expect 0 '' '' restart echo
    expect 0 '[1]' '' call --in echo echo '[1]'
    pids=$(timeout 10 "$duplex" ps | awk '$3 ~ /^[0-9]/ { print $3 }')
    timeout 20 "$duplex" logs -f >follow.out 2>follow.err &
    follow=$!
    wait_for 'last words' follow.out
    expect 0 '' '' down
    ended 0
    for pid in $pids; do gone "$pid"; done
    wait $follow || complain "logs -f: $?"
    [[ $(cat follow.err) == 'duplex logs: the run has ended' ]] || complain "logs -f: $(cat follow.err)"
    [[ ! -e $socket ]] || complain "the socket is still there"
}

logs() {
    cat >says <<'END'
#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "fail":
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": 5, "message": "no", "data": m["params"]}}), flush=True)
        continue
    for text in m.get("params", []):
        sys.stderr.buffer.write(text.encode("latin-1") + b"\n")
    sys.stderr.buffer.flush()
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": None}), flush=True)
END
    chmod +x says
    echo '{"duplex": 1, "peers": {"a": {"command": ["./says"]}, "b": {"command": ["./says"]}, "small": {"command": ["./says"], "logMax": 1024}}}' >logs.json
    begin logs.json
    for name in a b small; do wait_for "^$name: ready" run.err; done
    say() { timeout 10 "$duplex" call --in "$1" say "$2" >/dev/null || complain "say: $?"; }
    say a '["one","two"]'
    say b '["three"]'
    say a '["four"]'
    # An error is told with its data, as that of a peer of our own.
    expect 1 '' 'duplex call: fail: no (5)
  {"why":["x"]}' call --in a fail '{"why":["x"]}'
    text() { timeout 10 "$duplex" logs "$@" | sed 's/^[0-9-]* [0-9:.]* //'; }
    [[ $(text) == $'a one\na two\nb three\na four' ]] || complain "logs: $(text)"
    [[ $(text a) == $'one\ntwo\nfour' ]] || complain "logs a: $(text a)"
    [[ $(text -n 2) == $'b three\na four' ]] || complain "logs -n 2: $(text -n 2)"
    [[ $(text -n 0) == '' ]] || complain "logs -n 0"
    timeout 10 "$duplex" logs a -n 1 | grep -Eq '^20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3} four$' || complain "logs: no time"
    expect 2 '' "no server 'nobody' in this run" logs nobody
    # Nothing of it steers a terminal, and it is JSON in any case.
    say b '["\u001b[31m \u00ff\u0000 \u00c3\u00a9"]'
    [[ $(text -n 1 b) == '\x1b[31m \xff\x00 é' ]] || complain "logs: $(text -n 1 b)"
    timeout 10 "$duplex" logs --json -n 1 b | python3 -c '
import json, sys, time
line = json.load(sys.stdin)
assert line["text"] == "\\x1b[31m \\xff\\x00 é" and line["peer"] == "b" and line["run"] == 1, line
assert abs(line["time"] / 1000 - time.time()) < 20, line' || complain "logs --json"
    # Following: what is there, what comes, and no more than that.
    timeout 20 "$duplex" logs -f -n 1 a >follow.out 2>follow.err &
    follow=$!
    wait_for four follow.out
    say b '["not for a"]'
    say a '["five"]'
    wait_for five follow.out
    [[ $(wc -l <follow.out) == 2 ]] || complain "logs -f: $(cat follow.out)"
    kill -INT $follow
    code=0
    wait $follow || code=$?
    ((code == 130)) || complain "logs -f: $code"
    # The ring: the last lines stay, and who follows too slowly is told of a gap.
    say small "$(python3 -c 'import json; print(json.dumps(["line %d" % i for i in range(1000)]))')"
    text small >lines
    [[ $(tail -1 lines) == 'line 999' && $(wc -l <lines) -lt 30 && $(wc -l <lines) -gt 5 ]] || complain "ring: $(wc -l <lines)"
    # More than one answer holds; 1,000 lines a second are kept.
    say a "$(python3 -c 'import json; print(json.dumps(["many %d" % i for i in range(900)]))')"
    sleep 1.5
    say a "$(python3 -c 'import json; print(json.dumps(["many %d" % i for i in range(900, 1500)]))')"
    [[ $(text a | grep -c many) == 1500 ]] || complain "pages: $(text a | grep -c many)"
    expect 0 '' '' down
    ended 0
}

signals() {
    echo "{\"duplex\": 1, \"peers\": {\"echo\": {\"command\": [\"$BUILD/examples/echo\", \"line\"]},
        \"family\": {\"command\": [\"$kids/family\", \"hold\"]}, \"stubborn\": {\"command\": [\"$kids/stubborn\", \"term\"]}}}" >family.json
    local name signal
    for signal in TERM INT; do
        begin family.json echo family
        for name in echo family; do wait_for "^$name: ready" run.err; done
        pids="$(pid_of echo) $(pid_of family) $(timeout 10 "$duplex" logs family | sed 's/.*grandchild //')"
        kill -$signal "$run"
        ended 0
        for pid in $pids; do gone "$pid"; done
        grep -q '^echo: stopped$' run.err || complain "SIG$signal: $(cat run.err)"
    done
    # A second signal has no patience.
    begin family.json stubborn
    wait_for '^stubborn: ready' run.err
    pids=$(pid_of stubborn)
    kill -TERM "$run"
    wait_for '^stubborn: stopping' run.err
    kill -TERM "$run"
    ended 130
    gone "$pids"
    # Killed itself, it leaves nobody behind, but its socket; which the next one replaces.
    begin family.json
    for name in echo family stubborn; do wait_for "^$name: ready" run.err; done
    pids="$(pid_of echo) $(pid_of family) $(pid_of stubborn) $(timeout 10 "$duplex" logs family | sed 's/.*grandchild //')"
    (($(wc -w <<<"$pids") == 4)) || complain "pids: $pids"
    kill -KILL "$run"
    ended 137
    for pid in $pids; do gone "$pid"; done
    [[ -S $socket ]] || complain "no socket is left to be replaced"
    expect 3 '' 'no run named' ps
    begin family.json --json echo
    wait_for '"state":"ready"' run.out
    python3 -c '
import json, sys
start, ready = map(json.loads, open("run.out"))
assert start["peer"] == "echo" and start["state"] == "starting" and start["command"] == [sys.argv[1], "line"], start
assert ready["state"] == "ready" and ready["pid"] > 0 and ready["run"] == 1 and ready["time"] > 1e12, ready' "$BUILD/examples/echo" || complain "--json: $(cat run.out)"
    [[ ! -s run.err ]] || complain "--json and text: $(cat run.err)"
}

# A peer that does not do its handshake is not ready; calls wait for it, and whom nobody waits for any more is told.
handshakes() {
    cat >server <<'END'
#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    print("got", message["method"], file=sys.stderr, flush=True)
    if message["method"] == "initialize":
        time.sleep(float(sys.argv[1]))
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    if message["method"] == "ping":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
END
    chmod +x server
    cat >hands.json <<END
{"duplex": 1, "peers": {
  "wrong": {"command": ["$BUILD/examples/echo", "line"], "protocol": "mcp", "tries": 1},
  "mute": {"command": ["$kids/silent"], "protocol": "mcp", "tries": 1, "startMs": 200},
  "dead": {"command": ["$kids/leaves", "exit", "9", "0"], "protocol": "mcp", "tries": 1},
  "good": {"command": ["./server", "0.4"], "protocol": "mcp@2025-06-18"}}}
END
    begin hands.json
    wait_for '^good: starting' run.err
    expect 0 '{}' '' call --in good ping # it waits until the peer is ready
    grep -q '^good: ready' run.err || complain "good: $(cat run.err)"
    wait_for '^wrong: failed: the handshake failed: initialize: Method not found (-32601)$' run.err
    wait_for '^mute: failed: no response within 200 ms' run.err
    wait_for '^dead: failed: the program exited with code 9' run.err
    timeout -s INT 0.5 "$duplex" call --in good tools/list >out 2>err && complain "no answer is well"
    for _ in $(seq 40); do
        timeout 10 "$duplex" logs good >lines
        grep -q 'got notifications/cancelled' lines && break
        sleep 0.05
    done
    [[ $(sed 's/.*got //' lines | tr '\n' ' ') == 'initialize notifications/initialized ping tools/list notifications/cancelled ' ]] ||
        complain "good: $(cat lines)"
    expect 0 '' '' down
    ended 0
    # A peer that is told to stop while it starts does; one that is told twice, too.
    begin hands.json good
    wait_for '^good: starting' run.err
    timeout 10 "$duplex" call --in good ping >call.out 2>call.err &
    call=$!
    sleep 0.1
    expect 0 '' '' down good good
    code=0
    wait $call || code=$?
    [[ $code == 3 && $(cat call.err) == *'good was stopped'* ]] || complain "waiting: $code $(cat call.err)"
    kill -TERM "$run"
    ended 0
}

# Without a runtime folder of the session it is one of our own in /tmp.
folder() {
    local name=test$$ path=/tmp/duplex-$UID
    env -u XDG_RUNTIME_DIR timeout 20 "$duplex" run --config peers.json --name $name echo >/dev/null 2>folder.err </dev/null &
    other=$!
    wait_for '^echo: ready' folder.err
    [[ -S $path/$name.sock && $(stat -c '%a %u' "$path") == "700 $UID" ]] || complain "$path: $(ls -la "$path")"
    XDG_RUNTIME_DIR='' expect 0 '[1]' '' call --name $name --in echo echo '[1]'
    XDG_RUNTIME_DIR=relative expect 0 '' '' down --name $name
    wait $other || complain "folder: $?"
    rmdir --ignore-fail-on-non-empty "$path"
}

# Who may, and who may not. The run of `signals` is still there.
others() {
    local pid=$run got=0
    timeout 10 "$duplex" run --config family.json >out 2>err </dev/null || got=$?
    [[ $got == 3 && $(cat err) == "duplex run: a run named 'default' is already running (pid $pid)" ]] || complain "second: $got $(cat err)"
    [[ $(state_of echo) == ready ]] || complain "the first run has suffered"
    # Another name is another run.
    timeout 30 "$duplex" run --config family.json --name other echo >/dev/null 2>other.err </dev/null &
    other=$!
    wait_for '^echo: ready' other.err
    expect 0 '[1]' '' call --name other --in echo echo '[1]'
    expect 3 '' "duplex ps: no run named 'thrid'
hint: pass --name; the runs are " ps --name thrid
    [[ $(tail -1 err) =~ ' are '(default, other|other, default)$ ]] || complain "$(cat err)"
    expect 0 '' '' down --name other
    wait $other || complain "other: $?"
    # Nothing but a socket that nobody listens at is replaced.
    echo precious >file.sock
    got=0
    timeout 10 "$duplex" run --config family.json --socket file.sock >out 2>err </dev/null || got=$?
    [[ $got == 3 && $(cat err file.sock) == 'duplex run: file.sock exists and is not a socket
precious' ]] || complain "a file: $got $(cat err)"
    # A folder that others can enter, or that is a link, is not used.
    for trick in 'mkdir -m 755 bad/duplex' 'mkdir -m 700 elsewhere; ln -s ../elsewhere bad/duplex' 'touch bad/duplex'; do
        rm -rf bad elsewhere
        mkdir bad
        eval "$trick"
        got=0
        XDG_RUNTIME_DIR=$work/bad timeout 10 "$duplex" run --config family.json >out 2>err </dev/null || got=$?
        ((got == 3)) || complain "$trick: $got $(cat err)"
        XDG_RUNTIME_DIR=$work/bad expect 3 '' "$work/bad/duplex is" ps
    done
    ((UID == 0)) || return 0
    # Another user, even where the modes would let him.
    chmod 755 "$XDG_RUNTIME_DIR" "${socket%/*}"
    chmod 666 "$socket"
    timeout 10 python3 -c '
import os, socket, sys
os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.settimeout(5)
s.connect(sys.argv[1])
got = b""
try:
    s.sendall(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ps\"}\n")
except BrokenPipeError:
    pass
while True:
    try:
        more = s.recv(4096)
    except ConnectionResetError:
        break
    if not more:
        break
    got += more
assert got == b"", got' "$socket" || complain "another user was let in"
    chmod 700 "$XDG_RUNTIME_DIR" "${socket%/*}"
    # A folder in /tmp that belongs to somebody else; and root may talk to anybody's run.
    mkdir -m 700 theirs
    mkdir -m 700 theirs/duplex
    chown -R 65534 theirs
    XDG_RUNTIME_DIR=$work/theirs expect 3 '' "theirs/duplex belongs to another user (uid 65534)" ps
    mkdir -m 777 open
    cp family.json open/
    XDG_RUNTIME_DIR=$work/theirs timeout 30 setpriv --reuid 65534 --clear-groups "$duplex" run --config open/family.json echo \
        --socket open/s >/dev/null 2>their.err </dev/null &
    theirs=$!
    wait_for '^echo: ready' their.err
    expect 0 '[1]' '' call --socket open/s --in echo echo '[1]'
    expect 0 '' '' down --socket open/s
    wait $theirs || complain "theirs: $?"
}

# What can never start fails at once, with one line, and restart tries again.
never_starts() {
    mkdir never never/folder
    printf '#!/bin/sh\nexec "%s" line\n' "$BUILD/examples/echo" >never/plain
    printf '#!/no/such -x\n' >never/script
    printf '#! /etc/passwd\n' >never/data
    printf '#!/bin/sh\r\n' >never/windows
    LC_ALL=C sed 's,/ld-linux,/ld-gnome,' "$BUILD/examples/echo" >never/loader
    chmod +x never/{script,data,windows,loader}
    cat >never/config.json <<END
{"duplex": 1, "peers": {
  "nothing": {"command": ["./nothing"]},
  "echo": {"command": ["$BUILD/examples/echo", "line"]},
  "unknown": {"command": ["duplex-no-such-program"], "restart": "always"},
  "folder": {"command": ["./folder"], "tries": 0},
  "plain": {"command": ["./plain"]},
  "cwd": {"command": ["true"], "cwd": "elsewhere"},
  "script": {"command": ["./script"]},
  "data": {"command": ["./data"]},
  "windows": {"command": ["./windows"]},
  "loader": {"command": ["./loader"]},
  "shell": {"command": ["sh", "-c", "duplex-no-such-program 2>/dev/null"], "restart": "always"},
  "env": {"command": ["env", "./data"], "cwd": "."}
}}
END
    begin never/config.json --name never
    for name in nothing unknown folder plain cwd script data windows loader shell env; do wait_for "^$name: failed" run.err; done
    grep -Ev '^(  env:|echo:|(shell|env): ready)' run.err | LC_ALL=C sort >sorted
    diff - sorted <<END || complain "what cannot start: $(cat run.err)"
cwd: failed: cannot change to $work/never/elsewhere: No such file or directory
cwd: starting: true
data: failed: cannot start $work/never/data: its interpreter "/etc/passwd" cannot be executed
data: starting: $work/never/data
env: failed: the program exited with code 126 (command cannot be executed)
env: starting: env ./data
folder: failed: cannot start $work/never/folder: Is a directory
folder: starting: $work/never/folder
hint: '$work/never/folder' is a folder
hint: 'duplex-no-such-program' is not in PATH
hint: chmod +x $work/never/plain
loader: failed: cannot start $work/never/loader: its dynamic loader does not exist
loader: starting: $work/never/loader
nothing: failed: cannot start $work/never/nothing: No such file or directory
nothing: starting: $work/never/nothing
plain: failed: cannot start $work/never/plain: Permission denied
plain: starting: $work/never/plain
script: failed: cannot start $work/never/script: its interpreter "/no/such" does not exist
script: starting: $work/never/script
shell: failed: the program exited with code 127 (command not found)
shell: starting: sh -c duplex-no-such-program 2>/dev/null
unknown: failed: cannot start duplex-no-such-program: No such file or directory
unknown: starting: duplex-no-such-program
windows: failed: cannot start $work/never/windows: its interpreter "/bin/sh" is followed by a carriage return (CRLF line ends)
windows: starting: $work/never/windows
END
    timeout 10 "$duplex" ps --name never >table
    grep -A1 '^unknown *failed *- *1 ' table | grep -qxF '  reason: cannot start duplex-no-such-program: No such file or directory' || complain "ps: $(cat table)"
    expect 3 '' "duplex restart: plain is not running: failed, cannot start $work/never/plain: Permission denied" restart plain --name never
    chmod +x never/plain
    expect 0 '' '' restart plain --name never
    timeout 10 "$duplex" ps --name never >table
    grep -q '^plain *ready *[0-9]* *3 ' table || complain "ps: $(cat table)"
    grep -A1 '^plain ' table | grep -Eqx "  last failure: cannot start $work/never/plain: Permission denied \\([0-9]+m?s ago\\)" || complain "ps: $(cat table)"
    expect 0 '[1]' '' call --name never --in plain echo '[1]'
    expect 0 '' '' down --name never
    ended 0
}

# A run whose peers have all ended by themselves has ended, too.
all_end() {
    local names code got expected
    # NAMES CODE MESSAGE
    while read -r names code expected; do
        got=0
        # shellcheck disable=SC2086 # several words
        timeout -k 1 60 "$duplex" run --config peers.json --name end ${names//,/ } >run.out 2>run.err </dev/null || got=$?
        ((got == code)) || complain "$names: the run ended with $got, expected $code: $(cat run.err)"
        grep -v '^\(bad\|absent\|once\|  last\)' run.err >last || true
        [[ $(cat last) == "$(printf %b "$expected")" ]] || complain "$names: $(cat run.err)"
    done <<'END'
once 0 duplex run: every server has exited
absent 3 duplex run: every server has failed\nhint: fix the cause and start duplex run again
bad,absent 3 duplex run: every server has failed\nhint: fix the cause and start duplex run again
once,absent 3 duplex run: no server is left: 1 of 2 failed, the others exited\nhint: fix the cause and start duplex run again
END
    # One that was stopped by hand may be started again.
    begin peers.json --name end echo absent
    wait_for '^absent: failed' run.err
    expect 0 '' '' down --name end echo
    expect 0 '' '' restart --name end echo
    expect 0 '' '' down --name end echo
    expect 3 '' "duplex restart: absent is not running: failed, cannot start $work/nothing: No such file or directory" restart --name end absent
    expect 0 '' '' down --name end
    ended 0
}

# --log-max 0 keeps everything: more than the usual 256 KiB.
unlimited() {
    cat >talker.py <<'END'
import sys, time
for second in range(2):
    for line in range(900):
        print(f"{second} {line} " + "x" * 300, file=sys.stderr, flush=True)
    time.sleep(1.1)
print("done", file=sys.stderr, flush=True)
sys.stdin.read()
END
    echo '{"duplex": 1, "peers": {"talker": {"command": ["python3", "talker.py"]}}}' >talker.json
    for max in 262144 0; do
        begin talker.json --name talker --log-max $max
        for _ in $(seq 200); do
            timeout 10 "$duplex" logs --name talker -n 1 2>/dev/null | grep -q ' done$' && break
            sleep 0.05
        done
        timeout 10 "$duplex" logs --name talker >lines
        local kept
        kept=$(grep -c ' [01] [0-9]* x*$' lines)
        ((max == 0 ? kept == 1800 : kept < 1000)) || complain "--log-max $max: $kept lines"
        expect 0 '' '' down --name talker
        ended 0
    done
    timeout 10 "$duplex" run --help >out
    tr -s ' \n' ' ' <out | grep -qF 'how much of each server'"'"'s stderr to keep for duplex logs, 1k to 64M; 0: no limit (256k)' ||
        complain "run --help: $(cat out)"
}

none
never_starts
all_end
unlimited
states
calls
at_the_same_time
restarts
downs
logs
handshakes
folder
signals
others
expect 0 '' '' down
ended 0
exit "$failed"
