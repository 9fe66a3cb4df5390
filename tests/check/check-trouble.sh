#!/usr/bin/env bash
# Servers that print on stdout, crash, hang, or are asked for what they don't have; trouble.py has the cases.
# shellcheck source=/dev/null disable=SC2034,SC2154 # its names
. "$SOURCE/tests/check/call-common.bash"
timeout 300 "$python" -B "$SOURCE/tests/check/trouble.py" "$BUILD/duplex" || failed=1
finish
