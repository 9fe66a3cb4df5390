#!/usr/bin/env bash
# duplex autohand prompt and chat with our own agent, as each version: what is asked, what is applied, what is ended.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/autohand-common.bash" || exit 1

mkdir space home
own=("$duplex" autohand agent --home "$work/home" --path "$work/space")
# ours CODE OUT ERR WORDS... -- OPTION...
ours() {
    local code=$1 out=$2 err=$3 words=()
    shift 3
    while [[ $1 != -- ]]; do words+=("$1"); shift; done
    expect "$code" "$out" "$err" "${words[@]}" -- "${own[@]}" "${@:2}"
}
for compat in doc 0.6 0.8; do
    rm -rf space/* space/.autohand
    printf 'one\ntwo\n' >space/f
    ours 0 $'one\ntwo' '> read_file f' prompt 'show f' -- --compat "$compat"
    ours 0 '*' $'@@ -0,0 +1,1 @@\n+text' prompt --yes 'create file new with text' -- --compat "$compat"
    has err 'changes: 1 applied, 0 skipped'
    [[ $(cat space/new) == text ]] || complain "$compat: $(cat space/new)"
    ours 0 '*' $'-two\n+three' prompt --yes 'replace two by three in f' -- --compat "$compat"
    [[ $(cat space/f) == $'one\nthree' ]] || complain "$compat: $(cat space/f)"
    ours 0 '*' '*' prompt --yes --changes reject 'create file other with text' -- --compat "$compat"
    ours 7 '*' 'there is no terminal to ask on' prompt --changes ask 'replace three by four in f' -- --compat "$compat" --yolo
    [[ ! -e space/other && $(cat space/f) == $'one\nthree' ]] || complain "$compat: it was applied"
    ours 1 'Unknown command: /nosuch' 'the turn failed' prompt /nosuch -- --compat "$compat"
done
rm -rf space/.autohand
ours 0 '*' '? run_command echo hello: allowed' prompt --yes 'run echo hello' --
has err $'> run_command echo hello\n'
ours 0 '*' '(-32001 Permission Denied)' prompt --no 'run echo hello' --
has err ', 1 denied'
lacks err '> run_command'
expect 3 '' "the agent cannot start" prompt hi -- "$duplex" autohand agent --home "$work/home" --path /
expect 3 '' "the agent cannot start" prompt hi -- "$duplex" autohand agent --home "$work/home" --path "$work/nowhere"

# What is running ends with the turn.
began=$(date +%s%N)
ours 5 '*' 'the turn timed out (--timeout) and was aborted' prompt --yes --timeout 500ms "run sleep 61.$$" --
rm -f out err
"$duplex" autohand prompt --yes "run sleep 62.$$" -- "${own[@]}" >out 2>err </dev/null &
background=$!
for ((i = 0; i < 200; i++)); do
    if grep -qs '> run_command' err; then break; fi
    sleep 0.05
done
kill -INT "$background"
got=0
wait "$background" || got=$?
background=
((got == 130)) || complain "code $got after an interrupt: $(cat err)"
(($(date +%s%N) - began < 12000000000)) || complain "aborting takes too long"
if pgrep -f "sleep 6[12].$$" >/dev/null; then complain "a tool is left behind"; fi

# Whoever reads events can answer: remembered permissions, another command, a file that was changed meanwhile.
cat >drive.py <<'END'
import json, os, subprocess, sys, time
argv = [os.environ["BUILD"] + "/duplex", "autohand", "chat", "--json", "--ask", "--", *sys.argv[1:]]
chat = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
def say(line):
    chat.stdin.write(line + "\n")
    chat.stdin.flush()
def turn(prompt, answers, before=None, then=()):
    """The events of a turn, in which the questions are answered one after the other, and then a tool starts."""
    seen, waits = [], True
    say(prompt)
    while waits:
        event = json.loads(chat.stdout.readline())
        seen.append(event)
        if event.get("event") == "ask":
            if before:
                before(event)
            say(answers.pop(0))
        if event.get("event") == "tool-start":
            for line in then:
                say(line)
        if event.get("event") in ("decision", "turn"):
            waits = event["event"] == "turn" and "batch" in event
    assert not answers, answers
    return seen
def of(events, name):
    return [event for event in events if event.get("event") == name]
seen = turn("run echo one", ["s"])
assert of(seen, "tool-end")[0]["success"] and len(of(seen, "ask")) == 1, seen
seen = turn("run echo one", [])
assert of(seen, "tool-end") and not of(seen, "ask"), seen
seen = turn("run echo two", ["= echo three"])
assert "three" in of(seen, "tool-end")[0]["text"], seen
assert of(seen, "tool-start")[0]["args"]["command"] == "echo three" or "three" in json.dumps(of(seen, "tool-start")[0]["args"]), seen
seen = turn("run echo two", ["ns"])
assert not of(seen, "tool-start") and of(seen, "turn")[0]["denied"] == 1, seen
seen = turn("run echo two", [])
assert not of(seen, "tool-start") and not of(seen, "ask"), seen
began = time.monotonic()
seen = turn("run sleep 63", ["y"], then=[":answer x y", ":abort"])
assert of(seen, "turn")[0]["aborted"] and time.monotonic() - began < 5, seen
say(":abort")
seen = turn("show f", [])
assert [event["text"] for event in of(seen, "unasked")] == ["x", ":abort"] and of(seen, "turn")[0]["success"], seen
def meddle(event):
    if event["about"] == "changes":
        open("space/f", "w").write("by hand\n")
seen = turn("replace three by four in f", ["y", "y"], meddle)
decision = of(seen, "decision")[0]
assert not decision["success"] and decision["applied"] == 0 and decision["errors"], seen
assert open("space/f").read() == "by hand\n"
chat.stdin.close()
rest = [json.loads(line) for line in chat.stdout]
assert chat.wait(10) == 1, (chat.returncode, rest)  # of the turn that was aborted, which was the first to fail
END
last='the driven chat'
printf 'one\nthree\n' >space/f
timeout 30 python3 drive.py "${own[@]}" >out 2>&1 || complain "$last: $(tail -c 3000 out)"
exit "$failed"
