#!/usr/bin/env bash
# duplex list: what it says, where it says it, and its exit codes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >tea.openrpc.json <<'END'
{
  "openrpc": "1.3.2",
  "info": {"title": "Tea", "version": "1"},
  "x-duplex": {"name": "tea", "framing": "line", "host": "guest", "plugin": "pot"},
  "methods": [
    {"name": "pour", "summary": "Pours.", "params": [], "x-duplex": {"from": "host"}},
    {"name": "cups", "summary": "How many cups there are.", "params": [], "x-duplex": {"from": "both"}},
    {"name": "pot/whistle", "summary": "It is ready.", "params": [], "x-duplex": {"from": "plugin", "notification": true}}
  ]
}
END
cat >green.openrpc.json <<'END'
{
  "openrpc": "1.3.2",
  "info": {"title": "Green tea", "version": "1"},
  "x-duplex": {"name": "green", "extends": "tea", "removes": {"methods": ["cups"]}},
  "methods": []
}
END
# Names and texts that would steer a terminal, if they were let through.
printf '{"openrpc":"1.3.2","info":{"title":"T","version":"1"},"x-duplex":{"name":"t","framing":"line"},"methods":[{"name":"\\u001b[31mred","summary":"two\\u0007 \\u009bwords","params":[],"x-duplex":{"from":"host"}}]}' >hostile.json
echo '{"openrpc":' >broken.json

failed=0
# expect CODE STDOUT STDERR ARGUMENT...: the output is compared whole, errors by a part of them.
expect() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 10 "$BUILD/duplex" list "$@" >out 2>err </dev/null || got=$?
    if ((got != code)) || [[ $(cat out) != "$out" ]] || [[ $(cat err) != *"$err"* ]] || { [[ -z $err && -s err ]]; } ||
        (($(grep -vc "^hint: " err || true) > 1)); then
        echo "duplex list $*: code $got, expected $code"
        echo "stdout: $(cat out)"
        echo "stderr: $(cat err)"
        failed=1
    fi
}

expect 0 'METHOD       DIRECTION    KIND          SUMMARY
pour         guest → pot  request       Pours.
cups         guest ↔ pot  request       How many cups there are.
pot/whistle  pot → guest  notification  It is ready.' '' ./tea.openrpc.json
expect 0 'pour
cups
pot/whistle' '' --names tea.openrpc.json
expect 0 '{"name":"pour","from":"host","direction":"guest → pot","kind":"request","summary":"Pours."}
{"name":"cups","from":"both","direction":"guest ↔ pot","kind":"request","summary":"How many cups there are."}
{"name":"pot/whistle","from":"plugin","direction":"pot → guest","kind":"notification","summary":"It is ready."}' \
    '' --json tea.openrpc.json
# What a file extends lies beside it; the option is the same as the word.
expect 0 'pour
pot/whistle' '' --names --protocol ./green.openrpc.json
expect 0 'pour
pot/whistle' '' -p ./green.openrpc.json --names
expect 0 'METHOD       DIRECTION      KIND     SUMMARY
\x1b[31mred  host → plugin  request  two\x07 \x9bwords' '' ./hostile.json
expect 0 '\x1b[31mred' '' --names ./hostile.json
expect 0 '' 'jsonrpc lists no methods: any method may be sent' jsonrpc
expect 0 '' '' --json jsonrpc
expect 0 '' 'jsonrpc lists no methods: any method may be sent' --names jsonrpc

expect 2 '' $'unknown protocol "nothing"\nhint: \'duplex list\' lists the built-in protocols' nothing
expect 2 '' 'unknown protocol "mcp@1999"' mcp@1999
expect 2 '' "cannot read ./absent.json: No such file or directory" ./absent.json
expect 2 '' 'broken.json:' ./broken.json
expect 2 '' "expected one PROTOCOL, but also got 'lsp'" mcp lsp
expect 2 '' "expected one PROTOCOL, but also got 'lsp'" --protocol mcp lsp
expect 2 '' '--names does not take a value' lsp --names=1
expect 2 '' "unknown option '--nothing'" --nothing
expect 2 '' $'unexpected command after --: it lists protocols, not servers\nhint: to list the tools of a server: duplex mcp tools -- COMMAND' -- "$BUILD/examples/echo"
expect 2 '' $'unexpected command after --: it lists protocols, not servers\nhint: to list the tools of a server: duplex mcp tools -- COMMAND' --protocol mcp -- "$BUILD/examples/echo"
expect 2 '{"error":{"exit":2,"kind":"usage","message":"--names and --json cannot be used together"}}' '' --names --json
expect 2 '{"error":{"hint":"'\''duplex list'\'' lists the built-in protocols","exit":2,"kind":"usage","message":"unknown protocol \"nothing\""}}' \
    '' --json nothing
timeout 10 "$BUILD/duplex" list --help | grep -q '^Usage: duplex list' || failed=1

# The table of all: a line for each name, which are in order and are what --protocol takes.
timeout 10 "$BUILD/duplex" list >table
timeout 10 "$BUILD/duplex" list --names >names
timeout 10 "$BUILD/duplex" list --json >lines
head -n 1 table | grep -qE '^NAME +FRAMING +METHODS +TITLE$' || { echo "the head of the table"; failed=1; }
[[ $(tail -n +2 table | sed 's/ .*//') == "$(cat names)" ]] || { echo "table and names differ"; failed=1; }
grep -qxE 'mcp \(2025-11-25\) +line +[0-9]+  Model Context Protocol' table || { echo "mcp in the table"; failed=1; }
LC_ALL=C sort -c names || failed=1

timeout 60 python3 - "$BUILD/duplex" <<'END' || failed=1
import fcntl, json, os, pty, struct, subprocess, sys, termios, time

duplex = sys.argv[1]
failed = 0


def complain(*words):
    global failed
    print(*words)
    failed = 1


# The list is made by a light reading of the documents; it says the same as the whole protocol does.
names = open("names").read().split()
entries = [json.loads(line) for line in open("lines")]
if [entry["name"] for entry in entries] != names or len(names) < 10:
    complain("names", names)
for entry in entries:
    text = subprocess.run([duplex, "describe", "--json", entry["name"]], capture_output=True, timeout=10, check=True)
    whole = json.loads(text.stdout)
    whole["name"], whole["messages"] = entry["name"], len(whole["messages"])
    for member in entry:
        if entry[member] != whole[member]:
            complain(entry["name"], member, entry[member], whole[member])


# On a terminal lines are cut to its width, and there are colours.
def on_terminal(columns, *words, environment=None):
    child, fd = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        os.execve(duplex, [duplex, "list", *words], {**os.environ, "NO_COLOR": "", **(environment or {})})
    text = b""
    try:
        while piece := os.read(fd, 65536):
            text += piece
    except OSError:
        pass
    os.close(fd)
    if os.waitpid(child, 0)[1]:
        complain("on a terminal", words)
    return text.decode().replace("\r\n", "\n").splitlines()


for columns in (40, 80, 100, 120, 200):
    for words in ((), ("mcp",), ("lsp",)):
        lines = on_terminal(columns, "--color", "never", *words)
        if max(map(len, lines)) > columns:
            complain(columns, "columns:", max(lines, key=len))
        if columns <= 80 and words == ("mcp",) and not any(line.endswith("…") for line in lines):
            complain("nothing is cut at", columns)
        plain = subprocess.run([duplex, "list", *words], capture_output=True, timeout=10).stdout.decode().splitlines()
        if columns == 200 and plain != lines:
            complain("cut where there is room")
        for cut, line in zip(lines, plain):
            if not line.startswith(cut.removesuffix("…").rstrip()):
                complain("cut wrongly:", cut)
if not any("\033[" in line for line in on_terminal(80)):
    complain("no colours")
if any("\033[" in line for line in on_terminal(80, environment={"NO_COLOR": "1"}) + on_terminal(80, "--json")):
    complain("colours that nobody wants")
piped = subprocess.run([duplex, "list"], capture_output=True, timeout=10).stdout
if b"\033" in piped:
    complain("colours in a pipe")

# A few milliseconds, also on a machine that has other things to do.
best = 1e9
for _ in range(20):
    start = time.perf_counter()
    subprocess.run([duplex, "list"], stdout=subprocess.DEVNULL, timeout=10, check=True)
    best = min(best, time.perf_counter() - start)
if best > 0.02:
    complain("duplex list takes", best, "s")
sys.exit(failed)
END

# What cannot be written is told.
if [[ -w /dev/full ]]; then
    code=0
    timeout 10 "$BUILD/duplex" list >/dev/full 2>err || code=$?
    if ((code != 2)) || ! grep -q "the output cannot be written" err; then
        echo "/dev/full: $code"
        failed=1
    fi
fi
exit $failed
