#!/usr/bin/env bash
# duplex bench: peers whose costs are known, ways to fail, limits, and how it is told.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"

peer=("$python" "$SOURCE/tests/check/bench-peer.py")
short=(--starts 1 --warmup 0)

# bench ARGUMENT...: as an object, r being its runs.
bench() { run bench --json "$@"; }
good() {
    [[ $got == 0 && ! -s err ]] || complain "$last: code $got, $(cat err)"
    json "(lambda r: $1)(j[0]['runs']) and len(j) == 1"
}
# failed_with CODE EXPRESSION: r are the runs of the report that an error carries.
failed_with() {
    ((got == $1)) || complain "$last: code $got, expected $1"
    json "e['exit'] == $1 and (lambda r: $2)(e.get('report', {}).get('runs')) and len(j) == 1"
}
sums='all(x["calls"] == x["results"] + x["errors"] + x["late"] + x["invalid"] + x["lost"]
    and x["results"] == sum(row["count"] for row in x["histogram"]) for x in r)'

# --- What it costs -----------------------------------------------------------------------------

bench --starts 3 -d 100ms --concurrency 1,4,32 -f line echo '[1]' -- "$echo" line
good "$sums and [x['concurrency'] for x in r] == [1, 4, 32] and all(x['calls'] > 20 for x in r)"
cat >whole.py <<'END'
import json
j = json.load(open("out"))
assert (j["method"], j["protocol"], j["revision"], j["framing"]) == ("echo", "jsonrpc", None, "line")
assert j["starts"]["count"] == 3 and j["starts"]["handshake_us"] is None
first = j["starts"]["first_answer_us"]
assert 0 < first["min"] <= first["median"] <= first["max"]
for run in j["runs"]:
    times, rows = run["latency_us"], run["histogram"]
    assert 0 < times["min"] <= times["p50"] <= times["p90"] <= times["p95"] <= times["p99"] <= times["max"]
    assert times["min"] <= times["mean"] <= times["max"]
    assert abs(run["results_per_second"] * run["elapsed_us"] / 1e6 / run["results"] - 1) < 0.01
    assert all(row["from_us"] < row["to_us"] for row in rows) and len(rows) <= 12
    assert rows[0]["from_us"] <= times["min"] < rows[0]["to_us"] and rows[-1]["from_us"] <= times["max"] < rows[-1]["to_us"]
    assert 0 < run["cpu_us_per_call"] < 1000
for memory in j["memory"]["before"], j["memory"]["after"]:
    assert 1 << 18 < memory["rss_bytes"] <= memory["peak_rss_bytes"] < 1 << 28
    assert memory["rss_bytes"] == memory["group_rss_bytes"] and memory["processes"] == 1
assert j["first_failure"] is None and j["violations"] == 0
END
"$python" whole.py || complain "$last: $(cat out)"

# The ping of a protocol that has one, and its handshake.
mcp=$BUILD/examples/mcp-adder
bench -p mcp -d 50ms --concurrency 4 -- "$mcp"
good "$sums and len(r) == 2"
json 'j[0]["method"] == "ping" and j[0]["protocol"] == "mcp" and j[0]["starts"]["count"] == 5'
json 'all(0 < j[0]["starts"]["handshake_us"][x] <= j[0]["starts"]["first_answer_us"][x] for x in ("min", "median", "max"))'
bench -p mcp -n 10 --concurrency 4 tools/call name=add 'arguments:={"a":2,"b":40}' -- "$mcp"
good "$sums and [x['results'] for x in r] == [10, 10]"

# A delay is what the median is; --count is how many; as many at a time as asked for.
bench "${short[@]}" -n 11 --concurrency 1 x -- "${peer[@]}" delay 20 "$tag"
good 'len(r) == 1 and r[0]["results"] == 11 and 20000 <= r[0]["latency_us"]["min"] <= r[0]["latency_us"]["p50"] < 35000
    and r[0]["results_per_second"] < 50 and r[0]["histogram"][0]["from_us"] > 16000'
json 'j[0]["starts"]["count"] == 1 and j[0]["starts"]["first_answer_us"]["median"] > 20000'
# A fiftieth of slow answers shows where it should, and only there.
bench "${short[@]}" -n 300 --concurrency 1 x -- "${peer[@]}" rare 40 "$tag"
good 'r[0]["results"] == 300 and r[0]["latency_us"]["p50"] < 20000 and r[0]["latency_us"]["p99"] >= 40000 * 0.99
    and r[0]["latency_us"]["max"] >= 40000'
# --duration ends it, and a call that is longer than that is waited for.
bench "${short[@]}" -d 100ms --concurrency 3 x -- "${peer[@]}" delay 30 "$tag"
good "$sums and 2 <= r[0]['calls'] <= 4 and 3 <= r[1]['calls'] <= 8 and r[1]['latency_us']['max'] > 60000"
bench "${short[@]}" -d 1ms --concurrency 1 x -- "${peer[@]}" delay 60 "$tag"
good 'r[0]["calls"] == r[0]["results"] == 1'
# Warm-up calls don't count, but they are made: the 1st is that of the start, so the run has 5 to 7.
bench --starts 1 --warmup 3 -n 3 --concurrency 1 x -- "${peer[@]}" die 8 "$tag"
good 'r[0]["results"] == 3'
bench --starts 1 --warmup 3 -n 4 --concurrency 1 x -- "${peer[@]}" die 8 "$tag"
failed_with 4 'r[0]["results"] == 3 and r[0]["lost"] == 1'

# Answers in another order.
bench "${short[@]}" -n 40 --concurrency 8 --stderr order x -- "${peer[@]}" reverse 0 "$tag"
good "$sums and [x['results'] for x in r] == [40, 40]"
grep -q '^reversed [2-8]$' order || complain "$last: nothing was reversed: $(cat order)"
! grep -qE '^reversed (9|[0-9]{2})' order || complain "$last: more at a time than asked for: $(cat order)"
# Requests of the peer meanwhile.
bench "${short[@]}" -n 20 --concurrency 1 ask -- "${py[@]}"
good "$sums and r[0]['results'] == 20"

# Memory and processor.
bench "${short[@]}" -n 20 --concurrency 1 x -- "${peer[@]}" grow 1024 "$tag"
good 'r[0]["results"] == 20'
json '19 << 20 <= j[0]["memory"]["after"]["rss_bytes"] - j[0]["memory"]["before"]["rss_bytes"] < 40 << 20'
json 'j[0]["memory"]["after"]["peak_rss_bytes"] >= j[0]["memory"]["after"]["rss_bytes"]'
bench "${short[@]}" -n 20 --concurrency 1 x -- "${peer[@]}" delay 1 "$tag"
json 'abs(j[0]["memory"]["after"]["rss_bytes"] - j[0]["memory"]["before"]["rss_bytes"]) < 4 << 20 and j[0]["runs"][0]["cpu_us_per_call"] < 3000'
bench "${short[@]}" -n 20 --concurrency 1 x -- "${peer[@]}" burn 10 "$tag"
good '10000 * 0.99 <= r[0]["cpu_us_per_call"] < 14000'
bench "${short[@]}" -n 10 --concurrency 1 x -- "${peer[@]}" hire 20 "$tag"
good '15000 <= r[0]["cpu_us_per_call"] < 40000'
bench --starts 1 --warmup 20 -n 1 --concurrency 1 x -- "${peer[@]}" family 30 "$tag"
good 'r[0]["results"] == 1'
json 'j[0]["memory"]["after"]["processes"] == 2'
json 'j[0]["memory"]["after"]["group_rss_bytes"] - j[0]["memory"]["after"]["rss_bytes"] > 30 << 20'

# A connection has no process that is known.
"$python" "$plugin" line unix "$work/socket" "$tag" &
server=$!
# Its file is there a moment before it listens, which this flag in the list of sockets says.
for ((i = 0; i < 100; i++)); do grep -q " 00010000 .* $work/socket\$" /proc/net/unix && break; sleep 0.05; done
bench -d 50ms --concurrency 2 --connect "unix:$work/socket" echo '[1]'
good "$sums and all(x['cpu_us_per_call'] is None for x in r)"
json 'j[0]["memory"] == {"before": None, "after": None}'
kill "$server"
server=

# --- What fails --------------------------------------------------------------------------------

expect 3 '' 'duplex bench: cannot start ./absent: No such file or directory' bench x -- ./absent
expect 4 '' 'duplex bench: x: the conversation ended before the server responded: the program exited with code 0' bench x -- true
expect 4 '' 'duplex bench: the conversation ended during the handshake: the program exited with code 3*' \
    bench -p mcp -- "$children/leaves" exit 3 0
expect 5 '' 'duplex bench: x: no response within 200 ms (--timeout)*' \
    bench x -f line -t 200ms --stop-timeout 0 -- "${peer[@]}" drop 1 "$tag"
expect 6 '' 'duplex bench: the server does not use header framing (it responded in the other one) but line framing: pass --framing line' \
    bench -f header echo -- "${py[@]}"
bench x -- ./absent
failed_with 3 'r is None'

# Errors are no answers, and are told.
bench "${short[@]}" -n 20 --concurrency 1 x -- "${peer[@]}" refuse 0 "$tag"
failed_with 1 "$sums and r[0]['errors'] == 20 and r[0]['results'] == 0 and r[0]['latency_us'] is None and r[0]['results_per_second'] == 0"
json 'e["kind"] == "refused" and e["message"].startswith("no call of x returned a result: no") and e["report"]["first_failure"]["code"] == 77'
bench "${short[@]}" -n 20 --concurrency 4 x -- "${peer[@]}" refuse 2 "$tag"
good "$sums and [x['errors'] for x in r] == [10, 10] and r[0]['latency_us']['max'] > 0"
json 'j[0]["first_failure"] == {"kind": "refused", "code": 77, "message": "no\u001b[31m, \u202enever (77)"}'
run bench "${short[@]}" -n 20 --concurrency 4 x -- "${peer[@]}" refuse 2 "$tag"
[[ $got == 0 && ! -s err ]] || complain "$last: code $got, $(cat err)"
grep -qE '^  errors +10 +10$' out || complain "$last: $(cat out)"
grep -qF '  first failure: no\x1b[31m, \u202enever (77)' out || complain "$last: $(cat out)"
run bench "${short[@]}" -n 20 --concurrency 4 x -- "${peer[@]}" refuse "$tag"
[[ $got == 1 && $(cat err) == 'duplex bench: no call of x returned a result: no\x1b[31m, \u202enever (77)' ]] || complain "$last: code $got, $(cat err)"
grep -qE '^  errors +20 +20$' out || complain "$last: $(cat out)"

# Late ones: each is missed for a while, but not in the rate of those that came.
bench "${short[@]}" -n 5 --concurrency 2 -t 700ms x -- "${peer[@]}" skip 5 "$tag"
good "$sums and [x['late'] for x in r] == [1, 1] and [x['results'] for x in r] == [4, 4]"
json 'j[0]["first_failure"]["kind"] == "timeout" and all(x["latency_us"]["max"] < 500000 for x in j[0]["runs"])'
json 'j[0]["runs"][1]["elapsed_us"] < 600000 < j[0]["runs"][0]["elapsed_us"]'
# Who answers nothing more is not asked in further runs.
bench "${short[@]}" -n 1 --concurrency 2,4 -t 700ms --stop-timeout 0 x -- "${peer[@]}" drop 2 "$tag"
failed_with 5 'len(r) == 1 and r[0]["late"] == 1 and r[0]["cpu_us_per_call"] is None'
bench "${short[@]}" -n 10 --concurrency 2 x -- "${peer[@]}" bad 2 "$tag"
good "$sums and [x['invalid'] for x in r] == [5, 5]"
json 'j[0]["first_failure"]["kind"] == "violation"'

# It dies on the way: what was measured is there, and how it ended.
bench "${short[@]}" -n 100 --concurrency 4 x -- "${peer[@]}" die 152 "$tag"
failed_with 4 "$sums and r[0]['results'] == 100 and r[1]['results'] == 50 and 1 <= r[1]['lost'] <= 4 and r[1]['cpu_us_per_call'] is None"
json 'e["message"] == "x: the conversation ended before the server responded: the program exited with code 9" and e["method"] == "x"'
json 'e["report"]["memory"]["before"]["rss_bytes"] > 0 and e["report"]["memory"]["after"] is None'
run bench "${short[@]}" -n 100 --concurrency 4 x -- "${peer[@]}" die 152 "$tag"
[[ $got == 4 && $(cat err) == 'duplex bench: x: the conversation ended before the server responded: the program exited with code 9' ]] || complain "$last: code $got, $(cat err)"
grep -qE '^  lost +0 +[1-4]$' out || complain "$last: $(cat out)"
bench --starts 1 --warmup 9 x -- "${peer[@]}" die 5 "$tag"
failed_with 4 'r[0]["results"] == 3 and r[0]["lost"] == 1'
bench "${short[@]}" -n 10 --stop-timeout 0 --concurrency 1 x -- "${peer[@]}" close 6 "$tag"
failed_with 4 'r[0]["results"] == 4 and r[0]["lost"] == 1'
bench "${short[@]}" -n 10 --stop-timeout 0 --concurrency 1 x -- "${peer[@]}" stray 6 "$tag"
failed_with 6 'r[0]["results"] == 4 and r[0]["lost"] == 1'
json 'e["message"].startswith("x: too much text that is not part of a message") and "stdout: no" in e["detail"]'
# What may be said only once cannot be measured.
cat >once.openrpc.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Once", "version": "1"},
 "x-duplex": {"name": "once", "framing": "line", "lifecycle": {"start": "new",
  "states": {"new": {"host": ["x"]}, "old": {"host": [], "plugin": []}},
  "moves": [{"in": "new", "message": "x", "by": "host", "outcome": "result", "to": "old"}]}},
 "methods": [{"name": "x", "summary": "Once.", "params": [], "result": {"name": "r", "schema": {}}, "x-duplex": {"from": "host"}}],
 "components": {"schemas": {}, "errors": {}}}
END
bench "${short[@]}" -n 2 -p ./once.openrpc.json x -- "${peer[@]}" delay 0 "$tag"
failed_with 7 'r[0]["calls"] == 0 and "x can" in e["message"]'
# A peer that does wrong all the time is told of a hundred times, not more.
run bench "${short[@]}" -n 150 --concurrency 1 x -- "${peer[@]}" noise "$tag"
[[ $got == 0 && $(wc -l <err) == 101 && $(tail -n 1 err) == 'duplex bench: further protocol violations are not shown' ]] ||
    complain "$last: code $got, $(wc -l <err) lines, $(tail -n 2 err)"
bench "${short[@]}" -n 150 --concurrency 1 x -- "${peer[@]}" noise "$tag"
json 'j[0]["violations"] == 151'

# --- Words and limits --------------------------------------------------------------------------

expect 2 '' 'duplex bench: missing METHOD: jsonrpc has no ping to call' bench -- "$echo" line
expect 2 '' 'duplex bench: missing METHOD: lsp has no ping to call' bench -p lsp -- "$echo" line
cat >ping.openrpc.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Toy", "version": "1"}, "x-duplex": {"name": "toy", "framing": "line"},
 "methods": [
  {"name": "a/ping", "summary": "Of the other side.", "params": [], "result": {"name": "r", "schema": {}}, "x-duplex": {"from": "plugin"}},
  {"name": "b/ping", "summary": "Wants params.", "params": [], "result": {"name": "r", "schema": {}},
   "x-duplex": {"from": "host", "params": {"type": "object", "required": ["x"]}}},
  {"name": "c/ping", "summary": "Is told.", "params": [], "x-duplex": {"from": "host", "notification": true}},
  {"name": "mapping", "summary": "Is none.", "params": [], "result": {"name": "r", "schema": {}}, "x-duplex": {"from": "host"}}],
 "components": {"schemas": {}, "errors": {}}}
END
expect 2 '' 'duplex bench: missing METHOD: ./ping.openrpc.json has no ping to call' bench -p ./ping.openrpc.json -- "$echo" line
sed 's/"mapping"/"toy.ping"/' ping.openrpc.json >toy.openrpc.json
bench "${short[@]}" -n 3 -p ./toy.openrpc.json -- "${peer[@]}" delay 0 "$tag"
good "$sums"
json 'j[0]["method"] == "toy.ping" and j[0]["protocol"] == "toy"'
expect 7 '' 'duplex bench: c/ping is a notification: use duplex notify' bench -p ./toy.openrpc.json c/ping -- "$echo" line
expect 7 '' "duplex bench: b/ping cannot be sent: *" bench -p ./toy.openrpc.json b/ping -- "$echo" line
expect 2 '' 'duplex bench: PARAMS:1:2: *' bench x '{' -- "$echo" line
for words in x 'x --' '-p auto --'; do
    # shellcheck disable=SC2086 # words
    expect 2 '' "duplex bench: missing command after --
hint: put the server's command line after --, or pass --in or --connect" bench $words
done
expect 2 '' 'duplex bench: --connect and a command cannot be used together' bench -p auto --connect tcp:1 -- "$echo" line
# -c was --connect, and still is in this release.
expect 2 '' 'duplex bench: warning: -c will not mean --connect in the next release; write --connect
duplex bench: --connect and a command *' bench -c tcp:1 x -- "$echo" line
# No progress is asked for: there are no options for that, in the help either.
expect 2 '' "duplex bench: unknown option '--progress'*" bench --progress x -- "$echo" line
expect 2 '' "duplex bench: unknown option '--reset-on-progress'*" bench --reset-on-progress x -- "$echo" line
run bench --help
! grep -e --progress -e --reset-on out || complain "$last: options that there are not"
# Both sides of each limit: what is let pass fails at the command instead.
for case in starts:0 starts:1001 starts:x starts: starts:1,2 count:0 count:1000000001 count:-1 count:99999999999999999999 warmup:1000000001 warmup:1.5; do
    expect 2 '' "duplex bench: --${case%%:*}: expected a number from *" bench "--${case%%:*}=${case#*:}" x -- ./absent
done
for list in 0 10001 '' ',' '1,' ,1 '1 2' 8x 1,2,3,4,5,6,7,8,9; do
    expect 2 '' "duplex bench: --concurrency: expected up to 8 numbers from 1 to 10000, got '$list'" bench --concurrency "$list" x -- ./absent
done
for time in 3601s never 61m; do
    expect 2 '' 'duplex bench: --duration: expected 1ms to 1h' bench -d "$time" x -- ./absent
done
for word in --starts=1 --starts=1000 --count=1 --count=1000000000 --warmup=0 --warmup=1000000000 --concurrency=10000 \
    --concurrency=1,2,3,4,5,6,7,8 --duration=1h --duration=1ms; do
    expect 3 '' 'duplex bench: cannot start ./absent: *' bench "$word" x -- ./absent
done
# As many at a time as asked for, unless there are not so many; that is told.
bench "${short[@]}" -n 5 --concurrency 4,64 -f line echo -- "$echo" line
good '[x["most_under_way"] for x in r] == [1, 4, 5]'
run bench "${short[@]}" -n 5 --concurrency 4,64 -f line echo -- "$echo" line
grep -qE '^  reached +1 +4 +5$' out || complain "$last: $(cat out)"
# The most at a time, and more than the link takes at once.
bench "${short[@]}" -n 20000 -d 5s --concurrency 10000 -f line echo '[1]' -- "$echo" line
good "$sums and [x['results'] for x in r] == [20000, 20000] and r[1]['most_under_way'] == 10000"

# --- How it is told ----------------------------------------------------------------------------

run bench --starts 2 -n 100 -f line echo -- "$echo" line
[[ $got == 0 && ! -s err ]] || complain "$last: code $got, $(cat err)"
for line in '^Startup, median of 2$' '^  first response  ' '^Calls of echo$' '^  concurrency +1 +8 +64$' '^  calls +100 +100 +100$' '^  results/s +[0-9,]+ ' \
    '^  p99 +[0-9.]+ [num]s ' '^  CPU/call ' '^Latency with one call at a time$' '# *$' '^Memory of the server$' '^  VmRSS +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB$' '^  processes +1 +1$'; do
    grep -qE "$line" out || complain "$last: no '$line' in: $(cat out)"
done
! grep -qE '^  (errors|timed out|lost|invalid|reached) ' out || complain "$last: $(cat out)"
! grep -qP '[^\x00-\x7f]' out || complain "$last: not plain: $(cat out)"
! painted || complain "$last: colours"

# On a terminal: bars, and how far it is; Ctrl-C ends it, with what there is.
talk() { timeout 20 "$python" "$SOURCE/tests/check/terminal-talk.py" env -u NO_COLOR TERM=xterm "$@" >shown 2>err || complain "on a terminal: $* $(cat shown err)"; }
talk LC_ALL=C.UTF-8 "$BUILD/duplex" bench --starts 2 -d 500ms --concurrency 2 -f line echo -- "$echo" line <<'END'
< start 2 of 2
< concurrency 1: 
< concurrency 2: 
< µs
< █
= 0
END
grep -q $'\x1b\\[Kconcurrency 2: [0-9,]* calls, 0\\.[0-9] s\r' shown || complain "no progress: $(cat -v shown)"
talk LC_ALL=C "$BUILD/duplex" bench --starts 1 -n 50 --concurrency 1 -f line echo -- "$echo" line <<'END'
< Latency
< ##
! █
! µ
= 0
END
talk "$BUILD/duplex" bench "${short[@]}" -d 1h -t never x -- "${peer[@]}" delay 20 "$tag" <<'END'
< concurrency 1: 1
^ C
< of x
< p50
< interrupted
= 130
END
"$BUILD/duplex" bench --json "${short[@]}" -d 1h --concurrency 1 -t never --stop-timeout 0 x -- "${peer[@]}" drop 5 "$tag" >out 2>err &
server=$!
for ((i = 0; i < 100; i++)); do pgrep -f "^$python .* drop 5 $tag" >/dev/null && break; sleep 0.05; done
sleep 0.5
kill -INT "$server"
got=0
wait "$server" || got=$?
server=
last='duplex bench, interrupted'
failed_with 130 'r[0]["calls"] == 4 and r[0]["results"] == 3 and r[0]["lost"] == 0'

# The framing is found out once, and what that takes counts for nothing.
run bench --starts 3 -n 5 echo '[1]' -- "$echo" header
[[ $got == 0 && $(cat err) == 'duplex bench: the server speaks header framing; pass --framing header to skip the detection' ]] || complain "$last: code $got, $(cat err)"
bench --starts 2 -n 5 echo '[1]' -- "$python" "$plugin" header "$tag"
good 'len(r) == 3'
json 'j[0]["framing"] == "header" and j[0]["starts"]["count"] == 2 and j[0]["starts"]["first_answer_us"]["max"] < 900000'
# Only the last start is recorded and shown.
bench --starts 3 --warmup 0 -n 2 --concurrency 1 -f line -o trace.jsonl -s echo '[1]' -- "$echo" line
[[ $(grep -c '"echo"' trace.jsonl) == 3 && $(grep -c -- '-> ' err) == 3 ]] || complain "$last: $(cat trace.jsonl err)"

finish
