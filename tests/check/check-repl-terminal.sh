#!/usr/bin/env bash
# duplex repl at a terminal; repl-terminal.py has the cases.
# shellcheck source=/dev/null disable=SC2034,SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"
cat >cancels.py <<'END'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {},
              "serverInfo": {"name": "late", "version": "1"}}}), flush=True)
    with open("heard", "a") as file:
        file.write(message["method"] + "\n")
END
cp "$SOURCE/tests/check/repl-greets.py" greets.py
timeout 300 "$python" -B "$SOURCE/tests/check/repl-terminal.py" "$BUILD/duplex" "$SOURCE/tests/check/repl-peer.py" \
    "$BUILD/examples/mcp-conformance" "$tag" || failed=1
finish
