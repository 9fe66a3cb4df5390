# What the checks of duplex run share; they read it.
# shellcheck shell=bash disable=SC2034 # some names are theirs
set -euo pipefail
work=$(mktemp -d)
duplex=$BUILD/duplex
run=
# shellcheck disable=SC2317 # it is reached by the trap
finish() {
    [[ -z $run ]] || kill -KILL "$run" 2>/dev/null || true
    wait 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}

# Speaks to the socket by itself: what the command never would.
cat >speak.py <<'END'
import json, socket, sys, time
def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(15)
    s.connect(path)
    return s
def send(s, *messages):
    s.sendall(b"".join(json.dumps(m).encode() + b"\n" for m in messages))
def request(id, verb, /, **params):
    return {"jsonrpc": "2.0", "id": id, "method": verb, "params": params}
END
