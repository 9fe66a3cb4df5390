#!/usr/bin/env bash
# duplex replay: recordings of real programs against those programs, and in their place; everything else in replay.py.
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
unset NO_COLOR
duplex=$BUILD/duplex
examples=$BUILD/examples
failed=0
complain() {
    echo "$*"
    failed=1
}
run() {
    got=0
    last="duplex $*"
    timeout -k 5 30 "$duplex" "$@" >out 2>err </dev/null || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"

# Mostly waiting, so it runs beside the rest.
mkdir cases
(cd cases && exec timeout 120 python3 "$SOURCE/tests/check/replay.py" "$duplex" "$examples/echo" >../cases.out 2>&1) &
cases=$!

# same NAME PROTOCOL COMMAND...: the recording NAME.jsonl against the command that it is of, twice, the second time what
# the first recorded.
same() {
    local name=$1 protocol=$2
    shift 2
    expect 0 '' 'duplex replay: equal: ' replay "$name.jsonl" -p "$protocol" --record "$name.again.jsonl" -- "$@"
    lacks err '; of 0 expected'
    expect 0 '' 'duplex replay: equal: ' replay "$name.again.jsonl" -p "$protocol" --strict -- "$@"
}

# Both framings, from --record and from a tap.
for framing in line header; do
    expect 0 '{"a":[1,2]}' '' call -f "$framing" --record "echo-$framing.jsonl" echo 'a:=[1,2]' -- "$examples/echo" "$framing"
    same "echo-$framing" jsonrpc "$examples/echo" "$framing"
    expect 0 '{"a":[1,2]}' '' call -f "$framing" echo 'a:=[1,2]' -- "$duplex" replay "echo-$framing.jsonl" --as-plugin
    # In the place of the plugin, whoever speaks the other framing is answered in that.
    other=line
    [[ $framing == header ]] || other=header
    expect 0 '{"a":[1,2]}' '' call -f "$other" echo 'a:=[1,2]' -- "$duplex" replay "echo-$framing.jsonl" --as-plugin
done

# Against itself: one recording plays both sides.
expect 0 '' 'duplex replay: equal: 1 sent; of 1 expected: 1 matched, 0 differed, 0 missing; 0 unexpected' replay echo-line.jsonl -- "$duplex" replay echo-line.jsonl --as-plugin

# An MCP server, whose ids are random.
expect 0 42 '' mcp tools call add a:=2 b:=40 -- "$duplex" tap -o mcp.jsonl -- "$examples/mcp-adder"
same mcp mcp "$examples/mcp-adder"
expect 0 42 '' mcp tools call add a:=2 b:=40 -- "$duplex" replay mcp.jsonl -p mcp --as-plugin
sed 's/"b":40/"b":41/' mcp.jsonl >mcp.other.jsonl
expect 7 '  /result/content/0/text
  - "42"
  + "43"' 'of 2 expected: 1 matched, 1 differed' replay mcp.other.jsonl -p mcp -- "$examples/mcp-adder"
expect 0 '' 'equal' replay mcp.other.jsonl -i /result/content/*/text -- "$examples/mcp-adder"

# A Hermes extension: the host answers requests of it.
cp "$examples/adt.hl7" .
hermes() { run hermes host --data "$work/data" --extension "$1" --run names/normalise adt.hl7; }
hermes "'$examples/hermes-normalise'"
cp out hermes.out
((got == 0)) || complain "$last: $got: $(cat err)"
hermes "'$duplex' tap -o hermes.jsonl -- '$examples/hermes-normalise'"
same hermes hermes "$examples/hermes-normalise"
hermes "'$duplex' replay hermes.jsonl -p hermes --as-plugin"
((got == 0)) || complain "$last: $got: $(cat err)"
cmp hermes.out out || complain "a replayed extension gives another message"

# A Reginald plugin.
mkdir plugins
printf '#!/bin/sh\nexec "%s" tap -o "%s/reginald.jsonl" -- "%s/reginald-sleep"\n' "$duplex" "$work" "$examples" >plugins/reginald-sleep
chmod +x plugins/reginald-sleep
expect 0 'example' '' reginald --plugin-dir plugins plugins
same reginald reginald "$examples/reginald-sleep"
printf '#!/bin/sh\nexec "%s" replay "%s/reginald.jsonl" -p reginald --as-plugin\n' "$duplex" "$work" >plugins/reginald-sleep
cp out reginald.out
run reginald --plugin-dir plugins plugins
has out 'commands: sleep; tasks: echo'

# A program that is not ours.
if command -v clangd >/dev/null; then
    expect 0 '[]' '' call -p lsp workspace/symbol query=nothing -- "$duplex" tap -o lsp.jsonl -- clangd
    same lsp lsp clangd
    expect 0 '[]' '' call -p lsp workspace/symbol query=nothing -- "$duplex" replay lsp.jsonl -p lsp --as-plugin
else
    echo "skipped: clangd is not installed"
fi

# An agent that follows a script; it says its last word when its input has ended.
mkdir workspace
echo '{"match": "hello", "text": "Good morning.", "pieces": 2}' >script.jsonl
agent=("$duplex" autohand agent --script "$work/script.jsonl" --fixed-clock --path "$work/workspace")
expect 0 'Good morning.' '' autohand prompt -q hello -- "$duplex" tap -o autohand.jsonl -- "${agent[@]}"
same autohand autohand "${agent[@]}"
expect 0 'Good morning.' '' autohand prompt -q hello -- "$duplex" replay autohand.jsonl -p autohand --as-plugin
echo '{"match": "hello", "text": "Good evening.", "pieces": 1}' >script.jsonl
expect 7 'notification autohand.messageUpdate did not arrive' ', 1 missing;' replay autohand.jsonl -p autohand --timeout 5s -- "${agent[@]}"

wait "$cases" || failed=1
cat cases.out
exit "$failed"
