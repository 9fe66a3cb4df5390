# What check-call.sh, check-call-peers.sh and check-bench.sh share; they read it.
# shellcheck shell=bash disable=SC2034 # some names are theirs
set -uo pipefail
work=$(mktemp -d)
tag=check-call-$$-$RANDOM
server=
# shellcheck disable=SC2317 # called by the trap
tidy() {
    [[ -z $server ]] || kill "$server" 2>/dev/null
    rm -rf "$work"
}
trap tidy EXIT
cd "$work" || exit 1

plugin=$SOURCE/tests/interop/plugin.py
children=$BUILD/tests/children
echo=$BUILD/examples/echo
# Debian's, rather than another that may come first and take longer to start.
python=/usr/bin/python3
[[ -x $python ]] || python=python3
py=("$python" "$plugin" line "$tag")
failed=0

complain() {
    echo "$*"
    failed=1
}

# run ARGUMENT...: duplex, its output in out and err, its exit code in $got.
run() {
    got=0
    last="duplex $*"
    timeout -k 5 20 "$BUILD/duplex" "$@" >out 2>err </dev/null || got=$?
}

# verify CODE STDOUT STDERR: both as they are, but a STDERR that ends with * is the beginning.
verify() {
    local out err
    out=$(cat out) err=$(cat err)
    # shellcheck disable=SC2053 # the right side is a pattern only in its last character
    if ((got != $1)) || [[ $out != "$2" ]] ||
        { [[ $3 == *'*' ]] && [[ $err != "${3%\*}"* ]]; } || { [[ $3 != *'*' ]] && [[ $err != "$3" ]]; }; then
        complain "$last: code $got, expected $1"
        echo "stdout: $out"
        echo "stderr: $err"
    fi
}

# expect CODE STDOUT STDERR ARGUMENT...
expect() {
    local code=$1 out=$2 err=$3
    shift 3
    run "$@"
    verify "$code" "$out" "$err"
}

# What a jq would do: an expression of Python over the lines of out, j[0] being the first.
json() {
    "$python" -c 'import json, sys
j = [json.loads(line) for line in open("out", "rb")]
e = j[0].get("error") if j and isinstance(j[0], dict) else None
assert '"$1" 2>why || {
        complain "$last: $1"
        cat out why
    }
}

painted() {
    grep -qP '\x1b\[' out
}

# Nothing of ours may still run.
finish() {
    pgrep -f "$tag" >left && complain "left running: $(ps -o pid=,args= -p "$(paste -sd, left)")"
    exit "$failed"
}
