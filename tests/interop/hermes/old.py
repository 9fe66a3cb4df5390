#!/usr/bin/env python3
"""An extension of the time before 2025-11-26, when command/execute was a request that is answered with
{"success": …, "message": …}: Python's standard library alone, in the manner of the document's samples."""

import json
import sys


def read_message():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        if line.startswith(b"Content-Length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))


def write_message(message):
    content = json.dumps(message).encode()
    sys.stdout.buffer.write(f"Content-Length: {len(content)}\r\n\r\n".encode() + content)
    sys.stdout.buffer.flush()


def log(text):
    sys.stderr.buffer.write(text.encode() + b"\n")
    sys.stderr.buffer.flush()


asked = 0


def ask(method, params):
    global asked
    asked += 1
    number = asked
    write_message({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while True:
        message = read_message()
        if "result" in message or "error" in message:
            if message["id"] == number:
                return message.get("result") or message["error"]
        else:
            handle(message)


def patch(path, value):
    result = ask("editor/patchMessage", {"patches": [{"path": path, "value": value}]})
    log(f"[INFO] patched {result['patchesApplied']}")


def answer(number, **reply):
    write_message({"jsonrpc": "2.0", "id": number, **reply})


def execute(number, command):
    if command == "old/set":
        has = ask("editor/getMessage", {"format": "hl7"})["message"].count("|")
        patch("PID.8", "A")
        answer(number, result={"success": True, "message": f"Å: {has} separators"})
    elif command == "old/early":
        answer(number, result={"success": True})
        patch("PID.8", "N")
    elif command == "old/keys":
        # The shape of the document's sample.
        message = {"MSH": {"1": "|", "2": "^~\\&", "9": {"1": "ADT", "2": "A08"}}, "PID": {"1": "1", "5": "Åse"}}
        result = ask("editor/setMessage", {"message": json.dumps(message), "format": "json"})
        answer(number, result={"success": result["success"]})
    elif command == "old/fails":
        answer(number, result={"success": False, "message": "ikke nå Å中😀"})
    elif command == "old/refuses":
        answer(number, error={"code": -32050, "message": "not that one"})
    elif command == "old/dies":
        sys.exit(5)
    else:
        answer(number, error={"code": -32009, "message": "Command not found"})


def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        commands = ["old/set", "old/early", "old/keys", "old/fails", "old/refuses", "old/dies"]
        answer(message["id"], result={"name": "Old Å中😀", "version": "0.1", "capabilities": {"commands": commands}})
    elif method == "shutdown":
        answer(message["id"], result={"success": True})
        sys.exit(0)
    elif method == "command/execute":
        if "id" not in message:
            log("[ERROR] a command without an id")
        else:
            execute(message["id"], params["command"])
    elif "id" in message:
        answer(message["id"], error={"code": -32601, "message": "Method not found"})


while True:
    handle(read_message())
