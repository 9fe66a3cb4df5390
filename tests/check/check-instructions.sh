#!/usr/bin/env bash
# What a message costs on the paths of tests/cost/paths.c, in instructions: at most what
# tests/cost/limits says. Prints a table of all of them. Such counts are the same in every run,
# however busy the machine is; they change with the compiler, so those of another one are not judged.
set -euo pipefail
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${BUILD:-$SOURCE/build}
# shellcheck source=/dev/null
. "$SOURCE/tests/cost/measure.sh"

limits=$SOURCE/tests/cost/limits

skip() {
    echo "$1"
    exit 77
}

[[ $(from_cache DUPLEX_SANITIZE) != ON ]] || skip "the limits are not for sanitizers"
[[ $(from_cache CMAKE_BUILD_TYPE)$(from_cache CMAKE_C_FLAGS) == RelWithDebInfo ]] ||
    skip "the limits are for a plain RelWithDebInfo build"
macros=$("$(from_cache CMAKE_C_COMPILER)" -dM -E -x c /dev/null)
gcc=$(awk '$1 == "gcc" { print $2 }' "$limits")
grep -q '__x86_64__ 1' <<<"$macros" || skip "the limits are for x86-64"
if grep -q __clang__ <<<"$macros" || ! grep -qx "#define __GNUC__ $gcc" <<<"$macros"; then
    skip "the limits are for gcc $gcc"
fi
echo '#include <valgrind/callgrind.h>' | cc -E -o /dev/null - 2>/dev/null ||
    skip "valgrind's headers are not installed"

build_program paths libduplex.so
# libc has several versions of memcpy and its like, and takes the one for the processor at hand. With
# these settings all processors get the plainest.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM
GLIBC_TUNABLES+=:glibc.cpu.x86_non_temporal_threshold=0x8000000
LD_BIND_NOW=1 valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file="${work:?}/out" \
    --combine-dumps=yes --dump-line=no --compress-strings=no --compress-pos=no \
    --log-file="$work/log" "$work/paths" || { cat "$work/log"; exit 1; }

# A dump has, for each function, the shared object (ob=), what the function cost itself, and after
# each calls= what was spent in others. Counted is libduplex, with what it asks of libc; not yyjson,
# which is another one on another machine.
awk '
    function number(value) {
        return sprintf(value < 50 ? "%.2f" : "%.0f", value)
    }
    function done() {
        if (name == "") return
        value[name] = (cost["libduplex"] + cost["libc"]) / units
        names[++count] = name
        printf "%-22s %10s %10s %10s %10s %10s\n", name, number(cost["libduplex"] / units),
            number(cost["libc"] / units), number(cost["libyyjson"] / units), number(value[name]),
            (name in limit) ? number(limit[name]) : "-"
        split("", cost)
    }
    function bad(line) {
        lines[++failed] = line
    }
    FNR == 1 { file++ }
    file == 1 {
        if ($0 !~ /^#/ && NF == 2 && $1 != "gcc") { limit[$1] = $2; order[++limits] = $1 }
        next
    }
    /^desc: Trigger:/ { done(); name = /Client Request/ ? $5 : ""; units = $6 }
    /^ob=/ { object = $0; sub(/.*\//, "", object); sub(/\.so.*/, "", object) }
    /^calls=/ { getline; next }
    /^[0-9]+ [0-9]+$/ { cost[object] += $2 }
    BEGIN {
        printf "%-22s %10s %10s %10s %10s %10s\n", "path", "libduplex", "libc", "yyjson", "counted", "limit"
    }
    END {
        done()
        for (i = 1; i <= count; i++)
            if (!(names[i] in limit)) bad(names[i] ": has no limit")
        for (i = 1; i <= limits; i++) {
            name = order[i]
            if (split(name, of, "/") == 2 && value[of[2]] > 0) {
                value[name] = value[of[1]] / value[of[2]]
                printf "%-44s %21.2f %10.2f\n", name, value[name], limit[name]
            }
            if (!(value[name] > 0)) bad(name ": was not measured")
            else if (value[name] > limit[name])
                bad(name ": " number(value[name]) ", the limit is " number(limit[name]))
            else if (value[name] < limit[name] * 0.9)
                hint[++hints] = name ": only " number(value[name]) ", the limit of " number(limit[name]) \
                    " can be lowered"
        }
        for (i = 1; i <= hints; i++) print hint[i]
        for (i = 1; i <= failed; i++) print lines[i]
        exit failed > 0
    }' "$limits" "$work/out"
