#!/usr/bin/env bash
# The example of a host under valgrind: no byte lost, none misused.
set -euo pipefail
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for framing in header line; do
    valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=all --child-silent-after-fork=yes \
        --log-file="$log" "$BUILD/examples/host" "$framing" "$BUILD/examples/echo" "$framing" |
        grep -qx '\[42\]' || { cat "$log"; exit 1; }
    if grep -E 'lost|reachable|Invalid|uninitialised' "$log"; then exit 1; fi
done
# It is also what the README promises: a host in at most 25 lines.
lines=$(wc -l <"$SOURCE/examples/host.c")
((lines <= 25)) || { echo "examples/host.c has $lines lines"; exit 1; }
echo "examples/host.c: $lines lines"
