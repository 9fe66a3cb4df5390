#!/usr/bin/env bash
# duplex mcp serve files and serve command: what they offer, and that nothing gets out of hand.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mcp=$BUILD/duplex-mcp
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}

# They mostly wait, so both at once.
declare -A parts
for part in files command; do
    mkdir "$part"
    timeout 60 python3 "$SOURCE/tests/check/mcp-serve-$part.py" "$mcp" "$work/$part" "$SOURCE" &
    parts[$part]=$!
done
for part in files command; do
    code=0
    wait "${parts[$part]}" || code=$?
    ((code == 0)) || complain "serve $part: code $code"
done

# --- Words that are wrong. ----------------------------------------------------------------------
# wrong CODE TEXT WORD...
wrong() {
    local code=$1 text=$2 got=0
    shift 2
    timeout 10 "$mcp" serve "$@" </dev/null >out 2>err || got=$?
    ((got == code)) || complain "serve $*: code $got, expected $code"
    [[ $(cat err) == *"$text"* && $(wc -l <err) == 1 && ! -s out ]] || complain "serve $*: $(cat out err)"
}
touch file
wrong 2 "cannot read 'absent': No such file" files absent
wrong 2 "cannot read 'file': Not a directory" files file
wrong 2 '--max-size: expected a size' files . --max-size much
wrong 2 'expected an address, unix:PATH or tcp:PORT, got foo' files . --listen foo
wrong 3 'nowhere' files . --listen unix:/nowhere/socket
wrong 2 'absent/trace' files . --record absent/trace
for size in 0 512M 5G; do
    timeout 10 "$mcp" serve files . --max-size "$size" </dev/null >out 2>err || complain "$size: $(cat err)"
done
[[ ! -s out && ! -s err ]] || complain "without a client: $(cat out err)"
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' >in
timeout 10 "$mcp" serve files . --record trace --show <in >out 2>err || complain "record: $(cat err)"
[[ $(wc -l <out) == 1 && $(grep -c 'server/discover' trace) == 1 && $(grep -c '^<- ' err) == 1 && $(grep -c '^-> ' err) == 1 ]] || complain "record: $(cat out err trace)"
# Interrupted.
mkfifo held
exec 3<>held
for signal in INT TERM; do
    got=0
    timeout --signal="$signal" 0.3 "$mcp" serve files . <held >out 2>err || got=$?
    [[ $got == 124 && $(cat err) == *interrupted* ]] || complain "$signal: $got $(cat err)"
done
exec 3>&-
exit "$failed"
