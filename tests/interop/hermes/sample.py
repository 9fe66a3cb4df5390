#!/usr/bin/env python3
"""An extension around the reader and the writer that the protocol document shows for Python, with two corrections,
which are marked: bytes are counted, not characters, and the end of the input is an end."""

# --- The document's sample. -------------------------------------------------------------------
import sys
import json

def read_message():
    # read header
    header = ""
    while True:
        line = sys.stdin.buffer.readline().decode()  # corrected: sys.stdin.readline()
        if line == "\r\n":
            break
        if line == "":  # corrected: the sample goes on forever
            sys.exit(0)
        header += line

    # parse content length
    content_length = 0
    for line in header.split("\r\n"):
        if line.startswith("Content-Length:"):
            content_length = int(line.split(":")[1].strip())

    # read content
    content = sys.stdin.buffer.read(content_length)  # corrected: sys.stdin.read(content_length)
    return json.loads(content)

def write_message(msg):
    content = json.dumps(msg)
    content_bytes = content.encode("utf-8")
    header = f"Content-Length: {len(content_bytes)}\r\n\r\n"
    sys.stdout.write(header)
    sys.stdout.write(content)
    sys.stdout.flush()
# --- The end of it. ---------------------------------------------------------------------------


def ask(request_id, method, params):
    write_message({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    while True:  # the document's loop: what is not the answer is handled here
        msg = read_message()
        if ("result" in msg or "error" in msg) and msg["id"] == request_id:
            return msg["result"]
        handle(msg)


def name():
    message = json.loads(ask(1, "editor/getMessage", {"format": "json"})["message"])
    fields = next(one["fields"] for one in message["segments"] if one["segment"] == "PID")
    value = fields["5"]["1"].upper()
    ask(2, "editor/patchMessage", {"patches": [{"path": "PID.5.1", "value": value}]})


def handle(msg):
    if msg.get("method") == "initialize":
        result = {"name": "sample", "version": "1.0.0", "capabilities": {"commands": ["sample/name"]}}
        write_message({"jsonrpc": "2.0", "id": msg["id"], "result": result})
    elif msg.get("method") == "command/execute":
        name()
    elif msg.get("method") == "shutdown":
        write_message({"jsonrpc": "2.0", "id": msg["id"], "result": {"success": True}})


while True:
    handle(read_message())
