"""repl-greets.py [WORD...]: a peer in header framing that speaks before it is asked, and answers with the params."""

import json
import sys


def write(message):
    text = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
    sys.stdout.buffer.flush()


write({"method": "hello"})
while line := sys.stdin.buffer.readline():
    if line.lower().startswith(b"content-length:"):
        sys.stdin.buffer.readline()
        message = json.loads(sys.stdin.buffer.read(int(line.split(b":")[1])))
        if "id" in message:
            write({"id": message["id"], "result": message.get("params")})
