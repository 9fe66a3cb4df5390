#!/usr/bin/env bash
# duplex tap: every byte and every exit code goes through; what was said stands in the trace; nobody
# who looks on, or stops to, and nobody who dies on either side leaves anything hanging.
# shellcheck disable=SC2016 # the words in single quotes are for other shells
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
duplex=$BUILD/duplex
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# code WANTED COMMAND...: its exit code, nothing else.
code() {
    local wanted=$1 got=0
    shift
    timeout 30 "$@" >out 2>err </dev/null || got=$?
    if ((got != wanted)); then
        echo "$*: code $got, expected $wanted: $(cat err)"
        failed=1
    fi
}
says() {
    grep -q -- "$1" err || { echo "expected '$1' on the standard error, found: $(cat err)"; failed=1; }
}

head -c 3000000 /dev/urandom >random
timeout 30 "$duplex" tap -o trace.jsonl -- cat <random >back
cmp random back || failed=1
timeout 30 "$duplex" tap -- cat <random | cat >back
cmp random back || failed=1
[[ $(stat -c %a trace.jsonl) == 600 ]] || { echo "the trace can be read by others"; failed=1; }

code 0 "$duplex" tap -- true
code 7 "$duplex" tap -- sh -c 'exit 7'
code 137 "$duplex" tap -- sh -c 'kill -9 $$'
code 143 "$duplex" tap -- sh -c 'kill -15 $$'
code 3 "$duplex" tap -- /nowhere/at/all
says 'cannot start /nowhere/at/all: No such file'
code 3 "$duplex" tap --cwd /nowhere -- true
code 3 "$duplex" tap --json -- /nowhere/at/all
grep -q '"exit":3' out || { echo "no JSON for what fails: $(cat out)"; failed=1; }
code 2 "$duplex" tap -o /nowhere/at/all -- true
says 'cannot write to /nowhere'
code 2 "$duplex" tap
says 'missing command'
code 2 "$duplex" tap --
code 2 "$duplex" tap true
code 2 "$duplex" tap --framing both -- true
code 2 "$duplex" tap --env NAME -- true
code 2 "$duplex" tap --redact '' -o trace.jsonl -- true
code 2 "$duplex" tap --limit 65535 -- true
code 0 "$duplex" tap --limit 64k -- true
code 0 "$duplex" tap --limit 256M -- true
code 2 "$duplex" tap --limit 257M -- true
code 2 "$duplex" tap --attach x -- true
for word in '-o other' '--keep 2' --redact=a -s '--listen x' '-e A=b' --clean-env --small-env '--cwd .'; do
    # shellcheck disable=SC2086 # words
    code 2 "$duplex" tap --attach trace.jsonl $word
    says '^duplex tap: --attach and --[a-z-]* cannot be used together$'
done
[[ ! -e other ]] || { echo "--attach records"; failed=1; }
code 2 "$duplex" tap --inherit-env --clean-env -- true
code 2 "$duplex" tap --inherit-env --small-env -- true
code 3 "$duplex" tap --attach nowhere
code 2 "$duplex" tap --attach .
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("left")'
code 3 "$duplex" tap --attach left
says 'Connection refused'
# A socket that somebody left behind is replaced, anything else is not.
code 0 "$duplex" tap --listen left -- true
echo precious >file
code 2 "$duplex" tap --listen file -- true
[[ $(cat file) == precious ]] || { echo "a file was replaced by a socket"; failed=1; }
code 2 "$duplex" tap --listen "$(printf 'x%.0s' {1..200})" -- true
# Standard descriptors that are closed.
code 0 bash -c '"$1" tap -- true <&- >&- 2>&-' - "$duplex"

expect() {
    [[ $2 == "$3" ]] || { echo "$1: expected '$3', found '$2'"; failed=1; }
}
# The whole environment is handed on, unless it is to be small.
expect environment "$(FAR=away timeout 30 "$duplex" tap --env NEAR=by -- sh -c 'echo "$FAR $NEAR"')" "away by"
expect 'clean environment' "$(FAR=away timeout 30 "$duplex" tap --clean-env -e NEAR=by -- sh -c 'echo "$FAR $NEAR"')" " by"
expect 'whole environment' "$(FAR=away timeout 30 "$duplex" tap -e NEAR=by -- sh -c 'echo "$FAR $NEAR"')" "away by"
expect 'old name' "$(FAR=away timeout 30 "$duplex" tap --small-env -- sh -c 'echo "$FAR."' 2>&1)" \
    "duplex tap: warning: --small-env is now called --clean-env
.
duplex tap: warning: the program printed text on stdout that is not JSON-RPC: \".\" (it breaks strict clients)"
expect folder "$(timeout 30 "$duplex" tap --cwd / -- pwd)" /
expect arguments "$(timeout 30 "$duplex" tap -- printf '%s|' -a -- '' 'b c')" "-a|--||b c|"

# Rotation: so many files, and no record lost between them.
for i in {1..2000}; do echo "{\"n\":$i,\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"; done >lines
timeout 30 "$duplex" tap -o turn.jsonl --size 50k --keep 20 -- cat <lines >/dev/null
expect rotation "$(cat turn.jsonl* | grep -c '"message"')" 4000
[[ -e turn.jsonl.3 ]] || { echo "only few files: $(ls turn.jsonl*)"; failed=1; }
timeout 30 "$duplex" tap -o few.jsonl --size 50k --keep 2 -- cat <lines >/dev/null
expect keep "$(find . -name 'few.jsonl*' | wc -l)" 3
# 0 is none, and no limit.
touch none.jsonl.1
timeout 30 "$duplex" tap -o none.jsonl --size 50k --keep 0 -- cat <lines >/dev/null
[[ -e none.jsonl.1 && ! -s none.jsonl.1 && ! -e none.jsonl.2 ]] || { echo "--keep 0 keeps: $(ls -l none.jsonl*)"; failed=1; }
(($(stat -c %s none.jsonl) < 150000)) || { echo "--keep 0: no new file was begun"; failed=1; }
timeout 30 "$duplex" tap -o all.jsonl --size 0 -- cat <lines >/dev/null
expect 'no limit' "$(cat all.jsonl* | grep -c '"message"')$(find . -name 'all.jsonl.*')" 4000
code 2 "$duplex" tap --limit 0 -- true

for part in trace pieces stuck gone shared killed signals closing sockets flags packets errors attach attach_stderr follow show; do
    timeout 90 python3 "$here/tap.py" "$part" "$duplex" || { echo "part $part failed"; failed=1; }
done
exit $failed
