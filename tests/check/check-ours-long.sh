#!/usr/bin/env bash
# What duplex check says about our own programs and about clangd: no more and no less than docs/check.md argues.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# says WORDS PROTOCOL COMMAND...: WORDS are all that is not fine, as FAIL or note and the name.
says() {
    local wanted=$1 found
    shift
    timeout 60 "$BUILD/duplex" check -p "$1" -- "${@:2}" >out 2>err </dev/null
    found=$(sed -nE 's/^(FAIL|note) +([a-z.-]+).*/\1 \2/p' out | sort | paste -sd ' ')
    [[ $found == "$wanted" ]] || { echo "${*:2}: '$found', expected '$wanted'"; cat out err; failed=1; }
    grep -q '^pass  answer.given' out || { echo "${*:2}: nothing was answered"; failed=1; }
}

examples=$BUILD/examples
for name in normalise validate window; do says '' hermes "$examples/hermes-$name"; done
for name in adder conformance; do says '' mcp "$examples/mcp-$name"; done
says '' mcp "$BUILD/duplex" mcp serve files "$work"
for name in sleep symlink; do says '' reginald "$examples/reginald-$name"; done
says '' finecode "$examples/finecode-words" start --project-path="$work" --env-name=dev
says 'note request.batch-refused' jsonrpc "$examples/echo" line
says 'note request.batch-refused' jsonrpc "$examples/poll" line
says 'FAIL response.unknown note end.eof-quiet' autohand "$BUILD/duplex" autohand agent --home "$work/home"
if command -v clangd >/dev/null; then
    says 'FAIL input.header-case FAIL request.batch FAIL request.batch-empty FAIL request.not-a-request note input.header-blanks' lsp clangd
else
    echo "clangd is not installed"
fi
exit "$failed"
