#!/usr/bin/env bash
# duplex tap: 100 MiB each way at once, with slow readers at both ends, in bounded memory; and a command that
# only SIGKILL ends when its host is gone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
timeout 120 python3 "$here/tap.py" both "$BUILD/duplex"
timeout 30 python3 "$here/tap.py" gone_long "$BUILD/duplex"
