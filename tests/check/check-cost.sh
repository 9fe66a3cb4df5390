#!/usr/bin/env bash
# What bytes cost, counted in instructions: at most 70 for each byte that is fed alone, and for twice
# the bytes at most 2.05 times as many, in whatever pieces they come. check-cost-long.sh does the
# same with large streams.
set -euo pipefail
# shellcheck source=/dev/null
. "$SOURCE/tests/cost/measure.sh"

build_cost
rows=()
for framing in header line; do
    for shape in small large; do
        rows+=("$framing $shape 1 524288" "$framing $shape 4096 1048576" "$framing $shape 0 1048576")
    done
    rows+=("$framing open 1 65536")
done
table "${rows[@]}"
