#!/usr/bin/env bash
# A conversation of a million messages is recorded, in parts, and looked at afterwards. Neither takes more memory
# than a short one does: the recording process as much at the end as after the first 100,000 messages, within
# 2 MiB, and duplex lint less than 20 MiB.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
messages=1000000
early=100000

yyjson=$(sed -n 's/^Yyjson_INCLUDE_DIR:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
library=$(sed -n 's/^Yyjson_LIBRARY:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$SOURCE/include" -isystem "$yyjson" "$SOURCE/tests/lint/record.c" \
    -o "$work/record" "$BUILD/libduplex.so" "$library" -Wl,-rpath,"$BUILD:$(dirname "$library")"
cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE "$SOURCE/tests/lint/peak.c" -o "$work/peak"

# Its thread writes when nobody else wants a processor.
timeout 600 "$work/record" "$BUILD/examples/echo" "$work/talk.jsonl" $messages $early | tee "$work/said"
read -r _ count _ dropped _ before _ after <"$work/said"
((count == messages)) || { echo "$count messages crossed, not $messages"; exit 1; }
((dropped == 0)) || { echo "$dropped records were dropped"; exit 1; }
((before > 0 && after - before <= 2048)) || { echo "recording took $before KiB at first and $after KiB at last"; exit 1; }

# The oldest part has the highest number.
parts=()
for ((i = 1; i <= 1000; i++)); do
    [[ -e $work/talk.jsonl.$i ]] || break
    parts=("$work/talk.jsonl.$i" "${parts[@]}")
done
parts+=("$work/talk.jsonl")
((${#parts[@]} >= 10)) || { echo "only ${#parts[@]} parts"; exit 1; }

started=$(date +%s%N)
code=0
peak=$(timeout 60 "$work/peak" "$BUILD/duplex" lint "${parts[@]}" 2>"$work/summary") || code=$?
took=$((($(date +%s%N) - started) / 1000000))
echo "${#parts[@]} parts: exit code $code, at most $peak KiB, $took ms: $(cat "$work/summary")"
((code == 0))
[[ $(cat "$work/summary") == "duplex lint: 0 findings, 0 notes in 1,000,000 messages of 1 conversation" ]]
((peak < 20480))
((took < 15000))
