#!/usr/bin/env bash
# duplex call with peers that listen, that are hostile, that send much or are interrupted; and what a
# terminal sees of it.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"

# --- Sockets -----------------------------------------------------------------------------------

# converse KIND FRAMING OTHER
converse() {
    local kind=$1 framing=$2 other=$3 address=unix:$work/place
    rm -f place
    "$python" "$plugin" "$framing" "$kind" "$work/place" "$tag" 2>server &
    server=$!
    for ((i = 0; i < 200; i++)); do
        [[ ! -e place ]] || break
        sleep 0.05
    done
    [[ $kind == unix ]] || address=tcp:$(cat place)
    expect 0 $'[1]\n[2]' '' call -f "$framing" --connect "$address" echo '[1]' --then echo '[2]'
    expect 6 '' "duplex call: the server does not use $other framing *" call -f "$other" --connect "$address" echo
    expect 0 '' '' notify -f "$framing" --connect "$address" told a=b
    expect 4 '' 'duplex call: crash: the conversation ended before the server responded: *' call -f "$framing" --connect "$address" crash
    kill "$server" 2>/dev/null && complain "$last: it still runs"
    wait "$server"
    server=
}
converse unix line header
converse tcp header line

# --- Hostile peers -----------------------------------------------------------------------------

# No byte that steers a terminal comes out on a terminal, whoever of the peer's mouths said it.
cat >terminal.py <<'END'
import json, os, pty, select, subprocess, sys
leader, follower = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
os.close(follower)
while True:
    try:
        data = os.read(leader, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.exit(process.wait())
END
tty() {
    got=0
    last="on a terminal: duplex $*"
    timeout -k 5 20 "$python" terminal.py "$BUILD/duplex" "$@" >out 2>err || got=$?
}
evil=$'\e]0;title\a\e[2J\u009b31mred\x7f\u202edlo\u2066'
# raw KIND: fails if there are such bytes in out; what duplex paints itself is no harm.
raw() {
    "$python" - "$1" <<'END'
import re, sys
data = open("out", "rb").read()
if sys.argv[1] == "painted":
    data = re.sub(rb"\x1b\[[0-9]*m", b"", data)
bad = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]", data) or re.search(rb"(?<![\xc2-\xf4\x80-\xbf])[\x80-\xbf]", data)
sys.exit(f"raw {bad.group()!r} in {data!r}" if bad else 0)
END
}
b64=$(printf '%s\x9b2J\n' "$evil" | base64 -w0)
for words in "echo a=$evil" "say out=$b64" "say err=$b64" "nothing$evil"; do
    read -r -d '' method params <<<"$words" || true
    tty call --color never --show --stderr=inherit "$method" ${params:+"$params"} -- "${py[@]}"
    ((got == 0 || got == 1)) || complain "$last: $got $(cat -v out)"
    raw plain || complain "$last"
done
for more in --color=always --color=never --json; do
    # The plugin hands it back as it came, not as JSON's \u009b.
    tty call "$more" echo a="$evil" -- "${py[@]}"
    grep -qF '\u007f' out || complain "$last: $(cat -v out)"
    raw painted || complain "$last"
    tty call "$more" speak '{"error":{"code":1,"message":"\u001b[2J\u009b\u0000x","data":"\u001b]0;x\u0007"}}' -- "${py[@]}"
    ((got == 1)) || complain "$last: $got $(cat -v out)"
    raw painted || complain "$last"
    tty call "$more" x -- sh -c 'printf "\033[31mlast\233words" >&2; exit 3'
    ((got == 4)) || complain "$last: $got $(cat -v out)"
    grep -q last out || complain "$last: $(cat -v out)"
    raw painted || complain "$last"
done
# Errors are JSON even if the peer's last words are no UTF-8.
run call --json x -- sh -c 'printf "a\377b\303" >&2; exit 3'
json 'e["detail"].rstrip("\n") == "a\ufffdb\ufffd"'
long=$(printf 'ü%.0s' $(seq 3000))
run call --json speak "{\"error\":{\"code\":-5,\"message\":\"$long\"}}" -- "${py[@]}"
json 'e["code"] == -5 and e["message"] == "speak: " + "ü" * 3000 + " (-5)"'
run call speak '{"error":{"code":-5,"message":"two\nlines"}}' -- "${py[@]}"
verify 1 '' 'duplex call: speak: two\nlines (-5)'

# --- Colours -----------------------------------------------------------------------------------

tty call echo a=b -- "$echo" line
painted || complain "$last: no colours"
grep -q '^  ' out || complain "$last: not indented"
tty call --color never echo a=b -- "$echo" line
painted && complain "$last: colours"
tty call --color never echo '[1, {"a":[-2.50, true],"b":{ },"c":[]}]' -- "$echo" line
[[ $(tr -d '\r' <out) == $'[\n  1,\n  {\n    "a": [\n      -2.50,\n      true\n    ],\n    "b": {},\n    "c": []\n  }\n]' ]] ||
    complain "$last: indented as $(cat out)"
tty call --json echo a=b -- "$echo" line
painted && complain "$last: colours"
[[ $(cat out) == '{"method":"echo","result":{"a":"b"}}' ]] || complain "$last: $(cat out)"
NO_COLOR=1 tty call echo a=b -- "$echo" line
painted && complain "$last with NO_COLOR: colours"
NO_COLOR='' tty call echo a=b -- "$echo" line
painted || complain "$last with an empty NO_COLOR: no colours"
NO_COLOR=1 tty call --color always echo a=b -- "$echo" line
painted || complain "$last with NO_COLOR: no colours"
run call --color always echo a=b -- "$echo" line
painted || complain "$last: no colours"
run call --color auto echo a=b -- "$echo" line
painted && complain "$last: colours"

# --- Large -------------------------------------------------------------------------------------

run call -f header big bytes:=16777216 -- "$python" "$plugin" header
[[ $got == 0 && $(wc -c <out) == $((16777216 + 3)) ]] || complain "$last: $got, $(wc -c <out) bytes: $(head -c 300 err)"
timed=$(date +%s%N)
run call -f header --show big bytes:=16777216 -- "$python" "$plugin" header
((got == 0 && ($(date +%s%N) - timed) / 1000000 < 5000)) || complain "$last: $got, too slow"
got=0
timeout 20 "$BUILD/duplex" call big bytes:=100000 -- "${py[@]}" >/dev/full 2>err || got=$?
[[ $got == 2 && $(cat err) == "duplex call: the output cannot be written: No space left on device" ]] ||
    complain "a full disk: $got $(cat err)"

# --- A first message against the rules ----------------------------------------------------------

# It could be framed, so the framing is right, and it is answered for what it is.
cat >nameless.sh <<'EOF'
say() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
say '{"jsonrpc":"2.0","id":1,"params":{}}'
say '{"jsonrpc":"2.0","id":1,"result":"ready"}'
head -c 250 >"$1"
EOF
expect 0 '"ready"' 'duplex call: missing required field: method' call -f header echo '[1]' -- bash nameless.sh "$work/got"
grep -q '"code":-32600,"message":"Invalid Request","data":"missing required field: method"' got || complain "answered: $(cat got)"

# --- Interrupts --------------------------------------------------------------------------------

# interrupt SIGNAL ARGUMENT...: sends it when the peer runs.
interrupt() {
    local signal=$1 pid i
    shift
    last="duplex $* ($signal)"
    timeout -k 5 20 "$BUILD/duplex" "$@" >out 2>err </dev/null &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        pgrep -f "sleeping-$tag" >/dev/null && break
        sleep 0.02
    done
    sleep 0.3
    kill -s "$signal" "$pid"
    got=0
    wait "$pid" || got=$?
}
interrupt INT call slow seconds:=60 --stop-timeout 100ms -- "$python" "$plugin" line "sleeping-$tag"
verify 130 '' 'duplex call: interrupted'
interrupt TERM call --json slow seconds:=60 --stop-timeout 100ms -- "$python" "$plugin" line "sleeping-$tag"
((got == 130)) || complain "$last: $got"
json 'e["exit"] == 130 and e["kind"] == "interrupted"'
interrupt INT call -p mcp tools/list --stop-timeout 100ms -- sh -c 'sleep 60' "sleeping-$tag"
verify 130 '' 'duplex call: interrupted'

finish
