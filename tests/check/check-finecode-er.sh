#!/usr/bin/env bash
# duplex finecode er: its words, handlers that are commands, the ready-made ones, and that nothing of
# them is left behind.
set -euo pipefail
for tool in python3 clang-format clang-tidy cppcheck shellcheck; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$work/state
# The repository around a build folder is none of its business.
export GIT_CEILING_DIRECTORIES=$work
finecode=$BUILD/duplex-finecode
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}

# They mostly wait, so all at once.
declare -A parts
for part in commands ends place tools nested many odd tidy pattern edits text log; do
    mkdir "$part"
    timeout 300 python3 "$SOURCE/tests/check/finecode-er.py" "$finecode" "$work/$part" "$part" &
    parts[$part]=$!
done

# --- Its words. ---------------------------------------------------------------------------------
# wrong CODE TEXT WORD...
wrong() {
    local code=$1 text=$2 got=0
    shift 2
    timeout 10 "$finecode" er "$@" </dev/null >out 2>err || got=$?
    ((got == code)) || complain "er $*: code $got, expected $code: $(cat err)"
    [[ $(cat err) == *"$text"* && $(grep -cv "^hint: " err) == 1 && ! -s out ]] || complain "er $*: $(cat out err)"
}
touch file
wrong 2 'missing subcommand: start, handlers or version'
wrong 2 "unknown subcommand 'stop'" stop
wrong 2 "start: unexpected argument 'now'" start now
wrong 1 'missing option --env-name' start --project-path .
wrong 2 'missing option --project-path' start --env-name e
wrong 2 'absent: No such file' start --env-name e --project-path absent
wrong 2 'file is not a folder' start --env-name e --project-path file
wrong 2 'cannot be used together' start --env-name e --project-path . --tcp --stdio
wrong 2 "--env-name: invalid name '../e'" start --env-name ../e --project-path .
wrong 2 'expected seed|real' start --env-name e --project-path . --revision new
wrong 2 '--log-level: expected' start --env-name e --project-path . --log-level loud
wrong 2 'cannot write absent/log' start --env-name e --project-path . --log-file absent/log
wrong 2 'cannot read absent.toml' start --env-name e --project-path . --handlers absent.toml

# bad TEXT TOML: a file of handlers that is wrong.
bad() {
    printf '%s\n' "$2" >handlers.toml
    wrong 7 "$1" start --env-name e --project-path . --handlers handlers.toml
}
bad 'handlers.toml:1:' 'x = '
bad 'expected action, handler or package' 'x = 1'
bad 'action 1: source: missing' '[[action]]'
bad 'action 1 (a): scop: unknown key' '[[action]]
source = "a"
scop = "project"'
bad 'scope: expected "project" or "workspace"' '[[action]]
source = "a"
scope = "world"'
bad 'runs_concurrently: expected true or false' '[[action]]
source = "a"
runs_concurrently = 1'
bad 'payload: expected a table' '[[action]]
source = "a"
payload = "x"'
bad 'a: ' '[[action]]
source = "a"
merge = { x = "shake" }'
bad 'handler 2 (b): command: expected' '[[handler]]
source = "a"
command = ["true"]
[[handler]]
source = "b"
command = []'
bad 'timeout: expected' '[[handler]]
source = "a"
command = ["true"]
timeout = "soon"'
bad 'output_max: expected' '[[handler]]
source = "a"
command = ["true"]
output_max = "2G"'
bad 'stop_code: expected' '[[handler]]
source = "a"
command = ["true"]
stop_code = 256'
bad 'form: expected' '[[handler]]
source = "a"
command = ["true"]
form = "half"'
bad 'action 1 (a): text: expected a JSON Pointer' '[[action]]
source = "a"
text = "summary"'
bad 'env: expected' '[[handler]]
source = "a"
command = ["true"]
env = { "A=B" = "c" }'
bad 'duplex.shellcheck: ' '[[handler]]
source = "duplex.shellcheck"
command = ["true"]'
bad 'package 1: path: missing' '[[package]]
name = "a"'

[[ $("$finecode" er version) == "FineCode Extension Runner "[0-9]* ]] || complain "version"
[[ $("$finecode" er handlers | wc -l) == 10 ]] || complain "handlers: $("$finecode" er handlers)"
"$finecode" er handlers --json | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert all(row["installed"] for row in rows[:5]) and rows[4]["source"] == "duplex.shellcheck", rows' || complain "handlers --json"
PATH=/nowhere "$finecode" er handlers | grep -q 'duplex.cppcheck.*(not installed)' || complain "handlers without programs"
[[ $("$finecode" er --help) == *"Usage: duplex finecode er start"* ]] || complain "help"

for part in "${!parts[@]}"; do
    code=0
    wait "${parts[$part]}" || code=$?
    ((code == 0)) || complain "$part: code $code"
done
exit "$failed"
