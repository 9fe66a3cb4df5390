#!/usr/bin/env bash
# duplex mcp tools call converts key=text arguments by the tool's input schema, and says what is wrong with them.
# shellcheck source=/dev/null disable=SC2154 # its names
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
server=(python3 -S "$SOURCE/tests/check/mcp-arguments.py")
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}
run() {
    got=0
    last="duplex mcp tools call $*"
    timeout -k 5 30 "$BUILD/duplex" mcp tools call "$@" >out 2>err </dev/null || got=$?
}
. "$SOURCE/tests/check/expect.bash"
# sent JSON ARGUMENT...: what the tool "types" gets.
sent() {
    local wanted=$1
    shift
    expect 0 "$wanted after tools/list tools/call" '' types "$@" -- "${server[@]}"
    [[ $(cat out) == "$wanted "* ]] || complain "$last: $(cat out)"
}
# wrong MESSAGE HINT TOOL ARGUMENT...: exactly these lines, exit code 7, and nothing was called.
wrong() {
    local message="duplex mcp tools call: $1" hint=$2
    shift 2
    run "$@" -- "${server[@]}"
    [[ -z $hint ]] || message+=$'\n'"hint: $hint"
    [[ $(cat err) == "$message" ]] || { complain "$last:"; diff <(echo "$message") err; }
    ((got == 7)) || complain "$last: code $got, expected 7"
    [[ ! -s out ]] || complain "$last: $(cat out)"
}

# --- Each type. --------------------------------------------------------------------------------
sent '{"days":2}' days=2
sent '{"days":-2.50}' days=-2.50
sent '{"days":1e3}' days=1e3
sent '{"count":12345678901234567890123456789}' count=12345678901234567890123456789
sent '{"count":10.0}' count=10.0
sent '{"on":true}' on=true
sent '{"on":false}' on=false
sent '{"none":null}' none=null
sent '{"name":"2"}' name=2
sent '{"name":""}' name=
sent '{"name":"true"}' name=true
sent '{"tags":["a","b"]}' 'tags=["a","b"]'
sent '{"at":{"x":1}}' 'at={"x":1}'
sent '{"a/b~c":7}' 'a/b~c=7'
sent '{"ref":5}' ref=5
# Strings stay strings where the schema allows one, and where it says nothing.
sent '{"either":"5"}' either=5
sent '{"any":"5"}' any=5
expect 0 '{"unknown":"5"} after' '' more unknown=5 -- "${server[@]}"
sent '{"maybe":5}' maybe=5
sent '{"maybe":null}' maybe=null
sent '{"auto":"auto"}' auto=auto
sent '{"auto":5}' auto=5
sent '{"level":2}' level=2
sent '{"mixed":"1"}' mixed=1
sent '{"mixed":2}' mixed=2
sent '{"mixed":true}' mixed=true
# Several at once, each on its own; := is never touched.
sent '{"days":2,"on":true,"name":"3","count":10}' days=2 on=true name=3 count=10
sent '{"name":3,"on":"yes","days":2}' name:=3 'on:="yes"' days=2
sent '{"days":2,"on":"yes"}' days=2 'on:="yes"'

# --- What cannot be converted. ------------------------------------------------------------------
wrong $'\'days\': expected a number, got "two"' 'write days:=2' types days=two
wrong $'\'days\': expected a number, got ""' 'write days:=2' types days=
wrong $'\'days\': expected a number, got "+2"' 'write days:=2' types days=+2
wrong $'\'days\': expected a number, got "0x10"' 'write days:=2' types days=0x10
wrong $'\'days\': expected a number, got "true"' 'write days:=2' types days=true
wrong $'\'count\': expected an integer, at least 10, got "2.5"' 'write count:=10' types count=2.5
wrong $'\'count\': expected an integer, at least 10, got "9"' 'write count:=10' types count=9
wrong $'\'on\': expected true or false, got "yes"' 'write on:=true' types on=yes
wrong $'\'on\': expected true or false, got "No"' 'write on:=false' types on=No
wrong $'\'on\': expected true or false, got "1"' 'write on:=true' types on=1
wrong $'\'none\': expected null, got "nothing"' 'write none:=null' types none=nothing
wrong $'\'maybe\': expected integer or null, got "x"' 'write maybe:=2' types maybe=x
wrong $'\'auto\': expected auto or integer, got "manual"' 'write auto=auto' types auto=manual
# What it says to write fits the schema, and a shell takes it as it is.
wrong $'\'fives\': expected an integer, got "x"' 'write fives:=5' types fives=x
wrong $'\'low\': expected an integer, up to 0 (exclusive), got "x"' 'write low:=-1' types low=x
wrong $'\'many\': expected integer or null, got "x"' 'write many:=10' types many=x
wrong $'\'odd\': expected an integer, got "x"' 'write odd:=NUMBER' types odd=x
wrong $'\'my key\': expected an integer, got "x"' "write 'my key:=2'" types 'my key=x'
wrong $'\'$k\': expected an array of string, got "x"' "write '\$k:=[\"x\"]'" types "\$k=x"
wrong $'\'level\': expected one of 1, 2, 3, got "4"' 'write level:=1' types level=4
wrong $'\'colour\': expected one of red, green, got "blue"' 'write colour=red' types colour=blue
wrong $'\'ref\': expected an integer, at least 1, got "x"' 'write ref:=1' types ref=x
wrong $'\'tags\': expected an array of string, got "a"' "write tags:='[\"a\"]'" types tags=a
wrong $'\'sizes\': expected an array of integer, got "1"' "write sizes:='[…]'" types sizes=1
wrong $'\'at\': expected an object, got "here"' "write at:='{…}'" types at=here
wrong '/at/x: expected integer, found string' '' types 'at={"x":"1"}'
wrong $'\'pattern\': expected a string, pattern ^[a-z]+$, got "A1"' '' types pattern=A1
wrong $'\'days\': expected a number, got "two"' 'write days:=2' types name=x days=two on:=1
long=$(printf 'x%.0s' {1..100})
wrong $'\'days\': expected a number, got "'"${long:0:60}…\"" 'write days:=2' types "days=$long"

# --- Unknown and missing arguments. ------------------------------------------------------------
takes="'book' takes days=INTEGER room=TEXT [late=true|false] [kind=single|double] [tags:='[…]'] [at:='{…}']"
wrong "the tool 'book' requires the arguments 'days', 'room'" "$takes" book
wrong "the tool 'book' requires the argument 'room'" "$takes" book days=2
wrong "the tool 'book' requires the argument 'days'" "$takes" book room=x late:=true
wrong "the tool 'book' has no argument 'dayz'" "did you mean 'days'?" book dayz=2 room=x
wrong "the tool 'book' has no argument 'quite_another'" "$takes" book quite_another=2
wrong "the tool 'closed' has no argument 'x'" "'closed' takes no arguments" closed x=1
# What the schema neither has nor forbids is sent, with a warning.
warning="duplex mcp tools call: warning: the tool's schema has no argument"
expect 0 '{"day":"1"} after' "$warning 'day'; did you mean 'days'?" types day=1 -- "${server[@]}"
expect 0 '{"q":"1","zzzz":2} after' "$warning 'q'
$warning 'zzzz'" types q=1 zzzz:=2 -- "${server[@]}"
expect 0 '{"day":"1"} after' '' patterns day=1 -- "${server[@]}"
expect 0 '{"day":"1"} after' '' more day=1 -- "${server[@]}"
wrong "warning: the tool's schema has no argument 'dayz'; did you mean 'days'?
duplex mcp tools call: the tool 'whole' requires the argument 'days'" "'whole' takes days=NUMBER" whole dayz=2
wrong "the tool 'whole' requires the argument 'days'" "'whole' takes days=NUMBER" whole
expect 0 '{"days":2} after' '' whole days=2 -- "${server[@]}"
run book days=two --json -- "${server[@]}"
python3 - <<'END' || complain "$last: $(cat out)"
import json
error = json.load(open("out"))["error"]
assert error["exit"] == 7 and error["kind"] == "misfit" and error["hint"] == "write days:=2", error
END

# --- What needs no schema is sent as it is, and without asking for one. ------------------------
expect 0 '{"days":"two"} after tools/call' '' types 'days:="two"' -- "${server[@]}"
expect 0 '{"days":"two"} after tools/call' '' types '{"days":"two"}' -- "${server[@]}"
expect 0 '{} after tools/call' '' book '{}' -- "${server[@]}"
echo '{"days": "two"}' >arguments
expect 0 '{"days":"two"} after tools/call' '' types @arguments -- "${server[@]}"

# --- No schema, no conversion, no refusal. -----------------------------------------------------
expect 0 '{"days":"2"} after tools/list tools/call' '' types days=2 -- "${server[@]}" nolist
expect 0 '{"days":"2"} after tools/list tools/call' \
    "warning: the server does not list a tool 'types', so arguments are sent as strings; " types days=2 -- "${server[@]}" hidden
expect 0 '{"days":"2"} after' '' empty days=2 -- "${server[@]}"
expect 0 '{"days":"2"} after' '' broken days=2 -- "${server[@]}"
expect 5 '' '(--timeout)' types days=2 --timeout 300ms -- "${server[@]}" sleepy
expect 0 '{"days":2} after tools/call' '' types days:=2 --timeout 5s -- "${server[@]}" sleepy
exit "$failed"
