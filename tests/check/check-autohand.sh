#!/usr/bin/env bash
# duplex autohand prompt: every option, every exit code, agents of all versions.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/autohand-common.bash" || exit 1

# One that does not end its turn when it is told to; that takes a while.
timeout 20 "$duplex" autohand prompt --timeout 300ms hi -- "${agent[@]:0:3}" "err deaf-$$-${tag##*-}" start '< prompt' 'n turnStart {"turnId": "t"}' 'sleep 60' >deaf.out 2>deaf.err </dev/null &
deaf=$!

# The same answer, whatever the agent's version is; all else is on the standard error.
for FORM in doc 0.6 0.8 later; do
    with 0 'All done.' 'done, 30 tokens, 0.0 s, 93% of the context is free' prompt hi -- 'turn 2'
    [[ $(cat out) == 'All done.' ]] || complain "$FORM: $(cat out)"
    has err "fake in $work"
    lacks err "$tag"
    with 0 'All done.' '' prompt -q hi -- 'turn 2'
done
unset FORM

# Where the prompt comes from.
printf 'from a\nfile\n\n' >text
with 1 '' 'the turn failed: x (-32603)' prompt @text -- '< prompt {"message": "from a\nfile"}' 'e prompt -32603 x'
input=text with 1 '' '(-32603)' prompt - -- '< prompt {"message": "from a\nfile"}' 'e prompt -32603 x'
with 1 '' '(-32603)' prompt ' a "b" ' -- '< prompt {"message": " a \"b\" "}' 'e prompt -32603 x'
expect 2 '' $'duplex autohand: missing TEXT\nhint: say what to do: duplex autohand prompt \'show README.md\' -- COMMAND' prompt -- true
expect 2 '' $'expected one TEXT, but also got \'there\'\nhint: put the text in quotes' prompt hi there -- true
expect 2 '' 'the prompt is empty' prompt '' -- true
expect 2 '' 'nowhere' prompt @nowhere -- true
expect 2 '' 'the prompt is not valid UTF-8' prompt $'\xff' -- true
expect 2 '' $'missing agent command after --\nhint: put the agent\'s command line after --: -- duplex autohand agent' prompt hi
expect 2 '' 'missing agent command after --' prompt hi --
expect 2 '' 'cannot be used together' prompt --yes --no hi -- true
expect 2 '' 'cannot be used together' prompt --ask --no hi -- true
expect 2 '' 'NAME=VALUE' prompt -e x hi -- true
expect 2 '' 'changes' prompt --changes maybe hi -- true
expect 2 '' $'duplex autohand: unknown subcommand \'talk\'\nhint: did you mean \'duplex autohand chat\'?' talk -- true
expect 2 '' $'duplex autohand: missing subcommand: agent, prompt or chat\nhint: \'duplex autohand --help\' lists the subcommands' -- true

# What goes along.
printf 'one\ntwo\nthree' >lines
printf '\x89PNG\r\n\x1a\nx' >a.png
printf 'GIF89ax' >b.gif
printf '\xff\xd8\xffx' >c
printf 'RIFFxxxxWEBPx' >d
context='{"context": {"files": ["a.c", "b.c"], "selection": {"file": "lines", "startLine": 2, "endLine": 3, "text": "two\nthree"}}}'
with 1 '' '(-1)' prompt --file a.c --file b.c --select lines:2-3 hi -- "< prompt $context" 'e prompt -1 x'
with 1 '' '(-1)' prompt --select lines:1 hi -- '< prompt {"context": {"selection": {"file": "lines", "startLine": 1, "endLine": 1, "text": "one\n"}}}' 'e prompt -1 x'
with 1 '' '(-1)' prompt --image a.png --image b.gif --image c --image d hi -- '< prompt {"images": [{"data": "iVBORw0KGgp4", "mimeType": "image/png", "filename": "a.png"}, {"data": "R0lGODlheA==", "mimeType": "image/gif", "filename": "b.gif"}, {"data": "/9j/eA==", "mimeType": "image/jpeg", "filename": "c"}, {"data": "UklGRnh4eHhXRUJQeA==", "mimeType": "image/webp", "filename": "d"}]}' 'e prompt -1 x'
for words in lines lines: :1 lines:0 lines:2-1 lines:1-x lines:1-2x; do
    expect 2 '' 'FILE:FIRST-LAST' prompt --select "$words" hi -- true
done
expect 2 '' 'has no lines 3 to 4' prompt --select lines:3-4 hi -- true
expect 2 '' 'has no lines 4 to 4' prompt --select lines:4 hi -- true
expect 2 '' 'nowhere' prompt --select nowhere:1 hi -- true
expect 2 '' '--image: lines is not a PNG, JPEG, GIF or WebP image' prompt --image lines hi -- true
expect 2 '' 'nowhere.png' prompt --image nowhere.png hi -- true
head -c $((10 * 1024 * 1024)) /dev/zero >>a.png
expect 2 '' '--image: a.png is larger than 10 MiB' prompt --image a.png hi -- true

# How the agent is started.
mkdir there
with 0 'All done.' "fake in $work/there" prompt -C there hi -- 'turn 2'
expect 3 '' 'nowhere' prompt -C nowhere hi -- true
cat >env.py <<'END'
import os, sys
print(os.environ.get("A"), os.environ.get("OTHER"), os.environ.get("AUTOHAND_STREAM_TOOL_OUTPUT"), file=sys.stderr)
END
OTHER=x expect 4 '' 'b None 1' prompt --clean-env -e A=b hi -- "$python" -I env.py
OTHER=x expect 4 '' 'None x 0' prompt -e AUTOHAND_STREAM_TOOL_OUTPUT=0 hi -- "$python" -I env.py

# The exit codes. 1: the turn failed.
with 1 '' 'Agent is busy (-32003)' prompt hi -- '< prompt' 'e prompt -32003 Agent is busy'
with 1 '' 'the turn was aborted: Aborted (-32004)' prompt hi -- '< prompt' 'n turnStart {"turnId": "t"}' 'n turnEnd {"turnId": "t", "tokensUsed": 1, "durationMs": 1, "contextPercent": 1}' 'e prompt -32004 Aborted'
with 1 '' 'the turn failed: the agent gave no reason' prompt hi -- '< prompt' 'n turnStart {"turnId": "t"}' 'n turnEnd {"turnId": "t"}' 'a prompt {"success": false}'
with 1 '' '! too many (429)' prompt hi -- '< prompt' 'a prompt {"success": true}' 'n turnStart {"turnId": "t"}' 'n error {"code": 429, "message": "too many", "recoverable": false}' 'n turnEnd {"turnId": "t"}'
has err 'the turn failed: too many (429)'
# 3: it cannot be started, or says so itself.
expect 3 '' 'nowhere/agent' prompt hi -- "$work/nowhere/agent"
expect 3 '' "the agent cannot start: Login required" prompt hi -- "${agent[@]}" 'raw {"jsonrpc":"2.0","error":{"code":-32011,"message":"Login required"},"id":null}' 'exit 1'
(($(grep -c 'Login required' err) == 1)) || complain "$last: it is told more than once: $(cat err)"
# 4: it ended.
expect 4 '' 'no settings' prompt hi -- "${agent[@]}" 'err no settings' 'exit 1'
expect 4 '' 'before it was ready' prompt hi -- "$python" -c pass
with 4 'part' 'signal 9' prompt hi -- '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageUpdate {"messageId": "m", "delta": "part"}' 'die'
with 4 '' 'the agent exited with code 0' prompt hi -- '< prompt' 'exit 0'
# 5: a time was up.
expect 5 '' 'timed out waiting for agentStart from the agent (--start-timeout)' prompt --start-timeout 300ms hi -- "${agent[@]}" eof
with 5 '' 'the turn timed out (--timeout) and was aborted' prompt --timeout 300ms hi -- '< prompt' 'n turnStart {"turnId": "t"}' '< abort' 'n turnEnd {"turnId": "t", "reason": "aborted"}' 'a abort {"success": true}'
# 6: it broke the protocol.
with 6 '' 'too much text' prompt hi -- '< prompt' 'repeat 1200 raw junk'
with 0 'All done.' 'autohand.toolUpdate: /toolId: ' prompt hi -- 'turn 2 n toolUpdate {"toolId": 5}'
# Nothing that is of another type than it should be does harm, wherever it stands.
cat >spoiled.py <<'END'
import json, sys
said = {"messageUpdate": {"messageId": "MESSAGE", "delta": "a", "thought": "b"}, "toolStart": {"toolId": "t", "toolName": "n", "args": {"command": "c", "args": ["w"], "path": "p"}}, "toolUpdate": {"toolId": "t", "output": "o", "stream": "stdout"}, "toolEnd": {"toolId": "t", "toolName": "n", "success": False, "output": "o", "error": "e"}, "permissionRequest": {"requestId": "p", "tool": "t", "description": "d", "context": {"command": "c", "path": "p"}}, "directoryAccessRequest": {"requestId": "d", "path": "p", "reason": "r"}, "error": {"code": 1, "message": "m", "recoverable": True, "errorType": "x"}, "changesBatchUpdate": {"batchId": "BATCH", "change": {"id": "1", "filePath": "f", "changeType": "modify", "originalContent": "a", "proposedContent": "b", "description": "", "toolId": "", "toolName": ""}}, "messageEnd": {"messageId": "MESSAGE", "content": "c"}, "agentStart": {"sessionId": "s", "model": "m", "workspace": "w", "contextPercent": 1}, "agentEnd": {"sessionId": "s", "reason": "r"}, "ping": {"status": "s", "turnId": "t"}, "turnStart": {"turnId": "t", "instruction": "i"}, "hook.x": {"toolId": "t"}}
steps = []
def spoil(name, params, at):
    for key in list(at):
        right = at[key]
        if isinstance(right, dict):
            spoil(name, params, right)
        for wrong in ([1, [2]], {"a": 1, "b": 2}, -7.5, True, None):
            at[key] = wrong
            steps.append(f"n {name} {json.dumps(params)}")
        at[key] = right
for name, params in said.items():
    spoil(name, params, params)
steps.append("n messageUpdate " + json.dumps(said["messageUpdate"]))
print("turn 2 " + " ;; ".join(steps))
END
strange=$(python3 spoiled.py) || complain "no steps"
for way in --yes --no --json; do
    with 0 '*' '*' prompt "$way" --changes accept --thoughts hi -- "$strange" '< changesDecision' 'a changesDecision {"success": true, "appliedCount": ["x"], "skippedCount": {}, "errors": [{"changeId": ["x"], "error": {"a": 1}}, ["x"]]}'
done
# What does not fit is told once, and not without end; programs are told each.
with 0 'All done.' '*' prompt hi -- 'turn 2 repeat 50 n ping {"status": NUMBER}'
(($(grep -c autohand.ping err) == 1)) || complain "$last: $(cat err)"
# odd COUNT: so many notifications, each of which is wrong in a way of its own.
odd() {
    local name value all=()
    for name in toolStart toolUpdate toolEnd hook.preTool hook.postTool; do
        for value in 1 '[]' '{}' null; do all+=("n $name {\"toolId\": $value}"); done
    done
    steps "${all[@]:0:$1}"
}
for count in 16 17; do
    with 0 'All done.' '*' prompt hi -- "turn 2 $(odd "$count")"
    (($(grep -c 'duplex autohand: autohand' err) == 16)) || complain "$last: $(cat err)"
    with 0 '*' '' prompt --json hi -- "turn 2 $(odd "$count") ;; $(odd 1)"
    events "len(of('violation')) == $count + 1"
done
# An error without a code has none.
with 0 'All done.' $'! odd\n' prompt hi -- 'turn 2 n error {"message": "odd", "recoverable": true}'
with 1 '*' '' prompt --json hi -- '< prompt' 'a prompt {"success": true}' 'n turnStart {"turnId": "t"}' 'n error {"message": "odd", "recoverable": false}' 'n turnEnd {"turnId": "t"}'
events '"code" not in of("error")[0] and "code" not in of("turn")[0] and of("turn")[0]["error"] == "odd"'
gone

# Permissions.
permission=$(asks p run_command 'Run this command?\n  $ ls -l' '{"command": "ls -l"}')
with 0 'All done.' '? run_command ls -l: allowed' prompt --yes hi -- "turn 2 $(steps "$permission" "$(answers '{"requestId": "p", "allowed": true}')")"
with 0 'All done.' '? run_command ls -l: denied' prompt --no hi -- "turn 2 $(steps "$permission" "$(answers '{"requestId": "p", "allowed": false}')")"
has err ', 1 denied,'
with 0 'All done.' '? run_command ls -l: denied' prompt hi -- "turn 2 $(steps "$permission" "$(answers '{"allowed": false}')")"
with 0 'All done.' '? run_command ls -l: denied' prompt --ask hi -- "turn 2 $(steps "$permission" "$(answers '{"allowed": false}')")"

# One whose id cannot be named later is not asked for: it is denied.
with 0 '*' '' prompt --json --ask hi -- "turn 2 $(steps "$(asks 'p\u0000x' run_command d '{}')" "$(answers '{"allowed": false}')")"
events 'not of("ask") and [one["decision"] for one in of("permission-answer")] == ["deny_once"]'

# Changes. 7: not applied.
one=$(change 1 x.c modify 'a\nb\nc\n' 'a\nB\nc\n')
with 0 'All done.' $'1. modify "x.c"\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n' prompt --yes hi -- "turn 2 $one" '< changesDecision {"batchId": "changes_2", "action": "accept_all"}' "$decided"
has err 'changes: 1 applied, 0 skipped'
with 0 'All done.' '' prompt -q --yes hi -- "turn 2 $one" '< changesDecision {"action": "accept_all"}' "$decided"
with 0 'All done.' 'modify "x.c"' prompt --no hi -- "turn 2 $one" '< changesDecision {"action": "reject_all"}' "$decided"
with 0 'All done.' 'modify "x.c"' prompt --changes reject hi -- "turn 2 $one" '< changesDecision {"action": "reject_all"}' "$decided"
with 0 'All done.' 'modify "x.c"' prompt --no --changes accept hi -- "turn 2 $one" '< changesDecision {"action": "accept_all"}' "$decided"
with 0 'All done.' 'left undecided: changes_2' prompt --yes --changes leave hi -- "turn 2 $one"
with 7 'All done.' $'1 change was rejected, because there is no terminal to ask on\nhint: pass --yes, --no or --changes' prompt hi -- "turn 2 $one" '< changesDecision {"action": "reject_all"}' "$decided"
with 7 'All done.' 'x.c changed after preview (1)' prompt --yes hi -- "turn 2 $one" '< changesDecision' 'a changesDecision {"success": false, "appliedCount": 0, "skippedCount": 0, "errors": [{"changeId": "1", "error": "x.c changed after preview"}]}'
has err 'changes were not applied'
with 7 'All done.' 'no way (-32602)' prompt --yes hi -- "turn 2 $one" '< changesDecision' 'e changesDecision -32602 no way'
with 4 'All done.' '*' prompt --yes hi -- "turn 2 $one" '< changesDecision' 'die'
with 0 'All done.' $'1. create "new"\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n2. delete "old"\n@@ -1,1 +0,0 @@\n-y\n' prompt --yes hi -- "turn 2 $(steps "$(change 1 new create '' x)" "$(change 2 old delete 'y\n' '')")" '< changesDecision' "$decided"

# --yes is not for a turn that was aborted.
with 5 '' 'rejecting the changes of the turn, because it was aborted' prompt --yes --timeout 3s hi -- '< prompt' 'n turnStart {"turnId": "t"}' 'n changesBatchStart {"batchId": "BATCH", "turnId": "t"}' "$one" '< abort' 'a abort {"success": true}' 'n changesBatchEnd {"batchId": "BATCH", "changeCount": 1}' 'n turnEnd {"turnId": "t", "reason": "aborted"}' '< changesDecision {"action": "reject_all"}' "$decided"

# The time of a turn is no time for its changes, which are waited for without haste.
used() { awk -v now="$(cut -d ' ' -f 16,17 /proc/$$/stat | tr ' ' +)" 'BEGIN { split(now, part, "+"); print part[1] + part[2] }'; }
before=$(used)
with 0 'All done.' '1 applied' prompt --yes --timeout 2s hi -- "turn 2 $one" '< changesDecision' 'sleep 4' "$decided"
(($(used) - before < $(getconf CLK_TCK))) || complain "$last: it took $(($(used) - before)) ticks of the processor"

# Tools, with what they write, but not all of it.
call='n toolStart {"toolId": "t", "toolName": "run_command", "args": {"command": "make", "args": ["-j2", "all"]}}'
ended='n toolEnd {"toolId": "t", "toolName": "run_command", "success": true, "output": "ok"}'
with 0 'All done.' $'> run_command make -j2 all\n  one\n  two\n  three\n' prompt hi -- "turn 2 $(steps "$call" 'n toolUpdate {"toolId": "t", "output": "one\ntw", "stream": "stdout"}' 'n toolUpdate {"toolId": "t", "output": "o\nthree", "stream": "stderr"}' "$ended")"
lacks err '  ok'
with 0 'All done.' $'all\n  ok\n' prompt hi -- "turn 2 $(steps "$call" "$ended")"
with 0 'All done.' 'failed: no rule' prompt hi -- "turn 2 $(steps "$call" 'n toolEnd {"toolId": "t", "toolName": "run_command", "success": false, "error": "no rule"}')"
with 0 'All done.' 'more bytes' prompt hi -- "turn 2 $(steps "$call" 'repeat 500 n toolUpdate {"toolId": "t", "output": "0123456789\n", "stream": "stdout"}' "$ended")"
(($(wc -l <err) < 100)) || complain "$(wc -l <err) lines of output are shown"
# Many at once, and many arguments.
for count in 1000 1001; do
    with 0 'All done.' '  line' prompt hi -- "turn 2 repeat $count n toolUpdate {\"toolId\": \"tNUMBER\", \"output\": \"line\\n\", \"stream\": \"stdout\"}"
    (($(grep -c '^  line' err) == 1000)) || complain "$last: $(grep -c '^  line' err) lines are shown"
done
words() { python3 -c 'import json, sys; print("turn 2 n toolStart " + json.dumps({"toolId": "t", "toolName": "run_command", "args": {"command": "c", "args": ["w"] * int(sys.argv[1])}}))' "$1"; }
with 0 'All done.' "> run_command c$(printf ' w%.0s' {1..20})"$'\n' prompt hi -- "$(words 20)"
with 0 'All done.' "> run_command c$(printf ' w%.0s' {1..20}) …"$'\n' prompt hi -- "$(words 21)"
with 0 'All done.' '> search {"query":"x"}' prompt hi -- 'turn 2 n toolStart {"toolId": "t", "toolName": "search", "args": {"query": "x"}}'
with 0 'All done.' '  ~ hm' prompt --thoughts hi -- 'turn 2 n messageUpdate {"messageId": "MESSAGE", "delta": "", "thought": "hm"}'
with 0 'All done.' '*' prompt hi -- 'turn 2 n messageUpdate {"messageId": "MESSAGE", "delta": "", "thought": "hm"}'
lacks err hm
# An answer that is not streamed.
with 0 whole '*' prompt hi -- '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageEnd {"messageId": "m", "content": "whole"}' 'n turnEnd {"turnId": "t"}' 'a prompt {"success": true}'

# Nothing that an agent says steers the terminal.
evil='\u001b[31m\u0007\u009b2J\u202e'
with 0 '\x1b[31m\x07\x9b2J\u202e' '*' prompt --yes --thoughts hi -- "start {\"model\": \"$evil\", \"workspace\": \"$evil\"}" "turn 2 $(steps "n messageUpdate {\"messageId\": \"MESSAGE\", \"delta\": \"$evil\", \"thought\": \"$evil\"}" "n toolStart {\"toolId\": \"$evil\", \"toolName\": \"$evil\", \"args\": {\"path\": \"$evil\"}}" "n toolUpdate {\"toolId\": \"$evil\", \"output\": \"$evil\", \"stream\": \"stdout\"}" "n toolEnd {\"toolId\": \"$evil\", \"toolName\": \"x\", \"success\": false, \"error\": \"$evil\"}" "$(asks p "$evil" "$evil" "{\"path\": \"$evil\"}")" "$(answers '{}')" "n error {\"code\": 1, \"message\": \"$evil\", \"recoverable\": true}" "$(change 1 "$evil" "$evil" "$evil" "x$evil\\\\n$evil")")" '< changesDecision' "a changesDecision {\"success\": true, \"appliedCount\": 1, \"skippedCount\": 0, \"errors\": [{\"changeId\": \"$evil\", \"error\": \"$evil\"}]}"
if grep -qaP '[\x1b\x07]|\xc2\x9b|\xe2\x80\xae' out err; then complain "something steers the terminal: $(cat -v out err)"; fi

# --json: every event is a line, the same for all versions.
for FORM in doc 0.6 0.8 later; do
    with 0 '*' '' prompt --json --yes hi -- "turn 2 $(steps "$permission" "$(answers '{"allowed": true}')" "$call" "$ended" "$one")" '< changesDecision' "$decided"
    events '[one["event"] for one in all if one["event"] not in ("hook", "text", "stderr")] == ["agent-start", "turn-start", "message-start", "changes-start", "permission", "permission-answer", "tool-start", "tool-end", "change", "changes-end", "message-end", "turn-end", "turn", "decision"]'
    events '"".join(one["text"] for one in of("text")) == "All done."'
    events 'of("turn")[0] == {"event": "turn", "success": True, "aborted": False, "content": "All done.", "tokens": 30, "durationMs": 25, "contextPercent": 93, "toolCalls": 1, "toolFailures": 0, "denied": 0}'
    events 'of("permission")[0]["id"] == "p" and of("permission-answer")[0]["decision"] == "allow_once" and of("tool-start")[0]["args"]["args"] == ["-j2", "all"]'
    events 'of("change")[0]["after"] == "a\nB\nc\n" and of("decision")[0] == {"event": "decision", "success": True, "applied": 1, "skipped": 0}'
done
unset FORM
with 1 '' 'duplex autohand: warning: the agent printed text on stdout that is not JSON-RPC: "hello" (it breaks strict clients)' \
    prompt hi -- 'raw hello' '< prompt' 'e prompt -32003 Agent is busy'
with 1 '*' '' prompt --json hi -- 'raw hello' '< prompt' 'n x {"a": 1}' 'n turnEnd {"turnId": null}' 'n toolUpdate {}' 'e prompt -32003 Agent is busy'
events 'all[-1]["error"]["exit"] == 1 and "busy" in all[-1]["error"]["message"]'
events 'of("turn")[0]["code"] == -32003 and of("turn")[0]["error"] == "Agent is busy" and not of("turn")[0]["success"]'
events 'of("stray")[0]["text"] == "hello" and of("notification")[0]["method"] == "autohand.x" and of("notification")[0]["params"]["a"] == 1'
events 'of("late")[0]["method"] == "autohand.turnEnd" and len(of("violation")) > 0 and of("stderr")[0]["text"].startswith("check-")'
with 4 '*' '' prompt --json hi -- '< prompt' 'die'
events 'all[-1]["error"]["exit"] == 4 and len(of("turn")) == 1'
with 7 '*' '' prompt --json hi -- "turn 2 $one" '< changesDecision {"action": "reject_all"}' "$decided"
events 'len(of("turn")) == 1 and [one for one in all if "error" in one and "event" not in one][0]["error"]["exit"] == 7'

# The traffic.
with 0 'All done.' '"autohand.prompt"' prompt --show hi -- 'turn 2'
has err "$tag"
with 0 'All done.' '*' prompt --record talk.jsonl hi -- 'turn 2'
has talk.jsonl autohand.turnEnd
has talk.jsonl autohand.prompt
expect 2 '' 'nowhere/talk' prompt --record nowhere/talk hi -- true

# A signal: the first aborts the turn, the second ends all.
# interrupt COUNT STEP...
interrupt() {
    local count=$1 i
    shift
    last="interrupted $count times"
    rm -f out err
    "$duplex" autohand prompt hi -e FORM=doc -- "${agent[@]}" start '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageUpdate {"messageId": "m", "delta": "begun"}' "$@" >out 2>err </dev/null &
    background=$!
    for ((i = 0; i < 200; i++)); do
        if grep -qs begun out; then break; fi
        sleep 0.05
    done
    for ((i = 0; i < count; i++)); do
        kill -"${signal:-INT}" "$background"
        sleep 0.2
    done
    got=0
    wait "$background" || got=$?
    background=
    ((got == 130)) || complain "$last: code $got; $(cat err)"
    has err interrupted
    gone
}
interrupt 1 '< abort' 'n messageEnd {"messageId": "m", "content": "", "aborted": true}' 'n turnEnd {"turnId": "t"}' 'e prompt -32004 Aborted'
has err 'aborting the turn'
began=$(date +%s%N)
interrupt 2 'sleep 30'
(($(date +%s%N) - began < 9000000000)) || complain "a second signal does not end it"
# Who is not told by a key need not be told twice.
began=$(date +%s%N)
signal=TERM interrupt 1 'sleep 30'
(($(date +%s%N) - began < 9000000000)) || complain "SIGTERM does not end it"

# A command that is killed leaves no agent behind.
"$duplex" autohand prompt hi -- "${agent[@]}" start 'sleep 60' >out 2>err </dev/null &
background=$!
sleep 0.7
kill -KILL "$background"
wait "$background" 2>/dev/null
background=
gone

expect 0 'Exit codes of prompt and chat' '' --help-all
# What is given to the wrong one of the two is not passed over.
expect 2 '' '--yolo applies only to agent' prompt --yolo hi -- true
expect 2 '' '--path applies only to agent' chat --path . -- true
expect 2 '' '--ping applies only to agent' prompt --ping 1s hi -- true
expect 2 '' '--no applies only to prompt and chat' agent --no
expect 2 '' '--changes applies only to prompt and chat' agent --changes reject
expect 2 '' '--file applies only to prompt and chat' agent --file x
expect 2 '' '--timeout applies only to prompt and chat' agent --timeout 1s
last='an agent that is deaf'
got=0
wait "$deaf" || got=$?
((got == 5)) || complain "$last: code $got"
has deaf.err 'the turn timed out (--timeout) and was aborted'
if pgrep -f "deaf-$$-" >/dev/null; then complain "$last: it is left behind"; fi
exit "$failed"
