#!/usr/bin/env bash
# A conversation of a million messages is recorded in parts and replayed, and so is one in which all questions come before
# all answers: in either the memory that it takes stays below 32 MiB. What took long then may take long again.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
messages=1000000
most=32768

yyjson=$(sed -n 's/^Yyjson_INCLUDE_DIR:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
library=$(sed -n 's/^Yyjson_LIBRARY:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$SOURCE/include" -isystem "$yyjson" "$SOURCE/tests/lint/record.c" \
    -o "$work/record" "$BUILD/libduplex.so" "$library" -Wl,-rpath,"$BUILD:$(dirname "$library")"
cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE "$SOURCE/tests/lint/peak.c" -o "$work/peak"

# An answer that took 35 s comes after 32 s: longer than the 30 s of the default, but not than those and what it took.
cat >"$work/slow.jsonl" <<'END'
{"duplex-trace":1,"time":"us","part":1}
{"t":0,"from":"host","message":{"jsonrpc":"2.0","id":1,"method":"build"}}
{"t":35000000,"from":"plugin","message":{"jsonrpc":"2.0","id":1,"result":0}}
{"t":35000001,"from":"host","message":{"jsonrpc":"2.0","method":"thanks"}}
END
slow='read -r line; sleep 32; echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0}"; cat >/dev/null'
timeout 60 "$BUILD/duplex" replay "$work/slow.jsonl" -- sh -c "$slow" 2>"$work/slow" &
patient=$!
# A last word that came 18 s after ours: until then the input stays open.
cat >"$work/last.jsonl" <<'END'
{"duplex-trace":1,"time":"us","part":1}
{"t":0,"from":"host","message":{"jsonrpc":"2.0","method":"hello"}}
{"t":18000000,"from":"plugin","message":{"jsonrpc":"2.0","method":"bye"}}
END
last='read -r line; got=0; read -r -t 18 line || got=$?; ((got < 128)) || echo "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}"; cat >/dev/null'
timeout 60 "$BUILD/duplex" replay "$work/last.jsonl" -- bash -c "$last" 2>"$work/last" &
waiting=$!
code=0
timeout 20 "$BUILD/duplex" replay "$work/slow.jsonl" --timeout 1s -- sh -c "$slow" >"$work/out" 2>&1 || code=$?
((code == 7)) || { echo "--timeout 1s: code $code: $(cat "$work/out")"; exit 1; }

# replay FILE...: as many are sent and come as were recorded.
replay() {
    local code=0 peak started took
    started=$(date +%s%N)
    peak=$(timeout 300 "$work/peak" "$BUILD/duplex" replay "$@" -- "$BUILD/examples/echo" line 2>"$work/summary") || code=$?
    took=$((($(date +%s%N) - started) / 1000000))
    echo "$# files: exit code $code, at most $peak KiB, $took ms: $(cat "$work/summary")"
    ((code == 0))
    [[ $(cat "$work/summary") == "duplex replay: equal: 500000 sent; of 500000 expected: 500000 matched, 0 differed, 0 missing; 0 unexpected;"* ]]
    ((peak < most))
}

timeout 900 "$work/record" "$BUILD/examples/echo" "$work/talk.jsonl" $messages 100000
parts=()
for ((i = 1; i <= 1000; i++)); do
    [[ -e $work/talk.jsonl.$i ]] || break
    parts=("$work/talk.jsonl.$i" "${parts[@]}")
done
replay "${parts[@]}" "$work/talk.jsonl"
rm "$work"/talk.jsonl*

python3 - "$work/all.jsonl" <<'END'
import sys
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write('{"duplex-trace":1,"time":"us","part":1}\n')
    for i in range(500000):
        file.write('{"t":%d,"from":"host","message":{"jsonrpc":"2.0","id":%d,"method":"echo","params":[%d]}}\n' % (i, i, i))
    for i in range(500000):
        file.write('{"t":%d,"from":"plugin","message":{"jsonrpc":"2.0","id":%d,"result":[%d]}}\n' % (i, i, i))
END
replay "$work/all.jsonl"
wait "$patient" || { echo "an answer that took long then: $(cat "$work/slow")"; exit 1; }
wait "$waiting" || { echo "a last word that came late: $(cat "$work/last")"; exit 1; }
