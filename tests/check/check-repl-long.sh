#!/usr/bin/env bash
# The limits of duplex repl, from both sides.
# shellcheck source=/dev/null disable=SC2034,SC2154 # its names
. "$SOURCE/tests/check/repl-common.bash"

# 1000 are under way at a time: the one behind them is sent when there is room.
for ((i = 0; i < 1000; i++)); do echo 'hold count:=1000 &'; done >many
timeout 20 "$BUILD/duplex" repl -- "${peer[@]}" <many >out 2>err || complain "1000 calls: $? $(head -c 500 err)"
[[ $(wc -l <out) == 1000 && $(head -n 1 out) == 1000 ]] || complain "1000 calls: $(head -n 3 out)"
{ echo echo; for ((i = 0; i < 1001; i++)); do echo 'hold count:=1001 &'; done; } >many
got=0
timeout 20 "$BUILD/duplex" repl -t 1s -- "${peer[@]}" <many >out 2>err || got=$?
# Else none would have waited in vain; some answers are so late that nobody knows them any more.
late=$(grep -c 'no response within 1 s' err)
((got == 5 && late > 0 && late + $(wc -l <out) == 1002)) ||
    complain "1001 calls: $got $(head -n 3 out err)"
# So it is while their params are longer than 64 MiB: the fifth goes out, the sixth does not.
for count in 5 6; do
    "$python" -c 'import sys
print("echo")
for i in range(int(sys.argv[1])):
    sys.stdout.write("hold {\"count\":%s,\"pad\":\"" % sys.argv[1] + "x" * ((16 << 20) - 100) + "\"} &\n")' "$count" >many
    got=0
    timeout 60 "$BUILD/duplex" repl -t $((count == 5 ? 30 : 3))s -- "${peer[@]}" <many >out 2>err || got=$?
    [[ $got == $((count == 5 ? 0 : 5)) ]] || complain "$count calls of 16 MiB: $got $(head -c 500 out err)"
done

# A line has 16 MiB.
"$python" - <<'END'
mib = 1 << 20
def lines(name, *texts):
    with open(name, "wb") as file:
        for text in texts:
            file.write(text + b"\n")
last = b"echo [1]"
lines("longest", b'echo ["' + b"x" * (16 * mib - 9) + b'"]')
lines("longer", b'echo ["' + b"x" * (16 * mib - 8) + b'"]', last)
lines("much", b"x" * 40 * mib, last)
END
hostile longer 2 'duplex repl: line 1: the line is longer than 16777216 bytes: use @FILE for long params'
hostile much 2 'duplex repl: line 1: the line is longer than 16777216 bytes: use @FILE for long params'
timeout 20 "$BUILD/duplex" repl -- "$echo" line <longest >out 2>err || complain "the longest line: $? $(head -c 300 err)"
sed 's/^echo //' longest | cmp -s - out || complain "the longest line: $(head -c 100 out)"

# Who reads slowly is waited for: all of 200 MiB arrives, though only 128 could wait.
"$python" -c 'print("\n".join(["notify x [\"" + "x" * (1 << 20) + "\"]"] * 200 + ["count"]))' >many
cat >slow.py <<'END'
import json, sys, time
time.sleep(3)
for count, line in enumerate(sys.stdin):
    if line.startswith('{"jsonrpc":"2.0","id"'):
        print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": count}), flush=True)
END
timeout 60 "$BUILD/duplex" repl -- "$python" slow.py "$tag" <many >out 2>err || complain "a slow reader: $? $(head -c 300 err)"
[[ $(cat out) == 200 ]] || complain "a slow reader: $(head -c 300 out)"

# 100 wait at a time, and 16 MiB.
for count in 100 101; do
    echo "asks count:=$count" | timeout 20 "$BUILD/duplex" repl --ask -t 3s --json -- "${peer[@]}" >out 2>err
    [[ $(grep -c '"event":"request","id"' out) == 100 && $(grep -c '"event":"request","method"' out) == $((count - 100)) ]] ||
        complain "$count requests: $(head -c 500 out err)"
done
for bytes in 16777216 16777217; do
    code=$((bytes > 16777216 ? -32000 : -32603))
    # At the end of the input nobody can answer any more: what comes then is refused as always.
    printf 'asks count:=1 bytes:=%d &\nanswer 1 {"a"\n' $bytes |
        timeout 20 "$BUILD/duplex" repl --ask -t 4s -- "${peer[@]}" >out 2>err
    grep -q -- "\"code\": $code" out || complain "a request of $bytes bytes: $(head -c 300 out)"
done

# At a terminal: 1000 calls, 500 offers of TAB, and schemas without an end.
timeout 300 "$python" -B "$SOURCE/tests/check/repl-terminal.py" "$BUILD/duplex" "$SOURCE/tests/check/repl-peer.py" \
    "$BUILD/examples/mcp-conformance" "$tag" long || failed=1
finish
