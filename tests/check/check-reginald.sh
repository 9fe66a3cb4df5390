#!/usr/bin/env bash
# duplex reginald: flags, settings, tasks, logs, the list of plugins, signals, and every exit code.
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
export TRACE=$work/trace LC_ALL=C.UTF-8 HOME=$work XDG_DATA_HOME=$work/share PYTHONDONTWRITEBYTECODE=1
unset NO_COLOR REGINALD_CONFIG REGINALD_PLUGIN_DIR REGINALD_LOG_LEVEL REGINALD_LOG_FORMAT
reginald=$BUILD/duplex-reginald
failed=0
complain() {
    echo "lines ${BASH_LINENO[*]}: $*"
    failed=1
}

# shellcheck source=/dev/null
. "$SOURCE/tests/check/help-common.bash"

# plugin FOLDER NAME...: puts these plugins there.
plugin() {
    local name folder=$1
    shift
    mkdir -p "$folder"
    for name; do
        { printf '#!/usr/bin/env -S python3 -IS\n'; cat "$SOURCE/tests/check/reginald-plugin.py"; } >"$folder/reginald-$name"
        chmod +x "$folder/reginald-$name"
    done
}
plugin one example
plugin mixed broken example odd
plugin slow example silent
plugin bad broken
mkdir none
touch none/reginald-text
printf '#!/bin/sh\n' >none/other
chmod +x none/other

# expect CODE OUT ERR ARG...: exit code, and parts of the two outputs.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    : >trace
    timeout 15 "$reginald" "$@" </dev/null >out 2>err || got=$?
    if ((got != code)) || [[ $(cat out) != *"$out"* ]] || [[ $(cat err) != *"$err"* ]]; then
        complain "duplex reginald $*: code $got, expected $code"
        echo "stdout: $(head -c 2000 out)"
        echo "stderr: $(head -c 2000 err)"
    fi
}
has() { grep -qaF -- "$2" "$1" || complain "'$2' is not in $1: $(head -c 2000 "$1")"; }
lacks() { if grep -qaF -- "$2" "$1"; then complain "'$2' is in $1: $(head -c 2000 "$1")"; fi; }
# events PYTHON: an expression over `all`, the JSON objects of a file (out).
events() {
    python3 -c 'import json, sys
all = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
of = lambda kind: [one for one in all if one.get("event") == kind]
state = lambda task: [one["state"] for one in of("task") if one["task"] == task][-1]
sys.exit(not eval(sys.argv[1]))' "$1" "${2:-out}" || complain "not so: $1; $(head -c 3000 "${2:-out}")"
}
# gone: nothing that the last one started runs any more.
gone() {
    local pid
    while read -r pid; do
        if [[ -d /proc/$pid ]]; then complain "process $pid was left behind"; fi
    done < <(sed -n 's/^[a-z]* pid //p' trace)
}

# Usage, and where plugins are looked for.
expect 2 '' $'duplex reginald: missing command\nhint: the commands are attend, plugins, and those of your plugins'
expect 2 '' "unknown option '--nothing'" --nothing plugins
expect 2 '' "duplex reginald: unexpected argument 'more' after plugins" --plugin-dir one plugins more
expect 2 '' 'No such file or directory' --plugin-dir absent plugins
expect 2 '' $'duplex reginald: cannot list the plugins: cannot read absent: No such file or directory\nhint: pass --plugin-dir FOLDER, or --plugin FILE' --plugin-dir absent plugins
expect 2 '' $'duplex reginald: unknown command \'atend\': cannot list the plugins: cannot read absent: No such file or directory\nhint: did you mean \'duplex reginald attend\'?' --plugin-dir absent atend
expect 2 '' $'duplex reginald: unknown command \'atend\': no plugin provides it\nhint: did you mean \'duplex reginald attend\'?' --plugin-dir one atend
expect 3 'nope         failed  cannot start ./nope: No such file or directory' '' --plugin ./nope plugins
expect 2 '' 'share/reginald/plugins' plugins
expect 2 '' 'expected seed|gen-a|exact' --revision old plugins
expect 0 '' 'no plugins found' --plugin-dir none plugins
expect 3 '' "duplex reginald: unknown command 'sleep': no plugin that started provides it" --plugin-dir none sleep
expect 3 '' 'broken' --plugin-dir bad sleep
expect 2 '' "duplex reginald: unknown command 'snore': no plugin provides it
hint: 'duplex reginald plugins' lists the commands" --plugin-dir one snore
expect 2 '' "duplex reginald: unknown command 'slep': no plugin provides it
hint: did you mean sleep? 'duplex reginald plugins' lists the commands" --plugin-dir one slep
expect 2 '' "duplex reginald: 'mark' is a task type, not a command
hint: use 'duplex reginald attend' to run tasks" --plugin-dir one mark
# meant WORDS COMMAND: what people type, and what is suggested.
meant() {
    # shellcheck disable=SC2086 # several words
    expect 2 '' "duplex reginald: unknown command '${1%% *}': no plugin provides it
hint: did you mean 'duplex reginald $2'?" --plugin-dir one $1
}
meant list plugins
meant ls plugins
meant tasks attend
meant setup attend
meant run attend
meant 'run sleep' sleep
meant check '--dry-run attend'
expect 2 '' '' --plugin-dir one --json snore
events 'all == [{"error": {"exit": 2, "kind": "usage", "message": "unknown command \x27snore\x27: no plugin provides it", "hint": "\x27duplex reginald plugins\x27 lists the commands"}}]'
expect 0 'example' '' --plugin one/reginald-example plugins
REGINALD_PLUGIN_DIR=one expect 0 'example' '' plugins
plugin share/reginald/plugins example
expect 0 'commands: sleep, fail' '' plugins
rm -r share
helps 'Set up a workstation with Reginald plugins' reginald
helps 'Run the tasks of the configuration (also: apply, tend)' reginald attend
helps 'Run the tasks of the configuration (also: apply, tend)' reginald apply
helps 'List the plugins, what they offer, and why some failed' reginald plugins
expect 0 'Usage: duplex reginald [OPTION...] COMMAND' '' --help
timeout 5 "$BUILD/duplex" reginald --help | cmp - out || complain "duplex reginald --help is another one"
# Through duplex, what stands behind a command is the plugin's, too.
expect 0 'time to sleep' '' --plugin-dir one sleep --help
timeout 15 "$BUILD/duplex" reginald --plugin-dir one sleep --help | cmp - out || complain "duplex reginald sleep --help is another one"

# Flags are typed, stand behind the command, and reach the plugin.
expect 0 '' '' --plugin-dir one sleep -t 1
has trace 'setupCommand {"name": "sleep", "args": null, "config": [{"key": "time", "value": 1, "type": "int"}'
has trace '{"key": "be-loud", "value": false, "type": "bool"}'
has trace 'runCommand {"name": "sleep"}'
has trace '[{"key": "greeting", "value": "hello", "type": "string"}, {"key": "depth", "value": 3, "type": "int"}]'
gone
# -p meant --plugin-dir in 0.1, and does so for one more release; also glued, and in front of a command.
for folder in '-p one' -pone; do
    # shellcheck disable=SC2086 # several words
    expect 0 '' 'duplex reginald: warning: -p will not mean --plugin-dir in the next release; write --plugin-dir' $folder sleep -t 1
    has trace '{"key": "time", "value": 1,'
done
for flags in -t1 '--time 1' --time=1 '-- -t 1' '-t 7 -t 1'; do
    # shellcheck disable=SC2086 # several words
    expect 0 '' '' --plugin-dir one sleep $flags --be-loud
    has trace '"value": 1, "type": "int"'
    has trace '{"key": "be-loud", "value": true'
done
expect 0 '' '' --plugin-dir one sleep a --be-loud=false -g hi b -- -t 1
has trace '"args": ["a", "b", "-t", "1"]'
has trace '{"key": "be-loud", "value": false'
has trace '{"key": "greeting", "value": "hi"'
expect 0 '' '' --plugin-dir one plugins -- --greeting=hi
has trace '{"key": "greeting", "value": "hi"'
expect 2 '' "duplex reginald: unknown flag '--bye': no plugin has it" --plugin-dir one plugins -- --bye
expect 2 '' "--time: expected int, got 'soon'" --plugin-dir one sleep -t soon
expect 2 '' '--be-loud: expected bool' --plugin-dir one sleep --be-loud=maybe
expect 2 '' "duplex reginald: sleep has no flag --plugin-dir
hint: 'duplex reginald sleep --help' lists its flags; options of duplex reginald go before the command" --plugin-dir one sleep --plugin-dir=x
expect 2 '' 'sleep has no flag -x' --plugin-dir one sleep -x
expect 2 '' '-t needs a value' --plugin-dir one sleep -t
expect 2 '' 'duplex reginald: sleep: its arguments must be valid UTF-8' --plugin-dir one sleep $'\xff'
lacks trace setupCommand
expect 2 '' "; write --only=-g" --plugin-dir one sleep --only -g
expect 0 '' '' --plugin-dir one sleep --only=-g --only -x -t -4
has trace '{"key": "only", "value": "-x"'
has trace '{"key": "time", "value": -4'
expect 0 '-t, --time INT' '' --plugin-dir one sleep --help
has out "time to sleep (5; \$REGINALD_SLEEP_TIME)"
has out '--greeting TEXT'
has out 'REGINALD_EXAMPLE_HOW_DEEP'
has out 'say \x1b[31mso'
lacks trace setupCommand

# Flag over environment over file over default; what does not fit is told with its place.
printf '[plugins.example]\ndepth = 4\n[commands.sleep]\ntime = 11\nsecret = "f"\n' >c.toml
expect 0 '' '' --plugin-dir one -c c.toml sleep
has trace '{"key": "time", "value": 11,'
has trace '{"key": "secret", "value": "f",'
has trace '{"key": "depth", "value": 4,'
export REGINALD_CONFIG=c.toml REGINALD_SLEEP_TIME=12 REGINALD_SLEEP_BE_LOUD=TRUE REGINALD_SLEEP_ONLY=y
export REGINALD_EXAMPLE_GREETING=ho REGINALD_EXAMPLE_HOW_DEEP=5 REGINALD_EXAMPLE_DEPTH=6
expect 0 '' '' --plugin-dir one sleep
for value in '"time", "value": 12,' '"be-loud", "value": true,' '"only", "value": "x",' '"secret", "value": "f",' \
    '"greeting", "value": "ho",' '"depth", "value": 5,'; do
    has trace "$value"
done
expect 0 '' '' --plugin-dir one sleep -t 13 --only z -g hey
for value in '"time", "value": 13,' '"only", "value": "z",' '"greeting", "value": "hey",'; do has trace "$value"; done
REGINALD_SLEEP_TIME='' expect 0 '' '' --plugin-dir one sleep
has trace '"time", "value": 11,'
REGINALD_SLEEP_TIME=9223372036854775808 expect 7 '' 'REGINALD_SLEEP_TIME: expected int' --plugin-dir one sleep
REGINALD_EXAMPLE_HOW_DEEP=deep expect 7 '' 'REGINALD_EXAMPLE_HOW_DEEP: expected int' --plugin-dir one sleep
unset REGINALD_CONFIG REGINALD_SLEEP_TIME REGINALD_SLEEP_BE_LOUD REGINALD_SLEEP_ONLY
unset REGINALD_EXAMPLE_GREETING REGINALD_EXAMPLE_HOW_DEEP REGINALD_EXAMPLE_DEPTH
# config CODE TEXT FILE-TEXT: with that configuration.
config() {
    printf '%b' "$3" >d.toml
    expect "$1" '' "$2" --plugin-dir one -c d.toml "${4:-sleep}"
}
config 7 'd.toml: commands.sleep.time: expected int, got a string' '[commands.sleep]\ntime = "1"\n'
config 7 'd.toml: commands.sleep.time: expected int, got a float' '[commands.sleep]\ntime = 1.0\n'
config 7 'd.toml: commands.sleep.nap: unknown setting' '[commands.sleep]\nnap = 1\n'
config 7 'd.toml: commands.sleep.only: it can only be set with the flag --only' '[commands.sleep]\nonly = "a"\n'
config 7 'd.toml: plugins.example.depth and example.depth are the same setting' '[plugins.example]\ndepth = 1\n[example]\ndepth = 2\n'
config 7 'd.toml: plugins.example.depth: expected int, got a date' '[plugins.example]\ndepth = 2020-01-01\n'
config 2 'd.toml:1:' '[commands\n'
config 2 "d.toml: unknown key 'nonsense'" 'nonsense = 1\n'
config 2 "d.toml: unknown table 'nonsense': no plugin or command is called so" '[nonsense]\na = 1\n'
config 2 "d.toml: unknown table 'plugins.nosuch': no plugin is called so" '[plugins.nosuch]\na = 1\n'
config 2 "d.toml: unknown table 'commands.slep': no command is called so" '[commands.slep]\ntime = 1\n'
config 2 "d.toml: unknown table 'defaults.mrak': no task type is called so" '[defaults.mrak]\nms = 1\n' attend
config 0 '' 'plugin-dir = "absent"\n[plugins.example]\n[commands.sleep]\n[defaults.mark]\nms = 1\n'
# A plugin that failed may have them.
printf '[plugins.broken]\na = 1\n[commands.nosuch]\na = 1\n' >d.toml
expect 0 '' "d.toml: the table 'commands.nosuch' is not used: no command of a plugin that started is called so" --plugin-dir mixed -c d.toml sleep
for name in plugin-dir plugin_dir pluginDir; do
    printf '%s = "one"\n' "$name" >d.toml
    expect 0 '' '' -c d.toml sleep
done
config 2 'd.toml: plugin-dir and plugin_dir are the same setting' 'plugin-dir = "a"\nplugin_dir = "b"\n'
config 2 'd.toml: pluginDir and plugin-dir are the same setting' 'pluginDir = "a"\nplugin-dir = "a"\n'
config 2 'd.toml: directory: expected a path, got an integer' 'directory = 1\n'
config 2 'd.toml: defaults.mark: expected a table' '[defaults]\nmark = 1\n'
config 2 'd.toml: commands: expected a table' 'commands = 1\n'
config 2 'd.toml: plugins.a: expected a table' '[plugins]\na = 1\n'
config 2 'd.toml: logging.level: expected a string' '[logging]\nlevel = 1\n'
config 2 'd.toml: logging.level: expected trace' '[logging]\nlevel = "loud"\n'
config 2 'd.toml: logging.colour: unknown setting' '[logging]\ncolour = "red"\n'
config 2 'd.toml: tasks[0]: missing type' '[[tasks]]\nid = "a"\n' attend
config 2 "d.toml: tasks[0]: 'ms' is also in its config table" '[[tasks]]\ntype = "mark"\nms = 1\nconfig = {ms = 2}\n' attend
config 2 "tasks[0].dependencies: no task has the id 'mark-1', or that type" '[[tasks]]\ntype = "mark"\ndependencies = ["mark-1"]\n' attend
config 2 "tasks[0].needs: no task has the id 'b', or that type" '[[tasks]]\ntype = "mark"\nneeds = ["b"]\n' attend
config 2 "two tasks have the id 'a'" '[[tasks]]\ntype = "m"\nid = "a"\n[[tasks]]\ntype = "m"\nid = "a"\n' attend
config 2 'circular dependency: a needs c, c needs b, b needs a' \
    '[[tasks]]\ntype="m"\nid="x"\nneeds=["a"]\n[[tasks]]\ntype="m"\nid="a"\nneeds=["c"]\n[[tasks]]\ntype="m"\nid="b"\nneeds=["a"]\n[[tasks]]\ntype="m"\nid="c"\nneeds=["b"]\n' attend
config 2 'circular dependency: a needs a' '[[tasks]]\ntype = "m"\nid = "a"\nneeds = ["a"]\n' attend
lacks trace pid
config 7 '1 of 1 tasks failed' '[[tasks]]\ntype = "mark"\nconfig = {ms = true}\n' attend
has out 'd.toml: tasks[0].config.ms: expected int, got a boolean'
config 7 '1 of 1 tasks failed' '[[tasks]]\ntype = "mark"\nms = true\n' attend
has out 'd.toml: tasks[0].ms: expected int, got a boolean'
# With a task that uses it, with one that overrides it, and without any.
for task in 'type = "mark"' 'type = "mark"\nms = 1' 'type = "dry"'; do
    config 7 'duplex reginald: d.toml: defaults.mark.ms: expected int, got a boolean' "[[tasks]]\n$task\n[defaults.mark]\nms = true\n" attend
    lacks trace validateTask
done
config 7 '' '[[tasks]]\ntype = "mark"\nconfig = {list = []}\n' attend
has out 'tasks[0].config.list: expected bool, int or string, got an array'
expect 2 '' $'duplex reginald: attend needs a configuration with tasks\nhint: pass --config FILE, or set REGINALD_CONFIG' --plugin-dir one attend
expect 2 '' "cannot read absent.toml" --plugin-dir one -c absent.toml attend

# Commands that do not go well.
expect 1 '' 'fail failed: it went wrong' --plugin-dir one fail
lacks err $'\x1b'
expect 1 '{"error":{"exit":1,"kind":"refused","message":"fail failed: it went wrong' '' --plugin-dir one --json fail
expect 1 '' 'refuse failed: no (-32602)' --plugin-dir one refuse
lacks trace runCommand
expect 4 '' 'die of the plugin example failed' --plugin-dir one die
gone
expect 6 '' 'violation' --plugin-dir one rant
gone
expect 0 '{"event":"command","command":"sleep","plugin":"example","state":"done"}' '' --plugin-dir one --json sleep

# Logs: levels, fields, forms; nothing of a plugin steers the terminal.
expect 0 '' 'INFO  example: an \x1b[31mescape path="/a b" n=3 word=x' --plugin-dir one say
for text in 'INFO+2 example: between' 'WARN  example: a warning' 'ERROR example: an error' 'stderr: on stderr\x1b[2J'; do has err "$text"; done
lacks err 'a debug line'
lacks err $'\x1b'
has trace '"logging": {"enabled": true, "level": "INFO"}'
expect 0 '' 'a trace' --plugin-dir one --log-level TRACE say
expect 0 '' 'an error' --plugin-dir one --log-level warn+1 say
lacks err 'a warning'
lacks err 'on stderr'
REGINALD_LOG_LEVEL=error expect 0 '' 'an error' --plugin-dir one say
lacks err 'a warning'
expect 2 '' '--log-level: expected trace' --plugin-dir one --log-level loud say
expect 0 '' '' --plugin-dir one --log-format json --log-level debug say
events '[one["msg"] for one in all if "kind" not in one] == ["a debug line", "an \x1b[31mescape", "between", "a warning", "an error"]' err
events 'all[1]["fields"] == {"path": "/a b", "n": 3, "word": "x"} and all[1]["plugin"] == "example" and all[1]["level"] == "INFO"' err
events '[one["level"] for one in all if one.get("kind") == "stderr"] == ["WARN"]' err
printf '[logging]\nenabled = false\n' >quiet.toml
expect 0 '' '' --plugin-dir one -c quiet.toml say
[[ ! -s err ]] || complain "it is not quiet: $(cat err)"
has trace '"logging": {"enabled": false'
expect 0 '' '' --plugin-dir one --revision gen-a sleep
has trace '"logging": {"enabled": true, "level": "TRACE"}'
expect 0 '' $'\x1b[32mINFO' --plugin-dir one --color always say
expect 0 '' ' example -> {"jsonrpc":"2.0","id":1,"method":"handshake"' --plugin-dir one --show --record talk.jsonl sleep
has talk.jsonl runCommand

# One that fails is named and left out; all are listed.
expect 0 '' 'ERROR broken: failed: ' --plugin-dir mixed sleep -t 1
gone
expect 0 '{"event":"failed","plugin":"broken","path":"mixed/reginald-broken","text":"' '' --plugin-dir mixed --json sleep
expect 0 '' "has a command 'plugins', which cannot be run: that name lists the plugins" --plugin-dir mixed plugins
grep -q '^example  *0.1.0  *ready  *commands: sleep, .*; tasks: mark, dry, kill$' out || complain "$(cat out)"
grep -q '^broken  *failed ' out || complain "$(cat out)"
lacks out $'\x1b'
expect 0 '' '' --plugin-dir mixed --json plugins
events 'len(of("plugin")) == 3 and [one["state"] for one in all] == ["failed", "ready", "ready"]'
events 'all[1]["commands"][0]["settings"][0] == {"key": "time", "type": "int", "default": 5, "flag": "time", "shorthand": "t", "usage": "time to sleep", "variable": "REGINALD_SLEEP_TIME"}'
expect 3 '' 'no plugin that started provides it' --plugin-dir mixed snore
expect 0 '' 'silent: failed: did not answer handshake in time' --plugin-dir slow --handshake-timeout 6s sleep
gone

# Tasks: needs, jobs, failures.
cat >tasks.toml <<'END'
[[tasks]]
type = "mark"
id = "last"
needs = ["left", "right"]
dir = "sub"
config = {name = "last"}
[[tasks]]
type = "mark"
id = "left"
config = {name = "left", ms = 300}
[[tasks]]
type = "mark"
id = "right"
dir = "/tmp"
config = {name = "right", ms = 300}
END
expect 2 '' '--handshake-timeout: 0 leaves no time; pass a longer time, or never' --plugin-dir one --handshake-timeout 0 plugins
expect 2 '' 'duplex reginald: --jobs: expected at least 1, got 0' --plugin-dir one -c tasks.toml --jobs 0 attend
expect 0 '3 done, 0 failed, 0 skipped' '' --plugin-dir one -c tasks.toml attend
order() { sed -n 's/^example \(begin\|end\) "\(.*\)"/\1 \2/p' trace | tr '\n' ' '; }
[[ $(order) == 'begin left begin right end '*' end '*' begin last end last ' ]] || complain "$(order)"
has trace "runTask {\"type\": \"mark\", \"dir\": \"$work/sub\", \"config\": [{\"key\": \"name\", \"value\": \"last\", \"type\": \"string\"}]}"
has trace "\"dir\": \"$work\""
has trace '"dir": "/tmp"'
expect 0 '' '' --plugin-dir one -c tasks.toml --jobs 1 apply
[[ $(order) == 'begin left end left begin right end right begin last end last ' ]] || complain "$(order)"
expect 0 '' '' --plugin-dir one -c tasks.toml --json tend
events 'state("last") == "done" and all[-1] == {"event": "summary", "tasks": 3, "done": 3, "failed": 0, "leftOut": 0, "lookedAt": 0, "notRun": 0}'
events '[one for one in of("task") if one["task"] == "left"][-1]["ms"] >= 290'

cat >fails.toml <<'END'
[[tasks]]
type = "mark"
id = "a"
config = {name = "a", fail = true}
[[tasks]]
type = "mark"
id = "b"
needs = ["a"]
[[tasks]]
type = "mark"
id = "c"
needs = ["b"]
[[tasks]]
type = "mark"
id = "d"
END
expect 1 '1 done, 1 failed, 2 skipped' '1 of 4 tasks failed' --plugin-dir one -c fails.toml attend
has out 'failed  a (mark): the task failed'
has out 'skipped c (mark): it needs b, which did not finish'
has out 'done    d (mark)'
printf '[[tasks]]\ntype = "mark"\nid = "e"\nconfig = {bad = 1}\n' | cat fails.toml - >refused.toml
expect 7 'failed  e (mark): bad is bad' '' --plugin-dir one -c refused.toml attend
has out '0 done, 1 failed, 0 skipped, 4 not run'
lacks trace runTask
printf '[[tasks]]\ntype = "nobody"\n[[tasks]]\ntype = "mark"\n' >nobody.toml
expect 2 'tasks[0] (nobody): no plugin provides this task type' '' --plugin-dir one -c nobody.toml attend
has out '1 done, 1 failed'
expect 3 'tasks[0] (nobody): no plugin that started provides this task type' '' --plugin-dir mixed -c nobody.toml attend
printf '[[tasks]]\ntype = "kill"\n[[tasks]]\ntype = "mark"\nconfig = {ms = 5000}\n' >kill.toml
expect 4 '0 done, 2 failed' '' --plugin-dir one -c kill.toml attend
printf '[[tasks]]\ntype = "dry"\nconfig = {dry-run = false}\n[[tasks]]\ntype = "mark"\n' >dry.toml
expect 0 '1 done, 0 failed, 0 skipped, 1 only checked (dry run)' '' --plugin-dir one -c dry.toml --dry-run attend
has trace '{"key": "dry-run", "value": true, "type": "bool"}'
lacks trace '"type": "mark", "dir"'
# many COUNT: so many tasks.
many() { seq "$1" | sed 's/.*/[[tasks]]\ntype = "n"/' >many.toml; }
many 10000
expect 2 '0 done, 10000 failed' '10000 of 10000 tasks failed' --plugin-dir one -c many.toml attend
many 10001
expect 2 '' 'many.toml: too many tasks: at most 10000 are allowed' --plugin-dir one -c many.toml attend
{ printf 'tasks = [['; seq -s, 99990; printf ']]\n'; } >many.toml
expect 2 '' 'tasks[0]: expected a table' --plugin-dir one -c many.toml attend
{ printf 'tasks = [['; seq -s, 100001; printf ']]\n'; } >many.toml
expect 2 '' 'many.toml:1:' --plugin-dir one -c many.toml attend
printf '# nothing\n' >empty.toml
expect 0 '0 done, 0 failed, 0 skipped' '' --plugin-dir one -c empty.toml attend

# The end: one that ignores it is killed in time; a signal ends everything.
plugin stays stays example
began=$(date +%s%N)
expect 0 '' 'stays: stopped: was killed' --plugin-dir stays --stop-timeout 500ms sleep
(($(date +%s%N) - began < 5000000000)) || complain "stopping took too long"
gone
SECONDS=0
expect 0 '' 'stays: stopped: was killed: it did not exit in time' --plugin-dir stays --stop-timeout 0 sleep
((SECONDS < 5)) || complain "--stop-timeout 0 took $SECONDS s"
gone
# interrupt SIGNAL COMMAND...: sent once the plugin is at work.
interrupt() {
    local signal=$1 got=0
    shift
    : >trace
    "$reginald" "$@" >out 2>err </dev/null &
    host=$!
    for ((i = 0; i < 100; i++)); do
        if grep -qE 'runCommand|runTask|silent handshake' trace; then break; fi
        sleep 0.05
    done
    kill "-$signal" "$host"
    for ((i = 0; i < 100; i++)); do
        kill -0 "$host" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "$host" 2>/dev/null || true
    wait "$host" || got=$?
    host=
    ((got == 130)) || complain "$*: code $got after $signal; $(cat out err)"
    gone
}
# The configuration may come from the standard input; then folders are meant from here.
code=0
printf '[[tasks]]\ntype = "mark"\n' | timeout 15 "$reginald" --plugin-dir one -c - attend >out 2>err || code=$?
((code == 0)) || complain "code $code: $(cat out err)"
has trace "\"dir\": \"$work\""
interrupt INT --plugin-dir one wait
has err 'interrupted'
interrupt TERM --plugin-dir stays stay
interrupt INT --plugin-dir slow sleep
printf '[[tasks]]\ntype = "mark"\nconfig = {ms = 9000}\n' >long.toml
interrupt INT --plugin-dir one -c long.toml --json attend
events 'all[-1]["error"]["exit"] == 130 and of("summary")[0]["notRun"] == 1'
exit $failed
