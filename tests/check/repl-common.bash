# What check-repl.sh and check-repl-long.sh share; they read it.
# shellcheck shell=bash source=/dev/null disable=SC2034,SC2154 # some names are theirs
. "$SOURCE/tests/check/call-common.bash"
peer=("$python" "$SOURCE/tests/check/repl-peer.py" "$tag")
export HOME=$work
unset XDG_STATE_HOME

# talk CODE STDOUT STDERR LINES ARGUMENT...: what comes of those lines.
talk() {
    local code=$1 out=$2 err=$3 lines=$4
    shift 4
    got=0
    last="duplex repl $*: ${lines:0:300}"
    printf '%s\n' "$lines" | timeout -k 5 20 "$BUILD/duplex" repl "$@" >out 2>err || got=$?
    verify "$code" "$out" "$err"
}

# hostile FILE CODE LINES: what it is told about each line, which ends with * as in verify; then [1].
hostile() {
    got=0
    last="hostile lines: $1"
    timeout 20 "$BUILD/duplex" repl -- "$echo" line <"$1" >out 2>err || got=$?
    [[ $got == "$2" && $(tail -c 100 out) == *'[1]' ]] || complain "$last: code $got: $(head -c 300 out err)"
    local line wanted
    exec 3<err
    while read -r wanted; do
        IFS= read -r line <&3
        # shellcheck disable=SC2053 # a pattern
        [[ $line == $wanted ]] || complain "$last: found '$line', expected '$wanted'"
    done <<<"$3"
    ! IFS= read -r line <&3 || complain "$last: also '$line'"
}
