#!/usr/bin/env bash
# Our standard output and error when nobody reads them: who is told to end does so, with its children, and
# nothing is lost that somebody reads in the end. And what is read whole has a limit.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"

cat >flood.py <<'END'
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    for i in range(3000):
        print(json.dumps({"jsonrpc": "2.0", "method": "n", "params": ["y" * 100]}))
    if "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": "x" * 300000}), flush=True)
END
cat >peers.json <<END
{"duplex": 1, "peers": {"a": {"command": ["$python", "$plugin", "line", "$tag"]}}}
END
flood=("$python" flood.py "$tag")

# Each line of jobs is a signal, the streams (o, e) that are full and that nobody reads, the exit code, and the
# command.
cat >stuck.py <<'END'
import fcntl, os, signal, subprocess, sys, time
jobs = []
for line in open("jobs"):
    words = line.rstrip("\n").split("\t")
    read, write = os.pipe()
    fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 512)
    except BlockingIOError:
        pass
    os.set_blocking(write, True)
    null = subprocess.DEVNULL
    job = subprocess.Popen(words[3:], stdin=subprocess.PIPE, stdout=write if "o" in words[1] else null,
                           stderr=write if "e" in words[1] else null)
    job.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"x"}\n')
    job.stdin.flush()
    os.close(write)
    jobs.append((job, words, read))
time.sleep(1.5)
wrong = 0
for job, words, _ in jobs:
    if job.poll() is not None:
        print("not stuck:", job.returncode, words)
        wrong = 1
    else:
        job.send_signal(getattr(signal, words[0]))
end = time.time() + 5
for job, words, _ in jobs:
    try:
        code = job.wait(max(end - time.time(), 0.1))
        if code != int(words[2]):
            print("code", code, words)
            wrong = 1
    except subprocess.TimeoutExpired:
        print("deaf:", words)
        job.kill()
        wrong = 1
sys.exit(wrong)
END
# job SIGNAL STREAMS CODE ARGUMENT...
job() {
    local IFS=$'\t'
    echo "${*:1:3}"$'\t'"$BUILD/duplex"$'\t'"${*:4}" >>"jobs"
}
job SIGTERM o 130 call -f line x -- "${flood[@]}"
job SIGINT o 130 call --json -f line x -- "${flood[@]}"
job SIGTERM e 130 call --show -f line x -- "${flood[@]}"
job SIGTERM o 130 repl -f line -- "${flood[@]}"
job SIGTERM o 130 bench -f line --starts 1 --duration 100ms --warmup 0 echo -- "${py[@]}"
job SIGTERM oe 130 run --json --config peers.json --socket ./s.sock
job SIGTERM o 130 mcp tools list -- "$BUILD/examples/mcp-adder"
job SIGTERM o 130 demo
job SIGTERM o 143 tap -- "${flood[@]}"
job SIGINT o 130 tap -o t.jsonl -- "${flood[@]}"
"$python" stuck.py >stuck &
stuck=$!

# Whoever shares the other end may have made it one that never waits.
last='duplex call with an output that does not block'
"$python" - "$BUILD/duplex" "${flood[@]}" <<'END' || complain "$last"
import os, subprocess, sys, time
read, write = os.pipe()
os.set_blocking(write, False)
job = subprocess.Popen([sys.argv[1], "call", "-f", "line", "x", "--", *sys.argv[2:]], stdout=write)
os.close(write)
time.sleep(0.4)
text = b""
while piece := os.read(read, 65536):
    text += piece
assert job.wait(10) == 0 and len(text) == 300003, (job.returncode, len(text))
END

# What is closed is not taken by a file of ours, which would get the result; and what cannot be written is told.
got=0
last='duplex call with a closed output'
timeout 20 "$BUILD/duplex" call --stderr said -o record echo '["result"]' -- "$echo" line >&- 2>err || got=$?
echo -n >out
verify 2 '' "duplex call: the output cannot be written: Bad file descriptor"
[[ ! -s said ]] || complain "$last: it is in another file: $(cat said)"
for word in --help --version '--completion bash' list; do
    got=0
    last="duplex $word"
    # shellcheck disable=SC2086 # words
    "$BUILD/duplex" $word >/dev/full 2>err || got=$?
    [[ $got == 2 && $(<err) == *"the output cannot be written: No space left"* ]] || complain "$last: code $got: $(cat err)"
done

# Also with --json, whose errors are lost with it, and where something else was wrong before.
echo '{"type": "string"}' >s.json
echo 1 >d.json
full() {
    got=0
    last="duplex ${*:2}"
    timeout 20 "$BUILD/duplex" "${@:2}" >/dev/full 2>err </dev/null || got=$?
    [[ $got == "$1" && $(<err) == "duplex $2: the output cannot be written: No space left on device" ]] ||
        complain "$last: code $got: $(cat err)"
}
full 2 call --json -f line echo '[1]' -- "$echo" line
full 1 call --json -f line none -- "$echo" line
full 7 schema --all s.json d.json

# Nor is it held for something else where the output is the wire.
cat >wire.jsonl <<'END'
{"duplex-trace":1,"time":"us","part":1}
{"t":0,"from":"host","peer":"p","run":1,"message":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}
{"t":1,"from":"plugin","peer":"p","run":1,"message":{"jsonrpc":"2.0","id":1,"result":{}}}
END
sed -nE 's/.*"host".*"message":(.*)\}$/\1/p' wire.jsonl >asked
# wire TEXT ARGUMENT...
wire() {
    got=0
    last="duplex ${*:2}"
    timeout 20 "$BUILD/duplex" "${@:2}" <asked >/dev/full 2>err || got=$?
    [[ $got == 4 && $(<err) == *"$1: No space left on device"* ]] || complain "$last with a full output: code $got: $(cat err)"
}
wire "duplex replay: cannot write the output" replay -f line --as-plugin wire.jsonl
wire "duplex mock: cannot write the output" mock -p jsonrpc
wire "duplex mock: cannot write the output" mock --trace wire.jsonl
wire 'duplex mcp serve files: cannot write to the peer' mcp serve files .

# Nor does a limit on the size of files end us without a word. What we start has the default of that signal.
for word in --help 'list' 'describe mcp'; do
    got=0
    last="duplex $word with a limit on files"
    # shellcheck disable=SC2086 # words
    (ulimit -f 1 && exec "$BUILD/duplex" $word >large 2>err) || got=$?
    [[ $got == 2 && $(<err) == *"the output cannot be written: File too large" ]] || complain "$last: code $got: $(cat err)"
done
cat >duplex-ignores <<'END'
#!/bin/sh
while read -r name value; do case $name in SigIgn:) echo "$name $((0x$value & 0x1000000))" ;; esac; done </proc/self/status
END
chmod +x duplex-ignores
expect 0 'SigIgn: 0' 'duplex tap: warning: the program printed text on stdout that is not JSON-RPC: "SigIgn: 0" (it breaks strict clients)' tap -- ./duplex-ignores
PATH=.:$PATH expect 0 'SigIgn: 0' '' ignores

# A pipe without a reader is no place for a record.
mkfifo nobody
expect 2 '' 'duplex call: cannot write to nobody: *' call -o nobody echo -- "$echo" line
expect 2 '' "duplex call: nobody cannot be written: *" call --stderr nobody echo -- "$echo" line
expect 2 '' 'duplex tap: cannot write to nobody: *' tap -o nobody -- "$echo" line

# 64 MiB are read, a byte more is not; nor is what has no end.
truncate -s $((64 << 20)) most
truncate -s $(((64 << 20) + 1)) more
expect 2 '' 'duplex call: @most:1:1: *' call echo @most -- "$echo" line
expect 2 '' 'duplex call: more is larger than 64 MiB' call echo @more -- "$echo" line
expect 2 '' 'duplex call: /dev/zero is larger than 64 MiB' call echo @/dev/zero -- "$echo" line
expect 2 '' 'duplex call: /dev/zero is larger than 64 MiB' call -p /dev/zero echo -- "$echo" line
expect 2 '' 'duplex schema: /dev/zero is larger than 64 MiB' schema /dev/zero
expect 2 '' 'duplex mock: /dev/zero is larger than 64 MiB' mock /dev/zero
# So is what a configuration names: 1 MiB.
{ head -c $(((1 << 20) - 4)) /dev/zero | tr '\0' '\n'; echo A=b; } >most.env
{ echo; cat most.env; } >more.env
for file in most.env more.env /dev/zero .; do
    echo "{\"servers\": {\"a\": {\"command\": \"/nonexistent\", \"envFile\": \"$file\"}}}" >"peers-${file//\//}.json"
done
run run --config peers-more.env.json
verify 2 '' "duplex run: peers-more.env.json:1:*"
grep -q 'more.env is longer than 1048576 bytes' err || complain "$last: $(cat err)"
run run --config peers-devzero.json
grep -q '/dev/zero is longer than 1048576 bytes' err || complain "$last: $(cat err)"
run run --config peers-..json
grep -q "cannot read .*: Is a directory" err || complain "$last: $(cat err)"

wait "$stuck" || complain "an output that nobody reads: $(cat stuck)"

# A peer that never stops writing does not keep us from ending.
echo '{"duplex-mock": 1, "start": [{"request": "x"}]}' >asks.json
run call -f line -o asked.jsonl echo -- "$echo" line
endless=(sh -c 'yes & yes & exec yes' "$tag")
# told ARGUMENT...: the signal comes while the peer writes.
told() {
    last="duplex $* (SIGINT)"
    timeout -k 12 60 "$BUILD/duplex" "$@" >out 2>err </dev/null &
    local pid=$!
    sleep 0.7
    kill -INT "$pid"
    got=0
    wait "$pid" || got=$?
    ((got == 130)) || complain "$last: code $got, expected 130: $(head -c 500 err)"
}
told check -p mcp -- "${endless[@]}"
told replay asked.jsonl -f line -- "${endless[@]}"
told mock -f line asks.json -- "${endless[@]}"

finish
