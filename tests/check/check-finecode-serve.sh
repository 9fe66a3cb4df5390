#!/usr/bin/env bash
# duplex finecode serve: when folders have been added, names, unknown actions; log levels; and a
# command in a folder of a project.
# shellcheck source=/dev/null disable=SC2154 # its names
. "$SOURCE/tests/check/finecode-common.bash" || exit 1
export XDG_STATE_HOME=$work/state

cat >client.py <<'END'
import json, socket, sys, time
until = time.monotonic() + 60
port = 0
while not port and time.monotonic() < until:
    try:
        port = int(open("port").read())
    except (OSError, ValueError):
        time.sleep(0.05)
stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb")
def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()
def answer(number):
    while True:
        length = 0
        while (line := stream.readline()).strip():
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message = json.loads(stream.read(length))
        if message.get("id") == number and "method" not in message:
            return message
def ask(number, method, params):
    send(id=number, method=method, params=params)
    return answer(number)
work = sys.argv[1]
ask(0, "client/initialize", {"clientId": "check"})
exec(sys.stdin.read())
END

# serve OPTION...: the client's part comes from the standard input.
serve() {
    local code=0
    timeout 100 "$finecode" serve --port-file port --disconnect-timeout 3s "$@" >out 2>err </dev/null &
    host=$!
    timeout 90 python3 client.py "$work" || complain "the client failed: $(cat err)"
    wait "$host" || code=$?
    host=
    ((code == 0)) || complain "serve: code $code; $(cat out err)"
}

# Runners that are ready at once, late, never (until --initialize-timeout), and not at all.
duplex() { printf '[finecode.er]\nrunner = %s\n[finecode.action.lint]\nsource = "t.Lint"\nhandlers = [{ name = "one", source = "t.one", env = "e" }]\n' "$1"; }
for name in ready late deaf gone; do mkdir -p "added/$name"; done
duplex '"duplex"' >added/ready/finecode.toml
duplex '["./slow"]' >added/late/finecode.toml
# shellcheck disable=SC2016
printf '#!/bin/sh\nsleep 1\nexec "%s" er "$@"\n' "$finecode" >added/late/slow
duplex '["./deaf"]' >added/deaf/finecode.toml
printf '#!/bin/sh\nexec sleep 60\n' >added/deaf/deaf
duplex '["./absent"]' >added/gone/finecode.toml
chmod +x added/late/slow added/deaf/deaf
for name in ready late; do
    printf '[[action]]\nsource = "t.Lint"\n[[handler]]\nsource = "t.one"\ncommand = ["sh", "-c", "echo loud >&2; echo {}"]\n' >"added/$name/finecode-handlers.toml"
done
printf '[project]\nname = "its-name"\n' >added/late/pyproject.toml
serve --initialize-timeout 3s <<'END'
projects = ask(1, "workspace/addDir", {"dirPath": work + "/added"})["result"]["projects"]
assert sorted(one["name"] for one in projects) == ["deaf", "gone", "its-name", "ready"], projects
states = {one["readableId"]: one["status"] for one in ask(2, "runners/list", {})["result"]["runners"]}
assert states["e@ready"] == "RUNNING" and states["e@its-name"] == "RUNNING", states
assert states["e@deaf"] not in ("INITIALIZING", "RUNNING") and states["e@gone"] not in ("INITIALIZING", "RUNNING"), states
# Nothing has to be waited for any more.
assert len(ask(3, "workspace/addDir", {"dirPath": work + "/added", "startRunners": False})["result"]["projects"]) == 4
run = {"project": work + "/added/ready", "params": {}, "options": {}}
assert ask(4, "actions/run", {"actionSource": "t.Lint", **run})["result"]["returnCode"] == 0
for name in ("nothing", "no.such.Action"):
    error = ask(5, "actions/run", {"actionSource": name, **run})["error"]
    assert error["code"] == -32602 and "unknown action '" + name + "'" in error["message"], error
assert ask(6, "actions/run", {"actionSource": "lint", **run, "project": "its-name"})["result"]["returnCode"] == 0
END
# A client that does not want to wait that long.
serve --initialize-timeout 60s <<'END'
send(id=1, method="workspace/addDir", params={"dirPath": work + "/added"})
time.sleep(0.3)
send(method="$/cancelRequest", params={"id": 1})
assert answer(1)["error"]["code"] == -32800
assert len(ask(2, "workspace/listProjects", {})["result"]["projects"]) == 4
send(id=3, method="workspace/addDir", params={"dirPath": work + "/added"})
END

# What runners log is shown from the level on that is asked for, also as JSON.
for options in "" "--json"; do
    expect 0 '' '' -w added/ready run lint $options
    lacks out loud
    lacks err loud
    expect 0 '' '' -w added/ready run lint $options --log-level WARNING
    lacks out loud
    lacks err loud
done
expect 0 '' 'INFO    ready/e: t.one: loud' -w added/ready run lint --log-level INFO
expect 0 '' '' -w added/ready --json run lint --log-level INFO
events '[(one["level"], one["group"], one["text"], one["env"]) for one in of("log")] == [("INFO", "t.one", "loud", "e")] and not of("stderr")'

# In a folder of a project, a command is about that project, and not about others near it.
mkdir -p above/one/src/deep above/one/sub above/two home/src
for name in above/one above/one/sub above/two home; do
    cp added/ready/finecode-handlers.toml "$name"
    duplex '"duplex"' >"$name/finecode.toml"
done
inside() {
    local code=$1 text=$2 got=0
    (cd "$3" && timeout 20 "$finecode" run lint) >out 2>err </dev/null || got=$?
    if ((got != code)) || ! grep -qF -- "$text" err; then complain "in $3: code $got, $(cat out err)"; fi
}
inside 0 'done      one: lint' above/one/src/deep
lacks err sub:
has err '1 project: 1 done'
inside 0 '2 projects: 2 done' above/one
mkdir aside
inside 2 "no FineCode project" aside
HOME=$work/home inside 2 'no FineCode project' home/src
HOME=$work/home/src inside 2 'no FineCode project' home/src
inside 0 'done      home: lint' home/src
rm home/finecode.toml
printf '[project]\nname = "a"\n' >home/pyproject.toml
inside 2 'no FineCode project' home/src
printf '[tool.finecode.er]\nrunner = "duplex"\n[tool.finecode.action.lint]\nsource = "t.Lint"\nhandlers = [{ name = "one", source = "t.one", env = "e" }]\n' >>home/pyproject.toml
inside 0 'done      a: lint' home/src
(cd above/one/src && "$finecode" list) >out 2>err || complain "list: $(cat err)"
has out "$work/above/one"
expect 2 '' 'no FineCode project' -w above/one/src run lint
exit "$failed"
