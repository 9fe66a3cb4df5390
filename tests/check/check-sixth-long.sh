#!/usr/bin/env bash
# A copy of the tree is built; then one document is copied into it and it is built again, without
# being configured anew. The library knows one protocol more, and no other file has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
tar -C "$SOURCE" --exclude=./.git --exclude=./build --exclude=node_modules -cf - . | tar -C "$work/tree" -xf -
yyjson=$(sed -n 's/^Yyjson_INCLUDE_DIR:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
library=$(sed -n 's/^Yyjson_LIBRARY:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
(cd "$work/tree" && find . -type f -exec sha256sum {} + | sort) >"$work/before"

cmake -G Ninja -S "$work/tree" -B "$work/build" -DYyjson_INCLUDE_DIR="$yyjson" -DYyjson_LIBRARY="$library" \
    >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" --target duplex_shared -- --quiet
program() {
    gcc -I"$work/tree/include" -isystem "$yyjson" "$work/tree/tests/sixth/sixth.c" -o "$work/sixth" \
        "$work/build/libduplex.so" "$library" -Wl,-rpath,"$work/build:$(dirname "$library")"
}
program
if "$work/sixth"; then
    echo "the protocol was there before its document"
    exit 1
fi

mkdir "$work/tree/systems/sixth"
cp "$SOURCE/tests/sixth/sixth.openrpc.json" "$work/tree/systems/sixth/"
cmake --build "$work/build" --target duplex_shared -- --quiet
"$work/sixth" "$SOURCE/tests/sixth/sixth.md"

(cd "$work/tree" && find . -type f -exec sha256sum {} + | sort) >"$work/after"
[[ $(comm -13 "$work/before" "$work/after" | wc -l) == 1 ]]
[[ $(comm -23 "$work/before" "$work/after" | wc -l) == 0 ]]
