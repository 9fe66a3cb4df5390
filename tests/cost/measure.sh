# Sourced by the checks of cost: builds a program of this folder against the library; for cost.c, counts
# instructions by callgrind, and holds them against the limits. Only what happens inside the library
# counts, not the loop of the test.
# shellcheck shell=bash

command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

from_cache() {
    sed -nE "s/^$1:[A-Z]+=(.*)$/\1/p" "$BUILD/CMakeCache.txt"
}

# build_program NAME LIBRARY: tests/cost/NAME.c with libduplex.a or libduplex.so, into the work folder.
build_program() {
    local yyjson
    yyjson=$(from_cache Yyjson_LIBRARY)
    cc -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$SOURCE/include" -I"$(from_cache Yyjson_INCLUDE_DIR)" \
        "$SOURCE/tests/cost/$1.c" "$BUILD/$2" "$yyjson" "$(from_cache Pcre2_LIBRARY)" \
        -Wl,-rpath,"$BUILD:$(dirname "$yyjson")" -o "$work/$1"
}

build_cost() {
    build_program cost libduplex.a
}

# count FRAMING SHAPE PIECE BYTES: prints the bytes of the stream and the instructions it cost.
count() {
    local log=$work/$1-$2-$3-$4
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$log.log" \
        --toggle-collect=dx_peer_feed --toggle-collect=dx_peer_next --toggle-collect=dx_peer_reply \
        --toggle-collect=dx_peer_output --toggle-collect=dx_peer_sent \
        "$work/cost" "$@" >"$log.out" || { cat "$log.log" >&2; return 1; }
    echo "$(cat "$log.out") $(sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$log.log")"
}

# row FRAMING SHAPE PIECE BYTES: measures BYTES and twice as many, and prints a line of the table.
# What the second half cost is what a byte costs: the start-up is in the first.
row() {
    local one two
    one=$(count "$1" "$2" "$3" "$4")
    two=$(count "$1" "$2" "$3" "$(($4 * 2))")
    awk -v framing="$1" -v shape="$2" -v piece="$3" -v one="$one" -v two="$two" '
        BEGIN {
            split(one, a, " "); split(two, b, " ")
            each = (b[2] - a[2]) / (b[1] - a[1])
            growth = (b[2] / a[2]) / (b[1] / a[1]) * 2
            bad = ""
            if (!(a[2] > 0)) bad = bad "  nothing was measured"
            if (piece == 1 && each > 70) bad = bad "  more than 70 a byte"
            if (growth > 2.05) bad = bad "  more than 2.05 times for twice the bytes"
            printf "%-7s %-6s %-6s %10d %14.0f %8.2f %7.3f%s\n", framing, shape,
                piece == 0 ? "whole" : piece, b[1], b[2], each, growth, bad
            exit bad != ""
        }'
}

# table ROW...: each row is "FRAMING SHAPE PIECE BYTES"; two run at a time. Fails if one does.
table() {
    local failed=0
    printf '%-7s %-6s %-6s %10s %14s %8s %7s\n' framing shape piece bytes instructions "a byte" growth
    export -f count row
    export work
    # shellcheck disable=SC2016 # the inner shell is to read it
    printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'set -euo pipefail; read -ra row <<<"{}"; row "${row[@]}"' ||
        failed=1
    return "$failed"
}
