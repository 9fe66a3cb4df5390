#!/usr/bin/env bash
# duplex timeline with a million messages, answered or not: how long it takes, and how much memory. Below 24 MiB
# for a conversation, and 64 MiB more at most for requests that wait.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=$SOURCE/tests/timeline
failed=0
complain() {
    echo "$*"
    failed=1
}
cd "$work"
cc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE "$SOURCE/tests/lint/peak.c" -o peak

# measure LIMIT WHAT OPTION...: kilobytes at most.
measure() {
    local limit=$1 what=$2 peak started took
    shift 2
    started=$(date +%s%N)
    peak=$(timeout 100 ./peak "$BUILD/duplex" timeline "$what.jsonl" -o "$what.out" "$@" 2>err) || complain "$what $*: $(cat err)"
    took=$((($(date +%s%N) - started) / 1000000))
    echo "$what $*: $peak KiB, $took ms, $(stat -c %s "$what.out") bytes: $(cat err)"
    ((peak < limit)) || complain "$what $*: more than $limit KiB"
    ((took < 30000)) || complain "$what $*: more than 30 s"
}

python3 "$tools/make.py" talk 1000000 >talk.jsonl
measure 24576 talk
timeout 200 python3 "$tools/read.py" page talk.jsonl talk.out >said || complain "the page differs from the trace"
[[ $(cat said) =~ ^1[0-9]{6}\ messages ]] || complain "too few: $(cat said)"
measure 24576 talk --chrome
measure 24576 talk --mermaid
measure 24576 talk --from 1m --to 2m
# Nobody answers: the oldest are forgotten, and the page says so.
python3 "$tools/make.py" open 1000000 >open.jsonl
measure 90112 open
grep -q '"forgot":true' open.out || complain "it is not told that requests were forgotten"
measure 90112 open --chrome
# One id for all of them costs no more time.
python3 "$tools/make.py" ids 1000000 >ids.jsonl
measure 24576 ids
# More than the page takes.
python3 "$tools/make.py" open 2000001 >open.jsonl
measure 90112 open
grep -q '"items":2000000,"messages":2000001,.*"leftByMax":1,' open.out || complain "the limit of items: $(grep -o '"items":.*' open.out | head -c 200)"

# 100,000 open requests are known.
for count in 100000:0:false 100001:None:true; do
    IFS=: read -r number about forgot <<<"$count"
    { python3 "$tools/make.py" open "$number"; echo '{"t":200000,"from":"plugin","peer":"p","message":{"jsonrpc":"2.0","id":0,"result":0}}'; } >many
    "$BUILD/duplex" timeline many -o page 2>err || complain "$number open requests: $(cat err)"
    python3 "$tools/read.py" facts page >said
    tail -n 1 said | grep -qE "^200000 3 2 .* $about None" || complain "$number open requests: $(tail -n 1 said)"
    grep -q "\"forgot\":$forgot" said || complain "$number open requests: $(head -n 1 said)"
done

exit $failed
