#!/usr/bin/env bash
# duplex demo: its scenes, with and without those that other programs play.
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
cp -r "$BUILD/examples/"{echo,poll,hermes-normalise,adt.hl7,mcp-conformance,reginald-symlink,finecode-demo} "$place/examples"
cd "$work"
export TMPDIR=$work/tmp LC_ALL=C.UTF-8
# What a user has said to duplex reginald, duplex finecode and duplex autohand is not for the demo; nor are his plugins.
mkdir "$work/plugins"
printf '#!/bin/sh\nexit 4\n' >"$work/plugins/reginald-other"
chmod +x "$work/plugins/reginald-other"
export REGINALD_PLUGIN_DIR=$work/plugins REGINALD_CONFIG=$work/absent.toml REGINALD_LOG_LEVEL=error REGINALD_LOG_FORMAT=json
export FINECODE_WAL_ENABLED=1 FINECODE_CONFIG_LINT__TODO__X=]
export AUTOHAND_CONFIG=$work/absent.json AUTOHAND_HOME=$work/agents HOME=$work/home

# Whoever interrupts it finds nothing left: here in the scene of the editor, whose first word is on its way.
coproc demo { exec "$place/duplex" demo 2>err; }
pid=$! # of the last one in the background
while read -r -t 10 line <&"${demo[0]}" && [[ $line != *'hermes-normalise ->'* ]]; do :; done
kill "$pid"
cat <&"${demo[0]}" >/dev/null
got=0
wait "$pid" || got=$?
[[ $got == 130 && $(<err) == *'duplex demo: interrupted' ]] || complain "interrupted, it leaves with $got: $(cat err)"
[[ -z $(ls -A tmp) ]] || complain "left behind: $(ls -A tmp)"

timeout 30 "$place/duplex" demo >out 2>err || complain "it fails: $(cat out err)"
[[ ! -s err ]] || complain "something is told: $(cat err)"
for text in '[5/8] mcp-conformance line: ' '"method":"sampling/createMessage"' 'LLM response: forty-two' '[4/8] hermes-normalise header: ' '||VAN DER berg^anneLIESE^m^^Mrs|' '||Van Der Berg^Anneliese^M^^Mrs|' 'Names: changed the message' \
    'hermes-normalise -> {"jsonrpc":"2.0","id":1,' '[6/8] reginald-symlink header: ' '  needs = ["first"]' 'symlink -> {"jsonrpc":"2.0","id":5,"method":"runTask"' \
    'symlink -> {"jsonrpc":"2.0","method":"exit"' '  one -> tasks.toml' '  two -> one' '2 done, 0 failed, 0 left out' \
    '[7/8] finecode-demo header: ' '    sum   count  demo.sum' 'app/find -> {"jsonrpc":"2.0",' '"method":"actions/run",' '"handlerNames":["sum"]' 'main.c:3:1: to do' 'main.c: 2 in all' \
    'notes.md:3:1: to do' 'found     app: lint, return code 1, ' '2 projects: 0 done, 2 found something, 0 failed; ' \
    '[8/8] duplex-autohand line: ' '"method":"autohand.permissionRequest"' '+Good morning!' 'changes: 2 applied, 0 skipped' 'greeting.txt:' '  Good morning!' 'Every call was answered, every plugin stopped.'; do
    grep -qF -- "$text" out || complain "it lacks '$text': $(cat out)"
done
grep -qE '^hermes-normalise header +5 +4 +2 +0 +2 ' out || complain "another row: $(cat out)"
grep -qE '^mcp-conformance +line +4 +3 +2 +0 +1 ' out || complain "another row: $(cat out)"
grep -qE '^reginald-symlink header +8 +9 +7 +0 +0 ' out || complain "another row: $(cat out)"
grep -qE '^finecode-demo +header +24 +18 +18 +0 +0 ' out || complain "another row: $(cat out)"
grep -qE '^duplex-autohand +line +8 +[0-9]+ +8 +0 +0 ' out || complain "another row: $(cat out)"
# In one project the action is one call, in the other a chain: what counts gets what was found.
[[ $(grep -c '"method":"actions/run"' out) == 1 && $(grep -c '"method":"actions/runHandlers"' out) == 2 ]] || complain "other calls: $(cat out)"
grep -qE 'app/count -> .*"previousResult":\{"messages":\{"main.c":\[' out || complain "no result goes on: $(cat out)"
# The task that needs the other one stands first in the file and is run last; so no link leads to nothing.
[[ $(sed -nE 's/^(INFO|WARN|ERROR) +symlink: (.*) dir=.* to=([a-z]+) .*/\1 \2: \3/p; s/^done +/done /p' out) == 'INFO the link was created: one
done first (symlink)
INFO the link was created: two
done second (symlink)' ]] || complain "other logs and tasks: $(cat out)"
if grep -q $'[\r\033]' out; then complain "control characters"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
[[ ! -e $work/agents && ! -e $work/home ]] || complain "a session is kept"
cmp -s "$place/examples/adt.hl7" "$SOURCE/examples/hermes/adt.hl7" || complain "the example was changed"

timeout 30 "$place/duplex" demo --json >out 2>err || complain "--json fails: $(cat out err)"
python3 -c 'import json
rows = [json.loads(line) for line in open("out")]
assert [row["plugin"] for row in rows] == ["echo", "echo", "poll", "hermes-normalise", "mcp-conformance", "reginald-symlink", "finecode-demo", "duplex-autohand"]
assert [rows[3][name] for name in ("sent", "came", "results", "refused", "askedBack")] == [5, 4, 2, 0, 2]
assert [rows[5][name] for name in ("sent", "came", "results", "refused", "askedBack")] == [8, 9, 7, 0, 0]
assert [rows[6][name] for name in ("sent", "came", "results", "refused", "askedBack")] == [24, 18, 18, 0, 0]
assert [rows[7][name] for name in ("sent", "results", "refused", "askedBack")] == [8, 8, 0, 0]' || complain "$(cat out)"

# That nobody takes what it shows is no failure of a program, whoever of them comes to know it.
got=0
timeout 30 "$place/duplex" demo >/dev/full 2>err || got=$?
[[ $got == 2 && $(<err) == "duplex demo: the output can't be written: No space left on device" ]] || complain "a full device: $got: $(cat err)"
got=0
timeout 30 "$place/duplex" demo >&- 2>err || got=$?
[[ $got == 2 && $(<err) == "duplex demo: the output can't be written: Bad file descriptor" ]] || complain "a closed output: $got: $(cat err)"
python3 - "$place/duplex" <<'END' || complain "a reader that leaves"
import subprocess, sys
for last in (b"[1/8]", b"[4/8]", b"[5/8]"):
    demo = subprocess.Popen([sys.argv[1], "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    while not demo.stdout.readline().startswith(last):
        pass
    demo.stdout.close()
    said = demo.stderr.read()
    assert (demo.wait(30), said) == (2, b"duplex demo: the output can't be written: Broken pipe\n"), (last, demo.returncode, said)
END
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"

got=0
TMPDIR=$work/absent timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 3)) || ! grep -q 'no temporary folder: No such file' err; then complain "without a temporary folder: $got: $(cat err)"; fi
# What the editor can't do, the demo says.
printf '#!/bin/sh\nexit 4\n' >"$place/examples/hermes-normalise"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 4)) || ! grep -q 'duplex-hermes failed' err; then complain "an extension that ends: $got: $(cat err)"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cp "$BUILD/examples/hermes-normalise" "$place/examples"
# Nor does it hide that the host's plugin can't be started, or that it says so and makes no link.
printf '#!/bin/sh\nexit 4\n' >"$place/examples/reginald-symlink"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 3)) || ! grep -q 'duplex-reginald failed' err; then complain "a plugin that ends: $got: $(cat err)"; fi
cp "$BUILD/examples/reginald-symlink" "$place/examples"
printf '#!/bin/sh\nexit 0\n' >"$place/duplex-reginald"
got=0
timeout 30 "$place/duplex" demo --json >out 2>err || got=$?
if ((got != 4)) || ! grep -q 'one is no link: No such file' out; then complain "a host that does nothing: $got: $(cat out err)"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cp "$BUILD/duplex-reginald" "$place"
# Nor that the manager finds nothing, or that a project is not what it should be.
printf '#!/bin/sh\nexit 0\n' >"$place/duplex-finecode"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 4)) || ! grep -q 'duplex-finecode failed' err; then complain "a manager that does nothing: $got: $(cat out err)"; fi
cp "$BUILD/duplex-finecode" "$place"
echo 'x = ' >"$place/examples/finecode-demo/notes/finecode.toml"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 7)) || ! grep -q 'duplex-finecode failed' err; then complain "a project that is wrong: $got: $(cat out err)"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cp -r "$BUILD/examples/finecode-demo" "$place/examples"
# It is started as any program is, whatever we ignore.
printf '#!/bin/sh\ngrep SigIgn /proc/self/status >&2\nexit 3\n' >"$place/duplex-autohand"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
((got == 3 && (0x$(sed -n 's/^SigIgn:\t//p' out) & 0x1001000) == 0)) || complain "it ignores signals: $got: $(cat out)"
# Nor that the agent can't be started, or that nothing is written.
printf '#!/bin/sh\nexit 3\n' >"$place/duplex-autohand"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got != 3)) || ! grep -q 'duplex-autohand failed' err; then complain "an agent that does not start: $got: $(cat out err)"; fi
printf '#!/bin/sh\nexit 0\n' >"$place/duplex-autohand"
got=0
timeout 30 "$place/duplex" demo >out 2>err || got=$?
if ((got == 0)) || ! grep -q 'greeting.txt' err; then complain "an agent that does nothing: $got: $(cat out err)"; fi
[[ -z $(ls tmp) ]] || complain "left behind: $(ls tmp)"
cp "$BUILD/duplex-autohand" "$place"
for missing in examples/adt.hl7 examples/hermes-normalise duplex-hermes duplex-mcp examples/mcp-conformance duplex-reginald examples/reginald-symlink duplex-finecode examples/finecode-demo duplex-autohand; do
    mv "$place/$missing" "$work/kept"
    timeout 30 "$place/duplex" demo >out 2>err || complain "without $missing: $(cat err)"
    grep -qF '[3/7] poll' out || complain "without $missing: $(cat out)"
    mv "$work/kept" "$place/$missing"
done
# Nothing that it started runs any more.
for program in /proc/[0-9]*/exe; do
    program=$(readlink "$program") || continue
    [[ $program != "$place"/* ]] || complain "left running: $program"
done
exit $failed
