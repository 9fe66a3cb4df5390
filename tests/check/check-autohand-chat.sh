#!/usr/bin/env bash
# duplex autohand at a terminal: questions, changes, a conversation; a conversation from a file; and that the diffs of
# changes say what is changed.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/autohand-common.bash" || exit 1

permission=$(asks p run_command 'Run this command?' '{"command": "ls -l"}')
# ask TYPED ANSWER: what is typed, and what is then sent.
ask() {
    talk prompt hi -e FORM=doc -- "${agent[@]}" start "turn 2 $(steps "$permission" "$(answers "$2")")" <<END
< +- permission -
< | tool     "run_command"
< | command  "ls -l"
< | says     "Run this command?"
< +- 
< Allow? [y]es, [n]o, ?:
> $1
< All done.
= 0
END
    gone
}
ask y '{"requestId": "p", "allowed": true, "decision": null}'
ask no '{"requestId": "p", "allowed": false, "decision": null}'
ask s '{"allowed": true, "decision": "allow_session"}'
ask np '{"allowed": false, "decision": "deny_always_project"}'
ask u '{"allowed": true, "decision": "allow_always_user"}'
ask '= ls -a' '{"allowed": false, "decision": "alternative", "alternative": "ls -a"}'
# What is no answer, and two questions, one after the other; --yes asks nothing.
talk prompt --ask hi -e FORM=0.8 -- "${agent[@]}" start "turn 2 $(steps "$permission" "$(asks q write_file 'Create new file x?' '{"path": "x"}')" "$(answers '{"requestId": "p", "allowed": true}')" "$(answers '{"requestId": "q", "allowed": false}')")" <<'END'
< Allow?
> what
< yes, for this session
< Allow?
> y
< | tool     "write_file"
< | path     "x"
< | says     "Create new file x?"
< Allow?
> n
< All done.
= 0
END
talk prompt --yes hi -e FORM=doc -- "${agent[@]}" start "turn 2 $(steps "$permission" "$(answers '{"allowed": true}')")" <<'END'
< : allowed
< All done.
! Allow?
= 0
END
# What it is about is shown, each on one line; long text loses its middle.
# shows DESCRIPTION CONTEXT LINE...
shows() {
    local line
    talk prompt hi -e FORM=doc -- "${agent[@]}" start "turn 2 $(steps "$(asks p run_command "$1" "$2")" "$(answers '{"allowed": false}')")" <<'END'
< Allow?
> n
< All done.
= 0
END
    tr -d '\r' <screen >lines
    for line in "${@:3}"; do
        grep -qxF -- "$line" lines || complain "$last: no '$line': $(cat -v screen)"
    done
}
shows 'Shall a format be run?' '{"command": "rm"}' '| command  "rm"' '| says     "Shall a format be run?"'
shows 'Run this?\n  $ rm' '{"command": "rm"}' '| command  "rm"' '| says     "Run this?\n  $ rm"'
shows 'Create new file x.c?' '{"path": "x.c"}' '| path     "x.c"'
shows 'Run this?' '{"command": "ls", "args": {"directory": "sub"}}' '| command  "ls"' '| in       "sub"'
shows 'Allow tool deploy?' '{"args": {"target": "production", "n": 1}}' '| arg      "target":"production"' '| arg      "n":1'
long=$(printf 'é%.0s' {1..2048})
shows "$long" '{"command": "rm -r x"}' '| command  "rm -r x"' '| says     "ééééééééééé… (4,096 bytes) …ééééééééééé"'
gone
# The turn ends while it is asked.
talk prompt hi -e FORM=doc -- "${agent[@]}" start "turn 2 $(steps "$permission" 'sleep 0.5')" <<'END'
< Allow?
< the agent withdrew the question
= 0
END
# What was typed before the question was seen is no answer to it.
talk prompt hi -- "${agent[@]}" start "turn 2 $(steps 'n messageUpdate {"messageId": "MESSAGE", "delta": "begun"}' 'sleep 0.7' "$permission" "$(answers '{"allowed": false}')")" <<'END'
< begun
> y
< Allow?
> n
< All done.
= 0
END
# q aborts the turn, Ctrl-D denies, Ctrl-C aborts.
aborts=('< prompt' 'n turnStart {"turnId": "t"}' "$permission" '< abort' 'n turnEnd {"turnId": "t", "reason": "aborted"}' 'a abort {"success": true}')
talk prompt hi -- "${agent[@]}" start "${aborts[@]}" <<'END'
< Allow?
> q
< the turn was aborted
= 1
END
talk prompt hi -- "${agent[@]}" start "${aborts[@]}" <<'END'
< Allow?
^ C
< aborting the turn
< interrupted
= 130
END
talk prompt hi -- "${agent[@]}" start "turn 2 $(steps "$permission" "$(answers '{"allowed": false}')")" <<'END'
< Allow?
^ D
< All done.
= 0
END
# The time that the user takes does not count.
talk prompt --timeout 1s hi -- "${agent[@]}" start "turn 2 $(steps "$permission" "sleep 1.5" "$(answers '{"allowed": true}')")" <<'END'
< Allow?
> y
= 5
END
gone

# Changes: in colours, all, none, some.
three=$(steps "$(change 1 a create '' 'x\n')" "$(change 2 b modify 'old\n' 'new\n')" "$(change 3 c delete 'y\n' '')")
# choose TYPED DECISION
choose() {
    talk prompt hi -- "${agent[@]}" start "turn 2 $three" "< changesDecision $2" "$decided" <<END
< All done.
< 1. create "a"
< +x
< 2. modify "b"
< -old
< +new
< 3. delete "c"
< done
< +- 3 changes -
< | 1 create "a"
< | 2 modify "b"
< | 3 delete "c"
< +- 
< Apply?
> $1
< changes: 1 applied, 0 skipped
= 0
END
    gone
}
choose y '{"action": "accept_all"}'
grep -qa $'\033\\[31m-old' screen || complain "no red: $(cat -v screen)"
grep -qa $'\033\\[32m+new' screen || complain "no green: $(cat -v screen)"
choose n '{"action": "reject_all"}'
choose '1 3' '{"action": "accept_selected", "selectedChangeIds": ["1", "3"]}'
choose '2-3,1' '{"action": "accept_selected", "selectedChangeIds": ["1", "2", "3"]}'
talk prompt hi -- "${agent[@]}" start "turn 2 $three" <<'END'
< Apply?
> l
< left undecided: changes_2
= 0
END
for wrong in 0 4 2-1 x '1 y' '1-'; do
    talk prompt hi -- "${agent[@]}" start "turn 2 $three" '< changesDecision {"action": "reject_all"}' "$decided" <<END
< Apply?
> $wrong
< apply only these of the 3
< Apply?
^ D
< changes: 
= 0
END
done
# What is asked about is shown, also with -q.
talk prompt -q hi -- "${agent[@]}" start "turn 2 $three" '< changesDecision {"action": "reject_all"}' "$decided" <<'END'
< 1. create "a"
< +x
< Apply?
> n
= 0
END
NO_COLOR=1 choose y '{"action": "accept_all"}'
if grep -qa $'\033' screen; then complain "colours in spite of NO_COLOR"; fi
TERM=dumb choose y '{"action": "accept_all"}'
if grep -qa $'\033' screen; then complain "colours at a terminal that has none"; fi

# A conversation at a terminal.
talk chat -e FORM=doc -- "${agent[@]}" start 'turn 2' '< getState' 'a getState {"status": "idle"}' '< prompt {"message": "two\nlines"}' 'e prompt -32000 the model is tired' '< getMessages {"limit": 2}' 'a getMessages {"messages": []}' '< reset' 'a reset {"sessionId": "s2"}' 'turn 3' <<'END'
< fake in
< > 
> hello
< All done.
< > 
> :state
< idle
< > 
> two\
< … 
> lines
< the turn failed: the model is tired (-32000)
< > 
> :messages 2
< messages
> :reset
< s2
> 
> :help
< Each line is a prompt
> :what
< Each line is a prompt
< > 
> ::with a colon
< All done.
< > 
> :quit
= 0
END
gone
talk chat -- "${agent[@]}" start <<'END'
< > 
^ D
= 0
END
talk chat -- "${agent[@]}" start <<'END'
< > 
^ C
< interrupted
= 130
END
# What was begun is not sent.
talk chat -- "${agent[@]}" start '< prompt' 'exit 9' <<'END'
< > 
> remove all\
< … 
^ C
< interrupted
! aborting
= 130
END
# Nor does it wait for an answer that does not come.
talk chat -- "${agent[@]}" start '< getState' 'n error {"code": 1, "message": "heard"}' <<'END'
< > 
> :state
< heard
^ C
< interrupted
= 130
END
gone
# Ctrl-C ends a turn, not the conversation; twice is the end.
talk chat -- "${agent[@]}" start '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageUpdate {"messageId": "m", "delta": "begun"}' '< abort' 'n turnEnd {"turnId": "t", "reason": "aborted"}' 'a abort {"success": true}' 'turn 2' '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageUpdate {"messageId": "m", "delta": "again"}' 'eof' <<'END'
< > 
> one
< begun
^ C
< aborting
< > 
> two
< All done.
< > 
> three
< again
^ C
< aborting
^ C
= 130
END
gone
# Another signal ends the turn, and then the conversation.
talk chat -- "${agent[@]}" start '< prompt' 'n turnStart {"turnId": "t"}' 'n messageStart {"messageId": "m"}' 'n messageUpdate {"messageId": "m", "delta": "begun"}' '< abort' 'n turnEnd {"turnId": "t", "reason": "aborted"}' 'a abort {"success": true}' <<'END'
< > 
> one
< begun
- TERM
< aborting
= 130
END
gone
# The agent ends.
talk chat -- "${agent[@]}" start 'sleep 0.3' 'exit 3' <<'END'
< code 3
= 4
END

mkfifo pipe
# A conversation from a file: a line a prompt, and in the end the first code that was not 0.
printf 'one\n\ntwo\r\n:state\nthree' >lines
input=lines with 1 'All done.' 'the turn failed: tired (-32000)' chat -- '< prompt {"message": "one"}' 'e prompt -32000 tired' '< prompt {"message": "two"}' 'n turnStart {"turnId": "t"}' 'n turnEnd {"turnId": "t"}' 'a prompt {"success": true}' '< getState' 'a getState {"status": "idle"}' 'turn 9'
has out '{"status":"idle"}'
input=lines with 0 '*' '' chat --json -- 'turn 2' 'turn 3' '< getState' 'a getState {"status": "idle"}' 'turn 4'
events '[one["content"] for one in of("turn")] == ["All done."] * 3 and of("answer") == [{"event": "answer", "to": "state", "result": {"status": "idle"}}]'
input=lines with 4 '*' 'signal 9' chat -- 'turn 2' '< prompt' 'die'
with 0 '' '*' chat --
# One that closes its output is on its way out: what is said to it then is no wrong usage.
{ echo one; sleep 0.5; echo two; echo three; } >pipe &
input=pipe with 4 'All done.' 'the conversation ended' chat -- 'turn 2' 'close' 'sleep 60'
expect 2 '' "chat: unexpected argument 'x'" chat x -- true
expect 2 '' 'missing agent command after --' chat
# A blank behind a word does not make another one of it.
printf ':reset \n:state \n' >lines
input=lines with 0 '{"sessionId":"s2"}' '*' chat -- '< reset' 'a reset {"sessionId": "s2"}' '< getState' 'a getState {"status": "idle"}'
has out '{"status":"idle"}'
printf 'hi\n' >lines
printf 'GIF89ax' >a.gif
input=lines with 0 '*' '*' chat --file x.c --image a.gif -- '< prompt {"context": {"files": ["x.c"]}, "images": [{"data": "R0lGODlheA==", "mimeType": "image/gif", "filename": "a.gif"}]}' 'n turnStart {"turnId": "t"}' 'n turnEnd {"turnId": "t"}' 'a prompt {"success": true}'
gone

# With --json and --ask the lines of the standard input also answer what is asked; at their end nothing is allowed.
printf 'one\ns\n2\ntwo\nn\n' >lines
input=lines with 0 '*' '' chat --json --ask -- "turn 2 $(steps "$permission" "$(answers '{"decision": "allow_session"}')" "$three")" '< changesDecision {"action": "accept_selected", "selectedChangeIds": ["2"]}' "$decided" "turn 3 $(steps "$permission" "$(answers '{"allowed": false}')" "$three")" '< changesDecision {"action": "reject_all"}' "$decided"
events '[(one["about"], one["id"]) for one in of("ask")] == [("permission", "p"), ("changes", "changes_2"), ("permission", "p"), ("changes", "changes_3")]'
events '[one["by"] for one in of("permission-answer")] == ["user", "user"] and len(of("decision")) == 2'
printf ':answer x y\none\n:answer p y\n:answer q n\n:answer p y\n' >lines
input=lines with 0 '*' '' chat --json --ask -- "turn 2 $(steps "$permission" "$(asks q x y '{}')" "$(answers '{"requestId": "p", "allowed": true}')" "$(answers '{"requestId": "q", "allowed": false}')")"
events '[one["text"] for one in of("unasked")] == ["x", "p"] and len(of("turn")) == 1'
printf 'one\n:answer p q y\n:answer p  n\n' >lines
input=lines with 0 '*' '' chat --json --ask -- "turn 2 $(steps "$(asks 'p q' x y '{}')" "$(asks 'p' x y '{}')" "$(answers '{"requestId": "p q", "allowed": true}')" "$(answers '{"requestId": "p", "allowed": false}')")"
# :abort is heard, whatever stands before it.
{ echo one; sleep 0.5; printf 'two\n:abort\r\n'; } >pipe &
input=pipe with 1 '*' '' chat --json --ask -- '< prompt' 'n turnStart {"turnId": "t"}' '< abort' 'a abort {"success": true}' 'n turnEnd {"turnId": "t", "reason": "aborted"}' 'turn 2'
events '[one["aborted"] for one in of("turn")] == [True, False]'
with 0 '*' '' prompt --json --ask hi -- "turn 2 $(steps "$permission" "$(answers '{"allowed": false}')")"
events '[one["decision"] for one in of("permission-answer")] == ["deny_once"]'
sleep 3 >pipe &
background=$!
input=pipe with 0 '*' '' prompt --json --ask hi -- "turn 2 $permission"
events 'of("withdrawn") == [{"event": "withdrawn", "text": "p"}]'
kill "$background"
wait "$background" 2>/dev/null
background=
printf 'maybe\n' >lines
input=lines with 0 '*' 'yes, for this session' prompt --json --ask hi -- "turn 3 $(steps "$permission" "$(answers '{"allowed": false}')")"

# What a diff says is what is changed: applied to the old text it gives the new one.
cat >diffs.py <<'END'
import json, os, random, re, subprocess, sys
random.seed(int(sys.argv[1]))
words = ["a", "b", "c", "dd", "", "e"]
def text(count):
    lines = [random.choice(words) for _ in range(count)]
    return "\n".join(lines) + random.choice(["\n", "\n", ""]) if lines else ""
def edit(old):
    lines = old.split("\n")
    for _ in range(random.choice([0, 1, 2, 5, 30])):
        at = random.randrange(len(lines) + 1)
        lines[at:at + random.choice([0, 0, 1, 2])] = [random.choice(words)] * random.choice([0, 1, 1, 3])
    return "\n".join(lines)
pairs = []
for _ in range(60):
    old = text(random.choice([0, 1, 5, 30, 200]))
    pairs.append((old, random.choice([edit(old), edit(old), edit(old), text(20), old])))
# More edits than are counted, and more lines than are compared.
pairs.append(("".join(f"{i}\n" for i in range(700)), "".join(f"x{i}\n" for i in range(700))))
steps = ["start", "< prompt", 'n turnStart {"turnId": "t"}', 'n changesBatchStart {"batchId": "b", "turnId": "t"}']
for i, (old, new) in enumerate(pairs):
    change = {"id": str(i), "filePath": f"f{i}", "changeType": "modify", "originalContent": old, "proposedContent": new, "description": "", "toolId": "", "toolName": ""}
    steps.append("n changesBatchUpdate " + json.dumps({"batchId": "b", "change": change}))
steps += ['n changesBatchEnd {"batchId": "b", "changeCount": %d}' % len(pairs), 'n turnEnd {"turnId": "t"}', 'a prompt {"success": true}', '< changesDecision', 'a changesDecision {"success": true}']
agent = [sys.executable, "-IS", os.environ["SOURCE"] + "/tests/autohand/fake_agent.py"]
done = subprocess.run([os.environ["BUILD"] + "/duplex", "autohand", "prompt", "--yes", "hi", "--", *agent, *steps], capture_output=True, timeout=60)
shown = done.stderr.decode().split("done\n")[0]
parts = re.split(r"^\d+\. modify \"f\d+\"\n", shown, flags=re.M)[1:]
assert len(parts) == len(pairs), (len(parts), done)
for (old, new), part in zip(pairs, parts):
    source = old.split("\n")
    lines = [line + "\n" for line in source[:-1]] + ([source[-1]] if source[-1] else [])
    result, at, rows = [], 0, part.split("\n")[:-1]
    i, changed = 0, False
    while i < len(rows):
        head = re.fullmatch(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", rows[i])
        assert head, rows[i]
        first, count, into, new_count = map(int, head.groups())
        begin = first - 1 if count else first
        result += lines[at:begin]
        assert len(result) == (into - 1 if new_count else into), (part, len(result))
        at, i, seen, made = begin, i + 1, 0, 0
        while seen < count or made < new_count:
            sign, row = rows[i][0], rows[i][1:] + "\n"
            if i + 1 < len(rows) and rows[i + 1].startswith("\\ No newline"):
                row, i = row[:-1], i + 1
            if sign in " -":
                assert lines[at] == row, (lines[at], row)
                at, seen = at + 1, seen + 1
            if sign in " +":
                result.append(row)
                made += 1
            changed = changed or sign in "+-"
            i += 1
    result += lines[at:]
    assert "".join(result) == new, (old, new, part)
    assert changed or old == new
END
for seed in 1 2 3; do
    last="the diffs of seed $seed"
    timeout 60 python3 diffs.py "$seed" >out 2>&1 || complain "$last: $(tail -c 2000 out)"
done
# A change that is very long is cut.
python3 -c 'print("turn 2 n changesBatchUpdate " + __import__("json").dumps({"batchId": "BATCH", "change": {"id": "1", "filePath": "f", "changeType": "create", "originalContent": "", "proposedContent": "x\n" * 2001, "description": "", "toolId": "", "toolName": ""}}))' >long
with 0 'All done.' '… and more' prompt --yes hi -- "$(cat long)" '< changesDecision' "$decided"
(($(grep -c '^+x' err) == 2000)) || complain "$(grep -c '^+x' err) lines are shown"
sed -i 's/\(\\n\)x\\n"/\1"/' long
with 0 'All done.' '*' prompt --yes hi -- "$(cat long)" '< changesDecision' "$decided"
(($(grep -c '^+x' err) == 2000)) || complain "$(grep -c '^+x' err) lines are shown"
lacks err 'and more'
# So are very many of them, and a very long line; the numbers of all are there.
cat >many.py <<'END'
import json, sys
changes, lines, length = map(int, sys.argv[1:])
print("turn 2 " + " ;; ".join("n changesBatchUpdate " + json.dumps({"batchId": "BATCH", "change": {"id": str(i), "filePath": "f", "changeType": "create", "originalContent": "", "proposedContent": ("x" * length + "\n") * lines, "description": "", "toolId": "", "toolName": ""}}) for i in range(changes)))
END
# many CHANGES LINES LENGTH
many() {
    with 0 'All done.' "$1. create \"f\"" prompt --yes hi -- "$(python3 many.py "$@")" '< changesDecision' "$decided"
}
many 10 2000 1
(($(grep -c '^+x' err) == 20000)) || complain "$(grep -c '^+x' err) lines are shown"
lacks err 'not shown'
many 11 2000 1
(($(grep -c '^+x' err) == 20000)) || complain "$(grep -c '^+x' err) lines are shown"
has err '11. create "f"
  (from 0 to 4000 bytes, not shown behind so many lines)'
many 1 1 4096
lacks err 'more bytes'
many 1 1 4097
has err 'x… and 1 more bytes'
gone
exit "$failed"
