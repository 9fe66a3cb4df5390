#!/usr/bin/env bash
# duplex bench: what takes its time. Slow starts, peers that won't leave, more than a link takes at once.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"
peer=("$python" "$SOURCE/tests/check/bench-peer.py")

# While a peer is silent another framing is tried, with copies of it: not any more once it is known, and such a
# start does not count.
run bench --json --starts 2 -n 1 --concurrency 1 x -- "${peer[@]}" start 1500 "$tag"
json 'j[0]["starts"]["count"] == 2 and 1500000 <= j[0]["starts"]["first_answer_us"]["min"] <= j[0]["starts"]["first_answer_us"]["max"] < 2500000'
first=$(wc -l <started)
((first > 3)) || complain "$last: $first starts: nothing was tried"
run bench --json --starts 4 -n 1 --concurrency 1 x -- "${peer[@]}" start 1500 "$tag"
(($(wc -l <started) == 2 * first + 2)) || complain "$last: $(wc -l <started) starts, $first before"

# Without --starts there are no more after ten seconds.
begin=$SECONDS
run bench --json -n 1 --concurrency 1 x -- "${peer[@]}" start 4000 "$tag"
json '1 <= j[0]["starts"]["count"] <= 3'
((SECONDS - begin < 30)) || complain "$last: $((SECONDS - begin)) s"

# More than a link takes: 300 MB would have to wait for the peer, and no more than 64 MiB may.
"$python" -c 'print(["a" * 1000000])' | tr "'" '"' >big.json
run bench --json --starts 1 --warmup 0 -n 400 -d 60s --concurrency 300 -f line echo @big.json -- "$echo" line
json '[x["results"] for x in j[0]["runs"]] == [400, 400] and j[0]["first_failure"] is None'

# A thousand starts, which is the most.
run bench --json --starts 1000 --warmup 0 -n 1 --concurrency 1 -f line echo -- "$echo" line
json 'j[0]["starts"]["count"] == 1000'

# The defaults take a few seconds.
begin=$SECONDS
run bench echo -f line -- "$echo" line
((got == 0 && SECONDS - begin <= 8)) || complain "$last: code $got, $((SECONDS - begin)) s"

finish
