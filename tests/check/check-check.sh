#!/usr/bin/env bash
# duplex check: its words, its formats, every exit code, and that it finds what is wrong and nothing else. All
# faults of duplex mock, in both directions, are in check-checks-long.sh.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
duplex=$BUILD/duplex
peer=$SOURCE/tests/check/check-peer.py
failed=0
complain() {
    echo "$*"
    failed=1
}
run() {
    got=0
    # shellcheck disable=SC2034 # for expect.bash
    last="duplex check $*"
    timeout 60 "$duplex" check "$@" >out 2>err </dev/null || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"
outcome() { python3 -c 'import json,sys
for line in open("out"):
    row = json.loads(line)
    if row.get("check") == sys.argv[1]: print(row["outcome"])' "$1"; }
good=("$duplex" mock -p mcp)
wrong=(--fault utf8-invalid "$duplex")

# Words.
expect 2 '' $'duplex check: missing --protocol\nhint: add --protocol NAME; \'duplex list\' lists the built-in protocols' -- true
expect 2 '' $'duplex check: missing command after --\nhint: duplex check -p NAME -- COMMAND [ARG...]' -p mcp
expect 2 '' 'duplex check: missing command after --' -p mcp --
expect 2 '' $'duplex check: unexpected argument \'word\'\nhint: put the server\'s command line after --' -p mcp word -- true
expect 2 '' 'unknown protocol "nonesuch"' -p nonesuch -- true
expect 2 '' $'--only: unknown check \'nothing*\'\nhint: \'duplex check --list\' lists the checks' -p mcp --only 'nothing*' -- true
expect 2 '' $'--skip: unknown check \'id\'\nhint: did you mean \'id.*\'?' -p mcp --skip id -- true
expect 2 '' $'--only: unknown check \'ids.echoed\'\nhint: did you mean id.echoed?' -p mcp --only ids.echoed -- true
expect 2 '' "--json, --tap and --junit cannot be used together" -p mcp --tap --junit -- true
expect 2 '"kind":"usage"' '' -p mcp --tap --json -- true
expect 2 '' '--jobs: expected 1 to 4, got 5' -p mcp --jobs 5 -- true
expect 2 '' '--jobs: expected 1 to 4, got 0' -p mcp --jobs 0 -- true
expect 2 '' $'--call: mcp has no method \'tools/lst\'\nhint: did you mean tools/list?' -p mcp --call tools/lst -- true
expect 2 '' '--call: missing method' -p mcp --call '={}' -- true
expect 2 '' "--call: expected METHOD or METHOD={JSON}, got 'a=1'" -p mcp --call a=1 -- true
expect 2 '' "--call: expected METHOD or METHOD={JSON}, got 'a={'" -p mcp --call 'a={' -- true
expect 2 '' '--call: notifications/initialized is a notification, which gets no response' -p mcp --call notifications/initialized -- true
mapfile -t calls < <(for ((i = 0; i < 65; i++)); do printf '%s\n' --call a; done)
expect 2 '' '--call: at most 64 are allowed' -p mcp "${calls[@]}" -- true
expect 0 'pass  answer.given' ' 0 failed' -p mcp -j 4 -t never "${calls[@]:2}" --only 'answer.*' -- "${good[@]}"
expect 2 '' '--env, --clean-env, --cwd and --keep-daemons need a command after --' -p mcp --as-plugin --env A=1
expect 2 '' $'missing {} in the command of the host\nhint: put {} where the host expects its plugin\'s command' -p mcp --as-plugin -- true
expect 2 '' "cannot write /nonexistent/file: No such file or directory" -p mcp -o /nonexistent/file -- "${good[@]}"
expect 3 '' "nonexistent" -p mcp -- ./nonexistent
expect 3 '"kind":"start"' '' -p mcp --json -- ./nonexistent

# Every check stands in the list, in the help and in the page.
run --list --json
python3 -c 'import json
for line in open("out"): print(json.loads(line)["check"])' | sort >list
[[ $(wc -l <list) -gt 80 ]] || complain "--list: $(wc -l <list) checks"
run --help-all
sed -nE 's/^  ([a-z]+\.[a-z0-9-]+):$/\1/p' out | sort | diff list - || complain "--help-all and --list differ"
run --list --json
python3 - "$SOURCE/docs/check.md" <<'END' || complain "docs/check.md and --list differ"
import json, sys
page = [line.rstrip() for line in open(sys.argv[1], encoding="utf-8")]
rows = [json.loads(line) for line in open("out", encoding="utf-8")]
wanted = ["| `%s` | %s | %s |" % (row["check"], row["severity"], row["text"]) for row in rows]
first = page.index(wanted[0])
assert page[first : first + len(wanted)] == wanted and page[first + len(wanted)] == "", "other rows"
for row in rows:  # a sentence that makes sense alone: in a report there is nothing before it
    text = row["text"]
    assert text[0].isupper() and text[-1] not in ".:,;" and " " in text and "…" not in text, text
assert len({row["text"] for row in rows}) == len(rows), "two checks have the same title"
END
[[ $(sed -nE 's/.* ([0-9]+) checks, .*/\1/p' "$SOURCE/README.md") == "$(wc -l <list)" ]] || complain "README.md counts other checks than --list: $(wc -l <list)"
run --list
[[ $(wc -l <out) == "$(wc -l <list)" ]] || complain "--list: other lines than with --json"

# Nothing is wrong with who does nothing wrong, in any protocol.
for protocol in mcp lsp hermes reginald finecode autohand jsonrpc mcp@2025-03-26 reginald@exact; do
    expect 0 'pass  answer.given' ' 0 failed' -p "$protocol" -- "$duplex" mock -p "$protocol"
done
expect 0 'pass  many.answered' ' 0 failed' -p mcp -j 1 --no-calls -f header -- "$duplex" mock -p mcp -f header
expect 0 'note  request.batch-refused' ', 1 note;' -p jsonrpc -- "$BUILD/examples/echo" line

# What is wrong is told with what was sent, what came, and where.
expect 7 'FAIL  id.echoed' '1 failed' -p mcp --only id.echoed -- "$duplex" mock -p mcp --fault id-form
has out '      sent: {"jsonrpc":"2.0","id":2,"method":"duplex/no-such-method"}'
has out '{"jsonrpc":"2.0","id":"2","error":{"code":-32601'
run -p mcp --json --only id.echoed -- "$duplex" mock -p mcp --fault id-form
python3 - <<'END' || complain "the proof"
import json
row = json.loads(open("out").readline())
assert row["check"] == "id.echoed" and row["outcome"] == "fail" and row["scene"] == "basic", row
assert json.loads(row["came"]["text"])["id"] == "2" and row["came"]["bytes"] == len(row["came"]["text"])
# Behind the answer to the handshake and its newline.
assert 50 < row["offset"] < 400, row
END
expect 7 '      hex 7b' '*' -p mcp --only json.utf8 -- "$duplex" mock -p mcp "${wrong[@]:0:2}"
has out 'received at byte '
run -p mcp --json --only json.utf8 -- "$duplex" mock -p mcp "${wrong[@]:0:2}"
has out '"hex":"7b'

# Nothing of it steers a terminal, but our own colours do.
expect 7 'received at byte 0: \x1b[31mhello' '*' -p mcp --only framing.stray -- sh -c 'printf "\033[31mhello\n"; exec "$@"' sh "${good[@]}"
lacks out $'\033'
expect 7 $'\033[31mFAIL' '*' --color always -p mcp --only framing.stray -- sh -c 'echo hello; exec "$@"' sh "${good[@]}"
lacks err $'\r'
timeout 20 script -qec "'$duplex' check -p mcp --only life.stays -- '$duplex' mock -p mcp" /dev/null >out </dev/null || complain "on a terminal: code $?"
has out '6 of 6 conversations'

# --only and --skip choose what is told, and what counts.
run -p mcp --json --only 'id.*' --skip id.known -- "$duplex" mock -p mcp --fault id-unknown
[[ $got == 0 && -z $(outcome id.known) && $(outcome id.unique) == skip ]] || complain "--only, --skip: code $got $(cat out)"

# Nobody is started in vain: what cannot be seen elsewhere is tried in the second conversation.
expect 0 'pass  id.duplicate' ' in 2 conversations' -p mcp --only id.duplicate -- "${good[@]}"
expect 0 'pass  notification.silent' ' in 1 conversation' -p mcp --only notification.silent -- "${good[@]}"
expect 0 'pass  framing.stray' ' in 7 conversations' -p mcp --only framing.stray -- "${good[@]}"
# Nothing was tried: that is no success.
expect 7 'FAIL  start.answered' '*' -p mcp --only end.term -- true
expect 2 '' "cannot write /nonexistent/file: No such file or directory" -p mcp -o /nonexistent/file -- sh -c ': >started'
[[ ! -e started ]] || complain "-o: told after the run"
# Who does not have a method need not say what is wrong with its params.
run -p mcp --json --only 'request.params-*' -- python3 -SE "$peer" lean
[[ $got == 0 && $(outcome request.params-code) == skip ]] || complain "params of no method: code $got $(cat out)"
# A process that notices the end of the first one, and leaves then, is not left behind.
# shellcheck disable=SC2016 # for the shell there
expect 0 'pass  end.processes' ' 0 failed' -p mcp -j 4 --skip 'start.*' --only end.processes --only end.eof -- sh -c '
    while [ "$(cut -d" " -f3 /proc/$$/stat)" != Z ]; do sleep 0.05; done >/dev/null 2>&1 && sleep 0.3 >/dev/null 2>&1 &
    exec "$@"' sh "${good[@]}"
# The line of an error, and not what some write behind it.
expect 7 'the program exited with code 1; it wrote to stderr: TypeError: no' '*' -p mcp -- sh -c 'printf "TypeError: no\n    at there\n\nVersion 20\n" >&2; exit 1'

# The formats are what they say, also with bytes that are no text.
for fault in utf8-invalid header-nul; do
    for format in tap junit; do
        framing=header
        run -p mcp -f $framing -t 400ms "--$format" -o "report.$format" -- "$duplex" mock -p mcp -f $framing --fault $fault
        [[ $got == 7 && ! -s out ]] || complain "$fault, $format: code $got, $(head -c 300 out err)"
    done
    python3 - "$(wc -l <list)" <<'END' || complain "$fault: the formats"
import json, re, sys
import xml.etree.ElementTree as xml
count = int(sys.argv[1])
lines = open("report.tap", encoding="utf-8").read().split("\n")
assert lines[0] == "TAP version 14" and lines[1] == f"1..{count}" and lines[-1] == ""
number = fails = skips = 0
at = 2
while at < len(lines) - 1:
    found = re.fullmatch(r"(not )?ok (\d+) - [a-z.0-9-]+: [^#]*?( # SKIP .+)?", lines[at])
    assert found, lines[at]
    number += 1
    assert int(found.group(2)) == number
    fails += bool(found.group(1))
    skips += bool(found.group(3))
    at += 1
    if lines[at] == "  ---":
        assert json.loads(lines[at + 1])["severity"] in ("fail", "comment") and lines[at + 2] == "  ..."
        at += 3
assert number == count and fails > 0, (number, fails)
suite = xml.parse("report.junit").getroot().find("testsuite")
cases = suite.findall("testcase")
assert len(cases) == count == int(suite.get("tests"))
# The title is there for each, also for one that passed.
titles = {case.get("name") for case in cases}
assert "request.unknown-method: The program answers an unknown method with error -32601" in titles, titles
assert len(suite.findall("testcase/failure")) == fails == int(suite.get("failures"))
assert len(suite.findall("testcase/skipped")) == skips == int(suite.get("skipped"))
END
done

# A handshake that fails, one that is refused, and one in the other framing: the rest is skipped, and quickly.
expect 7 'FAIL  start.answered' '*' -p mcp -- true
has out 'the program exited before it responded to initialize'
expect 7 'the program exited with code 3; it wrote to stderr: oops' '*' -p mcp -- sh -c 'echo oops >&2; exit 3'
expect 7 'the program responds only in the header framing: pass --framing header' '*' -p mcp --start-timeout 700ms -- "$duplex" mock -p mcp -f header
has out 'the handshake failed'
expect 7 'FAIL  end.stop ' '*' -p mcp --stop-timeout 500ms --only 'end.*' -- "$duplex" mock -p mcp --fault eof-ignored
expect 7 'FAIL  schema.result' '*' -p mcp --call 'tools/call={"name":"x"}' --only schema.result -- "$duplex" mock -p mcp --fault result-fit@tools/call

# Some of the faults, and of the peers; and the other way round.
timeout 60 "$SOURCE/tests/check/check-faults.py" "$duplex" "$peer" host stray header-lf length-short id-unknown answer-twice grandchild crlf id-large || failed=1
timeout 60 "$SOURCE/tests/check/check-faults.py" "$duplex" "$peer" plugin answers-unknown id-in-use nul || failed=1
timeout 60 "$SOURCE/tests/check/check-faults.py" "$duplex" "$peer" peers good invalid characters header-case lsp-last-words progress-late || failed=1
expect 0 'pass  request.unknown-method' ' 0 failed' -p mcp --as-plugin -- "$duplex" call -p mcp tools/list -- {}
expect 0 'pass  many.answered' ' 0 failed' -p lsp --as-plugin -- sh -c "exec '$duplex' call -p lsp workspace/symbol query=x -- {}"
expect 7 'FAIL  method.known' '*' -p mcp --as-plugin -- "$duplex" mock -p mcp --fault method-unknown -- {}
expect 4 '' 'the host exited without sending anything to its plugin' -p mcp --as-plugin -- true {}
expect 5 '' 'timed out: the host sent nothing to its plugin' -p mcp --as-plugin --start-timeout 200ms -- sh -c 'exec sleep 30' sh {}
# What the plugin knows is not lost when its host dies or kills it, and what was tried then has not passed.
few=(--only request.unknown-method --only request.invalid-json)
run -p mcp --json --as-plugin "${few[@]}" -- "$SOURCE/tests/check/check-host.py" dies {}
[[ $(outcome request.unknown-method) == pass && $(outcome request.invalid-json) == skip ]] || complain "a host that dies: code $got $(cat out err)"
has out 'the host ended the conversation during this check'
run -p mcp --json --as-plugin -- "$SOURCE/tests/check/check-host.py" kills {}
[[ $(outcome request.unknown-method) == pass ]] || complain "a host that kills its plugin: code $got $(cat out err)"
has out '"complete":false'
run -p mcp --json --as-plugin "${few[@]}" -- "$SOURCE/tests/check/check-host.py" strict {}
[[ $got == 0 && $(outcome request.invalid-json) == pass ]] || complain "a host that asks only for what is offered: code $got $(cat out err)"
has out '"complete":true'
got=0
sleep 1 | timeout 20 "$duplex" check -p mcp --as-plugin --start-timeout 200ms >out 2>err || got=$?
[[ $got == 5 ]] || complain "a host that says nothing: code $got"
expect 3 '' 'nonexistent' -p mcp --as-plugin -- ./nonexistent {}
expect 4 '' 'the host exited without sending anything' -p mcp --as-plugin
[[ -z $(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'duplex-check-*' -newer list 2>/dev/null) ]] || complain "a folder was left behind"

# Whoever interrupts it is heard at once, and nothing stays behind.
timeout 60 "$duplex" check -p mcp -- sleep 4711.5 >out 2>err &
pid=$!
for ((i = 0; i < 100; i++)); do
    if pgrep -f 'sleep 4711\.5' >sleeps; then break; fi
    sleep 0.05
done
sleep 0.2
kill -INT "$(pgrep -P "$pid" -x duplex || echo "$pid")"
got=0
wait "$pid" || got=$?
[[ $got == 130 ]] || complain "interrupted: code $got"
sleep 0.1
! pgrep -f '^sleep 4711\.5' >left || complain "left behind: $(cat left)"

exit $failed
