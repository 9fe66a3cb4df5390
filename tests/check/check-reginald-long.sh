#!/usr/bin/env bash
# duplex reginald: a plugin that never answers setupCommand is waited for 30 s, and that is told as such.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TRACE=$work/trace LC_ALL=C.UTF-8
{ printf '#!/usr/bin/env -S python3 -IS\n'; cat "$SOURCE/tests/check/reginald-plugin.py"; } >reginald-example
chmod +x reginald-example
code=0
timeout 50 "$BUILD/duplex-reginald" --plugin-dir . mute </dev/null >out 2>err || code=$?
if ((code != 5)) || ! grep -q 'mute of the plugin example failed' err; then
    echo "code $code, expected 5: $(cat out err)"
    exit 1
fi
pid=$(sed -n 's/^example pid //p' trace)
[[ ! -d /proc/$pid ]] || { echo "process $pid was left behind"; exit 1; }
