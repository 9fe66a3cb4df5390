#!/usr/bin/env bash
# The two programs of docs/mcp.md are compiled as they stand there, and talk to each other.
set -euo pipefail
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v work="$work" '
    /^```c$/ { number++; on = 1; next }
    /^```$/ { on = 0 }
    on { print > (work "/" number ".c") }' "$SOURCE/docs/mcp.md"
from_cache() {
    sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}
library=$(from_cache Yyjson_LIBRARY)
for number in 1 2; do
    cc -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$(from_cache Yyjson_INCLUDE_DIR)" -I"$SOURCE/include" \
        -I"$SOURCE/systems/mcp/include" "$work/$number.c" -o "$work/$number" -L"$BUILD" -lduplex-mcp -lduplex "$library" \
        -Wl,-rpath,"$BUILD" -Wl,-rpath,"${library%/*}"
done
[[ ! -e $work/3.c ]] || { echo "which program is the third one?"; exit 1; }
out=$(timeout 20 "$work/2" "$work/1")
[[ $out == 42 ]] || { echo "2 + 40 is $out"; exit 1; }
out=$(timeout 20 "$work/2" /nonexistent 2>&1) && { echo "it started what is not there"; exit 1; }
[[ $out == *nonexistent* ]] || { echo "it says: $out"; exit 1; }
