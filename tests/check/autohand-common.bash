# What the checks of `duplex autohand prompt` and `chat` share: an agent that does as it is told, and words for what is
# expected.
# shellcheck shell=bash disable=SC2034 # some names are theirs
set -uo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
tag=check-autohand-$$-$RANDOM
background=
# shellcheck disable=SC2317 # called by the trap
tidy() {
    # A child that is interrupted before it has become another program would come here, too.
    [[ $BASHPID == "$$" ]] || return
    [[ -z $background ]] || kill "$background" 2>/dev/null
    rm -rf "$work"
}
trap tidy EXIT
cd "$work" || exit 1
export LC_ALL=C.UTF-8
unset NO_COLOR FORM
python=/usr/bin/python3
[[ -x $python ]] || python=python3
duplex=$BUILD/duplex
agent=("$python" -IS "$SOURCE/tests/autohand/fake_agent.py" "err $tag")
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}

# run ARGUMENT...: duplex autohand, its output in out and err, its exit code in $got.
run() {
    got=0
    last="duplex autohand $*"
    timeout -k 5 20 "$duplex" autohand "$@" >out 2>err <"${input:-/dev/null}" || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"
# with CODE OUT ERR WORDS... -- STEP...: the same with the agent, which starts and then does these steps.
with() {
    local code=$1 out=$2 err=$3 words=()
    shift 3
    while [[ $1 != -- ]]; do words+=("$1"); shift; done
    expect "$code" "$out" "$err" "${words[@]}" -e "FORM=${FORM:-doc}" -- "${agent[@]}" start "${@:2}"
}
# events EXPRESSION: of Python, about `all`, the events that were printed, and `of(name)`.
events() {
    python3 - "$1" <<'END' || { complain "$last: not so: $1"; head -c 5000 out; }
import json, sys
all = [json.loads(line) for line in open("out", encoding="utf-8")]
def of(name): return [one for one in all if one.get("event") == name]
sys.exit(0 if eval(sys.argv[1]) else 1)
END
}
# talk ARGUMENT...: at a terminal; the steps are on the standard input, see terminal-talk.py.
talk() {
    last="duplex autohand $*"
    timeout -k 5 30 python3 "$SOURCE/tests/check/terminal-talk.py" "$duplex" autohand "$@" >screen 2>wrong ||
        complain "$last: $(cat wrong)"
}
gone() {
    local i
    for ((i = 0; i < 60; i++)); do
        pgrep -f "$tag" >/dev/null || return 0
        sleep 0.05
    done
    complain "$last: left behind: $(pgrep -af "$tag")"
}
# A step of a turn: STEPS, joined.
steps() {
    local all=$1 one
    shift
    for one; do all+=" ;; $one"; done
    printf '%s' "$all"
}
# change ID PATH TYPE BEFORE AFTER: texts as they stand in JSON.
change() {
    printf 'n changesBatchUpdate {"batchId": "BATCH", "change": {"id": "%s", "filePath": "%s", "changeType": "%s", "originalContent": "%s", "proposedContent": "%s", "description": "d", "toolId": "", "toolName": ""}}' "$@"
}
# asks ID TOOL TEXT CONTEXT, and what must be answered.
asks() {
    printf 'n permissionRequest {"requestId": "%s", "tool": "%s", "description": "%s", "context": %s}' "$@"
}
answers() {
    printf '< permissionResponse %s ;; a permissionResponse {"success": true}' "$1"
}
decided='a changesDecision {"success": true, "appliedCount": 1, "skippedCount": 0}'
