"""A runner that does what it is told, for the tests of the manager: runner.py start --project-path=DIR --env-name=ENV.

DIR/ENV.spec is a dict of Python's that says how it differs from a good one; DIR/ENV.trace gets a line of JSON for each
start ("start", with the process and its environment) and for each message that comes ("null": its params are null,
not absent).

  tcp         False: by its pipes; else how the port is told: the text before "Serving on"
  revision    "seed" or "real": the form of the answers ("real" by TCP)
  before      lines on standard output before the port; errors: lines on standard error
  after       lines on standard output after the port
  shut        standard output is closed after that
  sleep       seconds before the port
  leave       an exit code, before the port
  port        another text than that of the port
  debug       a port that is told first (by pipes: on standard error); goes on when DIR/ENV.attached is there
  last        it exits with 5 behind the answer to this method
  answers     by method: {"result": …}, {"error": …}, "mute", "close" (and live on), "die" (by SIGKILL), an exit code
  ignore      of "exit", "end" (of its input), "term"
  then        specs of the following starts
"""
import ast
import json
import os
import signal
import socket
import sys
import time

sys.dont_write_bytecode = True
WORDS = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:])
FOLDER, ENV = WORDS["project-path"], WORDS["env-name"]


def path(suffix):
    return os.path.join(FOLDER, f"{ENV}.{suffix}")


def read_spec():
    """The one whose turn it is."""
    try:
        with open(path("spec"), encoding="utf-8") as file:
            spec = ast.literal_eval(file.read())
    except FileNotFoundError:
        spec = {}
    try:
        with open(path("trace"), encoding="utf-8") as file:
            starts = sum('"start"' in line for line in file)
    except FileNotFoundError:
        starts = 0
    then = spec.pop("then", [])
    return spec if starts == 0 or not then else then[min(starts, len(then)) - 1]


def trace(what, params=None, **more):
    with open(path("trace"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"method": what, "params": params} | more) + "\n")


class Stream:
    def __init__(self, spec):
        self.spec = spec
        self.socket = None
        self.input, self.output = sys.stdin.buffer, sys.stdout.buffer

    def debug(self, file):
        print(f"Debug session: 127.0.0.1:{self.spec['debug']}", file=file, flush=True)
        while not os.path.exists(path("attached")):
            time.sleep(0.02)

    def listen(self):
        spec = self.spec
        server = socket.create_server(("127.0.0.1", 0))
        for line in spec.get("before", []):
            print(line, flush=True)
        if "debug" in spec:
            self.debug(sys.stdout)
        time.sleep(spec.get("sleep", 0))
        if "leave" in spec:
            sys.exit(spec["leave"])
        print(spec.get("port", f"{spec['tcp']}Serving on ('127.0.0.1', {server.getsockname()[1]})"), flush=True)
        self.socket, _ = server.accept()
        server.close()
        self.input = self.output = self.socket.makefile("rwb")
        for line in spec.get("after", []):
            print(line, flush=True)
        if "shut" in spec:
            os.close(1)

    def read(self):
        length = None
        while (line := self.input.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.input.read(length)) if length is not None else None

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.output.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.output.flush()

    def close(self):
        """And lives on."""
        if self.socket:
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()
        else:
            os.close(1)
        while True:
            time.sleep(1)


def meta(config, real):
    """What a good one says of all actions."""
    entries = {}
    for action in config.get("actions", []):
        entry = {"canonical_source": "canonical." + action["source"], "runs_concurrently": False}
        if real:
            entry |= {"scope": "project", "parentActionSource": None, "language": None, "fileLoc": "a.py:1"}
        entries[action["source"]] = entry
    return {"actions": entries, "handlerLocations": {}} if real else entries


def usual(method, params, state):
    if method == "initialize":
        return {"capabilities": {"textDocumentSync": 1}}
    if method == "finecodeRunner/getInfo":
        return {"logFilePath": path("log")}
    if method == "finecodeRunner/updateConfig":
        state["config"] = params["config"]
        return {}
    if method == "finecodeRunner/resolveActionMeta":
        return meta(state.get("config", {}), state["real"])
    if method == "packages/resolvePath":
        return {"packagePath": os.path.join(FOLDER, "presets", params["packageName"])}
    if method == "actions/run":
        value = {"json": {"pid": os.getpid()}}
        if state["real"]:
            return {"status": "success", "resultByFormat": value, "returnCode": 0}
        return {"status": "success", "result_by_format": json.dumps(value), "return_code": 0}
    return None if method == "shutdown" else {}


def answer(stream, message, state):
    method, number = message["method"], message["id"]
    what = stream.spec.get("answers", {}).get(method, {"result": None})
    if method not in stream.spec.get("answers", {}):
        what = {"result": usual(method, message.get("params"), state)}
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "close":
        stream.close()
    elif isinstance(what, int):
        sys.stdout.flush()
        os._exit(what)
    elif what != "mute":
        if isinstance(what, list):  # something before it, as it stands
            for more in what[:-1]:
                stream.send(**more)
            what = what[-1]
        stream.send(id=number, **what)
        if method == stream.spec.get("last"):
            os._exit(5)


def main():
    spec = read_spec()
    environment = {name: os.environ.get(name) for name in ("VIRTUAL_ENV", "FINECODE_TEST")}
    trace("start", {"pid": os.getpid(), "group": os.getpgid(0), "cwd": os.getcwd(), "env": environment,
                    "argv": sys.argv[1:]})
    ignore = spec.get("ignore", [])
    if "term" in ignore:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in spec.get("errors", []):
        print(line, file=sys.stderr, flush=True)
    stream = Stream(spec)
    if "tcp" in spec:
        stream.listen()
    elif "leave" in spec:
        sys.exit(spec["leave"])
    elif "debug" in spec:
        stream.debug(sys.stderr)
    state = {"real": spec.get("revision", "real" if "tcp" in spec else "seed") == "real"}
    while (message := stream.read()) is not None:
        if "method" not in message:
            trace("answer", message)
            continue
        is_null = "params" in message and message["params"] is None
        trace(message["method"], message.get("params"), **({"null": True} if is_null else {}))
        if "id" in message:
            answer(stream, message, state)
        elif message["method"] == "exit" and "exit" not in ignore:
            return
    while "end" in ignore:
        time.sleep(1)


main()
