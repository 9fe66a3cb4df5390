#!/usr/bin/env bash
# duplex finecode: what is redrawn on a terminal, signals, serving, and that no runner is left behind.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1

project live/one <<'END'
l h1 tcp ms = 300, progress = "half of it"
l h2 b ms = 400
END
project live/two <<<'l h a code = 1, stderr = "not shown"'
# The terminal: steps and progress while it runs; at the end only results and lines that stay.
timeout 20 python3 "$SOURCE/tests/check/finecode-terminal.py" "$finecode" -w live run l >screen
sed '/^end$/,$d' screen >most
sed '1,/^end$/d' screen >last
[[ $(head -2 screen) == $'1\n[]' ]] || complain "$(cat screen)"
for text in 'l 1 of 2 projects' 'half of it' '50%' 'tcp: h1'; do has most "$text"; done
has last $'two:'
for text in running half 'of 2 projects' 'not shown'; do lacks last "$text"; done
has last 'findings  two: l, return code 1, '
has last '2 projects: 1 done, 1 with findings, 0 failed; '
[[ $(tail -n +1 last | grep -c 'project') == 1 ]] || complain "$(cat last)"
NO_COLOR=1 timeout 20 python3 "$SOURCE/tests/check/finecode-terminal.py" "$finecode" -w live run l >screen
lacks screen running

# interrupt SIGNAL ARG...: sent once a handler is at work, or a runner there; `more` signals follow.
interrupt() {
    local signal=$1 got=0 more=${more:-0}
    shift
    : >trace
    "$finecode" "$@" >out 2>err </dev/null &
    host=$!
    for ((i = 0; i < 100; i++)); do
        if grep -qE 'handler|silent initialize' trace; then break; fi
        sleep 0.05
    done
    kill "-$signal" "$host"
    for ((i = 0; i < more; i++)); do
        sleep 0.3
        kill "-$signal" "$host" 2>/dev/null || true
    done
    for ((i = 0; i < 120; i++)); do
        kill -0 "$host" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "$host" 2>/dev/null && complain "$*: it did not end"
    wait "$host" || got=$?
    host=
    ((got == 130)) || complain "$*: code $got after $signal; $(cat out err)"
    gone
}
project wait/p <<'END'
w h a hang = true
x h stays hang = true
y h silent
END
interrupt INT -w wait run w
has err interrupted
has err 'cancelled p: w'
has trace 'p/a cancelled'
has trace 'p/a shutdown'
interrupt TERM -w wait --json run w
events 'all[-1]["error"]["exit"] == 130 and of("summary")[0]["projects"] == 1'
interrupt INT -w wait run y
began=$(date +%s%N)
more=1 interrupt INT -w wait run x
(($(date +%s%N) - began < 4000000000)) || complain "a second signal does not end it at once"
interrupt INT -w wait runners

# A debugger attaches and speaks before anything is said.
"$finecode" -w wait --runner duplex --debug a runners >out 2>err </dev/null &
host=$!
for ((i = 0; i < 100; i++)); do
    if grep -q 'p/a: waiting for a debugger at 127.0.0.1:' err; then break; fi
    sleep 0.05
done
lacks out RUNNING
port=$(sed -n 's/.*waiting for a debugger at 127.0.0.1://p' err)
exec 9<>"/dev/tcp/127.0.0.1/$port" || complain "nobody listens for a debugger"
printf 'Content-Length: 2\r\n\r\n{}' >&9
code=0
wait "$host" || code=$?
host=
exec 9>&-
((code == 0)) || complain "code $code: $(cat out err)"
has out 'RUNNING  p/a  '

# A manager that is killed leaves nobody behind.
: >trace
"$finecode" -w wait run w >out 2>err </dev/null &
host=$!
for ((i = 0; i < 100; i++)); do
    if grep -q handler trace; then break; fi
    sleep 0.05
done
kill -KILL "$host"
wait "$host" 2>/dev/null || true
host=
sleep 0.5
gone

# Serving: clients by TCP, the port in a file, an end by itself and by a signal.
cat >client.py <<'END'
import json, socket, sys, time
for _ in range(1000):
    try:
        port = int(open("port").read())
        break
    except (OSError, ValueError):
        time.sleep(0.05)
stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb")
def ask(number, method, params):
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()
    while True:
        length = 0
        while (line := stream.readline()).strip():
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message = json.loads(stream.read(length))
        if message.get("id") == number and "method" not in message:
            return message
folder = sys.argv[1]
print(json.dumps(ask(1, "client/initialize", {"clientId": "check"})))
print(json.dumps(ask(2, "workspace/addDir", {"dirPath": folder, "startRunners": False})))
print(json.dumps(ask("r", "actions/run", {"actionSource": "t.l", "project": folder + "/two", "params": {},
      "options": {"resultFormats": ["string"], "trigger": "user", "devEnv": "ide"}})))
END
: >trace
timeout 100 "$finecode" serve --port-file port --disconnect-timeout 5s >out 2>err </dev/null &
host=$!
timeout 90 python3 client.py "$work/live" >answers 2>&1 || complain "the client: $(cat answers)"
code=0
wait "$host" || code=$?
host=
((code == 0)) || complain "serve: code $code; $(cat out err)"
grep -q '^127.0.0.1:[0-9][0-9]*$' out || complain "$(cat out)"
grep -q '"returnCode": *1' answers || complain "$(cat answers)"
[[ ! -e port ]] || complain "the port file stays"
gone
expect 0 '{"event":"serving","port":' '' --json serve --disconnect-timeout 100ms
serve_port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$finecode" serve --port "$serve_port" --port-file port2 --disconnect-timeout never >out 2>err </dev/null &
host=$!
for ((i = 0; i < 100; i++)); do
    if [[ -s port2 ]]; then break; fi
    sleep 0.05
done
[[ $(cat port2) == "$serve_port" ]] || complain "port2: $(cat port2)"
expect 3 '' 'cannot start the server: port2 belongs to a running server' serve --port-file port2
expect 3 '' 'cannot start the server: cannot listen on tcp:' serve --port "$serve_port"
kill -TERM "$host"
code=0
wait "$host" || code=$?
host=
((code == 130)) || complain "serve: code $code after TERM"
[[ ! -e port2 ]] || complain "the port file stays after TERM"
exit "$failed"
