#!/usr/bin/env bash
# duplex hermes host without its console: every option, every exit code.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"
# shellcheck source=/dev/null
. "$SOURCE/tests/check/help-common.bash"

# --- Words. ------------------------------------------------------------------------------------
usage() {
    local err=$1 got=0
    shift
    timeout 15 "$hermes" "$@" <in >out 2>err || got=$?
    ((got == 2)) || complain "duplex-hermes $*: code $got, expected 2"
    # One line, and perhaps a hint.
    [[ $(cat err) == *"$err"* && ! -s out ]] || complain "duplex-hermes $*: expected '$err': $(cat out err)"
    [[ $(wc -l <err) == 1 || $(wc -l <err) == 2 && $(tail -n 1 err) == 'hint: '* ]] || complain "more than an error and a hint: $(cat err)"
}
usage "duplex hermes: missing subcommand: expected 'host'
hint: run 'duplex hermes host [OPTION...] [MESSAGE]'"
for word in edit run open serve hots; do
    usage "duplex hermes: unknown subcommand '$word'
hint: did you mean 'duplex hermes host'?" "$word"
done
usage "duplex hermes: unknown subcommand 'a.hl7'
hint: to open a message, run 'duplex hermes host a.hl7'" a.hl7
usage "duplex hermes: expected at most one MESSAGE, but also got 'b'" host a b
usage "unknown option '--nothing'" host --nothing
usage "--env: expected NAME=VALUE, got 'x'" host --env x
usage "duplex hermes: --settle: 'never' is not allowed: no command would ever count as done" host --settle never
usage "--settle: expected" host --settle soon
usage "--start-timeout: 0 leaves no time; pass a longer time, or never" host --start-timeout 0
usage "--format: expected" host --format xml
usage "--revision: expected" host --revision 1999
usage "duplex hermes: --answer: expected DIALOG=ANSWER, got 'x'
hint: DIALOG is showMessage, showConfirm, openFile, openFiles, saveFile, selectDirectory or any" host --answer x
usage "--answer: expected DIALOG=ANSWER, got 'x=yes'" host --answer x=yes
usage "--answer: 'maybe' is not a valid answer to showConfirm" host --answer showConfirm=maybe
usage "--answer: 'yes' is not a valid answer to any" host --answer any=yes
usage "--answer: '' is not a valid answer to openFile" host --answer openFile=
usage "--answer: 'x' is not a valid answer to showMessage" host --answer showMessage=x
usage "--opener: unclosed quote" host --opener "x '"
usage "--opener: expected a program" host --opener "''"
usage "duplex hermes: extension 'x \"': unclosed quote, or a backslash at the end" host -x 'x "'
usage "duplex hermes: cannot read absent.hl7: No such file or directory" host absent.hl7
usage "cannot read $work: Is a directory" host "$work"
usage "duplex hermes: cannot read the message from stdin: the console reads it
hint: pass --run COMMAND to read the message from stdin" host -
usage "cannot read none.json: " host none.json
printf '{"segments": 1}' >none.json
usage "cannot read none.json: " host none.json
usage "cannot create /dev/null/x: Not a directory" host -x x --data /dev/null/x
usage "absent/trace" host --record absent/trace
timeout 5 "$hermes" host --json --nothing >out && complain "an unknown option"
events 'all[0]["error"]["exit"] == 2'
helps 'Edit an HL7 message with extensions of the Hermes editor' hermes
helps 'Open an HL7 message, start extensions, and do what they ask' hermes host
timeout 5 "$hermes" --help-all >out
for word in --extension --settings --run --write --format --revision --data --opener --answer --settle --start-timeout \
    --stop-timeout --debounce --show --record --env --clean-env --inherit-env --cwd --json MESSAGE openFiles=PATH:PATH \
    shutting_down; do
    has out "$word"
done
timeout 5 "$BUILD/duplex" hermes --help-all | cmp - out || complain "duplex hermes --help-all is another one"
# Every command of the console is in that text, and the other way round.
lines help
expect 0 '' ''
mv out commands
while read -r name _; do grep -q "^  $name " <("$hermes" --help-all) || complain "the help lacks $name"; done <commands
[[ $(wc -l <commands) == 20 ]] || complain "other commands than expected"

# --- Without the console. ----------------------------------------------------------------------
: >in
expect 0 '' 'Cmd: changed the message' -x "$extension" --run cmd/upper a.hl7
same out upper.hl7
same a.hl7 a.orig
has err 'Cmd: reason closing'
expect 0 '' '' -x "$extension" --run cmd/upper --write written.hl7 a.hl7
same written.hl7 upper.hl7
[[ ! -s out ]] || complain "the message is on the standard output, too"
expect 0 '' '' -x "$extension" -r cmd/upper -r cmd/latin --write - --format yaml a.hl7
has out 'Müller'
expect 0 '' '' -x "$extension" --run cmd/upper --write out.json a.hl7
python3 -c 'import json; assert json.load(open("out.json"))["segments"][1]["fields"]["5"]["1"] == "DOE"' || complain "out.json"
expect 0 '' '' -x "$extension" --run cmd/upper --write out.toml a.hl7
has out.toml '[[segments]]'
# The line end of the last segment is no part of a document.
segments() { tr '\r' '\n' <"$1" | grep .; }
# A document is read by its name, and is the same message.
for name in out.json out.toml; do
    expect 0 '' '' -x "$extension" --run cmd/env --format hl7 $name
    diff <(segments out) <(segments upper.hl7) || complain "$name is another message"
done
expect 0 '' '' -x "$extension" --run cmd/env --format yaml a.hl7
cp out out.yml
expect 0 '' '' -x "$extension" --run cmd/upper --write back.hl7 out.yml
diff <(segments back.hl7) <(segments upper.hl7) || complain "yaml is another message"
cp a.hl7 in
expect 0 'PID|1||555^^^H^MR||DOE^jane' '' -x "$extension" --run cmd/upper -
: >in
# It is not done while it still speaks.
expect 0 '' '' -x "$extension" --run cmd/slow --settle 300ms a.hl7
same out slow.hl7
expect 0 '' '' -x "$extension" --run cmd/slow --settle 1ms a.hl7
same out a.hl7
# 0 is a time, too: nothing is waited for.
expect 0 '' '' -x "$extension" --run cmd/slow --settle 0 a.hl7
same out a.hl7
SECONDS=0
expect 4 'DOE^jane' 'duplex hermes: Cmd did not answer shutdown in time and was killed: changes that it was still to make are missing
hint: --settle and --stop-timeout give it more time' -x "$extension stay" --stop-timeout 0 --run cmd/upper a.hl7
((SECONDS < 4)) || complain "--stop-timeout 0 took $SECONDS s"
# One that sleeps without a word is told to leave, and still served; as long as it does not read that, --stop-timeout
# has not begun.
sed 's/doe/SLEPT/' a.hl7 >slept.hl7
expect 0 '' 'Cmd: changed the message' -x "$extension sleep=1" --run cmd/sleep a.hl7
same out slept.hl7
expect 0 '' '' -x "$extension sleep=1 events" --run cmd/sleep --write slept-too.hl7 a.hl7
same slept-too.hl7 slept.hl7
has err 'got message/saved'
expect 0 '' '' -x "$extension sleep=6" --run cmd/sleep a.hl7
same out slept.hl7
expect 0 '' '' -x "$extension linger" --run cmd/levels --write lingered.hl7 a.hl7
has lingered.hl7 'LINGERED^jane'
lines 'run cmd/sleep'
expect 0 '' '' -x "$extension sleep=1" --write console.hl7 a.hl7
same console.hl7 slept.hl7
: >in
expect 4 '' 'duplex hermes: Cmd did not answer shutdown in time and was killed' -x "$extension sleep=5" --stop-timeout 200ms --run cmd/sleep a.hl7
same out a.hl7
expect 4 '' 'duplex hermes: Cmd exited before it answered shutdown: exit code 3' -x "$extension crash" --run cmd/levels a.hl7
expect 4 '' 'duplex hermes: Cmd answered shutdown with an error and was killed' -x "$extension sulk" --run cmd/levels a.hl7
expect 4 '' 'duplex hermes: Cmd did not exit when its input ended and was killed' --revision exact -x "$extension stay" --run cmd/levels a.hl7
# A command that is done too early is worked on beside the next one: that is reported.
expect 0 '' 'duplex hermes: warning: Slow changed the message while cmd/slow ran, after its own command counted as done; pass a longer --settle' \
    -x "$extension name=Slow only=cmd/sleep sleep=0.6" -x "$extension name=Other only=cmd/slow" --settle 300ms --run cmd/sleep --run cmd/slow --format hl7 a.hl7
# What could not be read may have been a change.
expect 6 '' 'duplex hermes: cmd/garbage: Cmd sent a message that could not be read' -x "$extension" --run cmd/garbage a.hl7
[[ ! -s out ]] || complain "the message is written in spite of that"
expect 6 '' 'duplex hermes: Cmd sent a message that could not be read' -x "$extension sleep=0.5" --run cmd/late-garbage a.hl7
same out a.hl7
for command in bad-header bad-length no-id; do
    expect 6 '' 'Cmd sent a message that could not be read' -x "$extension" --run cmd/$command a.hl7
    [[ ! -s out ]] || same out a.hl7
done
# A change is not made because its id is that of one that is not answered yet.
for revision in '' '--revision exact'; do
    # shellcheck disable=SC2086 # two words
    expect 6 '' 'duplex hermes: cmd/same-id: Cmd sent a message that could not be read' $revision -x "$extension" --run cmd/same-id a.hl7
    has err 'Cmd: violation: a request with the id of a pending request'
done
# An output that ends inside a message, whatever came before it, lacks that message.
for revision in '' '--revision exact'; do
    for word in cut-body cut-head cut-block; do
        # shellcheck disable=SC2086 # two words
        expect 6 '' 'duplex hermes: Cmd sent a message that could not be read' $revision -x "$extension $word" --run cmd/upper a.hl7
        has err 'Cmd: violation: truncated message: '
        has out 'DOE^jane'
        [[ $(grep -c violation err) == 1 ]] || complain "more than one line about it: $(cat err)"
    done
    # shellcheck disable=SC2086 # two words
    expect 6 '' 'Cmd: violation: truncated message: got ' $revision -x "$extension" --run cmd/cut a.hl7
    # Text that is printed last is none.
    # shellcheck disable=SC2086 # two words
    expect 0 'DOE^jane' '' $revision -x "$extension text-end" --run cmd/upper a.hl7
done
expect 6 '' 'Cmd: violation: message too long: ' -x "$extension huge-end" --run cmd/levels a.hl7
expect 6 '' '' --json -x "$extension cut-body" --run cmd/upper a.hl7
events '[one["extension"] for one in of("violation") if "truncated" in one["text"]] == ["Cmd"]'
lines 'run cmd/cut' wait
expect 6 '' 'Cmd: violation: truncated message: ' -x "$extension" --write cut.hl7 a.hl7
: >in
# -e meant --extension in 0.1, and does so for one more release.
expect 0 'DOE^jane' 'duplex hermes: warning: -e will not mean --extension in the next release; write --extension' -e "$extension" --run cmd/upper a.hl7
# A command is a request in the old revision, and done when that is answered.
expect 0 '' '"id": 2, "result": {"success": true}' -x "$extension" --show --revision 2025-11-24 --run cmd/slow --settle 1ms a.hl7
same out slow.hl7
has err '"id":2,"method":"command/execute"'
expect 0 '' 'Cmd -> {"jsonrpc":"2.0","method":"command/execute"' -x "$extension" --show --run cmd/upper a.hl7
has err 'Cmd <- '
expect 0 'PID|1||555^^^H^MR||DOE^jane' '' -x "$extension" --revision exact --run cmd/upper a.hl7
# What is no HL7 is refused; an empty editor has no form.
expect 7 '' 'duplex hermes: cannot open none.hl7: Message must start with MSH segment' -x "$extension" --run cmd/env none.hl7
expect 7 '' 'duplex hermes: cannot open -: Message is empty' -x "$extension" --run cmd/env -
printf 'MSH|' >short.hl7
expect 7 '' 'cannot open short.hl7: Invalid HL7 message: MSH has too few separators' --revision exact -x "$extension" --run cmd/env short.hl7
[[ ! -s out ]] || complain "something was written"
echo before >kept.json
expect 7 '' "cannot write the message as json: " -x "$extension" --run cmd/env --write kept.json
[[ $(cat kept.json) == before ]] || complain "kept.json was written"
expect 7 '' "cannot write the message as toml: " -x "$extension" --run cmd/env --format toml
[[ ! -s out ]] || complain "something was written"

# The example adds segments in the form that works with the real editor, too.
for revision in '' '--revision exact'; do
    # shellcheck disable=SC2086 # two words
    expect 0 'ZWN|2' 'Window: the note was written' $revision -x "$BUILD/examples/hermes-window" --run window/open a.hl7
    has out 'PID|1||555^^^H^MR||doe^jane||19800101|F'
done

# --- Extensions that fail. ---------------------------------------------------------------------
expect 1 '' 'duplex hermes: no extension has the command '\''cmd/nothing'\' -x "$extension" --run cmd/nothing a.hl7
[[ ! -s out ]] || complain "the message is written in spite of that"
expect 3 '' 'no extension could be started' -x /absent/program -x "'$work'" --run x a.hl7
has err 'No such file'
expect 3 '' 'no extension could be started' -x "$extension" --cwd absent --run x a.hl7
expect 0 'DOE^jane' '/absent/program: failed' -x /absent/program -x "$extension" --run cmd/upper a.hl7
expect 4 '' 'duplex hermes: cmd/exit did not finish: Cmd exited on its own: the program exited with code 3' -x "$extension" --run cmd/exit --run cmd/upper --write late.hl7 a.hl7
[[ ! -e late.hl7 ]] || complain "a message is written in spite of that"
expect 4 '' 'duplex hermes: python3 did not start: it exited before it responded to initialize: the program exited with code 3' -x "$extension die" --run cmd/upper a.hl7
has err 'code 3'
expect 4 '' 'not today' -x "$extension refuse" --run cmd/upper a.hl7
expect 4 '' 'duplex hermes: python3 did not start: it exited before it responded to initialize: the program exited with code 3' -x "$extension" -x "$extension die" --run cmd/upper a.hl7
expect 4 '' 'cmd/dialog-and-exit did not finish: Cmd exited on its own' -x "$extension" --settle 2s --run cmd/dialog-and-exit a.hl7
SECONDS=0
expect 5 '' $'duplex hermes: python3 timed out: no response to initialize\nhint: --start-timeout sets the limit' -x "$extension hang" --start-timeout 300ms --run cmd/upper a.hl7
expect 4 'DOE^jane' '' -x "$extension stay" --stop-timeout 200ms --run cmd/upper a.hl7
((SECONDS < 6)) || complain "that took $SECONDS s"
expect 0 'DOE^jane' 'Cmd: flooded' -x "$extension" --run cmd/flood --run cmd/upper a.hl7
# Repeats are counted; in each second the line is shown anew.
lines=$(awk '/flood of lines$/ { count++; same = 1; next }
    same && /last line repeated [0-9,]+ times$/ { gsub(",", ""); count += $(NF - 1) }
    { same = 0 }
    END { print count }' err)
((lines == 20000)) || complain "lines are lost: $lines"
expect 0 '' "duplex hermes: warning: the extension 'Cmd' printed text on stdout that is not JSON-RPC: \"printed by mistake\" (it breaks strict clients)" -x "$extension" --run cmd/stray a.hl7
expect 0 '' 'Cmd: a \x1b[2J and \x07 in it' -x "$extension" --run cmd/escape a.hl7
expect 0 '' 'Cmd: warn: careful' -x "$extension" --run cmd/levels a.hl7
has err 'Cmd: error: broken'
expect 0 '' 'N?[1m: running' -x "$extension $(printf 'name=N\033[1m')" --show --run cmd/levels a.hl7
lacks err $'\033'

# --- Where they run, and what they know. -------------------------------------------------------
mkdir folder
CMD_SECRET=1 expect 0 '' "\"cwd\": \"$work/folder\"" -x "$extension" --clean-env --cwd folder --env CMD_A=1 --env 'CMD_B=x y' --run cmd/env a.hl7
has err '"CMD_A": "1"'
has err '"CMD_B": "x y"'
has err "\"HERMES_DATA_DIR\": \"$work/share/duplex/hermes\""
lacks err CMD_SECRET
CMD_SECRET=1 expect 0 '' '"CMD_SECRET": "1"' -x "$extension" --run cmd/env a.hl7
CMD_SECRET=1 expect 0 '' '--inherit-env is now the default' -x "$extension" --inherit-env --run cmd/env a.hl7
[[ $(stat -c %a share/duplex/hermes share/duplex share | tr '\n' ' ') == '700 700 700 ' ]] || complain "the mode of share"
expect 0 '' "\"HERMES_DATA_DIR\": \"$work/data/of/it\"" -x "$extension" --data data/of/it --run cmd/env a.hl7
[[ $(stat -c %a data/of/it) == 700 ]] || complain "the mode of --data"
unset XDG_DATA_HOME
HOME=$work/home expect 0 '' "\"HERMES_DATA_DIR\": \"$work/home/.local/share/duplex/hermes\"" -x "$extension" --run cmd/env a.hl7
HOME='' usage "duplex hermes: no data folder for extensions: HOME is not set
hint: pass --data FOLDER" host -x "$extension"
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
has out '    cmd/upper (button Upper \x1b[1m)'
: >in
CMD_SECRET=1 expect 0 '' '"CMD_A": "ours"' --settings settings.json --env CMD_A=ours --run cmd/env
lacks err CMD_SECRET
CMD_SECRET=1 expect 0 '' '"CMD_SECRET": "1"' --settings settings.json --inherit-env --run cmd/env
lacks err 'now the default'
has err '"CMD_C": "c"'
for number in {0..2}; do usage "bad$number.json: " host --settings "bad$number.json"; done
# An entry that is wrong is told, and is no reason to do without the others.
for number in {3..11}; do expect 3 '' "bad$number.json: ignoring extensions[0]: " --settings "bad$number.json"; done
python3 -c 'import json; all = json.load(open("settings.json")); all["extensions"].insert(0, {"path": 7}); json.dump(all, open("partly.json", "w"))'
lines list
expect 0 '1 One two 1.2 running' 'partly.json: ignoring extensions[0]: path: expected a string' --settings partly.json
: >in
usage "cannot read absent.json: No such file" host --settings absent.json
printf '{"extensions": [' >broken.json
usage "broken.json: invalid JSON at byte 16: " host --settings broken.json
: >empty.json
usage "empty.json: invalid JSON at byte 0: the file is empty" host --settings empty.json
expect 0 '' '' --settings <(echo '{"extensions": []}')

exit "$failed"
