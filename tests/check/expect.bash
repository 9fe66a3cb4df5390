# For checks of a command that have complain and run, which leaves out, err, $got and $last.
# shellcheck shell=bash disable=SC2034,SC2154 # they are theirs, or named by ${!part}
# expect CODE OUT ERR ARGUMENT...: parts of the two outputs; "" expects nothing, * anything.
expect() {
    local code=$1 out=$2 err=$3 part
    shift 3
    run "$@"
    for part in out err; do
        local wanted=${!part} found
        found=$(cat "$part")
        if [[ $wanted == '*' ]]; then continue; fi
        if [[ -z $wanted && -n $found ]] || [[ $found != *"$wanted"* ]]; then
            complain "$last: '$wanted' is not in $part"
            echo "stdout: $(head -c 3000 out)"; echo "stderr: $(head -c 3000 err)"
        fi
    done
    ((got == code)) || { complain "$last: code $got, expected $code"; head -c 2000 out err; }
}
has() { grep -qaF -- "$2" "$1" || { complain "$last: '$2' is not in $1"; head -c 3000 "$1"; }; }
lacks() { ! grep -qaF -- "$2" "$1" || { complain "$last: '$2' is in $1"; head -c 3000 "$1"; }; }
