#!/usr/bin/env bash
# duplex check finds every fault of duplex mock, in every framing, as its host and as its plugin; what is only a
# strain is no fault; and every check can fail.
set -euo pipefail
# One that goes on for longer than a cancelled request is watched at least.
timeout 60 "$BUILD/duplex" check -p mcp --only cancel.heeded --call 'tools/call={"name":"x"}' \
    -- python3 -SE "$SOURCE/tests/check/check-peer.py" good >"${TMPDIR:-/tmp}/check-cancel.$$" && exit 1
grep -q 'FAIL  cancel.heeded' "${TMPDIR:-/tmp}/check-cancel.$$"
rm -f "${TMPDIR:-/tmp}/check-cancel.$$"
timeout 800 "$SOURCE/tests/check/check-faults.py" "$BUILD/duplex" "$SOURCE/tests/check/check-peer.py" all
