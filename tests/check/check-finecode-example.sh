#!/usr/bin/env bash
# The workspace of examples/finecode, through the manager: two projects, two environments; and the
# lint of this repository finds what is wrong in it.
set -euo pipefail
for tool in python3 clang-format cppcheck shellcheck; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$work/state GIT_CEILING_DIRECTORIES=$work
finecode=$BUILD/duplex-finecode
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}
# run CODE WORD...
run() {
    local code=$1 got=0
    shift
    timeout 60 "$finecode" run "$@" >"$work/out" 2>"$work/err" || got=$?
    ((got == code)) || complain "$*: code $got: $(cat "$work/out" "$work/err")"
}
has() {
    grep -qF -- "$1" "$work/out" || complain "no '$1' in: $(cat "$work/out" "$work/err")"
}
has_not() {
    ! grep -qF -- "$1" "$work/out" || complain "'$1' in: $(cat "$work/out")"
}
# json CODE: a condition on `events`, the lines of --json.
json() {
    python3 -c "
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
steps = {}
for event in events:
    if event['event'] == 'step':
        steps.setdefault(event['name'], []).append((event['env'], event['handlers'], event['state']))
results = {event['name']: event for event in events if event['event'] == 'project'}
assert $1, events" "$work/out" || complain "not so: $1"
}

cp -r "$SOURCE/examples/finecode" "$work/example"
cd "$work/example"
[[ $(timeout 20 "$finecode" list | grep -c ' example\.\| duplex\.') == 15 ]] || complain "list: $(timeout 20 "$finecode" list)"

# --- Lint across both, their environments side by side. -----------------------------------------
run 1 lint
has "notes/notes.md:4:4: warning: leave out 'very' [word] (wording)"
# In UTF-16: behind an astral character.
has "notes/notes.md:6:10: warning: leave out 'obviously' [word] (wording)"
has_not "app/"
sed -i 's/very //; s/obviously //' notes/notes.md
run 0 lint
printf '%090d\n' 0 >>notes/notes.md
sed -i 's/^    /  /' app/main.c
run 1 lint --json
json "'longer than 80' in str(results['notes']['result']) and 'main.c' in str(results['app']['result'])"
json "sorted(steps['app'])[:2] == [('c', 'clang_format', 'done'), ('c', 'clang_format', 'started')] and len(steps['app']) >= 4"
run 1 lint --project notes files:='["notes.md"]'
has_not "app/"

# --- A chain over two environments: the second has the result of the first. -----------------------
run 0 report --json
json "results['app']['result']['json'] == {'files': {'greet.c': 7, 'greet.h': 7, 'main.c': 6}, 'total': 20}"
json "steps['app'] == [('c', 'collect', 'started'), ('c', 'collect', 'done'), ('text', 'sum', 'started'), ('text', 'sum', 'done')]"
json "steps['notes'] == [('text', 'collect, sum', 'started'), ('text', 'collect, sum', 'done')]"

# --- The same by TCP, in the real program's revision: in the place of a venv's python. ------------
for env in app/.venvs/c notes/.venvs/c app/.venvs/text notes/.venvs/text; do
    mkdir -p "$env/bin"
    ln -s "$finecode" "$env/bin/python"
done
mv "$work/out" "$work/before"
run 0 report --json --runner venv
json "steps['app'] == [('c', 'collect', 'started'), ('c', 'collect', 'done'), ('text', 'sum', 'started'), ('text', 'sum', 'done')]"
json "results['app']['result'] == {event['name']: event for event in map(json.loads, open('$work/before')) if event['event'] == 'project'}['app']['result']"
run 1 lint --json --runner venv
json "'longer than 80' in str(results['notes']['result']) and 'main.c' in str(results['app']['result'])"

# --- Format, with edits that the manager applies. -------------------------------------------------
printf 'int  spare;  \n' >>app/greet.c
run 0 format
has "formatted: app/greet.c"
has "formatted: app/main.c"
[[ $(tail -n 1 app/greet.c) == 'int spare;' ]] || complain "greet.c: $(cat app/greet.c)"
cmp app/main.c "$SOURCE/examples/finecode/app/main.c" || complain "main.c: $(cat app/main.c)"
run 0 format
has 'all files are formatted'

# --- The manager is killed: nothing that runs for it lives on. -------------------------------------
mkdir -p "$work/slow"
cat >"$work/slow/finecode.toml" <<'END'
[finecode.er]
runner = "duplex"
[finecode.action.wait]
source = "t.Wait"
handlers = [{ name = "wait", source = "t.wait", env = "e" }]
END
cat >"$work/slow/finecode-handlers.toml" <<'END'
[[action]]
source = "t.Wait"
[[handler]]
source = "t.wait"
command = ["sh", "-c", "sleep 60 & echo $$ $! >pids; wait"]
END
timeout 60 "$finecode" run wait --workspace "$work/slow" >"$work/out" 2>"$work/err" &
manager=$!
for ((i = 0; i < 500; i++)); do
    [[ -s $work/slow/pids ]] && break
    sleep 0.02
done
read -r -a pids <"$work/slow/pids" || complain "it did not start: $(cat "$work/out" "$work/err")"
# The runner is the parent of the command, the manager that of the runner.
mapfile -t pids < <(printf '%s\n' "${pids[@]}"; ps -o ppid= -p "${pids[0]}" | tr -d ' ')
kill -KILL "$(ps -o ppid= -p "${pids[2]}" | tr -d ' ')"
wait "$manager" 2>/dev/null || true
for ((i = 0; i < 100; i++)); do
    left=$(ps -o pid= -o stat= -p "$(IFS=, && echo "${pids[*]}")" | grep -cv ' Z' || true)
    [[ $left == 0 ]] && break
    sleep 0.02
done
[[ $left == 0 ]] || complain "left behind: $(ps -o pid,ppid,args -p "$(IFS=, && echo "${pids[*]}")")"

# --- This repository: a copy of a part of it, with mistakes. --------------------------------------
mkdir -p "$work/main/tools" "$work/main/src"
cp "$SOURCE"/finecode.toml "$SOURCE"/finecode-workspace.toml "$SOURCE"/.clang-format "$work/main"
cp "$SOURCE"/tools/cppcheck.txt "$SOURCE"/tools/check-workspace "$work/main/tools"
cp "$SOURCE"/src/base/buf.c "$work/main/src"
cd "$work/main"
run 0 lint
printf 'int  odd;\n#include <stdlib.h>\nint leak(void) {\n    char *p = malloc(1);\n    return p != NULL;\n}\n' >src/bad.c
# shellcheck disable=SC2016
printf '#!/bin/bash\nrm $1\n' >tools/bad
run 1 lint
has "src/bad.c:1:4: warning: code should be clang-formatted"
has "src/bad.c:5:5: error: Memory leak: p [memleak] (cppcheck)"
has "tools/bad:2:4: info: Double quote to prevent globbing and word splitting. [SC2086] (shellcheck)"
[[ $(wc -l <"$work/out") == 3 ]] || complain "more than that: $(cat "$work/out")"
exit "$failed"
