#!/usr/bin/env bash
# duplex check finds every fault of duplex mock, in every framing, as its host and as its plugin; what is only a
# strain is no fault; and every check can fail.
set -euo pipefail
timeout 800 "$SOURCE/tests/check/check-faults.py" "$BUILD/duplex" "$SOURCE/tests/check/check-peer.py" all
