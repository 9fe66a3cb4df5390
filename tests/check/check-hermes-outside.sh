#!/usr/bin/env bash
# What duplex hermes host does outside: dialogs, windows, files, traces, JSON, signals.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/hermes-common.bash"

# --- Dialogs. ----------------------------------------------------------------------------------
answers() { expect 0 '' "Cmd: answer $1" -x "$extension" --run "$2" "${@:3}" a.hl7; }
answers '{"acknowledged": true}' cmd/message
has err 'ui/showMessage Look \x1b[31mhere: ok'
answers '{"confirmed": false}' cmd/confirm
answers '{"confirmed": true}' cmd/confirm --answer showConfirm=yes
answers '{"confirmed": false}' cmd/confirm --answer showConfirm=no
answers '{"confirmed": false}' cmd/confirm --answer any=cancel
answers '{"path": null}' cmd/open-file
answers "{\"path\": \"$work/x y\"}" cmd/open-file --answer 'openFile=x y' --answer any=cancel
answers '{"path": null}' cmd/open-file --answer openFile=cancel
answers "{\"paths\": [\"$work/x\", \"/y\"]}" cmd/open-files --answer openFiles=x:/y
answers '{"paths": null}' cmd/open-files --answer any=cancel
answers "{\"path\": \"$work/x:y\"}" cmd/save-file --answer saveFile=x:y
answers "{\"path\": \"/z\"}" cmd/folder --answer selectDirectory=/z
expect 0 '' '' -x "$extension" --run cmd/confirm --run cmd/confirm --run cmd/confirm -a showConfirm=no -a showConfirm=yes a.hl7
[[ $(grep 'answer' err | tr -d '\n') == 'Cmd: answer {"confirmed": false}Cmd: answer {"confirmed": true}Cmd: answer {"confirmed": true}' ]] ||
    complain "answers are not given in order: $(cat err)"

# --- Windows. ----------------------------------------------------------------------------------
cat >opener <<'END'
#!/bin/sh
printf '%s\n' "$#" "$@" >opened.new
cat >>opened.new
mv opened.new opened
echo noise
exit 3
END
chmod +x opener
# shellcheck disable=SC2016 # nothing is to be expanded
url='https://example.org/a?b=1&c=$(id);x'
expect 0 '' "Cmd: opened the window ext-window-" -x "$extension" --run cmd/window a.hl7
has err ": A \\x1b[31m page: $url"
has err ': shutdown'
expect 0 '' '--opener: the program exited with code 3' -x "$extension" --opener "./opener -x 'y z'" --run cmd/window a.hl7
[[ $(cat opened) == "3"$'\n'"-x"$'\n'"y z"$'\n'"$url" ]] || complain "the opener got: $(cat opened)"
same out a.hl7
rm opened
expect 0 '' '-32007' -x "$extension" --opener ./opener --run cmd/file-window --run cmd/dash-window a.hl7
[[ ! -e opened ]] || complain "the opener got: $(cat opened)"
expect 4 '' '--opener: No such file or directory' -x "$extension" --opener ./absent --run cmd/window a.hl7
# It may live longer than we do, and gets signals as any program does.
# shellcheck disable=SC2016 # nothing is to be expanded
printf '#!/bin/sh\necho $$ >opener.pid\nexec sleep 20\n' >lasting
chmod +x lasting
expect 0 '' '' -x "$extension" --opener ./lasting --run cmd/window a.hl7
kill -TERM "$(cat opener.pid)" || complain "the opener is gone"
lives() { grep -q '^State:[[:space:]]*[RSD]' "/proc/$1/status" 2>/dev/null; }
for _ in {1..50}; do
    lives "$(cat opener.pid)" || break
    sleep 0.02
done
! lives "$(cat opener.pid)" || complain "the opener does not hear SIGTERM"

# --- Files. ------------------------------------------------------------------------------------
writes() { expect "$1" '' "$2" -x "$extension" --run cmd/upper --write "$3" a.hl7; }
nothing_left() { [[ -z $(find . -name '.duplex-*') ]] || complain "left behind: $(find . -name '.duplex-*')"; }
(umask 027 && writes 0 '' new.hl7)
[[ $(stat -c %a new.hl7) == 640 ]] || complain "a new file has the mode $(stat -c %a new.hl7)"
echo old >target.hl7
chmod 604 target.hl7
ln -s target.hl7 link.hl7
writes 0 '' link.hl7
[[ -L link.hl7 && $(stat -c %a target.hl7) == 604 ]] || complain "a link, or the mode, is not kept"
same target.hl7 upper.hl7
ln -s absent-target dangling
writes 2 "cannot write dangling: it is a broken symbolic link" dangling
writes 2 "cannot write absent/x: No such file or directory" absent/x
mkdir folder
writes 2 "cannot write folder: Is a directory" folder
writes 2 "cannot write /dev/full: No space left on device" /dev/full
[[ -c /dev/full ]] || complain "/dev/full was replaced"
writes 0 '' /dev/null
mkfifo unread
writes 2 "cannot write unread: No such device or address" unread
# A disk that is full: what was there stays.
echo old >target.hl7
python3 -c 'print("MSH|^~\\&|" + "x" * 100000 + "\rPID|1||||doe^x", end="\r")' >large.hl7
(
    trap '' XFSZ
    ulimit -f 32
    expect 2 '' "cannot write target.hl7: File too large" -x "$extension" --run cmd/upper --write target.hl7 large.hl7
    exit "$failed"
) || failed=1
[[ $(cat target.hl7) == old ]] || complain "the old file is lost"
# A file, or a folder, that must not be written.
if ((EUID != 0)); then
    chmod 444 target.hl7
    writes 2 "cannot write target.hl7: Permission denied" target.hl7
    mkdir closed
    chmod 555 closed
    writes 2 "cannot write closed/x: Permission denied" closed/x
    chmod 755 closed
fi
[[ $(cat target.hl7) == old ]] || complain "the old file is lost"
nothing_left
got=0
timeout 15 "$hermes" host --settle 100ms -x "$extension" --run cmd/upper a.hl7 >/dev/full 2>err || got=$?
((got == 2)) || complain "a full standard output gives $got"
has err "the output cannot be written: No space left on device"

# --- Traces, and JSON. -------------------------------------------------------------------------
expect 0 '' '' -x "$extension" --record trace.jsonl --run cmd/upper a.hl7
python3 -c 'import json
text = [line for line in open("trace.jsonl")]
assert all(json.loads(line) for line in text)
for word in ("initialize", "command/execute", "editor/patchMessage", "shutdown"):
    assert any(word in line for line in text), word' || complain "the trace: $(cat trace.jsonl)"
timeout 10 "$BUILD/duplex" lint trace.jsonl >out 2>&1 || complain "the trace is not clean: $(cat out)"
expect 0 '' '' --json -x "$extension events" --debounce 20ms --run cmd/levels --run cmd/upper --run cmd/window --run cmd/confirm \
    --run cmd/open-files -a openFiles=/x:/y --run cmd/message --run cmd/stray a.hl7
[[ ! -s err ]] || complain "with --json: $(cat err)"
events '[one["state"] for one in of("state")] == ["initializing", "running", "shutting_down", "stopped"]'
events '{one["extension"] for one in of("state")[1:]} == {"Cmd"} and "reason" not in of("state")[1]'
events '[(one["level"], one["text"]) for one in of("log")][1:3] == [("warn", "careful"), ("error", "broken")]'
events '[one["by"] for one in of("message")] == [None, "Cmd"] and "DOE^jane" in of("message")[1]["text"]'
events 'of("window")[0]["width"] == 300 and of("window")[0]["height"] == 600 and of("window")[0]["modal"] is False'
events 'of("window")[0]["resizable"] is True and of("window")[0]["url"].startswith("https://example.org") and of("window")[0]["title"]'
events 'of("closed") == [{"event": "closed", "id": of("window")[0]["id"], "reason": "shutdown"}]'
events '[one["answer"] for one in of("dialog")] == [False, ["/x", "/y"], True]'
events 'of("dialog")[0]["method"] == "ui/showConfirm" and of("dialog")[0]["params"] == {"message": "Really?"}'
events 'of("violation")[0]["extension"] == "Cmd" and "printed by mistake" in of("violation")[0]["text"]'
events 'result("write")["ok"] and result("write")["format"] == "hl7" and result("write")["text"] == open("upper.hl7", newline="").read()'
printf 'MSH|^~\\&|\344\rPID|1||||x\r' >latin.hl7
expect 2 '' 'byte 0xE4 at offset 9 is not valid UTF-8, and MSH.18 does not say what it is
hint: pass --encoding NAME' -x "$extension" --run cmd/env latin.hl7
expect 0 '' '' --json --encoding latin1 -x "$extension" --run cmd/env latin.hl7
events 'result("write")["text"] == "MSH|^~\\&|\u00e4\rPID|1||||x\r" and "lossy" not in result("write")'
expect 0 '' '' --encoding latin1 -x "$extension" --run cmd/env latin.hl7
same out latin.hl7
expect 5 '' '' --json -x "$extension hang" --start-timeout 200ms --run cmd/env
events 'of("state")[-1]["state"] == "failed" and of("state")[-1]["reason"] and all[-1]["error"]["kind"] == "timeout"'

# --- Signals. ----------------------------------------------------------------------------------
# begin ARG...: starts it; wait_for TEXT: until that is in its error output.
begin() {
    : >err
    timeout 30 "$hermes" host --settle 60ms "$@" >out 2>err <in &
    host=$!
}
wait_for() {
    for _ in {1..500}; do
        grep -qF "$1" err && return
        sleep 0.02
    done
    complain "'$1' is not told: $(cat err)"
}
# ends CODE SECONDS
ends() {
    local got=0
    SECONDS=0
    wait "$host" || got=$?
    host=
    ((got == $1 && SECONDS <= $2)) || complain "code $got after $SECONDS s, expected $1: $(cat err)"
}
for signal in INT TERM; do
    begin -x "$extension" --run cmd/confirm --run cmd/slow --settle 20s --write never.hl7 a.hl7
    wait_for 'answer'
    kill -$signal "$(pgrep -P "$host")"
    ends 130 3
    has err 'interrupted'
    has err 'Cmd: reason closing'
    [[ ! -e never.hl7 ]] || complain "a message is written in spite of that"
done
begin -x "$extension hang" --run cmd/upper a.hl7
sleep 0.3
kill -INT "$(pgrep -P "$host")"
ends 130 4
# One that does not leave is not waited for after a second signal.
begin -x "$extension stay" --stop-timeout 20s --settle 20s --run cmd/levels a.hl7
wait_for 'broken'
kill -INT "$(pgrep -P "$host")"
wait_for interrupted
child=$(pgrep -P "$(pgrep -P "$host")" -f 'cmd_extension.py.* stay')
[[ -n $child ]] || complain "the extension is not there"
kill -INT "$(pgrep -P "$host")"
ends 130 2
! lives "$child" || complain "the extension lives on"
exit "$failed"
