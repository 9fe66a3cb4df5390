"""mcp-server.py [FLAG...]: an MCP server on the standard input and output that can do everything, also
what it should not. In the legacy era unless `modern` is among its flags:
  silent, refuse, exit, kill   what comes of initialize: nothing, an error, the end of the server
  older, oldest                an error that names the revisions spoken: one of ours, none of ours
  old, unfit                   an unknown revision, a result that does not fit
  header                       answers in the other framing
  noise                        writes other lines to its standard output
  bare                         offers nothing at all
  loop                         hands out the same cursor again and again
  ticks                        changes something every 50 ms
  slow                         answers a ping after 300 ms
  stubborn                     stays when it is asked to leave
  partial                      has resources, but does not know of templates
  listen=PATH                  serves who connects to that socket, each in a process of its own
What the client says that matters goes to the standard error: "cancelled …"."""

import json
import os
import signal
import socket
import sys
import threading
import time

flags = sys.argv[1:]
modern = "modern" in flags
lock = threading.Lock()
answers = {}
cancelled = {}
subscribed = set()
listening = []
tasks = {}
client = {}

SCHEMA = {"type": "object", "properties": {}}
COLOURS = {"type": "string", "enum": ["red", "green"], "default": "green"}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Who it is for", "minLength": 2},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "window": {"type": "boolean"},
        "colour": COLOURS,
    },
    "required": ["name"],
}


def tool(name, text="", properties=None, required=None, **more):
    schema = dict(SCHEMA, properties=properties or {})
    if required:
        schema["required"] = required
    return dict({"name": name, "description": text, "inputSchema": schema}, **more)


TOOLS = [
    tool("echo", "Says what it is told.", {"message": {"type": "string", "description": "What to say"}}, ["message"],
         title="Echo Tool", annotations={"readOnlyHint": True}),
    tool("add", "Adds two numbers. " + "It has a long description that goes on and on. " * 3,
         {"a": {"type": "number", "minimum": 0, "maximum": 100}, "b": {"type": "number", "default": 40}}, ["a"]),
    tool("paint", "", {"colour": COLOURS, "at": {"type": "object", "properties": {"x": {"type": "integer"}}},
                       "tags": {"type": "array", "items": {"type": "string"}}}),
    tool("job", "Takes some time.", {"ms": {"type": "integer"}}, execution={"taskSupport": "optional"}),
    tool("steer", "Its name is \x1b[31mred\x1b[0m."),
] + [tool(name) for name in (
    "fail", "error", "image", "many", "structured", "ask", "page", "model", "roots", "log", "die", "unfit", "env",
    "mute", "giveup", "change", "both", "wait", "withdraw", "twice", "tags", "file")]
RESOURCES = [
    {"uri": "test://text", "name": "text", "mimeType": "text/plain", "size": 12},
    {"uri": "test://blob", "name": "blob", "title": "A blob", "mimeType": "image/png"},
    {"uri": "test://two", "name": "two"},
]
TEMPLATES = [{"uriTemplate": "test://item/{id}", "name": "items", "description": "Any item"}]
PROMPTS = [
    {"name": "greet", "description": "Greets somebody", "arguments": [
        {"name": "who", "description": "Whom", "required": True}, {"name": "how"}]},
    {"name": "plain"},
]


def send(message):
    text = json.dumps(dict({"jsonrpc": "2.0"}, **message))
    with lock:
        if "header" in flags:
            sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}")
        else:
            sys.stdout.write(text + "\n")
        sys.stdout.flush()


def notify(method, params=None):
    send({"method": method, "params": params or {}})


def reply(ident, result):
    if modern:
        result = dict({"resultType": "complete"}, **result)
    send({"id": ident, "result": result})


def refuse(ident, code, message, data=None):
    send({"id": ident, "error": dict({"code": code, "message": message}, **({"data": data} if data else {}))})


class Refusal(Exception):
    pass


class InputRequired(Exception):
    pass


counter = [0]


def ask(request, method, params):
    """The client's answer: in the modern era the request comes again with it."""
    if modern:
        given = request["params"].get("inputResponses")
        if given is None:
            raise InputRequired({"one": {"method": method, "params": params}})
        return {"result": given["one"]}
    with lock:
        counter[0] += 1
        ident = counter[0]
    ready = threading.Event()
    answers[ident] = [ready, None]
    send({"id": ident, "method": method, "params": params})
    if request["params"]["name"] == "withdraw":
        time.sleep(0.3)
        notify("notifications/cancelled", {"requestId": ident, "reason": "no longer needed"})
        return {"result": "withdrawn"}
    ready.wait()
    return answers[ident][1]


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def progress(request, done, total, message):
    token = request["params"].get("_meta", {}).get("progressToken")
    if token is not None:
        notify("notifications/progress", {"progressToken": token, "progress": done, "total": total, "message": message})


def wait(request, ms):
    steps = 5
    for step in range(steps):
        progress(request, step + 1, steps, f"step {step + 1}")
        if cancelled[request["id"]].wait(ms / 1000 / steps):
            return None
    return text("waited")


def log(request, level, data):
    if modern and "io.modelcontextprotocol/logLevel" not in request["params"]["_meta"]:
        return
    notify("notifications/message", {"level": level, "logger": "test", "data": data})


def many():
    return {"content": [
        {"type": "text", "text": "first\nsecond"},
        {"type": "audio", "data": "QUJDRA==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "test://in", "mimeType": "text/plain", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "test://bytes", "blob": "QUJD"}},
        {"type": "resource_link", "uri": "test://text", "name": "text", "mimeType": "text/plain", "size": 2048,
         "description": "where it is"},
    ]}


def environment():
    return text("\n".join([f"cwd={os.getcwd()}", "argv=" + " ".join(flags)] +
                          [f"{key}={value}" for key, value in sorted(os.environ.items())]))


def call(request):
    name = request["params"]["name"]
    arguments = request["params"].get("arguments", {})
    if name == "echo":
        return text(arguments["message"]) if "message" in arguments else dict(text("message is required"), isError=True)
    if name == "add":
        return text(str(arguments["a"] + arguments.get("b", 40)))
    if name == "fail":
        return dict(text("it went\nwrong \x1b[31m"), isError=True)
    if name == "error":
        raise Refusal(-32603, "inside it \x1b broke", {"why": 7})
    if name == "image":
        return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}
    if name == "many":
        return many()
    if name == "structured":
        return {"content": [], "structuredContent": {"sum": 42}}
    if name == "steer":
        return text("\x1b]0;owned\x07 and \u009b2J")
    if name in ("ask", "withdraw"):
        return text(json.dumps(ask(request, "elicitation/create", {"message": "A ticket?", "requestedSchema": FORM})))
    if name == "tags":
        schema = {"type": "object", "properties": {
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a b", "c", "d"]}}}}
        return text(json.dumps(ask(request, "elicitation/create", {"message": "Which?", "requestedSchema": schema})))
    if name == "twice":
        asked = [ask(request, "elicitation/create", {"message": "A ticket?", "requestedSchema": FORM})
                 for _ in range(3)]
        return text(" ".join(one["result"]["content"]["name"] for one in asked))
    if name == "file":
        return text(json.dumps(ask(request, "elicitation/create", {
            "mode": "url", "message": "Look", "url": "file:///etc/passwd", "elicitationId": "e2"})))
    if name == "page":
        params = {"mode": "url", "message": "Sign in", "url": "https://example.com/in?a=1"}
        if not modern:
            params["elicitationId"] = "e1"
        got = ask(request, "elicitation/create", params)
        if not modern:
            notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        return text(json.dumps(got))
    if name == "model":
        params = {"messages": [{"role": "user", "content": {"type": "text", "text": "How many?"}}], "maxTokens": 10}
        return text(json.dumps(ask(request, "sampling/createMessage", params)))
    if name == "roots":
        return text(json.dumps(ask(request, "roots/list", {})))
    if name == "log":
        log(request, "info", "about it")
        log(request, "error", {"deep": 1})
        return text("logged")
    if name == "die":
        sys.stderr.write("my last words\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "unfit":
        return {"content": 5}
    if name == "env":
        return environment()
    if name in ("wait", "job"):
        return wait(request, arguments.get("ms", 2000))
    if name == "change":
        return change()
    raise Refusal(-32602, f"Unknown tool: {name}")


def change():
    for kind in ("tools", "prompts", "resources"):
        tell(f"notifications/{kind}/list_changed", {})
    for uri in sorted(subscribed):
        tell("notifications/resources/updated", {"uri": uri})
    log({"params": {"_meta": {}}}, "warning", "something changed")
    return text("changed")


def tell(method, params):
    if not modern:
        notify(method, params)
    for ident in listening if modern else []:
        notify(method, dict(params, _meta={"io.modelcontextprotocol/subscriptionId": ident}))


def page(request, key, items):
    cursor = request.get("params", {}).get("cursor", "0")
    if "loop" in flags:
        return dict({key: items[:1]}, nextCursor="again", **CACHE)
    at = int(cursor)
    result = {key: items[at:at + 2]}
    if at + 2 < len(items):
        result["nextCursor"] = str(at + 2)
    return dict(result, **CACHE)


CACHE = {"ttlMs": 0, "cacheScope": "private"} if modern else {}


def read(uri):
    if uri == "test://text":
        return [{"uri": uri, "mimeType": "text/plain", "text": "Hello\nworld\n"}]
    if uri == "test://blob":
        return [{"uri": uri, "mimeType": "image/png", "blob": "iVBORw0KGgo="}]
    if uri == "test://two":
        return [{"uri": "test://two/a", "text": "A"}, {"uri": "test://two/b", "text": "B"}]
    raise Refusal(-32602 if modern else -32002, "Resource not found", {"uri": uri})


def prompt(params):
    arguments = params.get("arguments", {})
    if params["name"] == "plain":
        return {"messages": [{"role": "user", "content": {"type": "text", "text": "plain"}}]}
    if params["name"] != "greet":
        raise Refusal(-32602, "no such prompt")
    if "who" not in arguments:
        raise Refusal(-32602, "who is missing")
    return {"description": "A greeting", "messages": [
        {"role": "user", "content": {"type": "text", "text": "Greet " + arguments["who"]}},
        {"role": "assistant", "content": {"type": "image", "data": "QUJD", "mimeType": "image/png"}}]}


def complete(params):
    argument = params["argument"]
    known = [argument["name"], params["ref"].get("name") or params["ref"].get("uri"), "alpha", "beta"]
    known += [f"{key}-{value}" for key, value in params.get("context", {}).get("arguments", {}).items()]
    values = [value for value in known if value.startswith(argument["value"])]
    return {"completion": {"values": values, "total": 9, "hasMore": argument["value"] == ""}}


def capabilities():
    if "bare" in flags:
        return {}
    found = {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True},
             "prompts": {"listChanged": True}, "completions": {}, "logging": {}}
    if not modern:
        found["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    return found


INFO = {"name": "test-server", "version": "1.2", "title": "Test Server"}


def initialize(request):
    params = request["params"]
    client.update(params)
    if "refuse" in flags:
        raise Refusal(-32602, "not with you", {"licence": "none"})
    if "older" in flags and params["protocolVersion"] != "2024-11-05":
        raise Refusal(-32602, "not with that", {"supported": ["2024-11-05", "1999-01-01"]})
    if "oldest" in flags:
        raise Refusal(-32602, "not with that", {"supported": ["1999-01-01"]})
    if "exit" in flags:
        sys.stderr.write("first line\nno licence found\n")
        sys.stderr.flush()
        os._exit(3)
    if "kill" in flags:
        os.kill(os.getpid(), signal.SIGKILL)
    version = "1999-01-01" if "old" in flags else params["protocolVersion"]
    result = {"protocolVersion": version, "capabilities": capabilities(), "serverInfo": INFO,
              "instructions": "Be kind.\nAnd brief."}
    if version in ("2024-11-05", "2025-03-26"):
        result["serverInfo"] = {"name": "test-server", "version": "1.2"}
    if "unfit" in flags:
        result["serverInfo"] = 5
    return result


def task_of(ident, state):
    return {"taskId": ident, "status": state, "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": None, "pollInterval": 50}


def start_task(request):
    ident = f"task-{len(tasks)}"
    row = tasks[ident] = {"state": "working", "result": None, "ready": threading.Event()}

    def work():
        row["result"] = call(request)
        row["state"] = "cancelled" if row["result"] is None else "completed"
        row["ready"].set()
    threading.Thread(target=work, daemon=True).start()
    return {"task": task_of(ident, "working")}


def task_method(request):
    ident = request["params"]["taskId"]
    row = tasks[ident]
    if request["method"] == "tasks/result":
        row["ready"].wait()
        return dict(row["result"], _meta={"io.modelcontextprotocol/related-task": {"taskId": ident}})
    if request["method"] == "tasks/cancel":
        sys.stderr.write("task cancelled\n")
        sys.stderr.flush()
        row["state"] = "cancelled"
    return task_of(ident, row["state"])


def listen(request):
    ident = request["id"]
    asked = request["params"]["notifications"]
    subscribed.update(asked.get("resourceSubscriptions", []))
    listening.append(ident)
    if "ticks" in flags and len(listening) == 1:
        threading.Thread(target=tick, daemon=True).start()
    notify("notifications/subscriptions/acknowledged",
           {"notifications": asked, "_meta": {"io.modelcontextprotocol/subscriptionId": ident}})


def dispatch(request):
    method = request["method"]
    params = request.get("params", {})
    if method == "initialize" and not modern:
        return initialize(request)
    if method == "server/discover" and modern:
        return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities(), "instructions": "Be kind.",
                "ttlMs": 0, "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}
    if method == "ping" and not modern:
        if "slow" in flags:
            time.sleep(0.3)
        return {}
    lists = {"tools/list": ("tools", TOOLS), "resources/list": ("resources", RESOURCES),
             "resources/templates/list": ("resourceTemplates", TEMPLATES), "prompts/list": ("prompts", PROMPTS)}
    if "partial" in flags and method == "resources/templates/list":
        raise Refusal(-32601, "Method not found")
    if method in lists:
        return page(request, *lists[method])
    if method == "tools/call":
        return start_task(request) if "task" in params else call(request)
    if method == "resources/read":
        return dict({"contents": read(params["uri"])}, **CACHE)
    if method in ("resources/subscribe", "resources/unsubscribe") and not modern:
        if not params["uri"].startswith("test:"):
            raise Refusal(-32602, "no such resource")
        (subscribed.add if method.endswith("/subscribe") else subscribed.discard)(params["uri"])
        return {}
    if method == "prompts/get":
        return prompt(params)
    if method == "completion/complete":
        return complete(params)
    if method == "logging/setLevel" and not modern:
        return {}
    if method.startswith("tasks/") and not modern:
        return task_method(request)
    raise Refusal(-32601, "Method not found")


def serve(request):
    try:
        name = request.get("params", {}).get("name")
        if request["method"] == "tools/call" and name == "mute":
            return
        if request["method"] == "tools/call" and name == "both":
            send({"id": request["id"], "result": {}, "error": {"code": 1, "message": "both"}})
            return
        if request["method"] == "tools/call" and name == "giveup":
            notify("notifications/cancelled", {"requestId": request["id"], "reason": "too tired"})
            return
        if request["method"] == "subscriptions/listen":
            listen(request)
            return
        result = dispatch(request)
        if result is not None:
            reply(request["id"], result)
    except Refusal as refusal:
        refuse(request["id"], *refusal.args)
    except InputRequired as needed:
        send({"id": request["id"], "result": {"resultType": "input_required", "inputRequests": needed.args[0],
                                              "requestState": "state"}})


def take(message):
    if "method" not in message:
        row = answers.get(message.get("id"))
        if row:
            row[1] = {key: value for key, value in message.items() if key in ("result", "error")}
            row[0].set()
    elif "id" in message:
        cancelled[message["id"]] = threading.Event()
        if message["method"] in ("initialize", "ping", "server/discover"):
            serve(message)
        else:
            threading.Thread(target=serve, args=(message,), daemon=True).start()
    elif message["method"] == "notifications/cancelled":
        sys.stderr.write("cancelled: " + str(message["params"].get("reason")) + "\n")
        sys.stderr.flush()
        event = cancelled.get(message["params"]["requestId"])
        if event:
            event.set()
    elif message["method"] == "notifications/initialized" and "ticks" in flags:
        threading.Thread(target=tick, daemon=True).start()


def tick():
    while True:
        time.sleep(0.05)
        change()


def listen_at(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            client_socket, _ = listener.accept()
            if os.fork() == 0:
                os.dup2(client_socket.fileno(), 0)
                os.dup2(client_socket.fileno(), 1)
                client_socket.close()
                return
            client_socket.close()


def main():
    for flag in flags:
        if flag.startswith("listen="):
            listen_at(flag[7:])
    if "noise" in flags:
        print("Server is starting up", flush=True)
    for line in sys.stdin:
        if "silent" not in flags:
            take(json.loads(line))
    sys.stdout.flush()
    if "stubborn" in flags:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    os._exit(0)


main()
