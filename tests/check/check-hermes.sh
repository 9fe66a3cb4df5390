#!/usr/bin/env bash
# duplex hermes host without its console: every option, every exit code.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"

# --- Words. ------------------------------------------------------------------------------------
usage() {
    local err=$1 got=0
    shift
    timeout 15 "$hermes" "$@" <in >out 2>err || got=$?
    ((got == 2)) || complain "duplex-hermes $*: code $got, expected 2"
    has err "$err"
    [[ $(grep -vc '^hint: ' err) == 1 && ! -s out ]] || complain "more than one line: $(cat out err)"
}
usage "say 'duplex hermes host'"
usage "unknown 'guest'; --help" guest
usage "unknown 'hots'; did you mean host?" hots
usage "one MESSAGE is opened, found 'b'" host a b
usage "unknown option '--nothing'" host --nothing
usage "--env: expected NAME=VALUE, got 'x'" host --env x
usage "--settle: nothing would ever be done" host --settle never
usage "--settle: expected" host --settle soon
usage "--format: expected" host --format xml
usage "--revision: expected" host --revision 1999
usage "--answer: expected DIALOG=ANSWER, found 'x'" host --answer x
usage "--answer: expected DIALOG=ANSWER, found 'x=yes'" host --answer x=yes
usage "--answer: 'maybe' is no answer to showConfirm" host --answer showConfirm=maybe
usage "--answer: 'yes' is no answer to any" host --answer any=yes
usage "--answer: '' is no answer to openFile" host --answer openFile=
usage "--answer: 'x' is no answer to showMessage" host --answer showMessage=x
usage "--opener: a quote is not closed" host --opener "x '"
usage "--opener: expected a program" host --opener "''"
usage "the extension 'x \"':" host -e 'x "'
usage "absent.hl7 can't be read: No such file" host absent.hl7
usage "$work can't be read: Is a directory" host "$work"
usage "a message can come from there only with --run" host -
usage "none.json can't be read: " host none.json
printf '{"segments": 1}' >none.json
usage "none.json can't be read: " host none.json
usage "/dev/null/x can't be made: Not a directory" host -e x --data /dev/null/x
usage "absent/trace" host --record absent/trace
timeout 5 "$hermes" host --json --nothing >out && complain "an unknown option"
events 'all[0]["error"]["exit"] == 2'
timeout 5 "$hermes" --help >out
for word in --extension --settings --run --write --format --revision --data --opener --answer --settle --start-timeout \
    --stop-timeout --debounce --show --record --env --clean-env --inherit-env --cwd --json MESSAGE openFiles=PATH:PATH \
    shutting_down; do
    has out "$word"
done
timeout 5 "$BUILD/duplex" hermes --help | cmp - out || complain "duplex hermes --help is another one"
# Every command of the console is in that text, and the other way round.
lines help
expect 0 '' ''
mv out commands
while read -r name _; do grep -q "^  $name " <("$hermes" --help) || complain "the help lacks $name"; done <commands
[[ $(wc -l <commands) == 20 ]] || complain "other commands than expected"

# --- Without the console. ----------------------------------------------------------------------
: >in
expect 0 '' 'Cmd: changed the message' -e "$extension" --run cmd/upper a.hl7
same out upper.hl7
same a.hl7 a.orig
has err 'Cmd: reason closing'
expect 0 '' '' -e "$extension" --run cmd/upper --write written.hl7 a.hl7
same written.hl7 upper.hl7
[[ ! -s out ]] || complain "the message is on the standard output, too"
expect 0 '' '' -e "$extension" -r cmd/upper -r cmd/latin -w - -f yaml a.hl7
has out 'Müller'
expect 0 '' '' -e "$extension" --run cmd/upper -w out.json a.hl7
python3 -c 'import json; assert json.load(open("out.json"))["segments"][1]["fields"]["5"]["1"] == "DOE"' || complain "out.json"
expect 0 '' '' -e "$extension" --run cmd/upper -w out.toml a.hl7
has out.toml '[[segments]]'
# The line end of the last segment is no part of a document.
segments() { tr '\r' '\n' <"$1" | grep .; }
# A document is read by its name, and is the same message.
for name in out.json out.toml; do
    expect 0 '' '' -e "$extension" --run cmd/env --format hl7 $name
    diff <(segments out) <(segments upper.hl7) || complain "$name is another message"
done
expect 0 '' '' -e "$extension" --run cmd/env --format yaml a.hl7
cp out out.yml
expect 0 '' '' -e "$extension" --run cmd/upper --write back.hl7 out.yml
diff <(segments back.hl7) <(segments upper.hl7) || complain "yaml is another message"
cp a.hl7 in
expect 0 'PID|1||555^^^H^MR||DOE^jane' '' -e "$extension" --run cmd/upper -
: >in
# It is not done while it still speaks.
expect 0 '' '' -e "$extension" --run cmd/slow --settle 300ms a.hl7
same out slow.hl7
expect 0 '' '' -e "$extension" --run cmd/slow --settle 1ms a.hl7
same out a.hl7
# A command is a request in the old revision, and done when that is answered.
expect 0 '' '"id": 2, "result": {"success": true}' -e "$extension" --show --revision 2025-11-24 --run cmd/slow --settle 1ms a.hl7
same out slow.hl7
has err '"id":2,"method":"command/execute"'
expect 0 '' 'Cmd -> {"jsonrpc":"2.0","method":"command/execute"' -e "$extension" --show --run cmd/upper a.hl7
has err 'Cmd <- '
expect 0 'PID|1||555^^^H^MR||DOE^jane' '' -e "$extension" --revision exact --run cmd/upper a.hl7
# What is no HL7 stays as it is, and has no other form.
expect 0 '' '' -e "$extension" --run cmd/env none.hl7
same out none.hl7
echo before >kept.json
expect 7 '' "the message can't be written as json: " -e "$extension" --run cmd/env --write kept.json none.hl7
[[ $(cat kept.json) == before ]] || complain "kept.json was written"
expect 7 '' "the message can't be written as toml: " -e "$extension" --run cmd/env --format toml none.hl7
[[ ! -s out ]] || complain "something was written"

# --- Extensions that fail. ---------------------------------------------------------------------
expect 1 '' 'no extension has the command cmd/nothing' -e "$extension" --run cmd/nothing a.hl7
[[ ! -s out ]] || complain "the message is written in spite of that"
expect 3 '' 'no extension can be started' -e /absent/program -e "'$work'" --run x a.hl7
has err 'No such file'
expect 3 '' 'no extension can be started' -e "$extension" --cwd absent --run x a.hl7
expect 0 'DOE^jane' '/absent/program: failed' -e /absent/program -e "$extension" --run cmd/upper a.hl7
expect 4 '' 'Cmd ended before cmd/exit was done: ' -e "$extension" --run cmd/exit --run cmd/upper -w late.hl7 a.hl7
[[ ! -e late.hl7 ]] || complain "a message is written in spite of that"
expect 4 '' 'python3 did not start: ' -e "$extension die" --run cmd/upper a.hl7
has err 'code 3'
expect 4 '' 'not today' -e "$extension refuse" --run cmd/upper a.hl7
expect 4 '' 'python3 did not start: ' -e "$extension" -e "$extension die" --run cmd/upper a.hl7
expect 4 '' 'Cmd ended before cmd/dialog-and-exit was done' -e "$extension" --settle 2s --run cmd/dialog-and-exit a.hl7
SECONDS=0
expect 5 '' 'python3 did not start in time (--start-timeout)' -e "$extension hang" --start-timeout 300ms --run cmd/upper a.hl7
expect 0 'DOE^jane' '' -e "$extension stay" --stop-timeout 200ms --run cmd/upper a.hl7
((SECONDS < 6)) || complain "that took $SECONDS s"
expect 0 'DOE^jane' 'Cmd: flooded' -e "$extension" --run cmd/flood --run cmd/upper a.hl7
# Repeats are counted; in each second the line is shown anew.
lines=$(awk '/flood of lines$/ { count++; same = 1; next }
    same && /last line repeated [0-9,]+ times$/ { gsub(",", ""); count += $(NF - 1) }
    { same = 0 }
    END { print count }' err)
((lines == 20000)) || complain "lines are lost: $lines"
expect 0 '' 'Cmd: violation: stray text: printed by mistake' -e "$extension" --run cmd/stray a.hl7
expect 0 '' 'Cmd: a \x1b[2J and \x07 in it' -e "$extension" --run cmd/escape a.hl7
expect 0 '' 'Cmd: warn: careful' -e "$extension" --run cmd/levels a.hl7
has err 'Cmd: error: broken'
expect 0 '' 'N?[1m: running' -e "$extension $(printf 'name=N\033[1m')" --show --run cmd/levels a.hl7
lacks err $'\033'

# --- Where they run, and what they know. -------------------------------------------------------
mkdir folder
CMD_SECRET=1 expect 0 '' "\"cwd\": \"$work/folder\"" -e "$extension" --clean-env --cwd folder --env CMD_A=1 --env 'CMD_B=x y' --run cmd/env a.hl7
has err '"CMD_A": "1"'
has err '"CMD_B": "x y"'
has err "\"HERMES_DATA_DIR\": \"$work/share/duplex/hermes\""
lacks err CMD_SECRET
CMD_SECRET=1 expect 0 '' '"CMD_SECRET": "1"' -e "$extension" --run cmd/env a.hl7
CMD_SECRET=1 expect 0 '' '--inherit-env is now the default' -e "$extension" --inherit-env --run cmd/env a.hl7
[[ $(stat -c %a share/duplex/hermes share/duplex share | tr '\n' ' ') == '700 700 700 ' ]] || complain "the mode of share"
expect 0 '' "\"HERMES_DATA_DIR\": \"$work/data/of/it\"" -e "$extension" --data data/of/it --run cmd/env a.hl7
[[ $(stat -c %a data/of/it) == 700 ]] || complain "the mode of --data"
unset XDG_DATA_HOME
HOME=$work/home expect 0 '' "\"HERMES_DATA_DIR\": \"$work/home/.local/share/duplex/hermes\"" -e "$extension" --run cmd/env a.hl7
HOME='' usage "HOME is not set" host -e "$extension"
export XDG_DATA_HOME=$work/share
python3 - "$SOURCE/tests/hermes/children/cmd_extension.py" <<'END'
import json, sys
entry = {"path": "python3", "args": [sys.argv[1], "name=One two"], "env": {"CMD_A": "theirs", "CMD_C": "c"}, "enabled": True}
json.dump({"theme": "dark", "extensions": [{"path": "/absent", "enabled": False}, entry, {"path": f"python3 '{sys.argv[1]}' name=Two", "args": []}]},
          open("settings.json", "w"))
for number, bad in enumerate([[], {}, {"extensions": {}}, {"extensions": [1]}, {"extensions": [{}]}, {"extensions": [{"path": ""}]},
                              {"extensions": [{"path": "x", "args": "y"}]}, {"extensions": [{"path": "x", "args": [1]}]},
                              {"extensions": [{"path": "x", "env": {"A": 1}}]}, {"extensions": [{"path": "x", "env": {"A=": "1"}}]},
                              {"extensions": [{"path": "x", "enabled": 1}]}, {"extensions": [{"path": "a\0b"}]}]):
    json.dump(bad, open(f"bad{number}.json", "w"))
END
lines list
expect 0 '1 One two 1.2 running' 'Two: running' --settings settings.json
has out '2 Two 1.2 running'
has out '    cmd/upper (the button Upper \x1b[1m)'
: >in
CMD_SECRET=1 expect 0 '' '"CMD_A": "ours"' --settings settings.json --env CMD_A=ours --run cmd/env
lacks err CMD_SECRET
CMD_SECRET=1 expect 0 '' '"CMD_SECRET": "1"' --settings settings.json --inherit-env --run cmd/env
lacks err 'now the default'
has err '"CMD_C": "c"'
for number in {0..2}; do usage "bad$number.json: " host --settings "bad$number.json"; done
# An entry that is wrong is told, and is no reason to do without the others.
for number in {3..11}; do expect 3 '' "bad$number.json: extensions[0]: " --settings "bad$number.json"; done
python3 -c 'import json; all = json.load(open("settings.json")); all["extensions"].insert(0, {"path": 7}); json.dump(all, open("partly.json", "w"))'
lines list
expect 0 '1 One two 1.2 running' 'partly.json: extensions[0]: path: expected a string; it is left out' --settings partly.json
: >in
usage "absent.json can't be read: No such file" host --settings absent.json
printf '{"extensions": [' >broken.json
usage "broken.json: at byte 16: " host --settings broken.json
: >empty.json
usage "empty.json: at byte 0: it is empty" host --settings empty.json
expect 0 '' '' --settings <(echo '{"extensions": []}')

exit "$failed"
