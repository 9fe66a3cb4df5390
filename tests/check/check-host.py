#!/usr/bin/env python3
"""check-host.py MODE PLUGIN: a host of MCP that answers what it is asked, and that in MODE
  dies    does not survive what is no JSON
  kills   kills its plugin after ten requests, without a word
  strict  asks for nothing that the plugin does not offer"""
import json
import subprocess
import sys

mode, path = sys.argv[1:]
plugin = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def say(message):
    plugin.stdin.write(json.dumps(message).encode() + b"\n")
    plugin.stdin.flush()


def answer(message):
    if message.get("method") == "ping" and not isinstance(message.get("params"), str):
        say({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    else:
        code = -32602 if isinstance(message.get("params"), str) else -32601
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "no"}})


answered = 0
info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
say({"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": info})
for line in plugin.stdout:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        if mode == "dies" and line.strip():
            sys.exit(1)
        continue
    if not isinstance(message, dict):
        continue
    if message.get("id") == "start":
        if mode == "strict" and "tools" not in message["result"]["capabilities"]:
            sys.exit(1)
        say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        say({"jsonrpc": "2.0", "id": "tools", "method": "tools/list"})
    elif message.get("id") == "tools":
        break
    elif "method" in message and "id" in message:
        answer(message)
        answered += 1
        if mode == "kills" and answered == 10:
            plugin.kill()
plugin.stdin.close()
