#!/usr/bin/env bash
# The console of duplex hermes host: every command, from a pipe and at a terminal, and dialogs.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"

# --- The message. ------------------------------------------------------------------------------
lines 'get PID.5' 'get  "PID.5.1"' '# a remark' '' 'set PID.5.1 "O|Neil"' 'get PID.5.1' show undo show 'get OBX[2].5' 'get PID.2' 'get PID.99' 'get PID.5.9' 'get ZZZ.1'
expect 1 '' '' a.hl7
cat >wanted <<'END'
doe^jane
doe
O|Neil
MSH|^~\&|ADT1|HOSP|LAB|HOSP|20240102030405||ADT^A01|123|P|2.5
PID|1||555^^^H^MR||O\F\Neil^jane||19800101|F
OBX|1|TX|a||one
OBX|2|TX|b||two
MSH|^~\&|ADT1|HOSP|LAB|HOSP|20240102030405||ADT^A01|123|P|2.5
PID|1||555^^^H^MR||doe^jane||19800101|F
OBX|1|TX|a||one
OBX|2|TX|b||two
two

END
diff wanted out || complain "other results"
# An empty value is an empty line; what is absent is an error.
[[ $(cat err) == $'duplex hermes: \'|\' is stored as text, escaped; to set fields, use PID.5, PID.6\nget: PID.99 is absent\nget: PID.5.9 is absent\nget: ZZZ.1 is absent' ]] || complain "what is told: $(cat err)"
lines 'create NK1' 'set NK1.2 x' 'remove OBX[1]' 'show' 'save b.hl7' 'set NK1.2 y' save 'show json' 'show toml' 'show yaml'
expect 0 'OBX|2|TX|b||two
NK1||x' '' a.hl7
same a.hl7 a.orig
has b.hl7 'NK1||y'
lacks b.hl7 'one'
has out '"segment": "NK1"'
has out 'segment = "NK1"'
has out 'segment: NK1'
lines 'set PID.5.1 changed' 'save x.json' 'set PID.5.2 again' save
expect 0 '' '' a.hl7
python3 -c 'import json; assert json.load(open("x.json"))["segments"][1]["fields"]["5"] == {"1": "changed", "2": "again"}' || complain "x.json: $(cat x.json)"
lines 'set PID.5.1 lost'
expect 0 '' 'duplex hermes: warning: unsaved changes to the message were discarded' a.hl7
expect 0 '' 'duplex hermes: warning: unsaved changes to the message were discarded' --json a.hl7
expect 0 '' '' --write kept.hl7 a.hl7
has kept.hl7 'lost^jane'
lacks err 'unsaved'
expect 0 'lost^jane' '' --write - a.hl7
# Nothing is discarded without a word; and an undo brings it back, with its file.
lines 'set PID.5.1 unsaved' new 'open b.hl7' 'open --discard' 'open --discard a b' 'open --discard a 1 c' 'new --discard a' 'new x' 'get PID.5.1' \
    'new --discard' show undo 'get PID.5.1' 'open --discard b.hl7' 'set NK1.2 z' undo undo 'get PID.5.1' undo 'get PID.5.1' undo
expect 1 "unsaved
back to $work/a.hl7
unsaved
back to $work/a.hl7
unsaved
doe" 'new: the message has unsaved changes; save them, or use new --discard
open: the message has unsaved changes; save them, or use open --discard
open: missing argument; usage: open [--discard] FILE [N]
open: expected the number of a message, from 1
open: too many arguments; put quotes around a value that contains spaces
new: too many arguments; put quotes around a value that contains spaces
new: usage: new [--discard]
undo: nothing to undo' a.hl7
same a.hl7 a.orig
cp a.hl7 a2.hl7
lines 'set PID.5.1 X' 'open --discard a2.hl7' 'set PID.5 Y' save undo undo save undo 'get PID.5.1'
expect 1 "back to $work/a.hl7
X" 'undo: nothing more to undo here; save this message to bring back the discarded one' a.hl7
# --write writes the last message only: the one before is not lost without a word either.
lines 'set PID.5.1 unsaved' 'open b.hl7'
expect 1 '' 'open: the message has unsaved changes' --write w.hl7 a.hl7
has w.hl7 'unsaved^jane'
expect 1 '' '' --json a.hl7
events 'result("open")["error"] == "the message has unsaved changes; save them, or use open --discard"'
lines 'set PID.5.1 unsaved' 'new --discard' undo
expect 0 '' '' --json a.hl7
events 'result("undo")["file"].endswith("/a.hl7")'
lines new 'show' "open a.hl7" 'get PID.5.1' quit 'get PID.5.2'
expect 0 'doe' '' b.hl7
lacks out jane
printf 'get PID.5.1' >in # no line end
expect 0 'doe' '' a.hl7
printf 'get PID.5.1\r\n\r\nset PID.5.1 "a b"\r\nget PID.5.1\r\nlist\r' >in # lines of other systems
expect 0 $'doe\na b' '' a.hl7
# What a get gives, a set takes back; a lost escape character is reported, and can be mended.
printf 'MSH|^~&|A\rPID|1||a&b|one\\.br\\two\r' >lost.hl7
lines 'get PID.3.1.2' 'set PID.1 x&y' 'set MSH.2 ^~\&' 'set PID.1 x&y' 'get PID.4' 'set PID.4 one\.br\two' show
expect 1 $'b\none\\.br\\two\nMSH|^~\\&|A\nPID|x\\T\\y||a&b|one\\.br\\two' "warning: lost.hl7: MSH.2 has lost its escape character: a value that needs one cannot be set before MSH.2 is (^~\\&)
set: Path 'PID.1' needs a character that MSH.2 does not have" lost.hl7
expect 1 '' '' --revision exact lost.hl7
lacks err 'lost its escape'
lines show 'get PID.5' 'show json'
expect 7 '' 'duplex hermes: cannot open none.hl7: Message must start with MSH segment' none.hl7
expect 1 '' 'get: '
has err 'show: '

# What others wrote to the file stays: another program, or another message of the same file.
others=(-x "$extension" --env CMD_FILE=own.hl7)
cp a.hl7 own.hl7
cp a.hl7 theirs.hl7
printf 'ZZZ|theirs\r' >>theirs.hl7
lines 'set PID.5.1 mine' 'run cmd/append' wait save 'save ./own.hl7' "save $work/other.hl7"
expect 1 '' "save: cannot write $work/own.hl7: it has changed since the message was opened; open it again, or use save OTHER or save --overwrite" "${others[@]}" own.hl7
has err 'save: cannot write ./own.hl7: it has changed since the message was opened'
same own.hl7 theirs.hl7
has other.hl7 'mine^jane'
cp a.hl7 own.hl7
lines 'set PID.5.1 mine' 'run cmd/append' wait 'save --overwrite' 'set PID.5.2 too' save 'save --overwrite a b'
expect 1 '' 'save: too many arguments' "${others[@]}" own.hl7
has own.hl7 'mine^too'
lacks own.hl7 theirs
lines 'save --overwrite other.hl7' 'save other.hl7 b'
expect 1 '' 'save: usage: save [--overwrite] [FILE]' own.hl7
same other.hl7 own.hl7
lines 'set PID.5.1 mine' 'run cmd/unlink' wait save
expect 0 '' '' "${others[@]}" own.hl7
has own.hl7 'mine^too'
cp own.hl7 theirs.hl7
printf 'ZZZ|theirs\r' >>theirs.hl7
lines 'run cmd/append' wait
expect 2 '' 'duplex hermes: cannot write own.hl7: it has changed since the message was opened
hint: --write OTHER writes another file' "${others[@]}" --write own.hl7 own.hl7
same own.hl7 theirs.hl7
expect 2 '' 'duplex hermes: cannot write own.hl7: it has changed since the message was opened' "${others[@]}" --run cmd/append --write own.hl7 own.hl7
lines save 'set PID.5.1 once' save 'set PID.5.1 twice' save
expect 0 '' '' own.hl7
has own.hl7 'twice^too'
printf 'MSH|^~\\&|A1\rPID|1||1\rMSH|^~\\&|A2\rPID|1||2\r' >two.hl7
lines 'set PID.3 lost?' 'open --discard two.hl7 2' 'set PID.3 second' save 'open two.hl7 1' undo save 'save --overwrite'
expect 1 '' "save: cannot write $work/two.hl7: it has changed since the message was opened" two.hl7
has two.hl7 'lost?'
lacks two.hl7 second
# A document has the text of the message, lone backslashes included; a value gets its own escaped.
printf '%s' '{"segments":[{"segment":"MSH","fields":{"1":"|","2":"^~\\&"}},{"segment":"PID","fields":{"1":"C:\\temp","2":"a^b","3":"\\X3\\"}}]}' >path.json
lines show 'set PID.4 "\X3\ C:\temp"' 'set MSH.1 "|"' show
expect 0 'PID|C:\temp|a\S\b|\X3\
MSH' '' path.json
has out 'PID|C:\temp|a\S\b|\X3\|\E\X3\E\ C:\E\temp'

# What get gives can be typed after set: backslashes, and the null of HL7.
printf 'MSH|^~\\&|A\rPID|x\\.br\\y|""|\\E\\|\\X0D\\|a"b|\r' >odd.hl7
lines 'get PID.1' 'get PID.2' 'get PID.3' 'get PID.4'
expect 0 '' '' odd.hl7
mv out values
[[ $(wc -l <values) == 4 ]] || complain "other values: $(cat values)"
while read -r value; do lines "set PID.6 $value" show; expect 0 "a\"b|$value" '' odd.hl7; done <values
lines 'set PID.1 ""' "set PID.2 ''" 'set PID.3 "a \"" ' "set PID.4 '\\.br\\ \"\"'" 'set PID.5 ""x' 'set PID.6 "\\"y'\\ 'set  PID.7	""' show
expect 0 '' '' odd.hl7
tail -n 1 <(tr '\r' '\n' <out) >last
[[ $(cat last) == 'PID|""||a "|\.br\ ""|x|\E\y\E\|""' ]] || complain "quotes: $(cat last)"
lines "set PID.1 'it'\\''s'" 'set PID.2 a\"b' 'get PID.1' 'get PID.2'
expect 0 $'it\'s\na"b' '' odd.hl7
lines 'set PID.1 "x' "set PID.1 'x" 'set PID.1 "x\"'
expect 1 '' $'unclosed quote\nunclosed quote\nunclosed quote' odd.hl7
# Separators in a value are text, which is noted unless the value is there already.
lines "set PID.5 'ROE^J'" 'set PID.5 ROE^J' 'set PID-3[2]-4 a&b~c' 'set OBX[2].5 x|y' 'set PID.5.1 plain'
expect 0 '' "duplex hermes: '^' is stored as text, escaped; to set components, use PID.5.1, PID.5.2
duplex hermes: '~' is stored as text, escaped; to set repetitions, use PID-3[1], PID-3[2]; '&' is stored as text, escaped; to set subcomponents, use PID-3.4.1, PID-3.4.2
duplex hermes: '|' is stored as text, escaped; to set fields, use OBX[2].5, OBX[2].6" a.hl7
[[ $(wc -l <err) == 4 ]] || complain "not one note each: $(cat err)"
expect 0 '' '' --json a.hl7
events '[one.get("note", "")[:3] for one in of("result")] == ["'"'^'"'", "", "'"'~'"'", "'"'|'"'", ""]'

# --- Extensions. -------------------------------------------------------------------------------
lines list 'run cmd/upper' wait 'get PID.5.1' 'log' schema windows
expect 0 'DOE' 'Cmd: changed the message' -x "$extension events schema" a.hl7
has err "got message/opened {\"filePath\": \"$work/a.hl7\", \"isNew\": false}"
has out '1 Cmd 1.2 running'
has out '    cmd/upper'
has out 'Cmd info: got message/opened'
has out '{"segments":{"PID":{"fields":[{"field":5,"note":"the name"}]}}}'
lines 'run cmd/levels' wait 'log 1'
expect 0 'Cmd error: broken' '' -x "$extension" a.hl7
lacks out careful
lines 'run cmd/flood' wait 'log 5000'
expect 0 'Cmd info: flooded' '' -x "$extension" --settle 2s a.hl7
[[ $(wc -l <out) == 1000 ]] || complain "$(wc -l <out) lines are kept"
lines 'run cmd/window' 'wait 5s' windows 'run cmd/window-close' wait windows
expect 0 'ext-window-' 'Cmd: closed {"success": true}' -x "$extension" a.hl7
[[ $(wc -l <out) == 1 ]] || complain "a window stays: $(cat out)"
has out ' Cmd: A \x1b[31m page: https://example.org'
lines 'run cmd/window' wait 'run cmd/window' wait 'close 3' 'close 2' windows 'close 1' windows
expect 1 '1 ext-window-' "close: no such window; 'windows' lists them" -x "$extension" a.hl7
[[ $(wc -l <out) == 1 && $(grep -c ': user$' err) == 2 ]] || complain "closed by number: $(cat out err)"
lines 'set PID.5.1 x' 'wait' 'save c.hl7' wait
expect 0 '' 'got message/changed {' -x "$extension events" --debounce 10ms a.hl7
has err "got message/saved {\"filePath\": \"$work/c.hl7\", \"saveAs\": true}"
expect 0 '' 'got message/changed {' -x "$extension events" --debounce 0 a.hl7
expect 0 '' '' -x "$extension events" --debounce never a.hl7
lacks err 'got message/changed'
lines 'reload Cmd' wait list 'reload' 'run cmd/upper' wait 'get PID.5.1' 'disable 1' wait list
expect 0 '1 Cmd 1.2 running' 'Cmd: reason reload' -x "$extension" a.hl7
has out DOE
has out '1 Cmd 1.2 stopped'
has err 'Cmd: reason disabled'
lines 'run cmd/exit' wait list 'reload' wait list
expect 1 '1 Cmd 1.2 failed: exited on its own' 'wait: Cmd exited on its own: the program exited with code 3' -x "$extension" a.hl7
has out '1 Cmd 1.2 running'
lines 'run cmd/slow' 'wait 200ms'
expect 1 '' 'wait: timed out: the extensions are still busy' -x "$extension" --settle 300ms a.hl7
lines show list
expect 3 '' 'no extension could be started' -x /absent a.hl7
[[ ! -s out ]] || complain "the console is there without extensions"
expect 0 'python3 failed: did not answer' '' -x "$extension hang" --start-timeout 200ms a.hl7

# A change that was meant for the message before is reported. It is made: nobody knows better.
holds=(-x "$extension" --env CMD_FILE=go.hl7)
cp a.hl7 held.hl7
for revision in '' '--revision exact' '--revision 2025-11-24'; do
    lines 'run cmd/hold' 'open --discard held.hl7' 'save go.hl7'
    # shellcheck disable=SC2086 # two words
    expect 0 '' "duplex hermes: warning: Cmd changed $work/go.hl7, but its command cmd/hold was sent while $work/a.hl7 was open; check the change" $revision "${holds[@]}" a.hl7
    has err 'Cmd: changed the message'
    rm go.hl7
done
# One that asks for the message, or that has nothing left to do, is not reported.
for command in hold-upper upper; do
    lines "run cmd/$command" wait 'open --discard held.hl7' 'save go.hl7' wait 'run cmd/upper' wait
    expect 0 '' '' "${holds[@]}" --write go2.hl7 a.hl7
    has go2.hl7 'DOE^jane'
    lacks err 'warning: Cmd changed'
    rm go.hl7
done
# Known to be unfinished: what was sent is not read yet.
lines 'run cmd/levels' 'open held.hl7' new 'set PID.5.1 x' 'open held.hl7' 'get PID.5.1' 'open --discard held.hl7' 'get PID.5.1'
expect 1 'x
doe' 'open: cmd/levels of Cmd has not finished; wait for it, or use open --discard
new: cmd/levels of Cmd has not finished; wait for it, or use new --discard
open: cmd/levels of Cmd has not finished, and the message has unsaved changes; wait and save, or use open --discard' -x "$extension" a.hl7
lines 'run cmd/levels' wait 'open held.hl7' 'get PID.5.1'
expect 0 doe '' -x "$extension" a.hl7
# What an extension did not get done counts without --write, too: a script may have saved before.
lines 'save s.hl7'
expect 4 '' 'duplex hermes: Cmd did not answer shutdown in time and was killed' -x "$extension stay" --stop-timeout 200ms a.hl7
expect 4 '' 'duplex hermes: Cmd exited before it answered shutdown: exit code 3' -x "$extension crash" a.hl7
expect 6 '' 'duplex hermes: Cmd sent a message that could not be read' -x "$extension cut-body" a.hl7
lines 'run cmd/garbage' wait reload wait 'run cmd/upper' wait 'save s.hl7'
expect 6 '' 'duplex hermes: Cmd sent a message that could not be read' -x "$extension" a.hl7
has s.hl7 DOE

# --- What goes wrong is told, and the rest is done. --------------------------------------------
while read -r line; do
    lines "$line" show
    expect 1 'MSH' "${line%% *}" a.hl7
    same a.hl7 a.orig
done <<'END'
frob
get
get a b
get 1
set PID.5
set X 1
set PID.5 a b
create PID.5.1
remove MSH
remove PID.5
undo
save absent/x
open absent
open .
open /dev/zero
open broken.json
open none.hl7
show xml
run cmd/none
close x
log x
log 0
log 1x
reload x
disable
disable x
disable 9
wait soon
help x
quit x
END
# meant WORD COMMAND: what people type, and what is suggested.
meant() {
    lines "$1" show
    expect 1 'MSH' "unknown command '$1'; did you mean $2?" a.hl7
}
meant exit quit
meant ls list
meant delete remove
meant write save
meant shwo show
lines "get 'x" show
expect 1 'MSH' 'unclosed quote' a.hl7
lines save
expect 1 '' 'save: the message has no file yet; use save FILE'
printf 'get PID.5.1\0\nget PID.5.2\n' >in
expect 1 'jane' 'the line contains a NUL byte' a.hl7
# A line may have 1 MiB.
python3 -c 'print("set PID.5.1 " + "x" * (1048576 - 12) + "\nset PID.5.2 " + "x" * (1048576 - 11) + "\nget PID.5.2\nget PID.5.1")' >in
expect 1 'jane' 'the line is too long' a.hl7
[[ $(tail -n 1 out | wc -c) == 1048565 ]] || complain "a long line is cut: $(tail -n 1 out | wc -c)"
# A pipe in which nobody writes is not waited for.
mkfifo fifo
lines 'open fifo' 'get PID.5.1'
expect 1 'doe' 'open: cannot open fifo: not a regular file' a.hl7
# Nothing is read where there is nothing.
got=0
timeout 10 "$hermes" host a.hl7 <&- >out 2>err || got=$?
((got == 0)) || complain "a closed input gives $got: $(cat err)"

# --- JSON. -------------------------------------------------------------------------------------
lines list 'get PID.5.1' 'set PID.5.1 x' show 'show json' frob 'run cmd/window' wait windows log schema 'save j.hl7' help "get '" 'run cmd/levels' wait 'log 2'
expect 1 '' '' --json -x "$extension schema" a.hl7
[[ ! -s err ]] || complain "with --json: $(cat err)"
events 'result("list")["extensions"][0]["name"] == "Cmd" and "cmd/upper" in result("list")["extensions"][0]["commands"]'
events 'result("list")["extensions"][0]["state"] == "running" and result("list")["extensions"][0]["buttons"][0]["id"] == "b"'
events 'result("get") == {"event": "result", "command": "get", "text": "doe", "ok": True}'
events 'result("set")["ok"] is True and "x^jane" in [one for one in of("result") if one["command"] == "show"][0]["text"]'
events 'json.loads(result("show")["text"])["segments"][1]["fields"]["5"]["1"] == "x"'
events 'result("frob")["ok"] is False and result("frob")["error"] == "unknown command '"'frob'"'; '"'help'"' lists the commands"'
events 'result("run")["extension"] == "Cmd" and result("wait")["ok"] and result("windows")["windows"][0]["id"] == of("window")[0]["id"]'
events 'result("schema")["schema"]["segments"]["PID"]["fields"][0]["note"] == "the name" and result("save")["file"] == "j.hl7"'
events 'len(result("help")["commands"]) == 20 and result("")["error"] == "unclosed quote"'
events 'result("log")["lines"] == [{"extension": "Cmd", "level": level, "text": text} for level, text in (("warn", "careful"), ("error", "broken"))]'

# A program at the other end of two pipes gets each result when it is there.
python3 - "$hermes" "$SOURCE/tests/hermes/children/cmd_extension.py" <<'END' || complain "a program cannot talk to it"
import json, subprocess, sys
host = subprocess.Popen([sys.argv[1], "host", "--json", "-x", f"python3 '{sys.argv[2]}'", "a.hl7"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def ask(line):
    host.stdin.write(line + "\n")
    host.stdin.flush()
    while True:
        event = json.loads(host.stdout.readline())
        if event["event"] == "result":
            return event
def until(kind):
    while (event := json.loads(host.stdout.readline()))["event"] != kind:
        pass
    return event
assert ask("get PID.5.1")["text"] == "doe"
assert ask("run cmd/window")["ok"]
window = until("window")["id"]
assert not ask("close nothing")["ok"]
host.stdin.write(f"close {window}\n")
host.stdin.flush()
assert until("closed") == {"event": "closed", "id": window, "reason": "user"}
assert until("result")["ok"]
assert "window/closed" in until("log")["text"]
assert ask("windows")["windows"] == []
host.stdin.close()
assert host.wait(10) == 1
END

# --- At a terminal. ----------------------------------------------------------------------------
# terminal ARG...: talks as the standard input says; what was shown is in `shown`.
terminal() {
    timeout 25 python3 "$talk" "$hermes" host --color never --settle 60ms "$@" >shown 2>err || complain "$(cat err)"
}
terminal -x "$extension" a.hl7 <<'END'
< Cmd: running
< hermes> 
> get PID.5.1
< doe
< hermes> 
> show
< MSH|^~\&|ADT1
< PID|1||555^^^H^MR||doe
> run cmd/message
< +- showMessage -
< | asked by "Cmd"
< | title    "Title"
< | message  "Look \x1b[31mhere"
< +- press Enter to continue> 
> 
< Cmd: answer {"acknowledged": true}
< hermes> 
> run cmd/confirm
< +- showConfirm -
< | message  "Really?"
< +- yes or no> 
> perhaps
< answer yes or no
< yes or no> 
> yes
< Cmd: answer {"confirmed": true}
> run cmd/confirm
< yes or no> 
> wait
< answer yes or no
> n
< Cmd: answer {"confirmed": false}
> run cmd/open-file
< +- openFile -
< | title    "Which one"
< +- file (empty: cancel)> 
> absent
< no such file
< file (empty: cancel)> 
> a b
< expected one name; put quotes around a name that contains spaces
> a.hl7
< /a.hl7"}
> run cmd/open-file
< file (empty: cancel)> 
> 
< Cmd: answer {"path": null}
> run cmd/open-files
< files (empty: cancel)> 
> a.hl7 'none.hl7'
< /a.hl7", "
< /none.hl7"]}
> run cmd/save-file
< +- saveFile -
< | title    "Where to"
< | default  "out.csv"
< file (empty: cancel)> 
> new.csv
< /new.csv"}
> run cmd/folder
< folder (empty: cancel)> 
> a.hl7
< no such folder
> /
< Cmd: answer {"path": "/"}
< hermes> 
> run cmd/confirm
< yes or no> 
^ D
< Cmd: answer {"confirmed": false}
< hermes> 
> quit
= 0
END
lacks shown $'\033[31mhere'
# A command that waits lets dialogs be answered; one whose extension is gone is no longer asked.
terminal -x "$extension" a.hl7 <<'END'
< hermes> 
> run cmd/confirm
< yes or no> 
> yes
< Cmd: answer {"confirmed": true}
> run cmd/dialog-and-exit
< Never answered?
< yes or no> 
< Cmd: failed: exited on its own
< hermes> 
> list
< 1 Cmd 1.2 failed
> wait
< wait: Cmd exited on its own
> frob
< unknown command 'frob'; 'help' lists the commands
^ D
= 0
END
# Changes are not lost without a word.
terminal a.hl7 <<'END'
< hermes> 
> set PID.5.1 x
< hermes> 
> quit
< Discard unsaved changes? [y/n] 
> perhaps
< answer y or n
< Discard unsaved changes? [y/n] 
> n
< hermes> 
> get PID.5.1
< x
> open a.hl7
< Discard unsaved changes? [y/n] 
> y
< hermes> 
> get PID.5.1
< doe
> undo
< hermes> 
> get PID.5.1
< x
> open --discard a.hl7
< hermes> 
> set PID.5.1 y
> new
< Discard unsaved changes? [y/n] 
^ D
< hermes> 
> save d.hl7
< hermes> 
> set PID.5.1 z
< hermes> 
^ D
< Discard unsaved changes? [y/n] 
^ D
< unsaved changes to the message were discarded
= 0
END
has d.hl7 'y^jane'
terminal -x "$extension" --env CMD_FILE=never --stop-timeout 0 a.hl7 <<'END'
< hermes> 
> run cmd/hold
< Cmd: holding
< hermes> 
> run cmd/hold
< hermes> 
> open b.hl7
< cmd/hold of Cmd has not finished. Go on without waiting? [y/n] 
> n
< hermes> 
> set PID.5.1 x
< hermes> 
> new
< cmd/hold of Cmd has not finished. Discard unsaved changes? [y/n] 
> y
< hermes> 
> get PID.5.1
< get: 
< hermes> 
> quit
= 4
END
terminal -x "$extension" --write e.hl7 a.hl7 <<'END'
< hermes> 
> set PID.5.1 x
< hermes> 
> quit
= 0
END
has e.hl7 'x^jane'
terminal -x "$extension" --write f.hl7 a.hl7 <<'END'
< hermes> 
> run cmd/confirm
< yes or no> 
^ C
< duplex hermes: interrupted
= 130
END
[[ ! -e f.hl7 ]] || complain "a message is written in spite of an interrupt"
terminal -x "$extension" -a showConfirm=yes a.hl7 <<'END'
< hermes> 
> run cmd/confirm
< Cmd: answer {"confirmed": true}
! yes or no
> quit
= 0
END
# --run asks nobody, at a terminal too; and shows a segment a line.
terminal -x "$extension" --run cmd/confirm a.hl7 <<'END'
< ui/showConfirm Really?: no
< Cmd: answer {"confirmed": false}
< MSH|^~\&|ADT1
< PID|1
! hermes>
= 0
END
terminal --color always a.hl7 <<'END'
< hermes> 
> show json
< "segments"
> quit
= 0
END
has shown $'\033[36m"segments"'
exit "$failed"
