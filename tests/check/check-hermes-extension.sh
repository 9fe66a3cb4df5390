#!/usr/bin/env bash
# The example extensions of Hermes, driven by an editor that shares nothing with the library.
set -euo pipefail
host=$(dirname "$0")/../interop/hermes/host.py
failed=0
for name in normalise validate window; do
    timeout 120 python3 "$host" "$name" "$BUILD/examples/hermes-$name" || { echo "$name: code $?"; failed=1; }
    timeout 60 python3 "$host" quit "$BUILD/examples/hermes-$name" || { echo "$name, quitting: code $?"; failed=1; }
    # Without an editor: the input is at its end, so there is nothing to do.
    out=$(timeout 20 "$BUILD/examples/hermes-$name" </dev/null) || { echo "$name, alone: code $?"; failed=1; }
    [[ -z $out ]] || { echo "$name, alone: said $out"; failed=1; }
done
exit "$failed"
