#!/usr/bin/env bash
# tools/check-seeds finds what it is there for: each of these changes of docs/seeds.md is told.
set -euo pipefail
cd "${SOURCE:-$(dirname "$0")/../..}"
export SOURCE=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
status=0

# broken WHAT TOLD SED-SCRIPT: with that change, check-seeds fails and says TOLD.
broken() {
    sed -E "$3" docs/seeds.md >"$place/seeds.md"
    if cmp -s docs/seeds.md "$place/seeds.md"; then
        echo "$1: the change changes nothing"
        status=1
    elif tools/check-seeds "$place/seeds.md" >"$place/out"; then
        echo "$1: not found"
        status=1
    elif ! grep -qF "$2" "$place/out"; then
        echo "$1: something else was found:"
        cat "$place/out"
        status=1
    fi
}

cp docs/seeds.md "$place/seeds.md"
tools/check-seeds "$place/seeds.md" >"$place/out" || { cat "$place/out"; exit 1; }

broken "a file that is not there" "does not exist" 's/rows\.py/rowz.py/g'
broken "a name that leads elsewhere" "is said to be" '0,/\]\(\.\.\/tests\/hermes\/rows\.py/s//](..\/tests\/hermes\/raw.py/'
broken "a row that is no function" "row_99 is not there" 's/row_01]/row_99]/'
broken "a function that is no row" "run is not there" 's/row_01]/run]/'
broken "a part of a name" "row_0 is not there" 's/row_01]/row_0]/'
broken "a transcript" "F2 is not there" 's/ F02]/ F2]/'
broken "a fault" "F74_stray is not there" 's/F74_stray_printf]/F74_stray]/'
broken "a function of C" "header_framing is not there" 's/header_framing_byte_for_byte]/header_framing]/'
broken "no name of a test" "which test?" '0,/rows\.py row_01]/s//rows.py]/'
broken "a row without a test" "has no test" '/^\| S000-4 /s/\[[^]]*\]\([^)]*\)//g'
broken "words in place of a link" "not a link" '/^\| S000-4 /s/\[[^]]*\]\([^)]*\)/& and others/'
broken "a gap" "S000-6 follows S000-4" '/^\| S000-5 /d'
broken "an id twice" "S000-4 follows S000-4" 's/^\| S000-5 /| S000-4 /'
broken "a row without a sentence" "says nothing" 's/^(\| S000-4 \|)[^|]*/\1 /'
broken "a row that lost a column" "cannot be read" 's/^(\| S000-4 \|)[^|]*\|/\1/'
broken "nothing" "no row at all" '/S00[0-9]/d'
exit "$status"
