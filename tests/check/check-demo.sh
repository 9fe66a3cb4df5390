#!/usr/bin/env bash
# duplex demo: its scenes, with and without those that other programs play.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}
# A place whose name a shell would split; what is in it lies as in the build folder.
place="$work/a 'b"
mkdir -p "$place/examples" "$work/tmp"
cp "$BUILD/"{duplex,duplex-hermes,duplex-mcp} "$place"
cp "$BUILD/examples/"{echo,poll,hermes-normalise,adt.hl7,mcp-conformance} "$place/examples"
cd "$work"
export TMPDIR=$work/tmp LC_ALL=C.UTF-8

timeout 30 "$place/duplex" demo >out 2>err || complain "it fails: $(cat out err)"
[[ ! -s err ]] || complain "something is told: $(cat err)"
for text in '[5/5] mcp-conformance line: ' '"method":"sampling/createMessage"' 'LLM response: forty-two' '[4/5] hermes-normalise header: ' '||VAN DER berg^anneLIESE^m^^Mrs|' '||Van Der Berg^Anneliese^M^^Mrs|' 'Names: changed the message' \
    'hermes-normalise -> {"jsonrpc":"2.0","id":1,' 'Every call was answered, every plugin stopped.'; do
    grep -qF -- "$text" out || complain "it lacks '$text': $(cat out)"
done
grep -qE '^hermes-normalise header +5 +4 +2 +0 +2 ' out || complain "another row: $(cat out)"
grep -qE '^mcp-conformance +line +4 +3 +2 +0 +1 ' out || complain "another row: $(cat out)"
if grep -q $'[\r\033]' out; then complain "control characters"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cmp -s "$place/examples/adt.hl7" "$SOURCE/examples/hermes/adt.hl7" || complain "the example was changed"

timeout 30 "$place/duplex" demo --json >out 2>err || complain "--json fails: $(cat out err)"
python3 -c 'import json
rows = [json.loads(line) for line in open("out")]
assert [row["plugin"] for row in rows] == ["echo", "echo", "poll", "hermes-normalise", "mcp-conformance"]
assert [rows[3][name] for name in ("sent", "came", "results", "refused", "askedBack")] == [5, 4, 2, 0, 2]' || complain "$(cat out)"

got=0
TMPDIR=$work/absent timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 3)) || ! grep -q 'no temporary folder: No such file' err; then complain "without a temporary folder: $got: $(cat err)"; fi
# What the editor can't do, the demo says.
printf '#!/bin/sh\nexit 4\n' >"$place/examples/hermes-normalise"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 4)) || ! grep -q 'duplex-hermes failed' err; then complain "an extension that ends: $got: $(cat err)"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cp "$BUILD/examples/hermes-normalise" "$place/examples"
for missing in examples/adt.hl7 examples/hermes-normalise duplex-hermes duplex-mcp examples/mcp-conformance; do
    mv "$place/$missing" "$work/kept"
    timeout 30 "$place/duplex" demo >out 2>err || complain "without $missing: $(cat err)"
    grep -qF '[3/4] poll' out || complain "without $missing: $(cat out)"
    mv "$work/kept" "$place/$missing"
done
exit $failed
