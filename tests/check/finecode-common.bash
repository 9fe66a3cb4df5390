# For the checks of duplex finecode: projects whose runners are finecode-runner.py, and what was said to those.
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
export LC_ALL=C.UTF-8 HOME=$work PYTHONDONTWRITEBYTECODE=1
unset NO_COLOR
finecode=$BUILD/duplex-finecode
trace=$work/trace
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}

# project FOLDER: what it has comes from the standard input, a line for each handler: ACTION NAME ENV [CONFIG]. The
# action c runs concurrently.
project() {
    local action name env config words last=
    words=$(printf '"%s", ' python3 -IS "$SOURCE/tests/check/finecode-runner.py" "$trace")
    mkdir -p "$1"
    printf '[finecode.er]\nrunner = [%s]\n[finecode.er.envs.tcp]\ntransport = "tcp"\n' "${words%, }" >"$1/finecode.toml"
    while read -r action name env config; do
        if [[ $action != "$last" ]]; then
            printf '[finecode.action.%s]\nsource = "t.%s"\n' "$action" "$action"
            [[ $action != c ]] || printf 'config = {concurrent = true}\n'
        fi
        last=$action
        printf '[[finecode.action.%s.handlers]]\nname = "%s"\nsource = "t.%s"\nenv = "%s"\n' "$action" "$name" "$name" "$env"
        printf 'config = {%s}\n' "$config"
    done >>"$1/finecode.toml"
}

# expect CODE OUT ERR ARG...: exit code, and parts of the two outputs.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    : >trace
    timeout 20 "$finecode" "$@" </dev/null >out 2>err || got=$?
    if ((got != code)) || [[ $(cat out) != *"$out"* ]] || [[ $(cat err) != *"$err"* ]]; then
        complain "duplex finecode $*: code $got, expected $code"
        echo "stdout: $(head -c 2000 out)"
        echo "stderr: $(head -c 2000 err)"
    fi
}
has() { grep -qaF -- "$2" "$1" || complain "'$2' is not in $1: $(head -c 3000 "$1")"; }
lacks() { if grep -qaF -- "$2" "$1"; then complain "'$2' is in $1: $(head -c 3000 "$1")"; fi; }
# events PYTHON: an expression over `all`, the JSON objects of a file (out).
events() {
    python3 -c 'import json, sys
all = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
of = lambda kind: [one for one in all if one.get("event") == kind]
sys.exit(not eval(sys.argv[1]))' "$1" "${2:-out}" || complain "not so: $1; $(head -c 3000 "${2:-out}")"
}
# calls PYTHON: the same over `all`, the lines of the trace as [who, method, params].
calls() {
    python3 -c 'import json, sys
all = [[who, method, json.loads(more)] for who, method, more in (line.split(" ", 2) for line in open("trace", encoding="utf-8"))]
of = lambda method: [one for one in all if one[1] == method]
sys.exit(not eval(sys.argv[1]))' "$1" || complain "not so: $1; $(head -c 3000 trace)"
}
# gone: nothing that the last one started runs any more. (What nobody has reaped yet does not run.)
gone() {
    local pid
    while read -r pid; do
        if grep -qs '^State:[[:space:]]*[A-WYa-z]' "/proc/$pid/status"; then complain "process $pid was left behind"; fi
    done < <(sed -n 's/^[^ ]* pid //p' trace)
}

