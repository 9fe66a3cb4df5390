#!/usr/bin/env bash
# The plugin of docs/reginald.md is compiled as it stands there, and run by the host as the page says.
set -euo pipefail
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/plugins"

# Of the host there are only the lines that matter.
awk -v work="$work" '
    /^```c$/ { number++; on = 1; next }
    /^```$/ { on = 0 }
    on && number == 1 { print > (work "/greeter.c") }' "$SOURCE/docs/reginald.md"
from_cache() {
    sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}
library=$(from_cache Yyjson_LIBRARY)
cc -std=c11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror \
    -I"$(from_cache Yyjson_INCLUDE_DIR)" -I"$SOURCE/include" -I"$SOURCE/systems/reginald/include" "$work/greeter.c" \
    -o "$work/plugins/reginald-greeter" -L"$BUILD" -lduplex-reginald -lduplex "$library" \
    -Wl,-rpath,"$BUILD" -Wl,-rpath,"${library%/*}"
# greets WHOM FLAG...
greets() {
    local whom=$1 out
    shift
    out=$(timeout 20 "$BUILD/duplex-reginald" --plugin-dir "$work/plugins" --log-level info --log-format text greet "$@" 2>&1)
    [[ $out == "INFO  greeter: $whom" ]] || { echo "greet $*: $out"; exit 1; }
}
greets me -w me
greets world
