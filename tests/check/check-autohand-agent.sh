#!/usr/bin/env bash
# duplex autohand agent: its words, how it starts and ends, framing, settings, models.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir home place
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 HOME=$work/home
unset AUTOHAND_HOME AUTOHAND_CONFIG OPENAI_API_KEY
agent=$BUILD/duplex-autohand
failed=0
complain() {
    echo "line ${BASH_LINENO[0]}: $*"
    failed=1
}

# They mostly wait, so all at once.
declare -A parts
for part in framing ends settings models clock deaf; do
    mkdir "$part"
    timeout 60 python3 "$SOURCE/tests/check/autohand-agent.py" "$agent" "$work/$part" "$part" &
    parts[$part]=$!
done

# --- Its words. ---------------------------------------------------------------------------------
# wrong TEXT WORD...: a mistake of whoever writes the command line.
wrong() {
    local text=$1 got=0
    shift
    timeout 10 "$agent" agent --path place "$@" </dev/null >out 2>err || got=$?
    ((got == 2)) || complain "agent $*: code $got: $(cat err)"
    [[ $(cat err) == *"$text"* && $(grep -cv "^hint: " err) == 1 && ! -s out ]] || complain "agent $*: $(cat out err)"
}
touch steps
wrong "agent: unexpected argument 'now'" now
wrong 'cannot be used together' --url http://127.0.0.1 --script steps
wrong 'cannot be used together' --script steps -- cat
wrong 'missing model command after --' --
wrong "--model-tries: expected a number up to 100, got '101'" --model-tries 101
wrong 'expected rpc' --mode acp
wrong 'expected doc|0.6|0.8' --compat 0.7
wrong 'expected auto|line|header' --framing lines
wrong "unknown option '--nothing'" --nothing
wrong 'absent/trace' --record absent/trace

# refused TEXT WORD...: a start that fails is an error without an id, and code 1.
refused() {
    local text=$1 got=0
    shift
    timeout 10 "$agent" agent "$@" </dev/null >out 2>err || got=$?
    ((got == 1)) || complain "agent $*: code $got: $(cat err)"
    [[ $(wc -l <out) == 1 && $(wc -l <err) == 1 && $(cat err) == "duplex autohand: error: "* ]] || complain "agent $*: $(cat out err)"
    python3 -c '
import json, sys
message = json.load(sys.stdin)
assert list(message["error"]) == ["code", "message"] and message["id"] is None, message
assert message["error"]["code"] == -32603 and sys.argv[1] in message["error"]["message"], message' "$text" <out ||
        complain "agent $*: $(cat out)"
}
refused 'Unsafe workspace: /' --path /
refused 'Unsafe workspace: ' --path "$HOME"
refused 'Initialization error: no such folder: absent' --path absent
refused 'Initialization error: ' --path steps
refused "cannot read absent: No such file" --path place --config absent
refused "cannot read place: not a regular file" --path place --config place
refused "cannot read /dev/zero: not a regular file" --path place --config /dev/zero
printf 'x\0y' >nul
refused "cannot read nul: " --path place --config nul
head -c 4194305 /dev/zero | tr '\0' ' ' >long
refused "cannot read long: the file is too long" --path place --config long
echo '{"provider": 1}' >bad.json
refused 'Initialization error: bad.json: /provider: expected string' --path place --config bad.json
echo '{' >bad.json
refused 'Initialization error: bad.json: invalid JSON at line 2' --path place --config bad.json
echo '{"hoks": 1}' >bad.json
timeout 10 "$agent" agent --path place --config bad.json </dev/null >out 2>err || complain "a slip of the pen: $(cat err)"
grep -q 'warn: bad.json: /: ignoring unknown keys: hoks$' err || complain "a slip of the pen is not told: $(cat err)"
refused "cannot read absent.jsonl: " --path place --script absent.jsonl
echo '{"txt": 1}' >bad.jsonl
refused 'bad.jsonl:1: expected only match' --path place --script bad.jsonl
refused 'invalid model URL: ftp://127.0.0.1: expected http or https' --path place --url ftp://127.0.0.1
timeout 10 "$agent" agent --path / --framing header </dev/null >out 2>/dev/null && complain "header: code 0"
[[ $(head -c 16 out) == "Content-Length: " && $(tail -c 1 out) == "}" ]] || complain "header: $(cat out)"

# --- How often a model that fails is asked. ---------------------------------------------------------
cat >fails.py <<'END'
import http.server
class Fails(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with open("asked", "a", encoding="utf-8") as file:
            file.write("x")
        self.send_response(500)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Fails)
print(server.server_port, flush=True)
server.serve_forever()
END
exec {said}< <(exec python3 fails.py)
server=$!
read -r port <&"$said"
# asked TIMES OPTION...: so often.
asked() {
    local times=$1 got=0
    shift
    : >asked
    timeout 20 "$BUILD/duplex" autohand prompt hi -- "$agent" agent --path place --url "http://127.0.0.1:$port/v1" --model m "$@" >out 2>err || got=$?
    [[ $got == 1 && $(wc -c <asked) == "$times" ]] || complain "$*: code $got, asked $(wc -c <asked) times: $(cat err)"
}
asked 1 --model-tries 0
asked 1 --model-tries 1
asked 2 --model-tries 2
kill "$server"
[[ $("$agent" agent --help | tr -s ' \n' ' ') == *"up to 100; 0: no retry (4)"* ]] || complain "help: $("$agent" agent --help | grep -A1 model-tries)"

# --- Through duplex itself, and with a recording. ------------------------------------------------
echo '{"jsonrpc":"2.0","method":"autohand.getState","id":1}' |
    timeout 10 "$BUILD/duplex" autohand agent --rpc --mode rpc --path place --record trace >out 2>err || complain "code $?"
[[ $(wc -l <out) == 3 && ! -s err ]] || complain "duplex autohand agent: $(cat out err)"
[[ $(grep -c autohand.getState trace) == 1 ]] || complain "trace: $(cat trace)"
[[ $("$agent" agent --help) == *"--model-timeout TIME"* ]] || complain "help"
# Nothing is written to its output but messages; who has none or no error gets a code.
timeout 10 "$agent" agent --path place </dev/null >&- 2>/dev/null && complain "no output: code 0"

for part in "${!parts[@]}"; do
    code=0
    wait "${parts[$part]}" || code=$?
    ((code == 0)) || complain "$part: code $code"
done
exit "$failed"
