#!/usr/bin/env bash
# Every command of the README and of docs/tutorial is run, and prints what the page says.
set -euo pipefail
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
command -v pkg-config >/dev/null || { echo "pkg-config is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$BUILD" --prefix "$work/prefix" >"$work/install.log"
# As if it were installed where the system looks.
export PATH="$work/prefix/bin:$PATH" PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
export MANPATH="$work/prefix/share/man:" HOME="$work/home" NO_COLOR=1 LC_ALL=C.UTF-8
export XDG_RUNTIME_DIR="$work/run" # a run of its own for `duplex run`
unset LD_LIBRARY_PATH XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME AUTOHAND_HOME AUTOHAND_CONFIG
mkdir "$HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
failed=0
for page in "$SOURCE"/README.md "$SOURCE"/docs/tutorial/*.md; do
    timeout 120 python3 "$SOURCE/tests/check/tutorial.py" "$page" || failed=1
done
exit $failed
