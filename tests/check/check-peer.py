#!/usr/bin/env python3
"""check-peer.py MODE [header]: a peer that keeps MCP (or with lsp- in the mode LSP) but for one thing."""
import json
import os
import re
import select
import subprocess
import sys
import threading
import time

mode = sys.argv[1]
header = "header" in sys.argv[2:]
lsp = mode.startswith("lsp-")
seen = {"initialized": False, "early": False, "open": set()}


def write(data):
    if mode == "slow" and len(data) < 100000:
        try:
            os.write(1, data)
        except BlockingIOError:
            pass  # what nobody reads is lost
        return
    while data:
        data = data[os.write(1, data) :]


def say(message):
    text = json.dumps(message).encode()
    if header and mode == "header-syntax":
        write(b"Content-Length: %d\r\nX-Peer: \x01\r\n\r\n" % len(text) + text)
    elif header:
        write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
    else:
        write(text + b"\n")


def refuse(request_id, code):
    error = {"jsonrpc": "2.0", "error": {"code": code, "message": "no"}}
    if request_id is not None or lsp:
        error["id"] = request_id
    say(error)


def result(request_id, value):
    say({"jsonrpc": "2.0", "id": request_id, "result": value})


def progress(token, number):
    say({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": number}})


def work(token, *kinds):
    for kind in kinds:
        value = {"kind": kind, "title": "work"} if kind == "begin" else {"kind": kind}
        say({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": token, "value": value}})


def initialize(request_id):
    if mode == "after-early" and seen["early"]:
        return
    if mode == "state-early":
        say({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    if lsp:
        result(request_id, {"capabilities": {}})
    else:
        result(request_id, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "peer", "version": "1"}})
    seen["initialized"] = True
    if mode == "killed":
        subprocess.Popen(["sleep", "20"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if mode == "lsp-token":
        work("nobody's", "begin", "end")
    if mode in ("lsp-progress", "lsp-progress-order"):
        say({"jsonrpc": "2.0", "id": 7, "method": "window/workDoneProgress/create", "params": {"token": "own"}})
        work("own", *(("report", "end") if mode == "lsp-progress-order" else ("begin", "report", "end")))
    sent = {
        "null-id": {"jsonrpc": "2.0", "error": {"code": -32600, "message": "why?"}},
        "method-side": {"jsonrpc": "2.0", "id": 7, "method": "tools/list"},
        "method-kind": {"jsonrpc": "2.0", "id": 7, "method": "notifications/message", "params": {"level": "info", "data": 1}},
        "method-type": {"jsonrpc": "2.0", "id": 7, "method": 5},
        "schema-params": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": 5, "data": 1}},
        "params-array": {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 3},
    }.get(mode)
    if sent:
        say(sent)


def finish(request_id):
    time.sleep(1.6)
    result(request_id, {"content": []})


def serve(message, raw):
    if not isinstance(message, dict) or ("method" not in message and "result" not in message and "error" not in message):
        if mode in ("not-one", "batch-dies") and not (mode == "batch-dies" and not message):
            sys.exit(1)
        if mode == "batch-empty-dies" and message == []:
            sys.exit(1)
        refuse(None, -32600)
        return
    request_id = message.get("id")
    if "method" not in message:
        if mode == "response":
            refuse(request_id, -32600)
        return
    method = message["method"]
    params = message.get("params")
    if request_id is None:
        if method == ("$/cancelRequest" if lsp else "notifications/cancelled") and mode == "cancel-unknown":
            refuse(None, -32600)
        if method == "exit" and mode == "lsp-last-words":
            say({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"type": 3, "message": "bye"}})
        if method == "exit":
            sys.exit(3 if mode == "lsp-code" else 0)
        return
    if method == "initialize":
        initialize(request_id)
        return
    if not seen["initialized"] and method != "ping":
        seen["early"] = True
        if mode == "lsp-early":
            result(request_id, None)
            return
        refuse(request_id, -32000 if mode == "lsp-early-code" else -32002 if lsp else -32600)
        return
    if mode == "large-id" and isinstance(request_id, int):
        request_id = int(float(request_id))
    if mode == "fraction" and isinstance(request_id, float):
        return
    if mode == "duplicate" and request_id in seen["open"]:
        sys.exit(1)
    if isinstance(request_id, str):
        seen["open"].add(request_id)
    if mode == "names" and hasattr({}, method):
        sys.exit(1)
    if mode == "names-taken" and method == "constructor":
        result(request_id, {})
        return
    if method == "tools/call":
        threading.Thread(target=finish, args=(request_id,), daemon=True).start()
        return
    token = params.get("_meta", {}).get("progressToken") if isinstance(params, dict) else None
    if token is not None and method == "tools/list":
        numbers = {"progress-order": (1, 1), "progress-late": (1, 2)}.get(mode, (1, 2, 3.5))
        for number in numbers[: 1 if mode == "progress-late" else 3]:
            progress(token, number)
        result(request_id, {"tools": []})
        if mode == "progress-late":
            progress(token, 2)
        return
    if isinstance(params, str):
        if mode != "params-type":
            refuse(request_id, -32602)
    elif method == "ping" or method == "shutdown":
        if mode != "lsp-stop":
            result(request_id, None if lsp else {})
    elif method == "resources/read" and mode != "lean" and not (isinstance(params, dict) and "uri" in params):
        refuse(request_id, -32603 if mode == "params-code" else -32602)
    else:
        refuse(request_id, -32601)


def take(raw):
    if mode == "large" and len(raw) > 65536:
        sys.exit(1)
    if mode == "large-lost" and len(raw) > 65536:
        return
    if mode == "space" and not re.match(rb'\{"jsonrpc":"2\.0"', raw):
        return
    try:
        message = json.loads(raw)
    except RecursionError:
        if mode == "deep":
            sys.exit(1)
        refuse(None, -32700)
        return
    except ValueError:
        if mode == "invalid":
            sys.exit(1)
        refuse(None, -32600 if mode == "invalid-code" else -32700)
        return
    serve(message, raw)


def frames():
    """The whole messages of what came, and what is left of it."""
    global pending
    while True:
        if not header:
            line, newline, rest = pending.partition(b"\n")
            if not newline:
                return
            pending = rest
            if line.strip():
                yield line
            elif mode == "line-ends":
                sys.exit(1)
            continue
        head, blank, rest = pending.partition(b"\r\n\r\n")
        if not blank:
            return
        exact = {
            "header-case": rb"Content-Length: (\d+)",
            "header-blanks": rb"(?i)content-length: (\d+)",
        }.get(mode, rb"(?i)content-length:\s*(\d+)\s*")
        lines = head.split(b"\r\n")
        if mode == "header-extra":
            lines = [head]
        found = [match for match in (re.fullmatch(exact, line) for line in lines) if match]
        if not found:
            pending = b""
            return
        size = int(found[0].group(1))
        if len(rest) < size:
            return
        pending = rest[size:]
        yield rest[:size]


pending = b""
if mode == "slow":
    os.set_blocking(1, False)
while True:
    chunk = os.read(0, 1 << 16)
    if not chunk:
        break
    if mode == "pieces" and len(chunk) < 3:
        continue
    if mode == "characters":
        chunk = chunk.decode(errors="replace").encode()
    pending += chunk
    if mode == "lsp-cancel" and select.select([0], [], [], 0.05)[0]:
        pending += os.read(0, 1 << 16)
    while mode == "many" and select.select([0], [], [], 0.05)[0] and (more := os.read(0, 1 << 16)):
        pending += more
    whole = list(frames())
    for number, raw in enumerate(whole):
        if mode == "together" and number > 1:
            continue
        if mode == "lsp-cancel" and any(b'"$/cancelRequest"' in other for other in whole[number:]):
            continue
        if mode == "many" and number > 20:
            continue
        take(raw)
if mode == "eof-quiet":
    say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "bye"}})
