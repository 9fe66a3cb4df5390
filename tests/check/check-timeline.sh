#!/usr/bin/env bash
# duplex timeline: what it writes has what was in the trace, whatever that is; every option, error and limit.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=$SOURCE/tests/timeline
failed=0
complain() {
    echo "$*"
    failed=1
}
cd "$work"
# run ARGUMENT...: leaves out, err, $got and $last.
run() {
    last="duplex timeline $*"
    got=0
    timeout 20 "$BUILD/duplex" timeline "$@" >out 2>err </dev/null || got=$?
}
# shellcheck source=/dev/null
. "$SOURCE/tests/check/expect.bash"
facts() { timeout 20 python3 "$tools/read.py" facts "$1"; }

header='{"duplex-trace":1,"time":"us","part":1,"unix-ms":1754038800000}'
ask() { echo "{\"t\":$1,\"from\":\"${4-host}\",\"peer\":\"p\",\"run\":1,\"message\":{\"jsonrpc\":\"2.0\",\"id\":$2,\"method\":\"$3\"}}"; }
answer() { echo "{\"t\":$1,\"from\":\"${3-plugin}\",\"peer\":\"p\",\"run\":1,\"message\":{\"jsonrpc\":\"2.0\",\"id\":$2,\"result\":0}}"; }
{
    echo "$header"
    ask 1000 1 one
    ask 2000 1 other plugin
    ask 3000 2 two
    answer 4000 2
    answer 5000 1
    answer 6000 1 host
} >small

# A talk of some thousand messages: each is there as it was, with its answer; in Chrome's form, too.
python3 "$tools/make.py" talk 3200 >talk.jsonl
expect 0 '' 'duplex timeline: ' talk.jsonl -o talk.html
python3 "$tools/read.py" page talk.jsonl talk.html >said || complain "the page differs from the trace: $(cat said)"
[[ $(cat said) =~ ^3[0-9][0-9][0-9]\ messages ]] || complain "too few messages: $(cat said)"
[[ $(stat -c %a talk.html) == 600 ]] || complain "others can read the page: $(stat -c %a talk.html)"
run talk.jsonl
cmp -s out talk.html || complain "the standard output has another page"
run -o - talk.jsonl
cmp -s out talk.html || complain "-o - has another page"
timeout 20 "$BUILD/duplex" timeline - <talk.jsonl >out
diff <(grep -v '"files"' out) <(grep -v '"files"' talk.html) >said || complain "the standard input makes another page: $(head -c 300 said)"
expect 0 '*' '' --chrome talk.jsonl
python3 "$tools/read.py" chrome talk.jsonl out >said || complain "--chrome differs from the trace: $(cat said)"

# Nothing but the page's own script runs in it, and nothing is loaded.
has talk.html "default-src 'none'; style-src 'sha256-"
script=$(python3 - talk.html <<'END'
import base64, hashlib, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
for tag in ("style", "script"):
    for text in re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S):
        print(f"{tag}-src 'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'")
END
)
[[ $(wc -l <<<"$script") == 2 ]] || complain "not one style and one script: $script"
while read -r one; do has talk.html "$one"; done <<<"$script"
grep -oE '(src|href)=' talk.html | sort -u >said || true
[[ ! -s said ]] || complain "the page refers to something: $(cat said)"

# Hostile texts: none of them is a tag, and all come back as they were.
python3 "$tools/make.py" hostile >hostile.jsonl
expect 0 '' '; 1 text cut off, 0 texts left out' hostile.jsonl -o hostile.html
facts hostile.html >said || complain "hostile: the page cannot be read back: $(tail -n 1 said)"
has said '"items":109,"messages":70,'
# shellcheck disable=SC2016
has said '"{\"jsonrpc\":\"2.0\",\"method\":\"</script><script>alert(1)</script>\"}"'
has said '"{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"\\ud800<b>\"}"'
has said '"{\"jsonrpc\":\"2.0\",\"id\":18446744073709551617,\"result\":1e400}"'
has said '"{ \"jsonrpc\" : \"2.0\",\t\"id\" : 13 , \"method\" : \"spaces\" }"'
has said '"line 105: invalid JSON at byte 1"'
has said '"line 109: the trace ends in the middle of it"'
# Of two requests with one id the later one is answered; ids of any form have their answers.
grep -qE '^29100 3 2 .* 86 None' said || complain "equal ids: $(grep -E '^29[123]00' said)"
grep -qE '^29700 3 2 .* 80 None' said || complain "a large id: $(grep -E '^29700' said)"
expect 0 '*' '' --chrome hostile.jsonl
python3 -c 'import json, sys; json.load(open("out", encoding="utf-8"))' || complain "hostile: --chrome is no JSON"
lacks out $'\033'
expect 0 'sequenceDiagram' '' --mermaid hostile.jsonl
lacks out $'\033'
lacks out '<'

# A diagram, to the letter.
{
    cat small
    echo '{"t":7000,"from":"host","peer":"p","run":1,"message":{"jsonrpc":"2.0","method":"#tell; me"}}'
    echo '{"t":8000,"from":"plugin","peer":"p","run":1,"message":{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}}'
    printf '%s\n' '{"t":9000,"from":"plugin","peer":"p","run":1,"stray":"a:b\n"}'
    echo '{"t":9500,"peer":"p","run":1,"event":"exit","data":{"code":0}}'
    echo '{"t":9900,"dropped":3}'
} >more.jsonl
run --mermaid more.jsonl
diff - out <<'END' || complain "the diagram is another one"
sequenceDiagram
    participant h as host
    participant p0 as p/1
    h->>p0: one (id 1)
    p0->>h: other (id 1)
    h->>p0: two (id 2)
    p0-->>h: two#58; result (id 2), 1.0 ms
    p0-->>h: one#58; result (id 1), 4.0 ms
    h-->>p0: other#58; result (id 1), 4.0 ms
    h-)p0: #35;tell#59; me
    p0--xh: error -32601 #34;no#34; (id 3)
    Note over p0: stray#58; a#58;b 
    Note over p0: exit
    Note over h: 3 records are missing here
END

# What is left out, on both sides of each limit; an answer stands with its question.
left() { facts page >told; head -n 1 told | grep -oE '"(leftByTime|leftByMax|textsLeft|textsCut)":[0-9]+' | grep -oE '[0-9]+' | paste -sd' '; }
plain_run() { run "$@"; ((got == 0)) || complain "$last: code $got: $(cat err)"; }
expect_left() {
    local wanted=$1
    shift
    plain_run "$@" -o page small
    [[ $(left) == "$wanted" ]] || complain "$last: left out $(left), expected $wanted"
}
expect_left '0 0 0 0'
expect_left '0 0 0 0' --from 0
expect_left '2 0 0 0' --from 2ms
expect_left '4 0 0 0' --from 3ms
expect_left '2 0 0 0' --to 2ms
expect_left '0 0 0 0' --to 3ms
expect_left '6 0 0 0' --from 10s
expect_left '0 0 0 0' --max 3
expect_left '0 2 0 0' --max 2
expect_left '0 4 0 0' --max 1
expect_left '0 0 0 0' --max-text 41
expect_left '0 0 0 1' --max-text 40
expect_left '0 0 0 6' --max-text 1
total=$(($(sed -E 's/.*"message":(.*)\}$/\1/' small | tail -n +2 | tr -d '\n' | wc -c)))
expect_left '0 0 0 0' --max-page $total
expect_left '0 0 1 0' --max-page $((total - 1))
expect_left '0 0 6 0' --max-page 1
expect 0 '' '4 left out' --max 1 -o page small
expect 0 '{"summary":{"messages":6,"conversations":1,"items":6,"left":0,"texts_cut":1,"texts_left":0}}' '' --json --max-text 40 -o page small
run --mermaid --max 2 small
has out 'Note over h: 2 more not shown'
# 0 leaves nothing out, where the usual limits do.
{
    echo "$header"
    for ((i = 0; i < 501; i++)); do echo "{\"t\":$i,\"from\":\"plugin\",\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"m\"}}"; done
} >many
run --mermaid many
has out 'Note over h: 1 more not shown'
run --mermaid --max 0 many
lacks out 'not shown'
{
    echo "$header"
    head -c 300000 /dev/zero | tr '\0' a | sed 's/.*/{"t":1,"from":"plugin","stray":"&"}/'
} >long
expect 0 '"texts_cut":1,"texts_left":0' '' --json -o page long
expect 0 '"texts_cut":0,"texts_left":0' '' --json --max-text 0 --max-page 0 -o page long
# A text is cut between two characters, and its length is told.
echo "$header" >wide
echo '{"t":1,"from":"plugin","stray":"aé𝄞b"}' >>wide
for size in 8:'None "a\u00e9\ud834\udd1eb"' 7:'8 "a\u00e9\ud834\udd1e"' 6:'8 "a\u00e9"' 3:'8 "a\u00e9"' 2:'8 "a"' 1:'8 "a"'; do
    plain_run --max-text "${size%%:*}" -o page wide
    facts page >said
    has said "${size#*:}"
done

# Blocks: 4,096 items each, and a text that is larger than a block.
python3 "$tools/make.py" open 4096 >many
plain_run many -o page
facts page >said
has said '"blocks":1,"items":4096,'
python3 "$tools/make.py" open 4097 >many
plain_run many -o page
facts page >said
has said '"blocks":2,"items":4097,'

# Books: 1,024 bytes of an id, 1,024 conversations; check-timeline-long.sh has 100,000 open requests.
for length in 1022:0 1023:None; do
    id=$(printf '"%*s"' "${length%:*}" '' | tr ' ' i)
    { echo "$header"; ask 1 "$id" long; answer 2 "$id"; } >ids
    plain_run ids -o page
    facts page | tail -n 1 | grep -qE "^2 3 2 .* ${length#*:} None" || complain "an id of ${length%:*} letters: $(facts page | tail -c 300)"
done
talks() {
    echo "$header"
    for ((i = 0; i < $1; i++)); do echo "{\"t\":$i,\"from\":\"host\",\"peer\":\"p$i\",\"message\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}}"; done
    echo '{"t":5000,"from":"plugin","peer":"p0","message":{"jsonrpc":"2.0","id":1,"result":0}}'
}
for count in 1024:0:false 1025:None:true; do
    IFS=: read -r number about forgot <<<"$count"
    talks "$number" >many
    plain_run many -o page
    facts page >said
    tail -n 1 said | grep -qE "^5000 3 2 .* $about None" || complain "$number conversations: $(tail -n 1 said)"
    has said "\"forgot\":$forgot"
done

# What cancels a request, of a protocol that is built in and of one that is not.
cancel() {
    echo "$header"
    ask 1 7 slow
    echo "{\"t\":2,\"from\":\"host\",\"peer\":\"p\",\"run\":1,\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"$1\",\"params\":{\"$2\":7}}}"
}
for way in '$/cancelRequest id' 'notifications/cancelled requestId'; do
    read -r method member <<<"$way"
    cancel "$method" "$member" >cancels
    plain_run cancels -o page
    facts page | tail -n 1 | grep -q ' 0 None ' || complain "$method does not cancel: $(facts page | tail -n 1)"
done
cancel halt which >cancels
plain_run cancels -o page
facts page | tail -n 1 | grep -q ' None None ' || complain "halt cancels without its protocol"
cat >halt.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Halt", "version": "1"}, "x-duplex": {"name": "halt", "framing": "line", "cancel": {"method": "halt", "id": "which"}},
 "methods": [{"name": "halt", "summary": "Halts.", "params": [{"name": "which", "schema": {}}], "x-duplex": {"from": "both", "notification": true, "params": {"type": "object", "properties": {"which": {}}}}}]}
END
plain_run -p ./halt.json cancels -o page
facts page | tail -n 1 | grep -q ' 0 None ' || complain "halt does not cancel with its protocol: $(facts page | tail -n 1)"

# Parts of one trace, and two traces by the clock.
{ echo "$header"; ask 1 1 a; } >p.1
{ echo "${header/\"part\":1/\"part\":2}"; answer 9 1; } >p
plain_run p.1 p -o page
facts page | tail -n 1 | grep -qE '^9 3 2 .* 0 None' || complain "parts: $(facts page | tail -n 1)"
expect 2 '' 'p.1:1: part 1 follows part 2: give the oldest part first' p p.1 -o other
cp p.1 q.1
expect 0 '' '2 messages in 2 conversations' p.1 q.1 -o page
{ echo "${header/800000/802500}"; ask 1 1 a; } >later
plain_run p.1 later -o page
facts page | tail -n 1 | grep -qE '^2500001 1 1 \[1, ' || complain "two traces: $(facts page | tail -n 1)"
{ echo '{"duplex-trace":1,"time":"us","part":1}'; ask 1 1 a; } >timeless
plain_run small timeless -o page
facts page | tail -n 1 | grep -qE '^6001 1 1 \[1, ' || complain "a trace without a clock: $(facts page | tail -n 1)"

# Errors.
: >empty
echo 'no trace' >none
echo "$header" >good
expect 2 '' $'duplex timeline: missing trace file\nhint: record one: duplex tap -o talk.jsonl -- COMMAND [ARG...]'
expect 2 '' "cannot read absent: No such file" absent -o page2
[[ ! -e page2 ]] || complain "a page that is not whole was left behind"
# What is not a Duplex trace has no page, and a page that was there stays until there is a whole one in its place.
echo old >page2
chmod 644 page2
for traces in absent none empty 'small absent' 'small none'; do
    # shellcheck disable=SC2086
    expect 2 '' 'duplex timeline: ' $traces -o page2
    [[ $(cat page2) == old ]] || complain "$last: the page that was there is gone"
done
for form in '' --mermaid --chrome; do
    # shellcheck disable=SC2086
    expect 2 '' 'none is not a Duplex trace' $form none
done
for lines in 99:0 100:2; do
    { printf 'nonsense\n%.0s' $(seq "${lines%:*}"); cat small; } >late
    expect "${lines#*:}" '*' '*' --mermaid late
done
mkfifo slow
timeout 20 "$BUILD/duplex" timeline slow -o page2 2>err &
pid=$!
exec 9>slow
cat small >&9
for ((i = 0; i < 100; i++)); do
    if compgen -G 'page2.*' >said; then break; fi
    sleep 0.05
done
[[ -s said ]] || complain "the page is not written beside the old one"
kill "$pid"
got=0
wait "$pid" || got=$?
exec 9>&-
((got == 143)) || complain "SIGTERM: code $got"
[[ $(cat page2) == old && -z $(compgen -G 'page2.*') ]] || complain "SIGTERM: $(head -c 100 page2) $(compgen -G 'page2.*')"
ln -s page2 page2.link
expect 0 '' '6 messages' small -o page2.link
[[ -L page2.link && $(stat -c %a page2) == 600 ]] || complain "a link is no link any more, or others can read the page"
has page2 '<!DOCTYPE html>'
rm page2*
expect 2 '{"error":{"exit":2,"kind":"usage","message":"cannot read absent: No such file or directory"}}' '' --json absent -o page2
expect 2 '' "cannot read .: Is a directory" . -o page2
expect 2 '' 'empty is not a Duplex trace' empty -o page2
expect 2 '' 'none is not a Duplex trace' none -o page2
expect 2 '' 'unexpected command after --: it only reads traces' good -- x
expect 2 '' "--mermaid and --chrome cannot be used together" --mermaid --chrome good
expect 2 '' '--from is later than --to' --from 3s --to 2s good
expect 2 '' "--from: expected a time" --from soon good
expect 2 '' "--max: expected a number" --max 1x good
expect 2 '' "--max-text: expected a size" --max-text 1x good
expect 2 '' 'unknown protocol "nonesuch"' -p nonesuch good
expect 2 '' "unknown option '--nothing'" --nothing
expect 2 '' "cannot write nowhere/page: No such file" good -o nowhere/page
expect 2 '' "cannot write .: Is a directory" good -o .
expect 2 '' "cannot write /dev/full: No space left on device" talk.jsonl -o /dev/full
expect 2 '{"error":{"exit":2,"kind":"usage","message":"--json needs -o FILE"}}' '' --json good
expect 0 '*' '' good
cp small same
ln same link
expect 2 '' "cannot write small: it is one of the traces to read" small -o ./small
expect 2 '' "cannot write same: it is one of the traces to read" small same -o link
cmp -s small same || complain "a trace was written over"
got=0
timeout 20 "$BUILD/duplex" timeline talk.jsonl >/dev/full 2>err || got=$?
{ ((got == 2)) && grep -q "the output cannot be written" err; } || complain "a full standard output: code $got: $(cat err)"
# A file that may not grow is told of, and nothing is left of it.
got=0
(ulimit -f 1 && exec timeout 20 "$BUILD/duplex" timeline talk.jsonl -o large) 2>err || got=$?
[[ $got == 2 && $(<err) == "duplex timeline: cannot write large: File too large" ]] || complain "a limit on files: code $got: $(cat err)"
[[ -z $(find . -name 'large*') ]] || complain "left behind: $(find . -name 'large*')"
# Nobody wants a page on a terminal, but a diagram may be.
terminal() { timeout 20 python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null; }
terminal "$BUILD/duplex" timeline small >out || true
has out "cannot write an HTML page to a terminal"
has out 'add -o FILE, as in -o timeline.html'
terminal "$BUILD/duplex" timeline --mermaid small >out || complain "no diagram on a terminal"
has out 'h->>p0: one (id 1)'
exit $failed
