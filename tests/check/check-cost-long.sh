#!/usr/bin/env bash
# The same as check-cost.sh, from 32 to 64 MiB. Lines come as they are ready; those of single bytes
# take a few minutes each.
set -euo pipefail
# shellcheck source=/dev/null
. "$SOURCE/tests/cost/measure.sh"

build_cost
rows=()
for piece in 4096 0 1; do
    for framing in header line; do
        for shape in small large; do
            rows+=("$framing $shape $piece 33554432")
        done
    done
done
table "${rows[@]}"
