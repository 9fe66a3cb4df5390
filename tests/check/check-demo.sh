#!/usr/bin/env bash
# duplex demo: five systems in 30 lines, the messages with --traffic, the timeline, and what happens when a
# system is missing or fails.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}
# A place whose name a shell would split; what is in it lies as in the build folder.
place="$work/a 'b"
mkdir -p "$place/examples" "$work/tmp"
cp "$BUILD/"{duplex,duplex-hermes,duplex-mcp,duplex-reginald,duplex-finecode,duplex-autohand} "$place"
cp -r "$BUILD/examples/"{hermes-normalise,adt.hl7,mcp-adder,mcp-conformance,reginald-symlink,finecode-demo} "$place/examples"
cd "$work"
export TMPDIR=$work/tmp LC_ALL=C.UTF-8
# The user's own settings and plugins have no effect on the demo.
mkdir "$work/plugins"
printf '#!/bin/sh\nexit 4\n' >"$work/plugins/reginald-other"
chmod +x "$work/plugins/reginald-other"
export REGINALD_PLUGIN_DIR=$work/plugins REGINALD_CONFIG=$work/absent.toml REGINALD_LOG_LEVEL=error REGINALD_LOG_FORMAT=json
export FINECODE_WAL_ENABLED=1 FINECODE_CONFIG_LINT__TODO__X=]
export AUTOHAND_CONFIG=$work/absent.json AUTOHAND_HOME=$work/agents HOME=$work/home
page=$work/tmp/duplex-demo-$(id -u).html
nothing_left() {
    local left
    left=$(find tmp -mindepth 1 ! -path "tmp/${page##*/}")
    [[ -z $left ]] || complain "left in the temporary folder: $left"
}
# demo CODE ARGUMENT...: out, err
demo() {
    local want=$1 got=0
    shift
    timeout 60 "$place/duplex" demo "$@" >out 2>err || got=$?
    [[ $got == "$want" ]] || complain "demo $* (line ${BASH_LINENO[0]}): exit code $got, expected $want: $(cat out err)"
}

# The short form, in a pipe: the exact text, but for times.
demo 0
[[ ! -s err ]] || complain "on standard error: $(cat err)"
cat >expected <<'END'
Both sides of five systems that speak JSON-RPC over stdio, running right here:
Hermes: an extension corrects the names in a hospital's HL7 message
  before   PID|…|VAN DER berg^anneLIESE^m^^Mrs  NK1|…|van der BERG^pieter^J
  after    PID|…|Van Der Berg^Anneliese^M^^Mrs  NK1|…|Van Der Berg^Pieter^J
  traffic  5 messages sent, 4 received, 2 callbacks, N ms
MCP: a client calls a tool, and the server asks a question before it responds
  call     test_sampling {"prompt":"What is six times seven?"}
  asked    What is six times seven? (answer: forty-two)
  result   LLM response: forty-two
  traffic  5 messages sent, 4 received, 1 callback, N ms
FineCode: a manager lints two projects at the same time
  app      main.c:1: to do, main.c:3: to do, main.c: 2 in all
  notes    notes.md:3: to do
  traffic  27 messages sent, 21 received, 3 callbacks, N ms
Reginald: a host runs two tasks that set up a home folder, in dependency order
  first    task 'dotfiles' made the link dotfiles -> shared
  then     task 'git' made the link .gitconfig -> dotfiles/gitconfig
  traffic  8 messages sent, 9 received, 0 callbacks, N ms
Autohand: a coding agent edits a file after asking for permission
  asked    Write to this file? server.conf (answer: allow_once)
  diff     -port = 8080
           +port = 9090
  traffic  4 messages sent, N received, 0 callbacks, N ms

Try next: call a tool, check a server, see the messages of this demo
END
# How many notices the agent sends depends on how its output is cut into pieces.
sed -E 's/[0-9]+ ms$/N ms/; s/(  traffic  4 messages sent, )[0-9]{2} received/\1N received/' out | head -n 25 >got
diff expected got || complain "another text"
[[ $(tail -n 1 out) == "Timeline of every message, for a browser: $page" ]] || complain "the last line: $(tail -n 1 out)"
if grep -q $'[\r\033]' out; then complain "control characters"; fi
nothing_left
[[ ! -e $work/agents && ! -e $work/home ]] || complain "a session is kept"
cmp -s "$place/examples/adt.hl7" "$SOURCE/examples/hermes/adt.hl7" || complain "the example was changed"

# As ./dev run starts it: 30 lines of 100 columns at most, and the commands run as they are pasted.
mkdir build
cp -r "$place"/. build
build/duplex demo -o build/demo.html >out 2>err || complain "it fails: $(cat out err)"
(($(wc -l <out) <= 30 && $(wc -L <out) <= 100)) || complain "$(wc -l <out) lines, $(wc -L <out) columns"
[[ $(sed -n '/^run)/,/;;/p' "$SOURCE/dev") == 'run)
    build >&2
    exec build/duplex demo --output build/demo.html
    ;;' ]] || complain "./dev run does something else"
[[ $(tail -n 1 out) == 'Timeline of every message, for a browser: build/demo.html' ]] || complain "the last line: $(tail -n 1 out)"
sed -n '/^Try next/,/^Timeline/ s/^  //p' out >commands
[[ $(<commands) == 'build/duplex mcp tools call add a:=2 b:=40 -- build/examples/mcp-adder
build/duplex check -p mcp -- build/examples/mcp-adder
build/duplex demo --traffic' ]] || complain "other commands: $(cat commands)"
[[ $(bash -c "$(sed -n 1p commands)") == 42 ]] || complain "the first command"
bash -c "$(sed -n 2p commands)" >out 2>err || complain "the second command: $(cat out err)"
grep -q ' passed, 0 failed, ' err || complain "the second command: $(cat out err)"
bash -c "$(sed -n 3p commands)" >out 2>err || complain "the third command: $(cat out err)"
# A path that a shell would split is quoted, and a long line goes on in the next one.
demo 0
sed -n '/^Try next/,/^Timeline/ s/^  //p' out >commands
[[ $(bash commands 2>&1 | sed -n 1p) == 42 ]] || complain "quoted commands: $(cat commands)"

# The timeline has the conversations of all systems; only its owner can read it; the next run replaces it.
python3 - "$page" build/demo.html <<'END' || complain "the timeline"
import os, stat, sys
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    for name in ("Hermes hermes-normalise-1", "MCP", "FineCode find@app", "FineCode count@app", "FineCode find@notes", "Reginald symlink", "Autohand"):
        assert f'"{name}"' in text, (path, name)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
END
# A link in its place is replaced, not followed; what cannot be replaced stays, and the page gets another name.
echo mine >victim
ln -sf "$work/victim" "$page"
demo 0
[[ $(<victim) == mine && -f $page && ! -L $page ]] || complain "a link was followed"
rm "$page"
mkdir "$page"
demo 0
other=$(sed -n 's/^Timeline of every message, for a browser: //p' out)
[[ $other != "$page" && $other == "$work"/tmp/duplex-demo-*.html && -s $other ]] || complain "no other name: $other"
rm -r "$page" "$other"
demo 2 -o "$work/absent/x.html"
grep -qF "duplex demo: timeline: duplex failed with exit code 2, expected 0: cannot write $work/absent/x.html: No such file or directory" err || complain "another text: $(cat err)"
demo 2 -o -
[[ $(<err) == "duplex demo: --output: expected a file, got '-'" ]] || complain "another text: $(cat err)"
demo 2 more
[[ $(<err) == "duplex demo: unexpected argument 'more'" ]] || complain "another text: $(cat err)"

# On terminals: colour, no line wider than the terminal but for what is to be pasted.
python3 - "$place/duplex" <<'END' || complain "on a terminal"
import fcntl, os, pty, re, struct, sys, termios
def show(columns, *words):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        os.environ.update(TERM="xterm")
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.argv[1], [sys.argv[1], "demo", *words])
    text = b""
    try:
        while piece := os.read(fd, 65536):
            text += piece
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text
    return text.decode().replace("\r", "").splitlines()
plain = lambda lines: [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
for columns in 100, 80:
    lines = show(columns)
    assert any("\x1b[" in line for line in lines)
    shown = plain(lines)[:25]
    assert max(map(len, shown)) <= columns, shown
    assert "  after    PID|…|Van Der Berg^Anneliese^M^^Mrs  NK1|…|Van Der Berg^Pieter^J" in shown, shown
narrow = plain(show(50))
rows = [line for line in narrow[:24] if line.startswith("  ")]
assert max(map(len, rows)) <= 50 and any(line.endswith("…") for line in rows), rows
titles = [line for line in narrow if re.match(r"(Hermes|MCP|FineCode|Reginald|Autohand|Try next): ", line)]
assert len(titles) == 6 and max(map(len, titles)) <= 50 and titles[0].endswith("…"), titles
for columns in 80, 120:
    lines = [line for line in plain(show(columns, "--traffic")) if re.match(r" +\d+\.\d{3} ", line)]
    assert columns - 5 <= max(map(len, lines)) <= columns, (columns, max(map(len, lines)))
END

# The messages: cut, and whole. Each is the beginning of the other.
demo 0 --traffic
grep -E '^ +[0-9]+\.[0-9]{3} ' out >messages
(($(wc -L <messages) == 100)) || complain "$(wc -L <messages) columns"
grep -qE '^ +0\.000 hermes-normalise-1 -> \{"jsonrpc":"2.0","id":1,"method":"initialize",' out || complain "no first message: $(cat out)"
grep -qE '^ +[0-9.]+ <- \{"jsonrpc":"2.0","id":"[^"]*","method":"sampling/createMessage",' out || complain "no call back: $(cat out)"
[[ $(wc -l <messages) == $(awk '/^  traffic/ { n += $2 + $5 } END { print n }' out) ]] || complain "$(wc -l <messages) messages"
demo 0 --traffic=full
grep -qE '^ +[0-9.]+ -> \{"jsonrpc":"2.0","id":"[^"]*","method":"tools/call","params":\{"name":"test_sampling","arguments":\{"prompt":"What is six times seven\?"\}\}\}$' out ||
    complain "not whole: $(cat out)"
if grep -E '^ +[0-9]+\.[0-9]{3} .*…$' out; then complain "cut"; fi
# In one project the action is one call, in the other a chain: what counts gets what was found.
[[ $(grep -c '"method":"actions/run"' out) == 1 && $(grep -c '"method":"actions/runHandlers"' out) == 2 ]] || complain "other calls: $(cat out)"
grep -qE 'count@app -> .*"previousResult":\{"messages":\{"main.c":\[' out || complain "no result goes on: $(cat out)"
demo 2 --traffic=half
[[ $(<err) == *"--traffic: expected full, "*"'half'"* ]] || complain "another text: $(cat err)"

demo 0 --json
python3 -c 'import json
rows = [json.loads(line) for line in open("out")]
assert [row.get("system") for row in rows] == ["Hermes", "MCP", "FineCode", "Reginald", "Autohand", None]
assert [row["plugin"] for row in rows[:5]] == ["hermes-normalise", "mcp-conformance", "finecode-demo", "reginald-symlink", "duplex-autohand"]
assert [row["framing"] for row in rows[:5]] == ["header", "line", "header", "header", "line"]
counts = [[row[name] for name in ("sent", "came", "results", "refused", "askedBack")] for row in rows[:5]]
assert counts[:4] == [[5, 4, 2, 0, 2], [5, 4, 3, 0, 1], [27, 21, 18, 0, 3], [8, 9, 7, 0, 0]], counts
assert counts[4][0] == 4 and counts[4][2:] == [4, 0, 0], counts
assert rows[1]["shown"][2] == {"label": "result", "text": "LLM response: forty-two"}
assert "messages" not in rows[1] and rows[1]["us"] > 0
assert list(rows[5]) == ["timeline"]' || complain "$(cat out)"
demo 0 --json --traffic
python3 -c 'import json
row = [json.loads(line) for line in open("out")][1]
assert [one["from"] for one in row["messages"]] == ["host", "plugin", "host", "host", "plugin", "host", "plugin", "host", "plugin"]
assert row["messages"][5]["message"]["params"]["name"] == "test_sampling"' || complain "$(cat out)"

# Interrupted, it leaves nothing: here while the editor waits for its extension.
rm -f "$page"
coproc demo { exec "$place/duplex" demo 2>err; }
pid=$! # of the last one in the background
while read -r -t 10 line <&"${demo[0]}" && [[ $line != Hermes:* ]]; do :; done
kill "$pid"
cat <&"${demo[0]}" >/dev/null
got=0
wait "$pid" || got=$?
[[ $got == 130 && $(<err) == 'duplex demo: interrupted' ]] || complain "interrupted: exit code $got: $(cat err)"
[[ -z $(ls -A tmp) ]] || complain "left behind: $(ls -A tmp)"

# Output that nobody takes is one error, and no system's; a reader that leaves is none to report.
got=0
timeout 60 "$place/duplex" demo >/dev/full 2>err || got=$?
[[ $got == 2 && $(<err) == "duplex demo: the output cannot be written: No space left on device" ]] || complain "a full device: $got: $(cat err)"
got=0
timeout 60 "$place/duplex" demo >&- 2>err || got=$?
[[ $got == 2 && $(<err) == "duplex demo: the output cannot be written: Bad file descriptor" ]] || complain "a closed output: $got: $(cat err)"
python3 - "$place/duplex" <<'END' || complain "a reader that leaves"
import subprocess, sys
for last in (b"Both", b"Hermes", b"FineCode"):
    demo = subprocess.Popen([sys.argv[1], "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    while not demo.stdout.readline().startswith(last):
        pass
    demo.stdout.close()
    said = demo.stderr.read()
    assert (demo.wait(60), said) == (2, b""), (last, demo.returncode, said)
END
nothing_left

got=0
TMPDIR=$work/absent timeout 60 "$place/duplex" demo >out 2>err || got=$?
[[ $got == 3 && $(<err) == "duplex demo: cannot make a folder in $work/absent: No such file or directory" ]] || complain "without a temporary folder: $got: $(cat err)"

# fails CODE TEXT: the demo reports one line, plays the other systems, and leaves with that code.
fails() {
    local code=$1 text=$2
    demo "$code"
    # shellcheck disable=SC2053 # a pattern
    [[ $(wc -l <err) == 1 && $(<err) == $text ]] || complain "line ${BASH_LINENO[0]}: expected $text, got $(cat err)"
    [[ $(grep -c '^  traffic' out) == 4 ]] || complain "line ${BASH_LINENO[0]}: the others are not played: $(cat out)"
    nothing_left
}
# script FILE TEXT: puts a shell script in its place.
script() {
    printf '#!/bin/sh\n%s\n' "$2" >"$place/$1"
}
script examples/hermes-normalise 'exit 4'
fails 4 'duplex demo: Hermes: duplex-hermes failed with exit code 4, expected 0: ?*'
cp "$BUILD/examples/hermes-normalise" "$place/examples"
script duplex-mcp 'echo out of order >&2; exit 6'
fails 6 'duplex demo: MCP: duplex-mcp failed with exit code 6, expected 0: out of order'
script duplex-mcp 'kill -9 $$'
fails 4 'duplex demo: MCP: duplex-mcp was killed by signal 9 (Killed)'
cp "$BUILD/duplex-mcp" "$place"
script examples/reginald-symlink 'exit 4'
fails 3 'duplex demo: Reginald: duplex-reginald failed with exit code 3, expected 0: ?*'
cp "$BUILD/examples/reginald-symlink" "$place/examples"
script duplex-reginald 'echo "{\"event\":\"task\",\"task\":\"git\",\"state\":\"done\"}"'
fails 4 "duplex demo: Reginald: the task 'git' did not create the link .gitconfig: No such file or directory"
script duplex-reginald 'exit 0'
fails 4 'duplex demo: Reginald: 0 of 2 tasks were done'
cp "$BUILD/duplex-reginald" "$place"
script duplex-finecode 'exit 0'
fails 4 'duplex demo: FineCode: duplex-finecode failed with exit code 0, expected 1'
script duplex-finecode 'exit 1'
fails 4 'duplex demo: FineCode: expected findings in 2 projects'
cp "$BUILD/duplex-finecode" "$place"
echo 'x = ' >"$place/examples/finecode-demo/notes/finecode.toml"
fails 7 'duplex demo: FineCode: duplex-finecode failed with exit code 7, expected 1: ?*'
cp -r "$BUILD/examples/finecode-demo" "$place/examples"
# Programs are started with the usual signals, whatever the command ignores.
script duplex-autohand 'grep SigIgn /proc/self/status >&2; exit 3'
fails 3 'duplex demo: Autohand: duplex-autohand failed with exit code 3, expected 0: SigIgn:*'
ignored=$(sed -n 's/.*SigIgn:[^0-9a-f]*\(t\?\)\([0-9a-f]*\)$/\2/p' err)
(((0x$ignored & 0x1001000) == 0)) || complain "it ignores signals: $(cat err)"
script duplex-autohand 'exit 0'
fails 4 'duplex demo: Autohand: the agent did not ask for permission'
script duplex-autohand 'echo "{\"event\":\"permission\",\"text\":\"x\"}"; echo "{\"event\":\"permission-answer\",\"decision\":\"y\"}"'
fails 4 'duplex demo: Autohand: the agent did not change server.conf'
demo 4 --json
grep -qF '{"error":{"exit":4,"kind":"ended","message":"Autohand: the agent did not change server.conf"}}' out || complain "$(cat out)"
cp "$BUILD/duplex-autohand" "$place"

# A system that is not installed is left out; one line says so.
for missing in Hermes:examples/adt.hl7 Hermes:examples/hermes-normalise Hermes:duplex-hermes MCP:duplex-mcp MCP:examples/mcp-conformance \
    Reginald:duplex-reginald Reginald:examples/reginald-symlink FineCode:duplex-finecode FineCode:examples/finecode-demo Autohand:duplex-autohand; do
    file=${missing#*:}
    mv "$place/$file" "$work/kept"
    demo 0
    grep -qxF "${missing%%:*}: left out, ${file##*/} is not installed next to duplex" out || complain "without $file: $(cat out)"
    [[ $(grep -c '^  traffic' out) == 4 ]] || complain "without $file: $(cat out)"
    mv "$work/kept" "$place/$file"
done
mv "$place"/duplex-* "$place/examples"
chmod -x "$place/examples"/duplex-*
demo 3
[[ $(grep -c ': left out, ' out) == 5 && $(<err) == 'duplex demo: none of the five systems is installed next to duplex' ]] || complain "without all: $(cat out err)"
nothing_left
# Nothing that it started runs any more.
for program in /proc/[0-9]*/exe; do
    program=$(readlink "$program") || continue
    [[ $program != "$place"/* ]] || complain "left running: $program"
done
exit $failed
