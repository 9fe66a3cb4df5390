#!/usr/bin/env bash
# F95: no configuration is read that was not named. F96: what is wrong in one is told with its line
# and column, keeps nothing else from running, and nothing in it ever meets a shell. Also: what a
# right one means.
# shellcheck disable=SC2016 # what looks like a variable of the shell is one of the configuration
set -euo pipefail
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work/rt
export HOME=$work/home
mkdir -m 700 "$XDG_RUNTIME_DIR" "$HOME"
duplex=$BUILD/duplex
run=
# shellcheck disable=SC2317 # it is reached by the trap
finish() {
    [[ -z $run ]] || kill "$run" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
failed=0
complain() {
    echo "$@"
    failed=1
}

# wrong NAME CONTENT LINE...: exit code 2, and exactly these lines.
count=0
wrong() {
    local name=$1 content=$2 got=0 expected
    shift 2
    count=$((count + 1))
    printf '%s' "$content" >bad.json
    expected=$(printf 'duplex run: %s\n' "$@")
    timeout 10 "$duplex" run --config bad.json >out 2>err </dev/null || got=$?
    if ((got != 2)) || [[ $(cat err) != "$expected" ]] || [[ -s out ]]; then
        complain "$name: code $got, expected 2"
        diff <(echo "$expected") err || true
    fi
}
# peer NAME MEMBERS LINE: the same for the entry {"command": "x", MEMBERS}, on its second line.
peer() {
    wrong "$1" "{\"duplex\": 1, \"peers\": {\"a\": {\"command\": \"x\",
$2}}}" "bad.json:2:$3"
}

F96_wrong_files() {
    wrong empty '' 'bad.json:1:1: invalid JSON: it is empty'
    wrong syntax '{"duplex": 1,
  "peers": {"a" {}}}' 'bad.json:2:17: invalid JSON: unexpected character, expected a colon after object key'
    local what='expected a configuration: an object with "duplex", "mcpServers" or "servers"'
    wrong array '[]' "bad.json:1:1: $what"
    wrong nothing '/* a comment */ {}' "bad.json:1:17: $what"
    wrong version '{"duplex": 2, "peers": {}}' 'bad.json:1:12: /duplex: expected 1, found 2'
    wrong no_peers '{"duplex": 1}' 'bad.json:1:1: missing member "peers"'
    wrong stranger '{"duplex": 1, "peers": {}, "peer": {}}' 'bad.json:1:36: /peer: unexpected member'
    wrong none '{"duplex": 1, "peers": {}}' 'bad.json: no servers to run'
    wrong two_kinds '{"mcpServers": {}, "servers": {}}' \
        'bad.json:1:31: /servers: the file also has /mcpServers: keep only one of them'
    wrong root_twice '{"mcpServers": {}, "mcpServers": {}}' 'bad.json:1:20: /mcpServers: duplicate key'
    wrong no_object '{"mcpServers": []}' 'bad.json:1:16: /mcpServers: expected object, found array'
    head -c 1048577 /dev/zero | tr '\0' ' ' >large.json
    timeout 10 "$duplex" run --config large.json 2>err && complain "a large file was read"
    [[ $(cat err) == 'duplex run: large.json is longer than 1048576 bytes' ]] || complain "$(cat err)"
    # The largest that may be: white space around one that has no peer.
    { printf '{"duplex": 1, "peers": {}}'; head -c $((1048576 - 26)) /dev/zero | tr '\0' ' '; } >large.json
    timeout 10 "$duplex" run --config large.json 2>err && complain "a file without peers was run"
    [[ $(cat err) == 'duplex run: large.json: no servers to run' ]] || complain "$(cat err)"
    many=$(for i in $(seq 257); do printf '"p%d": {"command": "x"},' "$i"; done)
    wrong many "{\"duplex\": 1, \"peers\": {$many}}" \
        'bad.json:1:24: /peers: expected at most 256 members, found 257'
}

F96_wrong_types() {
    wrong command_type '{"duplex": 1, "peers": {"a": {"command": 7}}}' \
        'bad.json:1:42: /peers/a/command: expected string or array, found number'
    wrong command_missing '{"duplex": 1, "peers": {"a": {}}}' \
        'bad.json:1:30: /peers/a: missing member "command"'
    wrong command_empty '{"duplex": 1, "peers": {"a": {"command": []}}}' \
        'bad.json:1:42: /peers/a/command: expected at least 1 item, found 0'
    wrong command_nameless '{"duplex": 1, "peers": {"a": {"command": [""]}}}' \
        'bad.json:1:42: /peers/a/command: the program'\''s name is empty'
    wrong command_word '{"duplex": 1, "peers": {"a": {"command": ["x", 3]}}}' \
        'bad.json:1:48: /peers/a/command/1: expected string, found number'
    wrong command_and_args '{"duplex": 1, "peers": {"a": {"command": ["x"], "args": ["y"]}}}' \
        'bad.json:1:57: /peers/a/args: cannot be used together with a "command" that is an array'
    peer unknown '"comand": "y"' '11: /peers/a/comand: unexpected member'
    peer args '"args": "y"' '9: /peers/a/args: expected array, found string'
    peer env '"env": ["A=b"]' '8: /peers/a/env: expected object, found array'
    peer env_value '"env": {"A": true}' '14: /peers/a/env/A: expected number or string, found boolean'
    peer env_name '"env": {"A=B": "c"}' "8: /peers/a/env: 'A=B' is not a valid variable name"
    peer cwd '"cwd": 1' '8: /peers/a/cwd: expected string, found number'
    peer inherit '"inheritEnv": "yes"' '15: /peers/a/inheritEnv: expected boolean, found string'
    peer restart '"restart": "maybe"' \
        '12: /peers/a/restart: expected one of "never", "on-failure", "always", found "maybe"'
    peer tries '"tries": 65' '10: /peers/a/tries: expected at most 64, found 65'
    peer tries_part '"tries": 1.5' '10: /peers/a/tries: expected integer, found 1.5'
    peer backoff '"backoffMs": 0' '14: /peers/a/backoffMs: expected at least 1, found 0'
    peer window '"windowMs": 86400001' '13: /peers/a/windowMs: expected at most 86400000, found 86400001'
    peer files '"filesMax": 2' '13: /peers/a/filesMax: expected at least 3, found 2'
    peer log '"logMax": 1023' '11: /peers/a/logMax: expected at least 1024, found 1023'
    peer framing '"framing": "auto"' '12: /peers/a/framing: expected one of "header", "line", found "auto"'
    peer protocol '"protocol": "lps"' '13: /peers/a/protocol: unknown protocol "lps"'
    peer ping '"protocol": "mcp", "ping": "pong"' '28: /peers/a/ping: mcp has no such request'
    peer init '"init": {}' '9: /peers/a/init: jsonrpc has no handshake'
    peer twice '"cwd": "/", "cwd": "/tmp"' '13: /peers/a/cwd: duplicate key'
    peer env_twice '"env": {"A": "1", "A": "2"}' '19: /peers/a/env/A: duplicate key'
    wrong server_type '{"servers": {"a": {"command": "x", "type": "pigeon"}}}' \
        'bad.json:1:44: /servers/a/type: expected one of "stdio", "http", "sse", "streamable-http", "streamableHttp", "ws", found "pigeon"'
    wrong server_command '{"mcpServers": {"a": {"args": []}}}' \
        'bad.json:1:22: /mcpServers/a: missing "command"'
    wrong server_number '{"mcp": {"servers": {"a": 7}}}' \
        'bad.json:1:27: /mcp/servers/a: expected object, found number'
    wrong server_timeout '{"mcpServers": {"a": {"command": "x", "timeout": "5s"}}}' \
        'bad.json:1:50: /mcpServers/a/timeout: expected integer, found string'
}

F96_wrong_names() {
    local what="expected a name of 1 to 64 letters, digits, '.', '_' or '-'"
    wrong name '{"duplex": 1, "peers": {"a b": {"command": "x"}}}' "bad.json:1:32: /peers/a b: $what"
    wrong name_slash '{"duplex": 1, "peers": {"../x": {"command": "x"}}}' \
        "bad.json:1:33: /peers/..~1x: $what"
    wrong name_empty '{"duplex": 1, "peers": {"": {"command": "x"}}}' "bad.json:1:29: /peers/: $what"
    long=$(printf 'n%.0s' $(seq 65))
    wrong name_long "{\"duplex\": 1, \"peers\": {\"$long\": {\"command\": \"x\"}}}" \
        "bad.json:1:94: /peers/$long: $what"
    wrong F96_duplicate '{"duplex": 1, "peers": {"a": {"command": "x"},
 "\u0061": {"command": "y"}}}' 'bad.json:2:2: /peers/a: duplicate key'
}

F96_variables() {
    unset MISSING
    wrong missing '{"mcpServers": {"a": {"command": "x", "args": ["ok", "${MISSING}"]}}}' \
        'bad.json:1:54: /mcpServers/a/args/1: the variable MISSING is not set'
    wrong missing_env '{"servers": {"a": {"command": "x", "env": {"T": "-${env:MISSING}-"}}}}' \
        'bad.json:1:49: /servers/a/env/T: the variable MISSING is not set'
    wrong missing_own '{"duplex": 1, "peers": {"a": {"command": ["${MISSING}"]}}}' \
        'bad.json:1:43: /peers/a/command/0: the variable MISSING is not set'
    wrong input '{"servers": {"a": {"command": "x", "env": {"T": "${input:token}"}}}}' \
        'bad.json:1:49: /servers/a/env/T: unknown variable ${input:token}'
    wrong open '{"mcpServers": {"a": {"command": "${x"}}}' \
        'bad.json:1:34: /mcpServers/a/command: missing } after ${'
    wrong nul '{"mcpServers": {"a": {"command": "x\u0000y"}}}' \
        "bad.json:1:34: /mcpServers/a/command: the value contains a NUL character"
    LONG=$(head -c 65536 /dev/zero | tr '\0' x)
    export LONG
    wrong long '{"mcpServers": {"a": {"command": "x", "args": ["${LONG}${LONG}-"]}}}' \
        'bad.json:1:48: /mcpServers/a/args/0: the value is longer than 131072 bytes'
    unset LONG
    wrong env_file '{"servers": {"a": {"command": "x", "envFile": "none.env"}}}' \
        "bad.json:1:47: /servers/a/envFile: cannot read $work/none.env: No such file or directory"
    printf 'A=1\nnothing\n' >some.env
    wrong env_line '{"servers": {"a": {"command": "x", "envFile": "some.env"}}}' \
        "bad.json:1:47: /servers/a/envFile: $work/some.env:2: expected NAME=VALUE"
}

# words LINE ARGUMENT...: exit code 2, and that line.
words() {
    local line=$1 got=0
    shift
    timeout 10 "$duplex" run "$@" >out 2>err </dev/null || got=$?
    [[ $got == 2 && $(cat err) == "duplex run: $line" ]] || complain "duplex run $*: $got: $(cat err)"
}
F96_words() {
    words "cannot read none.json: No such file or directory" --config none.json
    words "cannot read .: Is a directory" --config .
    words $'good.json: no server \'nobody\'\nhint: the servers are a' --config good.json nobody
    words "--name: expected 1 to 64 letters, digits, '.', '_' or '-', got 'a/b'" --config good.json --name a/b
    words '--log-max: expected 1k to 64M, or 0 for no limit, got 1023' --config good.json --log-max 1023
    words '--log-max: expected 1k to 64M, or 0 for no limit, got 67108865' --config good.json --log-max 67108865
    words 'unexpected --: the commands to run are in the configuration file' --config good.json -- x
    words "--socket: expected a path of 1 to 107 bytes" --config good.json --socket "$(printf 's%.0s' $(seq 108))"
}

# wait_for PATTERN FILE: at most 5 s.
wait_for() {
    for _ in $(seq 100); do
        grep -q -- "$1" "$2" && return
        sleep 0.05
    done
    complain "'$1' did not come:"
    cat "$2"
}
# with FILE [WORD...]: a run until `without`.
with() {
    : >err # what the one before said must not be taken for its words
    timeout 30 "$duplex" run --config "$@" >out 2>err </dev/null &
    run=$!
    wait_for ': ready\|: failed' err
}
# without CODE: its exit code.
without() {
    local got=0
    timeout 10 "$duplex" down || complain "down: $?"
    wait "$run" || got=$?
    run=
    ((got == $1)) || complain "the run ended with $got, expected $1: $(cat err)"
}
# said PEER: what the peer `teller` said about itself.
said() {
    timeout 10 "$duplex" call --in "$1" tell
}

# Tells its words, a few variables and its folder.
cat >teller <<'END'
#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "tell":
        result = {"argv": sys.argv[1:], "cwd": os.getcwd(),
                  "env": {k: v for k, v in os.environ.items() if k.startswith("T_")}}
    else:
        result = {"protocolVersion": "2025-06-18", "capabilities": {},
                  "serverInfo": {"name": "teller", "version": "1"}}
        if "asked" in sys.argv:
            print(message["params"]["clientInfo"]["name"], file=sys.stderr, flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
END
chmod +x teller
mkdir sub
echo '{"duplex": 1, "peers": {"a": {"command": "x"}}}' >good.json

F95_only_what_was_named() {
    local got=0
    mkdir F95 && cd F95
    for name in .mcp.json mcp.json duplex.json .duplex.json; do
        echo "{\"mcpServers\": {\"evil\": {\"command\": \"touch\", \"args\": [\"$work/F95/harm\"]}}}" >"$name"
    done
    mkdir .vscode && cp mcp.json .vscode/mcp.json
    timeout 10 "$duplex" run >../out 2>../err </dev/null || got=$?
    ((got == 2)) || complain "F95: run without --config: $got"
    [[ $(cat ../err) == 'duplex run: missing --config: there is no default file
hint: duplex run --config FILE' ]] || complain "F95: $(cat ../err)"
    timeout 10 "$duplex" ps >/dev/null 2>&1 && complain "F95: there is a run"
    [[ ! -e harm ]] || complain "F95: something was run"
    cd ..
}

F95_shows_what_it_runs() {
    echo '{"duplex": 1, "peers": {"t": {"command": ["./teller", "a b", "\u001b[31m"]}}}' >F95.json
    with F95.json
    grep -qF "t: starting: $work/teller a b \\x1b[31m" err || complain "F95: $(cat err)"
    # It is read once: what is started again is what was shown.
    echo '{"duplex": 1, "peers": {"t": {"command": ["false"]}}}' >F95.json
    timeout 10 "$duplex" restart t || complain "F95: restart: $?"
    said t | grep -q '"a b"' || complain "F95: another command after the restart"
    without 0
}

# What somebody has looked at can be pinned.
F95_pins_the_sum() {
    local len sum got
    echo '{"duplex": 1, "peers": {"t": {"command": ["./teller"]}}}' >F95.json
    with F95.json --sha256 "$(sha256sum <F95.json | cut -c 1-64)"
    without 0
    echo ' ' >>F95.json
    sum=$(sha256sum <F95.json | cut -c 1-64)
    words "F95.json has changed: its SHA-256 checksum is $sum" --config F95.json --sha256 "${sum//[0-7]/8}"
    words "--sha256: expected 64 hexadecimal digits, got '12'" --config F95.json --sha256 12
    # Sums of every length around a block are right.
    for len in 0 1 54 55 56 57 63 64 65 119 120 127 128 129 1000; do
        head -c $len /dev/urandom >bytes
        sum=$(sha256sum <bytes | cut -c 1-64)
        got=$(timeout 10 "$duplex" run --config bytes --sha256 "${sum//?/0}" 2>&1 || true)
        [[ $got == "duplex run: bytes has changed: its SHA-256 checksum is $sum" ]] || complain "F95: $len bytes: $got"
    done
}

# With --json everything is an object, what is left out included.
json() {
    local got=0
    echo '{"mcpServers": {"r": {"url": "x", "more": 1}, "a": {"command": "${MISSING}"}}}' >bad.json
    timeout 10 "$duplex" run --json --config bad.json >out 2>err </dev/null || got=$?
    [[ $got == 2 && ! -s err && $(cat out) == '{"note":"bad.json: r is a remote server: skipped (\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote\", URL] reaches it)"}
{"error":{"exit":2,"kind":"usage","message":"bad.json:1:64: /mcpServers/a/command: the variable MISSING is not set"}}
{"note":"bad.json: more is unknown: ignored"}' ]] || complain "json: $got $(cat out err)"
}

F96_no_shell() {
    printf '%s' '{"duplex": 1, "peers": {"t": {"command": ["./teller", "$(touch harm)", "; touch harm", "`touch harm`",
        "> harm", "$T_A", "*", "~", "$${T_A}"]}}}' >F96.json
    with F96.json
    [[ $(said t) == *'"argv": ["$(touch harm)", "; touch harm", "`touch harm`", "> harm", "$T_A", "*", "~", "${T_A}"]'* ]] ||
        complain "F96: $(said t)"
    [[ ! -e harm ]] || complain "F96: a shell was at work"
    without 0
}

F96_one_bad_entry() {
    printf '%s' '{"duplex": 1, "peers": {
  "one": {"command": "${MISSING}"},
  "two": {"command": ["./teller"]},
  "two too": {"command": ["./teller"]},
  "six": {"command": ["./teller"], "tries": -1},
  "dup": {"command": ["./teller"]}, "dup": {"command": ["./teller"]}}}' >F96.json
    with F96.json
    local got=0
    said two >/dev/null || complain "F96: the good entry does not run: $(cat err)"
    [[ $(grep '^duplex run' err) == 'duplex run: F96.json:2:22: /peers/one/command: the variable MISSING is not set
duplex run: F96.json:4:14: /peers/two too: expected a name of 1 to 64 letters, digits, '\''.'\'', '\''_'\'' or '\''-'\''
duplex run: F96.json:5:45: /peers/six/tries: expected at least 0, found -1
duplex run: F96.json:6:37: /peers/dup: duplicate key' ]] || complain "F96: $(cat err)"
    without 2
    # One that was asked for by name is another matter; one that was not is not looked at.
    timeout 10 "$duplex" run --config F96.json two one >out 2>err </dev/null || got=$?
    [[ $got == 2 && $(cat err) == 'duplex run: F96.json:2:22: /peers/one/command: the variable MISSING is not set' ]] ||
        complain "F96: $got: $(cat err)"
    with F96.json two
    without 0
}

mcp_formats() {
    export T_VAR='v a r' T_TOKEN=secret
    unset T_NONE
    # What Claude Desktop and others have.
    cat >claude.json <<'END'
{
  // a comment
  "globalShortcut": "x",
  "mcpServers": {
    "local": {
      "command": "${workspaceFolder}/teller", /* another */
      "args": ["${T_VAR}", "-${env:T_VAR}-", "${userHome}", "${T_NONE:-other}", "asked"],
      "env": {"T_TOKEN": "${T_TOKEN}", "T_PORT": 8080},
      "cwd": "sub",
      "timeout": 60000,
      "autoApprove": ["a"],
    },
    "second": {"type": "stdio", "command": "./teller", "autoApprove": []},
    "remote": {"url": "https://example.org/mcp"},
    "events": {"type": "sse", "url": "https://example.org/sse"},
    "off": {"command": "./teller", "disabled": true},
  },
}
END
    with claude.json
    wait_for 'second: ready' err
    wait_for 'local: ready' err
    [[ $(grep '^duplex run' err) == 'duplex run: claude.json: remote is a remote server: skipped ("command": "npx", "args": ["-y", "mcp-remote", URL] reaches it)
duplex run: claude.json: events is a remote server: skipped ("command": "npx", "args": ["-y", "mcp-remote", URL] reaches it)
duplex run: claude.json: off is disabled: skipped
duplex run: claude.json: autoApprove is unknown: ignored' ]] || complain "claude: $(cat err)"
    # The protocol is MCP, which does not know the teller's method; so it tells by itself.
    said local >out 2>&1 && complain "MCP knows the method tell"
    grep -q "$HOME" err || complain "claude: userHome: $(cat err)"
    grep -q "local: starting: $work/teller v a r -v a r- $HOME other asked" err || complain "claude: $(cat err)"
    pid=$(timeout 10 "$duplex" ps | awk '$1 == "local" { print $3 }')
    [[ $(readlink "/proc/$pid/cwd") == "$work/sub" ]] || complain "claude: cwd $(readlink "/proc/$pid/cwd")"
    [[ $(tr '\0' '\n' <"/proc/$pid/environ" | grep '^T_' | sort) == 'T_PORT=8080
T_TOKEN=secret' ]] || complain "claude: environment: $(tr '\0' '\n' <"/proc/$pid/environ")"
    timeout 10 "$duplex" ps | grep -q '^second .* mcp ' || complain "claude: no mcp"
    without 0
    # By name even what is disabled is run, and what cannot be is an error.
    with claude.json off
    without 0
    got=0
    timeout 10 "$duplex" run --config claude.json remote >out 2>err </dev/null || got=$?
    [[ $got == 2 && $(cat err) == *": /mcpServers/remote: this is a remote server, which cannot be started (\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote\", URL] reaches it)" ]] || complain "remote: $got $(cat err)"

    # VS Code's own file, and its settings.
    printf '# for the server\nexport T_A=1\nT_B="two words"\n\nT_C='\''x'\''\n' >vs.env
    cat >vscode.json <<'END'
{"inputs": [], "servers": {"s": {"type": "stdio", "command": "./teller", "args": ["${workspaceFolder}"],
    "envFile": "${workspaceFolder}/vs.env", "env": {"T_C": "mine"},}}}
END
    echo "{\"editor.tabSize\": 4, \"mcp\": $(cat vscode.json)}" >settings.json
    for file in vscode.json settings.json; do
        with "$file"
        grep -q "s: starting: $work/teller $work\$" err || complain "$file: $(cat err)"
        pid=$(timeout 10 "$duplex" ps | awk '$1 == "s" { print $3 }')
        [[ $(tr '\0' '\n' <"/proc/$pid/environ" | grep '^T_' | sort) == 'T_A=1
T_B=two words
T_C=mine' ]] || complain "$file: $(tr '\0' '\n' <"/proc/$pid/environ" | grep '^T_')"
        without 0
    done
}

own_format() {
    export T_VAR=var
    cat >mine.openrpc.json <<'END'
{"openrpc": "1.3.2", "info": {"title": "Mine", "version": "1"}, "x-duplex": {"name": "mine", "framing": "line"},
 "methods": [{"name": "tell", "summary": "tells", "x-duplex": {"from": "host"}, "params": [], "result": {"name": "r", "schema": {"type": "object"}}}]}
END
    printf '\xef\xbb\xbf' >own.json # as some editors begin a file
    cat >>own.json <<'END'
{"$schema": "x", "duplex": 1, "peers": {
  "list": {"command": ["./teller", "a"], "env": {"T_X": "${T_VAR}"}, "cwd": "sub", "protocol": "./mine.openrpc.json",
           "record": "sub/trace.jsonl", "logMax": 1024, "memoryMax": 4e9, "filesMax": 100, "restart": "always"},
  "text": {"command": "python3", "args": ["teller", "b"], "inheritEnv": true},
  "hand": {"command": ["./teller", "asked"], "protocol": "mcp", "init":
           {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "the name", "version": "1"}}}}}
END
    with own.json
    for name in list text hand; do wait_for "$name: ready" err; done
    [[ $(said list) == '{"argv": ["a"], "cwd": "'"$work"'/sub", "env": {"T_X": "var"}}' ]] || complain "own: $(said list)"
    said text | grep -q '"argv": \["b"\].*"T_VAR": "var"' || complain "own: $(said text)"
    pid=$(timeout 10 "$duplex" ps | awk '$1 == "list" { print $3 }')
    grep -q 'Max open files *100 ' "/proc/$pid/limits" || complain "own: filesMax"
    grep -q 'Max address space *4000000000 ' "/proc/$pid/limits" || complain "own: memoryMax"
    timeout 10 "$duplex" logs hand | grep -q 'the name' || complain "own: init: $(timeout 10 "$duplex" logs hand)"
    without 0
    grep -q '"peer":"list".*"method":"tell"' sub/trace.jsonl || complain "own: record: $(cat sub/trace.jsonl)"
}

F96_wrong_files
F96_wrong_types
F96_wrong_names
F96_variables
F96_words
F95_only_what_was_named
F95_shows_what_it_runs
F95_pins_the_sum
json
F96_no_shell
F96_one_bad_entry
mcp_formats
own_format
((count >= 25)) || complain "only $count wrong files"
exit $failed
