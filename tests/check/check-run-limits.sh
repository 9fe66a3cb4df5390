#!/usr/bin/env bash
# The limits of a run's socket, and what it does with nonsense: one client after the other, on one run.
# shellcheck source=/dev/null disable=SC2154 # it sets work, duplex, run and failed
. "$SOURCE/tests/check/run-common.bash"
socket=$work/s.sock

echo "{\"duplex\": 1, \"peers\": {\"echo\": {\"command\": [\"$BUILD/examples/echo\", \"line\"]},
    \"slow\": {\"command\": [\"$BUILD/tests/children/slow\", \"300\"]},
    \"silent\": {\"command\": [\"$BUILD/tests/children/silent\"]}}}" >peers.json
timeout 60 "$duplex" run --config peers.json --socket s.sock 2>err </dev/null &
run=$!
for _ in $(seq 160); do
    (($(grep -c ': ready' err) == 3)) && break
    sleep 0.05
done

# 64 ask, the 65th is told that it is one too many; when one goes, there is room. Who says nothing does not count.
timeout 15 python3 - "$socket" "$duplex" <<'END' || complain "clients"
import subprocess, sys
from speak import *
silent = [connect(sys.argv[1]) for i in range(10)]
all = [connect(sys.argv[1]) for i in range(64)]
for each in all:
    send(each, request(1, "ps"))
    assert b'"peers"' in each.recv(65536)
one = connect(sys.argv[1])
send(one, request(1, "ps"))
text = one.recv(4096)
assert b"too many clients are connected" in text, text
assert one.recv(4096) == b""
ps = subprocess.run([sys.argv[2], "ps", "--socket", sys.argv[1]], capture_output=True, text=True)
assert ps.returncode == 3 and "duplex ps: cannot talk to the run: too many clients are connected" in ps.stderr, ps
all.pop().close()
time.sleep(0.2)
ps = subprocess.run([sys.argv[2], "ps", "--socket", sys.argv[1]], capture_output=True, text=True)
assert ps.returncode == 0, ps
END
# 1,000 calls of one, and not one more; the others do not suffer, and when he goes, so do they.
timeout 15 python3 - "$socket" <<'END' || complain "pending"
import sys
from speak import *
s, other = connect(sys.argv[1]), connect(sys.argv[1])
send(s, *(request(i, "call", name="silent", method="x") for i in range(1, 1002)))
line = json.loads(s.makefile().readline())
assert line["id"] == 1001 and line["error"]["code"] == -32000, line
send(other, request(1, "call", name="echo", method="echo", params=[1]))
assert json.loads(other.makefile().readline())["result"] == [1]
END
# Whatever is said, it is answered, and the run lives.
timeout 15 python3 - "$socket" <<'END' || complain "nonsense"
import sys
from speak import *
s = connect(sys.argv[1])
lines = s.makefile()
def ask(message):
    send(s, message)
    return json.loads(next(lines))["error"]
def code(verb, /, **params):
    return ask(request(1, verb, **params))["code"]
assert code("nix") == -32601
assert code("call") == 2 and code("call", name=1, method="x") == 2 and code("call", name="echo") == 2
assert code("call", name="echo", method="a\0b") == 2
assert code("call", name="echo", method="x", params=1) == 2
assert code("call", name="echo", method="x", timeoutMs=-1) == 2 and code("call", name="echo", method="x", timeoutMs=0) == 2
assert code("logs", **{"from": "x"}) == 2 and code("logs", last=-1) == 2 and code("logs", name=[]) == 2
assert code("restart", name=None) == 2 and code("stop", names=[]) == 2 and code("start") == 2 and code("notify", name="echo") == 2
for method in ("ps", "logs", "call", "restart", "stop", "start", "notify"):
    send(s, {"jsonrpc": "2.0", "id": 2, "method": method, "params": [1]}, {"jsonrpc": "2.0", "method": method})
    assert json.loads(next(lines))["id"] == 2
send(s, request(3, "stop", name="echo"), request(4, "start", name="echo"))
got = sorted(json.loads(next(lines))["id"] for i in range(2))
assert got == [3, 4], got
send(s, request(5, "call", name="echo", method="echo", params=[5]))
assert json.loads(next(lines)) == {"jsonrpc": "2.0", "id": 5, "result": [5]}
s.sendall(b"{\n[\xff\xfe]\n")
send(s, request(6, "logs"))
answer = json.loads(next(lines))
while answer["id"] is None:
    answer = json.loads(next(lines))
assert answer["id"] == 6, answer
# Text that is no message ends a connection.
s.sendall(b"no json\n" + json.dumps(request(7, "ps")).encode() + b"\n")
try:
    assert [each for each in lines if json.loads(each).get("id") == 7] == []
except ConnectionError:
    pass  # closed before all was read
END
# Who does not read is cut off.
timeout 18 python3 - "$socket" <<'END' || complain "unread"
import sys
from speak import *
s = connect(sys.argv[1])
s.setblocking(False)
sent, start = b"".join(json.dumps(request(i, "ps")).encode() + b"\n" for i in range(1, 500)), time.time()
cut = False
while not cut and time.time() - start < 15:
    try:
        s.send(sent)
    except BlockingIOError:
        time.sleep(0.1)
    except (BrokenPipeError, ConnectionResetError):
        cut = True
assert cut and time.time() - start > 3, time.time() - start
END
[[ $(timeout 10 "$duplex" call --socket s.sock --in echo echo '[1]') == '[1]' ]] || complain "the run does not answer"
timeout 10 "$duplex" down --socket s.sock || complain "down: $?"
code=0
wait "$run" || code=$?
run=
((code == 0)) || complain "the run ended with $code"
exit "$failed"
