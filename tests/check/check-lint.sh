#!/usr/bin/env bash
# duplex lint: every kind of finding, every exit code, every limit, and no finding where nothing is wrong.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=$SOURCE/tests/lint/cases.txt
failed=0
fail() {
    echo "$*"
    failed=1
}

# Hand-written traces, compared to the letter.
timeout 60 python3 "$SOURCE/tests/lint/run.py" "$BUILD/duplex" "$cases" || failed=1

cd "$work"
: >empty
lint() { timeout 20 "$BUILD/duplex" lint "$@"; }
header='{"duplex-trace":1,"time":"us","part":1}'

# Each kind stands in the help, in the page, and in a trace, and nothing else does.
lint --help-all | sed -nE 's/^  ([a-z][a-z-]*): .*/\1/p' | sort >kinds.help
# shellcheck disable=SC2016
sed -nE 's/^\| `([a-z-]+)` \| (finding|note) \|.*/\1/p' "$SOURCE/docs/lint.md" | sort >kinds.page
[[ $(wc -l <kinds.help) -gt 40 ]] || fail "the help lists no kinds"
diff kinds.help kinds.page || fail "the help and docs/lint.md list different kinds"
# The page has the sentence of each kind, and maybe more of them.
lint --help-all | sed -nE 's/^  ([a-z][a-z-]*): (.*)/\1\t\2/p' >titles
[[ $(wc -l <titles) == "$(wc -l <kinds.help)" ]] || fail "not every kind has a title"
python3 - "$SOURCE/docs/lint.md" <<'END' || fail "docs/lint.md has other titles than the help"
import re, sys
page = dict(re.findall(r"^\| `([a-z-]+)` \| (?:finding|note) \| (.*) \|$", open(sys.argv[1], encoding="utf-8").read(), re.M))
for line in open("titles", encoding="utf-8"):
    kind, title = line.rstrip("\n").split("\t")
    assert title[0].isupper() and title[-1] not in ".:,;" and " " in title, f"{kind}: {title}"
    assert page[kind] == title or page[kind].startswith(title + ". "), f"{kind}: {title}: {page[kind]}"
END
{ sed -nE 's/^= .*"kind":"([a-z-]+)".*/\1/p' "$cases" && printf '%s\n' conversations id-limit json-depth message-limit open-limit; } |
    sort -u | diff kinds.help - || fail "not every kind has a trace"

# expect CODE STDOUT STDERR ARGUMENT...: the output is compared whole, errors by a part of them.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    lint "$@" >out 2>err <empty || got=$?
    if ((got != code)) || [[ $(cat out) != "$out" ]] || [[ $(cat err) != *"$err"* ]] || { [[ -z $err && -s err ]]; }; then
        fail "duplex lint $*: code $got, expected $code; stdout: $(head -c 2000 out); stderr: $(head -c 2000 err)"
    fi
}

echo "$header" >good
printf '%s\n' "$header" '{"t":1,"from":"plugin","stray":"a"}' '{"t":2,"from":"plugin","stray":"b"}' '{"t":3,"dropped":1}' '{"t":4,"dropped":1}' >bad
echo 'no trace' >none
expect 2 '' $'duplex lint: missing trace file\nhint: record one: duplex tap -o talk.jsonl -- COMMAND [ARG...]'
expect 2 '' "duplex lint: cannot read absent: No such file" absent
expect 2 '{"error":{"exit":2,"kind":"usage","message":"cannot read absent: No such file or directory"}}' '' --json absent
expect 2 '' "cannot read .: Is a directory" .
expect 2 '' 'empty is not a Duplex trace' empty
expect 2 '' 'duplex lint: none is not a Duplex trace' none
expect 2 '' 'standard input is not a Duplex trace' -
expect 2 '' 'unexpected command after --: it only reads traces' good -- x
expect 2 '' 'unknown protocol "nonesuch"' --protocol nonesuch good
expect 2 '' "cannot read ./absent.json" --protocol ./absent.json good
expect 2 '' "--max: expected a number, got '1x'" --max 1x good
expect 2 '' "--max: expected a number, got '-1'" --max=-1 good
expect 2 '' '--max: expected a number' --max 99999999999999999999999 good
expect 2 '' "unknown option '--nothing'" --nothing
expect 0 '' 'duplex lint: 0 findings, 0 notes in 0 messages of 0 conversations' good
expect 0 '' '0 findings' good empty
expect 7 'bad:2: stray: plugin: the output has text that is not part of a message: a
bad:4: note: dropped: 1 record is missing here' 'duplex lint: 2 findings, 2 notes in 0 messages of 1 conversation; 2 not shown' --max 1 bad
expect 7 '{"file":"bad","line":2,"time":1,"from":"plugin","kind":"stray","severity":"finding","message":"the output has text that is not part of a message: a"}
{"file":"bad","line":4,"time":3,"kind":"dropped","severity":"note","message":"1 record is missing here"}
{"summary":{"findings":2,"notes":2,"hidden":2,"messages":0,"conversations":1}}' '' --max 1 --json bad
lint - <bad >out 2>err && fail "a finding in the standard input does not count"
grep -q '^-:2: stray:' out || fail "the standard input is not named: $(cat out)"
# A name that is no text, and would steer a terminal.
name=$(printf 'b\033[1m\377')
cp bad "$name"
{ lint --json "$name" 2>err || true; } | python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' || fail "the name of a file breaks the JSON"
{ lint "$name" 2>err || true; } >out
grep -q $'\033' out && fail "the name of a file steers the terminal"

# How many are shown: 100 by default, and all of them with 0.
{ echo "$header"; for i in {1..101}; do echo "{\"t\":$i,\"from\":\"plugin\",\"stray\":\"x\"}"; done; } >many
[[ $(lint many 2>err | wc -l) == 100 ]] || fail "--max is not 100 by default"
grep -q '101 findings.*; 1 not shown' err || fail "what is not shown is not counted: $(cat err)"
[[ $(lint --max 0 many 2>err | wc -l) == 101 ]] || fail "--max 0 does not show all"
grep -q shown err && fail "all was shown: $(cat err)"

# Parts, in their order and out of it; a request of one may be answered in the next.
printf '%s\n' '{"duplex-trace":1,"time":"us","part":1,"unix-ms":5}' '{"t":1,"from":"host","message":{"jsonrpc":"2.0","id":1,"method":"a"}}' >p.1
printf '%s\n' '{"duplex-trace":1,"time":"us","part":2,"unix-ms":5}' '{"t":2,"from":"plugin","message":{"jsonrpc":"2.0","id":1,"result":0}}' >p
expect 0 '' '0 findings, 0 notes in 2 messages of 1 conversation' p.1 p
expect 0 'p:1: note: parts: the trace begins with part 2: requests from before it are unknown
p.1:2: note: open-at-end: host: a with id 1 got no response before the end of the trace' '0 findings, 2 notes' p p.1

timeout 60 python3 "$SOURCE/tests/lint/limits.py" "$BUILD/duplex" "$SOURCE/tests/sixth/sixth.openrpc.json" || failed=1

# Everything that the built-in protocols have, as two peers say it to each other. Whether they do that right is
# what protocol.traffic finds out; here it is enough that they did.
timeout 60 "$BUILD/tests/protocol_traffic" --traces "$work" >out 2>&1 || true
count=0
for document in "$SOURCE"/systems/*/*.openrpc.json; do
    name=$(basename "$document" .openrpc.json)
    lint --protocol "$name" "$name.jsonl" >out 2>err || fail "$name: $(head -n 5 out) $(cat err)"
    # It also cancels what is not open, and sends what is early.
    grep -vE ': note: (early|cancel-unknown|progress-unknown): ' out && fail "$name: a note too many"
    [[ $name == jsonrpc ]] || grep -q '0 findings, .* in [1-9]' err || fail "$name: $(cat err)"
    count=$((count + 1))
done
((count >= 16)) || fail "only $count protocols"

# The samples of each, in the order of the handshake.
timeout 60 python3 "$SOURCE/tests/lint/samples.py" "$BUILD/duplex" "$SOURCE/tests/protocol/samples" || failed=1

# What real programs said.
shared=$SOURCE/../shared/transcripts
if [[ -d $shared ]]; then
    timeout 60 python3 "$SOURCE/tests/lint/transcripts.py" "$BUILD/duplex" "$shared" || failed=1
else
    echo "skipped: there are no recorded transcripts beside the source"
fi
exit $failed
