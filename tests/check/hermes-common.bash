# What the checks of duplex hermes share; they read it.
# shellcheck shell=bash disable=SC2034 # some names are theirs
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
host=
# shellcheck disable=SC2317 # it is reached by the trap
finish() {
    [[ -z $host ]] || kill -KILL "$host" 2>/dev/null || true
    wait 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
export XDG_DATA_HOME=$work/share LC_ALL=C.UTF-8
unset NO_COLOR
hermes=$BUILD/duplex-hermes
extension="python3 -IS '$SOURCE/tests/hermes/children/cmd_extension.py'"
talk=$SOURCE/tests/check/terminal-talk.py
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}

# expect CODE OUT ERR ARG...: exit code, and parts of the two outputs (CR is shown as LF); the standard input is
# the file `in`.
: >in
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 15 "$hermes" host --settle 60ms "$@" <in >out 2>err || got=$?
    if ((got != code)) || [[ $(tr '\r' '\n' <out) != *"$out"* ]] || [[ $(cat err) != *"$err"* ]]; then
        complain "duplex hermes host $*: code $got, expected $code"
        echo "stdout: $(head -c 2000 out | tr '\r' '\n')"
        echo "stderr: $(head -c 2000 err)"
    fi
}
# The outputs of the last one: has FILE TEXT, lacks FILE TEXT.
has() { grep -qaF -- "$2" "$1" || complain "'$2' is not in $1: $(head -c 2000 "$1")"; }
lacks() { if grep -qaF -- "$2" "$1"; then complain "'$2' is in $1: $(head -c 2000 "$1")"; fi; }
same() { cmp -s "$1" "$2" || complain "$1 and $2 differ"; }
# lines LINE...: what the console reads.
lines() { printf '%s\n' "$@" >in; }
# events PYTHON: an expression over `all`, the list of JSON objects in the output.
events() {
    python3 -c 'import json, sys
all = [json.loads(line) for line in open("out", encoding="utf-8")]
of = lambda kind: [one for one in all if one.get("event") == kind]
result = lambda command: [one for one in of("result") if one["command"] == command][-1]
sys.exit(not eval(sys.argv[1]))' "$1" || complain "not so: $1; $(head -c 3000 out)"
}

printf 'MSH|^~\\&|ADT1|HOSP|LAB|HOSP|20240102030405||ADT^A01|123|P|2.5\rPID|1||555^^^H^MR||doe^jane||19800101|F\rOBX|1|TX|a||one\rOBX|2|TX|b||two\r' >a.hl7
cp a.hl7 a.orig
sed 's/doe/DOE/' a.hl7 >upper.hl7
sed 's/doe/SLOW/' a.hl7 >slow.hl7
printf 'this is no message\n' >none.hl7

